"""Who is restarted when a child ends: every restart type x exit reason x strategy, as in OTP's supervisor_SUITE.

Three children a, b, c start in this order; b is the one that ends.
"""

import itertools
from typing import Any, Never

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    ActorRef,
    AnySpec,
    ChildSpec,
    Mailbox,
    PeerGone,
    Restart,
    SlotState,
    Stop,
    Strategy,
    Supervisor,
    Why,
)
from actors.kernel.testing import (
    Did,
    House,
    Log,
    Puppet,
    answer,
    block,
    crash,
    finish,
    pause,
    run_schedule,
    staged,
)

PERMANENT, TRANSIENT, TEMPORARY = Restart
ONE_FOR_ONE, ONE_FOR_ALL, REST_FOR_ONE = Strategy

RESTARTED = {
    PERMANENT: {Why.DONE, Why.SHUTDOWN, Why.KILLED, Why.CRASHED, Why.PEER_GONE, Why.NEVER_STARTED},
    TRANSIENT: {Why.KILLED, Why.CRASHED, Why.PEER_GONE, Why.NEVER_STARTED},
    TEMPORARY: set[Why](),
}
"""After which ends a child is started again."""

FOLLOWS = {
    ONE_FOR_ONE: ["started b"],
    ONE_FOR_ALL: ["stopping c", "stopping a", "started a", "started b", "started c"],
    REST_FOR_ONE: ["stopping c", "started b", "started c"],
}
"""What is seen, in order, when b is started again."""

LAST_WORDS = {Why.DONE, Why.SHUTDOWN, Why.CRASHED, Why.PEER_GONE}
"""Ends that b itself has words for."""

CASES = [
    pytest.param(restart, why, strategy, id=f"{restart.name}-{why.name}-{strategy.name}".lower())
    for restart, why, strategy in itertools.product(Restart, Why, Strategy)
]


class Tolerant(Supervisor[Never]):
    tolerant = True


def three(log: Log[Did], restart: Restart = PERMANENT) -> list[Puppet]:
    backoff = (1.0, 10.0, 0.0)
    return [
        Puppet("a", log, backoff=backoff),
        Puppet("b", log, backoff=backoff, restart=restart),
        Puppet("c", log, backoff=backoff),
    ]


def seen(log: Log[Did]) -> list[str]:
    return [f"{entry.what} {entry.who}" for entry in log.entries if entry.what in ("started", "stopping")]


def end(house: House, why: Why) -> None:
    ref = house["b"]
    match why:
        case Why.DONE | Why.SHUTDOWN:
            ref.tell(finish(why))
        case Why.KILLED:
            ref.kill()
        case Why.CRASHED:
            ref.tell(crash())
        case Why.PEER_GONE:
            ref.tell(crash(PeerGone("hung up")))


@pytest.mark.parametrize(("restart", "why", "strategy"), CASES)
async def test_restart(restart: Restart, why: Why, strategy: Strategy) -> None:
    log = Log[Did]()
    puppets = three(log, restart)
    if why is Why.NEVER_STARTED:
        puppets[1].on_start = [crash()]
    specs = [puppet.spec() for puppet in puppets]
    async with staged(root=ChildSpec("top", lambda: Tolerant(specs, strategy))) as house:
        if why is Why.NEVER_STARTED:
            expected = ["started a", "started b", "started c"]
        else:
            log.entries.clear()
            end(house, why)
            expected = ["stopping b"] if why in LAST_WORDS else []
        await trio.sleep(5)
        if why in RESTARTED[restart]:
            expected += FOLLOWS[strategy]
        assert seen(log) == expected
        ended = house.trace.of("stop", "top/b")[0].detail
        assert (ended.stop.why, ended.restarts) == (why, why in RESTARTED[restart])
        state = SlotState.RUNNING if why in RESTARTED[restart] else SlotState.STOPPED
        assert [child.statistics().state for child in house.root.children()] == [
            SlotState.RUNNING,
            state,
            SlotState.RUNNING,
        ]
        children: list[ActorRef[Any]] = [*house.root.children()]
        for child in children:
            if child.alive:
                assert await child.ask(answer("here"), timeout=1) == "here"


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("restart", Restart)
async def test_a_child_that_is_asked_to_stop_is_not_restarted(restart: Restart, strategy: Strategy) -> None:
    log = Log[Did]()
    async with staged(*[puppet.spec() for puppet in three(log, restart)], strategy=strategy) as house:
        log.entries.clear()
        assert await house["b"].stop() == Stop(Why.SHUTDOWN)
        await trio.sleep(5)
        assert seen(log) == ["stopping b"]


