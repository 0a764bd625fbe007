"""The lineup: open requests that are not in flight, in the order of their turns (fairness.py).

A request waits as a line of the queue, and its row is read again when its turn comes. Only of those that came last, up
to `NEAR_BYTES`, the dossiers stay in memory, so that a request whose turn is at once need not be read.
"""

from actors.ipc.dossier import Dossier
from actors.ipc.fairness import FairQueue
from actors.ipc.given import BothFiles
from codec.ipc import Wishes

NEAR_BYTES = 16 << 20
"""Of the contents of waiting requests that are in memory as well."""


class Lineup:
    def __init__(self) -> None:
        self._queue = FairQueue()
        self._near: dict[str, tuple[Dossier, BothFiles | None]] = {}
        self._near_bytes = 0

    def __len__(self) -> int:
        return len(self._queue)

    def __contains__(self, id: str) -> bool:  # noqa: A002 - as in the contract
        return id in self._queue

    def add(self, dossier: Dossier, files: BothFiles | None = None) -> None:
        """`files`: as they have just been seen."""
        self.add_row(dossier)
        if dossier.id not in self._near and self._near_bytes + len(dossier.content) <= NEAR_BYTES:
            self._near[dossier.id] = dossier, files
            self._near_bytes += len(dossier.content)

    def add_row(self, dossier: Dossier) -> None:
        """Of which only the row has been read, and not its blobs."""
        wishes = Wishes(
            submitter=dossier.submitter,
            priority=dossier.priority,
            not_before=dossier.not_before,
            deadline=None if dossier.begun else dossier.deadline,
        )
        self._queue.add(dossier.id, wishes)

    def add_again(self, id: str) -> None:  # noqa: A002
        """One that could not be begun."""
        self._queue.add(id)

    def take(self, now: float) -> str | None:
        return self._queue.take(now)

    def next_moment(self, now: float) -> float | None:
        return self._queue.next_moment(now)

    def at_hand(self, id: str) -> tuple[Dossier | None, BothFiles | None]:  # noqa: A002
        """What is in memory of it, and is not afterwards."""
        dossier, files = self._near.pop(id, (None, None))
        if dossier is not None:
            self._near_bytes -= len(dossier.content)
        return dossier, files

    def is_later(self, id: str) -> None:  # noqa: A002
        """Its turn is not at once: what was seen of its files is no news then."""
        if id in self._queue and id in self._near:
            self._near[id] = self._near[id][0], None

    def discard(self, id: str) -> None:  # noqa: A002
        self._queue.discard(id)
        self.at_hand(id)
