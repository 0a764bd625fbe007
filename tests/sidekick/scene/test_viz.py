"""Variables, and what updates at their paths make of them."""

from typing import Any

import pytest

from actors.sidekick.scene import Limits, Scene
from tests.sidekick.scene.kit import payloads, scene_of, shown, spawn, told, update
from tests.sidekick.scene.stories import dict_node, leaf, list_node, object_node

NONE = leaf(0, None)


def change(action: str, path: list[Any], value: Any = None, key: Any = None, length: int | None = None) -> bytes:
    options = {"path": path, "valueRepresentation": value, "keyRepresentation": key, "length": length}
    return update("viz-1", action, options, variableName="v")


def a_list(*values: Any, hidden: int = 0, kind: str = "list") -> Any:
    return list_node(1, [one if isinstance(one, dict) else leaf(0, one) for one in values], kind, hidden)


def a_dict(items: dict[Any, Any], hidden: int = 0) -> Any:
    return dict_node(1, {key: leaf(0, value) for key, value in items.items()}, hidden)


def after(node: Any, *frames: bytes) -> Any:
    """The variable after these changes, without the ids."""
    scene = shown_in(node, *frames)
    assert {(one["id"], one["component"], one["target"]) for one in shown(scene)} == {(0, "viz", "viz-1")}
    return simply(payloads(scene, "viz-1")[1]["options"]["valueRepresentation"])


def shown_in(node: Any, *frames: bytes) -> Scene:
    return scene_of(spawn("viz-1"), change("set", [], node), *frames)


def simply(node: Any) -> Any:
    """A node as what it stands for, and its length."""
    value, length = node["value"], node.get("length")
    if isinstance(value, dict):
        return {name: simply(one) for name, one in value.items()}, length
    if isinstance(value, list) and value and "key" in value[0]:
        return {str(simply(one["key"])): simply(one["value"]) for one in value}, length
    if isinstance(value, list):
        return [simply(one) for one in value], length
    return value


@pytest.mark.parametrize(
    ("frame", "result"),
    [
        (change("append", [3], leaf(1, 4), NONE, 4), ([1, 2, 3, 4], 4)),
        (change("append", [], leaf(1, 4)), ([1, 2, 3, 4], 4)),
        (change("insert", [0], leaf(1, 0), None, 4), ([0, 1, 2, 3], 4)),
        (change("insert", [3], leaf(1, 0), None, 4), ([1, 2, 3, 0], 4)),
        (change("insert", [9], leaf(1, 0), None, 4), ([1, 2, 3, 0], 4)),
        (change("insert", [-9], leaf(1, 0), None, 4), ([0, 1, 2, 3], 4)),
        (change("pop", [2], NONE, NONE, 2), ([1, 2], 2)),
        (change("pop", [-1], NONE, NONE, 2), ([1, 2], 2)),
        (change("remove", [0], None, None, None), ([2, 3], 2)),
        (change("delitem", [1], NONE, NONE, 2), ([1, 3], 2)),
        (change("setitem", [1], leaf(1, "x"), NONE, None), ([1, "x", 3], 3)),
        (change("setitem", [-3], leaf(1, "x"), NONE, None), (["x", 2, 3], 3)),
        (change("setitem", [True], leaf(1, "x")), ([1, 2, 3], 3)),
        (change("clear", [], a_list(), NONE, 0), ([], 0)),
        (change("clear", [], NONE, NONE, 0), ([], 0)),
        (change("clear", []), ([], 0)),
        (change("set", [], leaf(1, 5)), 5),
        (change("setitem", [0, 0, 0], leaf(1, "x")), ([1, 2, 3], 3)),
    ],
)
def test_a_list(frame: bytes, result: Any) -> None:
    assert after(a_list(1, 2, 3), frame) == result


