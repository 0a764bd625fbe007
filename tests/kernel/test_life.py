"""One life: tasks beside it, atomic blocks, finishing, keeping, last words, and every kind of exception."""

import dataclasses
import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    AnyRef,
    ChildSpec,
    PeerGone,
    Restart,
    Stop,
    Why,
    actor_from,
    describe,
    run,
)
from actors.kernel.failures import failure, fatal, joined, parted
from actors.kernel.testing import (
    Act,
    Puppet,
    PuppetActor,
    answer,
    block,
    crash,
    finish,
    held,
    pause,
    run_in_virtual_time,
    staged,
    then,
)


def beside(task: Any, *args: object) -> Act:
    return lambda puppet: puppet.run_beside(task, *args)


async def fail_after(seconds: float, error: Exception) -> None:
    await trio.sleep(seconds)
    raise error


async def messy(puppet: Any) -> None:
    try:
        await trio.sleep_forever()
    finally:
        raise ValueError("clean-up")


# -- tasks beside


async def test_a_crash_beside_is_the_actors_crash() -> None:
    puppet, error = Puppet("a"), ValueError("beside")
    async with staged(puppet.spec()) as house:
        house["a"].tell(beside(fail_after, 2, error))
        house["a"].tell(block())
        assert await house.trace.stop("top/a") == Stop(Why.CRASHED, error)
        assert trio.current_time() == 2
        assert puppet.did("stopping") == [Stop(Why.CRASHED, error)]
        await puppet.start(2)


async def test_a_peer_gone_beside_is_the_actors_peer() -> None:
    async with staged(Puppet("a").spec()) as house:
        house["a"].tell(beside(fail_after, 2, PeerGone("hung up")))
        assert (await house.trace.stop("top/a")).why is Why.PEER_GONE


@pytest.mark.parametrize("end", [finish(), crash()], ids=["finish", "crash"])
async def test_tasks_beside_end_with_the_incarnation_and_before_anybody_hears_of_it(end: Act) -> None:
    puppet, watcher, ended = Puppet("a", restart=Restart.TEMPORARY), Puppet("watcher"), list[float]()

    async def task() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(2)
            ended.append(trio.current_time())

    async with staged(puppet.spec(), watcher.spec()) as house:
        house["a"].monitor(house["watcher"])
        house["a"].tell(beside(task))
        await wait_all_tasks_blocked()
        house["a"].tell(end)
        await watcher.down()
        assert ended == [2] == [trio.current_time()]


async def test_a_task_beside_that_ends_changes_nothing() -> None:
    async with staged(Puppet("a").spec()) as house:
        house["a"].tell(beside(trio.sleep, 2))
        await trio.sleep(5)
        assert await house["a"].ask(answer(1), timeout=1) == 1


async def test_an_error_beside_after_the_end_was_settled_is_not_lost() -> None:
    async def messy(name: str) -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError(name)

    async with staged(Puppet("a", restart=Restart.TEMPORARY).spec()) as house:
        house["a"].tell(then(*[beside(messy, name) for name in ("one", "two", "three")]))
        await wait_all_tasks_blocked()
        stop = await house["a"].stop()
        assert stop.why is Why.CRASHED
        assert isinstance(stop.error, ExceptionGroup)
        assert sorted(map(str, stop.error.exceptions)) == ["one", "three", "two"]


async def test_a_task_beside_that_does_not_end_is_killed_with_the_actor() -> None:
    puppet = Puppet("a", grace=3.0, restart=Restart.TEMPORARY)

    async def stubborn() -> None:
        assert puppet.actor is not None
        with puppet.actor.atomic():
            await trio.sleep_forever()

    async with staged(puppet.spec()) as house:
        house["a"].tell(beside(stubborn))
        await wait_all_tasks_blocked()
        assert await house["a"].stop() == Stop(Why.KILLED)
        assert trio.current_time() == 3


