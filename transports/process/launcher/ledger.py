"""What processes have used, also those that nobody reaps: from looks at what moves, and from what was reaped.

The kernel adds the CPU time of a process to its parent's count of its children when the parent reaps it. A parent that
ignores their ends reaps nothing, and what they used is in no count any more. So of each process that was seen and has
gone it is remembered what it had, and against whom: the parent's count of its children is at least the sum of that, or
it has not reaped them.

    what a process comes to     its own time, and the larger of: its count of its children; what those of them that
                                have gone came to
    what all come to            that of those who live; what we have reaped; and of who was reaped by us, what it came
                                to beyond that

Rules
  - Never more than was used: a limit is passed only by who has passed it. What was used since the last look by who has
    gone unreaped is not counted. In a cgroup of its own it is (see `group.py`).
  - Counts are whole ticks, cut off: a process's count of its children may miss one of each kind.
"""

from collections.abc import Callable, Iterable, Mapping

from transports.process.launcher import census
from transports.process.launcher.census import TICKS_PER_SECOND, Member

CUT_OFF_TICKS = 2


class _Seen:
    __slots__ = ("gone", "member")

    def __init__(self, member: Member) -> None:
        self.member = member
        self.gone = 0
        """What those of its children came to that have gone."""

    @property
    def ticks(self) -> int:
        return self.member.own_ticks + max(self.member.children_ticks, self.gone - CUT_OFF_TICKS)


class Ledger:
    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        self._beyond = 0.0
        """Seconds, of those whom we have reaped."""

    def look(
        self,
        members: Iterable[Member],
        reaped: Mapping[int, float],
        find: Callable[[int], Member | None] = census.member_of,
    ) -> float:
        """Seconds, of all there were. `members`: those who were found; `reaped`: the seconds of each whom we have
        reaped; `find`: a look for one who was overlooked, as happens while others come and go."""
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
