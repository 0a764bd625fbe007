"""A keeper: runs the programs that it is ordered to, one at a time, and makes sure that each ends completely.

    IDLE --run--> RUNNING --the leader ends, an excess, stop, EOF--> ENDING --no child left--> IDLE
                                                                     ENDING --not in time----> it ends itself
    EOF: the keeper ends its run, and then itself.

If a run has a limit that the kernel does not enforce, its processes are inspected every `LOOK_SECONDS`: their total CPU
time, their total memory, their number, the bytes that they write to files (`account.py`). This never takes more than a
fifth of our time. The price is the time between two looks: a run may exceed its limits a little before it is stopped.
The totals at the end come from the kernel's counts and show by how much.

A run is over when its leader ends. Processes that the leader leaves behind are ended with it.

Between runs the keeper may have one child: an interpreter that waits for the next one (`standby.py`).
"""

import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from transports.process.launcher import census
from transports.process.launcher.account import Account
from transports.process.launcher.bell import Bell
from transports.process.launcher.birth import NotBorn, bear
from transports.process.launcher.group import Group
from transports.process.launcher.orders import (
    ALIVE,
    FAILED,
    HERE,
    RUN,
    STOP,
    WAITED,
    Order,
    RunEnded,
    framed,
    read_order,
    take_frame,
)
from transports.process.launcher.standby import CloneLost, Standby
from transports.process.launcher.striking import kill_group, strike
from transports.process.launcher.system import LINUX

EARLY_SECONDS, EARLY_LOOK_SECONDS, LOOK_SECONDS = 0.1, 0.025, 0.01
"""Most programs end before the first look or soon after it, so the first looks are less frequent."""
TOLD_SECONDS = 0.05
"""The server is told of a run that takes longer than this. Until then it need not do anything for the run."""
LOOK_SHARE = 4.0
"""The next look waits at least this many times as long as the last one took."""
STRIKE_SECONDS = 0.005
"""After this time, processes that are still alive are searched for again."""
TELL_SECONDS = 1.0
"""The server is told whenever a run has waited this much longer for processors. Otherwise the server would stop the run
itself, some seconds after its wall time. It must know when the run began before; a look may take a second."""
PATIENCE_SECONDS = 4.0
"""For a run to end that has been killed."""


