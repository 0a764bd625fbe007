"""Recording and replay: the form of the file, what each command does at its edges, and both against a real server."""

import io
import json
import os
import re
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, NoReturn

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.kernel import PeerGone
from codec.sidekick.recording import Entry, UnreadableLine, entry_line, header_line, read_entry, read_header
from program.arguments import Record, Replay
from program.commands.record import record
from program.commands.replay import Tempo, replay
from program.reel import Reel
from program.trouble import Trouble
from program.visiting import Means
from tests.house.forking import Forked
from tests.house.running import PROGRAM, ROOT, Server, server, troupe
from tests.sidekick.guests import PATIENCE, board, guest
from tests.web.board_words import CLEAR, Message, announce, node, remove, spawn, update

HEADER = header_line("demo", 1772357400.25)
SPAWN = b'{"id":0,"component":"label","type":"spawn","target":"l","payload":{"text":"x"}}'

# -- the form


def test_the_header_says_which_room_and_when() -> None:
    assert json.loads(HEADER) == {
        "troupe": "recording",
        "version": 1,
        "room": "demo",
        "started": "2026-03-01T09:30:00.250Z",
    }
    assert read_header(HEADER).room == "demo"


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (b'{"a": 1.50}', b'{"at":0.250000,"message":{"a": 1.50}}\n'),
        (b'{"a":\r\n1}', b'{"at":0.250000,"message":{"a":  1}}\n'),
        (b'{"a":"\\n"}', b'{"at":0.250000,"message":{"a":"\\n"}}\n'),
        (b'{"a":NaN}', b'{"at":0.250000,"raw":"{\\"a\\":NaN}"}\n'),
        (b"no\nJSON", b'{"at":0.250000,"raw":"no\\nJSON"}\n'),
        (b'"\xff"', '{"at":0.250000,"raw":"\\"\ufffd\\""}\n'.encode()),
        (b"", b'{"at":0.250000,"raw":""}\n'),
    ],
)
def test_a_message_stands_on_one_line_as_it_came(message: bytes, line: bytes) -> None:
    assert entry_line(0.25, message) == line


@settings(max_examples=50, deadline=None)
@given(st.binary(), st.floats(0, 1e6))
def test_whatever_is_written_is_one_line_of_json(message: bytes, at: float) -> None:
    line = entry_line(at, message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line)["at"] == pytest.approx(at, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), st.none() | st.integers() | st.lists(st.text())))
def test_what_a_hero_drew_is_read_as_it_was_written(payload: object) -> None:
    message = json.dumps({"component": "viz", "type": "update", "target": "v", "payload": payload}).encode()
    assert read_entry(entry_line(1.5, message)) == read_entry(b'{"at":1.5,"message":' + message + b"}")
    assert json.loads(read_entry(entry_line(1.5, message)).drawn) == json.loads(message)


@pytest.mark.parametrize(
    ("message", "drawn"),
    [
        (b'{"component":"grid","type":"spawn","target":"g"}', True),
        (b'{"component":"grid","type":"update","target":"g"}', True),
        (b'{"component":"grid","type":"remove","target":"g"}', True),
        (b'{"component":"global","type":"clearAll"}', True),
        (b'{"component":"chart","type":"spin","target":"c"}', True),
        (b'{"component":"system","type":"announce","payload":{}}', False),
        (b'{"component":"grid","type":"event","src":"g"}', False),
        (b'{"component":"grid","type":"error","src":"g"}', False),
        (b'{"component":"grid","type":"hover","src":"g"}', False),
        (b"{}", False),
    ],
)
def test_what_heroes_drew_is_told_from_the_rest(message: bytes, drawn: bool) -> None:
    assert read_entry(entry_line(0, message)).drawn == (message if drawn else b"")


