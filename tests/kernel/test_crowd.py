"""A crowd: its children are nothing to each other, and nothing that becomes of them ends it."""

from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    AnySpec,
    Children,
    ChildSpec,
    Decay,
    Key,
    NameTaken,
    Restart,
    SlotState,
    StartFailed,
    Stop,
    Supervisor,
    TooManyChildren,
    Why,
    crowd_spec,
    supervisor_spec,
)
from actors.kernel.testing import Puppet, crash, finish, run_in_virtual_time, run_schedule, staged

CROWD = Key[Children[Any]]("crowd")
ENDS = ("crash", "crash in two", "crash at the start", "crash at the end", "kill", "finish", "gone", "stop")
STEPS = st.lists(
    st.tuples(st.sampled_from(ENDS), st.integers(0, 2), st.sampled_from(Restart), st.sampled_from([0.0, 0.3, 20.0])),
    max_size=40,
)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), steps=STEPS)
@example(seed=0, steps=[("crash", 0, Restart.PERMANENT, 0.3)] * 40)
@example(seed=0, steps=[("crash at the start", n % 3, Restart.TRANSIENT, 0.0) for n in range(40)])
def test_no_sequence_of_ends_of_its_children_ends_a_crowd_or_another_child(
    seed: int, steps: list[tuple[str, int, Restart, float]]
) -> None:
    async def main() -> None:
        bystander, puppets = Puppet("bystander"), dict[int, Puppet]()
        async with staged(crowd_spec("crowd", name=CROWD)) as house:
            crowd = house["crowd"]
            beside = await crowd.start_child(bystander.spec())
            for what, name, restart, after in steps:
                child = crowd.child(name)
                if child is None:
                    puppets[name] = Puppet(name)
                    if what == "crash at the start":
                        puppets[name].on_start = [crash()]
                        with pytest.raises(StartFailed):
                            await crowd.start_child(puppets[name].spec(restart=restart))
                        continue
                    child = await crowd.start_child(puppets[name].spec(restart=restart))
                match what:
                    case "crash" | "crash at the start":
                        puppets[name].on_start = [crash()] * (what != "crash")
                        child.tell(crash())
                    case "crash in two":
                        child.tell(crash(ExceptionGroup("two", [ValueError("a"), KeyError("b")])))
                    case "crash at the end":
                        puppets[name].on_stop = [crash()]
                        child.tell(finish())
                    case "kill":
                        child.kill()
                    case "finish":
                        child.tell(finish())
                    case "gone":
                        child.tell(finish(Why.PEER_GONE))
                    case "stop":
                        await child.stop()
                await trio.sleep(after)
            await trio.sleep(3600)
            assert (crowd.alive, crowd.statistics().restarts) == (True, 0)
            assert (beside.alive, beside.statistics().restarts) == (True, 0)
            assert house.stage.registry.get(CROWD) is crowd
            states = {ref.statistics().state for ref in crowd.children()}
            assert states == {SlotState.RUNNING}  # whoever is to be there has come back

    run_schedule(seed, main)


async def test_who_keeps_failing_is_paused_and_finds_what_was_sent_meanwhile() -> None:
    puppet, heard = Puppet("a"), list[str]()
    async with staged(crowd_spec("crowd")) as house:
        child = await house["crowd"].start_child(puppet.spec(restart=Restart.TRANSIENT))
        while not house.trace.of("pause"):
            child.tell(crash())
            await trio.sleep(1)
        await wait_all_tasks_blocked()
        assert child.statistics().state is SlotState.PAUSED
        assert (child.alive, house["crowd"].child("a")) == (True, child)
        with pytest.raises(NameTaken):
            await house["crowd"].start_child(Puppet("a").spec())
        child.tell(lambda _: heard.append("kept"))
        await trio.sleep(23)
        assert (child.statistics().state, heard) == (SlotState.RUNNING, ["kept"])


async def test_a_child_that_is_temporary_or_never_started_is_not_counted() -> None:
    async with staged(crowd_spec("crowd")) as house:
        for number in range(100):
            puppet = Puppet("a")
            puppet.on_start = [crash()] * (number % 2)
            try:
                child = await house["crowd"].start_child(puppet.spec(restart=Restart.TEMPORARY))
            except StartFailed:
                continue
            child.tell(crash())
            await child.wait_stopped()
        steady = Puppet("a", backoff=(0.0, 0.0, 0.0))
        child = await house["crowd"].start_child(steady.spec(restart=Restart.TRANSIENT))
        child.tell(crash())
        await steady.start(2)
        assert house.trace.of("pause") == []


async def test_a_supervisor_of_parts_takes_no_children_at_runtime() -> None:
    async with staged(supervisor_spec("parts", [Puppet("a").spec()])) as house:
        with pytest.raises(TooManyChildren, match="top/parts has the children it was made with"):
            await house["parts"].start_child(Puppet("b").spec())
        with pytest.raises(TooManyChildren):
            async with house["parts"].lease(Puppet("b").spec()):
                raise AssertionError("never entered")


@pytest.mark.parametrize(("intensity", "period"), [(1, None), (None, 1.0), (0, 0.0)])
def test_a_supervisor_counts_in_one_way(intensity: int | None, period: float | None) -> None:
    for make in (lambda **more: supervisor_spec("a", **more), Supervisor):
        with pytest.raises(ValueError, match="by intensity and period, or by a meter, not by both"):
            make(meter=Decay(), intensity=intensity, period=period)


def test_a_crowd_begins_to_count_anew_when_it_is_made_anew() -> None:
    async def main() -> None:
        puppet = Puppet("a")
        root: AnySpec = ChildSpec("top", lambda: Supervisor([crowd_spec("crowd")]))
        async with staged(root=root) as house:
            for life in range(2):
                child = await house["crowd"].start_child(puppet.spec())
                for _ in range(4):
                    child.tell(crash())
                    await trio.sleep(3)
                assert house.trace.of("pause") == []
                house["crowd"].kill()
                await house.trace.nth("ready", "top/crowd", life + 2)
        assert house.stop == Stop(Why.SHUTDOWN)

    run_in_virtual_time(main)


async def test_a_child_that_is_begun_takes_messages_at_once_and_a_monitor_tells_if_it_never_starts() -> None:
    puppet, broken, watcher, heard = Puppet("a"), Puppet("b"), Puppet("watcher"), list[str]()
    broken.on_start = [crash()]
    async with staged(crowd_spec("crowd"), watcher.spec()) as house:
        child = house["crowd"].begin_child(puppet.spec())
        child.tell(lambda _: heard.append("kept"))
        assert (child.statistics().state, heard) == (SlotState.STARTING, [])
        never = house["crowd"].begin_child(broken.spec(restart=Restart.PERMANENT))
        never.monitor(house["watcher"])
        with pytest.raises(NameTaken):
            house["crowd"].begin_child(Puppet("a").spec())
        await wait_all_tasks_blocked()
        assert (child.statistics().state, heard) == (SlotState.RUNNING, ["kept"])
        assert [down.stop.why for down in watcher.did("down")] == [Why.NEVER_STARTED]
        assert house["crowd"].children() == [child]
