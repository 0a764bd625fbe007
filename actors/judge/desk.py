"""The port's counterpart: it takes in posts, and gives each page a panel."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

from actors.judge.given import Line
from actors.judge.intake import LARGE, Intake, TooMuchPosted
from actors.judge.messages.intake import Posted, PostRefused
from actors.judge.messages.panel import PanelMessage, Said
from actors.judge.panel import Panel, panel_mailbox
from actors.judge.posts import encode, lane_of
from actors.judge.problems import Problems
from actors.judge.registered import INTAKE, PANELS, PROBLEMS, RUNS
from actors.judge.shelf import Shelf
from actors.kernel import ActorRef, AnySpec, ChildSpec, KernelError, Mailbox, Registry, crowd_spec
from codec.judge import BadTask, RunSettings, Task, read_task

ASKED = 1_024
"""Posts that may wait for the intake, which passes them to the store..."""
READING_BYTES = 256 << 20
"""...and the bytes of all posts that are being read or wait for the store. Further posts are refused."""
SECONDS = 40.0
"""Seconds to wait for the store."""
START_SECONDS = 60.0
"""Seconds for the start, when the names of ten thousand posts may have to be read from a busy disk."""
MOST_RUNS, MOST_PROBLEMS, MOST_PANELS = 64, 2_048, 256


class PanelSeat:
    """A page's end of its panel."""

    def __init__(self, panel: ActorRef[PanelMessage]) -> None:
        self._panel = panel

    async def heard(self, text: bytes) -> None:
        await self._panel.send(Said(text))


class JudgeDesk:
    def __init__(
        self, registry: Registry, new_id: Callable[[], str], problems: Problems, *, chelper: bool = False
    ) -> None:
        """`chelper`: posts in the form of CHelper's port are taken too."""
        self._registry = registry
        self._read = partial(_read, chelper=chelper)
        self._new_id = new_id
        self._problems = problems
        self._bytes = 0
        """The bytes of all posts that are not answered yet."""

    async def receive(self, body: bytes) -> None:
        """Returns when the post has been understood and stored. Raises BadTask, or a KernelError if that failed."""
        size = len(body)
        self._bytes += size
        try:
            if self._bytes > READING_BYTES:
                raise TooMuchPosted("More is being posted than can be read at a time. Wait a moment, and send again.")
            apart = self._problems.machine(self._registry).apart
            understood = await apart(self._read, body) if size > LARGE else self._read(body)
            await self._registry.get(INTAKE).ask(partial(Posted, *understood), timeout=SECONDS)
        except BadTask as error:
            self._complain(f"What was posted is no problem: {error}.")
            raise
        finally:
            self._bytes -= size

    def _complain(self, sentence: str) -> None:
        with suppress(KernelError):  # nobody is there to be told
            self._registry.get(INTAKE).tell(PostRefused(sentence))

    @asynccontextmanager
    async def attend(self, line: Line) -> AsyncIterator[PanelSeat]:
        """Gives the page a panel for as long as the block lasts. Raises a KernelError if that fails."""
        spec = ChildSpec(self._new_id(), lambda: Panel(line, self._problems), mailbox=panel_mailbox, grace=1.0)
        async with self._registry.get(PANELS).lease(spec) as panel:
            yield PanelSeat(panel)


def _read(body: bytes, *, chelper: bool) -> tuple[Task, bytes, str]:
    """The problem, its stored form, and its lane."""
    task = read_task(body, chelper=chelper)
    return task, encode(task), lane_of(task)


def judge_specs(problems: Problems, configured: RunSettings) -> list[AnySpec]:
    """All children of the judge except the launcher and the port."""
    shelf = partial(Shelf, problems.folders, configured, problems.commands)
    return [
        ChildSpec("shelf", shelf, mailbox=partial(Mailbox, 4096)),
        crowd_spec("runs", name=RUNS, max_children=MOST_RUNS),
        crowd_spec("problems", name=PROBLEMS, max_children=MOST_PROBLEMS),
        ChildSpec("intake", partial(Intake, problems), start_timeout=START_SECONDS, mailbox=partial(Mailbox, ASKED)),
        crowd_spec("panels", name=PANELS, max_children=MOST_PANELS),
    ]