@pytest.mark.parametrize(
    ("raw", "drawn"),
    [
        (b'{"type":"update","x":NaN}', b'{"type":"update","x":"NaN"}'),
        (b"no JSON", b""),
        (b"[NaN]", b""),
    ],
)
def test_what_was_no_json_is_played_where_it_can_be_put_right(raw: bytes, drawn: bytes) -> None:
    assert read_entry(entry_line(0, raw)).drawn == drawn


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"hello\n", "this is not a recording"),
        (b'["troupe"]\n', "this is not a recording"),
        (b'{"troupe":"tree"}\n', "this is not a recording"),
        (b'{"troupe":"recording","version":2}', "of version 2, and this program reads version 1; play it with"),
        (b'{"troupe":"recording"}', "of version null"),
        (b'{"troupe":"recording","version":1,"room":5}', "is not right: expected room to be a text"),
    ],
)
def test_what_is_no_header_is_said(line: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableLine, match=f"^.*{sentence.replace('`', '.')}"):
        read_header(line)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"hello", "expected a JSON object: JSON is malformed"),
        (b'{"at":1,"mess', "expected a JSON object: input data was truncated"),
        (b"[" * 100_000, "expected"),
        (b"[]", r'expected \{"at": seconds, "message": \{\.\.\.\}\}: expected .object., got .array.'),
        (b'{"message":{}}', "missing required field .at."),
        (b'{"at":"soon","message":{}}', "expected .float., got .str. - at .*at"),
        (b'{"at":-1,"message":{}}', 'expected "at" to be seconds since the start, got -1'),
        (b'{"at":1}', 'expected "at", and "message" or "raw" beside it'),
        (b'{"at":1,"message":5}', "expected .object., got .int."),
        (b'{"at":1,"message":{"type":5}}', "expected .str., got .int."),
    ],
)
def test_what_is_no_entry_is_said(line: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableLine, match=sentence):
        read_entry(line)


# -- the file


