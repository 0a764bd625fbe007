"""Editors of a real desk: programs that answer its requests, and servers that launch, adopt, watch and end them."""

import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.running import ROOT, Server, server, troupe
from tests.house.test_desk import restarts, until
from tests.ipc.peers import put
from transports.ipc.processes import Census

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells so much of processes"),
]

ANSWERS = "exec {python} -S {peers} server {base} {log}"
"""An editor that is ready at once. What stands before it in a script makes it another."""
LATE = "while [ ! -e {go} ]; do sleep 0.05; done; "
STUBBORN = 'trap "" TERM; '


class EditorDesk:
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self.base = folder / "base"
        self.go = folder / "go"

    def start(self, name: str = "house", before: str = "", *settings: str) -> Server:
        """A server that manages such an editor."""
        places = {"python": sys.executable, "peers": ROOT / "tests" / "ipc" / "peers.py", "base": self.base}
        places |= {"log": self._folder / "runs", "go": self.go}
        script = f"echo $$ >> {self._folder / 'launched'}; " + (before + ANSWERS).format(**places)
        command = f"/bin/sh -c {shlex.quote(script)}"
        own = [f"ipc.base={self.base}", "ipc.port=0", "ipc.ready=ping", "ipc.rescan_seconds=0.5", *settings]
        words = [word for setting in (*own, f"ipc.editor={command}") for word in ("--set", setting)]
        return self._stack.enter_context(server(self._folder / name, *words)).ready()

    def launched(self) -> list[int]:
        try:
            return [int(line) for line in (self._folder / "launched").read_text().split()]
        except FileNotFoundError:
            return []

    def ask(self, id: str) -> None:  # noqa: A002 - as in the contract
        put(self.base / "requests" / f"{id}.json", {"request_id": id, "command": "any", "params": {}})

    def is_answered(self, id: str) -> bool:  # noqa: A002
        return (self.base / "responses" / f"{id}.json").exists()

    def end_all(self) -> None:
        """Whatever was launched is gone after the test."""
        try:
            token = json.loads((self.base / "state" / "editor.json").read_bytes())["token"]
        except FileNotFoundError:
            return
        for member in Census().family(token):
            Census().signal(member, signal.SIGKILL)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[EditorDesk]:
    with ExitStack() as stack:
        made = EditorDesk(tmp_path, stack)
        stack.callback(made.end_all)
        yield made


def totals(house: Server) -> Any:
    return httpx.get(f"{house.url_of('ipc')}/totals").json()


def says(house: Server, beginning: str) -> None:
    until(lambda: totals(house).get("editor", "").startswith(beginning), f"not {beginning!r}: {totals(house)}")


def lives(pid: int) -> bool:
    return Census().start(pid) is not None


def order(house: Server, *words: str) -> str:
    done = troupe(house.folder, "ipc", "editor", *words, "--url", house.url_of("ipc"), "--base", totals(house)["base"])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_of_two_servers_one_launches_the_editor_and_the_other_adopts_it_when_the_first_is_killed(
    desk: EditorDesk,
) -> None:
    one = desk.start("one")
    says(one, "The editor is up")
    two = desk.start("two")
    says(two, f"The editor is managed by process {one.process.pid}")
    desk.ask("first")
    until(lambda: desk.is_answered("first"), "the editor does not answer")
    assert "editor_order" not in totals(two)
    one.stop(signal.SIGKILL)
    (only,) = desk.launched()
    assert lives(only)
    says(two, f"The editor is up (process {only})")
    desk.ask("second")
    until(lambda: desk.is_answered("second"), "the adopted editor does not answer")
    until(lambda: httpx.get(f"{two.url_of('ipc')}/requests?state=success").json()["total"] >= 1, "not tracked")
    assert order(two, "stop") == "The editor is asked to end."
    says(two, "The editor was ended")
    assert not lives(only)
    assert desk.launched() == [only]
    assert restarts(two) == {}


def test_an_editor_that_never_becomes_ready_is_said_and_let_be_and_what_waits_is_answered_when_it_is(
    desk: EditorDesk,
) -> None:
    house = desk.start("house", LATE, "ipc.cold_start_seconds=1.0")
    desk.ask("early")
    says(house, "The editor was launched, and has answered no ping for 1 s; look at its window.")
    (pid,) = desk.launched()
    assert lives(pid)
    assert not desk.is_answered("early")
    desk.go.touch()
    until(lambda: desk.is_answered("early"), "it is not answered")
    says(house, f"The editor is up (process {pid})")
    assert desk.launched() == [pid]
    assert restarts(house) == {}
    assert house.stop() == 0
    assert lives(pid)


def test_an_editor_that_dies_is_launched_again_and_nothing_is_given_up_for_it(desk: EditorDesk) -> None:
    house = desk.start()
    says(house, "The editor is up")
    (first,) = desk.launched()
    os.kill(first, signal.SIGSTOP)  # it has it, and does not answer
    desk.ask("mine")
    until(lambda: httpx.get(f"{house.url_of('ipc')}/requests").json()["total"] == 1, "nobody has seen it")
    os.kill(first, signal.SIGKILL)
    until(lambda: desk.is_answered("mine"), "it is not answered")
    _, second = desk.launched()
    assert lives(second)
    says(house, f"The editor is up (process {second})")
    detail = httpx.get(f"{house.url_of('ipc')}/requests/mine").json()
    assert detail["fact"].get("attempts", 0) <= 1
    assert restarts(house) == {}


def test_an_editor_that_ignores_term_is_killed_after_a_grace_and_launched_when_it_is_wanted(desk: EditorDesk) -> None:
    house = desk.start("house", STUBBORN)
    says(house, "The editor is up")
    (first,) = desk.launched()
    assert totals(house)["editor_order"] == "stop"
    assert order(house) == f"The editor is up (process {first})."
    assert order(house, "stop") == "The editor is asked to end."
    says(house, "The editor was ended")
    assert not lives(first)
    assert totals(house)["editor_order"] == "start"
    desk.ask("meanwhile")
    order(house, "start")
    until(lambda: desk.is_answered("meanwhile"), "it is not launched")
    assert len(desk.launched()) == 2
    assert restarts(house) == {}
