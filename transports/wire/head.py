"""The head of an HTTP/1.1 request, read strictly.

WebSockets go to one library and all other connections to another, so the door must know first what a connection wants.
It reads the first head itself, and gives the library the same bytes again.

Rules
  - It is stricter than the libraries behind it, never laxer, so they read an accepted head in the same way. A lone line
    feed, a folded header, a control character, or a target that is not a path is refused, although some servers accept
    them.
  - An error is refused as soon as it can be seen. A TLS greeting at a plain port is answered at its first byte, not
    when the time for the head is over.
  - Pure: bytes in, a `Head` or a `Refusal` out. The deadline is the door's.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from transports.wire.refusal import Refusal

REQUEST_LINE_BYTES = 8 * 1024

_TOKEN = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_TARGET = re.compile(r"[\x21-\x7e]+")
_VERSION = re.compile(r"HTTP/([0-9])\.([0-9])")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_END = b"\r\n\r\n"


class Head(Struct, frozen=True):
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, in the order in which they came."""
    raw: bytes
    """The bytes as they came, with the empty line. The library behind the door reads them again."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def values(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each == name]

    def tokens(self, name: str) -> list[str]:
        """The members of a comma-separated header, over all its lines."""
        return [token.strip() for value in self.values(name) for token in value.split(",") if token.strip()]

    @property
    def wants_websocket(self) -> bool:
        return "websocket" in map(str.lower, self.tokens("upgrade"))


class HeadReader:
    """Collects bytes until they form a head. `feed` returns the head when it is complete; `rest` holds further
    bytes."""

    def __init__(self, *, head_bytes: int, header_count: int) -> None:
        self._head_bytes = head_bytes
        self._header_count = header_count
        self._data = bytearray()
        self._seen = 0
        """Up to here every line end has been looked at."""

    @property
    def empty(self) -> bool:
        return not self._data

    def rest(self, head: Head) -> bytes:
        return bytes(self._data[len(head.raw) :])

    def feed(self, data: bytes) -> Head | None:
        self._data += data
        if not _TOKEN.fullmatch(chr(self._data[0])):
            raise Refusal(400, _not_http(self._data[0]))
        end = self._data.find(_END, max(0, self._seen - len(_END)))
        self._check_lines(len(self._data) if end < 0 else end + len(_END))
        if end < 0:
            if len(self._data) > self._head_bytes:
                raise self._too_large()
            return None
        if end + len(_END) > self._head_bytes:
            raise self._too_large()
        return _parse(bytes(self._data[: end + len(_END)]), self._header_count)

    def _check_lines(self, stop: int) -> None:
        """Every line ends in CR LF, and the first comes early enough."""
        at = self._seen
        while (at := self._data.find(b"\n", at, stop)) >= 0:
            if self._data[at - 1] != ord("\r"):
                raise Refusal(400, "A line of the request ends in a bare line feed; end it with CR LF.")
            at += 1
        self._seen = stop
        first = self._data.find(b"\n", 0, REQUEST_LINE_BYTES)
        if first < 0 and len(self._data) > REQUEST_LINE_BYTES:
            sentence = f"The request line is longer than {REQUEST_LINE_BYTES} bytes; send the data in the body."
            raise Refusal(414, sentence)

    def _too_large(self) -> Refusal:
        return Refusal(431, f"The head of the request is larger than {self._head_bytes} bytes; send fewer headers.")


def _parse(raw: bytes, header_count: int) -> Head:
    request_line, *lines = raw.removesuffix(_END).decode("latin-1").split("\r\n")
    method, target, version = _request_line(request_line)
    if len(lines) > header_count:
        raise Refusal(431, f"The request has {len(lines)} headers; at most {header_count} are read.")
    return Head(method, target, version, tuple(map(_header, lines)), raw)


def _request_line(line: str) -> tuple[str, str, str]:
    parts = line.split(" ")
    if len(parts) != 3 or not (_TOKEN.fullmatch(parts[0]) and _TARGET.fullmatch(parts[1])):
        raise Refusal(400, "The request line is malformed; it has the form 'GET /path HTTP/1.1'.")
    method, target, protocol = parts
    version = _VERSION.fullmatch(protocol)
    if not version:
        raise Refusal(400, f"The request line ends in {protocol[:20]!r}; it must end in 'HTTP/1.1'.")
    if version[1] != "1":
        raise Refusal(505, f"This server speaks HTTP/1.1; the request is in {protocol}.")
    check_target(target)
    return method, target, f"{version[1]}.{version[2]}"


def check_target(target: str) -> None:
    if not target.startswith("/"):
        raise Refusal(400, f"The request is for {target[:80]!r}; this server is no proxy, ask for a path such as '/'.")


def _header(line: str) -> tuple[str, str]:
    if line.startswith((" ", "\t")):
        raise Refusal(400, "A header is folded over two lines; write it on one.")
    name, colon, value = line.partition(":")
    if not colon or not _TOKEN.fullmatch(name):
        raise Refusal(400, f"The header line {line[:40]!r} is malformed; it has the form 'Name: value'.")
    if not _VALUE.fullmatch(value):
        raise Refusal(400, f"The value of the header {name!r} holds a control character.")
    return name.lower(), value.strip(" \t")


def check_framing(version: str, headers: Iterable[tuple[str, str]]) -> int | None:
    """The length of the body in bytes, or None for chunked. Two different answers are refused."""
    lengths = {value for name, value in headers if name == "content-length"}
    codings = [value.lower() for name, value in headers if name == "transfer-encoding"]
    if codings and lengths:
        raise Refusal(400, "The request has both Content-Length and Transfer-Encoding; send one of them.")
    if codings:
        if codings != ["chunked"]:
            raise Refusal(501, f"Transfer-Encoding {', '.join(codings)[:40]!r} is not known here; use 'chunked'.")
        if version == "1.0":
            raise Refusal(400, "An HTTP/1.0 request cannot be chunked; send a Content-Length.")
        return None
    if len(lengths) > 1:
        raise Refusal(400, "The request has two different Content-Length headers.")
    length = lengths.pop() if lengths else "0"
    if not (length.isascii() and length.isdigit() and len(length) <= 18):
        raise Refusal(400, f"Content-Length is {length[:40]!r}; it must be a number of bytes.")
    return int(length)


def _not_http(first: int) -> str:
    if first == 0x16:
        return "This port speaks plain HTTP, not TLS; use http:// or ws:// in the address."
    return f"The request begins with the byte 0x{first:02x}; it must begin with a method such as 'GET'."
