"""The desk on a running server: nobody beside notices what is dropped on it, and what was acknowledged is there after a
kill, as it was shown before."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.running import PROGRAM, Server, server
from tests.ipc.peers import got, put
from troupe.ipc import Desk
from troupe.ipc.blocking import BlockingDesk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

PATIENCE = 60.0
SETTINGS = ("ipc.port=0", "ipc.model=echo", "ipc.backoff=immediate", "ipc.rescan_seconds=0.5")


def options(folder: Path) -> list[str]:
    settings = (f"ipc.base={folder / 'base'}", *SETTINGS)
    return [word for setting in settings for word in ("--set", setting)]


def until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def restarts(house: Server) -> dict[str, int]:
    return {node["path"]: node["restarts"] for node in house.json("/tree.json")["nodes"] if node["restarts"]}


def odd_documents(draw: random.Random) -> list[bytes]:
    whole = b'{"request_id": "ID", "command": "ping", "params": {}}'
    values: list[Any] = [None, True, [], {}, "", "x" * 300, 10**400, -1, 1.5, [[]] * 50, {"a": {"b": [None]}}]
    fields = ("request_id", "command", "params", "troupe", "prompt", "status", "final_status")
    odd: list[bytes] = [b"", b"null", b"[]", b"{", b"\xff\xfe", b"\x00" * 100, b"[" * 100_000, whole[:20], b'"' * 999]
    odd += [json.dumps({"request_id": "ID", draw.choice(fields): draw.choice(values)}).encode() for _ in range(60)]
    return [each.replace(b"ID", f"odd-{number}".encode()) for number, each in enumerate(odd)]


def drop_odd_entries(base: Path) -> None:
    for room in ("requests", "responses", "failed"):
        here = base / room
        (here / "link.json").symlink_to("/etc/passwd")
        (here / "away.json").symlink_to(here.parent.parent / "nowhere")
        os.mkfifo(here / "pipe.json")
        (here / "folder.json").mkdir()
        (here / "..json").touch()
        (here / ("n" * 250 + ".json")).touch()
        (here / "a b.json").touch()
        os.close(os.open(os.fsencode(here) + b"/\xff\xfe.json", os.O_CREAT | os.O_WRONLY))
        with (here / "giant.json").open("wb") as giant:
            giant.truncate(1 << 40)
        with socket.socket(socket.AF_UNIX) as end:
            before = Path.cwd()
            os.chdir(here)  # a socket's path is short
            try:
                end.bind("socket.json")
            finally:
                os.chdir(before)


def test_whatever_is_dropped_on_the_desk_nobody_restarts_and_a_plain_request_is_answered(tmp_path: Path) -> None:
    draw, base = random.Random(7), tmp_path / "base"
    with server(tmp_path, *options(tmp_path)) as house:
        house.ready()
        until((base / "state" / "server.lock").exists, "the server end does not come")
        drop_odd_entries(base)
        for number, document in enumerate(odd_documents(draw)):
            for room in ("requests", "responses", "failed", "eval"):
                if draw.random() < 0.6:
                    (base / room / f"odd-{number}.json").write_bytes(document)
        plain = {"request_id": "plain", "command": "submitPrompt", "params": {"prompt": "hello"}}
        (base / "requests" / "plain.json").write_text(json.dumps(plain))
        url = house.url_of("ipc")
        until(lambda: (base / "responses" / "plain.json").exists(), "the plain request is not answered")
        until(
            lambda: httpx.get(f"{url}/requests?state=waiting&state=polling&state=retrying").json()["total"] == 0,
            "something never ends",
        )
        assert restarts(house) == {}
        assert house.get("/health").status_code == 200
        assert Path("/etc/passwd").stat().st_size > 0
        assert house.stop() == 0
    assert "Traceback" not in house.said


def test_whatever_stands_in_the_base_at_a_start_and_is_asked_for_by_any_id_restarts_nobody(tmp_path: Path) -> None:
    base = tmp_path / "base"
    for room in ("quarantine", "tmp", "state", "eval", "archive"):
        (base / room).mkdir(parents=True, mode=0o700)
    base.chmod(0o700)
    (base / "quarantine" / "x.json").write_text("[" * 16_000)
    (base / "eval" / "deep.json").write_text("[" * 16_000)
    for name in (".away-1-1-" + "a" * 200, ".away-1-1-CON", "..x"):
        (base / "tmp" / name).touch()
    for text in ("[" * 4_090, '{"at": 1' + "0" * 400 + "}", '{"pid": 1e999}'):
        (base / "state" / "editor.json").write_text(text)
    with server(tmp_path, *options(tmp_path)) as house:
        house.ready()
        url = house.url_of("ipc")
        for odd in ("%00", "%01", "a" * 5_000, "..%2f..%2fetc", "%ff", "CON", "open:"):
            for _ in range(5):
                assert httpx.get(f"{url}/requests/{odd}").status_code == 404, odd
        for order in ("requeue", "archive", "cancel"):
            for odd in ("", "\x00", "../x", "a" * 200):
                answer = httpx.post(f"{url}/{order}", json={"ids": ["fine", odd]})
                assert answer.status_code == 400, (order, odd)
                assert "id" in answer.text
        assert restarts(house) == {}
        assert httpx.get(f"{url}/health").status_code == 200
        assert house.stop() == 0
    assert "Traceback" not in house.said


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_acknowledged_ends_after_any_end_and_is_shown_as_before(by: signal.Signals, tmp_path: Path) -> None:
    base = tmp_path / "base"
    prompts = {f"r{number}": str(number) for number in range(300)}
    asked = [{"id": id, "command": "submitPrompt", "params": {"prompt": prompt}} for id, prompt in prompts.items()]  # noqa: A001
    with server(tmp_path, *options(tmp_path)) as house:
        house.ready()
        answer = httpx.post(house.url_of("ipc") + "/requests", json={"requests": asked}, timeout=PATIENCE)
        assert len(answer.json()["ids"]) == len(asked)
        house.stop(by)
    with server(tmp_path, *options(tmp_path)) as house:
        house.ready()
        url = house.url_of("ipc")
        until(lambda: httpx.get(f"{url}/requests?state=success").json()["total"] == len(asked), "not all succeed")
        for id, prompt in prompts.items():  # noqa: A001 - as in the contract
            response = json.loads((base / "responses" / f"{id}.json").read_text())
            assert response["data"]["content"] == prompt
        before = [httpx.get(f"{url}/requests/r{number}").json() for number in (0, 150, 299)]
        assert all(detail["fact"]["attempts"] == 1 for detail in before)
        house.stop(signal.SIGKILL)
    with server(tmp_path, *options(tmp_path)) as house:
        house.ready()
        url = house.url_of("ipc")
        until(lambda: httpx.get(f"{url}/requests?state=success").json()["total"] == len(asked), "not all are shown")
        assert [httpx.get(f"{url}/requests/r{number}").json() for number in (0, 150, 299)] == before


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_in_the_dialect_of_head_what_was_dropped_is_told_when_it_has_gone_and_after_any_end(
    by: signal.Signals, tmp_path: Path
) -> None:
    """There the server end removes each request that it has answered."""
    base, settings = tmp_path / "base", [*options(tmp_path), "--set", "ipc.dialect=head"]
    commands = {f"{command}-{number}": command for number in range(60) for command in ("ping", "bad")}

    def drop(ids: list[str]) -> None:
        for id in ids:  # noqa: A001 - as in the contract
            put(base / "requests" / f"{id}.json", {"request_id": id, "command": commands[id], "params": {}})

    with server(tmp_path, *settings) as house:
        house.ready()
        until((base / "state" / "client.lock").exists, "the client end does not come")
        drop(list(commands)[:60])
        house.stop(by)
    drop(list(commands)[60:90])
    with server(tmp_path, *settings) as house:
        house.ready()
        url = house.url_of("ipc")
        drop(list(commands)[90:])
        until(lambda: not list((base / "requests").glob("*.json")), "they are not removed")

        def total(state: str) -> Any:
            return httpx.get(f"{url}/requests", params={"state": state}).json()["total"]

        half = len(commands) // 2
        until(lambda: (total("success"), total("gave up")) == (half, half), "they do not end")
        for id, command in commands.items():  # noqa: A001
            fact = httpx.get(f"{url}/requests/{id}").json()["fact"]
            assert (fact["command"], fact["attempts"]) == (command, 1)
            assert fact["state"] == ("success" if command == "ping" else "gave up")
            assert (base / "failed" / f"{id}.json").exists() == (command == "bad")
        assert restarts(house) == {}


class HeadEditor:
    """A foreign peer of the HEAD dialect that is quicker than anybody who looks. It answers, copies what has failed,
    and removes the request."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.runs: dict[str, int] = {}
        self._ended = threading.Event()

    def __enter__(self) -> "HeadEditor":
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _serve(self) -> None:
        while not self._ended.wait(0.001):
            for path in (self.base / "requests").glob("*.json"):
                answer = self.base / "responses" / path.name
                if answer.exists() or (asked := got(path)) is None:
                    continue
                id = asked["request_id"]  # noqa: A001 - as in the contract
                run = self.runs[id] = self.runs.get(id, 0) + 1
                is_done = run > asked["params"]["fail"]
                said = {"data": run} if is_done else {"error": f"run {run} fails"}
                tried = {"attempt": 1, "success": is_done, "timestamp": "2026-01-31T00:00:00Z", **said}
                status = "success" if is_done else "failed"
                document = {"request_id": id, "final_status": status, "attempts": [tried]}
                put(answer, document)
                if not is_done:
                    put(self.base / "failed" / path.name, document)
                path.unlink()


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_head_peer_takes_before_anybody_has_seen_it_has_its_three_attempts(
    by: signal.Signals, tmp_path: Path
) -> None:
    """Before a server has ever been there, while one runs, while it ends, and after it has ended."""
    base, settings = tmp_path / "base", [*options(tmp_path), "--set", "ipc.dialect=head", "--set", "ipc.server=false"]
    fails = {f"f{number}-{when}": number for number in range(4) for when in ("first", "up", "ends", "down")}

    def submit(desk: BlockingDesk, when: str) -> None:
        for each in (each for each in fails if each.endswith(when)):
            desk.submit("ping", {"fail": fails[each]}, id=each)

    with Desk.blocking(base, state=tmp_path / "state") as desk, HeadEditor(base) as editor:
        submit(desk, "first")
        until(lambda: len(editor.runs) == 4, "the editor does not run them")
        with server(tmp_path, *settings) as house:
            house.ready()
            submit(desk, "up")
            submit(desk, "ends")
            house.stop(by)
        submit(desk, "down")
        until(lambda: len(editor.runs) == len(fails), "the editor does not run them")
        until(lambda: not list((base / "requests").iterdir()), "the editor does not remove them")
        (base / "responses" / "f0-down.json").unlink()  # its script has read it
        with server(tmp_path, *settings) as house:
            house.ready()
            url = house.url_of("ipc")
            until(lambda: httpx.get(f"{url}/health").json()["trouble"] == [], "the desk is in trouble")
            results = {each: desk.ticket(each).wait(PATIENCE) for each in fails}
            assert {each: result.ok for each, result in results.items()} == {each: n < 3 for each, n in fails.items()}
            assert {each: len(result.attempts) for each, result in results.items()} == editor.runs
            assert editor.runs == {each: min(number + 1, 3) for each, number in fails.items()}
            until(lambda: not list((base / "submitted").iterdir()), "copies are left")
            assert restarts(house) == {}


