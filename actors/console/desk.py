"""The desk for the console's transport. The transport knows no actors and no messages: it gets bytes from here, and
every refusal is a KernelError whose text can be shown."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from actors.console.messages import HowAreYou, LookOnce, Measure, ObserverMessage, ViewerMessage
from actors.console.observer import NAME as OBSERVER
from actors.console.viewer import Outlet, Viewer, viewer_mailbox
from actors.kernel import AnySpec, Children, ChildSpec, Key, Lease, Registry, Reply, crowd_spec

VIEWERS = Key[Children[ViewerMessage]]("console/viewers")
PATIENCE = 5.0

R = TypeVar("R")

encoder = msgspec.json.Encoder()


def viewers_spec() -> AnySpec:
    """The viewers: one actor for each open console page."""
    return crowd_spec("viewers", name=VIEWERS)


class ConsoleDesk:
    def __init__(self, registry: Registry, new_id: Callable[[], str]) -> None:
        self._registry = registry
        self._new_id = new_id

    async def tree(self) -> bytes:
        return encoder.encode(await self._ask(LookOnce))

    async def health(self) -> tuple[bool, bytes]:
        """Whether all is well, and the state of each system."""
        answer = await self._ask(HowAreYou)
        return answer.status == "ok", encoder.encode(answer)

    async def metrics(self) -> bytes:
        return await self._ask(Measure)

    def view(self, wire: Outlet) -> Lease[ViewerMessage]:
        """`async with desk.view(wire):` keeps the page on this wire up to date until the block or the viewer ends."""
        observer = self._registry.get(OBSERVER)
        spec = ChildSpec(self._new_id(), lambda: Viewer(wire, observer), mailbox=viewer_mailbox, grace=1.0)
        return self._registry.get(VIEWERS).lease(spec)

    async def _ask(self, message: Callable[[Reply[R]], ObserverMessage]) -> R:
        return await self._registry.get(OBSERVER).ask(message, timeout=PATIENCE)
