"""Messages of the user that wait, and what becomes of each: pure functions.

A message waits for the end of the turn that runs (`queue`), or for its next tool (`steer`). One that was to steer a
turn, and came too late, waits like any other. Ids that were taken are remembered, so a client that has lost its
connection may say everything again.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from codec.agent.client_messages import UserSays
from codec.agent.context import EditorContext, SaidContext, said_parts
from codec.agent.events import UserMessage
from codec.agent.kept import Waiting
from codec.agent.sessions import plain_title

MOST_QUEUED = 32
MOST_QUEUED_BYTES = 8 << 20
MOST_MESSAGE_BYTES = 4 << 20
MOST_REMEMBERED = 100
TITLE = 80

_EMPTY = EditorContext()
_OWN = ("mentions", "command")
"""The parts of a context that belong to one message."""
_SHOWN = ("active_editor", "open_editors", "diagnostics")
"""The parts that an editor always tells, by the contract: one that is missing beside open editors is gone."""


def carried(context: EditorContext, said: SaidContext) -> EditorContext:
    """The context of a message: what it says itself, and what was said before of all the rest. When the last error was
    mended, an editor tells its open files and no diagnostics: then there are none any more."""
    gone = (*_OWN, *_SHOWN) if said.open_editors else _OWN
    parts = {name: getattr(_EMPTY, name) for name in gone} | said_parts(said)
    return replace(context, **parts)


def weight(waiting: Waiting) -> int:
    return len(msgspec.json.encode(waiting))


def refusal(queue: Sequence[Waiting], message: Waiting) -> str | None:
    """Why this message cannot wait, too."""
    if len(queue) >= MOST_QUEUED:
        return f"{MOST_QUEUED} messages wait already. Withdraw one, or wait for the end of the turn."
    if sum(map(weight, queue)) + weight(message) > MOST_QUEUED_BYTES:
        return "The messages that wait are too large together. Withdraw one, or wait for the end of the turn."
    return None


def accepted(said: UserSays, id: str, context: EditorContext, by: str, at: float) -> Waiting:  # noqa: A002
    return Waiting(
        message_id=id, message=said.message, delivery=said.delivery, context=context, by=by, at=at
    )


def remembered(taken: Sequence[str], id: str) -> tuple[str, ...]:  # noqa: A002
    return (*taken, id)[-MOST_REMEMBERED:]


def steering(queue: Sequence[Waiting]) -> tuple[tuple[Waiting, ...], tuple[Waiting, ...]]:
    """What steers the turn that runs, and the rest."""
    return (
        tuple(each for each in queue if each.delivery == "steer"),
        tuple(each for each in queue if each.delivery != "steer"),
    )


def said_now(waiting: Waiting, turn_id: str, *, steers: bool = False) -> UserMessage:
    """Its turn is this one, from now on."""
    return UserMessage(
        message=waiting.message,
        message_id=waiting.message_id,
        turn_id=turn_id,
        context=waiting.context,
        by=waiting.by,
        steers=steers,
        at=waiting.at,
    )


def entitled(message: str) -> str:
    """A title for a session that begins with this message."""
    line = plain_title(message[:1000])
    return line if len(line) <= TITLE else line[: TITLE - 1].rstrip() + "…"
