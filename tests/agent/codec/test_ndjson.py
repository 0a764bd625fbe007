import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.models import ModelTrouble
from codec.agent.ndjson import MOST_EMPTY, JsonLines
from tests.agent.codec.chunking import CUTS, hostile, pieces


def lines(parts: list[bytes], longest: int = 1000) -> list[bytes]:
    reader = JsonLines(longest)
    return [line for part in parts for line in reader.feed(part)] + [*reader.end()]


@given(st.lists(st.binary(max_size=30).filter(lambda line: not {10, 13} & {*line})), st.booleans(), CUTS)
def test_lines_are_the_same_however_they_are_cut(said: list[bytes], crlf: bool, cuts: list[int]) -> None:
    end = b"\r\n" if crlf else b"\n"
    wire = b"".join(line + end for line in said)
    whole = lines([wire])
    assert lines(pieces(wire, cuts)) == whole
    first = [line.removeprefix(b"\xef\xbb\xbf") for line in said[:1]]
    assert whole == [line for line in first + said[1:] if line]


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b'\xef\xbb\xbf{"a":1}\r\n\r\n\n{"b":2}', [b'{"a":1}', b'{"b":2}']),
        ('{"ä":"€"}\n{"🙂":1}\n'.encode(), ['{"ä":"€"}'.encode(), '{"🙂":1}'.encode()]),
        (b"", []),
        (b"\n", []),
    ],
)
def test_marks_and_empty_lines_are_left_out_and_a_last_line_needs_no_end(wire: bytes, expected: list[bytes]) -> None:
    for parts in hostile(wire):
        assert lines(parts) == expected


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n{}\n"])
@pytest.mark.parametrize("before", [b"", b"{}\n"])
def test_a_line_over_the_limit_is_a_trouble_wherever_it_is_cut(before: bytes, end: bytes) -> None:
    for parts in hostile(before + b"x" * 12 + end):
        with pytest.raises(ModelTrouble, match="more than 10 bytes"):
            lines(parts, 10)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_of_just_the_limit_is_taken(end: bytes) -> None:
    for parts in hostile(b"x" * 10 + end):
        assert lines(parts, 10) == [b"x" * 10]


def test_lines_that_say_nothing_come_to_an_end_unless_something_is_between_them() -> None:
    lines = JsonLines()
    for _ in range(3):
        assert len([*lines.feed(b"\n" * (MOST_EMPTY // 2) + b"{}\n")]) == 1
    with pytest.raises(ModelTrouble, match="empty lines"):
        assert [*lines.feed(b"\n" * (MOST_EMPTY + 1))]
