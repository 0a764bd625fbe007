"""The mailbox: two lanes, four policies, one reader; alone, and with an actor behind it."""

from functools import partial
from itertools import pairwise

import pytest
import trio
from trio.testing import assert_checkpoints, wait_all_tasks_blocked

from actors.kernel import (
    Actor,
    ChildSpec,
    Mailbox,
    MailboxFull,
    MailboxStatistics,
    Overflow,
    Reply,
    Restart,
    Stop,
    TooSlow,
    Why,
)
from actors.kernel.testing import Puppet, answer, block, crash, staged

WAIT, REFUSE, DROP_OLDEST, DROP_NEWEST = Overflow


def boxed(capacity: int, overflow: Overflow, *messages: object) -> Mailbox[object]:
    box: Mailbox[object] = Mailbox(capacity, overflow)
    for message in messages:
        box.put_nowait(message)
    return box


# -- the box alone


@pytest.mark.parametrize(("capacity", "budget"), [(0, 64), (-1, 64), (1, 0)])
def test_a_mailbox_needs_room_and_a_budget(capacity: int, budget: int) -> None:
    with pytest.raises(ValueError, match="a mailbox needs room and a budget of at least 1"):
        Mailbox(capacity, budget=budget)


@pytest.mark.parametrize("overflow", [WAIT, REFUSE])
def test_a_full_mailbox_refuses_what_cannot_wait(overflow: Overflow) -> None:
    box = boxed(2, overflow, 1, 2)
    with pytest.raises(MailboxFull, match=r"2 messages waiting, which is all it takes \(int not taken\)"):
        box.put_nowait(3)
    with pytest.raises(trio.WouldBlock):
        box.put_nowait(3)
    assert list(box.lane) == [1, 2]


@pytest.mark.parametrize(("overflow", "kept", "lost"), [(DROP_OLDEST, [2, 3], [1]), (DROP_NEWEST, [1, 2], [3])])
def test_a_full_mailbox_drops_as_its_policy_says(overflow: Overflow, kept: list[int], lost: list[int]) -> None:
    box = boxed(2, overflow, 1, 2)
    dropped: list[object] = []
    box.on_drop = dropped.append
    box.put_nowait(3)
    assert (list(box.lane), dropped, box.statistics().dropped) == (kept, lost, 1)


@pytest.mark.parametrize("overflow", Overflow)
def test_the_system_lane_takes_everything(overflow: Overflow) -> None:
    box = boxed(1, overflow, 1)
    for number in range(100):
        box.put_system(number)
    assert list(box.system) == list(range(100))


def test_a_mailbox_says_how_it_is() -> None:
    box = boxed(4, WAIT, 1, 2)
    box.put_system("stop")
    assert box.statistics() == MailboxStatistics(queued=2, urgent=1, waiting=0, capacity=4, handled=0, dropped=0)


@pytest.mark.parametrize("overflow", Overflow)
def test_a_closed_mailbox_gives_everything_to_the_dead(overflow: Overflow) -> None:
    box = boxed(2, overflow, 1, 2)
    dead: list[object] = []
    box.on_dead = dead.append
    box.put_system("urgent")
    assert box.close(Stop(Why.DONE)) == ["urgent", 1, 2]
    box.put_nowait(3)
    box.put_over(4)
    box.put_system(5)
    box.put_first(6)
    assert (dead, list(box.lane), list(box.system)) == ([3, 4], [], [])


async def test_senders_wait_for_room_and_are_let_in_in_turn() -> None:
    box = boxed(2, WAIT, 1, 2)
    async with trio.open_nursery() as nursery:
        for number in (3, 4, 5):
            nursery.start_soon(box.put, number)
            await wait_all_tasks_blocked()
        assert box.statistics().waiting == 3
        assert box.lane.popleft() == 1
        box.admit()
        assert list(box.lane) == [2, 3]
        box.lane.clear()
        box.admit()
        assert (list(box.lane), box.statistics().waiting) == ([4, 5], 0)


async def test_a_cancelled_sender_has_sent_nothing() -> None:
    box = boxed(1, WAIT, 1)
    with trio.move_on_after(1):
        await box.put(2)
    box.lane.clear()
    box.admit()
    assert list(box.lane) == []
    assert trio.current_time() == 1