@pytest.mark.parametrize(
    ("frame", "result"),
    [
        (change("append", [5], leaf(1, 6), None, 6), ([1, 2, "... (3 more)", 6], 6)),
        (change("append", [], leaf(1, 6)), ([1, 2, "... (3 more)", 6], 6)),
        (change("append", [7], leaf(1, 8), None, 8), ([1, 2, "... (5 more)", 8], 8)),
        (change("insert", [5], leaf(1, 6), None, 6), ([1, 2, "... (3 more)", 6], 6)),
        (change("insert", [1], leaf(1, 9), None, 6), ([1, 9, 2, "... (3 more)"], 6)),
        (change("insert", [4], leaf(1, 9), None, 6), ([1, 2, "... (3 more)"], 6)),
        (change("pop", [4], NONE, None, 4), ([1, 2, "... (3 more)"], 4)),
        (change("pop", [0], NONE, None, 4), ([2, "... (3 more)"], 4)),
        (change("setitem", [2], leaf(1, 9)), ([1, 2, "... (3 more)"], 5)),
        (change("setitem", [-1], leaf(1, 9)), ([1, 2, "... (3 more)"], 5)),
        (change("pop", [3], NONE, None, 2), ([1, 2], 2)),
    ],
)
def test_a_list_of_which_not_all_is_shown(frame: bytes, result: Any) -> None:
    assert after(a_list(1, 2, hidden=3), frame) == result


NOTE = {"type": "truncated", "value": "... (2 more)", "hidden": 2}


@pytest.mark.parametrize(
    ("part", "length", "result"),
    [
        (NOTE, 4, ([1, "... (2 more)", 9], 4)),
        (NOTE, None, ([1, "... (2 more)", 2, 9], None)),
        (NOTE, 2, ([1, "... (2 more)", 2, 9], 3)),
        ({**NOTE, "type": "str"}, 3, ([1, "... (2 more)", 2, 9], 4)),
        ({**NOTE, "hidden": "2"}, 3, ([1, "... (2 more)", 2, 9], 4)),
    ],
)
def test_only_a_note_of_our_own_in_a_list_with_a_length_stands_for_items(
    part: Any, length: int | None, result: Any
) -> None:
    """Else it is an item, like any that a script has sent."""
    given = {**a_list(1, 2), "length": length, "value": [leaf(0, 1), part, leaf(0, 2)]}
    if length is None:
        del given["length"]
    frames = [change("pop", [-1])] if length == 4 else []
    assert after(given, *frames, change("append", [], leaf(0, 9))) == result


def test_a_last_item_that_is_only_too_deep_to_be_shown_is_an_item() -> None:
    deep = {"id": "d", "type": "truncated", "value": "<Max Depth 5 Reached>"}
    assert after(a_list(1, deep), change("append", [2], leaf(1, 3), None, 3)) == ([1, "<Max Depth 5 Reached>", 3], 3)


@pytest.mark.parametrize(
    ("frame", "result"),
    [
        (change("setitem", ["a"], leaf(1, 9), leaf(1, "a")), ({"a": 9, "1": 2, "2.5": 3, "None": 4}, 4)),
        (change("setitem", [1], leaf(1, 9), leaf(1, 1)), ({"a": 1, "1": 9, "2.5": 3, "None": 4}, 4)),
        (change("setitem", [True], leaf(1, 9), leaf(1, True)), ({"a": 1, "1": 9, "2.5": 3, "None": 4}, 4)),
        (change("setitem", [None], leaf(1, 9), NONE), ({"a": 1, "1": 2, "2.5": 3, "None": 9}, 4)),
        (change("setitem", ["b"], leaf(1, 9), leaf(1, "b")), ({"a": 1, "1": 2, "2.5": 3, "None": 4, "b": 9}, 5)),
        (change("setitem", ["b"], leaf(1, 9), NONE), ({"a": 1, "1": 2, "2.5": 3, "None": 4, "b": 9}, 5)),
        (change("setitem", ["str_0"], leaf(1, 9)), ({"a": 9, "1": 2, "2.5": 3, "None": 4}, 4)),
        (change("delitem", ["a"], NONE, NONE, 3), ({"1": 2, "2.5": 3, "None": 4}, 3)),
        (change("pop", [None], NONE, NONE, 3), ({"a": 1, "1": 2, "2.5": 3}, 3)),
        (change("delitem", ["c"], NONE, NONE, 4), ({"a": 1, "1": 2, "2.5": 3, "None": 4}, 4)),
        (change("clear", [], a_dict({}), NONE, 0), ([], 0)),
    ],
)
def test_a_dict(frame: bytes, result: Any) -> None:
    keys = [leaf(index, key) for index, key in enumerate(["a", 1, 2.5, None])]
    entries = [{"key": key, "value": leaf(0, value)} for value, key in enumerate(keys, 1)]
    assert after({"id": "d", "type": "dict", "length": 4, "value": entries}, frame) == result


