"""What becomes of a call that acts: what is told of it, and what is kept in one commit with that."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from actors.agent.tools import Told
from codec.agent.advice import NO_REASON, NOT_IN_TIME
from codec.agent.approvals import Pending
from codec.agent.events import LogEvent
from codec.words import sentences


class CallOutcome(Struct, frozen=True):
    told: Told
    failed: bool = False
    events: tuple[LogEvent, ...] = ()
    over: tuple[str, ...] = ()
    """The requests of the call. They leave the session's row when its result is told."""
    applied: tuple[str, ...] = ()
    """Patches."""

    def with_notes(self, notes: Sequence[str]) -> "CallOutcome":
        if not notes:
            return self
        return replace(self, told=Told("\n".join((self.told.text, *notes)), self.told.more))


def failed(text: str, over: Sequence[str] = (), **more: Any) -> CallOutcome:
    shown: Mapping[str, Any] = more
    return CallOutcome(Told(text, shown), failed=True, over=tuple(over))


def is_ours(request: Pending) -> bool:
    """Whether it is still to be begun here: nobody has refused it, or done it elsewhere. Only that can be denied."""
    resolution = request.resolution
    return not request.begun and request.result is None and (resolution is None or resolution.approved)


def refusal_words(request: Pending) -> str:
    """Why a request came to nothing, as the model hears it."""
    resolution = request.resolution
    if resolution is None:
        return "nobody has answered."
    reason = (resolution.reason or "").strip()
    if request.result is not None:
        return sentences(reason or "the client could not do it", "Nothing was changed here.")
    match resolution.ended:
        case "timed_out":
            return f"nobody has answered in time, so it was not done. {NOT_IN_TIME}"
        case "cancelled":
            return "the turn was cancelled."
    if reason:
        return f"the user refused it and says: {reason}"
    return f"the user refused it and gives no reason. {NO_REASON}"
