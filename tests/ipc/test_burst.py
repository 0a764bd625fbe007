"""The short form of the burst (burst.py): one of two real servers is a stopped process for longer than all attempts."""

from pathlib import Path

import pytest

from tests.ipc.burst import ATTEMPT_SECONDS, KINDS, burst


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_while_an_end_is_stopped_is_answered_and_none_is_given_up_for_it(kind: str, tmp_path: Path) -> None:
    burst(tmp_path, kind, 1_000, stopped_seconds=4.5 * ATTEMPT_SECONDS)
