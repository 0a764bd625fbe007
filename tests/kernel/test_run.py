"""The stage: bringing a tree up and down, tracing, counting, and looking at it."""

import contextvars
import random
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    ActorRef,
    DeadLetter,
    Key,
    Restart,
    SlotState,
    SlotStatistics,
    Stage,
    StageStatistics,
    Stop,
    Why,
    run,
    supervisor_spec,
)
from actors.kernel.testing import Puppet, Trace, answer, block, crash, finish, pause, staged


async def test_outside_cancellation_is_an_orderly_stop() -> None:
    puppet, trace = Puppet("a"), Trace()
    puppet.on_stop = [pause(2)]
    with trio.move_on_after(1) as scope:
        await run(supervisor_spec("top", [puppet.spec()]), tracer=trace)
    assert scope.cancelled_caught
    assert trio.current_time() == 3
    assert puppet.did("stopping") == [Stop(Why.SHUTDOWN)]
    assert await trace.stop("top") == Stop(Why.SHUTDOWN)


async def test_cancelled_from_the_start_nothing_is_made() -> None:
    puppet = Puppet("a")
    with trio.CancelScope() as scope:
        scope.cancel()
        await run(supervisor_spec("top", [puppet.spec()]))
    assert puppet.log.entries == []


@pytest.mark.parametrize(("act", "why"), [(finish(), Why.DONE), (crash(), Why.CRASHED)], ids=["done", "crashed"])
async def test_a_run_ends_with_its_root_and_says_why(act: Any, why: Why) -> None:
    puppet = Puppet("a")
    puppet.on_start = [lambda puppet: puppet.ref.tell(act)]
    assert (await run(puppet.spec())).why is why
    assert len(puppet.did("started")) == 1


async def test_a_root_that_does_not_start_is_told_of_all_the_same() -> None:
    puppet = Puppet("a")
    puppet.on_start = [crash(ValueError("x"))]
    async with trio.open_nursery() as nursery:
        ref: ActorRef[Any] = await nursery.start(run, puppet.spec())
        assert str(await ref.wait_stopped()) == "never started: ValueError: x"


async def test_a_run_can_be_stopped_by_the_roots_ref() -> None:
    async with trio.open_nursery() as nursery:
        ref: ActorRef[Any] = await nursery.start(run, supervisor_spec("top"))
        assert await ref.stop() == Stop(Why.SHUTDOWN)


request_id = contextvars.ContextVar("request_id", default="none")


async def test_the_spawners_context_survives_restarts() -> None:
    puppet, seen = Puppet("a"), list[str]()
    puppet.on_start = [lambda _: seen.append(request_id.get()), lambda _: seen.append(request_id.get())]
    async with staged() as house:
        request_id.set("r1")
        ref = await house.root.start_child(puppet.spec())
        request_id.set("r2")
        ref.tell(lambda _: request_id.set("changed by the actor") and None)
        ref.tell(crash())
        await puppet.start(2)
    assert seen == ["r1", "r1"]


# -- tracing


async def test_a_tracer_is_told_of_lives() -> None:
    puppet = Puppet("a", backoff=(1.0, 1.0, 0.0), restart=Restart.TRANSIENT)
    async with staged(puppet.spec()) as house:
        error = ValueError("x")
        house["a"].tell(crash(error))
        await puppet.start(2)
        house["a"].tell(finish())
        await house.trace.stop("top/a", 2)
        assert [(entry.kind, entry.path, entry.at) for entry in house.trace.log.entries] == [
            ("spawn", "top", 0),
            ("spawn", "top/a", 0),
            ("ready", "top/a", 0),
            ("ready", "top", 0),
            ("stop", "top/a", 0),
            ("spawn", "top/a", 1),
            ("ready", "top/a", 1),
            ("stop", "top/a", 1),
        ]
        assert [entry.detail for entry in house.trace.of("spawn", "top/a")] == [0, 1]
        first, second = (entry.detail for entry in house.trace.of("stop", "top/a"))
        assert (first.stop, first.message, first.restarts) == (Stop(Why.CRASHED, error), "function", True)
        assert (second.stop, second.message, second.restarts) == (Stop(Why.DONE), None, False)


async def test_a_tracer_is_told_of_messages_if_it_asks_for_them() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec(), messages=True) as house:
        house["a"].tell("told")
        await house["a"].send("sent")
        house["a"].urgent("urged")
        assert await house["a"].ask(answer(3), timeout=1) == 3
        house["a"].tell(lambda puppet: puppet.tell_later(1, "later"))
        await puppet.message(6)
        told, taken = house.trace.of("tell", "top/a"), house.trace.of("take", "top/a")
        assert [entry.detail for entry in told if isinstance(entry.detail, str)] == ["told", "sent", "urged", "later"]
        assert [entry.detail for entry in taken] == puppet.messages
        assert [entry.detail.value for entry in house.trace.of("reply")] == [3]


async def test_messages_are_not_traced_unless_asked_for() -> None:
    async with staged(Puppet("a").spec()) as house:
        await house["a"].ask(answer(3), timeout=1)
        assert {entry.kind for entry in house.trace.log.entries} == {"spawn", "ready"}


