"""Vouched: our server end tells the client end beside it of each success that it has written.

A script may take its response away as soon as it has read it, and its request as well. That is often before we have
looked, for we let the server end go first. Whoever looks then would find a request that nobody has answered.

    Vouched    what was asked, and the success; from a command of the server end, once its response stands

Rules
  - It counts only where there is no response. What stands in the folder is believed before it, and so is another
    request of the same id.
  - It is no promise of the journal: after a kill it is not known any more. It is forgotten once its request is over. Of
    very many, the first ones are.
"""

from typing import NamedTuple

from msgspec.structs import replace

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
        self._kept: dict[str, _Kept] = {}
        self._bytes = 0
        self._over: dict[str, bytes] = {}
        """The fingerprints of the last ones that are over: what is told of them comes late."""

    def keep(self, vouched: Vouched, *, is_open: bool) -> bool:
        """Whether it may be news. `is_open`: the journal knows this request, and it is not over."""
        request = vouched.asked.request
        if not is_open and self._over.get(request.id) == request.fingerprint:
            return False
        self._drop(request.id)
        self._kept[request.id] = _Kept(vouched, request.fingerprint)
        self._bytes += vouched.size
        while len(self._kept) > MOST or self._bytes > MOST_BYTES:
            self._drop(next(iter(self._kept)))
        return True

    def over(self, id: str, fingerprint: bytes) -> None:  # noqa: A002 - as in the contract
        self._drop(id)
        self._over.pop(id, None)
        self._over[id] = fingerprint
        if len(self._over) > MOST_OVER:
            del self._over[next(iter(self._over))]

    def completed(self, id: str, files: BothFiles, fingerprint: bytes | None = None) -> BothFiles:  # noqa: A002
        """The same, with the success that has stood there. `fingerprint`: of the request that is looked for."""
        kept, there = self._kept.get(id), files.request
        if kept is None or files.response is not None or fingerprint not in (None, kept.fingerprint):
            return files
        if there is not None and not (isinstance(there, Asked) and there.request.fingerprint == kept.fingerprint):
            return files
        return replace(files, response=Answer(TAKEN, kept.vouched.outcome), took=kept.vouched.seconds)

    def asked(self, id: str) -> Asked | None:  # noqa: A002
        """The request, if something is told of it."""
        kept = self._kept.get(id)
        return None if kept is None else kept.vouched.asked

    def _drop(self, id: str) -> None:  # noqa: A002
        kept = self._kept.pop(id, None)
        if kept is not None:
            self._bytes -= kept.vouched.size
