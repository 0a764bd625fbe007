"""The desk's page on a real server: a door with the desk, its ledger, and a journal on paper, in a thread of its own.

As `stage.py`: browser tests are plain functions, so the server has its own trio loop, and a test hands its wishes over
to it. The client end is that of the kit: it does what it is told at once and has no peer, so nothing happens by itself
except in `batch`.
"""

import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import resources
from types import TracebackType
from typing import Any, Protocol, Self

import trio
from msgspec.structs import replace
from playwright.sync_api import Browser, ConsoleMessage, Page

from actors.ipc.desk import VIEWERS
from actors.ipc.messages import EditorNow, PeerNow, RunningNow
from codec.ipc import Failure, Success
from codec.ipc.desk import Attempt, RequestDetail
from tests.ipc.desk_kit import DeskHouse, PaperJournal, desk_house, fact, many
from tests.ipc.paper import PaperBase
from tests.patience import PATIENCE
from tests.web.conftest import BROWSERS_OWN
from tests.web.windows import window
from transports.door.door import Door
from transports.http.pages import add_pages
from transports.ipc.port import ipc_application, ipc_websocket
from transports.websocket.websocket import Upgrade

HOSTS = ["127.0.0.1"]


class DeskStage:
    """`with DeskStage(details) as stage`: serves the desk's page at `stage.url`."""

    def __init__(self, details: Iterable[RequestDetail] = (), base: PaperBase | None = None) -> None:
        self.journal = PaperJournal({each.fact.id: each for each in details}, page=1_000)
        self.base = base or PaperBase()
        self.refusing = False
        """New connections are refused."""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._serve,))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        trio.from_thread.run_sync(self._scope.cancel, trio_token=self._token)
        self._thread.join()

    def note(self, *details: RequestDetail) -> None:
        """As the client end does when something has happened to these requests."""
        self.do(self.house.note, *details)

    def tell(self, message: Any) -> None:
        self.do(self.house.ledger.send, message)

    def drop(self) -> None:
        """Ends every page's viewer, and so its connection."""
        self.do(self._drop)

    async def _drop(self) -> None:
        for viewer in self.house.registry.get(VIEWERS).children():
            await viewer.stop()

    def begin(self, task: Callable[..., Awaitable[None]], *args: Any) -> None:
        """A task that goes on beside the test until the stage is left."""
        trio.from_thread.run_sync(lambda: self._nursery.start_soon(task, *args), trio_token=self._token)

    def do(self, action: Callable[..., Awaitable[Any]], *args: Any) -> None:
        trio.from_thread.run(action, *args, trio_token=self._token)

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as self._scope:
            async with desk_house(self.journal, self.base, wall=time.time) as house, trio.open_nursery() as nursery:
                self.house, self._nursery = house, nursery
                web = resources.files("web")
                links = {"sidekick": "http://127.0.0.1:5163", "judge": "http://127.0.0.1:10043"}
                app = ipc_application(house.desk, web)
                live = ipc_websocket(house.desk)

                async def on_websocket(upgrade: Upgrade) -> None:
                    await (upgrade.reject(503, "The stage is dark.") if self.refusing else live(upgrade))

                door = Door(app=app, on_websocket=on_websocket, hosts=HOSTS)
                await nursery.start(door.serve)
                self.url = door.statistics().addresses[0].url + "/"
                add_pages(app, web, lambda: {**links, "ipc": self.url, "console": "http://127.0.0.1:5160"})
                self._ready.set()
                await trio.sleep_forever()


class ShowDesk(Protocol):
    def __call__(self, *details: RequestDetail, path: str = "", **context: Any) -> tuple[Page, DeskStage]: ...


