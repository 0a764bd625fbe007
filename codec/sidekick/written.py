"""Canonical messages as JSON."""

from typing import Any, assert_never

import msgspec

from codec.sidekick.messages import ROOT, Announce, Bad, ClearAll, Event, Fault, Other, Remove, Said, Spawn, Update
from codec.sidekick.shapes import AnnouncePayload, FaultPayload

write = msgspec.json.Encoder().encode


def encode(message: Said) -> bytes:
    """Canonical JSON, which is D's form: `raw` if it exists. A `Bad` is written as the error that answers it."""
    if not isinstance(message, Bad) and message.raw:
        return message.raw
    return write({"id": 0, **_parts(message)})


def _parts(message: Said) -> dict[str, Any]:
    match message:
        case Announce(peer_id, role, status, version, timestamp):
            payload = AnnouncePayload(peer_id, role, status, version, timestamp)
            return {"component": "system", "type": "announce", "payload": payload}
        case Spawn(component, target, made, parent):
            fields = msgspec.to_builtins(made)
            if parent != ROOT:
                fields["parent"] = parent
            return {"component": component, "type": "spawn", "target": target, "payload": fields}
        case Update(component, target, _, change):
            return {"component": component, "type": "update", "target": target, "payload": change}
        case Remove(component, target):
            return {"component": component, "type": "remove", "target": target}
        case ClearAll():
            return {"component": "global", "type": "clearAll"}
        case Event(component, src, happened):
            return {"component": component, "type": "event", "src": src, "payload": happened}
        case Fault(component, src, text):
            return {"component": component, "type": "error", "src": src, "payload": FaultPayload(text)}
        case Bad(component, target, sentence):
            return {"component": component, "type": "error", "src": target, "payload": FaultPayload(sentence)}
        case Other(component, what, target, src):
            said = {"component": component, "type": what, "target": target, "src": src}
            return {key: value for key, value in said.items() if value is not None}
        case _:
            assert_never(message)
