"""Entries of which the disk tells nothing now, or whose content it does not give: a bad block, a lost inode, a lease of
another program.

That says nothing of what is in such a file, and nothing of any other. So whoever meets one goes on with the others, and
it is tried again. The log says so once, until the file can be read or is gone; if there are very many, of the first.
"""

import errno

import structlog

from codec.ipc.folder import Tray

ALL_ALIKE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""The errors that any other entry would have met as well, because we lack something."""
MOST_SAID = 1_000

log = structlog.get_logger("ipc")


class Withheld:
    """Used by one thread at a time."""

    def __init__(self) -> None:
        self._said: set[tuple[Tray, str]] = set()

    def __bool__(self) -> bool:
        return bool(self._said)

    def met(self, tray: Tray, name: str, error: OSError) -> None:
        """Raises this error, if it is no fault of the entry."""
        if error.errno in ALL_ALIKE:
            raise error
        if len(self._said) < MOST_SAID and (tray, name) not in self._said:
            self._said.add((tray, name))
            log.warning("cannot be read now", entry=ascii(name), room=tray.value, error=error.strerror or str(error))

    def given(self, tray: Tray, name: str) -> None:
        """It can be read, or is gone."""
        self._said.discard((tray, name))

    def listed(self, tray: Tray, names: set[str]) -> None:
        """Only these are in that room."""
        self._said = {(room, name) for room, name in self._said if room is not tray or name in names}
