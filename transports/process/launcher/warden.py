"""The launcher itself: forks keepers, and ends what a killed keeper leaves behind.

For each keeper the server sends a descriptor: the keeper's end of a socket whose other end the server keeps. When the
server ends, its keepers notice it themselves; the launcher ends after the last of them.

A child of the launcher that is not a keeper is an orphan whose keeper was killed. It is killed at once. A keeper that
is halted (SIGSTOP) is useless, and is killed too.

The server may ask whether anything is left of what a keeper ran. It is answered when the keeper has ended, and there is
no orphan.
"""

import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress

from transports.process.launcher import census
from transports.process.launcher.bell import Bell
from transports.process.launcher.group import own_groups
from transports.process.launcher.keeper import PATIENCE_SECONDS, STRIKE_SECONDS, Keeper, ServerLine
from transports.process.launcher.orders import ASK, FAILED, KEEPER, PID_BYTES, READY, framed
from transports.process.launcher.restraint import restrain
from transports.process.launcher.striking import strike
from transports.process.launcher.system import (
    adopt_orphans,
    be_private,
    gain_nothing,
    go_first,
    keep_to_ourselves,
    settle,
)

LAST_SECONDS = PATIENCE_SECONDS + 2.0
"""From the server's end to that of the last keeper; then they are killed."""
STRIKE_MS, LAST_LOOK_MS = round(STRIKE_SECONDS * 1000), 1000
"""Between two looks: while orphans are left, and while the last keepers end."""


def serve() -> None:
    """Our standard input is the socket to the server."""
    settle()
    adopt_orphans()
    gain_nothing()
    be_private()
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        control.sendall(READY)
    except ConnectionError:  # the server was killed meanwhile
        return
    gc.disable()
    gc.freeze()  # pages that are not touched are not copied into a fork
    Warden(control).serve()


class Warden:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._bell = Bell()
        self._keepers: set[int] = set()
        self._asked: set[int] = set()
        """The keepers that the server has asked about."""
        self._groups = own_groups()
        self._orphans = False  # some may be left
        self._until: float | None = None  # not None if and only if the server has gone

    def serve(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        while self._until is None or self._keepers or self._orphans:
            for descriptor, _ in poll.poll(self._patience()):
                if descriptor == self._bell.fileno():
                    self._bell.silence()
                elif not self._receive():
                    poll.unregister(self._control)
                    self._until = time.monotonic() + LAST_SECONDS
            self._reap()
            if self._orphans:
                self._end_orphans()
            if self._asked and not self._orphans:
                self._answer()
            if self._until is not None and time.monotonic() > self._until:
                for keeper in self._keepers:
                    os.kill(keeper, signal.SIGKILL)
        if self._groups is not None:
            self._groups.close()

    def _patience(self) -> int | None:
        if self._orphans:
            return STRIKE_MS
        return None if self._until is None else LAST_LOOK_MS

    def _receive(self) -> bool:
        try:
            data, ends, _, _ = socket.recv_fds(self._control, 1, 1)
        except ConnectionError:
            return False
        for end in ends:
            os.set_inheritable(end, False)
            self._fork(end)
            os.close(end)
        if data == ASK:
            self._asked.add(int.from_bytes(self._control.recv(PID_BYTES, socket.MSG_WAITALL), "big"))
        return bool(data)

    def _fork(self, end: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:  # too many processes
            with socket.socket(fileno=os.dup(end)) as line:
                ServerLine(line).say(framed(FAILED, KEEPER.encode(), b"%d" % (error.errno or 0)))
            return
        if pid:
            self._keepers.add(pid)
            return
        status = 1
        try:
            self._bell.close()
            self._control.close()
            adopt_orphans()
            be_private(False)  # or the next would be refused
            go_first()
            be_private()
            group = None if self._groups is None else self._groups.enter()
            keep_to_ourselves()
            restrain()
            Keeper(ServerLine(socket.socket(fileno=end)), group).serve()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                self._orphans = False
                return
            if pid == 0:
                return
            if os.WIFSTOPPED(status):
                if pid in self._keepers:  # halted by what it runs, as a rule, which nobody looks after any more
                    os.kill(pid, signal.SIGKILL)
            elif pid in self._keepers:
                self._keepers.remove(pid)
                if self._groups is not None:
                    self._groups.left_by(pid)
                self._orphans = True  # we adopted its children before we were told of its end

    def _answer(self) -> None:
        for keeper in self._asked - self._keepers:
            self._asked.remove(keeper)
            with suppress(ConnectionError):  # the server has gone, and nobody asks any more
                self._control.sendall(keeper.to_bytes(PID_BYTES, "big"))

    def _end_orphans(self) -> None:
        orphans = [pid for pid in census.own_children() if pid not in self._keepers]
        strike(orphans)
        self._orphans = bool(orphans)
