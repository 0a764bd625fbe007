"""The loop of a turn: model, tools, model, until the model answers without a call, or a limit is reached.

Each request is made to fit (budget.py, compaction.py) and is cleaned of secrets (withheld.py) just before it is sent.
Nothing reaches a model in another way. When a limit is reached, the model is asked once more, without tools, for an
answer from what it knows. If it gives none, the turn says so in words of its own.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec
import trio
from msgspec import Struct, field

from actors.agent import compaction
from actors.agent.answering import HearingLimits, ModelAnswer, answered
from actors.agent.budget import Talk, pruned, room, squeezed, tokens, tools_weight, weights
from actors.agent.calling import CallLimits, Calls
from actors.agent.history import Past, result_message
from actors.agent.saying import Voice, encodable
from codec.agent.events import ContextCompacted, ContextUsage
from codec.agent.material import NO_MORE_TOOLS, parted
from codec.agent.models import BUILTIN, Delta, ModelConfig, ModelMessage, ModelRequest, ModelTrouble, ToolSpec
from codec.agent.withheld import all_withheld, withheld
from codec.words import counted, lasting, listed

Ask = Callable[[ModelRequest], AbstractAsyncContextManager[AsyncIterator[Delta]]]
LONGEST_SUMMARY = 1_500
"""Tokens."""
WITHOUT_WINDOW = 200_000
"""Tokens that the embedded model is told at most: it has no window that could overflow."""


class TurnLimits(Struct, frozen=True):
    rounds: int = 25
    seconds: float = 1800.0
    """For the whole turn."""
    hearing: HearingLimits = field(default_factory=HearingLimits)
    calls: CallLimits = field(default_factory=CallLimits)


class NoRoom(Exception):
    """Not even the newest words of the user fit into the model's context."""

    def __init__(self, needed: int, window: int) -> None:
        super().__init__(
            f"Your message needs about {needed:,} tokens, and the model's context has {window:,}, a part of which is "
            "for the answer. Shorten the message, or choose a model with a larger context."
        )
        self.needed = needed


