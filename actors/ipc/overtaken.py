"""Overtaken: requests that our server end has answered, and that are gone from the folder before they are adopted.

A script may write its next request over the one that was just answered, or take it away with its answer, and have the
next one of its id answered as well. Vouching knows what was asked and answered; here that becomes a dossier, which is
over. So none ends unseen, and what lies in responses/ is known to be the older one's.

Rules
  - It has ended with this answer: whoever writes over a request does not wait for another attempt.
  - A row of it is not soft: the folder does not tell it anew.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from actors.ipc.books import reopened
from actors.ipc.client_steps import Row, State
from actors.ipc.dossier import Dossier, is_of, labelled, noted, stepped
from actors.ipc.errand import OVERTAKEN, ErrandMeans
from actors.ipc.given import Asked
from actors.ipc.messages import Vouched
from actors.ipc.steps import Torn
from actors.ipc.telling_time import moment_of
from codec.ipc import Failure
from codec.ipc.folder import Unreadable

Stands = Asked | Torn | Unreadable | None


class Overtaken:
    def __init__(self, means: ErrandMeans) -> None:
        self._means = means

    async def noted(self, found: Iterable[tuple[str, Dossier | None, Stands]]) -> Mapping[str, Dossier]:
        """The last one of each id that was overtaken. `found`: what is over of this id, and what stands there."""
        ended: dict[str, Dossier] = {}
        for id, over, stands in found:  # noqa: A001 - as in the contract
            known = over
            while (vouched := self._means.vouching.earlier(id, stands)) is not None:
                if known is None or known.cancelled or not is_of(known, vouched.asked.request):
                    known = self._over(vouched, known)
                    (ended[id],) = (known,) = await self._means.journal.keep(known)
                    self._means.noting.changed(known)
                    self._means.noting.succeeded(known)
                self._means.vouching.over(known)
        return ended

    def _over(self, vouched: Vouched, before: Dossier | None) -> Dossier:
        now, up, seconds, outcome = self._means.wall(), self._means.uptime(), vouched.seconds, vouched.answer.outcome
        asked, identity = vouched.asked, vouched.answer.identity
        dossier = replace(reopened(asked.request, asked.data, now - seconds, "dropped", before, up), old=())
        if isinstance(outcome, Failure):
            dossier = noted(dossier, f"{moment_of(now)}: it is not tried again, for {OVERTAKEN}")
            row = Row(dossier.id, State.GAVE_UP, 1, (outcome,), identity)
        else:
            row = Row(dossier.id, State.SUCCESS, 1, success=outcome)
        return replace(labelled(stepped(dossier, row, now, seconds, up), vouched.answer, now), answered=identity)
