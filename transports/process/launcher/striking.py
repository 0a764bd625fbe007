"""Kills processes; and guards a run while its processes are inspected.

Some reads of an inspection have to wait for the inspected process. A process that forks locks its memory. If it
competes with a thousand others for processors, it keeps this lock for seconds, in which each of the others forks again,
and the inspection would never finish counting them. So meanwhile a thread counts them, by reads that never wait. If
there are too many, it kills all of them, and the inspection has nothing to wait for any more.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType

from transports.process.launcher import census

COUNT_SECONDS = 0.02


def strike(roots: list[int]) -> None:
    """Kills these processes and all below them, each with its group: a whole group dies at once, even if it forks.

    They are below us, and sessions cannot be entered from outside, so no other process is in any of their groups."""
    members = census.family(roots)
    for group in {member.group for member in members} - {os.getpgrp()}:
        kill_group(group)
    for member in members:
        if not member.zombie:
            _kill(member.pid)


def kill_group(group: int) -> None:
    """Kills a group. If only programs of another user are left in it (su, ping), we can only wait for their end."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # as above
        os.kill(pid, signal.SIGKILL)


class Ceiling:
    """Surrounds an inspection, and limits the number of processes below us meanwhile. No process is reaped in it."""

    def __init__(self, most: int, children: Callable[[], list[int]]) -> None:
        self._most = most
        self._children = children
        self._over = Event()
        self._thread = Thread(target=self._count, daemon=True)
        self.struck = False
        """Whether there were too many processes, and they have been killed."""

    def __enter__(self) -> "Ceiling":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._over.wait(COUNT_SECONDS):
            roots = self._children()
            if len(census.family(roots, self._most + 1)) > self._most:
                self.struck = True
                strike(roots)
