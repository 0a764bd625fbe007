"""Components in their containers."""

import pytest

from actors.sidekick.scene import Limits
from actors.sidekick.scene.tree import COMPONENT
from tests.sidekick.scene.kit import message, names, payloads, scene_of, spawn, told, update

BOARD = (spawn("row-1"), spawn("label-1", parent="row-1"), spawn("grid-1", parent="row-1"), spawn("column-1"))


def moved(target: str, parent: str, before: str | None = None) -> bytes:
    return update(target, "changeParent", {"parent": parent, "insertBefore": before})


@pytest.mark.parametrize("frame", [spawn("row-1"), spawn("column-1"), spawn("row-1", color="red")])
def test_a_container_costs_what_it_was_spawned_with_and_no_more(frame: bytes) -> None:
    assert scene_of(frame).statistics().memory == COMPONENT + len(frame)


def test_containers_are_shown_before_what_is_in_them() -> None:
    scene = scene_of(*BOARD, moved("row-1", "column-1"))
    assert names(scene) == ["column-1", "row-1", "label-1", "grid-1"]


@pytest.mark.parametrize(
    ("move", "order"),
    [
        (moved("label-1", "row-1"), ["row-1", "grid-1", "label-1", "column-1"]),
        (moved("grid-1", "row-1", "label-1"), ["row-1", "grid-1", "label-1", "column-1"]),
        (moved("label-1", "root", "column-1"), ["row-1", "grid-1", "label-1", "column-1"]),
        (moved("column-1", "root", "row-1"), ["column-1", "row-1", "label-1", "grid-1"]),
        (moved("column-1", "row-1", "grid-1"), ["row-1", "label-1", "column-1", "grid-1"]),
    ],
)
def test_a_component_goes_where_it_is_put(move: bytes, order: list[str]) -> None:
    assert names(scene_of(*BOARD, move)) == order


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (spawn("label-1"), "label 'label-1' spawn: this id is taken: use another one, or remove what has it"),
        (spawn("root"), "root 'root' spawn: 'root' is the board itself: use another id"),
        (spawn("button-1", parent="row-9"), "button 'button-1' spawn: there is no container 'row-9': spawn it first"),
        (
            spawn("button-1", parent="label-1"),
            "button 'button-1' spawn: 'label-1' is a label, which cannot contain anything: use a row or a column",
        ),
        (
            moved("row-1", "row-1"),
            "row 'row-1' changeParent: 'row-1' is in it, or is it: nothing can be put into itself",
        ),
        (
            moved("label-1", "row-1", "column-1"),
            "label 'label-1' changeParent: options.insertBefore must be another component in 'row-1'",
        ),
        (
            moved("label-1", "row-1", "label-1"),
            "label 'label-1' changeParent: options.insertBefore must be another component in 'row-1'",
        ),
        (update("label-7", "setText", {"text": ""}),
         "label 'label-7' setText: there is no such component: spawn it first"),
        (message("label", "remove", "label-7"), "label 'label-7' remove: there is no such component: spawn it first"),
        (message("label", "update", "grid-1", {"action": "setText", "options": {"text": ""}}),
         "label 'grid-1' setText: this is a grid"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_words(wrong: bytes, sentence: str) -> None:
    scene = scene_of(*BOARD)
    assert told(scene, wrong) == [sentence]
    assert names(scene) == ["row-1", "label-1", "grid-1", "column-1"]


def test_a_container_cannot_be_put_into_what_is_in_it() -> None:
    scene = scene_of(*BOARD, moved("column-1", "row-1"))
    (refusal,) = told(scene, moved("row-1", "column-1"))
    assert refusal is not None


def test_all_that_is_in_a_removed_container_goes_with_it() -> None:
    scene = scene_of(*BOARD, message("row", "remove", "row-1"))
    assert names(scene) == ["column-1"]
    assert told(scene, spawn("label-1")) == [None]


def test_a_moved_component_keeps_fields_that_nobody_knows() -> None:
    scene = scene_of(spawn("row-1"), spawn("label-1", flavour={"a": [1]}), moved("label-1", "row-1"))
    assert payloads(scene, "label-1") == [{"text": "a label", "flavour": {"a": [1]}, "parent": "row-1"}]


def test_a_component_that_has_not_moved_is_said_again_byte_for_byte() -> None:
    odd = b'{ "component":"label", "type":"spawn","target":"label-1", "payload":{"text":"\\u00e4"} , "id":7}'
    assert list(scene_of(odd).replay()) == [odd]


def test_containers_can_be_nested_up_to_the_limit() -> None:
    scene = scene_of(spawn("row-1"), spawn("row-2", parent="row-1"), spawn("column-1"), limits=Limits(depth=2))
    deep = told(scene, spawn("label-1", parent="row-2"), spawn("label-1", parent="row-1"), moved("row-1", "column-1"))
    assert [refusal is None for refusal in deep] == [False, True, False]


@pytest.mark.slow
def test_two_thousand_components_in_each_other_do_not_exhaust_the_stack() -> None:
    frames = (spawn(f"row-{n}", **({"parent": f"row-{n - 1}"} if n else {})) for n in range(2_000))
    scene = scene_of(*frames, limits=Limits(depth=10_000))
    assert len(names(scene)) == 2_000
    assert told(scene, message("row", "remove", "row-0")) == [None]
    assert scene.statistics().memory == 0


def test_a_spawn_that_nobody_could_read_again_is_refused() -> None:
    nest = b"[" * 200 + b"]" * 200
    deep = b'{"component":"label","type":"spawn","target":"l","payload":{"text":"","odd":' + nest + b"}}"
    wide = spawn("label-1", odd=[[] for _ in range(500)])
    assert [refusal is None for refusal in told(scene_of(), deep, wide)] == [False, True]
