"""A cgroup (version 2) for each keeper, where we may make one: it counts the CPU time of all that is run, whoever reaps
it, and needs no controller.

    <our own>/troupe-<launcher>/<keeper>

Below our own, and nowhere else: what is above is others' to arrange. We may where the system has delegated it to us
(programs started in a desktop session; `Delegate=yes` in a unit), or as root. A keeper is in its group itself, so that
what it starts is from the first moment; its own time is taken off.

Groups are removed when their keeper has gone, by the launcher; those of launchers that were killed by the next.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

from transports.process.launcher.census import number_after

PREFIX = "troupe-"


class Group:
    """A keeper's, which it is in."""

    def __init__(self, folder: Path) -> None:
        self._counts = os.open(folder / "cpu.stat", os.O_RDONLY | os.O_CLOEXEC)
        self._before: float | None = None
        """What there was before the present run; None until that is looked at."""

    def begin(self) -> None:
        """Of a run."""
        self._before = None

    @property
    def counts(self) -> bool:
        """It was looked at in the present run."""
        return self._before is not None

    def cpu_seconds(self, known: float) -> float:
        """Of the present run, all its processes. `known`: what is known of it otherwise, which is all that is counted
        of the time before it was first asked for: most runs are short, and it never is."""
        used = number_after(b"usage_usec", os.pread(self._counts, 4096, 0)) / 1e6 - time.process_time()
        if self._before is None:
            self._before = used - known
        return used - self._before


class Groups:
    """A launcher's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def enter(self) -> Group | None:
        """As a keeper."""
        folder = self._folder / str(os.getpid())
        try:
            folder.mkdir()
            (folder / "cgroup.procs").write_text("0")
            return Group(folder)
        except OSError:
            return None

    def left_by(self, keeper: int) -> None:
        """It has gone. Its group goes with the last that was in it."""
        with suppress(OSError):
            (self._folder / str(keeper)).rmdir()

    def close(self) -> None:
        _remove(self._folder)


def own_groups() -> Groups | None:
    """Those of this process, which is a launcher; None: it may have none."""
    above = _own()
    if above is None:
        return None
    for other in above.glob(f"{PREFIX}*"):
        if not os.path.exists(f"/proc/{other.name.removeprefix(PREFIX)}"):
            _remove(other)
    folder = above / f"{PREFIX}{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        return None
    return Groups(folder)


def _own() -> Path | None:
    """The folder of the group that we are in."""
    try:
        inside = next(line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except (OSError, StopIteration):
        return None
    for mount in mounts:
        fields = mount.split(" ")
        if " - cgroup2 " in mount and fields[3] == "/":
            return Path(fields[4] + inside.removeprefix("0::"))
    return None


def _remove(folder: Path) -> None:
    with suppress(OSError):
        for keeper in folder.iterdir():
            if keeper.is_dir():
                with suppress(OSError):  # somebody is in it
                    keeper.rmdir()
        folder.rmdir()
