"""What all boards together may hold: granted in pieces, taken back, and never more than there is."""

import gc

from actors.sidekick.scene import Limits, Reserve, Scene
from actors.sidekick.scene.limits import PIECE
from tests.sidekick.scene.kit import message, scene_of, told

LONG = "x" * (PIECE // 2)
FULL = (
    "all boards together are full (2,097,152 bytes): clear or remove what is no longer needed, here or in another room"
)


def label(name: str, text: str = LONG) -> bytes:
    return message("label", "spawn", name, {"text": text})


def test_a_board_is_refused_what_others_hold_and_has_it_once_they_are_empty() -> None:
    reserve = Reserve(2 * PIECE)
    one, other = Scene(reserve=reserve), Scene(reserve=reserve)
    assert told(one, label("a"), label("b"), label("c")) == [None] * 3
    assert told(other, label("d"), label("e")) == [f"label 'd' spawn: {FULL}", f"label 'e' spawn: {FULL}"]
    assert told(other, label("small", "here")) == [None]
    one.empty()
    assert told(other, label("d"), label("e")) == [None] * 2


def test_what_a_board_was_granted_and_does_not_use_is_taken_back() -> None:
    reserve = Reserve(2 * PIECE)
    one, other = Scene(reserve=reserve), Scene(reserve=reserve)
    assert told(one, label("a"), label("b"), label("c")) == [None] * 3
    assert told(one, *(message("label", "remove", name) for name in "abc")) == [None] * 3
    assert told(other, label("d"), label("e"), label("f")) == [None] * 3
    assert one.statistics().memory + other.statistics().memory <= reserve.memory
    assert told(one, label("a")) == [f"label 'a' spawn: {FULL}"]


def test_a_board_that_nobody_has_any_more_holds_nothing() -> None:
    reserve = Reserve(2 * PIECE)
    one, other = Scene(reserve=reserve), Scene(reserve=reserve)
    assert told(one, label("a"), label("b"), label("c")) == [None] * 3
    del one
    gc.collect()
    assert told(other, label("a"), label("b"), label("c")) == [None] * 3


def test_a_script_is_told_which_is_full_its_board_or_all_of_them() -> None:
    scene = Scene(Limits(memory=PIECE))
    assert told(scene, label("a"), label("b")) == [
        None, "label 'b' spawn: the board is full (1,048,576 bytes): clear or remove what is no longer needed",
    ]  # fmt: skip


def test_what_costs_more_than_a_piece_is_granted_whole() -> None:
    scene = scene_of(label("a", "x" * (5 * PIECE)))
    assert 5 * PIECE < scene.statistics().memory < 6 * PIECE
