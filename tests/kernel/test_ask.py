"""Asks: one answer, in time, or withdrawn from wherever the question is."""

import gc
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import assert_checkpoints, wait_all_tasks_blocked

from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    AlreadyAnswered,
    ChildSpec,
    Mailbox,
    MailboxFull,
    Overflow,
    Reply,
    Restart,
    Stop,
    TooSlow,
    Why,
)
from actors.kernel.testing import Act, Puppet, answer, block, crash, held, pause, staged

ENDINGS: list[Any] = [
    pytest.param(lambda scope: None, TooSlow, id="too-slow"),
    pytest.param(lambda scope: scope.cancel(), None, id="cancelled"),
]
"""How an asker gives up: its deadline of 10 s passes, or it is cancelled after 5 s."""


async def give_up(
    ref: ActorRef[Any], make: Callable[[Reply[Any]], object], way: Callable[[trio.CancelScope], None], error: object
) -> None:
    """Ask with a deadline of 10 s and be cancelled, or not, after 5 s."""

    async def later(scope: trio.CancelScope) -> None:
        await trio.sleep(5)
        way(scope)

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(later, scope)
            if error is None:
                await ref.ask(make, timeout=10)
            else:
                with pytest.raises(TooSlow, match=f"{ref.path} did not answer function in time"):
                    await ref.ask(make, timeout=10)
        assert scope.cancelled_caught is (error is None)
    assert trio.current_time() == (5 if error is None else 10)


def keep(replies: list[Reply[Any]]) -> Callable[[Reply[Any]], Act]:
    """Defer: the handler returns, the reply is kept."""
    return lambda reply: lambda puppet: replies.append(reply)


async def test_an_ask_is_answered() -> None:
    async with staged(Puppet("a").spec()) as house:
        with assert_checkpoints():
            assert await house["a"].ask(answer(3), timeout=1) == 3
        assert house.stage.statistics().timers.pending == 0


async def test_an_ask_can_be_answered_with_an_error_of_the_callees_choice() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        with pytest.raises(KeyError, match="no such"):
            await house["a"].ask(lambda reply: lambda puppet: reply.fail(KeyError("no such")), timeout=1)
        assert await house["a"].ask(answer(3), timeout=1) == 3
        assert len(puppet.did("started")) == 1


async def test_an_ask_can_be_answered_later_by_another_handler() -> None:
    puppet, replies = Puppet("a"), list[Reply[int]]()
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:

        async def asker() -> None:
            assert await house["a"].ask(keep(replies), timeout=10) == 5

        nursery.start_soon(asker)
        await puppet.message(1)
        await wait_all_tasks_blocked()
        house["a"].tell(lambda puppet: replies[0].set(5))


async def test_answering_twice_is_an_error() -> None:
    replies: list[Reply[int]] = []
    async with staged(Puppet("a").spec()) as house:
        await house["a"].ask(lambda reply: replies.append(reply) or answer(1)(reply), timeout=1)  # type: ignore[func-returns-value, arg-type]
        with pytest.raises(AlreadyAnswered, match="top/a has already answered this function"):
            replies[0].set(2)
        with pytest.raises(AlreadyAnswered):
            replies[0].fail(ValueError())


@pytest.mark.parametrize(("way", "error"), ENDINGS)
async def test_a_late_answer_is_a_dead_letter(way: Callable[[trio.CancelScope], None], error: object) -> None:
    replies: list[Reply[int]] = []
    async with staged(Puppet("a").spec()) as house:
        await give_up(house["a"], keep(replies), way, error)
        assert replies[0].abandoned
        assert not replies[0].wanted
        replies[0].set(1)
        assert house.stage.dead_letters[-1].why == "answered after the asker had gone"


class _Asked:
    """A question that knows its reply, as all do."""

    def __init__(self, act: Act, reply: Reply[Any]) -> None:
        self.act, self.reply = act, reply

    def __call__(self, puppet: Any) -> Any:
        return self.act(puppet)


