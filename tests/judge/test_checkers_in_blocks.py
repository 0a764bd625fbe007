"""Large texts are compared block by block; where each side's blocks end makes no difference to what is found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge import checkers
from actors.judge.checkers import Differs, Same, compare
from codec.judge import Compare, CompareMode
from tests.plenty import plenty

ENDS: dict[CompareMode, list[bytes]] = {"trim": [b"\n", b" \n", b" \t \n", b"\r\n"], "exact": [b"\n", b"\r\n"]}
"""Ends of lines that the mode holds to be the same."""
LINES = st.lists(st.sampled_from([b"a", b"ab", b"abcdefgh", b"a b", b"x" * 30, b""]), min_size=1, max_size=12)


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 4, 7, 16])
@pytest.mark.parametrize("mode", ENDS)
def test_texts_that_are_cut_elsewhere_are_the_same_and_one_line_that_differs_is_found(
    mode: CompareMode, block: int
) -> None:
    ends = st.sampled_from(ENDS[mode])

    @settings(max_examples=plenty(50), deadline=None)
    @given(LINES, st.data())
    def agree(lines: list[bytes], data: st.DataObject) -> None:
        def text(lines: list[bytes]) -> bytes:
            return b"".join(line + data.draw(ends) for line in lines)

        lines = [*lines, b"last"]
        assert compare(text(lines), text(lines), Compare(mode=mode)) == Same()
        at = data.draw(st.integers(0, len(lines) - 1))
        other = [*lines[:at], lines[at] + b"!", *lines[at + 1 :]]
        for expected, actual in ((lines, other), (other, lines)):
            found = compare(text(expected), text(actual), Compare(mode=mode))
            assert isinstance(found, Differs)
            assert found.line == at + 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkers, "BLOCK", block)
        agree()
