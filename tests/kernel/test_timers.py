"""One clock for all deadlines, and messages of an actor to itself."""

import itertools
import math
from functools import partial
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis.strategies import floats, integers
from trio.testing import wait_all_tasks_blocked

from actors.kernel import Mailbox, MailboxFull, Overflow, Restart, Timer, growing_wait
from actors.kernel import timers as timers_module
from actors.kernel.testing import Puppet, answer, block, crash, finish, staged
from actors.kernel.timers import Timers


def next_deadline() -> float:
    """To which the clock would jump."""
    return trio.current_time() + trio.lowlevel.current_statistics().seconds_to_next_deadline


async def test_timers_fire_in_order_at_their_moment() -> None:
    fired: list[tuple[str, float]] = []
    timers = Timers()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.run)
        for seconds, name in [(3, "c"), (1, "a"), (2, "b"), (1, "a too"), (-5, "past")]:
            timers.after(seconds, lambda name=name: fired.append((name, trio.current_time())))  # type: ignore[misc]
        await trio.sleep(2)
        timers.after(0.5, lambda: fired.append(("late comer", trio.current_time())))
        await trio.sleep(10)
        nursery.cancel_scope.cancel()
    assert fired == [("past", 0), ("a", 1), ("a too", 1), ("b", 2), ("late comer", 2.5), ("c", 3)]


async def test_a_cancelled_timer_never_fires_nor_moves_the_clock() -> None:
    timers = Timers()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.run)
        await wait_all_tasks_blocked()
        before = next_deadline()
        one, two = timers.after(5, lambda: pytest.fail("fired")), timers.after(7, lambda: None)
        await wait_all_tasks_blocked()
        one.cancel()
        one.cancel()
        assert (one.pending, two.pending) == (False, True)
        assert timers.statistics() == timers_module.TimersStatistics(pending=1, next_due=7)
        two.cancel()
        assert timers.statistics().next_due == math.inf
        assert next_deadline() == before
        with trio.move_on_after(100):
            await trio.sleep_forever()
        assert trio.current_time() == 100
        nursery.cancel_scope.cancel()


async def test_an_infinite_timer_costs_nothing() -> None:
    timers = Timers()
    timer = timers.after(math.inf, lambda: None)
    assert timers.statistics().pending == 0
    timer.cancel()
    assert not timer.pending


@pytest.mark.parametrize("exact", [True, False])
async def test_dead_timers_are_swept(exact: bool) -> None:
    timers = Timers()
    timers._exact = exact
    living = [timers.after(1, lambda: None), timers.after(1e6, lambda: None)]
    for _ in range(10_000):
        timers.after(5000, lambda: None).cancel()
    assert len(timers._heap) <= 2 * len(living) + timers_module.SWEEP_FROM
    assert timers.statistics().pending == 2


async def test_under_the_systems_clock_a_cancelled_timer_is_a_needless_wake_at_most() -> None:
    timers, fired = Timers(), list[float]()
    timers._exact = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.run)
        first = timers.after(1, lambda: pytest.fail("fired"))
        timers.after(3, lambda: fired.append(trio.current_time()))
        await wait_all_tasks_blocked()
        first.cancel()
        await trio.sleep(5)
        nursery.cancel_scope.cancel()
    assert fired == [3]


# -- tell_later

later: dict[str, Timer] = {}


def tell_later(seconds: float, message: object, name: str = "timer") -> Any:
    def act(puppet: Any) -> None:
        later[name] = puppet.tell_later(seconds, message)

    return act


async def test_a_message_to_oneself_comes_at_its_moment() -> None:
    puppet = Puppet()
    async with staged(puppet.spec()) as house:
        house["puppet"].tell(tell_later(3, "tick"))
        assert await puppet.message(2) == "tick"
        assert trio.current_time() == 3
        assert not later["timer"].pending
        later["timer"].cancel()


@pytest.mark.parametrize("stage", ["pending", "queued", "both"])
async def test_a_cancelled_message_to_oneself_is_never_handled(stage: str) -> None:
    puppet, gate = Puppet(), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(tell_later(3, "tick"))
        ref.tell(block(gate))
        await puppet.message(2)
        if stage != "pending":
            await trio.sleep(4)
            assert (ref.statistics().mailbox.queued, later["timer"].pending) == (1, True)
        later["timer"].cancel()
        if stage == "both":
            later["timer"].cancel()
        assert (ref.statistics().mailbox.queued, later["timer"].pending) == (0, False)
        assert house.stage.statistics().timers.pending == 0
        gate.set()
        await trio.sleep(10)
        assert (len(puppet.messages), len(puppet.did("started"))) == (2, 1)


async def test_messages_to_oneself_die_with_the_incarnation() -> None:
    puppet, gate = Puppet(), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(tell_later(1, "queued at the crash"))
        ref.tell(tell_later(100, "pending at the crash"))
        ref.tell(block(gate))
        await trio.sleep(2)
        ref.urgent(crash())
        ref.tell("kept")
        gate.set()
        await trio.sleep(200)
        assert [message for message in puppet.messages if isinstance(message, str)] == ["kept"]
        assert house.stage.statistics().timers.pending == 0


