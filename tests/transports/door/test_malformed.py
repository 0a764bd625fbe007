"""Whatever is thrown at the door: the same door goes on serving others, and an answer is given where one is due."""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import trio

from tests.patience import PATIENCE
from tests.transports.house import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    House,
    frame,
    open_house,
    read_all,
)
from transports.wire.limits import DoorLimits, WebSocketLimits


@dataclass(frozen=True)
class Malformed:
    name: str
    data: Callable[[House], bytes]
    expected: bytes = b""
    """Must be found in the answer."""
    end: str = "read"
    """What the client does then: read what comes, close its half, or reset."""


def raw(data: bytes) -> Callable[[House], bytes]:
    return lambda house: data


def again(data: Callable[[House], bytes]) -> Callable[[House], bytes]:
    """As the second request of a connection that is kept alive: Hypercorn reads its head, not the door."""
    return lambda house: house.request("GET / HTTP/1.1") + data(house)


def request(line: str, *headers: str, body: bytes = b"") -> Callable[[House], bytes]:
    return lambda house: house.request(line, *headers, body=body)


def on_websocket(data: bytes, path: str = "/") -> Callable[[House], bytes]:
    return lambda house: house.upgrade(path) + data


def closed_with(code: int) -> bytes:
    return struct.pack("!H", code)


CHUNKED = ("POST /whole HTTP/1.1", "Transfer-Encoding: chunked")
SMALL = 1024 * 1024
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="

IMPATIENT = DoorLimits(websocket=WebSocketLimits(close_seconds=0.1))

