"""The messages to the boards."""

from dataclasses import dataclass

from actors.kernel import ActorRef, Reply
from actors.sidekick.messages import RoomMessage
from codec.sidekick.kept import KeptPart
from codec.sidekick.rooms import RoomListed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A board at one moment, to be kept."""

    parts: list[KeptPart]
    """None: there is nothing on it."""
    drawn_at: float
    heroes: tuple[str, ...]
    """Scripts that are there, or may come back."""


@dataclass(frozen=True, slots=True)
class Stands:
    """How a room is now."""

    room: ActorRef[RoomMessage]
    name: str
    scripts: int
    pages: int
    drawn_at: float | None
    """None: there is nothing on its board."""


@dataclass(frozen=True, slots=True)
class Soiled:
    """Something on this room's board is not kept yet. Said once, until a picture is wanted."""

    name: str
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Pictured:
    """What was wanted."""

    name: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Keep:
    """The last words of a room. Answered when they are kept."""

    name: str
    snapshot: Snapshot
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class Recall:
    """Is there a board of this name? Answered once nothing of it is being written."""

    name: str
    reply: Reply[bool]


@dataclass(frozen=True, slots=True)
class Unfit:
    """What is kept of this board cannot be read."""

    name: str


@dataclass(frozen=True, slots=True)
class WhichRooms:
    """All rooms that somebody is in, or in which something can be seen."""

    reply: Reply[list[RoomListed]]


BoardsMessage = Stands | Soiled | Pictured | Keep | Recall | Unfit | WhichRooms
