"""What the parts of a client end share: which requests are open, and one lock for whoever opens or closes any.

A request is submitted, found in the folder, requeued, cancelled or archived by one of them at a time. Each holds the
lock for a bounded number of requests, so that nobody waits long for it.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import trio
from msgspec.structs import replace

from actors.ipc.dossier import Dossier, Source, noted, opened
from actors.ipc.given import BothFiles
from actors.ipc.telling_time import day_of, moment_of
from codec.ipc import Request

K = TypeVar("K")
T = TypeVar("T")

AT_ONCE = 200


class Books:
    def __init__(self, take_in: Callable[[Dossier, BothFiles | None], None]) -> None:
        """`take_in` lines an open request up, which the journal has, with its files as they have just been seen."""
        self.lock = trio.Lock()
        self.open: dict[str, bytes] = {}
        """The fingerprints of all that is open."""
        self._take_in = take_in

    def take_in(self, dossier: Dossier, files: BothFiles | None = None) -> None:
        self.open[dossier.id] = dossier.fingerprint
        self._take_in(dossier, files)


def reopened(request: Request, content: bytes, now: float, source: Source, before: Dossier | None) -> Dossier:
    """Of a request whose id may have belonged to another one, which is over."""
    dossier = opened(request, content, now, source)
    if before is None:
        return dossier
    return noted(
        replace(dossier, let_go=before.blobs),
        f"{moment_of(now)}: another request of this id had ended before ({before.shown}, {before.begun} attempts); "
        f"it began anew, and the old files are in archive/{day_of(now)}.",
    )


async def all_of(items: Iterable[K], call: Callable[[K], Awaitable[T]]) -> list[T]:
    """The results in the order of the items, which are worked at together. Raises the first error as it is."""
    todo: Sequence[K] = list(items)
    if len(todo) == 1:
        return [await call(todo[0])]
    results: dict[int, T] = {}
    errors: list[Exception] = []

    async def one(place: int) -> None:
        try:
            results[place] = await call(todo[place])
        except Exception as error:
            errors.append(error)

    for start in range(0, len(todo), AT_ONCE):
        async with trio.open_nursery() as nursery:
            for place in range(start, min(start + AT_ONCE, len(todo))):
                nursery.start_soon(one, place)
        if errors:
            raise errors[0]
    return [results[place] for place in range(len(todo))]
