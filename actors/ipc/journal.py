"""The client end's journal in the store: a dossier of every request.

    space                     key     value
    ipc/client/BASE/open      its id  1, then the Dossier: of what is under way or waits
    ipc/client/BASE/over      its id  the same, of what has ended
    ipc/client/BASE/aside     its id  a value that this version cannot read

BASE is a digest of the folder's path, so that each folder has a journal of its own. A request moves from the one space
to the other within one commit. At a start only what is open is read, however much is over.

Rules
  - What does not fit into a row is a blob of the request's own (blobs.py), which is there before the row that names it.
    It goes when no row names it any more: the row that has let it go says so until it is gone.
  - A value that cannot be read is set aside and told. It costs one line of the list, never the start. Its blobs go.
"""

import hashlib
import logging
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.blobs import OwnBlobs, named_in
from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier
from actors.ipc.uptime import Uptime
from actors.kernel import Registry
from actors.store import STORE, Delete, Put, StoreClient
from codec.ipc import BadRequest, Outcome, read_request
from codec.ipc.desk import Attempt, RequestDetail, RequestFact

VERSION = b"1"
PAGE = 1_000
LARGE_CONTENT = 256 << 10
"""Bytes of a request from which on it is a blob..."""
LARGE_OUTCOME = 16 << 10
"""...and of one attempt's outcome. A row with as many attempts and notes as are kept is smaller than 1 MiB."""

logger = logging.getLogger("troupe.ipc")


class _Fact(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a Dossier that a line of the list needs: the rest is not decoded."""

    id: str
    command: str
    created: float
    changed: float
    state: State = State.POLLING
    attempt: int = 1
    cancelled: bool = False
    begun: int = 0
    earlier: int = 0
    seconds: float | None = None
    submitter: str = ""
    priority: int = 0
    message: str = ""
    accepted: Uptime | None = None

    @property
    def fact(self) -> RequestFact:
        under_way = self.begun == self.earlier + self.attempt
        tried = (Attempt(number=self.begun, began=self.changed),) if under_way else ()
        return Dossier(
            id=self.id,
            command=self.command,
            content=b"",
            fingerprint=b"",
            created=self.created,
            changed=self.changed,
            state=self.state,
            attempt=self.attempt,
            cancelled=self.cancelled,
            tried=tried,
            begun=self.begun,
            seconds=self.seconds,
            submitter=self.submitter,
            priority=self.priority,
            message=self.message,
        ).fact


class _Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The part that says whether there is an answer to be evaluated."""

    state: State = State.POLLING
    referenced: bool = False


class FactsPage(Struct, frozen=True):
    facts: tuple[RequestFact, ...]
    after: str | None
    """What the next page is asked for with; None: this is the last."""
    accepted: dict[str, Uptime] = {}
    """When each was, by the machine's own clock; where that is known."""


class DossierPage(Struct, frozen=True):
    dossiers: tuple[Dossier, ...]
    """Contents and outcomes that are blobs are not in them."""
    after: str | None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Dossier).decode
_decode_ending = msgspec.json.Decoder(_Ending).decode
_decode_fact = msgspec.json.Decoder(_Fact).decode
_decode_outcome = msgspec.json.Decoder(Outcome).decode


