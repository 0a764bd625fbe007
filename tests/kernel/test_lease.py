"""A lease: neither the block nor its actor outlives the other."""

import contextlib
import random
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    ActorDown,
    Key,
    Lease,
    Restart,
    StartFailed,
    Stop,
    TooManyChildren,
    Why,
    crowd_spec,
)
from actors.kernel.testing import House, Puppet, block, check_empty, crash, finish, pause, run_in_virtual_time, staged
from tests.plenty import plenty


def nothing_left(house: House) -> None:
    statistics = house.stage.statistics()
    assert (house.root.children(), statistics.living, statistics.names, statistics.timers.pending) == ([], 1, 0, 0)


async def test_leaving_the_block_stops_the_actor() -> None:
    puppet = Puppet("a")
    puppet.on_stop = [pause(2)]
    async with staged() as house:
        async with house.root.lease(puppet.spec()) as ref:
            assert ref.alive
            assert house["a"] is ref
        assert trio.current_time() == 2
        assert await ref.wait_stopped() == Stop(Why.SHUTDOWN)
        nothing_left(house)


async def test_an_error_in_the_block_stops_the_actor_and_goes_on() -> None:
    async with staged() as house:
        with pytest.raises(ZeroDivisionError):
            async with house.root.lease(Puppet("a").spec()):
                raise ZeroDivisionError
        nothing_left(house)


async def test_cancelling_the_block_stops_the_actor_in_order() -> None:
    puppet = Puppet("a")
    puppet.on_stop = [pause(2)]
    async with staged() as house:
        with trio.move_on_after(1) as scope:
            async with house.root.lease(puppet.spec()):
                await trio.sleep_forever()
        assert scope.cancelled_caught
        assert trio.current_time() == 3
        assert puppet.did("stopping") == [Stop(Why.SHUTDOWN)]
        nothing_left(house)


async def test_a_block_waits_no_longer_than_the_grace() -> None:
    puppet = Puppet("a", grace=4.0)
    puppet.on_stop = [block()]
    async with staged() as house:
        async with house.root.lease(puppet.spec()):
            pass
        assert trio.current_time() == 4
        nothing_left(house)


@pytest.mark.parametrize(
    ("end", "why"), [(finish(), Why.DONE), (crash(), Why.CRASHED)], ids=lambda case: getattr(case, "name", None)
)
async def test_the_block_is_cancelled_when_the_actor_ends(end: object, why: Why) -> None:
    async with staged() as house:
        async with house.root.lease(Puppet("a").spec()) as ref:
            ref.tell(end)
            await trio.sleep_forever()
        assert (await ref.wait_stopped()).why is why
        nothing_left(house)


async def test_the_block_is_cancelled_when_the_supervisor_stops() -> None:
    async with staged(crowd_spec("peers")) as house:
        async with house["peers"].lease(Puppet("a").spec()) as ref:
            house["peers"].begin_stop()
            await trio.sleep_forever()
        assert await ref.wait_stopped() == Stop(Why.SHUTDOWN)


async def test_the_block_is_cancelled_when_the_supervisor_is_killed() -> None:
    async with staged(crowd_spec("peers")) as house:
        async with house["peers"].lease(Puppet("a").spec()) as ref:
            house["peers"].kill()
            await trio.sleep_forever()
        assert await ref.wait_stopped() == Stop(Why.KILLED)


async def test_an_actor_that_is_done_at_once_cancels_the_block_at_once() -> None:
    puppet = Puppet("a")
    puppet.on_start = [finish()]
    async with staged() as house:
        async with house.root.lease(puppet.spec()):
            await trio.sleep_forever()
        nothing_left(house)


async def test_a_start_that_fails_means_no_block() -> None:
    puppet = Puppet("a")
    puppet.on_start = [crash(ValueError("x"))]
    async with staged() as house:
        with pytest.raises(StartFailed, match="top/a did not start: ValueError: x"):
            async with house.root.lease(puppet.spec()):
                raise AssertionError("never entered")
        nothing_left(house)


async def test_a_start_that_is_no_longer_waited_for_leaves_nothing() -> None:
    puppet = Puppet("a")
    puppet.on_start = [block()]
    async with staged() as house:
        with trio.move_on_after(1):
            async with house.root.lease(puppet.spec()):
                raise AssertionError("never entered")
        nothing_left(house)