async def test_a_tracer_that_fails_is_told_nothing_more_and_the_others_are(caplog: pytest.LogCaptureFixture) -> None:
    calls = []

    def broken(kind: str, ref: ActorRef[Any], detail: object, at: float) -> None:
        calls.append(kind)
        raise ValueError("tracer")

    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house.stage.watch(broken)
        house["a"].tell(crash())
        await house.trace.nth("ready", "top/a", 2)
    assert calls == ["stop"]
    assert "a tracer failed on stop of top/a, and is told nothing more" in caplog.text


async def test_a_tracer_can_come_and_go() -> None:
    late = Trace()
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        unwatch = house.stage.watch(late)
        house["a"].tell(crash())
        await puppet.start(2)
        unwatch()
    assert [entry.kind for entry in late.log.entries][:2] == ["stop", "spawn"]
    assert late.of("stop", "top") == []


async def test_a_taker_of_dead_letters_that_fails_is_given_no_more(caplog: pytest.LogCaptureFixture) -> None:
    calls = []

    def broken(ref: ActorRef[Any], message: object, why: str) -> None:
        calls.append(message)
        raise ValueError("taker")

    async with staged(Puppet("a").spec(), dead_letter=broken) as house:
        ref = house["a"]
        await ref.stop()
        ref.tell(1)
        ref.tell(2)
        assert house.stage.statistics().dead_letters == 2
    assert calls == [1]
    assert "the taker of dead letters failed on one to top/a" in caplog.text


# -- looking


async def test_the_stage_says_how_it_is() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash())
        await puppet.start(2)
        house.stage.registry.claim(Key[Any]("x"), house["a"])
        gone = await house.root.start_child(Puppet("gone").spec())
        await gone.ask(answer(1), timeout=1)
        await gone.stop()
        gone.tell("hello")
        assert house.stage.statistics() == StageStatistics(
            living=2,
            handled=2,
            restarts=1,
            crashes=1,
            dead_letters=1,
            drops=0,
            names=1,
            timers=house.stage.timers.statistics(),
        )
        at = house.stage.now()
        assert list(house.stage.dead_letters) == [
            DeadLetter(at=at, path="top/gone", message="str", why="the actor is down (shutdown)")
        ]


async def test_a_slot_says_how_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    puppet = Puppet("a", backoff=(1.0, 1.0, 0.0))
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        assert repr(ref) == "<top/a running>"
        ref.tell(crash(ValueError("x")))
        await trio.sleep(3)
        assert puppet.actor is not None
        puppet.actor.note = "well, thank you"
        monkeypatch.setattr(type(puppet.actor), "trouble", "but hungry")
        assert ref.statistics() == SlotStatistics(
            path="top/a",
            supervises=False,
            dynamic=False,
            state=SlotState.RUNNING,
            since=1.0,
            restarts=1,
            restarted_at=1.0,
            crashes=1,
            crashed_at=0.0,
            error="crashed: ValueError: x",
            handled=1,
            dropped=0,
            children=0,
            called=None,
            note="well, thank you",
            trouble="but hungry",
            mailbox=ref._slot.box.statistics(),
        )
        top = house.root.statistics()
        assert (top.supervises, top.children, top.note) == (True, 1, None)


async def test_the_stage_shows_the_whole_tree_parents_first() -> None:
    inner = supervisor_spec("inner", [Puppet("x").spec(), Puppet("y").spec()])
    async with staged(Puppet("a").spec(), inner, Puppet("z").spec()) as house:
        assert [slot.path for slot in house.stage.slots()] == [
            *("top", "top/a", "top/inner", "top/inner/x", "top/inner/y", "top/z")
        ]


async def test_a_stage_without_a_root_is_empty() -> None:
    stage = Stage()
    stage.abort()
    assert list(stage.slots()) == []


async def test_ids_and_luck_are_drawn_from_what_is_given() -> None:
    one, two = Stage(random=random.Random(5)), Stage(random=random.Random(5))
    ids = [one.new_id() for _ in range(3)]
    assert ids == [two.new_id() for _ in range(3)]
    assert len(set(ids)) == 3
    assert Stage(new_id=lambda: "mine").new_id() == "mine"


async def test_a_house_runs_the_same_way_twice() -> None:
    async def once() -> list[tuple[str, str, float]]:
        puppet = Puppet("a")
        async with staged(puppet.spec(), random=random.Random(9)) as house:
            for number in (2, 3):
                house["a"].tell(crash())
                await puppet.start(number)
            start = house.trace.log.entries[0].at
            return [(entry.kind, entry.path, round(entry.at - start, 9)) for entry in house.trace.log.entries]

    assert await once() == await once()


async def test_the_state_of_a_slot_follows_its_life() -> None:
    puppet, gate = Puppet("a"), trio.Event()
    puppet.on_start, puppet.on_stop = [block(gate)], [pause(1)]
    states = []
    async with staged() as house, trio.open_nursery() as nursery:
        nursery.start_soon(house.root.start_child, puppet.spec())
        await puppet.start()
        ref = house["a"]
        states.append(ref.statistics().state)
        gate.set()
        await wait_all_tasks_blocked()
        states.append(ref.statistics().state)
        ref.tell(crash())
        await wait_all_tasks_blocked()
        states.append(ref.statistics().state)
        await house.trace.stop("top/a")
        states.append(ref.statistics().state)
        await puppet.start(2)
        await ref.stop()
        states.append(ref.statistics().state)
    assert [state.value for state in states] == ["starting", "running", "stopping", "waiting", "stopped"]
