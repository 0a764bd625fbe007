"""Handlers: whatever one does ends as an outcome, and nothing else."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import given
from trio.testing import MockClock

from actors.ipc.apart import LOST_SECONDS, RunApart, RunIsLost
from actors.ipc.commands import NO_AGENT, NO_MODEL, EchoModel, Mode, known_commands
from actors.ipc.handlers import (
    LARGEST_ANSWER,
    LONGEST_MESSAGE,
    CommandContext,
    CommandFailed,
    Handlers,
    KnownCommand,
    given_command,
)
from actors.kernel import Timers
from codec.ipc import Failure, Outcome, Request, Success
from tests.ipc.test_documents import JSON

SECONDS = 30.0


class Memory:
    def __init__(self) -> None:
        self.pairs: dict[str, str] = {}

    async def recall(self, name: str) -> str | None:
        await trio.lowlevel.checkpoint()
        return self.pairs.get(name)

    async def remember(self, name: str, value: str) -> None:
        await trio.lowlevel.checkpoint()
        self.pairs[name] = value


def run(
    handlers: Handlers, command: str, params: dict[str, Any] | None = None, memory: Memory | None = None
) -> Outcome:
    request = Request(id="r", command=command, params=params or {})
    context = CommandContext(request, 1, handlers, memory or Memory(), lambda: 0.0)

    async def main() -> Outcome:
        return await handlers.run(context, SECONDS)

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def result_of(act: Callable[[], Any]) -> Outcome:
    async def handler(params: Any, context: CommandContext) -> Any:
        await trio.lowlevel.checkpoint()
        return act()

    return run(Handlers([KnownCommand("act", handler)]), "act")


def raising(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


class Evil(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def nested() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("act", "failure"),
    [
        (raising(RuntimeError("busy")), Failure("act failed: RuntimeError: busy")),
        (raising(RuntimeError()), Failure("act failed: RuntimeError")),
        (raising(SystemExit(3)), Failure("act failed: SystemExit: 3")),
        (raising(KeyboardInterrupt()), Failure("act failed: KeyboardInterrupt")),
        (raising(BaseExceptionGroup("all", [SystemExit(1), ValueError("x")])), Failure("act failed: SystemExit: 1")),
        (raising(Evil()), Failure("act failed: Evil: (its text cannot be had: RuntimeError)")),
        (raising(CommandFailed("not now")), Failure("not now")),
        (raising(CommandFailed("never", permanent=True)), Failure("never", permanent=True)),
        (raising(RuntimeError("\ud800")), Failure("act failed: RuntimeError: ?")),
    ],
)
def test_whatever_a_handler_raises_is_an_error_in_words(act: Callable[[], Any], failure: Failure) -> None:
    assert result_of(act) == failure


def test_a_long_text_of_an_error_is_shortened() -> None:
    outcome = result_of(raising(RuntimeError("x" * 10**6)))
    assert isinstance(outcome, Failure)
    assert len(outcome.message) == LONGEST_MESSAGE + 1


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (object, "act returned what JSON cannot say: "),
        (lambda: {"a": {1: object()}}, "act returned what JSON cannot say: "),
        (lambda: {(1, 2): 3}, "act returned what JSON cannot say: "),
        (lambda: "\ud800", "act returned what JSON cannot say: "),
        (nested, "act returned what JSON cannot say: "),
        (lambda: "x" * LARGEST_ANSWER, f"act returned {LARGEST_ANSWER + 2:,} bytes of JSON; expected at most"),
    ],
)
def test_what_cannot_be_written_is_an_error_that_says_so_and_is_not_tried_again(
    act: Callable[[], Any], words: str
) -> None:
    outcome = result_of(act)
    assert isinstance(outcome, Failure)
    assert (outcome.message[: len(words)], outcome.permanent) == (words, True)


@given(JSON)
def test_what_json_can_say_is_returned_as_it_is(value: Any) -> None:
    assert result_of(lambda: value) == Success(value)


def test_a_number_that_is_none_is_null() -> None:
    assert result_of(lambda: [math.nan, math.inf]) == Success([None, None])


def test_a_handler_that_hangs_is_cancelled_in_time() -> None:
    ends: list[float] = []

    async def hang(params: Any, context: CommandContext) -> Any:
        try:
            await trio.sleep_forever()
        finally:
            ends.append(trio.current_time())

    assert run(Handlers([KnownCommand("hang", hang)]), "hang") == Failure("hang was not over after 30 seconds")
    assert len(ends) == 1


def test_what_a_handler_raises_while_it_is_cancelled_harms_nobody() -> None:
    async def child() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise SystemExit(1)

    async def hang(params: Any, context: CommandContext) -> Any:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)
            await trio.sleep_forever()

    assert run(Handlers([KnownCommand("hang", hang)]), "hang") == Failure("hang was not over after 30 seconds")


class Ends:
    """What is told of a run apart."""

    def __init__(self) -> None:
        self.told: list[tuple[object, Exception | None]] = []
        self.over = trio.Event()

    def __call__(self, returned: object, raised: Exception | None) -> None:
        self.told.append((returned, raised))
        self.over.set()


async def end_of(run: Callable[[], Awaitable[object]], cancelled_after: float = math.inf) -> list[Any]:
    """All that is told of a run that may take a second, in a minute."""
    ends, timers = Ends(), Timers()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.run)
        apart = RunApart(run, 1.0, "a run", timers, ends)
        with trio.move_on_after(cancelled_after):
            await ends.over.wait()
        if not ends.told:
            apart.cancel()
        await trio.sleep(60)
        nursery.cancel_scope.cancel()
    return ends.told


def test_how_a_run_apart_ends_is_told_once() -> None:
    async def returns() -> str:
        return "an answer"

    async def raises() -> str:
        raise LookupError("no answer")

    async def hangs() -> str:
        await trio.sleep_forever()

    async def main() -> None:
        assert await end_of(returns) == [("an answer", None)]
        ((returned, raised),) = await end_of(raises)
        assert (returned, str(raised)) == (None, "no answer")
        assert await end_of(hangs, cancelled_after=0.0) == [(None, None)]

    trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(("cancelled_after", "lost_after"), [(math.inf, 1.0 + LOST_SECONDS), (0.5, 0.5 + LOST_SECONDS)])
def test_a_run_that_swallows_every_exception_is_left_behind_and_what_it_returns_is_nobodys(
    cancelled_after: float, lost_after: float
) -> None:
    swallowed: list[float] = []
    began = 0.0

    async def swallow() -> str:
        while trio.current_time() < began + 30:
            try:
                await trio.sleep(20)
            except trio.Cancelled:
                swallowed.append(trio.current_time() - began)
                with trio.CancelScope(shield=True):
                    await trio.sleep(20)
        return "late"

    async def main() -> None:
        nonlocal began
        began = trio.current_time()
        ((returned, raised),) = await end_of(swallow, cancelled_after)
        assert returned is None
        assert isinstance(raised, RunIsLost)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert swallowed[0] == pytest.approx(min(cancelled_after, lost_after))


def test_who_leaves_a_run_ends_it_and_is_told_nothing() -> None:
    ended = False

    async def hang() -> None:
        nonlocal ended
        try:
            await trio.sleep_forever()
        finally:
            ended = True

    async def main() -> None:
        ends, timers = Ends(), Timers()
        apart = RunApart(hang, 100.0, "a run", timers, ends)
        await trio.sleep(1)
        apart.leave()
        await trio.sleep(1)
        assert (ended, ends.told, timers.statistics().pending) == (True, [], 0)

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_a_cancellation_from_outside_goes_through() -> None:
    async def hang(params: Any, context: CommandContext) -> Any:
        await trio.sleep_forever()

    handlers = Handlers([KnownCommand("hang", hang)])
    context = CommandContext(Request(id="r", command="hang"), 1, handlers, Memory(), lambda: 0.0)

    async def main() -> list[Outcome]:
        outcomes = []
        with trio.move_on_after(1):
            outcomes.append(await handlers.run(context, SECONDS))
        return outcomes

    assert trio.run(main, clock=MockClock(autojump_threshold=0)) == []


# -- the commands that every server end knows


@pytest.mark.parametrize(
    ("command", "params", "data"),
    [
        ("ping", {}, {"message": "pong"}),
        ("ping", {"any": 1}, {"message": "pong"}),
        ("getCurrentState", {}, {"model": "echo", "mode": "agent"}),
        ("setMode", {"mode": "chat"}, {"mode": "chat"}),
    ],
)
def test_commands_are_answered(command: str, params: dict[str, Any], data: Any) -> None:
    assert run(known_commands("echo"), command, params) == Success(data)


@pytest.mark.parametrize(
    ("command", "params", "sentence"),
    [
        ("setMode", {"mode": "x"}, "the params of setMode are not right: expected mode to be something else than 'x'"),
        ("setMode", {}, "the params of setMode are not right: the field 'mode' is missing"),
        ("submitPrompt", {"prompt": 7}, "the params of submitPrompt are not right: expected prompt to be a text, "
         "and it is a whole number"),
        ("submitPrompt", {"prompt": " "}, "expected prompt to be a text, but it is empty"),
        ("nope", {}, "there is no command 'nope'; expected one of getCurrentState, listCommands, ping, setMode, "
         "submitPrompt"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_request_is_named_and_not_tried_again(
    command: str, params: dict[str, Any], sentence: str
) -> None:
    assert run(known_commands("echo"), command, params) == Failure(sentence, permanent=True)


def test_the_mode_that_was_set_is_that_of_later_prompts_unless_they_say_otherwise() -> None:
    memory, handlers = Memory(), known_commands("echo")
    run(handlers, "setMode", {"mode": "chat"}, memory)
    for params, mode in (({}, "chat"), ({"mode": "agent"}, "agent")):
        outcome = run(handlers, "submitPrompt", {"prompt": "Hi", **params}, memory)
        assert isinstance(outcome, Success)
        assert outcome.data == {
            "content": "Hi", "model": "echo", "mode": mode, "timestamp": "1970-01-01T00:00:00+00:00", "success": True
        }  # fmt: skip


@pytest.mark.parametrize(("setting", "sentence"), [("none", NO_MODEL), ("agent", NO_AGENT)])
def test_where_there_is_no_model_a_prompt_is_told_so(setting: Any, sentence: str) -> None:
    assert run(known_commands(setting), "submitPrompt", {"prompt": "Hi"}) == Failure(sentence, permanent=True)


def test_an_agent_that_is_given_answers() -> None:
    class Agent(EchoModel):
        name = "mine"

        async def answer(self, prompt: str, mode: Mode) -> str:
            return f"{mode}: {prompt}"

    outcome = run(known_commands("agent", Agent()), "submitPrompt", {"prompt": "Hi"})
    assert isinstance(outcome, Success)
    assert (outcome.data["content"], outcome.data["model"]) == ("agent: Hi", "mine")


def test_commands_are_listed_with_what_they_are_for() -> None:
    outcome = run(known_commands(), "listCommands")
    assert isinstance(outcome, Success)
    assert [each["name"] for each in outcome.data["commands"]] == sorted(
        ["ping", "getCurrentState", "setMode", "submitPrompt", "listCommands"]
    )
    assert all(each["about"].endswith(".") for each in outcome.data["commands"])


# -- commands of other packages


class Count(msgspec.Struct):
    text: str


async def count_words(params: Count, context: CommandContext) -> Any:
    """Counts words.

    By blanks.
    """
    return len(params.text.split())


@dataclass
class Adder:
    much: int

    async def __call__(self, params: Any, context: CommandContext) -> Any:
        return self.much


def test_a_package_may_add_functions_objects_and_whole_commands() -> None:
    count_words.params = Count  # type: ignore[attr-defined]
    handlers = known_commands()
    for name, value in [("words", count_words), ("add", Adder(7)), ("any", KnownCommand("third", Adder(3)))]:
        handlers.add(given_command(name, value))
    words = handlers.get("words")
    assert words is not None
    assert words.about == "Counts words."
    assert run(handlers, "words", {"text": "a b"}) == Success(2)
    assert run(handlers, "add") == Success(7)
    assert run(handlers, "third") == Success(3)
    with pytest.raises(ValueError, match="there are two handlers of the command ping"):
        handlers.add(given_command("ping", count_words))


@pytest.mark.parametrize("value", [None, 3, len, Adder, lambda params, context: 1])
def test_what_is_no_handler_is_refused_in_words(value: object) -> None:
    with pytest.raises(
        ValueError, match="the command x is no handler: expected an async function of params and context"
    ):
        given_command("x", value)
