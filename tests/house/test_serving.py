"""The program from the outside: a real process, its ports, its files, its signals."""

import json
import os
import signal
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream

from codec.console import Change, Health, Hello
from supervisor import SYSTEMS
from tests.house.running import DEADLINE, Server, server, troupe
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow


@asynccontextmanager
async def live(house: Server) -> AsyncIterator[WebSocketConnection]:
    """The console's socket. (trio-websocket's own `open_websocket` leaks its socket when the server closes first.)"""
    address = urlsplit(house.url)
    assert address.hostname is not None
    stream = await trio.open_tcp_stream(address.hostname, address.port or 0)
    async with trio.open_nursery() as nursery:
        try:
            yield await wrap_client_stream(nursery, stream, address.netloc, "/live")
        finally:
            await trio.aclose_forcefully(stream)
            nursery.cancel_scope.cancel()


async def close_code(socket: WebSocketConnection) -> int:
    try:
        while True:
            await socket.get_message()
    except ConnectionClosed as closed:
        return closed.reason.code if closed.reason is not None else 0


@pytest.mark.parametrize("cold", [True, False], ids=["cold", "forked"])
def test_it_runs_with_nothing_configured(cold: bool, tmp_path: Path) -> None:
    with server(tmp_path, cold=cold) as house:
        house.ready()
        announced = json.loads(house.ready_file.read_text())
        listeners = {name: house.url_of(name) for name in ("sidekick", "judge", "agent", "console")}
        assert announced == {"pid": house.process.pid, "listeners": listeners}
        assert urlsplit(house.url).hostname == "127.0.0.1"
        assert house.json("/health")["status"] == "ok"
        assert [node["path"] for node in house.json("/tree.json")["nodes"]] == [
            "troupe",
            "troupe/store",
            "troupe/sidekick",
            "troupe/sidekick/boards",
            "troupe/sidekick/rooms",
            "troupe/sidekick/peers",
            "troupe/sidekick/door",
            "troupe/judge",
            "troupe/judge/launcher",
            "troupe/judge/launcher/process",
            "troupe/judge/watcher",
            "troupe/judge/shelf",
            "troupe/judge/runs",
            "troupe/judge/problems",
            "troupe/judge/intake",
            "troupe/judge/panels",
            "troupe/judge/door",
            "troupe/agent",
            "troupe/agent/launcher",
            "troupe/agent/launcher/process",
            "troupe/agent/commands",
            "troupe/agent/workspaces",
            "troupe/agent/index workers",
            "troupe/agent/indexers",
            "troupe/agent/index",
            "troupe/agent/models",
            "troupe/agent/turns",
            "troupe/agent/awake",
            "troupe/agent/clients",
            "troupe/agent/sessions",
            "troupe/agent/door",
            "troupe/console",
            "troupe/console/observer",
            "troupe/console/viewers",
            "troupe/console/door",
        ]
        page = house.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "<title>Troupe console</title>" in page.text
        assert "troupe_actors" in house.get("/metrics").text
        assert house.stop() == 0
        assert not house.ready_file.exists()
        assert "Traceback" not in house.said


def test_both_loopback_addresses_answer_at_one_port(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        port = urlsplit(house.ready().url).port
        for host in ("127.0.0.1", "[::1]"):
            assert httpx.get(f"http://{host}:{port}/health", timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT], ids=lambda by: by.name)
def test_a_signal_stops_it_in_order_and_tells_open_sockets_1001(tmp_path: Path, by: signal.Signals) -> None:
    with server(tmp_path) as house:
        house.ready()

        async def watch() -> tuple[int, float]:
            async with live(house) as socket:
                await socket.get_message()
                house.process.send_signal(by)
                asked = time.monotonic()
                return await close_code(socket), asked

        with_code, asked = trio.run(watch)
        assert with_code == 1001
        assert house.ended() == 0
        assert time.monotonic() - asked < 10
        assert "Traceback" not in house.said