def entries(path: Path) -> list[Entry]:
    with Reel(path) as reel:
        return [entry for batch in reel.batches() for entry in batch]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "x.jsonl is empty; expected a recording"),
        (b"PK\x03\x04\n", "x.jsonl, line 1: this is not a recording"),
        (HEADER + entry_line(0, SPAWN) + b"{}\n" + entry_line(0, SPAWN), "x.jsonl, line 3: "),
        (HEADER + b"\n" + b"no\n", "x.jsonl, line 3: expected a JSON object"),
    ],
)
def test_a_bad_line_is_named(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(Trouble, match=sentence), Reel(path) as reel:
        list(reel.batches())


@pytest.mark.parametrize(
    ("name", "sentence"), [("nothing", "There is no file "), (".", " is a folder; expected a rec")]
)
def test_a_file_that_is_not_there_is_said(name: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(Trouble, match=sentence):
        Reel(tmp_path / name)


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_is_cut_off_is_left_out_and_remembered(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER + entry_line(0, SPAWN) + entry_line(1, SPAWN)[:cut])
    with Reel(path) as reel:
        assert [[entry.at for entry in batch] for batch in reel.batches()] == [[0.0], []]
        assert reel.torn == 3


def test_a_last_line_without_its_newline_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER + entry_line(0, SPAWN).rstrip())
    assert [entry.drawn for entry in entries(path)] == [SPAWN]


def test_a_file_larger_than_a_read_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    long = SPAWN.replace(b'"x"', b'"' + b"y" * 700_000 + b'"')
    drawn = [SPAWN] * 3_000 + [long] + [SPAWN] * 3_000
    path.write_bytes(HEADER + b"".join(entry_line(0, each) for each in drawn))
    assert [entry.drawn for entry in entries(path)] == drawn


@pytest.mark.parametrize(
    ("speed", "max_pause", "due"),
    [
        (1.0, None, [0.0, 1.0, 1.0, 11.0]),
        (2.0, None, [0.0, 0.5, 0.5, 5.5]),
        (0.5, None, [0.0, 2.0, 2.0, 22.0]),
        (0.0, None, [0.0, 0.0, 0.0, 0.0]),
        (1.0, 3.0, [0.0, 1.0, 1.0, 4.0]),
        (2.0, 3.0, [0.0, 0.5, 0.5, 3.5]),
    ],
)
def test_time_passes_as_it_is_told(speed: float, max_pause: float | None, due: list[float]) -> None:
    pace = Tempo(speed, max_pause)
    assert [pace.due(at) for at in (0.0, 1.0, 0.5, 11.0)] == due


# -- the commands, in a room that is played


class Room:
    """A server's end of visits, each with a script: bytes are said to the visitor, a function is called.

    To a screen it happens at once, to a hero whenever he has spawned something.
    """

    def __init__(self, *visits: list[bytes | Callable[[], None]]) -> None:
        self.visits = list(visits)
        self.heard: list[Message] = []
        self.times: list[float] = []
        self.entered: list[str] = []

    @asynccontextmanager
    async def visit(self, url: str, room: str) -> AsyncIterator["Room"]:
        await trio.lowlevel.checkpoint()
        if not self.visits:
            raise PeerGone("no server answers there")
        self.entered.append(room)
        self._script = self.visits.pop(0)
        self._answers, self._news = trio.open_memory_channel[bytes](100)
        yield self

    async def send(self, message: bytes) -> None:
        await trio.lowlevel.checkpoint()
        self.heard.append(json.loads(message))
        self.times.append(trio.current_time())
        if self.heard[-1]["type"] == "announce" and self.heard[-1]["payload"]["role"] == "hero":
            self._answers.send_nowait(json.dumps(announce("troupe", role="sidekick")).encode())
        if self.heard[-1]["type"] == "spawn":
            for each in self._script:
                if isinstance(each, bytes):
                    self._answers.send_nowait(each)
                else:
                    each()

    async def receive(self) -> bytes:
        await trio.lowlevel.checkpoint()
        if self.heard[0]["payload"]["role"] == "sidekick":
            while self._script:
                each = self._script.pop(0)
                if isinstance(each, bytes):
                    return each
                each()
        return await self._news.receive()

    @property
    def means(self) -> Means:
        return Means(self.visit, lambda: "x", lambda: 1772357400.25)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def leave() -> None:
    raise PeerGone("it stopped")


def recording_to(path: Path, force: bool = False, max_bytes: int | None = None) -> Record:
    return Record("demo", path, "http://there", path.parent, force, max_bytes)


def replaying(path: Path, room: str | None = None, speed: float = 1.0, loop: bool = False) -> Replay:
    return Replay(path, room, "http://there", path.parent, speed, None, loop)


def test_a_recorder_is_a_screen_that_comes_and_goes(tmp_path: Path) -> None:
    room, out = Room([SPAWN, interrupt]), io.StringIO()
    assert record(recording_to(tmp_path / "x.jsonl"), room.means, out) == 0
    assert room.entered == ["demo"]
    payloads = [each["payload"] for each in room.heard]
    assert [(each["peerId"], each["role"], each["status"]) for each in payloads] == [
        ("recorder-x", "sidekick", "online"),
        ("recorder-x", "sidekick", "offline"),
    ]
    first, second = (tmp_path / "x.jsonl").read_bytes().splitlines(keepends=True)
    assert first == HEADER
    assert read_entry(second).drawn == SPAWN
    began, ended = out.getvalue().splitlines()
    assert began == f"troupe: Recording room demo to {tmp_path / 'x.jsonl'}; Ctrl-C ends it"
    assert re.match(r"troupe: Recorded 1 message in \d+\.\d s: ", ended)  # a test takes no minute
    assert ended.endswith(f": {tmp_path / 'x.jsonl'} ({len(first + second):,} bytes)")


def test_the_room_of_those_who_name_none_is_called_default(tmp_path: Path) -> None:
    room = Room([interrupt])
    assert (
        record(Record("default", tmp_path / "x", "http://there", tmp_path, False, None), room.means, io.StringIO()) == 0
    )
    assert room.entered == [""]


@pytest.mark.slow
def test_a_server_that_goes_is_waited_for(tmp_path: Path) -> None:
    room, out = Room([SPAWN, leave], [SPAWN, SPAWN, interrupt]), io.StringIO()
    assert record(recording_to(tmp_path / "x.jsonl"), room.means, out) == 0
    _, gone, back, ended = out.getvalue().splitlines()
    assert gone == "troupe: The server has gone (it stopped); waiting for it to come back. Ctrl-C ends it"
    assert back == "troupe: The server is back; the recording continues"
    assert "Recorded 3 messages" in ended
    times = [entry.at for entry in entries(tmp_path / "x.jsonl")]
    assert times == sorted(times)
    assert times[1] - times[0] >= 0.25


def test_a_recording_ends_when_it_is_as_large_as_it_may_be(tmp_path: Path) -> None:
    line = len(entry_line(0, SPAWN))
    most = len(HEADER) + 2 * line
    room, out = Room([SPAWN, SPAWN, SPAWN, SPAWN, leave]), io.StringIO()
    assert record(recording_to(tmp_path / "x.jsonl", max_bytes=most), room.means, out) == 0
    assert (tmp_path / "x.jsonl").stat().st_size == most
    assert f"Ctrl-C ends it, or at {most:,} bytes" in out.getvalue()
    assert "Recorded 2 messages" in out.getvalue()
    assert "--max-bytes allows more" in out.getvalue()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("there", "there exists already; name another file, or replace it with --force"),
        (".", "is a folder; expected the name of the file to make"),
        ("no/folder", "There is no folder .*no to put the recording in; make it first"),
        ("x" * 300, "cannot be made: File name too long"),
    ],
)
def test_a_file_that_cannot_be_made_is_said(name: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("kept")
    with pytest.raises(Trouble, match=sentence):
        record(recording_to(tmp_path / name), Room([interrupt]).means, io.StringIO())
    assert (tmp_path / "there").read_text() == "kept"


def test_a_file_that_waits_for_a_reader_is_waited_for_no_longer_than_until_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = threading.Event()

    def wait_for_a_reader(path: Path, force: bool) -> NoReturn:
        os.kill(os.getpid(), signal.SIGINT)
        read.wait(60)
        raise OSError

    monkeypatch.setattr("program.commands.record._made", wait_for_a_reader)
    out = io.StringIO()
    try:
        assert record(recording_to(tmp_path / "pipe", force=True), Room([]).means, out) == 130
    finally:
        read.set()
    assert out.getvalue() == ""


def test_force_replaces_the_file(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("not kept" * 100)
    assert record(recording_to(tmp_path / "there", force=True), Room([interrupt]).means, io.StringIO()) == 0
    assert (tmp_path / "there").read_bytes() == HEADER


def test_without_a_server_no_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="Nothing can be recorded: no server answers there") as caught:
        record(recording_to(tmp_path / "x.jsonl"), Room().means, io.StringIO())
    assert caught.value.code == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has /dev/full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="/dev/full cannot be written any further: No space left"):
        record(recording_to(Path("/dev/full"), force=True), Room([SPAWN, interrupt]).means, io.StringIO())


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "x.jsonl"
    lines = [
        entry_line(0.0, json.dumps(announce()).encode()),
        entry_line(0.0, json.dumps(CLEAR).encode()),
        entry_line(0.0, SPAWN),
        entry_line(0.3, json.dumps(update("label", "l", "setText", text="y")).encode()),
        entry_line(99.0, json.dumps(announce(status="offline")).encode()),
    ]
    path.write_bytes(HEADER + b"".join(lines))
    return path


