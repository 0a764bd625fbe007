"""What a session keeps, and which of it clients are told: its row and its log, as they will be with the next commit.

Rules
  - Whatever is said or changed here is kept with one of the next commits, in this order (writing.py).
  - Events reach the clients as soon as they may (outflow.py). Whatever clients are told of the state holds for what is
    stored.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from actors.agent.attendees import Attendees, ClientRef, said_error
from actors.agent.log import SessionLog
from actors.agent.messages import Attachment, LogEntry, ShowState
from actors.agent.outflow import Outflow
from actors.agent.requests import pending_approvals, pending_patches, waiting
from actors.agent.requests import shown as request_shown
from actors.agent.writing import SessionCommit, Writing
from actors.kernel import Registry
from codec.agent.approvals import Pending
from codec.agent.events import LogEvent, SessionState, Token
from codec.agent.kept import SessionRow, event_text

MOST_EVENT_BYTES = 16 << 20
MOST_WAITING_BYTES = 8 << 20
"""Of events that wait to be kept: beyond it, there is too much."""

logger = logging.getLogger("troupe.agent")


class SessionRecord:
    def __init__(
        self, log: SessionLog, row: SessionRow, last: int, position: int, on_kept: Callable[[SessionRow], None]
    ) -> None:
        """`last`: the last number that may have been given; `position`: of the log's last entry."""
        self.log = log
        self.row = row
        self.clients = Attendees()
        self._outflow = Outflow(last)
        self.writing = Writing(
            log, self._outflow, position, row.reserved, lambda: self.row, self._was_kept, self._in_trouble
        )
        self._on_kept = on_kept
        self.suspended = False
        """Whether the turn's requests wait without it."""
        self._kept = shown(row)
        """What is kept, as clients see it..."""
        self._shown = self._kept
        """...and as they were shown it, with what needs not be kept."""

    @classmethod
    async def opened(
        cls, registry: Registry, id: str, on_kept: Callable[[SessionRow], None]  # noqa: A002
    ) -> "SessionRecord | None":
        """None: there is no such session."""
        log = SessionLog(registry, id)
        row = await log.row()
        if row is None:
            return None
        last = max(row.reserved, await log.last_number())
        return cls(log, row, last, await log.length(), on_kept)

    # -- what is to be kept

    @property
    def next(self) -> int:
        """The number of the next event."""
        return self._outflow.next

    @property
    def sent(self) -> int:
        """The number of the last event that clients were sent."""
        return self._outflow.sent

    @property
    def overfull(self) -> bool:
        """Whether more has been said than can be kept for long."""
        return self._outflow.waiting_bytes > MOST_WAITING_BYTES

    def check(self, events: Sequence[LogEvent]) -> None:
        """Raises ValueError or TypeError if one of these cannot be kept, so that all of them are said, or none."""
        for event in events:
            _text(self._outflow.next, event)

    def say(self, event: LogEvent) -> LogEntry:
        """An event of the log, from here on. Raises ValueError or TypeError if it cannot be kept."""
        seq = self._outflow.next
        text = _text(seq, event)
        entry = LogEntry(seq, event, text)
        self._outflow.add(entry)
        if type(event) is Token:
            self.writing.soon()
        else:
            self.writing.now()
        self._send()
        return entry

    def change(self, **parts: Any) -> None:
        """Changes the row."""
        self.row = replace(self.row, **parts)
        self.writing.changed()

    def pend(self, requests: Sequence[Pending]) -> None:
        """Changes the requests of the turn."""
        fact = replace(self.row.fact, pending_approvals=len(pending_approvals(requests)))
        self.change(pending=tuple(requests), fact=fact)

    # -- what clients are told

    def attached(self, but: ClientRef) -> Attachment:
        """For a client that has just come, of which the others are told."""
        self.show(but=but)
        return Attachment(self._outflow.sent, self._outflow.tail, self._shown)

    def show(self, but: ClientRef | None = None) -> None:
        state = replace(
            self._kept, clients=len(self.clients), trouble=self.writing.trouble, suspended=self.suspended
        )
        if state != self._shown:
            self._shown = state
            self.clients.show(ShowState(state, self._outflow.sent), but=but)

    def _send(self) -> None:
        entries = self._outflow.to_send()
        if entries:
            self.clients.deliver(entries)

    def _was_kept(self, commit: SessionCommit) -> None:
        self._send()
        if commit.changed:
            self._kept = shown(commit.row)
        self.show()
        self._on_kept(commit.row)

    def _in_trouble(self) -> None:
        trouble = self.writing.trouble
        if self._shown.trouble is None:
            logger.error("the session %s cannot keep what happens: %s", self.row.fact.id, trouble)
            self.clients.tell_all(
                said_error("INTERNAL", f"What happens cannot be kept at the moment: {trouble}. It is tried again.")
            )
        self.show()


def _text(seq: int, event: LogEvent) -> bytes:
    text = event_text(seq, event)
    if len(text) > MOST_EVENT_BYTES:
        raise ValueError(f"an event has {len(text):,} bytes, and {MOST_EVENT_BYTES:,} is the most")
    return text


def shown(row: SessionRow) -> SessionState:
    """What clients are told of the row."""
    return SessionState(
        pending_patches=pending_patches(row.pending),
        applied_patches=row.applied_patches,
        pending_approvals=pending_approvals(row.pending),
        requests=tuple(map(request_shown, waiting(row.pending))),
        current_step=row.current_step,
        total_steps=row.total_steps,
        running=row.turn is not None,
        turn_id=None if row.turn is None else row.turn.turn_id,
        queued=tuple(waiting.shown for waiting in row.queue),
        mode=row.fact.mode,
        model=row.model,
        title=row.fact.title,
        context_used=row.context_used,
        context_window=row.context_window,
    )
