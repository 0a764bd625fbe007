"""Requests to an editor or a server that answers at the desk, by files in a shared folder.

    async with Desk() as desk:                                   # in trio
        result = await desk.run("submitPrompt", {"prompt": "Say hello"})
        async for result in desk.map("submitPrompt", prompts, concurrency=8): ...

    with Desk.blocking() as desk:                                # the same, as plain calls
        result = desk.run("submitPrompt", {"prompt": "Say hello"})

A request is on the disk when `submit` returns. From then on it is done whether or not this script lives: the server
tries it up to three times. A script that was killed goes on by submitting the same again under the same ids.
`troupe.ipc.testing` has a desk for the tests of scripts.
"""

from codec.ipc import BadId
from codec.ipc.desk import Attempt
from troupe.ipc.blocking import BlockingDesk, BlockingTicket, call
from troupe.ipc.desk import Desk
from troupe.ipc.results import Result
from troupe.ipc.tickets import Ticket
from troupe.ipc.troubles import (
    BadParams,
    DeskError,
    IdTaken,
    NobodyAtTheDesk,
    NoServer,
    NoSuchRequest,
    NotYet,
    RequestFailed,
)

__all__ = [
    "Attempt",
    "BadId",
    "BadParams",
    "BlockingDesk",
    "BlockingTicket",
    "Desk",
    "DeskError",
    "IdTaken",
    "NoServer",
    "NoSuchRequest",
    "NobodyAtTheDesk",
    "NotYet",
    "RequestFailed",
    "Result",
    "Ticket",
    "call",
]
