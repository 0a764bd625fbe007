"""Sidekick's port, with a desk that stands in for the rooms."""

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked
from trio_websocket import ConnectionClosed

from actors.kernel import NobodyThere, TooManyChildren
from tests.patience import PATIENCE
from tests.transports.house import TEXT, House, frame, open_house, read_all, read_until, reason_of
from transports.sidekick.playground import MOST_SCRIPTS, Playground, playing
from transports.sidekick.port import room_in, sidekick_application, sidekick_websocket
from transports.websocket.line import Line
from transports.websocket.websocket import Closed
from transports.wire.limits import DoorLimits, WebSocketLimits


@dataclass
class Puppets:
    """A desk whose rooms relay what they hear, as it is, to all others."""

    peers: dict[str, list[Line]] = field(default_factory=dict)
    """By room."""
    batches: list[list[bytes]] = field(default_factory=list)
    left: list[Closed] = field(default_factory=list)
    blocks: list[trio.CancelScope] = field(default_factory=list)
    open: trio.Event = field(default_factory=trio.Event)

    async def rooms(self) -> bytes:
        return b"[]"

    @asynccontextmanager
    async def attend(self, room: str, line: Line) -> AsyncIterator["Puppet"]:
        if room == "full":
            raise TooManyChildren("troupe/sidekick/peers has 4096 children, which is all it may have")
        lines = self.peers.setdefault(room, [])
        lines.append(line)
        try:
            with trio.CancelScope() as block:
                self.blocks.append(block)
                yield Puppet(self, line, lines)
        except Closed as closed:
            self.left.append(closed)
            raise
        finally:
            lines.remove(line)


@dataclass
class Puppet:
    desk: Puppets
    line: Line
    lines: list[Line]

    async def heard(self, batch: list[bytes]) -> None:
        if b"wait" in batch:
            self.desk.batches.append(batch)
            await self.desk.open.wait()
            self._relay(batch)
        else:
            self.heard_at_once(batch)

    def heard_at_once(self, batch: list[bytes]) -> bool:
        if b"wait" in batch:
            return False
        self.desk.batches.append(batch)
        self._relay(batch)
        return True

    def _relay(self, batch: list[bytes]) -> None:
        if b"hang up" in batch:
            self.line.offer(self.line.frames([b"last words"]))
            self.line.hang_up(4001, "as you wish")
        blob = self.line.frames(batch)
        for line in self.lines:
            if line is not self.line:
                line.offer(blob)


@asynccontextmanager
async def open_port(
    web: Path | None = None, playground: Playground | None = None, **limits: Any
) -> AsyncIterator[tuple[House, Puppets]]:
    desk = Puppets()
    app = sidekick_application(web or resources.files("web"), str.upper, playground)
    websocket = WebSocketLimits(message_bytes=32 << 20, **limits)
    async with open_house(
        app=app, on_websocket=sidekick_websocket(desk), limits=DoorLimits(websocket=websocket)
    ) as house:
        yield house, desk


@pytest.mark.parametrize(
    ("query", "room"),
    [
        ("", ""),
        ("session=", ""),
        ("other=1", ""),
        ("session=12345678", "12345678"),
        ("session=my_room-2&x=1", "my_room-2"),
        ("session=" + "x" * 64, "x" * 64),
        ("session=" + "x" * 65, None),
        ("session=a&session=b", None),
        ("session=..%2F..", None),
        ("session=%20", None),
        ("session=%ff", None),
        ("session=na%C3%AFve", None),
        ("session=a%0A", None),
    ],
)
def test_a_session_names_a_room_or_is_refused(query: str, room: str | None) -> None:
    assert room_in(query) == room


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", ["1", "2"]),
        ("?bundles=1", ["[1,2]"]),
        ("?session=a&bundles=1", ["[1,2]"]),
        ("?bundles=0", ["1", "2"]),
        ("?bundles=1&bundles=1", ["1", "2"]),
    ],
)
async def test_who_asks_for_bundles_is_told_in_one_message_what_is_said_together(query: str, told: list[str]) -> None:
    async with open_port() as (house, desk), house.websocket(f"/{query}") as screen:
        await wait_all_tasks_blocked()
        (line,) = (line for lines in desk.peers.values() for line in lines)
        line.offer(line.frames([b"1", b"2"]))
        assert [await screen.get_message() for _ in told] == told


