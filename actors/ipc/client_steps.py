"""The client end's next step for one request: it owns the attempts.

    state      means                                                   becomes
    NEW        accepted, and nothing published                         POLLING 1
    POLLING n  attempt n is under way                                  SUCCESS    its answer is a success
                                                                       RETRYING n it is an error, spoiled or overdue
                                                                       FAILING    so was the third, or no other can help
    RETRYING n attempt n has failed; its answer is to be taken away    POLLING n+1
                                                                       SUCCESS    its answer came late, and is one
    FAILING    its last answer is to be copied to failed/              GAVE_UP
    SUCCESS, GAVE_UP                                                   -

Rules
  - The journal comes first: what has been learned from a response is in it before the response is taken away.
  - A response is taken away only if it is the one that the journal knows. Another one in its place is the answer to the
    next attempt, which somebody saw begin before we could write that down.
  - In the contract's dialect, to take an error away asks for another attempt. A HEAD peer must have removed the request
    first, for until then it may still write, and the next attempt begins with the request published anew. If it has not
    when its answer has rested for a while, or the attempt's time is over, it has died in between, and its answer is
    taken as it stands.
  - After an attempt that is overdue, the next one begins with the request renamed into place anew: a peer may have
    missed it. So it does after a response that was spoiled, and is set aside: a HEAD peer does not look past one.
  - A spoiled response is an attempt, for the request may have been run. Otherwise a peer that writes nothing else would
    be asked for ever.
  - What comes after the attempt's time, and before the next one was asked for, is still its answer.
"""

import enum

from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.steps import Answer, Identity, Seen, SetAside, Spoiled, Wait
from codec.ipc import Dialect, Failure, Success

MOST_ATTEMPTS = 3
OVERDUE = "nobody answered in time"
UNREADABLE = "the response could not be read"


class State(enum.Enum):
    NEW = "new"
    POLLING = "polling"
    RETRYING = "retrying"
    FAILING = "failing"
    SUCCESS = "success"
    GAVE_UP = "gave up"


class Row(Struct, frozen=True):
    """What the journal knows."""

    id: str
    state: State = State.NEW
    attempt: int = 0
    failures: tuple[Failure, ...] = ()
    """Of the attempts so far, in order."""
    read: Identity | None = None
    """While RETRYING: the response that told of the last failure. None: there was none."""
    success: Success | None = None

    @property
    def is_over(self) -> bool:
        return self.state in (State.SUCCESS, State.GAVE_UP)


class View(Struct, frozen=True):
    """What can be seen of a request now, and what this process remembers of it."""

    request: bool
    """Its file is in requests/."""
    response: Seen
    published: int = 0
    """The last attempt for which this process has published it; 0: none."""
    overdue: bool = False
    """This attempt's time has passed while this process ran, and it has looked since."""
    recorded: bool = False
    """This process has copied the last answer to failed/."""
    cleared: bool = False
    """This process has taken a response away that will not be followed by another: one that was spoiled, or that a HEAD
    peer has left with its request. It has not published the request since."""
    rested: bool = False
    """This response has stood beside its request for so long that nobody will remove that any more."""


class Journal(Struct, frozen=True):
    row: Row


class Publish(Struct, frozen=True):
    """Rename the request into place, whether it is there or not."""


class TakeAway(Struct, frozen=True):
    """Delete the response, if it is still that one."""

    identity: Identity


class Record(Struct, frozen=True):
    """Copy the last answer to failed/, over what is there."""


class Over(Struct, frozen=True):
    """Nothing will be done any more."""


Step = Journal | Publish | TakeAway | Record | SetAside | Wait | Over


def next_step(row: Row, view: View, dialect: Dialect = Dialect.SPEC) -> Step:
    match row.state:
        case State.NEW:
            if isinstance(view.response, Spoiled):  # it stood in the way before anything was asked for
                return SetAside(view.response.identity, view.response.why)
            return Journal(replace(row, state=State.POLLING, attempt=1))
        case State.POLLING:
            return _polling(row, view, dialect)
        case State.RETRYING:
            there = view.response
            if isinstance(there, Spoiled) and row.read in (there.identity, None):
                return SetAside(there.identity, there.why)
            if row.read is not None and isinstance(there, Answer) and there.identity == row.read:
                return TakeAway(row.read)
            if row.read is None and isinstance(there, Answer) and not (dialect is Dialect.HEAD and view.request):
                return Journal(_answered_late(row, there))
            return Journal(replace(row, state=State.POLLING, attempt=row.attempt + 1, read=None))
        case State.FAILING:
            if isinstance(view.response, Spoiled) and view.response.identity == row.read:
                return SetAside(view.response.identity, view.response.why)
            return Journal(replace(row, state=State.GAVE_UP)) if view.recorded else Record()
        case State.SUCCESS | State.GAVE_UP:
            return Over()


def _polling(row: Row, view: View, dialect: Dialect) -> Step:
    may_still_write = dialect is Dialect.HEAD and view.request
    match view.response:
        case Answer() if may_still_write and not view.overdue and not view.rested:
            return Wait()
        case Answer(_, Success() as success):
            return Journal(replace(row, state=State.SUCCESS, success=success))
        case Answer(identity, Failure() as failure):
            return Journal(_failed(row, failure, identity))
        case Spoiled(identity, why):
            return Journal(_failed(row, Failure(f"{UNREADABLE}: {why}"), identity))
    if view.overdue:
        return Journal(_failed(row, Failure(OVERDUE), None))
    last = row.failures[-1].message if row.failures else ""
    asks_anew = last == OVERDUE or last.startswith(UNREADABLE)
    is_due = view.published < row.attempt and (not view.request or asks_anew)
    if view.response is None and (is_due or view.cleared):
        return Publish()
    return Wait()


def _answered_late(row: Row, answer: Answer) -> Row:
    if isinstance(answer.outcome, Success):
        return replace(row, state=State.SUCCESS, success=answer.outcome)
    failures = (*row.failures[:-1], answer.outcome)
    state = State.FAILING if answer.outcome.permanent else State.RETRYING
    return replace(row, state=state, failures=failures, read=answer.identity)


def _failed(row: Row, failure: Failure, read: Identity | None) -> Row:
    is_last = failure.permanent or row.attempt >= MOST_ATTEMPTS
    state = State.FAILING if is_last else State.RETRYING
    return replace(row, state=state, failures=(*row.failures, failure), read=read)
