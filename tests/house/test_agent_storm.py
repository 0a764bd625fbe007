"""Whenever a server is killed whose agent writes, asks and runs, log, files, commands and clients agree. The whole
storm is `python -m tests.agent.acting_storm`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codec.agent.action_events import ApprovalResolved, CommandFinished, FileChanged
from tests.agent.acting_storm import ActingStorm
from tests.house.agent_kit import fake_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "300") as url:
        yield url


@pytest.mark.parametrize("seed", [1])
def test_whoever_kills_a_server_whose_agent_acts_finds_nothing_half_done_done_twice_or_forgotten(
    seed: int, tmp_path: Path, model: str
) -> None:
    storm = ActingStorm(tmp_path, model, seed)
    for _ in range(4):
        storm.life()
    storm.settle()
    assert storm.ends
    for kind in (FileChanged, ApprovalResolved, CommandFinished):
        assert storm.kept[kind.__name__], storm.kept
