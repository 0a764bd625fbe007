"""Starting in order, stopping in reverse, grace then kill, and children that come and go."""

import math
from typing import Never

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    ActorDown,
    ChildSpec,
    NameTaken,
    Restart,
    SlotState,
    StartFailed,
    Stop,
    Supervisor,
    TooManyChildren,
    TooSlow,
    Top,
    Why,
    supervisor_spec,
)
from actors.kernel.testing import (
    Did,
    Log,
    Puppet,
    answer,
    block,
    crash,
    finish,
    held,
    pause,
    run_schedule,
    staged,
    then,
)


def seen(log: Log[Did]) -> list[str]:
    return [f"{entry.what} {entry.who}" for entry in log.entries]


async def test_children_start_in_order_each_awaited_and_stop_in_reverse() -> None:
    log = Log[Did]()
    puppets = [Puppet(name, log) for name in "abc"]
    for puppet in puppets:
        puppet.on_start = [pause(2)]
        puppet.on_stop = [pause(1)]
    async with staged(*[puppet.spec() for puppet in puppets]) as house:
        assert trio.current_time() == 6
        assert [entry.path for entry in house.trace.of("ready")] == ["top/a", "top/b", "top/c", "top"]
    assert trio.current_time() == 9
    assert seen(log) == ["started a", "started b", "started c", "stopping c", "stopping b", "stopping a"]
    assert [entry.path for entry in house.trace.of("stop")] == ["top/c", "top/b", "top/a", "top"]


async def test_a_failed_start_stops_the_siblings_in_reverse() -> None:
    log = Log[Did]()
    bad = Puppet("bad", log)
    bad.on_start = [crash(ValueError("no disk"))]
    specs = [Puppet("a", log).spec(), Puppet("b", log).spec(), bad.spec(), Puppet("c", log).spec()]
    async with staged(*specs) as house:
        stop = await house.root.wait_stopped()
    assert seen(log) == ["started a", "started b", "started bad", "stopping b", "stopping a"]
    assert (stop.why, type(stop.error)) == (Why.NEVER_STARTED, StartFailed)
    assert str(stop.error) == "top/bad did not start: ValueError: no disk"
    assert stop.error is not None
    assert isinstance(stop.error.__cause__, ValueError)


async def test_a_child_whose_making_fails_never_started() -> None:
    def make() -> Puppet:
        raise ValueError("no")

    async with staged(ChildSpec("a", make)) as house:  # type: ignore[arg-type]
        assert str(await house.root.wait_stopped()) == "never started: StartFailed: top/a did not start: ValueError: no"


async def test_a_start_that_takes_too_long_is_cancelled() -> None:
    slow = Puppet("slow", start_timeout=3.0)
    slow.on_start = [block()]
    async with staged(slow.spec()) as house:
        stop = await house.root.wait_stopped()
        assert trio.current_time() == 3
    assert "TooSlow: top/slow was not ready within 3 s" in str(stop)
    assert slow.did("stopping") == []


async def test_a_start_that_comes_too_late_gets_its_last_words() -> None:
    late = Puppet("late", start_timeout=1.0, grace=5.0)
    late.on_start = [held(pause(2))]
    async with staged(late.spec()) as house:
        stop = await house.root.wait_stopped()
        assert stop.why is Why.NEVER_STARTED
        assert [words.why for words in late.did("stopping")] == [Why.NEVER_STARTED]
        assert trio.current_time() == 2


async def test_a_start_that_holds_on_too_long_is_killed() -> None:
    late = Puppet("late", start_timeout=1.0, grace=5.0)
    late.on_start = [held(block())]
    async with staged(late.spec()) as house:
        await house.root.wait_stopped()
        assert trio.current_time() == 6
        stop = await house.trace.stop("top/late")
        assert (stop.why, type(stop.error)) == (Why.KILLED, TooSlow)
        assert late.did("stopping") == []


async def test_a_stop_waits_for_a_start_that_is_atomic_and_its_last_words_follow() -> None:
    puppet = Puppet("a")
    puppet.on_start = [held(pause(2))]
    async with staged() as house, trio.open_nursery() as nursery:
        nursery.start_soon(house.root.start_child, puppet.spec())
        await puppet.start()
        assert await house["a"].stop() == Stop(Why.SHUTDOWN)
        assert trio.current_time() == 2
        assert puppet.did("stopping") == [Stop(Why.SHUTDOWN)]


async def test_what_goes_wrong_in_the_clean_up_of_a_late_start_is_told_with_it() -> None:
    async def messy(puppet: object) -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("clean-up")

    late = Puppet("late", start_timeout=1.0)
    late.on_start = [messy]
    async with staged(late.spec()) as house:
        await house.root.wait_stopped()
        error = (await house.trace.stop("top/late")).error
        assert isinstance(error, ExceptionGroup)
        assert [type(one) for one in error.exceptions] == [TooSlow, ValueError]


