"""UIs of every dialect are shown what any hero says, in their own words."""

import json
from typing import Any

import pytest

from codec.sidekick import ROOT, Announce, ClearAll, Dialect, Ear, Mouth, Other, Remove, Spawn, Update, encode
from codec.sidekick.shapes import CellColor as Cell
from codec.sidekick.shapes import ChangeParent as Move
from codec.sidekick.shapes import GridSpawn, LabelSpawn, NewParent, SetColor, SetText, Text
from tests.sidekick.codec.kit import blobs, each, modern, spoken, update, without_id

ANNOUNCE = Announce("p", "sidekick", "online", "9", 1)
PAYLOAD = {"peerId": "p", "role": "sidekick", "status": "online", "version": "9", "timestamp": 1}


def did(module: str, what: str, target: str, payload: Any = None, key: str = "type") -> dict[str, Any]:
    said = {"module": module, key: what, "target": target}
    return said if payload is None else {**said, "payload": payload}


def flat(module: str, method: str, target: str, payload: Any) -> dict[str, Any]:
    return {"module": module, "method": method, "target": target, "payload": payload}


# --- written by us ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "written"),
    [
        (ANNOUNCE, {"component": "system", "type": "announce", "payload": PAYLOAD}),
        (
            Spawn("grid", "g", GridSpawn(num_columns=3, num_rows=2)),
            {"component": "grid", "type": "spawn", "target": "g", "payload": {"numColumns": 3, "numRows": 2}},
        ),
        (
            Spawn("label", "l", LabelSpawn(text="a"), "row-1"),
            {"component": "label", "type": "spawn", "target": "l", "payload": {"text": "a", "parent": "row-1"}},
        ),
        (
            Update("grid", "g", "setColor", SetColor(Cell(1, 2, None))),
            {
                "component": "grid",
                "type": "update",
                "target": "g",
                "payload": {"action": "setColor", "options": {"x": 1, "y": 2, "color": None}},
            },
        ),
        (
            Update("label", "l", "changeParent", Move(NewParent(ROOT))),
            {
                "component": "label",
                "type": "update",
                "target": "l",
                "payload": {"action": "changeParent", "options": {"parent": "root"}},
            },
        ),
        (Remove("grid", "g"), {"component": "grid", "type": "remove", "target": "g"}),
        (ClearAll(), {"component": "global", "type": "clearAll"}),
    ],
)
def test_what_the_server_makes_is_written_as_spec_v2_has_it(message: Any, written: Any) -> None:
    assert without_id(encode(message)) == written
    assert encode(message).startswith(b'{"id":0,"component":')
    heard = Ear(Dialect.D).hear(encode(message))
    assert type(heard) is type(message)
    assert without_id(encode(heard)) == written  # type: ignore[arg-type]


def test_what_came_is_sent_as_it_came() -> None:
    raw = update("label", "l", "setText", text="a")
    message = Update("label", "l", "setText", SetText(Text("a")), raw)
    assert Mouth(Dialect.D).say(message) is raw
    assert Mouth(Dialect.E).say(message) is raw


# --- announces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        (Dialect.B, {"module": "system", "method": "announce", "payload": PAYLOAD}),
        (Dialect.C, {"module": "system", "type": "announce", "payload": PAYLOAD}),
        (Dialect.D, {"component": "system", "type": "announce", "payload": PAYLOAD}),
        (Dialect.E, {"component": "system", "type": "announce", "payload": PAYLOAD}),
    ],
)
def test_an_announce_is_said_in_the_peers_envelope(dialect: Dialect, words: Any) -> None:
    said = Mouth(dialect).say(ANNOUNCE)
    assert isinstance(said, bytes)
    assert without_id(said) == words
    assert isinstance(Ear(dialect).hear(said), Announce)


def test_a_has_no_announces() -> None:
    assert Mouth(Dialect.A).say(ANNOUNCE) is None


# --- E ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        (modern("markdown", "spawn", "m", {"initialSource": "# a", "later": 1}), {"text": "# a", "later": 1}),
        (update("markdown", "m", "setSource", source="a"), {"action": "setText", "options": {"text": "a"}}),
        (update("markdown", "m", "changeParent", parent="r"), {"action": "changeParent", "options": {"parent": "r"}}),
        (
            modern("textbox", "spawn", "t", {"initialValue": "v", "placeholder": "p"}),
            {"value": "v", "placeholder": "p"},
        ),
        (modern("textbox", "spawn", "t", {}), {}),
        (update("textbox", "t", "setValue", value="a"), {"action": "setValue", "options": {"value": "a"}}),
    ],
)
def test_e_is_told_in_its_few_own_words(message: bytes, payload: Any) -> None:
    [said] = spoken(Mouth(Dialect.E), message)
    assert said["payload"] == payload


