"""Whatever happens to a session, in whatever order: what each client has seen is a view of one log.

A plan is drawn: who says, cancels, withdraws, answers requests, undoes, comes and goes, stops reading, and what fails:
the turn, the session's actor, the disk, the process. It is played over scripted turns in virtual time, with a drawn
order of tasks. Then these laws hold:

  - What a client sees has rising numbers. A number never has two contents. Between two that it sees nothing is missing
    that is stored. What it sees is stored, but for tokens that a kill has taken, whose numbers are not given again.
  - Every turn has one last word, and nothing of the turn comes after it.
  - What was acknowledged is in the log once, or waits; nothing is there twice.
  - Every request is settled once, in its turn. It is acted upon once at most, as it was settled, and only when all of
    that is kept. Its id is that of no other one.
  - What clients are shown of requests and patches is in the store.
  - No turn runs while one is undone.
  - What changes in what is allowed is told once and in order, and whoever looks into the store at any moment finds an
    event with what it tells of, or neither.
  - In the end every client shows the text that is stored, and nothing is under way.
"""

import contextlib
import itertools
import re
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.agent.audited import sessions_told
from actors.agent.means import UndoOrder
from actors.agent.messages import SESSION_ACTORS, TURNS, ChangeSession, LogEntry, TurnOrder, UndoTurn
from actors.agent.retelling import begins
from actors.kernel import ActorRef, KernelError, Registry
from actors.kernel.testing import run_schedule
from actors.store import STORE, StoreClient, StoreError
from codec.agent.action_events import (
    ApprovalResolved,
    PatchApplied,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
    TurnUndone,
    UndoneFile,
)
from codec.agent.approvals import Resolution, UndoReport, UndoWish
from codec.agent.audit import AUDIT, ApprovalRemembered, PolicyAudited
from codec.agent.events import MessageFinal, ModeChanged, ServerError, Thinking, Token, ToolExecute, UserMessage
from codec.agent.kept import read_entry, read_row
from codec.agent.refusing import ContractRefusal
from codec.agent.sessions import SessionChange
from codec.agent.workspaces import Policy, PolicyChange
from tests.agent.paper_store import Paper, PaperDisk
from tests.agent.session_kit import (
    Acted,
    Asks,
    Fall,
    Pause,
    Screen,
    Stay,
    Steers,
    Tokens,
    Vanish,
    command,
    patch,
    stay,
    tool,
)
from tests.plenty import plenty, seeds

SCRIPTS: tuple[tuple[Any, ...], ...] = (
    (Tokens(5),),
    (Tokens(12, 0.003), Steers(), Tokens(3)),
    (
        Thinking(phase="planning", message="hm"),
        Tokens(2),
        ToolExecute(tool_name="read_file", args={}, status="started", call_id="c"),
        Pause(0.05),
        ToolExecute(tool_name="read_file", args={}, status="completed", call_id="c", result={"text": "x"}),
        Steers(),
        Tokens(4, 0.02),
    ),
    (Tokens(3), Fall()),
    (Tokens(3), Vanish()),
    (Pause(0.4), Steers(), Tokens(1)),
    (Tokens(40, 0.0),),
)

PLAYS = plenty(100)
"""A play takes 20 ms of processor."""

LIVES, ROUNDS = 50, 40
"""Rounds of a life, each a turn that is interfered with, and a life's end with a kill in its middle."""

CALM = 20
"""Looks, 2.5 seconds apart, at which nothing may be under way, also when the store does not answer."""


def asking(turn_id: str) -> tuple[tuple[Any, ...], ...]:
    """Scripts of a turn that asks."""
    return (
        (Tokens(2), Asks((patch(f"{turn_id}-p"),)), Tokens(2)),
        (Asks((patch(f"{turn_id}-p"), patch(f"{turn_id}-q", "b.py"), command(f"{turn_id}-c"))), Tokens(1)),
        (Tokens(1), Asks((command(f"{turn_id}-c"),)), Steers(), Asks((tool(f"{turn_id}-t"),)), Tokens(1)),
        (Asks((patch(f"{turn_id}-p"),)), Fall()),
    )


NAMES = ("ann", "bob")
ACTS = (
    "say", "say", "say", "steer", "again", "cancel", "cancel", "withdraw",
    "drop", "connect", "connect", "connect anew", "stall", "read",
    "answer", "answer", "answer", "refuse", "answer old", "result", "undo",
    "mode", "policy",
    "turn falls", "session falls", "client falls", "disk full", "disk mute", "disk well", "kill", "wait",
)  # fmt: skip


