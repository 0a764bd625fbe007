"""What released clients were recorded saying."""

import pytest

from actors.sidekick.scene import Limits, Scene
from codec.sidekick import ClearAll, Ear, Other, Remove, Spawn, Update, dialect_of
from tests.sidekick.codec.kit import RELEASES, each, recorded
from tests.sidekick.scene.naive import NaiveBoard


@pytest.mark.parametrize("release", RELEASES)
def test_a_ui_that_comes_at_any_moment_of_a_recorded_session_sees_the_present(release: str) -> None:
    frames = recorded(release)
    dialect = dialect_of(frames[0])
    assert dialect is not None
    ear, scene, board = Ear(dialect), Scene(), NaiveBoard(Limits())
    relayed = 0
    for said in (said for frame in frames for said in each(ear.hear(frame))):
        if isinstance(said, Spawn | Update | Remove | ClearAll | Other) and scene.fold(said) is None:
            relayed += 1
            board.show(said.raw)
            assert NaiveBoard(Limits()).show(*scene.replay()).picture() == board.picture()
    assert relayed > 40
