"""Accepting: requests that others ask us to send.

    the id is    and the content is
    new          -                   it is journalled, and then answered
    open         the same            it is the same request
    open         other               refused, in words
    dropped      other               refused, in words, if it is seen in the folder before the journal has it
    over         the same            it is the same request, and its answer is known
    over         other               the old files are archived, and it begins anew, and says so

What somebody wishes beyond the contract is no content: who has submitted it through the folder has other wishes.

Submissions that come while others are being journalled go into the next commit together.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace

from actors.ipc.books import Books, reopened
from actors.ipc.dossier import Dossier, is_of
from actors.ipc.errand import ErrandMeans
from actors.ipc.given import Asked, BaseFull, BaseGone, BothFiles
from actors.ipc.messages import SubmitRequests
from actors.ipc.steps import Answer, Spoiled
from actors.kernel import KernelError, MailboxFull
from actors.store import StoreError, all_of
from codec.ipc import BadId, BadRequest, Request, checked, read_request, write_request
from codec.ipc.desk import Handled

LARGEST = 16 << 20
"""Bytes of a request. No end reads a larger one."""
MOST_WAITING = 1_000
"""Accepting; each may be of many requests."""
FEW = 8
ONE_COMMIT = 2_000
"""Requests, unless a single submission has more."""


class Accepting:
    def __init__(self, means: ErrandMeans, books: Books) -> None:
        self._means = means
        self._books = books
        self._waiting: deque[SubmitRequests] = deque()
        self._wanted = trio.Event()

    def add(self, message: SubmitRequests) -> None:
        if len(self._waiting) >= MOST_WAITING:
            message.reply.fail(MailboxFull("too many submissions are waiting to be kept; send this one again later"))
            return
        self._waiting.append(message)
        self._wanted.set()

    async def serve(self) -> None:
        """Runs beside the client end."""
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            while self._waiting:
                batch: list[SubmitRequests] = []
                count = 0
                while self._waiting and (not batch or count + len(self._waiting[0].requests) <= ONE_COMMIT):
                    batch.append(self._waiting.popleft())
                    count += len(batch[-1].requests)
                wanted = [message for message in batch if not message.reply.abandoned]
                try:
                    answers = await self._accept(wanted)
                except (StoreError, KernelError) as error:
                    for message in wanted:
                        if not message.reply.abandoned:
                            message.reply.fail(error)
                else:
                    for message, handled in zip(wanted, answers, strict=True):
                        if not message.reply.abandoned:
                            message.reply.set(handled)

    async def _accept(self, batch: Sequence[SubmitRequests]) -> list[Handled]:
        readable = [[_read(request) for request in message.requests] for message in batch]
        async with self._books.lock:
            ids = {one.id for each in readable for one, _ in each if isinstance(one, Request)}
            unknown = [id for id in ids if id not in self._books.open]  # noqa: A001 - as in the contract
            over, seen = await self._known(unknown)
            fresh: dict[str, Dossier] = {}
            under_way = await self._under_way([one for each in readable for one, _ in each if isinstance(one, Request)])
            answers = [self._handled(each, over, under_way, fresh, seen) for each in readable]
            try:
                kept = await self._means.journal.keep(*fresh.values()) if fresh else []
            except (StoreError, KernelError):
                self._books.doubted.want()
                raise
            for dossier in kept:
                self._books.take_in(dossier, _lasting(seen.get(dossier.id)))
        return answers

    async def _known(self, ids: Sequence[str]) -> tuple[dict[str, Dossier | None], dict[str, BothFiles | None]]:
        """What the journal knows of them; and of a few, what is in the folder, for they begin at once."""
        seen: dict[str, BothFiles | None] = {}

        async def look(id: str) -> None:  # noqa: A002 - as in the contract
            with suppress(BaseGone, BaseFull):
                seen[id] = await self._means.base.look(id)

        async with trio.open_nursery() as nursery:
            if len(ids) <= FEW:
                for id in ids:  # noqa: A001
                    nursery.start_soon(look, id)
            over = await all_of(ids, self._means.journal.find_over)
        return dict(zip(ids, over, strict=True)), seen

    async def _under_way(self, requests: Sequence[Request]) -> dict[str, Dossier]:
        """What the journal has of those ids under which something is open that may be another request."""
        open_ = self._books.open
        doubtful = {each.id for each in requests if open_.get(each.id, each.fingerprint) != each.fingerprint}
        found = await all_of(list(doubtful), self._means.journal.find)
        return {dossier.id: dossier for dossier in found if dossier is not None}

    def _handled(
        self,
        requests: Sequence[tuple[Request | tuple[str, str], bytes]],
        over: dict[str, Dossier | None],
        under_way: dict[str, Dossier],
        fresh: dict[str, Dossier],
        seen: dict[str, BothFiles | None],
    ) -> Handled:
        ids, refused, now, up = [], {}, self._means.wall(), self._means.uptime()
        for request, content in requests:
            if isinstance(request, tuple):
                refused[request[0]] = request[1]
                continue
            id = request.id  # noqa: A001
            known = fresh[id].fingerprint if id in fresh else self._books.open.get(id)
            same, before = fresh.get(id, under_way.get(id)), over.get(id)
            is_same = known == request.fingerprint or (same is not None and is_of(same, request))
            if known is not None and not is_same:
                refused[id] = (
                    "another request of this id is under way; wait until it has ended, cancel it, or take another id"
                )
                continue
            if known is None and _is_anothers(seen.get(id), request, before):
                refused[id] = "another request of this id is in the folder already; take another id"
                continue
            ids.append(id)
            if known is None and (before is None or before.cancelled or not is_of(before, request)):
                dossier = reopened(request, content, now, "submitted", before, up)
                fresh[id] = dossier if before is None else replace(dossier, stale=True)
        return Handled(ids=tuple(ids), refused=refused)


def _is_anothers(seen: BothFiles | None, request: Request, before: Dossier | None) -> bool:
    """What stands there was submitted by a script, and is another request that the journal does not know yet."""
    there = None if seen is None else seen.request
    if not isinstance(there, Asked) or request.asks_the_same(there.request):
        return False
    return before is None or not is_of(before, there.request)


def _lasting(seen: BothFiles | None) -> BothFiles | None:
    """What still holds when the journal has it: where the request stands already, an answer may have come since."""
    if seen is None or seen.request is None or isinstance(seen.response, Answer | Spoiled):
        return seen
    return None


def _read(request: Request) -> tuple[Request | tuple[str, str], bytes]:
    """As whoever reads its file will read it; or its id, and why it is refused."""
    try:
        checked(request.id)
        content = write_request(request)
        if len(content) > LARGEST:
            reason = f"a request has at most {LARGEST:,} bytes; this one has {len(content):,}"
            return (request.id, reason), b""
        return read_request(content, request.id), content
    except (BadId, BadRequest) as wrong:
        return (request.id, str(wrong)), b""
    except (TypeError, ValueError, OverflowError, RecursionError) as wrong:
        return (request.id, f"its parameters cannot be written as JSON: {wrong}"), b""
