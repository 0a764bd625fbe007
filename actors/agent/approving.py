"""The requests of a session's turn, from the question to the answer. requests.py says what an answer does.

Rules
  - A request is in the row from the commit of its event. Nobody is told of an answer, the turn included, before that is
    kept, too.
  - An approval that is to be remembered for the workspace is stored there first. Meanwhile the answer counts already: a
    second answer is too late. If the approval cannot be stored, the client is told, and the answer stands for this
    once.
  - The time of a request is told in seconds since 1970, so it passes also while no server runs. An answer that comes
    after it is too late, though the timer may not have said so yet: a machine that slept wakes to the answer first.
  - If an editor applies a patch without a word, that is an answer, too (noticing.py).
  - When its turn ends, whatever still waits is resolved as cancelled, before the last word.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.agent.attendees import ClientRef, said_error
from actors.agent.half_done import FilesNow
from actors.agent.messages import WORKSPACES, ForgetApproval, RememberApproval, RememberedAsked
from actors.agent.noticing import Noticing
from actors.agent.record import SessionRecord
from actors.agent.requests import (
    Answer,
    Settling,
    Unanswerable,
    as_handed_over,
    asks,
    cancelled,
    given_up,
    is_same,
    next_expiry,
    resolved,
    settling,
    timed_out,
    to_remember,
    waits,
    with_changes,
)
from actors.agent.writing import answer
from actors.kernel import Actor, KernelError, Reply, Timer, in_words
from actors.store import StoreError
from codec.agent.action_events import CommandTakenBack
from codec.agent.approvals import Pending, Remembered, RememberedList
from codec.agent.audit import ApprovalForgotten, ApprovalRemembered
from codec.agent.client_messages import PatchApplyResult, TakeBackCommand
from codec.agent.refusing import ContractRefusal

PATIENCE = 10.0
MOST_REMEMBERED = 200
"""In a session."""
MOST_APPLIED = 100
LONGEST_NAP, SHORTEST_NAP = 3600.0, 0.001
"""The clock of the wall may be set, so it is looked at from time to time."""
CANNOT = "The answer was taken for this once, and is not remembered: "


class ExpireNow(Struct, frozen=True):
    """A session's message to itself: the time of a request may be over."""


class Claim(Struct, eq=False):
    """An answer that counts, while something of it is being stored for the workspace."""

    requests: dict[str, Pending]
    """As they are when that is done."""
    replies: list[Reply[None]]
    exactly: bool
    """Whether only this very command is remembered."""


