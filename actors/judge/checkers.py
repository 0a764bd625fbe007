"""Compares an output with the expected one, and finds the first difference.

Both may be a hundred million bytes long. So
  - equal outputs are recognised by one comparison of memory;
  - their common beginning is skipped in the same way, up to the last whole line;
  - the rest is put into the mode's normal form a block at a time, and the normal forms are compared. The whole is never
    copied, and no step goes back.

The modes
  exact   byte for byte, except that `\\r\\n` is `\\n`
  trim    as exact, without blanks at the end of each line, and without empty lines at the end
  tokens  word for word; the spacing does not matter
  float   as tokens, but two numbers may differ by the tolerance, absolutely or relative to the expected one

A number is anything that C reads as a decimal number in ASCII: `1_000`, `١`, `nan` and `inf` are words. Two whole
numbers must be equal, because they count something, and a large count cannot be nearly right.

If case is ignored, ASCII folds as bytes; other text folds by the rules of Unicode, if it is UTF-8.
"""

import decimal
import re
from collections.abc import Callable, Iterator
from itertools import islice
from operator import sub

import msgspec
from msgspec import Struct

from codec.judge import Compare

BLOCK = 1 << 20
STEP = 1 << 16
WINDOW = 400
"""Bytes of a line that a difference keeps."""
BEFORE = 40
"""The part of them before the first difference."""

_WORD = re.compile(rb"[^ \t\n\r\x0b\x0c]+")
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
WHOLE = re.compile(rb"([+-]?)0*([0-9]+)")
_BLANKS = b" \t\n\r\x0b\x0c"


class Same(Struct, frozen=True):
    pass


class OutputPiece(Struct, frozen=True):
    """A line, or a word, of one side: the part of it that matters."""

    text: bytes
    line: int
    starts: bool = True
    """Nothing is left out before it."""
    ends: bool = True
    """Nothing is left out after it."""
    newline: bool = True
    """The line ends in a newline."""


class Differs(Struct, frozen=True):
    """None for a side that has ended."""

    line: int
    """The line in the expected output, from 1; in the actual one, if the expected one has ended."""
    expected: OutputPiece | None
    actual: OutputPiece | None
    in_words: bool = False
    """The pieces are words; otherwise they are lines."""
    only_newline: bool = False
    """The lines are the same, but one of them has no newline."""
    tolerance: float | None = None
    """The tolerance, if numbers may differ by one."""


Verdict = Same | Differs


def compare(expected: bytes, actual: bytes, how: Compare) -> Verdict:
    if expected == actual:
        return Same()
    common = common_length(expected, actual)
    start = expected.rfind(b"\n", 0, common) + 1  # what stands before is the same in every mode
    match how.mode:
        case "exact" | "trim":
            return _by_lines(expected, actual, start, how)
        case "tokens" | "float":
            return _by_words(expected, actual, start, how)


def common_length(one: bytes, other: bytes) -> int:
    """The length of their common beginning."""
    shorter = min(len(one), len(other))
    low = 0
    while low < shorter and one[low : low + STEP] == other[low : low + STEP]:
        low += STEP
    high = min(low + STEP, shorter)
    low = min(low, shorter)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


# --- by lines --------------------------------------------------------------------------------------------------------


def _by_lines(expected: bytes, actual: bytes, start: int, how: Compare) -> Verdict:
    fold, exact = _folding(how), how.mode == "exact"

    def normal(block: bytes) -> bytes:
        return fold(block.replace(b"\r\n", b"\n") if exact else _trimmed(block))

    sides = _blocks(expected, start, normal), _blocks(actual, start, normal)
    parted = _parted(*(sides if exact else map(_without_empty_end, sides)))
    if parted is None:
        return Same()
    line = expected.count(b"\n", 0, start) + 1 + parted.newlines
    one = None if parted.expected_ended else _line(expected, start, parted.newlines, exact=exact)
    other = None if parted.actual_ended else _line(actual, start, parted.newlines, exact=exact)
    only_newline = None not in (one, other) and fold(one or b"").strip(b"\n") == fold(other or b"").strip(b"\n")
    return Differs(line, *_windows(one, other, line, fold), only_newline=only_newline)


