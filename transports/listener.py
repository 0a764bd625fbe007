"""The actor that owns a door: it opens it, says where it is, and tries again when it cannot.

    from          when                          to           what is said
    -             started                       OPENING      nothing
    OPENING       the port is bound             LISTENING    the address
    OPENING       it cannot be bound            DOWN         why, what to do, and that it is tried again
    DOWN          after `RETRY_SECONDS`         OPENING      nothing
    LISTENING     the door ends by itself       -            the actor has crashed: its supervisor restarts it

A port in use is not a crash: nothing of ours is broken, and the house goes on without this port until it is free. The
same sentence is not said twice in a row.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

import structlog
import trio

from actors.kernel import Actor, ChildSpec, Stage, Stop
from codec.console import Listening
from transports.binding import Address, CannotListen
from transports.door import Door

RETRY_SECONDS = 3.0
GRACE_SECONDS = 6.0
"""For last words: somewhat more than a door takes to close."""


class State(enum.Enum):
    OPENING = "opening"
    LISTENING = "listening"
    DOWN = "down"


MOVES: dict[State, frozenset[State]] = {
    State.OPENING: frozenset({State.LISTENING, State.DOWN}),
    State.DOWN: frozenset({State.OPENING}),
    State.LISTENING: frozenset(),
}


Report = Callable[[str, Listening], None]
"""Told the system's name, and how its listener is, whenever that changes."""


@dataclass(frozen=True, slots=True)
class TryAgain:
    """The pause after a failed attempt is over."""


class Listener(Actor[TryAgain]):
    def __init__(self, name: str, make_door: Callable[[Stage], Door], report: Report) -> None:
        self.name = name
        self.state = State.OPENING
        self._make_door = make_door
        self._report = report
        self._door: Door | None = None

    async def started(self, kept: object | None) -> None:
        self._open()

    async def handle(self, message: TryAgain) -> None:
        self._move(State.OPENING)
        self._open()

    async def stopping(self, stop: Stop) -> None:
        if self._door is not None and self.state is State.LISTENING:
            await self._door.close()

    def _move(self, state: State) -> None:
        assert state in MOVES[self.state], f"{self.name}: {self.state.value} -> {state.value}"
        self.state = state

    def _open(self) -> None:
        self._door = self._make_door(self.stage)
        self.run_beside(self._serve, self._door)

    async def _serve(self, door: Door) -> None:
        try:
            async with trio.open_nursery() as nursery:
                self._went_up(await nursery.start(door.serve))
        except* CannotListen as failures:
            self._went_down(failures.exceptions[0])

    def _went_up(self, addresses: tuple[Address, ...]) -> None:
        self._move(State.LISTENING)
        self._say(True, addresses[0].url, f"listening on {' and '.join(address.url for address in addresses)}")

    def _went_down(self, failure: BaseException) -> None:
        self._move(State.DOWN)
        self._say(False, None, f"{self.name}: {failure} ([{self.name}] in the settings)")
        self.tell_later(RETRY_SECONDS, TryAgain())

    def _say(self, up: bool, url: str | None, sentence: str) -> None:
        if sentence != self.note:
            self.note = sentence
            log = structlog.get_logger("door")
            if up:
                log.info(sentence, system=self.name)
            else:
                log.warning(sentence, system=self.name, again_in=RETRY_SECONDS)
            self._report(self.name, Listening(up, url, sentence))


def listener_spec(name: str, make_door: Callable[[Stage], Door], report: Report) -> ChildSpec:
    return ChildSpec("door", lambda: Listener(name, make_door, report), grace=GRACE_SECONDS)
