"""The commands of `troupe ipc`, as programs, with somebody at the desk and without; and with a server that answers."""

import contextlib
import json
import os
import pty
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from codec.ipc import Failure, Success, read_request
from codec.ipc.desk import Attempt, DeskTotals, EditorAnswer, Handled, RequestDetail, RequestFact
from program.ready import SERVER_FILE, Announcement
from program.streams import NOBODY_READS
from tests.house import running
from tests.house.forking import Forked
from tests.house.running import PROGRAM, ROOT
from tests.patience import PATIENCE
from tests.troupe.ipc.peer import at_the_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "base"


def words_of(base: Path, deed: str, *words: str) -> list[str]:
    return ["ipc", deed, "--base", str(base), "--state-dir", str(base.parent), *words]


def command(base: Path, *words: str, **streams: int | None) -> Forked:
    return Forked([str(PROGRAM), *words_of(base, *words)], cwd=ROOT, env=os.environ, **streams)


def troupe(base: Path, *words: str) -> tuple[int, str, str]:
    told = running.troupe(ROOT, *words_of(base, *words))
    return told.returncode, told.stdout, told.stderr


def test_a_request_is_submitted_and_its_answer_shown(base: Path) -> None:
    with at_the_desk(base):
        assert troupe(base, "submit", "echo", "--params", '{"prompt": "hi"}', "--wait") == (
            0, '{\n  "content": "hi"\n}\n', "",
        )  # fmt: skip
        code, out, err = troupe(base, "submit", "wrong", "--id", "r1", "--wait")
    assert (code, out) == (1, "")
    assert err == "troupe: r1 failed: no such model\n"


def test_who_submits_where_nobody_is_hears_that_the_request_waits(base: Path) -> None:
    code, out, err = troupe(base, "submit", "echo", "--id", "r1")
    assert (code, out) == (0, "r1\n")
    assert err.startswith(f"troupe: Nobody is at the desk in {base}: start the server with ")
    assert err.endswith("The request is kept, and will go on by itself\n")
    with at_the_desk(base):
        assert troupe(base, "submit", "echo", "--id", "r2") == (0, "r2\n", "")


@pytest.mark.parametrize(
    "words",
    [("submit", "echo"), ("status",), ("status", "r1"), ("watch",), ("requeue", "--all"), ("archive",), ("evaluate",),
     ("report",)],
    ids=" ".join,
)  # fmt: skip
def test_a_folder_that_is_somebodys_home_is_left_as_it_is(base: Path, words: tuple[str, ...]) -> None:
    base.mkdir(mode=0o755)
    (base / ".profile").touch()
    code, _, err = troupe(base, *words)
    assert (base.stat().st_mode & 0o777, [path.name for path in base.iterdir()]) == (0o755, [".profile"])
    if words[0] == "submit":
        assert (code, err.count("\n")) == (1, 1)
        assert f"{base} holds other things; choose a folder that is empty" in err


def test_an_answer_moves_no_cursor_and_turns_no_text_round_and_is_still_the_same_json(base: Path) -> None:
    said = "a\u009b2Jb \x1b[31m \u202e\U000e0041 \u017c\u00f3\u0142w\n\t."
    with at_the_desk(base):
        code, out, _ = troupe(base, "submit", "echo", "--params", json.dumps({"prompt": said}), "--wait")
    assert code == 0
    assert all(each.isprintable() for each in out.split("\n"))
    assert said in json.loads(out).values()
    assert "\u017c\u00f3\u0142w" in out


def test_without_waiting_the_id_is_shown_and_nobody_need_be_there(base: Path) -> None:
    code, out, _ = troupe(base, "submit", "echo", "--priority", "-5", "--reference", "yes")
    assert code == 0
    request = read_request((base / "requests" / f"{out.strip()}.json").read_bytes(), out.strip())
    assert (request.command, request.wishes.priority, request.reference) == ("echo", -5, "yes")


INSTRUCTIONS = [
    {
        "id": 7, "type": "code", "title": "Sort", "description": "Sort these.", "requirements": ["fast", "stable"],
        "code": "x = [2, 1]\n", "expected_response": "[1, 2]",
    },
    {"id": "b", "description": "Nothing else."},
]  # fmt: skip


