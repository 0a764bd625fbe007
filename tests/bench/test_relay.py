"""The relays of the bench relay, their clients count, and missing or broken programs are reported."""

import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bench import relay
from bench.contenders.client import MASK, Client, Stuck, compact, masked
from bench.harness import Result

BARE = relay.Relay("bare", [sys.executable, "-m", "bench.contenders.bare_relay", "{port}"])


@pytest.mark.parametrize("size", [0, 1, 125, 126, 1000])
def test_a_masked_frame_can_be_unmasked(size: int) -> None:
    payload = bytes(range(256)) * 4
    frame = masked(payload[:size])
    body = frame[len(frame) - size :]
    assert bytes(byte ^ MASK[place % 4] for place, byte in enumerate(body)) == payload[:size]
    assert frame[len(frame) - size - 4 :][:4] == MASK


def test_the_update_is_of_about_a_hundred_bytes() -> None:
    assert 90 <= len(relay.UPDATE) <= 130


def test_the_time_of_threads_that_have_ended_counts() -> None:
    program = """
import threading, time
def work():
    while time.thread_time() < 0.02:
        pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(time.process_time(), flush=True)
input()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        taken = float(process.stdout.readline())
        assert relay.Running(BARE, 0, process).cpu() >= taken
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("contender", [relay.ours(), BARE, relay.splice()], ids=lambda contender: contender.name)
def test_what_a_hero_sends_comes_to_every_screen(contender: relay.Relay) -> None:
    with relay.running(contender) as running, relay.board(running, 3) as board:
        assert board.send(5000) > 0
        assert len(board.ping_pong(10)) == 10
        assert running.cpu() > 0
        assert running.resident() > 1 << 20


@pytest.mark.slow
def test_rooms_do_not_hear_each_other() -> None:
    with (
        relay.running(relay.ours()) as running,
        relay.board(running, 1, "one") as one,
        relay.board(running, 1, "two") as two,
    ):
        two.screens[0].received = 0
        one.send(100)
        relay.settle(two.all, 0.1)
        assert two.screens[0].received == 0


@pytest.mark.slow
def test_a_relay_that_does_not_start_is_named_with_what_it_said() -> None:
    broken = relay.Relay("broken", [sys.executable, "-c", "raise SystemExit('no {port} today')"])
    with pytest.raises(Stuck, match=r"did not start: no \d+ today"), relay.running(broken):
        pass


@pytest.mark.slow
def test_a_relay_that_loses_messages_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.contenders.client.PATIENCE", 0.5)
    with (
        relay.running(BARE) as running,
        relay.opened(running.port, ["one", "two"]) as (hero, screen),
        pytest.raises(Stuck, match="delivered 0 of 10 messages"),
    ):
        relay.Board(running, hero, [screen]).send(10)


def test_another_command_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUPE_BENCH_RELAY", "server --port {port} 'a b'")
    assert relay.ours().command == ["server", "--port", "{port}", "a b"]


@pytest.mark.slow
def test_the_stalled_ui_can_be_watched_alone_for_as_long_as_one_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUPE_BENCH_STALLED", "0.5")
    (result,) = relay.run(1)
    assert (result.case, result.peer, result.goal) == ("a stalled UI, 0.5 s", "growth allowed", 1.0)
    assert result.ours is not None


def test_without_node_there_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert relay.node() == "node and npm are not installed"


@pytest.mark.slow
def test_the_missing_node_is_a_line_among_the_results() -> None:
    results = list(relay._throughput(BARE, [relay.splice()], 1, 2.0, 2, "no node"))
    assert [(one.peer, one.why, one.goal) for one in results] == [
        ("Node ws", "no node", 2.0),
        ("TCP splice", None, None),
    ]
    assert all(isinstance(one, Result) for one in results)


def test_a_client_that_is_refused_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        with pytest.raises(Stuck, match="did not accept"):
            Client(server.getsockname()[1])
        thread.join()


def test_messages_are_as_short_as_json_can_be() -> None:
    assert compact({"a": [1, "b"]}) == b'{"a":[1,"b"]}'
    assert (Path(relay.__file__).parent / "contenders" / "relay.js").is_file()