def _blocks(text: bytes, start: int, normal: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """The normal form, in blocks of whole lines."""
    while start < len(text):
        end = len(text)
        if start + BLOCK < end:
            end = text.rfind(b"\n", start, start + BLOCK) + 1 or text.find(b"\n", start + BLOCK) + 1 or end
        yield normal(text[start:end])
        start = end


def _trimmed(block: bytes) -> bytes:
    return b"\n".join(map(bytes.rstrip, block.split(b"\n")))


def _without_empty_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    held = 0
    for block in blocks:
        body = block.rstrip(b"\n")
        if body:
            yield b"\n" * held + body
            held = 0
        held += len(block) - len(body)


class _Parting(Struct, frozen=True):
    newlines: int
    """How many lines are the same, from where the comparison started."""
    expected_ended: bool
    actual_ended: bool


def _parted(expected: Iterator[bytes], actual: Iterator[bytes]) -> _Parting | None:
    """The first difference of two normal forms."""
    one, other, at, there = b"", b"", 0, 0
    newlines, in_line = 0, False
    while True:
        if at == len(one):
            one, at = next(expected, b""), 0
        if there == len(other):
            other, there = next(actual, b""), 0
        length = min(len(one) - at, len(other) - there)
        if not length:
            break
        mine, theirs = one[at : at + length], other[there : there + length]
        same = length if mine == theirs else common_length(mine, theirs)
        newlines += mine.count(b"\n", 0, same)
        if same:
            in_line = mine[same - 1] != 0x0A
        if same < length:
            return _Parting(newlines, False, False)
        at, there = at + length, there + length
    rest = one[at:] or other[there:]
    if not rest:
        return None
    more = len(rest) > 1 or bool(next(expected if at < len(one) else actual, b""))
    if in_line and rest[0] == 0x0A and more:  # the last line of the shorter one is done; the other goes on with another
        newlines, in_line = newlines + 1, False
    return _Parting(newlines, not in_line and at == len(one), not in_line and there == len(other))


def _line(text: bytes, start: int, skipped: int, *, exact: bool) -> bytes | None:
    """The line as the mode sees it, with its newline; None if there are not so many."""
    while (within := text.count(b"\n", start, start + BLOCK)) < skipped:
        if start >= len(text):
            return None
        skipped, start = skipped - within, start + BLOCK
    for _ in range(skipped):
        start = text.index(b"\n", start) + 1
    end = text.find(b"\n", start) + 1 or len(text)
    if end == start:
        return None
    line = text[start:end]
    return line.replace(b"\r\n", b"\n") if exact else line.rstrip()


def _windows(
    expected: bytes | None, actual: bytes | None, line: int, fold: Callable[[bytes], bytes]
) -> tuple[OutputPiece | None, OutputPiece | None]:
    one, other = (expected or b"").removesuffix(b"\n"), (actual or b"").removesuffix(b"\n")
    folded = fold(one), fold(other)
    if tuple(map(len, folded)) != (len(one), len(other)):  # a letter that folds to two
        one, other = folded
    parted = common_length(*folded)
    return (
        None if expected is None else _window(one, parted, line, newline=expected.endswith(b"\n")),
        None if actual is None else _window(other, parted, line, newline=actual.endswith(b"\n")),
    )


def _window(text: bytes, parted: int, line: int, *, newline: bool = True) -> OutputPiece:
    start = 0 if parted < WINDOW // 4 else parted - BEFORE
    while 0 < start < len(text) and text[start] & 0xC0 == 0x80:  # not inside a character
        start -= 1
    end = min(len(text), start + WINDOW)
    while start < end < len(text) and text[end] & 0xC0 == 0x80:
        end -= 1
    return OutputPiece(text[start:end], line, start == 0, end == len(text), newline)


# --- by words --------------------------------------------------------------------------------------------------------


def _by_words(expected: bytes, actual: bytes, start: int, how: Compare) -> Verdict:
    fold = _folding(how)
    tolerance = how.tolerance if how.mode == "float" else None
    one, other = _Words(expected, start, fold), _Words(actual, start, fold)
    while True:
        left = one.ready(), other.ready()
        length = min(left)
        if not length:
            break
        mine, theirs = one.words[one.at : one.at + length], other.words[other.at : other.at + length]
        if mine != theirs:
            for step in _doubtful(mine, theirs, tolerance):
                word, said = mine[step], theirs[step]
                if not (tolerance is not None and near(word, said, tolerance)):
                    return _words_differ(one.found(step), other.found(step), fold, tolerance)
        one.at += length
        other.at += length
    if left == (0, 0):
        return Same()
    return _words_differ(one.found(0), other.found(0), fold, tolerance)


class _Words:
    """The words of one side, some at a time."""

    def __init__(self, text: bytes, start: int, fold: Callable[[bytes], bytes]) -> None:
        self._text, self._fold = text, fold
        self._from = self._to = start
        """The part of the text that `words` was made from."""
        self.words: list[bytes] = []
        self.at = 0

    def ready(self) -> int:
        """How many words are ready; 0 at the end."""
        while self.at == len(self.words) and self._to < len(self._text):
            self._from, self._to = self._to, self._boundary(self._to)
            self.words, self.at = self._fold(self._text[self._from : self._to]).split(), 0
        return len(self.words) - self.at

    def _boundary(self, start: int) -> int:
        """Somewhere between two words, not far behind `start` if there is such a place."""
        end = start + BLOCK
        if end >= len(self._text):
            return len(self._text)
        last = max(self._text.rfind(blank, start, end) for blank in (b" ", b"\n"))
        if last >= start:
            return last + 1
        rest = _WORD.match(self._text, end)  # a word of a million letters
        return rest.end() if rest else end

    def found(self, step: int) -> OutputPiece | None:
        """Where the word stands that is `step` ahead, and how it is written there."""
        word = next(islice(_WORD.finditer(self._text, self._from, self._to), self.at + step, None), None)
        if word is None:
            return None
        return OutputPiece(word[0], self._text.count(b"\n", 0, word.start()) + 1)


def _words_differ(
    expected: OutputPiece | None, actual: OutputPiece | None, fold: Callable[[bytes], bytes], tolerance: float | None
) -> Differs:
    line = (expected or actual or OutputPiece(b"", 1)).line
    pieces = _windows(expected.text if expected else None, actual.text if actual else None, line, fold)
    mine, theirs = (
        OutputPiece(piece.text, word.line, piece.starts, piece.ends) if piece and word else None
        for piece, word in zip(pieces, (expected, actual), strict=True)
    )
    return Differs(line, mine, theirs, in_words=True, tolerance=tolerance)


def _doubtful(expected: list[bytes], actual: list[bytes], tolerance: float | None) -> Iterator[int]:
    """The places where two words differ and need a closer look. All other words are near enough. This is decided for a
    thousand words at a time, because a look at each takes five times as long."""
    for start in range(0, len(expected), MANY):
        mine, theirs = expected[start : start + MANY], actual[start : start + MANY]
        if mine == theirs:
            continue
        apart = _numbers_apart(mine, theirs, tolerance) if tolerance is not None else None
        for step in range(len(mine)) if apart is None else apart:
            if mine[step] != theirs[step]:
                yield start + step


def _numbers_apart(expected: list[bytes], actual: list[bytes], tolerance: float) -> list[int] | None:
    """The places where two words may not be near enough. None if this cannot be decided for all at once, because some
    are not numbers, or too large or too long for a float."""
    if tolerance < _PRECISE_ENOUGH or max(max(map(len, expected)), max(map(len, actual))) >= _LONGEST_FLOAT:
        return None
    one, other = b",".join(expected), b",".join(actual)
    wanted, said = _floats(one, len(expected)), _floats(other, len(actual))
    if wanted is None or said is None:
        return None
    fractions = one.count(b".") == other.count(b".") == len(expected)  # one number has no two points
    apart = [*map(sub, wanted, said)]
    if fractions and max(apart) <= tolerance and min(apart) >= -tolerance:
        return []
    return [
        step
        for step, (far, number) in enumerate(zip(apart, wanted, strict=True))
        if not (-tolerance <= far <= tolerance or abs(far) <= tolerance * abs(number))
        or not (fractions or b"." in expected[step])  # two whole numbers must be equal
    ]


def _floats(text: bytes, count: int) -> list[float] | None:
    """`count` words with commas between them, as numbers; None if some are not numbers or are too large for a float."""
    if text.translate(None, _OF_NUMBERS) or text.count(b",") >= count:
        return None
    powers = b"e" in text or b"E" in text
    if powers and _LONG_POWER.search(text):
        return None
    try:
        floats = _decode_floats(b"[%b]" % text)  # which takes a fifth of the time
    except msgspec.DecodeError:  # `+1`, `.5`, `007`
        try:
            floats = [*map(float, text.split(b","))]
        except ValueError:  # two signs, or two points
            return None
    return None if powers and not -_LARGEST < min(floats) <= max(floats) < _LARGEST else floats


_EXACTLY = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
_PRECISE_ENOUGH = 1e-12
"""Below this tolerance a float's own error counts."""
_LONGEST_FLOAT = 300
_LARGEST = 1e300
_OF_NUMBERS = b",+-.eE0123456789"
"""Text of only these characters means the same to `float` as to `NUMBER`, except for a power of more than nine
digits."""
_LONG_POWER = re.compile(rb"[eE][+-]?[0-9]{10}")
_decode_floats = msgspec.json.Decoder(list[float]).decode
MANY = 1_000
"""Words that are looked at at a time."""


def near(expected: bytes, actual: bytes, tolerance: float) -> bool:
    """Whether two words are numbers that are close enough."""
    if len(expected) > 100_000 or len(actual) > 100_000:
        return False
    if not (NUMBER.fullmatch(expected) and NUMBER.fullmatch(actual)):
        return False
    if (one := _whole(expected)) and (other := _whole(actual)):
        return one == other
    if tolerance >= _PRECISE_ENOUGH and max(len(expected), len(actual)) < _LONGEST_FLOAT:
        wanted, said = float(expected), float(actual)
        if abs(wanted) < _LARGEST and abs(said) < _LARGEST:
            return abs(wanted - said) <= tolerance * max(1.0, abs(wanted))
    return _exactly_near(expected, actual, tolerance)


def _exactly_near(expected: bytes, actual: bytes, tolerance: float) -> bool:
    wanted, said = (decimal.Decimal(number.decode("ascii")) for number in (expected, actual))
    if wanted == said:
        return True
    apart = _EXACTLY.abs(_EXACTLY.subtract(wanted, said))
    largest = _EXACTLY.max(decimal.Decimal(1), _EXACTLY.abs(wanted))
    return apart <= _EXACTLY.multiply(decimal.Decimal(tolerance), largest)


def _whole(number: bytes) -> tuple[bool, bytes] | None:
    """Sign and digits of a whole number, however long it is."""
    match = WHOLE.fullmatch(number)
    return (match[1] == b"-" and match[2] != b"0", match[2]) if match else None


# --- case ------------------------------------------------------------------------------------------------------------


def _folding(how: Compare) -> Callable[[bytes], bytes]:
    return _as_it_is if how.case_sensitive else _folded


def _as_it_is(text: bytes) -> bytes:
    return text


def _folded(text: bytes) -> bytes:
    if text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape")