def test_a_file_of_instructions_is_submitted_once_however_often_it_is_given(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "monday.json"
    file.write_text(json.dumps(INSTRUCTIONS))
    assert troupe(base, "submit", str(file))[:2] == (0, "monday-7\nmonday-b\n")
    request = read_request((base / "requests" / "monday-7.json").read_bytes(), "monday-7")
    assert request.params == {
        "prompt": "Sort\n\nSort these.\n\nRequirements:\n- fast\n- stable\n\n```\nx = [2, 1]\n```",
        "expected_response": "[1, 2]",
        "type": "code",
        "title": "Sort",
    }
    assert (request.command, request.reference, request.wishes.submitter) == ("submitPrompt", "[1, 2]", "monday")
    with at_the_desk(base) as peer:
        code, out, err = troupe(base, "submit", str(file), "--wait", "--json")
        assert sorted(peer.order) == ["monday-7"] * 3 + ["monday-b"] * 3
    assert code == 1
    assert {each["id"]: each["error"] for each in map(json.loads, out.splitlines())} == {
        "monday-7": "busy",
        "monday-b": "busy",
    }
    assert err == "troupe: 2 requests: 0 answered, 2 failed\n"
    assert troupe(base, "submit", str(file), "--run", "again")[1] == "again-7\nagain-b\n"
    file.write_text(json.dumps([{"id": 7, "title": "Another"}, {"id": 8, "title": "New"}]))
    code, out, err = troupe(base, "submit", str(file))
    assert (code, out) == (1, "monday-8\n")
    assert err.startswith("troupe: monday-7 was not submitted: There is a request monday-7 already, with other params")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "it is empty"),
        ('{"a": 1}', "expected a list of instructions"),
        ('[{"title": 3}]', "instruction 1: expected title to be a string, and it is a number"),
        ('[{"title": "a"}, {"requirements": [1]}]', "instruction 2: expected requirements"),
        ('[{"id": true, "title": "a"}]', "expected id to be"),
        ('[{"id": 1}]', "asks for nothing"),
        ('[{"id": 1, "title": "a"}, {"id": "1", "title": "b"}]', "more than once"),
        ('[{"id": "a/b", "title": "a"}]', "is no id"),
    ],
)
def test_a_file_that_cannot_be_submitted_is_refused_whole_and_in_words(
    base: Path, tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "them.json"
    file.write_text(content)
    code, out, err = troupe(base, "submit", str(file))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not (base / "requests").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["submit", "echo", "--params", "[]"], "expected a JSON object"),
        (["submit", "echo", "--params", "{"], "expected a JSON object"),
        (["submit", "echo", "--params", '{"a":' + 5_000 * "[" + 5_000 * "]" + "}"], "expected a JSON object"),
        (["submit", "echo", "--run", "x"], "--run does not go with a command"),
        (["submit", "a.json", "--id", "x"], "--id does not go with a file"),
        (["submit", "echo", "--id", "../x"], "is no id"),
        (["submit", "echo", "--timeout", "3"], "--timeout needs --wait"),
        (["submit", "echo", "--priority", "101"], "from -100 to 100"),
        (["submit", ""], "expected a command, such as ping, or a file FILE.json; it is empty"),
        (["submit", " "], "it is empty"),
        (["submit", "."], "; . is a folder"),
        (["submit", "tasks/"], "; tasks/ is a folder"),
        (["submit", "echo", "--params", '{"a": "\\ud800"}'], "half of a pair of surrogates stands there alone"),
        (["submit", "echo", "--params", '{"a": "\\ud83d\\ude00"'], "truncated"),
        (["requeue", "r1", "--all"], "say either which requests, by their ids, or --all"),
        (["cancel", "r1", "--all"], "say either which requests, by their ids, or --all"),
        (["requeue"], "say which requests"),
        (["archive"], "--older-than DAYS"),
        (["status", "../x"], "is no id"),
    ],
)
def test_what_is_asked_wrongly_is_said(base: Path, words: list[str], said: str) -> None:
    code, _, err = troupe(base, *words)
    assert code == 2
    assert said in err
    assert not base.exists()