# --- A, B and C: what they have words for ----------------------------------------------------------------------------

CELL = {"x": 1, "y": 2}
LINE = {"x1": 1, "y1": 2, "x2": 3, "y2": 4}
CHANGE = {
    "action": "append",
    "variableName": "a",
    "options": {
        "path": [0],
        "valueRepresentation": {"type": "int", "id": "1", "observableTracked": True, "value": 3},
        "length": 1,
    },
}
FLAT_CHANGE = {
    "variable_name": "a",
    "change_type": "append",
    "path": [0],
    "length": 1,
    "value_representation": {"type": "int", "id": "1", "observable_tracked": True, "value": 3},
}
RECT = {"x": 0, "y": 0, "width": 5, "height": 5}
GRID = modern("grid", "spawn", "g", {"numColumns": 3, "numRows": 2, "parent": "r"})
CONSOLE = modern("console", "spawn", "c", {"showInput": True, "text": "hi\n", "parent": "r"})
CANVAS = modern("canvas", "spawn", "c", {"width": 4, "height": 3})
STROKE = {"strokeStyle": "red", "lineWidth": 2}

SHOWN_TO_C: list[tuple[str, list[bytes], list[Any]]] = [
    # release, what is said one after the other, what is shown for the last
    ("", [GRID], [did("grid", "spawn", "g", {"numColumns": 3, "numRows": 2})]),
    (
        "",
        [update("grid", "g", "setColor", **CELL, color="red")],
        [did("grid", "update", "g", {"action": "setColor", "options": {**CELL, "color": "red"}})],
    ),
    (
        "0.0.2",
        [update("grid", "g", "setColor", **CELL, color=None)],
        [did("grid", "update", "g", {"action": "setCell", "options": {**CELL, "color": None}})],
    ),
    (
        "0.0.2",
        [update("grid", "g", "setText", **CELL, text="a")],
        [did("grid", "update", "g", {"action": "setCell", "options": {**CELL, "text": "a"}})],
    ),
    (
        "0.0.2",
        [update("grid", "g", "clearCell", **CELL)],
        [did("grid", "update", "g", {"action": "setCell", "options": {**CELL, "color": None, "text": None}})],
    ),
    ("0.0.2", [update("grid", "g", "clear")], [did("grid", "update", "g", {"action": "clear", "options": {}})]),
    ("", [CONSOLE], [did("console", "spawn", "c", {"showInput": True, "text": "hi\n"})]),
    ("0.0.2", [CONSOLE], [did("console", "spawn", "c", {"showInput": True, "text": "hi"})]),
    (
        "0.0.2",
        [update("console", "c", "append", text="a\n")],
        [did("console", "update", "c", {"action": "append", "options": {"text": "a"}})],
    ),
    (
        "0.0.4",
        [update("console", "c", "append", text="a\n")],
        [did("console", "update", "c", {"action": "append", "options": {"text": "a\n"}})],
    ),
    ("", [modern("viz", "update", "v", CHANGE)], [did("viz", "update", "v", CHANGE)]),
    (
        "",
        [update("canvas", "c", "drawText", x=1, y=2, text="a")],
        [did("canvas", "update", "c", {"action": "drawText", "options": {"x": 1, "y": 2, "text": "a"}})],
    ),
    ("0.0.4", [CANVAS], [did("canvas", "spawn", "c", {"width": 4, "height": 3})]),
    (
        "0.0.4",
        [update("canvas", "c", "clear", bufferId=0)],
        [did("canvas", "update", "c", {"action": "clear", "options": {}, "commandId": 1})],
    ),
    (
        "0.0.4",
        [update("canvas", "c", "drawLine", **LINE, lineColor="red", lineWidth=2)],
        [
            did("canvas", "update", "c", {"action": "config", "options": STROKE, "commandId": 1}),
            did("canvas", "update", "c", {"action": "line", "options": LINE, "commandId": 2}),
        ],
    ),
    (
        "0.0.4",
        [
            update("canvas", "c", "drawLine", **LINE, lineColor="red", lineWidth=2),
            update("canvas", "c", "drawLine", **LINE, lineColor="red", lineWidth=2),
        ],
        [did("canvas", "update", "c", {"action": "line", "options": LINE, "commandId": 3})],
    ),
    (
        "0.0.4",
        [update("canvas", "c", "drawRect", **RECT, fillColor="blue", lineColor="transparent")],
        [
            did("canvas", "update", "c", {"action": "config", "options": {"fillStyle": "blue"}, "commandId": 1}),
            did("canvas", "update", "c", {"action": "rect", "options": {**RECT, "filled": True}, "commandId": 2}),
        ],
    ),
    (
        "0.0.4",
        [update("canvas", "c", "drawCircle", cx=1, cy=1, radius=2, lineColor="red", lineWidth=2)],
        [
            did("canvas", "update", "c", {"action": "config", "options": STROKE, "commandId": 1}),
            did(
                "canvas",
                "update",
                "c",
                {"action": "circle", "options": {"cx": 1, "cy": 1, "radius": 2, "filled": False}, "commandId": 2},
            ),
        ],
    ),
    ("0.0.4", [update("canvas", "c", "drawRect", **RECT, lineWidth=0)], []),
    (
        "0.0.4",
        [
            update("canvas", "c", "drawLine", **LINE, lineColor="red", lineWidth=2),
            update(
                "canvas",
                "c",
                "drawPolygon",
                points=[{"x": 0, "y": 0}, {"x": 1, "y": 0}, {"x": 1, "y": 1}],
                lineColor="red",
                lineWidth=2,
            ),
        ],
        [
            did(
                "canvas",
                "update",
                "c",
                {"action": "line", "options": dict(zip(LINE, ends, strict=True)), "commandId": 3 + at},
            )
            for at, ends in enumerate([(0, 0, 1, 0), (1, 0, 1, 1), (1, 1, 0, 0)])
        ],
    ),
    ("0.0.4", [update("canvas", "c", "drawText", x=1, y=2, text="a")], []),
    ("0.0.4", [update("canvas", "c", "drawLine", **LINE, bufferId=1)], []),
    ("0.0.4", [update("canvas", "c", "createBuffer", bufferId=1)], []),
    ("", [modern("global", "clearAll")], [{"module": "global", "type": "clearAll"}]),
    ("", [modern("hologram", "glow", "h", {"a": 1})], [did("hologram", "glow", "h", {"a": 1})]),
    ("", [modern("row", "spawn", "r", {})], []),
    ("", [update("grid", "g", "changeParent", parent="r")], []),
    (
        "",
        [modern("label", "spawn", "l", {"text": "a"})],
        [did("console", "spawn", "l", {"showInput": False, "text": "a"})],
    ),
    (
        "",
        [modern("markdown", "spawn", "m", {"initialSource": "# a"})],
        [did("console", "spawn", "m", {"showInput": False, "text": "# a"})],
    ),
    (
        "",
        [update("markdown", "m", "setSource", source="b")],
        [
            did("console", "update", "m", {"action": "clear"}),
            did("console", "update", "m", {"action": "append", "options": {"text": "b"}}),
        ],
    ),
    (
        "",
        [modern("label", "spawn", "l", {"text": "a"}), modern("label", "remove", "l")],
        [did("console", "remove", "l")],
    ),
    (
        "",
        [modern("button", "spawn", "b", {"text": "Go"})],
        [
            did("control", "spawn", "b", {}),
            did(
                "control",
                "update",
                "b",
                {
                    "action": "add",
                    "controlId": "/b",
                    "options": {"controlType": "button", "config": {"buttonText": "Go"}},
                },
            ),
        ],
    ),
    (
        "0.0.4",
        [modern("button", "spawn", "b", {"text": "Go"}), update("button", "b", "setText", text="Stop")],
        [
            did(
                "control",
                "update",
                "b",
                {"action": "add", "controlId": "/b", "options": {"controlType": "button", "config": {"text": "Stop"}}},
            )
        ],
    ),
    (
        "",
        [modern("button", "spawn", "b", {"text": "Go"}), modern("button", "remove", "b")],
        [did("control", "remove", "b")],
    ),
    (
        "",
        [modern("textbox", "spawn", "k/nm", {"initialValue": "v", "buttonText": "Send", "parent": "k"})],
        [
            did("control", "spawn", "k", {}),
            did(
                "control",
                "update",
                "k",
                {
                    "action": "add",
                    "controlId": "nm",
                    "options": {
                        "controlType": "textInput",
                        "config": {"placeholder": "", "initialValue": "v", "buttonText": "Send"},
                    },
                },
            ),
        ],
    ),
    (
        "",
        [modern("textbox", "spawn", "k/nm", {"placeholder": "p"}), update("textbox", "k/nm", "setValue", value="w")],
        [
            did(
                "control",
                "update",
                "k",
                {
                    "action": "add",
                    "controlId": "nm",
                    "options": {
                        "controlType": "textInput",
                        "config": {"placeholder": "p", "initialValue": "w", "buttonText": ""},
                    },
                },
            )
        ],
    ),
    (
        "",
        [modern("textbox", "spawn", "k/nm", {}), modern("textbox", "remove", "k/nm")],
        [did("control", "update", "k", {"action": "remove", "controlId": "nm"})],
    ),
    (
        "",
        [
            modern("row", "spawn", "r", {}),
            modern("column", "spawn", "q", {"parent": "r"}),
            GRID,
            modern("label", "spawn", "l", {"text": "a"}),
            update("label", "l", "changeParent", parent="q"),
            modern("row", "remove", "r"),
        ],
        [did("console", "remove", "l"), did("grid", "remove", "g")],
    ),
    (
        "",
        [
            modern("column", "spawn", "k", {}),
            modern("button", "spawn", "k/go", {"text": "Go", "parent": "k"}),
            modern("column", "remove", "k"),
        ],
        [did("control", "update", "k", {"action": "remove", "controlId": "go"}), did("control", "remove", "k")],
    ),
]


