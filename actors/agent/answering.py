"""One answer of a model, as it is heard: text and thoughts are passed on at once, calls are collected.

A model has a deadline for its first piece and for each further one; the time that our own listener takes does not
count. A stream that ends without Finished was cut off. A flood ends by our limits: then the stream is closed, and what
has come counts.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import trio
from msgspec import Struct, field

from codec.agent.models import (
    CalledTool,
    Delta,
    Finished,
    ModelTrouble,
    SaidText,
    SaidThought,
    ToolCall,
    UsedTokens,
)
from codec.words import lasting

AFTER_THE_END = 1.0
"""Seconds that a stream may stay open after Finished, for the count of tokens that some servers send last."""
CUT_OFF = "The model's answer broke off before its end. Send your message again."


class HearingLimits(Struct, frozen=True):
    """Seconds for the first piece and between two, and what one answer may have at most."""

    first_piece: float = 180.0
    next_piece: float = 90.0
    characters: int = 400_000
    calls: int = 16


class ModelAnswer(Struct):
    text: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    dropped: bool = False
    """There were more calls than one answer may have."""
    flooded: bool = False
    """There was more text than one answer may have."""
    used: UsedTokens | None = None
    reason: str | None = None


async def answered(
    stream: AbstractAsyncContextManager[AsyncIterator[Delta]],
    hearing: HearingLimits,
    until: float,
    say: Callable[[str], Awaitable[None]],
    think: Callable[[str], Awaitable[None]],
) -> ModelAnswer:
    """Hear a model out, until that time at the latest. Raises ModelTrouble."""
    answer, length, waited = ModelAnswer(), 0, hearing.first_piece

    with trio.CancelScope() as waiting:
        waiting.deadline = min(until, trio.current_time() + waited)
        async with stream as pieces:
            async for piece in pieces:
                waiting.deadline = float("inf")
                match piece:
                    case _ if answer.reason is not None and not isinstance(piece, UsedTokens):
                        pass  # after the end
                    case SaidText(text):
                        length += len(text)
                        answer.text.append(text)
                        await say(text)
                    case SaidThought(text):
                        length += len(text)
                        await think(text)
                    case CalledTool(call):
                        answer.dropped = len(answer.calls) >= hearing.calls
                        if not answer.dropped:
                            answer.calls.append(call)
                    case UsedTokens():
                        answer.used = piece
                    case Finished(reason):
                        answer.reason = reason
                answer.flooded = length > hearing.characters
                if answer.dropped or answer.flooded:
                    break
                waited = hearing.next_piece if answer.reason is None else AFTER_THE_END
                waiting.deadline = min(until, trio.current_time() + waited)
    if answer.reason is None and not answer.dropped and not answer.flooded:
        if waiting.cancelled_caught:
            raise ModelTrouble(_silent(waited, trio.current_time() >= until))
        raise ModelTrouble(CUT_OFF)
    return answer


def _silent(waited: float, over: bool) -> str:
    if over:
        return "The time for this turn is over, and the model has not finished its answer. Ask for less at once."
    return f"The model has said nothing for {lasting(waited)}. Try again, or see whether its server still works."
