"""A keeper: runs what it is ordered to, one run at a time, and sees each to its end.

    IDLE --run--> RUNNING --the leader ends, an excess, stop, EOF--> ENDING --no child left--> IDLE
                                                                     ENDING --not in time----> it ends itself
    EOF: whatever runs is ended, and then itself.

While a run has a limit that the kernel does not hold, its processes are looked at every `LOOK_SECONDS`: their CPU
time together, their memory together, their number. Looking never takes more than a fifth of our time. What they use
between two looks is the price: a run may have somewhat more than its limits before it is stopped, and the totals
that are told at the end say how much, from what the kernel counted.

The run is over when its leader is: whatever the leader leaves behind is ended with it.
"""

import os
import resource
import select
import signal
import socket
import time
from contextlib import suppress

from transports.launcher import census
from transports.launcher.bell import Bell
from transports.launcher.birth import NotBorn, bear
from transports.launcher.orders import (
    ALIVE,
    CPU,
    FAILED,
    MEMORY,
    PROCESSES,
    RUN,
    STOP,
    Ended,
    Order,
    framed,
    read_order,
    take_frame,
)
from transports.launcher.system import LINUX

FIRST_LOOK_SECONDS, LOOK_SECONDS = 0.025, 0.01
"""Most programs have ended by then, and need not be looked at."""
LOOK_SHARE = 4.0
"""So many times as long as a look took, the next one waits at least."""
STRIKE_SECONDS = 0.005
"""Whoever is not dead by then is looked for again."""
PATIENCE_SECONDS = 4.0
"""For a run to end that has been killed."""
MAXRSS_BYTES = 1024 if LINUX else 1
"""The unit of `ru_maxrss`."""
ROUNDING_BYTES = 512 * 1024
"""The kernel counts pages in batches."""


class Line:
    """Our end of the socket to the server."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._held = bytearray()
        self._streams: list[int] = []

    def fileno(self) -> int:
        return self._end.fileno()

    def receive(self) -> bool:
        """Take what has come, or wait for it. False: the server has gone, or has let us go."""
        try:
            data, streams, _, _ = socket.recv_fds(self._end, 65536, 3)
        except ConnectionError:
            return False
        for stream in streams:
            os.set_inheritable(stream, False)
        self._streams += streams
        self._held += data
        return bool(data)

    def take(self) -> list[bytes] | None:
        return take_frame(self._held)

    def take_streams(self) -> list[int]:
        taken, self._streams = self._streams, []
        return taken

    def say(self, frame: bytes) -> None:
        with suppress(ConnectionError):  # the server has gone, as the next thing that we read will say
            self._end.sendall(frame)


class Run:
    """What is known of one run.

    The kernel's `ru_maxrss` begins with our own size. Where it says more, it is right; where it does not, the peak is
    what was seen, or our own size if nothing was."""

    def __init__(self, order: Order, leader: int, began: float) -> None:
        self.leader = leader
        self.began = began
        self.status: int | None = None  # None until the leader is reaped
        self.excess = ""
        self._most_bytes = 0
        self._floor_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_BYTES + ROUNDING_BYTES
        self.delay_seconds = 0.0
        self._order = order
        self._reaped_seconds = 0.0
        self._seen_seconds = 0.0
        self.limited = any(each is not None for each in (order.cpu_seconds, order.memory_bytes, order.processes))

    @property
    def cpu_seconds(self) -> float:
        """The kernel's count; but of those whose parent did not care to reap them there is only what was seen."""
        return max(self._reaped_seconds, self._seen_seconds)

    @property
    def peak_bytes(self) -> int:
        return self._most_bytes or self._floor_bytes

    def look(self) -> str:
        """Which limit has been passed, if any."""
        order = self._order
        most = order.processes
        members = census.family(census.children(os.getpid()), None if most is None else most + 1)
        if most is not None and len(members) > most:
            return PROCESSES
        seconds = sum(member.cpu_ticks for member in members) / census.TICKS_PER_SECOND + self._reaped_seconds
        self._seen_seconds = max(self._seen_seconds, seconds)
        if order.cpu_seconds is not None and self._seen_seconds >= order.cpu_seconds:
            return CPU
        self._weigh(members)
        if order.memory_bytes is not None and self._most_bytes > order.memory_bytes:
            return MEMORY
        return ""

    def _weigh(self, members: list[census.Member]) -> None:
        if not members:
            return
        largest = max(members, key=lambda member: member.resident_bytes)
        self._most_bytes = max(self._most_bytes, largest.resident_bytes, census.peak_bytes(largest.pid))
        if sum(member.resident_bytes for member in members) > self._most_bytes:  # much of it may be shared
            self._most_bytes = max(self._most_bytes, min(_shares_bytes(members), _shares_bytes(members)))

    def reap(self, pid: int) -> None:
        if pid == self.leader:
            self.delay_seconds = census.delay_seconds(pid)
        _, status, usage = os.wait4(pid, 0)
        self._reaped_seconds += usage.ru_utime + usage.ru_stime
        peak = usage.ru_maxrss * MAXRSS_BYTES
        if peak > self._floor_bytes:
            self._most_bytes = max(self._most_bytes, peak)
        if pid == self.leader:
            self.status = os.waitstatus_to_exitcode(status)


