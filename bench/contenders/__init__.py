"""Who is measured. Each has the same exercises, each a Side (bench/harness.py):

tell      producers tell one consumer, which counts in a method, one call per message; a producer lets others run after
          `every` messages
ring      actors in a circle hand `tokens` on; the unit is one hop
ask       askers ask one callee and wait for the answer, each question with a deadline
spawn     start actors one after the other, each ready before the next
"""

from collections.abc import Iterator

DEADLINE = 5.0
"""Seconds an asker would wait."""


def shares(whole: int, parts: int) -> Iterator[int]:
    """The whole in parts as equal as can be; none empty."""
    for part in range(min(whole, parts)):
        yield len(range(part, whole, parts))


def batches(whole: int, size: int) -> Iterator[range]:
    for start in range(0, whole, size):
        yield range(start, min(start + size, whole))
