"""Events from a UI in each dialect: the name of each event, and which events a hero knows at all.

    D, E    console, textbox: `submit`            button: `click`
    B, C    console: `inputText`                  control: `click`, `inputText` with a `controlId`
    A       console: `submit`                     control: `click`, `submit` with a `control_id`

A grid's and a canvas's `click` are the same everywhere.
"""

from typing import Any

from codec.sidekick.control import component_id, is_control, panel_and_control
from codec.sidekick.dialect import Dialect

Message = dict[str, Any]

SUBMIT = {Dialect.A: "submit", Dialect.B: "inputText", Dialect.C: "inputText"}
"""The old dialects' names for the submit of a console or a text input."""


def heard(message: Message, dialect: Dialect) -> Message:
    """An old UI's event (with canonical keys already), translated into D."""
    payload, src = message.get("payload"), message.get("src")
    if not isinstance(payload, dict):
        return message
    component, fields = message.get("component"), dict(payload)
    is_submit = fields.get("event") == SUBMIT[dialect]
    if component == "control" and isinstance(src, str) and isinstance(control := fields.get("controlId"), str):
        component, src = ("textbox" if is_submit else "button"), component_id(src, control)
        del fields["controlId"]
    if is_submit and component in ("console", "textbox"):
        fields["event"] = "submit"
    return {**message, "component": component, "src": src, "payload": fields}


def said(message: Message, dialect: Dialect) -> Message | None:
    """A valid event of D, translated for an old hero; None if the hero does not know such an event."""
    component, fields = message["component"], dict(message["payload"])
    if fields.get("event") == "submit" and component in ("console", "textbox"):
        fields["event"] = SUBMIT[dialect]
    if component not in ("button", "textbox"):
        return {**message, "payload": fields}
    src = in_panel(message)
    if src is None:
        return None
    panel, control = src
    named = {"event": fields.pop("event", None), "controlId": control, **fields}
    return {**message, "component": "control", "src": panel, "payload": named}


def fault(message: Message) -> Message:
    """An error of D, translated for an old hero, which knows panels but not the components that replace them in D."""
    if message["component"] == "column":
        return {**message, "component": "control"}
    src = in_panel(message) if message["component"] in ("button", "textbox") else None
    return message if src is None else {**message, "component": "control", "src": src[0]}


def in_panel(message: Message) -> tuple[str, str] | None:
    """The panel and the control to which an event of a button or a textbox belongs."""
    src = message.get("src")
    return panel_and_control(src) if isinstance(src, str) and is_control(src) else None
