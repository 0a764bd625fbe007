"""A member: one peer as its room knows it, with an ear and a mouth for its dialect.

The ear (which reads its messages) and the mouth (which writes messages to it) run in the room's turn, but they belong
to the peer. If one of them fails at a message, because of a mistake in our code, only this peer's conversation ends,
with a log line.

    SILENT     its part is not known yet: its announce tells it, or, if it never announces, what it sends
    HERO       it draws
    SCREEN     it shows the board, and sends events
    GONE       its connection has ended
"""

import enum
from collections.abc import Callable, Iterable
from typing import NamedTuple

from actors.kernel import ActorRef, Table
from actors.sidekick.messages import Failed, Line
from codec.sidekick import COMMON, Announce, Dialect, Ear, Mouth, Said, dialect_of

FAULT = 1011


class Part(enum.Enum):
    SILENT = "silent"
    HERO = "hero"
    SCREEN = "screen"


class PartEvent(enum.Enum):
    DRAWS = "draws"
    LOOKS = "looks"


MOVES = Table(
    "a peer's part",
    {
        PartEvent.DRAWS: {Part.SILENT: Part.HERO, Part.HERO: Part.HERO},
        PartEvent.LOOKS: {Part.SILENT: Part.SCREEN, Part.SCREEN: Part.SCREEN},
    },
)


class Tongue(NamedTuple):
    """What is encoded once for all screens that have it."""

    mouth: Mouth
    takes_bundles: bool


class Member:
    __slots__ = (
        "_mouth", "absorbs_clear_until", "announce", "behind", "broken", "ear", "follows", "line", "part", "ref",
        "takes_part", "unshown",
    )  # fmt: skip

    def __init__(
        self, ref: ActorRef[Failed], line: Line, takes_part: Callable[[str], None] = lambda part: None
    ) -> None:
        self.ref = ref
        self.line = line
        self.takes_part = takes_part
        self.part = Part.SILENT
        self.ear: Ear | None = None
        self._mouth = COMMON[Dialect.D]
        self.announce: Announce | None = None  # not None while it is online
        self.behind = False  # it fell behind, and is sent nothing until its line is restarted
        self.unshown = False  # a screen that will be shown the whole board, or is just being shown it
        self.broken = False  # its ear or its mouth has failed, and it is about to end
        self.follows = False  # our own page, which is sent the state of the board
        self.absorbs_clear_until = 0.0  # until then, the first clearAll of a hero that came back is ignored

    def draws(self) -> bool:
        """True: that shows that it is a hero, which was not known."""
        return self._shown_by(PartEvent.DRAWS)

    def looks(self) -> bool:
        return self._shown_by(PartEvent.LOOKS)

    def _shown_by(self, event: PartEvent) -> bool:
        part = MOVES.after(event, self.part, self.ref)
        if part is self.part:
            return False
        self.part = part
        self.takes_part(part.value)
        return True

    def ear_for(self, texts: list[bytes]) -> Ear:
        """The ear for this peer. The peer's first message decides the dialect."""
        if self.ear is None:
            try:
                dialect = dialect_of(texts[0])
            except Exception as error:
                self.fail(error)
                dialect = None
            self.ear = Ear(dialect or Dialect.D)
        return self.ear

    def fail(self, error: Exception) -> None:
        if not self.broken:
            self.broken = True
            self.line.hang_up(FAULT, "the server failed at a message; its log says why")
            self.ref.urgent(Failed(error))

    @property
    def dialect(self) -> Dialect:
        return Dialect.D if self.ear is None else self.ear.dialect

    @property
    def mouth(self) -> Mouth:
        """The mouth for this peer: one that all peers of its dialect share, or, if peers of that dialect differ, one of
        its own."""
        ear = self.ear
        if ear is not None and ear.dialect is not self._mouth.dialect:
            self._mouth = COMMON.get(ear.dialect) or Mouth(ear.dialect, ear.version)
        return self._mouth

    @property
    def tongue(self) -> Tongue:
        return Tongue(self.mouth, self.line.takes_bundles)

    def frames(self, messages: Iterable[Said]) -> bytes:
        """The messages as frames in this peer's dialect; empty if the dialect cannot express any of them."""
        try:
            return self.line.frames(self.mouth.say_all(messages))
        except Exception as error:
            self.fail(error)
            return b""

    def tell(self, *messages: Said) -> None:
        frames = self.frames(messages)
        if frames and not self.behind:
            self.offer(frames)

    def offer(self, frames: bytes) -> None:
        self.behind = not self.line.offer(frames)

    def restart(self, frames: bytes) -> None:
        self.behind = not self.line.restart(frames)
