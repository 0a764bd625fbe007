"""Patches that an editor has applied without a word: their files tell.

The client of the system from which the contract comes applies a patch itself, and tells nobody. So a patch's file is
looked at from time to time while the patch waits (for an answer, or for the editor that is to apply it) and a client is
there that applies patches. When the file is exactly as the patch makes it, the patch counts as applied, and is settled
as the result of such a client (requests.py).

Rules
  - Only an exact match counts: for an approval by hunks, the file with these hunks and without the others.
  - A file has to be so at two looks. An editor that tells what it does has told it by then, and its word counts.
  - The first answer wins, as always. A file that the server has begun to change itself is not looked at.
  - Looks take a small part of the time, however many files wait and however slow the disk is.
"""

import logging
from collections.abc import Callable
from typing import Any

import trio

from actors.agent.file_calls import path_of, remade
from actors.agent.given import FileRefused
from actors.agent.half_done import FilesNow
from actors.agent.images import Images
from actors.agent.record import SessionRecord
from actors.agent.replacing import approved
from actors.agent.requests import APPLIES
from actors.kernel import Actor, KernelError, in_words
from actors.store import StoreError
from codec.agent.action_events import PatchProposed
from codec.agent.approvals import Pending
from codec.agent.files import digest_of

LOOK_SECONDS = 0.5
"""Between two looks, at least..."""
PART = 0.05
"""...and so that they take this part of the time at most."""
LONGEST_LOOK = 5.0

logger = logging.getLogger("troupe.agent")

Hunks = tuple[int, ...] | None


class Noticing:
    def __init__(
        self,
        session: Actor[Any],
        record: SessionRecord,
        files_now: FilesNow | None,
        noticed: Callable[[Pending, str | None, str], None],
    ) -> None:
        """`noticed` is called with a request, the digest of its file, and the name of the client that has applied it,
        if it can be told which."""
        self._session = session
        self._record = record
        self._files_now = files_now
        self._noticed = noticed
        self._looks = False
        self._wanted: dict[tuple[str, Hunks], str | None] = {}
        """The digest of each file as its patch makes it; None: there is no file then. Empty: nobody knows any more."""
        self._seen: set[str] = set()
        """Requests whose files were so at the last look."""

    def begin(self) -> None:
        """If there is something to look at, and nobody does yet."""
        if not self._looks and self._files_now is not None and self._watched():
            self._looks = True
            self._session.run_beside(self._look, self._files_now)

    def _watched(self) -> list[Pending]:
        here = APPLIES & self._record.clients.capabilities
        return [each for each in self._record.row.pending if may_be_applied(each)] if here else []

    async def _look(self, files_now: FilesNow) -> None:
        nap, told = LOOK_SECONDS, False
        while self._watched():
            await trio.sleep(nap)
            began = trio.current_time()
            try:
                with trio.move_on_after(LONGEST_LOOK):
                    await self._compare(files_now, self._watched())
            except (KernelError, StoreError, FileRefused) as error:
                if not told:
                    logger.warning("whether an editor has applied a patch cannot be seen now: %s", in_words(error))
                told = True
            nap = max(LOOK_SECONDS, (trio.current_time() - began) / PART)
        self._looks = False
        self._wanted.clear()
        self._seen.clear()

    async def _compare(self, files_now: FilesNow, requests: list[Pending]) -> None:
        for request in requests:
            key = _key(request)
            if key not in self._wanted:
                self._wanted[key] = await self._digest(request)
        workspace = self._record.row.fact.workspace_id
        now = await files_now(self._session.stage.registry, workspace, [path_of(each) for each in requests])
        by = self._record.clients.name_of_one_with(APPLIES)
        latest = {each.request_id: each for each in self._watched()}
        for request, file in zip(requests, now, strict=True):
            known = latest.get(request.request_id)
            if known is None or _key(known) != _key(request) or isinstance(file, FileRefused):
                continue
            digest = None if file is None else file.digest
            if digest != self._wanted[_key(request)]:
                self._seen.discard(request.request_id)
            elif request.request_id in self._seen:
                self._noticed(known, digest, by)
            else:
                self._seen.add(request.request_id)

    async def _digest(self, request: Pending) -> str | None:
        images = Images(self._session.stage.registry, self._record.row.fact.id)
        base, after = [None if blob is None else await images.get(blob) for blob in (request.base, request.content)]
        if (base is None) != (request.base is None) or (after is None) != (request.content is None):
            return ""
        change = remade(request, base, after)
        change.only = _key(request)[1]
        data, _ = await approved(change)
        return None if data is None else digest_of(data)


def may_be_applied(request: Pending) -> bool:
    """Whether it is a patch that an editor may apply now."""
    resolution = request.resolution
    return (
        isinstance(request.asked, PatchProposed)
        and request.base != request.content
        and not request.begun
        and request.result is None
        and (resolution is None or (resolution.approved and resolution.hunks != ()))
    )


def _key(request: Pending) -> tuple[str, Hunks]:
    return request.request_id, None if request.resolution is None else request.resolution.hunks