async def test_a_message_to_oneself_that_crashes_is_gone() -> None:
    puppet = Puppet()
    async with staged(puppet.spec()) as house:
        house["puppet"].tell(tell_later(1, crash()))
        await puppet.start(2)
        await trio.sleep(60)
        assert len(puppet.messages) == 2
        assert house.trace.of("stop", "top/puppet")[0].detail.message == "function"


@pytest.mark.parametrize("overflow", Overflow)
async def test_messages_to_oneself_are_neither_refused_nor_dropped(overflow: Overflow) -> None:
    puppet, gate = Puppet(mailbox=partial(Mailbox, 2, overflow)), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(tell_later(1, "tick"))
        ref.tell(block(gate))
        await puppet.message(2)
        ref.tell("a")
        ref.tell("b")
        await trio.sleep(2)
        if overflow in (Overflow.DROP_OLDEST, Overflow.DROP_NEWEST):
            for number in range(10):
                ref.tell(number)
        gate.set()
        await trio.sleep(1)
        expected = ["tick", 8, 9] if overflow is Overflow.DROP_OLDEST else ["a", "b", "tick"]
        assert puppet.messages[2:] == expected


async def test_even_a_mailbox_full_of_timers_takes_one_message() -> None:
    puppet, gate = Puppet(mailbox=partial(Mailbox, 1, Overflow.DROP_OLDEST)), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["puppet"]
        ref.tell(tell_later(1, "tick"))
        await puppet.message(1)
        ref.tell(block(gate))
        await trio.sleep(2)
        ref.tell("a")
        ref.tell("b")
        gate.set()
        await trio.sleep(1)
        assert puppet.messages[2:] == ["tick", "b"]


async def test_an_actor_has_no_more_timers_than_its_mailbox_has_room() -> None:
    puppet, refused = Puppet(mailbox=partial(Mailbox, 2)), list[str]()

    def three(puppet: Any) -> None:
        puppet.tell_later(1, "one")
        puppet.tell_later(2, "two")
        with pytest.raises(MailboxFull, match="top/puppet has 2 timers pending, which is all it may have"):
            puppet.tell_later(3, "three")
        refused.append("three")

    async with staged(puppet.spec()) as house:
        house["puppet"].tell(three)
        await trio.sleep(1.5)
        house["puppet"].tell(tell_later(1, "room again"))
        await trio.sleep(5)
        assert refused == ["three"]
        assert [message for message in puppet.messages if isinstance(message, str)] == ["one", "two", "room again"]


async def test_an_actor_that_is_over_can_tell_itself_nothing() -> None:
    puppet = Puppet()
    async with staged(puppet.spec()) as house:
        old = puppet.actor
        assert old is not None
        house["puppet"].tell(crash())
        await puppet.start(2)
        assert not old.tell_later(1, "ghost").pending
        await trio.sleep(10)
        assert len(puppet.messages) == 1


@pytest.mark.parametrize(
    "wait",
    [
        lambda ref: ref.ask(lambda reply: lambda puppet: puppet.tell_later(math.nan, "never"), timeout=1),
        lambda ref: ref.ask(answer(1), timeout=math.nan),
    ],
    ids=["later", "ask"],
)
async def test_a_time_that_is_no_number_is_refused_where_it_is_named_and_holds_up_no_other(wait: Any) -> None:
    puppet = Puppet(restart=Restart.TEMPORARY)
    other = Puppet("other")
    async with staged(puppet.spec(), other.spec()) as house:
        with pytest.raises(ValueError, match="NaN"):
            await wait(house["puppet"])
        house["other"].tell(tell_later(3, "tick"))
        assert await other.message(2) == "tick"
        assert trio.current_time() == 3


async def test_a_heartbeat_is_exact() -> None:
    puppet, beats = Puppet(), list[float]()
    left = itertools.count(1)

    def beat(puppet: Any) -> None:
        beats.append(trio.current_time())
        if next(left) == 100:
            finish()(puppet)
        else:
            puppet.tell_later(0.5, beat)

    async with staged(puppet.spec()) as house:
        house["puppet"].tell(beat)
        await house.trace.stop("top/puppet")
    assert beats == [number / 2 for number in range(100)]


@given(first=floats(1e-3, 1e3), most=floats(1e-3, 1e6), failures=integers(0, 10**9))
def test_a_wait_doubles_with_each_failure_and_never_passes_its_limit(first: float, most: float, failures: int) -> None:
    assert growing_wait(first, 0, most) == min(first, most)
    wait, longer = growing_wait(first, failures, most), growing_wait(first, failures + 1, most)
    assert longer in (most, 2 * wait)
    assert wait <= longer <= most
