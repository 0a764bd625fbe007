"""What the answers of all families of models have in common: their limits, and how their JSON is read.

Whatever a server sends, an answer is read to the end, or is a ModelTrouble. A stranger's server sends endless text and
thousands of calls as easily as an answer, so all of it is counted.

JSON is read leniently in one point: a server that makes its text token by token may cut a character in two, so that a
line is no UTF-8, or holds half of a surrogate pair. The broken character is replaced, and the answer lives.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from codec.agent.models import CalledTool, Delta, ModelTrouble, SaidText, SaidThought, ToolCall
from codec.agent.ndjson import LONGEST_LINE

T = TypeVar("T")
Ids = Callable[[], str]
"""Makes an id for a call that has none."""

MISTAKES = (msgspec.MsgspecError, ValueError, RecursionError, TypeError)
"""What reading a stranger's JSON can raise."""
SHOWN = 300
"""Characters of a server's own words that a user is shown."""


class AnswerLimits(Struct, frozen=True, kw_only=True):
    line_bytes: int = LONGEST_LINE
    text: int = 4_000_000
    """Characters that are said and thought in one answer."""
    calls: int = 64
    """Calls of tools in one answer."""
    arguments: int = 1_000_000
    """Characters of the arguments of one call."""


LIMITS = AnswerLimits()


class AnswerReader(Protocol):
    """Makes deltas out of a server's bytes."""

    @property
    def over(self) -> bool:
        """Whether the answer has ended as it should; what still comes is not read."""

    @property
    def ending(self) -> bool:
        """Whether the model has finished, and at most figures follow."""

    def feed(self, data: bytes) -> Iterator[Delta]:
        """What these bytes complete. Raises ModelTrouble, and nothing else, after the deltas that come before it."""

    def end(self) -> Iterator[Delta]:
        """What is left when the stream has ended. If the answer is then not over, it was cut off."""


class Tally:
    """Counts what an answer holds, and makes its deltas."""

    def __init__(self, who: str, limits: AnswerLimits) -> None:
        self._who = who
        self._limits = limits
        self._text = 0
        self._calls = 0

    def said(self, text: str) -> SaidText:
        self._count(text)
        return SaidText(text)

    def thought(self, text: str) -> SaidThought:
        self._count(text)
        return SaidThought(text)

    def called(self, id_: str, name: str, arguments: Any) -> CalledTool:
        self.expect_call(self._calls)
        self._calls += 1
        return CalledTool(ToolCall(id=id_[:200], name=name[:200], arguments=self._read(arguments)))

    def expect_call(self, number: int) -> None:
        """Whether there may be one more than so many."""
        if number >= self._limits.calls:
            raise ModelTrouble(f"{self._who} called more than {self._limits.calls} tools in one answer.")

    def expect_arguments(self, size: int) -> None:
        if size > self._limits.arguments:
            most = f"{self._limits.arguments:,}"
            raise ModelTrouble(f"{self._who} called a tool with arguments of more than {most} characters.")

    def _count(self, text: str) -> None:
        self._text += len(text)
        if self._text > self._limits.text:
            raise ModelTrouble(f"{self._who} sent an answer of more than {self._limits.text:,} characters.")

    def _read(self, arguments: Any) -> Any:
        """An object; or the text as it came, if it is none."""
        if isinstance(arguments, dict):
            try:
                size = len(msgspec.json.encode(arguments))
            except MISTAKES:
                raise ModelTrouble(f"{self._who} called a tool with arguments that cannot be read.") from None
            self.expect_arguments(size)
            return arguments
        if arguments is None:
            return {}
        text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
        self.expect_arguments(len(text))
        if not text.strip():
            return {}
        try:
            value = read_json(text.encode(), dict[str, Any])
        except MISTAKES:
            return text
        return value


def read_json(data: bytes, kind: type[T]) -> T:
    """Raises one of MISTAKES."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except MISTAKES:
        mended = json.dumps(json.loads(data.decode("utf-8", "replace")), ensure_ascii=False)
        return msgspec.json.decode(mended.encode("utf-8", "replace"), type=kind)


def excerpt(text: bytes | str) -> str:
    """The beginning of what a server said, on one line and without what a terminal would obey."""
    if isinstance(text, bytes):
        text = text[: 4 * SHOWN].decode("utf-8", "replace")
    plain = re.sub(r"\s+", " ", "".join(char if char.isprintable() else " " for char in text[: 4 * SHOWN])).strip()
    return plain if len(plain) <= SHOWN else f"{plain[:SHOWN]}…"


def told(words: str) -> str:
    """What a server said, so that nobody takes it for our words. Empty if it said nothing."""
    inner = words.replace('"', "'").strip()
    return f' It says: "{inner}"' if inner else ""


def words_of(error: Any) -> str:
    """What a server says of its error, in whichever form: `"..."`, `{"message": ...}`, `{"error": ...}`, `{"detail":
    ...}`. Empty if it says nothing."""
    for _ in range(4):
        if isinstance(error, str):
            return excerpt(error)
        if not isinstance(error, dict):
            break
        error = next((error[key] for key in ("error", "message", "detail") if error.get(key)), None)
    return ""


def count(value: Any) -> int:
    return max(0, int(value)) if isinstance(value, int | float) and abs(value) < 1e15 else 0
