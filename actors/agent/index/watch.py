"""How one folder is watched: by the system's word, or by looking.

Rules
  - Where the system cannot watch, the folder is looked at every few seconds, less often while nothing changes, and
    never so often that looking is most of what is done. Watching is tried again from time to time.
  - A look is an update of the whole index that nobody has asked for.
  - A folder that is gone is not watched, and nobody says so. It is looked for every few seconds; as soon as it is there
    again, the news is that anything may have changed.
"""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

import trio

from actors.agent.index.given import FolderWatches, WatchNews, WatchTrouble

LOOK_SECONDS, LONGEST_LOOK = 2.0, 30.0
SHARE = 10.0
"""Of the time at least, for one part of looking."""
WATCH_AGAIN_SECONDS = 300.0
GONE_SECONDS = 2.0
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
        self._pause = LOOK_SECONDS
        self._looked = trio.Event()
        self._began = 0.0

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

    def looked(self, *, changed: bool) -> None:
        """An update of the index is over."""
        self._pause = LOOK_SECONDS if changed else min(LONGEST_LOOK, self._pause * 2)
        self._looked.set()

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
                    if self.how == "events":  # the update says that the folder is gone
                        self._say("off", "")
                        self._news(WatchNews(lost=True))
                    await trio.sleep(GONE_SECONDS)

    def _told(self, news: WatchNews) -> None:
        self._say("events", "")
        self._news(news)

    async def _look(self, why: str, seconds: float) -> None:
        """Looks at the folder again and again, for so long."""
        self._say("polling", why)
        self._pause = LOOK_SECONDS
        with trio.move_on_after(seconds):
            while True:
                self._looked, began = trio.Event(), trio.current_time()
                self._news(WatchNews(lost=True))
                await self._looked.wait()
                await trio.sleep(max(self._pause, SHARE * (trio.current_time() - began)))

    def _say(self, how: Literal["off", "events", "polling"], said: str) -> None:
        if (self.how, self.said) != (how, said):
            self.how, self.said = how, said
            self._changed()