def test_status_and_watch_count_the_names_of_the_files_where_no_server_is(base: Path) -> None:
    with at_the_desk(base):
        for each in ("echo", "wrong"):
            troupe(base, "submit", each, "--id", each, "--wait")
        troupe(base, "submit", "never", "--id", "never")
    code, out, err = troupe(base, "status")
    assert (code, out) == (1, f"{base}: 3 requests: 1 answered, 1 failed, 1 under way\n")
    assert "No server is running with its state in" in err
    assert err.endswith(". This is from the names of the files\n")
    told = json.loads(troupe(base, "status", "--json")[1])
    assert told == {"base": str(base), "requests": 3, "answered": 1, "failed": 1, "server": None}
    assert troupe(base, "status", "echo") == (0, "echo: success\n", "")
    assert troupe(base, "status", "wrong") == (1, "wrong: gave up: no such model\n", "")
    assert troupe(base, "status", "never") == (0, "never: under way\n", "")
    code, _, err = troupe(base / "elsewhere", "status")
    assert (code, "is no folder of requests" in err) == (1, True)
    assert troupe(base, "status", "nobody") == (1, "", f"troupe: There is no request nobody in {base}\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_of_watch_changes_nothing(base: Path, number: signal.Signals) -> None:
    troupe(base, "submit", "echo", "--id", "r1")
    before = {path: path.stat().st_mtime_ns for path in base.rglob("*")}
    with command(base, "watch") as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "1 request: 0 answered, 1 under way\n"
        watching.send_signal(number)
        assert watching.wait(PATIENCE) == 0
    assert {path: path.stat().st_mtime_ns for path in base.rglob("*")} == before


def test_watch_ends_when_nobody_reads_it_any_more_though_nothing_happens(base: Path) -> None:
    (base / "requests").mkdir(parents=True)
    with command(base, "watch") as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "0 requests: 0 answered\n"
        watching.stdout.close()
        assert watching.wait(PATIENCE) == NOBODY_READS


def test_watch_ends_when_all_is_over_if_it_is_asked_to(base: Path) -> None:
    troupe(base, "submit", "echo", "--id", "r1")
    with command(base, "watch", "--until-done") as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        with at_the_desk(base):
            assert watching.wait(PATIENCE) == 0


def test_on_a_terminal_a_bar_is_drawn_and_the_cursor_comes_back(base: Path) -> None:
    troupe(base, "submit", "echo", "--id", "r1")
    ours, theirs = pty.openpty()
    with at_the_desk(base), command(base, "watch", "--until-done", stdout=theirs) as watching:
        os.close(theirs)
        drawn = b""
        with contextlib.suppress(OSError):  # the terminal has been closed
            while more := os.read(ours, 4096):
                drawn += more
        assert watching.wait(PATIENCE) == 0
    os.close(ours)
    text = drawn.decode()
    assert text.startswith("\x1b[?25l")
    assert text.endswith("\x1b[?25h")
    assert "100 %  1 of 1 answered" in text
    assert "█" in text


def test_ctrl_c_while_waiting_leaves_the_request_to_go_on(base: Path) -> None:
    with at_the_desk(base), command(base, "submit", "never", "--id", "r1", "--wait") as waiting:
        while not (base / "requests" / "r1.json").exists():
            time.sleep(0.01)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(PATIENCE) in (130, -signal.SIGINT)
    assert (base / "requests" / "r1.json").exists()


def test_who_waits_no_longer_than_he_said_is_told_what_is_left(base: Path) -> None:
    with at_the_desk(base):
        code, out, err = troupe(base, "submit", "never", "--wait", "--timeout", "0.2")
    assert (code, out) == (1, "")
    assert err == "troupe: 1 request not over after 0.2 s; what is left goes on\n"


# -- with a server


class Port(ThreadingHTTPServer):
    block_on_close = False
    base = editor = ""
    asked: list[tuple[str, bytes]]
    may_answer = threading.Event()
    heard = threading.Event()


class Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Port

    def do_GET(self) -> None:
        fact = RequestFact(id="r1", command="echo", state="gave up", created=1.0, changed=2.0, attempts=2, seconds=1.5)
        tried = (
            Attempt(number=1, began=1.0, ended=2.0, seconds=1.0, outcome=Failure("busy")),
            Attempt(number=2, began=2.0, ended=3.0, outcome=Success()),
        )
        match self.path:
            case "/totals":
                by_state = {"success": 4, "gave up": 1, "polling": 5}
                base, editor = self.server.base, self.server.editor
                self._say(
                    DeskTotals(by_state=by_state, base=base, running=2, peer="The editor answers.", editor=editor)
                )
            case "/requests/r1":
                self._say(RequestDetail(fact=fact, tried=tried, notes=("Requeued from the page.",)))
            case "/requests/unreadable":
                self._say(RequestDetail(fact=replace(fact, id="unreadable", command="")))
            case _:
                self._say("There is none", 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, body))
        if self.path == "/editor":
            self._say(EditorAnswer(editor="The editor is asked to end."))
        elif b"endless" in body:
            self.server.heard.set()
            self.server.may_answer.wait(PATIENCE)
        elif b"busy" in body:
            self._say("Nobody is there who could do it.", 503)
        else:
            self._say(Handled(ids=("r1", "r2"), refused={"r3": "it is not over"} if b"r3" in body else {}))

    def _say(self, what: object, status: int = 200) -> None:
        body = what.encode() if isinstance(what, str) else msgspec.json.encode(what)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name for it
        pass


