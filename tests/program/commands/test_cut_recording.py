"""A recording that ends anywhere, as a kill, a full disk or an interrupted copy leaves it, is played up to there."""

import io
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.sidekick.recording import UnreadableLine, entry_line, header_line, read_entry
from program.commands.replay import replay
from program.reel import Reel
from program.trouble import Trouble
from tests.program.commands.test_recording import SPAWN, Room, replaying

HEADER = header_line("demo", 1772357400.25)
LAST = '{"component":"label","type":"update","target":"l","x":[true,null,-1.5e+10,"é\\u00e9\\n😀"]}'.encode()
WHOLE = HEADER + entry_line(0.25, SPAWN) + entry_line(1.5, LAST)
UNTIL = len(WHOLE) - len(entry_line(1.5, LAST))


def played(path: Path) -> tuple[list[float], int | None]:
    with Reel(path) as reel:
        return [entry.at for batch in reel.batches() for entry in batch], reel.torn


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\n\n  \n"])
def test_a_recording_cut_at_any_byte_of_its_last_line_is_played_up_to_there(ending: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for end in range(UNTIL + 1, len(WHOLE) - 2):
        path.write_bytes(WHOLE[:end] + ending)
        assert played(path) == ([0.25], 3), WHOLE[UNTIL:end]
    for end in (len(WHOLE) - 1, len(WHOLE)):  # only the newline is missing, if anything
        path.write_bytes(WHOLE[:end] + ending)
        assert played(path) == ([0.25, 1.5], None)
    path.write_bytes(WHOLE[:UNTIL] + ending)
    assert played(path) == ([0.25], None)


@pytest.mark.parametrize("end", range(1, len(HEADER) - 2))
def test_one_that_is_cut_in_its_first_line_says_so(end: int, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER[:end])
    with pytest.raises(Trouble, match="line 1: the recording is cut off inside its first line"):
        Reel(path)


def test_a_line_that_is_cut_in_the_middle_is_an_error_and_nothing_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER + entry_line(0.25, SPAWN)[:40] + b"\n" + entry_line(1.5, LAST))
    room = Room([])
    with pytest.raises(Trouble, match="line 2: expected a JSON object"):
        replay(replaying(path), room.means, io.StringIO())
    assert room.heard == []


@pytest.mark.parametrize("wrong", [b"nonsense\n", b'{"at":1}\n', b'{"at":x\n', b'{"at":-1,"message":{}}\n', b"[]\n"])
def test_a_last_line_that_is_whole_and_wrong_is_an_error(wrong: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER + entry_line(0.25, SPAWN) + wrong)
    with pytest.raises(Trouble, match="line 3: expected "):
        played(path)


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    path, out = tmp_path / "x.jsonl", io.StringIO()
    path.write_bytes(WHOLE[:-20] + b"\n")
    assert replay(replaying(path, speed=0), Room([]).means, out) == 0
    assert f"Replayed 1 message into room demo in 0.0 s; line 3 of {path} is cut off and was left out" in out.getvalue()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.data())
@example("\\", None)
def test_whatever_a_message_holds_its_beginning_is_known_as_one(value: object, data: st.DataObject | None) -> None:
    line = entry_line(0.5, msgspec.json.encode({"component": "label", "type": "spawn", "payload": value}))
    whole = line.rstrip()
    ends = range(1, len(whole)) if data is None else [data.draw(st.integers(1, len(whole) - 1))]
    for end in ends:
        with pytest.raises(UnreadableLine) as refused:
            read_entry(whole[:end] + b"\n")
        assert refused.value.cut
