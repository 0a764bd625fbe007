"""Monitors: exactly one Down, names gone before it, nothing left behind."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    ActorRef,
    Children,
    Down,
    Key,
    NameTaken,
    NobodyThere,
    Restart,
    Stop,
    Why,
    supervisor_spec,
)
from actors.kernel.testing import Puppet, block, crash, finish, staged

cancels: list[Callable[[], None]] = []


def monitor(ref: ActorRef[Any], every: bool = False) -> Any:
    def act(puppet: Any) -> None:
        cancels[:] = [puppet.monitor(ref, every=every)]

    return act


X, Y, Z = Key[Any]("x"), Key[Any]("y"), Key[Any]("z")
CROWD = Key[Children[Any]]("the crowd")
WAYS = [pytest.param(True, id="actor"), pytest.param(False, id="ref")]
"""A monitor is set by the watcher itself, or by somebody else through the refs."""


async def watch(watcher: Puppet, ref: ActorRef[Any], own: bool, every: bool = False) -> Callable[[], None]:
    if own:
        watcher.ref.tell(monitor(ref, every))
        await wait_all_tasks_blocked()
        return cancels[0]
    return ref.monitor(watcher.ref, every=every)


@pytest.mark.parametrize("own", WAYS)
async def test_a_monitor_is_told_once_when_the_actor_has_ended_for_good(own: bool) -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched", restart=Restart.TRANSIENT)
    async with staged(watcher.spec(), watched.spec()) as house:
        ref = house["watched"]
        await watch(watcher, ref, own)
        ref.tell(crash())
        await watched.start(2)
        assert watcher.did("down") == []
        ref.tell(finish())
        assert await watcher.down() == Down(ref, Stop(Why.DONE))
        await trio.sleep(60)
        assert len(watcher.did("down")) == 1


@pytest.mark.parametrize("own", WAYS)
async def test_a_monitor_of_the_dead_is_told_at_once(own: bool) -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    async with staged(watcher.spec(), watched.spec()) as house:
        ref = house["watched"]
        await ref.stop()
        await watch(watcher, ref, own)
        assert await watcher.down() == Down(ref, Stop(Why.SHUTDOWN))
        await wait_all_tasks_blocked()
        slot = house["watcher"]._slot
        assert slot.incarnation is not None
        assert not slot.watching
        assert not slot.incarnation._monitors


@pytest.mark.parametrize("own", WAYS)
async def test_a_monitor_of_every_end_is_told_of_each(own: bool) -> None:
    error = ValueError("x")
    watcher, watched = Puppet("watcher"), Puppet("watched", restart=Restart.TRANSIENT)
    async with staged(watcher.spec(), watched.spec()) as house:
        ref = house["watched"]
        await watch(watcher, ref, own, every=True)
        ref.tell(crash(error))
        ref.tell(finish())
        await watcher.down(2)
        assert watcher.did("down") == [Down(ref, Stop(Why.CRASHED, error), final=False), Down(ref, Stop(Why.DONE))]


@pytest.mark.parametrize("own", WAYS)
async def test_a_cancelled_monitor_is_silent(own: bool) -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    async with staged(watcher.spec(), watched.spec()) as house:
        cancel = await watch(watcher, house["watched"], own)
        cancel()
        cancel()
        slot = house["watcher"]._slot
        assert slot.incarnation is not None
        assert not any([house["watched"]._slot.monitors, slot.watching, slot.incarnation._monitors])
        await house["watched"].stop()
        await wait_all_tasks_blocked()
        assert watcher.did("down") == []


@pytest.mark.parametrize("own", WAYS)
async def test_a_monitor_cancelled_when_its_notice_is_on_its_way_is_silent(own: bool) -> None:
    watcher, watched, gate = Puppet("watcher"), Puppet("watched"), trio.Event()
    async with staged(watcher.spec(), watched.spec()) as house:
        cancel = await watch(watcher, house["watched"], own)
        house["watcher"].tell(block(gate))
        await wait_all_tasks_blocked()
        await house["watched"].stop()
        cancel()
        gate.set()
        await wait_all_tasks_blocked()
        assert watcher.did("down") == []


@pytest.mark.parametrize("own", WAYS)
async def test_an_actors_own_monitor_dies_with_its_incarnation_and_one_set_by_ref_does_not(own: bool) -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    async with staged(watcher.spec(), watched.spec()) as house:
        await watch(watcher, house["watched"], own)
        house["watcher"].tell(crash())
        await watcher.start(2)
        await house["watched"].stop()
        await wait_all_tasks_blocked()
        assert len(watcher.did("down")) == (0 if own else 1)


async def test_a_notice_for_the_dead_incarnation_is_not_for_its_successor() -> None:
    watcher, watched, gate = Puppet("watcher"), Puppet("watched"), trio.Event()
    async with staged(watcher.spec(), watched.spec()) as house:
        await watch(watcher, house["watched"], own=True)
        house["watcher"].tell(block(gate))
        await wait_all_tasks_blocked()
        house["watcher"].urgent(crash())
        await house["watched"].stop()
        gate.set()
        await watcher.start(2)
        await wait_all_tasks_blocked()
        assert watcher.did("down") == []


async def test_a_notice_that_nobody_takes_any_more_is_no_dead_letter() -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    async with staged(watcher.spec(), watched.spec()) as house:
        house["watched"].monitor(house["watcher"])
        house["watcher"].tell(block())
        await watcher.message(1)
        await house["watched"].stop()
        await house["watcher"].stop()
        assert house.stage.statistics().dead_letters == 0


@pytest.mark.parametrize("own", WAYS)
async def test_a_watcher_that_ends_leaves_no_monitor_behind(own: bool) -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    async with staged(watcher.spec(), watched.spec()) as house:
        await watch(watcher, house["watched"], own)
        assert house["watched"]._slot.monitors
        await house["watcher"].stop()
        assert not house["watched"]._slot.monitors


async def test_a_dead_watcher_watches_nothing() -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    async with staged(watcher.spec(), watched.spec()) as house:
        old = watcher.actor
        assert old is not None
        await house["watcher"].stop()
        house["watched"].monitor(house["watcher"])
        old.monitor(house["watched"])
        assert not house["watched"]._slot.monitors


async def test_every_monitor_is_told_also_two_of_the_same_watcher() -> None:
    watched, watchers = Puppet("watched"), [Puppet(number) for number in range(20)]
    async with staged(*[puppet.spec() for puppet in (*watchers, watched)]) as house:
        for watcher in watchers:
            for _ in range(2):
                watcher.ref.tell(monitor(house["watched"]))
        await wait_all_tasks_blocked()
        await house["watched"].stop()
        await wait_all_tasks_blocked()
        assert [len(watcher.did("down")) for watcher in watchers] == [2] * 20


async def test_a_crash_in_down_is_the_actors_crash() -> None:
    watcher, watched = Puppet("watcher"), Puppet("watched")
    watcher.on_down = [crash(ValueError("x"))]
    async with staged(watcher.spec(), watched.spec()) as house:
        await watch(watcher, house["watched"], own=True)
        await house["watched"].stop()
        assert str(await house.trace.stop("top/watcher")) == "crashed: ValueError: x"
        assert house.trace.of("stop", "top/watcher")[0].detail.message == "Down"
        await watcher.start(2)


# -- names


async def test_names_are_gone_before_the_owners_down_is_told() -> None:
    watcher, watched, found = Puppet("watcher"), Puppet("watched"), list[object]()
    async with staged(watcher.spec(), watched.spec()) as house:
        registry = house.stage.registry
        registry.claim(X, house["watched"])
        registry.claim(Y, house["watched"])
        watcher.on_down = [lambda _: found.append((registry.find(X), registry.names()))]
        await watch(watcher, house["watched"], own=True)
        await house["watched"].stop()
        await watcher.down()
        assert found == [(None, {})]


async def test_a_supervisor_is_known_by_its_name_once_its_children_are_ready() -> None:
    a = Puppet("a")
    async with staged(supervisor_spec("crowd", [a.spec()], name=CROWD, max_children=1)) as house:
        registry = house.stage.registry
        assert registry.get(CROWD) is house["crowd"]
        await registry.get(CROWD).start_child(Puppet("b").spec())
        assert [child.path for child in house["crowd"].children()] == ["top/crowd/a", "top/crowd/b"]
        await house["crowd"].stop()
        assert registry.names() == {}


async def test_a_name_belongs_to_one_actor_and_survives_its_restart() -> None:
    a, b = Puppet("a"), Puppet("b")
    async with staged(a.spec(), b.spec()) as house:
        registry = house.stage.registry
        registry.claim(X, house["a"])
        registry.claim(X, house["a"])
        with pytest.raises(NameTaken, match="the name 'x' belongs to top/a; top/b cannot have it too"):
            registry.claim(X, house["b"])
        house["a"].tell(crash())
        await a.start(2)
        assert registry.find(X) is registry.get(X) is house["a"]
        with pytest.raises(NobodyThere, match="z is not running at the moment"):
            registry.get(Z)
        registry.release("x", house["b"])
        assert len(registry) == 1
        registry.release("x", house["a"])
        registry.claim(X, house["b"])
        await house["a"].stop()
        assert registry.names() == {"x": house["b"]}
        with pytest.raises(NameTaken, match="top/a has ended and can claim no name"):
            registry.claim(Z, house["a"])
