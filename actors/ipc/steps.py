"""What either end of the desk can see of a request, and the single steps in which it goes on.

Each end repeats three things for every request in hand: it looks at the files, it asks a pure function what to do next
(client_steps.py, server_steps.py), and does it. A step is one change, either of the journal or of one file, and nothing
but these steps changes anything. So a crash can only happen between two of them, and going on after a crash is the same
as going on: look, and ask what to do next.
"""

from dataclasses import dataclass
from typing import NamedTuple

from codec.ipc import Outcome


class Identity(NamedTuple):
    """Which file it is that stands under a name. Equal contents are told apart by it."""

    number: int
    """Of the inode."""
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Torn:
    """A document that cannot be read, and may still be being written."""


@dataclass(frozen=True, slots=True)
class Spoiled:
    """A document that cannot be read, and has not changed for so long that nobody is writing it any more."""

    identity: Identity
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A response that can be read."""

    identity: Identity
    outcome: Outcome


Seen = Torn | Spoiled | Answer | None
"""What stands in responses/; None: nothing."""


# -- steps that both ends take


@dataclass(frozen=True, slots=True)
class Wait:
    """There is nothing to do until the files or the clock say something new."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """Move this response to quarantine/, if it is still that one."""

    identity: Identity
    why: str
