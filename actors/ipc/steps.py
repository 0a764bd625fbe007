"""What either end of the desk can see of a request, and the single steps in which it goes on.

Each end repeats three things for every request in hand: it looks at the files, it asks a pure function what to do next
(client_steps.py, server_steps.py), and does it. A step is one change, either of the journal or of one file, and nothing
but these steps changes anything. So a crash can only happen between two of them, and going on after a crash is the same
as going on: look, and ask what to do next.
"""

from msgspec import Struct

from codec.ipc.folder import Answer, Identity, Seen, Spoiled, Torn

__all__ = ["OTHER", "Answer", "Identity", "Seen", "SetAside", "Spoiled", "Torn", "Wait"]

OTHER = "it answered another request of the same id"

# -- steps that both ends take


class Wait(Struct, frozen=True):
    """There is nothing to do until the files or the clock say something new."""


class SetAside(Struct, frozen=True):
    """Move this response to quarantine/, if it is still that one."""

    identity: Identity
    why: str
