"""What the store actor takes. `reply` is set when a change is on the disk, or failed with a StoreError."""

from typing import Any

import msgspec

from actors.kernel import Reply
from actors.store.desk import DeskStatistics
from actors.store.operations import Operation, Question


class Write(msgspec.Struct, frozen=True):
    """Do this, and answer when it cannot be lost any more."""

    job: Operation[Any]
    reply: Reply[Any]


class Ask(msgspec.Struct, frozen=True):
    """Answer this from all that was acknowledged so far."""

    job: Question[Any]
    reply: Reply[Any]


class Look(msgspec.Struct, frozen=True):
    """How are you?"""

    reply: "Reply[StoreStatistics]"


class StoreStatistics(msgspec.Struct, frozen=True):
    writing: DeskStatistics
    """Its batches are commits."""
    reading: DeskStatistics
    database_bytes: int
    log_bytes: int


StoreMessage = Write | Ask | Look
