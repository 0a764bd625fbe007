"""A keeper: runs what it is ordered to, one run at a time, and sees each to its end.

    IDLE --run--> RUNNING --the leader ends, an excess, stop, EOF--> ENDING --no child left--> IDLE
                                                                     ENDING --not in time----> it ends itself
    EOF: whatever runs is ended, and then itself.

While a run has a limit that the kernel does not hold, its processes are looked at every `LOOK_SECONDS`: their CPU
time together, their memory together, their number, what they write to files (`account.py`). Looking never takes more
than a fifth of our time. What they use between two looks is the price: a run may have somewhat more than its limits
before it is stopped, and the totals that are told at the end say how much, from what the kernel counted.

The run is over when its leader is: whatever the leader leaves behind is ended with it.
"""

import math
import os
import select
import signal
import socket
import time
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
    Ended,
    Order,
    framed,
    read_order,
    take_frame,
)
from transports.process.launcher.striking import kill_group, strike

EARLY_SECONDS, EARLY_LOOK_SECONDS, LOOK_SECONDS = 0.1, 0.025, 0.01
"""Most programs have ended before the first look, or soon after it: at first they are looked at less often."""
TOLD_SECONDS = 0.05
"""The server is told of a run that lives for longer; until then it has nothing to do for it."""
LOOK_SHARE = 4.0
"""So many times as long as a look took, the next one waits at least."""
STRIKE_SECONDS = 0.005
"""Whoever is not dead by then is looked for again."""
TELL_SECONDS = 1.0
"""Whenever a run has waited so much longer for processors, the server is told: it would stop it some seconds after its
wall time, should we not."""
PATIENCE_SECONDS = 4.0
"""For a run to end that has been killed."""


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


class Keeper:
    def __init__(self, line: Line, group: Group | None = None) -> None:
        self._line = line
        self._group = group
        self._bell = Bell()
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)
        self._poll.register(self._bell, select.POLLIN)
        self._wanted = True

    def serve(self) -> None:
        """Until the server lets go of us."""
        self._line.say(framed(HERE, b"%d" % os.getpid()))
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
        run = Account(order, leader, began, self._group)
        self._attend(run)
        seconds = time.monotonic() - began
        left = not self._end(run)
        run.close()
        status = -signal.SIGKILL if run.status is None else run.status
        ended = Ended(status, run.excess, run.cpu_seconds, seconds, run.delay_seconds, run.peak_bytes, left)
        if left:
            self._wanted = False
        self._line.say(ended.frame())

    def _attend(self, run: Account) -> None:
        """Until the leader has ended, or must."""
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
                if run.waited_seconds > told + TELL_SECONDS:
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

    def _leader_ended(self, run: Account) -> bool:
        """It is not reaped yet, so that its number still is its group's. Orphans are reaped on the way."""
        while (ended := _ended_child()) is not None:
            if ended == run.leader:
                return True
            run.reap(ended)
        return False

    def _end(self, run: Account) -> bool:
        """Leave no child. False: one could not be ended."""
        kill_group(run.leader)
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                while (ended := _ended()) is not None:
                    run.reap(ended)
            except ChildProcessError:
                return True
            if time.monotonic() > until:
                return False
            strike(census.children(os.getpid()))
            self._bell_within(STRIKE_SECONDS)

    def _bell_within(self, seconds: float) -> None:
        if select.select([self._bell], [], [], seconds)[0]:
            self._bell.silence()


def _ended_child() -> int | None:
    """A child that has ended and is not reaped."""
    try:
        return _ended()
    except ChildProcessError:
        return None


def _ended() -> int | None:
    """The same. ChildProcessError: there is no child at all."""
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found.si_pid if found is not None else None
