"""What is kept of an output."""

from hypothesis import example, given
from hypothesis import strategies as st

from transports.process.capture import Capture

pieces = st.lists(st.binary(max_size=50), max_size=20)


@given(pieces, st.integers(0, 60))
@example([b"ab", b"cd"], 4)
@example([b"ab", b"cde"], 4)
@example([b"abcdefgh", b"ijk"], 4)
@example([b"ab"], 1)
def test_what_is_kept_is_all_or_the_first_and_the_last_half(parts: list[bytes], most: int) -> None:
    capture, whole = Capture(most), b"".join(parts)
    for part in parts:
        capture.take(part)
        assert len(capture._head) <= most
        assert len(capture._tail or b"") <= 2 * (most // 2)
    captured = capture.captured()
    assert captured.total == len(whole)
    if len(whole) <= most:
        assert (captured.head, captured.tail, captured.lost) == (whole, b"", 0)
        return
    last = most // 2
    assert captured.head == whole[: most - last]
    assert captured.tail == whole[len(whole) - last :]
    assert captured.lost == len(whole) - most


def test_the_end_is_cut_when_it_has_grown_to_more_than_twice_its_size_and_not_at_each_write() -> None:
    capture, lengths = Capture(4), []
    for byte in b"abcdefghij":
        capture.take(bytes([byte]))
        lengths.append(len(capture._tail or b""))
    assert lengths == [0, 0, 0, 0, 3, 4, 2, 3, 4, 2]
