"""A temporary child tied to the block that owns a connection.

Leaving the block stops the child, and waits until the child has ended. If the child ends first, the block is cancelled.
So neither outlives the other, whichever of them crashes or is cancelled, and ten thousand leases leave nothing behind.
Connections end at any time. Therefore, if the child ended in order, messages that it had not handled yet, or that come
later, are no dead letters. If it failed, they are.

    async with peers.lease(ChildSpec(name, make)) as peer:
        ...                      # feed the peer until the connection ends
"""

import dataclasses
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import trio

from actors.kernel.ref import ActorRef
from actors.kernel.slot import Slot
from actors.kernel.spec import ChildSpec, Restart

if TYPE_CHECKING:
    from actors.kernel.supervisor import Supervisor


M = TypeVar("M", contravariant=True)


class Lease(Generic[M]):
    __slots__ = ("_block", "_slot", "_spec", "_supervisor")

    def __init__(self, supervisor: "Supervisor[Any]", spec: ChildSpec[M]) -> None:
        if spec.restart is not Restart.TEMPORARY:
            spec = dataclasses.replace(spec, restart=Restart.TEMPORARY)
        self._supervisor = supervisor
        self._spec = spec
        self._block = trio.CancelScope()
        self._slot: Slot | None = None

    async def __aenter__(self) -> ActorRef[M]:
        if self._slot is not None:
            raise RuntimeError("a lease is entered once; ask the supervisor for another one")
        self._slot = slot = self._supervisor.begin_child(self._spec)
        slot.leased = True
        try:
            ready = await slot.wait_settled()
        except BaseException:
            await _gone(slot)
            raise
        if not ready:
            await _gone(slot)
            raise slot.failed_to_start()
        self._block.__enter__()
        if slot.stop is None:
            slot.on_stopped(self._block.cancel)
        else:
            self._block.cancel()
        return slot.ref

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        assert self._slot is not None
        await _gone(self._slot)
        return self._block.__exit__(kind, error, traceback)


async def _gone(slot: Slot) -> None:
    """Stop the child and wait until it has ended. It is killed when its grace time is over, so the wait is bounded."""
    slot.begin_stop()
    with trio.CancelScope(shield=True):
        await slot.wait_stopped()
