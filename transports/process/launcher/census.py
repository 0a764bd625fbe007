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

    __slots__ = (
        "began", "children_ticks", "group", "own_ticks", "parent", "pid", "place", "resident_bytes", "runnable",
        "threads", "zombie",
    )  # fmt: skip

    def __init__(self, pid: int, stat: bytes) -> None:
        fields = stat[stat.rindex(b")") + 2 :].split(b" ", 22)  # a name may contain spaces and parentheses
        self.pid = pid
        self.place = str(pid)
        """Where its memory is told, below /proc."""
        self.runnable = fields[0] == b"R"
        """Its main thread runs, or would if a processor were free."""
        self.zombie = fields[0] in (b"Z", b"X")
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.own_ticks = int(fields[11]) + int(fields[12])
        """Of CPU time, of all its threads."""
        self.children_ticks = int(fields[13]) + int(fields[14])
        """Of its children that it has reaped, and theirs."""
        self.threads = int(fields[17])
        self.began = int(fields[19])
        """In ticks: another process of that number began at another time."""
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
    stat = read(f"/proc/{pid}/stat")
    member = Member(pid, stat) if stat else None
    if member is not None and member.zombie and member.threads > 1:
        _follow_a_thread(member)
    return member


def _follow_a_thread(member: Member) -> None:
    """Its main thread has ended and it goes on, or ends just now: what it has, a thread tells that is left."""
    try:
        threads = os.listdir(f"/proc/{member.pid}/task")
    except OSError:
        return
    for thread in threads:
        place = f"{member.pid}/task/{thread}"
        stat = read(f"/proc/{place}/stat")
        if stat and not (other := Member(member.pid, stat)).zombie:
            member.zombie, member.runnable, member.resident_bytes = False, other.runnable, other.resident_bytes
            member.place = place
            return


def peak_bytes(place: int | str) -> int:
    """The most memory that a living process has had; 0 if that is not known."""
    return number_after(b"VmHWM:", read(f"/proc/{place}/status")) * 1024


def own_bytes(place: int | str) -> int:
    """What it has of memory that is in no file; 0 if that is not known."""
    return number_after(b"RssAnon:", read(f"/proc/{place}/status")) * 1024


def shared_out_bytes(place: int | str) -> int:
    """What it has of memory, with what it shares counted in part; 0 if that is not known. Costs more than the rest."""
    return number_after(b"\nPss:", read(f"/proc/{place}/smaps_rollup")) * 1024


def own_shared_out_bytes(place: int | str) -> int:
    """The same, of what is in no file."""
    return number_after(b"\nPss_Anon:", read(f"/proc/{place}/smaps_rollup")) * 1024


def delay_seconds(pid: int) -> float:
    """How long its main thread was ready to run without running, also of a zombie; 0 if that is not known."""
    return _delay(f"/proc/{pid}/schedstat")


def other_threads(pid: int, most: int) -> list[tuple[bytes, bool, float]]:
    """Of each thread but the main one: its number, whether it is runnable, and its delay."""
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
    """0 if it is not there."""
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
