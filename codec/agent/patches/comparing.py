"""Where two files differ: by lines, with as few changed lines as can be found in the time.

Lines that only one of them has are changed in any case, so they are left out first; what remains of most changes is
equal. The rest goes through Myers' greedy search up to a depth, then is split at lines that both have exactly once
(patience), and where there is none, as far as the search has come. A budget ends it: what is left then counts as
changed. A change that could as well stand further down stands there, as git has it, so merges agree about its place.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

DEPTH = 200
"""Changed lines up to which a box is searched at once."""
STEPS = 3_000_000
"""Steps of the search, about a second."""
NEVER = -2
"""Where a diagonal of the search has come that lies outside of the box."""


class LineChange(NamedTuple):
    old: int
    old_end: int
    new: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    """In their order, none beside another."""
    head = _common(old, new)
    tail = _common_tail(old, new, min(len(old), len(new)) - head)
    old_end, new_end = len(old) - tail, len(new) - tail
    if head in (old_end, new_end):
        found = [LineChange(head, old_end, head, new_end)] if head < max(old_end, new_end) else []
        return _slid_down(found, old, new)
    matched = _matched(old, new, (head, old_end, head, new_end))
    matched.append((old_end, new_end))
    found = []
    a, b = head, head
    for x, y in matched:
        if a < x or b < y:
            found.append(LineChange(a, x, b, y))
        a, b = x + 1, y + 1
    return _slid_down(found, old, new)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_tail(old: Sequence[str], new: Sequence[str], most: int) -> int:
    low, high = 0, most
    a, b = len(old), len(new)
    while low < high:
        middle = (low + high + 1) // 2
        if old[a - middle : a - low] == new[b - middle : b - low]:
            low = middle
        else:
            high = middle - 1
    return low


Box = tuple[int, int, int, int]
Pair = tuple[int, int]


def _matched(old: Sequence[str], new: Sequence[str], box: Box) -> list[Pair]:
    """Pairs of equal lines, both sides rising."""
    a0, a1, b0, b1 = box
    both = set(old[a0:a1]) & set(new[b0:b1])
    numbers = {line: number for number, line in enumerate(both)}
    places = [at for at in range(a0, a1) if old[at] in both]
    other_places = [at for at in range(b0, b1) if new[at] in both]
    mine, theirs = [numbers[old[at]] for at in places], [numbers[new[at]] for at in other_places]
    search = _LineSearch(mine, theirs)
    return [(places[x], other_places[y]) for x, y in sorted(search.pairs())]


class _LineSearch:
    def __init__(self, a: list[int], b: list[int]) -> None:
        self.a, self.b = a, b
        self.steps = STEPS

    def pairs(self) -> list[Pair]:
        found: list[Pair] = []
        boxes = [(0, len(self.a), 0, len(self.b))]
        while boxes:
            a0, a1, b0, b1 = boxes.pop()
            a, b = self.a, self.b
            while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
                found.append((a0, b0))
                a0, b0 = a0 + 1, b0 + 1
            while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
                a1, b1 = a1 - 1, b1 - 1
                found.append((a1, b1))
            if a0 == a1 or b0 == b1 or self.steps <= 0:
                continue
            snakes, is_whole = self._greedy(a0, a1, b0, b1)
            anchors = [] if is_whole else self._anchors(a0, a1, b0, b1)
            if anchors:
                found += anchors
                for (x, y), (next_x, next_y) in zip([(a0 - 1, b0 - 1), *anchors], [*anchors, (a1, b1)], strict=True):
                    boxes.append((x + 1, next_x, y + 1, next_y))
                continue
            x, y = a0, b0
            for x0, y0, length in snakes:
                found += [(x0 + step, y0 + step) for step in range(length)]
                x, y = x0 + length, y0 + length
            if not is_whole and (x, y) != (a0, b0):
                boxes.append((x, a1, y, b1))
        return found

    def _greedy(self, a0: int, a1: int, b0: int, b1: int) -> tuple[list[tuple[int, int, int]], bool]:
        """The equal runs of a shortest script, and whether it reaches the end of the box. If not, those of the script
        that has come furthest."""
        a, b, n, m = self.a, self.b, a1 - a0, b1 - b0
        reached = {1: 0}
        history: list[dict[int, int]] = []
        best = (0, 0, 0)
        for depth in range(min(n + m, DEPTH) + 1):
            now: dict[int, int] = {}
            self.steps -= depth + 1
            for k in range(-depth, depth + 1, 2):
                left, above = reached.get(k - 1, NEVER), reached.get(k + 1, NEVER)
                down = k == -depth or (k != depth and left < above)
                x = above if down else left + 1
                y = x - k
                if x < 0 or x > n or y > m or y < 0:
                    continue
                start = x
                while x < n and y < m and a[a0 + x] == b[b0 + y]:
                    x, y = x + 1, y + 1
                self.steps -= (x - start) >> 3
                now[k] = x
                if x + y > best[0]:
                    best = (x + y, depth, k)
                if x >= n and y >= m:
                    history.append(now)
                    return self._snakes(history, depth, k, a0, b0), True
            history.append(now)
            reached = now
            if self.steps <= 0:
                break
        return self._snakes(history, best[1], best[2], a0, b0), False

    @staticmethod
    def _snakes(history: list[dict[int, int]], depth: int, k: int, a0: int, b0: int) -> list[tuple[int, int, int]]:
        found = []
        x = history[depth][k]
        while depth > 0:
            before = history[depth - 1]
            left, above = before.get(k - 1, NEVER), before.get(k + 1, NEVER)
            down = k == -depth or (k != depth and left < above)
            start = above if down else left + 1
            if x > start:
                found.append((a0 + start, b0 + start - k, x - start))
            k = k + 1 if down else k - 1
            x = before[k]
            depth -= 1
        return found[::-1]  # nothing before the first step: whoever searches a box has taken off what is equal

    def _anchors(self, a0: int, a1: int, b0: int, b1: int) -> list[Pair]:
        """Lines that both have once, as many as stand in the same order."""
        mine, theirs = Counter(self.a[a0:a1]), Counter(self.b[b0:b1])
        self.steps -= (a1 - a0 + b1 - b0) >> 2
        place = {self.b[y]: y for y in range(b0, b1) if theirs[self.b[y]] == 1}
        pairs = [(x, place[self.a[x]]) for x in range(a0, a1) if mine[self.a[x]] == 1 and self.a[x] in place]
        ends: list[int] = []
        chosen: list[int] = []
        before: list[int] = []
        for number, (_, y) in enumerate(pairs):
            at = bisect_left(ends, y)
            before.append(chosen[at - 1] if at else -1)
            if at == len(ends):
                ends.append(y)
                chosen.append(number)
            else:
                ends[at], chosen[at] = y, number
        rising = []
        number = chosen[-1] if chosen else -1
        while number >= 0:
            rising.append(pairs[number])
            number = before[number]
        return rising[::-1]


def _slid_down(found: list[LineChange], old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    """Each insertion and deletion as far down as it can stand. From the last one, because it makes room."""
    slid: list[LineChange] = []
    for change in reversed(found):
        a0, a1, b0, b1 = change
        limit = slid[-1].old if slid else len(old)
        if a0 == a1:
            while a1 < limit and new[b0] == new[b1]:
                a0, a1, b0, b1 = a0 + 1, a1 + 1, b0 + 1, b1 + 1
        elif b0 == b1:
            while a1 < limit and old[a0] == old[a1]:
                a0, a1, b0, b1 = a0 + 1, a1 + 1, b0 + 1, b1 + 1
        if slid and a1 == slid[-1].old and b1 == slid[-1].new:
            later = slid.pop()
            a1, b1 = later.old_end, later.new_end
        slid.append(LineChange(a0, a1, b0, b1))
    return slid[::-1]
