"""Files, edits and drifts, drawn so that the right answer is known.

Each line has a number of its own. A drift gives lines that it adds or changes new ones, so it can be seen where the
lines of an edit have gone to, whatever stands in them. Nothing of the code that is tested is used here, not even for
the diffs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

COMMON = ["", "", "}", "    }", "    return x", "end"]


class DrawnLine(NamedTuple):
    number: int
    text: str


class DrawnEdit(NamedTuple):
    at: int
    removed: int
    added: tuple[str, ...]


@dataclass
class Drawing:
    """A file, and what somebody who saw it wants to change."""

    seed: str
    twins: bool = True
    """Whether parts of the file may be there twice, and lines that many files have many times."""
    draw: Random = field(init=False)
    fresh: int = 10_000

    def __post_init__(self) -> None:
        self.draw = Random(self.seed)
        self.original = [DrawnLine(number, self.text()) for number in range(self.draw.choice([0, 1, 3, 8, 20, 60]))]
        if self.twins and self.draw.random() < 0.4 and len(self.original) > 6:  # a block that is there twice
            begin = self.draw.randrange(len(self.original) - 4)
            block = [line.text for line in self.original[begin : begin + self.draw.randint(2, 8)]]
            at = self.draw.randrange(len(self.original) + 1)
            lines = [line.text for line in self.original]
            lines[at:at] = block
            self.original = [DrawnLine(number, text) for number, text in enumerate(lines)]
        self.edits = self.draw_edits()
        self.context = self.draw.choice([3, 3, 3, 2, 1])
        self.hunks = self.group()

    def text(self) -> str:
        if self.draw.random() < (0.3 if self.twins else 0.1):
            return self.draw.choice(COMMON)
        self.fresh += 1
        return f"{'    ' * self.draw.randrange(3)}line {self.fresh}"

    def draw_edits(self) -> list[DrawnEdit]:
        edits: list[DrawnEdit] = []
        at = self.draw.randrange(5)
        while at <= len(self.original) and len(edits) < 5:
            removed = min(self.draw.choice([0, 0, 1, 1, 2, 4]), len(self.original) - at)
            added = tuple(self.text() for _ in range(self.draw.choice([0, 1, 1, 2])))
            if (removed or added) and added != tuple(line.text for line in self.original[at : at + removed]):
                edits.append(DrawnEdit(at, removed, added))
            at += removed + self.draw.choice([1, 3, 8, 20])
        return edits

    def group(self) -> list[list[DrawnEdit]]:
        hunks: list[list[DrawnEdit]] = []
        for edit in self.edits:
            if hunks and edit.at - (hunks[-1][-1].at + hunks[-1][-1].removed) <= 2 * self.context:
                hunks[-1].append(edit)
            else:
                hunks.append([edit])
        return hunks

    def hunk_range(self, hunk: Sequence[DrawnEdit]) -> tuple[int, int]:
        last = hunk[-1].at + hunk[-1].removed
        return max(hunk[0].at - self.context, 0), min(last + self.context, len(self.original))

    def diff(self, *, off: int = 0, marks: bool = False, end: str = "\n", has_end: bool = True) -> str:
        """With lines that are off by so many. `marks` and `end`: as git writes it of a file with these ends."""
        parts = ["--- a/x\n+++ b/x\n"]
        grown = 0
        for hunk in self.hunks:
            first, last = self.hunk_range(hunk)
            body: list[str] = []
            at = first
            result_end = hunk[-1].at + hunk[-1].removed == len(self.original)

            def line(sign: str, text: str, is_last: bool, body: list[str] = body) -> None:
                if marks and is_last and not has_end:
                    body.append(f"{sign}{text}\n\\ No newline at end of file\n")
                else:
                    body.append(f"{sign}{text}{end if marks else chr(10)}")

            for edit in hunk:
                for each in range(at, edit.at):
                    line(" ", self.original[each].text, each == len(self.original) - 1)
                for each in range(edit.at, edit.at + edit.removed):
                    line("-", self.original[each].text, each == len(self.original) - 1)
                for number, text in enumerate(edit.added):
                    line("+", text, result_end and edit is hunk[-1] and number == len(edit.added) - 1)
                at = edit.at + edit.removed
            for each in range(at, last):
                line(" ", self.original[each].text, each == len(self.original) - 1)
            old = last - first
            new = old + sum(len(edit.added) - edit.removed for edit in hunk)
            old_start = max(first + bool(old) + off, 0 if not old else 1)
            parts.append(
                f"@@ -{old_start},{old} +{first + bool(new) + grown + off if first + off >= 0 else 1},{new} @@\n"
            )
            parts += body
            grown += new - old
        return "".join(parts)

    # -- drifts

    def new(self, text: str | None = None) -> DrawnLine:
        self.fresh += 1
        return DrawnLine(self.fresh, f"drift {self.fresh}" if text is None else text)

    def moved(self, lines: list[DrawnLine], times: int) -> list[DrawnLine]:
        """Lines are added between the hunks, some of them such as are there already."""
        lines = list(lines)
        ranges = [self.hunk_range(hunk) for hunk in self.hunks]
        for _ in range(times):
            places = [
                at
                for at in range(len(lines) + 1)
                if not any(
                    first < (lines[at].number if at < len(lines) else 10**9) < last
                    and first <= (lines[at - 1].number if at else -1) < last
                    for first, last in ranges
                )
            ]
            at = self.draw.choice(places)
            lines[at:at] = [self.new(self.draw.choice([None, None, ""])) for _ in range(self.draw.choice([1, 2, 7]))]
        return lines

    def changed(self, lines: list[DrawnLine], times: int) -> list[DrawnLine]:
        lines = list(lines)
        for _ in range(min(times, len(lines))):
            lines[self.draw.randrange(len(lines))] = self.new()
        return lines

    def deleted(self, lines: list[DrawnLine], times: int) -> list[DrawnLine]:
        lines = list(lines)
        for _ in range(times):
            at = self.draw.randrange(len(lines) + 1)
            del lines[at : at + self.draw.choice([1, 2, 5])]
        return lines

    def copied(self, lines: list[DrawnLine], times: int) -> list[DrawnLine]:
        """Parts of the file are there once more."""
        lines = list(lines)
        for _ in range(times):
            if lines:
                begin = self.draw.randrange(len(lines))
                copy = [self.new(line.text) for line in lines[begin : begin + self.draw.choice([2, 6, 12])]]
                at = self.draw.choice([0, len(lines), self.draw.randrange(len(lines) + 1)])
                lines[at:at] = copy
        return lines

    # -- the right answer

    def edited(self, lines: Sequence[DrawnLine], hunks: Sequence[int]) -> list[DrawnLine] | None:
        """These lines with these hunks, at the lines that they are about. None: one cannot be applied rightly."""
        result = list(lines)
        for hunk in hunks:
            for edit in self.hunks[hunk]:
                place = self.place_of(edit, result)
                if place is None:
                    return None
                result[place : place + edit.removed] = [self.new(text) for text in edit.added]
        return result

    def place_of(self, edit: DrawnEdit, lines: Sequence[DrawnLine]) -> int | None:
        wanted = list(range(edit.at, edit.at + edit.removed))
        numbers = [line.number for line in lines]
        if wanted:
            if wanted[0] not in numbers:
                return None
            place = numbers.index(wanted[0])
            return place if numbers[place : place + len(wanted)] == wanted else None
        if edit.at < len(self.original) and edit.at in numbers:
            return numbers.index(edit.at)
        return numbers.index(edit.at - 1) + 1 if edit.at - 1 in numbers else (None if self.original else 0)
