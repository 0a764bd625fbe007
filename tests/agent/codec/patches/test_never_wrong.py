"""Patches onto files that are no longer what they were made for: exactly right, or refused.

Where parts of a file are there twice, the right place can be gone, and a twin be left. Nobody can tell then from the
diff and the file, so this counts as right, too: the old lines stand exactly where the diff says, or exactly and nowhere
else.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from codec.agent.action_events import HunkOutcome
from codec.agent.patches import applied, parse_diff
from tests.agent.codec.patches.drawn import Drawing, DrawnLine

CASES = 300
DONE = {"applied", "moved", "loose", "merged"}


@dataclass(frozen=True)
class Drift:
    drift: Callable[[Drawing, list[DrawnLine]], list[DrawnLine]]
    twins: bool = False
    least: float = 0.0
    """How many of the hunks are applied, at least."""


DRIFTS = {
    "as it was": Drift(lambda drawing, lines: lines, least=0.97),
    "as it was, with twins": Drift(lambda drawing, lines: lines, twins=True, least=0.9),
    "moved": Drift(lambda drawing, lines: drawing.moved(lines, drawing.draw.randint(1, 3)), least=0.9),
    "changed": Drift(lambda drawing, lines: drawing.changed(lines, drawing.draw.randint(1, 6)), least=0.3),
    "deleted": Drift(lambda drawing, lines: drawing.deleted(lines, drawing.draw.randint(1, 3)), least=0.3),
    "moved and changed": Drift(lambda drawing, lines: drawing.changed(drawing.moved(lines, 2), 3), least=0.3),
    "copied": Drift(lambda drawing, lines: drawing.copied(lines, 1), twins=True, least=0.5),
    "copied and changed": Drift(
        lambda drawing, lines: drawing.changed(drawing.copied(lines, 1), 2), twins=True, least=0.3
    ),
    "all of it": Drift(
        lambda drawing, lines: drawing.deleted(drawing.moved(drawing.changed(drawing.copied(lines, 1), 2), 2), 1),
        twins=True,
        least=0.2,
    ),
}


@dataclass(frozen=True)
class Kind:
    """How a file is kept."""

    encoding: str = "utf-8"
    mark: bytes = b""
    ends: tuple[str, ...] = ("\n",)
    has_end: bool = True
    prefix: str = ""
    """Of each line with text: characters of the encoding."""
    as_git: bool = False
    """Whether the diff has the file's ends, and says where a newline is missing."""


KINDS = [
    Kind(),
    Kind(has_end=False),
    Kind(has_end=False, as_git=True),
    Kind(ends=("\r\n",)),
    Kind(ends=("\r\n",), as_git=True),
    Kind(ends=("\r\n",), has_end=False),
    Kind(ends=("\r",)),
    Kind(ends=("\n", "\r\n")),
    Kind(mark=b"\xef\xbb\xbf", prefix="ü"),
    Kind(encoding="utf-16-le", mark=b"\xff\xfe", ends=("\r\n",), prefix="ж"),
    Kind(encoding="utf-16-be", mark=b"\xfe\xff", has_end=False),
    Kind(encoding="latin-1", prefix="é"),
]


class Kept:
    """The drawn lines as a file of this kind."""

    def __init__(self, kind: Kind, drawing: Drawing, base: Sequence[DrawnLine]) -> None:
        self.kind = kind
        self.ends = {line.number: drawing.draw.choice(kind.ends) for line in base}
        if base and not kind.has_end:
            self.ends[base[-1].number] = ""
        self.base = base

    def raw(self, lines: Sequence[DrawnLine]) -> list[str]:
        """An added line's end is unknown (?) if the file has several."""
        usual = self.kind.ends[0] if len(self.kind.ends) == 1 else "?"
        raw = []
        for at, line in enumerate(lines):
            is_last = at == len(lines) - 1
            end = self.ends.get(line.number, "" if is_last and not self.kind.has_end else usual)
            raw.append(self.text(line.text) + (end if end or is_last else usual))
        return raw

    def text(self, text: str) -> str:
        return text.replace("line", f"{self.kind.prefix}line")

    def data(self) -> bytes:
        return self.kind.mark + "".join(self.raw(self.base)).encode(self.kind.encoding)

    def is_it(self, data: bytes | None, lines: Sequence[DrawnLine] | None) -> bool:
        if data is None or lines is None or not data.startswith(self.kind.mark):
            return False
        text = data.removeprefix(self.kind.mark).decode(self.kind.encoding)
        for line in self.raw(lines):
            if line.endswith("?"):
                line = next((line[:-1] + end for end in self.kind.ends if text.startswith(line[:-1] + end)), line)
            if not text.startswith(line):
                return False
            text = text.removeprefix(line)
        return not text


