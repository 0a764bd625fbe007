"""Vouched: our server end tells the client end beside it of each success that it has written; in HEAD also of errors.

A script may take its response away as soon as it has read it, and its request as well. That is often before we have
looked, for we let the server end go first. Whoever looks then would find a request that nobody has answered.

    Vouched    what was asked, and the outcome; from a command of the server end, once its response stands

Rules
  - It counts only where there is no response. What stands in the folder is believed before it, and so is another
    request of the same id, unless the one that it tells of is still open: that had its answer before. One that asks for
    the same with other wishes is no other.
  - An error counts once. In SPEC none is told of: who takes one away asks for another run.
  - It is no promise of the journal: after a kill it is not known any more. It is forgotten once its request is over. Of
    very many, the first ones are.
"""

from typing import NamedTuple

from msgspec.structs import replace

from actors.ipc.dossier import Dossier, is_of, is_overwritten
from actors.ipc.given import Asked, BothFiles
from actors.ipc.messages import Vouched
from actors.ipc.steps import Answer, Identity

MOST = 4_096
MOST_BYTES = 16 << 20
"""Of requests and their answers."""
MOST_OVER = 4_096
TAKEN = Identity(0, 0)
"""Of a response that stands nowhere any more."""


class _Kept(NamedTuple):
    vouched: Vouched
    fingerprint: bytes


class Vouching:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[_Kept, ...]] = {}
        """Of an id, the last, and the one of another request before that."""
        self._bytes = 0
        self._over: dict[str, bytes] = {}
        """The fingerprints of the last ones that are over: what is told of them comes late."""

    def keep(self, vouched: Vouched, *, is_open: bool) -> bool:
        """Whether it may be news. `is_open`: the journal knows this request, and it is not over."""
        request = vouched.asked.request
        if not is_open and self._over.get(request.id) == request.fingerprint:
            return False
        before = [each for each in self._kept.get(request.id, ()) if each.fingerprint != request.fingerprint]
        self._put(request.id, (*before[-1:], _Kept(vouched, request.fingerprint)))
        while len(self._kept) > MOST or self._bytes > MOST_BYTES:
            self.forget(next(iter(self._kept)))
        return True

    def over(self, dossier: Dossier) -> None:
        id = dossier.id  # noqa: A001 - as in the contract
        self._put(id, tuple(each for each in self._kept.get(id, ()) if not is_of(dossier, each.vouched.asked.request)))
        self._over.pop(id, None)
        self._over[id] = dossier.fingerprint
        if len(self._over) > MOST_OVER:
            del self._over[next(iter(self._over))]

    def completed(self, id: str, files: BothFiles, dossier: Dossier | None = None) -> BothFiles:  # noqa: A002
        """The same, with the outcome that has stood there. `dossier`: of the request that is looked for."""
        kept, there = self._kept.get(id, ()), files.request
        if dossier is not None:
            kept = tuple(each for each in kept if is_of(dossier, each.vouched.asked.request))
        if not kept:
            return files
        (*_, last) = kept
        is_next_one = dossier is not None and is_overwritten(dossier, files)  # what stands there
        if files.response is not None and not (is_next_one and files.took is not None):  # else it is older than that
            return files
        is_ours = there is None or (isinstance(there, Asked) and there.request.fingerprint == last.fingerprint)
        if not is_ours and not is_next_one:
            return files
        return replace(files, response=Answer(TAKEN, last.vouched.outcome), took=last.vouched.seconds)

    def asked(self, id: str) -> Asked | None:  # noqa: A002
        """The request, if something is told of it."""
        kept = self._kept.get(id)
        return kept[-1].vouched.asked if kept else None

    def forget(self, id: str) -> None:  # noqa: A002
        self._put(id, ())

    def _put(self, id: str, kept: tuple[_Kept, ...]) -> None:  # noqa: A002
        self._bytes -= sum(each.vouched.size for each in self._kept.pop(id, ()))
        if kept:
            self._kept[id] = kept
            self._bytes += sum(each.vouched.size for each in kept)
