"""Late answers: responses to requests that were given up before.

Those requests are over, so no errand looks at them. Their ids are kept here, the last ones if there are very many. Once
there is news of such a response, `Adopting` looks at it, says in the dossier that it came, and a requeue takes it.

Rules
  - Nobody need have seen it come. When the client end starts, the ids are read from the journal, and of the responses
    that stand there those are looked at that have been written since a client last lived.
  - Where the kernel has lost events, or tells of none, names are compared: a response that was not there before is
    looked at. That is done seldom (seldom.py).
"""

from collections.abc import Callable, Iterable

import trio

from actors.ipc.again import WantedWork
from actors.ipc.errand import ErrandMeans
from actors.ipc.given import Tray
from actors.ipc.seldom import SeldomLooks

MOST_GIVEN_UP = 10_000
"""Requests whose late answers are noticed."""


class LateAnswers:
    def __init__(self, means: ErrandMeans, consider: Callable[[Iterable[str]], None]) -> None:
        self._means = means
        self._consider = consider
        self._given_up: dict[str, None] = {}
        self._answered: frozenset[str] = frozenset()
        """Of those: they had a response when names were last compared."""
        self._rescan = WantedWork()
        self._looks = SeldomLooks()
        self._known = False
        """The journal has been read."""

    def add(self, id: str) -> None:  # noqa: A002 - as in the contract
        """It has just been given up."""
        self._given_up.pop(id, None)
        self._given_up[id] = None
        if len(self._given_up) > MOST_GIVEN_UP:
            del self._given_up[next(iter(self._given_up))]

    def news(self, ids: frozenset[str]) -> None:
        """Something has happened to their responses."""
        self._consider(ids & self._given_up.keys())

    def rescan(self) -> None:
        self._rescan.want()

    def reopened(self) -> None:
        """The folder may be another one."""
        self._looks.reopened()

    async def serve(self) -> None:
        """Runs beside the client end."""
        await self._rescan.serve(self._look)

    async def _look(self) -> None:
        base, began = self._means.base, trio.current_time()
        health = await base.health()
        if not self._looks.is_due(health):
            return
        is_first = not self._known
        if is_first:
            await self._read_journal()
        there = await base.ids(Tray.RESPONSES) & self._given_up.keys() if self._given_up else frozenset()
        self._consider(await base.missed(there, Tray.RESPONSES) if is_first and there else there - self._answered)
        self._answered, self._known = there, True
        self._looks.looked(health, began)

    async def _read_journal(self) -> None:
        found: list[tuple[float, str]] = []
        after: str | None = "over:"
        while after is not None:
            page = await self._means.journal.facts(after)
            found += [(fact.changed, fact.id) for fact in page.facts if fact.state == "gave up"]
            found = sorted(found)[-MOST_GIVEN_UP:]
            after = page.after
        since, self._given_up = self._given_up, {}
        for _, id in found:  # noqa: A001 - as in the contract
            self.add(id)
        for id in since:  # noqa: A001
            self.add(id)
