"""Moments by a clock that nobody sets, and that outlives this process: the machine's own. How long something took is
read off it, for the clock on the wall may be set meanwhile."""

from msgspec import Struct


class Uptime(Struct, frozen=True, array_like=True):
    boot: str
    """Of this start of the machine. Those of another start are not to be compared."""
    seconds: float
    """Since then, with those in which it slept."""


def passed(since: Uptime | None, now: Uptime | None) -> float | None:
    """Seconds. None: the machine does not tell, or was started anew."""
    if since is None or now is None or since.boot != now.boot or now.seconds < since.seconds:
        return None
    return now.seconds - since.seconds