@pytest.mark.slow
def test_a_replay_is_a_hero_that_draws_at_the_pace_of_the_recording(tape: Path) -> None:
    room, out = Room([]), io.StringIO()
    assert replay(replaying(tape), room.means, out) == 0
    assert room.entered == ["demo"]
    hello, *drawn, asked, goodbye = room.heard
    assert [each["type"] for each in drawn] == ["clearAll", "spawn", "update"]
    for said, status in ((hello, "online"), (asked, "online"), (goodbye, "offline")):
        assert (said["payload"]["peerId"], said["payload"]["role"]) == ("replay-x", "hero")
        assert said["payload"]["status"] == status
    greeted, _, second, third, *_ = room.times  # when it was heard, which may be late, but never early
    assert second < third
    assert 0.29 <= third - greeted < 30
    assert out.getvalue().startswith("troupe: Replayed 3 messages into room demo in 0.")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_a_terminal_is_shown_how_far_it_has_come(tape: Path) -> None:
    out = Terminal()
    assert replay(replaying(tape), Room([]).means, out) == 0
    pictures = out.getvalue().split("\r")
    assert any(
        picture.startswith("━") and "─  0." in picture and "of 0.3 s  2 of 3 messages" in picture
        for picture in pictures
    )
    assert pictures[-1].startswith("\x1b[Ktroupe: Replayed 3 messages")


