"""Which files a post adds to the cases that are there.

Rules
  - Nothing is overwritten: new cases come after the highest index that any file has, be its pair complete or not.
  - A case that is there already, input and output alike, is not added again, nor twice out of one post. So a problem
    can be sent as often as one likes.
  - A case with a known input and another output is a new case: one of the two is somebody's correction.
  - What is written again after somebody was stopped in the middle of it finds an answer without its input where that
    was: of the first case that is missing, if it is that one's answer. It gets its input, and no index is lost.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from codec.judge import Sample, fingerprint


class Pair(NamedTuple):
    """Digests of the files of one index; None where the file is missing."""

    input: bytes | None
    output: bytes | None


NewCase = tuple[int, bytes, bytes | None]
"""Index, input, output; None: that is there."""


def plan(
    existing: Mapping[int, Pair],
    samples: Iterable[Sample],
    highest: int = 0,
    alone: Mapping[int, bytes] | None = None,
) -> list[NewCase]:
    """The files to write, in their order. `highest`: of the indices in use, if there are more than `existing` has.
    `alone`: the digests of answers that may have been left alone."""
    known = set(existing.values())
    index = max(highest, *existing, 0)
    cases: list[NewCase] = []
    for sample in samples:
        given, wanted = sample.input.encode(), sample.output.encode()
        pair = Pair(fingerprint(given).digest(), fingerprint(wanted).digest())
        if pair in known:
            continue
        known.add(pair)
        left = None if cases else _last_of(alone or {}, pair.output)
        if left is not None:
            cases.append((left, given, None))
        else:
            index += 1
            cases.append((index, given, wanted))
    return cases


def _last_of(alone: Mapping[int, bytes], digest: bytes | None) -> int | None:
    return max((index for index, each in alone.items() if each == digest), default=None)
