"""A file in pieces that are found one by one.

A definition is a piece, with the comments and decorators above it. One that is too large is divided at the definitions
in it, or at its blank lines; small neighbours with the same container become one. What stands between definitions is a
piece of its container. A text without definitions is divided at its blank lines.

Laws
  - Every line that is not blank is in exactly one piece, and pieces are in the order of the file.
  - The text of a piece is its lines as they are, joined with \\n: at most MOST_LINES of them, and MOST_CHARACTERS.
  - Only of a line that is longer than MOST_CHARACTERS are there several pieces, and of such a line what stands behind
    the first MOST_OF_LINE characters is in none.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from codec.agent.index.definitions import Defined
from codec.agent.index.facts import Chunk

MOST_LINES = 80
MOST_CHARACTERS = 4_000
MOST_OF_LINE = 4 * MOST_CHARACTERS
_SMALL = 12
"""Lines: a piece that is not longer is joined with its neighbour ..."""
_JOINED = 40
"""... if both together are not longer than this."""
_PART = 50
"""Lines of a part of what is too large, about."""
_DEEPEST = 12

_COMMENTS = ("#", "//", "/*", "*", "--", ";;", "@", "[", "<!--")
_COMMENTS_BESIDE_HASH = tuple(mark for mark in _COMMENTS if mark != "#")
_DIRECTIVES = frozenset({"c", "cpp", "c_sharp", "objective_c"})
"""Where # begins no comment."""

_Piece = tuple[int, int, str, str]
"""First line, last line (from 0), name, container."""


def chunks_of(text: str, lines: Sequence[str], found: Sequence[Defined], language: str) -> tuple[Chunk, ...]:
    """`found`: in order, the outer before the inner."""
    return tuple(_Pieces(text, lines, found, language).chunks())


class _Pieces:
    def __init__(self, text: str, lines: Sequence[str], found: Sequence[Defined], language: str) -> None:
        self._text, self._lines = text, lines
        self._starts = list(accumulate(map(len, lines), initial=0))  # line breaks do not count
        self._blocks = [each for each in found if each.block]
        self._marks = _COMMENTS_BESIDE_HASH if language in _DIRECTIVES else _COMMENTS

    def chunks(self) -> Iterator[Chunk]:
        pieces: list[_Piece] = []
        self._divide(0, len(self._lines) - 1, "", "", 0, len(self._blocks), 0, pieces)
        starts, text = self._starts, self._text
        for first, last, name, _ in self._joined(pieces):
            begin, end = starts[first] + first, starts[last + 1] + last
            for at in range(begin, min(end, begin + MOST_OF_LINE), MOST_CHARACTERS):  # several of one line alone
                yield Chunk(first + 1, last + 1, name, text[at : min(at + MOST_CHARACTERS, end)])

    def _divide(
        self, first: int, last: int, name: str, container: str, begin: int, end: int, depth: int, pieces: list[_Piece]
    ) -> None:
        """The lines from first to last, in which the blocks from begin to end are."""
        blocks = self._blocks
        at, index = first, begin
        while index < end:
            block = blocks[index]
            inner = index = index + 1
            while index < end and blocks[index].first <= block.last:
                index += 1
            starts, ends = max(block.first - 1, at), min(block.last - 1, last)
            if ends < starts:
                continue
            starts = self._with_comments(starts, at)
            if starts > at:
                self._part(at, starts - 1, name, name, pieces)
            whole = f"{block.container}.{block.name}" if block.container else block.name
            if index == inner or depth >= _DEEPEST or self._fits(starts, ends):
                self._part(starts, ends, whole, name, pieces)
            else:
                self._divide(starts, ends, whole, name, inner, index, depth + 1, pieces)
            at = ends + 1
        if at <= last:
            self._part(at, last, name, name, pieces)

    def _with_comments(self, at: int, least: int) -> int:
        lines, marks = self._lines, self._marks
        while at > least and lines[at - 1].lstrip().startswith(marks):
            at -= 1
        return at

    def _fits(self, first: int, last: int) -> bool:
        return last - first < MOST_LINES and self._characters(first, last) <= MOST_CHARACTERS

    def _characters(self, first: int, last: int) -> int:
        return self._starts[last + 1] - self._starts[first] + last - first

    def _part(self, first: int, last: int, name: str, container: str, pieces: list[_Piece]) -> None:
        """A piece, or several if it is too large. Blank lines around them are in none."""
        lines = self._lines
        while first <= last and not lines[last].strip():
            last -= 1
        while True:
            while first <= last and not lines[first].strip():
                first += 1
            if first > last:
                return
            if self._fits(first, last):
                pieces.append((first, last, name, container))
                return
            end = first + 1  # the line behind this part
            most = min(first + _PART, last + 1)
            while end < most and self._characters(first, end) <= MOST_CHARACTERS:
                end += 1
            if end <= last:
                for cut in range(end, max(first + 1, end - _PART // 2), -1):
                    if not lines[cut - 1].strip():
                        end = cut
                        break
            at = end - 1
            while not lines[at].strip():
                at -= 1
            pieces.append((first, at, name, container))
            first = end

    def _joined(self, pieces: Sequence[_Piece]) -> Iterator[_Piece]:
        """Small neighbours as one."""
        if not pieces:
            return
        first, last, name, container = pieces[0]
        several = False  # definitions
        for piece in pieces[1:]:
            if (
                piece[3] == container
                and piece[1] - first < _JOINED
                and (last - first < _SMALL or piece[1] - piece[0] < _SMALL)
                and self._characters(first, piece[1]) <= MOST_CHARACTERS
            ):
                last = piece[1]
                if piece[2] not in (container, name) and not several:
                    several = name != container
                    name = container if several else piece[2]
            else:
                yield first, last, name, container
                first, last, name, container = piece
                several = False
        yield first, last, name, container
