"""Who reads tokens that are times: at a session of ours, at the plain proxy, and at the model itself."""

import http.client
import json
import re
import select
import socket
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from time import perf_counter, perf_counter_ns
from typing import Any

from bench.contenders.client import HEAD_END, MASK, PATIENCE, Stuck

STAMP = re.compile(rb"(\d{9,}) ")


class Reader(ABC):
    """One connection. `parts` are the messages, events or lines that have come whole."""

    token: bytes
    """What a part that is a token has in it."""
    last: bytes
    """What the last part has in it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self.tokens = 0
        self._buffer = bytearray()

    @abstractmethod
    def ask(self, said: str) -> None: ...

    def fileno(self) -> int:
        return self.socket.fileno()

    def close(self) -> None:
        self.socket.close()

    def read(self) -> tuple[int, list[bytes]]:
        """When it came, and what."""
        data = self.socket.recv(1 << 18)
        now = perf_counter_ns()
        if not data:
            raise Stuck("a connection was closed")
        self._buffer += data
        return now, list(self._parts())

    def _parts(self) -> Iterator[bytes]:
        *parts, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        return iter(parts)

    def _post(self, path: str, body: object) -> None:
        data = json.dumps(body).encode()
        self.socket.sendall(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(data)))
        self.socket.sendall(data)


class DirectReader(Reader):
    token, last = b'"done":false', b'"done":true'

    def ask(self, said: str) -> None:
        self._post("/api/chat", {"messages": [{"role": "user", "content": said}]})


class ProxyReader(Reader):
    token, last = b"assistant.token", b"[DONE]"

    def ask(self, said: str) -> None:
        self._post("/", {"message": said})


class SessionReader(Reader):
    """A client of the agent, which adds tokens up itself."""

    token, last = b'{"type":"assistant.token"', b'{"type":"assistant.message_final"'

    def __init__(self, port: int, token: str, session: str, resume_from: int | None = None) -> None:
        super().__init__(port)
        self.socket.sendall(
            f"GET /v1/sessions/{session}/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        head = b""
        while HEAD_END not in head:
            byte = self.socket.recv(1)  # one by one: what follows is not ours to read
            head += byte
            if not byte or not head.startswith(b"HTTP/1.1 101"[: len(head)]):
                raise Stuck("the agent did not accept a connection")
        hello: dict[str, Any] = {"client_info": {"name": "bench", "capabilities": ["token_delta"]}}
        self.say("client.hello", resume_from=resume_from, **hello)

    def say(self, kind: str, **fields: Any) -> None:
        payload = json.dumps({"type": kind, **fields}).encode()
        size = len(payload)
        head = bytes([0x81, 0x80 | size]) if size < 126 else b"\x81\xfe" + size.to_bytes(2, "big")
        masked = bytes(byte ^ MASK[place % 4] for place, byte in enumerate(payload))
        self.socket.sendall(head + MASK + masked)

    def ask(self, said: str) -> None:
        self.say("client.user_message", message=said)

    def until(self, sign: bytes) -> bytes:
        """The first message with this in it; what comes before it is dropped."""
        by = perf_counter() + PATIENCE
        while perf_counter() < by:
            for part in self.read()[1]:
                if sign in part:
                    return part
        raise Stuck(f"no message of a session has {sign!r} in it")

    def _parts(self) -> Iterator[bytes]:
        buffer, at = self._buffer, 0
        while len(buffer) >= at + 2:
            size, start = buffer[at + 1], at + 2
            if size == 126:
                start = at + 4
                size = int.from_bytes(buffer[at + 2 : start], "big")
            elif size == 127:
                start = at + 10
                size = int.from_bytes(buffer[at + 2 : start], "big")
            if len(buffer) < start + size:
                break
            if buffer[at] == 0x81:
                yield bytes(buffer[start : start + size])
            elif buffer[at] == 0x89:  # a ping: what only reads is taken for lost half a minute later
                self.socket.sendall(b"\x8a\x80" + MASK)
            elif buffer[at] != 0x8A:
                raise Stuck(f"the agent sent a frame of the kind {buffer[at]:#x}: {bytes(buffer[start:])!r}")
            at = start + size
        del buffer[:at]


def hear(readers: Sequence[Reader], question: str, beginnings: float = 0.0) -> list[int]:
    """Ask this of each, one after the other within so many seconds. The delays in nanoseconds of all tokens, when each
    has heard its last part."""
    delays: list[int] = []
    poll = select.epoll()
    behind = {reader.fileno(): reader for reader in readers}
    begun = perf_counter()
    asked = 0
    try:
        for number in behind:
            poll.register(number, select.EPOLLIN)
        while behind:
            patience = PATIENCE
            while asked < len(readers):
                patience = begun + beginnings * asked / len(readers) - perf_counter()
                if patience > 0:
                    break
                readers[asked].ask(question)
                asked, patience = asked + 1, PATIENCE
            ready = poll.poll(patience)
            if not ready and patience == PATIENCE:
                raise Stuck(f"{len(behind)} of {len(readers)} readers have heard nothing more")
            for number, _ in ready:
                now, parts = behind[number].read()
                delays += _delays(behind[number], now, parts)
                if any(behind[number].last in part for part in parts):
                    poll.unregister(number)
                    del behind[number]
    finally:
        poll.close()
    return delays


def _delays(reader: Reader, now: int, parts: Sequence[bytes]) -> list[int]:
    stamps = [int(stamp) for part in parts if reader.token in part for stamp in STAMP.findall(part)]
    reader.tokens += len(stamps)
    return [now - stamp for stamp in stamps]


class Agent:
    """A running agent, over HTTP on one connection."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.token = token
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        self._connection.request(method, f"/v1/{path}", None if body is None else json.dumps(body), headers)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status >= 400:
            raise Stuck(f"the agent answered {answer.status} to {method} {path}: {data.decode(errors='replace')[:200]}")
        return json.loads(data)

    def attach(self, session: str, resume_from: int | None = None) -> SessionReader:
        reader = SessionReader(self.port, self.token, session, resume_from)
        reader.until(b'{"type":"session.state"')
        return reader