async def test_an_actor_is_killed_when_its_grace_is_over() -> None:
    slow = Puppet("slow", grace=3.0)
    slow.on_stop = [block()]
    async with staged(slow.spec()) as house:
        ref = house["slow"]
        assert await ref.stop() == Stop(Why.KILLED)
        assert trio.current_time() == 3


async def test_the_one_who_asks_may_shorten_the_grace_but_not_lengthen_it() -> None:
    slow = Puppet("slow", grace=3.0)
    slow.on_stop = [block()]
    async with staged(slow.spec()) as house:
        ref = house["slow"]
        ref.begin_stop(2.0)
        ref.begin_stop(1.0)
        assert await ref.stop(10.0) == Stop(Why.KILLED)
        assert trio.current_time() == 1


async def test_the_grace_runs_from_the_request_not_from_the_last_words() -> None:
    slow = Puppet("slow", grace=3.0)
    slow.on_stop = [block()]
    async with staged(slow.spec()) as house:
        ref = house["slow"]
        ref.tell(held(pause(2)))
        await slow.message(1)
        assert await ref.stop() == Stop(Why.KILLED)
        assert trio.current_time() == 3


async def test_a_crash_is_still_told_when_the_last_words_are_cut_off() -> None:
    slow = Puppet("slow", grace=3.0, restart=Restart.TEMPORARY)
    slow.on_stop = [block()]
    async with staged(slow.spec()) as house:
        error = ValueError("first")
        house["slow"].tell(crash(error))
        assert await house["slow"].wait_stopped() == Stop(Why.KILLED, error)
        assert trio.current_time() == 3


async def test_a_request_to_stop_interrupts_the_handler() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(block())
        await puppet.message(1)
        assert await ref.stop() == Stop(Why.SHUTDOWN)
        assert puppet.did("stopping") == [Stop(Why.SHUTDOWN)]
        assert trio.current_time() == 0


async def test_a_request_to_stop_overtakes_what_is_queued() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        for number in range(10):
            ref.tell(number)
            ref.urgent(number)
        await ref.stop()
        assert puppet.messages == []
        assert house.stage.statistics().dead_letters == 20


async def test_an_actor_can_stop_itself_and_wait_for_it() -> None:
    async def stop(puppet: Puppet) -> None:
        await puppet.ref.stop()
        raise AssertionError("it was not interrupted")

    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(stop)
        assert await house["a"].wait_stopped() == Stop(Why.SHUTDOWN)


async def test_a_start_that_is_stopped_has_failed_for_the_one_who_waits_for_it() -> None:
    puppet = Puppet("a")
    puppet.on_start = [block()]
    async with staged() as house, trio.open_nursery() as nursery:

        async def start() -> None:
            with pytest.raises(StartFailed, match="top/a did not start: it was stopped"):
                await house.root.start_child(puppet.spec())

        nursery.start_soon(start)
        await puppet.start()
        await house["a"].stop()


@pytest.mark.parametrize("way", ["stop", "kill"])
async def test_what_is_stopped_before_its_first_step_is_never_made(way: str) -> None:
    puppet = Puppet("a")
    async with staged() as house:
        house.root._slot.supervising().begin_child(puppet.spec(restart=Restart.TEMPORARY))
        ref = house["a"]
        if way == "stop":
            ref.begin_stop()
        else:
            ref.kill()
        assert (await ref.wait_stopped()).why is (Why.SHUTDOWN if way == "stop" else Why.KILLED)
        assert puppet.log.entries == []


async def test_dynamic_children_are_capped() -> None:
    async with staged(Puppet("static").spec(), max_children=2) as house:
        await house.root.start_child(Puppet("a").spec())
        b = await house.root.start_child(Puppet("b").spec())
        with pytest.raises(TooManyChildren, match="top has 2 children, which is all it may have"):
            await house.root.start_child(Puppet("c").spec())
        await b.stop()
        await house.root.start_child(Puppet("c").spec())


async def test_dynamic_children_stop_together_and_before_the_static_ones() -> None:
    log = Log[Did]()
    puppets = [Puppet(name, log) for name in "xyz"]
    async with staged(Puppet("a", log).spec(), Puppet("b", log).spec()) as house:
        for puppet in puppets:
            puppet.on_stop = [pause(1)]
            await house.root.start_child(puppet.spec())
        log.entries.clear()
    assert trio.current_time() == 1
    assert sorted(seen(log)[:3]) == ["stopping x", "stopping y", "stopping z"]
    assert seen(log)[3:] == ["stopping b", "stopping a"]


