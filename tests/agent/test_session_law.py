"""Whatever happens to a session, in whatever order: what each client has seen is a view of one log.

A plan is drawn: who says, cancels, withdraws, comes and goes, stops reading, and what fails: the turn, the session's
actor, the disk, the process. It is played over scripted turns in virtual time, with a drawn order of tasks. Then these
laws hold:

  - What a client sees has rising numbers. A number never has two contents. Between two that it sees nothing is missing
    that is stored. What it sees is stored, but for tokens that a kill has taken, whose numbers are not given again.
  - Every turn has one last word, and nothing of the turn comes after it.
  - What was acknowledged is in the log once, or waits; nothing is there twice.
  - In the end every client shows the text that is stored, and nothing is under way.
"""

import contextlib
import itertools
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agent.messages import SESSION_ACTORS, TURNS, LogEntry, TurnOrder
from actors.agent.retelling import begins
from actors.kernel import KernelError
from actors.kernel.testing import run_schedule
from codec.agent.events import MessageFinal, ServerError, Thinking, Token, ToolExecute, UserMessage
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import Fall, Pause, Screen, Stay, Steers, Tokens, Vanish, stay

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

NAMES = ("ann", "bob")
ACTS = (
    "say", "say", "say", "steer", "again", "cancel", "cancel", "withdraw",
    "drop", "connect", "connect", "connect anew", "stall", "read",
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
class Play:
    """What the world outside remembers, over all kills."""

    dice: Random
    screens: list[Screen] = field(default_factory=lambda: [Screen("ann", cancels=True), Screen("bob", delta=True)])
    said: itertools.count = field(default_factory=lambda: itertools.count(1))  # type: ignore[type-arg]
    put_away: list[Screen] = field(default_factory=list)
    """Screens that were given up for others."""
    tried: list[str] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)
    contents: dict[int, Any] = field(default_factory=dict)
    session: str = ""


def play(seed: int, plan: list[Act]) -> None:
    run_schedule(seed, _play, seed, plan)


async def _play(seed: int, plan: list[Act]) -> None:
    world = Play(Random(seed))
    disk = PaperDisk(seconds=lambda: world.dice.choice((0.0, 0.001, 0.005, 0.03)))
    ids = itertools.count(1)
    left = list(plan)

    def scripts(order: TurnOrder) -> tuple[Any, ...]:
        return world.dice.choice(SCRIPTS)

    while True:
        killed = False
        async with stay(disk, scripts, ids) as here:
            if not world.session:
                world.session = (await here.create()).id
            while left and not killed:
                killed = await _act(here, world, disk, left.pop(0))
            if killed:
                saved = disk.paper.copy()
                for screen in world.screens:
                    screen.gone = True
            else:
                await _end(here, world, disk)
        if not killed:
            return
        disk = PaperDisk(saved, disk.seconds)


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
        case "drop" if there:
            await here.drop(screen)
        case "connect" if not there:
            await _connect(here, world, screen)
        case "connect anew" if not there:
            world.put_away.append(screen)
            world.screens[act.who] = Screen(screen.name, screen.delta, screen.cancels)
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


async def _connect(here: Stay, world: Play, screen: Screen, *, anew: bool = False) -> None:
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
        if screen.seat is None:
            screen.read()
            await here.connect(screen, world.session, screen.last)
    last = Screen("last", delta=True)
    await here.connect(last, world.session, 0)
    for _ in range(2000):
        row = await here.log(world.session).row()
        assert row is not None
        if row.turn is None and not row.queue and not here.turns():
            break
        await trio.sleep(0.1)
    else:
        raise AssertionError("the session does not come to rest")
    await trio.sleep(50)  # also for answers of the store that do not come
    check(await here.stored(world.session), world, last)


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
    said = [event.message_id for event in by_number.values() if isinstance(event, UserMessage)]
    assert len(said) == len(set(said)), f"a message is there twice: {said}"
    lost = acknowledged - set(said) - world.withdrawn
    assert not lost, f"acknowledged, and lost: {lost}; there are {said}"
    assert set(said) <= set(world.tried)
    texts = [event.message for event in by_number.values() if isinstance(event, MessageFinal)]
    assert last.rendered() == texts
    for screen in world.screens:
        shown = screen.rendered()
        assert shown == texts[len(texts) - len(shown) :], (screen.name, shown, texts)
        assert not screen.state["running"]
        assert screen.state["queued"] == []
        assert screen.state["trouble"] is None


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
            case Thinking() | ToolExecute() | ServerError():
                assert turn is not None, "something after the last word"
    assert turn is None, "a turn without a last word"


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 2**32), st.lists(acts, min_size=1, max_size=40))
def test_what_each_client_sees_is_a_view_of_one_log_whatever_happens(seed: int, plan: list[Act]) -> None:
    play(seed, [Act("connect", 0, 0.01), Act("say", 0, 0.0), *plan])
