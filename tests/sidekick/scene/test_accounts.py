"""The books of a scene are right at every moment: what it says it has spent is what stands on it, counted anew."""

from itertools import chain
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sidekick.scene import Limits, Scene, viz
from actors.sidekick.scene.canvas import LAYER, STAMP, STROKE, Canvas, Layer, Stamp
from actors.sidekick.scene.console import TEXT, Console, width
from actors.sidekick.scene.tree import COMPONENT, UNKNOWN
from actors.sidekick.scene.viz import VARIABLE, Viz
from codec.sidekick import ClearAll
from tests.sidekick.scene import stories
from tests.sidekick.scene.kit import scene_of, spawn, told, update
from tests.sidekick.scene.test_laws import MODEST, TOPICS, drawn, each_topic

PATCHES = 50
NARROW = Limits(lines=5, characters=60, strokes=12, unknown=3, depth=4, buffers=2)


def reached(canvas: Canvas) -> dict[Layer, int]:
    """Every layer of a canvas, and how many look at it."""
    looked_at: dict[Layer, int] = {}
    waiting = list(canvas.buffers.values())
    while waiting:
        layer = waiting.pop()
        looked_at[layer] = looked_at.get(layer, 0) + 1
        if looked_at[layer] == 1:
            waiting += [stroke.source for stroke in layer.strokes if isinstance(stroke, Stamp)]
            waiting += [layer.base] if layer.base is not None else []
    return looked_at


def check_canvas(canvas: Canvas) -> None:
    looked_at = reached(canvas)
    for layer, count in looked_at.items():
        stamps = [stroke for stroke in layer.strokes if isinstance(stroke, Stamp)]
        strokes = [stroke for stroke in layer.strokes if isinstance(stroke, bytes)]
        assert layer.references == count
        assert layer.stamps == len(stamps)
        weighed = sum(len(one.raw) + STAMP for one in stamps) + sum(len(one) + STROKE for one in strokes)
        assert layer.weight == LAYER + len(layer.made_by) + weighed
    assert canvas.spent == sum(layer.weight for layer in looked_at)
    assert canvas.strokes == sum(len(layer.strokes) for layer in looked_at)
    assert all(canvas.buffers[number].buffer == number for number in canvas.buffers)


def check_console(console: Console) -> None:
    printed = [console.text, *console.prints]
    assert console.width == max(map(width, printed))
    assert console.characters == sum(map(len, console.prints))
    assert console.spent == TEXT * len(printed) + console.width * sum(map(len, printed))
    assert console.characters < NARROW.characters


def check(scene: Scene) -> None:
    """Every sum, counted anew."""
    standing = [one for one in scene._root.subtree() if one is not scene._root]
    assert {one.target: one for one in standing} == scene._components
    assert len(standing) == len(scene._components)
    for one in standing:
        if isinstance(one, Canvas):
            check_canvas(one)
        if isinstance(one, Console):
            check_console(one)
        if isinstance(one, Viz):
            for variable in one.variables.values():
                assert variable.weight >= VARIABLE + variable.size
                assert variable.patched <= variable.size + PATCHES
    retained = list(chain.from_iterable(chain(scene._strays.values(), scene._unknown.values())))
    cost = sum(map(len, retained)) + UNKNOWN * len(retained)
    for one in standing:
        cost += COMPONENT + len(one.spawn) + one.held() + sum(map(len, one.unknown)) + UNKNOWN * len(one.unknown)
    statistics = scene.statistics()
    assert statistics.memory == scene.memory == cost
    assert statistics.components == len(standing)
    assert statistics.unknown == len(retained) + sum(len(one.unknown) for one in standing)
    assert scene.is_empty == (not list(scene.replay()))


@pytest.mark.parametrize("node", [stories.leaf(1, 1), stories.list_node(1, [], "list", 0)], ids=["number", "list"])
def test_a_variable_that_is_changed_for_ever_costs_no_more_than_what_there_is_to_change(node: Any) -> None:
    """A number cannot be changed at a path: a script that goes on trying does not fill the board."""
    whole = {"path": [], "valueRepresentation": node}
    change = {"path": [0], "valueRepresentation": stories.leaf(1, "x" * 100), "length": 1}
    scene = scene_of(spawn("viz-1"), update("viz-1", "set", whole, variableName="v"))
    most = scene.memory + 2 * viz.PATCHES
    for _ in range(2 * viz.PATCHES // 100):
        assert told(scene, update("viz-1", "setitem", change, variableName="v")) == [None]
        assert scene.memory < most


@pytest.mark.slow
@each_topic
@MODEST
@given(data=st.data())
def test_what_is_spent_is_what_stands_there_costs(topic: str, data: st.DataObject) -> None:
    scene = Scene(NARROW)
    with patch("actors.sidekick.scene.viz.PATCHES", PATCHES):
        for said in drawn(data.draw(stories.stories(TOPICS[topic], most=60))):
            scene.fold(said)
            check(scene)


@pytest.mark.slow
@MODEST
@given(story=st.lists(st.tuples(st.sampled_from("AB"), stories.anything), max_size=60), who=st.sampled_from("AB"))
def test_it_is_so_when_one_of_two_heroes_clears_what_is_its_own(story: list[tuple[str, bytes]], who: str) -> None:
    scene = Scene(NARROW)
    for hero, frame in story:
        for said in drawn([frame]):
            scene.fold(said, hero)
    scene.clear(ClearAll(), others={"A", "B"} - {who})
    check(scene)
    scene.empty()
    check(scene)
    assert scene.is_empty
    assert scene.memory == 0
