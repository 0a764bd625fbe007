"""The server end's next step for one request: it owns the runs.

    phase      means                                         becomes
    ASKED      it is to be run, and was begun `starts` times  ASKED       it is begun once more
                                                             DECIDED     a run has ended, or has killed us three times
    DECIDED    the answer is known, and is to be written     ANSWERED    it is written
    ANSWERED   the answer stood in responses/                ASKED       somebody has taken an error away

Rules
  - A start is in the journal before it happens. So what kills the server is not run a fourth time. An answer is in the
    journal when it has been written, and usually before (command.py): only a kill within the moment of the writing may
    have it run again, as one of the three starts, and that only if somebody has also taken it away.
  - To take an error away asks for another run. To take a success away asks for nothing: the scripts of the original do
    so with every answer that they have read.
  - A response that was there before us is an answer, whoever wrote it. To take that away asks for a run: it may have
    been the answer to another request of this id.
  - Another request under the same id, once the first one is over, is another request: the old answer is set aside.
  - A request that is taken away is no longer wanted: its run is cancelled.
  - While either file is torn, which may be for ever, nothing is known that is not in the journal: how a run has ended
    is journalled, and a start that came to nothing is taken back.
"""

import enum

from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.steps import OTHER, Answer, Seen, SetAside, Spoiled, Torn, Wait
from codec.ipc import Failure, Outcome
from codec.ipc.folder import Unreadable as Unreadable  # steps are read with what they are taken on

MOST_STARTS = 3
POISON = f"the server ended {MOST_STARTS} times while running this"
LOST = "the answer was lost"


class Phase(enum.Enum):
    ASKED = "asked"
    DECIDED = "decided"
    ANSWERED = "answered"


class Row(Struct, frozen=True):
    """What the journal knows."""

    id: str
    fingerprint: bytes
    """Of what is asked."""
    phase: Phase = Phase.ASKED
    starts: int = 0
    """Since it was asked."""
    outcome: Outcome | None = None
    """Once it is decided."""
    found: bool = False
    """It was never begun, for its answer lay there. That may be the answer to another request of this id."""

    @property
    def asks_when_taken(self) -> bool:
        """Whether it is to be run if its answer is taken away."""
        return self.found or isinstance(self.outcome, Failure)


class Wanted(Struct, frozen=True):
    """A request that can be read."""

    fingerprint: bytes


class View(Struct, frozen=True):
    """What can be seen of a request now, and what this process remembers of it."""

    request: Torn | Wanted | Unreadable | None
    response: Seen
    may_run: bool = False
    """This process has written down the start of the run that is due."""
    running: bool = False
    ended: Outcome | None = None
    """How the run that this process began has ended."""
    written: bool = False
    """This process has written the answer; somebody may have taken it away since."""


class Journal(Struct, frozen=True):
    row: Row


class Forget(Struct, frozen=True):
    """Nothing is to be known of it any more."""


class Run(Struct, frozen=True):
    pass


class Cancel(Struct, frozen=True):
    pass


class Write(Struct, frozen=True):
    """Publish this as the response."""

    outcome: Outcome


Step = Journal | Forget | Run | Cancel | Write | SetAside | Wait


def next_step(id: str, row: Row | None, view: View) -> Step:  # noqa: A002 - as in the contract
    match view.request:
        case None:
            if view.running:
                return Cancel()
            return Wait() if row is None else Forget()
        case Torn():
            return _keep_in_mind(row, view)
        case Wanted(fingerprint) | Unreadable(fingerprint):
            if row is None or row.fingerprint != fingerprint:
                return _begin(Row(id, fingerprint), row, view)
    match row.phase:
        case Phase.ASKED:
            return _asked(row, view)
        case Phase.DECIDED:
            return _decided(row, view)
        case Phase.ANSWERED:
            return Journal(Row(id, row.fingerprint)) if view.response is None and row.asks_when_taken else Wait()


def first_start(id: str, request: Wanted) -> Row:  # noqa: A002
    """What is journalled before a request runs of which nothing is known, and to which there is no response."""
    row, view = None, View(request, None)
    while row is None or not row.starts:
        step = next_step(id, row, view)
        assert isinstance(step, Journal)
        row = step.row
    return row


def _begin(row: Row, before: Row | None, view: View) -> Step:
    """Another request than the journal knows of."""
    if view.running:
        return Cancel()
    match view.response:
        case None:
            return Journal(row)
        case Torn():
            return Wait()
        case Answer(_, outcome) if before is None:
            return Journal(replace(row, phase=Phase.ANSWERED, outcome=outcome, found=True))
        case Answer(identity) | Spoiled(identity):
            return SetAside(identity, OTHER if before is not None else "it could not be read")


def _asked(row: Row, view: View) -> Step:
    match view.response:
        case Answer(_, outcome):  # by somebody else
            answered = replace(row, phase=Phase.ANSWERED, outcome=outcome, found=not row.starts)
            return Cancel() if view.running else Journal(answered)
        case Spoiled(identity, why):
            return SetAside(identity, why)
        case Torn():
            return _keep_in_mind(row, view)
    if isinstance(view.request, Unreadable):
        return _decide(row, Failure(view.request.why, permanent=True))
    if view.ended is not None:
        return _decide(row, view.ended)
    if view.running:
        return Wait()
    if view.may_run:
        return Run()
    if row.starts >= MOST_STARTS:
        return _decide(row, Failure(POISON, permanent=True))
    return Journal(replace(row, starts=row.starts + 1))


def _keep_in_mind(row: Row | None, view: View) -> Step:
    """It may stay torn for as long as it likes: whoever waits for it is not to know more than the journal."""
    if row is None or row.phase is not Phase.ASKED:
        return Wait()
    if view.ended is not None:
        return _decide(row, view.ended)
    return Journal(replace(row, starts=row.starts - 1)) if view.may_run else Wait()


def _decide(row: Row, outcome: Outcome) -> Journal:
    return Journal(replace(row, phase=Phase.DECIDED, outcome=outcome))


def _decided(row: Row, view: View) -> Step:
    if view.written:
        return Journal(replace(row, phase=Phase.ANSWERED))
    match view.response:
        case Answer(_, outcome):  # ours, written before a crash, or somebody else's who was quicker
            return Journal(replace(row, phase=Phase.ANSWERED, outcome=outcome))
        case Spoiled(identity, why):
            return SetAside(identity, why)
        case Torn():
            return Wait()
        case None:
            return Write(row.outcome or Failure(LOST))
