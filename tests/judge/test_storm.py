"""No post that was answered is lost, however the server ends; the whole storm is `python -m tests.judge.storm`."""

from pathlib import Path

import pytest

from tests.judge.storm import Storm

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
def test_what_was_answered_has_its_whole_folder_after_the_next_start(tmp_path: Path) -> None:
    storm = Storm(tmp_path, seed=9)
    storm.rounds(6)
    assert storm.count > 50
