import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import msgspec
import pytest

from program.arguments import Tree
from program.commands import tree
from program.ready import SERVER_FILE, Announcement
from program.streams import NOBODY_READS
from program.trouble import Trouble
from tests.patience import PATIENCE
from tests.program.pictures import HOUSE

BODY = msgspec.json.encode(HOUSE)


class Console(HTTPServer):
    """A console that says one thing."""

    status = 200
    body = BODY
    asked: tuple[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Console

    def do_GET(self) -> None:
        self.server.asked = (self.path, self.headers["Host"])
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name for it
        pass


@pytest.fixture
def console() -> Iterator[Console]:
    with Console(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.001})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def odd_server() -> Iterator[Callable[[Callable[[socket.socket], object]], str]]:
    """Servers that speak as they are told, each on a thread of its own."""
    threads, listeners = [], []

    def start(speak: Callable[[socket.socket], object]) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            with listener, listener.accept()[0] as connection:
                speak(connection)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for thread in threads:
        thread.join(PATIENCE)


def command(state_dir: Path, url: str | None = None, json: bool = False, watch: bool = False) -> Tree:
    return Tree(url=url, state_dir=state_dir, json=json, watch=watch)


def announce(state_dir: Path, console: str | None) -> None:
    (state_dir / SERVER_FILE).write_bytes(msgspec.json.encode(Announcement(41, {"console": console})))


def trouble(asked: Tree) -> str:
    with pytest.raises(Trouble) as caught:
        tree.show(asked, io.StringIO())
    assert caught.value.code == 1
    return str(caught.value)


def test_the_running_server_is_found_by_its_state_directory(console: Console, tmp_path: Path) -> None:
    announce(tmp_path, console.url)
    out = io.StringIO()
    assert tree.show(command(tmp_path), out) == 0
    assert "├─ store" in out.getvalue()
    assert "\x1b" not in out.getvalue()
    assert console.asked == ("/tree.json", f"127.0.0.1:{console.server_address[1]}")


def test_an_address_that_is_given_is_asked(console: Console, tmp_path: Path) -> None:
    announce(tmp_path, "http://127.0.0.1:1")
    assert tree.show(command(tmp_path, url=console.url), io.StringIO()) == 0


def test_json_is_what_the_server_said(console: Console, tmp_path: Path) -> None:
    out = io.StringIO()
    tree.show(command(tmp_path, url=console.url, json=True), out)
    assert json.loads(out.getvalue()) == json.loads(BODY)


def test_proxies_are_not_asked(console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert tree.show(command(tmp_path, url=console.url), io.StringIO()) == 0


def test_where_no_server_runs_one_is_told_how_to_start_it(tmp_path: Path) -> None:
    assert f"No server is running with its state in {tmp_path}. Start one with `troupe`" in trouble(command(tmp_path))


def test_what_a_killed_server_left_behind_is_no_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    announce(tmp_path, url)
    assert trouble(command(tmp_path)) == f"No server answers at {url}. Start one with `troupe`"


def test_a_server_whose_console_is_down_is_no_secret(tmp_path: Path) -> None:
    announce(tmp_path, None)
    said = "The server is running (pid 41), but its console, which would show the tree, is"
    assert trouble(command(tmp_path)) == f"{said} down; its log says why"
    (tmp_path / SERVER_FILE).write_text('{"pid": 41, "listeners": {"judge": "http://127.0.0.1:1"}}')
    assert trouble(command(tmp_path)) == f"{said} switched off in its settings"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (403, b"no", "answered 403 Forbidden instead of its tree; is it a Troupe?"),
        (200, b"<html>", "is not a tree that this version can read"),
        (200, b"", "is not a tree that this version can read"),
        (200, b'{"type": "hello", "at": 1}', "missing required field"),
    ],
)
def test_another_kind_of_server_is_told_apart(
    console: Console, tmp_path: Path, status: int, body: bytes, expected: str
) -> None:
    console.status, console.body = status, body
    assert expected in trouble(command(tmp_path, url=console.url))