@pytest.mark.parametrize("strategy", [ONE_FOR_ALL, REST_FOR_ONE])
async def test_a_group_restarts_only_those_of_its_members_that_may_come_back(strategy: Strategy) -> None:
    log = Log[Did]()
    specs = [
        Puppet("first", log).spec(),
        Puppet("done", log, restart=TRANSIENT).spec(),
        Puppet("temporary", log, restart=TEMPORARY).spec(),
        Puppet("transient", log, restart=TRANSIENT).spec(),
    ]
    async with staged(*specs, strategy=strategy) as house:
        house["done"].tell(finish())
        await house.trace.stop("top/done")
        log.entries.clear()
        house["first"].tell(crash())
        await trio.sleep(5)
        assert seen(log) == [
            *("stopping first", "stopping transient", "stopping temporary"),
            *("started first", "started transient"),
        ]


@pytest.mark.parametrize("strategy", [ONE_FOR_ALL, REST_FOR_ONE])
@pytest.mark.parametrize("restart", Restart)
async def test_a_member_that_says_its_last_words_while_its_group_stops(restart: Restart, strategy: Strategy) -> None:
    """Done is done, but for a permanent one; one that has crashed comes back, unless it is temporary."""
    log = Log[Did]()
    done, crashed = Puppet("done", log, restart=restart), Puppet("crashed", log, restart=restart)
    done.on_stop = [pause(3)]
    crashed.on_stop = [pause(1)]
    async with staged(Puppet("a", log).spec(), done.spec(), crashed.spec(), strategy=strategy) as house:
        house["done"].tell(finish())
        house["crashed"].tell(crash())
        await wait_all_tasks_blocked()
        house["a"].tell(crash())
        await trio.sleep(60)
        assert len(done.did("started")) == (2 if restart is PERMANENT else 1)
        assert len(crashed.did("started")) == (1 if restart is TEMPORARY else 2)


@pytest.mark.parametrize("seed", range(10))
def test_a_member_that_fails_while_its_group_starts_and_is_stopped_at_once_holds_up_nobody(seed: int) -> None:
    async def main() -> None:
        log = Log[Did]()
        a, b, c = three(log)
        b.on_start = [lambda _: None, crash()]
        specs = [puppet.spec() for puppet in (a, b, c)]
        root: AnySpec = ChildSpec("top", lambda: Supervisor(specs, REST_FOR_ONE), mailbox=lambda: Mailbox(budget=1))
        async with staged(root=root) as house:
            ref = house["b"]
            house["a"].tell(crash())
            await house.trace.stop("top/b", 2)
            await ref.stop()
            await c.start(2)

    run_schedule(seed, main)


async def test_only_the_child_that_failed_counts_against_the_intensity_of_its_group() -> None:
    log = Log[Did]()
    async with staged(*[puppet.spec() for puppet in three(log)], strategy=ONE_FOR_ALL, intensity=2) as house:
        for incarnation in (2, 3):
            house["a"].tell(crash())
            await house.trace.nth("ready", "top/c", incarnation)
        assert house.root.alive


async def test_members_of_a_group_are_started_one_after_the_other() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    gate = trio.Event()
    a.on_start = [lambda _: None, block(gate)]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        log.entries.clear()
        house["c"].tell(crash())
        await a.start(1)
        await wait_all_tasks_blocked()
        assert seen(log) == ["stopping c", "stopping b", "stopping a", "started a"]
        gate.set()
        await c.start(1)
        assert seen(log)[3:] == ["started a", "started b", "started c"]


@pytest.mark.parametrize("strategy", [ONE_FOR_ALL, REST_FOR_ONE])
async def test_a_member_that_fails_while_its_group_starts_begins_the_group_anew(strategy: Strategy) -> None:
    log = Log[Did]()
    a, b, c = three(log)
    b.on_start = [lambda _: None, crash()]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=strategy) as house:
        log.entries.clear()
        house["a"].tell(crash())
        await c.start(1)
        again = {ONE_FOR_ALL: ["stopping a", "started a", "started b", "started c"], REST_FOR_ONE: []}
        assert seen(log) == [
            *("stopping a", "stopping c", "stopping b", "started a", "started b"),
            *(again[strategy] or ["started b", "started c"]),
        ]


async def test_a_member_that_fails_while_its_group_stops_is_restarted_once() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    gate = trio.Event()
    c.on_stop = [block(gate)]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        house["a"].tell(crash())
        await house.trace.stop("top/a")
        await wait_all_tasks_blocked()
        house["b"].tell(crash())
        await house.trace.stop("top/b")
        gate.set()
        await trio.sleep(60)
        assert [len(puppet.did("started")) for puppet in (a, b, c)] == [2, 2, 2]


