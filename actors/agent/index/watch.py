"""How one folder is watched: by the system's events, or by looking.

Rules
  - Where the system cannot watch, the folder is looked at every few seconds, a part at a time, and the status says so.
    Watching is tried again from time to time.
  - Files that lately changed, were told or were opened are in each look. So a save is seen in seconds where somebody
    works, also in a large folder; elsewhere it is seen when its turn comes.
  - A folder that is gone is not watched, and is not reported as watched. It is looked for every few seconds. As soon as
    it is there again, the news is that anything may have changed.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Literal, Protocol

import trio

from actors.agent.index.given import FolderWatches, WatchNews, WatchTrouble

WATCH_AGAIN_SECONDS = 300.0
GONE_SECONDS = 2.0
MOST_WARM = 200
BY_WISH = "The folder is looked at every few seconds, as was wished."


class Besides(Protocol):
    def run_beside(self, task: Callable[[], Awaitable[object]], /) -> None: ...


class FolderWatch:
    def __init__(
        self,
        actor: Besides,
        path: str,
        watches: FolderWatches,
        news: Callable[[WatchNews], None],
        changed: Callable[[], None],
        *,
        polling: bool,
    ) -> None:
        """`changed`: how it is watched is another way now."""
        self._actor = actor
        self._path = path
        self._watches = watches
        self._news = news
        self._changed = changed
        self.wanted = True
        self.polling = polling
        self.how: Literal["off", "events", "polling"] = "off"
        self.said = ""
        self._scope: trio.CancelScope | None = None
        self._warm: OrderedDict[str, None] = OrderedDict()
        """What lately changed, was told or opened. The last one comes last."""

    def want(self, wanted: bool, *, polling: bool) -> None:
        if self._scope is not None and (wanted, polling) == (self.wanted, self.polling):
            return
        self.wanted, self.polling = wanted, polling
        if self._scope is not None:
            self._scope.cancel()
            self._scope = None
        self.how, self.said = "off", ""
        if wanted:
            self._scope = trio.CancelScope()
            self._actor.run_beside(lambda scope=self._scope: self._serve(scope))  # type: ignore[misc]

    def touched(self, paths: Iterable[str]) -> None:
        """Somebody works at these."""
        for path in paths:
            self._warm[path] = None
            self._warm.move_to_end(path)
        while len(self._warm) > MOST_WARM:
            self._warm.popitem(last=False)

    # -- in a task of its own

    async def _serve(self, scope: trio.CancelScope) -> None:
        with scope:
            if self.polling:
                await self._look(BY_WISH, float("inf"))
            self._say("events", "")
            while True:
                try:
                    await self._watches.watch(self._path, self._told)
                except WatchTrouble as trouble:
                    await self._look(str(trouble), WATCH_AGAIN_SECONDS)
                    self._say("events", "")
                else:
                    self._gone()
                    await trio.sleep(GONE_SECONDS)

    def _told(self, news: WatchNews) -> None:
        self._say("events", "")
        self.touched(news.paths)
        self._news(news)

    async def _look(self, why: str, seconds: float) -> None:
        """Has the folder looked at, for so long."""

        def told(news: WatchNews) -> None:
            self._say("polling", why)
            self.touched(news.paths)
            self._news(news)

        self._say("polling", why)
        with trio.move_on_after(seconds):
            while True:
                try:
                    await self._watches.look(self._path, told, self._warmest)
                except WatchTrouble as trouble:
                    self._say("polling", str(trouble))
                else:
                    self._gone()
                await trio.sleep(GONE_SECONDS)

    def _gone(self) -> None:
        """The update says that the folder is gone."""
        if self.how != "off":
            self._say("off", "")
            self._news(WatchNews(lost=True))

    def _warmest(self) -> Collection[str]:
        return tuple(reversed(self._warm))

    def _say(self, how: Literal["off", "events", "polling"], said: str) -> None:
        if (self.how, self.said) != (how, said):
            self.how, self.said = how, said
            self._changed()
