"""Messages that an idle actor handles in the task of whoever hands them over."""

from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import wait_all_tasks_blocked

from actors.kernel import Actor, ActorDown, ActorRef, ChildSpec, Reply, Stop, TooSlow, Why
from actors.kernel.testing import staged


class Book(Actor[str]):
    """Writes down what it is handed, and where that was handled."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.go = trio.Event()
        self.kept: object = None

    async def started(self, kept: object | None) -> None:
        self.kept = kept

    def keep(self) -> object:
        return [line for line, _ in self.lines]

    def at_once(self, message: str) -> bool:
        if message.startswith("later"):
            return False
        if message == "poison":
            raise ValueError("poison")
        if message == "hand on":
            self.ref.hand("handed on")
        if message == "finish":
            self.finish()
        self.lines.append((message, "at once"))
        return True

    async def handle(self, message: str) -> None:
        if message == "later: wait":
            await self.go.wait()
        self.lines.append((message, "in turn"))


class Stand:
    """A book for each incarnation."""

    def __init__(self) -> None:
        self.books: list[Book] = []
        self.spec = ChildSpec("book", self._make, backoff=(1.0, 1.0, 0.0))

    def _make(self) -> Book:
        self.books.append(Book())
        return self.books[-1]


async def idle(ref: ActorRef[Any]) -> None:
    await wait_all_tasks_blocked()
    assert ref.statistics().mailbox.queued == 0


async def test_an_idle_actor_has_handled_what_it_was_handed() -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].hand("a")
        house["book"].hand("b")
        assert stand.books[0].lines == [("a", "at once"), ("b", "at once")]
        assert house["book"].statistics().mailbox.handled == 2


async def test_what_it_does_not_take_at_once_is_handled_in_turn() -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].hand("later")
        assert stand.books[0].lines == []
        await idle(house["book"])
        assert stand.books[0].lines == [("later", "in turn")]
        assert house["book"].statistics().mailbox.handled == 1


@pytest.mark.parametrize("before", ["told", "later: wait"])
async def test_nothing_overtakes_what_waits_or_is_being_handled(before: str) -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].tell(before)
        if before != "told":
            await idle(house["book"])
        house["book"].hand("handed")
        stand.books[0].go.set()
        await idle(house["book"])
        assert stand.books[0].lines == [(before, "in turn"), ("handed", "in turn")]


async def test_what_it_hands_itself_meanwhile_waits_for_its_turn() -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].hand("hand on")
        await idle(house["book"])
        assert stand.books[0].lines == [("hand on", "at once"), ("handed on", "in turn")]


async def test_a_crash_is_the_actors_and_not_that_of_the_one_who_handed_over() -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].hand("a")
        house["book"].hand("poison")
        house["book"].hand("waits for the next")
        stop = await house.trace.stop("top/book")
        assert (stop.why, str(stop.error)) == (Why.CRASHED, "poison")
        ended = (await house.trace.nth("stop", "top/book")).detail
        assert ended.message == "str"
        await trio.sleep(2)
        await idle(house["book"])
        assert stand.books[1].kept == ["a"]
        assert stand.books[1].lines == [("waits for the next", "in turn")]


async def test_an_actor_can_finish_at_once() -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].hand("finish")
        house["book"].hand("for the next")
        assert (await house.trace.stop("top/book")) == Stop(Why.DONE)
        await trio.sleep(2)
        assert stand.books[1].lines == [("for the next", "in turn")]


async def test_one_that_is_asked_to_stop_takes_nothing_more() -> None:
    stand = Stand()
    letters: list[object] = []
    async with staged(stand.spec, dead_letter=lambda ref, message, why: letters.append(message)) as house:
        book = house["book"]
        await idle(book)
        book.begin_stop()
        book.hand("too late")
        await book.wait_stopped()
        book.hand("far too late")
        assert stand.books[0].lines == []
        assert letters == ["too late", "far too late"]


async def test_what_is_handed_on_urgently_overtakes_where_it_cannot_be_handled_at_once() -> None:
    stand = Stand()
    async with staged(stand.spec) as house:
        await idle(house["book"])
        house["book"].hand("a", urgent=True)
        assert stand.books[0].lines == [("a", "at once")]
        house["book"].tell("b")
        house["book"].hand("c", urgent=True)
        await idle(house["book"])
        assert [line for line, _ in stand.books[0].lines] == ["a", "c", "b"]


async def test_where_each_message_is_traced_all_go_through_the_mailbox() -> None:
    stand = Stand()
    async with staged(stand.spec, messages=True) as house:
        await idle(house["book"])
        house["book"].hand("a")
        await idle(house["book"])
        assert stand.books[0].lines == [("a", "in turn")]
        assert [entry.detail for entry in house.trace.of("take", "top/book")] == ["a"]


# -- questions


class Oracle(Actor[Reply[str]]):
    def __init__(self) -> None:
        self.way = "at once"
        self.asked: list[Reply[str]] = []

    def at_once(self, message: Reply[str]) -> bool:
        self.asked.append(message)
        match self.way:
            case "at once":
                message.set("at once")
            case "poison":
                raise ValueError("poison")
            case "answered, then poison":
                message.set("at once")
                raise ValueError("poison")
            case "in turn":
                return False
        return True

    async def handle(self, message: Reply[str]) -> None:
        message.set("in turn")


class Delphi:
    def __init__(self, way: str) -> None:
        self.way = way
        self.oracles: list[Oracle] = []
        self.spec = ChildSpec("oracle", self._make)

    def _make(self) -> Oracle:
        self.oracles.append(Oracle())
        if len(self.oracles) == 1:
            self.oracles[0].way = self.way
        return self.oracles[-1]


async def question(house: Any) -> str:
    answer: str = await house["oracle"].ask(lambda reply: reply, timeout=1.0)
    return answer


@pytest.mark.parametrize("way", ["at once", "in turn"])
async def test_an_idle_actor_answers_in_the_task_of_who_asks_if_it_can(way: str) -> None:
    delphi = Delphi(way)
    async with staged(delphi.spec) as house:
        await idle(house["oracle"])
        assert await question(house) == way
        assert house["oracle"].statistics().mailbox.handled == 1


async def test_an_ask_that_is_answered_at_once_is_a_checkpoint() -> None:
    async with staged(Delphi("at once").spec) as house:
        await idle(house["oracle"])
        with trio.testing.assert_checkpoints():
            await question(house)


async def test_a_question_taken_at_once_may_be_answered_later() -> None:
    delphi = Delphi("later")
    async with staged(delphi.spec) as house, trio.open_nursery() as nursery:
        answers: list[str] = []
        await idle(house["oracle"])

        async def ask() -> None:
            answers.append(await question(house))

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        delphi.oracles[0].asked[0].set("later")
        await wait_all_tasks_blocked()
        assert answers == ["later"]


async def test_who_no_longer_waits_for_an_answer_withdraws_a_question_that_was_taken_at_once() -> None:
    delphi = Delphi("later")
    async with staged(delphi.spec) as house:
        await idle(house["oracle"])
        with pytest.raises(TooSlow):
            await question(house)
        assert delphi.oracles[0].asked[0].abandoned


async def test_an_actor_that_ends_refuses_the_question_that_it_has_taken_at_once() -> None:
    delphi = Delphi("later")
    async with staged(delphi.spec) as house, trio.open_nursery() as nursery:
        await idle(house["oracle"])

        async def ask() -> None:
            with pytest.raises(ActorDown):
                await question(house)

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        assert len(delphi.oracles[0].asked) == 1
        house["oracle"].begin_stop()


@pytest.mark.parametrize("way", ["poison", "answered, then poison"])
async def test_a_crash_at_once_reaches_who_asks_unless_it_is_answered(way: str) -> None:
    delphi = Delphi(way)
    async with staged(delphi.spec) as house:
        await idle(house["oracle"])
        if way == "poison":
            with pytest.raises(ValueError, match="poison"):
                await question(house)
        else:
            assert await question(house) == "at once"
        assert (await house.trace.stop("top/oracle")).why is Why.CRASHED
        assert await question(house) == "in turn"  # by the next, when it is there


async def test_an_actor_takes_nothing_at_once_unless_it_says_so() -> None:
    class Choosy(Actor[str]):
        def at_once(self, message: str) -> bool:
            return message == "now" or super().at_once(message)

        async def handle(self, message: str) -> None:
            handled.append(message)

    handled: list[str] = []
    async with staged(ChildSpec("choosy", Choosy)) as house:
        await wait_all_tasks_blocked()
        for message in ("now", "later"):
            house["choosy"].hand(message)
        assert handled == []
        await wait_all_tasks_blocked()
        assert handled == ["later"]