@dataclass(frozen=True)
class Act:
    what: str
    who: int
    pause: float


acts = st.builds(
    Act,
    st.sampled_from(ACTS),
    st.integers(0, 1),
    st.sampled_from((0.0, 0.0, 0.001, 0.004, 0.02, 0.06, 0.3)),
)


@dataclass
class Watched(Screen):
    """It looks into the store whenever it is shown something."""

    disk: PaperDisk | None = None
    session: str = ""
    faults: list[str] = field(default_factory=list)

    async def send(self, text: str) -> None:
        await super().send(text)
        message = self.messages[-1]
        if message["type"] == "session.state" and self.disk is not None:
            log = b"\n".join(self.disk.paper.streams.get(f"agent/session/{self.session}", []))
            state = message["state"]
            for id in (*state["pending_approvals"], *state["pending_patches"]):  # noqa: A001
                if b'"request_id":"%b"' % id.encode() not in log:
                    self.faults.append(f"{id} is shown before it is kept")
            for id in state["applied_patches"]:  # noqa: A001
                if not re.search(rb'"patch.applied","seq":\d+,"patch_id":"%b"' % id.encode(), log):
                    self.faults.append(f"{id} is shown as applied before it is kept")


@dataclass
class Play:
    """What the world outside remembers, over all kills."""

    dice: Random
    screens: list[Watched] = field(default_factory=lambda: [Watched("ann", cancels=True), Watched("bob", delta=True)])
    said: itertools.count = field(default_factory=lambda: itertools.count(1))  # type: ignore[type-arg]
    put_away: list[Screen] = field(default_factory=list)
    """Screens that were given up for others."""
    tried: list[str] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)
    contents: dict[int, Any] = field(default_factory=dict)
    acted: dict[str, Resolution] = field(default_factory=dict)
    session: str = ""
    policies: itertools.count = field(default_factory=lambda: itertools.count(1))  # type: ignore[type-arg]
    """The changes of the policy, by their times."""


def play(seed: int, plan: list[Act], *, asks: bool = True) -> None:
    run_schedule(seed, _play, seed, plan, asks)


async def _play(seed: int, plan: list[Act], asks: bool) -> None:
    world = Play(Random(seed))
    disk = PaperDisk(seconds=lambda: world.dice.choice((0.0, 0.001, 0.005, 0.03)))
    ids = itertools.count(1)
    left = list(plan)

    def scripts(order: TurnOrder) -> tuple[Any, ...]:
        return world.dice.choice((*SCRIPTS, *asking(order.turn_id)) if asks else SCRIPTS)

    while True:
        killed = False
        async with stay(disk, scripts, ids, undo=_undo, commands_ended=partial(_commands_ended, world)) as here:
            here.policy = Policy(approval_timeout_s=world.dice.choice((0, 0, 0.5)))
            here.remembering_seconds = world.dice.choice((0, 0.05))
            here.forgetful = world.dice.random() < 0.2
            here.acts = partial(_acts, world, disk)
            if not world.session:
                world.session = (await here.create()).id
            while left and not killed:
                killed = await _act(here, world, disk, left.pop(0))
            if killed:
                saved = disk.paper.copy()
                check_allowed(saved, world.session)
                for screen in world.screens:
                    screen.gone = True
            else:
                await _end(here, world, disk)
        if not killed:
            return
        disk = PaperDisk(saved, disk.seconds)


def _acts(world: Play, disk: PaperDisk, acted: Acted) -> None:
    """Everything is kept before somebody acts upon it, and nobody has done so before."""
    id, resolution = acted.request.request_id, acted.request.resolution  # noqa: A001
    assert resolution is not None
    assert id not in world.acted, f"{id} is acted upon twice"
    world.acted[id] = resolution
    row = read_row(disk.paper.pairs["agent/session", world.session])
    assert row.turn is not None
    assert row.turn.turn_id == acted.turn_id
    (kept,) = [each for each in row.pending if each.request_id == id]
    assert (kept.resolution, kept.begun) == (resolution, True)


async def _undo(order: UndoOrder) -> UndoReport:
    files = (UndoneFile(file_path="a", action="restore", outcome="done"),)
    event = TurnUndone(turn_id="t", redo=order.redo, files=files)
    await order.keep(replace(event, begun=True))
    for _ in range(3):
        assert not order.registry.get(TURNS).children(), "a turn runs while one is undone"
        await trio.sleep(0.02)
    await order.keep(event)
    return UndoReport(turn_id="t", redo=order.redo)


