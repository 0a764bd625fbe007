"""Heroes of A, B and C in D's words: every row of what they say otherwise."""

import json
from typing import Any

import pytest

from codec.sidekick import Bad, ClearAll, Dialect, Fault, Mouth, Remove, Said
from codec.sidekick.old_hero import MOST_FILLED, MOST_REMEMBERED, OldHero
from tests.sidekick.codec.kit import an_ear, blobs, canonical, each, old, sentence, third

NONE = {"type": "NoneType", "id": "NoneType_1", "value": "None"}
NODE = {"type": "int", "id": "n1", "observableTracked": False, "value": 3}
FLAT_NODE = {"type": "int", "id": "n1", "observable_tracked": False, "value": 3}


def spawned(component: str, target: str, **payload: Any) -> dict[str, Any]:
    return {"component": component, "type": "spawn", "target": target, "payload": payload}


def updated(component: str, target: str, action: str, options: Any = None, **more: Any) -> dict[str, Any]:
    said = {"action": action, **more, **({} if options is None else {"options": options})}
    return {"component": component, "type": "update", "target": target, "payload": said}


def removed(component: str, target: str) -> dict[str, Any]:
    return {"component": component, "type": "remove", "target": target}


def sheet(color: str, width: int = 4, height: int = 3) -> dict[str, Any]:
    options = {"x": 0, "y": 0, "width": width, "height": height, "fillColor": color, "lineColor": "transparent"}
    return updated("canvas", "c", "drawRect", options)


BLACK = {"lineColor": "#000000", "lineWidth": 1}
LINE = {"x1": 1, "y1": 2, "x2": 3, "y2": 4}
CANVAS = {"width": 4, "height": 3}
BUTTON = {"controlType": "button", "config": {"buttonText": "Go"}}
INPUT = {"controlType": "textInput", "config": {"placeholder": "p", "initialValue": "v", "buttonText": "Send"}}