class Approvals:
    def __init__(
        self,
        session: Actor[Any],
        record: SessionRecord,
        wall: Callable[[], float],
        new_id: Callable[[], str],
        on_settled: Callable[[Sequence[Pending]], None],
        files_now: FilesNow | None = None,
    ) -> None:
        """`on_settled` is called when these are kept as they are now: answered, or with a client's result."""
        self._session = session
        self._record = record
        self._wall = wall
        self._new_id = new_id
        self._on_settled = on_settled
        self._claims: dict[str, Claim] = {}
        """By the ids of their requests."""
        self._timer: Timer | None = None
        self._noticing = Noticing(session, record, files_now, self._notice)

    @property
    def _seen(self) -> tuple[Pending, ...]:
        """The requests as whoever answers now is to see them."""
        claimed = [claim.requests[claimed] for claimed, claim in self._claims.items()]
        return with_changes(self._record.row.pending, claimed)

    # -- by the turn

    def ask(self, requests: Sequence[Pending], seconds: float) -> None:
        """`seconds`: how long each waits at most; 0: for ever. Raises ValueError or TypeError if one cannot be kept."""
        record = self._record
        known = {each.request_id for each in record.row.pending}
        if len(known | {each.request_id for each in requests}) < len(known) + len(requests):
            raise ValueError("a request has the id of another one")
        record.check([each.asked for each in requests])
        until = self._wall() + seconds if seconds else 0
        can = record.clients.capabilities
        asked = [
            replace(
                as_handed_over(each, can),
                seq=record.say(each.asked).seq,
                expires_at=each.expires_at or (until if asks(each) else 0),
            )
            for each in requests
        ]
        record.pend((*record.row.pending, *asked))
        self.watch()

    def keep(self, begun: Sequence[str], over: Sequence[str], applied: Sequence[str]) -> None:
        row = self._record.row
        for each in given_up(row.pending, over):
            self._record.say(resolved(each))
            self._claims.pop(each.request_id, None)
        pending = tuple(
            replace(each, begun=True) if each.request_id in begun else each
            for each in row.pending
            if each.request_id not in over
        )
        if pending != row.pending:
            self._record.pend(pending)
        if applied:
            self._record.change(applied_patches=(*row.applied_patches, *applied)[-MOST_APPLIED:])
        self.watch()

    def cancel(self) -> None:
        """Nobody acts upon these any more."""
        record = self._record
        self._claims.clear()
        if record.row.pending:
            for each in cancelled(record.row.pending):
                record.say(resolved(each))
            record.pend(())
        self.watch()

    # -- by clients

    def answer(self, client: ClientRef, said: Answer, reply: Reply[None]) -> None:
        record = self._record
        trouble = record.writing.trouble
        if trouble is not None:
            why = f"The answer was not taken, because it cannot be kept: {trouble}. Give it again later."
            record.clients.tell(client, said_error("INTERNAL", why))
            answer(reply, None)
            return
        by = record.clients.name(client)
        if over := timed_out(self._seen, self._wall()):
            self._settle(over)
        try:
            found = settling(self._seen, record.sent, said, by)
        except Unanswerable as error:
            record.clients.tell(client, said_error("INVALID_MESSAGE", str(error), where=error.where))
            answer(reply, None)
            return
        claim = self._claims.get(found.requests[0].request_id)
        if claim is not None:  # the result of what is being remembered
            claim.requests |= {each.request_id: each for each in found.requests}
            claim.replies.append(reply)
        elif found.remember == "workspace" and found.whole:
            claim = Claim({each.request_id: each for each in found.requests}, [reply], found.exactly)
            self._claims |= dict.fromkeys(claim.requests, claim)
            self._session.run_beside(self._remember, client, claim, by)
        else:
            requests, approvals = self._for_the_session(client, found, by)
            if isinstance(said, TakeBackCommand):
                record.say(CommandTakenBack(command_id=said.command_id, run_here=said.run_here, by=by))
            self._settle(requests, [reply], approvals)

    def _notice(self, request: Pending, digest: str | None, by: str) -> None:
        """Its file is as the patch makes it: an editor has applied it, and has not said so."""
        record = self._record
        if record.writing.trouble is not None or request.request_id in self._claims:
            return  # it is looked at again
        said = PatchApplyResult(patch_id=request.request_id, success=True, applied_hash=digest)
        with suppress(Unanswerable):  # it is not shown yet
            self._settle(settling(record.row.pending, record.sent, said, by).requests)

    def _settle(
        self, requests: Sequence[Pending], replies: Sequence[Reply[None]] = (), approvals: Sequence[Remembered] = ()
    ) -> None:
        """They are kept so; then it is told."""
        record = self._record
        news = {each.request_id for each in record.row.pending if waits(each)}
        can = record.clients.capabilities
        requests = [as_handed_over(each, can) if each.request_id in news else each for each in requests]
        if approvals:
            record.change(remembered=(*record.row.remembered, *approvals))
        record.pend(with_changes(record.row.pending, requests))
        for each in requests:
            if each.request_id in news:
                record.say(resolved(each))
        for approval in approvals:
            record.say(ApprovalRemembered(at=approval.at, by=approval.by, approval=approval))
        record.writing.then(partial(self._on_settled, tuple(requests)))
        for reply in replies:
            record.writing.promise(reply, None)
        self.watch()

    # -- when the time is over

    def watch(self) -> None:
        """The time of the requests, and the files that they are about."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = next_expiry(self._seen)
        if due is not None:
            nap = min(max(due - self._wall(), SHORTEST_NAP), LONGEST_NAP)
            self._timer = self._session.tell_later(nap, ExpireNow())
        self._noticing.begin()

    @property
    def expires(self) -> bool:
        """Whether the time of a request will be over."""
        return self._timer is not None

    def expire(self) -> None:
        self._timer = None
        over = timed_out(self._seen, self._wall())
        if over:
            self._settle(over)
        else:
            self.watch()

    # -- what is remembered

    def _for_the_session(
        self, client: ClientRef, found: Settling, by: str
    ) -> tuple[tuple[Pending, ...], list[Remembered]]:
        """The requests with what becomes of them, and what is remembered of them here."""
        if found.remember == "once":
            return found.requests, []
        if not found.whole:
            self._not_remembered(client, "only a whole patch can be.")
            return found.requests, []
        requests: list[Pending] = []
        known = list(self._record.row.remembered)
        before = len(known)
        for each in found.requests:
            approval = self._to_remember(client, each, "session", by, exactly=found.exactly)
            if approval is not None and not any(is_same(approval, one) for one in known):
                if len(known) >= MOST_REMEMBERED:
                    self._not_remembered(client, f"{MOST_REMEMBERED} approvals are already. Revoke one.")
                    approval = None
                else:
                    known.append(approval)
            requests.append(each if approval is None else remembered_for(each, "session", exactly=found.exactly))
        return tuple(requests), known[before:]

    async def _remember(self, client: ClientRef, claim: Claim, by: str) -> None:
        """Stores it for the workspace; then the answer is settled."""
        row = self._record.row
        stored: set[str] = set()
        for each in tuple(claim.requests.values()):
            approval = self._to_remember(client, each, "workspace", by, exactly=claim.exactly)
            if approval is None:
                continue
            question = partial(RememberApproval, row.fact.workspace_id, approval)
            try:
                await self._session.stage.registry.get(WORKSPACES).ask(question, timeout=PATIENCE)
            except (KernelError, StoreError, ContractRefusal) as error:
                self._not_remembered(client, in_words(error))
            else:
                stored.add(each.request_id)
        if claim not in self._claims.values():
            why = "The answer came too late: the turn does not wait for it any more."
            self._record.clients.tell(client, said_error("INVALID_MESSAGE", why))
            for reply in claim.replies:
                answer(reply, None)
            return
        settled = claim.requests.values()
        for each in settled:
            self._claims.pop(each.request_id, None)
        self._settle(
            [
                remembered_for(each, "workspace", exactly=claim.exactly) if each.request_id in stored else each
                for each in settled
            ],
            claim.replies,
        )

    def _to_remember(
        self, client: ClientRef, request: Pending, scope: Literal["session", "workspace"], by: str, *, exactly: bool
    ) -> Remembered | None:
        made = partial(Remembered, id=self._new_id(), scope=scope, by=by, at=self._wall())
        approval = to_remember(request, made, exactly=exactly)
        if approval is None:
            self._not_remembered(client, "of this command it cannot be said what would be allowed later on.")
        return approval

    def _not_remembered(self, client: ClientRef, why: str) -> None:
        self._record.clients.tell(client, said_error("INTERNAL", CANNOT + why))

    def tell_remembered(self, question: RememberedAsked) -> None:
        self._record.writing.promise(question.reply, RememberedList(approvals=self._record.row.remembered))

    def forget(self, wish: ForgetApproval) -> None:
        record = self._record
        gone = [each for each in record.row.remembered if each.id == wish.approval_id]
        if gone:
            record.change(remembered=tuple(each for each in record.row.remembered if each not in gone))
            for each in gone:
                record.say(ApprovalForgotten(at=self._wall(), by=wish.by, approval=each))
        record.writing.promise(wish.reply, bool(gone))


def remembered_for(request: Pending, scope: Literal["session", "workspace"], *, exactly: bool) -> Pending:
    resolution = request.resolution
    assert resolution is not None
    return replace(request, resolution=replace(resolution, remember=scope, exactly=exactly))
