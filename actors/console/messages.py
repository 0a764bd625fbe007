"""The messages to the console's actors."""

from msgspec import Struct

from actors.console.picture import Picture
from actors.kernel import ActorRef, Reply
from codec.console import Health, Hello


class Tick(Struct, frozen=True):
    """It is time for the next sample, which was planned for `due`."""

    due: float


class Watch(Struct, frozen=True):
    """This viewer subscribes: it gets `FirstPicture` at once, then a `Picture` each tick, until it ends."""

    viewer: "ActorRef[ViewerMessage]"


class LookOnce(Struct, frozen=True):
    reply: Reply[Hello]


class HowAreYou(Struct, frozen=True):
    reply: Reply[Health]


class Measure(Struct, frozen=True):
    """Asks for the metrics, in Prometheus' text format."""

    reply: Reply[bytes]


class FirstPicture(Struct, frozen=True):
    """Sent to a viewer once: the whole state, and the picture with which later ones are compared."""

    hello: Hello
    picture: Picture


ObserverMessage = Tick | Watch | LookOnce | HowAreYou | Measure
ViewerMessage = FirstPicture | Picture
