"""The rooms there are, as our own page is told of them: not a part of the protocol that scripts speak."""

import msgspec


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
