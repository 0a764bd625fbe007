"""Doubts: requests of which nobody knows whether the journal has them.

The store may say nothing in time, or fail after the commit, when a request is submitted or requeued. Then whoever asked
for that is told that it failed; but if the row is there all the same, the request is open, and is begun here. Else it
would wait until the next start, though it is listed as open.

Rules
  - First the store must take a write again: whatever was on its way before that is done, or never will be.
  - An open row of which the books know nothing belongs to nobody: who opens a request holds the lock of the books, and
    an errand takes its request out of the books only after the row was moved.
"""

from actors.ipc.books import Books
from actors.ipc.errand import ErrandMeans


class Doubts:
    def __init__(self, means: ErrandMeans, books: Books) -> None:
        self._means = means
        self._books = books

    async def serve(self) -> None:
        """Runs beside the client end."""
        await self._books.doubted.serve(self._take_in_what_is_open)

    async def _take_in_what_is_open(self) -> None:
        await self._means.journal.settle()
        after: str | None = ""
        while after is not None:
            page = await self._means.journal.open_page(after)
            async with self._books.lock:
                for id in [each.id for each in page.dossiers if each.id not in self._books.open]:  # noqa: A001
                    dossier = await self._means.journal.find_open(id)
                    if dossier is not None:
                        self._books.take_in(dossier)
            after = page.after
