"""The messages to a room."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from msgspec import Struct

from actors.kernel import ActorRef, AnyRef


class Line(Protocol):
    """The way to one peer. The transport provides it. No method waits."""

    takes_bundles: bool
    """The peer takes several messages as one: an array of them."""

    def frames(self, texts: Iterable[bytes]) -> bytes:
        """Text messages as they go over the wire. The result is the same for all lines that take bundles, or do not."""

    def offer(self, frames: bytes) -> bool:
        """Send these whole frames after those that were offered before. False: the peer is too far behind, and all
        frames that were not sent yet are thrown away. The callback of `on_drained` is called when the peer can take
        frames again, and `restart` then begins anew."""

    def restart(self, frames: bytes) -> bool:
        """Begin anew with these frames, which replace those that were thrown away. False: the peer is too far behind
        again, or gone."""

    def on_drained(self, call: Callable[[], None]) -> None: ...

    def hang_up(self, code: int, reason: str) -> None: ...


class Joined(Struct, frozen=True):
    """A connection was made, and nothing has been sent yet. The room monitors the peer's actor: when that ends, the
    peer has left."""

    peer: "ActorRef[Failed]"
    line: Line
    takes_part: Callable[[str], None] = lambda part: None
    """Called when it is known whether the peer is a hero or a screen."""


class Heard(NamedTuple):
    """The messages that one read from the peer's socket brought, in order. (A NamedTuple, because it is made in a third
    of the time that a dataclass takes.)"""

    peer: AnyRef
    texts: list[bytes]


class Failed(Struct, frozen=True):
    """To a peer's actor: the room could not read a message of the peer, or write one to it, because of a mistake in our
    code."""

    error: Exception


class Drained(Struct, frozen=True):
    """A peer that had fallen too far behind takes messages again."""

    peer: AnyRef


class GraceOver(Struct, frozen=True):
    """The time is over in which a hero that lost its connection could come back."""


class ShowOn(Struct, frozen=True):
    """It is time to encode or send the next piece of the board for a screen that came late."""


class Forsaken(Struct, frozen=True):
    """The room has been empty for a while."""


class PictureWanted(Struct, frozen=True):
    """Asks for a picture of the board, because it has changed. With `keep` False, boards are not kept and no picture is
    wanted; the room only learns that its change was noted."""

    keep: bool


RoomMessage = Joined | Heard | Drained | GraceOver | ShowOn | Forsaken | PictureWanted