class Conversation:
    """One turn's talk with its model. `between` gives what is to be told at the boundary behind a round's tools."""

    def __init__(
        self,
        model: ModelConfig,
        ask: Ask,
        voice: Voice,
        calls: Calls,
        limits: TurnLimits,
        between: Callable[[], Awaitable[Sequence[ModelMessage]]],
        tools: Sequence[tuple[ToolSpec, ...]],
    ) -> None:
        """`tools`: the first that fit are those that the model gets."""
        self._model = model
        self._ask = ask
        self._voice = voice
        self._calls = calls
        self._limits = limits
        self._between = between
        self._until = trio.current_time() + limits.seconds
        self._room = WITHOUT_WINDOW if model.provider == BUILTIN else room(model.context_window)
        self._tools = next((specs for specs in tools if tools_weight(specs) <= self._room // 2), ())
        self._since: list[ModelMessage] = []
        self._past = Past()
        self._has_compacted = False
        self._cleaned: dict[str, str] = {}
        """Texts without their secrets: most are sent with every round, and searching them takes its time."""

    async def run(
        self, system: ModelMessage, past: Past, now: ModelMessage, since: Sequence[ModelMessage] = ()
    ) -> bool:
        """Whether it came to an answer. `since`: what was said after `now` before the server ended. Raises ModelTrouble
        or NoRoom."""
        self._past = past
        self._since += since
        for number in range(self._limits.rounds + 1):
            stopped = self._stopped(number)
            if stopped is not None:
                note = f"{NO_MORE_TOOLS}: {stopped}. Answer now with what you know.]"
                self._since.append(ModelMessage(role="user", content=note))
            answer = await self._round(system, now, () if stopped else self._tools)
            if not answer.calls:
                return await self._over(answer, stopped)
            if stopped is not None or not self._tools:
                break
            await self._execute(answer)
            self._since += await self._between()
        return await self._over(ModelAnswer(), stopped or "it called tools although it has none")

    @property
    def _end(self) -> float:
        """When the turn has taken too long; waiting for people does not count."""
        return self._until + self._calls.waited

    def _stopped(self, number: int) -> str | None:
        """Why the model gets no more tools."""
        if number >= self._limits.rounds:
            return f"it has used its tools {counted(number, 'time')}, which is the most for one turn"
        if trio.current_time() >= self._end:
            return f"the turn took longer than {lasting(self._limits.seconds / 60, 'minute')}"
        return self._calls.exhausted

    async def _over(self, answer: ModelAnswer, stopped: str | None) -> bool:
        said = bool("".join(answer.text).strip())
        if answer.flooded:
            await self._words("I stopped here: the answer became too long.")
        elif answer.reason == "length":
            await self._words("[The answer was cut off here: the model has reached its greatest length.]")
        elif not said and stopped is not None:
            await self._words(f"I stopped without an answer: {stopped}. Ask for a smaller part of it, or ask again.")
        elif not said:
            await self._words("The model ended without an answer. Ask again, or choose another model.")
        return said and not answer.flooded

    async def _words(self, text: str) -> None:
        self._voice.paragraph()
        await self._voice.say(text)

    # -- one round

    async def _round(self, system: ModelMessage, now: ModelMessage, tools: tuple[ToolSpec, ...]) -> ModelAnswer:
        messages = await self._fitting(system, now, tools)
        request = ModelRequest(model=self._model, messages=messages, tools=tools)
        self._voice.paragraph()
        answer = await self._answer(request, self._voice.say, self._voice.think)
        await self._voice.thought_over()
        return answer

    async def _answer(
        self,
        request: ModelRequest,
        say: Callable[[str], Awaitable[None]],
        think: Callable[[str], Awaitable[None]],
        *,
        shown: bool = True,
    ) -> ModelAnswer:
        last_chance = trio.current_time() + self._limits.hearing.first_piece
        stream = self._ask(request)
        answer = await answered(stream, self._limits.hearing, max(self._end, last_chance), say, think)
        prompt = weights(request.messages) + tools_weight(request.tools)
        completion = tokens("".join(answer.text)) + sum(tokens(call.name) + 20 for call in answer.calls)
        if answer.used is not None:
            prompt, completion = answer.used.prompt or prompt, answer.used.completion or completion
        if self._model.provider == BUILTIN:
            prompt = completion = 0
        self._voice.tokens_used += prompt + completion
        if shown:
            await self._voice.event(ContextUsage(used=prompt + completion, window=self._model.context_window))
        return answer

    async def _execute(self, answer: ModelAnswer) -> None:
        calls = [self._calls.taken(call) for call in answer.calls]
        names = list({call.name: None for call in calls})
        await self._voice.thinking("executing", f"Using {listed(names[:5])}")
        self._since.append(ModelMessage(role="assistant", content="".join(answer.text), tool_calls=tuple(calls)))
        for number, call in enumerate(calls, 1):
            text = await self._calls.execute(call, self._end)
            if answer.dropped and number == len(calls):
                text += f"\n[Only {len(calls)} calls are taken at once; the others were not executed.]"
            self._since.append(result_message(call, text))

    # -- what fits

    async def _fitting(
        self, system: ModelMessage, now: ModelMessage, tools: tuple[ToolSpec, ...]
    ) -> tuple[ModelMessage, ...]:
        most = self._room - tools_weight(tools)
        if pruned(self._talk(system, now), most).weight > most and not self._has_compacted:
            self._has_compacted = True
            await self._compact(most)
        talk = squeezed(self._talk(system, now), most)
        if talk is None:
            words = msgspec.structs.replace(now, content=parted(now.content)[0])
            raise NoRoom(weights((system, words)) + tools_weight(tools), self._model.context_window)
        return tuple(self._clean(message) for message in talk.messages)

    def _talk(self, system: ModelMessage, now: ModelMessage) -> Talk:
        return Talk(system, self._past.messages, now, tuple(self._since))

    async def _compact(self, most: int) -> None:
        share, longest = most // 4, min(LONGEST_SUMMARY, most // 4)
        if not compaction.is_worthwhile(self._past, share):
            return
        await self._voice.thinking("analyzing", "Summing up what was said before, to make room")
        gone = compaction.outgoing(self._past, share)
        summary = await self._summary(gone, longest, most)
        upto = compaction.upto(self._past, share)
        self._past = compaction.compacted(self._past, summary, share)
        await self._voice.event(ContextCompacted(summary=summary, upto=upto))

    async def _summary(self, gone: Past, longest: int, most: int) -> str:
        if self._model.provider != BUILTIN:
            asked = compaction.summary_request(gone, self._model, longest, most)
            request = msgspec.structs.replace(asked, messages=tuple(self._clean(message) for message in asked.messages))
            try:
                answer = await self._answer(request, _unheard, _unheard, shown=False)
            except ModelTrouble:  # the turn itself will tell, if the model is really gone
                return withheld(compaction.digest(gone, longest))
            summary = withheld(encodable("".join(answer.text)).strip())
            if compaction.is_better(summary, gone, longest):
                return summary
        return withheld(compaction.digest(gone, longest))

    def _clean(self, message: ModelMessage) -> ModelMessage:
        """The message without secrets."""
        text = self._cleaned.get(message.content)
        if text is None:
            text = self._cleaned[message.content] = withheld(message.content)
        calls = tuple(
            msgspec.structs.replace(call, arguments=all_withheld(call.arguments)) for call in message.tool_calls
        )
        return msgspec.structs.replace(message, content=text, tool_calls=calls)


async def _unheard(text: str) -> None:
    """Nobody is told the words of a summary while it is made."""
