"""A cgroup (version 2) for each keeper, where we may make one. It counts the CPU time of all processes of a run, no
matter which process reaps them, and needs no controller.

    <our own>/troupe-<launcher>/<keeper>

Groups are made below our own and nowhere else, because the levels above belong to others. We may make them where the
system has delegated our group to us (programs of a desktop session; `Delegate=yes` in a unit), or as root. A keeper is
in its group itself, so the programs that it starts are in it from their first moment. The keeper's own time is
subtracted.

The launcher removes a group when its keeper has ended. The next launcher removes the groups of one that was killed. If
the server and the keepers were killed with it, runs may be left in these groups, and are ended; a group whose keeper is
alive is left to it.

Paths are strings here and in standby.py: to import pathlib took a sixth of a launcher's start.
"""

import os
import signal
import time
from contextlib import suppress

from transports.process.launcher.census import number_after, read

PREFIX = "troupe-"
LOOK_SECONDS, MOST_LOOKS = 0.001, 100
"""Between two looks for members of a group that are to be ended. One that hangs in the kernel is not waited for."""


class Group:
    """The group of a keeper, which is in it."""

    def __init__(self, folder: str) -> None:
        self._counts = os.open(f"{folder}/cpu.stat", os.O_RDONLY | os.O_CLOEXEC)
        self._before: float | None = None
        """The count before the current run; None until it is first read."""

    def begin(self) -> None:
        """A run begins."""
        self._before = None

    @property
    def counts(self) -> bool:
        """Whether it has been read in the current run."""
        return self._before is not None

    def cpu_seconds(self, known: float) -> float:
        """The CPU time of all processes of the current run. `known` is the time that is known from other sources. It
        stands for the time before the first reading, because most runs are too short for the group to be read at
        all."""
        used = number_after(b"usage_usec", os.pread(self._counts, 4096, 0)) / 1e6 - time.process_time()
        if self._before is None:
            self._before = used - known
        return used - self._before


class Groups:
    """The groups of a launcher."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def enter(self) -> Group | None:
        """Enters a new group. Called by a keeper."""
        folder = f"{self._folder}/{os.getpid()}"
        try:
            os.mkdir(folder)
            with open(f"{folder}/cgroup.procs", "w") as members:
                members.write("0")
            return Group(folder)
        except OSError:
            return None

    def left_by(self, keeper: int) -> None:
        """The keeper has ended. Its group is removed with the last process in it."""
        with suppress(OSError):
            os.rmdir(f"{self._folder}/{keeper}")

    def close(self) -> None:
        _remove(self._folder)


def own_groups() -> Groups | None:
    """The groups of this process, which is a launcher; None if it may not make any."""
    above = _own()
    if above is None:
        return None
    for other in _below(above):
        name = os.path.basename(other)
        if name.startswith(PREFIX) and not os.path.exists(f"/proc/{name.removeprefix(PREFIX)}"):
            for keeper in _below(other):
                _end_what_is_left(keeper)
            _remove(other)
    folder = f"{above}/{PREFIX}{os.getpid()}"
    try:
        os.mkdir(folder)
    except OSError:
        return None
    return Groups(folder)


def _own() -> str | None:
    """The folder of our own group."""
    try:
        inside = next(line for line in _lines("/proc/self/cgroup") if line.startswith("0::"))
        mounts = _lines("/proc/self/mountinfo")
    except (OSError, StopIteration):
        return None
    for mount in mounts:
        fields = mount.split(" ")
        if " - cgroup2 " in mount and fields[3] == "/":
            return fields[4] + inside.removeprefix("0::").rstrip("/")
    return None


def _lines(path: str) -> list[str]:
    with open(path) as file:
        return file.read().splitlines()


def _below(folder: str) -> list[str]:
    """The groups in this one, such as those of keepers in a launcher's."""
    with suppress(OSError), os.scandir(folder) as found:
        return [group.path for group in found if group.is_dir()]
    return []


def _end_what_is_left(group: str) -> None:
    """Ends what runs in the group of a keeper, if the keeper itself has ended."""
    for _ in range(MOST_LOOKS):
        try:
            members = _lines(f"{group}/cgroup.procs")
        except OSError:
            return
        if not members or "0" in members or any(_calls_itself(os.path.basename(group), pid) for pid in members):
            return  # 0: somebody whom we cannot see, and so not one of ours
        for pid in members:
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(LOOK_SECONDS)


def _calls_itself(number: str, pid: str) -> bool:
    """Whether this is the process's own number for itself, which it sees otherwise than we if it is in a container."""
    numbers = read(f"/proc/{pid}/status").partition(b"\nNSpid:")[2].split(b"\n", 1)[0].split()
    return bool(numbers) and numbers[-1].decode() == number


def _remove(folder: str) -> None:
    for keeper in _below(folder):
        with suppress(OSError):  # somebody is in it
            os.rmdir(keeper)
    with suppress(OSError):
        os.rmdir(folder)