class Listed:
    async def rooms(self) -> bytes:
        return b'{"rooms":[]}'


class Silent:
    async def rooms(self) -> bytes:
        raise NobodyThere("boards are not running at the moment")


@pytest.mark.parametrize(
    ("listing", "status", "said"),
    [(Listed(), 200, '{"rooms":[]}'), (Silent(), 503, f"{NobodyThere.told}\n")],
)
async def test_the_rooms_are_listed_anew_each_time_or_it_is_said_why_not(
    listing: Listed | Silent, status: int, said: str
) -> None:
    app = sidekick_application(resources.files("web"), str.upper, None, listing)
    answer = await app.test_client().get("/rooms.json")
    assert (answer.status_code, await answer.get_data(as_text=True)) == (status, said)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no lookout")
async def test_messages_that_come_alone_resume_no_task_of_their_peer(mock_clock: MockClock) -> None:
    """No time passes: otherwise a message that takes long on a busy machine makes its peer greedy."""
    resumed: list[str] = []

    class Steps(trio.abc.Instrument):
        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            resumed.append(task.name)

    said = [b"%d" % number for number in range(20)]
    async with open_port() as (house, desk), await house.connect() as hero:
        await hero.send_all(house.upgrade("/"))
        await read_until(hero, b"\r\n\r\n")
        await wait_all_tasks_blocked()
        steps = Steps()
        trio.lowlevel.add_instrument(steps)
        for text in said:
            await hero.send_all(frame(TEXT, text))
            await wait_all_tasks_blocked()
        trio.lowlevel.remove_instrument(steps)
        assert desk.batches == [[text] for text in said]
        assert not [name for name in resumed if name.startswith("transports.") and "Lookout" not in name]
        assert any("Lookout" in name for name in resumed)


async def test_peers_of_one_room_hear_each_other_and_no_others() -> None:
    async with open_port() as (house, desk):
        async with (
            house.websocket("/?session=one") as hero,
            house.websocket("/?session=one") as screen,
            house.websocket("/") as other,
        ):
            await hero.send_message("hello")
            await other.send_message("elsewhere")
            with trio.fail_after(PATIENCE):
                assert await screen.get_message() == "hello"
            assert sorted(desk.peers) == ["", "one"]
        await house.all_gone()
        assert desk.peers == {"": [], "one": []}


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/socket", 404, b"Sidekick's WebSocket is at /, or for a session at /?session=ID.\n"),
        ("/?session=a/b", 400, b"letters, digits, hyphens or underscores, and only once.\n"),
    ],
)
async def test_a_websocket_elsewhere_is_answered_in_words(path: str, status: int, sentence: bytes) -> None:
    async with open_port() as (house, _):
        answer = await house.exchange(house.upgrade(path))
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert answer.endswith(sentence)


