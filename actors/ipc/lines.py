"""The lines of the ledger: what is known of every request, in columns, and the searches over them.

Rules
  - A line is a slot: a place in each column, which the next request gets when its own is forgotten. A hundred thousand
    structs with texts of their own would take twice the memory.
  - The slots are kept in the order in which their requests were accepted, so the usual window is a slice.
  - A search is a generator, and each `yield` is a place where others may have their turn: a few thousand lines lie
    between two. Nothing may be put or dropped until it has ended.
  - A text is looked for in blocks. A block is the texts of its lines in one string, made when it is first searched and
    made anew after a change. Most blocks hold nothing of what is looked for, and are passed in a microsecond.
"""

import heapq
from array import array
from bisect import bisect_left, insort
from collections.abc import Generator, Sequence
from math import isnan, nan
from sys import intern

from codec.ipc.desk import STATES, RequestFact, Window, WindowWanted

OPEN = frozenset({"waiting", "polling", "retrying"})
TURN = 4_096
"""Lines between two places where others may have their turn."""
BLOCK = 256
"""Lines whose texts are kept in one string."""
BLOCKS = 12
"""Blocks in a turn."""
RANKS = 24
"""Bits of a rank's place in the order."""

_NUMBERS = {state: number for number, state in enumerate(STATES)}
_OPEN_NUMBERS = frozenset(_NUMBERS[state] for state in STATES if state in OPEN)
_PLAIN = str.maketrans("\0\1", "  ")

Search = Generator[None, None, list[int]]
"""The slots, as they are to be shown."""


