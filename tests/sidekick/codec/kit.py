"""Short ways to put messages together and to take them apart."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codec.sidekick import Bad, Dialect, Ear, Mouth, Said

RECORDED = Path(__file__).parent / "recorded"
RELEASES = ("0.0.1", "0.0.4", "0.0.5", "0.0.7")
"""0.0.2, 0.0.3 and 0.0.6 say the same as the release beside them; only, a clearAll of 0.0.3 has no payload."""


def recorded(release: str) -> list[bytes]:
    """What this release of the client was recorded saying, shortened: one message of each form."""
    return (RECORDED / f"{release}.jsonl").read_bytes().splitlines()


def modern(component: str, what: str, name: str | None = None, payload: Any = None, **more: Any) -> bytes:
    """A message of D. `name` is its target, or its src where it is feedback."""
    return told({"component": component, "type": what}, name, payload, more)


def third(module: str, what: str, name: str | None = None, payload: Any = None, **more: Any) -> bytes:
    """A message of C."""
    return told({"module": module, "type": what}, name, payload, more)


def old(module: str, method: str, name: str | None = None, payload: Any = None, **more: Any) -> bytes:
    """A message of A or B."""
    return told({"module": module, "method": method}, name, payload, more)


def told(envelope: dict[str, Any], name: str | None, payload: Any, more: dict[str, Any]) -> bytes:
    is_feedback = {"event", "notify", "error"} & set(envelope.values())
    named = {} if name is None else {"src" if is_feedback else "target": name}
    return json.dumps(
        {"id": 0, **envelope, **named, **({} if payload is None else {"payload": payload}), **more}
    ).encode()


def update(component: str, target: str, action: str, **options: Any) -> bytes:
    return modern(component, "update", target, {"action": action, "options": options})


def announce(version: str, role: str = "hero", **envelope: str) -> bytes:
    payload = {"peerId": "p", "role": role, "status": "online", "version": version, "timestamp": 1}
    return told(envelope or {"module": "system", "type": "announce"}, None, payload, {})


def an_ear(dialect: Dialect, version: str = "") -> Ear:
    ear = Ear(dialect)
    if version:
        ear.hear(announce(version))
    return ear


def each(said: Said | list[Said]) -> Iterator[Said]:
    yield from said if isinstance(said, list) else [said]


def canonical(said: Said | list[Said]) -> list[Any]:
    """What was said as plain JSON without the ids, which are all 0."""
    return [without_id(getattr(one, "raw", b"null")) for one in each(said)]


def without_id(raw: bytes) -> Any:
    message = json.loads(raw)
    if isinstance(message, dict):
        message.pop("id", None)
    return message


def sentence(said: Said | list[Said]) -> str:
    assert isinstance(said, Bad), said
    return said.sentence


def spoken(mouth: Mouth, *messages: bytes) -> list[Any]:
    """What a mouth makes of these messages of D."""
    ear = Ear(Dialect.D)
    return [without_id(raw) for message in messages for one in each(ear.hear(message)) for raw in blobs(mouth.say(one))]


def blobs(said: bytes | list[bytes] | None) -> list[bytes]:
    if said is None:
        return []
    return said if isinstance(said, list) else [said]
