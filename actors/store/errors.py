"""The store's errors. The text of each is a sentence for the user."""


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
    """One operation was not done, and nothing of it was stored. Others are not affected."""


class StoreFull(StoreError):
    """There is no space left. Operations work again when there is."""


class Refused(StoreError):
    """The operation itself is wrong: a name, a size or a type."""


class Conflict(StoreError):
    """An append expected the log to end elsewhere, so something else has been appended since."""

    def __init__(self, stream: str, expected: int, last: int) -> None:
        super().__init__(f"the log {stream!r} ends at {last}, not at {expected}: read on from there and decide anew")
        self.stream = stream
        self.expected = expected
        self.last = last
