"""Whoever is stopped with the lock of a folder in hand is not waited for; whoever works is."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from transports.folder.alone import alone, holder_is_stopped

HOLDS = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
print(flush=True)
input()
"""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[int]:
    folder = os.open(tmp_path, os.O_RDONLY)
    yield folder
    os.close(folder)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process, which holds it."""
    command = [sys.executable, "-I", "-S", "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells who holds a lock")
def test_one_that_is_stopped_is_not_waited_for(here: int, holder: subprocess.Popen[bytes]) -> None:
    stop(holder)
    with alone(here, 10 * PATIENCE) as is_alone:
        assert not is_alone


def test_one_that_works_is_waited_for(here: int, holder: subprocess.Popen[bytes]) -> None:
    threading.Timer(0.1, holder.kill).start()
    with alone(here, PATIENCE) as is_alone:
        assert is_alone


def test_one_that_works_for_longer_is_not_heeded(here: int, holder: subprocess.Popen[bytes]) -> None:
    began = time.monotonic()
    with alone(here, 0.05) as is_alone:
        assert not is_alone
        assert time.monotonic() - began >= 0.05
    with alone(here, 0.0) as is_alone:  # and has kept it
        assert not is_alone


@pytest.mark.parametrize("number", [0, 1])
def test_a_stopped_process_that_holds_another_folder_is_nothing_to_us(
    here: int, holder: subprocess.Popen[bytes], tmp_path: Path, number: int
) -> None:
    (tmp_path / "other").mkdir()
    other = os.open(tmp_path / "other", os.O_RDONLY)
    try:
        if number:
            fcntl.flock(other, fcntl.LOCK_EX)
        stop(holder)
        assert not holder_is_stopped(other)
        with alone(other, 0.0) as is_alone:
            assert is_alone
    finally:
        os.close(other)


@pytest.mark.parametrize("table", [None, "", "1: FLOCK  ADVISORY  WRITE 0 {place} 0 EOF\n", "\0\n\n1:\n"])
def test_where_the_table_tells_nothing_nobody_is_stopped(here: int, tmp_path: Path, table: str | None) -> None:
    status = os.fstat(here)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    if table is not None:
        (tmp_path / "locks").write_text(table.format(place=place))
    assert not holder_is_stopped(here, tmp_path)
