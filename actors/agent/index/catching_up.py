"""How far an index is behind what is known to have changed.

A question waits a moment for the update that will have all that was known when it was asked: what was just saved, or
what has changed while nobody watched, since the server was away or the index slept. An answer that comes before that
says so.

Nobody waits for an index that is being made, for an update that has already taken longer than that moment, or for one
that cannot be made.
"""

import trio

from actors.agent.index.changes import Changes

PATIENCE = 1.0
"""Seconds, from the question or from the begin of the update that runs."""
BEHIND = "What has changed here lately is still being read, so something may be missing."


class CatchingUp:
    def __init__(self, changes: Changes) -> None:
        """`changes`: those that no update has taken up yet."""
        self._changes = changes
        self._complete: bool | None = None
        """None: nobody knows yet."""
        self._trouble = ""
        self._began_at: float | None = None
        """None: no update runs."""
        self._begun = 0
        self._done = 0
        """The number of the last update that has come to its end."""
        self._news = trio.Event()

    def opened(self, *, complete: bool) -> None:
        self._complete = complete
        self._tell()

    def begins(self) -> None:
        self._began_at = trio.current_time()
        self._begun += 1

    def ends(self, *, complete: bool) -> None:
        self._began_at = None
        self._done = self._begun
        self._complete, self._trouble = complete, ""
        self._tell()

    def breaks_off(self) -> None:
        """What it was to bring is among the changes again."""
        self._began_at = None

    def fails(self, trouble: str) -> None:
        """It is not known when there will be an update that does not. `trouble`: a sentence."""
        self._began_at = None
        self._trouble = trouble
        self._tell()

    async def behind(self) -> str:
        """Why an answer that is given now may lack something, in a sentence: an empty one, if nothing is known that it
        may lack, or if the index is being made."""
        wanted = self._begun + bool(self._changes)
        since = trio.current_time() if self._began_at is None else self._began_at
        with trio.CancelScope(deadline=since + PATIENCE):
            while self._lags(wanted):
                await self._news.wait()
        if self._trouble:
            return f"This may not be as the disk is now. {self._trouble}"
        return BEHIND if self._lags(wanted) else ""

    def _lags(self, wanted: int) -> bool:
        return self._complete is not False and not self._trouble and self._done < wanted

    def _tell(self) -> None:
        self._news.set()
        self._news = trio.Event()