def literally(
    drawing: Drawing, now: Sequence[DrawnLine], outcomes: Sequence[HunkOutcome], off: int
) -> list[DrawnLine] | None:
    """The file if each hunk is where it says, or where alone it stands. None: one is at neither."""
    edits = []
    for outcome in outcomes:
        if outcome.outcome not in ("applied", "moved"):
            continue
        hunk = drawing.hunks[outcome.index]
        first, last = drawing.hunk_range(hunk)
        wanted = [line.text for line in drawing.original[first:last]]
        texts = [line.text for line in now]
        fits = [at for at in range(len(texts) - len(wanted) + 1) if texts[at : at + len(wanted)] == wanted]
        says = max(first + off, 0)
        if not (outcome.outcome == "applied" and says in fits) and len(fits) != 1:
            return None
        place = says if outcome.outcome == "applied" else fits[0]
        edits += [(place + edit.at - first, edit) for edit in hunk]
    result = list(now)
    for at, edit in sorted(edits, reverse=True):
        result[at : at + edit.removed] = [drawing.new(text) for text in edit.added]
    return result


@pytest.mark.parametrize("name", DRIFTS)
def test_a_patch_is_applied_rightly_or_refused(name: str) -> None:
    drift = DRIFTS[name]
    found: Counter[str] = Counter()
    for seed in range(CASES):
        drawing = Drawing(f"{name} {seed}", twins=drift.twins)
        off = drawing.draw.choice([0, 0, 0, 0, 1, -2, 7])
        now = drift.drift(drawing, drawing.original)
        kind = KINDS[seed % len(KINDS)]
        if len(now) < 2 or not all(lines[-1].text for lines in (now, drawing.original) if lines):
            kind = KINDS[0]  # nothing tells of the ends, or a blank last line without an end is none
        diff = drawing.diff(off=off, marks=kind.as_git, end=kind.ends[0], has_end=kind.has_end)
        kept = Kept(kind, drawing, now)
        base = kept.data()
        for patch in parse_diff(kept.text(diff)) if drawing.edits else ():
            result = applied(base, patch)
            done = [each.index for each in result.outcomes if each.outcome in DONE]
            right = kept.is_it(result.data, drawing.edited(now, done))
            if not right and drift.twins:
                right = kept.is_it(result.data, literally(drawing, now, result.outcomes, off))
            assert right, f"{name} {seed}, {kind}:\n{diff}\nonto {base!r}\ngives {result}"
            assert all(each.reason for each in result.outcomes if each.outcome == "refused")
            found.update(each.outcome for each in result.outcomes)
    assert sum(found[each] for each in DONE) >= drift.least * sum(found.values()), found


def test_onto_bytes_that_are_no_text_a_patch_is_applied_rightly_or_refused() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(20))
    hunk = "@@ -9,5 +9,5 @@\n line 8\n line 9\n-line 10\n+LINE 10\n line 11\n line 12\n"
    (patch,) = parse_diff(f"--- a/x\n+++ b/x\n{hunk}")
    found: Counter[str] = Counter()
    for seed in range(CASES):
        draw, base = Random(seed), lines
        for _ in range(draw.randint(1, 5)):
            at = draw.randrange(len(base))
            base = base[:at] + draw.randbytes(draw.randint(1, 3)) + base[at + draw.randint(0, 1) :]
        result = applied(base, patch)
        (outcome,) = result.outcomes
        if outcome.outcome in DONE:
            assert result.data == base.replace(b"line 10\n", b"LINE 10\n", 1), (seed, base, result)
        else:
            assert result.data in (None, base), (seed, base, result)
            assert outcome.reason
        found[outcome.outcome] += 1
    assert min(found["refused"], found["applied"]) > 0, found