async def test_a_task_beside_started_by_another_that_is_being_ended_does_not_last() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)

    async def breeder() -> None:
        try:
            await trio.sleep_forever()
        finally:
            assert puppet.actor is not None
            puppet.actor.run_beside(trio.sleep_forever)

    async with staged(puppet.spec()) as house:
        house["a"].tell(beside(breeder))
        await wait_all_tasks_blocked()
        assert await house["a"].stop() == Stop(Why.SHUTDOWN)
        assert trio.current_time() == 0
        assert puppet.actor is not None
        with pytest.raises(ActorDown):
            puppet.actor.run_beside(trio.sleep_forever)


async def test_tasks_beside_a_failed_start_end_with_it() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    puppet.on_start = [then(beside(trio.sleep_forever), crash())]
    async with staged(puppet.spec()) as house:
        assert (await house.root.wait_stopped()).why is Why.NEVER_STARTED
        assert trio.current_time() == 0


async def test_a_task_beside_a_failed_start_that_does_not_end_is_killed() -> None:
    puppet = Puppet("a", grace=3.0)

    async def stubborn(actor: Any) -> None:
        with actor.atomic():
            await trio.sleep_forever()

    puppet.on_start = [then(lambda a: a.run_beside(stubborn, a), pause(0), crash(ValueError("x")))]
    async with staged(puppet.spec()) as house:
        await house.root.wait_stopped()
        assert str(await house.trace.stop("top/a")) == "killed: ValueError: x"
        assert trio.current_time() == 3


async def test_tasks_beside_are_killed_with_the_supervisor() -> None:
    puppet = Puppet("a")

    async def messy() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(1)
            raise ValueError("clean-up")

    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(then(beside(messy), beside(held(block()), puppet.actor)))
        await wait_all_tasks_blocked()
        house.root.kill()
        stop = await ref.wait_stopped()
        assert trio.current_time() == 1
        assert (stop.why, str(stop.error)) == (Why.KILLED, "clean-up")
    assert house.stop == Stop(Why.KILLED)


async def test_a_crash_beside_before_it_is_ready_means_it_never_started() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    puppet.on_start = [then(beside(fail_after, 1, ValueError("x")), block())]
    async with staged(puppet.spec()) as house:
        await house.root.wait_stopped()
        assert str(await house.trace.stop("top/a")) == "never started: ValueError: x"


# -- atomic


async def test_a_request_to_stop_waits_for_the_end_of_an_atomic_block() -> None:
    puppet, after = Puppet("a"), list[str]()
    async with staged(puppet.spec()) as house:
        house["a"].tell(then(held(pause(2)), lambda _: after.append("held"), pause(1), lambda _: after.append("no")))
        await puppet.message(1)
        assert await house["a"].stop() == Stop(Why.SHUTDOWN)
        assert (trio.current_time(), after) == (2, ["held"])


async def test_a_kill_ends_an_atomic_block() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    async with staged(puppet.spec()) as house:
        house["a"].tell(held(held(block())))
        await puppet.message(1)
        house["a"].kill()
        assert await house["a"].wait_stopped() == Stop(Why.KILLED)
        assert trio.current_time() == 0


async def test_an_atomic_block_of_the_killed_holds_nothing_off() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)

    async def clean_up(puppet: Any) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with puppet.atomic():
                await trio.sleep(100)

    async with staged(puppet.spec()) as house:
        house["a"].tell(clean_up)
        await puppet.message(1)
        house["a"].kill()
        await house["a"].wait_stopped()
        assert trio.current_time() == 0


# -- finishing, keeping, last words


