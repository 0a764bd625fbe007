"""What every event of a session's log has."""

from msgspec import UNSET, Struct, UnsetType


class Numbered(Struct, frozen=True, kw_only=True):
    seq: int | UnsetType = UNSET
