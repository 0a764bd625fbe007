"""Decides which files a post adds to the existing cases.

Rules
  - Nothing is overwritten. New cases come after the highest index in use, even if its pair of files is incomplete.
  - A case with the same input and output as an existing one is not added again, nor twice from one post. So a problem
    can be sent any number of times.
  - A case with a known input and another output is a new case, because one of the two is a correction.
  - If an earlier write was interrupted, it may have left an answer without its input. If this is the answer of the
    first missing case, it gets its input, and no index is lost.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from codec.judge import Sample, fingerprint


class Pair(NamedTuple):
    """Digests of the files of one index; None where the file is missing."""

    input: bytes | None
    output: bytes | None


NewCase = tuple[int, bytes, bytes | None]
"""Index, input, output. The output is None if it exists already."""


def plan(
    existing: Mapping[int, Pair],
    samples: Iterable[Sample],
    highest: int = 0,
    alone: Mapping[int, bytes] | None = None,
) -> list[NewCase]:
    """The files to write, in order. `highest`: the highest index in use, if it is not in `existing`. `alone`: the
    digests of answers that may lack their inputs."""
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
