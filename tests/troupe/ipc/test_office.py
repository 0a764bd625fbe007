"""The server's own word: of the right server, which may come and go, and whatever it says."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from codec.ipc import Dialect, Failure, Success, write_response
from codec.ipc.desk import Attempt, DeskTotals, Handled, RequestDetail, RequestFact, RequestState, Selection
from tests.patience import PATIENCE
from troupe.ipc import Desk, DeskError, NobodyAtTheDesk, NoServer, folder
from troupe.ipc import office as offices
from troupe.ipc.attendance import Attendance
from troupe.ipc.office import DEADLINE, ORDER_DEADLINE, SERVER_FILE, Office

Start = Callable[..., "Answers"]


class Answers(ThreadingHTTPServer):
    block_on_close = False
    base = ""
    state: RequestState = "success"
    made_way = False
    body: bytes | None = None
    count = 0
    knows_totals = True
    ordered: threading.Event | None = None
    """Is set when an order comes, which takes..."""
    go_on = threading.Event()
    """...until this is set."""

    def announce(self, place: Path) -> None:
        url = f"http://127.0.0.1:{self.server_address[1]}"
        (place / SERVER_FILE).write_bytes(msgspec.json.encode({"pid": 1, "listeners": {"ipc": url}}))


class Speaking(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Answers

    def do_GET(self) -> None:
        self.server.count += 1
        fact = RequestFact(id="r1", command="echo", state=self.server.state, created=1.0, changed=2.0)
        tried = (
            Attempt(number=1, began=1.0, outcome=Failure("busy")),
            Attempt(number=2, began=2.0, outcome=Success(7)),
        )
        said = DeskTotals(by_state={}, base=self.server.base) if self.path == "/totals" else RequestDetail(
            fact=fact, tried=tried, made_way=self.server.made_way
        )  # fmt: skip
        body = msgspec.json.encode(said) if self.server.body is None or self.path == "/totals" else self.server.body
        self.send_response(200 if self.path != "/totals" or self.server.knows_totals else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        if self.server.ordered is not None:
            self.server.ordered.set()
            self.server.go_on.wait(PATIENCE)
            body = msgspec.json.encode(Handled(ids=("r1",)))
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name for it
        pass


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[tuple[Answers, threading.Thread]] = []

    def one(base: Path | None = None) -> Answers:
        server = Answers(("127.0.0.1", 0), Speaking)
        server.base = str(base or tmp_path / "base")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.001})
        thread.start()
        running.append((server, thread))
        server.announce(tmp_path)
        return server

    (tmp_path / "base").mkdir(mode=0o700)
    yield one
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_server_that_comes_back_elsewhere_is_found_and_one_that_is_away_is_not_asked_all_the_time(
    tmp_path: Path, start: Start
) -> None:
    now = 0.0
    office = Office(tmp_path / "base", tmp_path, clock=lambda: now)
    with pytest.raises(NoServer, match="No server is running"):
        office.detail("r1")
    start()
    with pytest.raises(NoServer):  # a moment ago there was none
        office.detail("r1")
    now += 2
    assert office.detail("r1") is not None
    second = start()
    office.close()
    assert office.detail("r1") is not None
    assert second.count == 2
    office.close()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "does not answer (Connection refused)."),
        (HTTPException("odd"), "does not answer (odd)."),
        (HTTPException(), "does not answer (HTTPException)."),
        (TimeoutError(), "is there, and does not answer in 2 seconds;"),
    ],
)
def test_why_a_server_does_not_answer_is_told(tmp_path: Path, error: Exception, reason: str) -> None:
    assert f"The server of {tmp_path} {reason}" in str(Office(tmp_path, tmp_path)._silent(error, 2.0))


def test_a_server_of_another_folder_is_none(tmp_path: Path, start: Start) -> None:
    start(tmp_path / "another")
    with pytest.raises(NoServer, match="does not serve"):
        Office(tmp_path / "base", tmp_path).detail("r1")


@pytest.mark.parametrize("body", [b"", b"hello", b"{}", b"[1]", b'{"type": "detail"}'])
def test_whatever_a_server_says_is_understood_or_said_in_words(tmp_path: Path, start: Start, body: bytes) -> None:
    start().body = body
    office = Office(tmp_path / "base", tmp_path)
    with pytest.raises(DeskError):
        office.detail("r1")
    office.close()


@pytest.mark.parametrize("state", ["polling", "retrying", "gave up"])
async def test_a_copy_in_failed_is_the_end_only_if_the_server_says_so(
    tmp_path: Path, start: Start, state: RequestState
) -> None:
    """An editor of the HEAD dialect copies every failed attempt there."""
    start().state = state
    base = tmp_path / "base"
    async with Desk(base, state=tmp_path) as desk:
        ticket = await desk.submit("echo", id="r1")
        copy = write_response("r1", Failure("busy"), (Dialect.HEAD,))
        (base / "failed" / "r1.json").write_bytes(copy)
        ended = await desk._ended([ticket.id])
    assert [each.error for each in ended] == (["busy"] if state == "gave up" else [])


@pytest.mark.parametrize("history", ["all", "failed"])
async def test_what_was_cancelled_and_submitted_again_has_the_answer_to_that(
    tmp_path: Path, start: Start, history: Any
) -> None:
    """The server may have yet to see that it was."""
    start().state = "cancelled"
    base = tmp_path / "base"
    async with Desk(base, state=tmp_path, history=history) as desk:
        await desk.submit("echo", id="r1")
        (base / "responses" / "r1.json").write_bytes(write_response("r1", Success(8)))
        result = await desk.wait("r1")
        assert (result.ok, result.data, result.cancelled) == (True, 8, False)


@pytest.mark.parametrize("answer", [Success(8), Failure("never", permanent=True)])
async def test_a_post_that_made_way_for_a_script_is_not_its_end(
    tmp_path: Path, start: Start, answer: Success | Failure
) -> None:
    """Its editor has answered it, and taken the request away, before the server has seen it."""
    server, base = start(), tmp_path / "base"
    server.state, server.made_way = "cancelled", True
    async with Desk(base, state=tmp_path, history="all") as desk:
        await desk.submit("echo", id="r1")
        room = "responses" if isinstance(answer, Success) else "failed"
        (base / room / "r1.json").write_bytes(write_response("r1", answer, (Dialect.HEAD,)))
        (base / "requests" / "r1.json").unlink()
        result = await desk.wait("r1")
    assert (result.ok, result.cancelled) == (isinstance(answer, Success), False)


async def test_of_a_later_attempt_that_succeeds_while_the_server_is_asked_the_success_is_told(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, base = start(), tmp_path / "base"
    server.state = "success"
    async with Desk(base, state=tmp_path) as desk:
        await desk.submit("echo", id="r1")
        record = base / "failed" / "r1.json"
        record.write_bytes(write_response("r1", Failure("busy"), (Dialect.HEAD,)))
        settled = desk._settled

        def succeeds(id: str) -> RequestDetail | None:  # noqa: A002
            record.unlink()
            (base / "responses" / "r1.json").write_bytes(write_response("r1", Success(8), (Dialect.HEAD,)))
            known: RequestDetail | None = settled(id)
            return known

        monkeypatch.setattr(desk, "_settled", succeeds)
        (result,) = await desk._ended(["r1"])
        assert (result.ok, result.data) == (True, 8)


@pytest.mark.parametrize("permanent", [False, True])
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_where_the_server_cannot_be_asked_a_head_editors_copy_is_no_end(
    tmp_path: Path, permanent: bool, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless nothing can come after it. Whoever waits is told so after a while."""
    base = tmp_path / "base"
    monkeypatch.setattr(folder.DeskFolder, "present", lambda _: Attendance(server=elsewhere, client=elsewhere))
    async with Desk(base, state=tmp_path) as desk:
        await desk.submit("echo", id="r1")
        copy = write_response("r1", Failure("busy", permanent=permanent), (Dialect.HEAD,))
        (base / "failed" / "r1.json").write_bytes(copy)
        if permanent:
            assert (await desk.wait("r1")).error == "busy"
        else:
            only = "only its server knows whether it tries again" if elsewhere else "Nobody is at the desk"
            with pytest.raises(NobodyAtTheDesk, match="busy") as told:
                await desk.wait("r1", patience=0.01)
            assert only in str(told.value)
            (base / "responses" / "r1.json").write_bytes(write_response("r1", Success(8), (Dialect.HEAD,)))
            assert (await desk.wait("r1")).data == 8


