"""What a room knows of one peer, and how to speak to it in its own words.

    is         becomes
    SILENT     HERO, SCREEN, GONE     by its announce, or, never having announced, by what it says
    HERO       GONE                   it draws
    SCREEN     GONE                   it shows, and sends events
    GONE       -                      its connection has ended
"""

import enum
from collections.abc import Callable
from typing import Any

from actors.kernel import ActorRef
from actors.sidekick.messages import Line
from codec.sidekick import Announce, Dialect, Ear, Mouth, Said, dialect_of


class Part(enum.Enum):
    SILENT = "silent"
    HERO = "hero"
    SCREEN = "screen"
    GONE = "gone"


MOVES: dict[Part, frozenset[Part]] = {
    Part.SILENT: frozenset({Part.HERO, Part.SCREEN, Part.GONE}),
    Part.HERO: frozenset({Part.GONE}),
    Part.SCREEN: frozenset({Part.GONE}),
    Part.GONE: frozenset(),
}


class Member:
    __slots__ = ("absorbs_clear_until", "announce", "behind", "ear", "line", "mouth", "part", "ref", "takes_part")

    def __init__(
        self, ref: ActorRef[Any], line: Line, takes_part: Callable[[str], None] = lambda part: None
    ) -> None:
        self.ref = ref
        self.line = line
        self.takes_part = takes_part
        self.part = Part.SILENT
        self.ear: Ear | None = None
        self.mouth: Mouth | None = None
        self.announce: Announce | None = None  # not None while it is online
        self.behind = False  # it fell behind, and is told nothing until its line is restarted
        self.absorbs_clear_until = 0.0  # a hero that has come back: its first clearAll is not meant

    def become(self, part: Part) -> None:
        if part is not self.part:
            assert part in MOVES[self.part], f"{self.part.value} -> {part.value}"
            self.part = part
            self.takes_part(part.value)

    def hear(self, text: bytes) -> list[Said]:
        if self.ear is None:
            self.ear = Ear(dialect_of(text) or Dialect.D)
        said = self.ear.hear(text)
        return said if isinstance(said, list) else [said]

    @property
    def dialect(self) -> Dialect:
        return Dialect.D if self.ear is None else self.ear.dialect

    @property
    def speaks_canonically(self) -> bool:
        return self.dialect is Dialect.D

    def words(self, message: Said) -> bytes:
        """The message as frames in this peer's words; empty if it has none for it."""
        if self.mouth is None:
            self.mouth = Mouth(self.dialect, "" if self.ear is None else self.ear.version)
        told = self.mouth.say(message)
        if told is None:
            return b""
        frame = self.line.frame
        return frame(told) if isinstance(told, bytes) else b"".join(map(frame, told))

    def tell(self, *messages: Said) -> None:
        frames = b"".join(map(self.words, messages))
        if frames and not self.behind:
            self.offer(frames)

    def offer(self, frames: bytes) -> None:
        self.behind = not self.line.offer(frames)

    def restart(self, frames: bytes) -> None:
        self.behind = not self.line.restart(frames)
