"""Which files a post adds to the cases that are there.

Rules
  - Nothing is overwritten: new cases come after the highest index that any file has, be its pair complete or not.
  - A case that is there already, input and output alike, is not added again, nor twice out of one post. So a problem
    can be sent as often as one likes.
  - A case with a known input and another output is a new case: one of the two is somebody's correction.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from codec.judge import Sample, fingerprint


class Pair(NamedTuple):
    """Digests of the files of one index; None where the file is missing."""

    input: bytes | None
    output: bytes | None


NewCase = tuple[int, bytes, bytes]
"""Index, input, output."""


def plan(existing: Mapping[int, Pair], samples: Iterable[Sample], highest: int = 0) -> list[NewCase]:
    """The files to write, in their order. `highest`: of the indices in use, if there are more than `existing` has."""
    known = set(existing.values())
    index = max(highest, *existing, 0)
    cases: list[NewCase] = []
    for sample in samples:
        given, wanted = sample.input.encode(), sample.output.encode()
        pair = Pair(fingerprint(given).digest(), fingerprint(wanted).digest())
        if pair not in known:
            known.add(pair)
            index += 1
            cases.append((index, given, wanted))
    return cases