async def test_a_supervisor_that_stops_during_the_start_means_no_block() -> None:
    puppet = Puppet("a")
    puppet.on_start = [block()]
    async with staged(crowd_spec("peers")) as house, trio.open_nursery() as nursery:

        async def enter() -> None:
            with pytest.raises(StartFailed, match="it was stopped"):
                async with house["peers"].lease(puppet.spec()):
                    raise AssertionError("never entered")

        nursery.start_soon(enter)
        await puppet.start()
        await house["peers"].stop()


async def test_a_stopping_supervisor_leases_nothing() -> None:
    slow = Puppet("slow")
    slow.on_stop = [pause(2)]
    async with staged(slow.spec()) as house:
        lease = house.root.lease(Puppet("a").spec())
        house.root.begin_stop()
        await wait_all_tasks_blocked()
        with pytest.raises(ActorDown):
            async with lease:
                raise AssertionError("never entered")


async def test_leases_are_capped_like_all_children() -> None:
    async with staged(max_children=1) as house, house.root.lease(Puppet("a").spec()):
        with pytest.raises(TooManyChildren):
            async with house.root.lease(Puppet("b").spec()):
                raise AssertionError("never entered")


@pytest.mark.parametrize("restart", Restart)
async def test_a_lease_is_temporary_whatever_its_spec_says(restart: Restart) -> None:
    puppet = Puppet("a")
    async with staged() as house:
        async with house.root.lease(puppet.spec(restart=restart)) as ref:
            ref.kill()
            await trio.sleep_forever()
        await trio.sleep(60)
        assert len(puppet.did("started")) == 1


async def test_a_lease_is_entered_once() -> None:
    async with staged() as house:
        lease: Lease[Any] = house.root.lease(Puppet("a").spec())
        async with lease:
            pass
        with pytest.raises(RuntimeError, match="a lease is entered once"):
            await lease.__aenter__()
        nothing_left(house)


async def connection(house: House, watcher: Puppet, number: int, dice: random.Random) -> None:
    """Moments are tenths of a second, so that much happens at the same moment."""

    def moment() -> float:
        return dice.randrange(20) / 10

    puppet = Puppet(number, grace=1.0)
    act = dice.choice([None, finish(), crash(), block(), pause(moment())])
    puppet.on_start = dice.choice([[], [pause(moment())], [crash()]])
    puppet.on_stop = dice.choice([[], [pause(moment())], [block()]])
    with trio.move_on_after(moment()):
        async with house["peers"].lease(puppet.spec()) as ref:
            house.stage.registry.claim(Key[Any](f"peer {number}"), ref)
            ref.monitor(watcher.ref)
            assert watcher.actor is not None
            watcher.actor.monitor(ref, every=True)
            if act is not None:
                ref.tell(act)
            if dice.random() < 0.1:
                raise ZeroDivisionError
            await trio.sleep_forever()


@pytest.mark.slow
def test_thousands_of_leases_with_random_cancels_leave_nothing() -> None:
    seed = random.getrandbits(32)

    async def main() -> None:
        dice = random.Random(seed)
        watcher = Puppet("watcher")
        async with staged(watcher.spec(), crowd_spec("peers", max_children=10_000)) as house:

            async def one(number: int) -> None:
                with contextlib.suppress(ZeroDivisionError, StartFailed):
                    await connection(house, watcher, number, dice)

            leased = told = 0
            batches = plenty(15)
            for batch in range(batches):
                async with trio.open_nursery() as nursery:
                    for number in range(200):
                        nursery.start_soon(one, batch * 200 + number)
                leased += len(house.trace.of("spawn")) - 3 * (batch == 0)
                told += len(watcher.did("down"))
                house.trace.log.entries.clear()  # they hold errors, and these tracebacks: ever more for the collector
                watcher.log.entries.clear()
            assert leased == batches * 200
            await wait_all_tasks_blocked()
            statistics = house.stage.statistics()
            assert (statistics.living, statistics.names, statistics.timers.pending) == (3, 0, 0)
            assert house["peers"].children() == []
            slot = watcher.ref._slot
            assert slot.incarnation is not None
            assert (slot.monitors, slot.watching, slot.incarnation._monitors) == (None, {}, {})
            assert told > leased / 2
        check_empty(house.stage)

    run_in_virtual_time(main)
