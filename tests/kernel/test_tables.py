"""The tables that the code consults or promises: walked, driven, and compared with how ARCHITECTURE draws them."""

import enum
import importlib
import itertools
import pkgutil
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

import actors
import program
import systems
import transports
from actors.kernel import (
    AlreadyAnswered,
    AnySpec,
    ChildSpec,
    Decay,
    IllegalMove,
    Mailbox,
    Reply,
    SlotState,
    Supervisor,
    Table,
    TooSlow,
    later,
    reply,
    slot,
    standing,
)
from actors.kernel import (
    in_words as kernel_in_words,
)
from actors.kernel.later import Later
from actors.kernel.testing import Act, Puppet, answer, block, crash, staged
from actors.kernel.timers import Timers

ROOMS = actors, transports, program, systems
ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"


def tables() -> dict[str, Table[Any, Any]]:
    """All of the house, each where it is defined."""
    found: dict[str, Table[Any, Any]] = {}
    for room in ROOMS:
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not module.name.endswith("__main__") and "launcher." not in module.name:
                for name, value in vars(importlib.import_module(module.name)).items():
                    if isinstance(value, Table) and value not in found.values():
                        found[f"{module.name}.{name}"] = value
    return found


TABLES = tables()
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def test_every_table_of_the_house_is_drawn_in_the_architecture_as_it_is() -> None:
    drawn = [f"{table.of[0].upper()}{table.of[1:]}:\n\n{table.drawing()}\n" for table in TABLES.values()]
    text = ARCHITECTURE.read_text()
    begin, end = "<!-- states -->\n\n", "\n<!-- end of states -->"
    there = text[text.index(begin) + len(begin) : text.index(end)]
    wanted = "\n".join(sorted(drawn))
    assert there == wanted, f"this is to stand between the marks in ARCHITECTURE.md:\n\n{wanted}"


@each_table
def test_every_state_can_be_reached_and_left_for_an_end(table: Table[Any, Any]) -> None:
    after = {state: set(table.becomes(state).values()) for state in table.states}
    reached = {table.states[0]}
    for _ in after:
        reached |= {one for state in reached for one in after[state]}
    assert reached == set(table.states)
    ends = {state for state in after if after[state] <= {state}} or {table.states[0]}  # what opens again ends closed
    for state in after:
        seen = {state}
        for _ in after:
            seen |= {one for before in seen for one in after[before]}
        assert seen & ends


@each_table
def test_what_a_table_does_not_know_raises_with_event_state_and_who(table: Table[Any, Any]) -> None:
    events: Any = type(next(iter(table.moves)))
    assert list(table.moves) == list(events)  # each stands in it
    for event, state in itertools.product(table.moves, table.states):
        if state in table.befores(event):
            assert table.after(event, state, "it") is table.becomes(state)[event] is table.moves[event][state]
        else:
            assert event not in table.becomes(state)
            with pytest.raises(IllegalMove) as told:
                table.after(event, state, "it")
            known = " or ".join(before.value for before in table.befores(event))
            assert str(told.value) == f"it is {state.value}; '{event.value}' can happen only while it is {known}"
            assert (told.value.who, told.value.event, told.value.state) == ("it", event, state)
            assert (told.value.__suppress_context__, told.value.__cause__) == (True, None)
            assert kernel_in_words(told.value) == "the server has made a mistake; its log says more"


def test_a_table_is_drawn_with_a_line_for_each_state() -> None:
    out = {Light.DARK: Light.GONE, Light.LIT: Light.GONE}
    table = Table("a light", {Colour.ON: {Light.DARK: Light.LIT}, Colour.OUT: out})
    assert table.drawing() == (
        "    dark     --on--> burning   --out--> gone\n"
        "    burning  --out--> gone\n"
        "    gone     (the end)"
    )
    with pytest.raises(IllegalMove, match=r"^the lamp is gone; 'off' can never happen$"):
        table.after(Colour.OFF, Light.GONE, "the lamp")


class Light(enum.Enum):
    DARK = "dark"
    LIT = "burning"
    GONE = "gone"


class Colour(enum.Enum):
    ON = "on"
    OUT = "out"
    OFF = "off"


@pytest.mark.parametrize("state", SlotState)
@pytest.mark.parametrize("event", standing.SlotEvent)
async def test_a_slot_moves_only_as_its_table_allows(state: SlotState, event: standing.SlotEvent) -> None:
    async with staged(Puppet("a").spec()) as house:
        slot_of_a = house["a"]._slot
        real, slot_of_a.state = slot_of_a.state, state
        try:
            if state in standing.MOVES.befores(event):
                slot_of_a._move(event)
                assert slot_of_a.state is standing.MOVES.moves[event][state]
            else:
                with pytest.raises(IllegalMove, match=f"^top/a is {state.value}; '{event.value}' can happen only"):
                    slot_of_a._move(event)
                assert slot_of_a.state is state
        finally:
            slot_of_a.state = real


