"""What the console's actors are told and asked."""

from dataclasses import dataclass

from actors.console.picture import Picture
from actors.kernel import ActorRef, Reply
from codec.console import Health, Hello


@dataclass(frozen=True, slots=True)
class Tick:
    """Time for the next sample; `due` is when it was to come."""

    due: float


@dataclass(frozen=True, slots=True)
class Watch:
    """This viewer wants to be told: `Hello` at once, then a `Picture` each tick. Ends when the viewer does."""

    viewer: "ActorRef[ViewerMessage]"


@dataclass(frozen=True, slots=True)
class Look:
    reply: Reply[Hello]


@dataclass(frozen=True, slots=True)
class HowAreYou:
    reply: Reply[Health]


@dataclass(frozen=True, slots=True)
class Measure:
    """The metrics, in Prometheus' text format."""

    reply: Reply[bytes]


@dataclass(frozen=True, slots=True)
class Welcome:
    """To a viewer, once: all there is, and the picture that later ones are compared with."""

    hello: Hello
    picture: Picture


ObserverMessage = Tick | Watch | Look | HowAreYou | Measure
ViewerMessage = Welcome | Picture
