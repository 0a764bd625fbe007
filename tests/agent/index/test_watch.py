"""How a folder is watched: by the system's word, or by looking, which takes a small part of the time."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.agent.index.given import WatchNews
from actors.agent.index.watch import BY_WISH, GONE_SECONDS, WATCH_AGAIN_SECONDS, FolderWatch
from tests.agent.index.indexer_kit import PaperWatches


@dataclass
class Looker:
    """Looks when it is told to, and notes when."""

    nursery: trio.Nursery
    watches: PaperWatches
    takes: float = 0.0
    """Seconds, for a look."""
    finds: bool = False
    """Whether a look finds that something has changed."""
    looks: list[float] = field(default_factory=list)
    news: list[WatchNews] = field(default_factory=list)
    ways: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = trio.current_time()
        self.watch = FolderWatch(self, "/w", self.watches, self._hear, self._note, polling=False)

    def run_beside(self, task: Callable[[], Awaitable[object]], /) -> None:
        self.nursery.start_soon(task)

    def _hear(self, news: WatchNews) -> None:
        self.news.append(news)
        if news.lost:
            self.looks.append(trio.current_time() - self.began)
            self.nursery.start_soon(self._look)

    async def _look(self) -> None:
        await trio.sleep(self.takes)
        self.watch.looked(changed=self.finds)

    def _note(self) -> None:
        self.ways.append((self.watch.how, self.watch.said))


@asynccontextmanager
async def looker(trouble: str = "", takes: float = 0.0, *, finds: bool = False) -> AsyncIterator[Looker]:
    async with trio.open_nursery() as nursery:
        yield Looker(nursery, PaperWatches(trouble=trouble), takes, finds)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("takes", "finds", "looks"),
    [
        (0.0, False, [0, 4, 12, 28, 58, 88]),
        (0.0, True, list(range(0, 100, 2))),
        (1.0, True, list(range(0, 100, 11))),
        (1.0, False, [0, 11, 22, 39, 70]),
        (60.0, False, [0]),
    ],
)
async def test_where_it_cannot_be_watched_it_is_looked_at_less_often_while_nothing_changes_and_in_a_part_of_the_time(
    autojump_clock: MockClock, takes: float, finds: bool, looks: list[float]
) -> None:
    async with looker("No.", takes, finds=finds) as here:
        here.watch.want(True, polling=False)
        await trio.sleep(99.5)
        assert here.looks == pytest.approx(looks)
        assert here.ways == [("events", ""), ("polling", "No.")]


async def test_watching_is_tried_again_and_who_wished_for_looking_gets_nothing_else(autojump_clock: MockClock) -> None:
    async with looker("No.") as here:
        here.watch.want(True, polling=False)
        await trio.sleep(WATCH_AGAIN_SECONDS + 1)
        assert here.ways == [("events", ""), ("polling", "No.")] * 2
        assert here.looks[-1] == pytest.approx(WATCH_AGAIN_SECONDS)
        here.watches.trouble = ""
        await trio.sleep(WATCH_AGAIN_SECONDS)
        assert (here.watch.how, here.watch.said, set(here.watches.told)) == ("events", "", {"/w"})
        here.watch.want(True, polling=True)
        await trio.sleep(2 * WATCH_AGAIN_SECONDS)
        assert (here.watch.how, here.watch.said, set(here.watches.told)) == ("polling", BY_WISH, set())


async def test_a_wish_counts_once_and_the_last_one_holds(autojump_clock: MockClock) -> None:
    async with looker() as here:
        watch = here.watch
        assert (watch.wanted, watch.how) == (True, "off")
        for wanted, polling, how in [
            (True, False, "events"),
            (True, False, "events"),
            (True, True, "polling"),
            (False, True, "off"),
            (False, False, "off"),
            (True, False, "events"),
        ]:
            watch.want(wanted, polling=polling)
            await wait_all_tasks_blocked()
            assert (watch.wanted, watch.polling, watch.how) == (wanted, polling, how)
            assert set(here.watches.told) == ({"/w"} if how == "events" else set())
        looks = len(here.looks)
        await trio.sleep(600)
        assert len(here.looks) == looks


async def test_a_folder_that_is_gone_is_looked_at_and_watched_again_soon(autojump_clock: MockClock) -> None:
    async with looker() as here:
        here.watch.want(True, polling=False)
        await trio.sleep(10)
        assert here.news == []
        here.watches.gone.set()
        await trio.sleep(2.5 * GONE_SECONDS)
        assert here.looks == pytest.approx([10])
        assert here.ways == [("events", ""), ("off", "")]
        here.watches.gone = trio.Event()
        await trio.sleep(GONE_SECONDS)
        here.watches.told["/w"](WatchNews(lost=True))
        assert here.ways[2:] == [("events", "")]