@pytest.mark.parametrize("origin", [None, "http://localhost:{}", "http://127.0.0.1:{}"])
async def test_a_hero_comes_without_an_origin_or_with_ours(origin: str | None) -> None:
    async with open_port() as (house, _), await house.connect() as stream:
        headers = [f"Origin: {origin.format(house.port)}"] if origin else []
        await stream.send_all(house.upgrade("/", *headers))
        assert (await read_until(stream, b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")


async def test_a_page_of_another_site_may_not_drive_the_board() -> None:
    async with open_port() as (house, _):
        answer = await house.exchange(house.upgrade("/", "Origin: https://evil.example"))
        assert answer.startswith(b"HTTP/1.1 403 ")


async def test_a_full_house_is_1013_in_words_for_its_guests() -> None:
    async with open_port() as (house, _), house.websocket("/?session=full") as client:
        with pytest.raises(ConnectionClosed) as closed:
            await client.get_message()
        assert (reason_of(closed).code, reason_of(closed).reason) == (1013, TooManyChildren.told)


async def test_when_the_room_ends_its_peers_are_told_to_come_again() -> None:
    async with open_port() as (house, desk), house.websocket() as client:
        await client.send_message("hello")
        while not desk.batches:
            await wait_all_tasks_blocked(0.01)
        desk.blocks[0].cancel()
        with pytest.raises(ConnectionClosed) as closed:
            await client.get_message()
        assert reason_of(closed).code == 1012
        assert house.log.contained() == []


async def test_a_peer_that_is_hung_up_on_reads_what_was_offered_before() -> None:
    async with open_port() as (house, desk):
        async with house.websocket() as client:
            await client.send_message("hang up")
            with trio.fail_after(PATIENCE):
                assert await client.get_message() == "last words"
                with pytest.raises(ConnectionClosed) as closed:
                    await client.get_message()
        await house.all_gone()
        assert (reason_of(closed).code, reason_of(closed).reason) == (4001, "as you wish")
        assert [each.code for each in desk.left] == [4001]
        assert house.log.contained() == []


async def test_while_a_room_has_no_time_its_peer_waits_and_nothing_is_lost() -> None:
    async with open_port() as (house, desk), await house.connect() as stream:
        await stream.send_all(house.upgrade())
        await read_until(stream, b"\r\n\r\n")
        await stream.send_all(frame(TEXT, b"wait"))
        while not desk.batches:
            await wait_all_tasks_blocked(0.01)
        await stream.send_all(frame(TEXT, b"more") * 1000)
        await wait_all_tasks_blocked(0.01)
        assert desk.batches == [[b"wait"]]
        desk.open.set()
        while sum(map(len, desk.batches)) < 1001:
            await wait_all_tasks_blocked(0.01)
        assert {text for batch in desk.batches[1:] for text in batch} == {b"more"}


@pytest.mark.slow
async def test_a_message_of_11_mb_arrives_and_one_of_100_mb_is_1009() -> None:
    async with open_port() as (house, desk):
        async with await house.connect() as stream:
            await stream.send_all(house.upgrade())
            await read_until(stream, b"\r\n\r\n")
            await stream.send_all(frame(TEXT, b"v" * 11_300_000))
            while not desk.batches:
                await wait_all_tasks_blocked(0.01)
            assert list(map(len, desk.batches[0])) == [11_300_000]
        answer = await house.exchange(house.upgrade() + frame(TEXT, b"v" * 100_000_000))
        assert b"\x03\xf1" in answer[answer.rindex(b"\x88") :]


@pytest.fixture
def web(tmp_path: Path) -> Path:
    (tmp_path / "board").mkdir()
    (tmp_path / "script").mkdir()
    (tmp_path / "script" / "index.html").write_text("<title>the script page</title>")
    (tmp_path / "board" / "index.html").write_text("<title>the board</title>")
    (tmp_path / "board" / "board.js").write_text("export {}")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "status", "content"),
    [
        ("/", 200, b"the board"),
        ("/session/12345678", 200, b"the board"),
        ("/session/12345678/", 200, b"the board"),
        ("/session/no.such", 404, b"A session is named by"),
        ("/session/", 404, b"There is no page"),
        ("/session/a/b", 404, b"There is no page"),
        ("/web/board/board.js", 200, b"export {}"),
        ("/web/board/none.js", 404, b"There is no page"),
    ],
)
async def test_the_board_is_served_at_the_root_and_for_each_session(
    web: Path, path: str, status: int, content: bytes
) -> None:
    async with open_port(web) as (house, _):
        answer = await house.exchange(house.request(f"GET {path} HTTP/1.1", "Connection: close"))
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert content in answer