async def test_every_move_of_a_slot_really_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: set[tuple[standing.SlotEvent, SlotState]] = set()
    move = slot.Slot._move

    def watched(self: slot.Slot, event: standing.SlotEvent) -> None:
        moves.add((event, self.state))
        move(self, event)

    monkeypatch.setattr(slot.Slot, "_move", watched)

    async def life(end: str, at: str, paused: bool) -> None:
        puppet = Puppet("a", grace=1.0)
        meter = Decay(threshold=0.5 if paused else 100.0)
        async with staged(root=ChildSpec("top", lambda: Supervisor(meter=meter, max_children=1))) as house:
            spec = puppet.spec()
            if at == "starting":
                puppet.on_start = [block()]
            one = house.root._slot.supervising().begin_child(spec)
            one.trial = False
            if at == "stopping":
                puppet.on_stop = [block()]
                await one.wait_settled()
                one.ref.tell(crash())
            await trio.testing.wait_all_tasks_blocked()
            match end:
                case "kill":
                    one.ref.kill()
                    await trio.testing.wait_all_tasks_blocked()
                case "crash":
                    one.ref.tell(crash())
                    await trio.testing.wait_all_tasks_blocked()
                case "top":
                    house.root.kill()
            if end != "top" and not paused:
                await trio.sleep(1)

    for paused in (False, True):
        for at in ("starting", "running", "stopping"):
            for end in ("kill", "crash", "stop", "top"):
                await life(end, at, paused)

    async def resumed() -> None:
        puppet = Puppet("a")
        root: AnySpec = ChildSpec("top", lambda: Supervisor([puppet.spec()], meter=Decay(threshold=0.5)))
        async with staged(root=root) as house:
            house["a"].tell(crash())
            await puppet.start(2)

    await resumed()

    async def never_begun() -> None:
        async with staged() as house:
            supervisor = house.root._slot.supervising()
            supervisor._adopt(Puppet("a").spec(), dynamic=False)

    await never_begun()
    assert moves == {(event, state) for event, befores in standing.MOVES.moves.items() for state in befores}


@pytest.mark.parametrize("state", reply.ReplyState)
async def test_an_answer_does_what_the_table_says(state: reply.ReplyState) -> None:
    replies: list[Reply[int]] = []

    def make(one: Reply[int]) -> Act:
        replies.append(one)
        return answer(1)(one) if state is reply.ANSWERED else lambda puppet: None

    async with staged(Puppet("a").spec()) as house:
        async with trio.open_nursery() as nursery:

            async def asker() -> None:
                if state is reply.ABANDONED:
                    with pytest.raises(TooSlow):
                        await house["a"].ask(make, timeout=1)
                else:
                    assert await house["a"].ask(make, timeout=5) == 1

            nursery.start_soon(asker)
            await trio.sleep(2)
            assert replies[0].state is state
            if state is reply.ANSWERED:
                with pytest.raises(AlreadyAnswered):
                    replies[0].set(1)
            else:
                replies[0].set(1)
        assert house.stage.statistics().dead_letters == (1 if state is reply.ABANDONED else 0)
        assert replies[0].state is reply.MOVES.becomes(state).get(reply.ReplyEvent.ANSWER, state)


@pytest.mark.parametrize("place", later.LaterState)
@pytest.mark.parametrize("event", later.LaterEvent)
async def test_a_message_to_oneself_goes_through_its_places(place: later.LaterState, event: later.LaterEvent) -> None:
    box: Mailbox[object] = Mailbox()
    holder: dict[Later, None] = {}
    timers = Timers()
    one = Later(timers, 0.0, box, holder, "tick")
    timers.push(one)
    if place is not later.PENDING:
        timers._fire_due()
    if place is later.GONE:
        one.taken()
    assert one.place is place
    after = later.MOVES.becomes(place).get(event, place)
    match event:
        case later.LaterEvent.DUE:
            timers._fire_due()
        case later.LaterEvent.TAKE if place is later.QUEUED:
            one.taken()
        case later.LaterEvent.CANCEL:
            one.cancel()
    assert one.place is after
    there = after is not later.GONE
    assert (one.pending, one.wanted, list(holder)) == (there, there, [one] * there)
    assert list(box.lane) == ([] if later.PENDING in (place, after) and event is not later.LaterEvent.DUE else [one])
    assert box.stale == (place is later.QUEUED and event is later.LaterEvent.CANCEL)


async def test_a_question_goes_through_its_places() -> None:
    places: list[reply.QuestionPlace] = []
    kept: list[Reply[int]] = []
    asked = {reply.Step.TAKE: reply.QUEUED, reply.Step.RETURN: reply.RUNNING}

    def make(one: Reply[int]) -> Act:
        kept.append(one)
        places.append(one.place)
        return lambda puppet: places.append(one.place)

    async with staged(Puppet("a").spec()) as house, trio.open_nursery() as nursery:

        async def asker() -> None:
            assert await house["a"].ask(make, timeout=5) == 7

        nursery.start_soon(asker)
        await trio.testing.wait_all_tasks_blocked()
        places.append(kept[0].place)
        kept[0].set(7)
    walked = [reply.QUEUED]
    for step, before in asked.items():
        walked.append(reply.PLACES.after(step, before, "it"))
    assert places == walked
