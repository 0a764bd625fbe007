"""The messages to the boards' actor."""

from msgspec import Struct

from actors.kernel import ActorRef, Reply
from actors.sidekick.messages import RoomMessage
from codec.sidekick.kept import KeptPart
from codec.sidekick.rooms import RoomListed


class Snapshot(Struct, frozen=True):
    """A picture of a board at one moment, to be stored."""

    parts: list[KeptPart]
    """Empty: there is nothing on the board."""
    drawn_at: float
    heroes: tuple[str, ...]
    """The ids of the scripts that are connected, or may come back."""


class Stands(Struct, frozen=True):
    """A room reports its current state."""

    room: ActorRef[RoomMessage]
    name: str
    scripts: int
    pages: int
    drawn_at: float | None
    """When its board was last drawn on. None: there is nothing on the board."""


class Soiled(Struct, frozen=True):
    """A room reports that something on its board is not stored yet. It does so once, until it is asked for a
    picture."""

    name: str
    at_once: bool = False


class Pictured(Struct, frozen=True):
    """The picture that a room was asked for."""

    name: str
    snapshot: Snapshot


class Keep(Struct, frozen=True):
    """The last picture of a room that ends. Answered when it is stored."""

    name: str
    snapshot: Snapshot
    reply: Reply[None]


class Recall(Struct, frozen=True):
    """Asks whether a board of this name is stored. Answered when no task is writing the board."""

    name: str
    reply: Reply[bool]


class Unfit(Struct, frozen=True):
    """The stored board cannot be read."""

    name: str


class WhichRooms(Struct, frozen=True):
    """Asks for all rooms that have peers, or something on their boards."""

    reply: Reply[list[RoomListed]]


BoardsMessage = Stands | Soiled | Pictured | Keep | Recall | Unfit | WhichRooms
