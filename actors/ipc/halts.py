"""Halts: what stops the clock of attempts, and shuts the gate of publishing.

    why        clock    gate    until
    gone       held     shut    the folder is back
    held       held     shut    the peer is ready (the cold start), or the time for that is over
    full       held     open    something could be written to the disk, by whichever end
    stopped    held     open    our own server end, another process, goes on

That another client end has this folder (`down`) is no such reason: nothing has begun then.
"""

from collections.abc import Callable

from actors.ipc.given import TROUBLE, Base
from actors.ipc.messages import Hold
from actors.ipc.publishing import Publishing
from actors.ipc.running import RunningClock
from actors.kernel import Timer


class Halts:
    def __init__(
        self, base: Base, clock: RunningClock, release_in: Callable[[float], Timer], *, by_turns: bool = False
    ) -> None:
        """`release_in`: tells the client end to `go_on` in so many seconds. `by_turns`: see Publishing."""
        self._base = base
        self._clock = clock
        self._release_in = release_in
        self.publishing = Publishing(base, by_turns=by_turns)
        self.down: str | None = None
        self.held: Hold | None = None
        self._release: Timer | None = None
        self._gone: str | None = None
        self._full: str | None = None
        self._stopped: str | None = None

    @property
    def trouble(self) -> str | None:
        return self.down or self._gone or self._full or self._stopped

    # -- the folder

    async def claim(self) -> bool:
        """Whether the folder is ours."""
        try:
            self.down = await self._base.claim_client()
        except TROUBLE as error:
            self._gone = str(error)
            return False
        self._gone = None
        return self.down is None

    def gone(self, why: str) -> None:
        self._gone = why
        self._clock.hold("gone")
        self.publishing.shut("gone")

    def back(self) -> None:
        self._gone = None
        self._clock.release("gone")
        self.publishing.reopen("gone")

    def full(self, why: str) -> None:
        self._full = why
        self._clock.hold("full")

    def has_room(self) -> None:
        self._full = None
        self._clock.release("full")

    # -- the peer

    async def look_at_server(self) -> None:
        try:
            self.stopped(await self._base.stopped_server())
        except TROUBLE:  # then nothing counts anyway
            return

    def stopped(self, stopped: str | None) -> None:
        """None: our own server end is no stopped process."""
        self._stopped = stopped
        if stopped is None:
            self._clock.release("stopped")
        else:
            self._clock.hold("stopped")

    def hold(self, hold: Hold) -> None:
        if self._release is not None:
            self._release.cancel()
        self.held = hold
        self._clock.hold("held")
        self.publishing.shut("held")
        self._release = self._release_in(hold.seconds)

    def go_on(self) -> None:
        if self._release is not None:
            self._release.cancel()
        self.held = self._release = None
        self._clock.release("held")
        self.publishing.reopen("held")
