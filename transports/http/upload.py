"""One request's body, on its way from Hypercorn's queue to the application.

Hypercorn 0.18 puts the parts of a body into a queue of ten. If the application does not take them, Hypercorn's reader
stands still in that queue, and so does the end of the request, which passes through it too: the connection is stuck
for good. If it takes them faster than it uses them (Quart does), a body of any size piles up in memory. Hence:

  - Hypercorn's queue is always emptied at once, from before the application starts until the request is over.
  - What the application has not taken is bounded: above the mark the wire is held, and the client waits.
  - Bytes are counted here, chunked or not. The application is never asked to.
  - A client that owes a body must keep sending it. Time in which we do not read is not held against it.
  - What has come is kept until the request is over, for most handlers want it whole. The backlog has a bound for all.
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
        """`_received` when the client's present stretch of time began."""
        self._patience = trio.CancelScope()
        self._gave_way = False
        self._news = trio.Event()
        self._handed_over = False
        """The application has been given the last of the body."""
        self.complete = False
        """All of the body has come."""

    async def fill(self) -> Refusal | None:
        """Take what comes until the request is over or the client has gone (None), or a limit has been broken (why)."""
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
                503, "Others sent so much meanwhile that there was no more room for this request; send it again."
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
        """The body is of no more use; keep Hypercorn's queue empty until the request is over."""
        self._unread.clear()
        self._wire.release()
        while (await self._from_hypercorn())["type"] == "http.request":
            pass

    async def receive(self) -> Message:
        """The application's side, as ASGI has it, but never a disconnect: who serves a client that leaves is cancelled.

        Hypercorn also says "disconnect" in the middle of sending the last of an answer. Quart takes that as a reason to
        cancel its own sending, and with bad luck the connection then has no idle timer any more.
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
