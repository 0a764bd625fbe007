"""What scripts have cancelled while no client end was at work: cancelled/ has it, and nobody has acted on it yet.

Rules
  - It is noted before anything else is done. So nothing of it is published again, and what stands in requests/ under
    such an id was submitted after that: it is adopted as another request.
  - It is deleted when the journal has it. After a kill in between it is noted once more, which changes nothing.
  - What the journal did not know is journalled as cancelled, too: whoever asks for it later is told so.
"""

from collections.abc import Sequence

from actors.ipc.dossier import Dossier, cancelled, noted, opened
from actors.ipc.errand import ErrandMeans
from actors.ipc.given import TROUBLE, Tray
from actors.ipc.pinging import PING
from actors.ipc.telling_time import moment_of
from actors.store import all_of
from codec.ipc import BadRequest, read_request

CHUNK = 200
SENTENCE = "it was cancelled while no server was there."


class Withdrawn:
    def __init__(self, means: ErrandMeans) -> None:
        self._means = means

    async def note(self) -> bool:
        """Whether all is noted. False: it is to be tried again."""
        try:
            ids = sorted(await self._means.base.cancelled())
            for at in range(0, len(ids), CHUNK):
                await self._note(ids[at : at + CHUNK])
        except TROUBLE:
            return False
        return True

    async def _note(self, ids: Sequence[str]) -> None:
        notes = await self._means.base.read_several(Tray.CANCELLED, ids)
        mine = [id for id in ids if not id.startswith(PING)]  # noqa: A001 - as in the contract
        known = await all_of(mine, self._means.journal.find)
        told = [self._told(id, notes.get(id, b""), dossier) for id, dossier in zip(mine, known, strict=True)]  # noqa: A001
        if fresh := [dossier for dossier in told if dossier is not None]:
            for dossier in await self._means.journal.keep(*fresh):
                self._means.noting.changed(dossier)
        await self._means.base.forget(notes, Tray.CANCELLED)

    def _told(self, id: str, content: bytes, known: Dossier | None) -> Dossier | None:  # noqa: A002
        """None: there is nothing to be told."""
        now, up = self._means.wall(), self._means.uptime()
        if known is None:
            try:
                known = opened(read_request(content, id), content, now, "dropped", up)
            except BadRequest:
                return None
        elif known.is_over:
            return None
        return noted(cancelled(known, now, up), f"{moment_of(now)}: {SENTENCE}")
