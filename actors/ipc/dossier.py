"""A dossier: all that the client end knows of one request. It is what the journal keeps.

A dossier holds the row that client_steps.py decides by, not as such but as its attempts: the failures of a row are the
outcomes of this round's attempts. A round is three attempts; a requeue begins another, and the attempts go on counting.

Rules
  - Attempts and notes are bounded: of very many, the last ones are kept.
  - Moments are of the clock on the wall, which may be set: no attempt ends before it began, and a request took at least
    as long as its attempts. How long it took is read off the machine's own clock, unless that was started anew.
  - An attempt begins when the request is in somebody's hands, not when it is accepted: what waits has begun nothing.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.client_steps import OVERDUE, Row, State
from actors.ipc.steps import Answer, Identity
from actors.ipc.telling_time import moment_of
from actors.ipc.uptime import Uptime, passed
from codec.ipc import BadRequest, Failure, Outcome, Request, Success, read_request
from codec.ipc.desk import Attempt, RequestDetail, RequestFact, RequestState
from codec.ipc.folder import Asked, BothFiles

MOST_TRIED = 24
MOST_NOTES = 40
MOST_NOTE = 500
MOST_MESSAGE = 200
"""Characters of the reason that the list shows."""

Source = Literal["submitted", "dropped"]


class Dossier(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    command: str
    content: bytes
    """The whole file, as it is published. Empty in the store if there is a blob of it."""
    fingerprint: bytes
    created: float
    changed: float
    state: State = State.POLLING
    attempt: int = 1
    """Of this round."""
    earlier: int = 0
    """Attempts of the rounds before."""
    read: Identity | None = None
    answered: Identity | None = None
    """Of the response with which it ended."""
    tried: tuple[Attempt, ...] = ()
    begun: int = 0
    """Attempts, also those that are no longer kept."""
    cancelled: bool = False
    made_way: bool = False
    """It was cancelled, unpublished, for another request of its id, which a script had submitted."""
    message: str = ""
    notes: tuple[str, ...] = ()
    source: Source = "submitted"
    accepted: Uptime | None = None
    """When it was `created`."""
    seconds: float | None = None
    submitter: str = ""
    priority: int = 0
    not_before: float | None = None
    deadline: float | None = None
    referenced: bool = False
    """It carries a reference for the evaluation."""
    stale: bool = False
    """Files of another request of this id are to be put away before it begins."""
    instead_of: bytes = b""
    """The essence of that one. Empty: this one was put in its place, or it could not be read."""
    old: tuple[Identity, ...] = ()
    """While it is stale: of the responses to that one."""
    blob: str = ""
    """The digest of the content, if it is too large for a row."""
    large: dict[int, str] = {}
    """Digests of outcomes that are too large for a row, by the attempt's number."""
    let_go: tuple[str, ...] = ()
    """Digests of blobs that were its own, or its predecessor's of this id, and are to be dropped. They are never among
    `blob` and `large` in the store."""

    @property
    def is_over(self) -> bool:
        return self.state in (State.SUCCESS, State.GAVE_UP)

    @property
    def blobs(self) -> tuple[str, ...]:
        """Digests of all that is its own in the store."""
        return (*((self.blob,) if self.blob else ()), *self.large.values(), *self.let_go)

    @property
    def row(self) -> Row:
        outcomes = [each.outcome for each in self.tried if each.number > self.earlier]
        failures = tuple(outcome for outcome in outcomes if isinstance(outcome, Failure))
        last = self.tried[-1].outcome if self.tried else None
        success = last if self.state is State.SUCCESS and isinstance(last, Success) else None
        return Row(self.id, self.state, self.attempt, failures, self.read, success)

    @property
    def under_way(self) -> Attempt | None:
        """The attempt that has begun and not ended."""
        return self.tried[-1] if self.tried and self.tried[-1].outcome is None else None

    @property
    def shown(self) -> RequestState:
        match self.state:
            case State.SUCCESS:
                return "success"
            case State.GAVE_UP:
                return "cancelled" if self.cancelled else "gave up"
            case State.RETRYING | State.FAILING if self.attempt:
                return "retrying"
            case State.RETRYING:
                return "waiting"  # requeued
        if self.under_way is not None:
            return "polling"
        return "retrying" if self.attempt > 1 else "waiting"

    @property
    def fact(self) -> RequestFact:
        return RequestFact(
            id=self.id,
            command=self.command,
            state=self.shown,
            created=self.created,
            changed=self.changed,
            attempts=self.begun,
            seconds=self.seconds,
            submitter=self.submitter,
            priority=self.priority,
            message=self.message,
        )

    def detail(self, request: Request | None) -> RequestDetail:
        """`request`: None, if it cannot be read."""
        return RequestDetail(
            fact=self.fact,
            params=None if request is None else request.params,
            reference=None if request is None else request.wishes.reference,
            tried=self.tried,
            notes=self.notes,
            not_before=self.not_before,
            deadline=self.deadline,
            made_way=self.made_way,
        )


def is_of(dossier: Dossier, request: Request) -> bool:
    """Whether it asks for the same. One door to the desk knows wishes that another does not, such as who submits it; so
    they do not count."""
    if dossier.fingerprint == request.fingerprint:
        return True
    try:
        return request.asks_the_same(read_request(dossier.content, dossier.id))
    except BadRequest:
        return False


