"""What goes wrong at one connection, and ends there.

A refusal is what we answer to a request we will not serve: one sentence that says what was wrong and what to do. An
error is contained: it is logged and counted, and nothing beside its connection notices.
"""

from collections.abc import Callable
from http import HTTPStatus

from msgspec import Struct

Contain = Callable[[str, BaseException], None]
"""Log and count it: what failed, and how."""

Headers = list[tuple[bytes, bytes]]


class Wording(Struct, frozen=True):
    """How a port words its refusals: what its clients are used to reading."""

    content_type: str
    body: Callable[[str], bytes]
    """From the sentence."""


IN_TEXT = Wording("text/plain; charset=utf-8", lambda sentence: f"{sentence}\n".encode())


class Refusal(Exception):
    """Raised when a request is refused. The owner of the connection turns it into an answer."""

    def __init__(self, status: int, sentence: str, *, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self._extra = headers

    def answer(self, wording: Wording) -> tuple[Headers, bytes]:
        """Headers, their names in lower case as ASGI wants them, and body. A refused connection is not used again."""
        body = wording.body(self.sentence)
        fixed = [
            ("content-type", wording.content_type),
            ("content-length", str(len(body))),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (*fixed, *self._extra)], body

    def response(self, wording: Wording = IN_TEXT) -> bytes:
        """The whole answer as bytes, for a connection that no library owns yet."""
        headers, body = self.answer(wording)
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}".encode("latin-1")]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + body
