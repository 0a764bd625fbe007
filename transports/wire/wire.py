"""The stream between a socket and the library that reads from it.

Hypercorn and trio-websocket are each handed a `Wire`. It gives them what no setting of theirs does:

  - the head, which the door has already read, once more;
  - a deadline for every 64 KiB sent. Hypercorn 0.18 sends under a shield, so no scope around it could end a send to a
    client that does not read; `cut` can, for it closes the socket beneath;
  - back-pressure: while held, nothing is read (Hypercorn and Quart take an upload as fast as it comes, and keep it
    all);
  - an end in two steps. When the library closes, the client is told that no more will come. The socket is closed by
    `finish`, after what the client was still sending has been read and dropped: closing over unread bytes makes the
    kernel send a reset, and that can destroy our last words before they are read.

Rule: a send that was broken off, by a deadline or a cancellation, ends the connection. Half a message may be on the
wire, and nothing can follow that. A send that failed because the client has gone ends only the sending: its last words
may still lie unread.
"""

import math
import os
import sys
from collections.abc import Callable
from contextlib import suppress

import trio

from transports.wire.turns import LONG, MOMENT, REST, turns

PIECE = 64 * 1024
CAN_WRITE_NOW = sys.platform != "win32"
"""There `os.write` is not for sockets."""

NONE = -1
GONE = (trio.BrokenResourceError, trio.ClosedResourceError)


