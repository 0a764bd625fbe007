"""Sidekick on the wire: translates the five dialects of its peers into one canonical form, and back."""

from codec.sidekick.dialect import Dialect, dialect_of
from codec.sidekick.ear import Ear
from codec.sidekick.messages import (
    ROOT,
    Announce,
    Bad,
    ClearAll,
    Event,
    Fault,
    Other,
    Remove,
    Said,
    Spawn,
    Update,
)
from codec.sidekick.mouth import COMMON, Mouth
from codec.sidekick.written import encode

__all__ = [
    "COMMON",
    "ROOT",
    "Announce",
    "Bad",
    "ClearAll",
    "Dialect",
    "Ear",
    "Event",
    "Fault",
    "Mouth",
    "Other",
    "Remove",
    "Said",
    "Spawn",
    "Update",
    "dialect_of",
    "encode",
]
