"""Odd messages: every form of message that any dialect has, with one of its fields another JSON value, missing, given
twice, or with a field too many.

The forms are a table, and so are the values for a field. Together they make a long list of odd messages (450,000). The
tests draw some of them, and `python -m tests.sidekick.storm` takes all.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from codec.sidekick import Dialect

Json = Any

# --- what each dialect can say ---------------------------------------------------------------------------------------

NODE = {"type": "list", "id": "n1", "length": 1, "value": [{"type": "int", "value": 1, "id": "n2"}]}
KEYED = {"type": "dict", "id": "n3", "length": 1, "value": [{"key": NODE, "value": NODE}]}
POINTS = [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]
STYLE = {"lineColor": "red", "lineWidth": 2, "bufferId": 0}
FILLED = {**STYLE, "fillColor": "#00ff00"}


def _changes(actions: dict[str, Json]) -> list[Json]:
    return [{"action": name, **({} if options is None else {"options": options})} for name, options in actions.items()]


MOVE = {"changeParent": {"parent": "column", "insertBefore": "row"}}
SPAWNED: dict[str, Json] = {
    "button": {"text": "press", "parent": "root"},
    "canvas": {"width": 30, "height": 20},
    "column": {},
    "console": {"showInput": True, "text": "hello\n"},
    "grid": {"numColumns": 3, "numRows": 2},
    "label": {"text": "hello"},
    "markdown": {"initialSource": "# hello"},
    "row": {},
    "textbox": {"initialValue": "a", "placeholder": "b"},
    "viz": {},
}
UPDATED: dict[str, list[Json]] = {
    "button": _changes({"setText": {"text": "press"}, **MOVE}),
    "canvas": _changes(
        {
            "clear": {"bufferId": 0},
            "drawLine": {"x1": 1, "y1": 2, "x2": 3, "y2": 4, **STYLE},
            "drawRect": {"x": 1, "y": 2, "width": 3, "height": 4, **FILLED},
            "drawCircle": {"cx": 1, "cy": 2, "radius": 3, **FILLED},
            "drawPolyline": {"points": POINTS, **STYLE},
            "drawPolygon": {"points": POINTS, **FILLED},
            "drawEllipse": {"cx": 1, "cy": 2, "radiusX": 3, "radiusY": 4, **FILLED},
            "drawText": {"x": 1, "y": 2, "text": "hello", "textColor": "red", "textSize": 12, "bufferId": 0},
            "createBuffer": {"bufferId": 1},
            "drawBuffer": {"sourceBufferId": 1, "targetBufferId": 0},
            "destroyBuffer": {"bufferId": 1},
            **MOVE,
        }
    ),
    "column": _changes(MOVE),
    "console": _changes({"append": {"text": "hello\n"}, "clear": None, **MOVE}),
    "grid": _changes(
        {
            "setColor": {"x": 1, "y": 1, "color": "red"},
            "setText": {"x": 1, "y": 1, "text": "hello"},
            "clearCell": {"x": 1, "y": 1},
            "clear": None,
            **MOVE,
        }
    ),
    "label": _changes({"setText": {"text": "hello"}, **MOVE}),
    "markdown": _changes({"setSource": {"source": "# hello"}, **MOVE}),
    "row": _changes(MOVE),
    "textbox": _changes({"setValue": {"value": "a"}, "setPlaceholder": {"placeholder": "b"}, **MOVE}),
    "viz": [
        *(
            {"action": action, "variableName": "v", "options": {"path": path, "valueRepresentation": NODE, "length": 2}}
            for action, path in {
                "set": [], "setitem": [0], "append": [1], "insert": [0], "add_set": [], "discard_set": [], "clear": []
            }.items()
        ),
        {
            "action": "setitem",
            "variableName": "d",
            "options": {"path": ["k"], "valueRepresentation": NODE, "keyRepresentation": KEYED, "length": 2},
        },
        *({"action": action, "variableName": "v", "options": {"path": [0]}} for action in ("pop", "remove", "delitem")),
        {"action": "removeVariable", "variableName": "v", "options": {}},
        *_changes(MOVE),
    ],
}  # fmt: skip
HAPPENED: dict[str, Json] = {
    "button": {"event": "click"},
    "canvas": {"event": "click", "x": 1, "y": 2},
    "console": {"event": "submit", "value": "hello"},
    "grid": {"event": "click", "x": 1, "y": 1},
    "textbox": {"event": "submit", "value": "hello"},
}
ANNOUNCE = {"peerId": "odd", "role": "hero", "status": "online", "version": "0.0.5", "timestamp": 1}

OF_E: list[tuple[str, str, Json]] = [
    ("markdown", "spawn", {"text": "# hello"}),
    ("markdown", "update", {"action": "setText", "options": {"text": "# hello"}}),
    ("textbox", "spawn", {"value": "a", "placeholder": "b"}),
]
CONTROL_IN_C: list[tuple[str, str, Json]] = [
    ("control", "spawn", {}),
    *(
        (
            "control",
            "update",
            {"action": "add", "controlId": "k", "options": {"controlType": kind, "config": {**config, "text": "go"}}},
        )
        for kind, config in {
            "button": {"buttonText": "go"},
            "textInput": {"placeholder": "p", "initialValue": "i", "buttonText": "go"},
        }.items()
    ),
    ("control", "update", {"action": "remove", "controlId": "k"}),
    ("control", "remove", None),
]
CANVAS_IN_C: list[tuple[str, str, Json]] = [
    ("canvas", "spawn", {"width": 30, "height": 20, "bgColor": "white"}),
    *(
        ("canvas", "update", {"action": action, "options": options, "commandId": 1})
        for action, options in {
            "config": {"strokeStyle": "red", "fillStyle": "blue", "lineWidth": 2},
            "line": {"x1": 1, "y1": 2, "x2": 3, "y2": 4},
            "rect": {"x": 1, "y": 2, "width": 3, "height": 4, "filled": True},
            "circle": {"cx": 1, "cy": 2, "radius": 3, "filled": False},
            "clear": {"color": "red"},
        }.items()
    ),
]
IN_C: list[tuple[str, str, Json]] = [
    *((component, "spawn", SPAWNED[component]) for component in ("grid", "console", "viz")),
    *((one, "update", payload) for one in ("grid", "console", "viz", "canvas") for payload in UPDATED[one]),
    ("grid", "update", {"action": "setCell", "options": {"x": 1, "y": 1, "color": "red", "text": "hello"}}),
    *CANVAS_IN_C,
    *CONTROL_IN_C,
    *((component, "remove", None) for component in ("grid", "console", "viz", "canvas")),
]
FEEDBACK_IN_C: list[tuple[str, str, Json]] = [
    ("grid", "event", HAPPENED["grid"]),
    ("canvas", "event", HAPPENED["canvas"]),
    ("console", "event", {"event": "inputText", "value": "hello"}),
    ("control", "event", {"event": "click", "controlId": "k"}),
    ("control", "event", {"event": "inputText", "controlId": "k", "value": "hello"}),
    ("control", "error", {"message": "no"}),
    ("grid", "error", {"message": "no"}),
]
IN_A: list[tuple[str, str, Json]] = [
    ("grid", "spawn", {"size": [3, 2]}),
    ("grid", "update", {"x": 1, "y": 1, "color": "red", "text": "hello"}),
    ("grid", "update", {"fill_color": "red"}),
    ("console", "spawn", {"text": "hello"}),
    ("console", "update", {"text": "hello"}),
    ("console", "update", {"clear": True}),
    ("viz", "spawn", {}),
    *(
        (
            "viz",
            "update",
            {
                "change_type": change,
                "variable_name": "v",
                "path": [],
                "value_representation": NODE,
                "key_representation": KEYED,
                "length": 1,
            },
        )
        for change in ("set", "setitem", "append", "remove_variable", "clear")
    ),
    ("canvas", "spawn", {"width": 30, "height": 20, "bgColor": "white"}),
    *(
        ("canvas", "update", {"command": command, "options": options})
        for command, options in {
            "config": {"strokeStyle": "red", "fillStyle": "blue", "lineWidth": 2},
            "line": {"x1": 1, "y1": 2, "x2": 3, "y2": 4},
            "rect": {"x": 1, "y": 2, "width": 3, "height": 4, "filled": True},
            "circle": {"cx": 1, "cy": 2, "radius": 3},
            "clear": {"color": "red"},
        }.items()
    ),
    ("control", "spawn", {}),
    *(
        (
            "control",
            "update",
            {"operation": "add", "control_id": "k", "control_type": kind, "config": {"text": "go"}},
        )
        for kind in ("button", "text_input")
    ),
    ("control", "update", {"operation": "remove", "control_id": "k"}),
    ("grid", "notify", {"event": "click", "x": 1, "y": 1}),
    ("console", "notify", {"event": "submit", "value": "hello"}),
    ("control", "notify", {"event": "submit", "control_id": "k", "value": "hello"}),
    ("control", "notify", {"event": "click", "control_id": "k"}),
    ("grid", "remove", None),
    ("control", "remove", None),
    ("global", "clearAll", None),
]

FEEDBACK = frozenset(("event", "notify", "error"))


Form = tuple[str, str, Json]


def _said(keys: tuple[str, str], component: str, what: str, payload: Json, name: str | None = None) -> Json:
    about = {"src" if what in FEEDBACK else "target": name or component}
    if component in ("system", "global"):
        about = {}
    return {"id": 0, keys[0]: component, keys[1]: what, **about, **({} if payload is None else {"payload": payload})}


def _in_d() -> Iterator[Json]:
    keys = "component", "type"
    for component, payload in SPAWNED.items():
        yield _said(keys, component, "spawn", payload)
        yield _said(keys, component, "remove", None)
        yield from (_said(keys, component, "update", change) for change in UPDATED[component])
        yield _said(keys, component, "event", HAPPENED.get(component, True))
        yield _said(keys, component, "error", {"message": "no"})
        yield _said(keys, component, "glow", {"event": "glow", "action": "glow", "options": {"text": "hello"}})
        yield _said(keys, component, "update", {"action": "glow", "options": {"text": "hello", "points": POINTS}})
    yield from (_said(keys, component, what, payload) for component, what, payload in OF_E)
    for what in ("spawn", "update", "remove", "event", "error", "glow"):
        yield _said(keys, "hologram", what, {"action": "changeParent", "options": {"parent": "row"}})
    yield _said(keys, "button", "event", {"event": "click"}, "panel/k")
    yield _said(keys, "textbox", "event", {"event": "submit", "value": "hello"}, "panel/k")
    yield _said(keys, "system", "announce", ANNOUNCE)
    yield _said(keys, "global", "clearAll", None)


def _in_c(keys: tuple[str, str], feedback: str) -> Iterator[Json]:
    for component, what, payload in [*IN_C, *FEEDBACK_IN_C]:
        yield _said(keys, component, feedback if what == "event" else what, payload)
    yield _said(keys, "system", "announce", ANNOUNCE)
    yield _said(keys, "global", "clearAll", None)


FORMS: dict[Dialect, list[Json]] = {
    Dialect.A: [_said(("module", "method"), *form) for form in IN_A],
    Dialect.B: list(_in_c(("module", "method"), "notify")),
    Dialect.C: list(_in_c(("module", "type"), "event")),
    Dialect.D: list(_in_d()),
    Dialect.E: list(_in_d()),
}
"""Every message of each dialect, as it should be."""

# --- and what is odd about them --------------------------------------------------------------------------------------

MISSING: Json = object()
VALUES: list[Json] = [
    *(MISSING, None, True, False, 0, 1, -1, 1.5, 1e308, -0.0, 10**40, "", "x", "root", "#12", "a/b", "\ud800"),
    *([], [0], [[]], ["x", None, {}], {}, {"x": 1}, {"text": 5}, {"parent": []}, {"action": "clear"}, POINTS, [POINTS]),
]
ADDED: list[Json] = [None, True, 7, "x", [1], {"x": 5}]
NAMES = [
    *("action", "options", "text", "source", "initialSource", "value", "initialValue", "placeholder", "parent"),
    *("event", "x", "y", "color", "points", "bufferId", "lineColor", "lineWidth", "fillColor", "filled", "radius"),
    *("width", "numColumns", "numRows", "showInput", "message", "variableName", "path", "valueRepresentation"),
    *("length", "keyRepresentation", "controlId", "controlType", "config", "buttonText", "command", "commandId"),
    *("operation", "control_id", "control_type", "change_type", "variable_name", "value_representation", "clear"),
    *("fill_color", "size", "bgColor", "strokeStyle", "component", "module", "type", "method", "target", "src"),
    "payload",
    "id",
]


class Place(NamedTuple):
    """A field in a message, by the keys that lead to it."""

    keys: tuple[Any, ...]


def places(message: Json, above: tuple[Any, ...] = (), depth: int = 6) -> Iterator[Place]:
    """Every field that a message has, the outer ones first."""
    inner: Any = ()
    if isinstance(message, dict):
        inner = message.items()
    elif isinstance(message, list):
        inner = enumerate(message)
    for key, value in inner:
        yield Place((*above, key))
        if depth:
            yield from places(value, (*above, key), depth - 1)


def objects(message: Json, above: tuple[Any, ...] = (), depth: int = 3) -> Iterator[Place]:
    """Every object in a message, itself first."""
    if isinstance(message, dict):
        yield Place(above)
        for key, value in message.items():
            if depth:
                yield from objects(value, (*above, key), depth - 1)


def changed(message: Json, place: Place, value: Json) -> Json:
    if not place.keys:
        return value
    key, *rest = place.keys
    copy = dict(message) if isinstance(message, dict) else list(message)
    if rest:
        copy[key] = changed(message[key], Place(tuple(rest)), value)
    elif value is MISSING:
        del copy[key]
    elif isinstance(copy, list) and key == len(copy):
        copy.append(value)
    else:
        copy[key] = value
    return copy


def at(message: Json, place: Place) -> Json:
    for key in place.keys:
        message = message[key]
    return message


def replaced(message: Json) -> Iterator[Json]:
    """The message with each value in each field."""
    for place in places(message):
        for value in VALUES:
            yield changed(message, place, value)


def extended(message: Json) -> Iterator[Json]:
    """The message with each field too many in each of its objects."""
    for place in objects(message):
        for name in NAMES:
            if name not in at(message, place):
                for value in ADDED:
                    yield changed(message, Place((*place.keys, name)), value)


def twice(message: Json) -> Iterator[bytes]:
    """The message with a field that is said twice, first or last: what a decoder makes of that is its own affair."""
    text = json.dumps(message)
    for place in objects(message, depth=1):
        inside = text if not place.keys else json.dumps(at(message, place))
        for name in at(message, place):
            for value in ('"console"', '"drawPolyline"', '"update"', "true", "{}", '{"action":"append"}'):
                again = f'"{name}": {value}'
                for other in (f"{{{again}, {inside[1:]}", f"{inside[:-1]}, {again}}}"):
                    yield text.replace(inside, other).encode()


def odd(dialect: Dialect) -> Iterator[bytes]:
    """All that is odd about any message of a dialect."""
    for message in FORMS[dialect]:
        yield written(message)
        yield from map(written, replaced(message))
        yield from map(written, extended(message))
        yield from twice(message)


def drawn(dice: Random, dialect: Dialect) -> bytes:
    """One message of a dialect, right or with up to three things odd about it."""
    message = dice.choice(FORMS[dialect])
    for _ in range(dice.choice((0, 1, 1, 1, 2, 3))):
        if not isinstance(message, dict | list) or not message:
            break
        match dice.randrange(8):
            case 0:
                return dice.choice(list(twice(message)) or [written(message)])
            case 1 | 2 | 3 if inside := list(objects(message)):
                where = dice.choice(inside)
                message = changed(message, Place((*where.keys, dice.choice(NAMES))), dice.choice(ADDED))
            case _:
                message = changed(message, dice.choice(list(places(message))), dice.choice(VALUES))
    return written(message)


def written(message: Json) -> bytes:
    return json.dumps(message).encode()
