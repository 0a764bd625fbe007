"""Where the port asks: posts are taken in, and pages get a panel."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ClassVar

from actors.judge.intake import Intake
from actors.judge.messages import Line, Posted, Said
from actors.judge.panel import Panel, panel_mailbox
from actors.judge.registered import INTAKE, PANELS, PROBLEMS, RUNS
from actors.judge.shelf import Shelf
from actors.judge.shelving import Shelving
from actors.kernel import ActorRef, ChildSpec, Mailbox, MailboxFull, Registry, crowd_spec
from codec.judge import RunSettings, read_task

POSTS = 256
"""Posts that may wait for the disk..."""
POSTED_BYTES = 256 << 20
"""...and the bytes of all of them; then more are refused."""
LARGE = 1 << 18
"""Bytes from which on a post is read where nobody waits for it."""
MOST_RUNS, MOST_PROBLEMS, MOST_PANELS = 64, 2_048, 256


class TooMuchPosted(MailboxFull):
    told: ClassVar[str | None] = None


class Seat:
    """A page's end of its panel."""

    def __init__(self, panel: ActorRef[Any]) -> None:
        self._panel = panel

    async def heard(self, text: bytes) -> None:
        await self._panel.send(Said(text))


class Desk:
    def __init__(
        self, registry: Registry, new_id: Callable[[], str], shelving: Shelving, *, chelper: bool = False
    ) -> None:
        """`chelper`: posts in the form of CHelper's port are taken too."""
        self._registry = registry
        self._read = partial(read_task, chelper=chelper)
        self._new_id = new_id
        self._shelving = shelving
        self._bytes = 0
        """Of posts that are not on the disk yet."""

    async def receive(self, body: bytes) -> None:
        """Returns as soon as the post is understood and queued. BadTask; KernelError if there is no room."""
        size = len(body)
        if self._bytes + size > POSTED_BYTES:
            raise TooMuchPosted("more was posted than the disk could take so far; wait a moment, and send it again")
        self._bytes += size
        try:
            apart = self._shelving.machine(self._registry).apart
            task = await apart(self._read, body) if size > LARGE else self._read(body)
            self._registry.get(INTAKE).tell(Posted(task, partial(self._release, size)))
        except BaseException:
            self._release(size)
            raise

    def _release(self, size: int) -> None:
        self._bytes -= size

    @asynccontextmanager
    async def attend(self, line: Line) -> AsyncIterator[Seat]:
        """A panel, for as long as the block lasts. Raises a KernelError when there is none."""
        spec = ChildSpec(self._new_id(), lambda: Panel(line, self._shelving), mailbox=panel_mailbox, grace=1.0)
        async with self._registry.get(PANELS).lease(spec) as panel:
            yield Seat(panel)


def judge_specs(shelving: Shelving, configured: RunSettings) -> list[ChildSpec]:
    """All but what runs programs, and the port."""
    return [
        ChildSpec("shelf", partial(Shelf, shelving.folders, configured), mailbox=partial(Mailbox, 4096)),
        crowd_spec("runs", name=RUNS, max_children=MOST_RUNS),
        crowd_spec("problems", name=PROBLEMS, max_children=MOST_PROBLEMS),
        ChildSpec("intake", partial(Intake, shelving), mailbox=partial(Mailbox, POSTS)),
        crowd_spec("panels", name=PANELS, max_children=MOST_PANELS),
    ]
