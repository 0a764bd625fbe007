"""One request's body, on its way from Hypercorn's queue to the application.

Hypercorn 0.18 puts the parts of a body into a queue of ten. If the application does not take them, Hypercorn's reader
blocks on that queue. The end of the request passes through the same queue, so the connection is stuck for good. If the
application takes parts faster than it uses them (as Quart does), a body of any size piles up in memory. Hence:

  - Hypercorn's queue is always emptied at once, from before the application starts until the request is over.
  - The part of a body that the application has not taken is bounded. Above the bound the wire is held, and the client
    waits.
  - Bytes are counted here, chunked or not. The application never has to count.
  - A client that owes a body must keep sending it. Time in which we do not read does not count against it.
  - A body is kept until the request is over, because most handlers want all of it. The backlog bounds the sum of all.
"""

from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

import trio

from transports.wire.backlog import Backlog
from transports.wire.limits import HttpLimits
from transports.wire.refusal import Refusal
from transports.wire.wire import Wire

Message = dict[str, Any]


class Upload:
    def __init__(
        self, receive: Callable[[], Awaitable[Message]], wire: Wire, limits: HttpLimits, backlog: Backlog
    ) -> None:
        self._from_hypercorn = receive
        self._wire = wire
        self._limits = limits
        self._backlog = backlog
        self._unread = bytearray()
        """Invariant: longer than `limits.unread_bytes` => the wire is held."""
        self._received = 0
        self._counted = 0
        """`_received` at the beginning of the client's current interval."""
        self._patience = trio.CancelScope()
        self._gave_way = False
        self._news = trio.Event()
        self._handed_over = False
        """Whether the application has been given the end of the body."""
        self.complete = False
        """Whether all of the body has come."""

    async def collect(self) -> Refusal | None:
        """Receives until the request is over or the client has gone (None), or a limit is exceeded (the refusal)."""
        try:
            with self._patience:
                self._begin_stretch()
                while True:
                    message = await self._from_hypercorn()
                    if message["type"] != "http.request":
                        return None
                    self._take(message.get("body", b""), last=not message.get("more_body", False))
                    if self._received > self._limits.body_bytes:
                        return too_large(self._limits.body_bytes)
        finally:
            self._backlog.release(self)
        if self._gave_way:
            return Refusal(
                503, "Other clients sent so much that there was no room left for this request; send it again."
            )
        return Refusal(
            408,
            f"The body of the request came too slowly: less than {self._limits.body_step} bytes "
            f"in {self._limits.body_seconds:g} seconds. Send it again, faster or in smaller requests.",
        )

    def give_way(self) -> None:
        self._gave_way = True
        self._patience.cancel()

    async def drop(self) -> None:
        """The body is no longer needed. Keeps Hypercorn's queue empty until the request is over."""
        self._unread.clear()
        self._wire.release()
        while (await self._from_hypercorn())["type"] == "http.request":
            pass

    async def receive(self) -> Message:
        """The application's `receive`, as in ASGI, but without disconnects: if the client leaves, we cancel the
        handler.

        Hypercorn also reports a disconnect while the end of an answer is still being sent. Quart then cancels its own
        sending, and with bad luck the connection loses its idle timer.
        """
        while not self._unread and (self._handed_over or not self.complete):
            await self._news.wait()
        return self._hand_over()

    def _take(self, part: bytes, *, last: bool) -> None:
        self._received += len(part)
        self._backlog.keep(self, self._received)
        self._unread += part
        if last:
            self.complete = True
            self._patience.deadline = inf
        elif len(self._unread) > self._limits.unread_bytes:
            self._wire.hold()
            self._patience.deadline = inf
        elif self._received - self._counted >= self._limits.body_step:
            self._begin_stretch()
        self._news.set()
        self._news = trio.Event()

    def _hand_over(self) -> Message:
        part = bytes(self._unread)
        self._unread.clear()
        self._handed_over = self.complete
        if self._wire.held:
            self._wire.release()
            if not self.complete:
                self._begin_stretch()
        return {"type": "http.request", "body": part, "more_body": not self.complete}

    def _begin_stretch(self) -> None:
        self._counted = self._received
        self._patience.deadline = trio.current_time() + self._limits.body_seconds


def too_large(most: int) -> Refusal:
    return Refusal(413, f"The body of the request is larger than {most} bytes; send less at once.")