@pytest.mark.parametrize("why", [Why.DONE, Why.SHUTDOWN, Why.PEER_GONE])
async def test_an_actor_finishes_after_the_message_it_handles(why: Why) -> None:
    puppet, after = Puppet("a", restart=Restart.TEMPORARY), list[str]()
    async with staged(puppet.spec()) as house:
        house["a"].tell(then(pause(1), finish(why), pause(1), lambda _: after.append("went on")))
        await puppet.message(1)
        house["a"].tell("never")
        house["a"].urgent("never")
        assert await house["a"].wait_stopped() == Stop(why)
        assert (after, len(puppet.messages)) == (["went on"], 1)
        assert puppet.did("stopping") == [Stop(why)]


async def test_the_first_reason_to_finish_counts() -> None:
    async with staged(Puppet("a", restart=Restart.TEMPORARY).spec()) as house:
        house["a"].tell(then(finish(Why.DONE), finish(Why.PEER_GONE)))
        assert await house["a"].wait_stopped() == Stop(Why.DONE)


async def test_a_crash_after_finishing_is_a_crash() -> None:
    async with staged(Puppet("a", restart=Restart.TEMPORARY).spec()) as house:
        house["a"].tell(then(finish(), crash(ValueError("x"))))
        assert str(await house["a"].wait_stopped()) == "crashed: ValueError: x"


async def test_what_is_kept_is_given_to_the_next_incarnation_after_a_crash() -> None:
    puppet = Puppet("a")
    puppet.keep = lambda: len(puppet.messages)
    async with staged(puppet.spec()) as house:
        house["a"].tell("one")
        house["a"].tell(crash())
        assert await puppet.start(1) is None
        assert await puppet.start(2) == 2


async def test_what_is_kept_survives_a_start_that_fails() -> None:
    puppet = Puppet("a")
    puppet.keep = lambda: "precious"
    puppet.on_start = [lambda _: None, crash()]
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash())
        assert await puppet.start(2) == "precious"
        assert await puppet.start(3) == "precious"
        puppet.keep = lambda: None
        house["a"].tell(crash())
        assert await puppet.start(4) is None


async def test_what_is_kept_is_given_to_one_incarnation_only() -> None:
    puppet = Puppet("a")
    puppet.keep = lambda: "kept"
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash())
        assert await puppet.start(2) == "kept"
        house["a"].tell(finish())
        assert await puppet.start(3) is None


@pytest.mark.parametrize(("end", "kept"), [("kill", "kept"), ("finish", None)])
async def test_what_is_kept_after_a_kill_and_after_an_orderly_end(end: str, kept: object) -> None:
    puppet = Puppet("a")
    puppet.keep = lambda: "kept"
    async with staged(puppet.spec()) as house:
        if end == "kill":
            house["a"].kill()
        else:
            house["a"].tell(finish())
        assert await puppet.start(2) == kept


async def test_a_keep_that_fails_keeps_nothing_and_is_told() -> None:
    puppet = Puppet("a")

    def keep() -> object:
        raise ValueError("torn")

    puppet.keep = keep
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash())
        assert await puppet.start(2) is None
        error = house["a"].statistics().error
        assert error == "crashed: RuntimeError: crash; and keep() failed: ValueError: torn"


async def test_last_words_are_said_after_a_crash_but_not_after_a_kill() -> None:
    puppet, error = Puppet("a"), ValueError("x")
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash(error))
        await puppet.start(2)
        assert puppet.did("stopping") == [Stop(Why.CRASHED, error)]
        house["a"].kill()
        await puppet.start(3)
        assert len(puppet.did("stopping")) == 1


@pytest.mark.parametrize(("end", "told"), [("stop", ["b"]), ("crash", ["a", "b"])])
async def test_last_words_that_fail_are_told_too(end: str, told: list[str]) -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    puppet.on_stop = [crash(ValueError("b"))]
    async with staged(puppet.spec()) as house:
        if end == "stop":
            house["a"].begin_stop()
        else:
            house["a"].tell(crash(ValueError("a")))
        stop = await house["a"].wait_stopped()
        assert stop.why is Why.CRASHED
        errors = stop.error.exceptions if isinstance(stop.error, ExceptionGroup) else [stop.error]
        assert [str(error) for error in errors] == told


