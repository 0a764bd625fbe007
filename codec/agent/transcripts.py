"""The log of a session, as HTTP has it."""

from msgspec import Struct

from codec.agent.events import LogEvent
from codec.agent.sessions import SessionFact, TranscriptMessage
from codec.agent.workspaces import WorkspaceFact


class SessionEvents(Struct, frozen=True, kw_only=True):
    """GET /v1/sessions/{id}/events: a page of the log. The next one is asked for with the last event's `seq`."""

    events: tuple[LogEvent, ...]
    """In the order of their numbers. None: there are no more."""
    last_seq: int
    """The last number of the whole log."""


class SessionExport(Struct, frozen=True, kw_only=True):
    """GET /v1/sessions/{id}/export: all that is kept of a session."""

    session: SessionFact
    workspace: WorkspaceFact | None
    """None: it is not registered any more."""
    messages: tuple[TranscriptMessage, ...]
    events: tuple[LogEvent, ...]
