"""Grids, consoles and texts; and what screens say of them."""

import json

import pytest

from actors.sidekick.scene import Limits, Scene
from actors.sidekick.scene.scene import MOST_COMPLAINTS
from codec.sidekick import ClearAll, Event, Fault
from codec.sidekick.shapes import Submit
from tests.sidekick.scene.kit import payloads, scene_of, shown, spawn, told, update


def color(x: int, y: int, value: str | None) -> bytes:
    return update("grid-1", "setColor", {"x": x, "y": y, "color": value})


def text(x: int, y: int, value: str | None) -> bytes:
    return update("grid-1", "setText", {"x": x, "y": y, "text": value})


def printed(*texts: str, limits: Limits | None = None) -> str:
    scene = scene_of(
        spawn("console-1", text=None), *(update("console-1", "append", {"text": one}) for one in texts), limits=limits
    )
    (payload,) = payloads(scene, "console-1")
    return str(payload["text"])


# --- grid -------------------------------------------------------------------------------------------------------------


def test_a_cell_keeps_its_last_color_beside_its_last_text() -> None:
    scene = scene_of(spawn("grid-1"), color(0, 0, "red"), text(0, 0, "a"), color(0, 0, "blue"))
    options = [payload["options"] for payload in payloads(scene, "grid-1")[1:]]
    assert options == [{"x": 0, "y": 0, "color": "blue"}, {"x": 0, "y": 0, "text": "a"}]


@pytest.mark.parametrize(
    "ends",
    [
        [color(1, 1, None), text(1, 1, "")],
        [color(1, 1, None), text(1, 1, None)],
        [update("grid-1", "clearCell", {"x": 1, "y": 1})],
        [update("grid-1", "clear")],
    ],
)
def test_a_cleared_cell_leaves_no_trace(ends: list[bytes]) -> None:
    scene = scene_of(spawn("grid-1"))
    before = scene.statistics().memory
    told(scene, color(1, 1, "red"), text(1, 1, "a"), *ends)
    assert len(payloads(scene, "grid-1")) == 1
    assert scene.statistics().memory == before


@pytest.mark.parametrize("cell", [(3, 0), (0, 2), (-1, 0), (10**30, 0)])
@pytest.mark.parametrize("action", ["setColor", "setText", "clearCell"])
def test_a_cell_that_is_not_there_is_refused(cell: tuple[int, int], action: str) -> None:
    x, y = cell
    scene = scene_of(spawn("grid-1"))
    (refusal,) = told(scene, update("grid-1", action, {"x": x, "y": y, "color": "red", "text": ""}))
    assert refusal is not None
    assert refusal.endswith("in this grid: x is 0 to 2, y is 0 to 1")


def test_a_grid_can_be_large_but_not_endless() -> None:
    scene = Scene()
    (fine, endless) = told(scene, spawn("grid-1", numColumns=1_000, numRows=1_000), spawn("grid-2", numColumns=10**9))
    assert fine is None
    assert endless is not None


# --- console ----------------------------------------------------------------------------------------------------------


def test_a_console_shows_all_that_was_printed() -> None:
    assert printed("a", "b\n", "", "c") == "ab\nc"


@pytest.mark.parametrize(
    ("limits", "shown"),
    [(Limits(lines=2), "8\n9\n"), (Limits(characters=3), "\n9\n"), (Limits(lines=3, characters=100), "7\n8\n9\n")],
)
def test_a_console_forgets_its_oldest_lines(limits: Limits, shown: str) -> None:
    assert printed(*(f"{n}\n" for n in range(10)), limits=limits) == shown


def test_a_line_that_has_not_ended_counts_from_its_end() -> None:
    assert printed("1\n2\n3\n4", limits=Limits(lines=2)) == "2\n3\n4"


@pytest.mark.slow
def test_one_wide_character_makes_all_others_as_wide_and_that_is_paid_for() -> None:
    scene = scene_of(spawn("console-1", text="x" * 2_000), limits=Limits(memory=10_000, characters=3_000))
    (wide,) = told(scene, update("console-1", "append", {"text": "\N{SNOWMAN}"}))
    (rest,) = told(scene, update("console-1", "append", {"text": "x" * 2_999}))
    assert scene.statistics().memory <= 10_000
    assert "the board is full" in str(wide)
    assert rest is None


def test_a_console_that_is_printed_to_for_ever_does_not_grow() -> None:
    scene = scene_of(spawn("console-1"), limits=Limits(characters=10_000))
    line = update("console-1", "append", {"text": "."})
    told(scene, *[line] * 20_000)
    assert scene.statistics().memory < 300_000
    (payload,) = payloads(scene, "console-1")
    assert payload["text"] == "." * 10_000