@pytest.mark.parametrize(("release", "said", "shown"), SHOWN_TO_C)
def test_a_ui_of_c_is_shown_what_it_can_show(release: str, said: list[bytes], shown: list[Any]) -> None:
    mouth = Mouth(Dialect.C, release)
    spoken(mouth, *said[:-1])
    assert spoken(mouth, said[-1]) == shown


@pytest.mark.parametrize(("release", "said", "shown"), [case for case in SHOWN_TO_C if case[0] == "0.0.2"])
def test_a_ui_of_b_is_shown_the_same_with_methods(release: str, said: list[bytes], shown: list[Any]) -> None:
    mouth = Mouth(Dialect.B)
    spoken(mouth, *said[:-1])
    assert spoken(mouth, said[-1]) == [{("method" if key == "type" else key): one[key] for key in one} for one in shown]


SHOWN_TO_A: list[tuple[list[bytes], list[Any]]] = [
    ([GRID], [flat("grid", "spawn", "g", {"size": [3, 2]})]),
    ([update("grid", "g", "setColor", **CELL, color="red")], [flat("grid", "update", "g", {**CELL, "color": "red"})]),
    ([update("grid", "g", "setText", **CELL, text="a")], [flat("grid", "update", "g", {**CELL, "text": "a"})]),
    ([update("grid", "g", "clearCell", **CELL)], [flat("grid", "update", "g", {**CELL, "color": None, "text": None})]),
    (
        [GRID, update("grid", "g", "clear")],
        [flat("grid", "remove", "g", None), flat("grid", "spawn", "g", {"size": [3, 2]})],
    ),
    ([CONSOLE], [flat("console", "spawn", "c", {"showInput": True, "text": "hi"})]),
    ([update("console", "c", "append", text="a\n")], [flat("console", "update", "c", {"text": "a"})]),
    ([update("console", "c", "clear")], [flat("console", "update", "c", {"clear": True})]),
    ([modern("viz", "update", "v", CHANGE)], [flat("viz", "update", "v", FLAT_CHANGE)]),
    (
        [modern("viz", "update", "v", {"action": "removeVariable", "variableName": "a", "options": {}})],
        [
            flat(
                "viz",
                "update",
                "v",
                {"variable_name": "a", "change_type": "remove_variable", "path": [], "value_representation": None},
            )
        ],
    ),
    (
        [update("canvas", "c", "drawLine", **LINE, lineColor="red", lineWidth=2)],
        [
            flat("canvas", "update", "c", {"command": "config", "options": STROKE, "commandId": 1}),
            flat("canvas", "update", "c", {"command": "line", "options": LINE, "commandId": 2}),
        ],
    ),
    (
        [modern("button", "spawn", "k/go", {"text": "Go", "parent": "k"})],
        [
            flat("control", "spawn", "k", {}),
            flat(
                "control",
                "update",
                "k",
                {"operation": "add", "control_id": "go", "control_type": "button", "config": {"text": "Go"}},
            ),
        ],
    ),
    (
        [modern("textbox", "spawn", "k/nm", {"initialValue": "v"})],
        [
            flat("control", "spawn", "k", {}),
            flat(
                "control",
                "update",
                "k",
                {
                    "operation": "add",
                    "control_id": "nm",
                    "control_type": "text_input",
                    "config": {"placeholder": "", "initial_value": "v", "button_text": ""},
                },
            ),
        ],
    ),
    (
        [
            modern("row", "spawn", "r", {}),
            GRID,
            modern("label", "spawn", "l", {"text": "a"}),
            modern("global", "clearAll"),
        ],
        [flat("grid", "remove", "g", None), flat("console", "remove", "l", None)],
    ),
]