@pytest.mark.parametrize(
    ("kind", "result"),
    [("dict", ({"a": 1}, 1)), ("defaultdict", ({"a": 1}, 1)), ("OrderedDict", ({"a": 1}, 1)), ("list", ([], 0))],
)
def test_of_one_that_is_empty_only_its_type_tells_what_it_is(kind: str, result: Any) -> None:
    empty = {"id": "e", "type": kind, "length": 0, "value": []}
    assert after(empty, change("setitem", ["a"], leaf(1, 1), leaf(1, "a"))) == result
    put = change("append", [], leaf(1, 1), NONE, 1)
    assert after(empty, put) == (([1], 1) if kind == "list" else ([], 0))


def test_a_tuple_as_a_key_is_found_by_its_items() -> None:
    put = change("setitem", [[1, [2, None]]], leaf(1, "x"), a_list(1, a_list(2, None)))
    again = change("setitem", [[1, [2, None]]], leaf(2, "y"))
    value, length = after(a_dict({"a": 1}), put, again)
    assert list(value.values()) == [1, "y"]
    assert length == 2


def test_a_new_key_of_a_dict_of_which_not_all_is_shown_stands_before_what_is_not() -> None:
    value, length = after(a_dict({"a": 1}, hidden=4), change("setitem", ["b"], leaf(1, 2), leaf(1, "b")))
    assert list(value) == ["a", "b", "..."]
    assert length == 5


@pytest.mark.parametrize(
    ("frame", "result"),
    [
        (change("add_set", [], leaf(1, 3), NONE, 3), ([1, 2, 3], 3)),
        (change("discard_set", [], leaf(1, 1), NONE, 1), ([2], 1)),
        (change("discard_set", [], leaf(1, True), NONE, 1), ([1, 2], 1)),
        (change("discard_set", [], NONE, NONE, 1), ([1, 2], 1)),
        (change("discard_set", [], NONE, NONE, 0), ([], 0)),
        (change("discard_set", []), ([1, 2], 2)),
    ],
)
def test_a_set(frame: bytes, result: Any) -> None:
    assert after(a_list(1, 2, kind="set"), frame) == result


def test_an_objects_attributes_and_what_is_in_them_are_reached_by_name() -> None:
    point = object_node(1, {"x": leaf(1, 1), "tags": a_list("a")}, 0)
    changed = after(point, change("setitem", ["x"], leaf(2, 5)), change("append", ["tags", 1], leaf(3, "b"), None, 2))
    assert changed == ({"x": 5, "tags": (["a", "b"], 2)}, 2)
    again = change("append", ["tags", 1], leaf(3, "b"), None, 2), change("append", ["tags", 2], leaf(4, "c"), None, 3)
    assert after(point, *again, change("pop", ["tags", 0], NONE)) == ({"x": 1, "tags": (["b", "c"], 2)}, 2)


@pytest.mark.parametrize(
    ("hidden", "frame", "result"),
    [
        (0, change("delitem", ["x"], NONE), ({"y": 2}, 1)),
        (0, change("delitem", ["z"], NONE), ({"x": 1, "y": 2}, 2)),
        (0, change("delitem", [0], NONE), ({"x": 1, "y": 2}, 2)),
        (0, change("setitem", ["z"], leaf(1, 3)), ({"x": 1, "y": 2, "z": 3}, 3)),
        (0, change("setitem", [0], leaf(1, 3)), ({"x": 1, "y": 2}, 2)),
        (0, change("clear", []), ({}, 0)),
        (3, change("delitem", ["x"], NONE), ({"y": 2, "...": "..."}, 4)),
        (3, change("delitem", ["z"], NONE), ({"x": 1, "y": 2, "...": "..."}, 4)),
        (3, change("setitem", ["z"], leaf(1, 3)), ({"x": 1, "y": 2, "z": 3, "...": "..."}, 5)),
        (3, change("setitem", ["x"], leaf(1, 3)), ({"x": 3, "y": 2, "...": "..."}, 5)),
        (3, change("clear", []), ({}, 0)),
    ],
)
def test_an_object_counts_its_attributes_also_those_that_are_not_shown(hidden: int, frame: bytes, result: Any) -> None:
    """One that is not shown and is set was there before; one that is not shown and is deleted was, too."""
    assert after(object_node(1, {"x": leaf(1, 1), "y": leaf(1, 2)}, hidden), frame) == result


