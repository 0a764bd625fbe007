"""What a dict's key is, as its node shows it and as the segment of a path says it: the same key, or another one."""

from typing import Any

import pytest

from actors.sidekick.scene.nodes import LONGEST_KEY
from tests.sidekick.scene.kit import payloads
from tests.sidekick.scene.stories import leaf
from tests.sidekick.scene.test_viz import after, change, shown_in

FRESH, MET = {"id": "v", "type": "str", "value": "before"}, {"id": "w", "type": "str", "value": "after"}


def nested(depth: int, name: str = "t") -> tuple[Any, Any]:
    """A tuple in a tuple: as a node, and as a segment."""
    node: Any = leaf(1, 7)
    segment: Any = 7
    for level in range(depth):
        node, segment = {"id": f"{name}{level}", "type": "tuple", "value": [node]}, [segment]
    return node, segment


def entries(node: Any, *frames: bytes) -> tuple[list[tuple[Any, Any]], Any]:
    """Of a dict after these changes: its keys and values, and its length."""
    found = payloads(shown_in(node, *frames), "viz-1")[1]["options"]["valueRepresentation"]
    return [(entry["key"], entry["value"]["value"]) for entry in found["value"]], found["length"]


def an_object(number: int) -> dict[str, Any]:
    return {"id": f"P_{number}", "type": "object (P)", "value": {"x": leaf(0, 1)}}


@pytest.mark.parametrize(
    ("key", "segment", "is_found"),
    [
        (leaf(1, "a"), "a", True),
        (leaf(1, "a"), "b", False),
        (leaf(1, "1"), 1, False),
        (leaf(1, 1), 1, True),
        (leaf(1, 1), "1", False),
        (leaf(1, 1), True, True),
        (leaf(1, True), 1, True),
        (leaf(1, 1), 1.0, True),
        (leaf(1, 2.5), 2.5, True),
        (leaf(1, None), None, True),
        (leaf(1, "None"), None, False),
        (leaf(1, None), "None", False),
        ({"id": "NoneType_1", "type": "NoneType", "value": [1]}, None, True),
        ({"id": "t", "type": "tuple", "value": [leaf(1, 1), leaf(1, None)]}, [1, None], True),
        ({"id": "t", "type": "tuple", "value": [leaf(1, 1), leaf(1, None)]}, [1], False),
        ({"id": "t", "type": "tuple", "value": [leaf(1, 1), leaf(1, None)]}, [None, 1], False),
        ({"id": "t", "type": "tuple", "value": []}, [], True),
        (*nested(LONGEST_KEY), True),
        (*nested(LONGEST_KEY + 1), False),
        (an_object(4), "P_4", True),
        (an_object(4), "P_5", False),
        (leaf(4, "a"), "str_4", True),
    ],
    ids=str,
)
def test_an_entry_is_found_by_what_its_key_is(key: Any, segment: Any, is_found: bool) -> None:
    node = {"id": "d", "type": "dict", "length": 1, "value": [{"key": key, "value": FRESH}]}
    found, length = entries(node, change("setitem", [segment], MET))
    assert [value for _, value in found] == (["after"] if is_found else ["before", "after"])
    assert length == (1 if is_found else 2)


@pytest.mark.parametrize(("depth", "is_there"), [(1, True), (LONGEST_KEY, True), (LONGEST_KEY + 1, False)])
def test_tuples_are_told_apart_as_deep_as_keys_are_looked_into(depth: int, is_there: bool) -> None:
    """In a set: an element is known by type and value, or by its id."""
    node, same = nested(depth)[0], nested(depth, "other")[0]
    a_set = {"id": "s", "type": "set", "length": 1, "value": [node]}
    value, length = after(a_set, change("add_set", [], same))
    assert (len(value), length) == ((1, 1) if is_there else (2, 2))


@pytest.mark.parametrize(
    ("segment", "shown"),
    [
        ("a", ("str", "a")),
        (1, ("int", 1)),
        (2.5, ("float", 2.5)),
        (True, ("bool", True)),
        (None, ("NoneType", "None")),
        ([1, "a"], ("list", [("int", 1), ("str", "a")])),
        ({"x": 1}, ("object", {"x": 1})),
        ([[1], []], ("list", [("list", [("int", 1)]), ("list", [])])),
    ],
    ids=str,
)
def test_a_key_that_the_client_did_not_show_is_shown_as_what_it_is(segment: Any, shown: Any) -> None:
    a_dict = {"id": "d", "type": "dict", "length": 0, "value": [{"key": leaf(1, "k"), "value": FRESH}]}
    (_, (key, _)), _ = entries(a_dict, change("setitem", [segment], MET))
    assert as_shown(key) == shown
    assert key["id"] == "key_1"


def as_shown(node: Any) -> tuple[str, Any]:
    value = node["value"]
    return node["type"], [as_shown(one) for one in value] if isinstance(value, list) else value