OF_C: list[tuple[str, list[tuple[str, str, str, Any]], list[Any]]] = [
    # release, what is said one after the other, what is heard of the last
    (
        "0.0.2",
        [("grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 2, "color": "red"}})],
        [updated("grid", "g", "setColor", {"x": 1, "y": 2, "color": "red"})],
    ),
    (
        "0.0.2",
        [("grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 2, "text": "a", "z": 1}})],
        [updated("grid", "g", "setText", {"x": 1, "y": 2, "text": "a", "z": 1})],
    ),
    (
        "0.0.2",
        [("grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 2, "color": "red", "text": "a"}})],
        [
            updated("grid", "g", "setColor", {"x": 1, "y": 2, "color": "red"}),
            updated("grid", "g", "setText", {"x": 1, "y": 2, "text": "a"}),
        ],
    ),
    ("0.0.2", [("grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 2}})], []),
    ("0.0.2", [("grid", "update", "g", {"action": "clear"})], [updated("grid", "g", "clear")]),
    (
        "0.0.4",
        [("grid", "update", "g", {"action": "setColor", "options": {"x": 1, "y": 2, "color": None}})],
        [updated("grid", "g", "setColor", {"x": 1, "y": 2, "color": None})],
    ),
    (
        "0.0.2",
        [("console", "spawn", "c", {"showInput": False, "text": "hi"})],
        [spawned("console", "c", showInput=False, text="hi\n")],
    ),
    (
        "0.0.4",
        [("console", "spawn", "c", {"showInput": False, "text": "hi"})],
        [spawned("console", "c", showInput=False, text="hi")],
    ),
    (
        "0.0.2",
        [("console", "update", "c", {"action": "append", "options": {"text": "a"}})],
        [updated("console", "c", "append", {"text": "a\n"})],
    ),
    (
        "0.0.2",
        [("console", "update", "c", {"action": "append", "options": {"text": "a\n"}})],
        [updated("console", "c", "append", {"text": "a\n"})],
    ),
    (
        "0.0.3",
        [("console", "update", "c", {"action": "append", "options": {"text": "a"}})],
        [updated("console", "c", "append", {"text": "a"})],
    ),
    (
        "0.0.6",
        [("console", "update", "c", {"action": "append", "options": {"text": "a\n"}})],
        [updated("console", "c", "append", {"text": "a\n"})],
    ),
    (
        "0.0.4",
        [("canvas", "spawn", "c", {**CANVAS, "bgColor": "beige"})],
        [spawned("canvas", "c", **CANVAS), sheet("beige")],
    ),
    ("0.0.4", [("canvas", "spawn", "c", CANVAS)], [spawned("canvas", "c", **CANVAS), sheet("#FFFFFF")]),
    ("0.0.5", [("canvas", "spawn", "c", CANVAS)], [spawned("canvas", "c", **CANVAS)]),
    (
        "0.0.4",
        [
            ("canvas", "spawn", "c", {**CANVAS, "bgColor": "beige"}),
            ("canvas", "update", "c", {"action": "clear", "options": {}, "commandId": 1}),
        ],
        [updated("canvas", "c", "clear", {}, commandId=1), sheet("beige")],
    ),
    (
        "0.0.4",
        [
            ("canvas", "spawn", "c", CANVAS),
            ("canvas", "update", "c", {"action": "clear", "options": {"color": "pink"}, "commandId": 1}),
        ],
        [updated("canvas", "c", "clear", {}, commandId=1), sheet("pink")],
    ),
    (
        "0.0.4",
        [("canvas", "update", "c", {"action": "clear", "options": {"color": "pink"}})],
        [updated("canvas", "c", "clear", {}), sheet("pink", 16_384, 16_384)],
    ),
    (
        "0.0.5",
        [("canvas", "update", "c", {"action": "clear", "options": {"bufferId": 0}})],
        [updated("canvas", "c", "clear", {"bufferId": 0})],
    ),
    ("0.0.4", [("canvas", "update", "c", {"action": "config", "options": {"strokeStyle": "red"}, "commandId": 1})], []),
    (
        "0.0.4",
        [("canvas", "update", "c", {"action": "line", "options": LINE, "commandId": 5})],
        [updated("canvas", "c", "drawLine", {**LINE, **BLACK}, commandId=5)],
    ),
    (
        "0.0.4",
        [
            ("canvas", "update", "c", {"action": "config", "options": {"strokeStyle": "red", "lineWidth": 3}}),
            ("canvas", "update", "c", {"action": "config", "options": {"fillStyle": "blue"}}),
            ("canvas", "update", "c", {"action": "line", "options": LINE}),
        ],
        [updated("canvas", "c", "drawLine", {**LINE, "lineColor": "red", "lineWidth": 3})],
    ),
    (
        "0.0.4",
        [
            ("canvas", "update", "c", {"action": "config", "options": {"fillStyle": "blue"}}),
            ("canvas", "update", "c", {"action": "rect", "options": {"x": 1, "y": 2, **CANVAS, "filled": True}}),
        ],
        [
            updated(
                "canvas", "c", "drawRect", {"x": 1, "y": 2, **CANVAS, "fillColor": "blue", "lineColor": "transparent"}
            )
        ],
    ),
    (
        "0.0.4",
        [("canvas", "update", "c", {"action": "rect", "options": {"x": 1, "y": 2, **CANVAS, "filled": False}})],
        [updated("canvas", "c", "drawRect", {"x": 1, "y": 2, **CANVAS, **BLACK})],
    ),
    (
        "0.0.4",
        [("canvas", "update", "c", {"action": "circle", "options": {"cx": 1, "cy": 2, "radius": 3}})],
        [updated("canvas", "c", "drawCircle", {"cx": 1, "cy": 2, "radius": 3, **BLACK})],
    ),
    (
        "0.0.5",
        [("canvas", "update", "c", {"action": "drawBuffer", "options": {"sourceBufferId": 1, "targetBufferId": 0}})],
        [updated("canvas", "c", "drawBuffer", {"sourceBufferId": 1, "targetBufferId": 0})],
    ),
    ("0.0.5", [("control", "spawn", "k", {})], [spawned("column", "k")]),
    (
        "0.0.5",
        [("control", "update", "k", {"action": "add", "controlId": "go", "options": BUTTON})],
        [spawned("button", "k/go", text="Go", parent="k")],
    ),
    (
        "0.0.4",
        [
            (
                "control",
                "update",
                "k",
                {"action": "add", "controlId": "go", "options": {"controlType": "button", "config": {"text": "Go"}}},
            )
        ],
        [spawned("button", "k/go", text="Go", parent="k")],
    ),
    (
        "0.0.5",
        [
            (
                "control",
                "update",
                "k",
                {"action": "add", "controlId": "go", "options": {"controlType": "button", "config": {}}},
            )
        ],
        [spawned("button", "k/go", text="go", parent="k")],
    ),
    (
        "0.0.5",
        [("control", "update", "k/1", {"action": "add", "controlId": "a~b", "options": INPUT})],
        [spawned("textbox", "k~11/a~0b", placeholder="p", initialValue="v", buttonText="Send", parent="k/1")],
    ),
    (
        "0.0.5",
        [
            ("control", "update", "k", {"action": "add", "controlId": "nm", "options": INPUT}),
            ("control", "update", "k", {"action": "remove", "controlId": "nm"}),
        ],
        [removed("textbox", "k/nm")],
    ),
    (
        "0.0.5",
        [
            ("control", "update", "k", {"action": "add", "controlId": "nm", "options": INPUT}),
            ("control", "update", "k", {"action": "add", "controlId": "nm", "options": BUTTON}),
        ],
        [removed("textbox", "k/nm"), spawned("button", "k/nm", text="Go", parent="k")],
    ),
    (
        "0.0.5",
        [("control", "update", "k", {"action": "remove", "controlId": "unheard of"})],
        [removed("button", "k/unheard of")],
    ),
    ("0.0.5", [("control", "remove", "k", None)], [removed("column", "k")]),
    (
        "0.0.5",
        [
            ("control", "update", "k", {"action": "add", "controlId": "go", "options": BUTTON}),
            ("control", "remove", "k", None),
            ("control", "update", "k", {"action": "add", "controlId": "go", "options": BUTTON}),
        ],
        [spawned("button", "k/go", text="Go", parent="k")],
    ),
    (
        "0.0.4",
        [
            (
                "viz",
                "update",
                "v",
                {
                    "action": "append",
                    "variableName": "a",
                    "options": {"path": [2], "valueRepresentation": NODE, "keyRepresentation": NONE, "length": 3},
                },
            )
        ],
        [
            updated(
                "viz",
                "v",
                "append",
                {"path": [2], "valueRepresentation": NODE, "keyRepresentation": NONE, "length": 3},
                variableName="a",
            )
        ],
    ),
    ("0.0.4", [("hologram", "update", "h", {"action": "glow"})], [updated("hologram", "h", "glow")]),
]


@pytest.mark.parametrize(("release", "told", "heard"), OF_C)
def test_what_c_says_otherwise_is_heard_in_ds_words(release: str, told: list[Any], heard: list[Any]) -> None:
    ear = an_ear(Dialect.C, release)
    for message in told[:-1]:
        ear.hear(third(*message))
    assert canonical(ear.hear(third(*told[-1]))) == heard


@pytest.mark.parametrize(
    ("release", "told", "heard"), [case for case in OF_C if case[0] == "0.0.2" or "config" in str(case)]
)
def test_b_says_the_same_as_the_first_c_with_methods(release: str, told: list[Any], heard: list[Any]) -> None:
    ear = an_ear(Dialect.B)
    for message in told[:-1]:
        ear.hear(old(*message))
    assert canonical(ear.hear(old(*told[-1]))) == heard


OF_A: list[tuple[list[tuple[str, str, str, Any]], list[Any]]] = [
    ([("grid", "spawn", "g", {"size": [3, 2], "z": 1})], [spawned("grid", "g", numColumns=3, numRows=2, z=1)]),
    (
        [("grid", "update", "g", {"x": 1, "y": 0, "color": None})],
        [updated("grid", "g", "setColor", {"x": 1, "y": 0, "color": None})],
    ),
    (
        [("grid", "update", "g", {"x": 1, "y": 0, "color": "red", "text": "a"})],
        [
            updated("grid", "g", "setColor", {"x": 1, "y": 0, "color": "red"}),
            updated("grid", "g", "setText", {"x": 1, "y": 0, "text": "a"}),
        ],
    ),
    (
        [("grid", "spawn", "g", {"size": [2, 1]}), ("grid", "update", "g", {"fill_color": "red"})],
        [
            updated("grid", "g", "setColor", {"x": 0, "y": 0, "color": "red"}),
            updated("grid", "g", "setColor", {"x": 1, "y": 0, "color": "red"}),
        ],
    ),
    ([("console", "spawn", "c", {})], [spawned("console", "c", showInput=True)]),
    ([("console", "spawn", "c", {"text": "hi"})], [spawned("console", "c", showInput=True, text="hi\n")]),
    ([("console", "update", "c", {"text": "a"})], [updated("console", "c", "append", {"text": "a\n"})]),
    ([("console", "update", "c", {"clear": True})], [updated("console", "c", "clear")]),
    ([("viz", "spawn", "v", {})], [spawned("viz", "v")]),
    (
        [
            (
                "viz",
                "update",
                "v",
                {
                    "variable_name": "a",
                    "change_type": "setitem",
                    "path": ["k"],
                    "value_representation": {**FLAT_NODE, "type": "list", "value": [FLAT_NODE]},
                    "key_representation": FLAT_NODE,
                    "length": 1,
                },
            )
        ],
        [
            updated(
                "viz",
                "v",
                "setitem",
                {
                    "path": ["k"],
                    "valueRepresentation": {**NODE, "type": "list", "value": [NODE]},
                    "keyRepresentation": NODE,
                    "length": 1,
                },
                variableName="a",
            )
        ],
    ),
    (
        [
            (
                "viz",
                "update",
                "v",
                {"variable_name": "a", "change_type": "pop", "path": [0], "value_representation": None},
            )
        ],
        [updated("viz", "v", "pop", {"path": [0], "valueRepresentation": None}, variableName="a")],
    ),
    (
        [("viz", "update", "v", {"variable_name": "a", "change_type": "remove_variable", "path": []})],
        [updated("viz", "v", "removeVariable", {"path": []}, variableName="a")],
    ),
    ([("canvas", "spawn", "c", {**CANVAS, "bgColor": "beige"})], [spawned("canvas", "c", **CANVAS), sheet("beige")]),
    (
        [
            ("canvas", "update", "c", {"command": "config", "options": {"lineWidth": 2}, "commandId": 1}),
            ("canvas", "update", "c", {"command": "line", "options": LINE}),
        ],
        [updated("canvas", "c", "drawLine", {**LINE, **BLACK, "lineWidth": 2})],
    ),
    ([("control", "spawn", "k", {})], [spawned("column", "k")]),
    (
        [
            (
                "control",
                "update",
                "k",
                {"operation": "add", "control_id": "go", "control_type": "button", "config": {"text": "Go"}},
            )
        ],
        [spawned("button", "k/go", text="Go", parent="k")],
    ),
    (
        [
            (
                "control",
                "update",
                "k",
                {
                    "operation": "add",
                    "control_id": "nm",
                    "control_type": "text_input",
                    "config": {"placeholder": "p", "initial_value": "v", "button_text": "Send"},
                },
            )
        ],
        [spawned("textbox", "k/nm", placeholder="p", initialValue="v", buttonText="Send", parent="k")],
    ),
    ([("control", "update", "k", {"operation": "remove", "control_id": "nm"})], [removed("button", "k/nm")]),
    ([("grid", "remove", "g", None)], [removed("grid", "g")]),
]


@pytest.mark.parametrize(("told", "heard"), OF_A)
def test_what_a_says_is_heard_in_ds_words(told: list[Any], heard: list[Any]) -> None:
    ear = an_ear(Dialect.A)
    for message in told[:-1]:
        ear.hear(old(*message))
    assert canonical(ear.hear(old(*told[-1]))) == heard


@pytest.mark.parametrize(
    ("dialect", "message", "words"),
    [
        (
            Dialect.A,
            old("grid", "spawn", "g", {"size": ["a", 2]}),
            "grid 'g' spawn: size[0] must be a whole number, not a string",
        ),
        (Dialect.A, old("grid", "spawn", "g", {}), "grid 'g' spawn: size[0] is missing"),
        (Dialect.A, old("grid", "spawn", "g", {"size": [2]}), "grid 'g' spawn: size[1] is missing"),
        (Dialect.A, old("grid", "update", "g", {"x": 1}), "grid 'g' update: y is missing"),
        (
            Dialect.A,
            old("grid", "update", "g", {"x": 1, "y": "2", "text": ""}),
            "grid 'g' update: y must be a whole number, not a string",
        ),
        (
            Dialect.A,
            old("grid", "update", "h", {"fill_color": "red"}),
            "grid 'h' update: fill_color needs a grid that was spawned before",
        ),
        (
            Dialect.A,
            old("console", "update", "c", {"text": 3}),
            "console 'c' update: text must be a string, not a number",
        ),
        (
            Dialect.A,
            old("viz", "update", "v", {"variable_name": 3, "change_type": "set"}),
            "viz 'v' set: variable_name must be a string, not a number",
        ),
        (
            Dialect.A,
            old(
                "control", "update", "k", {"operation": "add", "control_id": "b", "control_type": "dial", "config": {}}
            ),
            'control \'k\' add: control_type must be "button" or "textInput", not "dial"',
        ),
        (
            Dialect.A,
            old("control", "update", "k", {"operation": "explode", "control_id": "b"}),
            'control \'k\' update: operation must be "add" or "remove", not "explode"',
        ),
        (Dialect.A, old("control", "update", "k", None), "control 'k' update: operation is missing"),
        (
            Dialect.A,
            old("canvas", "update", "c", {"command": "line", "options": {"x1": 1}}),
            "canvas 'c' line: options.y1 is missing",
        ),
        (
            Dialect.A,
            old("canvas", "update", "c", {"command": "config", "options": {"strokeStyle": 4}}),
            "canvas 'c' config: options.strokeStyle must be a string, not a number",
        ),
        (
            Dialect.A,
            old("canvas", "update", "c", {"command": "clear", "options": {"color": 4}}),
            "canvas 'c' clear: options.color must be a string, not a number",
        ),
        (Dialect.A, old("canvas", "update", "c", {"options": {}}), "canvas 'c' update: command is missing"),
        (Dialect.A, old("viz", "update", "v", {"variable_name": "a"}), "viz 'v' update: change_type is missing"),
        (
            Dialect.A,
            old("grid", "update", "g", {"fill_color": 4}),
            "grid 'g' update: fill_color must be a string, not a number",
        ),
        (Dialect.A, b'{"module":"grid"}', "method is missing"),
        (
            Dialect.C,
            third("canvas", "update", "c", {"action": "rect", "options": {"filled": 1}}),
            "canvas 'c' rect: options.filled must be true or false, not a number",
        ),
        (
            Dialect.C,
            third("canvas", "update", "c", {"action": "config", "options": {"strokeStyle": 4}}),
            "canvas 'c' config: options.strokeStyle must be a string, not a number",
        ),
        (
            Dialect.C,
            third("canvas", "update", "c", {"action": "config", "options": {"lineWidth": "4"}}),
            "canvas 'c' config: options.lineWidth must be a number, not a string",
        ),
        (
            Dialect.C,
            third("control", "update", "k", {"action": 3}),
            'control \'k\' update: action must be "add" or "remove", not a number',
        ),
        (
            Dialect.C,
            third("control", "update", "k", {"action": "add", "options": {}}),
            "control 'k' add: controlId is missing",
        ),
        (
            Dialect.C,
            third("control", "update", "k", {"action": "add", "controlId": "a", "options": {}}),
            "control 'k' add: options.config is missing",
        ),
        (
            Dialect.C,
            third("canvas", "spawn", "c", {"width": 0, "height": 1, "bgColor": "red"}),
            "canvas 'c' spawn: width must be above 0, not 0",
        ),
        (
            Dialect.C,
            third("grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 2, "color": 3}}),
            "grid 'g' setColor: options.color must be a string or null, not a number",
        ),
        (Dialect.C, third("grid", "update", None, {"action": "clear"}), "grid update: target is missing"),
        (Dialect.C, b'{"type":"spawn"}', "module is missing"),
    ],
)
def test_an_old_hero_is_told_what_is_wrong_by_its_own_names(dialect: Dialect, message: bytes, words: str) -> None:
    said = an_ear(dialect).hear(message)
    assert isinstance(said, Bad)
    (told,) = spoken_of(Mouth(dialect, "0.0.4"), said)
    assert told["payload"]["message"] == words


def spoken_of(mouth: Mouth, *messages: Said) -> list[Any]:
    return [json.loads(blob) for message in messages for blob in blobs(mouth.say(message))]


@pytest.mark.parametrize(
    ("dialect", "version", "fault", "words"),
    [
        (Dialect.A, "", Fault("canvas", "c", "canvas 'c' drawLine: this is a grid"), "canvas 'c' line: this is a grid"),
        (Dialect.A, "", Fault("grid", "g", "grid 'g' setColor: there is no cell"), "grid 'g' update: there is no cell"),
        (
            Dialect.A,
            "",
            Fault("viz", "v", "viz 'v' set: options.valueRepresentation is missing"),
            "viz 'v' set: value_representation is missing",
        ),
        (Dialect.A, "", Fault("viz", "v", "viz 'v' removeVariable: x"), "viz 'v' remove_variable: x"),
        (Dialect.C, "0.0.4", Fault("canvas", "c", "canvas 'c' drawRect: x"), "canvas 'c' rect: x"),
        (Dialect.C, "0.0.6", Fault("canvas", "c", "canvas 'c' drawRect: x"), "canvas 'c' drawRect: x"),
        (
            Dialect.E,
            "0.0.7",
            Fault("markdown", "m", "markdown 'm' setSource: options.source is missing"),
            "markdown 'm' setText: options.text is missing",
        ),
        (
            Dialect.E,
            "0.0.7",
            Fault("textbox", "t", "textbox 't' spawn: initialValue must be a string or null, not a number"),
            "textbox 't' spawn: value must be a string or null, not a number",
        ),
        (Dialect.E, "0.0.7", Fault("label", "l", "label 'l' setText: options.text is missing"), ""),
        (Dialect.A, "", Fault("canvas", "c", 'Error processing action "drawLine": no'), ""),
    ],
)
def test_what_the_board_refuses_is_told_by_the_names_it_was_said_by(
    dialect: Dialect, version: str, fault: Fault, words: str
) -> None:
    (told,) = spoken_of(Mouth(dialect, version), fault)
    assert told["payload"]["message"] == words or (not words and told["payload"]["message"] == fault.message)


def test_a_fill_is_limited() -> None:
    ear = an_ear(Dialect.A)
    ear.hear(old("grid", "spawn", "g", {"size": [200, 201]}))
    words = f"grid 'g' fill: fill_color can fill {MOST_FILLED:,} cells at most, not 200 x 201"
    assert sentence(ear.hear(old("grid", "update", "g", {"fill_color": "red"}))) == words


@pytest.mark.parametrize(
    "message", [third("global", "clearAll"), b'{"id":0,"module":"global","type":"clearAll","payload":null}']
)
def test_clear_all_is_heard_and_forgets_colours(message: bytes) -> None:
    ear = an_ear(Dialect.C, "0.0.4")
    ear.hear(third("canvas", "update", "c", {"action": "config", "options": {"strokeStyle": "red"}}))
    assert isinstance(ear.hear(message), ClearAll)
    [line] = canonical(ear.hear(third("canvas", "update", "c", {"action": "line", "options": LINE})))
    assert line["payload"]["options"]["lineColor"] == "#000000"


@pytest.mark.slow
def test_what_an_ear_remembers_is_bounded() -> None:
    hero = OldHero()
    for number in range(MOST_REMEMBERED + 10):
        target = f"c{number}"
        hero.translate({"component": "canvas", "type": "spawn", "target": target, "payload": dict(CANVAS)})
        hero.translate(
            {"component": "grid", "type": "spawn", "target": target, "payload": {"numColumns": 1, "numRows": 1}}
        )
        added = {"action": "add", "controlId": target, "options": BUTTON}
        hero.translate({"component": "control", "type": "update", "target": target, "payload": added})
    assert len(hero.pens) == len(hero.grids) == len(hero.controls) == MOST_REMEMBERED


def test_a_message_that_keeps_its_words_keeps_its_bytes() -> None:
    message = b'{"id": 0, "module": "viz", "type": "remove", "target": "v", "later": [1,  2]}'
    heard = an_ear(Dialect.C).hear(message)
    assert heard == Remove("viz", "v", message.replace(b"module", b"component"))


def test_unknown_fields_survive_a_translation() -> None:
    message = third(
        "grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 1, "text": "a"}, "later": 1}, trace=2
    )
    [heard] = canonical(an_ear(Dialect.C, "0.0.2").hear(message))
    assert (heard["trace"], heard["payload"]["later"]) == (2, 1)


def test_a_bad_part_makes_the_whole_message_bad() -> None:
    message = third(
        "grid", "update", "g", {"action": "setCell", "options": {"x": 1, "y": 1, "color": "red", "text": 3}}
    )
    said = an_ear(Dialect.C, "0.0.2").hear(message)
    assert len(list(each(said))) == 1
    assert "setText: options.text must be a string or null" in sentence(said)
