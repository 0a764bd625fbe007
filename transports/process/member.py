"""A member of a crew, from inside: what its program calls.

    serve(lambda order, line: do(order, line))

`argv` is: the life line's descriptor, the most bytes of memory, the seconds of an order, and whatever the program's
owner has added. The standard input is the socket to the owner.

Rules
  - The member and all of its group are killed when its owner ends, in whatever way, and whatever it is doing then.
    It does not look for that itself: it may hang in a library. The kernel kills it by the life line, a pipe into which
    nobody writes and whose other end only the owner has (F_SETSIG; without it, the default action of SIGIO).
  - An order that uses the processor for too long without a `lively()` ends the member: the kernel counts (SIGPROF).
  - A member that has grown says so with the answer to its order, and ends. One that wants more memory than it may have
    is refused it.
  - An exception is the answer to its order, and the member goes on.
"""

import fcntl
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

from transports.process.frames import DONE, FAILED, LEFT, ORDER, PART, READY, STOP, frame_of, next_frame

NICE = 5
GOES_EARLY = 300
"""The rank (of 1,000) among the processes that the system kills when memory runs out: before the server, and below the
rank by which the leftovers of a launcher are known (leftovers.py)."""
GROWN = 0.5
"""The share of its memory above which a member leaves after its order."""
_READ_BYTES = 1 << 16
_PAGE = resource.getpagesize()


class OrderStopped(Exception):
    """The order is no longer wanted."""


class MemberLine:
    """To the owner."""

    def __init__(self, end: socket.socket, seconds: float = 0.0) -> None:
        self._end = end
        self._seconds = seconds
        self._held = bytearray()
        self._stopped = False
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)

    def say(self, part: bytes) -> None:
        """Sends something of the order that is being done. Waits until there is room."""
        self._end.sendall(frame_of(PART, part))

    def lively(self) -> None:
        """To be called again and again while an order is being done. Raises OrderStopped."""
        if self._seconds:
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
        if not self._stopped and self._poll.poll(0):
            self._receive()
        if self._stopped:
            raise OrderStopped

    def answer(self, kind: bytes, body: bytes) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self._end.sendall(frame_of(kind, body))

    def next_order(self) -> bytes | None:
        """None: the owner has gone."""
        self._stopped = False
        while True:
            while (frame := next_frame(self._held)) is not None:
                if frame[0] == ORDER:
                    if self._seconds:
                        signal.setitimer(signal.ITIMER_PROF, self._seconds)
                    return frame[1]
            if not self._read():
                return None

    def _receive(self) -> None:
        if not self._read():
            self._stopped = True
        while (frame := next_frame(self._held)) is not None:
            if frame[0] == STOP:
                self._stopped = True

    def _read(self) -> bool:
        try:
            data = self._end.recv(_READ_BYTES)
        except ConnectionError:
            return False
        self._held += data
        return bool(data)


def serve(do: Callable[[bytes, MemberLine], bytes], argv: list[str]) -> None:
    life, memory, seconds = int(argv[0]), int(argv[1]), float(argv[2])
    _settle(life, memory)
    end = socket.socket(fileno=os.dup(0))
    _close_input()
    line = MemberLine(end, seconds)
    try:
        end.sendall(frame_of(READY))
        while (order := line.next_order()) is not None:
            kind, body = _done(do, order, line)
            leaves = kind == DONE and memory > 0 and _size() > GROWN * memory
            line.answer(LEFT if leaves else kind, body)
            if leaves:
                return
    except ConnectionError:  # the owner has gone
        return


def _done(do: Callable[[bytes, MemberLine], bytes], order: bytes, line: MemberLine) -> tuple[bytes, bytes]:
    try:
        return DONE, do(order, line)
    except OrderStopped:
        return FAILED, b"it was stopped"
    except MemoryError:
        return FAILED, b"it needs more memory than it may have"
    except ConnectionError:
        raise
    except Exception as error:
        sys.excepthook(*sys.exc_info())
        return FAILED, f"{type(error).__name__}: {error}".encode(errors="replace")[:1000]


def _settle(life: int, memory: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGIO, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    if select.select([life], [], [], 0)[0]:  # it has ended before we could ask to be told
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.nice(NICE)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(GOES_EARLY))
    os.chdir("/")


def _close_input() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)


def _size() -> int:
    """Bytes of memory that are in use now."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