async def test_ids_are_unique_among_the_living() -> None:
    async with staged(Puppet("a").spec(), max_children=1) as house:
        with pytest.raises(NameTaken, match="top/a exists already"):
            await house.root.start_child(Puppet("a").spec())
        await house["a"].stop()
        again = await house.root.start_child(Puppet("a").spec())
        assert house.root.children() == [again]
        with pytest.raises(TooManyChildren):
            await house.root.start_child(Puppet("b").spec())
        await again.stop()
        assert house.root.children() == []


async def test_a_static_child_that_has_ended_stays_to_be_seen() -> None:
    async with staged(Puppet("a", restart=Restart.TEMPORARY).spec()) as house:
        house["a"].tell(crash(ValueError("x")))
        await house["a"].wait_stopped()
        statistics = house["a"].statistics()
        assert (statistics.state, statistics.error) == (SlotState.STOPPED, "crashed: ValueError: x")


async def test_a_child_that_fails_to_start_is_not_there() -> None:
    async with staged() as house:
        puppet = Puppet("a")
        puppet.on_start = [crash(ValueError("x"))]
        with pytest.raises(StartFailed, match="top/a did not start: ValueError: x") as caught:
            await house.root.start_child(puppet.spec())
        assert isinstance(caught.value.__cause__, ValueError)
        assert house.root.children() == []
        await trio.sleep(60)
        assert len(puppet.did("started")) == 1


async def test_a_child_that_started_once_is_restarted_as_its_type_says() -> None:
    async with staged() as house:
        puppet = Puppet("a")
        ref = await house.root.start_child(puppet.spec())
        puppet.on_start = [crash()]
        ref.tell(crash())
        await puppet.start(3)
        assert await ref.ask(answer(1), timeout=1) == 1


async def test_a_child_that_is_done_at_once_has_started() -> None:
    async with staged() as house:
        puppet = Puppet("a")
        puppet.on_start = [finish()]
        ref = await house.root.start_child(puppet.spec(restart=Restart.TEMPORARY))
        assert await ref.wait_stopped() == Stop(Why.DONE)
        assert puppet.did("stopping") == [Stop(Why.DONE)]


async def test_a_static_child_that_is_done_at_once_has_started() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    puppet.on_start = [finish()]
    async with staged(puppet.spec(), Puppet("b").spec()) as house:
        assert [child.alive for child in house.root.children()] == [False, True]


async def test_nobody_waits_for_the_start_any_more() -> None:
    async with staged() as house:
        puppet = Puppet("a")
        puppet.on_start = [block()]
        with trio.move_on_after(1):
            await house.root.start_child(puppet.spec())
        await wait_all_tasks_blocked()
        assert house.root.children() == []
        assert house.stage.statistics().living == 1


async def test_a_supervisor_that_stops_takes_no_more_children() -> None:
    slow = Puppet("slow")
    slow.on_stop = [pause(2)]
    async with staged(slow.spec()) as house:
        house.root.begin_stop()
        await wait_all_tasks_blocked()
        with pytest.raises(ActorDown, match="top is down"):
            await house.root.start_child(Puppet("a").spec())
        await house.root.wait_stopped()
        with pytest.raises(ActorDown, match=r"top is down \(shutdown\)"):
            await house.root.start_child(Puppet("a").spec())


async def test_a_child_can_be_found_by_its_id() -> None:
    async with staged(Puppet("a").spec()) as house:
        assert house.root.child("a") is house["a"]
        assert house.root.child("b") is None
        assert house["a"].child("x") is None


async def test_a_supervisor_that_stops_restarts_nobody() -> None:
    first, last = Puppet("first", backoff=(0.1, 0.1, 0.0)), Puppet("last")
    last.on_stop = [pause(3)]
    async with staged(first.spec(), last.spec()) as house:
        ref = house["first"]
        house.root.begin_stop()
        await wait_all_tasks_blocked()
        ref.tell(crash())
        await house.root.wait_stopped()
        assert (await ref.wait_stopped()).why is Why.CRASHED
        assert len(first.did("started")) == 1


async def test_a_supervisor_that_stops_does_not_bring_back_who_was_to_be_restarted() -> None:
    first, last = Puppet("first", backoff=(1.0, 1.0, 0.0)), Puppet("last")
    last.on_stop = [pause(3)]
    async with staged(first.spec(), last.spec()) as house:
        ref = house["first"]
        ref.tell(crash())
        await house.trace.stop("top/first")
        house.root.begin_stop()
        assert (await ref.wait_stopped()).why is Why.SHUTDOWN
        assert trio.current_time() == 3
        assert len(first.did("started")) == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_child_that_is_done_at_once_and_brought_back_at_once_has_started(seed: int) -> None:
    async def main() -> None:
        async with staged() as house:
            puppet = Puppet("a", backoff=(0.0, 0.0, 0.0))
            puppet.on_start = [finish()]
            assert (await house.root.start_child(puppet.spec())).alive

    run_schedule(seed, main)


