"""Outputs that are kept: the newest of each case, within a bound."""

from actors.judge.outputs import Outputs


def test_the_newest_output_of_a_case_is_kept() -> None:
    outputs = Outputs()
    outputs.keep(1, b"one")
    outputs.keep(1, b"other")
    assert (outputs.of(1), outputs.of(2)) == (b"other", b"")
    outputs.keep(1, b"")
    assert outputs.of(1) == b""


def test_the_oldest_are_let_go_of_when_there_is_too_much() -> None:
    outputs = Outputs(10)
    outputs.keep(1, b"1234")
    outputs.keep(2, b"1234")
    outputs.keep(1, b"4321")
    outputs.keep(3, b"1234")
    assert [outputs.of(index) for index in (1, 2, 3)] == [b"4321", b"", b"1234"]
    outputs.keep(4, b"x" * 11)
    assert [outputs.of(index) for index in (1, 2, 3, 4)] == [b""] * 4
