"""Finds what processes use besides their own pages: memory in the form of files (memfd, /dev/shm), and disk space.

It looks at the open files of each process. A file that was closed counts as long as its name still exists. The kernel
counts writes to disks, in pages, for each process and for the children that it has reaped.

A process can forbid this inspection, and it can have mounts that no other process sees. Then it is `hidden`. A clone
that has not begun cannot be inspected either, and does not hide (`standby.py`): it waits for a processor, and it is the
leader of its group from the moment when it begins, for good.

Not seen: a memfd that is mapped, closed, and filled without touching the mapping; a memfd that no process has open
because it is on its way through a socket; disk blocks that were allocated, not written, and closed between two looks.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from transports.process.launcher.census import ProcessSeen, number_after, read

BLOCK_BYTES = 512
MOST_FILES = 4096
"""Files that a process may have open. All of them are looked at."""
MOST_THREADS = 64
"""Threads of a process that are looked at, because each may have a table of open files of its own."""
MOST_REMEMBERED = 4096


def _our_mounts() -> int:
    try:
        return os.stat("/proc/self/ns/mnt").st_ino
    except OSError:  # this is not Linux
        return 0


OUR_MOUNTS = _our_mounts()


def _memory_devices() -> frozenset[int]:
    """The devices whose files are in memory."""
    devices = set()
    for line in read("/proc/self/mountinfo").splitlines():
        fields = line.split(b" ")
        if b"-" in fields and fields[fields.index(b"-") + 1] in (b"tmpfs", b"ramfs", b"devtmpfs", b"hugetlbfs"):
            major, minor = fields[2].split(b":")
            devices.add(os.makedev(int(major), int(minor)))
    for flags in (0, getattr(os, "MFD_HUGETLB", 0)):
        with suppress(AttributeError, OSError):
            descriptor = os.memfd_create("device", flags)
            devices.add(os.fstat(descriptor).st_dev)
            os.close(descriptor)
    return frozenset(devices)


class Holdings:
    """The holdings of one run."""

    memory_devices = _memory_devices()

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._files: dict[tuple[int, int], tuple[str, int]] = {}
        """For each file, by device and number: the name by which it was opened, and its size on the disk."""
        self.memory_bytes = 0
        """The memory in files now."""
        self.disk_bytes = 0
        """The largest amount so far that was written, or that files open for writing had."""
        self.hidden = False
        """Whether a process could not be inspected twice. Once may only mean that it was just ending."""
        self._suspects: set[tuple[int, int]] = set()

    def look(self, members: Iterable[ProcessSeen], reaped_bytes: int) -> None:
        written = reaped_bytes
        memory, disk = 0, 0
        seen: set[tuple[int, int]] = set()
        suspects: set[tuple[int, int]] = set()
        for member in members:
            if member.zombie:
                continue
            if _is_hidden(member) and not (member.pid == self._leader != member.group):
                suspects.add((member.pid, member.began))
            written += _written_bytes(member.pid)
            for path in _open_files(member):
                with suppress(OSError):  # closed meanwhile
                    status = os.stat(path)
                    file = status.st_dev, status.st_ino
                    if not stat.S_ISREG(status.st_mode) or file in seen:
                        continue
                    in_memory = status.st_dev in self.memory_devices
                    if in_memory or os.lstat(path).st_mode & stat.S_IWUSR:
                        seen.add(file)
                        if status.st_blocks and len(self._files) < MOST_REMEMBERED:
                            self._files[file] = os.readlink(path), status.st_blocks
        self.hidden = self.hidden or bool(suspects & self._suspects)
        self._suspects = suspects
        for file, (name, blocks) in tuple(self._files.items()):
            if file not in seen:
                blocks = _blocks_of(name, file)
                if not blocks:
                    del self._files[file]
            if file[0] in self.memory_devices:
                memory += blocks * BLOCK_BYTES
            else:
                disk += blocks * BLOCK_BYTES
        self.memory_bytes = memory
        self.disk_bytes = max(self.disk_bytes, written, disk)


def _open_files(member: ProcessSeen) -> Iterator[str]:
    """A link to each open file, below /proc. A thread may have a table of its own, which its process does not show."""
    tables = [f"/proc/{member.place}/fd"]
    if member.threads > 1:
        with suppress(OSError):
            threads = os.listdir(f"/proc/{member.pid}/task")[:MOST_THREADS]
            tables = [f"/proc/{member.pid}/task/{thread}/fd" for thread in threads]
    for table in tables:
        with suppress(OSError):  # it has gone, or hides
            for number in os.listdir(table)[:MOST_FILES]:
                yield f"{table}/{number}"


def _is_hidden(member: ProcessSeen) -> bool:
    """Whether it may not be inspected, or has mounts of its own."""
    try:
        return os.stat(f"/proc/{member.place}/ns/mnt").st_ino != OUR_MOUNTS
    except PermissionError:
        return True
    except OSError:  # it has gone
        return False


def _written_bytes(pid: int) -> int:
    """The bytes that it and its reaped children have written to disks, without data that was deleted before that."""
    counts = read(f"/proc/{pid}/io")
    return max(0, number_after(b"\nwrite_bytes:", counts) - number_after(b"\ncancelled_write_bytes:", counts))


def _blocks_of(name: str, file: tuple[int, int]) -> int:
    """The file's size on the disk, if it still exists."""
    try:
        status = os.stat(name, follow_symlinks=False)
    except (OSError, ValueError):
        return 0
    return status.st_blocks if (status.st_dev, status.st_ino) == file else 0
