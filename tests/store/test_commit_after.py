"""Where the next commit ends in a log, found by bisection, is where one finds it who reads frame after frame."""

import struct

from hypothesis import example, given
from hypothesis import strategies as st

from actors.store.mark import FRAME_HEAD, LOG_HEAD, LOG_MAGIC, LogFile

PAGE = 8
OURS, OTHERS = b"our salt", b"old salt"
sizes = st.lists(st.sampled_from([0, 0, 0, 5]), max_size=40)
"""Of the database, after each frame; 0: the frame commits nothing."""


class PaperLog(LogFile):
    def __init__(self, content: bytes) -> None:
        self._content = content
        super().__init__(None)

    def read(self, size: int, at: int) -> bytes:
        return self._content[at : at + size]


def a_log(ours: list[int], others: list[int]) -> PaperLog:
    """With so many frames, and behind them those of the log that was there before."""
    frames = [(size, OURS) for size in ours] + [(size, OTHERS) for size in others]
    head = struct.pack(">IIII8s8s", min(LOG_MAGIC), 3007000, PAGE, 0, OURS, bytes(8))
    return PaperLog(head + b"".join(frame(number, *each) for number, each in enumerate(frames, 1)))


def frame(number: int, size: int, salts: bytes) -> bytes:
    return struct.pack(">II8s8s", 1, size, salts, checksum(number)) + bytes(PAGE)


def checksum(number: int) -> bytes:
    return struct.pack(">Q", number)


@given(sizes, sizes, sizes)
@example([5], [0, 0, 5, 0, 0, 0], [5])
@example([], [5], [])
def test_the_end_of_the_next_commit_is_found_though_what_was_rolled_back_follows(
    before: list[int], then: list[int], old: list[int]
) -> None:
    """One transaction at most, as after each commit."""
    first = next((place for place, size in enumerate(then) if size), None)
    then = then if first is None else [*then[: first + 1], *[0] * (len(then) - first - 1)]
    log = a_log(before + then, old)
    assert (log.salts, log.frame_size, LOG_HEAD) == (OURS, FRAME_HEAD + PAGE, 32)
    expected = None if first is None else (len(before) + first + 1, checksum(len(before) + first + 1))
    assert log.commit_after(len(before), OURS) == expected
