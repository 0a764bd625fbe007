"""The peers of a relay that is measured: raw sockets and frames made beforehand, so that they cost next to nothing."""

import json
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

HEAD_END = b"\r\n\r\n"
ACCEPTED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade" + HEAD_END
MASK = bytes((0x37, 0xFA, 0x21, 0x3D))
PATIENCE = 30.0
CHUNK = 256 * 1024


class Stuck(Exception):
    """A relay did not deliver."""


class Client:
    """One connection, accepted."""

    _waste = bytearray(1 << 20)

    def __init__(self, port: int, session: str | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        query = f"?session={session}" if session else ""
        self.socket.sendall(
            f"GET /{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        self.received = 0
        try:
            self._accepted()
        except BaseException:
            self.close()
            raise

    def _accepted(self) -> None:
        head = b""
        while HEAD_END not in head:
            byte = self.socket.recv(1)  # one by one: what follows is not ours to read
            head += byte
            if not byte or not head.startswith(b"HTTP/1.1 101"[: len(head)]):
                raise Stuck("the relay did not accept a connection")

    def send(self, *messages: Any) -> None:
        self.socket.sendall(b"".join(map(masked, map(compact, messages))))

    def drop(self) -> int:
        """Read without looking."""
        size = self.socket.recv_into(self._waste)
        if not size:
            raise Stuck("the relay closed a connection")
        self.received += size
        return size

    def close(self) -> None:
        self.socket.close()


def compact(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


def masked(payload: bytes) -> bytes:
    size = len(payload)
    head = bytes([0x81, 0x80 | size]) if size < 126 else b"\x81\xfe" + size.to_bytes(2, "big")
    mask = (MASK * (size // 4 + 1))[:size]
    return head + MASK + bytes(byte ^ with_ for byte, with_ in zip(payload, mask, strict=True))


def flow(
    hero: Client,
    screens: Sequence[Client],
    blocks: Callable[[int], bytes],
    total: int,
    *,
    sent_size: int,
    received_size: int,
    window: int,
) -> float:
    """Seconds from the first of so many messages until all screens have them all.

    Of a message that not all have received, at most `window` are on their way: what we measure is a relay, not how much
    it is ready to keep.
    """
    poll = select.epoll()
    by_number = {screen.socket.fileno(): screen for screen in screens}
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    for client in screens:
        client.received = 0
    hero.socket.setblocking(False)
    sent = 0
    """In bytes, as the hero sends them."""
    rest = memoryview(b"")
    begun = time.perf_counter()
    behind = set(screens)
    try:
        while behind:
            arrived = min(screen.received for screen in behind) // received_size
            while sent < total * sent_size and sent < (arrived + window) * sent_size:
                if not rest:
                    rest = memoryview(blocks(min(total - sent // sent_size, CHUNK // sent_size)))
                try:
                    done = hero.socket.send(rest[: (arrived + window) * sent_size - sent])
                except BlockingIOError:
                    break
                sent += done
                rest = rest[done:]
            ready = poll.poll(0.001 if rest else PATIENCE)
            if not ready and not rest:
                raise Stuck(f"the relay delivered {arrived} of {total} messages and no more")
            for number, _ in ready:
                screen = by_number[number]
                screen.drop()
                if screen.received >= total * received_size:
                    behind.discard(screen)
            if time.perf_counter() - begun > PATIENCE:
                raise Stuck(f"the relay delivered {arrived} of {total} messages in {PATIENCE:g} seconds")
        return time.perf_counter() - begun
    finally:
        hero.socket.setblocking(True)
        hero.socket.settimeout(PATIENCE)
        poll.close()