def test_a_cleared_console_is_blank_and_keeps_its_input() -> None:
    scene = scene_of(spawn("console-1"), update("console-1", "clear"))
    assert payloads(scene, "console-1") == [{"showInput": True, "text": ""}]


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "action", "field"),
    [
        ("label-1", "setText", "text"),
        ("button-1", "setText", "text"),
        ("markdown-1", "setSource", "source"),
        ("textbox-1", "setValue", "value"),
        ("textbox-1", "setPlaceholder", "placeholder"),
    ],
)
def test_the_last_thing_said_is_what_is_shown(target: str, action: str, field: str) -> None:
    scene = scene_of(spawn(target), *(update(target, action, {field: word}) for word in "abc"))
    assert payloads(scene, target)[1:] == [{"action": action, "options": {field: "c"}}]


def test_a_textbox_keeps_its_value_beside_its_placeholder() -> None:
    scene = scene_of(
        spawn("textbox-1"),
        update("textbox-1", "setValue", {"value": "a"}),
        update("textbox-1", "setPlaceholder", {"placeholder": "b"}),
    )
    assert [payload["action"] for payload in payloads(scene, "textbox-1")[1:]] == ["setValue", "setPlaceholder"]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_full_board_says_so_and_can_be_cleared() -> None:
    scene = scene_of(spawn("grid-1"), limits=Limits(memory=2_000))
    refusals = told(scene, *(text(x, y, "a" * 100) for x in range(3) for y in range(2)))
    assert refusals[-1] == (
        "grid 'grid-1' setText: the board is full (2,000 bytes): clear or remove what is no longer needed"
    )
    assert told(scene, update("grid-1", "clear"), text(0, 0, "a")) == [None, None]


def test_there_are_only_so_many_components() -> None:
    scene = scene_of(spawn("row-1"), spawn("row-2"), limits=Limits(components=2))
    assert told(scene, spawn("row-3")) == ["row 'row-3' spawn: the board has 2 components, which is all it takes"]


# --- what screens say -------------------------------------------------------------------------------------------------


def submit(target: str, value: str, component: str = "textbox") -> Event:
    return Event(component, target, Submit(value=value))


def test_what_a_reader_has_submitted_is_the_value_of_the_box() -> None:
    scene = scene_of(spawn("textbox-1"), update("textbox-1", "setValue", {"value": "set"}))
    said = scene.submitted(submit("textbox-1", "written"))
    assert said is not None
    assert payloads(scene, "textbox-1")[1:] == [{"action": "setValue", "options": {"value": "written"}}]
    assert json.loads(said.raw) == shown(scene)[-1]
    told(scene, update("textbox-1", "setValue", {"value": ""}))
    assert payloads(scene, "textbox-1")[1:] == [{"action": "setValue", "options": {"value": ""}}]


@pytest.mark.parametrize(
    ("target", "component"), [("nothing", "textbox"), ("console-1", "console"), ("label-1", "textbox")]
)
def test_what_is_submitted_elsewhere_changes_nothing(target: str, component: str) -> None:
    scene = scene_of(spawn("console-1"), spawn("label-1"))
    before = shown(scene)
    assert scene.submitted(submit(target, "written", component)) is None
    assert shown(scene) == before


def test_what_a_full_board_has_no_room_for_is_not_kept() -> None:
    scene = scene_of(spawn("textbox-1"), limits=Limits(memory=2_000))
    assert scene.submitted(submit("textbox-1", "x" * 2_000)) is None
    assert len(payloads(scene, "textbox-1")) == 1


def test_a_complaint_is_news_from_the_first_screen_that_is_there() -> None:
    scene = scene_of(spawn("canvas-1"))
    fault, other = Fault("canvas", "canvas-1", "no buffer"), Fault("canvas", "canvas-1", "no points")
    assert [scene.is_news(fault, screen, ("A", "B")) for screen in "ABA"] == [True, False, True]
    assert scene.is_news(other, "B", ("A", "B"))
    assert scene.is_news(fault, "B", ("B",))
    assert not scene.is_news(fault, "C", ("B", "C"))
    scene.clear(ClearAll())
    assert scene.is_news(fault, "C", ("B", "C"))


def test_of_complaints_without_end_only_so_many_are_remembered() -> None:
    scene = Scene()
    for number in range(10 * MOST_COMPLAINTS):
        assert scene.is_news(Fault("canvas", "canvas-1", str(number)), "A", ("A", "B"))
    assert len(scene._complaints) <= MOST_COMPLAINTS
