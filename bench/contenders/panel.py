"""A page of the judge, over a raw socket: says what a click would say, and waits for what the page would show."""

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

from bench.contenders.client import HEAD_END, PATIENCE, Stuck, compact, masked

Message = dict[str, Any]


class Panel:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._held = bytearray()
        self._socket.sendall(
            f"GET /panel HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        try:
            head = self._until_head_end()
            if not head.startswith(b"HTTP/1.1 101"):
                raise Stuck(f"the judge did not accept a page: {head.splitlines()[0].decode(errors='replace')}")
        except BaseException:
            self.close()
            raise

    def open(self, problem: str) -> None:
        """Show this problem, once the judge knows it."""
        self.say({"type": "ui/requestInit", "follow": False})
        lists = ("state/problems", "state/problemsChanged")
        self.until(
            lambda one: one["type"] in lists and any(each["id"] == problem for each in one.get("problems", ()))
        )
        self.say({"type": "ui/openProblem", "id": problem})
        self.until(lambda one: one["type"] == "state/init" and one.get("problem", {}).get("id") == problem)

    def run_all(self) -> list[Message]:
        """The results of all cases."""
        self.say({"type": "ui/runAll"})
        return self._results()

    def run_one(self, index: int) -> Message:
        """The result, as soon as it is there; the end of the run is for `settle`."""
        self.say({"type": "ui/runOne", "index": index})
        result: Message = self.until(lambda one: one["type"] == "run/result")["result"]
        return result

    def settle(self) -> None:
        """Until the run is over."""
        self.until(lambda one: one["type"] == "run/complete")

    def say(self, message: Message) -> None:
        self._send(masked(compact(message)))

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        """The first message that is wanted; others are read and dropped, but an error is no good sign."""
        while True:
            message: Message = json.loads(self._receive())
            if wanted(message):
                return message
            if message["type"] == "notice" and message["level"] == "error":
                raise Stuck(f"the judge says: {message['message']}")

    def close(self) -> None:
        self._socket.close()

    def _results(self) -> list[Message]:
        results: list[Message] = []

        def complete(message: Message) -> bool:
            if message["type"] == "run/result":
                results.append(message["result"])
            return bool(message["type"] == "run/complete")

        self.until(complete)
        return results

    def _receive(self) -> bytes:
        while True:
            kind, size = self._take(2)
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._take(8))
            payload = self._take(size)
            match kind:
                case 0x81:
                    return payload
                case 0x89:  # with a mask of zeros the same bytes are the answer
                    self._send(bytes([0x8A, 0x80 | size]) + bytes(4) + payload)
                case 0x88:
                    raise Stuck(f"the judge closed a page: {payload[2:].decode(errors='replace')}")
                case _:
                    raise Stuck(f"the judge sent a frame of kind {kind:#x}")

    def _send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except ConnectionError as error:
            raise Stuck("the judge has closed a page") from error

    def _until_head_end(self) -> bytes:
        while HEAD_END not in self._held:
            self._more()
        return self._take(self._held.index(HEAD_END) + len(HEAD_END))

    def _take(self, size: int) -> bytes:
        while len(self._held) < size:
            self._more()
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

    def _more(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise Stuck("the judge closed a connection")
        self._held += data
