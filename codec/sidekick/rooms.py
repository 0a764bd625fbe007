"""The list of rooms for our own page. It is not a part of the protocol that scripts speak."""

import msgspec

DEFAULT_ROOM = "default"
"""The room of those who name none; by this name it can be asked for too. On the wire it has no name."""


class RoomListed(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    path: str
    """The path of its page."""
    scripts: int
    """The number of scripts that are connected now. `pages` is the same for pages."""
    pages: int
    drawn_at: int | None
    """The time of the last change on its board, in milliseconds since 1970; null if the board is empty."""


class Rooms(msgspec.Struct, frozen=True):
    rooms: list[RoomListed]


encode_rooms = msgspec.json.Encoder().encode