@contextmanager
def showing_desk(chromium: Browser) -> Iterator[ShowDesk]:
    """Opens the page of a desk. In the end no page may have reported an error."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(BROWSERS_OWN):
            errors.append(message.text)

    with ExitStack() as stack:

        def show(*details: RequestDetail, path: str = "", **context: Any) -> tuple[Page, DeskStage]:
            stage = stack.enter_context(DeskStage(details))
            page = stack.enter_context(window(chromium, **context)).new_page()
            page.on("console", hear)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(stage.url + path)
            return page, stage

        yield show
    assert not errors, errors


# -- scenes


async def batch(house: DeskHouse, count: int, every: float = 0.02) -> None:
    """A batch that runs: requests come in, are tried, fail now and then, and end."""
    dice = random.Random(1)
    open_ones: list[RequestDetail] = []
    submitted = 0
    while submitted < count or open_ones:
        now = time.time()
        if submitted < count:
            line = fact(
                f"nightly-{submitted:04d}", "waiting", now, command="submitPrompt", submitter="nightly.py", attempts=0
            )
            open_ones.append(RequestDetail(fact=line, params={"prompt": f"Explain line {submitted}."}))
            submitted += 1
            await house.note(open_ones[-1])
        if open_ones and (len(open_ones) > 30 or submitted == count or dice.random() < 0.5):
            number = dice.randrange(len(open_ones))
            detail = advanced(open_ones[number], time.time(), fails=dice.random() < 0.3)
            await house.note(detail)
            if detail.fact.state in ("success", "gave up"):
                del open_ones[number]
            else:
                open_ones[number] = detail
        await house.ledger.send(RunningNow(min(4, len(open_ones)), len(open_ones)))
        await trio.sleep(every)


def advanced(detail: RequestDetail, now: float, *, fails: bool) -> RequestDetail:
    """One step of its life."""
    line, tried = detail.fact, detail.tried
    if line.state in ("waiting", "retrying"):
        tried = (*tried, Attempt(number=len(tried) + 1, began=now))
        return replace(detail, fact=replace(line, state="polling", attempts=len(tried), changed=now), tried=tried)
    seconds = now - tried[-1].began
    outcome = Failure("The model did not answer within 60 seconds.") if fails else Success({"content": "It adds."})
    tried = (*tried[:-1], replace(tried[-1], ended=now, seconds=seconds, outcome=outcome))
    state: Any = "success" if not fails else "retrying" if len(tried) < 3 else "gave up"
    over = state in ("success", "gave up")
    line = replace(
        line,
        state=state,
        changed=now,
        seconds=now - line.created if over else None,
        message=outcome.message if isinstance(outcome, Failure) else line.message,
    )
    return replace(detail, fact=line, tried=tried)


def failed_one(now: float) -> RequestDetail:
    """Three attempts, each with another answer."""
    tried = (
        Attempt(number=1, began=now - 190, ended=now - 130, seconds=60.0, late=True,
                outcome=Failure("Nobody answered within 60 seconds.")),
        Attempt(number=2, began=now - 128, ended=now - 120, seconds=8.1,
                outcome=Failure("TypeError: Cannot read properties of undefined (reading 'sendRequest')\n"
                                "    at submitPrompt (extension.js:214:31)\n    at async handle (ipc.js:88:5)")),
        Attempt(number=3, began=now - 110, ended=now - 84, seconds=26.4,
                outcome=Failure("The model refused: the answer was filtered.")),
    )  # fmt: skip
    line = fact(
        "review-of-a-very-long-name.feature-branch.2026-11-22.run-7.file-transports-websocket-outbox.attempted-by-ci",
        "gave up", now - 200, command="submitPrompt", attempts=3, seconds=116.0, submitter="review.py",
        changed=now - 84, message="The model refused: the answer was filtered.", priority=5,
    )  # fmt: skip
    params = {"prompt": "Review this change, and say what is wrong with it.", "mode": "agent", "timeout": 60_000}
    notes = ("It was requeued from the page at 14:02:11.", "Its first attempt may have run twice: at least once.")
    return RequestDetail(fact=line, params=params, tried=tried, notes=notes, evaluation={"bleu": 0.31, "rouge_l": 0.52})


def healthy(stage: DeskStage) -> None:
    stage.tell(PeerNow("Our own server end answers; it runs four commands at a time.", alive=True))
    stage.tell(EditorNow("The editor has been up for 3 h, process 4711."))


def archive(count: int) -> list[RequestDetail]:
    return list(many(count, time.time() - count * 0.5 - 600))
