"""Finds the processes below a process, and their use of CPU and memory: reads /proc with as few calls as possible.

Most kernels list the children of each thread. With others, every process has to be asked for its parent. Both are
snapshots of a moving target: a child may be missed, and is found the next time. A process that has ended meanwhile is
not an error. Without /proc no process can be seen.
"""

import os
from collections.abc import Callable, Iterable

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SHORT = 2048
"""/proc returns about a page at a time, so an answer of less than half a page is complete."""
LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class ProcessSeen:
    """One process, as its `stat` had it."""

    __slots__ = (
        "began", "children_ticks", "group", "own_ticks", "parent", "pid", "place", "resident_bytes", "runnable",
        "threads", "zombie",
    )  # fmt: skip

    def __init__(self, pid: int, stat: bytes) -> None:
        fields = stat[stat.rindex(b")") + 2 :].split(b" ", 22)  # a name may contain spaces and parentheses
        self.pid = pid
        self.place = str(pid)
        """The folder below /proc that has its memory figures."""
        self.runnable = fields[0] == b"R"
        """Whether its main thread runs, or would run if a processor were free."""
        self.zombie = fields[0] in (b"Z", b"X")
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.own_ticks = int(fields[11]) + int(fields[12])
        """The CPU time of all its threads."""
        self.children_ticks = int(fields[13]) + int(fields[14])
        """The CPU time of the children that it has reaped, including their children's."""
        self.threads = int(fields[17])
        self.began = int(fields[19])
        """The time of its start, in ticks. It tells two processes with the same number apart."""
        self.resident_bytes = int(fields[21]) * PAGE_BYTES


def family(roots: Iterable[int], most: int | None = None) -> list[ProcessSeen]:
    """These processes and all below them; no more than `most`, if that is given."""
    below = _children if LISTS_CHILDREN else _by_parents()
    found: list[ProcessSeen] = []
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


def own_children() -> list[int]:
    return children(os.getpid())


def member_of(pid: int) -> ProcessSeen | None:
    stat = read(f"/proc/{pid}/stat")
    member = ProcessSeen(pid, stat) if stat else None
    if member is not None and member.zombie and member.threads > 1:
        _follow_a_thread(member)
    return member


def _follow_a_thread(member: ProcessSeen) -> None:
    """If its main thread has ended while the process goes on, takes the figures of a thread that is left."""
    try:
        threads = os.listdir(f"/proc/{member.pid}/task")
    except OSError:
        return
    for thread in threads:
        place = f"{member.pid}/task/{thread}"
        stat = read(f"/proc/{place}/stat")
        if stat and not (other := ProcessSeen(member.pid, stat)).zombie:
            member.zombie, member.runnable, member.resident_bytes = False, other.runnable, other.resident_bytes
            member.place = place
            return


def peak_bytes(place: int | str) -> int:
    """The peak memory of a living process; 0 if it is not known."""
    return number_after(b"VmHWM:", read(f"/proc/{place}/status")) * 1024


def own_bytes(place: int | str) -> int:
    """Its memory that does not belong to files; 0 if it is not known."""
    return number_after(b"RssAnon:", read(f"/proc/{place}/status")) * 1024


def shared_out_bytes(place: int | str) -> int:
    """Its memory, where shared memory counts in proportion; 0 if it is not known. This costs more than the others."""
    return number_after(b"\nPss:", read(f"/proc/{place}/smaps_rollup")) * 1024


def own_shared_out_bytes(place: int | str) -> int:
    """The same for memory that does not belong to files."""
    return number_after(b"\nPss_Anon:", read(f"/proc/{place}/smaps_rollup")) * 1024


def delay_seconds(pid: int) -> float:
    """How long its main thread was ready to run without running, even for a zombie; 0 if it is not known."""
    return _delay(f"/proc/{pid}/schedstat")


def other_threads(pid: int, most: int) -> list[tuple[bytes, bool, float]]:
    """For each thread except the main one: its number, whether it is runnable, and its delay."""
    try:
        threads = os.listdir(b"/proc/%d/task" % pid)
    except OSError:
        return []
    main = b"%d" % pid
    found = []
    for tid in threads[:most]:
        if tid != main:
            place = f"/proc/{pid}/task/{tid.decode()}"
            found.append((tid, b") R " in read(f"{place}/stat"), _delay(f"{place}/schedstat")))
    return found


def _delay(path: str) -> float:
    numbers = read(path).split()
    return int(numbers[1]) / 1e9 if len(numbers) > 1 else 0.0


def number_after(key: bytes, text: bytes) -> int:
    """The number that follows `key`; 0 if the key is missing."""
    at = text.find(key)
    return int(text[at + len(key) :].split(None, 1)[0]) if at >= 0 else 0


def _children(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in read(f"/proc/{pid}/task/{thread}/children").split()]


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


def read(path: str) -> bytes:
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