def _shares_bytes(members: list[census.Member]) -> int:
    """What they have together. While processes come and go, the share of one is read before and that of the next after,
    and the sum can be too large; so it is asked for twice."""
    return sum(census.shared_out_bytes(member.pid) for member in members)


class Keeper:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._bell = Bell()
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)
        self._poll.register(self._bell, select.POLLIN)
        self._wanted = True

    def serve(self) -> None:
        """Until the server lets go of us."""
        while self._wanted:
            fields = self._line.take()
            if fields is None:
                self._wanted = self._line.receive()
            elif fields[0] == RUN:
                self._run(read_order(fields), self._line.take_streams())

    def _run(self, order: Order, streams: list[int]) -> None:
        began = time.monotonic()
        try:
            leader = bear(order, streams)
        except NotBorn as failure:
            self._line.say(framed(FAILED, failure.stage.encode(), b"%d" % failure.number))
            return
        finally:
            for stream in streams:
                os.close(stream)
        run = Run(order, leader, began)
        self._attend(run)
        seconds = time.monotonic() - began
        left = not self._end(run)
        status = -signal.SIGKILL if run.status is None else run.status
        excess = run.excess or excess_of(status, run.cpu_seconds, order.cpu_seconds)
        ended = Ended(status, excess, run.cpu_seconds, seconds, run.delay_seconds, run.peak_bytes, left)
        if left:
            self._wanted = False
        self._line.say(ended.frame())

    def _attend(self, run: Run) -> None:
        """Until the leader has ended, or must."""
        announced = False
        look_at = run.began + FIRST_LOOK_SECONDS
        while not self._leader_ended(run):
            now = time.monotonic()
            if now >= look_at:
                if not announced:
                    announced = True
                    pids = b"%d" % run.leader, b"%d" % os.getpid()
                    self._line.say(framed(ALIVE, *pids, repr(now - run.began).encode()))
                if run.limited:
                    run.excess = run.look()
                    if run.excess:
                        return
                took = time.monotonic() - now
                look_at = now + took + max(LOOK_SECONDS, LOOK_SHARE * took)
            patience = look_at - now if run.limited or not announced else None
            if self._wait(patience):
                return

    def _wait(self, seconds: float | None) -> bool:
        """Until something happens, or for so long. True: the run is to be stopped."""
        stop = False
        for descriptor, _ in self._poll.poll(None if seconds is None else max(1, round(seconds * 1000))):
            if descriptor == self._bell.fileno():
                self._bell.silence()
            elif not self._line.receive():
                self._wanted = False
                return True
            else:
                while (fields := self._line.take()) is not None:
                    stop = stop or fields[0] == STOP
        return stop

    def _leader_ended(self, run: Run) -> bool:
        """It is not reaped yet, so that its number still is its group's. Orphans are reaped on the way."""
        while (ended := _ended_child()) is not None:
            if ended == run.leader:
                return True
            run.reap(ended)
        return False

    def _end(self, run: Run) -> bool:
        """Leave no child. False: one could not be ended."""
        _kill_group(run.leader)
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            while (ended := _ended_child()) is not None:
                run.reap(ended)
            if not _has_children():
                return True
            if time.monotonic() > until:
                return False
            strike(census.children(os.getpid()))
            self._bell_within(STRIKE_SECONDS)

    def _bell_within(self, seconds: float) -> None:
        if select.select([self._bell], [], [], seconds)[0]:
            self._bell.silence()


def excess_of(status: int, cpu_seconds: float, limit: float | None) -> str:
    """The kernel's own limit on CPU time may have been quicker than our look."""
    killed = status in (-signal.SIGKILL, -signal.SIGXCPU)
    return CPU if killed and limit is not None and cpu_seconds > limit else ""


def strike(roots: list[int]) -> None:
    """Kill these and all below them, each with its group: a group is killed at one blow, also one that forks.

    They are below us, and sessions cannot be entered from outside, so no stranger is in any of their groups."""
    members = census.family(roots)
    for group in {member.group for member in members} - {os.getpgrp()}:
        _kill_group(group)
    for member in members:
        if not member.zombie:
            _kill(member.pid)


def _kill_group(group: int) -> None:
    """It has gone; or only programs of another user are left in it (su, ping), for whose end we can but wait."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # as above
        os.kill(pid, signal.SIGKILL)


def _ended_child() -> int | None:
    """A child that has ended and is not reaped."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found is not None else None


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
