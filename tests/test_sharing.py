"""The long files are begun first, no test is moved into another file's place, and a crash costs one test."""

from itertools import groupby
from pathlib import Path

import pytest

from tests.planted import run_pytest
from tests.sharing import LONGEST

ROOT = Path(__file__).parents[1]


def test_the_files_that_are_called_long_are_there() -> None:
    assert [file for file in LONGEST if not (ROOT / file).is_file()] == []
    assert len(set(LONGEST)) == len(LONGEST)


@pytest.mark.slow
def test_the_longest_come_first_then_those_with_slow_tests_and_each_in_one_piece(tmp_path: Path) -> None:
    slow, fast = "@pytest.mark.slow\ndef test_{}(): pass\n", "def test_{}(): pass\n"
    files = {
        "tests/test_fast.py": [fast] * 3,
        "tests/test_twice.py": [slow, fast, slow],
        "tests/test_once.py": [fast, slow],
        LONGEST[1]: [fast],
        LONGEST[0]: [fast],
    }
    for file, bodies in files.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import pytest\n" + "".join(body.format(place) for place, body in enumerate(bodies)))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: s\n")
    run = run_pytest(tmp_path, "--collect-only", "-q", "-p", "tests.sharing", "--import-mode=importlib")
    found = [line for line in run.stdout.splitlines() if "::" in line]
    order = [file for file, _ in groupby(line.partition("::")[0] for line in found)]
    assert order == [LONGEST[0], LONGEST[1], "tests/test_twice.py", "tests/test_once.py", "tests/test_fast.py"]
    assert len(found) == sum(map(len, files.values()))


@pytest.mark.drawn(2)
@pytest.mark.slow
@pytest.mark.parametrize("place", ["first", "amid others", "last", "alone"])
def test_whatever_crashes_a_worker_every_other_test_is_run_once(tmp_path: Path, place: str) -> None:
    crash = "def test_crash(): os.kill(os.getpid(), signal.SIGBUS)\n"
    fine = [f"def test_{number}(): note({number})\n" for number in range(4)]
    bodies = {
        "first": [crash, *fine],
        "amid others": [*fine[:2], crash, *fine[2:]],
        "last": [*fine, crash],
        "alone": [crash],
    }
    files = {
        "test_1.py": fine,
        "test_2.py": bodies[place],
        "test_3.py": fine,
        "test_4.py": bodies[place],
        "test_5.py": [],
    }
    head = "import os, signal\ndef note(which): open('run', 'a').write(f'{__name__} {which}\\n')\n"
    for file, tests in files.items():
        tmp_path.joinpath(file).write_text(head + "".join(tests))
    words = ["-q", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    words += ["-p", "tests.sharing", "-p", "xdist", "-p", "no:faulthandler", "-p", "no:cacheprovider"]
    run = run_pytest(tmp_path, *words, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    ran = tmp_path.joinpath("run").read_text().splitlines()
    others = [test for tests in files.values() for test in tests if test is not crash]
    assert len(ran) == len(set(ran)) == len(others), run.stdout + run.stderr
    assert f"2 failed, {len(others)} passed" in run.stdout, run.stdout
    assert run.stdout.count("\nworker 'gw") == 2
