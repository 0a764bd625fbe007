"""What the parts of a client end share: which requests are open, and the lock under which they are opened or
closed.

A request is submitted, found in the folder, requeued, cancelled or archived by one of them at a time. Each holds the
lock for a bounded number of requests, so that nobody waits long for it.
"""

from collections.abc import Callable

import trio
from msgspec.structs import replace

from actors.ipc.again import WantedWork
from actors.ipc.dossier import Dossier, Source, essence_of, noted, opened
from actors.ipc.given import BothFiles
from actors.ipc.telling_time import day_of, moment_of
from actors.ipc.uptime import Uptime
from codec.ipc import Request
from codec.words import counted


class Books:
    def __init__(self, take_in: Callable[[Dossier, BothFiles | None], None]) -> None:
        """`take_in` lines an open request up, which the journal has, with its files as they have just been seen."""
        self.lock = trio.Lock()
        self.open: dict[str, bytes] = {}
        """The fingerprints of all that is open."""
        self.doubted = WantedWork()
        """Wanted when the journal may have an open request that is not here (doubts.py)."""
        self._take_in = take_in

    def take_in(self, dossier: Dossier, files: BothFiles | None = None) -> None:
        self.open[dossier.id] = dossier.fingerprint
        self._take_in(dossier, files)


def reopened(
    request: Request, content: bytes, now: float, source: Source, before: Dossier | None, up: Uptime | None = None
) -> Dossier:
    """Of a request whose id may have belonged to another one, which is over."""
    dossier = opened(request, content, now, source, up)
    if before is None:
        return dossier
    if before.made_way:
        sentence = "another request of this id was posted at the same time, and made way for this one."
        return noted(replace(dossier, let_go=before.blobs), f"{moment_of(now)}: {sentence}")
    old = tuple(each for each in (before.read, before.answered) if each)
    how = f"{before.shown}, {counted(before.begun, 'attempt')}"
    return noted(
        replace(dossier, let_go=before.blobs, old=old, instead_of=essence_of(before)),
        f"{moment_of(now)}: another request of this id had ended before ({how}); "
        f"it began anew, and the old files are in archive/{day_of(now)} or in quarantine.",
    )
