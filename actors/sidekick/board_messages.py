"""The messages to the boards' actor."""

from dataclasses import dataclass

from actors.kernel import ActorRef, Reply
from actors.sidekick.messages import RoomMessage
from codec.sidekick.kept import KeptPart
from codec.sidekick.rooms import RoomListed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A picture of a board at one moment, to be stored."""

    parts: list[KeptPart]
    """Empty: there is nothing on the board."""
    drawn_at: float
    heroes: tuple[str, ...]
    """The ids of the scripts that are connected, or may come back."""


@dataclass(frozen=True, slots=True)
class Stands:
    """A room reports its current state."""

    room: ActorRef[RoomMessage]
    name: str
    scripts: int
    pages: int
    drawn_at: float | None
    """When its board was last drawn on. None: there is nothing on the board."""


@dataclass(frozen=True, slots=True)
class Soiled:
    """A room reports that something on its board is not stored yet. It does so once, until it is asked for a
    picture."""

    name: str
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Pictured:
    """The picture that a room was asked for."""

    name: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Keep:
    """The last picture of a room that ends. Answered when it is stored."""

    name: str
    snapshot: Snapshot
    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class Recall:
    """Asks whether a board of this name is stored. Answered when no task is writing the board."""

    name: str
    reply: Reply[bool]


@dataclass(frozen=True, slots=True)
class Unfit:
    """The stored board cannot be read."""

    name: str


@dataclass(frozen=True, slots=True)
class WhichRooms:
    """Asks for all rooms that have peers, or something on their boards."""

    reply: Reply[list[RoomListed]]


BoardsMessage = Stands | Soiled | Pictured | Keep | Recall | Unfit | WhichRooms
