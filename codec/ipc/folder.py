"""What can stand in the base folder, and the news of it: words that the disk and both ends share."""

import enum
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from codec.ipc.request import Request
from codec.ipc.response import Outcome


class Tray(enum.Enum):
    REQUESTS = "requests"
    SUBMITTED = "submitted"
    """Of what scripts have submitted, until the client end has it in its journal: a HEAD peer removes requests."""
    CANCELLED = "cancelled"
    """Requests that scripts have cancelled while no client end was at work, until one has noted that."""
    RESPONSES = "responses"
    FAILED = "failed"
    EVALUATIONS = "eval"
    QUARANTINE = "quarantine"
    ARCHIVE = "archive"


STATE, DRAFTS = "state", "tmp"
ROOMS = (*(tray.value for tray in Tray), STATE, DRAFTS)
MARKS = tuple(tray.value for tray in (Tray.REQUESTS, Tray.RESPONSES, Tray.FAILED, Tray.QUARANTINE))
"""A folder with one of these in it is a desk's, whoever has made it."""


class BaseGone(Exception):
    """The text is a sentence for users: what is wrong with the folder, and what to do."""


class BaseFull(Exception):
    """The text is a sentence for users."""


class BaseUnwritable(BaseGone):
    """It can be read, and nothing in it can be changed."""


class EntryStuck(BaseGone):
    """One entry cannot be changed; nothing is known of any other."""


class IdOfAnother(EntryStuck):
    """A script has submitted another request of this id, and that stays."""


class Occupied(Exception):
    """There is a response already, and nothing was written."""


# -- files


class Identity(NamedTuple):
    """Which file it is that stands under a name. Equal contents are told apart by it."""

    number: int
    """Of the inode."""
    changed_ns: int


class Torn(Struct, frozen=True):
    """A document that cannot be read, and may still be being written; or the disk does not give it now."""


class Spoiled(Struct, frozen=True):
    """A document that cannot be read, and has not changed for so long that nobody is writing it any more."""

    identity: Identity
    why: str


class Answer(Struct, frozen=True):
    """A response that can be read."""

    identity: Identity
    outcome: Outcome
    begun: int = 1
    """How often what was asked was begun, for this answer."""


Seen = Torn | Spoiled | Answer | None
"""What stands in responses/; None: nothing."""


class Unreadable(Struct, frozen=True):
    """A request that cannot be read, and will not be: nobody is writing it any more."""

    fingerprint: bytes
    """Of its bytes."""
    why: str


class Asked(Struct, frozen=True):
    """A request that can be read."""

    request: Request
    data: bytes
    """The file's content."""


class BothFiles(Struct, frozen=True):
    """Both files of a request, as they are now."""

    request: Asked | Torn | Unreadable | None
    response: Seen
    answer: bytes | None = None
    """The content of the response, if it can be read."""
    took: float | None = None
    """Seconds from the request to its response, by the times of the files. None: one cannot be read, or the times
    cannot be right."""
    stands_as: Identity | None = None
    """The file of the request. None: it is torn, or not there."""


# -- news


class FilesChanged(Struct, frozen=True):
    """Something has happened to the files of these ids. The same id may be told more than once, never less."""

    ids: Mapping[Tray, frozenset[str]]
    """Of REQUESTS, SUBMITTED and RESPONSES only."""


class Rescan(Struct, frozen=True):
    """Any file may have changed: events were lost, or it is time to look again, or the folder has just been opened."""

    why: str


class BaseIsGone(Struct, frozen=True):
    why: str
    """A sentence for users."""


class BaseIsBack(Struct, frozen=True):
    """It can be used again. A Rescan follows."""


class WritingFails(Struct, frozen=True):
    """Something could not be written, and nothing of its size could be: the disk is full, or may not be changed."""

    why: str
    """A sentence for users."""


class WritingWorks(Struct, frozen=True):
    """Something could be written again."""


News = FilesChanged | Rescan | BaseIsGone | BaseIsBack | WritingFails | WritingWorks


class BaseHealth(Struct, frozen=True):
    path: str
    trouble: str | None
    """A sentence for users; None: it can be used."""
    watched: bool
    """By the kernel's events; False: by looking at intervals."""
    events: int
    overflows: int
    rescans: int
    quarantined: int
    last_sync_ms: float
    reasons: tuple[str, ...] = ()
    """Why the last few things went to quarantine, as sentences, newest first."""
    blocked: str | None = None
    """Why nothing can be archived, as a sentence; attempts go on."""
    withheld: int = 0
    """Files that the disk does not give now; of very many, the first."""
    withheld_reasons: tuple[str, ...] = ()
    """Why, of some, as sentences."""
