"""A forked process is one like any other: its words, folder, environment, output and end are its own."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.house.forking import Forked, can_fork

pytestmark = pytest.mark.slow

FACTS = """
import json, os, signal, sys, threading
json.dump({
    "words": sys.argv, "folder": os.getcwd(), "environ": dict(os.environ), "name": __name__, "path": sys.path[0],
    "heeded": [signal.getsignal(each) is signal.default_int_handler for each in (signal.SIGINT,)],
    "usual": [signal.getsignal(each) == signal.SIG_DFL for each in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP)],
    "open": sorted(map(int, os.listdir("/proc/self/fd"))), "threads": threading.active_count(),
}, sys.stdout)
print("trouble", file=sys.stderr)
"""
ENDS = {
    "": 0,
    "raise SystemExit(3)": 3,
    "import atexit; atexit.register(print, 'at the end')": 0,
    "import threading; threading.Timer(0.1, print, ['at the end']).start()": 0,
    "import weakref, sys; weakref.finalize(sys, print, 'at the end'); print('x' * 9000, end=''); sys.exit(258)": 2,
    "import logging.handlers as h, logging, sys\n"
    "logging.getLogger().addHandler(h.MemoryHandler(9, target=logging.StreamHandler(sys.stdout)))\n"
    "logging.error('at the end')": 0,
    "raise SystemExit('ZeroDivisionError')": 1,
    "import sys; sys.stdout.close()": 0,
    "1 / 0": 1,
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": -9,
    "import signal; signal.raise_signal(signal.SIGTERM)": -15,
}


def forked(folder: Path, source: str, *words: str, environ: dict[str, str] | None = None) -> Forked:
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(source)
    return Forked([str(folder / "program.py"), *words], cwd=folder, env=environ or {})


def test_it_has_what_it_was_given_and_nothing_of_another(tmp_path: Path) -> None:
    beside = forked(tmp_path / "beside", "import time; time.sleep(60)")
    one = forked(tmp_path / "one", FACTS, "a", "b c", environ={"ONLY": "this"})
    said, trouble = one.communicate(timeout=30)
    facts = json.loads(said)
    listing = facts["open"].pop()  # of the folder that was listed
    assert trouble == "trouble\n"
    assert facts == {
        "words": [str(tmp_path / "one" / "program.py"), "a", "b c"],
        "folder": str(tmp_path / "one"),
        "environ": {"ONLY": "this"},
        "name": "__main__",
        "path": str(tmp_path / "one"),
        "heeded": [True],
        "usual": [True, True, True],
        "open": [0, 1, 2],
        "threads": 1,
    }, listing
    beside.kill()
    beside.communicate(timeout=30)


@pytest.mark.parametrize(("source", "status"), ENDS.items(), ids=map(str, range(len(ENDS))))
def test_its_end_is_told_as_that_of_a_child(source: str, status: int, tmp_path: Path) -> None:
    one = forked(tmp_path, source)
    assert one.wait(30) == status
    assert one.poll() == one.returncode == status
    said, trouble = one.communicate()
    assert ("at the end" in said) == ("at the end" in source)
    assert ("ZeroDivisionError" in trouble) == ("1 / 0" in source or "ZeroDivisionError" in source)


def test_while_it_runs_nobody_says_that_it_has_ended(tmp_path: Path) -> None:
    one = forked(tmp_path, "import sys, time; print('begun', flush=True); time.sleep(60)")
    assert one.stdout is not None
    assert one.stdout.readline() == "begun\n"
    assert one.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(0.01)
    one.send_signal(signal.SIGTERM)
    assert one.wait(30) == -signal.SIGTERM
    one.communicate()


def test_what_a_failed_test_has_started_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), forked(tmp_path, "import time; time.sleep(600)") as running:
        1 / 0  # noqa: B018
    assert running.returncode == -signal.SIGKILL


def test_nothing_of_it_stays_behind(tmp_path: Path) -> None:
    forked(tmp_path, "").communicate(timeout=30)  # the forker itself has begun
    before = set(os.listdir("/proc/self/fd"))
    one = forked(tmp_path, "print('here')")
    one.communicate(timeout=30)
    assert set(os.listdir("/proc/self/fd")) == before
    assert not Path(f"/proc/{one.pid}").exists()


def test_what_the_interpreter_reads_at_its_start_needs_another_start() -> None:
    assert can_fork({"HOME": "/nowhere", "TROUPE_TOKEN": "x"})
    for name in ("PYTHONUTF8", "LD_PRELOAD", "LC_ALL", "LANG", "MALLOC_ARENA_MAX"):
        assert not can_fork({name: "1"})