@pytest.mark.slow
def test_a_terminal_is_shown_how_much_was_recorded(tmp_path: Path) -> None:
    room, out = Room([SPAWN, leave], [SPAWN, interrupt]), Terminal()
    assert record(recording_to(tmp_path / "x.jsonl"), room.means, out) == 0
    assert "\r0 messages, 0." in out.getvalue()
    assert "\r1 message, 0." in out.getvalue()


def test_a_replay_into_another_room_with_all_speed(tape: Path) -> None:
    room, out = Room([]), io.StringIO()
    assert replay(replaying(tape, room="copy", speed=0), room.means, out) == 0
    assert room.entered == ["copy"]
    assert "into room copy" in out.getvalue()


def test_what_the_server_refuses_is_counted(tape: Path) -> None:
    error = {"component": "label", "type": "error", "src": "l", "payload": {"message": "this id is taken"}}
    room, out = Room([json.dumps(error).encode()] * 2), io.StringIO()
    assert replay(replaying(tape, speed=0), room.means, out) == 0
    assert "; 2 errors came back, the first of them: this id is taken" in out.getvalue()


def test_ctrl_c_ends_a_replay_with_a_goodbye(tape: Path) -> None:
    room, out = Room([interrupt]), io.StringIO()
    assert replay(replaying(tape, speed=0.001), room.means, out) == 130
    assert "Stopped after 2 of 3 messages" in out.getvalue()
    assert room.heard[-1]["payload"]["status"] == "offline"


def test_without_a_server_a_replay_says_so(tape: Path) -> None:
    with pytest.raises(Trouble, match="The replay ended after 0 of 3 messages: no server answers there") as caught:
        replay(replaying(tape), Room().means, io.StringIO())
    assert caught.value.code == 1


class Stuck(Room):
    """Takes no more from the first update on, and the user loses patience."""

    async def send(self, message: bytes) -> None:
        await super().send(message)
        if self.heard[-1]["type"] == "update":
            interrupt()
            await trio.sleep_forever()


def test_after_half_a_message_nothing_follows_it_not_even_a_goodbye(tape: Path) -> None:
    room, out = Stuck([]), io.StringIO()
    assert replay(replaying(tape, speed=0), room.means, out) == 130
    assert room.heard[-1]["type"] == "update"
    assert "Stopped after 2 of 3 messages" in out.getvalue()


def test_a_loop_begins_again_until_ctrl_c(tape: Path) -> None:
    rounds = iter([lambda: None, lambda: None, interrupt])
    room, out = Room([lambda: next(rounds)()]), io.StringIO()
    assert replay(replaying(tape, speed=0, loop=True), room.means, out) == 0
    assert [each["type"] for each in room.heard].count("clearAll") == 3


def test_a_server_that_goes_ends_a_replay(tape: Path) -> None:
    with pytest.raises(Trouble, match="The replay ended after 1 of 3 messages: it stopped") as caught:
        replay(replaying(tape, speed=0), Room([leave]).means, io.StringIO())
    assert caught.value.code == 1


def test_a_bad_line_is_said_before_anything_is_drawn(tape: Path) -> None:
    with tape.open("ab") as file:
        file.write(b"{}\n")
    room = Room([])
    with pytest.raises(Trouble, match="line 7: "):
        replay(replaying(tape), room.means, io.StringIO())
    assert room.heard == []


def test_a_recording_that_was_cut_off_is_played_and_it_is_said(tape: Path) -> None:
    with tape.open("ab") as file:
        file.write(b'{"at":100.0,"mess')
    out = io.StringIO()
    assert replay(replaying(tape, speed=0), Room([]).means, out) == 0
    assert f"; line 7 of {tape} is cut off and was left out" in out.getvalue()


