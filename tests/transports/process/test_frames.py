"""The frames of a crew: found however they were cut, as long as they may be, and no longer."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transports.process.frames import (
    DONE,
    FAILED,
    LEFT,
    MOST_BYTES,
    ORDER,
    PART,
    READY,
    STOP,
    BrokenFrame,
    frame_of,
    next_frame,
)

KINDS = [ORDER, STOP, READY, PART, DONE, LEFT, FAILED]


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.binary(max_size=9))), st.lists(st.integers(0, 60)))
def test_what_was_framed_is_found_once_and_in_order_however_it_comes(
    frames: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    whole = b"".join(frame_of(kind, body) for kind, body in frames)
    held, found = bytearray(), []
    places = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    for begin, end in pairwise(places):
        held += whole[begin:end]
        while (frame := next_frame(held)) is not None:
            found.append(frame)
    assert found == frames
    assert not held


def test_kinds_are_told_apart() -> None:
    assert len({*KINDS}) == len(KINDS)
    assert {len(kind) for kind in KINDS} == {1}
    assert frame_of(STOP) == b"\0\0\0\0" + STOP


def test_a_frame_may_have_its_most_bytes_and_none_more_on_either_side() -> None:
    longest = frame_of(PART, bytes(MOST_BYTES))
    assert next_frame(bytearray(longest)) == (PART, bytes(MOST_BYTES))
    with pytest.raises(BrokenFrame, match="a frame of 4,194,305 bytes; at most 4,194,304 are allowed"):
        frame_of(PART, bytes(MOST_BYTES + 1))
    head = (MOST_BYTES + 1).to_bytes(4, "big") + PART
    with pytest.raises(BrokenFrame, match="a frame of 4,194,305 bytes; at most 4,194,304 are allowed"):
        next_frame(bytearray(head))  # before any of its body has come
    assert next_frame(bytearray(longest[:5])) is None
