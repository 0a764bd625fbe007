"""Vouched: our server end tells the client end beside it of each success that it has written; in HEAD also of errors.

A script may take its response away as soon as it has read it, and its request as well. That is often before we have
looked, for we let the server end go first. Whoever looks then would find a request that nobody has answered.

    Vouched    what was asked, and the answer; from a command of the server end, once its response stands

Rules
  - The response that it tells of is to that request, whatever stands beside it by now.
  - Any other response is believed before it, and so is another request of the same id, unless the one that it tells of
    is still open: that had its answer before. A request that asks for the same with other wishes is no other.
  - An error counts once. In SPEC none is told of: who takes one away asks for another run.
  - It is no promise of the journal: after a kill it is not known any more. It is forgotten once its request is over. Of
    very many, the first ones are.
"""

from typing import NamedTuple

from msgspec.structs import replace

from actors.ipc.dossier import Dossier, is_of, is_overwritten
from actors.ipc.given import Asked, BothFiles
from actors.ipc.messages import Vouched
from actors.ipc.steps import Answer, Identity, Torn
from codec.ipc import Request
from codec.ipc.folder import Unreadable

MOST = 4_096
MOST_BYTES = 16 << 20
"""Of requests and their answers."""
MOST_OF_ONE = 16
"""Of an id: a script may write several requests over each other before anybody looks."""
MOST_OVER = 4_096
TAKEN = Identity(0, 0)
"""Of a response that stands nowhere any more."""


class _Kept(NamedTuple):
    vouched: Vouched
    fingerprint: bytes


class Vouching:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[_Kept, ...]] = {}
        """Of an id, the last ones in turn, each of another request."""
        self._bytes = 0
        self._over: dict[str, bytes] = {}
        """The fingerprints of the last ones that are over: what is told of them comes late."""

    def keep(self, vouched: Vouched, *, is_open: bool) -> bool:
        """Whether it may be news. `is_open`: the journal knows this request, and it is not over."""
        request = vouched.asked.request
        if not is_open and self.is_over(request.id, request.fingerprint):
            return False
        before = [each for each in self._kept.get(request.id, ()) if each.fingerprint != request.fingerprint]
        self._put(request.id, (*before[1 - MOST_OF_ONE :], _Kept(vouched, request.fingerprint)))
        while len(self._kept) > MOST or self._bytes > MOST_BYTES:
            self._put(next(iter(self._kept)), ())
        return True

    def is_over(self, id: str, fingerprint: bytes) -> bool:  # noqa: A002 - as in the contract
        """Of its id, this was the last that has ended, as far as is known."""
        return self._over.get(id) == fingerprint

    def over(self, dossier: Dossier) -> None:
        id = dossier.id  # noqa: A001
        self.forget(dossier)
        self._over.pop(id, None)
        self._over[id] = dossier.fingerprint
        if len(self._over) > MOST_OVER:
            del self._over[next(iter(self._over))]

    def earlier(self, id: str, there: Asked | Torn | Unreadable | None) -> Vouched | None:  # noqa: A002
        """Of another request than what stands `there`: that had its answer before."""
        kept = [each.vouched for each in self._kept.get(id, ())]
        if isinstance(there, Asked):
            kept = [each for each in kept if not each.asked.request.asks_the_same(there.request)]
        elif there is None:
            del kept[-1:]
        return kept[0] if kept else None

    def is_told(self, id: str, there: Asked | Torn | Unreadable | None) -> bool:  # noqa: A002
        """Whether what stands there was answered."""
        return any(_is_same(there, each.vouched.asked.request) for each in self._kept.get(id, ()))

    def knows(self, id: str, answer: Answer) -> bool:  # noqa: A002
        return any(each.vouched.answer.identity == answer.identity for each in self._kept.get(id, ()))

    def completed(self, id: str, files: BothFiles, dossier: Dossier | None = None) -> BothFiles:  # noqa: A002
        """The same, with the outcome that has stood there, and without what is another request's. `dossier`: of the
        request that is looked for."""
        there, mine, owner = files.request, None, None
        for each in [kept.vouched for kept in self._kept.get(id, ())]:
            asked = each.asked.request
            if is_of(dossier, asked) if dossier is not None else _is_same(there, asked):
                mine = each
            if isinstance(files.response, Answer) and files.response.identity == each.answer.identity:
                owner = each
        is_next_one = dossier is not None and is_overwritten(dossier, files)  # what stands there
        if owner is not None and owner is mine:
            return replace(files, took=None) if is_next_one else files  # it is older than that
        if owner is not None:
            files = replace(files, response=None, answer=None, took=None)
        elif files.response is not None and not is_next_one:
            return files
        if mine is None or not (there is None or is_next_one or _is_same(there, mine.asked.request)):
            return files
        return replace(files, response=replace(mine.answer, identity=TAKEN), took=mine.seconds)

    def asked(self, id: str) -> Asked | None:  # noqa: A002
        """The request, if something is told of it."""
        kept = self._kept.get(id)
        return kept[-1].vouched.asked if kept else None

    def forget(self, dossier: Dossier) -> None:
        """One that is told of counts once."""
        id = dossier.id  # noqa: A001
        self._put(id, tuple(each for each in self._kept.get(id, ()) if not is_of(dossier, each.vouched.asked.request)))

    def _put(self, id: str, kept: tuple[_Kept, ...]) -> None:  # noqa: A002
        self._bytes -= sum(each.vouched.size for each in self._kept.pop(id, ()))
        if kept:
            self._kept[id] = kept
            self._bytes += sum(each.vouched.size for each in kept)


def _is_same(there: Asked | Torn | Unreadable | None, request: Request) -> bool:
    return isinstance(there, Asked) and there.request.asks_the_same(request)