async def test_attempts_of_successes_are_asked_for_unless_that_is_not_wanted(tmp_path: Path, start: Start) -> None:
    server = start()
    base = tmp_path / "base"
    for history, asked, attempts in (("failed", 0, 1), ("all", 2, 2)):
        async with Desk(base, state=tmp_path, history=history) as desk:  # type: ignore[arg-type]
            await desk.submit("echo", id="r1")
            (base / "responses" / "r1.json").write_bytes(write_response("r1", Success(7)))
            assert len((await desk.wait("r1")).attempts) == attempts
        assert server.count == asked


@pytest.mark.parametrize("in_memory", [False, True])
async def test_attempts_of_a_failure_are_asked_for_also_if_those_of_successes_are_not(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    monkeypatch.setattr(folder, "lies_in_memory", lambda device: in_memory)
    start().state = "gave up"
    async with Desk(tmp_path / "base", state=tmp_path, history="failed") as desk:
        ticket = await desk.submit("echo", id="r1")
        failed = write_response("r1", Failure("busy"), (Dialect.SPEC,))
        (tmp_path / "base/failed/r1.json").write_bytes(failed)
        result = await ticket.wait(PATIENCE)
        assert (result.ok, len(result.attempts)) == (False, 2)


async def test_what_the_server_knows_of_a_request_without_files_is_its_result(tmp_path: Path, start: Start) -> None:
    start()
    async with Desk(tmp_path / "base", state=tmp_path) as desk:
        assert (await desk.wait("r1")).data == 7


@pytest.mark.parametrize("answer", [Success(7), Failure("busy", permanent=True)])
@pytest.mark.parametrize("state", ["cancelled", "success"])
async def test_what_was_cancelled_stays_so_whatever_answer_came_too_late(
    tmp_path: Path, start: Start, answer: Success | Failure, state: RequestState
) -> None:
    start().state = state
    base = tmp_path / "base"
    async with Desk(base, state=tmp_path, history="all") as desk:
        await desk.submit("echo", id="r1")
        room = "responses" if isinstance(answer, Success) else "failed"
        (base / room / "r1.json").write_bytes(write_response("r1", answer))
        (base / "requests" / "r1.json").unlink()
        result = await desk.wait("r1")
    assert result.cancelled == (state == "cancelled")
    assert result.ok == (state == "success")


@pytest.mark.parametrize("serves", ["another", None])
@pytest.mark.parametrize("ask", ["detail", "totals", "requeue", "editor"])
def test_an_address_that_is_given_is_asked_only_if_it_serves_our_folder(
    tmp_path: Path, start: Start, ask: str, serves: str | None
) -> None:
    server = start(tmp_path / serves if serves else None)
    if serves is None:
        server.base = ""
    url = f"http://127.0.0.1:{server.server_address[1]}"
    office = Office(tmp_path / "base", None, url)
    asks: dict[str, Callable[[], object]] = {
        "detail": lambda: office.detail("r1"),
        "totals": office.totals,
        "requeue": lambda: office.order("requeue", Selection(all=True)),
        "editor": lambda: office.editor("stop"),
    }
    for count in (1, 2):  # also when it is asked again
        with pytest.raises(DeskError, match=f"The desk at {url} does not serve {tmp_path / 'base'}") as said:
            asks[ask]()
        assert not isinstance(said.value, NoServer)
        assert (f"--base {tmp_path / 'another'}" in str(said.value)) == (serves == "another")
        assert server.count == count  # nothing but /totals
    server.base = str(tmp_path / "base")
    assert office.detail("r1") is not None
    office.close()


def test_where_another_server_listens_meanwhile_it_is_not_asked(tmp_path: Path, start: Start) -> None:
    server = start()
    office = Office(tmp_path / "base", tmp_path)
    assert office.detail("r1") is not None
    assert office._connection is not None
    assert office._connection.sock is not None
    office._connection.sock.shutdown(socket.SHUT_RDWR)  # as when its process has ended
    server.base = str(tmp_path / "another")
    before = server.count
    with pytest.raises(NoServer, match="does not serve"):
        office.detail("r1")
    assert server.count == before + 1
    office.close()


@pytest.mark.parametrize(
    "ask", [Office.totals, lambda office: office.order("requeue", Selection(all=True)), lambda o: o.editor("stop")]
)
def test_a_server_that_does_not_know_a_question_is_taken_for_another_version(
    tmp_path: Path, start: Start, ask: Callable[[Office], object]
) -> None:
    server = start()
    office = Office(tmp_path / "base", tmp_path)
    assert office.detail("r1") is not None
    server.knows_totals = False
    with pytest.raises(NoServer, match="is it another version of Troupe"):
        ask(office)
    office.close()


class Deaf:
    """Listens, and ends each connection, or lets it wait."""

    def __init__(self, ends: bool) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.ends = ends
        self.heard = 0
        self.rung = threading.Event()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        kept = []
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:  # it was closed
                break
            self.heard += 1
            self.rung.set()
            kept.append(connection)
            if self.ends:
                connection.close()
        for connection in kept:
            connection.close()

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


@pytest.mark.parametrize("ends", [True, False])
def test_what_no_server_has_heard_before_is_asked_once_and_not_again_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    """Who does not answer may be at it: an order is not given twice."""
    monkeypatch.setattr("troupe.ipc.office.DEADLINE", 0.05)
    deaf = Deaf(ends)
    url = f"http://127.0.0.1:{deaf.socket.getsockname()[1]}"
    (tmp_path / SERVER_FILE).write_bytes(msgspec.json.encode({"pid": 1, "listeners": {"ipc": url}}))
    office = Office(tmp_path / "base", tmp_path)
    try:
        with pytest.raises(NoServer, match="does not answer"):
            office.detail("r1")
        assert deaf.heard == 1
        assert not office.is_there
    finally:
        deaf.close()


def test_an_order_may_take_minutes_and_no_question_waits_for_it(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start()
    server.ordered = threading.Event()
    lines: list[float] = []

    def line(address: str, seconds: float) -> HTTPConnection:
        lines.append(seconds)
        return opened(address, seconds)

    opened = offices._line
    monkeypatch.setattr(offices, "_line", line)
    office, handled = Office(tmp_path / "base", tmp_path), list[Handled]()
    ordering = threading.Thread(target=lambda: handled.append(office.order("requeue", Selection(all=True))))
    ordering.start()
    assert server.ordered.wait(PATIENCE)
    assert office.detail("r1") is not None
    assert lines == [DEADLINE, ORDER_DEADLINE]
    server.go_on.set()
    ordering.join()
    assert handled == [Handled(ids=("r1",))]
    office.close()


def test_who_leaves_waits_for_no_answer_and_nothing_stays_open(tmp_path: Path) -> None:
    deaf, refusals = Deaf(ends=False), list[str]()
    office = Office(tmp_path / "base", tmp_path, f"http://127.0.0.1:{deaf.socket.getsockname()[1]}")

    def ask() -> None:
        with pytest.raises(NoServer) as silent:
            office.totals()
        refusals.append(str(silent.value))

    asking = threading.Thread(target=ask)
    asking.start()
    assert deaf.rung.wait(PATIENCE)
    office.close()
    assert refusals == []
    deaf.close()
    asking.join()
    assert len(refusals) == 1
    assert not office.is_there
