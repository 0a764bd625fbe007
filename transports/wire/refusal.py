"""What goes wrong at one connection, and ends there.

A refusal is what we answer to a request we will not serve: one sentence that says what was wrong and what to do. An
error is contained: it is logged and counted, and nothing beside its connection notices.
"""

from collections.abc import Callable
from http import HTTPStatus

Contain = Callable[[str, BaseException], None]
"""Log and count it: what failed, and how."""

Headers = list[tuple[bytes, bytes]]


class Refusal(Exception):
    """Raised when a request is refused. The owner of the connection turns it into an answer."""

    def __init__(self, status: int, sentence: str, *, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self._extra = headers

    @property
    def body(self) -> bytes:
        return f"{self.sentence}\n".encode()

    @property
    def headers(self) -> Headers:
        """Names in lower case, as ASGI wants them. A refused connection is not used again."""
        fixed = [
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", str(len(self.body))),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (*fixed, *self._extra)]

    def response(self) -> bytes:
        """The whole answer as bytes, for a connection that no library owns yet."""
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}".encode("latin-1")]
        lines += [name + b": " + value for name, value in self.headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body
