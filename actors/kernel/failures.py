"""Turns the exception that ends an actor into the actor's Stop.

An actor may open nurseries, so it may raise an exception group; if it is cancelled at the same time, the group also
contains Cancelled. The parts go different ways. Errors become the actor's Stop. Cancelled, KeyboardInterrupt and
SystemExit are not the actor's own: they travel on to the scope that was cancelled, or to the caller of trio.run.
"""

import trio

from actors.kernel.errors import PeerGone
from actors.kernel.stop import Stop, Why


def gone(error: BaseException) -> bool:
    """Whether the error means that a peer has vanished. A group means that if all its members do."""
    return isinstance(error, PeerGone) or (isinstance(error, BaseExceptionGroup) and error.split(PeerGone)[1] is None)


def failure(error: Exception) -> Stop:
    """The Stop of an actor that raised this."""
    return Stop(Why.PEER_GONE if gone(error) else Why.CRASHED, error)


def in_spite_of(meant: Stop, error: BaseException) -> Stop:
    """The Stop of an actor that was about to end, and raised this error meanwhile. When a page is closed, its actor is
    told to end, and whatever the actor is just sending fails, in either order. So it is no failure if the peer of an
    actor vanishes while the actor is ending."""
    spoilt = not meant.why.failed and not gone(error)
    return Stop(Why.CRASHED if spoilt else meant.why, joined(meant.error, error))


def strip(error: BaseException) -> None:
    """Take the tracebacks off an error that is no failure, so that nobody will look where it came from. Their frames
    know the actor, whose slot knows the error: the collector alone would find such a circle."""
    waiting: list[BaseException | None] = [error]
    seen: list[BaseException] = []
    while waiting:
        one = waiting.pop()
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        one.with_traceback(None)
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def parted(error: BaseException) -> tuple[Exception | None, BaseException | None]:
    """Split an exception into the part that is the actor's own and the part that must travel on."""
    if isinstance(error, Exception):
        return error, None
    if isinstance(error, BaseExceptionGroup):
        own, others = error.split(Exception)
        return own, others
    return None, error


def fatal(error: BaseException) -> bool:
    """Whether the exception holds more than errors and Cancelled (KeyboardInterrupt, for example). If so, the whole
    tree must end at once."""
    if isinstance(error, BaseExceptionGroup):
        return error.split((Exception, trio.Cancelled))[1] is not None
    return not isinstance(error, Exception | trio.Cancelled)


def joined(*errors: BaseException | None) -> BaseException | None:
    """All these errors as one, in order, none twice. A single error stays as it is; several become a group."""
    known: list[BaseException] = []
    for error in errors:
        if error is not None and not any(error is other for other in known):
            known.append(error)
    if len(known) > 1:
        return BaseExceptionGroup("more than one thing went wrong", known)
    return known[0] if known else None
