"""The messages to a room."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from actors.kernel import ActorRef, AnyRef


class Line(Protocol):
    """The way to one peer, given by the transport. Nothing here waits."""

    def frame(self, text: bytes) -> bytes:
        """A text message as it goes over the wire; the same for every line."""

    def offer(self, frames: bytes) -> bool:
        """Send these whole frames after what was offered before. False: the peer is too far behind. All that it has not
        been sent is thrown away; `on_drained` is called once it can take something again, and `restart` begins anew."""

    def restart(self, frames: bytes) -> bool:
        """Begin anew with these, which make up for what was thrown away. False: the peer has gone."""

    def on_drained(self, call: Callable[[], None]) -> None: ...

    def hang_up(self, code: int, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Joined:
    """A connection was made; nothing has been said yet. Its actor is watched: when it ends, the peer has left."""

    peer: "ActorRef[Failed]"
    line: Line
    takes_part: Callable[[str], None] = lambda part: None
    """Called when it is known what the peer is: hero or screen."""


class Heard(NamedTuple):
    """What one read from the peer's socket brought, in order. (A tuple is made in a third of the time.)"""

    peer: AnyRef
    texts: list[bytes]


@dataclass(frozen=True, slots=True)
class Failed:
    """To a peer: the room could not hear it, or tell it something, for a mistake of ours."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Drained:
    """A peer that had fallen too far behind takes messages again."""

    peer: AnyRef


@dataclass(frozen=True, slots=True)
class GraceOver:
    """A hero that lost its connection has not come back."""

    peer_id: str


@dataclass(frozen=True, slots=True)
class ShowOn:
    """The next piece of the board, for a screen that came late."""


@dataclass(frozen=True, slots=True)
class Forsaken:
    """Nobody has been here for a while."""


@dataclass(frozen=True, slots=True)
class PictureWanted:
    """What has changed on the board is to be kept; or, where nothing is kept, has been noted."""

    keep: bool


RoomMessage = Joined | Heard | Drained | GraceOver | ShowOn | Forsaken | PictureWanted