PLACES: dict[str, tuple[Act, ...]] = {
    "queued": (pause(50), lambda puppet: None),
    "running": (pause(50),),
    "deferred": (lambda puppet: None,),
}


@pytest.mark.parametrize("acts", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("timeout", [5, 20], ids=["too-slow", "cancelled"])
async def test_a_question_that_was_given_up_is_free_when_nobody_handles_it(
    acts: tuple[Act, ...], timeout: float
) -> None:
    known: list[weakref.ref[_Asked]] = []
    puppet = Puppet("a")

    def question(reply: Reply[Any]) -> _Asked:
        made = _Asked(acts[-1], reply)
        known.append(weakref.ref(made))
        return made

    async with staged(puppet.spec()) as house:
        for act in acts[:-1]:
            house["a"].tell(act)
        gc.collect()
        gc.disable()
        try:
            with trio.move_on_after(10), suppress(TooSlow):
                await house["a"].ask(question, timeout=timeout)
            await trio.sleep(100)
            puppet.log.entries.clear()
            assert [each() for each in known] == [None]
        finally:
            gc.enable()


async def test_a_question_that_is_never_put_is_free_at_once() -> None:
    """Its asker was cancelled before, or there is nobody to ask."""
    known: list[weakref.ref[_Asked]] = []

    def question(reply: Reply[Any]) -> _Asked:
        made = _Asked(lambda puppet: None, reply)
        known.append(weakref.ref(made))
        return made

    async with staged(Puppet("a").spec()) as house:
        ref = house["a"]
        gc.collect()
        gc.disable()
        try:
            with trio.CancelScope() as scope:
                scope.cancel()
                await ref.ask(question, timeout=1)
            await ref.stop()
            with suppress(ActorDown):
                await ref.ask(question, timeout=1)
            assert [each() for each in known] == [None, None]
        finally:
            gc.enable()


@pytest.mark.parametrize(("way", "error"), ENDINGS)
async def test_given_up_while_queued_it_is_never_handled(
    way: Callable[[trio.CancelScope], None], error: object
) -> None:
    puppet, gate = Puppet("a"), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(block(gate))
        await give_up(ref, answer("never"), way, error)
        assert ref.statistics().mailbox.queued == 0
        gate.set()
        assert await ref.ask(answer(2), timeout=1) == 2
        assert len(puppet.messages) == 2
        assert ref.statistics().mailbox.queued == 0
        assert house.stage.statistics().dead_letters == 0


@pytest.mark.parametrize(("way", "error"), ENDINGS)
async def test_given_up_while_waiting_for_room_it_is_taken_out(
    way: Callable[[trio.CancelScope], None], error: object
) -> None:
    puppet, gate = Puppet("a", mailbox=partial(Mailbox, 1)), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(block(gate))
        await puppet.message(1)
        ref.tell("fills it")
        await give_up(ref, answer("never"), way, error)
        assert ref.statistics().mailbox.waiting == 0
        gate.set()
        assert await ref.ask(answer(2), timeout=1) == 2
        assert len(puppet.messages) == 3


async def test_given_up_after_it_was_let_in_it_is_never_handled_and_holds_no_room() -> None:
    puppet, gates = Puppet("a", mailbox=partial(Mailbox, 1)), [trio.Event(), trio.Event()]
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:
        ref = house["a"]
        ref.tell(block(gates[0]))
        await puppet.message(1)
        ref.tell(block(gates[1]))
        nursery.start_soon(give_up, ref, answer("never"), lambda scope: None, TooSlow)
        await wait_all_tasks_blocked()
        gates[0].set()
        await puppet.message(2)
        assert (ref.statistics().mailbox.queued, ref.statistics().mailbox.waiting) == (1, 0)
        await trio.sleep(15)
        assert ref.statistics().mailbox.queued == 0
        ref.tell("has room")
        gates[1].set()
        assert await puppet.message(3) == "has room"


@pytest.mark.parametrize(("way", "error"), ENDINGS)
async def test_given_up_while_it_is_handled_the_handler_is_cancelled_and_the_actor_lives(
    way: Callable[[trio.CancelScope], None], error: object
) -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        await give_up(ref, answer("never", before=block()), way, error)
        assert await ref.ask(answer(2), timeout=1) == 2
        assert (len(puppet.did("started")), puppet.did("stopping")) == (1, [])
        assert ref.statistics().mailbox.handled == 2


@pytest.mark.parametrize(("way", "error"), ENDINGS)
async def test_given_up_while_atomic_the_handler_goes_on_to_the_end_of_the_block(
    way: Callable[[trio.CancelScope], None], error: object
) -> None:
    puppet, after = Puppet("a"), list[str]()

    async def handler(puppet: object) -> None:
        await puppet._perform(held(pause(50)))  # type: ignore[attr-defined]
        after.append("held")
        await trio.lowlevel.checkpoint()
        after.append("beyond")

    async with staged(puppet.spec()) as house:
        ref = house["a"]
        await give_up(ref, answer("never", before=handler), way, error)
        assert await ref.ask(answer(2), timeout=100) == 2
        assert trio.current_time() == 50
        assert after == ["held"]


async def test_an_atomic_handler_may_answer_an_asker_who_has_gone_and_the_next_is_not_harmed() -> None:
    async with staged(Puppet("a").spec()) as house, trio.open_nursery() as nursery:
        nursery.start_soon(give_up, house["a"], answer("late", before=held(pause(50))), lambda scope: None, TooSlow)
        await wait_all_tasks_blocked()
        assert await house["a"].ask(answer("next", before=pause(1)), timeout=100) == "next"
        assert trio.current_time() == 51
        assert house.stage.dead_letters[0].why == "answered after the asker had gone"
        assert house["a"].statistics().mailbox.handled == 2


@pytest.mark.parametrize(("way", "error"), ENDINGS)
async def test_given_up_while_deferred_the_callee_is_told(
    way: Callable[[trio.CancelScope], None], error: object
) -> None:
    gone: list[float] = []

    def defer(reply: Reply[int]) -> Act:
        return lambda puppet: reply.on_abandon(lambda: gone.append(trio.current_time()))

    async with staged(Puppet("a").spec()) as house:
        await give_up(house["a"], defer, way, error)
        assert gone == [5 if error is None else 10]
        incarnation = house["a"]._slot.incarnation
        assert incarnation is not None
        assert incarnation._deferred == {}


async def test_who_asks_to_be_told_too_late_is_told_at_once() -> None:
    replies, gone = list[Reply[int]](), list[int]()
    async with staged(Puppet("a").spec()) as house:
        with pytest.raises(TooSlow):
            await house["a"].ask(keep(replies), timeout=1)
        replies[0].on_abandon(lambda: gone.append(1))
        assert gone == [1]


async def test_the_callee_is_told_although_its_handler_is_cancelled() -> None:
    gone: list[int] = []

    def make(reply: Reply[int]) -> Act:
        async def act(puppet: object) -> None:
            reply.on_abandon(lambda: gone.append(1))
            await trio.sleep_forever()

        return act

    async with staged(Puppet("a").spec()) as house:
        with pytest.raises(TooSlow):
            await house["a"].ask(make, timeout=1)
        assert gone == [1]


async def test_a_failure_of_what_is_told_is_the_callees_crash_not_the_askers() -> None:
    puppet = Puppet("a")

    def fail() -> None:
        raise ValueError("callback")

    async with staged(puppet.spec()) as house:
        with pytest.raises(TooSlow):
            await house["a"].ask(lambda reply: lambda puppet: reply.on_abandon(fail), timeout=1)
        assert str(await house.trace.stop("top/a")) == "crashed: ValueError: callback"
        await puppet.start(2)


@pytest.mark.parametrize("deferred", [False, True])
async def test_a_crash_of_the_callee_reaches_the_askers(deferred: bool) -> None:
    async with staged(Puppet("a").spec()) as house, trio.open_nursery() as nursery:
        ref, replies = house["a"], list[Reply[int]]()

        async def asker() -> None:
            with pytest.raises(ActorDown, match=r"top/a is down \(crashed: ValueError: x\)") as caught:
                await ref.ask(keep(replies), timeout=10)
            assert caught.value.stop.why is Why.CRASHED

        if deferred:
            nursery.start_soon(asker)
            await wait_all_tasks_blocked()
        with pytest.raises(ValueError, match="x"):
            await ref.ask(lambda reply: crash(ValueError("x")), timeout=10)
        assert await ref.ask(answer(1), timeout=10) == 1


async def test_a_withdrawn_ask_is_no_dead_letter_when_the_callee_ends() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(block())
        await puppet.message(1)
        with pytest.raises(TooSlow):
            await house["a"].ask(answer(1), timeout=1)
        ref = house["a"]
        await ref.stop()
        assert house.stage.statistics().dead_letters == 0
        assert ref.statistics().mailbox.queued == 0


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_callee_that_ends_refuses_all_its_askers(how: str) -> None:
    puppet = Puppet("a", restart=Restart.TEMPORARY, mailbox=partial(Mailbox, 1))
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:
        ref, replies, refused = house["a"], list[Reply[int]](), list[str]()

        async def asker(name: str, make: Callable[[Reply[int]], Act]) -> None:
            with pytest.raises(ActorDown):
                await ref.ask(make, timeout=10)
            refused.append(name)

        for name, make in [
            ("deferred", keep(replies)),
            ("running", answer(1, before=block())),
            ("queued", answer(1)),
            ("waits for room", answer(1)),
        ]:
            nursery.start_soon(asker, name, make)
            await wait_all_tasks_blocked()
        if how == "stop":
            await ref.stop()
        else:
            ref.kill()
        await wait_all_tasks_blocked()
        assert sorted(refused) == ["deferred", "queued", "running", "waits for room"]
        assert trio.current_time() == 0


async def test_last_words_may_answer() -> None:
    replies: list[Reply[str]] = []
    puppet = Puppet("a")
    puppet.on_stop = [lambda puppet: replies[0].set("bye")]
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:

        async def asker() -> None:
            assert await house["a"].ask(keep(replies), timeout=10) == "bye"

        nursery.start_soon(asker)
        await puppet.message(1)
        await house["a"].stop()


async def test_asks_wait_for_a_restart() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        house["a"].tell(crash())
        await house.trace.stop("top/a")
        assert await house["a"].ask(answer(1), timeout=10) == 1


async def test_an_ask_to_the_dead_fails_at_once_and_is_a_checkpoint() -> None:
    async with staged(Puppet("a").spec()) as house:
        ref = house["a"]
        await ref.stop()
        with assert_checkpoints(), pytest.raises(ActorDown, match=r"top/a is down \(shutdown\)") as caught:
            await ref.ask(answer(1), timeout=10)
        assert (caught.value.path, caught.value.stop) == ("top/a", Stop(Why.SHUTDOWN))


@pytest.mark.parametrize("overflow", Overflow)
async def test_an_ask_of_a_full_actor(overflow: Overflow) -> None:
    puppet, gate = Puppet("a", mailbox=partial(Mailbox, 1, overflow)), trio.Event()
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:
        ref, outcomes = house["a"], dict[str, object]()

        async def asker(name: str) -> None:
            try:
                outcomes[name] = await ref.ask(answer(name), timeout=10)
            except MailboxFull as error:
                outcomes[name] = str(error)

        ref.tell(block(gate))
        await puppet.message(1)
        for name in ("first", "second"):
            nursery.start_soon(asker, name)
            await wait_all_tasks_blocked()
        gate.set()
        await wait_all_tasks_blocked()
    dropped = "top/a has no room, and its policy ({}) dropped this ask"
    refused = (
        "top/a has 1 messages waiting, which is all it takes (function not taken); "
        "use send() to wait for room, or slow down"
    )
    assert outcomes == {
        Overflow.WAIT: {"first": "first", "second": "second"},
        Overflow.REFUSE: {"first": "first", "second": refused},
        Overflow.DROP_OLDEST: {"first": dropped.format("drop oldest"), "second": "second"},
        Overflow.DROP_NEWEST: {"first": "first", "second": dropped.format("drop newest")},
    }[overflow]


async def test_an_ask_that_is_dropped_at_once_is_a_checkpoint() -> None:
    puppet = Puppet("a", mailbox=partial(Mailbox, 1, Overflow.DROP_NEWEST))
    async with staged(puppet.spec()) as house:
        house["a"].tell("fills it")
        with assert_checkpoints(), pytest.raises(MailboxFull):
            await house["a"].ask(answer(1), timeout=1)


async def test_an_ask_that_is_cancelled_from_the_start_asks_nothing() -> None:
    puppet = Puppet("a", mailbox=partial(Mailbox, 1, Overflow.DROP_OLDEST))
    async with staged(puppet.spec()) as house:
        house["a"].tell("precious")
        with trio.CancelScope() as scope:
            scope.cancel()
            await house["a"].ask(answer(1), timeout=1)
        assert await puppet.message(1) == "precious"


@pytest.mark.parametrize("overflow", Overflow)
async def test_a_withdrawn_ask_holds_no_room(overflow: Overflow) -> None:
    puppet, gate = Puppet("a", mailbox=partial(Mailbox, 2, overflow)), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(block(gate))
        await puppet.message(1)
        ref.tell("before")
        with pytest.raises(TooSlow):
            await ref.ask(answer(1), timeout=1)
        ref.tell("after")
        gate.set()
        await puppet.message(3)
        assert puppet.messages[1:] == ["before", "after"]
        assert ref.statistics().mailbox.dropped == 0


async def test_a_withdrawn_ask_makes_room_for_who_waits() -> None:
    puppet, gate = Puppet("a", mailbox=partial(Mailbox, 1)), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(block(gate))
        await puppet.message(1)
        async with trio.open_nursery() as nursery:

            async def asker() -> None:
                with pytest.raises(TooSlow):
                    await ref.ask(answer(1), timeout=1)

            nursery.start_soon(asker)
            await wait_all_tasks_blocked()
            await ref.send("patient")
            assert trio.current_time() == 1
        gate.set()
        assert await puppet.message(2) == "patient"


async def test_an_ask_that_its_own_asker_answers_is_not_handled() -> None:
    puppet, gate = Puppet("a"), trio.Event()
    async with staged(puppet.spec()) as house, trio.open_nursery() as nursery:
        replies: list[Reply[int]] = []
        house["a"].tell(block(gate))
        await puppet.message(1)

        async def asker() -> None:
            make = answer(1)
            assert await house["a"].ask(lambda reply: replies.append(reply) or make(reply), timeout=9) == 7  # type: ignore[func-returns-value, arg-type]

        nursery.start_soon(asker)
        await wait_all_tasks_blocked()
        replies[0].set(7)
        gate.set()
        await house["a"].ask(answer(1), timeout=1)
        assert len(puppet.messages) == 2


async def test_an_ask_that_its_own_asker_has_answered_is_dropped_in_silence() -> None:
    puppet, gate = Puppet("a", mailbox=lambda: Mailbox(1, Overflow.DROP_OLDEST)), trio.Event()
    async with staged(puppet.spec()) as house:
        ref = house["a"]
        ref.tell(block(gate))
        await puppet.message(1)

        def make(reply: Reply[int]) -> str:
            reply.set(7)
            return "question"

        assert await ref.ask(make, timeout=1) == 7
        ref.tell("next")
        gate.set()
        assert await puppet.message(2) == "next"


async def test_a_cancelled_deadline_moves_no_clock() -> None:
    async with staged(Puppet("a").spec()) as house:
        for _ in range(100):
            await house["a"].ask(answer(1), timeout=1000)
        await wait_all_tasks_blocked()
        with trio.move_on_after(2):
            await trio.sleep_forever()
        assert trio.current_time() == 2


async def test_many_asks_each_keep_their_own_deadline() -> None:
    async with staged(Puppet("a").spec()) as house, trio.open_nursery() as nursery:
        replies: list[Reply[int]] = []

        async def asker(seconds: int) -> None:
            before = trio.current_time()
            with pytest.raises(TooSlow):
                await house["a"].ask(keep(replies), timeout=seconds)
            assert trio.current_time() == before + seconds

        for seconds in (5, 3, 8, 1, 3, 13):
            nursery.start_soon(asker, seconds)


async def test_an_ask_without_a_deadline_waits() -> None:
    async with staged(Puppet("a").spec()) as house:
        assert await house["a"].ask(answer(1, before=pause(3600)), timeout=float("inf")) == 1


async def test_a_question_is_gone_as_soon_as_its_asker_has_the_answer() -> None:
    """And not when Python looks for cycles: there may be megabytes in it."""

    @dataclass(frozen=True, eq=False)
    class Weighty:
        reply: Reply[int]

    class Counting(Actor[Weighty]):
        async def handle(self, message: Weighty) -> None:
            seen.append(weakref.ref(message))
            message.reply.set(len(seen))

    seen: list[weakref.ref[Any]] = []
    async with staged(ChildSpec("counting", Counting)) as house:
        gc.disable()
        try:
            for number in range(1, 4):
                assert await house["counting"].ask(Weighty, timeout=1) == number
            assert [ref() for ref in seen[:-1]] == [None, None]
        finally:
            gc.enable()


@pytest.mark.parametrize("waits", [0.0, 5.0], ids=["before the answer", "after the answer"])
async def test_the_answer_to_a_question_that_was_posted_is_waited_for_later(waits: float) -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        pending = house["a"].post(answer(3, before=pause(1)))
        await trio.sleep(waits)
        with assert_checkpoints():
            assert await pending.answer(timeout=2) == 3
        assert trio.current_time() == max(waits, 1.0)
        assert house.stage.statistics().timers.pending == 0


async def test_a_question_that_was_posted_is_withdrawn_when_who_waits_for_it_gives_up() -> None:
    puppet = Puppet("a")
    async with staged(puppet.spec()) as house:
        running, queued = house["a"].post(answer("never", before=block())), house["a"].post(answer("never"))
        with pytest.raises(TooSlow):
            await queued.answer(timeout=1)
        cancelled = house["a"].post(answer("never"))
        with trio.CancelScope() as scope:
            scope.cancel()
            await cancelled.answer(timeout=100)
        with trio.move_on_after(1):
            await running.answer(timeout=100)
        assert await house["a"].ask(answer(2), timeout=1) == 2
        assert house.stage.statistics().dead_letters == 0


async def test_nobody_has_to_wait_for_the_answer_to_a_question_that_was_posted() -> None:
    async with staged(Puppet("a").spec()) as house:
        ref = house["a"]
        ref.post(answer(1))
        with pytest.raises(ZeroDivisionError):
            await ref.post(fail_with(ZeroDivisionError())).answer(timeout=1)
        await wait_all_tasks_blocked()
        assert house.stage.statistics().dead_letters == 0
        await ref.stop()
        with pytest.raises(ActorDown):
            ref.post(answer(1))


def fail_with(error: Exception) -> Callable[[Reply[Any]], Act]:
    def make(reply: Reply[Any]) -> Act:
        async def act(_: Any) -> None:
            reply.fail(error)

        return act

    return make
