"""What can be said, in canonical form: spec v2 (dialect D), whoever said it and however they put it.

`raw` is the canonical JSON, ready to send to a peer that speaks D: the peer's own bytes where nothing had to change, so
that fields we do not know survive and nothing is serialised twice. A message that the server makes has an empty `raw`
until `encode` has written it.
"""

from typing import Literal

from msgspec import Struct

from codec.sidekick.shapes import Action, Click, ClickAt, SpawnPayload, Submit, VizChange

ROOT = "root"


class Announce(Struct, frozen=True, gc=False):
    peer_id: str
    role: Literal["hero", "sidekick"]
    status: Literal["online", "offline"]
    version: str
    timestamp: int | float
    raw: bytes = b""


class Spawn(Struct, frozen=True, gc=False):
    component: str
    target: str
    payload: SpawnPayload
    parent: str = ROOT
    raw: bytes = b""


class Update(Struct, frozen=True, gc=False):
    component: str
    target: str
    action: str
    payload: Action | VizChange
    raw: bytes = b""


class Remove(Struct, frozen=True, gc=False):
    component: str
    target: str
    raw: bytes = b""


class ClearAll(Struct, frozen=True, gc=False):
    raw: bytes = b""


class Event(Struct, frozen=True, gc=False):
    component: str
    src: str
    payload: Click | ClickAt | Submit
    raw: bytes = b""


class Fault(Struct, frozen=True, gc=False):
    """The protocol's `error`."""

    component: str
    src: str
    message: str
    raw: bytes = b""


class Other(Struct, frozen=True, gc=False):
    """A component, type, action or event that the protocol may have grown since: relayed untouched."""

    component: str
    type: str
    target: str | None = None
    src: str | None = None
    raw: bytes = b""


class Bad(Struct, frozen=True, gc=False):
    """What was said cannot be relayed. `sentence` says why, in words for the person who wrote the script."""

    component: str
    target: str
    sentence: str


Said = Announce | Spawn | Update | Remove | ClearAll | Event | Fault | Other | Bad
