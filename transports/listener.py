"""An actor that owns a door.

A port in use is no crash: the listener stays down, says so in one sentence, and tries again every few seconds, so that
the rest of the server lives and the door opens when the port is free. It says the same sentence once, not at every try.

Whoever is told of its states (`report`) hears of the first one before `started` returns: once the listeners of a tree have
been started, they are all up or known to be down.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

import trio

from actors.kernel import Actor, Stop
from transports.binding import Address, CannotListen
from transports.door import Door, DoorStatistics

RETRY_SECONDS = 5.0


class State(enum.Enum):
    CLOSED = "closed"
    """Not yet opened, or closed in order."""
    DOWN = "down"
    """The port cannot be had at present."""
    LISTENING = "listening"


MOVES = {
    State.CLOSED: {State.LISTENING, State.DOWN},
    State.DOWN: {State.DOWN, State.LISTENING, State.CLOSED},
    State.LISTENING: {State.CLOSED},
}


@dataclass(frozen=True, slots=True)
class ListenerState:
    """What a person wants to know of a listener. `url` while it is up, `sentence` while it is down."""

    name: str
    up: bool
    url: str | None = None
    sentence: str | None = None


@dataclass(frozen=True, slots=True)
class TryAgain:
    """A message to itself."""


class Listener(Actor[TryAgain]):
    def __init__(
        self,
        name: str,
        make_door: Callable[[], Door],
        report: Callable[[ListenerState], object],
        *,
        advice: str = "",
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """`advice` follows the sentence of a port that cannot be had: where to choose another one."""
        self._name = name
        self._make_door = make_door
        self._report = report
        self._advice = advice
        self._retry_seconds = retry_seconds
        self._state = State.CLOSED
        self._opening: _Opening | None = None
        """The last attempt. Invariant: the state is LISTENING => it has addresses."""

    def statistics(self) -> DoorStatistics | None:
        return self._opening.door.statistics() if self._opening else None

    async def started(self, kept: object | None) -> None:
        await self._open()

    async def handle(self, message: TryAgain) -> None:
        await self._open()

    async def stopping(self, stop: Stop) -> None:
        if self._opening and self._opening.addresses:
            await self._opening.door.close()
        self._move(State.CLOSED)
        self._report(ListenerState(self._name, up=False, sentence="stopped"))

    async def _open(self) -> None:
        opening = self._opening = _Opening(self._make_door())
        self.run_beside(opening.run)
        await opening.settled.wait()
        if opening.addresses:
            self._move(State.LISTENING)
            self.note = None
            self._report(ListenerState(self._name, up=True, url=opening.addresses[0].url))
            return
        self._move(State.DOWN)
        self.tell_later(self._retry_seconds, TryAgain())
        sentence = " ".join(filter(None, (opening.refusal, self._advice)))
        if sentence != self.note:
            self.note = sentence
            self._report(ListenerState(self._name, up=False, sentence=sentence))

    def _move(self, to: State) -> None:
        assert to in MOVES[self._state], f"a listener does not go from {self._state.value} to {to.value}"
        self._state = to


class _Opening(trio.TaskStatus[tuple[Address, ...]]):
    """One attempt, and the door's life if it succeeds."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.settled = trio.Event()
        self.addresses: tuple[Address, ...] = ()
        self.refusal: str | None = None

    async def run(self) -> None:
        try:
            await self.door.serve(task_status=self)
        except CannotListen as refused:
            self.refusal = str(refused)
            self.settled.set()

    def started(self, value: tuple[Address, ...] = ()) -> None:
        self.addresses = value
        self.settled.set()