def test_a_server_whose_sidekick_is_down_is_said(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text('{"pid":41,"listeners":{"console":"http://127.0.0.1:1","sidekick":null}}')
    asked = Record("demo", tmp_path / "x.jsonl", None, tmp_path, False, None)
    with pytest.raises(Trouble, match=r"The server is running \(pid 41\), but its Sidekick is switched off or down"):
        record(asked, Room([interrupt]).means, io.StringIO())


def test_a_recording_whose_room_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(header_line("no room", 0))
    with pytest.raises(Trouble, match="does not name a valid room; name one with --room"):
        replay(replaying(tmp_path / "x.jsonl"), Room([]).means, io.StringIO())


# -- a real server

BEFORE = [
    CLEAR,
    spawn("row", "row"),
    spawn("grid", "grid", numColumns=4, numRows=3, parent="row"),
    spawn("canvas", "canvas", width=60, height=40, parent="row"),
    spawn("console", "console", showInput=True, text="begun\n"),
    spawn("markdown", "markdown", initialSource="# Title\n\nwith \u2028 odd \u0000 letters"),
    spawn("viz", "v"),
    spawn("label", "gone", text="will be removed"),
    update("grid", "grid", "setColor", x=1, y=2, color="red"),
    update("canvas", "canvas", "createBuffer", bufferId=1),
]
AFTER = [
    update("canvas", "canvas", "drawRect", bufferId=1, x=1, y=2, width=30, height=20, fillColor="teal"),
    update("canvas", "canvas", "drawBuffer", sourceBufferId=1, targetBufferId=0),
    update("grid", "grid", "setText", x=0, y=0, text="ä"),
    update("console", "console", "append", text="more\n"),
    remove("label", "gone"),
    spawn("button", "button", text="Go", parent="row"),
    update("button", "button", "changeParent", parent="row", insertBefore="grid"),
    {
        "id": 0,
        "component": "viz",
        "type": "update",
        "target": "v",
        "payload": {
            "action": "set",
            "variableName": "data",
            "options": {"path": [], "valueRepresentation": node([1, {"a": None}])},
        },
    },
    spawn("label", "last", text="the end"),
]


@contextmanager
def command(house: Server, *arguments: str, stdin: IO[str] | None = None) -> Iterator[Forked]:
    process = Forked([str(PROGRAM), *arguments, "--state-dir", str(house.state)], cwd=ROOT, env=os.environ, stdin=stdin)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def line_of(process: Forked) -> str:
    assert process.stderr is not None
    with trio.fail_after(PATIENCE):
        return await trio.to_thread.run_sync(process.stderr.readline, abandon_on_cancel=True)


async def ended(process: Forked, by: signal.Signals | None = None) -> tuple[int, str]:
    if by is not None:
        process.send_signal(by)
    _, said = await trio.to_thread.run_sync(lambda: process.communicate(timeout=PATIENCE))
    return process.returncode, said


async def recorded(path: Path, text: bytes) -> None:
    with trio.fail_after(PATIENCE):
        while text not in await trio.Path(path).read_bytes():  # noqa: ASYNC110 - another process writes it
            await trio.sleep(0.02)


async def shown(house: Server, room: str, target: str) -> None:
    """Wait until this stands on the board."""
    async with guest(house, room, "sidekick") as screen:
        await screen.hear(lambda heard: any(each.get("target") == target for each in heard))


@pytest.mark.slow
async def test_a_replay_in_another_room_shows_the_same_board(tmp_path: Path) -> None:
    tape = tmp_path / "x.jsonl"
    with server(tmp_path / "house") as house:
        house.ready()
        async with guest(house, "demo", "hero") as hero:
            await hero.say(*BEFORE)
            with command(house, "record", "demo", str(tape)) as recorder:
                assert "Recording room demo" in await line_of(recorder)
                await recorded(tape, b"createBuffer")
                await hero.say(*AFTER)
                await recorded(tape, b"the end")
                code, said = await ended(recorder, signal.SIGINT)
        assert (code, "Recorded " in said) == (0, True)
        copied = troupe(tmp_path, "replay", str(tape), "--state-dir", str(house.state), "--room", "copy", "--speed=max")
        assert (copied.returncode, copied.stdout) == (0, "")
        assert "into room copy" in copied.stderr
        assert "came back" not in copied.stderr
        original = await board(house, "demo")
        assert [each for each in original if each.get("target") == "last"]
        assert await board(house, "copy") == original


@pytest.mark.slow
async def test_a_recording_that_was_killed_can_be_replayed(tmp_path: Path) -> None:
    tape = tmp_path / "x.jsonl"
    with server(tmp_path / "house") as house:
        house.ready()
        async with guest(house, "demo", "hero") as hero:
            with command(house, "record", "demo", str(tape)) as recorder:
                await line_of(recorder)
                await hero.say(*BEFORE, *AFTER)
                await recorded(tape, b"the end")
                recorder.kill()
                recorder.wait()
        copied = troupe(tmp_path, "replay", str(tape), "--state-dir", str(house.state), "--room", "copy", "--speed=max")
        assert copied.returncode == 0, copied.stderr
        assert await board(house, "copy") == await board(house, "demo")


@pytest.mark.slow
async def test_a_recording_goes_on_after_the_server_was_restarted(tmp_path: Path) -> None:
    tape = tmp_path / "x.jsonl"
    with server(tmp_path / "house") as first:
        first.ready()
        async with guest(first, "demo", "hero") as hero:
            await hero.say(CLEAR, spawn("label", "old", text="before"))
            await shown(first, "demo", "old")
            with command(first, "record", "demo", str(tape)) as recorder:
                await line_of(recorder)
                await recorded(tape, b"before")
                assert first.stop() == 0
                assert "The server has gone" in await line_of(recorder)
                with server(tmp_path / "house") as second:
                    second.ready()
                    assert "is back" in await line_of(recorder)
                    async with guest(second, "demo", "hero") as again:
                        await again.say(CLEAR, spawn("label", "new", text="after"))
                        await recorded(tape, b"after")
                        assert (await ended(recorder, signal.SIGTERM))[0] == 0


@pytest.mark.slow
async def test_a_room_is_mirrored_through_a_pipe(tmp_path: Path) -> None:
    with server(tmp_path / "house") as house:
        house.ready()
        async with guest(house, "demo", "hero") as hero:
            await hero.say(*BEFORE)
            with (
                command(house, "record", "demo", "-") as recorder,
                command(house, "replay", "-", "--room", "copy", stdin=recorder.stdout) as player,
            ):
                await line_of(recorder)
                await hero.say(*AFTER)
                await shown(house, "copy", "last")
                assert await board(house, "copy") == await board(house, "demo")
                code, said = await ended(recorder, signal.SIGINT)
                assert (code, "to standard output" in said or "standard output (" in said) == (0, True)
                code, said = await ended(player)
                assert (code, "Replayed " in said) == (0, True)


@pytest.mark.slow
async def test_whoever_reads_a_recording_may_stop_reading(tmp_path: Path) -> None:
    with server(tmp_path / "house") as house:
        house.ready()
        async with guest(house, "demo", "hero") as hero:
            with command(house, "record", "demo", "-") as recorder:
                await line_of(recorder)
                assert recorder.stdout is not None
                assert json.loads(await trio.to_thread.run_sync(recorder.stdout.readline))["troupe"] == "recording"
                recorder.stdout.close()
                recorder.stdout = None
                await hero.say(*BEFORE)
                assert (await ended(recorder))[0] == 0


@pytest.mark.slow
async def test_pages_see_the_recorder_and_no_hero_is_disturbed(tmp_path: Path) -> None:
    with server(tmp_path / "house") as house:
        house.ready()
        async with guest(house, "demo", "hero") as hero, guest(house, "demo", "sidekick") as page:
            with command(house, "record", "demo", str(tmp_path / "x.jsonl")) as recorder:
                heard = await page.hear(lambda heard: of_recorder(heard))
                assert of_recorder(heard)[0]["role"] == "sidekick"
                assert (await ended(recorder, signal.SIGINT))[0] == 0
            statuses = [
                each["status"] for each in of_recorder(await page.hear(lambda heard: len(of_recorder(heard)) > 1))
            ]
            assert statuses == ["online", "offline"]
            assert [each["type"] for each in await hero.hear(lambda heard: len(of_recorder(heard)) > 1)] == [
                "announce"
            ] * 4


def of_recorder(heard: list[Message]) -> list[Message]:
    payloads = [each["payload"] for each in heard if each["type"] == "announce"]
    return [each for each in payloads if each["peerId"].startswith("recorder-")]


@pytest.mark.slow
def test_without_a_server_it_is_said_how_to_start_one(tmp_path: Path) -> None:
    said = troupe(tmp_path, "record", "demo", "x.jsonl", "--state-dir", str(tmp_path))
    assert said.returncode == 1
    assert said.stderr == (
        f"troupe: No server is running with its state in {tmp_path}. Start one with `troupe`, or say where it is with "
        "--state-dir or --url\n"
    )