async def test_markdown_is_rendered_for_the_board(web: Path) -> None:
    async with open_port(web) as (house, _):
        answer = await house.exchange(
            house.request("POST /markdown HTTP/1.1", "Connection: close", "Content-Length: 4", body=b"text")
        )
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n\r\nTEXT")


async def test_texts_that_take_long_leave_threads_for_every_other_page(web: Path) -> None:
    done = threading.Event()

    def render(text: str) -> str:
        done.wait()
        return text

    app = sidekick_application(web, render)
    async with open_house(app=app) as house:
        try:
            threads = int(trio.to_thread.current_default_thread_limiter().total_tokens)
            for _ in range(threads):
                await house.memory_client().send_all(house.post("/markdown", b"text"))
            await wait_all_tasks_blocked()
            reader = house.memory_client()
            await reader.send_all(house.request("GET / HTTP/1.1", "Connection: close"))
            with trio.fail_after(PATIENCE):
                assert (await read_all(reader)).startswith(b"HTTP/1.1 200 ")
        finally:
            done.set()


# --- scripts that run in the browser


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for folder in ("pyodide", "scripts/week1", "scripts/.hidden"):
        (home / folder).mkdir(parents=True)
    (home / "secret.py").write_text("secret")
    (home / "pyodide" / "pyodide.mjs").write_text("export {}")
    (home / "pyodide" / "pyodide.asm.wasm").write_bytes(b"\0asm")
    for name in ("hello.py", "week1/maze.py", ".hidden/x.py", "week1/.x.py", "notes.txt", "week1/a b.py"):
        (home / "scripts" / name).write_text("print()")
    (home / "scripts" / "link.py").symlink_to(home / "secret.py")
    (home / "scripts" / "up").symlink_to(home)
    return home


async def fetch(web: Path, playground: Playground, target: str, *headers: str) -> tuple[int, dict[str, str], str]:
    async with open_port(web, playground) as (house, _):
        answer = await house.exchange(house.request(f"GET {target} HTTP/1.1", "Connection: close", *headers))
    head, _, body = answer.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return int(first.split()[1]), {name.lower(): value for name, value in fields.items()}, body


@pytest.mark.parametrize("target", ["/script", "/script/", "/script/hello", "/script/hello.py", "/script/week1/maze"])
async def test_the_script_page_is_isolated(web: Path, home: Path, target: str) -> None:
    status, headers, body = await fetch(web, Playground(f"{home}/pyodide", f"{home}/scripts"), target)
    assert (status, body) == (200, "<title>the script page</title>")
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"
    assert "unsafe" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    "name", ["nothing", "secret", "../secret", "..%2fsecret", "up/secret", "link", ".hidden/x", "week1/.x", "notes.txt",
             "week1", "week1/a%20b"],
)  # fmt: skip
async def test_a_script_that_is_not_in_the_folder_is_not_there(web: Path, home: Path, name: str) -> None:
    playground = Playground(f"{home}/pyodide", f"{home}/scripts")
    status, _, body = await fetch(web, playground, f"/script/{name}")
    assert (status, "There is no script '" in body) == (404, True)
    status, _, body = await fetch(web, playground, f"/scripts/{name}.py")
    assert (status, "secret\n" in body) == (404, False)


async def test_where_no_scripts_are_configured_none_can_be_named(web: Path) -> None:
    status, _, body = await fetch(web, Playground(), "/script/hello")
    assert (status, body) == (
        404, "No folder of scripts is configured: under [sidekick], set scripts to its absolute path.\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pyodide", "policy"),
    [
        ("{home}/pyodide", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"),
        (
            "https://cdn.example/v1",
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' https://cdn.example/v1/; "
            "connect-src 'self' https://cdn.example/v1/",
        ),
    ],
)
async def test_the_worker_alone_may_compile_and_fetch_from_one_place(
    web: Path, home: Path, pyodide: str, policy: str
) -> None:
    playground = Playground(pyodide.format(home=home))
    status, headers, body = await fetch(web, playground, "/script/worker.js")
    assert (status, headers["content-security-policy"]) == (200, policy)
    assert headers["cross-origin-embedder-policy"] == "require-corp"
    assert headers["content-type"].startswith("text/javascript")
    assert f'import {{ loadPyodide }} from "{playground.address}pyodide.mjs";' in body


