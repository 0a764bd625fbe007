"""Measures one run, and tells which limit it has exceeded.

The kernel's `ru_maxrss` begins with our own size. If it is larger than that, it is right. Otherwise the peak is the
largest use that was seen, or our own size if nothing was seen.

Wall time counts while the program could run; the time it waited for processors is subtracted. Between two looks this is
the larger of

  - the kernel's figure (`schedstat`): the time in which its threads were ready and did not run, summed over all
    threads. The kernel updates it when a thread runs again, and forgets it when the thread ends;
  - our estimate, if one of the two looks found a thread ready: all time between them that is not CPU time.

A program that sleeps does not wait for a processor. In a program with many waiting threads many others run, and CPU
time decides.
"""

import math
import os
import resource
import signal
import time
from collections.abc import Callable

from transports.process.launcher import census
from transports.process.launcher.group import Group
from transports.process.launcher.holdings import BLOCK_BYTES, Holdings
from transports.process.launcher.ledger import CpuLedger
from transports.process.launcher.orders import CPU, FILES, HIDDEN, MEMORY, PROCESSES, WALL, Order
from transports.process.launcher.striking import Ceiling
from transports.process.launcher.system import LINUX

MAXRSS_BYTES = 1024 if LINUX else 1
"""The unit of `ru_maxrss`."""
ROUNDING_BYTES = 512 * 1024
"""The kernel counts pages in batches, so its figures may be off by this much."""
MOST_DELAY = 50.0
"""A program may wait for processors this many times its wall time."""
UNDELAYED_SECONDS = 0.05
"""The wait of a shorter run is not looked up."""
MOST_THREADS = 64
"""Looked at in each process."""


