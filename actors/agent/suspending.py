"""What becomes of a turn that was under way when its session or the process ended, with its requests.

    a request had begun       interrupted: nobody knows how far it came
    no request                interrupted: it was streaming, or at work
    each waits, or has its    suspended: it goes on as soon as there are all answers
    answer and no more
"""

from collections.abc import Sequence

from actors.agent.messages import LogEntry
from actors.agent.retelling import SoFar, begins
from actors.agent.turning import CurrentTurn
from codec.agent.approvals import Pending
from codec.agent.events import UserMessage
from codec.agent.kept import TurnMark


def can_go_on(requests: Sequence[Pending]) -> bool:
    return bool(requests) and not any(each.begun for each in requests)


def found_again(mark: TurnMark, entries: Sequence[LogEntry]) -> CurrentTurn | None:
    """The turn, from the log since its message. None: its message cannot be read."""
    if not entries or not begins(entries[0]):
        return None
    message = entries[0].event
    assert isinstance(message, UserMessage)
    return CurrentTurn(mark, message, SoFar(entries[1:]), resumed=True)