async def _commands_ended(world: Play, registry: Registry, turn_id: str) -> None:
    await trio.sleep(world.dice.choice((0, 0, 0.05)))


async def _act(here: Stay, world: Play, disk: PaperDisk, act: Act) -> bool:
    screen = world.screens[act.who]
    there = screen.seat is not None
    match act.what:
        case "kill":
            return True
        case "say" | "steer" if there:
            id = f"m{next(world.said)}"  # noqa: A001
            world.tried.append(id)
            here.nursery.start_soon(_say, screen, id, act.what == "steer")
        case "again" if there and world.tried:
            here.nursery.start_soon(_say, screen, world.dice.choice(world.tried), False)
        case "cancel" if there:
            here.nursery.start_soon(_quietly, screen, {"type": "client.cancel"})
        case "withdraw" if there and screen.of("session.state"):
            queued = screen.state["queued"]
            if queued:
                id = world.dice.choice(queued)["message_id"]  # noqa: A001
                world.withdrawn.add(id)
                here.nursery.start_soon(_quietly, screen, {"type": "client.withdraw", "message_id": id})
        case "answer" | "refuse" | "answer old" | "result" if there:
            _begin_to_answer(here, world, screen, act.what)
        case "undo":
            session = here.session(world.session)
            if session is not None:
                here.nursery.start_soon(_take_back, session, world.dice.random() < 0.5)
        case "mode":
            change = SessionChange(mode=world.dice.choice(("plan", "ask", "auto")))
            here.nursery.start_soon(_change, here, world.session, change)
        case "policy":
            here.nursery.start_soon(_change_policy, here, next(world.policies))
        case "drop" if there:
            await here.drop(screen)
        case "connect" if not there:
            await _connect(here, world, screen)
        case "connect anew" if not there:
            world.put_away.append(screen)
            world.screens[act.who] = Watched(screen.name, screen.delta, screen.cancels)
            await _connect(here, world, world.screens[act.who], anew=True)
        case "stall":
            screen.stall()
        case "read":
            screen.read()
        case "turn falls":
            for turn in here.registry.get(TURNS).children():
                turn.kill()
        case "session falls":
            for session in here.registry.get(SESSION_ACTORS).children():
                session.kill()
        case "disk full":
            disk.full = True
        case "disk mute":
            disk.mute = True
        case "disk well":
            disk.full = disk.mute = False
    await trio.sleep(act.pause)
    return False


def _answer(id: str, approved: bool = True) -> dict[str, Any]:  # noqa: A002
    return {"type": "client.approval_response", "request_id": id, "approved": approved}


def _begin_to_answer(here: Stay, world: Play, screen: Screen, what: str) -> None:
    asked = screen.of("patch.proposed") + screen.of("command.request_approval") + screen.of("tool.request_approval")
    waiting = screen.state["requests"] if screen.of("session.state") else []
    ids = [each["request_id"] for each in (asked if what == "answer old" else waiting)]
    if not ids:
        return
    dice, id = world.dice, world.dice.choice(ids)  # noqa: A001
    message: dict[str, Any] = {
        **_answer(id, what != "refuse"),
        "scope": dice.choice(("all", "file", "hunk")),
        "hunks": dice.choice((None, [0])),
        "remember": dice.choice(("once", "once", "session", "workspace")),
    }
    if what == "result":
        success = dice.random() < 0.8
        message = (
            {"type": "client.command_result", "command_id": id, "exit_code": 0}
            if id.endswith("-c")
            else {"type": "client.patch_apply_result", "patch_id": id, "success": success}
        )
    here.nursery.start_soon(_quietly, screen, message)


async def _take_back(session: ActorRef[Any], redo: bool) -> None:
    with contextlib.suppress(KernelError, ContractRefusal):
        await session.ask(partial(UndoTurn, UndoWish(), redo, "ann"), timeout=5)


async def _change(here: Stay, id: str, change: SessionChange) -> None:  # noqa: A002
    with contextlib.suppress(KernelError, StoreError):
        await here.sessions.ask(partial(ChangeSession, id, change), timeout=5)


async def _change_policy(here: Stay, number: int) -> None:
    """As the workspaces' actor does it."""
    entry = PolicyAudited(at=number, by="::1", change=PolicyChange(), before=Policy())
    with contextlib.suppress(KernelError, StoreError), sessions_told(here.registry, "w"):
        await StoreClient(here.registry.get(STORE)).append(f"{AUDIT}w", [msgspec.json.encode(entry)])


