"""The editor's manager under a clock that jumps, over a program and a folder that are only on paper."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.ipc import editor
from actors.ipc.editor import EDITOR, Editor, EditorMessage, Readiness, StartEditor, StopEditor, editor_spec
from actors.ipc.editor_states import HELD, MOVES, EditorEvent, EditorState
from actors.ipc.given import Tray
from actors.ipc.messages import CLIENT_END, LEDGER, EditorNow, Hold, Release
from actors.ipc.pinging import PING
from actors.kernel import Actor, ActorRef, ChildSpec, IllegalMove
from actors.kernel.testing import House, Puppet, PuppetActor, staged
from codec.ipc import Failure, Success, write_response
from tests.ipc.paper import PaperBase


@dataclass(frozen=True)
class Seen:
    pid: int | None
    age: float
    code: int | None


@dataclass
class PaperProgram:
    """`launches` are the times. What lives, and how the command ended, is set by the test."""

    name: str = "`code`"
    pid: int | None = None
    code: int | None = None
    refusal: str | None = None
    holder: str | None = None
    hands_over: bool = False
    stubborn: bool = False
    launches: list[float] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)
    launched_at: float = float("-inf")
    released: int = 0

    async def claim(self) -> str | None:
        return self.holder

    def release(self) -> None:
        self.released += 1

    async def launch(self) -> str | None:
        self.launches.append(trio.current_time())
        if self.refusal is None:
            self.launched_at = trio.current_time()
            self.pid, self.code = (None, 0) if self.hands_over else (100 + len(self.launches), None)
        return self.refusal

    async def look(self) -> Seen:
        return Seen(self.pid, trio.current_time() - self.launched_at, self.code)

    async def end(self, *, hard: bool) -> None:
        self.ended.append(hard)
        if hard or not self.stubborn:
            self.pid = None


class Answering:
    """A peer that answers pings, from a moment on."""

    def __init__(self, base: PaperBase, *, failing: bool = False) -> None:
        self.base = base
        self.outcome = Failure("not yet") if failing else Success({"message": "pong"})
        self.on = True

    async def run(self) -> None:
        while True:
            await trio.sleep(0.1)
            for tray, id in list(self.base.files):  # noqa: A001
                if self.on and tray is Tray.REQUESTS and (Tray.RESPONSES, id) not in self.base.files:
                    self.base.foreign_put(Tray.RESPONSES, id, write_response(id, self.outcome))


class Managed:
    def __init__(self, house: House, made: list[Editor], puppets: dict[str, Puppet]) -> None:
        self.house = house
        self._made = made
        self._puppets = puppets

    @property
    def editor(self) -> Editor:
        return self._made[-1]

    @property
    def ref(self) -> ActorRef[EditorMessage]:
        return self.house.stage.registry.get(EDITOR)

    @property
    def told(self) -> list[object]:
        """What the client end was told, without what only renews a hold."""
        found: list[object] = []
        for each in self._puppets["client"].messages:
            if not found or type(found[-1]) is not type(each):
                found.append(each)
        return found

    @property
    def _last(self) -> EditorNow:
        last = self._puppets["ledger"].messages[-1]
        assert isinstance(last, EditorNow)
        return last

    @property
    def sentence(self) -> str:
        return self._last.sentence

    @property
    def order(self) -> str:
        """What it can be asked for, as the desk is told."""
        return self._last.order or ""

    async def until(self, state: EditorState) -> float:
        with trio.fail_after(10_000):
            while self.editor.state is not state:  # noqa: ASYNC110 - in virtual time
                await trio.sleep(0.05)
        await wait_all_tasks_blocked()
        return trio.current_time()


@asynccontextmanager
async def managed(
    program: PaperProgram, base: PaperBase, readiness: Readiness | None = None, peer: Answering | None = None
) -> AsyncIterator[Managed]:
    made: list[Editor] = []

    def make() -> Editor:
        made.append(Editor(program, base, readiness or Readiness()))
        return made[-1]

    puppets = {"client": Puppet("client"), "ledger": Puppet("ledger")}
    for key, puppet in ((CLIENT_END, puppets["client"]), (LEDGER, puppets["ledger"])):

        def claim(actor: PuppetActor, key: object = key) -> None:
            actor.stage.registry.claim(key, actor.ref)  # type: ignore[arg-type]

        puppet.on_start = [claim]
    spec = editor_spec(program, base)
    ours: ChildSpec[EditorMessage] = ChildSpec(spec.id, make, mailbox=spec.mailbox)
    async with trio.open_nursery() as nursery:
        if peer is not None:
            nursery.start_soon(peer.run)
        async with staged(*(puppet.spec() for puppet in puppets.values()), ours) as house:
            await wait_all_tasks_blocked()
            yield Managed(house, made, puppets)
        nursery.cancel_scope.cancel()
    assert not [id for _, id in base.files if id.startswith(PING)]  # noqa: A001


async def test_one_that_is_up_already_is_not_launched_and_costs_no_cold_start(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base, peer=Answering(base)) as at:
        began = trio.current_time()
        assert await at.until(EditorState.UP) - began < 1.0
        assert program.launches == []
        assert [type(each) for each in at.told] == [Hold, Release]
        assert at.sentence == "An editor answers that we did not launch."


async def test_after_a_launch_requests_wait_twenty_seconds(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base) as at:
        await at.until(EditorState.STARTING)
        assert at.sentence == "The editor was launched; requests wait 20 s for it."
        asked = len(base.calls)
        up = await at.until(EditorState.UP)
        assert not [call for call in base.calls[asked:] if call.startswith("publish")], "its process is known"
        (launched,) = program.launches
        assert 20.0 <= up - launched <= 20.5
        assert [type(each) for each in at.told] == [Hold, Release]
        assert at.sentence == "The editor is up (process 101)."


@pytest.mark.parametrize(("answers_after", "state"), [(3.0, EditorState.UP), (19.0, EditorState.UP)])
async def test_readiness_may_be_shown_by_a_ping(
    autojump_clock: object, answers_after: float, state: EditorState
) -> None:
    program, base = PaperProgram(), PaperBase()
    peer = Answering(base)
    peer.on = False
    async with managed(program, base, Readiness(by_ping=True), peer) as at:
        await at.until(EditorState.STARTING)
        assert at.sentence == "The editor was launched; requests wait until it answers, 20 s at most."
        await trio.sleep(answers_after)
        assert at.editor.state is EditorState.STARTING
        peer.on = True
        up = await at.until(state)
        assert answers_after <= up - program.launches[0] <= answers_after + 1.0


async def test_one_that_never_becomes_ready_is_said_and_neither_ended_nor_launched_again(
    autojump_clock: object,
) -> None:
    program, base = PaperProgram(), PaperBase()
    peer = Answering(base, failing=True)  # it is there, and not ready
    async with managed(program, base, Readiness(by_ping=True), peer) as at:
        silent = await at.until(EditorState.SILENT)
        assert 20.0 <= silent - program.launches[0] <= 20.5
        assert [type(each) for each in at.told] == [Hold, Release]
        assert "has answered no ping for 20 s" in at.sentence
        assert at.editor.trouble == at.sentence
        await trio.sleep(3600)
        assert (len(program.launches), program.ended) == (1, [])
        peer.outcome = Success({"message": "pong"})
        await at.until(EditorState.UP)
        assert at.editor.trouble is None


async def test_a_command_that_hands_over_is_found_by_its_answer(autojump_clock: object) -> None:
    program, base = PaperProgram(hands_over=True), PaperBase()
    peer = Answering(base)
    peer.on = False
    async with managed(program, base, peer=peer) as at:
        await at.until(EditorState.STARTING)
        await trio.sleep(5.0)
        peer.on = True
        assert await at.until(EditorState.UP) - program.launches[0] < 6.0
        await trio.sleep(3600)
        assert len(program.launches) == 1
        peer.on = False
        gone = trio.current_time()
        rested = await at.until(EditorState.RESTING)
        assert rested - gone <= editor.MOST_MISSES * (editor.CHECK_SECONDS + editor.COLD_START) + 63.0
        assert "does not answer any more" in at.sentence


async def test_it_is_launched_again_with_ever_longer_rests_and_requests_wait_meanwhile(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base) as at:
        rests = []
        for _ in range(12):
            await at.until(EditorState.STARTING)
            program.pid = None
            gone = await at.until(EditorState.RESTING)
            assert isinstance(at.told[-1], Hold)
            await at.until(EditorState.LOOKING)
            rests.append(round(trio.current_time() - gone))
        assert rests == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]


async def test_one_that_was_up_for_long_is_launched_again_at_once(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base) as at:
        for _ in range(3):
            await at.until(EditorState.UP)
            await trio.sleep(editor.STEADY_SECONDS + 2)
            program.pid = None
            await at.until(EditorState.RESTING)
            assert at.sentence == "The editor has ended; it is launched again in 1 s."


@pytest.mark.parametrize(
    ("refusal", "code", "said"),
    [
        ("`code` cannot be started: it was not found.", None, "`code` cannot be started: it was not found; it is"),
        (None, 3, "`code` ended with exit code 3; it is launched again in 1 s."),
    ],
)
async def test_a_command_that_fails_is_said_and_tried_again(
    autojump_clock: object, refusal: str | None, code: int | None, said: str
) -> None:
    program, base = PaperProgram(refusal=refusal), PaperBase()
    async with managed(program, base) as at:
        if code is not None:
            await at.until(EditorState.STARTING)
            program.pid, program.code = None, code
        await at.until(EditorState.RESTING)
        assert at.sentence.startswith(said)
        program.refusal = None
        await at.until(EditorState.UP)
        assert len(program.launches) == 2


@pytest.mark.parametrize(("age", "waits"), [(5.0, 15.0), (19.0, 1.0), (20.0, 0.0), (9_999.0, 0.0)])
async def test_one_that_an_earlier_process_has_launched_waits_for_the_rest_of_its_cold_start(
    autojump_clock: object, age: float, waits: float
) -> None:
    program, base = PaperProgram(pid=77), PaperBase()
    began = trio.current_time()
    program.launched_at = began - age
    async with managed(program, base) as at:
        assert await at.until(EditorState.UP) - began == pytest.approx(waits, abs=0.3)
        assert program.launches == []


async def test_its_end_and_its_crash_end_no_editor(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base) as at:
        await at.until(EditorState.UP)
        program.look = None  # type: ignore[assignment,method-assign]
        with trio.fail_after(60):
            while at.house["editor"].statistics().restarts == 0:  # noqa: ASYNC110 - in virtual time
                await trio.sleep(0.1)
        del program.look
        await at.until(EditorState.UP)
    assert (len(program.launches), program.ended, program.pid) == (1, [], 101)
    assert program.released >= 1


async def test_one_that_is_asked_to_end_is_ended_and_stays_so_until_it_is_wanted_again(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base) as at:
        await at.until(EditorState.UP)
        assert at.order == "stop"
        assert await at.ref.ask(StopEditor, timeout=5) == "The editor is asked to end."
        await at.until(EditorState.STOPPED)
        assert at.order == "start"
        assert program.ended[0] is False
        assert True not in program.ended
        await trio.sleep(3600)
        assert len(program.launches) == 1
        assert isinstance(at.told[-1], Hold)
        await at.ref.ask(StartEditor, timeout=5)
        await at.until(EditorState.UP)
        assert len(program.launches) == 2


async def test_one_that_ignores_the_request_to_end_is_killed_after_a_grace(autojump_clock: object) -> None:
    program, base = PaperProgram(stubborn=True), PaperBase()
    async with managed(program, base) as at:
        await at.until(EditorState.UP)
        asked = trio.current_time()
        await at.ref.ask(StopEditor, timeout=5)
        stopped = await at.until(EditorState.STOPPED)
        assert editor.GRACE_SECONDS <= stopped - asked <= editor.GRACE_SECONDS + 1.0
        assert program.ended[-1] is True


async def test_one_that_we_did_not_launch_is_never_ended(autojump_clock: object) -> None:
    program, base = PaperProgram(), PaperBase()
    async with managed(program, base, peer=Answering(base)) as at:
        await at.until(EditorState.UP)
        assert "please close it yourself" in await at.ref.ask(StopEditor, timeout=5)
        await trio.sleep(60)
        assert (at.editor.state, program.ended) == (EditorState.UP, [])


async def test_of_two_managers_one_stands_by_and_takes_over_when_the_other_has_gone(autojump_clock: object) -> None:
    program, base = PaperProgram(holder="The editor is managed by process 7; this one stands by."), PaperBase()
    async with managed(program, base) as at:
        await trio.sleep(100)
        assert (at.editor.state, program.launches) == (EditorState.STANDING_BY, [])
        assert [type(each) for each in at.told] == [Release]
        assert at.sentence == program.holder
        program.holder = None
        await at.until(EditorState.UP)
        program.holder = "it is another folder by now"
        await at.until(EditorState.STANDING_BY)
        assert len(program.launches) == 1


@pytest.mark.parametrize("trouble", ["gone", "full"])
async def test_without_the_folder_nothing_is_launched_for_nobody_could_have_answered(
    autojump_clock: object, trouble: str
) -> None:
    program, base = PaperProgram(), PaperBase()
    base.gone = "the folder is missing" if trouble == "gone" else None
    base.full = trouble == "full"
    async with managed(program, base) as at:
        await trio.sleep(100)
        assert (at.editor.state, program.launches) == (EditorState.LOOKING, [])
        assert at.sentence in ("the folder is missing", "the disk is full")
        base.gone, base.full = None, False
        await at.until(EditorState.UP)


async def test_a_hold_is_renewed_while_it_lasts_for_whoever_was_restarted(autojump_clock: object) -> None:
    program, base = PaperProgram(refusal="no"), PaperBase()
    async with managed(program, base) as at:
        await trio.sleep(200)
        holds = [each for each in at._puppets["client"].messages if isinstance(each, Hold)]
        assert len(holds) >= 200 / editor.AGAIN_SECONDS - 5
        assert all(each.seconds > 2 * editor.AGAIN_SECONDS for each in holds)
        assert not [each for each in at._puppets["client"].messages if isinstance(each, Release)]


@pytest.mark.parametrize("by_ping", [False, True])
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_whatever_happens_one_ping_at_most_lies_there_and_none_where_nobody_waits_for_it(
    autojump_clock: object, seed: int, by_ping: bool
) -> None:
    random, program, base = Random(seed), PaperProgram(), PaperBase()
    peer = Answering(base)
    states = set()
    async with managed(program, base, Readiness(by_ping=by_ping), peer) as at:
        for _ in range(60):
            match random.randrange(8):
                case 0:
                    peer.on = not peer.on
                case 1:
                    program.pid, program.code = None, random.choice((None, 0, 1))
                case 2:
                    program.refusal = random.choice((None, None, "no such command"))
                case 3:
                    program.holder = random.choice((None, None, "another one has it"))
                case 4:
                    program.hands_over = not program.hands_over
                case 5:
                    await at.ref.ask(random.choice((StopEditor, StartEditor)), timeout=5)
            await trio.sleep(random.choice((0.01, 0.3, 1, 4, 25, 70)))
            await wait_all_tasks_blocked()
            pings = [id for tray, id in base.files if tray is Tray.REQUESTS and id.startswith(PING)]  # noqa: A001
            state = at.editor.state
            known = state is EditorState.STARTING and program.pid is not None and not by_ping
            none = known or state in NOBODY_WAITS
            assert len(pings) <= (0 if none else 1), state
            states.add(state)
    assert EditorState.RESTING in states


NOBODY_WAITS = {EditorState.STANDING_BY, EditorState.RESTING, EditorState.ENDING, EditorState.STOPPED}


def test_from_every_state_the_editor_can_be_up_again() -> None:
    for state in EditorState:
        reached = {state}
        while more := {after for one in reached for after in MOVES.becomes(one).values()} - reached:
            reached |= more
        assert EditorState.UP in reached
    assert set(HELD).isdisjoint({EditorState.UP, EditorState.SILENT, EditorState.STANDING_BY})


def test_what_cannot_happen_raises() -> None:
    with pytest.raises(IllegalMove):
        MOVES.after(EditorEvent.LAUNCHED, EditorState.UP, "x")


def test_the_actor_is_one() -> None:
    assert isinstance(editor_spec(PaperProgram(), PaperBase()).make(), Actor)


OF_OURS = (EditorState.STARTING, EditorState.UP, EditorState.SILENT)
"""If the process is known, for then it can be ended."""
AT_ANY_TIME = (EditorState.LOOKING, EditorState.RESTING)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("state", EditorState)
def test_what_can_be_asked_of_the_editor_in_each_state(state: EditorState, known: bool) -> None:
    here: Any = SimpleNamespace(state=state, _known=known)
    can = "start" if state is EditorState.STOPPED else None
    if state in AT_ANY_TIME or (known and state in OF_OURS):
        can = "stop"
    assert Editor._can_be_asked_for(here) == can
