"""The messages to the console's actors."""

from dataclasses import dataclass

from actors.console.picture import Picture
from actors.kernel import ActorRef, Reply
from codec.console import Health, Hello


@dataclass(frozen=True, slots=True)
class Tick:
    """It is time for the next sample, which was planned for `due`."""

    due: float


@dataclass(frozen=True, slots=True)
class Watch:
    """This viewer subscribes: it gets `FirstPicture` at once, then a `Picture` each tick, until it ends."""

    viewer: "ActorRef[ViewerMessage]"


@dataclass(frozen=True, slots=True)
class LookOnce:
    reply: Reply[Hello]


@dataclass(frozen=True, slots=True)
class HowAreYou:
    reply: Reply[Health]


@dataclass(frozen=True, slots=True)
class Measure:
    """Asks for the metrics, in Prometheus' text format."""

    reply: Reply[bytes]


@dataclass(frozen=True, slots=True)
class FirstPicture:
    """Sent to a viewer once: the whole state, and the picture with which later ones are compared."""

    hello: Hello
    picture: Picture


ObserverMessage = Tick | Watch | LookOnce | HowAreYou | Measure
ViewerMessage = FirstPicture | Picture
