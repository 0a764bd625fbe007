"""A session's log as a model is told it: a pure fold of entries to messages.

Rules
  - Every call of a tool has exactly one result, right behind the message that called it. A call whose turn was
    cancelled, or interrupted by the end of the server, is closed by a result that says so.
  - Of each turn a model is told what the user said, the calls with their results, and the text that was kept
    (MessageFinal). What the editor told with an earlier message is left out: it was true then.
  - A summary (ContextCompacted) stands in the place of the turns up to its number.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct, field

from actors.agent.messages import LogEntry
from codec.agent.events import ContextCompacted, MessageFinal, Token, ToolExecute, UserMessage
from codec.agent.material import Material, told
from codec.agent.models import ModelMessage, ToolCall

CUT_OFF = "[This call has no result: the turn was stopped before it was over.]"
CANCELLED = "[The user cancelled this answer here.]"
INTERRUPTED = "[This answer was interrupted here.]"
FAILED = "[This answer failed here.]"
READ = "I have read the summary and go on from there."


class PastTurn(Struct, frozen=True):
    messages: tuple[ModelMessage, ...]
    upto: int
    """The number of its last entry."""


class Past(Struct, frozen=True):
    """What came before a turn."""

    summary: str | None = None
    """Of what came before `turns`."""
    turns: tuple[PastTurn, ...] = ()

    @property
    def messages(self) -> tuple[ModelMessage, ...]:
        told_first = () if self.summary is None else summary_messages(self.summary)
        return (*told_first, *(message for turn in self.turns for message in turn.messages))


def summary_messages(summary: str) -> tuple[ModelMessage, ModelMessage]:
    """As two messages, because some models insist that user and assistant take turns."""
    material = Material(source="this conversation", why="a summary of what came before", text=summary)
    asked = told("What we have said so far, in short:", (material,))
    return ModelMessage(role="user", content=asked), ModelMessage(role="assistant", content=READ)


def history(entries: Iterable[LogEntry]) -> Past:
    summary: str | None = None
    turns: list[_Turn] = []
    for entry in entries:
        match entry.event:
            case ContextCompacted(summary=said, upto=upto):
                summary = said
                turns = [turn for turn in turns if turn.upto > upto]
            case UserMessage(turn_id=turn_id, steers=steers, message=message):
                if not turns or not steers or turns[-1].over or turns[-1].turn_id != turn_id:
                    turns.append(_Turn(turn_id))
                turns[-1].asked(message)
                turns[-1].upto = entry.seq
            case Token() | ToolExecute() | MessageFinal() as event:
                if not turns:  # its question is in the summary
                    turns.append(_Turn(""))
                turns[-1].take(event)
                turns[-1].upto = entry.seq
            case _:
                if turns:
                    turns[-1].upto = entry.seq
    return Past(summary, tuple(PastTurn(tuple(turn.messages()), turn.upto) for turn in turns))


class _Round(Struct):
    """What a model says at once: a text, then calls."""

    text: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)

    def messages(self) -> Iterable[ModelMessage]:
        text = "".join(self.text)
        if text.strip() or self.calls:
            yield ModelMessage(role="assistant", content=text, tool_calls=tuple(self.calls.values()))
        for call in self.calls.values():
            yield result_message(call, self.results.get(call.id, CUT_OFF))


def result_message(call: ToolCall, text: str) -> ModelMessage:
    return ModelMessage(role="tool", content=text, tool_call_id=call.id, tool_name=call.name)


class _Turn(Struct):
    turn_id: str
    parts: list[str | _Round] = field(default_factory=list)
    """What the user said, and what the model did, in order."""
    upto: int = 0
    over: bool = False

    def asked(self, message: str) -> None:
        self.parts.append(message)

    def take(self, event: Token | ToolExecute | MessageFinal) -> None:
        match event:
            case Token(token=token):
                self._open(for_text=True).text.append(token)
            case ToolExecute(status="started"):
                self._called(event)
            case ToolExecute():
                found = self._called(event)
                found.results.setdefault(event.call_id, _text_of(event.result))
            case MessageFinal():
                self._final(event)

    def messages(self) -> Iterable[ModelMessage]:
        for part in self.parts:
            if isinstance(part, str):
                yield ModelMessage(role="user", content=told(part, ()))
            else:
                yield from part.messages()

    def _open(self, *, for_text: bool) -> _Round:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, _Round) and not last.results and not (for_text and last.calls):
            return last
        new = _Round()
        self.parts.append(new)
        return new

    def _called(self, event: ToolExecute) -> _Round:
        for part in self.parts:
            if isinstance(part, _Round) and event.call_id in part.calls:
                return part
        found = self._open(for_text=False)
        found.calls[event.call_id] = ToolCall(id=event.call_id, name=event.tool_name, arguments=event.args)
        return found

    def _final(self, final: MessageFinal) -> None:
        """The kept text is what counts: a client may have been sent more than was stored, or the other way round."""
        said = "".join("".join(part.text) for part in self.parts if isinstance(part, _Round))
        if said.startswith(final.message):
            self._shorten(len(said) - len(final.message))
        elif final.message.startswith(said):
            self._open(for_text=True).text.append(final.message[len(said) :])
        note = _note(final)
        if note is not None:
            text = self._open(for_text=True).text
            text.append(f"\n\n{note}" if "".join(text).strip() else note)
        self.over = True

    def _shorten(self, by: int) -> None:
        for part in reversed(self.parts):
            if isinstance(part, _Round) and by > 0:
                text = "".join(part.text)
                part.text = [text[: max(0, len(text) - by)]]
                by -= len(text)


def _note(final: MessageFinal) -> str | None:
    if final.metadata.cancelled:
        return CANCELLED
    if final.metadata.interrupted:
        return INTERRUPTED
    return None if final.metadata.success else FAILED


def _text_of(result: object) -> str:
    if isinstance(result, Mapping) and isinstance(text := result.get("text"), str):
        return text
    return "" if result is None else msgspec.json.encode(result).decode("utf-8", "replace")
