"""The stream between a socket and the library that reads from it.

Hypercorn and trio-websocket are each handed a `Wire`. It does for them what none of their settings can do:

  - It lets them read the head again, which the door has already read.
  - It has a deadline for a client that reads nothing of what is sent (progress.py; where the system does not tell what
    the client reads, for every 64 KiB). Hypercorn 0.18 sends under a shield, so no scope around it could end a send to
    a client that does not read. `cut` can, because it closes the socket.
  - It has back-pressure: while it is held, nothing is read. (Hypercorn and Quart read an upload as fast as it comes,
    and keep all of it.)
  - It ends in two steps. When the library closes, the client is told that no more will come. `finish` closes the
    socket, after it has read and dropped what the client was still sending. If a socket is closed over unread bytes,
    the kernel sends a reset, and that can destroy our last words before the client has read them.

What comes, as far as `receive_directly` knows it:

    inflow   what there is to read                       becomes   when
    QUIET    nothing: the last read took all             NEWS      the lookout reports something while nobody waits
    NEWS     something                                   QUIET     a read takes less than it may
    MORE     perhaps more: the last read was a full one  QUIET     a read takes less than it may
    LAST     all that will ever come                     -         -
    OVER     nothing any more                            -         -

A full read turns the first three into MORE. When the lookout reports the end, which is its last report, they become
LAST. Any becomes OVER when the end is read, or the socket is closed.

Rule: if a deadline or a cancellation breaks off a send, the connection ends, because half a message may be on the wire,
and nothing can follow that. If a send fails because the client has gone, only the sending ends: the client's last
messages may still be unread.
"""

import enum
import fcntl
import math
import os
import sys
import termios
from collections.abc import Callable
from contextlib import suppress

import trio

from transports.wire.lookout import Lookout
from transports.wire.presence import until_gone
from transports.wire.progress import read_by_client
from transports.wire.turns import LONG, MOMENT, REST, turns

PIECE = 64 * 1024
SIP = 4 * 1024
"""The most that is read for `take` at a time."""
CAN_WRITE_NOW = sys.platform != "win32"
"""On Windows, `os.write` does not work with sockets."""

NONE = -1
GONE = (trio.BrokenResourceError, trio.ClosedResourceError)

Take = Callable[[bytes], bool]
"""Handles what was read; False: the task that reads has to."""


def unread(number: int) -> int:
    """How many bytes have come at this socket and were not read."""
    return int.from_bytes(fcntl.ioctl(number, termios.FIONREAD, bytes(4)), sys.byteorder)


class Inflow(enum.Enum):
    QUIET = "quiet"
    NEWS = "news"
    MORE = "more"
    LAST = "last"
    OVER = "over"


QUIET, NEWS, MORE, LAST, OVER = Inflow
"""For the path of each message: `Inflow.QUIET` takes longer to look up."""


