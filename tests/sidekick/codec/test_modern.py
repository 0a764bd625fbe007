"""D and E: what is taken as it is, what is put right, what is refused and in which words."""

import json
from typing import Any

import pytest

from codec.sidekick import Bad, ClearAll, Dialect, Ear, Event, Fault, Other, Remove, Spawn, Update
from codec.sidekick.shapes import (
    ACTIONS,
    VIZ_ACTIONS,
    Cell,
    CellColor,
    ClearCell,
    ClickAt,
    GridSpawn,
    SetColor,
    Submit,
    VizChange,
)
from tests.sidekick.codec.kit import canonical, modern, sentence, update

NODE = {"type": "int", "id": "n1", "value": 3}


def hear(message: bytes) -> Any:
    return Ear(Dialect.D).hear(message)


# --- what is taken as it is ------------------------------------------------------------------------------------------

LINE = {"x1": 1, "y1": 2.5, "x2": -3, "y2": 0}
DOT = [{"x": 1, "y": 2}]
OPTIONS: dict[tuple[str, str], Any] = {
    ("button", "setText"): {"text": "a"},
    ("label", "setText"): {"text": ""},
    ("markdown", "setSource"): {"source": "# a"},
    ("textbox", "setValue"): {"value": "a"},
    ("textbox", "setPlaceholder"): {"placeholder": "a"},
    ("console", "append"): {"text": "a\n"},
    ("console", "clear"): None,
    ("grid", "setColor"): {"x": 0, "y": 1, "color": None},
    ("grid", "setText"): {"x": 0, "y": 1, "text": "a"},
    ("grid", "clearCell"): {"x": 0, "y": 1},
    ("grid", "clear"): None,
    ("canvas", "clear"): {"bufferId": 1},
    ("canvas", "drawLine"): {**LINE, "lineColor": "red", "lineWidth": 2},
    ("canvas", "drawRect"): {"x": 0, "y": 0, "width": 5, "height": 5, "fillColor": None},
    ("canvas", "drawCircle"): {"cx": 0, "cy": 0, "radius": 0.5, "bufferId": None},
    ("canvas", "drawPolyline"): {"points": DOT * 2},
    ("canvas", "drawPolygon"): {"points": DOT * 3, "fillColor": "red"},
    ("canvas", "drawEllipse"): {"cx": 0, "cy": 0, "radiusX": 1, "radiusY": 2},
    ("canvas", "drawText"): {"x": 0, "y": 0, "text": "a", "textColor": "red", "textSize": 20},
    ("canvas", "createBuffer"): {"bufferId": 1},
    ("canvas", "drawBuffer"): {"sourceBufferId": 1, "targetBufferId": 0},
    ("canvas", "destroyBuffer"): {"bufferId": 1},
    **{(component, "changeParent"): {"parent": "row-1", "insertBefore": None} for component in ACTIONS},
}


def test_the_table_of_options_has_every_action() -> None:
    assert set(OPTIONS) == {(component, shape.action) for component, shapes in ACTIONS.items() for shape in shapes}


@pytest.mark.parametrize(("component", "action"), OPTIONS)
def test_every_action_is_an_update_in_the_peers_own_bytes(component: str, action: str) -> None:
    options = OPTIONS[component, action]
    message = modern(component, "update", "t", {"action": action, **({"options": options} if options else {})})
    said = hear(message)
    assert isinstance(said, Update)
    assert (said.component, said.target, said.action, said.raw) == (component, "t", action, message)
    assert said.payload.action == action


@pytest.mark.parametrize("action", sorted(VIZ_ACTIONS))
def test_every_viz_action_is_an_update(action: str) -> None:
    options = {"path": [0, "k", True, None, [1, 2]], "valueRepresentation": NODE, "length": 3}
    message = modern("viz", "update", "v", {"action": action, "variableName": "a", "options": options})
    said = hear(message)
    assert isinstance(said, Update)
    assert isinstance(said.payload, VizChange)
    assert (said.action, said.payload.variable_name, said.raw) == (action, "a", message)
    assert said.payload.options.path == [0, "k", True, None, [1, 2]]


def test_typed_payloads_hold_what_was_sent() -> None:
    said = hear(update("grid", "g", "setColor", x=1, y=2, color="red"))
    assert said.payload == SetColor(CellColor(1, 2, "red"))
    said = hear(update("grid", "g", "clearCell", x=1, y=2))
    assert said.payload == ClearCell(Cell(1, 2))


