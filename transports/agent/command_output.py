"""The output of a command, as text.

Bytes that are no UTF-8 become U+FFFD. A character that comes in two reads is one character. Everything else stays as it
is, control characters, too: the page or terminal that shows it escapes them.
"""

import codecs
from collections.abc import Callable

from codec.agent.action_events import StreamName
from codec.programs import Captured, Stream

STREAMS: dict[Stream, StreamName] = {Stream.STDOUT: "stdout", Stream.STDERR: "stderr"}


class TextAsItComes:
    """Hands on what both streams say, as text."""

    def __init__(self, said: Callable[[StreamName, str], None]) -> None:
        self._said = said
        self._decoders = {stream: codecs.getincrementaldecoder("utf-8")("replace") for stream in Stream}

    def take(self, stream: Stream, data: bytes, *, last: bool = False) -> None:
        if text := self._decoders[stream].decode(data, last):
            self._said(STREAMS[stream], text)

    def end(self) -> None:
        for stream in Stream:
            self.take(stream, b"", last=True)


def kept_text(captured: Captured) -> str:
    """All of it; or its first and its last half, and between them how much is missing."""
    if not captured.lost:
        return (captured.head + captured.tail).decode("utf-8", "replace")
    head = codecs.getincrementaldecoder("utf-8")("replace").decode(captured.head)  # without half a character
    tail = captured.tail
    begun = next((at for at, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
    missing = f"[... {captured.lost:,} bytes left out ...]"
    return f"{head}\n{missing}\n{tail[begun:].decode('utf-8', 'replace')}"
