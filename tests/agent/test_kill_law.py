"""Whenever the process is killed in a turn that writes, asks and runs: whoever starts the server again finds what
waited still waiting, and can answer it. No file is half done, no command runs twice, and every turn has its last word.

One play is photographed after each step of any task: what is committed then, the files, and what commands have done is
what a kill at that moment leaves. From photographs that are drawn another server goes on. The same with real processes
and a real disk is acting_storm.py, which the gate runs only a little of.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import trio

from actors.agent.acting import ActingMeans
from actors.agent.commanding import commands_ended
from actors.agent.half_done import files_now
from actors.agent.log import BLOB, SPACE
from actors.agent.messages import TurnOrder
from actors.agent.turn import turn_spec
from actors.kernel.testing import run_schedule
from codec.agent.action_events import ApprovalResolved
from codec.agent.events import MessageFinal, UserMessage
from codec.agent.files import digest_of
from codec.agent.kept import blob_of, read_entry, read_row
from codec.agent.models import ModelRequest, SaidText
from codec.agent.workspaces import Policy
from tests.agent.acting_laws import (
    Folded,
    SavedByOthers,
    StoredSession,
    check_after_a_kill,
    check_changes,
    check_commands,
    check_requests,
    check_turns,
)
from tests.agent.hands_kit import MemoryHands, PaperCommands, exited
from tests.agent.paper_store import Paper, PaperDisk
from tests.agent.session_kit import Screen, Stay, stay, until
from tests.agent.turn_kit import REMOTE, STOP, MemoryTree, MemoryTrees, Script, call
from tests.plenty import seeds

KILLS = 100
"""In each of two plays."""
FILES = {"a.py": "".join(f"line {number}\n" for number in range(1, 41)), "b.py": "x = 1\n", "old.py": "y = 1\n"}
POLICY = Policy(execution_mode="server_runner", patch_application="server")
ASKS = ("patch.proposed", "tool.request_approval", "command.request_approval")
BEGUN, OVER = "echo begun {} >> ledger", "echo over {} >> ledger"


def edit(path: str, old: str) -> dict[str, str]:
    return {"file_path": path, "old": f"{old}\n", "new": f"{old.upper()}\n"}


CALLS = (
    call("propose_diff", edits=[edit("a.py", "line 3"), edit("a.py", "line 33"), edit("b.py", "x = 1")]),
    call("execute_command", command=f"{BEGUN.format('one')} ; {OVER.format('one')}"),
    call("write_file", file_path="c/new.py", content="z = 1\n"),
    call("delete_file", file_path="old.py"),
    call("write_file", file_path="b.py", content="w = 1\n"),
    call("execute_command", command=f"{BEGUN.format('two')} ; {OVER.format('two')}"),
)


class Model(Script):
    """It makes the first call whose outcome it has not been told."""

    def _opened(self, request: ModelRequest) -> Any:
        told = sum(message.role == "tool" for message in request.messages)
        self.answers = [[CALLS[told], STOP] if told < len(CALLS) else [SaidText("Done."), STOP]]
        return super()._opened(request)


@dataclass
class Left:
    """What a kill of the process leaves."""

    paper: Paper
    files: dict[str, str]
    lines: list[str]
    shown: set[str]
    """Which requests somebody has seen..."""
    answered: set[str]
    """...and of which they have seen the answer."""


@dataclass
class World:
    """A process, and what is outside of it."""

    paper: Paper = field(default_factory=Paper)
    files: dict[str, str] = field(default_factory=lambda: dict(FILES))
    lines: list[str] = field(default_factory=list)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    session: str = ""
    screen: Screen = field(default_factory=lambda: Screen("ann"))

    def __post_init__(self) -> None:
        self.tree = MemoryTree(self.files)
        self.disk = PaperDisk(self.paper)
        self.commands = PaperCommands()
        for word in ("one", "two"):
            self.commands.outcomes[f"{BEGUN.format(word)} ; {OVER.format(word)}"] = self._running(word)

    def _running(self, word: str) -> Any:
        async def runs(said: Any) -> Any:
            self.lines.append(f"begun {word}")
            said("stdout", f"{word} is begun\n")
            await trio.sleep(0.1)
            self.lines.append(f"over {word}")
            return exited(0, f"{word} is over\n")

        return runs

    def stay(self) -> Any:
        trees = MemoryTrees(self.tree, MemoryHands(self.tree))
        acting = ActingMeans(lambda registry: self.commands)

        def turn(order: TurnOrder) -> Any:
            return turn_spec(order, Model(), trees, acting=acting)

        look = partial(files_now, trees)
        return stay(self.disk, ids=self.ids, make_turn=turn, commands_ended=commands_ended, files_now=look)

    def left(self) -> Left:
        shown = {each["request_id"] for each in self._seen(*ASKS)}
        answered = {each["request_id"] for each in self._seen("approval.resolved")}
        return Left(self.disk.paper.copy(), dict(self.tree.files), list(self.lines), shown, answered)

    def _seen(self, *kinds: str) -> list[dict[str, Any]]:
        return [each for each in self.screen.events if each["type"] in kinds]

    async def answer_all(self, here: Stay) -> None:
        """Until the turn is over. One hunk is refused, and one file."""
        said: set[str] = set()
        while not self.screen.of("assistant.message_final"):
            await until(lambda: self._unanswered(said) or self.screen.of("assistant.message_final"))
            for request in self._unanswered(said):
                said.add(request["request_id"])
                refuses, hunks = request.get("file_path") == "c/new.py", len(request.get("hunks") or ())
                await trio.sleep(0.01)
                if hunks > 1:
                    await self.screen.answer(request["request_id"], scope="hunk", hunks=[1])
                else:
                    await self.screen.answer(request["request_id"], not refuses, reason="No." if refuses else None)

    def _unanswered(self, said: set[str]) -> list[dict[str, Any]]:
        known = said | {each["request_id"] for each in self._seen("approval.resolved")}
        return [each for each in self._seen(*ASKS) if each["request_id"] not in known]

    def stored(self) -> StoredSession:
        return stored(self.disk.paper, self.session)

    def wrong(self) -> None:
        """Fails if anything is not as the log says."""
        kept, others = self.stored(), SavedByOthers()
        check_requests(kept)
        check_commands(kept, self.lines, set())
        check_turns(kept, {"m": len(CALLS)})
        check_changes(kept, others)
        digests = {path: digest_of(text.encode()) for path, text in self.tree.files.items()}
        initial = {path: digest_of(text.encode()) for path, text in FILES.items()}
        assert Folded(initial, kept.events, others).wrong(digests, others) == []


def stored(paper: Paper, session: str) -> StoredSession:
    data = paper.pairs[SPACE, session]
    if data.startswith(BLOB):
        data = paper.blobs[data.removeprefix(BLOB).decode()].partition(b" ")[2]
    events = []
    for entry in paper.streams.get(f"{SPACE}/{session}", []):
        blob = blob_of(entry)
        events += read_entry(entry if blob is None else paper.blobs[blob].partition(b" ")[2])
    return StoredSession(read_row(data), events)


class Photographer(trio.abc.Instrument):
    def __init__(self, world: World) -> None:
        self.world = world
        self.photographs: list[Left] = []

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.photographs.append(self.world.left())


async def whole(photographs: list[Left]) -> World:
    world = World()
    async with world.stay() as here:
        here.model, here.policy = REMOTE, POLICY
        world.session = (await here.create()).id
        await here.connect(world.screen, world.session)
        photographer = Photographer(world)
        trio.lowlevel.add_instrument(photographer)
        await world.screen.ask("Do it", "m")
        await world.answer_all(here)
        trio.lowlevel.remove_instrument(photographer)
    photographs += photographer.photographs
    return world


async def after_a_kill(left: Left, session: str) -> World:
    """Another server goes on from this, and whatever waits there is answered."""
    world = World(left.paper, dict(left.files), list(left.lines), itertools.count(1_000), session)
    before = stored(left.paper, session)
    waits = {each.request_id for each in before.row.pending if each.resolution is None}
    assert left.shown <= waits | _resolved(before), "what somebody was asked is forgotten"
    assert left.answered <= _resolved(before), "an answer that was told is forgotten"
    goes_on = bool(before.row.pending) and not any(each.begun for each in before.row.pending)
    async with world.stay() as here:
        here.model, here.policy = REMOTE, POLICY
        await here.connect(world.screen, session, 0)
        await until(lambda: world.screen.of("session.state"))
        if goes_on:
            assert {each["request_id"] for each in world.screen.state["requests"]} >= waits
        if before.row.turn is not None:
            await world.answer_all(here)
        assert world.commands.running == 0
    world.wrong()
    after = world.stored()
    check_after_a_kill(before, after)
    asked = [event for _, event in after.events if isinstance(event, UserMessage)]
    ends = [event.metadata for _, event in after.events if isinstance(event, MessageFinal)]
    assert len(ends) == len(asked)
    if goes_on:
        assert ends[0].success, "the answers were not acted upon"
    return world


def _resolved(kept: StoredSession) -> set[str]:
    return {event.request_id for _, event in kept.events if isinstance(event, ApprovalResolved)}


def test_whenever_the_process_is_killed_what_waits_waits_on_and_nothing_is_half_done_or_done_twice() -> None:
    complete, plays = 0, seeds(2)
    for seed in plays:
        photographs = list[Left]()
        world = run_schedule(seed, whole, photographs)
        world.wrong()
        assert world.lines == ["begun one", "over one", "begun two", "over two"]
        for left in Random(seed).sample(photographs, KILLS):
            after = run_schedule(seed, after_a_kill, left, world.session)
            complete += after.tree.files == world.tree.files
    assert 0 < complete < len(plays) * KILLS, "no turn was completed, or every one"
