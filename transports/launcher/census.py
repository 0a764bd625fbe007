"""Who is below a process, and what they use: /proc, read with as few calls as will do.

The kernel lists the children of each thread, if it was built to (most are); otherwise every process there is has to
be asked for its parent. Both are snapshots of something that moves: a child may be missed, and is found the next time.
A process that has gone meanwhile is no error. Without /proc there is nobody to be seen.
"""

import os
from collections.abc import Callable, Iterable

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SHORT = 2048
"""/proc gives about a page at a time: what comes in less than half of one is all there is."""
LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Member:
    """One process, as its `stat` had it."""

    __slots__ = ("cpu_ticks", "group", "parent", "pid", "resident_bytes", "zombie")

    def __init__(self, pid: int, stat: bytes) -> None:
        fields = stat[stat.rindex(b")") + 2 :].split(b" ", 22)  # a name may contain spaces and parentheses
        self.pid = pid
        self.zombie = fields[0] in (b"Z", b"X")
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.cpu_ticks = sum(map(int, fields[11:15]))
        """Of all its threads, and of its children that it has reaped."""
        self.resident_bytes = int(fields[21]) * PAGE_BYTES


def family(roots: Iterable[int], most: int | None = None) -> list[Member]:
    """These processes and all below them; no more than `most`, if that is given."""
    below = _children if LISTS_CHILDREN else _by_parents()
    found: list[Member] = []
    waiting = list(roots)
    seen = set(waiting)
    while waiting and (most is None or len(found) < most):
        pid = waiting.pop()
        member = member_of(pid)
        if member is None:
            continue
        found.append(member)
        for child in below(pid):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return found


def children(pid: int) -> list[int]:
    return (_children if LISTS_CHILDREN else _by_parents())(pid)


def member_of(pid: int) -> Member | None:
    stat = _read(f"/proc/{pid}/stat")
    return Member(pid, stat) if stat else None


def peak_bytes(pid: int) -> int:
    """The most memory that a living process has had; 0 if that is not known."""
    return _kilobytes(_read(f"/proc/{pid}/status"), b"VmHWM:")


def shared_out_bytes(pid: int) -> int:
    """What it has of memory, with what it shares counted in part; 0 if that is not known. Costs more than the rest."""
    return _kilobytes(_read(f"/proc/{pid}/smaps_rollup"), b"\nPss:")


def delay_seconds(pid: int) -> float:
    """How long its main thread was ready to run without running, also of a zombie; 0 if that is not known."""
    numbers = _read(f"/proc/{pid}/schedstat").split()
    return int(numbers[1]) / 1e9 if len(numbers) > 1 else 0.0


def _kilobytes(text: bytes, key: bytes) -> int:
    at = text.find(key)
    return int(text[at + len(key) :].split(None, 1)[0]) * 1024 if at >= 0 else 0


def _children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split()]


def _by_parents() -> Callable[[int], list[int]]:
    below: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        names = []
    for name in names:
        member = member_of(int(name)) if name.isdecimal() else None
        if member is not None:
            below.setdefault(member.parent, []).append(member.pid)
    return lambda pid: below.get(pid, [])


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        text = part = os.read(descriptor, 65536)
        while len(part) > SHORT:
            part = os.read(descriptor, 65536)
            text += part
        return text
    except OSError:  # it ended between the two
        return b""
    finally:
        os.close(descriptor)