def test_a_tree_beyond_all_size_is_not_read(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "LARGEST", 100)
    with pytest.raises(Trouble, match="larger than 100 bytes"):
        tree.fetch(console.url)


def drip(connection: socket.socket) -> None:
    """Answers for ever, a byte at a time; each comes in time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    try:
        while True:
            connection.sendall(b" ")
            time.sleep(0.01)
    except OSError:
        return


def silence(connection: socket.socket) -> None:
    while connection.recv(1000):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("speak", [drip, silence])
def test_a_server_that_takes_for_ever_is_given_up(
    odd_server: Callable[[Callable[[socket.socket], object]], str], speak: Callable[[socket.socket], object]
) -> None:
    begun = time.monotonic()
    with pytest.raises(Trouble, match=r"did not answer within 0\.3 seconds"):
        tree.fetch(odd_server(speak), deadline=0.3)
    assert time.monotonic() - begun < PATIENCE


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", r"\w"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", r"\w"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", r"its answer broke off$"),
        (b"HTTP/9 x\r\n\r\n", r"\w"),
    ],
)
def test_a_server_that_speaks_no_http_is_a_sentence(
    odd_server: Callable[[Callable[[socket.socket], object]], str], said: bytes, why: str
) -> None:
    def speak(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(said)

    with pytest.raises(Trouble, match=rf"could not be asked for its tree: {why}"):
        tree.fetch(odd_server(speak))


class Watcher(io.StringIO):
    """A terminal whose user presses Ctrl-C after some pictures."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What happens while `--watch` sleeps; Ctrl-C when there is nothing more."""
    coming: list[Callable[[], object]] = []

    def sleep(_: float) -> None:
        if not coming:
            signal.raise_signal(signal.SIGINT)
        coming.pop(0)()

    monkeypatch.setattr("program.commands.tree.time.sleep", sleep)
    return coming


def test_watching_draws_again_and_survives_a_server_that_goes_and_comes(
    console: Console, tmp_path: Path, ticks: list[Callable[[], object]]
) -> None:
    ticks[:] = [lambda: announce(tmp_path, console.url), (tmp_path / SERVER_FILE).unlink]
    out = Watcher(terminal=False)
    assert tree.show(command(tmp_path, watch=True), out) == 0
    second = out.getvalue()
    first, *_, third = second.rstrip().split("\n\n")
    assert first.startswith("No server is running")
    assert "├─ store" in second
    assert "No server is running" in third


def test_watching_a_terminal_stays_within_it_and_gives_the_cursor_back(
    console: Console, tmp_path: Path, ticks: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((60, 8)))
    monkeypatch.setenv("NO_COLOR", "1")
    out = Watcher(terminal=True)
    tree.show(command(tmp_path, url=console.url, watch=True), out)
    hidden, _, picture = out.getvalue().partition("\x1b[H\x1b[J")
    assert hidden == "\x1b[?25l"
    assert picture.endswith("\n\x1b[?25h")
    lines = picture.splitlines()[:-1]
    assert len(lines) == 7
    assert lines[-1].startswith("… 9 more lines")


def test_a_terminal_without_box_characters_gets_what_it_can_show(console: Console, tmp_path: Path) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, "ascii")
    tree.show(command(tmp_path, url=console.url), out)
    assert b"store" in raw.getvalue()


@pytest.mark.slow
def test_a_reader_who_has_seen_enough_ends_it_without_a_word(console: Console) -> None:
    console.body = msgspec.json.encode(msgspec.structs.replace(HOUSE, version="v" * 10**6))
    shell = ["bash", "-c", 'set -o pipefail; "$0" supervisor.py tree --json --url "$1" | head -c 10']
    ended = subprocess.run(
        [*shell, sys.executable, console.url],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ended.returncode, len(ended.stdout), ended.stderr) == (NOBODY_READS, 10, "")