async def test_a_member_that_fails_and_is_stopped_while_its_group_stops_stays_away() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    gate = trio.Event()
    c.on_stop = [block(gate)]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        house["a"].tell(crash())
        await house.trace.stop("top/a")
        await wait_all_tasks_blocked()
        house["b"].tell(crash())
        await house.trace.stop("top/b")
        await house["b"].stop()
        gate.set()
        await trio.sleep(60)
        assert [len(puppet.did("started")) for puppet in (a, b, c)] == [2, 1, 2]


async def test_a_member_that_is_done_as_soon_as_it_starts_holds_up_nobody() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    b.fields["restart"] = TRANSIENT
    b.on_start = [lambda _: None, finish()]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        house["a"].tell(crash())
        await c.start(2)
        assert not house.root.children()[1].alive


async def test_a_member_that_is_stopped_while_its_group_starts_holds_up_nobody() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    b.on_start = [lambda _: None, block()]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        house["a"].tell(crash())
        await b.start(2)
        await house["b"].stop()
        await c.start(2)


async def test_a_supervisor_can_be_stopped_while_it_restarts_a_group() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    c.on_stop = [block()]
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        house["a"].tell(crash())
        await house.trace.stop("top/a")
        await wait_all_tasks_blocked()
        before = trio.current_time()
        await house.root.stop()
        assert trio.current_time() - before == 5  # the grace of c
        assert [len(puppet.did("started")) for puppet in (a, b, c)] == [1, 1, 1]


async def test_a_group_that_failed_twice_in_a_row_is_started_once_for_both() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    b.fields["backoff"] = (100.0, 100.0, 0.0)
    async with staged(a.spec(), b.spec(), c.spec(), strategy=REST_FOR_ONE) as house:
        house["b"].tell(crash())  # b and c wait for 100 s
        await house.trace.stop("top/c")
        house["a"].tell(crash())  # and are started with a after 1 s
        await c.start(2)
        assert trio.current_time() == 1
        assert house.stage.statistics().timers.pending == 0
        await trio.sleep(200)
        assert [len(puppet.did("started")) for puppet in (a, b, c)] == [2, 2, 2]


async def test_a_group_taken_over_is_started_in_order() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    async with staged(a.spec(), b.spec(), c.spec(), strategy=REST_FOR_ONE) as house:
        house["b"].tell(crash())
        await house.trace.stop("top/c")
        log.entries.clear()
        house["a"].tell(crash())  # at the same moment, and with the same backoff
        await trio.sleep(60)
        assert seen(log) == ["stopping a", "started a", "started b", "started c"]


async def test_a_failure_outside_of_a_waiting_group_takes_it_over() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    late = Puppet("late", log, backoff=(100.0, 100.0, 0.0))
    async with staged(a.spec(), b.spec(), c.spec(), strategy=ONE_FOR_ALL) as house:
        house["a"].tell(crash())
        await house.trace.stop("top/b")
        await house.root.start_child(late.spec())
        house["late"].tell(crash())
        await late.start(2)
        assert (trio.current_time(), len(b.did("started"))) == (100, 2)


@pytest.mark.parametrize("strategy", [ONE_FOR_ALL, REST_FOR_ONE])
async def test_a_group_is_started_although_the_child_it_waits_for_is_stopped(strategy: Strategy) -> None:
    log = Log[Did]()
    a, b, c = three(log)
    async with staged(a.spec(), b.spec(), c.spec(), strategy=strategy) as house:
        house["a"].tell(crash())
        await house.trace.stop("top/b")
        await house["a"].stop()
        await trio.sleep(60)
        assert [child.statistics().state.value for child in house.root.children()] == ["stopped", "running", "running"]


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_group_that_waits_is_forgotten_with_its_supervisor(end: str) -> None:
    log = Log[Did]()
    puppets = three(log)
    inner: AnySpec = ChildSpec(
        "inner", lambda: Supervisor([p.spec() for p in puppets], ONE_FOR_ALL), backoff=(0.1, 0.1, 0.0)
    )
    async with staged(inner) as house:
        house["inner/a"].tell(crash())
        await house.trace.stop("top/inner/b")
        if end == "stop":
            await house["inner"].stop()
        else:
            house["inner"].kill()
        await house.trace.stop("top/inner")
        await trio.sleep(60)
        assert [len(puppet.did("started")) for puppet in puppets] == [1 if end == "stop" else 2] * 3


async def test_dynamic_children_belong_to_the_group() -> None:
    log = Log[Did]()
    a, b, c = three(log)
    async with staged(a.spec(), b.spec(), strategy=REST_FOR_ONE) as house:
        await house.root.start_child(c.spec())
        house["b"].tell(crash())
        await c.start(2)
        assert len(a.did("started")) == 1
