"""What is kept of an output."""

from hypothesis import given
from hypothesis import strategies as st

from transports.process.capture import Capture

pieces = st.lists(st.binary(max_size=50), max_size=20)


@given(pieces, st.integers(0, 60))
def test_what_is_kept_is_all_or_the_first_and_the_last_half(parts: list[bytes], most: int) -> None:
    capture, whole = Capture(most), b"".join(parts)
    for part in parts:
        capture.take(part)
    captured = capture.captured()
    assert captured.total == len(whole)
    if len(whole) <= most:
        assert (captured.head, captured.tail, captured.lost) == (whole, b"", 0)
        return
    last = most // 2
    assert captured.head == whole[: most - last]
    assert captured.tail == whole[len(whole) - last :]
    assert captured.lost == len(whole) - most
