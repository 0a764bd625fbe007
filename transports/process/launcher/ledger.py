"""Adds up the CPU time of processes, including those that nobody reaps, from repeated looks and from reaped processes.

When a parent reaps a child, the kernel adds the child's CPU time to the parent's count for its children. A parent that
ignores the ends of its children does not reap them, and their time is in no count any more. So we remember the last
known time of each process that has gone, and its parent. If the parent's count for its children is less than the sum of
these, it has not reaped them.

    the total of a process      its own time, plus the larger of: its count for its children; the totals of its children
                                that have gone
    the total of all            the totals of living processes, the time of processes that we have reaped, and the part
                                of their totals that exceeds it

Rules
  - The result is never more than was used, so no process is stopped wrongly. The time that an unreaped process used
    after the last look is not counted. In a cgroup it is (see `group.py`).
  - Counts are whole ticks, cut off: a process's count of its children may miss one of each kind.
"""

from collections.abc import Callable, Iterable, Mapping

from transports.process.launcher import census
from transports.process.launcher.census import TICKS_PER_SECOND, ProcessSeen

CUT_OFF_TICKS = 2


class _Seen:
    __slots__ = ("gone", "member")

    def __init__(self, member: ProcessSeen) -> None:
        self.member = member
        self.gone = 0
        """The totals of its children that have gone."""

    @property
    def ticks(self) -> int:
        return self.member.own_ticks + max(self.member.children_ticks, self.gone - CUT_OFF_TICKS)


class CpuLedger:
    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        self._beyond = 0.0
        """Seconds, for processes that we have reaped."""

    def look(
        self,
        members: Iterable[ProcessSeen],
        reaped: Mapping[int, float],
        find: Callable[[int], ProcessSeen | None] = census.member_of,
    ) -> float:
        """The seconds of all processes. `members`: the processes that were found; `reaped`: the seconds of each one
        that we have reaped; `find`: searches for one that was overlooked, which can happen while others come and go."""
        before, self._seen = self._seen, {member.pid: _Seen(member) for member in members}
        gone: dict[int, _Seen] = {}
        for pid, seen in before.items():
            member = self._seen[pid].member if pid in self._seen else None if pid in reaped else find(pid)
            if member is None or member.began != seen.member.began:
                gone[pid] = seen
            else:
                self._seen[pid] = kept = _Seen(member)
                kept.gone = seen.gone
        for pid in reversed(_from_the_top(gone)):
            seen, parent = gone[pid], gone[pid].member.parent
            if pid in reaped:
                self._beyond += max(0.0, (seen.ticks - CUT_OFF_TICKS) / TICKS_PER_SECOND - reaped[pid])
            elif parent in gone:
                gone[parent].gone += seen.ticks
            elif parent in self._seen:
                self._seen[parent].gone += seen.ticks
        living = sum(seen.ticks for seen in self._seen.values())
        return living / TICKS_PER_SECOND + sum(reaped.values()) + self._beyond


def _from_the_top(gone: Mapping[int, _Seen]) -> list[int]:
    """Parents before their children."""
    below: dict[int, list[int]] = {}
    for pid, seen in gone.items():
        below.setdefault(seen.member.parent, []).append(pid)
    order = [pid for pid, seen in gone.items() if seen.member.parent not in gone]
    for pid in order:
        order += below.get(pid, [])
    return order
