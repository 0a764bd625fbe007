"""The rooms there are, as our own page is told of them: not a part of the protocol that scripts speak."""

import msgspec

DEFAULT_ROOM = "default"
"""The room of those who name none; by this name it can be asked for too. On the wire it has no name."""


class RoomListed(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    path: str
    """Of its page."""
    scripts: int
    """Of them, and of pages, so many are there now."""
    pages: int
    drawn_at: int | None
    """When something on its board changed last, in milliseconds since 1970; null: there is nothing on it."""


class Rooms(msgspec.Struct, frozen=True):
    rooms: list[RoomListed]


encode_rooms = msgspec.json.Encoder().encode