def test_the_live_socket_tells_the_tree_and_then_its_changes(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()

        async def watch() -> list[Hello | Change]:
            async with live(house) as socket:
                return [msgspec.json.decode(await socket.get_message(), type=Hello | Change) for _ in range(3)]

        hello, *changes = trio.run(watch)
        assert isinstance(hello, Hello)
        assert all(isinstance(change, Change) for change in changes)
        assert any(node.path.startswith("troupe/console/viewers/") for node in (*hello.nodes, *changes[0].nodes))


def test_a_port_in_use_keeps_the_system_down_until_it_is_free(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        house_options = ("--set", f"console.port={port}")
        with server(tmp_path, *house_options) as house:
            assert f"port {port} on 127.0.0.1 is in use by another program" in house.notice("STATUS=")
            house.ready()
            assert json.loads(house.ready_file.read_text())["listeners"]["console"] is None
            taken.close()
            assert house.notice("STATUS=") == "STATUS=all ports are open"
            assert house.url == f"http://127.0.0.1:{port}"
            assert house.json("/health")["status"] == "ok"
            assert house.stop() == 0
            assert house.said.count("is in use by another program") == 1


def test_strict_makes_a_port_in_use_an_exit_code(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with server(tmp_path, "--strict", "--set", f"console.port={port}") as house:
            assert house.ended() == 2
            assert house.said.splitlines()[-1].startswith(f"troupe: console: port {port} on 127.0.0.1 is in use")
            assert "Traceback" not in house.said


def test_a_second_instance_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        with server(tmp_path / "second", "--state-dir", str(house.state)) as second:
            assert second.ended() == 2
            (line,) = second.said.splitlines()
            assert f"in use by another instance (process {house.process.pid})" in line
        assert house.json("/health")["status"] == "ok"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(("--set", "console.prot=1"), "Did you mean console.port?", id="unknown key"),
        pytest.param(("--set", "console.port=99999"), "console.port", id="bad value"),
        pytest.param(("--set", "console.host=0.0.0.0"), "loopback", id="off loopback"),
        pytest.param(("--config", "missing.toml"), "missing.toml", id="no such file"),
        pytest.param(("--config", "broken.toml"), "broken.toml:2:8: not valid TOML", id="malformed"),
        pytest.param(("--state-dir", "broken.toml/state"), "broken.toml/state", id="unusable state directory"),
        pytest.param(("--ready-file", "no/such/folder/ready.json"), "no/such/folder", id="ready file in no folder"),
    ],
)
def test_what_cannot_be_is_said_in_words_with_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "broken.toml").write_text("[console]\nport = = 1\n")
    state = () if "--state-dir" in arguments else ("--state-dir", str(tmp_path / "state"))
    port = () if "console.port=99999" in arguments else ("--set", "console.port=0")
    ended = troupe(tmp_path, *port, *state, *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_half_written_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        house.stop()
        database = house.state / "troupe.db"
        whole = database.read_bytes()
        database.write_bytes(whole[: len(whole) // 2 + 100])
        half = database.read_bytes()
    with server(tmp_path) as again:
        assert again.ended() == 2
        assert "Traceback" not in again.said
        assert "troupe.db" in again.said
        assert database.read_bytes() == half


def test_a_killed_server_starts_again_at_once(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        house.process.kill()
        house.ended()
        assert house.ready_file.exists(), "a kill leaves it behind"
    with server(tmp_path) as again:
        again.ready()
        assert json.loads(again.ready_file.read_text())["pid"] == again.process.pid
        assert again.json("/health")["status"] == "ok"


def test_the_tree_is_drawn_in_the_terminal(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        drawn = troupe(tmp_path, "tree", "--state-dir", str(house.state))
        assert drawn.returncode == 0
        assert "├─ store" in drawn.stdout
        assert "observer" in drawn.stdout
        assert json.loads(troupe(tmp_path, "tree", "--json", "--url", house.url).stdout)["type"] == "hello"
    nobody = troupe(tmp_path, "tree", "--state-dir", str(house.state))
    assert nobody.returncode == 1
    assert "Traceback" not in nobody.stderr


def test_a_backup_of_a_running_server_is_a_database(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with server(tmp_path) as house:
        house.ready()
        assert troupe(tmp_path, "backup", str(copy), "--state-dir", str(house.state)).returncode == 0
        again = troupe(tmp_path, "backup", str(copy), "--state-dir", str(house.state))
        assert again.returncode == 2
        assert str(copy) in again.stderr
        assert troupe(tmp_path, "backup", str(copy), "--state-dir", str(house.state), "--force").returncode == 0
    connection = sqlite3.connect(copy)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_check_says_what_a_configuration_amounts_to(tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text("[console]\nport = 7000\n[judge]\nenabled = false\n")
    checked = troupe(tmp_path, "check", "--config", "good.toml")
    assert checked.returncode == 0
    assert "127.0.0.1:7000" in checked.stdout
    (tmp_path / "bad.toml").write_text("[console]\nprot = 7000\n\n[jugde]\nenabled = false\n")
    refused = troupe(tmp_path, "check", "--config", "bad.toml")
    assert refused.returncode == 2
    assert "bad.toml:2: console.prot is not a setting" in refused.stderr
    assert "bad.toml:4: jugde is not a section" in refused.stderr


def test_the_watchdog_is_fed_while_the_loop_turns(tmp_path: Path) -> None:
    with server(tmp_path, environ={"WATCHDOG_USEC": "200000"}) as house:
        house.ready()
        for _ in range(3):
            house.notice("WATCHDOG=1")
        os.kill(house.process.pid, signal.SIGSTOP)
        os.kill(house.process.pid, signal.SIGCONT)
        house.notice("WATCHDOG=1")


def test_health_is_of_the_declared_shape(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        answer = msgspec.json.decode(house.ready().get("/health").content, type=Health)
        assert {system.name for system in answer.systems} == set(SYSTEMS)


@pytest.mark.timeout(300)
def test_a_disk_that_hangs_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    """A template that is a pipe into which nobody writes: who reads it waits, as on a disk that does not answer."""
    os.mkfifo(tmp_path / "template.py")
    with server(tmp_path, "--set", f"judge.template={tmp_path / 'template.py'}") as house:
        house.ready()
        task = {"name": "A", "group": "x", "url": "https://example.org/a", "tests": []}
        assert httpx.post(house.url_of("judge"), json=task, timeout=DEADLINE).status_code == 200
        until(house, lambda _: (tmp_path / "x" / "a" / "tests").exists())
        assert house.stop() == 0
        left = json.loads(house.said.splitlines()[-1])
        assert (left["event"], left["threads"]) == ("left behind, for they do not end", [f"working in {tmp_path}"])
        assert not house.ready_file.exists()


@pytest.mark.timeout(300)
def test_health_is_degraded_for_as_long_as_nothing_can_be_kept(tmp_path: Path) -> None:
    """Another program holds the database locked; a full disk is the same to the store, but would want a mount."""
    with server(tmp_path) as house:
        house.ready()
        with closing(sqlite3.connect(house.state / "troupe.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            task = {"name": "A", "group": "x", "url": "https://example.org/a", "tests": []}
            refused = httpx.post(house.url_of("judge"), json=task, timeout=DEADLINE)
            assert refused.status_code == 503
            assert refused.text.startswith("A was not taken: another program holds the database locked")
            answer = until(house, lambda answer: answer.status_code == 503)
            (store,) = (system for system in answer.json()["systems"] if system["name"] == "store")
            assert (answer.json()["status"], store["state"]) == ("degraded", "failing")
            assert "holds the database locked" in store["sentence"]
            drawn = troupe(tmp_path, "tree", "--state-dir", str(house.state)).stdout
            assert "store is failing: another program holds" in " ".join(drawn.split())
        assert until(house, lambda answer: answer.status_code == 200).json()["status"] == "ok"


def until(house: Server, holds: Callable[[httpx.Response], bool]) -> httpx.Response:
    """What `/health` says then."""
    end = time.monotonic() + DEADLINE
    while not holds(answer := house.get("/health")):
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
    return answer


def test_a_page_that_talks_is_hung_up_on_and_nobody_else_notices(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()

        async def flood() -> int:
            async with live(house) as quiet, live(house) as loud:
                await quiet.get_message()
                with suppress(ConnectionClosed):
                    for _ in range(10_000):
                        await loud.send_message("x" * 1000)
                code = await close_code(loud)
                await quiet.get_message()
                return code

        assert trio.run(flood) == 1008
        assert house.json("/health")["status"] == "ok"


def test_a_backup_of_a_damaged_database_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        house.stop()
    with (house.state / "troupe.db").open("r+b") as database:
        database.seek(0)
        database.write(b"not a database at all" * 300)
    refused = troupe(tmp_path, "backup", str(tmp_path / "copy.db"), "--state-dir", str(house.state))
    assert refused.returncode in (1, 2)
    assert "Traceback" not in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "copy.db").exists()
