"""The ladder: where a hunk belongs. The first rung on which it is certain counts; if none is, it is refused.

  1. applied   its old lines stand exactly where it says
  2. already   its new lines stand there
  3. moved     its old lines stand at exactly one place; or at several, and the hunks before and after it that are
               certain have both moved by what leads to one of them
  4. already   its new lines stand at exactly one place
  5. loose     its old lines stand at exactly one place, but for white space
  6. merged    its first and its last line are context, each of which the file has once; between them stands exactly
               what is removed, or everything but context that touches neither them nor a change

Rules
  - All places are places in the file as it was, so a hunk can be left out without harm to the others.
  - As soon as one hunk is not where it says, the file has drifted: then a hunk that fits where it says and elsewhere,
    too, needs its neighbours to agree.
  - If half of the old lines stand nearer to where the hunk says than all of them, that place may be the right one,
    which somebody has changed. Then the hunk is refused.
  - A hunk of insertions only, whose new lines stand around its place already, is not applied again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from msgspec import Struct

from codec.agent.patches.hunk_lines import HunkLines
from codec.agent.patches.indentation import Indentation, indentation_of
from codec.agent.patches.patch import PatchRefused
from codec.agent.patches.places import MOST_PLACES, LinePlaces, loosened

FAR = 50
"""Hunks among which a neighbour is looked for."""

Rung = Literal["applied", "moved", "loose", "merged", "already"]


class HunkSeat(Struct, frozen=True):
    """Where a hunk belongs, counted from 0, in the file as it is."""

    place: int
    rung: Rung
    indentation: Indentation | None = None
    """Of loose ones: how its added lines are indented in this file."""
    core: tuple[int, int] | None = None
    """What the added lines replace, if it is not what stands at their place in the hunk."""
    before: int = 0
    """By how much the file has moved before the hunk, and after it."""
    after: int = 0
    reason: str = ""


@dataclass
class Ladder:
    file: Sequence[str]
    hunks: Mapping[int, HunkLines]
    """Those that are wanted, by their numbers."""
    seats: dict[int, HunkSeat] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._exact = LinePlaces(self.file, (text for hunk in self.hunks.values() for text in hunk.texts))
        self._loose: LinePlaces | None = None
        self._old = {number: self._exact.word(hunk.old) for number, hunk in self.hunks.items()}
        self._new = {number: self._exact.word(hunk.new) for number, hunk in self.hunks.items()}
        self._order = sorted(
            (number for number, hunk in self.hunks.items() if hunk.start is not None),
            key=lambda number: (self.hunks[number].start or 0, number),
        )
        self._rank = {number: rank for rank, number in enumerate(self._order)}

    def climb(self) -> None:
        for number, hunk in self.hunks.items():
            if not hunk.old and self.file:
                self.refused[number] = (
                    "It adds lines, but has no line of context that says where. Add the lines above and below."
                )
        self._try(self._where_it_says)
        rest = self._rest()
        if rest:
            self._corroborate()
            self._try(self._certain)
            self._try(self._beside_neighbours)
            self._guard()
            self._try(self._elsewhere)

    def _rest(self) -> list[int]:
        return [number for number in self.hunks if number not in self.seats and number not in self.refused]

    def _try(self, rung: Callable[[int, HunkLines], HunkSeat | None]) -> None:
        found = {}
        for number in self._rest():
            try:
                seat = rung(number, self.hunks[number])
            except PatchRefused as refusal:
                self.refused[number] = str(refusal)
            else:
                if seat is not None:
                    found[number] = seat
        self.seats |= found

    # -- rungs 1 and 2

    def _where_it_says(self, number: int, hunk: HunkLines) -> HunkSeat | None:
        start = hunk.start
        if start is None:
            return None
        if self._exact.fits(self._old[number], start):
            return self._seat(number, start, "applied")
        for place in (start, hunk.new_start):
            if place is not None and hunk.added and self._exact.fits(self._new[number], place):
                return self._there(number, place)
        return None

    def _seat(self, number: int, place: int, rung: Rung) -> HunkSeat:
        """For old lines that stand exactly here."""
        hunk = self.hunks[number]
        moved = place - (hunk.start if hunk.start is not None else place)
        if not hunk.removed and hunk.added and self._stands_around(hunk, place):
            grown = len(hunk.added)
            return HunkSeat(place, "already", before=moved, after=moved + grown, reason="Its lines are there.")
        return HunkSeat(place, rung, before=moved, after=moved)

    def _stands_around(self, hunk: HunkLines, place: int) -> bool:
        """Whether lines that are added before all context, or after it, stand there."""
        signs = hunk.signs
        above = len(signs) - len(signs.lstrip("+"))
        below = len(signs) - len(signs.rstrip("+"))
        if above + below != len(hunk.added) or not hunk.old:
            return False
        end = place + len(hunk.old)
        over = list(self.file[max(place - above, 0) : place]) == hunk.texts[:above]
        return over and list(self.file[end : end + below]) == hunk.texts[len(signs) - below :]

    def _there(self, number: int, place: int) -> HunkSeat:
        """For new lines that stand here."""
        hunk = self.hunks[number]
        moved = place - (hunk.start if hunk.start is not None else place)
        after = moved + len(hunk.new) - len(hunk.old)
        return HunkSeat(place, "already", before=moved, after=after, reason="The file is so already.")

    # -- rungs 3 and 4

    def _corroborate(self) -> None:
        """The file has drifted: whatever fits at several places is not certain by its line alone."""
        for number in [n for n, seat in self.seats.items() if seat.rung == "applied"]:
            try:
                if len(self._exact.places(self._old[number])) > 1:
                    del self.seats[number]
            except PatchRefused as refusal:
                del self.seats[number]
                self.refused[number] = str(refusal)

    def _certain(self, number: int, hunk: HunkLines) -> HunkSeat | None:
        places = self._exact.places(self._old[number]) if hunk.old else ()
        if len(places) == 1:
            return self._seat(number, places[0], "applied" if places[0] == hunk.start else "moved")
        if not places and len(hunk.new) > 1 and any(text.strip() for text in hunk.added):
            places = self._exact.places(self._new[number])
            if len(places) == 1:
                return self._there(number, places[0])
        return None

    def _beside_neighbours(self, number: int, hunk: HunkLines) -> HunkSeat | None:
        places = self._exact.places(self._old[number])
        if len(places) < 2:
            return None
        match list(self._shifts(number)):
            case [before, after] if hunk.start is not None and before == after:
                place = hunk.start + before
                if self._exact.fits(self._old[number], place):
                    return self._seat(number, place, "applied" if place == hunk.start else "moved")
        return self._refuse_several(places)

    def _shifts(self, number: int) -> Iterator[int]:
        """By how much the file has moved here, as the neighbours say that are certain."""
        at = self._rank.get(number)
        if at is None:
            return
        before = next((each for each in self._order[max(at - FAR, 0) : at][::-1] if each in self.seats), None)
        if before is not None:
            yield self.seats[before].after
        after = next((each for each in self._order[at + 1 : at + 1 + FAR] if each in self.seats), None)
        if after is not None:
            yield self.seats[after].before

    def _guard(self) -> None:
        for number in [n for n, seat in self.seats.items() if seat.rung == "moved"]:
            place, start = self.seats[number].place, self.hunks[number].start
            if start is None:
                continue
            expected = {start, *(start + shift for shift in self._shifts(number))}
            if place in expected:
                continue
            similar = self._similar(number, min(abs(place - each) for each in expected), expected)
            if similar is not None:
                del self.seats[number]
                self.refused[number] = (
                    f"Its lines are at line {place + 1}, but something similar is at line {similar + 1}, which is "
                    "nearer to where it says. Read the file again, and send the hunk with its right lines."
                )

    def _similar(self, number: int, nearer: int, expected: set[int]) -> int | None:
        """A place that is nearer to those expected ones, and where half of the hunk's old lines stand."""
        lines = self.hunks[number].old
        told = sum(bool(line.strip()) for line in lines)
        for place in set(self._exact.rare_places(self._old[number])):
            if any(abs(place - each) < nearer for each in expected):
                alike = sum(bool(lines[each].strip()) for each in self._exact.alike(self._old[number], place))
                if 2 * alike >= told and alike:
                    return place
        return None

    # -- rungs 5 and 6

    def _elsewhere(self, number: int, hunk: HunkLines) -> HunkSeat | None:
        return self._loosely(hunk) or self._anchored(number, hunk) or self._refuse(number, hunk)

    def _loosely(self, hunk: HunkLines) -> HunkSeat | None:
        if not any(line.strip() for line in hunk.old):
            return None
        if self._loose is None:
            asked = (loosened(text) for hunk in self.hunks.values() for text in hunk.texts)
            self._loose = LinePlaces([loosened(line) for line in self.file], asked)
        places = self._loose.places(self._loose.word([loosened(line) for line in hunk.old]))
        if not places:
            return None
        if len(places) > 1:
            self._refuse_several(places, " but for white space")
        indentation = indentation_of(hunk, self.file[places[0] : places[0] + len(hunk.old)])
        if indentation is None:
            raise PatchRefused(
                f"It fits at line {places[0] + 1} but for white space, and the right indentation of its new lines "
                "cannot be told from that. Read the file again, and send the hunk with the file's own white space."
            )
        return HunkSeat(places[0], "loose", indentation, reason="It fits but for white space.")

    def _anchored(self, number: int, hunk: HunkLines) -> HunkSeat | None:
        if not hunk.leading or not hunk.trailing or not hunk.old[0].strip() or not hunk.old[-1].strip():
            return None
        tops = self._exact.places(self._exact.word(hunk.old[:1]))
        bottoms = self._exact.places(self._exact.word(hunk.old[-1:]))
        if len(tops) != 1 or len(bottoms) != 1:
            return None
        top, bottom = tops[0], bottoms[0]
        if bottom - top + 1 == len(hunk.old):
            other = set(range(len(hunk.old))) - set(self._exact.alike(self._old[number], top))
            if other and other <= _loose_context(hunk):
                return HunkSeat(top, "merged", reason="Some of its context has changed.")
        core = hunk.signs[hunk.leading : len(hunk.signs) - hunk.trailing]
        between = list(self.file[top + 1 : bottom])
        if core and " " not in core and between == hunk.removed and any(text.strip() for text in hunk.removed):
            return HunkSeat(top, "merged", core=(top + 1, bottom), reason="Some of its context is not in the file.")
        return None

    # -- refusals

    def _refuse_several(self, places: Sequence[int], how: str = "") -> NoReturn:
        if len(places) > MOST_PLACES:
            raise PatchRefused(
                f"It fits at more than {MOST_PLACES} places{how}. Add lines of context that only the right one has."
            )
        shown = [str(place + 1) for place in places[:10]]
        lines = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(places) <= 10 else f"{', '.join(shown)}, ..."
        raise PatchRefused(
            f"It fits at {len(places)} places{how} (at the lines {lines}). "
            "Add lines of context that only the right one has."
        )

    def _refuse(self, number: int, hunk: HunkLines) -> NoReturn:
        again = "Read the file again, and send the hunk with the lines that it has."
        for line in hunk.old:
            if not self._exact.places(self._exact.word([line])):
                raise PatchRefused(f"The file has no line {_shown(line)}. {again}")
        if hunk.start is not None:
            for offset, line in enumerate(hunk.old):
                at = hunk.start + offset
                if at >= len(self.file):
                    raise PatchRefused(f"The file ends at line {len(self.file)}, before the hunk does. {again}")
                if self.file[at] != line:
                    there = _shown(self.file[at])
                    raise PatchRefused(
                        f"Line {at + 1} of the file is {there}, where the hunk has {_shown(line)}. {again}"
                    )
        raise PatchRefused(f"The file has its lines, but nowhere one after the other. {again}")


def _loose_context(hunk: HunkLines) -> set[int]:
    """Numbers of old lines that touch neither a change nor the hunk's ends: they alone may differ."""
    may = set()
    at = -1
    for number, sign in enumerate(hunk.signs):
        at += sign != "+"
        around = hunk.signs[max(number - 1, 0) : number + 2]
        if around == "   " and 0 < number < len(hunk.signs) - 1:
            may.add(at)
    return may


def _shown(line: str) -> str:
    return f"`{line}`" if len(line) <= 80 else f"`{line[:80]}…`"