def essence_of(dossier: Dossier) -> bytes:
    try:
        return read_request(dossier.content, dossier.id).essence
    except BadRequest:
        return b""


def is_overwritten(dossier: Dossier, files: BothFiles) -> bool:
    """Another request of its id stands in its place."""
    asked = files.request
    if not isinstance(asked, Asked) or asked.data == dossier.content:
        return False
    return not is_of(dossier, asked.request)


def opened(request: Request, content: bytes, now: float, source: Source, up: Uptime | None = None) -> Dossier:
    """Of a request that nobody knows yet. Its first attempt may be published at once: a row that says so is no start of
    it, and so acceptance and start need one commit and not two."""
    return Dossier(
        id=request.id,
        command=request.command,
        content=content,
        fingerprint=request.fingerprint,
        created=now,
        changed=now,
        source=source,
        accepted=up,
        submitter=request.wishes.submitter,
        priority=request.wishes.priority,
        not_before=request.wishes.not_before,
        deadline=request.wishes.deadline,
        referenced=request.reference is not None,
    )


def begun(dossier: Dossier, now: float) -> Dossier:
    """Its present attempt begins, if it has not."""
    number = dossier.earlier + dossier.attempt
    if dossier.tried and dossier.tried[-1].number == number:
        return dossier
    tried = (*dossier.tried, Attempt(number=number, began=now))[-MOST_TRIED:]
    return replace(dossier, tried=tried, begun=number, changed=now)


def stepped(
    dossier: Dossier, row: Row, now: float, seconds: float | None = None, up: Uptime | None = None
) -> Dossier:
    """After a step of the row. `seconds`: how long the attempt took, if it has ended by this."""
    outcome: Outcome | None = row.success
    before = dossier.row
    if row.failures != before.failures:
        outcome = row.failures[-1]
    if outcome is not None and row != before:
        dossier = _ended(dossier, outcome, now, seconds)
    changed = replace(dossier, state=row.state, attempt=row.attempt, read=row.read, changed=now)
    return replace(changed, seconds=_lasted(changed, now, up)) if changed.is_over else changed


def _ended(dossier: Dossier, outcome: Outcome, now: float, seconds: float | None) -> Dossier:
    dossier = begun(dossier, dossier.changed)
    last = dossier.tried[-1]
    late = isinstance(outcome, Failure) and outcome.message == OVERDUE
    ended_at = now if now >= last.began else last.began + (seconds or 0.0)  # the clock on the wall was set back
    ended = replace(last, ended=ended_at, seconds=seconds, outcome=outcome, late=late)
    message = outcome.message[:MOST_MESSAGE] if isinstance(outcome, Failure) else ""
    large = {number: digest for number, digest in dossier.large.items() if number != last.number}
    let_go = (*dossier.let_go, *(digest for number, digest in dossier.large.items() if number == last.number))
    return replace(dossier, tried=(*dossier.tried[:-1], ended), message=message, large=large, let_go=let_go)


def noted(dossier: Dossier, *sentences: str) -> Dossier:
    notes = (*dossier.notes, *(sentence[:MOST_NOTE] for sentence in sentences))
    return replace(dossier, notes=notes[-MOST_NOTES:])


def labelled(dossier: Dossier, answer: Answer, now: float) -> Dossier:
    """After this answer: at-least-once, if that is so."""
    if answer.begun == 1:
        return dossier
    times = "twice" if answer.begun == 2 else f"{answer.begun} times"
    sentence = f"attempt {dossier.begun} was begun {times}, for the server had ended meanwhile"
    return noted(dossier, f"{moment_of(now)}: {sentence}; what it does may have been done as often.")


def another_round(dossier: Dossier, now: float) -> Dossier:
    """Three fresh attempts."""
    return replace(
        dossier,
        state=State.POLLING,
        attempt=1,
        earlier=dossier.begun,
        read=None,
        answered=None,
        cancelled=False,
        made_way=False,
        message="",
        seconds=None,
        changed=now,
    )


def cancelled(dossier: Dossier, now: float, up: Uptime | None = None) -> Dossier:
    tried = tuple(each for each in dossier.tried if each.outcome is not None)
    after = replace(dossier, state=State.GAVE_UP, cancelled=True, tried=tried, changed=now)
    return replace(after, seconds=_lasted(after, now, up))


MADE_WAY = "it made way for another request of this id, which a script had submitted at the same time"


def made_way(dossier: Dossier, now: float, up: Uptime | None = None) -> Dossier:
    after = replace(cancelled(dossier, now, up), made_way=True, message=MADE_WAY)
    return noted(after, f"{moment_of(now)}: {MADE_WAY}; submit it again under another id.")


def _lasted(dossier: Dossier, now: float, up: Uptime | None) -> float:
    """At least as long as its attempts took: all that is known may be what the clock on the wall says, which may have
    been set back meanwhile."""
    lasted = passed(dossier.accepted, up)
    lasted = now - dossier.created if lasted is None else lasted
    return max(lasted, sum(each.seconds or 0.0 for each in dossier.tried))
