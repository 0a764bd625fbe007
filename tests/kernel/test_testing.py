"""The kit itself, and the canary for what it needs of trio's insides."""

from typing import Any

import pytest
import trio
from trio._core import _run

from actors.kernel import (
    ActorDown,
    ActorRef,
    Stop,
    Why,
)
from actors.kernel.testing import Puppet, answer, block, check_empty, check_sound, crash, run_schedule, schedule, staged


async def race(tasks: int) -> str:
    order = ""

    async def runner(name: str) -> None:
        nonlocal order
        await trio.lowlevel.checkpoint()
        order += name

    async with trio.open_nursery() as nursery:
        for number in range(tasks):
            nursery.start_soon(runner, "abcdefgh"[number])
    return order


@pytest.mark.slow
def test_canary_trio_draws_its_schedules_as_the_kit_expects() -> None:
    orders = [run_schedule(seed, race, 5) for seed in range(40)]
    assert orders == [run_schedule(seed, race, 5) for seed in range(40)], (
        f"trio {trio.__version__}: the same seed gave another order; see schedule() in actors/kernel/testing.py"
    )
    assert len(set(orders)) > 20, (
        f"trio {trio.__version__}: 40 seeds gave only {len(set(orders))} orders of 5 tasks; "
        "see schedule() in actors/kernel/testing.py"
    )


@pytest.mark.parametrize("name", ["_r", "_ALLOW_DETERMINISTIC_SCHEDULING"])
def test_a_trio_without_the_private_names_is_said_in_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_run, name)
    with pytest.raises(RuntimeError, match=r"mend schedule\(\) in actors/kernel/testing.py"), schedule(1):
        raise AssertionError("never entered")


def test_a_schedule_leaves_trio_as_it_was() -> None:
    before = _run._r.getstate(), _run._ALLOW_DETERMINISTIC_SCHEDULING
    with pytest.raises(ZeroDivisionError), schedule(3):
        raise ZeroDivisionError
    assert (_run._r.getstate(), _run._ALLOW_DETERMINISTIC_SCHEDULING) == before


def test_a_schedule_in_which_nothing_can_happen_any_more_fails() -> None:
    with pytest.raises(trio.TooSlowError):
        run_schedule(0, trio.sleep_forever)


async def test_a_puppet_does_as_it_is_told_and_writes_it_down() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell("hello")
        assert await puppet.message(1) == "hello"
        assert await house["a"].ask(answer(3), timeout=1) == 3
        house["a"].tell(crash())
        assert await puppet.start(2) is None
    assert house.stop == Stop(Why.SHUTDOWN)
    assert [entry.what for entry in puppet.log.entries] == [
        *("started", "handle", "handle", "handle", "stopping"),
        *("started", "stopping"),
    ]


async def test_a_failure_in_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with staged(Puppet().spec()):
            raise ZeroDivisionError


async def test_a_house_names_its_children_by_path() -> None:
    async with staged(Puppet("a").spec()) as house:
        assert house["a"].path == "top/a"
        with pytest.raises(StopIteration):
            house["b"]


async def test_what_is_left_of_a_tree_is_an_error() -> None:
    async with staged(Puppet("a").spec()) as house:
        with pytest.raises(AssertionError, match="not all of it: StageStatistics"):
            check_empty(house.stage)


async def test_what_has_crashed_is_an_error_but_not_what_was_killed_or_let_fall() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].kill()
        await puppet.start(2)
        check_sound(house.stage)
        house["a"].tell(crash(RuntimeError("it falls")))
        await puppet.start(3)
        check_sound(house.stage, but="it falls")
        for words in (None, "something else"):
            with pytest.raises(AssertionError, match="it falls"):
                check_sound(house.stage, but=words)


async def test_a_trace_can_be_awaited() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(block())
        await puppet.message(1)
        house["a"].begin_stop()
        assert await house.trace.stop("top/a") == Stop(Why.SHUTDOWN)
        assert [entry.kind for entry in house.trace.of("ready")] == ["ready", "ready"]
        a: ActorRef[Any] = house.root.children()[0]
        with pytest.raises(ActorDown):
            await a.ask(answer(1), timeout=1)