class Account:
    def __init__(
        self,
        order: Order,
        leader: int,
        began: float,
        group: Group | None,
        children: Callable[[], list[int]] = census.own_children,
    ) -> None:
        self.leader = leader
        self.began = began
        self.status: int | None = None  # None until the leader is reaped
        self.excess = ""
        self._order = order
        self._group = group
        self._children = children
        if group is not None:
            group.begin()
        self._most_bytes = 0
        self._floor_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_BYTES + ROUNDING_BYTES
        self._ledger = CpuLedger()
        self._holdings = Holdings(leader)
        self._reaped: dict[int, float] = {}
        self._reaped_bytes = 0
        """Written to disks."""
        self._delays: dict[tuple[int, bytes], float] = {}
        self.waited_seconds = 0.0
        """The time that is subtracted from its wall time."""
        self._last_look = 0.0, 0.0, 0.0, False
        """The last look: its time, the CPU time and the delay then, and whether a thread was ready."""
        self.cpu_seconds = 0.0
        """The kernel's count, plus the known time of processes that nobody reaps."""
        limits = (order.cpu_seconds, order.memory_bytes, order.processes, order.file_bytes)
        self.limited = any(limit is not None for limit in limits)
        """Whether it has to be looked at again and again."""

    @property
    def peak_bytes(self) -> int:
        return self._most_bytes or self._floor_bytes

    @property
    def delay_seconds(self) -> float:
        """How long its threads were ready while no processor was free, as far as the kernel tells."""
        return sum(self._delays.values())

    @property
    def late_at(self) -> float:
        """The time when its wall time will be used up, as far as is known now."""
        limit = self._order.wall_seconds
        if limit is None:
            return math.inf
        return self.began + limit + min(self.waited_seconds, MOST_DELAY * limit)

    def look(self) -> str:
        """The limit that has been exceeded, if any."""
        order = self._order
        most = order.processes
        members = census.family(self._children(), None if most is None else most + 1)
        if most is not None and len(members) > most:
            return PROCESSES
        if most is None or len(members) < 2:
            return self._look_closely(members)
        with Ceiling(most, self._children) as guard:
            excess = self._look_closely(members)
        return PROCESSES if guard.struck else excess

    def _look_closely(self, members: list[census.ProcessSeen]) -> str:
        order = self._order
        self._count(members)
        if order.cpu_seconds is not None and self.cpu_seconds > order.cpu_seconds:
            return CPU
        self._holdings.look(members, self._reaped_bytes)
        self._weigh(members)
        if order.memory_bytes is not None and self._most_bytes > order.memory_bytes:
            return MEMORY
        if order.file_bytes is not None and self._holdings.disk_bytes > order.file_bytes:
            return FILES
        bounded = order.memory_bytes is not None or order.file_bytes is not None
        if self._holdings.hidden and bounded and not order.may_hide:
            return HIDDEN
        self._wait(members)
        return WALL if time.monotonic() >= self.late_at else ""

    def reap(self, pid: int) -> None:
        if pid == self.leader and time.monotonic() - self.began > UNDELAYED_SECONDS:
            self._delays[pid, b""] = max(census.delay_seconds(pid), self._delays.get((pid, b""), 0.0))
        _, status, usage = os.wait4(pid, 0)
        self._reaped[pid] = self._reaped.get(pid, 0.0) + usage.ru_utime + usage.ru_stime
        self._reaped_bytes += usage.ru_oublock * BLOCK_BYTES
        peak = usage.ru_maxrss * MAXRSS_BYTES
        if peak > self._floor_bytes:
            self._most_bytes = max(self._most_bytes, peak)
        if pid == self.leader:
            self.status = os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """Call this when all its processes have been reaped."""
        if self._group is not None and self._group.counts:
            self._count([])
        else:
            self.cpu_seconds = max(self.cpu_seconds, self._ledger.look([], self._reaped))
        if not self.excess:
            self.excess = self._excess_at_the_end()

    def _excess_at_the_end(self) -> str:
        """The kernel's own limit on CPU time may have ended the run before our next look."""
        order = self._order
        if excess := excess_of(self.status or 0, self.cpu_seconds, order.cpu_seconds):
            return excess
        return FILES if order.file_bytes is not None and self._reaped_bytes > order.file_bytes else ""

    def _count(self, members: list[census.ProcessSeen]) -> None:
        seconds = self._ledger.look(members, self._reaped)
        if self._group is not None:
            seconds = max(seconds, self._group.cpu_seconds(seconds))
        self.cpu_seconds = max(self.cpu_seconds, seconds)

    def _weigh(self, members: list[census.ProcessSeen]) -> None:
        if not members:
            return
        largest = max(members, key=lambda member: member.resident_bytes)
        self._most_bytes = max(self._most_bytes, largest.resident_bytes, census.peak_bytes(largest.place))
        if sum(member.resident_bytes for member in members) > self._most_bytes:  # much of it may be shared
            self._most_bytes = max(self._most_bytes, min(_shares_bytes(members), _shares_bytes(members)))
        if in_files := self._holdings.memory_bytes:
            own = census.own_bytes(members[0].place) if len(members) == 1 else _own_shares_bytes(members)
            self._most_bytes = max(self._most_bytes, own + in_files)

    def _wait(self, members: list[census.ProcessSeen]) -> None:
        runnable = False
        for member in members:
            runnable = runnable or member.runnable
            self._delays[member.pid, b""] = census.delay_seconds(member.pid)
            if member.threads > 1:
                for thread, ready, seconds in census.other_threads(member.pid, MOST_THREADS):
                    runnable = runnable or ready
                    self._delays[member.pid, thread] = seconds
        now = time.monotonic() - self.began
        since, seconds, delay, was_runnable = self._last_look
        seen = now - since - (self.cpu_seconds - seconds) if runnable or was_runnable else 0.0
        self.waited_seconds += max(0.0, seen, self.delay_seconds - delay)
        self._last_look = now, self.cpu_seconds, self.delay_seconds, runnable


def _shares_bytes(members: list[census.ProcessSeen]) -> int:
    """The memory of all of them together. If processes come and go while it is added up, shares are read at different
    times and the sum can be too large; so it is read twice."""
    return sum(census.shared_out_bytes(member.place) for member in members)


def _own_shares_bytes(members: list[census.ProcessSeen]) -> int:
    """The same without memory that belongs to files."""
    return min(sum(census.own_shared_out_bytes(member.place) for member in members) for _ in range(2))


def excess_of(status: int, cpu_seconds: float, limit: float | None) -> str:
    killed = status in (-signal.SIGKILL, -signal.SIGXCPU)
    return CPU if killed and limit is not None and cpu_seconds > limit else ""
