"""Every request ends, whoever is killed meanwhile; the whole storm is `python -m tests.ipc.storm`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.running import ROOT, server
from tests.ipc.storm import OURS, THEIRS, DeskStorm

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "seed"), [(OURS, 1), (THEIRS, 3)])
def test_every_request_on_a_real_desk_ends_whoever_is_killed_meanwhile(kind: str, seed: int, tmp_path: Path) -> None:
    storm = DeskStorm(tmp_path, seed)
    for _ in range(2):
        storm.life(kind)
    storm.settle(kind)
    assert storm.ends


def test_a_foreign_client_gets_its_answers_and_three_runs_of_what_fails(tmp_path: Path) -> None:
    base = tmp_path / "base"
    settings = (f"ipc.base={base}", "ipc.port=0", "ipc.client=false")
    with server(tmp_path, *(word for each in settings for word in ("--set", each))) as house:
        house.ready()
        client = [sys.executable, "-S", str(ROOT / "tests" / "ipc" / "peers.py"), "client", str(base), "theirs", "20"]
        said = subprocess.run(client, capture_output=True, text=True, timeout=60, check=True).stdout
        assert json.loads(said) == {"success": 16, "error": 4}
        assert sorted(path.name for path in (base / "failed").iterdir()) == sorted(
            f"theirs-{number}.json" for number in (4, 9, 14, 19)
        )
