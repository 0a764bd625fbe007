"""Describes a difference in a sentence: "line 3: expected '4' got '5'".

The two sides must never look alike, and nothing correct may be blamed. So
  - of a long line the part around the first difference is shown;
  - if blanks or invisible characters are the only difference, they are written as escapes;
  - if the difference is only a newline, blanks, case, or a letter that looks like another, the sentence says so.
"""

import math
import unicodedata

from actors.judge.checkers import NUMBER, WHOLE, Differs, OutputPiece

LONGEST = 120
"""Characters of each side."""
BEFORE = 40
"""The part of them before the first difference, if that comes late."""

_ENDED = "end of output"


def diff_summary(differs: Differs) -> str:
    expected, actual = differs.expected, differs.actual
    if expected is None or actual is None:
        return _one_ended(differs)
    mine, theirs = _texts(expected, actual)
    if differs.only_newline and expected.newline:
        return f"line {differs.line}: expected '{mine}\\n' got '{theirs}' (the newline at the end is missing)"
    if differs.only_newline:
        return f"line {differs.line}: expected '{mine}' got '{theirs}\\n' (there is a newline too many at the end)"
    where = f" in line {actual.line}" if differs.in_words and actual.line != expected.line else ""
    note = _note(differs, expected, actual)
    return f"line {differs.line}: expected '{mine}' got '{theirs}'{where}" + (f" ({note})" if note else "")


def _one_ended(differs: Differs) -> str:
    wanted, came = (
        _ENDED if piece is None else _alone(piece, in_words=differs.in_words)
        for piece in (differs.expected, differs.actual)
    )
    nothing = differs.actual is None and differs.line == 1 and not differs.in_words
    return f"line {differs.line}: expected {wanted} got {'no output at all' if nothing else came}"


def _alone(piece: OutputPiece, *, in_words: bool) -> str:
    if not piece.text and not in_words:
        return "an empty line"
    return f"'{_shortened(_shown(piece.text, blanks=not piece.text.strip()), piece, 0)}'"


def _texts(expected: OutputPiece, actual: OutputPiece) -> tuple[str, str]:
    """Both texts, in the plainest form that shows the difference."""
    blanks = expected.text.split() == actual.text.split()
    mine, theirs = (_shown(piece.text, blanks=blanks) for piece in (expected, actual))
    if mine == theirs and expected.text != actual.text:
        mine, theirs = (repr(piece.text)[2:-1] for piece in (expected, actual))
    alike = next((at for at, (one, other) in enumerate(zip(mine, theirs, strict=False)) if one != other), 0)
    skipped = 0 if alike < LONGEST - BEFORE else alike - BEFORE
    return _shortened(mine, expected, skipped), _shortened(theirs, actual, skipped)


def _shown(text: bytes, *, blanks: bool) -> str:
    """The text with invisible characters as escapes, and also tabs if the difference is in blanks."""
    return "".join(
        each if each.isprintable() or (each == "\t" and not blanks) else ascii(each)[1:-1]
        for each in text.decode("utf-8", "backslashreplace")
    )


def _shortened(shown: str, piece: OutputPiece, skipped: int) -> str:
    shown = shown[skipped:]
    start = "" if piece.starts and not skipped else "…"
    end = "" if piece.ends and len(start) + len(shown) <= LONGEST else "…"
    return f"{start}{shown[: LONGEST - len(start) - len(end)]}{end}"


def _note(differs: Differs, expected: OutputPiece, actual: OutputPiece) -> str | None:
    if not (expected.ends and actual.ends):
        return None
    if not differs.in_words and expected.text.split() == actual.text.split():
        return "only blanks differ in this line"
    mine, theirs = (piece.text.decode("utf-8", "surrogateescape") for piece in (expected, actual))
    if mine.casefold() == theirs.casefold():
        return "only upper and lower case differ"
    if differs.tolerance is not None and all(map(NUMBER.fullmatch, (expected.text, actual.text))):
        if WHOLE.fullmatch(expected.text) and WHOLE.fullmatch(actual.text):
            return "whole numbers must be equal"
        return _how_far(float(mine), float(theirs), differs.tolerance)
    return _lookalike(mine, theirs, whole=expected.starts)


def _how_far(expected: float, actual: float, tolerance: float) -> str | None:
    apart, allowed = abs(expected - actual), tolerance * max(1.0, abs(expected))
    return f"apart by {apart:.3g}, allowed is {allowed:.3g}" if allowed < apart < math.inf else None


def _lookalike(expected: str, actual: str, *, whole: bool) -> str | None:
    """A note about the first two characters that differ, if they look alike."""
    for number, (one, other) in enumerate(zip(expected, actual, strict=False), 1):
        if one != other:
            if (one + other).isascii() or any("\ud800" <= each <= "\udfff" for each in (one, other)):
                return None
            names = (f"{unicodedata.name(each, 'unnamed')} U+{ord(each):04X}" for each in (one, other))
            return f"{f'character {number}' if whole else 'where they part'}: {' and '.join(names)}"
    return None
