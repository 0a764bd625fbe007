"""A run of pytest inside a test leaves other runs' folders alone, and says where it hangs."""

import getpass
import os
from pathlib import Path

import pytest

from tests.planted import ROOT, run_pytest

WORKERS = pytest.mark.parametrize("workers", ["0", "1"])


@pytest.mark.slow
@WORKERS
def test_what_other_runs_have_left_stands_untouched(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_some.py").write_text("def test_it(tmp_path): (tmp_path / 'file').touch()\n")
    others = tmp_path / f"others/pytest-of-{getpass.getuser()}"
    for number in range(9):
        (others / f"pytest-{number}/test_it0").mkdir(parents=True)
    before = sorted(others.rglob("*"))
    run = run_pytest(tmp_path, "-n", workers, env={"PYTEST_DEBUG_TEMPROOT": str(tmp_path / "others")})
    assert "1 passed" in run.stdout, run.stdout + run.stderr
    assert sorted(others.rglob("*")) == before


@pytest.mark.slow
@WORKERS
def test_a_run_that_hangs_says_where_and_is_gone(tmp_path: Path, workers: str) -> None:
    begin = "print(os.getpid(), file=open('pid', 'w'), flush=True), time.sleep(600)"
    source = f"import os, time\ndef test_it():\n    {begin}\n"
    (tmp_path / "test_some.py").write_text(source)
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    seconds = 2.0
    while True:  # until it was given enough to come to its test
        with pytest.raises(pytest.fail.Exception, match=rf"not over after {seconds:g} s") as told:
            run_pytest(tmp_path, "-n", workers, seconds=seconds, env=bare)
        if (tmp_path / "pid").exists() and (pid := (tmp_path / "pid").read_text().strip()):
            break
        seconds *= 2
    assert 'test_some.py", line 3 in test_it' in str(told.value)
    program = Path("/proc", pid, "exe")
    while program.exists():  # a process that was killed, and not yet waited for, has none
        os.sched_yield()


def test_no_other_test_runs_pytest_by_itself() -> None:
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")
             if 'sys.executable, "-m", "pytest"' in path.read_text()}  # fmt: skip
    assert there - {"tests/test_planted.py"} == {"tests/planted.py"}
