"""A worker is there soon: it loads what it needs, and not before."""

import subprocess
import sys
from pathlib import Path

from transports.agent.index.folder_indexes import index_workers

ROOT = Path(__file__).parents[4]
LOADS = """
import sys
sys.path += sys.argv[1:]
from transports.agent.index import database, orders, walk, writing
from transports.process import member
print("scan", *sorted(sys.modules))
from transports.agent.index import reading, relating
print("read", *sorted(sys.modules))
"""


def test_a_worker_loads_no_trio_and_the_grammars_only_to_read() -> None:
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", LOADS, *index_workers().argv]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    scan, read = (set(line.split()) for line in told)
    assert not {"trio", "structlog", "httpx", "quart", "tree_sitter"} & scan
    assert "tree_sitter" in read
    assert "trio" not in read
