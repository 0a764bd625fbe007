"""How a folder is watched: by the system's word, or by looking."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.agent.index.given import WatchNews
from actors.agent.index.watch import BY_WISH, GONE_SECONDS, MOST_WARM, WATCH_AGAIN_SECONDS, FolderWatch
from tests.agent.index.indexer_kit import PaperWatches


@dataclass
class Looker:
    """Notes what is told."""

    nursery: trio.Nursery
    watches: PaperWatches
    looks: list[float] = field(default_factory=list)
    """When anything might have changed."""
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

    def _note(self) -> None:
        self.ways.append((self.watch.how, self.watch.said))


@asynccontextmanager
async def looker(trouble: str = "") -> AsyncIterator[Looker]:
    async with trio.open_nursery() as nursery:
        yield Looker(nursery, PaperWatches(trouble=trouble))
        nursery.cancel_scope.cancel()


async def test_where_it_cannot_be_watched_it_is_looked_at_what_was_touched_last_first_and_it_says_so(
    autojump_clock: MockClock
) -> None:
    async with looker("No.") as here:
        here.watch.touched(["opened.py", "told.py"])
        here.watch.want(True, polling=False)
        await wait_all_tasks_blocked()
        told, warm = here.watches.looked["/w"]
        assert (here.watch.how, here.watch.said) == ("polling", "No.")
        assert here.news == [WatchNews(lost=True)]
        assert warm() == ("told.py", "opened.py")
        told(WatchNews(("changed.py", "opened.py")))
        assert here.news[-1].paths == ("changed.py", "opened.py")
        assert warm() == ("opened.py", "changed.py", "told.py")
        here.watch.touched(map(str, range(2 * MOST_WARM)))
        assert warm() == tuple(map(str, reversed(range(MOST_WARM, 2 * MOST_WARM))))


async def test_what_the_system_tells_is_looked_at_first_when_it_cannot_tell_any_more(autojump_clock: MockClock) -> None:
    async with looker() as here:
        here.watch.want(True, polling=False)
        await wait_all_tasks_blocked()
        here.watches.told["/w"](WatchNews(("saved.py",)))
        here.watch.want(True, polling=True)
        await wait_all_tasks_blocked()
        assert here.watches.looked["/w"][1]() == ("saved.py",)


async def test_a_folder_that_is_looked_at_and_goes_is_looked_at_again_when_it_is_back(
    autojump_clock: MockClock
) -> None:
    async with looker("No.") as here:
        here.watch.want(True, polling=False)
        await trio.sleep(10)
        here.watches.gone.set()
        await trio.sleep(5.5 * GONE_SECONDS)
        assert here.looks == pytest.approx([0, 10])
        assert here.ways[-1] == ("off", "")
        here.watches.gone = trio.Event()
        await trio.sleep(GONE_SECONDS)
        assert here.looks[2:] == pytest.approx([10 + 6 * GONE_SECONDS])
        assert here.ways[-1] == ("polling", "No.")


async def test_a_disk_that_does_not_answer_who_looks_is_told_and_asked_again(autojump_clock: MockClock) -> None:
    async with looker("No.") as here:
        here.watches.look_trouble = "The disk does not answer."
        here.watch.want(True, polling=False)
        await trio.sleep(2.5 * GONE_SECONDS)
        assert (here.watch.how, here.watch.said) == ("polling", "The disk does not answer.")
        assert len(here.watches.looks.entries) == 3
        here.watches.look_trouble = ""
        await trio.sleep(GONE_SECONDS)
        assert (here.watch.how, here.watch.said) == ("polling", "No.")


async def test_watching_is_tried_again_and_who_wished_for_looking_gets_nothing_else(autojump_clock: MockClock) -> None:
    async with looker("No.") as here:
        here.watch.want(True, polling=False)
        await trio.sleep(WATCH_AGAIN_SECONDS + 1)
        assert here.ways == [("events", ""), ("polling", "No.")] * 2
        assert here.looks == pytest.approx([0, WATCH_AGAIN_SECONDS])
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
