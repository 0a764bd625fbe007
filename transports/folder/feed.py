"""What has happened in watched folders, gathered: however many events there were, each name is told once.

Inotify tells each step of a program: a file was made, written to, closed. Readers only need
the names. They are gathered from everything that is there to be read, up to a bound, so that thousands of changes
at once are a few answers and not thousands.
"""

from collections.abc import Iterable

import trio
from msgspec import Struct, field

from transports.folder.inotify import FolderEvent, Inotify

PACE_SECONDS, MANY = 0.01, 16
"""So many events in so short a time are many."""
READS = 16
"""From one answer to the next: about 20,000 events."""


class Gathered(Struct):
    names: dict[int, set[str]] = field(default_factory=dict)
    """By the number of their folder."""
    unfinished: dict[int, set[str]] = field(default_factory=dict)
    """Those of them that are written to, and of which nothing else is told."""
    folders: set[int] = field(default_factory=set)
    """In which a folder has come or gone."""
    itself: set[int] = field(default_factory=set)
    """Which have themselves been moved, deleted or changed."""
    over: set[int] = field(default_factory=set)
    """Which are no longer watched."""
    lost: bool = False
    """Events were lost, and any folder may have changed."""
    events: int = 0

    @property
    def replaced(self) -> set[int]:
        """Folders that may be others now, or may have others in them."""
        return self.folders | self.itself

    def take(self, events: Iterable[FolderEvent]) -> None:
        for event in events:
            self.events += 1
            if event.lost:
                self.lost = True
                continue
            if event.name:
                names = self.names.setdefault(event.number, set())
                unfinished = self.unfinished.setdefault(event.number, set())
                if not event.unfinished:
                    unfinished.discard(event.name)
                elif event.name not in names:
                    unfinished.add(event.name)
                names.add(event.name)
            else:
                self.itself.add(event.number)
            if event.of_folder and event.name:
                self.folders.add(event.number)
            if event.over:
                self.over.add(event.number)


class EventPace:
    """A lone event is told at once. Where many come in a row, each answer waits for more of them."""

    def __init__(self) -> None:
        self._since = 0.0
        self._events = 0

    def settle(self, events: int) -> float:
        """In how many seconds to ask again, after so many events."""
        now = trio.current_time()
        if now - self._since > PACE_SECONDS:
            self._since, self._events = now, 0
        self._events += events
        return PACE_SECONDS if self._events > MANY else 0.0


async def gathered(inotify: Inotify, *, settle: float = 0.0) -> Gathered:
    """Waits until anything has happened. `settle`: seconds in which more of it may come."""
    await trio.lowlevel.wait_readable(inotify)
    if settle:
        await trio.sleep(settle)
    found = Gathered()
    for _ in range(READS):
        events = inotify.read()
        if not events:
            break
        found.take(events)
    return found