class Lines:
    def __init__(self) -> None:
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._order: list[int] = []
        """The slots, by when they were accepted, then by id; the oldest first."""
        self._ids: list[str] = []
        self._commands: list[str] = []
        self._submitters: list[str] = []
        self._messages: list[str] = []
        self._states = bytearray()
        self._priorities = array("i")
        self._attempts = array("L")
        self._created = array("d")
        self._changed = array("d")
        self._seconds = array("d")
        """NaN: it is not over."""
        self._counts = [0] * len(STATES)
        self._blocks: list[str | None] = []
        self._oldest: list[tuple[float, str]] = []
        """A heap of all that are not over, and of some that are."""

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id: str) -> bool:  # noqa: A002 - as in the contract
        return id in self._slots

    @property
    def by_state(self) -> dict[str, int]:
        return {state: count for state, count in zip(STATES, self._counts, strict=True) if count}

    @property
    def oldest(self) -> float | None:
        """When the oldest was accepted that is not over."""
        heap = self._oldest
        while heap and not self._is_open(*heap[0]):
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def get(self, id: str) -> RequestFact | None:  # noqa: A002
        slot = self._slots.get(id)
        return None if slot is None else self._fact(slot)

    # -- changes

    def put(self, fact: RequestFact) -> None:
        slot = self._slots.get(fact.id)
        if slot is not None and self._created[slot] != fact.created:
            self.drop(fact.id)
            slot = None
        was_open = slot is not None and self._states[slot] in _OPEN_NUMBERS
        if slot is None:
            slot = self._new_slot(fact)
        else:
            self._counts[self._states[slot]] -= 1
        self._states[slot] = number = _NUMBERS[fact.state]
        self._counts[number] += 1
        self._commands[slot] = intern(fact.command)
        self._submitters[slot] = intern(fact.submitter)
        self._messages[slot] = intern(fact.message)
        self._priorities[slot] = fact.priority
        self._attempts[slot] = fact.attempts
        self._changed[slot] = fact.changed
        self._seconds[slot] = nan if fact.seconds is None else fact.seconds
        self._blocks[slot // BLOCK] = None
        if number in _OPEN_NUMBERS and not was_open:
            self._opened(fact.created, fact.id)

    def drop(self, id: str) -> None:  # noqa: A002
        slot = self._slots.get(id)
        if slot is None:
            return
        del self._order[bisect_left(self._order, self._key(slot), key=self._key)]
        del self._slots[id]
        self._counts[self._states[slot]] -= 1
        self._ids[slot] = self._commands[slot] = self._submitters[slot] = self._messages[slot] = ""
        self._blocks[slot // BLOCK] = None
        self._free.append(slot)

    def _new_slot(self, fact: RequestFact) -> int:
        if self._free:
            slot = self._free.pop()
        else:
            slot = len(self._ids)
            for texts in (self._ids, self._commands, self._submitters, self._messages):
                texts.append("")
            self._states.append(0)
            for numbers in (self._priorities, self._attempts, self._created, self._changed, self._seconds):
                numbers.append(0)
            if slot % BLOCK == 0:
                self._blocks.append(None)
        self._slots[fact.id] = slot
        self._ids[slot] = fact.id
        self._created[slot] = fact.created
        if not self._order or self._key(self._order[-1]) < self._key(slot):
            self._order.append(slot)
        else:
            insort(self._order, slot, key=self._key)
        return slot

    def _opened(self, created: float, id: str) -> None:  # noqa: A002
        if len(self._oldest) > 2 * len(self._slots) + 64:
            self._oldest = [entry for entry in set(self._oldest) if self._is_open(*entry)]
            heapq.heapify(self._oldest)
        heapq.heappush(self._oldest, (created, id))

    def _is_open(self, created: float, id: str) -> bool:  # noqa: A002
        slot = self._slots.get(id)
        return slot is not None and self._states[slot] in _OPEN_NUMBERS and self._created[slot] == created

    def _key(self, slot: int) -> tuple[float, str]:
        return self._created[slot], self._ids[slot]

    def _fact(self, slot: int) -> RequestFact:
        seconds = self._seconds[slot]
        return RequestFact(
            id=self._ids[slot],
            command=self._commands[slot],
            state=STATES[self._states[slot]],
            created=self._created[slot],
            changed=self._changed[slot],
            attempts=self._attempts[slot],
            seconds=None if isnan(seconds) else seconds,
            submitter=self._submitters[slot],
            priority=self._priorities[slot],
            message=self._messages[slot],
        )

    # -- searches

    def search(self, wanted: WindowWanted) -> Search:
        found = yield from self._filter(wanted)
        if wanted.order == "newest":
            found.reverse()
        elif wanted.order != "oldest":
            found = yield from self._ranked(found, wanted.order == "slowest")
        return found

    def window(self, found: Sequence[int], wanted: WindowWanted) -> Window:
        first = self._first(found, wanted)
        rows = tuple(map(self._fact, found[first : first + wanted.count]))
        return Window(first=first, total=len(found), rows=rows)

    def _first(self, found: Sequence[int], wanted: WindowWanted) -> int:
        slot = self._slots.get(wanted.at)
        if slot is None:
            return wanted.first
        try:
            place = found.index(slot)
        except ValueError:  # the filter does not let it through, so the place is meant where it would be
            key = self._key(slot)
            if wanted.order == "oldest":
                return max(0, bisect_left(found, key, key=self._key) - max(0, wanted.above))
            if wanted.order != "newest":
                return wanted.first
            older = bisect_left(found[::-1], key, key=self._key)
            return max(0, len(found) - older - max(0, wanted.above))
        return max(0, place - wanted.above)

    def _filter(self, wanted: WindowWanted) -> Search:
        """The oldest first."""
        needle = _plain(wanted.text)
        if not needle and not wanted.states:
            return self._order.copy()
        fits = bytearray(len(STATES))
        for state in wanted.states or STATES:
            fits[_NUMBERS[state]] = 1
        states = self._states
        hits = (yield from self._hits(needle)) if needle else None
        found: list[int] = []
        for at in range(0, len(self._order), TURN):
            part = self._order[at : at + TURN]
            if hits is not None:
                part = [slot for slot in part if hits[slot]]
            found += [slot for slot in part if fits[states[slot]]]
            yield
        return found

    def _hits(self, needle: str) -> Generator[None, None, bytearray]:
        """For each slot, whether it holds this text."""
        hits = bytearray(len(self._ids))
        for number, block in enumerate(self._blocks):
            if block is None:
                self._blocks[number] = block = self._texts(number)
            if needle in block:
                for slot, text in enumerate(block.split("\0"), number * BLOCK):
                    if needle in text:
                        hits[slot] = 1
            if number % BLOCKS == BLOCKS - 1:
                yield
        return hits

    def _texts(self, number: int) -> str:
        part = slice(number * BLOCK, (number + 1) * BLOCK)
        columns = (self._ids[part], self._commands[part], self._submitters[part], self._messages[part])
        block = "\0".join(map("\1".join, zip(*columns, strict=True))).lower()
        lines = len(columns[0])
        if block.count("\0") == lines - 1 and block.count("\1") == 3 * lines:
            return block
        return "\0".join("\1".join(map(_plain, texts)) for texts in zip(*columns, strict=True))

    def _ranked(self, found: list[int], slowest: bool) -> Search:
        """The highest first; of equals, the newest. Runs are sorted and then merged two by two: two long sorted runs
        are merged by `sort` in a few milliseconds, which no sort of all at once would keep to."""
        runs: list[list[int]] = []
        for at in range(0, len(found), TURN):
            part = found[at : at + TURN]
            values = map(self._micros, part) if slowest else map(self._attempts.__getitem__, part)
            runs.append(sorted(value << RANKS | place for place, value in enumerate(values, at)))
            yield
        while len(runs) > 1:
            pairs = [runs[at : at + 2] for at in range(0, len(runs), 2)]
            runs = []
            for pair in pairs:
                merged = [*pair[0], *pair[1]] if len(pair) == 2 else pair[0]
                merged.sort()
                runs.append(merged)
                yield
        ranks = runs[0] if runs else []
        last = (1 << RANKS) - 1
        ranked: list[int] = []
        for at in range(len(ranks), 0, -TURN):
            ranked += [found[rank & last] for rank in reversed(ranks[max(0, at - TURN) : at])]
            yield
        return ranked

    def _micros(self, slot: int) -> int:
        seconds = self._seconds[slot]
        return -1 if isnan(seconds) else int(seconds * 1e6)


def _plain(text: str) -> str:
    """As it is compared: without the two signs that stand between texts."""
    return text.lower().translate(_PLAIN)
