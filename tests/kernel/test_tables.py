"""The tables that the code consults or promises: walked, and compared with what their files say in words."""

import enum
import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
import trio
import trio.testing

from actors.kernel import (
    AlreadyAnswered,
    AnySpec,
    ChildSpec,
    Decay,
    Mailbox,
    Reply,
    SlotState,
    Supervisor,
    TooSlow,
    later,
    reply,
    slot,
    standing,
)
from actors.kernel.later import Later
from actors.kernel.testing import Act, Puppet, answer, block, crash, staged
from actors.kernel.timers import Timers


def in_words(module: ModuleType, states: type[enum.Enum]) -> dict[str, set[str]]:
    """The table in the theory of a file: a state, then the states it may become."""
    names, table = set(states.__members__), dict[str, set[str]]()
    for line in inspect.getdoc(module).splitlines():  # type: ignore[union-attr]
        words = line.replace(",", " ").split()
        if words and words[0] in names:
            after = words[1:]
            end = next((place for place, word in enumerate(after) if word not in names), len(after))
            table.setdefault(words[0], set(after[:end]))
    return table


@pytest.mark.parametrize(
    ("module", "states", "moves"),
    [
        (standing, SlotState, standing.MOVES),
        (reply, reply.State, reply.MOVES),
        (reply, reply.Place, reply.PLACES),
        (later, later.Place, later.MOVES),
    ],
    ids=["slot", "reply", "reply-place", "later"],
)
def test_a_table_says_the_same_in_words_and_in_code(
    module: ModuleType, states: type[enum.Enum], moves: Mapping[Any, frozenset[Any]]
) -> None:
    assert set(moves) == set(states)
    assert in_words(module, states) == {state.name: {after.name for after in moves[state]} for state in states}


@pytest.mark.parametrize("moves", [standing.MOVES, reply.MOVES, reply.PLACES, later.MOVES])
def test_every_state_can_be_reached_and_left_for_an_end(moves: Mapping[Any, frozenset[Any]]) -> None:
    first = next(iter(moves))
    reached = {first}
    for _ in moves:
        reached |= {after for state in reached for after in moves[state]}
    assert reached == set(moves)
    ends = {state for state in moves if not moves[state]}
    assert ends
    for state in moves:
        seen = {state}
        for _ in moves:
            seen |= {after for one in seen for after in moves[one]}
        assert seen & ends


@pytest.mark.parametrize("before", SlotState)
@pytest.mark.parametrize("after", SlotState)
async def test_a_slot_moves_only_as_its_table_allows(before: SlotState, after: SlotState) -> None:
    async with staged(Puppet("a").spec()) as house:
        slot_of_a = house["a"]._slot
        real, slot_of_a.state = slot_of_a.state, before
        try:
            if after in standing.MOVES[before]:
                slot_of_a._move(after)
                assert slot_of_a.state is after
            else:
                with pytest.raises(AssertionError, match=f"top/a: {before.value} -> {after.value}"):
                    slot_of_a._move(after)
        finally:
            slot_of_a.state = real


async def test_every_move_of_a_slot_really_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: set[tuple[SlotState, SlotState]] = set()
    move = slot.Slot._move

    def watched(self: slot.Slot, state: SlotState) -> None:
        moves.add((self.state, state))
        move(self, state)

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
    assert moves == {(before, after) for before, afters in standing.MOVES.items() for after in afters}


@pytest.mark.parametrize("state", reply.State)
async def test_an_answer_does_what_the_table_says(state: reply.State) -> None:
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
        assert replies[0].state is (reply.ABANDONED if state is reply.ABANDONED else reply.ANSWERED)


async def test_a_message_to_oneself_goes_through_its_places() -> None:
    box: Mailbox[object] = Mailbox()
    holder: dict[Later, None] = {}
    timers = Timers()
    one = Later(timers, 0.0, box, holder, "tick")
    timers.push(one)
    assert (one.place, one.pending, list(holder)) == (later.PENDING, True, [one])
    timers._fire_due()
    assert (one.place, one.wanted, list(box.lane)) == (later.QUEUED, True, [one])
    one.taken()
    assert (one.place, one.wanted, holder) == (later.GONE, False, {})
    assert box.stale == 0