async def test_one_that_is_done_but_cannot_stop_was_killed_and_is_restarted_as_such() -> None:
    puppet = Puppet("a", restart=Restart.TRANSIENT, grace=2.0)
    puppet.on_stop = [block()]
    async with staged(puppet.spec()) as house:
        house["a"].tell(finish())
        assert await house.trace.stop("top/a") == Stop(Why.KILLED)
        await puppet.start(2)


async def test_the_clean_up_of_an_interrupted_handler_may_fail() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    async with staged(puppet.spec()) as house:
        house["a"].tell(messy)
        await puppet.message(1)
        stop = await house["a"].stop()
        assert (stop.why, str(stop.error)) == (Why.CRASHED, "clean-up")
        assert len(puppet.did("stopping")) == 1


async def test_the_clean_up_of_a_killed_handler_may_fail() -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY)
    async with staged(puppet.spec()) as house:
        house["a"].tell(messy)
        await puppet.message(1)
        house["a"].kill()
        stop = await house["a"].wait_stopped()
        assert (stop.why, str(stop.error)) == (Why.KILLED, "clean-up")


# -- groups, and what is not the actor's


async def test_a_group_mixed_with_cancelled_is_told_without_it() -> None:
    async def mixed(puppet: Any) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(messy, puppet)
            nursery.start_soon(trio.sleep_forever)

    puppet = Puppet("a", restart=Restart.TEMPORARY)
    async with staged(puppet.spec()) as house:
        house["a"].tell(mixed)
        await wait_all_tasks_blocked()
        stop = await house["a"].stop()
        assert stop.why is Why.CRASHED
        assert isinstance(stop.error, ExceptionGroup)
        assert [str(error) for error in stop.error.exceptions] == ["clean-up"]


async def test_a_group_of_vanished_peers_is_a_vanished_peer() -> None:
    async def nursery_of_peers(puppet: Any) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_after, 1, PeerGone("hung up"))

    async with staged(Puppet("a").spec()) as house:
        house["a"].tell(nursery_of_peers)
        assert (await house.trace.stop("top/a")).why is Why.PEER_GONE


async def test_errors_in_the_ruins_of_a_killed_supervisor_stay_with_the_child() -> None:
    async with staged(Puppet("a").spec()) as house:
        ref = house["a"]
        ref.tell(messy)
        await wait_all_tasks_blocked()
        house.root.kill()
        stop = await ref.wait_stopped()
        assert (stop.why, str(stop.error)) == (Why.KILLED, "clean-up")
    assert house.stop == Stop(Why.KILLED)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["handle", "beside", "started", "made"])
def test_what_is_not_the_actors_passes_and_nothing_holds_it_up(error: type[BaseException], where: str) -> None:
    holding = Puppet("holding")

    async def interrupt(_: object = None) -> None:
        await trio.lowlevel.checkpoint()
        raise error

    async def main() -> None:
        puppet = Puppet("a")
        async with staged(holding.spec()) as house:
            house["holding"].tell(held(block()))
            await holding.message(1)
            if where == "started":
                puppet.on_start = [interrupt]
            else:
                puppet.on_start = [beside(interrupt) if where == "beside" else lambda p: p.ref.tell(interrupt)]
            spec = puppet.spec()
            if where == "made":
                spec = dataclasses.replace(spec, make=make)
            await house.root.start_child(spec)
            await trio.sleep_forever()

    def make() -> PuppetActor:
        raise error

    with pytest.raises((error, BaseExceptionGroup)) as caught:
        run_in_virtual_time(main)
    found = caught.value
    while isinstance(found, BaseExceptionGroup):
        assert len(found.exceptions) == 1
        found = found.exceptions[0]
    assert isinstance(found, error)
    assert holding.did("stopping") == []


