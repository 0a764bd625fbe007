"""A board takes what there is exactly room for, and refuses it if a byte is lacking."""

import pytest

from actors.sidekick.scene import Limits
from actors.sidekick.scene.canvas import LAYER, STAMP
from tests.sidekick.scene.kit import scene_of, spawn, told, update
from tests.sidekick.scene.stories import leaf, list_node
from tests.sidekick.scene.test_canvas import copy, create, line

GRID = spawn("grid-1", numColumns=5, numRows=4)
LIST = list_node(1, [leaf(2, 5)], "list", 0)
SET = update("viz-1", "set", {"path": [], "valueRepresentation": LIST}, variableName="v")
CASES: dict[str, tuple[list[bytes], bytes]] = {
    "a container": ([], spawn("row-1")),
    "a label": ([], spawn("label-1", text="abc")),
    "a grid": ([], GRID),
    "a component in a container": ([spawn("row-1")], spawn("label-1", parent="row-1")),
    "a buffer": ([spawn("canvas-1")], create(1)),
    "a line": ([spawn("canvas-1")], line(1)),
    "a line on a buffer": ([spawn("canvas-1"), create(1)], line(1, 1)),
    "a cell": ([GRID], update("grid-1", "setColor", {"x": 1, "y": 1, "color": "red"})),
    "another cell": (
        [GRID, update("grid-1", "setColor", {"x": 1, "y": 1, "color": "red"})],
        update("grid-1", "setColor", {"x": 2, "y": 1, "color": "lightgoldenrodyellow"}),
    ),
    "a text": ([spawn("label-1")], update("label-1", "setText", {"text": "long " * 100})),
    "a line of a console": ([spawn("console-1")], update("console-1", "append", {"text": "a" * 100})),
    "a variable": ([spawn("viz-1")], SET),
    "an item of a variable": (
        [spawn("viz-1"), SET],
        update("viz-1", "append", {"path": [1], "valueRepresentation": leaf(3, "x" * 50)}, variableName="v"),
    ),
    "what nobody knows": ([spawn("label-1")], update("label-1", "dance", {"a": 1})),
}


@pytest.mark.parametrize("what", CASES)
def test_what_there_is_exactly_room_for_is_taken_and_nothing_that_is_a_byte_larger(what: str) -> None:
    before, frame = CASES[what]
    scene = scene_of(*before)
    spent = scene.statistics().memory
    assert told(scene, frame) == [None]
    most = scene.statistics().memory
    assert most > spent
    full = scene_of(*before, limits=Limits(memory=most))
    assert told(full, frame) == [None]
    assert full.statistics().memory == most
    scarce = scene_of(*before, limits=Limits(memory=most - 1))
    (refusal,) = told(scarce, frame)
    assert refusal is not None
    assert refusal.endswith(f"the board is full ({most - 1:,} bytes): clear or remove what is no longer needed")
    assert scarce.statistics().memory == spent, "what is refused costs nothing"


@pytest.mark.parametrize(("source", "target"), [(1, 0), (0, 1), (1, 2), (1, 1), (0, 0)])
def test_a_copy_is_taken_if_there_is_room_for_two_layers_and_its_own(source: int, target: int) -> None:
    """Each of the two buffers may need another layer, and a layer holds the message that made its buffer."""
    frame, made_by = copy(source, target), {0: b"", 1: create(1), 2: create(2)}
    before = [spawn("canvas-1"), create(1), create(2), *(line(1, buffer) for buffer in made_by)]
    spent = scene_of(*before).statistics().memory
    needs = len(frame) + STAMP + sum(LAYER + len(made_by[buffer]) for buffer in (source, target))
    assert told(scene_of(*before, limits=Limits(memory=spent + needs)), frame) == [None]
    scarce = scene_of(*before, limits=Limits(memory=spent + needs - 1))
    assert "the board is full" in str(told(scarce, frame)[0])
    assert scarce.statistics().memory == spent