@pytest.mark.parametrize(("said", "shown"), SHOWN_TO_A)
def test_a_ui_of_a_is_shown_what_it_can_show(said: list[bytes], shown: list[Any]) -> None:
    mouth = Mouth(Dialect.A)
    spoken(mouth, *said[:-1])
    assert spoken(mouth, said[-1]) == shown


def test_components_in_a_circle_are_removed_all_the_same() -> None:
    mouth = Mouth(Dialect.C)
    spoken(mouth, GRID, modern("row", "spawn", "r", {"parent": "r"}), update("row", "r", "changeParent", parent="r"))
    assert spoken(mouth, modern("row", "remove", "r")) == [did("grid", "remove", "g")]


@pytest.mark.parametrize(
    ("container", "last"), [("row", []), ("column", []), ("sparkle", [did("sparkle", "remove", "c")])]
)
def test_what_has_left_a_container_is_not_removed_with_it_once_more(container: str, last: list[Any]) -> None:
    mouth = Mouth(Dialect.C)
    spoken(
        mouth,
        modern(container, "spawn", "c", {}),
        modern("label", "spawn", "l", {"text": "a", "parent": "c"}),
        modern("grid", "spawn", "g", {"numColumns": 1, "numRows": 1, "parent": "c"}),
    )
    assert spoken(mouth, modern("label", "remove", "l")) == [did("console", "remove", "l")]
    assert spoken(mouth, modern(container, "remove", "c")) == [did("grid", "remove", "g"), *last]