def test_what_is_not_the_actors_passes_out_of_a_group_too() -> None:
    holding = Puppet("holding")

    async def mixed() -> None:
        raise BaseExceptionGroup("both", [ValueError("mine"), SystemExit()])

    async def main() -> None:
        puppet = Puppet("a")
        puppet.on_start = [beside(mixed)]
        async with staged(holding.spec(), puppet.spec()) as house:
            house["holding"].tell(held(block()))
            await trio.sleep_forever()

    with pytest.raises(BaseExceptionGroup) as caught:
        run_in_virtual_time(main)
    assert fatal(caught.value)
    assert holding.did("stopping") == []


def test_an_interrupt_of_the_main_task_ends_the_tree_at_once() -> None:
    puppet = Puppet("a")

    async def interrupt(_: object) -> None:
        import signal

        signal.raise_signal(signal.SIGINT)  # trio hands it to the main task, which waits in run()

    puppet.on_start = [then(beside(interrupt, None), lambda p: p.ref.tell(held(block())))]
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        trio.run(run, puppet.spec(), clock=None, restrict_keyboard_interrupt_to_checkpoints=True)
    assert fatal(caught.value)


async def test_an_actor_that_swallows_cancelled_is_reported_stuck(caplog: pytest.LogCaptureFixture) -> None:
    free = trio.Event()

    async def swallow(puppet: Any) -> None:
        while not free.is_set():
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                with trio.CancelScope(shield=True):
                    await trio.sleep(1)

    puppet = Puppet("a", restart=Restart.TEMPORARY)
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(swallow)
        await puppet.message(1)
        ref.begin_stop(2.0)
        stuck = await house.trace.nth("stuck", "top/a")
        assert stuck.at == 2 + 5
        assert ref.statistics().note == "was killed but does not end: it never awaits, or it swallows Cancelled"
        assert "top/a was killed but does not end" in caplog.text
        free.set()
        assert await ref.wait_stopped() == Stop(Why.KILLED)


# -- functions and words


async def test_an_actor_can_be_one_function() -> None:
    async def echo(message: Any) -> None:
        message.set("echo")

    async with staged(ChildSpec("echo", actor_from(echo))) as house:
        assert await house["echo"].ask(lambda reply: reply, timeout=1) == "echo"
        assert type(house["echo"]._slot.incarnation.actor).__name__ == "echo"  # type: ignore[union-attr]



class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("one\ntwo"), "ValueError: one"),
        (ValueError(), "ValueError"),
        (ExceptionGroup("g", [ExceptionGroup("h", [ValueError("x"), KeyError()])]), "ValueError: x"),
        (Unspeakable(), "Unspeakable: (its text cannot be had: ZeroDivisionError)"),
    ],
    ids=["lines", "empty", "group", "unspeakable"],
)
def test_an_error_is_described_in_a_line(error: BaseException, text: str) -> None:
    assert describe(error) == text


async def test_an_error_that_cannot_be_described_ends_no_more_than_its_actor() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash(Unspeakable()))
        await puppet.start(2)


ERROR, INTERRUPT = ValueError("x"), KeyboardInterrupt()
MIXED = BaseExceptionGroup("g", [ERROR, INTERRUPT])


def test_exceptions_are_parted() -> None:
    assert parted(ERROR) == (ERROR, None)
    assert parted(INTERRUPT) == (None, INTERRUPT)
    own, others = parted(MIXED)
    assert isinstance(own, ExceptionGroup)
    assert isinstance(others, BaseExceptionGroup)
    assert (own.exceptions, others.exceptions) == ((ERROR,), (INTERRUPT,))
    assert [fatal(error) for error in (ERROR, INTERRUPT, MIXED, ExceptionGroup("g", [ERROR]))] == [
        *(False, True, True, False)
    ]


