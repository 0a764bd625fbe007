"""What the console says: the shapes of `/tree.json`, `/health` and the live WebSocket.

All numbers are made by the server. A client that connects to the WebSocket is told `Hello` once and then one
`Change` a tick; a `Change` carries only the rows that differ from what this client was last told, so applying it to
what the client has gives exactly the server's picture. Times are Unix seconds.
"""

from typing import Literal

import msgspec

NodeState = Literal["starting", "running", "backoff", "paused", "stopping", "stopped"]
Lately = Literal["crashed", "restarted"]
SystemState = Literal["up", "starting", "down", "paused", "failing", "off"]


class Node(msgspec.Struct, frozen=True, omit_defaults=False):
    """One child slot of the tree. `path` is unique: the ids from the top, joined by `/`."""

    path: str
    parent: str | None
    name: str
    kind: Literal["supervisor", "actor"]
    state: NodeState
    since: float
    restarts: int
    queued: int
    capacity: int
    handled: int
    rate: float
    dropped: int
    error: str | None
    """What is wrong with it, or else what its last failure was."""
    note: str | None
    dynamic: bool
    """Started at runtime, such as a connection or a room; not part of the fixed tree."""
    folded: int
    """Children that exist but are left out of this picture, because there are too many to draw."""
    called: str | None = None
    """What a person calls it, where its name is only a number."""
    inside: float = 0.0
    """Messages per second, its own and of all below it, also of those that are left out."""
    crashes: int = 0
    """These, the restarts, what was handled and what was dropped are counted where it stands: whoever was there."""
    restarted: float | None = None
    """When it was started last, if that was not the first time."""
    lately: Lately | None = None
    """Within the last ten minutes it has crashed, or was started again for another's sake."""
    trouble: str | None = None
    """Why a person should look at it."""


class StopNote(msgspec.Struct, frozen=True):
    """An incarnation ended, in order or by failing."""

    at: float
    path: str
    why: str
    error: str | None
    message: str | None
    """The type of the message that was being handled when it crashed; never its content."""
    restarts: bool
    called: str | None = None


class DeadNote(msgspec.Struct, frozen=True):
    """A message that nobody will handle."""

    at: float
    path: str
    message: str
    why: str


class System(msgspec.Struct, frozen=True):
    """One of the house's systems, in a sentence a person can act on."""

    name: str
    state: SystemState
    sentence: str
    url: str | None
    """Where its page is, when it has one and is up."""
    lately: str | None = None
    """What of it had to be restarted within the last ten minutes."""


class Listening(msgspec.Struct, frozen=True):
    """What a listener says of itself: where it is, or why it is down and what to do. Never sent; every room uses it."""

    up: bool
    url: str | None
    sentence: str


class Totals(msgspec.Struct, frozen=True):
    actors: int
    handled: int
    rate: float
    restarts: int
    dead_letters: int
    dropped: int
    lag: float
    """Seconds by which the last tick came late: how busy the loop is."""
    memory: int
    """Resident bytes of the process."""
    crashes: int = 0
    trouble: int = 0
    """Rows that a person should look at."""


class Hello(msgspec.Struct, frozen=True, tag="hello", tag_field="type"):
    at: float
    interval: float
    version: str
    pid: int
    started: float
    totals: Totals
    systems: list[System]
    nodes: list[Node]
    """Parents before their children, children in start order."""
    history: dict[str, list[float]]
    """Messages per second of each node, one number a tick, oldest first; at most 60. `""` is the whole house."""
    stops: list[StopNote]
    """Ordinary ends. Newest last, at most 100; so are the other two, and none pushes out another."""
    dead: list[DeadNote]
    crashes: list[StopNote] = []


class Change(msgspec.Struct, frozen=True, tag="change", tag_field="type"):
    at: float
    totals: Totals
    systems: list[System] | None
    """None: as before."""
    nodes: list[Node]
    """New or changed rows; a new row comes after its parent's."""
    gone: list[str]
    stops: list[StopNote]
    """Only those that are new."""
    dead: list[DeadNote]
    crashes: list[StopNote] = []


class Health(msgspec.Struct, frozen=True):
    """`GET /health`: 200 when status is ok, 503 otherwise."""

    status: Literal["ok", "degraded"]
    version: str
    pid: int
    uptime: float
    systems: list[System]
