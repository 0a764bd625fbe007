"""What the store has to say when it cannot do what was wanted: each a sentence for the person who reads it."""


class StateError(Exception):
    """The state directory cannot be used; nothing in it was changed. Raised before the tree starts."""


class StateUnusable(StateError):
    """It cannot be created, read or written."""


class StateInUse(StateError):
    """Another process owns it."""


class SchemaTooNew(StateError):
    """A newer version of the program wrote the database."""


class DatabaseDamaged(StateError):
    """The database is half-written, corrupted, or not ours."""


class StoreError(Exception):
    """One operation was not done, and nothing of it was kept. Others beside it are not concerned."""


class StoreFull(StoreError):
    """There is no space left. Works again when there is."""


class Refused(StoreError):
    """The operation itself is wrong: a name, a size or a type."""


class Conflict(StoreError):
    """An append expected the log to end elsewhere: somebody else has appended since."""

    def __init__(self, stream: str, expected: int, last: int) -> None:
        super().__init__(f"the log {stream!r} ends at {last}, not at {expected}: read on from there and decide anew")
        self.stream = stream
        self.expected = expected
        self.last = last
