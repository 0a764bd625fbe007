"""A folder that was gone and is back may be another one: requests that are over and have no file there any more say so.

Their journal still knows how they ended, and a requeue publishes them again. What is open needs nothing: its next look
finds that it has to be published. A request that was cancelled has no file, and none is missed.

Names are compared first, and only what seems to have none is looked at. A bounded number holds the books' lock at once.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.ipc.again import WantedWork
from actors.ipc.books import Books
from actors.ipc.dossier import Dossier, noted
from actors.ipc.errand import ErrandMeans
from actors.ipc.given import Tray
from actors.ipc.telling_time import moment_of
from actors.store import all_of

GONE = "its files are gone"
CHUNK = 100


class Missing:
    def __init__(self, means: ErrandMeans, books: Books) -> None:
        self._means = means
        self._books = books
        self._wanted = WantedWork()

    def look(self) -> None:
        self._wanted.want()

    async def serve(self) -> None:
        """Runs beside the client end."""
        await self._wanted.serve(self._look_for_all)

    async def _look_for_all(self) -> None:
        base, journal = self._means.base, self._means.journal
        there: frozenset[str] = frozenset()
        for tray in (Tray.REQUESTS, Tray.RESPONSES, Tray.FAILED):
            there |= await base.ids(tray)
        after: str | None = "over:"
        while after is not None:
            page = await journal.facts(after)
            ids = [
                fact.id
                for fact in page.facts
                if fact.id not in there and fact.state in ("success", "gave up") and fact.message != GONE
            ]
            for start in range(0, len(ids), CHUNK):
                async with self._books.lock:
                    await self._say(ids[start : start + CHUNK])
            after = page.after

    async def _say(self, ids: Sequence[str]) -> None:
        at = moment_of(self._means.wall())
        sentence = f"{at}: when the folder could be used again, it had no file of this request."
        dossiers = await all_of(ids, self._missed)
        lost = [replace(noted(each, sentence), message=GONE) for each in dossiers if each is not None]
        if lost:
            for dossier in await self._means.journal.keep(*lost):
                self._means.noting.changed(dossier)

    async def _missed(self, id: str) -> Dossier | None:  # noqa: A002 - as in the contract
        dossier = await self._means.journal.find_over(id)
        if dossier is None or dossier.cancelled:
            return None
        files = await self._means.base.look(id)
        is_there = files.request is not None or files.response is not None
        return None if is_there or await self._means.base.read(Tray.FAILED, id) is not None else dossier
