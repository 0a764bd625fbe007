"""Entries of which the disk tells nothing now, or whose content it does not give: a bad block, a lost inode, a lease of
another program.

That says nothing of what is in such a file, and nothing of any other. So whoever meets one goes on with the others, and
it is tried again. The log says so once, and the desk until the file can be read or is gone; if there are very many, of
the first.
"""

import errno
from itertools import islice

import structlog

from codec.ipc.folder import Tray

ALL_ALIKE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""The errors that any other entry would have met as well, because we lack something."""
MOST_SAID = 1_000
FIRST = 20
"""Of so many the desk says why."""

log = structlog.get_logger("ipc")


class Withheld:
    """Used by one thread at a time, but for what is told."""

    def __init__(self) -> None:
        self._said: dict[tuple[Tray, str], str] = {}
        """Why, as sentences."""
        self.told: tuple[int, tuple[str, ...]] = (0, ())
        """How many there are, and why of the first."""

    def __bool__(self) -> bool:
        return bool(self._said)

    def met(self, tray: Tray, name: str, error: OSError) -> None:
        """Raises this error, if it is no fault of the entry."""
        if error.errno in ALL_ALIKE:
            raise error
        if len(self._said) < MOST_SAID and (tray, name) not in self._said:
            why = error.strerror or str(error)
            self._said[tray, name] = f"{tray.value}/{ascii(name)[1:-1]}: {why}"
            self._tell()
            log.warning("cannot be read now", entry=ascii(name), room=tray.value, error=why)

    def given(self, tray: Tray, name: str) -> None:
        """It can be read, or is gone."""
        if self._said.pop((tray, name), None) is not None:
            self._tell()

    def listed(self, tray: Tray, names: set[str]) -> None:
        """Only these are in that room."""
        there = {key: why for key, why in self._said.items() if key[0] is not tray or key[1] in names}
        if len(there) < len(self._said):
            self._said = there
            self._tell()

    def _tell(self) -> None:
        self.told = len(self._said), tuple(islice(self._said.values(), FIRST))
