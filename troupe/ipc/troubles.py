"""What can go wrong at the desk. Each text is a sentence for users: what is wrong, and what to do."""

from collections.abc import Mapping


class DeskError(Exception):
    """The folder cannot be used, or something else is in the way."""


class IdTaken(DeskError):
    """Other requests have these ids. What was submitted together with them is submitted all the same."""

    def __init__(self, taken: Mapping[str, str]) -> None:
        """`taken`: each id, with a sentence."""
        self.taken = dict(taken)
        first, *others = self.taken.values()
        super().__init__(first + (f" (and {len(others)} more)" if others else ""))


class BadParams(DeskError, ValueError):
    """What was given can be no request."""


class NobodyAtTheDesk(DeskError):
    """Nobody is there who would answer. The request is kept, and will be answered once somebody is."""


class NotYet(DeskError, TimeoutError):
    """The time is over and the request is not. It goes on; one can wait for it again."""


class NoSuchRequest(DeskError, LookupError):
    """Nobody knows a request of this id."""


class NoServer(DeskError):
    """This needs a running server, and there is none for this folder."""


class ServesElsewhere(NoServer):
    """There is a server, and it serves another folder."""


class RequestFailed(DeskError):
    """The request has failed for good."""