async def test_only_a_supervisor_has_children() -> None:
    async with staged(Puppet("a").spec()) as house:
        with pytest.raises(TypeError, match="top/a is a PuppetActor, which has no children"):
            await house["a"].start_child(Puppet("b").spec())
        assert house["a"].children() == []


async def test_a_killed_supervisor_takes_everything_below_with_it() -> None:
    log = Log[Did]()
    a, b = Puppet("a", log), Puppet("b", log, backoff=(100.0, 100.0, 0.0))
    async with staged(supervisor_spec("inner", [a.spec(), b.spec()])) as house:
        a_ref, b_ref = house["inner/a"], house["inner/b"]
        a_ref.tell(held(block()))
        b_ref.tell(crash())
        await house.trace.stop("top/inner/b")
        log.entries.clear()
        house["inner"].kill()
        assert await a_ref.wait_stopped() == Stop(Why.KILLED)
        assert await b_ref.wait_stopped() == Stop(Why.KILLED)
        assert trio.current_time() == 0
        await b.start(1)
        assert house["inner"].statistics().restarts == 1
        assert seen(log) == ["started a", "started b"]  # no last words before


async def test_a_killed_supervisor_takes_no_more_children_while_the_last_are_dying() -> None:
    async def linger(puppet: object) -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(2)

    puppet = Puppet("a")
    async with staged(supervisor_spec("inner", [puppet.spec()])) as house:
        inner = house["inner"]
        house["inner/a"].tell(linger)
        await puppet.message(1)
        inner.kill()
        await wait_all_tasks_blocked()
        with pytest.raises(ActorDown, match="top/inner is down"):
            await inner.start_child(Puppet("b").spec())


async def test_a_supervisor_with_little_grace_is_killed_with_its_children() -> None:
    slow = Puppet("slow", grace=100.0)
    slow.on_stop = [block()]
    async with staged(ChildSpec("inner", lambda: Supervisor([slow.spec()]), grace=2.0)) as house:
        ref = house["inner/slow"]
        assert await house["inner"].stop() == Stop(Why.KILLED)
        assert await ref.wait_stopped() == Stop(Why.KILLED)
        assert trio.current_time() == 2


async def test_a_supervisor_whose_own_last_words_fail_leaves_no_children() -> None:
    class Careless(Supervisor[Never]):
        async def stopping(self, stop: Stop) -> None:
            raise ValueError("forgot them")

    puppet = Puppet("a")
    async with staged(ChildSpec("inner", lambda: Careless([puppet.spec()]), restart=Restart.TEMPORARY)) as house:
        ref = house["inner/a"]
        stop = await house["inner"].stop()
        assert (stop.why, str(stop.error)) == (Why.CRASHED, "forgot them")
        assert await ref.wait_stopped() == Stop(Why.KILLED)


async def test_a_message_to_a_supervisor_is_a_dead_letter_and_no_crash() -> None:
    letters: list[tuple[str, object, str]] = []
    async with staged(dead_letter=lambda ref, message, why: letters.append((ref.path, message, why))) as house:
        house.root.tell("hello")
        await wait_all_tasks_blocked()
        assert house.root.alive
    assert letters == [("top", "hello", "no clause of Supervisor takes it")]


async def test_a_tolerant_top_is_ready_although_a_child_is_not() -> None:
    puppet = Puppet("a", backoff=(1.0, 1.0, 0.0))
    puppet.on_start = [crash()]
    async with staged(root=ChildSpec("top", lambda: Top([puppet.spec(), Puppet("b").spec()]))) as house:
        assert trio.current_time() == 0
        assert [child.statistics().state for child in house.root.children()] == [SlotState.WAITING, SlotState.RUNNING]
        await puppet.start(2)
        assert trio.current_time() == 1


async def test_stopping_between_incarnations_needs_no_patience() -> None:
    puppet = Puppet("a", backoff=(100.0, 100.0, 0.0))
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(then(crash()))
        await house.trace.stop("top/a")
        assert ref.alive
        assert await ref.stop() == Stop(Why.SHUTDOWN)
        assert await ref.stop() == Stop(Why.SHUTDOWN)
        assert trio.current_time() == 0


async def test_killing_what_is_not_alive_does_nothing() -> None:
    async with staged(Puppet("a").spec()) as house:
        ref = house["a"]
        ref.kill()
        ref.kill()
        await house.trace.nth("ready", "top/a", 2)
        await ref.stop()
        ref.kill()
        assert ref.statistics().state is SlotState.STOPPED


def test_a_supervisor_spec_waits_for_its_children() -> None:
    spec = supervisor_spec("x", max_children=3)
    assert (spec.start_timeout, spec.grace) == (math.inf, math.inf)
