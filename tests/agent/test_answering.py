"""One answer of a model, as it is heard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from actors.agent.answering import CUT_OFF, HearingLimits, ModelAnswer, answered
from actors.kernel import Why
from actors.kernel.testing import run_in_virtual_time
from codec.agent.events import MessageFinal, ServerError
from codec.agent.models import (
    Delta,
    Finished,
    ModelConfig,
    ModelRequest,
    ModelTrouble,
    SaidText,
    SaidThought,
    UsedTokens,
)
from tests.agent.turn_kit import STOP, Script, call, turn, whole

ASKED = ModelRequest(model=ModelConfig(provider="ollama"), messages=())
LIMITS = HearingLimits(first_piece=10, next_piece=3, characters=20, calls=2)


async def nothing(text: str) -> None: ...


def heard(*acts: Any, until: float = float("inf"), say: Any = nothing, think: Any = nothing) -> ModelAnswer:
    found = list[ModelAnswer]()

    async def play() -> None:
        script = Script(acts)
        try:
            found.append(await answered(script.stream(ASKED), LIMITS, until, say, think))
        finally:
            assert script.open == 0

    run_in_virtual_time(play)
    return found[0]


async def for_two_seconds() -> None:
    await trio.sleep(2)


async def for_nine_seconds() -> None:
    await trio.sleep(9)


def test_a_slow_model_is_waited_for_as_long_as_each_piece_comes_in_time() -> None:
    answer = heard(for_nine_seconds, *[SaidText("a"), for_two_seconds] * 9, STOP)
    assert "".join(answer.text) == "a" * 9


@pytest.mark.parametrize(
    ("acts", "seconds"),
    [
        ([trio.sleep_forever], 10),
        ([SaidText("a"), trio.sleep_forever], 3),
        ([SaidThought("a"), for_nine_seconds, STOP], 3),
    ],
)
def test_a_model_is_waited_for_no_longer_than_that(acts: list[Any], seconds: int) -> None:
    with pytest.raises(ModelTrouble, match=f"said nothing for {seconds} seconds"):
        heard(*acts)


def test_the_time_that_a_listener_takes_is_not_the_models() -> None:
    async def slowly(text: str) -> None:
        await trio.sleep(1000)

    answer = heard(SaidText("a"), SaidThought("b"), for_two_seconds, SaidText("c"), STOP, say=slowly, think=slowly)
    assert answer.text == ["a", "c"]


def test_a_turn_that_is_over_waits_for_no_model() -> None:
    with pytest.raises(ModelTrouble, match="The time for this turn is over"):
        heard(SaidText("a"), *[for_two_seconds, SaidText("b")] * 9, STOP, until=5)


def test_a_stream_without_an_end_was_cut_off() -> None:
    for acts in ([], [SaidText("a")], [call("list_files")], [UsedTokens(prompt=1)]):
        with pytest.raises(ModelTrouble) as trouble:
            heard(*acts)
        assert str(trouble.value) == CUT_OFF
        assert trouble.value.recoverable


def test_a_flood_is_ended_at_its_limit_and_needs_no_end() -> None:
    assert heard(*[SaidText("abc")] * 100).text == ["abc"] * 7
    assert heard(*[SaidThought("abcdefghijk")] * 100).flooded
    many = heard(*[call("list_files")] * 100)
    assert (len(many.calls), many.dropped, many.flooded) == (2, True, False)
    assert not heard(*[call("list_files")] * 2, STOP).dropped


def test_a_thought_goes_to_whoever_hears_thoughts_and_a_text_to_whoever_hears_texts() -> None:
    said, thought = list[str](), list[str]()

    async def say(text: str) -> None:
        said.append(text)

    async def think(text: str) -> None:
        thought.append(text)

    answer = heard(SaidThought("a"), SaidText("b"), SaidThought("c"), STOP, say=say, think=think)
    assert (said, thought, answer.text) == (["b"], ["a", "c"], ["b"])


@pytest.mark.parametrize(("pieces", "flooded"), [(["a" * 20], False), (["a" * 21], True), (["a" * 10] * 3, True)])
def test_an_answer_may_be_as_long_as_its_limit(pieces: list[str], flooded: bool) -> None:
    answer = heard(*map(SaidText, pieces), *([] if flooded else [STOP]))
    assert answer.flooded is flooded
    assert answer.text == pieces


def test_behind_the_end_only_a_count_is_taken() -> None:
    answer = heard(SaidText("a"), Finished("length"), SaidText("b"), call("list_files"), STOP, UsedTokens(prompt=5))
    assert (answer.text, answer.calls, answer.reason, answer.used) == (["a"], [], "length", UsedTokens(prompt=5))


class Refusing(Script):
    """Its connection fails before there is a stream."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    @asynccontextmanager
    async def _opened(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Delta]]:
        await trio.lowlevel.checkpoint()
        raise self._error
        yield


def test_a_server_that_cannot_be_reached_is_a_trouble() -> None:
    async def play() -> None:
        heard = await whole("Hm?", Refusing(ModelTrouble("Ollama does not answer.")))
        (error,) = heard.of(ServerError)
        assert error.error.message == "Ollama does not answer."
        assert not heard.final.metadata.success

    run_in_virtual_time(play)


def test_a_fault_of_our_own_crashes_the_turn_and_is_told_by_nobody_but_the_session() -> None:
    async def play() -> None:
        async with turn("Hm?", Refusing(ValueError("a bug")), but="a bug") as (heard, _):
            assert heard.turn is not None
            stop = await heard.turn.wait_stopped()
            assert stop.why is Why.CRASHED
            assert heard.of(MessageFinal) == []

    run_in_virtual_time(play)
