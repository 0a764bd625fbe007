"""The results of a run are handled before the notice of its end, however busy the receiver is."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked

from actors.judge import Run, RunOrder, limits
from actors.kernel import Actor, ActorRef, ChildSpec, Crowd, Down, Mailbox, Restart, run
from codec.judge import Compare, RunResult, RunSettings, Stdin, Stdout
from codec.programs import Outcome
from tests.judge.kit import Stamps, an_outcome


class Folders:
    async def read(self, task: Sequence[str], index: int, kind: str) -> bytes:
        return b""

    def stamps_at_once(self, task: Sequence[str], index: int) -> Stamps:
        return Stamps(None, None, None)

    def case_paths(self, task: Sequence[str], index: int) -> tuple[Path, Path]:
        return Path("in"), Path("out")


class Machine:
    def room(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def run(self, program: Sequence[str], **_: Any) -> Outcome:
        await trio.lowlevel.checkpoint()
        return an_outcome()


class Busy(Actor[Any]):
    """Hears nothing until the gate is open."""

    def __init__(self, gate: trio.Event) -> None:
        self._gate = gate
        self.heard: list[object] = []

    async def handle(self, message: Any) -> None:
        match message:
            case ActorRef():
                self.monitor(message)
                await self._gate.wait()
            case object(result=RunResult() as result):
                self.heard.append((result.index, result.verdict))

    async def down(self, down: Down) -> None:
        self.heard.append(down.stop.why.value)


async def test_no_result_is_overtaken_by_an_end() -> None:
    gate = trio.Event()
    busy = Busy(gate)
    order = RunOrder(
        task=(),
        program=("true",),
        cwd=Path(),
        indices=range(1, 6),
        limits=limits(RunSettings(), None, None),
        compare=Compare(),
        jobs=2,
        input=Stdin(),
        output=Stdout(),
    )
    async with trio.open_nursery() as nursery:
        root: ActorRef[Any] = await nursery.start(run, ChildSpec("top", Crowd))
        report = await root.start_child(ChildSpec("busy", lambda: busy, mailbox=partial(Mailbox, 1)))
        folders: Any = Folders()  # no more of both than a run needs
        machine: Any = Machine()
        make = partial(Run, order, folders, machine, report)
        report.tell(await root.start_child(ChildSpec("run", make, restart=Restart.TEMPORARY)))
        await wait_all_tasks_blocked()
        gate.set()
        await wait_all_tasks_blocked()
        assert busy.heard == [*((index, "AC") for index in range(1, 6)), "done"]
        await root.stop()