SPAWNS = [
    ("button", {"text": "a"}),
    ("canvas", {"width": 1, "height": 0.5}),
    ("column", {}),
    ("console", {"showInput": True, "text": None}),
    ("grid", {"numColumns": 3, "numRows": 2}),
    ("label", {"text": ""}),
    ("markdown", {"initialSource": "# a"}),
    ("row", {"gap": 3}),
    ("textbox", {"initialValue": "a", "placeholder": "b"}),
    ("viz", {}),
]


@pytest.mark.parametrize(("component", "payload"), SPAWNS)
def test_every_component_is_spawned_in_the_peers_own_bytes(component: str, payload: Any) -> None:
    message = modern(component, "spawn", "t", {**payload, "parent": "row-1"})
    said = hear(message)
    assert isinstance(said, Spawn)
    assert (said.component, said.target, said.parent, said.raw) == (component, "t", "row-1", message)


def test_a_spawn_without_a_parent_goes_to_the_root() -> None:
    assert hear(modern("row", "spawn", "r", {})).parent == "root"
    assert hear(modern("row", "spawn", "r", {"parent": None})).parent == "root"


def test_remove_and_clear_all_are_heard() -> None:
    assert hear(message := modern("grid", "remove", "g")) == Remove("grid", "g", message)
    assert hear(message := modern("global", "clearAll")) == ClearAll(message)


@pytest.mark.parametrize(
    ("component", "payload", "heard"),
    [
        ("grid", {"event": "click", "x": 1, "y": 2}, ClickAt(x=1, y=2)),
        ("canvas", {"event": "click", "x": 1, "y": 2}, ClickAt(x=1, y=2)),
        ("console", {"event": "submit", "value": ""}, Submit(value="")),
        ("textbox", {"event": "submit", "value": "a"}, Submit(value="a")),
    ],
)
def test_events_are_heard(component: str, payload: Any, heard: Any) -> None:
    message = modern(component, "event", "t", payload)
    assert hear(message) == Event(component, "t", heard, message)


def test_an_error_is_heard() -> None:
    message = modern("canvas", "error", "c", {"message": "boo"})
    assert hear(message) == Fault("canvas", "c", "boo", message)


@pytest.mark.parametrize(
    "message",
    [
        modern("hologram", "spawn", "h", {"depth": 3}),
        modern("grid", "wave", "g"),
        modern("grid", "update", "g", {"action": "explode", "options": 3}),
        modern("viz", "update", "v", {"action": "explode"}),
        modern("grid", "event", "g", {"event": "hover"}),
        modern("label", "event", "l", {"event": "click"}),
        modern("system", "weather", None, {}),
        modern("global", "undo"),
    ],
)
def test_what_the_protocol_may_have_grown_is_relayed_untouched(message: bytes) -> None:
    said = hear(message)
    assert isinstance(said, Other)
    assert said.raw == message


# --- what is put right -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "mended"),
    [
        (modern("row", "spawn", "r"), {"payload": {}}),
        (b'{"component":"row","type":"spawn","target":"r","payload":null}', {"payload": {}}),
        (
            modern("row", "update", "r", {"action": "changeParent"}),
            {"payload": {"action": "changeParent", "options": {"parent": "root"}}},
        ),
        *(
            (
                modern(component, "update", "r", {"action": "changeParent", "options": options}),
                {"payload": {"action": "changeParent", "options": {"parent": "root"}}},
            )
            for component in ("row", "canvas")
            for options in (None, {}, {"parent": None})
        ),
        (
            modern("viz", "update", "r", {"action": "changeParent", "options": None}),
            {"payload": {"action": "changeParent", "options": {"parent": "root"}}},
        ),
        (
            modern("canvas", "update", "c", {"action": "clear"}),
            {"payload": {"action": "clear", "options": {}}},
        ),
        (
            update("grid", "g", "setColor", x=1.0, y=2, color="red"),
            {"payload": {"action": "setColor", "options": {"x": 1, "y": 2, "color": "red"}}},
        ),
        (modern("grid", "spawn", "g", {"numColumns": 3.0, "numRows": 2}), {"payload": {"numColumns": 3, "numRows": 2}}),
        (
            modern("grid", "event", "g", {"event": "click", "x": 1.0, "y": 2}),
            {"payload": {"event": "click", "x": 1, "y": 2}},
        ),
        (
            modern("canvas", "event", "c", {"event": "click", "x": 1.6, "y": 2}),
            {"payload": {"event": "click", "x": 2, "y": 2}},
        ),
        (
            b'{"component":"viz","type":"update","target":"v","payload":{"action":"set","variableName":"a","options":'
            b'{"valueRepresentation":{"type":"list","id":"1","value":[NaN,-Infinity,Infinity,"NaN"]}}}}',
            {
                "payload": {
                    "action": "set",
                    "variableName": "a",
                    "options": {
                        "valueRepresentation": {
                            "type": "list",
                            "id": "1",
                            "value": ["NaN", "-Infinity", "Infinity", "NaN"],
                        }
                    },
                }
            },
        ),
        (
            b'{"component":"label","type":"spawn","target":"l","payload":{"text":"\\ud83d half"}}',
            {"payload": {"text": "� half"}},
        ),
        (
            modern("markdown", "spawn", "m", {"text": "# T", "parent": "r"}),
            {"payload": {"initialSource": "# T", "parent": "r"}},
        ),
        (
            modern("markdown", "update", "m", {"action": "setText", "options": {"text": "a", "theme": 1}, "more": 2}),
            {"payload": {"action": "setSource", "options": {"source": "a", "theme": 1}, "more": 2}},
        ),
        (
            modern("textbox", "spawn", "t", {"value": "v", "placeholder": "p"}),
            {"payload": {"initialValue": "v", "placeholder": "p"}},
        ),
    ],
)
def test_what_a_ui_would_choke_on_is_put_right(message: bytes, mended: Any) -> None:
    said = hear(message)
    assert not isinstance(said, Bad | Other), said
    assert json.loads(said.raw) == {**json.loads(message, parse_constant=str), **mended}


