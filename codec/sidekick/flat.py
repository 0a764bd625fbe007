"""Translates between the payloads of A (flat, snake_case) and of B (nested, camelCase), which mean the same.

B is the form in the middle. A message from a hero of A is first put into B's form and then treated like one of B. A
message for a UI of A is first put into B's form and then made flat. Both directions are here, side by side. Fields that
are not in the tables are kept as they are.
"""

from collections.abc import Callable
from typing import Any

Fields = dict[str, Any]

VIZ_FIELDS = {
    "path": "path",
    "value_representation": "valueRepresentation",
    "key_representation": "keyRepresentation",
    "length": "length",
}
REMOVE_VARIABLE = {"remove_variable": "removeVariable"}
CONTROL_TYPES = {"text_input": "textInput"}
CONTROL_CONFIG = {"initial_value": "initialValue", "button_text": "buttonText"}
EVENT_FIELDS = {"control_id": "controlId"}
OBSERVABLE = {"observable_tracked": "observableTracked"}


def backwards(names: dict[str, str]) -> dict[str, str]:
    return {new: old for old, new in names.items()}


def _renamed(fields: Fields, names: dict[str, str]) -> Fields:
    return {names.get(name, name): value for name, value in fields.items()}


def _config(fields: Any, names: dict[str, str]) -> Any:
    return _renamed(fields, names) if isinstance(fields, dict) else fields


def _without(fields: Fields, *names: str) -> Fields:
    return {name: value for name, value in fields.items() if name not in names}


def _nodes(value: Any, names: dict[str, str]) -> Any:
    """A viz node, and the nodes inside it, with their fields renamed."""
    if isinstance(value, list):
        return [_nodes(item, names) for item in value]
    if isinstance(value, dict):
        return {names.get(name, name): _nodes(inner, names) for name, inner in value.items()}
    return value


# --- A to B ----------------------------------------------------------------------------------------------------------


def nested(module: str, method: str, payload: Any) -> Any:
    """The payload of an A message in B's form. An unreadable payload is passed on unchanged, and is refused later."""
    rule = NESTED.get((module, method))
    return rule(payload) if rule and isinstance(payload, dict) else payload


def _grid_spawn(payload: Fields) -> Fields:
    size = payload.get("size")
    if not isinstance(size, list) or len(size) > 2:
        return payload
    return {**dict(zip(("numColumns", "numRows"), size, strict=False)), **_without(payload, "size")}


def _grid_update(payload: Fields) -> Fields:
    if "fill_color" in payload and "x" not in payload:
        return {"action": "fill", "options": {"color": payload["fill_color"]}, **_without(payload, "fill_color")}
    return {"action": "setCell", "options": payload}


def _console_spawn(payload: Fields) -> Fields:
    return {"showInput": True, **payload}


def _console_update(payload: Fields) -> Fields:
    if payload.get("clear") is True:
        return {"action": "clear", **_without(payload, "clear")}
    return {"action": "append", "options": payload}


def _viz_update(payload: Fields) -> Fields:
    change = payload.get("change_type")
    options = {VIZ_FIELDS[name]: _nodes(payload[name], OBSERVABLE) for name in VIZ_FIELDS if name in payload}
    rest = _without(payload, "change_type", "variable_name", *VIZ_FIELDS)
    named = {"variableName": payload["variable_name"]} if "variable_name" in payload else {}
    action = {"action": REMOVE_VARIABLE.get(change, change) if isinstance(change, str) else change}
    return {
        **(action if "change_type" in payload else {}),
        **named,
        "options": options,
        **rest,
    }


def _canvas_update(payload: Fields) -> Fields:
    return _renamed(payload, {"command": "action"})


def _control_update(payload: Fields) -> Fields:
    said = _renamed(payload, {"operation": "action", "control_id": "controlId"})
    kind = said.pop("control_type", None)
    config = said.pop("config", None)
    if kind is not None or config is not None:
        kind = CONTROL_TYPES.get(kind, kind) if isinstance(kind, str) else kind
        said["options"] = {"controlType": kind, "config": _config(config, CONTROL_CONFIG)}
    return said


def _notify(payload: Fields) -> Fields:
    return _renamed(payload, EVENT_FIELDS)


NESTED: dict[tuple[str, str], Callable[[Fields], Fields]] = {
    ("grid", "spawn"): _grid_spawn,
    ("grid", "update"): _grid_update,
    ("console", "spawn"): _console_spawn,
    ("console", "update"): _console_update,
    ("viz", "update"): _viz_update,
    ("canvas", "update"): _canvas_update,
    ("control", "update"): _control_update,
    ("control", "notify"): _notify,
}


# --- B to A ----------------------------------------------------------------------------------------------------------


def flattened(module: str, method: str, payload: Any) -> Any:
    """The payload of a B message in A's form."""
    rule = FLATTENED.get((module, method))
    return rule(payload) if rule and isinstance(payload, dict) else payload


def _flat_grid_spawn(payload: Fields) -> Fields:
    size = [payload.get("numColumns"), payload.get("numRows")]
    return {"size": size, **_without(payload, "numColumns", "numRows")}


def _flat_options(payload: Fields) -> Fields:
    return {**(payload.get("options") or {}), **_without(payload, "action", "options")}


def _flat_console_update(payload: Fields) -> Fields:
    if payload.get("action") == "clear":
        return {"clear": True, **_without(payload, "action", "options")}
    return _flat_options(payload)


def _flat_viz_update(payload: Fields) -> Fields:
    options = payload.get("options") or {}
    said = {old: _nodes(options.get(new), backwards(OBSERVABLE)) for old, new in VIZ_FIELDS.items() if new in options}
    change = payload.get("action")
    return {
        "variable_name": payload.get("variableName"),
        "change_type": backwards(REMOVE_VARIABLE).get(str(change), change),
        "path": [],
        "value_representation": None,
        **said,
        **_without(payload, "action", "variableName", "options"),
    }


def _flat_canvas_update(payload: Fields) -> Fields:
    return _renamed(payload, {"action": "command"})


def _flat_control_update(payload: Fields) -> Fields:
    options = payload.get("options") or {}
    said = _renamed(_without(payload, "options"), {"action": "operation", "controlId": "control_id"})
    if "controlType" in options:
        kind = options["controlType"]
        said["control_type"] = backwards(CONTROL_TYPES).get(kind, kind)
        said["config"] = _config(options.get("config"), backwards(CONTROL_CONFIG))
    return said


def _flat_notify(payload: Fields) -> Fields:
    return _renamed(payload, backwards(EVENT_FIELDS))


FLATTENED: dict[tuple[str, str], Callable[[Fields], Fields]] = {
    ("grid", "spawn"): _flat_grid_spawn,
    ("grid", "update"): _flat_options,
    ("console", "update"): _flat_console_update,
    ("viz", "update"): _flat_viz_update,
    ("canvas", "update"): _flat_canvas_update,
    ("control", "update"): _flat_control_update,
    ("control", "notify"): _flat_notify,
}
