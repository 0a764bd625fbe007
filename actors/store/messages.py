"""The messages to the store. `reply` is set when a change is on the disk, or has failed with a StoreError."""

from typing import Any

import msgspec

from actors.kernel import Reply
from actors.store.batches import BatchStatistics
from actors.store.operations import Operation, Question


class Write(msgspec.Struct, frozen=True):
    """A change. It is answered when it cannot be lost any more."""

    job: Operation[Any]
    reply: Reply[Any]


class Ask(msgspec.Struct, frozen=True):
    """A question. It is answered from everything that was acknowledged so far."""

    job: Question[Any]
    reply: Reply[Any]


class StatisticsAsked(msgspec.Struct, frozen=True):
    """Asks for the store's statistics."""

    reply: "Reply[StoreStatistics]"


class StoreStatistics(msgspec.Struct, frozen=True):
    writing: BatchStatistics
    """The writing desk, whose batches are commits."""
    reading: BatchStatistics
    database_bytes: int
    log_bytes: int


StoreMessage = Write | Ask | StatisticsAsked
