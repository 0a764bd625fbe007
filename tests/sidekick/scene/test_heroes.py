"""Several heroes at one board, and what none of us knows."""

from typing import Any

import pytest

from actors.sidekick.scene import Limits, Scene
from codec.sidekick import ClearAll
from tests.sidekick.scene.kit import message, names, payloads, shown, spawn, told, update

CLEAR_ALL = ClearAll(message("global", "clearAll"))


def cleared(scene: Scene, *others: str) -> list[Any]:
    return [getattr(said, "target", "everything") for said in scene.clear(CLEAR_ALL, others)]


def a_shared_board() -> Scene:
    scene = Scene()
    assert told(scene, spawn("row-1"), spawn("label-1", parent="row-1"), hero="ann") == [None] * 2
    assert told(scene, spawn("grid-1"), spawn("button-1", parent="row-1"), hero="bob") == [None] * 2
    return scene


def test_a_hero_owns_what_it_spawned() -> None:
    scene = a_shared_board()
    assert [scene.owner(name) for name in ("row-1", "grid-1", "nothing")] == ["ann", "bob", None]


def test_a_hero_alone_clears_all() -> None:
    scene = a_shared_board()
    assert cleared(scene) == ["everything"]
    assert names(scene) == []


def test_a_hero_does_not_clear_what_another_drew() -> None:
    scene = a_shared_board()
    assert cleared(scene, "ann") == ["button-1", "grid-1"]
    assert names(scene) == ["row-1", "label-1"]


def test_what_stands_in_something_that_is_cleared_goes_with_it() -> None:
    scene = a_shared_board()
    assert cleared(scene, "bob") == ["row-1"]
    assert names(scene) == ["grid-1"]


def test_a_removal_in_place_of_a_clear_is_ready_to_be_sent() -> None:
    scene = a_shared_board()
    assert [said.raw for said in scene.clear(CLEAR_ALL, {"bob"})] == [
        b'{"id":0,"component":"row","type":"remove","target":"row-1"}'
    ]


def test_anybody_may_write_on_what_an_earlier_script_left() -> None:
    scene = a_shared_board()
    assert told(scene, update("label-1", "setText", {"text": "hello"}), hero="cyd") == [None]


def test_a_hero_whose_id_was_taken_does_not_write_on_the_others_component() -> None:
    scene = a_shared_board()
    mine = [
        spawn("row-1"),
        spawn("markdown-1", parent="row-1"),
        update("row-1", "changeParent", {"parent": "root"}),
        message("row", "remove", "row-1"),
        message("row", "update", "row-1", {"action": "dance"}),
    ]
    refusals = told(scene, *mine, hero="bob")
    assert all(refusal is not None and "another script: use another id" in refusal for refusal in refusals)
    assert told(scene, update("row-1", "changeParent", {"parent": "root"}), hero="ann") == [None]


@pytest.mark.parametrize("runs", [1, 64, 65, 1_000])
def test_nor_does_it_however_many_wanted_that_id_before(runs: int) -> None:
    scene = a_shared_board()
    taken = spawn("row-1")
    for run in range(runs):
        assert told(scene, taken, hero=f"bob, run {run}") != [None]
        assert told(scene, message("row", "remove", "row-1"), hero=f"bob, run {run}") != [None]
    assert names(scene) == names(a_shared_board())
    (part,) = (part for part in scene.picture() if part.outsiders)
    assert len(part.outsiders) <= 64, "a board is kept with them"
    assert part.outsiders[-1] == f"bob, run {runs - 1}"


# --- what we do not understand ----------------------------------------------------------------------------------------


def test_a_component_of_an_unknown_kind_has_its_place_and_is_replayed_with_all_that_was_said_of_it() -> None:
    scene = Scene()
    plot = message("chart", "update", "chart-1", {"action": "plot", "options": {"y": [1]}})
    move = message("chart", "update", "chart-1", {"action": "changeParent", "options": {"parent": "row-1"}})
    assert told(scene, spawn("chart-1"), plot, spawn("row-1"), move) == [None] * 4
    assert names(scene) == ["row-1", "chart-1"]
    assert payloads(scene, "chart-1") == [{"parent": "row-1"}, {"action": "plot", "options": {"y": [1]}}]


@pytest.mark.parametrize(
    ("payload", "told_of_it", "stand"),
    [
        ({}, None, ["row-1", "tabs-1", "label-1", "chart-1"]),
        ({"parent": "root"}, None, ["row-1", "tabs-1", "label-1", "chart-1"]),
        ({"parent": 1}, None, ["row-1", "tabs-1", "label-1", "chart-1"]),
        ({"parent": "row-1"}, None, ["row-1", "chart-1", "tabs-1", "label-1"]),
        ({"parent": "tabs-1"}, None, ["row-1", "tabs-1", "chart-1", "label-1"]),
        (
            {"parent": "row-2"},
            "chart 'chart-1' spawn: there is no container 'row-2': spawn it first",
            ["row-1", "tabs-1", "label-1"],
        ),
    ],
)
def test_an_unknown_component_stands_where_it_is_spawned(
    payload: dict[str, Any], told_of_it: str | None, stand: list[str]
) -> None:
    scene = Scene()
    assert told(scene, spawn("row-1"), spawn("tabs-1"), spawn("label-1")) == [None] * 3
    assert told(scene, spawn("chart-1", **payload)) == [told_of_it]
    assert names(scene) == stand


def test_an_unknown_component_may_contain_others() -> None:
    scene = Scene()
    assert told(scene, spawn("tabs-1"), spawn("label-1", parent="tabs-1")) == [None] * 2
    assert told(scene, message("tabs", "remove", "tabs-1")) == [None]
    assert names(scene) == []


def test_an_unknown_action_is_replayed_after_what_is_known() -> None:
    scene = Scene()
    blink = message("label", "update", "label-1", {"action": "blink"})
    told(scene, spawn("label-1"), blink, update("label-1", "setText", {"text": "x"}))
    assert [payload.get("action") for payload in payloads(scene, "label-1")] == [None, "setText", "blink"]


def test_a_message_about_no_component_is_replayed_last_and_cleared_with_its_hero() -> None:
    scene = Scene()
    told(scene, message("global", "setTheme", None, {"theme": "dark"}), spawn("label-1"), hero="ann")
    assert [one["type"] for one in shown(scene)] == ["spawn", "setTheme"]
    assert cleared(scene, "bob") == ["everything"]
    assert shown(scene) == []


def test_a_message_about_what_is_not_there_stays_before_it_and_is_cleared_with_its_hero() -> None:
    scene = Scene()
    told(scene, message("label", "whisper", "label-1"), spawn("label-1"), hero="ann")
    assert [one["type"] for one in shown(scene)] == ["whisper", "spawn"]
    assert scene.statistics().unknown == 1
    assert cleared(scene, "bob") == ["everything"]
    told(scene, message("label", "whisper", "label-1"), hero="bob")
    assert cleared(scene, "bob") == []
    assert [one["type"] for one in shown(scene)] == ["whisper"]


@pytest.mark.parametrize("target", ["label-1", None])
def test_of_too_many_messages_that_nobody_understands_the_last_are_retained(target: str | None) -> None:
    scene = Scene(Limits(unknown=3))
    told(scene, spawn("label-1"), *(message("label", "blink", target, {"n": n}) for n in range(9)))
    assert [one["payload"]["n"] for one in shown(scene)[1:]] == [6, 7, 8]


def test_what_a_ui_says_is_not_retained() -> None:
    scene = Scene()
    assert told(scene, message("global", "hovered", src="label-1")) == [None]
    assert shown(scene) == []
