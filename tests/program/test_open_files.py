"""The server asks for as many open files as its doors may need."""

import subprocess
import sys
from pathlib import Path

import pytest

from program.open_files import WANTED

ROOT = Path(__file__).parents[2]
LIVES = """
import resource, sys
sys.path.insert(0, sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), int(sys.argv[3])))
from program import open_files
print(open_files.settle(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "then"),
    [(256, 512, 512), (256, WANTED + 1, WANTED), (WANTED + 1, WANTED + 1, WANTED + 1), (300, 300, 300)],
)
def test_it_gets_what_the_system_allows_and_never_less_than_it_had(soft: int, hard: int, then: int) -> None:
    command = [sys.executable, "-c", LIVES, str(ROOT), str(soft), str(hard)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [str(then), str(then), str(hard)]
