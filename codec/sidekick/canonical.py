"""Checks a decoded message with canonical keys, and turns it into a struct. All messages are judged here.

Messages of every dialect end here, translated or not, so there is one set of rules. Forms that would break a released
UI are corrected: a spawn without a payload, a changeParent or a canvas's clear without options, a whole number written
as 1.0, a click between two pixels. Then `raw` is written anew; otherwise it stays the peer's own bytes.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec

from codec.sidekick.messages import ROOT, Announce, Bad, ClearAll, Event, Fault, Other, Remove, Said, Spawn, Update
from codec.sidekick.shapes import (
    ACTIONS,
    EVENTS,
    SPAWNS,
    VIZ_ACTIONS,
    AnnouncePayload,
    FaultPayload,
    VizChange,
)
from codec.sidekick.weight import LONGEST_ANNOUNCE, LONGEST_NAME
from codec.sidekick.wording import refusal, sentence
from codec.sidekick.words import to_canonical, words_of_e
from codec.words import kind

Message = dict[str, Any]

UPDATES: dict[tuple[str, str], Any] = {
    **{(component, shape.action): shape for component, shapes in ACTIONS.items() for shape in shapes},
    **{("viz", action): VizChange for action in VIZ_ACTIONS},
}
EVENT_NAMES = {"button": "click", "canvas": "click", "console": "submit", "grid": "click", "textbox": "submit"}
WHOLE = frozenset(("x", "y", "numColumns", "numRows", "bufferId", "sourceBufferId", "targetBufferId", "length"))
"""Fields that are whole numbers wherever they are required to be."""

write = msgspec.json.Encoder().encode


def understand(message: Any, raw: bytes | None) -> Said:
    """The meaning of a message with canonical keys. `raw` is the message as it came; None if we composed it."""
    if not isinstance(message, dict):
        return Bad("system", "", f"a message must be a JSON object, not {kind(message)}")
    component, what = message.get("component"), message.get("type")
    for name, value in (("component", component), ("type", what)):
        if not isinstance(value, str):
            was = "is missing" if name not in message else f"must be a string, not {kind(value)}"
            return Bad(_text(message, "component") or "system", _text(message, "target"), f"{name} {was}")
    assert isinstance(component, str)
    assert isinstance(what, str)
    if wrong := too_long(message):
        return wrong
    if component == "system" and what == "announce":
        return _announce(message, raw)
    if component == "global" and what == "clearAll":
        return ClearAll(raw or write(message))
    judge = JUDGES.get(what)
    if judge is None or component not in SPAWNS:
        payload = message.get("payload")
        if what == "update" and isinstance(payload, dict) and (complete := _completed(component, payload)):
            return _other({**message, "payload": complete}, None)
        return _other(message, raw)
    return judge(component, message, raw)


def _announce(message: Message, raw: bytes | None) -> Said:
    payload = message.get("payload")
    raw = raw or write(message)
    if len(raw) > LONGEST_ANNOUNCE:
        wrong = f"it may be {LONGEST_ANNOUNCE:,} bytes long, not {len(raw):,}"
        return Bad("system", "", sentence("system", "", "announce", wrong))
    try:
        said = msgspec.convert(payload, AnnouncePayload)
    except msgspec.ValidationError as error:
        return Bad("system", "", sentence("system", "", "announce", refusal(str(error), payload)))
    return Announce(said.peer_id, said.role, said.status, said.version, said.timestamp, raw)


def _spawn(component: str, message: Message, raw: bytes | None) -> Said:
    target = message.get("target")
    if not isinstance(target, str) or not target:
        return _nameless(component, message, "target")
    payload = message.get("payload")
    if payload is None:
        message, payload, raw = {**message, "payload": {}}, {}, None
    elif isinstance(payload, dict) and (renamed := to_canonical(payload, words_of_e(component))):
        message, payload, raw = {**message, "payload": renamed}, renamed, None
    try:
        said, mended = _convert(payload, SPAWNS[component])
    except msgspec.ValidationError as error:
        return _refused(component, target, "spawn", error, payload)
    return Spawn(component, target, said, ROOT if said.parent is None else said.parent, _raw(message, raw, mended))


def _update(component: str, message: Message, raw: bytes | None) -> Said:
    target = message.get("target")
    if not isinstance(target, str) or not target:
        return _nameless(component, message, "target")
    payload = message.get("payload")
    if not isinstance(payload, dict) or not isinstance(payload.get("action"), str):
        return _inactive(component, target, payload)
    if renamed := to_canonical(payload, words_of_e(component, payload["action"])):
        message, payload, raw = {**message, "payload": renamed}, renamed, None
    action = payload["action"]
    if complete := _completed(component, payload):
        message, payload, raw = {**message, "payload": complete}, complete, None
    shape = UPDATES.get((component, action))
    if shape is None:
        return _other(message, raw)
    try:
        said, mended = _convert(payload, shape)
    except msgspec.ValidationError as error:
        return _refused(component, target, action, error, payload)
    if shape is VizChange and (wrong := unsound(said)):
        return Bad(component, target, sentence(component, target, action, wrong))
    return Update(component, target, action, said, _raw(message, raw, mended))


def _remove(component: str, message: Message, raw: bytes | None) -> Said:
    target = message.get("target")
    if not isinstance(target, str) or not target:
        return _nameless(component, message, "target")
    return Remove(component, target, raw or write(message))


def _event(component: str, message: Message, raw: bytes | None) -> Said:
    src = message.get("src")
    if not isinstance(src, str) or not src:
        return _nameless(component, message, "src")
    payload, shape = message.get("payload"), EVENTS.get(component)
    name = payload.get("event") if isinstance(payload, dict) else None
    if shape is None or (isinstance(name, str) and name != EVENT_NAMES[component]):
        return _other(message, raw)
    try:
        said, mended = _convert(payload, shape, rounding=component == "canvas")
    except msgspec.ValidationError as error:
        return _refused(component, src, "event", error, payload)
    return Event(component, src, said, _raw(message, raw, mended))


def _fault(component: str, message: Message, raw: bytes | None) -> Said:
    src, payload = message.get("src"), message.get("payload")
    if not isinstance(src, str) or not src:
        return _nameless(component, message, "src")
    try:
        said = msgspec.convert(payload, FaultPayload)
    except msgspec.ValidationError as error:
        return _refused(component, src, "error", error, payload)
    return Fault(component, src, said.message, raw or write(message))


def _other(message: Message, raw: bytes | None) -> Other:
    target, src = message.get("target"), message.get("src")
    return Other(
        message["component"],
        message["type"],
        target if isinstance(target, str) else None,
        src if isinstance(src, str) else None,
        raw or write(message),
    )


JUDGES: dict[str, Callable[[str, Message, bytes | None], Said]] = {
    "spawn": _spawn,
    "update": _update,
    "remove": _remove,
    "event": _event,
    "error": _fault,
}


def _completed(component: str, payload: Message) -> Message | None:
    """The payload, completed with options that a released UI needs, set to what leaving them out means; None if nothing
    is missing. A move without a destination leads to the board itself, for every component and every way to omit it."""
    options = payload.get("options")
    if not isinstance(options, dict | None):
        return None
    match payload.get("action"):
        case "changeParent" if options is None or options.get("parent") is None:
            return {**payload, "options": {**(options or {}), "parent": ROOT}}
        case "clear" if component == "canvas" and options is None:
            return {**payload, "options": {}}
    return None


def unsound(change: VizChange) -> str | None:
    """The error in the nodes of a viz update, or None. The scene checks their inner nodes."""
    for name, node in (
        ("valueRepresentation", change.options.value_representation),
        ("keyRepresentation", change.options.key_representation),
    ):
        if node is None:
            continue
        for field in ("type", "id"):
            if not isinstance(node.get(field), str):
                was = "is missing" if field not in node else f"must be a string, not {kind(node[field])}"
                return f"options.{name}.{field} {was}"
    return None


def _convert(payload: Any, shape: Any, *, rounding: bool = False) -> tuple[Any, Any]:
    """The payload as a struct, and the corrected payload if it could not stay as it was."""
    try:
        return msgspec.convert(payload, shape), None
    except msgspec.ValidationError as error:
        if "`int`, got `float`" not in str(error):
            raise
    mended = {**payload, **_whole(payload, rounding)}
    if isinstance(payload.get("options"), dict):
        mended["options"] = {**payload["options"], **_whole(payload["options"], rounding)}
    return msgspec.convert(mended, shape), mended


def _whole(fields: Message, rounding: bool) -> Message:
    found = {}
    for name in WHOLE & fields.keys():
        value = fields[name]
        if isinstance(value, float) and (rounding or value.is_integer()):
            with contextlib.suppress(OverflowError):
                found[name] = round(value)
    return found


def _raw(message: Message, raw: bytes | None, mended: Any) -> bytes:
    if mended is not None:
        return write({**message, "payload": mended})
    return raw or write(message)


def _refused(component: str, target: str, doing: str, error: msgspec.ValidationError, payload: Any) -> Bad:
    return Bad(component, target, sentence(component, target, doing, refusal(str(error), payload)))


def _inactive(component: str, target: str, payload: Any) -> Bad:
    """The refusal of an update without an action."""
    if payload is None:
        wrong = "payload is missing"
    elif not isinstance(payload, dict):
        wrong = f"payload must be an object, not {kind(payload)}"
    elif "action" not in payload:
        wrong = "action is missing"
    else:
        wrong = f"action must be a string, not {kind(payload['action'])}"
    return Bad(component, target, sentence(component, target, "update", wrong))


def _nameless(component: str, message: Message, field: str) -> Bad:
    value = message.get(field)
    if value is None:
        wrong = f"{field} is missing"
    else:
        wrong = f"{field} must " + ("not be empty" if value == "" else f"be a string, not {kind(value)}")
    return Bad(component, "", sentence(component, "", message["type"], wrong))


def too_long(message: Message) -> Bad | None:
    """The refusal of an absurdly long name, if there is one. The name is not repeated in it."""
    names = {name: message.get(name) for name in ("component", "type", "target", "src")}
    long = [name for name, value in names.items() if isinstance(value, str) and len(value) > LONGEST_NAME]
    if not long:
        return None
    wrong = f"{long[0]} may be {LONGEST_NAME:,} characters long, not {len(str(names[long[0]])):,}"
    return Bad(_text(message, "component") or "system", _text(message, "target"), f"a message's {wrong}")


def _text(message: Message, field: str) -> str:
    """The field, if it is a text short enough to be repeated in an answer."""
    value = message.get(field)
    return value if isinstance(value, str) and len(value) <= LONGEST_NAME else ""