TABLE = [
    # before the head is there
    Malformed("nothing, then the end", raw(b""), end="half close"),
    Malformed("a reset without a word", raw(b""), end="reset"),
    Malformed("half a request line, then the end", raw(b"GET / HT"), end="half close"),
    Malformed("half a request line, then a reset", raw(b"GET / HT"), end="reset"),
    Malformed("NUL bytes", raw(b"\0" * 1000), b" 400 "),
    Malformed("a TLS greeting", raw(bytes.fromhex("16030100c8010000c40303") + b"\0" * 100), b"not TLS"),
    Malformed("random bytes", raw(bytes(range(128, 256)) * 20), b" 400 "),
    Malformed("an empty line first", raw(b"\r\n\r\n"), b" 400 "),
    Malformed("a bad request line", raw(b"HELLO\r\n\r\n"), b" 400 "),
    Malformed("four words in the request line", raw(b"GET / x HTTP/1.1\r\n\r\n"), b" 400 "),
    Malformed("an unknown version", request("GET / HTTP/3.0"), b" 505 "),
    Malformed("the preface of HTTP/2", raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9), b" 505 "),
    Malformed("lines that end in a bare LF", raw(b"GET / HTTP/1.1\nHost: localhost\n\n"), b" 400 "),
    Malformed("a request line of 20 kB", raw(b"GET /" + b"a" * 20000), b" 414 "),
    Malformed("a head of 1 MB", raw(b"GET / HTTP/1.1\r\nA: " + b"a" * 2**20), b" 431 "),
    Malformed("a thousand headers", raw(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000 + b"\r\n"), b" 431 "),
    Malformed("a header without a colon", raw(b"GET / HTTP/1.1\r\nHost\r\n\r\n"), b" 400 "),
    Malformed("a header with a space in its name", raw(b"GET / HTTP/1.1\r\nHo st: x\r\n\r\n"), b" 400 "),
    Malformed("a NUL in a header", raw(b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"), b" 400 "),
    Malformed("a folded header", raw(b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"), b" 400 "),
    Malformed("no Host", raw(b"GET / HTTP/1.1\r\n\r\n"), b" 400 "),
    Malformed("no Host in HTTP/1.0", raw(b"GET / HTTP/1.0\r\n\r\n"), b" 400 "),
    Malformed("two Hosts", request("GET / HTTP/1.1", "Host: evil.example"), b" 400 "),
    Malformed("a proxy's request", raw(b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"), b" 400 "),
    Malformed("CONNECT", raw(b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n"), b" 400 "),
    # the body
    Malformed(
        "two lengths", request("POST /whole HTTP/1.1", "Content-Length: 1", "Content-Length: 2", body=b"ab"), b" 400 "
    ),
    Malformed("a length and chunks", request(*CHUNKED, "Content-Length: 4", body=b"0\r\n\r\n"), b" 400 "),
    Malformed("a negative length", request("POST /whole HTTP/1.1", "Content-Length: -1"), b" 400 "),
    Malformed("a length of letters", request("POST /whole HTTP/1.1", "Content-Length: many"), b" 400 "),
    Malformed("a length beyond all bounds", request("POST /whole HTTP/1.1", f"Content-Length: {10**17}"), b" 413 "),
    Malformed("an unknown coding", request("POST /whole HTTP/1.1", "Transfer-Encoding: gzip"), b" 501 "),
    Malformed("a bad chunk size", request(*CHUNKED, body=b"zz\r\nab\r\n0\r\n\r\n"), b" 400 "),
    Malformed("a chunk size of 30 digits", request(*CHUNKED, body=b"f" * 30 + b"\r\n"), b" 400 "),
    Malformed("a chunk longer than it said", request(*CHUNKED, body=b"1\r\nabcdef\r\n0\r\n\r\n")),
    Malformed("a chunk line without end", request(*CHUNKED, body=b"1;" + b"x" * 20000)),
    Malformed(
        "half a body, then the end", request("POST /whole HTTP/1.1", "Content-Length: 9", body=b"ab"), end="half close"
    ),
    Malformed(
        "half a body, then a reset", request("POST /whole HTTP/1.1", "Content-Length: 9", body=b"ab"), end="reset"
    ),
    Malformed(
        "a body that nobody reads",
        request("POST /early HTTP/1.1", f"Content-Length: {2**20}", body=b"a" * 2**20),
        b" 401 ",
    ),
    Malformed(
        "ten thousand chunks that nobody reads",
        request("POST /early HTTP/1.1", "Transfer-Encoding: chunked", body=b"1\r\nx\r\n" * 10**4),
        b" 401 ",
    ),
    # later requests of the same connection
    Malformed("garbage as a second request", again(raw(b"\0\1\2\3\r\n\r\n")), b" 400 "),
    Malformed("an evil Host as a second request", again(raw(b"GET / HTTP/1.1\r\nHost: evil\r\n\r\n")), b" 421 "),
    Malformed("a proxy's request as a second one", again(request("GET http://evil.example/ HTTP/1.1")), b" 400 "),
    Malformed("HTTP/2 as a second request", again(raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))),
    Malformed("a huge head as a second request", again(raw(b"GET / HTTP/1.1\r\nA: " + b"a" * 2**18)), b" 431 "),
    Malformed("an upgrade as a second request", again(lambda house: house.upgrade()), b"open a new connection"),
    Malformed("an upgrade with a frame as a second request", again(on_websocket(frame(TEXT, b"hi")))),
    # the upgrade
    Malformed("an upgrade by POST", lambda house: house.upgrade().replace(b"GET", b"POST", 1), b" 400 "),
    Malformed("an upgrade in HTTP/1.0", lambda house: house.upgrade().replace(b"HTTP/1.1", b"HTTP/1.0"), b" 400 "),
    Malformed("an upgrade without a key", lambda house: house.upgrade().replace(b"Key", b"Cay"), b" 400 "),
    Malformed("an upgrade with an empty key", lambda house: house.upgrade().replace(KEY, b""), b" 400 "),
    Malformed("an upgrade with a key of 5 bytes", lambda house: house.upgrade().replace(KEY, b"aGVsbG8="), b" 400 "),
    Malformed("an upgrade with a key that is none", lambda house: house.upgrade().replace(KEY, b"\xe9" * 24), b" 400 "),
    Malformed(
        "an upgrade to version 8", lambda house: house.upgrade().replace(b"Version: 13", b"Version: 8"), b" 426 "
    ),
    Malformed(
        "an upgrade without Connection", lambda house: house.upgrade().replace(b"Connection: ", b"X: "), b" 400 "
    ),
    Malformed("an upgrade with a body", lambda house: house.upgrade("/", "Content-Length: 3") + b"abc", b" 400 "),
    Malformed(
        "an upgrade from an evil page", lambda house: house.upgrade("/", "Origin: http://evil.example"), b" 403 "
    ),
    Malformed("an upgrade and a reset", lambda house: house.upgrade(), end="reset"),
    # frames
    Malformed("half a frame, then the end", on_websocket(frame(TEXT, b"hello")[:4]), end="half close"),
    Malformed("half a frame, then a reset", on_websocket(frame(TEXT, b"hello")[:4]), end="reset"),
    Malformed("an unmasked frame", on_websocket(frame(TEXT, b"hello", masked=False)), closed_with(1002)),
    Malformed("a reserved bit", on_websocket(frame(TEXT, b"hello", reserved=4)), closed_with(1002)),
    Malformed("a reserved opcode", on_websocket(frame(3, b"hello")), closed_with(1002)),
    Malformed("a reserved control opcode", on_websocket(frame(11)), closed_with(1002)),
    Malformed("a ping of 126 bytes", on_websocket(frame(PING, b"x" * 126)), closed_with(1002)),
    Malformed("a ping in pieces", on_websocket(frame(PING, b"x", final=False)), closed_with(1002)),
    Malformed("a continuation of nothing", on_websocket(frame(CONTINUATION, b"x")), closed_with(1002)),
    Malformed(
        "a message inside a message",
        on_websocket(frame(TEXT, b"a", final=False) + frame(TEXT, b"b")),
        closed_with(1002),
    ),
    Malformed("text that is not UTF-8", on_websocket(frame(TEXT, b"\xff\xfe")), closed_with(1007)),
    Malformed("text that ends within a letter", on_websocket(frame(TEXT, b"\xc3")), closed_with(1007)),
    Malformed("a message too long", on_websocket(frame(BINARY, b"x" * (SMALL + 1))), closed_with(1009)),
    Malformed(
        "text too long in bytes only", on_websocket(frame(TEXT, "€".encode() * (SMALL // 3 + 1))), closed_with(1009)
    ),
    Malformed(
        "a frame of 2**62 bytes",
        on_websocket(b"\x82\xff" + (2**62).to_bytes(8, "big") + b"\0\0\0\0" + b"x" * (SMALL + 1)),
        closed_with(1009),
    ),
    Malformed("a frame of 2**63 bytes", on_websocket(b"\x82\xff" + (2**63).to_bytes(8, "big")), closed_with(1002)),
    Malformed("a length in more bytes than needed", on_websocket(b"\x82\xfe\x00\x01\0\0\0\0x"), closed_with(1002)),
    Malformed("a close of one byte", on_websocket(frame(CLOSE, b"\x03")), closed_with(1002)),
    Malformed("a close with code 1005", on_websocket(frame(CLOSE, closed_with(1005))), closed_with(1002)),
    Malformed("a close with code 0", on_websocket(frame(CLOSE, closed_with(0))), closed_with(1002)),
    Malformed("a close with code 65535", on_websocket(frame(CLOSE, closed_with(65535))), closed_with(1002)),
    Malformed(
        "a close reason that is not UTF-8", on_websocket(frame(CLOSE, closed_with(1000) + b"\xff")), closed_with(1007)
    ),
    Malformed(
        "frames after the close",
        on_websocket(frame(CLOSE, closed_with(1000)) + frame(TEXT, b"x") * 100),
        closed_with(1000),
    ),
    Malformed(
        "a pong nobody asked for", on_websocket(frame(PONG, b"?") + frame(CLOSE, closed_with(1000))), closed_with(1000)
    ),
    Malformed("HTTP on a WebSocket", on_websocket(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), closed_with(1002)),
]


async def throw(house: House, malformed: Malformed) -> bytes:
    """Send it, and read what comes. A client that is cut off while it sends still reads."""
    with trio.fail_after(PATIENCE):
        stream = await house.connect()
        async with stream, trio.open_nursery() as nursery:
            answer = b""

            async def read() -> None:
                nonlocal answer
                answer = await read_all(stream)

            if malformed.end != "reset":
                nursery.start_soon(read)
            try:
                await stream.send_all(malformed.data(house))
                if malformed.end == "half close":
                    await stream.send_eof()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            if malformed.end == "reset":
                stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                await trio.aclose_forcefully(stream)
    return answer


def test_there_are_more_than_thirty_three_of_them() -> None:
    assert len({malformed.name for malformed in TABLE}) == len(TABLE) > 33


@pytest.mark.parametrize("malformed", TABLE, ids=lambda malformed: malformed.name)
async def test_malformed_input_ends_its_own_connection_only(malformed: Malformed) -> None:
    async with open_house(limits=IMPATIENT) as house:
        answer = await throw(house, malformed)
        assert malformed.expected in answer
        if malformed.expected.startswith((b" 4", b" 5")):
            assert answer.rpartition(b"\r\n\r\n")[2], "a refusal without a word"
        assert await house.is_healthy()


@pytest.mark.slow
async def test_all_of_them_at_once_leave_the_door_standing_and_empty() -> None:
    async with open_house(limits=IMPATIENT) as house:
        async with trio.open_nursery() as nursery:
            for malformed in TABLE:
                nursery.start_soon(throw, house, malformed)
        assert await house.is_healthy()
        await house.all_gone()