class Wire(trio.abc.HalfCloseableStream):
    __slots__ = (
        "_close_socket", "_closed", "_emptied", "_ended", "_plain", "_reading", "_released", "_replay", "_said_all",
        "_send_seconds", "_stream", "_turn_began", "_turns", "_waits_directly", "bytes_in", "bytes_out", "fault",
    )  # fmt: skip

    def __init__(self, stream: trio.abc.Stream, cut: Callable[[], object], *, send_seconds: float) -> None:
        """`cut` closes the socket at once, without awaiting anything. From now on nobody else closes it."""
        self._stream = stream
        self._close_socket = cut
        self._send_seconds = send_seconds
        self._plain = NONE
        """The number of a plain socket, while it is open: to ask the socket for it costs more than half a read."""
        if isinstance(stream, trio.SocketStream) and CAN_WRITE_NOW:
            self._plain = stream.socket.fileno()
        self._replay = b""
        self._released: trio.Event | None = None
        """Invariant: the wire is held <=> this is an event that is not set."""
        self._reading: trio.CancelScope | None = None
        """Invariant: not None <=> a task is in `receive_some`."""
        self._waits_directly = False
        """A task is in `receive_directly`."""
        self._emptied = True
        """The last read took all there was: it is better to wait than to look for more."""
        self._turns = turns()
        self._turn_began = math.inf
        """When something was read directly."""
        self._ended = False
        """The client has sent its last byte."""
        self._closed = False
        """The library is done with it: no more reads, no more sends."""
        self._said_all = False
        """The client is told that no more will come, or was."""
        self.fault: str | None = None
        """What the client did to be cut off, if we cut it off."""

    def replay(self, data: bytes) -> None:
        """Let the next reads give these bytes, before anything else."""
        self._replay = data + self._replay

    def hold(self) -> None:
        """Read nothing more for now: the client must wait."""
        if self._released is None:
            self._released = trio.Event()

    def release(self) -> None:
        if self._released is not None:
            self._released.set()
            self._released = None

    @property
    def held(self) -> bool:
        return self._released is not None

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if self._closed:
            await trio.lowlevel.checkpoint()
            raise trio.ClosedResourceError
        if self._replay:
            await trio.lowlevel.checkpoint()
            size = len(self._replay) if max_bytes is None else max_bytes
            data, self._replay = self._replay[:size], self._replay[size:]
            return data
        with trio.CancelScope() as self._reading:
            try:
                while self._released is not None:
                    await self._released.wait()
                data = bytes(await self._stream.receive_some(max_bytes))
            except GONE:
                self._ended = True
                raise
            finally:
                self._reading = None
            self._ended = not data
            return data
        raise trio.ClosedResourceError

    async def receive_directly(self, most: int) -> bytes:
        """As `receive_some`, but from a plain socket without trio's layers, which are half the way of a short message;
        and whoever always has more to say takes turns with the others who do (turns.py).

        Nobody but `cut` closes the socket, and it has no number from then on: nobody reads from the next one that has
        it.
        """
        if self._plain == NONE or self._replay or self._closed:
            return await self.receive_some(most)
        began = trio.current_time()
        last = began - self._turn_began
        """How long its turn was: all that has been done with what was read, until it comes for more."""
        if self._emptied:
            await self._readable()
            if last > LONG and trio.current_time() < began + min(MOMENT, REST * last):
                await self._turns.take(last)
        else:
            await self._turns.take(last)
        while True:
            if self._closed:
                raise trio.ClosedResourceError
            try:
                data = os.read(self._plain, most)
                break
            except BlockingIOError:
                await self._readable()
            except OSError as error:
                self._ended = True
                raise trio.BrokenResourceError from error
        self._turn_began = trio.current_time()
        self._emptied = len(data) < most
        self._ended = not data
        return data

    async def _readable(self) -> None:
        self._waits_directly = True
        try:
            await trio.lowlevel.wait_readable(self._plain)
        finally:
            self._waits_directly = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()  # also when closed: an application that only sends must not starve the others
        if self._closed or self._said_all:
            raise trio.ClosedResourceError
        view = memoryview(data)
        whole = False
        try:
            for start in range(0, len(view), PIECE):
                with trio.move_on_after(self._send_seconds) as patience:
                    await self._stream.send_all(view[start : start + PIECE])
                if patience.cancelled_caught:
                    raise self._reads_nothing()
            whole = True
        except GONE:
            whole = self.fault is None
            raise
        finally:
            if not whole:
                self.cut()

    def write_now(self, data: bytes) -> int:
        """Send as much as the socket takes at once; 0 if it takes nothing, or is no plain socket.

        Nobody may be in `send_all`, and who has sent a part must send the rest.
        """
        if self._closed:
            raise trio.ClosedResourceError
        if self._plain == NONE:
            return 0
        try:
            sent = os.write(self._plain, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise trio.BrokenResourceError from error
        return sent

    async def wait_send_all_might_not_block(self) -> None:
        """Within the deadline of a send."""
        with trio.move_on_after(self._send_seconds) as patience:
            await self._stream.wait_send_all_might_not_block()
        if patience.cancelled_caught:
            raise self._reads_nothing()

    def _reads_nothing(self) -> trio.BrokenResourceError:
        self.fault = f"it read nothing for {self._send_seconds:g} seconds"
        self.cut()
        return trio.BrokenResourceError(self.fault)

    async def send_eof(self) -> None:
        self._said_all = True  # Hypercorn's reader comes here when the client has gone, whatever the application is at
        # A TLS stream cannot be half closed, but the TCP stream beneath it can.
        stream = self._stream.transport_stream if isinstance(self._stream, trio.SSLStream) else self._stream
        if isinstance(stream, trio.abc.HalfCloseableStream):
            await stream.send_eof()

    async def aclose(self) -> None:
        """What the library calls. The socket stays open until `finish`."""
        if self._closed:
            await trio.lowlevel.checkpoint()
            return
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
        if self._waits_directly:
            trio.lowlevel.notify_closing(self._plain)
        with suppress(*GONE, trio.BusyResourceError):
            await self.send_eof()

    async def finish(self, *, seconds: float, most: int) -> None:
        """Close; before that, read and drop what the client is still sending, within these limits."""
        await self.aclose()
        with trio.move_on_after(seconds), suppress(*GONE):
            await self.send_eof()  # once more: the library may have been cancelled in its closing
            while most > 0 and not self._ended:
                data = await self._stream.receive_some(PIECE)
                most -= len(data)
                self._ended = not data
        self.cut()

    def cut(self) -> None:
        """Close the socket now. Whoever reads from or sends to the wire is told that it is gone."""
        self._closed = self._ended = True
        self._plain = NONE
        self._close_socket()
        if self._reading is not None:
            self._reading.cancel()