async def test_senders_that_wait_at_the_close_are_let_go_into_the_dead_letters() -> None:
    box = boxed(1, WAIT, 1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.put, 2)
        await wait_all_tasks_blocked()
        assert box.close(Stop(Why.DONE)) == [1, 2]


@pytest.mark.parametrize("overflow", Overflow)
async def test_sending_is_always_a_checkpoint(overflow: Overflow) -> None:
    box = boxed(3, overflow, 1)
    with assert_checkpoints():
        await box.put(2)
    with trio.CancelScope() as scope:
        scope.cancel()
        await box.put(3)
    assert list(box.lane) == [1, 2]
    box.put_nowait(3)
    if overflow is REFUSE:
        with assert_checkpoints(), pytest.raises(MailboxFull):
            await box.put(4)
    box.close(Stop(Why.DONE))
    with assert_checkpoints():
        await box.put(5)


async def test_a_traced_mailbox_tells_of_every_message_once() -> None:
    box = boxed(2, WAIT)
    told: list[object] = []
    box.trace(told.append)
    box.put_nowait(1)
    await box.put(2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.put, 3)
        await wait_all_tasks_blocked()
        with pytest.raises(MailboxFull):
            box.put_nowait(4)
        assert told == [1, 2]
        box.lane.popleft()
        box.admit()
    assert told == [1, 2, 3]


# -- with an actor behind it


async def test_messages_are_handled_in_order() -> None:
    puppet = Puppet()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        for number in range(0, 1000, 2):
            ref.tell(number)
            await ref.send(number + 1)
        await puppet.message(1000)
        assert puppet.messages == list(range(1000))
        assert ref.statistics().mailbox.handled == 1000


async def test_urgent_messages_overtake() -> None:
    puppet, gate = Puppet(), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(block(gate))
        await puppet.message(1)
        ref.tell("later")
        ref.urgent("first")
        ref.urgent("second")
        gate.set()
        await puppet.message(4)
        assert puppet.messages[1:] == ["first", "second", "later"]


async def test_urgent_messages_are_taken_by_a_full_mailbox() -> None:
    puppet = Puppet(mailbox=partial(Mailbox, 1, REFUSE))
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(1)
        with pytest.raises(MailboxFull, match="top/puppet has 1 messages"):
            ref.tell(2)
        ref.urgent(3)
        await puppet.message(2)
        assert puppet.messages == [3, 1]


async def test_a_flooded_actor_starves_nobody() -> None:
    puppet, steps = Puppet(mailbox=partial(Mailbox, 10_000)), []
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        for number in range(6400):
            ref.tell(number)
        while len(puppet.messages) < 6400:
            steps.append(len(puppet.messages))
            await trio.lowlevel.checkpoint()
    turns = [after - before for before, after in pairwise(steps)]
    assert max(turns) <= 2 * 64  # one turn in each of two rounds of the scheduler, of which we are in one or the other
    assert len(steps) >= 100


async def test_the_budget_can_be_set() -> None:
    puppet, steps = Puppet(mailbox=partial(Mailbox, budget=1)), [0]
    async with staged(puppet.spec()) as house:
        for number in range(50):
            house["puppet"].tell(number)
        while len(puppet.messages) < 50:
            await trio.lowlevel.checkpoint()
            steps.append(len(puppet.messages))
    assert max(after - before for before, after in pairwise(steps)) <= 2


async def test_the_mailbox_is_kept_across_a_restart_and_the_poison_is_not() -> None:
    puppet = Puppet()
    async with staged(puppet.spec()) as house:
        ref, poison = house["puppet"], crash()
        for message in (1, 2, poison, 3, 4):
            ref.tell(message)
        await house.trace.stop("top/puppet")
        ref.tell(5)
        await puppet.message(6)
        assert puppet.messages == [1, 2, poison, 3, 4, 5]
        assert house.stage.statistics().dead_letters == 0
        assert ref.statistics().mailbox.handled == 6


async def test_urgent_messages_are_kept_across_a_restart() -> None:
    puppet, gate = Puppet(), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(block(gate))
        await puppet.message(1)
        ref.urgent(crash())
        ref.urgent("kept")
        gate.set()
        await puppet.start(2)
        assert await puppet.message(3) == "kept"