def test_what_was_just_submitted_is_cancelled_though_the_server_has_yet_to_see_it(tmp_path: Path) -> None:
    base = tmp_path / "base"
    with server(tmp_path, *options(tmp_path), "--set", "ipc.server=false") as house:
        house.ready()
        url = house.url_of("ipc")
        with Desk.blocking(base, state=tmp_path / "state") as desk:
            assert [desk.submit("ping", id=f"c-{number}").cancel() for number in range(20)] == [True] * 20
            assert not desk.ticket("nobody").cancel()
        assert httpx.get(f"{url}/requests", params={"state": "cancelled"}).json()["total"] == 20
        assert list((base / "requests").iterdir()) == []


def reported(here: Path) -> dict[str, Any]:
    place = ["--base", str(here / "base"), "--state-dir", str(here / "state")]
    words = [sys.executable, str(PROGRAM), "ipc", "report", "--format", "json", *place]
    said: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    for run in said["runs"]:
        del run["median_seconds"]
    del said["made"]
    return said


def reported_of_a_batch(here: Path, dialect: str) -> dict[str, Any]:
    """And the same once it is archived and the server has ended."""
    here.mkdir()
    base = here / "base"
    with server(here, *options(here), "--set", f"ipc.dialect={dialect}") as house:
        house.ready()
        with Desk.blocking(base, state=here / "state") as desk:
            tickets = [
                desk.submit(command, {"prompt": prompt}, id=f"{who}-{n}", submitter=who, reference="one two three")
                for who, prompt in (("plain", "one two four"), ("wrong", "other words"))
                for n, command in enumerate(["submitPrompt", "submitPrompt", "noSuchCommand"])
            ]
            assert [ticket.wait(PATIENCE).ok for ticket in tickets] == [True, True, False] * 2
        assert bool(list((base / "requests").iterdir())) == (dialect == "spec")
        until(lambda: len(list((base / "eval").iterdir())) == 4, "the answers are not evaluated")
        before = reported(here)
        answer = httpx.post(house.url_of("ipc") + "/archive", json={"all": True})
        assert len(answer.json()["ids"]) == len(tickets)
    assert reported(here) == before
    return before


