"""Programs that wait for their turn."""

import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from codec.programs import Exited, Outcome, Stream
from tests.transports.process.house import PATIENCE, Processes, open_launcher
from transports.process.run import Interrupted


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes


class Turn:
    def __init__(self) -> None:
        self.begin: Callable[[], None] | None = None
        self.came = trio.Event()
        self.gone = trio.Event()

    def come(self, begin: Callable[[], None]) -> None:
        self.begin = begin
        self.came.set()

    def over(self) -> None:
        self.gone.set()

    async def give(self) -> None:
        with trio.fail_after(PATIENCE):
            await self.came.wait()
        assert self.begin is not None
        self.begin()


class Waiting:
    """A run that has to wait for its turn."""

    def __init__(self, processes: Processes, nursery: trio.Nursery, argv: list[str], **given: Any) -> None:
        self.turn = Turn()
        self.outcome: Outcome | Exception | None = None
        self.scope = trio.CancelScope()
        self.done = trio.Event()
        nursery.start_soon(self._run, processes, argv, given)

    async def _run(self, processes: Processes, argv: list[str], given: dict[str, Any]) -> None:
        on_output = given.pop("on_output", None)
        command = processes.command(argv, **given)
        with self.scope:
            try:
                self.outcome = await processes.runner.run(command, on_output=on_output, turn=self.turn)
            except Exception as error:
                self.outcome = error
        self.done.set()

    async def ended(self) -> Outcome | Exception | None:
        with trio.fail_after(PATIENCE):
            await self.done.wait()
        return self.outcome


async def test_it_begins_when_it_is_given_its_turn_and_not_before(processes: Processes, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        run = Waiting(processes, nursery, ["/bin/mkdir", "there"])
        await run.turn.came.wait()
        assert await processes.is_healthy()
        assert not (tmp_path / "there").exists()
        assert not run.turn.gone.is_set()
        await run.turn.give()
        outcome = await run.ended()
        assert isinstance(outcome, Outcome)
        assert outcome.end == Exited(0)
        assert (tmp_path / "there").exists()
        assert run.turn.gone.is_set()


async def test_what_is_given_by_a_pipe_and_heard_at_once_is_so_after_a_wait_too(processes: Processes) -> None:
    data, heard = os.urandom(300_000), bytearray()

    def hear(_: Stream, part: bytes) -> None:
        heard.extend(part)

    async with trio.open_nursery() as nursery:
        run = Waiting(processes, nursery, ["/bin/cat"], stdin=data, output_bytes=1 << 20, on_output=hear)
        await run.turn.came.wait()
        await wait_all_tasks_blocked()
        await run.turn.give()
        outcome = await run.ended()
        assert isinstance(outcome, Outcome)
        assert outcome.stdout.head == data
        assert bytes(heard) == data


async def test_its_time_runs_from_its_start_and_not_while_it_waits(processes: Processes) -> None:
    async with trio.open_nursery() as nursery:
        run = Waiting(processes, nursery, ["/bin/true"], wall_seconds=0.2)
        with trio.move_on_after(0.5):  # longer than its wall time: it is the clock that is asked
            await run.done.wait()
        await run.turn.give()
        outcome = await run.ended()
        assert isinstance(outcome, Outcome)
        assert outcome.stopped_for is None


async def test_one_that_is_cancelled_while_it_waits_leaves_everything_as_it_was(processes: Processes) -> None:
    await processes.is_healthy()
    forked = processes.statistics().forked
    descriptors = len(os.listdir("/proc/self/fd"))
    async with trio.open_nursery() as nursery:
        run = Waiting(processes, nursery, ["/bin/true"])
        await run.turn.came.wait()
        run.scope.cancel()
        await run.ended()
    assert run.outcome is None
    assert run.turn.gone.is_set()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert await processes.is_healthy()
    assert processes.statistics().forked == forked  # its keeper was as good as new


async def test_the_end_of_its_keeper_is_heard_while_it_waits(processes: Processes) -> None:
    await processes.is_healthy()
    (keeper,) = processes.keepers()
    async with trio.open_nursery() as nursery:
        run = Waiting(processes, nursery, ["/bin/true"])
        await run.turn.came.wait()
        await wait_all_tasks_blocked()
        os.kill(keeper, signal.SIGKILL)
        assert isinstance(await run.ended(), Interrupted)
        assert run.turn.gone.is_set()
    assert await processes.is_healthy()


async def test_a_start_that_fails_is_told_to_who_waits_and_not_to_who_gave_the_turn(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trio.open_nursery() as nursery:
        run = Waiting(processes, nursery, ["/bin/true"])
        await run.turn.came.wait()
        await wait_all_tasks_blocked()

        def no_room(end: socket.socket, buffers: list[bytes], descriptors: list[int]) -> int:
            raise OSError(109, "Too many references: cannot splice")

        monkeypatch.setattr(socket, "send_fds", no_room)
        await run.turn.give()
        outcome = await run.ended()
        monkeypatch.undo()
        assert str(outcome) == "'/bin/true' cannot be started: Too many references: cannot splice"
    assert await processes.is_healthy()