async def _connect(here: Stay, world: Play, screen: Watched, *, anew: bool = False) -> None:
    screen.disk, screen.session = here.disk, world.session
    screen.read()
    with trio.move_on_after(0.01):
        await here.connect(screen, world.session, None if anew else screen.last)


async def _say(screen: Screen, id: str, steers: bool) -> None:  # noqa: A002
    delivery = "steer" if steers else "queue"
    message = {"type": "client.user_message", "message": f"say {id}", "message_id": id, "delivery": delivery}
    await _quietly(screen, message)


async def _quietly(screen: Screen, message: dict[str, Any]) -> None:
    with contextlib.suppress(KernelError, AssertionError):
        await screen.say(message)


async def _end(here: Stay, world: Play, disk: PaperDisk) -> None:
    """Everything is well again, and what is under way comes to its end."""
    disk.full = disk.mute = False
    for screen in world.screens:
        screen.read()
        screen.disk, screen.session = disk, world.session
        if screen.seat is None:
            await here.connect(screen, world.session, screen.last)
    last = Screen("last", delta=True)
    await here.connect(last, world.session, 0)
    calm = 0
    for _ in range(4000):
        row = await here.log(world.session).row()
        assert row is not None
        calm = calm + 1 if row.turn is None and not row.queue and not here.turns() else 0
        if calm == CALM:
            break
        for request in last.state["requests"] if last.of("session.state") else ():
            await _quietly(last, _answer(request["request_id"]))
        await trio.sleep(2.5 if calm else 0.1)
    else:
        raise AssertionError("the session does not come to rest")
    check(await here.stored(world.session), world, last)
    assert not check_allowed(disk.paper, world.session), "what has changed in the workspace is not told"


# -- the laws


def check(stored: list[LogEntry], world: Play, last: Screen) -> None:
    numbers = [entry.seq for entry in stored]
    assert numbers == sorted(set(numbers)), numbers
    by_number = {entry.seq: entry.event for entry in stored}
    acknowledged: set[str] = set()
    for screen in (*world.put_away, *world.screens, last):
        _check_seen(world, screen)
        _check_view(by_number, screen)
        acknowledged |= {message["message_id"] for message in screen.of("user.message")}
        acknowledged |= {each["message_id"] for now in screen.of("session.state") for each in now["state"]["queued"]}
    _check_turns(stored)
    _check_requests(stored, world)
    said = [event.message_id for event in by_number.values() if isinstance(event, UserMessage)]
    assert len(said) == len(set(said)), f"a message is there twice: {said}"
    lost = acknowledged - set(said) - world.withdrawn
    assert not lost, f"acknowledged, and lost: {lost}; there are {said}"
    assert set(said) <= set(world.tried)
    texts = [event.message for event in by_number.values() if isinstance(event, MessageFinal)]
    assert last.rendered() == texts
    for screen in world.screens:
        assert screen.faults == []
        shown = screen.rendered()
        assert shown == texts[len(texts) - len(shown) :], (screen.name, shown, texts)
        assert not screen.state["running"]
        assert screen.state["queued"] == []
        assert not screen.state["suspended"]
        assert screen.state["pending_approvals"] == screen.state["pending_patches"] == screen.state["requests"] == []
        assert screen.state["trouble"] is None


def check_allowed(paper: Paper, session: str) -> list[bytes]:
    """The row is what the log tells, as both are on the paper at this moment. Returns the entries of the workspace that
    are not told yet."""
    row = read_row(paper.pairs["agent/session", session])
    mode, remembered, policies = "ask", dict[str, Any](), list[float]()
    for entry in paper.streams.get(f"agent/session/{session}", []):
        for _, event in read_entry(entry):
            match event:
                case ModeChanged():
                    assert event.before == mode != event.mode
                    mode = event.mode
                case ApprovalRemembered(approval=approval):
                    assert approval.id not in remembered
                    remembered[approval.id] = approval
                case PolicyAudited(at=at):
                    policies.append(at)
    assert mode == row.fact.mode
    assert tuple(remembered.values()) == row.remembered
    entries = paper.streams.get(f"{AUDIT}w", [])
    told = row.audited or 0
    assert policies == [msgspec.json.decode(entry)["at"] for entry in entries[:told]]
    return entries[told:]


