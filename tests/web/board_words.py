"""Short functions for the messages that scripts send to a board."""

from typing import Any

Message = dict[str, Any]

CLEAR: Message = {"id": 0, "component": "global", "type": "clearAll"}


def announce(peer: str = "hero-1", status: str = "online", role: str = "hero", version: str = "0.0.7") -> Message:
    payload = {"peerId": peer, "role": role, "status": status, "version": version, "timestamp": 1}
    return {"id": 0, "component": "system", "type": "announce", "payload": payload}


def spawn(component: str, target: str, **payload: Any) -> Message:
    return {"id": 0, "component": component, "type": "spawn", "target": target, "payload": payload}


def update(component: str, target: str, action: str, **options: Any) -> Message:
    payload = {"action": action, "options": options}
    return {"id": 0, "component": component, "type": "update", "target": target, "payload": payload}


def remove(component: str, target: str) -> Message:
    return {"id": 0, "component": component, "type": "remove", "target": target}


def fault(component: str, src: str, message: str) -> Message:
    return {"id": 0, "component": component, "type": "error", "src": src, "payload": {"message": message}}


def viz(action: str, name: str = "data", path: list[Any] | None = None, **options: Any) -> Message:
    renamed = {{"value": "valueRepresentation", "key": "keyRepresentation"}.get(k, k): v for k, v in options.items()}
    payload = {"action": action, "variableName": name, "options": {"path": path or [], **renamed}}
    return {"id": 0, "component": "viz", "type": "update", "target": "v", "payload": payload}


def node(data: Any) -> Message:
    """A Python value as sidekick-py sends it."""
    match data:
        case None:
            return {"type": "NoneType", "value": "None", "id": "NoneType_1"}
        case bool() | int() | float() | str():
            kind = type(data).__name__
            return {"type": kind, "value": data, "id": f"{kind}_{data}"}
        case list() | tuple():
            return container(data, "list", [node(each) for each in data])
        case set():
            return container(data, "set", [node(each) for each in sorted(data, key=repr)])
        case dict():
            return container(data, "dict", [{"key": node(key), "value": node(value)} for key, value in data.items()])
        case _:
            parts = {name: node(value) for name, value in vars(data).items()}
            return container(data, f"object ({type(data).__name__})", parts)


def container(data: Any, kind: str, value: Any) -> Message:
    return {"type": kind, "value": value, "length": len(value), "id": f"{type(data).__name__}_{id(data)}_0"}
