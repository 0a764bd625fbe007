"""The processes of this machine, and which of them belong to a launch. Only Linux tells so much of them (/proc)."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MARK = "TROUPE_EDITOR"
"""The variable of the environment by which the processes of a launch are known."""


class Known(NamedTuple):
    """A process, and no other that has the same id later."""

    pid: int
    start: int
    """In ticks since the machine was started."""


class Census:
    """The processes of this machine, as far as /proc tells of them."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self.there = (proc / "self" / "stat").exists()
        try:
            self.boot = (proc / "sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            self.boot = ""

    def start(self, pid: int) -> int | None:
        """None: there is no such process that lives."""
        fields = self._stat(pid)
        return None if fields is None or fields[0] in (b"Z", b"X") else int(fields[19])

    def parent(self, pid: int) -> int | None:
        fields = self._stat(pid)
        return None if fields is None else int(fields[1])

    def is_stopped(self, pid: int) -> bool:
        """As by SIGSTOP."""
        fields = self._stat(pid)
        return fields is not None and fields[0] in (b"T", b"t")

    def has_open(self, pid: int, file: os.stat_result) -> bool:
        with suppress(OSError), os.scandir(self._proc / str(pid) / "fd") as entries:
            for entry in entries:
                with suppress(OSError):  # it is no file, or was closed
                    if os.path.samestat(os.stat(entry.path), file):
                        return True
        return False

    def _stat(self, pid: int) -> list[bytes] | None:
        """The fields from the third on: the second may hold blanks and brackets."""
        try:
            return (self._proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return None

    def family(self, token: str, child: Known | None = None) -> set[Known]:
        """What belongs to a launch: all that carry its token, and their children. `child`: belongs to it whatever it
        shows, for we have started it ourselves."""
        mark = f"{MARK}={token}\0".encode()
        alive = {pid: start for pid in self._pids() if (start := self.start(pid)) is not None}
        alive.pop(os.getpid(), None)  # we may have been started in a terminal of that editor
        found = {pid for pid in alive if mark in self._environment(pid)}
        if child is not None and alive.get(child.pid) == child.start:
            found.add(child.pid)
        parents = {pid: self.parent(pid) for pid in alive}
        while more := {pid for pid, above in parents.items() if above in found and pid not in found}:
            found |= more
        return {Known(pid, alive[pid]) for pid in found}

    def _pids(self) -> list[int]:
        ours = os.geteuid()
        found = []
        with suppress(OSError), os.scandir(self._proc) as entries:
            for entry in entries:
                if entry.name.isdigit():
                    with suppress(OSError):  # it has just ended
                        if entry.stat(follow_symlinks=False).st_uid == ours:
                            found.append(int(entry.name))
        return found

    def _environment(self, pid: int) -> bytes:
        try:
            return (self._proc / str(pid) / "environ").read_bytes()
        except OSError:  # it has ended, or hides it; then it is known by whose child it is
            return b""

    def signal(self, each: Known, number: signal.Signals) -> None:
        """By a descriptor of the process, so that it can be no other by then."""
        with suppress(OSError):
            file = os.pidfd_open(each.pid)
            try:
                if self.start(each.pid) == each.start:
                    signal.pidfd_send_signal(file, number)
            finally:
                os.close(file)


def uptime() -> float:
    """Seconds by a clock that nobody sets, and that all processes share."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