class ServerLine:
    """Our end of the socket to the server."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._held = bytearray()
        self._streams: list[int] = []

    def fileno(self) -> int:
        return self._end.fileno()

    def receive(self) -> bool:
        """Receives what has come, or waits for it. False: the server has ended, or has closed our socket."""
        try:
            data, streams, _, _ = socket.recv_fds(self._end, 65536, 4)
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


class Keeper:
    def __init__(self, line: ServerLine, group: Group | None = None) -> None:
        self._line = line
        self._group = group
        self._bell = Bell()
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)
        self._poll.register(self._bell, select.POLLIN)
        self._wanted = True
        self._standby = Standby()
        self._processors = os.sched_getaffinity(0) if LINUX else set[int]()
        """Those that every run may use, whatever the last one has done to us."""
        self._began = 0.0
        """The beginning of the current run."""

    def serve(self) -> None:
        """Serves until the server closes our socket."""
        self._line.say(framed(HERE, b"%d" % os.getpid()))
        while self._wanted:
            fields = self._line.take()
            if fields is None:
                self._receive()
            elif fields[0] == RUN:
                self._run(read_order(fields), self._line.take_streams())

    def _receive(self) -> None:
        seconds = self._standby.seconds_left()
        if seconds is not None and not select.select([self._line], [], [], seconds)[0]:
            self._standby.end()
        else:
            self._wanted = self._line.receive()

    def _run(self, order: Order, streams: list[int]) -> None:
        if LINUX and os.sched_getaffinity(0) != self._processors:
            with suppress(OSError):  # none of them is left to us
                os.sched_setaffinity(0, self._processors)
        self._standby.prepare(order)
        self._began = time.monotonic()
        try:
            leader = bear(order, streams, self._clone)
        except NotBorn as failure:
            self._line.say(framed(FAILED, failure.stage.encode(), b"%d" % failure.number))
            return
        except CloneLost:  # a clone may have run, and nobody knows how far: the run is interrupted
            self._wanted = False
            return
        finally:
            for stream in streams:
                os.close(stream)
        run = Account(order, leader, self._began, self._group, self._children)
        self._attend(run)
        seconds = time.monotonic() - self._began
        kill_group(leader)
        left = not self._end_children(run.reap)
        run.close()
        status = -signal.SIGKILL if run.status is None else run.status
        ended = RunEnded(status, run.excess, run.cpu_seconds, seconds, run.delay_seconds, run.peak_bytes, left)
        if left:
            self._wanted = False
        self._line.say(ended.frame())

    def _clone(self, given: list[int]) -> int:
        try:
            return self._standby.clone(given)
        except CloneLost:
            clones: list[int] = []

            def reap(clone: int) -> None:
                _reap(clone)
                clones.append(clone)

            if not self._end_children(reap) or clones:
                raise
            self._began = time.monotonic()
            return 0

    def _children(self) -> list[int]:
        """Everything that belongs to a run is one of these, or below one."""
        return self._besides(census.own_children())

    def _besides(self, children: list[int]) -> list[int]:
        return [child for child in children if child != self._standby.pid]

    def _attend(self, run: Account) -> None:
        """Waits until the leader has ended, or must be ended."""
        announced, told = False, 0.0
        look_at = run.began + EARLY_LOOK_SECONDS
        while not self._leader_ended(run):
            now = time.monotonic()
            if now >= look_at:
                if not announced and now >= run.began + TOLD_SECONDS:
                    announced = True
                    self._line.say(framed(ALIVE, b"%d" % run.leader, repr(now - run.began).encode()))
                run.excess = run.look()
                if run.excess:
                    return
                if announced and run.waited_seconds > told + TELL_SECONDS:
                    told = run.waited_seconds
                    self._line.say(framed(WAITED, repr(told).encode()))
                took = time.monotonic() - now
                wait = LOOK_SECONDS if now >= run.began + EARLY_SECONDS else EARLY_LOOK_SECONDS
                soon = now + took + LOOK_SECONDS
                due = now + took + max(wait, LOOK_SHARE * took) if run.limited or not announced else math.inf
                look_at = min(due, max(soon, run.late_at))
            if self._wait(None if look_at == math.inf else look_at - now):
                return

    def _wait(self, seconds: float | None) -> bool:
        """Waits for an event, or until the time is over. True: the run has to be stopped."""
        if self._is_stopped():  # it came with the order
            return True
        stop = False
        for descriptor, _ in self._poll.poll(None if seconds is None else max(1, round(seconds * 1000))):
            if descriptor == self._bell.fileno():
                self._bell.silence()
            elif not self._line.receive():
                self._wanted = False
                return True
            else:
                stop = self._is_stopped() or stop
        return stop

    def _is_stopped(self) -> bool:
        stop = False
        while (fields := self._line.take()) is not None:
            stop = stop or fields[0] == STOP
        return stop

    def _leader_ended(self, run: Account) -> bool:
        """Whether the leader has ended. It is not reaped yet, so its number still belongs to its group. Orphans are."""
        while (ended := _ended_child()) is not None:
            if ended == run.leader:
                return True
            self._reap(ended, run.reap)
        return False

    def _reap(self, ended: int, reap: Callable[[int], object]) -> None:
        if ended == self._standby.pid:
            _reap(ended)
            self._standby.forget()
        else:
            reap(ended)

    def _end_children(self, reap: Callable[[int], object]) -> bool:
        """Ends all children but the one that waits. False: one could not be ended."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                while (ended := _ended()) is not None:
                    self._reap(ended, reap)
            except ChildProcessError:
                return True
            children = census.own_children()
            left = self._besides(children)
            if children and not left:  # while one waits, there is no ECHILD; a list that could not be read is empty
                return True
            if time.monotonic() > until:
                return False
            strike(left)
            self._bell_within(STRIKE_SECONDS)

    def _bell_within(self, seconds: float) -> None:
        if select.select([self._bell], [], [], seconds)[0]:
            self._bell.silence()


def _reap(pid: int) -> None:
    os.waitpid(pid, 0)


def _ended_child() -> int | None:
    """A child that has ended and is not yet reaped."""
    try:
        return _ended()
    except ChildProcessError:
        return None


def _ended() -> int | None:
    """The same. ChildProcessError: there is no child at all."""
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found.si_pid if found is not None else None