# --- what is refused -------------------------------------------------------------------------------------------------


MOVED = update("row", "r", "changeParent", parent=5)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            update("canvas", "c1", "drawLine", **{**LINE, "x1": "1"}),
            "canvas 'c1' drawLine: options.x1 must be a number, not a string",
        ),
        (
            update("canvas", "c1", "drawLine", **{**LINE, "x1": float("nan")}),
            "canvas 'c1' drawLine: options.x1 must be a finite number, not NaN",
        ),
        (
            update("canvas", "c1", "drawLine", **{**LINE, "x1": True}),
            "canvas 'c1' drawLine: options.x1 must be a number, not true",
        ),
        (
            update("canvas", "c1", "drawPolyline", points=DOT),
            "canvas 'c1' drawPolyline: options.points must have at least 2 items, not 1",
        ),
        (
            update("canvas", "c1", "drawPolygon", points=DOT * 2),
            "canvas 'c1' drawPolygon: options.points must have at least 3 items, not 2",
        ),
        (
            update("canvas", "c1", "drawPolyline", points=[{"x": 1, "y": 1}, {"x": 1}]),
            "canvas 'c1' drawPolyline: options.points[1].y is missing",
        ),
        (
            update("canvas", "c1", "drawCircle", cx=1, cy=1, radius=-2),
            "canvas 'c1' drawCircle: options.radius must be 0 or more, not -2",
        ),
        (
            update("canvas", "c1", "createBuffer", bufferId=0),
            "canvas 'c1' createBuffer: options.bufferId must be above 0, not 0",
        ),
        (modern("canvas", "update", "c1", {"action": "drawLine"}), "canvas 'c1' drawLine: options is missing"),
        (modern("canvas", "spawn", "c1", {"width": 0, "height": 5}), "canvas 'c1' spawn: width must be above 0, not 0"),
        (modern("canvas", "spawn", "c1", {"width": 5}), "canvas 'c1' spawn: height is missing"),
        (
            modern("grid", "spawn", "g", {"numColumns": 1.5, "numRows": 2}),
            "grid 'g' spawn: numColumns must be a whole number, not 1.5",
        ),
        (modern("grid", "spawn", "g"), "grid 'g' spawn: numColumns is missing"),
        (update("grid", "g", "setColor", x=1, y=2), "grid 'g' setColor: options.color is missing"),
        (
            update("grid", "g", "setColor", x=1, y=2, color=3),
            "grid 'g' setColor: options.color must be a string or null, not a number",
        ),
        (
            update("grid", "g", "setText", x=[1], y=2, text=""),
            "grid 'g' setText: options.x must be a whole number, not an array",
        ),
        (update("console", "c", "append", text=None), "console 'c' append: options.text must be a string, not null"),
        (modern("console", "spawn", "c", {}), "console 'c' spawn: showInput is missing"),
        (
            modern("console", "spawn", "c", {"showInput": "yes"}),
            "console 'c' spawn: showInput must be true or false, not a string",
        ),
        (modern("label", "spawn", "l", ["a"]), "label 'l' spawn: payload must be an object, not an array"),
        (modern("row", "spawn", "r", {"parent": 3}), "row 'r' spawn: parent must be a string or null, not a number"),
        (MOVED, "row 'r' changeParent: options.parent must be a string, not a number"),
        (modern("viz", "update", "v", {"action": "set", "options": {}}), "viz 'v' set: variableName is missing"),
        (
            modern(
                "viz",
                "update",
                "v",
                {"action": "set", "variableName": "a", "options": {"valueRepresentation": {"type": "int"}}},
            ),
            "viz 'v' set: options.valueRepresentation.id is missing",
        ),
        (
            modern(
                "viz",
                "update",
                "v",
                {"action": "set", "variableName": "a", "options": {"keyRepresentation": {"type": 1}}},
            ),
            "viz 'v' set: options.keyRepresentation.type must be a string, not a number",
        ),
        (modern("grid", "update", None, {"action": "clear"}), "grid update: target is missing"),
        (modern("grid", "remove", ""), "grid remove: target must not be empty"),
        (modern("grid", "remove", None, target=3), "grid remove: target must be a string, not a number"),
        (modern("grid", "update", "g"), "grid 'g' update: payload is missing"),
        (modern("grid", "update", "g", [1]), "grid 'g' update: payload must be an object, not an array"),
        (modern("grid", "update", "g", {}), "grid 'g' update: action is missing"),
        (modern("grid", "update", "g", {"action": 3}), "grid 'g' update: action must be a string, not a number"),
        (
            modern("grid", "event", "g", {"event": "click", "x": 1.5, "y": 1}),
            "grid 'g' event: x must be a whole number, not 1.5",
        ),
        (modern("grid", "event", None, {"event": "click"}), "grid event: src is missing"),
        (modern("console", "event", "c", {"event": "submit"}), "console 'c' event: value is missing"),
        (modern("canvas", "error", "c", {}), "canvas 'c' error: message is missing"),
        (modern("system", "announce", None, {"peerId": "p"}), "system announce: role is missing"),
        (
            modern("system", "announce", None, {"peerId": "p", "role": "wizard"}),
            "system announce: role must be 'hero' or 'sidekick', not 'wizard'",
        ),
        (b'{"component":"grid"}', "type is missing"),
        (b'{"type":"spawn"}', "component is missing"),
        (b'{"component":3,"type":"spawn"}', "component must be a string, not a number"),
        (b"[]", "a message must be a JSON object, not an array"),
        (b"nope", "a message must be JSON: JSON is malformed: invalid character (byte 4)"),
        (b"", "a message must be JSON: input data was truncated"),
        (b'{"payload":{"x":-' + b"9" * 400 + b".5}}", "a message must be JSON: number out of range"),
        (b'{"a": "\xff"}', "a message must be UTF-8: byte 7 is not"),
        (b"[" * 10_000 + b"]" * 10_000, "a message must not be nested so deeply"),
    ],
)
def test_what_is_wrong_is_said_by_the_name_of_its_field(message: bytes, words: str) -> None:
    assert sentence(hear(message)) == words


