"""When failures are too many: meters, backoff, escalation, pauses."""

import random
from itertools import pairwise
from typing import Never

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.kernel import (
    AnySpec,
    ChildSpec,
    Decay,
    Intensity,
    SlotState,
    StartFailed,
    Stop,
    Strategy,
    Supervisor,
    TooManyRestarts,
    Top,
    Why,
    supervisor_spec,
)
from actors.kernel.testing import Act, House, Puppet, crash, staged

AT_ONCE = (0.0, 0.0, 0.0)


def times(house: House, kind: str, path: str) -> list[float]:
    return [entry.at for entry in house.trace.of(kind, path)]


@pytest.mark.parametrize(
    ("moments", "verdicts"),
    [
        ([0, 0, 0, 0], "yyyn"),
        ([0, 1, 2, 4.9], "yyyn"),
        ([0, 1, 2, 5], "yyyy"),
        ([0, 1, 2, 5, 5.9], "yyyyn"),
        ([0, 10, 20, 30, 40], "yyyyy"),
    ],
)
def test_intensity_allows_so_many_restarts_in_a_period(moments: list[float], verdicts: str) -> None:
    meter = Intensity(3, 5.0)
    assert "".join("n" if meter.failure("a", now, 0.5) is None else "y" for now in moments) == verdicts


def test_intensity_of_nothing_allows_nothing() -> None:
    assert Intensity(0, 5.0).failure("a", 0.0, 0.5) is None
    assert Intensity(1, 0.0).failure("a", 0.0, 0.5) == 0.0


def test_decay_pauses_only_the_child_that_fails_and_begins_anew() -> None:
    meter = Decay(threshold=2.0, half_life=30.0, pause=10.0)
    assert [meter.failure("a", 0.0, 0.5) for _ in range(3)] == [0.0, 0.0, 12.5]
    assert meter.failure("b", 0.0, 0.5) == 0.0
    assert [meter.failure("a", 0.0, 0.0) for _ in range(3)] == [0.0, 0.0, 10.0]
    assert meter.limit() == "2 failures, halved every 30 s"


def test_decay_forgives_by_half_in_a_half_life() -> None:
    meter = Decay(threshold=2.0, half_life=30.0)
    assert [meter.failure("a", 30.0 * number, 0.0) for number in range(50)] == [0.0] * 50


def test_decay_below_one_failure_pauses_at_once() -> None:
    assert Decay(threshold=0.5, pause=4.0).failure("a", 0.0, 0.0) == 4.0


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5000), st.floats(0, 100)), max_size=50))
def test_decay_remembers_no_more_than_the_recent(failures: list[tuple[int, float]]) -> None:
    meter, now = Decay(half_life=1.0), 0.0
    for child, later in failures:
        now += later
        pause = meter.failure(child, now, 0.5)
        assert pause is not None
        assert pause >= 0
    meter.failure("last", now + 1000, 0.5)
    assert len(meter._levels) == 1


async def test_one_failure_too_many_ends_the_supervisor() -> None:
    puppet = Puppet("a", backoff=AT_ONCE)
    async with staged(puppet.spec(), intensity=2, period=5.0) as house:
        for number in (1, 2, 3):
            await puppet.start(number)
            house["a"].tell(crash(ValueError("no")))
        stop = await house.root.wait_stopped()
    assert stop.why is Why.CRASHED
    assert isinstance(stop.error, TooManyRestarts)
    assert str(stop.error) == "top/a ended (crashed: ValueError: no) once more than 2 restarts in 5 s allow"
    assert isinstance(stop.error.__cause__, ValueError)
    assert house.trace.of("stop", "top/a")[-1].detail.restarts is False


async def test_failures_far_apart_never_end_the_supervisor() -> None:
    puppet = Puppet("a", backoff=AT_ONCE)
    async with staged(puppet.spec(), intensity=1, period=5.0) as house:
        for number in range(2, 12):
            house["a"].tell(crash())
            await puppet.start(number)
            await trio.sleep(5)
        assert house["a"].statistics().restarts == 10


