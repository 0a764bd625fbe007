"""The suite may be started with SIGINT and SIGHUP ignored, by `nohup` or by a script with `&`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.planted import run_pytest

ROOT = Path(__file__).parent.parent
DEADLINE = 70.0
STUCK = 50
"""After so many seconds a test that still runs says where it is."""

DEAF = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""

PLANTED = """
import signal, subprocess, sys
import pytest, trio

CHILD = "import signal; print(signal.SIG_IGN in map(signal.getsignal, (signal.SIGINT, signal.SIGHUP)))"

@pytest.fixture(scope="module")
def child():
    return subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True, timeout=40).stdout

def test_what_a_fixture_starts_hears_all(child):
    assert child == "False\\n"

def test_ctrl_c_is_an_exception():
    with pytest.raises(KeyboardInterrupt):
        trio.run(interrupted)

async def interrupted():
    signal.raise_signal(signal.SIGINT)
    await trio.sleep_forever()

def test_a_hangup_of_the_terminal_ends_no_test():
    signal.raise_signal(signal.SIGHUP)

def test_a_test_may_ignore_it_for_itself():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert before is not signal.SIG_DFL
    signal.signal(signal.SIGHUP, before)
"""

ABOUT_SIGNALS = ("program/test_signals.py", "program/test_ending.py", "program/test_leaving.py", "kernel/test_life.py",
                 "program/commands/test_tree.py", "program/commands/test_recording.py",
                 "troupe/ipc/test_desk.py")  # fmt: skip
"""Those that raise them in their own process, or send them to a child."""


def started_deaf(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    stuck = ["-o", f"faulthandler_timeout={STUCK}", "-p", "no:cacheprovider"]
    return run_pytest(place, *stuck, *words, by=(sys.executable, "-c", DEAF), seconds=DEADLINE)


@pytest.mark.drawn(1)
@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_tests_hear_signals_though_whoever_started_them_ignores_them(workers: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.hearing"]\n')
    (tmp_path / "test_planted.py").write_text(PLANTED)
    ended = started_deaf(tmp_path, "-n", workers, "--rootdir", str(tmp_path))
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.slow
def test_the_tests_about_signals_pass(tmp_path: Path) -> None:
    ours = [str(ROOT / "tests" / each) for each in ABOUT_SIGNALS]
    ended = started_deaf(tmp_path, "-m", "not slow", "-p", "no:xdist", "-o", "addopts=", "--rootdir", str(ROOT), *ours)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_file_that_raises_or_sends_them_to_itself_is_among_these() -> None:
    raising = {
        path.relative_to(ROOT / "tests").as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if any(f"{how}({of}signal.SIG{name}" in path.read_text()
               for how, of in (("raise_signal", ""), ("kill", "os.getpid(), "))
               for name in ("INT", "HUP"))
    }  # fmt: skip
    assert raising - {Path(__file__).name} <= set(ABOUT_SIGNALS)