def test_errors_are_joined() -> None:
    other = KeyError("y")
    assert joined() is None
    assert joined(None, ERROR, None, ERROR) is ERROR
    both = joined(ERROR, other, ERROR)
    assert isinstance(both, ExceptionGroup)
    assert both.exceptions == (ERROR, other)


def test_only_a_group_of_nothing_else_is_a_vanished_peer() -> None:
    assert failure(ExceptionGroup("g", [PeerGone(), ValueError()])).why is Why.CRASHED


# -- what is left in memory


class Knot(Actor[str]):
    """Its parts know each other."""

    def __init__(self, made: "list[weakref.ref[Knot]]") -> None:
        self.knows = [self.unknown]
        made.append(weakref.ref(self))

    async def started(self, kept: object | None) -> None:
        self.run_beside(trio.sleep_forever)
        self.tell_later(5, "later")

    def at_once(self, message: str) -> bool:
        return False

    async def handle(self, message: str) -> None:
        match message:
            case "finish":
                self.finish()
            case "crash":
                raise ValueError("crash")
            case "peer gone":
                try:
                    raise OSError("the socket is closed")
                except OSError as error:
                    raise PeerGone("it has left") from error
            case _:
                await trio.sleep_forever()

    def let_go(self) -> None:
        self.knows.clear()


@contextmanager
def no_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("end", ["finish", "stop", "kill", "stop in a handler", "kill in a handler"])
async def test_an_actor_that_has_ended_is_not_left_to_the_collector(end: str) -> None:
    made: list[weakref.ref[Knot]] = []
    async with staged() as house:
        with no_collector():
            knot: ActorRef[str] = await house.root.start_child(
                ChildSpec("knot", lambda: Knot(made), restart=Restart.TEMPORARY)
            )
            if "handler" in end:
                knot.tell("for ever")
                await wait_all_tasks_blocked()
            if end == "finish":
                knot.tell("finish")
            elif end.startswith("stop"):
                knot.begin_stop()
            else:
                knot.kill()
            await knot.wait_stopped()
            await wait_all_tasks_blocked()
            (left,) = made
            assert left() is None, gc.get_referrers(left())


@pytest.mark.parametrize("end", ["finish", "stop", "kill", "peer gone"])
async def test_an_address_is_free_with_the_last_who_knows_it_and_until_then_works_as_before(end: str) -> None:
    """Its slot and its mailbox, too: nothing of a child that has ended is left to the collector."""
    letters: list[tuple[AnyRef, object]] = []
    async with staged(dead_letter=lambda ref, message, why: letters.append((ref, message))) as house:
        with no_collector():
            spec: ChildSpec[str] = ChildSpec("knot", lambda: Knot([]), restart=Restart.TEMPORARY)
            knot = await house.root.start_child(spec)
            if end == "stop":
                knot.begin_stop()
            elif end == "kill":
                knot.kill()
            else:
                knot.tell(end)
            await knot.wait_stopped()
            await wait_all_tasks_blocked()
            knot.tell("too late")
            knot.urgent("too late as well")
            assert [message for _, message in letters] == ["too late", "too late as well"]
            assert all(ref is knot for ref, _ in letters)
            left = [weakref.ref(each) for each in (knot, knot._slot)]
            letters.clear()
            del knot, spec
            assert [each() for each in left] == [None, None]


async def test_every_incarnation_lets_go_once_and_a_fault_in_that_hurts_nobody() -> None:
    class Clumsy(Knot):
        def let_go(self) -> None:
            gone.append(self.stage.now())
            raise ValueError("clumsy")

    gone: list[float] = []
    async with staged(ChildSpec("knot", lambda: Clumsy([]), restart=Restart.PERMANENT)) as house:
        knot = house["knot"]
        for number in range(1, 4):
            knot.tell("crash")
            await house.trace.stop("top/knot", number)
            await house.trace.nth("ready", "top/knot", number + 1)
            assert len(gone) == number
        assert "clumsy" in str(knot.statistics().error)
    assert len(gone) == 4