async def test_pyodide_is_served_from_its_folder(web: Path, home: Path) -> None:
    playground = Playground(f"{home}/pyodide")
    status, headers, _ = await fetch(web, playground, "/pyodide/pyodide.mjs")
    assert (status, headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    status, headers, _ = await fetch(web, playground, "/pyodide/pyodide.asm.wasm")
    assert (status, headers["content-type"]) == (200, "application/wasm")
    assert (await fetch(web, playground, "/pyodide/../secret.py"))[0] == 404
    assert (await fetch(web, Playground("https://cdn.example"), "/pyodide/pyodide.mjs"))[0] == 404


def test_what_can_be_run_is_listed(home: Path) -> None:
    for version in ("0.0.6", "0.0.10", "0.0.9"):
        (home / "pyodide" / f"sidekick_py-{version}-py3-none-any.whl").write_bytes(b"")
    assert playing(Playground(f"{home}/pyodide", f"{home}/scripts")) == {
        "address": "/pyodide/",
        "wheel": "/pyodide/sidekick_py-0.0.10-py3-none-any.whl",
        "trouble": None,
        "warnings": [],
        "scripts": ["hello", "week1/maze"],
    }


def test_beside_an_address_the_client_comes_from_the_folder_of_scripts(home: Path) -> None:
    wheel = "sidekick_py-0.0.7-py3-none-any.whl"
    (home / "scripts" / wheel).write_bytes(b"")
    found = playing(Playground("https://cdn.example/v1/", f"{home}/scripts"))
    assert (found["address"], found["wheel"]) == ("https://cdn.example/v1/", f"/scripts/{wheel}")


def test_a_large_folder_is_listed_in_part(home: Path) -> None:
    for number in range(MOST_SCRIPTS + 50):
        (home / "scripts" / "week1" / f"s{number}.py").touch()
    assert len(playing(Playground(scripts=f"{home}/scripts"))["scripts"]) == MOST_SCRIPTS


@pytest.mark.parametrize(
    ("pyodide", "scripts", "trouble", "warning"),
    [
        ("", "", "Pyodide is not configured.", None),
        ("{home}/none", "", "sidekick.pyodide names {home}/none, and there is no such folder.", None),
        ("{home}/scripts", "", "and there is no pyodide.mjs in it", None),
        ("{home}/pyodide", "", None, "there is no sidekick_py-*.whl in {home}/pyodide."),
        ("https://cdn.example", "", None, "in a folder of ours (sidekick.scripts names none)."),
        ("", "{home}/none", "Pyodide is not configured.", "sidekick.scripts names {home}/none, and there is no such"),
    ],
)
def test_what_is_missing_is_said(
    home: Path, pyodide: str, scripts: str, trouble: str | None, warning: str | None
) -> None:
    found = playing(Playground(pyodide.format(home=home), scripts.format(home=home)))
    assert (trouble is None) == (found["trouble"] is None)
    assert (trouble or "").format(home=home) in (found["trouble"] or "")
    assert (warning or "").format(home=home) in " ".join(found["warnings"])
    assert (warning is None) == (found["warnings"] == [])


@pytest.mark.parametrize("target", ["/", "/session/12345678"])
async def test_a_board_may_show_pictures_and_reach_its_own_sockets_also_when_it_is_known_already(
    web: Path, target: str
) -> None:
    status, headers, _ = await fetch(web, Playground(), target)
    again, later, _ = await fetch(web, Playground(), target, f"If-None-Match: {headers['etag']}")
    assert (status, again) == (200, 304)
    for policy in (headers["content-security-policy"], later["content-security-policy"]):
        assert "default-src 'self'; object-src 'none';" in policy
        assert "; img-src 'self' https:; connect-src 'self' ws://127.0.0.1:" in policy
        assert "unsafe" not in policy
