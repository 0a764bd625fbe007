"""The long files are begun first, and no test is moved into another file's place."""

import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

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
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tests.sharing", "--import-mode=importlib"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    run = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    found = [line for line in run.stdout.splitlines() if "::" in line]
    order = [file for file, _ in groupby(line.partition("::")[0] for line in found)]
    assert order == [LONGEST[0], LONGEST[1], "tests/test_twice.py", "tests/test_once.py", "tests/test_fast.py"]
    assert len(found) == sum(map(len, files.values()))
