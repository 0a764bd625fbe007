import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.models import ModelTrouble
from codec.agent.ndjson import MOST_EMPTY
from codec.agent.sse import EventStream, ServerSent
from tests.agent.codec.chunking import CUTS, hostile, pieces


def events(parts: list[bytes], longest: int = 1000) -> list[ServerSent]:
    reader = EventStream(longest)
    return [event for part in parts for event in reader.feed(part)] + [*reader.end()]


ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])
LINES = st.sampled_from(
    [b"data: {}", b"data:x", b"data", b"data:  two", b": comment", b"event: error", b"id: 7", b"", b"", b"\xff"]
)


@given(st.lists(st.tuples(LINES, ENDS), max_size=30), st.booleans(), CUTS)
def test_events_are_the_same_however_they_are_cut(said: list[tuple[bytes, bytes]], mark: bool, cuts: list[int]) -> None:
    wire = b"\xef\xbb\xbf" * mark + b"".join(line + end for line, end in said)
    assert events(pieces(wire, cuts)) == events([wire])


@given(st.binary(max_size=200), CUTS)
def test_whatever_comes_is_the_same_however_it_is_cut(wire: bytes, cuts: list[int]) -> None:
    assert events(pieces(wire, cuts)) == events([wire])


TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=9)


@given(st.lists(TEXTS, max_size=9), ENDS)
def test_what_was_sent_comes_out(said: list[str], end: bytes) -> None:
    wire = b"".join(b"data: " + text.encode() + end + end for text in said)
    assert [event.data.decode() for event in events([wire])] == said


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b": only a comment\n\n", []),
        (b"data:a\n: a comment between\nid: 1\n\n", [b"a"]),
        ("data: ä€🙂\n\n".encode(), ["ä€🙂".encode()]),
        (b"event: x\n\ndata: a\n\n", [b"a"]),
    ],
)
def test_the_standard_holds_at_every_cut(wire: bytes, expected: list[bytes]) -> None:
    for parts in hostile(wire):
        assert [event.data for event in events(parts)] == expected


def test_an_event_has_the_name_that_it_was_given_and_the_next_one_has_none() -> None:
    found = events([b"event: error\ndata: a\n\ndata: b\n\n"])
    assert found == [ServerSent(b"a", b"error"), ServerSent(b"b", b"message")]


LONG = [b"data: " + b"x" * 20, b": " + b"x" * 20 + b"\n", b"data: xxx\n" * 4, b"data: x\n\n" + b"y" * 21]


@pytest.mark.parametrize("wire", LONG)
def test_a_line_or_an_event_over_the_limit_is_a_trouble_wherever_it_is_cut(wire: bytes) -> None:
    for parts in hostile(wire):
        with pytest.raises(ModelTrouble, match="more than 15 bytes"):
            events(parts, 15)


def test_many_events_have_no_limit_together() -> None:
    assert len(events([b"data: x\n\n"] * 1000, 20)) == 1000


def test_lines_that_say_nothing_come_to_an_end_unless_something_is_between_them() -> None:
    lines = EventStream()
    for _ in range(3):
        assert len([*lines.feed(b":\n" * (MOST_EMPTY // 2) + b"data: x\n\n")]) == 1
    with pytest.raises(ModelTrouble, match="empty lines"):
        assert [*lines.feed(b":\n" * (MOST_EMPTY + 1))]
