"""The messages of the console: `/tree.json`, `/health` and the live WebSocket.

The server computes all numbers. A client of the WebSocket gets one `Hello`, and then one `Change` a tick. A `Change`
carries only the rows that differ from the last ones this client was sent, so a client that applies it has exactly the
server's picture. Times are Unix seconds.
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
    """Its current problem; if it has none, its last failure."""
    note: str | None
    dynamic: bool
    """Started at runtime, such as a connection or a room; not part of the fixed tree."""
    folded: int
    """Children that exist but are left out of this picture, because there are too many to draw."""
    called: str | None = None
    """A readable name for an actor whose own name is only a number."""
    inside: float = 0.0
    """Messages per second of this actor and all actors below it, including those that are left out."""
    crashes: int = 0
    """Crashes, restarts, handled and dropped messages are counted for the place in the tree, over all its actors."""
    restarted: float | None = None
    """The time of its last start, unless that was its first."""
    lately: Lately | None = None
    """Whether it crashed within the last ten minutes, or was restarted because another actor crashed."""
    trouble: str | None = None
    """The reason why it needs attention."""


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
    """One of the systems, described in a sentence that says what to do."""

    name: str
    state: SystemState
    sentence: str
    url: str | None
    """The address of its page, if it has one and is up."""
    lately: str | None = None
    """The parts of it that were restarted within the last ten minutes."""


class Listening(msgspec.Struct, frozen=True):
    """A listener's account of itself: its address, or why it is down and what to do. It is never sent."""

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
    """Seconds by which the last tick was late. It shows how busy the loop is."""
    memory: int
    """Resident bytes of the process."""
    crashes: int = 0
    trouble: int = 0
    """The number of rows that need attention."""


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
    """Messages per second of each branch, one number a tick, oldest first; at most 60. `""` is the whole server. A node
    that is not named has handled nothing in these ticks."""
    stops: list[StopNote]
    """Ordinary ends, newest last, at most 100. The same holds for each of the other three lists."""
    dead: list[DeadNote]
    crashes: list[StopNote] = []
    departures: list[StopNote] = []
    """Ordinary ends of those that have served a connection: a page was closed, a script has ended."""


class Change(msgspec.Struct, frozen=True, tag="change", tag_field="type"):
    at: float
    totals: Totals
    systems: list[System] | None
    """None: unchanged."""
    nodes: list[Node]
    """New or changed rows; a new row comes after its parent's."""
    gone: list[str]
    stops: list[StopNote]
    """Only the new ones."""
    dead: list[DeadNote]
    crashes: list[StopNote] = []
    departures: list[StopNote] = []


class Health(msgspec.Struct, frozen=True):
    """`GET /health`: 200 when status is ok, 503 otherwise."""

    status: Literal["ok", "degraded"]
    version: str
    pid: int
    uptime: float
    systems: list[System]
