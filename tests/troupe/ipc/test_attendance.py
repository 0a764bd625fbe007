"""Whether an editor is at the desk, by its lock."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codec.ipc import Dialect
from troupe.ipc.attendance import FRESH_SECONDS, Attendance, attendance, dialect

NOBODY = Attendance(server=False, client=False)


def of(state: Path) -> Attendance:
    folder = os.open(state, os.O_RDONLY)
    try:
        return attendance(folder)
    finally:
        os.close(folder)


def lock(state: Path, content: str, *, age: float = 0.0, name: str = "ws.0a1b.lock") -> None:
    (state / name).write_text(content)
    os.utime(state / name, (time.time() - age,) * 2)


def somebody_gone() -> int:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


@pytest.mark.parametrize("content", ["{}", '{{"pid": {}}}', "{}\nhost\n"])
@pytest.mark.parametrize("age", [0.0, FRESH_SECONDS - 5, FRESH_SECONDS + 5, 86_400.0, -5.0])
def test_an_editor_is_there_while_its_process_lives_and_writes_its_lock(
    tmp_path: Path, content: str, age: float
) -> None:
    lock(tmp_path, content.format(os.getpid()), age=age)
    assert of(tmp_path) == Attendance(server=age < FRESH_SECONDS, client=False)


@pytest.mark.parametrize("content", [str, lambda _: "", lambda _: "nobody", lambda _: "0", lambda pid: f"{{{pid}"])
def test_a_lock_of_nobody_who_lives_is_nobody(tmp_path: Path, content: Callable[[int], str]) -> None:
    lock(tmp_path, content(somebody_gone()))
    assert of(tmp_path) == NOBODY


@pytest.mark.parametrize("name", ["ws.1.lock.tmp", "other.lock", "xws.1.lock"])
def test_another_file_is_no_lock_of_an_editor(tmp_path: Path, name: str) -> None:
    lock(tmp_path, str(os.getpid()), name=name)
    assert of(tmp_path) == NOBODY


@pytest.mark.parametrize("what", ["a pipe", "a folder", "a link", "an unreadable file"])
def test_what_is_no_file_is_nobody_and_hides_no_other(tmp_path: Path, what: str) -> None:
    odd = tmp_path / "ws.0.lock"
    match what:
        case "a pipe":
            os.mkfifo(odd)
        case "a folder":
            odd.mkdir()
        case "a link":
            (tmp_path / "aside").write_text(str(os.getpid()))
            odd.symlink_to("aside")
        case _:
            odd.write_bytes(b"\xff" * 10_000)
    assert of(tmp_path) == NOBODY
    lock(tmp_path, str(os.getpid()), name="ws.1.lock")
    assert of(tmp_path) == Attendance(server=True, client=False)


@pytest.mark.parametrize(
    ("client", "server", "expected"),
    [
        (None, None, None),
        ("123 spec", None, Dialect.SPEC),
        ("123 head", "123 spec", Dialect.HEAD),
        (None, "123 head", Dialect.HEAD),
        ("123", "123 spec", None),  # of a server before there were two
        ("123 spec head", None, Dialect.SPEC),
        (b"\xff 123 head", None, Dialect.HEAD),
    ],
)
def test_the_dialect_is_that_of_the_client_end_and_where_there_was_none_of_the_server_end(
    tmp_path: Path, client: str | bytes | None, server: str | None, expected: Dialect | None
) -> None:
    for name, content in (("client.lock", client), ("server.lock", server)):
        if content is not None:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert dialect(folder) is expected
    finally:
        os.close(folder)