async def test_a_mailbox_keeps_its_bounds_while_its_actor_is_restarted() -> None:
    puppet = Puppet(mailbox=partial(Mailbox, 2, REFUSE))
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(crash())
        await house.trace.stop("top/puppet")
        ref.tell(1)
        ref.tell(2)
        with pytest.raises(MailboxFull):
            ref.tell(3)
        await puppet.message(3)
        assert puppet.messages[1:] == [1, 2]


@pytest.mark.parametrize(("lost", "fails", "letters"), [(True, False, 2), (False, False, 0), (False, True, 2)])
async def test_what_concerns_nobody_else_is_no_dead_letter_unless_its_actor_has_failed(
    lost: bool, fails: bool, letters: int
) -> None:
    puppet = Puppet(restart=Restart.TEMPORARY, unread_is_lost=lost)
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        if fails:
            ref.tell(crash())
        else:
            ref.begin_stop()
        ref.tell("unread")
        await house.trace.stop("top/puppet")
        ref.tell("too late")
        assert house.stage.statistics().dead_letters == letters


async def test_what_a_dead_actor_is_told_is_a_dead_letter() -> None:
    letters: list[tuple[str, object, str]] = []
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    async with staged(
        puppet.spec(), dead_letter=lambda ref, message, why: letters.append((ref.path, message, why))
    ) as house:
        ref = house["a"]
        ref.tell(crash(ValueError("x")))
        ref.tell("left")
        ref.urgent(crash(ValueError("y")))
        await ref.wait_stopped()
        ref.tell("told")
        await ref.send("sent")
        ref.urgent("urged")
        assert not ref.alive
        letter = house.stage.dead_letters[-1]
        assert (letter.path, letter.message) == ("top/a", "str")
        assert letter.why == "the actor is down (crashed: ValueError: y)"
        assert house.stage.statistics().dead_letters == 5
    assert [message for _, message, _ in letters[1:]] == ["left", "told", "sent", "urged"]


@pytest.mark.parametrize("overflow", [DROP_OLDEST, DROP_NEWEST])
async def test_drops_are_counted_and_traced(overflow: Overflow) -> None:
    puppet = Puppet(mailbox=partial(Mailbox, 2, overflow))
    async with staged(puppet.spec()) as house:
        for number in range(5):
            house["puppet"].tell(number)
        await puppet.message(2)
        kept, lost = {DROP_OLDEST: ([3, 4], [0, 1, 2]), DROP_NEWEST: ([0, 1], [2, 3, 4])}[overflow]
        assert puppet.messages == kept
        assert [entry.detail for entry in house.trace.of("drop", "top/puppet")] == lost
        assert house.stage.statistics().drops == house["puppet"].statistics().mailbox.dropped == 3


async def test_a_parked_sender_outlives_a_restart_and_is_let_in_by_the_next() -> None:
    puppet, gate = Puppet(mailbox=partial(Mailbox, 1)), trio.Event()
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:
        ref = house["puppet"]
        ref.tell(block(gate))
        await puppet.message(1)
        ref.tell(crash())
        nursery.start_soon(ref.send, "patient")
        nursery.start_soon(partial(ref.ask, answer("asked"), timeout=50))
        await wait_all_tasks_blocked()
        assert ref.statistics().mailbox.waiting == 2
        gate.set()
        await puppet.start(2)
        await puppet.message(4)
        assert "patient" in puppet.messages


async def test_a_handled_message_is_not_held_on_to() -> None:
    import gc
    import weakref

    class Large:
        pass

    puppet = Puppet()
    async with staged(puppet.spec()) as house:
        message = Large()
        gone = weakref.ref(message)
        house["puppet"].tell(message)
        await puppet.message(1)
        await wait_all_tasks_blocked()
        puppet.log.entries.clear()
        del message
        gc.collect()
        assert gone() is None


async def test_a_message_whose_asker_has_gone_is_not_held_on_to() -> None:
    import gc
    import weakref

    class Patient(Actor[object]):
        async def handle(self, message: object) -> None:
            await trio.sleep_forever()

    class Large:
        pass

    asked: list[weakref.ref[Large]] = []

    def make(_: Reply[None]) -> Large:
        message = Large()
        asked.append(weakref.ref(message))
        return message

    async with staged(ChildSpec("patient", Patient)) as house:
        with pytest.raises(TooSlow):
            await house["patient"].ask(make, timeout=1)
        await wait_all_tasks_blocked()
        gc.collect()
        assert [gone() for gone in asked] == [None]
