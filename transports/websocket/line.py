"""The way to one peer of a WebSocket, for actors that cannot wait: frames are offered to the socket's outbox."""

from collections.abc import Callable

import trio

from transports.websocket.outbox import frame
from transports.websocket.websocket import FastSocket


class Line:
    """The way to one peer. Nothing here waits."""

    def __init__(self, socket: FastSocket, nursery: trio.Nursery) -> None:
        self._socket = socket
        self._nursery = nursery
        self.offer = socket.outbox.offer
        self.restart = socket.outbox.restart

    frame = staticmethod(frame)

    def on_drained(self, call: Callable[[], None]) -> None:
        """Called when a peer that had fallen behind takes messages again. It must not raise."""
        self._socket.outbox.on_drained = call

    def hang_up(self, code: int, reason: str) -> None:
        """Say goodbye after all that has been offered. That the peer has gone, its attendant is told as ever."""
        self._nursery.start_soon(self._socket.close, code, reason)
