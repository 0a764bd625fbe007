"""The program whose streams are missing, full, or have nobody at their other end: as a shell starts it."""

import errno
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from program import streams
from program.streams import NOBODY_READS, ReaderLeft, say, show
from program.trouble import Trouble

ROOT = Path(__file__).parents[2]
DEADLINE = 60.0
CANNOT = "troupe: The output cannot be written: "


class Full(io.StringIO):
    """A stream on a disk without space."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def run(arguments: str, redirected: str, *, buffered: bool = True) -> "subprocess.CompletedProcess[str]":
    line = f'exec "$0" supervisor.py {arguments} {redirected}'
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if not buffered:
        environ["PYTHONUNBUFFERED"] = "1"
    command = ["bash", "-c", line, sys.executable]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=DEADLINE, check=False)


@pytest.mark.parametrize(("missing", "mode"), [(0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)])
def test_a_missing_stream_has_a_stand_in_that_programs_inherit_and_that_fails_as_it_would(
    missing: int, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, opened = os.fstat, list[int]()
    open_one = os.open

    def fstat(number: int) -> os.stat_result:
        if number == missing:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return asked(number)

    def opening(path: str, flags: int) -> int:
        assert (path, flags) == (os.devnull, mode)
        opened.append(open_one(path, flags))
        return opened[-1]

    before = sys.stdin, sys.stdout, sys.stderr
    with monkeypatch.context() as changed:
        changed.setattr(os, "fstat", fstat)
        changed.setattr(os, "open", opening)
        streams.complete()
    [stand_in] = opened
    try:
        assert os.get_inheritable(stand_in)
        assert (sys.stdin, sys.stdout, sys.stderr) == before
        with pytest.raises(OSError, match="Bad file descriptor"):
            _ = os.read(stand_in, 1) if mode == os.O_WRONLY else os.write(stand_in, b"x")
    finally:
        os.close(stand_in)


def test_what_cannot_be_shown_is_a_trouble_with_the_code_that_was_wished() -> None:
    with pytest.raises(Trouble, match="The output cannot be written: No space left on device") as trouble:
        show("x", Full(), code=7)
    assert trouble.value.code == 7


def test_what_cannot_be_said_is_not_said() -> None:
    say("x", Full())


def test_a_reader_who_left_is_an_exit_code_and_no_sentence() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream, pytest.raises(ReaderLeft) as left:
        show("x", stream)
    assert (str(left.value), left.value.code) == ("", NOBODY_READS)


def test_a_reader_who_is_slow_gets_all_of_it() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    text = "x" * 500_000
    with os.fdopen(writing, "w") as stream, ThreadPoolExecutor(1) as elsewhere, os.fdopen(reading) as reader:
        read = elsewhere.submit(reader.read, len(text))
        show(text, stream)
        assert read.result(DEADLINE) == text


def test_characters_that_a_stream_has_not_do_not_end_anything() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "ascii")
    show("─", stream)
    say("─", stream)
    assert raw.getvalue() == b"?\\u2500"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [
        ("> /dev/full", 1, f"{CANNOT}No space left on device\n"),
        (">&-", 1, f"{CANNOT}Bad file descriptor\n"),
        ("<&- >&- 2>&-", 1, ""),
        ("> /dev/full 2> /dev/full", 1, ""),
        ("2>&-", 0, ""),
        ("2> /dev/full", 0, ""),
        ("<&-", 0, ""),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(redirected: str, code: int, said: str) -> None:
    ended = run("check --config /dev/null", redirected)
    assert (ended.returncode, ended.stderr) == (code, said)


@pytest.mark.slow
@pytest.mark.parametrize("buffered", [True, False], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", ["--help", "--version", "judge run --help"])
def test_help_that_cannot_be_written_is_one_sentence(arguments: str, buffered: bool) -> None:
    ended = run(arguments, "> /dev/full", buffered=buffered)
    assert (ended.returncode, ended.stderr) == (1, f"{CANNOT}No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["nonsense", "check --config /none"])
def test_what_is_wrong_has_its_exit_code_though_nobody_can_be_told(arguments: str) -> None:
    assert run(arguments, "2> /dev/full").returncode == 2
    assert run(arguments, ">&- 2>&-").returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["check --config /dev/null", "--help"])
def test_a_program_whose_reader_has_left_ends_as_shells_have_it(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        command = [sys.executable, "supervisor.py", *arguments.split()]
        ended = subprocess.run(command, cwd=ROOT, stdout=stream, stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
    assert (ended.returncode, ended.stderr) == (NOBODY_READS, b"")
