"""The way to one peer of a WebSocket, for actors that cannot wait: frames are offered to the socket's outbox."""

from collections.abc import Callable, Iterable

import trio

from transports.websocket.outbox import bundles, frame
from transports.websocket.websocket import FastSocket


class Line:
    """The way to one peer. No method waits."""

    def __init__(self, socket: FastSocket, nursery: trio.Nursery, *, takes_bundles: bool = False) -> None:
        self.takes_bundles = takes_bundles
        self._socket = socket
        self._nursery = nursery
        self.offer = socket.outbox.offer
        self.restart = socket.outbox.restart

    def frames(self, texts: Iterable[bytes]) -> bytes:
        return bundles(texts) if self.takes_bundles else b"".join(map(frame, texts))

    def on_drained(self, call: Callable[[], None]) -> None:
        """Have `call` called when a peer that had fallen behind can take messages again. It must not raise."""
        self._socket.outbox.when_drained(call)

    def hang_up(self, code: int, reason: str) -> None:
        """Close the connection after all frames that have been offered. The task that receives from the socket learns
        of the end in the usual way."""
        self._nursery.start_soon(self._socket.close, code, reason)
