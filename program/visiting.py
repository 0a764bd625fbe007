"""The common parts of commands that visit a room of the running server, as a script or a page does.

The first signal asks a visitor to finish. It then stops waiting for anything outside, and completes its remaining work.
The second signal ends the visitor where it is.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from signal import Signals
from typing import Literal, Protocol

import trio
from msgspec import Struct

from codec.sidekick import Announce, encode
from codec.sidekick.rooms import DEFAULT_ROOM
from program import ending, ready, signals
from program.trouble import WENT_WRONG, Trouble
from program.version import version


class Visit(Protocol):
    """A connection to a room. Both methods raise PeerGone when it has ended."""

    async def receive(self) -> bytes: ...

    async def send(self, message: bytes) -> None: ...


class Means(Struct, frozen=True):
    """The means by which a visitor reaches the outside."""

    visit: Callable[[str, str], AbstractAsyncContextManager[Visit]]
    """Takes the address and the room; "" is the default room. Raises PeerGone, whose text can be shown, if it fails."""
    new_id: Callable[[], str]
    wall: Callable[[], float]

    def enter(self, url: str, room: str) -> AbstractAsyncContextManager[Visit]:
        return self.visit(url, "" if room == DEFAULT_ROOM else room)

    def announce(self, peer_id: str, role: Literal["hero", "sidekick"], status: Literal["online", "offline"]) -> bytes:
        return encode(Announce(peer_id, role, status, version(), int(self.wall() * 1000)))


class Finish:
    """Whether the visitor has been asked to finish."""

    def __init__(self) -> None:
        self.asked = False
        self.code = 0
        """The exit code for the signal that ended the program."""
        self._waiting: trio.CancelScope | None = None

    def ask(self, signal: Signals = Signals.SIGINT) -> None:
        self.asked = True
        self.code = ending.code(signal)
        if self._waiting is not None:
            self._waiting.cancel()

    @contextmanager
    def waiting(self, until: float = float("inf")) -> Iterator[trio.CancelScope]:
        """Leaves the block when a stop is requested, or at the time `until`."""
        with trio.CancelScope(deadline=until) as scope:
            outer, self._waiting = self._waiting, scope
            if self.asked:
                scope.cancel()
            try:
                yield scope
            finally:
                self._waiting = outer


def run(work: Callable[[Finish], Awaitable[int]]) -> int:
    """Runs `work` and returns its exit code. The first signal is reported to it; the second ends it."""
    trouble: BaseException | None = None
    code = 0
    try:
        code = trio.run(_run, work)
    except* Trouble as troubles:
        trouble = troubles
    while isinstance(trouble, BaseExceptionGroup):
        trouble = trouble.exceptions[0]
    if trouble is not None:
        raise trouble
    return code


async def _run(work: Callable[[Finish], Awaitable[int]]) -> int:
    stop = Finish()
    code: int | None = None
    async with trio.open_nursery() as nursery:

        def kill(signal: Signals) -> None:
            nursery.cancel_scope.cancel()

        await nursery.start(signals.listen, stop.ask, kill)
        code = await work(stop)
        nursery.cancel_scope.cancel()
    return stop.code if code is None else code


def address(url: str | None, state_dir: Path, listener: str = "sidekick") -> str:
    """The address of this listener of the running server."""
    if url:
        return url
    announced = ready.read(state_dir / ready.SERVER_FILE)
    if announced is None:
        raise Trouble(
            f"No server is running with its state in {state_dir}. Start one with `troupe`, or say where it is with "
            f"--state-dir{' or --url' if listener == 'sidekick' else ''}",
            code=WENT_WRONG,
        )
    found = announced.listeners.get(listener)
    if found is None:
        raise Trouble(
            f"The server is running (pid {announced.pid}), but its {listener.capitalize()} is switched off or down; "
            "its log says why",
            code=WENT_WRONG,
        )
    return found


def number_of(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def lasting(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02} min"