def test_with_a_component_that_is_not_known_goes_what_is_in_it() -> None:
    mouth = Mouth(Dialect.C)
    spoken(mouth, modern("sparkle", "spawn", "s", {}), modern("label", "spawn", "l", {"text": "a", "parent": "s"}))
    spoken(mouth, modern("label", "spawn", "other", {"text": "b"}))
    removed = spoken(mouth, modern("sparkle", "remove", "s"))
    assert removed == [did("console", "remove", "l"), did("sparkle", "remove", "s")]


def test_after_clear_all_nothing_is_remembered() -> None:
    mouth = Mouth(Dialect.C)
    button = modern("button", "spawn", "b", {"text": "Go"})
    first = spoken(mouth, button)
    spoken(mouth, modern("global", "clearAll"))
    assert spoken(mouth, button) == first


@pytest.mark.parametrize("kind", ["spawn", "update", "remove", "changeIt"])
@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_component_that_is_not_known_and_not_named_is_said_to_any_screen(dialect: Dialect, kind: str) -> None:
    other = Ear(Dialect.D).hear(json.dumps({"component": "control", "type": kind}).encode())
    assert isinstance(other, Other)
    assert Mouth(dialect).say(other) is not None


@pytest.mark.parametrize("text", ["", "\n", "a\n", "a\n\n", "\n\n", "a\nb\n"])
def test_empty_lines_are_as_many_to_a_ui_that_knows_lines_only(text: str) -> None:
    [meant] = each(Ear(Dialect.D).hear(update("console", "k", "append", text=text)))
    [told] = blobs(Mouth(Dialect.A).say(meant))
    [heard] = each(Ear(Dialect.A).hear(told))
    assert isinstance(heard, Update)
    assert heard.payload.options == Text(text or "\n")  # type: ignore[union-attr]