def test_a_report_says_the_same_in_both_dialects_and_before_and_after_what_is_over_is_archived(tmp_path: Path) -> None:
    """In HEAD no request stands where it stood. The running server knows it, and afterwards the archive."""
    said = reported_of_a_batch(tmp_path / "spec", "spec")
    assert [(run["name"], run["n"], run["failed"], run["scored"]) for run in said["runs"]] == [
        ("plain", 3, 1, 3),
        ("wrong", 3, 1, 3),
    ]
    assert reported_of_a_batch(tmp_path / "head", "head") == said


def test_of_two_servers_on_one_folder_one_has_both_ends_also_when_the_first_is_started_again(tmp_path: Path) -> None:
    def troubles(*houses: Server) -> list[list[str]]:
        return sorted(httpx.get(house.url_of("ipc") + "/health").json()["trouble"] for house in houses)

    def share(*houses: Server) -> bool:
        """One is well, and the other says in one sentence why it is not."""
        well, down = troubles(*houses)
        return well == [] and len(down) == 1 and "sees to it that each ends; our ends stay down" in down[0]

    with server(tmp_path / "waits", *options(tmp_path)) as waits:
        with server(tmp_path / "first", *options(tmp_path)) as first:
            first.ready()
            waits.ready()
            until(lambda: share(first, waits), "none has both ends")
        with server(tmp_path / "first", *options(tmp_path)) as again:
            again.ready()
            until(lambda: share(again, waits), "none has both ends")
            again.stop()
        until(lambda: troubles(waits) == [[]], "nobody follows")


def test_a_page_of_another_server_can_neither_read_the_desk_nor_order_anything(tmp_path: Path) -> None:
    with server(tmp_path, *options(tmp_path)) as house:
        house.ready()
        url = house.url_of("ipc")
        for origin in ("http://evil.example", "http://localhost:4173", "null", "vscode-webview://x"):
            headers = {"Origin": origin}
            assert httpx.get(f"{url}/requests", headers=headers).status_code == 403, origin
            assert httpx.post(f"{url}/requests", headers=headers, json={"requests": []}).status_code == 403, origin
        assert httpx.get(f"{url}/requests", headers={"Host": "evil.example"}).status_code in (400, 403, 421)
        assert (tmp_path / "base").stat().st_mode & 0o777 == 0o700