class ClientJournal:
    """Every call may raise the store's errors."""

    def __init__(self, registry: Registry, base: str) -> None:
        """`base`: the folder's path."""
        self._registry = registry
        room = f"ipc/client/{hashlib.sha256(base.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"
        self._open, self._over, self._aside = (f"{room}/{space}" for space in ("open", "over", "aside"))
        self._blobs = OwnBlobs(lambda: self._store, room)

    @property
    def _store(self) -> StoreClient:
        return StoreClient(self._registry.get(STORE))

    # -- for the list

    async def facts(self, after: str = "") -> FactsPage:
        """A line of every request: first of those that are open, then of those that are over."""
        space, _, key = after.partition(":")
        if space in ("", "open"):
            page = await self._facts(self._open, key)
            return replace(page, after="over:" if page.after is None else f"open:{page.after}")
        page = await self._facts(self._over, key)
        return page if page.after is None else replace(page, after=f"over:{page.after}")

    async def _facts(self, space: str, after: str) -> FactsPage:
        """`after` of this page is a key."""
        page = await self._store.keys(space, after=after, limit=PAGE)
        facts, accepted, bad = [], {}, []
        for id, value in page:  # noqa: A001 - as in the contract
            try:
                known = _decode_fact(_unwrapped(value))
            except msgspec.MsgspecError:
                bad.append((id, value))
                continue
            facts.append(known.fact)
            if known.accepted is not None:
                accepted[known.id] = known.accepted
        await self._set_aside(space, bad)
        return FactsPage(tuple(facts), page[-1][0] if page else None, accepted)

    async def detail(self, id: str) -> RequestDetail | None:  # noqa: A002
        """None: there is no such request."""
        dossier = await self.find(id)
        if dossier is None:
            return None
        try:
            request = read_request(dossier.content, id)
        except BadRequest:
            return dossier.detail(None)
        return dossier.detail(request)

    # -- for the evaluator

    async def referenced(self, after: str) -> tuple[list[str], str | None]:
        """Of a page of what is over, the successes whose requests have a reference; and what the next page is asked for
        with; None: this is the last."""
        page, found = await self._store.keys(self._over, after=after, limit=PAGE), []
        for id, value in page:  # noqa: A001
            with suppress(msgspec.MsgspecError):  # whoever reads it as a whole sets it aside
                ending = _decode_ending(_unwrapped(value))
                if ending.referenced and ending.state is State.SUCCESS:
                    found.append(id)
        return found, page[-1][0] if page else None

    # -- for the client end

    async def open_page(self, after: str = "") -> DossierPage:
        return await self._page(self._open, after)

    async def over_page(self, after: str = "") -> DossierPage:
        return await self._page(self._over, after)

    async def _page(self, space: str, after: str) -> DossierPage:
        page = await self._store.keys(space, after=after, limit=PAGE)
        dossiers, bad = [], []
        for id, value in page:  # noqa: A001
            try:
                dossiers.append(_decode(_unwrapped(value)))
            except msgspec.MsgspecError:
                bad.append((id, value))
        await self._set_aside(space, bad)
        return DossierPage(tuple(dossiers), page[-1][0] if page else None)

    async def find(self, id: str) -> Dossier | None:  # noqa: A002
        """One request, open or over, with all that belongs to it."""
        return await self.find_open(id) or await self.find_over(id)

    async def find_open(self, id: str) -> Dossier | None:  # noqa: A002
        return await self._find(self._open, id)

    async def find_over(self, id: str) -> Dossier | None:  # noqa: A002
        return await self._find(self._over, id)

    async def _find(self, space: str, id: str) -> Dossier | None:  # noqa: A002
        value = await self._store.get(space, id)
        if value is None:
            return None
        try:
            return await self._whole(_decode(_unwrapped(value)))
        except msgspec.MsgspecError:
            await self._set_aside(space, [(id, value)])
            return None

    async def keep(self, *dossiers: Dossier, soft: bool = False) -> list[Dossier]:
        """All of them or none; on the disk when it returns. Gives back the same dossiers, which know their blobs.
        Soft: any kill leaves it, and a power cut may undo it, for what the files can tell anew."""
        kept = [await self._with_blobs(dossier) for dossier in dossiers]
        changes: list[Put | Delete] = []
        for dossier in kept:
            here, there = (self._over, self._open) if dossier.is_over else (self._open, self._over)
            changes += [Put(here, dossier.id, _wrapped(dossier), soft), Delete(there, dossier.id, soft)]
        await self._store.together(*changes)
        return [await self._without_what_it_let_go(dossier) for dossier in kept]

    async def settle(self) -> None:
        """When it returns, what was to be kept before is, or never will be."""
        await self._store.touch()

    async def forget(self, dossiers: Sequence[Dossier]) -> None:
        """Of requests that are over. First their blobs go, and then the rows, which say until then what is to go."""
        for dossier in dossiers:
            await self._blobs.drop(dossier.id, dossier.blobs)
        await self._store.together(*(Delete(self._over, dossier.id) for dossier in dossiers))

    # -- blobs

    async def _with_blobs(self, dossier: Dossier) -> Dossier:
        if not dossier.blob and len(dossier.content) > LARGE_CONTENT:
            dossier = replace(dossier, blob=await self._blobs.put(dossier.id, dossier.content))
        for each in dossier.tried:
            if each.outcome is not None and each.number not in dossier.large:
                encoded = _encode(each.outcome)
                if len(encoded) > LARGE_OUTCOME:
                    digest = await self._blobs.put(dossier.id, encoded, each.number)
                    dossier = replace(dossier, large={**dossier.large, each.number: digest})
        return _naming_what_it_has(dossier) if dossier.large or dossier.let_go else dossier

    async def _without_what_it_let_go(self, dossier: Dossier) -> Dossier:
        if not dossier.let_go:
            return dossier
        return replace(dossier, let_go=await self._blobs.drop(dossier.id, dossier.let_go))

    async def _whole(self, dossier: Dossier) -> Dossier:
        if dossier.blob:
            dossier = replace(dossier, content=await self._blobs.get(dossier.id, dossier.blob) or b"")
        tried = list(dossier.tried)
        for place, each in enumerate(tried):
            if each.number in dossier.large:
                encoded = await self._blobs.get(dossier.id, dossier.large[each.number], each.number)
                if encoded is not None:
                    tried[place] = replace(each, outcome=_decode_outcome(encoded))
        return replace(dossier, tried=tuple(tried))

    # -- what cannot be read

    async def _set_aside(self, space: str, bad: Sequence[tuple[str, bytes]]) -> None:
        if bad:
            moves = [change for id, value in bad for change in (Put(self._aside, id, value), Delete(space, id))]  # noqa: A001
            await self._store.together(*moves)
            for id, value in bad:  # noqa: A001
                await self._blobs.drop(id, named_in(value))
            ids = ", ".join(id for id, _ in bad[:10])  # noqa: A001
            logger.error("ipc: %d requests in the journal cannot be read and were set aside: %s", len(bad), ids)


def _naming_what_it_has(dossier: Dossier) -> Dossier:
    """Of very many attempts only the last are kept, and so are their blobs."""
    kept = {each.number for each in dossier.tried}
    large = {number: digest for number, digest in dossier.large.items() if number in kept}
    named = {dossier.blob, *large.values()}
    let_go = dict.fromkeys((*dossier.let_go, *dossier.large.values()))
    return replace(dossier, large=large, let_go=tuple(digest for digest in let_go if digest not in named))


def _wrapped(dossier: Dossier) -> bytes:
    if dossier.blob:
        dossier = replace(dossier, content=b"")
    if dossier.large:
        slim = (replace(each, outcome=None) if each.number in dossier.large else each for each in dossier.tried)
        dossier = replace(dossier, tried=tuple(slim))
    return VERSION + _encode(dossier)


def _unwrapped(value: bytes) -> memoryview:
    if value[:1] != VERSION:
        raise msgspec.ValidationError("it is of another version")
    return memoryview(value)[1:]
