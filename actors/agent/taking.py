"""What users say to a session: each message is taken once, and waits for its turn. So is the approval of a plan.

Rules
  - A message is acknowledged when it is kept. The same id again is the same message.
  - While nothing can be kept, no message is taken, and its sender is told why.
  - A plan is carried out once: its number is kept with the message that begins the turn, and with the session's mode.
    If that message is withdrawn before its turn, the plan can be approved again.
"""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from actors.agent.attendees import ClientRef, said_error
from actors.agent.means import TurnMeans
from actors.agent.queueing import MOST_MESSAGE_BYTES, accepted, carried, entitled, refusal, remembered
from actors.agent.record import SessionRecord
from actors.agent.retelling import timestamp
from actors.agent.turn_keeping import TurnKeeping
from actors.agent.writing import answer
from actors.kernel import KernelError, Reply, in_words
from actors.store import StoreError
from codec.agent.client_messages import ApprovedStep, ApprovePlan, UserSays
from codec.agent.context import ContextChange, EditorContext, changed
from codec.agent.events import ModeChanged, PlanPresented, PlanStep, ServerError
from codec.agent.kept import Waiting

CARRY_OUT = "Carry out this plan:"
MOST_PLANS = 1000
"""Numbers of approved plans that are kept."""


class Taking(Struct):
    record: SessionRecord
    means: TurnMeans
    turn: TurnKeeping
    go_on: Callable[[], None]
    """Begins what waits, if it can."""
    closed: Callable[[], bool]
    """Whether the session is being deleted."""
    context: EditorContext = field(default_factory=EditorContext)
    """What the editor showed last."""
    _plans: set[int] = field(default_factory=set)
    """Plans whose approval is being looked at."""

    def update(self, change: ContextChange) -> None:
        self.context = changed(self.context, change)
        self.turn.tell(self.context)

    def say(self, client: ClientRef, said: UserSays, reply: Reply[None]) -> None:
        id = said.message_id or self.means.new_id()  # noqa: A001
        if id not in self.record.row.taken and self._take(client, said, id):
            self.go_on()
        self.record.writing.promise(reply, None)

    def _take(self, client: ClientRef, said: UserSays, id: str, plan: int = 0) -> bool:  # noqa: A002
        record, now = self.record, self.means.wall()
        context = carried(self.context, said.context)
        message = replace(accepted(said, id, context, record.clients.name(client), now), plan=plan)
        refused = self._why_not(message)
        if refused is not None:
            record.clients.tell(client, refused)
            return False
        row = record.row
        self.context = replace(context, mentions=(), command=None)
        fact = replace(row.fact, title=row.fact.title or entitled(said.message), updated_at=timestamp(now))
        record.change(fact=fact, taken=remembered(row.taken, id), queue=(*row.queue, message))
        return True

    def _why_not(self, message: Waiting) -> ServerError | None:
        """Why a message is not taken."""
        id = message.message_id  # noqa: A001
        if self.closed():
            why = "This session is being deleted."
            return said_error("SESSION_NOT_FOUND", why, recoverable=False, message_id=id)
        trouble = self.record.writing.trouble
        if trouble is not None:
            why = f"The message was not taken, because it cannot be kept: {trouble}. Say it again later."
            return said_error("INTERNAL", why, message_id=id)
        if len(message.message.encode()) + len(msgspec.json.encode(message.context)) > MOST_MESSAGE_BYTES:
            why = f"A message and its context have at most {MOST_MESSAGE_BYTES:,} bytes. Say less, or less context."
            return said_error("INVALID_MESSAGE", why, where="$.context", message_id=id)
        full = None if self.turn.idle else refusal(self.record.row.queue, message)
        return None if full is None else said_error("BUSY", full, message_id=id)

    def withdraw(self, client: ClientRef, id: str, reply: Reply[None]) -> None:  # noqa: A002
        record = self.record
        row = record.row
        gone = [each for each in row.queue if each.message_id == id]
        if not gone:
            why = f"No message of the id {id!r} waits. It may have begun."
            record.clients.tell(client, said_error("INVALID_MESSAGE", why))
            answer(reply, None)
            return
        plans = {each.plan for each in gone}
        record.change(
            queue=tuple(each for each in row.queue if each not in gone),
            approved_plans=tuple(seq for seq in row.approved_plans if seq not in plans),
        )
        record.writing.promise(reply, None)

    # -- a plan

    async def approve(self, client: ClientRef, said: ApprovePlan, reply: Reply[None]) -> None:
        """Begins a turn that carries the plan out. Run beside the session, because the plan is in the store."""
        seq, record = said.plan_seq, self.record
        id = said.message_id or self.means.new_id()  # noqa: A001
        if id in record.row.taken:
            record.writing.promise(reply, None)
            return
        refused: ServerError | None = None
        if seq in self._plans or seq in record.row.approved_plans:
            refused = _invalid(f"The plan of the number {seq} was approved already.")
        else:
            self._plans.add(seq)
            try:
                found = await record.log.entries(seq - 1, seq)
            except (KernelError, StoreError) as error:
                refused = said_error("INTERNAL", f"The plan cannot be read now: {in_words(error)}. Try it again.")
            else:
                plan = found[0].event if found else None
                if not isinstance(plan, PlanPresented):
                    refused = _invalid(f"There is no plan of the number {seq} in this session.")
                elif self._take(client, UserSays(message=carried_out(said.steps or plan.steps)), id, seq):
                    self._approved(said, record.clients.name(client))
            finally:
                self._plans.discard(seq)
        if refused is not None:
            record.clients.tell(client, refused)
        record.writing.promise(reply, None)

    def _approved(self, said: ApprovePlan, by: str) -> None:
        row = self.record.row
        plans = (*row.approved_plans, said.plan_seq)[-MOST_PLANS:]
        self.record.change(approved_plans=plans, fact=replace(row.fact, mode=said.mode))
        if said.mode != row.fact.mode:
            self.record.say(ModeChanged(mode=said.mode, before=row.fact.mode, by=by))
        self.go_on()


def _invalid(why: str) -> ServerError:
    return said_error("INVALID_MESSAGE", why, where="$.plan_seq")


def carried_out(steps: Sequence[PlanStep | ApprovedStep]) -> str:
    """The user's message that begins the turn."""
    lines = [
        f"{number}. {step.description}" + (f" ({', '.join(step.files_involved)})" if step.files_involved else "")
        for number, step in enumerate(steps, 1)
    ]
    return "\n".join((CARRY_OUT, "", *lines))
