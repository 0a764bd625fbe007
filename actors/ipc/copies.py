"""submitted/: a copy of each request that a script has submitted, until the journal has it.

A HEAD peer removes the request that it answers, and may do so before we have seen it: at once, or while no server runs.
So the library for scripts leaves a copy here, where no peer looks, unless the folder's client end speaks the contract's
dialect.

Rules
  - The request counts where it stands; the copy, where that is gone, or is an older one of its id that is over.
  - A peer removes a request when its answer stands. If there is no answer any more either, the script has read it and
    tidied up, and nothing is run again: it was the failure that the peer has copied to failed/, else a success.
  - A copy is deleted when the journal has its request, and not before. If another request of its id is open, it waits
    until that is over.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from actors.ipc.given import Asked, Base, Tray
from actors.ipc.server_steps import Unreadable
from codec.ipc import BadRequest, BadResponse, Outcome, Success, read_request, read_response


class Copy(NamedTuple):
    data: bytes
    asked: Asked | Unreadable

    @property
    def fingerprint(self) -> bytes:
        return fingerprint_of(self.asked)


class Copies:
    def __init__(self, base: Base) -> None:
        self._base = base
        self._there: set[str] = set()
        """Ids that have one, or had one."""

    def told(self, ids: Iterable[str]) -> None:
        self._there.update(ids)

    def __contains__(self, id: str) -> bool:  # noqa: A002 - as in the contract
        return id in self._there

    async def found(self, ids: Collection[str]) -> Mapping[str, Copy]:
        """Of these. What is told from now on is newer."""
        some = [id for id in ids if id in self._there]  # noqa: A001
        self._there.difference_update(some)
        read = await self._base.read_several(Tray.SUBMITTED, some) if some else {}
        return {id: Copy(data, _asked(id, data)) for id, data in read.items()}  # noqa: A001

    async def forget(self, copies: Mapping[str, Copy], open_: Mapping[str, bytes], torn: Collection[str]) -> None:
        """Those that the journal has by now. `open_`: the fingerprints of what is open there; `torn`: what it could not
        take up."""
        over = {}
        for id, copy in copies.items():  # noqa: A001
            if id not in torn and open_.get(id) in (None, copy.fingerprint):
                over[id] = copy.data
            else:
                self._there.add(id)
        if over:
            await self._base.forget(over)


def taken_answer(id: str, failed: bytes | None) -> Outcome:  # noqa: A002 - as in the contract
    """To a request of which nothing is left but its copy, and what stands in failed/."""
    if failed is not None:
        try:
            return read_response(failed, id).outcome
        except BadResponse:
            pass
    return Success()


def _asked(id: str, data: bytes) -> Asked | Unreadable:  # noqa: A002
    try:
        return Asked(read_request(data, id), data)
    except BadRequest as wrong:  # it was complete when it got its name
        return Unreadable(hashlib.sha256(data).digest(), str(wrong))


def fingerprint_of(asked: Asked | Unreadable) -> bytes:
    return asked.request.fingerprint if isinstance(asked, Asked) else asked.fingerprint
