"""All messages in canonical form, which is spec v2 (dialect D), whichever dialect they came in.

`raw` is the canonical JSON, ready for a peer that speaks D. If nothing had to change, it is the sender's own bytes; so
unknown fields survive and nothing is serialised twice. A message that the server itself makes has an empty `raw` until
`encode` has written it.
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
    """A component, type, action or event of a newer protocol, perhaps. It is relayed unchanged."""

    component: str
    type: str
    target: str | None = None
    src: str | None = None
    raw: bytes = b""


class Bad(Struct, frozen=True, gc=False):
    """A message that cannot be relayed. `sentence` tells the author of the script why."""

    component: str
    target: str
    sentence: str


Said = Announce | Spawn | Update | Remove | ClearAll | Event | Fault | Other | Bad