class Wire(trio.abc.HalfCloseableStream):
    __slots__ = (
        "_close_socket", "_closed", "_found", "_heard_at", "_inflow", "_is_watched", "_lookout", "_parked", "_plain",
        "_reading", "_released", "_replay", "_said_all", "_said_at", "_send_seconds", "_stream", "_turn_began",
        "_turn_ended", "_turns", "_waits_directly", "bytes_in", "bytes_out", "fault",
    )  # fmt: skip

    def __init__(
        self,
        stream: trio.abc.Stream,
        cut: Callable[[], object],
        *,
        send_seconds: float,
        lookout: Lookout | None = None,
    ) -> None:
        """`cut` closes the socket at once, without awaiting anything. From now on nothing else may close it."""
        self._stream = stream
        self._close_socket = cut
        self._send_seconds = send_seconds
        self._plain = NONE
        """The file descriptor of a plain socket while it is open. (Asking the socket for it takes longer than half a
        read.)"""
        if isinstance(stream, trio.SocketStream) and CAN_WRITE_NOW:
            self._plain = stream.socket.fileno()
        self._replay = b""
        self._released: trio.Event | None = None
        """Invariant: the wire is held <=> this is an event that is not set."""
        self._reading: trio.CancelScope | None = None
        """Invariant: not None <=> a task is in `receive_some`."""
        self._waits_directly = False
        """A task is in `receive_directly`."""
        self._inflow = QUIET
        self._turns = turns()
        self._heard_at = math.inf
        self._said_at = -math.inf
        """When `receive_some` last returned, and when `send_all` did."""
        self._turn_began = self._turn_ended = math.inf
        """When something was last read directly, and when that had been handled."""
        self._lookout = lookout
        self._is_watched = False
        """The lookout knows the socket."""
        self._parked: tuple[trio.lowlevel.Task, Take] | None = None
        """Not None <=> a task waits in `receive_directly`, and the lookout reads in its place. Then the inflow is
        QUIET."""
        self._found: bytes | Exception | None = None
        """What that task is to return or raise when it is woken."""
        self._closed = False
        """The library has closed the wire: no more reads, no more sends."""
        self._said_all = False
        """The client is being told, or has been told, that no more will come."""
        self.fault: str | None = None
        """If we cut the client off: what it did."""

    def replay(self, data: bytes) -> None:
        """Make the next reads return these bytes, before anything else."""
        self._replay = data + self._replay

    def hold(self) -> None:
        """Stop reading for now: the client must wait."""
        if self._released is None:
            self._released = trio.Event()

    def release(self) -> None:
        if self._released is not None:
            self._released.set()
            self._released = None

    @property
    def silence(self) -> float:
        """The seconds from our last words to the client's next ones. Less than none: these had come before."""
        return self._heard_at - self._said_at

    @property
    def held(self) -> bool:
        return self._released is not None

    @property
    def taken(self) -> int | None:
        """How much of what was sent the client has read, if the system tells. Only differences mean something."""
        return None if self._closed else read_by_client(self._stream)

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
                self._heard_at = trio.current_time()
            except GONE:
                self._inflow = OVER
                raise
            finally:
                self._reading = None
            if not data:
                self._inflow = OVER
            return data
        raise trio.ClosedResourceError

    async def until_gone(self) -> None:
        """Returns when the client, which sends no more, has gone; at once if nobody can tell (presence.py)."""
        await until_gone(self._stream)

    async def receive_directly(self, most: int, take: Take | None = None) -> bytes:
        """Like `receive_some`, but a plain socket is read without trio's layers, which take half the time of a short
        message; and greedy connections take turns (turns.py).

        With `take`, a polite connection's short reads need no step of this task: while it waits, they are given to
        `take`, and this returns when that has refused one.

        Only `cut` closes the socket, and it forgets the file descriptor. So this never reads from another socket that
        has got the same number.
        """
        if self._plain == NONE or self._replay or self._closed:
            return await self.receive_some(most)
        self._turn_ended = trio.current_time()
        last = self._turn_ended - self._turn_began
        """How long the connection's turn was: the time it took to handle the last read."""
        inflow = self._inflow
        if inflow is MORE:
            await self._turns.take(last)
        elif take is not None and last <= LONG and (inflow is QUIET or inflow is NEWS) and self._watched():
            if inflow is NEWS:
                await trio.lowlevel.checkpoint()
            else:
                data = await self._refused_by(take)
                if data is not None:
                    return data
                if self._inflow is not LAST:
                    await self._turns.take(self._turn_ended - self._turn_began)
        else:
            await self._readable()
            if self._is_greedy() and not self._has_ended():
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
                self._inflow = OVER
                raise trio.BrokenResourceError from error
        self._turn_began = trio.current_time()
        if not data:
            self._inflow = OVER
        elif self._inflow is not LAST:
            self._inflow = QUIET if len(data) < most else MORE
        return data

    def _is_greedy(self) -> bool:
        """Something has come, and the last turn was long and ended a moment ago."""
        last = self._turn_ended - self._turn_began
        return last > LONG and trio.current_time() < self._turn_ended + min(MOMENT, REST * last)

    def _has_ended(self) -> bool:
        """Something has come, and it is nothing but the end."""
        return not self._closed and unread(self._plain) == 0

    def _watched(self) -> bool:
        if not self._is_watched and self._lookout is not None:
            self._is_watched = self._lookout.watch(self._plain, self._look)
        return self._is_watched

    async def _refused_by(self, take: Take) -> bytes | None:
        """What `take` has refused. None: the connection is greedy now, or ends; what has come is not read yet."""
        await trio.lowlevel.checkpoint_if_cancelled()
        self._parked = trio.lowlevel.current_task(), take

        def abort(_: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            self._parked = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)
        found, self._found = self._found, None
        if not isinstance(found, Exception):
            return found
        try:
            raise found
        finally:
            del found  # otherwise the error and its traceback refer to each other, and only the collector finds them

    def _look(self, ends: bool) -> None:
        """Something has come: read it, and give it to the one who waits for it. At the end, that one reads itself."""
        parked = self._parked
        if ends:
            if self._inflow is not OVER:
                self._inflow = LAST
        elif parked is None and self._inflow is QUIET:
            self._inflow = NEWS
        if parked is None:
            return
        if ends or self._is_greedy():
            self._wake(None)
            return
        try:
            data = os.read(self._plain, SIP)
        except BlockingIOError:
            return
        except OSError as error:
            self._inflow = OVER
            self._wake(trio.BrokenResourceError(str(error)))
            return
        self._turn_began = trio.current_time()
        if not 0 < len(data) < SIP:
            self._inflow = MORE if data else OVER
            self._wake(data)
            return
        task, take = parked
        try:
            taken = task.context.run(take, data)
        except Exception as error:  # it concerns this connection alone
            self._wake(error)
            return
        if taken:
            self._turn_ended = trio.current_time()
        else:
            self._wake(data)

    def _wake(self, found: bytes | Exception | None) -> None:
        parked, self._parked = self._parked, None
        if parked is not None:
            self._found = found
            trio.lowlevel.reschedule(parked[0])

    async def _readable(self) -> None:
        self._waits_directly = True
        try:
            await trio.lowlevel.wait_readable(self._plain)
        finally:
            self._waits_directly = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()  # even if closed: an application that only sends must not starve other tasks
        if self._closed or self._said_all:
            raise trio.ClosedResourceError
        view = memoryview(data)
        whole = False
        try:
            for start in range(0, len(view), PIECE):
                await self._send(view[start : start + PIECE])
            whole = True
            self._said_at = trio.current_time()
        except GONE:
            whole = self.fault is None
            raise
        finally:
            if not whole:
                self.cut()

    async def _send(self, piece: memoryview) -> None:
        if self._plain == NONE:
            with trio.move_on_after(self._send_seconds) as patience:
                await self._stream.send_all(piece)
            if patience.cancelled_caught:
                raise self._reads_nothing()
            return
        while (sent := self._write(piece)) < len(piece):  # trio's own loop could not be resumed after the deadline
            piece = piece[sent:]
            await self.wait_send_all_might_not_block()

    async def say_in_plain(self, data: bytes) -> None:
        """The last words for a client that does not speak TLS, below which they are said."""
        if isinstance(self._stream, trio.SSLStream):
            with trio.move_on_after(self._send_seconds):
                await self._stream.transport_stream.send_all(data)

    def write_now(self, data: bytes) -> int:
        """Send as many bytes as the socket takes at once, and return their number: 0 if it takes nothing, or is no
        plain socket.

        No task may be in `send_all`, and a caller that has sent a part must send the rest.
        """
        if self._closed:
            raise trio.ClosedResourceError
        return 0 if self._plain == NONE else self._write(data)

    def _write(self, data: bytes | memoryview) -> int:
        if self._plain == NONE:
            raise trio.ClosedResourceError
        try:
            return os.write(self._plain, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise trio.BrokenResourceError from error

    async def wait_send_all_might_not_block(self) -> None:
        """As in trio, but with the deadline of a send. The kernel takes nothing before it is rid of a third of its
        buffer, of some megabytes. So at the deadline the client is asked after: whoever has read something goes on."""
        while True:
            taken = self.taken
            with trio.move_on_after(self._send_seconds) as patience:
                await self._stream.wait_send_all_might_not_block()
            if not patience.cancelled_caught:
                return
            if self.taken == taken:
                raise self._reads_nothing()

    def _reads_nothing(self) -> trio.BrokenResourceError:
        self.fault = f"it read nothing for {self._send_seconds:g} seconds"
        self.cut()
        return trio.BrokenResourceError(self.fault)

    async def send_eof(self) -> None:
        self._said_all = True  # Hypercorn's reader calls this when the client has gone, whatever the app does
        # A TLS stream cannot be half closed, but the TCP stream beneath it can.
        stream = self._stream.transport_stream if isinstance(self._stream, trio.SSLStream) else self._stream
        if isinstance(stream, trio.abc.HalfCloseableStream):
            await stream.send_eof()

    async def aclose(self) -> None:
        """Called by the library. The socket stays open until `finish`."""
        if self._closed:
            await trio.lowlevel.checkpoint()
            return
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
        if self._waits_directly:
            trio.lowlevel.notify_closing(self._plain)
        self._wake(trio.ClosedResourceError())
        with suppress(*GONE, trio.BusyResourceError):
            await self.send_eof()

    async def finish(self, *, seconds: float, most: int) -> None:
        """Close the socket. Before that, within these limits, read and drop what the client is still sending."""
        await self.aclose()
        with trio.move_on_after(seconds), suppress(*GONE):
            await self.send_eof()  # once more: the library may have been cancelled while closing
            while most > 0 and self._inflow is not OVER:
                data = await self._stream.receive_some(PIECE)
                most -= len(data)
                if not data:
                    self._inflow = OVER
        self.cut()

    def cut(self) -> None:
        """Close the socket now. Tasks that read from the wire or send to it get an error."""
        self._closed, self._inflow = True, OVER
        if self._lookout is not None:
            self._is_watched = False
            self._lookout.forget(self._plain)
        self._plain = NONE
        self._wake(trio.ClosedResourceError())
        self._close_socket()
        if self._reading is not None:
            self._reading.cancel()
