"""An actor that owns a door.

A port in use is not a crash. The listener stays down, reports it in one sentence, and tries again every few seconds. So
the rest of the server runs, and the door opens when the port is free. The same sentence is reported once, not at every
attempt.

The first state is reported (`report`) before `started` returns. So when the listeners of a tree have started, each of
them is up or known to be down.
"""

import enum
from collections.abc import Callable

import structlog
import trio

from actors.kernel import Actor, ChildSpec, Stage, Stop, Table
from codec.console import Listening
from transports.door.door import Door, DoorStatistics
from transports.wire.binding import Address, CannotListen

RETRY_SECONDS = 3.0
GRACE_SECONDS = 6.0
"""Somewhat more than a door takes to close."""

log = structlog.get_logger("door")

Report = Callable[[str, Listening], object]
"""Called with the system's name and the state of its listener, whenever that changes."""


class DoorState(enum.Enum):
    CLOSED = "closed"
    """Not yet opened, or closed in order."""
    DOWN = "down"
    """The port is not available at present."""
    LISTENING = "listening"


class DoorEvent(enum.Enum):
    OPENED = "opened"
    REFUSED = "refused"
    STOPPED = "stopped"


MOVES = Table(
    "a listener",
    {
        DoorEvent.OPENED: {DoorState.CLOSED: DoorState.LISTENING, DoorState.DOWN: DoorState.LISTENING},
        DoorEvent.REFUSED: {DoorState.CLOSED: DoorState.DOWN, DoorState.DOWN: DoorState.DOWN},
        DoorEvent.STOPPED: {DoorState.DOWN: DoorState.CLOSED, DoorState.LISTENING: DoorState.CLOSED},
    },
)


class TryAgain:
    """A message to itself."""


class Listener(Actor[TryAgain]):
    def __init__(
        self,
        name: str,
        make_door: Callable[[Stage], Door],
        report: Report,
        *,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """`name` is the name of the system, and of its section in the settings."""
        self._name = name
        self._make_door = make_door
        self._report = report
        self._retry_seconds = retry_seconds
        self._state = DoorState.CLOSED
        self._opening: _Opening | None = None
        """The last attempt. Invariant: the state is LISTENING => it has addresses."""

    def statistics(self) -> DoorStatistics | None:
        return self._opening.door.statistics() if self._opening else None

    async def started(self, kept: object | None) -> None:
        await self._open()

    async def handle(self, message: TryAgain) -> None:
        match message:
            case TryAgain():
                await self._open()
            case _:
                self.unknown(message)

    async def stopping(self, stop: Stop) -> None:
        if self._opening and self._opening.addresses:
            await self._opening.door.close()
        self._move(DoorEvent.STOPPED)

    async def _open(self) -> None:
        opening = self._opening = _Opening(self._make_door(self.stage))
        self.run_beside(opening.run)
        await opening.settled.wait()
        if opening.addresses:
            self._move(DoorEvent.OPENED)
            urls = [address.url for address in opening.addresses]
            self._say(Listening(True, urls[0], f"listening on {' and '.join(urls)}"))
            return
        self._move(DoorEvent.REFUSED)
        self.tell_later(self._retry_seconds, TryAgain())
        self._say(Listening(False, None, f"{self._name}: {opening.refusal} ([{self._name}] in the settings)"))

    def _say(self, listening: Listening) -> None:
        if listening.sentence == self.note:
            return
        self.note = listening.sentence
        if listening.up:
            log.info(listening.sentence, system=self._name)
        else:
            log.warning(listening.sentence, system=self._name, again_in=self._retry_seconds)
        self._report(self._name, listening)

    def _move(self, event: DoorEvent) -> None:
        self._state = MOVES.after(event, self._state, f"the listener of {self._name}")


def listener_spec(name: str, make_door: Callable[[Stage], Door], report: Report) -> ChildSpec[TryAgain]:
    return ChildSpec("door", lambda: Listener(name, make_door, report), grace=GRACE_SECONDS)


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
