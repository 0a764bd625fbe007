"""Every request ends, whoever is killed meanwhile; the whole storm is `python -m tests.ipc.storm`."""

from pathlib import Path

import pytest

from tests.ipc.storm import OURS, THEIRS, DeskStorm

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "seed"), [(OURS, 1), (OURS, 2), (THEIRS, 3), (THEIRS, 4)])
def test_every_request_on_a_real_desk_ends_whoever_is_killed_meanwhile(kind: str, seed: int, tmp_path: Path) -> None:
    storm = DeskStorm(tmp_path, seed)
    for _ in range(2):
        storm.life(kind)
    storm.settle(kind)
    assert storm.ends