def _check_requests(stored: list[LogEntry], world: Play) -> None:
    turn = ""
    turns: dict[str, str] = {}
    """In which each was asked."""
    settled: dict[str, ApprovalResolved] = {}
    for entry in stored:
        match entry.event:
            case UserMessage(turn_id=id):
                turn = id
            case PatchProposed(request_id=id) | RequestCommandApproval(request_id=id) | RequestApproval(request_id=id):
                assert id not in turns, f"the id {id} is used again"
                turns[id] = turn
            case ApprovalResolved(request_id=id) as resolved:
                assert turns[id] == turn
                assert id not in settled, f"{id} is settled twice"
                settled[id] = resolved
    assert settled.keys() == turns.keys(), "a request is not settled"
    for id, resolution in world.acted.items():  # noqa: A001
        told = settled[id]
        assert all(getattr(told, name) == getattr(resolution, name) for name in resolution.__struct_fields__)
        assert resolution.ended != "cancelled"


def _check_seen(world: Play, screen: Screen) -> None:
    """Numbers rise, and each has one content, whoever sees it."""
    before = 0
    for message in screen.events:
        seq = message["seq"]
        assert seq > before, f"{screen.name} sees {seq} after {before}"
        before = seq
        if message["type"] != "assistant.token":
            content = {name: value for name, value in message.items() if name != "cumulative_text"}
            assert world.contents.setdefault(seq, content) == content


def _check_view(stored: dict[int, Any], screen: Screen) -> None:
    events = screen.events
    before = events[0]["seq"] - 1 if events else 0
    for message in events:
        seq = message["seq"]
        between = [number for number in range(before + 1, seq + 1) if number in stored]
        if message["type"] == "assistant.token":
            assert all(type(stored[number]) is Token for number in between), (screen.name, before, seq)
            known = "".join(stored[number].token for number in between)
            if seq in stored and all(number in stored for number in range(before + 1, seq + 1)):
                assert message["token"] == known
        else:
            assert between == [seq], (screen.name, f"misses {between} before {seq}")
            assert stored[seq].__struct_config__.tag == message["type"]
        before = seq


def _check_turns(stored: list[LogEntry]) -> None:
    turn: str | None = None
    text: list[str] = []
    ended: set[str] = set()
    for entry in stored:
        match entry.event:
            case UserMessage(turn_id=id) if begins(entry):
                assert turn is None, f"{id} begins before {turn} has ended"
                assert id not in ended
                turn, text = id, []
            case UserMessage(turn_id=id):
                assert id == turn
            case MessageFinal(message=message, metadata=metadata):
                assert turn == metadata.turn_id
                assert message == "".join(text), (entry.seq, message, text)
                ended.add(metadata.turn_id)
                turn = None
            case Token(token=token):
                assert turn is not None, "a token after the last word"
                text.append(token)
            case Thinking() | ToolExecute() | ServerError() | PatchProposed() | ApprovalResolved() | PatchApplied():
                assert turn is not None, "something after the last word"
            case TurnUndone():
                assert turn is None, "undone while a turn is under way"
    assert turn is None, "a turn without a last word"


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=PLAYS, deadline=None)
@given(st.integers(0, 2**32), st.lists(acts, min_size=1, max_size=40))
@example(0, [Act("say", 0, 0.06), Act("result", 0, 0.001), Act("session falls", 0, 0.0)])  # while its turn asks it
def test_what_each_client_sees_is_a_view_of_one_log_whatever_happens(seed: int, plan: list[Act]) -> None:
    play(seed, [Act("connect", 0, 0.01), Act("say", 0, 0.0), *plan])


INTERFERENCES = (
    Act("cancel", 0, 0), Act("cancel", 1, 0), Act("drop", 0, 0), Act("drop", 1, 0), Act("connect", 0, 0),
    Act("connect", 1, 0), Act("connect anew", 1, 0), Act("turn falls", 0, 0), Act("session falls", 0, 0),
)  # fmt: skip


def life(dice: Random) -> list[Act]:
    """Turns, over each of which some of these things happen, in a drawn order and each at a drawn moment."""
    plan: list[Act] = []
    for number in range(ROUNDS):
        happens = dice.sample(INTERFERENCES, dice.randint(1, 5))
        if number == ROUNDS // 2:
            happens.insert(dice.randint(0, len(happens)), Act("kill", 0, 0))
        plan += [Act("connect", 0, 0), Act("say", 0, 0), *happens]
    return [Act(each.what, each.who, dice.choice((0, 0, 0.001, 0.004, 0.02, 0.06))) for each in plan]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_thousands_of_times_a_turn_is_cancelled_left_joined_broken_or_killed_and_it_is_a_view_of_one_log() -> None:
    for seed in seeds(LIVES):
        try:
            play(seed, life(Random(seed)), asks=False)
        except BaseException as error:
            error.add_note(f"play({seed}, life(Random({seed})), asks=False)")
            raise
