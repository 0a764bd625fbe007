"""The end of processes that did not ask for one; and a guard over a run while it is looked at more closely.

Some of what a look reads makes it wait for the process that it is about: a process that forks holds its memory, and if
it has left a thousand others behind that want processors, it holds it for seconds, in which each of them forks again.
Whoever looks would never count them. So a thread counts meanwhile: the reads that it needs wait for nobody. It ends
them all when they are too many, and so the look, which then has nobody to wait for.
"""

import os
import signal
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType

from transports.process.launcher import census

COUNT_SECONDS = 0.02


def strike(roots: list[int]) -> None:
    """Kill these and all below them, each with its group: a group is killed at one blow, also one that forks.

    They are below us, and sessions cannot be entered from outside, so no stranger is in any of their groups."""
    members = census.family(roots)
    for group in {member.group for member in members} - {os.getpgrp()}:
        kill_group(group)
    for member in members:
        if not member.zombie:
            _kill(member.pid)


def kill_group(group: int) -> None:
    """It has gone; or only programs of another user are left in it (su, ping), for whose end we can but wait."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # as above
        os.kill(pid, signal.SIGKILL)


class Guard:
    """Around a look: no more than so many processes below us, however long it takes. Nobody is reaped meanwhile."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._over = Event()
        self._thread = Thread(target=self._count, daemon=True)
        self.struck = False
        """There were more, and they have been killed."""

    def __enter__(self) -> "Guard":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._over.wait(COUNT_SECONDS):
            roots = census.children(os.getpid())
            if len(census.family(roots, self._most + 1)) > self._most:
                self.struck = True
                strike(roots)