@pytest.mark.parametrize(
    "message",
    [
        b'{"component":"grid","type":"spawn","target":"g","payload":{"numColumns":' + b"9" * 5_000 + b',"numRows":2}}',
        b'{"component":"canvas","type":"spawn","target":"g","payload":{"width":1e999,"height":2}}',
        b'"' + b'\\"' * 50_000,
        b'{"component":"grid","type":"update","target":"g","payload":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
        b'{"component":"grid","type":"update","target":"g","payload":{"action":"clear","action":"setColor"}}',
    ],
)
def test_monstrous_messages_are_refused(message: bytes) -> None:
    assert isinstance(hear(message), Bad)


def test_invalid_utf_8_is_refused_where_nobody_looks_too() -> None:
    message = update("grid", "g", "clearCell", x=1, y=2).replace(b'"id": 0', b'"id": "\xff"')
    assert sentence(hear(message)) == "a message must be UTF-8: byte 8 is not"


def test_of_a_key_given_twice_the_last_counts_as_in_a_browser() -> None:
    said = hear(b'{"component":"grid","type":"spawn","target":"a","target":"b","payload":{"numColumns":1,"numRows":1}}')
    assert isinstance(said, Spawn)
    assert said.target == "b"
    assert said.payload == GridSpawn(num_columns=1, num_rows=1)


def test_a_refusal_names_whose_it_is() -> None:
    said = hear(update("canvas", "c1", "drawLine"))
    assert isinstance(said, Bad)
    assert (said.component, said.target) == ("canvas", "c1")


def test_unknown_fields_survive_a_change_everywhere() -> None:
    message = modern("canvas", "update", "c", {"action": "clear", "later": 1}, trace={"a": [1]})
    [said] = canonical(hear(message))
    assert said["trace"] == {"a": [1]}
    assert said["payload"] == {"action": "clear", "later": 1, "options": {}}