async def test_giving_up_stops_the_other_children_in_reverse_order() -> None:
    specs = [Puppet(name, backoff=AT_ONCE).spec() for name in "abc"]
    async with staged(*specs, intensity=0) as house:
        house["b"].tell(crash())
        await house.root.wait_stopped()
    assert [entry.path for entry in house.trace.of("stop")] == ["top/b", "top/c", "top/a", "top"]


async def test_intensities_multiply_over_the_levels() -> None:
    puppet = Puppet("a", backoff=AT_ONCE)
    inner = supervisor_spec("inner", [puppet.spec()], intensity=2)
    async with staged(inner, intensity=1) as house:
        number = 0
        while house.root.alive:
            number += 1
            await puppet.start(number)
            puppet.ref.tell(crash())
            await house.trace.nth("stop", "top/inner/a", number)
            await trio.sleep(1)  # the inner one's backoff
    assert number == (2 + 1) * (1 + 1)
    assert house.stop is not None
    assert isinstance(house.stop.error, TooManyRestarts)


async def test_a_restarted_supervisor_has_fresh_children_and_the_old_refs_are_dead() -> None:
    puppet = Puppet("a", backoff=AT_ONCE)
    async with staged(supervisor_spec("inner", [puppet.spec()], intensity=0)) as house:
        old = house["inner/a"]
        old.tell(crash())
        await puppet.start(2)
        assert (old.alive, house["inner/a"].alive) == (False, True)
        assert house["inner"].statistics().restarts == 1


async def test_a_failed_restart_is_tried_again_and_counts() -> None:
    puppet = Puppet("a", backoff=(1.0, 10.0, 0.0))
    puppet.on_start = [lambda _: None, crash(), crash()]
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash())
        await puppet.start(4)
        assert [entry.detail.stop.why for entry in house.trace.of("stop", "top/a")] == [
            *(Why.CRASHED, Why.NEVER_STARTED, Why.NEVER_STARTED)
        ]
        assert times(house, "spawn", "top/a") == [0.0, 1.0, 3.0, 7.0]
        assert house["a"].statistics().restarts == 3


async def test_backoff_doubles_up_to_the_most_and_starts_anew_after_a_good_run() -> None:
    puppet = Puppet("a", backoff=(0.5, 3.0, 0.0))
    async with staged(puppet.spec(), intensity=100) as house:
        for number in range(2, 7):
            house["a"].tell(crash())
            await puppet.start(number)
        await trio.sleep(3)
        house["a"].tell(crash())
        await puppet.start(7)
        ends, starts = times(house, "stop", "top/a"), times(house, "spawn", "top/a")
        assert [start - end for end, start in zip(ends, starts[1:], strict=True)] == [0.5, 1, 2, 3, 3, 0.5]


async def test_backoff_jitter_is_drawn_from_the_injected_random() -> None:
    puppet = Puppet("a", backoff=(1.0, 10.0, 0.5))
    dice = random.Random(7)
    expected = []
    for number in range(4):
        dice.random()  # the meter's luck
        expected.append(2.0**number * (1.0 + 0.5 * (2.0 * dice.random() - 1.0)))
    async with staged(puppet.spec(), intensity=100, random=random.Random(7)) as house:
        for number in range(2, 6):
            house["a"].tell(crash())
            await puppet.start(number)
        ends, starts = times(house, "stop", "top/a"), times(house, "spawn", "top/a")
    assert [start - end for end, start in zip(ends, starts[1:], strict=False)] == pytest.approx(expected)
    assert all(0.5 * 2**number <= delay <= 1.5 * 2**number for number, delay in enumerate(expected))