def test_a_removed_variable_is_gone() -> None:
    scene = scene_of(spawn("viz-1"))
    before = scene.statistics().memory
    told(scene, change("set", [], a_list(1)), update("viz-1", "removeVariable", {}, variableName="v"))
    assert len(payloads(scene, "viz-1")) == 1
    assert scene.statistics().memory == before


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (update("viz-1", "append", {"valueRepresentation": NONE}, variableName="w"),
         "there is no variable 'w': set it first"),
        (update("viz-1", "removeVariable", {}, variableName="w"), "there is no variable 'w': set it first"),
        (change("append", [1]), "options.valueRepresentation is missing"),
        (change("set", []), "options.valueRepresentation is missing"),
        (change("setitem", [0] * 17, NONE), "options.path must not be longer than 16 steps"),
        (update("viz-1", "set", {"valueRepresentation": NONE}, variableName="w" * 2_000),
         "variableName must not be longer than 1,000 characters"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_words(frame: bytes, why: str) -> None:
    (refusal,) = told(shown_in(a_list(1)), frame)
    assert refusal is not None
    assert refusal.endswith(": " + why)


def test_a_variable_that_was_only_set_is_said_again_byte_for_byte() -> None:
    frame = change("set", [], a_list(1, 2))
    assert list(scene_of(spawn("viz-1"), frame).replay())[1] == frame


def test_fields_that_nobody_knows_are_kept_beside_a_change() -> None:
    node = {**a_list({**leaf(0, 1), "hue": 7}, 2), "observableTracked": True}
    scene = shown_in(node, change("setitem", [1], {**leaf(0, 3), "hue": 8}))
    changed = payloads(scene, "viz-1")[1]["options"]["valueRepresentation"]
    assert changed["observableTracked"] is True
    assert [one["hue"] for one in changed["value"]] == [7, 8]


def test_a_variable_that_is_changed_for_ever_does_not_grow() -> None:
    scene = scene_of(spawn("viz-1"), change("set", [], a_list(1)), limits=Limits(memory=200_000))
    long = change("setitem", [0], leaf(1, "x" * 1_000))
    assert set(told(scene, *[long] * 500)) == {None}


@pytest.mark.parametrize("depth", [200, 320, 480, 960])
def test_a_value_nested_as_deeply_as_can_be_is_either_taken_or_refused(depth: int) -> None:
    nest = b'{"id":"a","type":"list","value":[' * depth + b"]}" * depth
    head = b'{"component":"viz","type":"update","target":"viz-1","payload":{"variableName":"v","action":'
    scene = scene_of(spawn("viz-1"))
    made = told(scene, head + b'"set","options":{"path":[],"valueRepresentation":' + nest + b"}}}")
    more = told(scene, head + b'"append","options":{"path":[0,0,0,0],"valueRepresentation":' + nest + b"}}}")
    assert [type(one) in (str, type(None)) for one in made + more] == [True, True]
    assert len(list(scene.replay())) in (1, 2)


def test_a_message_that_says_a_thing_twice_does_no_harm() -> None:
    value = b'{"options":{"path":[],"valueRepresentation":{"id":"a","type":"list","value":[]}}'
    twice = (
        b'{"component":"viz","type":"update","target":"viz-1","payload":5,"payload":'
        + value
        + b',"action":"set","variableName":"v"}}'
    )
    scene = scene_of(spawn("viz-1"), twice)
    (refusal,) = told(scene, change("append", [0], NONE))
    assert refusal is not None
    assert told(scene, change("set", [], a_list(1)), change("append", [1], NONE)) == [None, None]


def test_a_huge_number_survives() -> None:
    huge = b'{"id":"i","type":"int","value":123456789012345678901234567890}'
    head = b'{"component":"viz","type":"update","target":"viz-1","payload":{"variableName":"v","action":'
    frame = head + b'"append","options":{"path":[1],"valueRepresentation":' + huge + b"}}}"
    assert after(a_list(1), frame) == ([1, 123456789012345678901234567890], 2)
