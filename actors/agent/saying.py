"""What a turn says to its session, and what it remembers of it for its last word.

The text of a turn is exactly its tokens, one after the other: MessageFinal has the same text as a client has seen. A
model's thoughts come in very small pieces, and each event is stored, so the pieces are gathered to lines.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from actors.agent.messages import SteersAsked, TurnOrder, TurnSays
from actors.kernel import MailboxFull
from codec.agent.events import (
    ErrorBody,
    ErrorCode,
    FinalMetadata,
    LogEvent,
    MessageFinal,
    Phase,
    ServerError,
    Thinking,
    Token,
    UserMessage,
)

LONGEST_THOUGHT = 600
MOST_THOUGHTS = 20_000
"""Characters of thoughts that clients are told in one turn."""
STEERS_TIMEOUT = 30.0
AT_A_STRETCH = 16
"""Tokens, one of which waits for its turn in the scheduler: a flood of them must not keep all others waiting."""


class Voice:
    def __init__(self, order: TurnOrder) -> None:
        self._order = order
        self._text: list[str] = []
        self._gap = False
        self._at_a_stretch = 0
        self._thought = ""
        self._thoughts_told = 0
        self.tokens_used = 0
        self.tools_used: dict[str, None] = {}
        self.files_modified: set[str] = set()

    @property
    def text(self) -> str:
        return "".join(self._text)

    def go_on(self, text: str, tools_used: Iterable[str], files_modified: Iterable[str]) -> None:
        """The turn has said and done this before the server ended."""
        self._text = [text] if text else []
        self.tools_used |= dict.fromkeys(tools_used)
        self.files_modified.update(files_modified)

    async def event(self, event: LogEvent) -> None:
        await self._order.session.send(TurnSays(self._order.turn_id, event))

    async def _token(self, token: Token) -> None:
        """The session and its clients hear it in this task, if they are idle: so it needs no step of the scheduler."""
        self._at_a_stretch += 1
        if self._at_a_stretch < AT_A_STRETCH:
            with suppress(MailboxFull):
                self._order.session.hand(TurnSays(self._order.turn_id, token))
                return
        self._at_a_stretch = 0
        await self.event(token)

    async def thinking(self, phase: Phase, message: str, until: float = 0) -> None:
        """`until`: seconds since 1970."""
        await self.event(Thinking(phase=phase, message=message, until=until))

    async def say(self, text: str) -> None:
        """A token of the answer."""
        await self.thought_over()
        if self._gap and text:
            text = f"\n\n{text.lstrip()}" if text.strip() else ""
        if text:
            self._gap = False
            text = encodable(text)
            self._text.append(text)
            await self._token(Token(token=text))

    def paragraph(self) -> None:
        """What is said next is a new paragraph."""
        self._gap = bool(self._text)

    async def think(self, text: str) -> None:
        if self._thoughts_told >= MOST_THOUGHTS:
            return
        self._thought += encodable(text)
        while True:
            line, newline, rest = self._thought.partition("\n")
            if not newline and len(line) < LONGEST_THOUGHT:
                break
            self._thought = rest if len(line) < LONGEST_THOUGHT else f"{line[LONGEST_THOUGHT:]}{newline}{rest}"
            await self._tell_thought(line[:LONGEST_THOUGHT])

    async def thought_over(self) -> None:
        if self._thought:
            thought, self._thought = self._thought, ""
            await self._tell_thought(thought)

    async def _tell_thought(self, thought: str) -> None:
        if thought.strip() and self._thoughts_told < MOST_THOUGHTS:
            self._thoughts_told += len(thought)
            await self.thinking("analyzing", thought.strip())

    async def error(self, code: ErrorCode, message: str, *, recoverable: bool = True, **details: object) -> None:
        await self.event(
            ServerError(error=ErrorBody(code=code, message=message, recoverable=recoverable, details=details))
        )

    async def final(self, *, success: bool, seconds: float) -> None:
        await self.thought_over()
        metadata = FinalMetadata(
            success=success,
            tokens_used=self.tokens_used,
            files_modified=len(self.files_modified),
            tools_used=tuple(self.tools_used),
            turn_id=self._order.turn_id,
            seconds=round(seconds, 3),
        )
        await self.event(MessageFinal(message=self.text, metadata=metadata))

    async def steers(self) -> tuple[UserMessage, ...]:
        """What the user has said meanwhile to steer this turn."""
        asked = partial(SteersAsked, self._order.turn_id)
        return tuple(await self._order.session.ask(asked, timeout=STEERS_TIMEOUT))


def encodable(text: str) -> str:
    """Without lone surrogates, which no JSON can carry: a model's server may escape anything."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
