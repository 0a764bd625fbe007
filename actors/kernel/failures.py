"""What becomes of an exception that ends an actor.

An actor may open nurseries, so what it raises may be a group, and when it is cancelled meanwhile, a group with
Cancelled in it. The parts go different ways: errors become the actor's Stop; Cancelled, KeyboardInterrupt and
SystemExit are not the actor's and travel on, to whoever cancelled or started all this.
"""

import trio

from actors.kernel.errors import PeerGone
from actors.kernel.stop import Stop, Why


def gone(error: BaseException) -> bool:
    """Is this a vanished peer? A group is, if all its members are."""
    return isinstance(error, PeerGone) or (isinstance(error, BaseExceptionGroup) and error.split(PeerGone)[1] is None)


def failure(error: Exception) -> Stop:
    """The Stop of an actor that raised this."""
    return Stop(Why.PEER_GONE if gone(error) else Why.CRASHED, error)


def in_spite_of(meant: Stop, error: BaseException) -> Stop:
    """The Stop of an actor that was about to end, and raised this meanwhile. A page that is closed ends its actor and
    breaks what that is just sending, in either order: a peer that vanishes from one who is leaving is no failure."""
    spoilt = not meant.why.failed and not gone(error)
    return Stop(Why.CRASHED if spoilt else meant.why, joined(meant.error, error))


def parted(error: BaseException) -> tuple[Exception | None, BaseException | None]:
    """Into what is the actor's own, and what must travel on."""
    if isinstance(error, Exception):
        return error, None
    if isinstance(error, BaseExceptionGroup):
        own, others = error.split(Exception)
        return own, others
    return None, error


def fatal(error: BaseException) -> bool:
    """Is there more in it than errors and Cancelled? Then the whole tree must end at once."""
    if isinstance(error, BaseExceptionGroup):
        return error.split((Exception, trio.Cancelled))[1] is not None
    return not isinstance(error, Exception | trio.Cancelled)


def joined(*errors: BaseException | None) -> BaseException | None:
    """All that went wrong, in order, none twice: one error as it is, several as a group."""
    known: list[BaseException] = []
    for error in errors:
        if error is not None and not any(error is other for other in known):
            known.append(error)
    if len(known) > 1:
        return BaseExceptionGroup("more than one thing went wrong", known)
    return known[0] if known else None
