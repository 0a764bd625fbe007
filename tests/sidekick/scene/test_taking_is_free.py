"""On a board that is full to its last byte, what takes something away is done, and what adds anything is refused."""

from typing import Any

import pytest

from actors.sidekick.scene import Limits
from tests.sidekick.scene.kit import scene_of, spawn, told
from tests.sidekick.scene.stories import dict_node, leaf, list_node
from tests.sidekick.scene.test_viz import change

LIST = list_node(1, [leaf(0, 1), leaf(0, 2)], "list", 0)
SET = list_node(1, [leaf(0, 1), leaf(0, 2)], "set", 0)
DICT = dict_node(1, {"a": leaf(0, 1), "b": leaf(0, 2)}, 0)


@pytest.mark.parametrize(
    ("node", "taking", "adding"),
    [
        (LIST, change("pop", [0], length=1), change("append", [], leaf(0, 3), length=3)),
        (LIST, change("remove", [0], length=1), change("setitem", [0], leaf(0, 3), length=2)),
        (DICT, change("delitem", ["a"], key=leaf(0, "a"), length=1), change("setitem", ["a"], leaf(0, 3), length=2)),
        (SET, change("discard_set", [], leaf(0, 1), length=1), change("add_set", [], leaf(0, 3), length=3)),
    ],
)
def test_a_full_board_takes_what_makes_room(node: Any, taking: bytes, adding: bytes) -> None:
    begun = spawn("viz-1"), change("set", [], node)
    full = scene_of(*begun).memory
    scene = scene_of(*begun, limits=Limits(memory=full))
    assert scene.memory == full
    assert "full" in str(told(scene, adding)[0])
    assert told(scene, taking) == [None]
    assert scene.memory <= full
