"""What a session's log tells: its tokens joined, its messages, and a turn so far. Pure folds over entries.

Joined tokens are one token with the last one's number: a client that has seen that number has seen all of them. The
text of a turn is all its tokens, from its message to its end.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from actors.agent.messages import LogEntry
from codec.agent.action_events import CommandFinished, CommandStarted, FileChanged
from codec.agent.events import MessageFinal, Token, ToolExecute, UserMessage
from codec.agent.sessions import TranscriptMessage

LONGEST_JOINED = 100_000
"""Characters of a joined token, beyond which another one begins."""


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as HTTP has times: ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def joined(entries: Iterable[LogEntry]) -> Iterator[LogEntry]:
    run: list[LogEntry] = []
    size = 0
    for entry in entries:
        if type(entry.event) is Token:
            run.append(entry)
            size += len(entry.event.token)
            if size < LONGEST_JOINED:
                continue
            yield _one(run)
        else:
            if run:
                yield _one(run)
            yield entry
        run, size = [], 0
    if run:
        yield _one(run)


def _one(run: Sequence[LogEntry]) -> LogEntry:
    if len(run) == 1:
        return run[0]
    return LogEntry(run[-1].seq, Token(token="".join(entry.event.token for entry in run)))  # type: ignore[union-attr]


def begins(entry: LogEntry) -> bool:
    """Whether this is the message with which a turn begins."""
    return type(entry.event) is UserMessage and not entry.event.steers


class SoFar:
    """A turn, as far as it has come."""

    __slots__ = ("_parts", "changes", "commands", "files", "tools", "unknown")

    def __init__(self, entries: Iterable[LogEntry] = ()) -> None:
        self._parts: list[str] = []
        self.tools: dict[str, None] = {}
        self.files: set[str] = set()
        """That it has changed."""
        self.changes: dict[str, FileChanged] = {}
        """Those of which no end is told yet."""
        self.unknown: dict[str, FileChanged] = {}
        """Those of which nobody could tell whether they were done."""
        self.commands: dict[str, None] = {}
        """Those of which no end is told yet."""
        for entry in entries:
            self.add(entry)

    def add(self, entry: LogEntry) -> None:
        match entry.event:
            case Token(token=token):
                self._parts.append(token)
            case ToolExecute(tool_name=name):
                self.tools[name] = None
            case FileChanged(change_id=id, status="begun") as change:
                self.changes[id] = change
            case FileChanged(change_id=id, status=status, file_path=path) as change:
                self.changes.pop(id, None)
                self.unknown.pop(id, None)
                if status == "done":
                    self.files.add(path)
                elif status == "unknown":
                    self.unknown[id] = change
            case CommandStarted(command_id=id):
                self.commands[id] = None
            case CommandFinished(command_id=id):
                self.commands.pop(id, None)

    @property
    def text(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""


def transcript(entries: Iterable[LogEntry]) -> list[TranscriptMessage]:
    """The conversation: what was asked, what the tools gave, what was answered. Of a turn that has not ended, the text
    so far."""
    told: list[TranscriptMessage] = []
    turn: UserMessage | None = None
    so_far, last = SoFar(), 0
    for entry in entries:
        so_far.add(entry)
        match entry.event:
            case UserMessage() as said:
                if not said.steers:
                    turn, so_far = said, SoFar()
                told.append(
                    TranscriptMessage(
                        id=said.message_id,
                        role="user",
                        content=said.message,
                        seq=entry.seq,
                        created_at=timestamp(said.at) if said.at else None,
                    )
                )
            case ToolExecute(status="completed" | "failed") as tool:
                told.append(TranscriptMessage(id=tool.call_id, role="tool", content=_said(tool.result), seq=entry.seq))
            case MessageFinal(message=message, metadata=metadata):
                at = turn.at + metadata.seconds if turn is not None and turn.at else None
                told.append(
                    TranscriptMessage(
                        id=metadata.turn_id or f"answer-{entry.seq}",
                        role="assistant",
                        content=message,
                        seq=entry.seq,
                        created_at=None if at is None else timestamp(at),
                        cancelled=metadata.cancelled,
                        interrupted=metadata.interrupted,
                    )
                )
                turn, so_far = None, SoFar()
            case Token():
                last = entry.seq
    if turn is not None and so_far.text:
        told.append(TranscriptMessage(id=turn.turn_id, role="assistant", content=so_far.text, seq=last))
    return told


def _said(result: Any) -> str:
    if isinstance(result, dict) and isinstance(result.get("text"), str):
        text: str = result["text"]
        return text
    return "" if result is None else msgspec.json.encode(result).decode()