@pytest.mark.parametrize("strategy", Strategy)
async def test_a_tolerant_supervisor_pauses_a_child_that_keeps_failing_and_tries_again(strategy: Strategy) -> None:
    puppet, other = Puppet("a", backoff=(1.0, 1.0, 0.0)), Puppet("b", backoff=(1.0, 1.0, 0.0))
    puppet.on_start = [crash(ValueError("no luck"))] * 3

    class Patient(Supervisor[Never]):
        tolerant = True

    meter = Decay(threshold=2.0, half_life=30.0, pause=100.0)
    root = ChildSpec("top", lambda: Patient([puppet.spec(), other.spec()], strategy, meter=meter))
    async with staged(root=root, random=random.Random(1)) as house:
        pause = await house.trace.nth("pause", "top/a")
        assert house["a"].statistics().state is SlotState.PAUSED
        assert house["a"].statistics().note == f"failed too often; trying again in {pause.detail:.0f} s"
        assert house["a"].statistics().error == "never started: ValueError: no luck"
        await puppet.start(4)
        assert trio.current_time() - pause.at == pause.detail
        assert 100 <= pause.detail <= 150
        await trio.sleep(1)
        assert house["a"].statistics().note is None
        assert [child.statistics().state for child in house.root.children()] == [SlotState.RUNNING] * 2
    assert house.stop == Stop(Why.SHUTDOWN)


async def test_backoff_starts_anew_after_a_pause() -> None:
    puppet = Puppet("a", backoff=(1.0, 10.0, 0.0))
    puppet.on_start = [crash()] * 4
    root = ChildSpec("top", lambda: Top([puppet.spec()], meter=Decay(threshold=2.0, pause=100.0)))
    async with staged(root=root) as house:
        await puppet.start(5)
        starts = times(house, "spawn", "top/a")
        delays = [after - before for before, after in pairwise(starts)]
        assert delays == pytest.approx([1, 2, house.trace.of("pause")[0].detail, 1])


async def test_a_paused_child_can_be_stopped() -> None:
    puppet = Puppet("a")
    puppet.on_start = [crash()] * 100
    async with staged(root=ChildSpec("top", lambda: Top([puppet.spec()]))) as house:
        await house.trace.nth("pause", "top/a")
        ref = house["a"]
        assert await ref.stop() == Stop(Why.SHUTDOWN)
        assert ref.statistics().state is SlotState.STOPPED
        assert house.stage.statistics().timers.pending == 0


async def test_a_paused_member_of_a_group_is_started_with_it() -> None:
    log: list[Act] = [lambda _: None, crash()]
    first, second = Puppet("a", backoff=AT_ONCE), Puppet("b", backoff=AT_ONCE)
    second.on_start = log
    meter = Decay(threshold=1.0, pause=1000.0)
    specs = [first.spec(), second.spec()]
    root: AnySpec = ChildSpec("top", lambda: Supervisor(specs, Strategy.REST_FOR_ONE, meter=meter))
    async with staged(root=root) as house:
        house["b"].tell(crash())
        await house.trace.nth("pause", "top/b")
        house["a"].tell(crash())
        await second.start(3)
        assert trio.current_time() < 10
        await trio.sleep(3000)
        assert len(second.did("started")) == 3


async def test_the_top_outlives_whatever_its_children_do() -> None:
    puppet = Puppet("a")
    puppet.on_start = [crash()] * 60
    async with staged(root=ChildSpec("top", lambda: Top([puppet.spec()]))) as house:
        await puppet.start(61)
        assert house.root.alive


async def test_a_meter_that_fails_ends_its_supervisor_and_no_other() -> None:
    class Broken:
        def failure(self, child: object, now: float, luck: float) -> float | None:
            raise ZeroDivisionError

        def limit(self) -> str:
            return ""

    puppet = Puppet("a")
    inner: AnySpec = ChildSpec("inner", lambda: Supervisor([puppet.spec()], meter=Broken()))
    async with staged(inner) as house:
        house["inner/a"].tell(crash())
        stop = await house.trace.stop("top/inner")
        assert (stop.why, type(stop.error)) == (Why.CRASHED, ZeroDivisionError)
        await puppet.start(2)


async def test_a_supervisor_that_gives_up_while_it_starts_never_started() -> None:
    class Impatient(Supervisor[Never]):
        tolerant = True

    bad, slow = Puppet("bad"), Puppet("slow")
    bad.on_start = [crash()]
    async with staged() as house:
        with pytest.raises(StartFailed, match="top/inner did not start: TooManyRestarts"):
            await house.root.start_child(
                ChildSpec("inner", lambda: Impatient([bad.spec(), slow.spec()], intensity=0), start_timeout=60)
            )
        assert slow.did("started") == []
        assert (await house.trace.stop("top/inner")).why is Why.NEVER_STARTED
