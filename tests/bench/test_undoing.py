"""What the bench of undoing measures is really undone: it looks at every file, and at every answer."""

import pytest

from bench.undoing import FILES, cases


@pytest.mark.slow
def test_an_undo_of_a_thousand_files_is_measured_beside_what_is_allowed_and_a_loop() -> None:
    allowed, loop = cases("hands", 1)
    assert (allowed.bench, allowed.case, allowed.peer) == ("hands", f"undo of {FILES:,} files", "allowed")
    assert (allowed.theirs, allowed.goal, loop.goal) == (1_000.0, 1.0, None)
    assert allowed.ours is not None
    assert loop.ratio is not None
    assert loop.ratio > 0
