"""How a suspended turn is taken up again: pure folds over what it had said before the server ended."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.history import Past, history
from actors.agent.messages import LogEntry, TurnOrder
from codec.agent.action_events import FileChanged, PatchApplied
from codec.agent.approvals import Pending
from codec.agent.events import Token, ToolExecute
from codec.agent.models import ModelMessage, ToolCall


class SuspendedTurn(Struct, frozen=True):
    past: Past
    since: tuple[ModelMessage, ...]
    """What was said after the turn's message. A call that has no result has one that says so."""
    text: str
    made: int
    """Calls, so far."""
    open: Mapping[str, ToolCall]
    """The calls without a result."""
    tools_used: tuple[str, ...]
    files_modified: frozenset[str]

    def with_result(self, call_id: str, text: str) -> "SuspendedTurn":
        since = tuple(
            msgspec.structs.replace(message, content=text) if message.tool_call_id == call_id else message
            for message in self.since
        )
        return replace(self, since=since)


def suspended(order: TurnOrder) -> SuspendedTurn:
    first = order.said[0].seq - 1 if order.said else 0
    whole = history([*order.transcript, LogEntry(first, order.message), *order.said])
    *before, now = whole.turns
    calls, ended, used = dict[str, ToolCall](), set[str](), dict[str, None]()
    files, text = set[str](), list[str]()
    for entry in order.said:
        match entry.event:
            case ToolExecute(call_id=id, status="started") as event:
                calls[id] = ToolCall(id=id, name=event.tool_name, arguments=event.args)
            case ToolExecute(call_id=id) as event:
                ended.add(id)
                if event.status == "completed":
                    used.setdefault(event.tool_name)
            case FileChanged(status="done", file_path=path) | PatchApplied(success=True, file_path=path):
                files.add(path)
            case Token(token=token):
                text.append(token)
    return SuspendedTurn(
        Past(whole.summary, tuple(before)),
        now.messages[1:],
        "".join(text),
        len(calls),
        {call.id: call for call in calls.values() if call.id not in ended},
        tuple(used),
        frozenset(files),
    )


def by_call(requests: Iterable[Pending]) -> Mapping[str, Sequence[Pending]]:
    """The requests of each call, in the order in which they were made."""
    found: dict[str, list[Pending]] = {}
    for request in requests:
        found.setdefault(request.call_id, []).append(request)
    return found