@pytest.fixture
def port(base: Path) -> Iterator[Port]:
    base.mkdir(mode=0o700)
    with Port(("127.0.0.1", 0), Desk) as server:
        server.base, server.asked = str(base), []
        url = f"http://127.0.0.1:{server.server_address[1]}"
        (base.parent / SERVER_FILE).write_bytes(msgspec.json.encode(Announcement(1, {"ipc": url})))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.001})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_server_tells_what_files_do_not(base: Path, port: Port) -> None:
    code, out, err = troupe(base, "status")
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        f"{base}: 10 requests: 4 answered, 1 failed, 5 under way",
        "5 polling, 4 success, 1 gave up",
        "2 commands running",
        "The editor answers.",
    ]
    code, out, _ = troupe(base, "status", "r1")
    lines = out.splitlines()
    assert (code, lines[0], lines[-1]) == (1, "r1: echo, gave up after 1.5 s", "  Requeued from the page.")
    assert lines[1].startswith("  attempt 1: busy, 1.0 s (from ")
    assert json.loads(troupe(base, "status", "r1", "--json")[1])["fact"]["state"] == "gave up"
    assert troupe(base, "status", "unreadable") == (1, "unreadable: gave up after 1.5 s\n", "")


def test_orders_go_to_the_server_as_they_were_given(base: Path, port: Port) -> None:
    assert troupe(base, "requeue", "--all") == (0, "2 requests requeued\n", "")
    assert troupe(base, "archive", "--older-than", "7", "--match", "m*")[1] == "2 requests archived\n"
    code, out, err = troupe(base, "cancel", "r1", "r2", "r3")
    assert (code, out, err) == (1, "2 requests cancelled\n", "troupe: r3: it is not over\n")
    said = [(path, json.loads(body)) for path, body in port.asked]
    everything = {"ids": [], "all": False, "match": "", "older_than": None}
    assert said == [
        ("/requeue", {**everything, "all": True}),
        ("/archive", {**everything, "match": "m*", "older_than": 7 * 86_400}),
        ("/cancel", {**everything, "ids": ["r1", "r2", "r3"]}),
    ]
    code, _, err = troupe(base, "requeue", "busy")
    assert (code, err) == (1, "troupe: The server refused (503): Nobody is there who could do it.\n")


def test_ctrl_c_of_an_order_ends_at_once_and_says_what_goes_on(base: Path, port: Port) -> None:
    with command(base, "requeue", "--match", "endless") as ordering:
        assert port.heard.wait(PATIENCE)
        ordering.send_signal(signal.SIGINT)
        assert ordering.wait(PATIENCE) == 130
        assert ordering.stderr is not None
        assert ordering.stderr.read() == "troupe: what the server was told goes on\n"
        port.may_answer.set()


def test_the_editor_is_shown_and_ordered(base: Path, port: Port) -> None:
    none = "No editor is managed here; ipc.editor names the command that starts one.\n"
    assert troupe(base, "editor")[:2] == (0, none)
    port.editor = "The editor is up (process 7)."
    assert troupe(base, "editor") == (0, "The editor is up (process 7).\n", "")
    assert json.loads(troupe(base, "editor", "--json")[1]) == {"editor": port.editor}
    assert troupe(base, "editor", "stop") == (0, "The editor is asked to end.\n", "")
    assert port.asked == [("/editor", b'{"order":"stop"}')]
    assert troupe(base, "editor", "restart")[0] == 2


def test_a_server_of_another_folder_is_not_asked(base: Path, port: Port, tmp_path: Path) -> None:
    port.base = str(tmp_path / "other")
    code, _, err = troupe(base, "requeue", "--all")
    assert code == 1
    assert f"does not serve {base}" in err
    assert port.asked == []


def test_who_submits_to_another_folder_than_the_server_serves_hears_of_it(
    base: Path, port: Port, tmp_path: Path
) -> None:
    port.base = str(tmp_path / "other")
    code, out, err = troupe(base, "submit", "echo", "--id", "r1")
    assert (code, out) == (0, "r1\n")
    assert err.startswith(f"troupe: Nobody is at the desk in {base}. The running server does not serve {base}; ")
    assert f"it serves {port.base} instead" in err


def test_without_a_server_an_order_says_so_in_a_sentence(base: Path) -> None:
    orders = (["requeue", "--all"], ["archive", "--older-than", "1"], ["cancel", "r1"], ["editor", "stop"], ["editor"])
    for words in orders:
        code, out, err = troupe(base, *words)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "No server is running" in err


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("submit", "needs no running server"), ("status", "a running server is asked"),
        ("watch", "a running server is asked"),
        ("requeue", "It needs a running server"), ("cancel", "It needs a running server"),
        ("archive", "It needs a running server"), ("editor", "It needs a running server"),
        ("evaluate", "needs no running server"), ("report", "needs no running server"),
    ],
)  # fmt: skip
def test_the_help_of_each_says_whether_it_needs_the_server(base: Path, deed: str, said: str) -> None:
    code, out, _ = troupe(base, deed, "--help")
    assert code == 0
    assert said in " ".join(out.split())
