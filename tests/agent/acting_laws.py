"""What must be true of a session whose turns have acted, said by witnesses outside of the server: its log as it is
stored, the files, and the lines that commands have left.

    files       each is as the last change of it in the log says: as before or as after, if it is only begun. What
                somebody else has saved is there, or was taken into account.
    requests    each is asked once and resolved at most once; nothing is done upon one that is not approved.
    commands    none runs twice, nor without its approval; what is told of its end is so.
    turns       one that is told as done has told of all its calls.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from actors.agent.log import BLOB, SPACE
from actors.store.operations import Get, GetBlob, Read
from actors.store.reader import Reader
from codec.agent.action_events import (
    ApprovalResolved,
    CommandFinished,
    CommandStarted,
    FileChanged,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
    TurnUndone,
)
from codec.agent.events import LogEvent, MessageFinal, ToolExecute, UserMessage
from codec.agent.files import digest_of
from codec.agent.kept import SessionRow, blob_of, read_entry, read_row

Digest = str | None
"""None: there is no file."""
Files = dict[str, Digest]
Numbered = Sequence[tuple[int, LogEvent]]


@dataclass(frozen=True)
class StoredSession:
    row: SessionRow
    events: Numbered

    @property
    def last(self) -> int:
        return self.events[-1][0] if self.events else 0

    def since(self, seq: int) -> Iterator[tuple[int, LogEvent]]:
        return ((number, event) for number, event in self.events if number > seq)


@contextmanager
def copied_store(state: Path) -> Iterator[Reader]:
    """Of a server that has ended, however it did. A copy is opened: whoever opens a database changes files."""
    with TemporaryDirectory() as folder:
        for name in ("troupe.db", "troupe.db-wal"):
            if (state / name).exists():
                shutil.copyfile(state / name, Path(folder, name))
        reader = Reader(Path(folder, "troupe.db"))
        try:
            yield reader
        finally:
            reader.close()


def stored_session(reader: Reader, session: str) -> StoredSession:
    data = _asked(reader, Get(SPACE, session))
    if data.startswith(BLOB):
        data = _asked(reader, GetBlob(data.removeprefix(BLOB).decode())).partition(b" ")[2]
    events: list[tuple[int, LogEvent]] = []
    position = 0
    while True:
        (page,) = reader.execute([Read(f"{SPACE}/{session}", position)])
        assert isinstance(page, list), page
        if not page:
            return StoredSession(read_row(data), events)
        for position, entry in page:  # noqa: B007 - the next page begins after the last one
            if (digest := blob_of(entry)) is not None:
                entry = _asked(reader, GetBlob(digest)).partition(b" ")[2]
            events += read_entry(entry)


def _asked(reader: Reader, question: Get | GetBlob) -> bytes:
    (data,) = reader.execute([question])
    assert isinstance(data, bytes), (question, data)
    return data


# -- files


def files_of(folder: Path) -> Files:
    """What is there: links and all else count as themselves."""
    return {
        path.relative_to(folder).as_posix(): digest_of(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() and not is_draft(path.name)
    }


def drafts_of(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if is_draft(path.name)]


def is_draft(name: str) -> bool:
    return name.endswith(".draft")


@dataclass
class SavedByOthers:
    """What somebody else has saved in a workspace, in order; noted before it was saved."""

    digests: dict[str, list[Digest]] = field(default_factory=dict)

    def note(self, path: str, digest: Digest) -> None:
        self.digests.setdefault(path, []).append(digest)


class Folded:
    """The files as the log says that they are: for each path what it may be."""

    def __init__(self, initial: Mapping[str, Digest], events: Numbered, saved: SavedByOthers) -> None:
        self.may_be: dict[str, set[Digest]] = {path: {digest} for path, digest in initial.items()}
        self._others = {path: Counter(digests) for path, digests in saved.digests.items()}
        """What others have saved, and the log has not taken into account yet."""
        self._before_begun: dict[str, set[Digest]] = {}
        self._changes: dict[str, FileChanged] = {}
        """By the id of the change: how far it has come."""
        for seq, event in events:
            match event:
                case FileChanged():
                    self._changed(seq, event)
                case TurnUndone():
                    self._undone(seq, event)

    def _now(self, path: str) -> set[Digest]:
        return self.may_be.setdefault(path, {None})

    def others(self, path: str) -> set[Digest]:
        return {digest for digest, times in self._others.get(path, Counter()).items() if times > 0}

    def _taken_into_account(self, path: str, digest: Digest) -> None:
        if digest in self.others(path):
            self._others[path][digest] -= 1

    def _changed(self, seq: int, event: FileChanged) -> None:
        path = event.file_path
        known = self._now(path)
        match event.status:
            case "begun":
                assert event.before_hash in known | self.others(path), (
                    f"{seq}: the change of {path} begins from {event.before_hash}, which it never was: {known}"
                )
                self._taken_into_account(path, event.before_hash)
                self._before_begun[event.change_id] = set(known)
                self.may_be[path] = {event.before_hash, event.after_hash}
            case "done":
                self._taken_into_account(path, event.after_hash)
                self.may_be[path] = {event.after_hash}
            case "failed":
                self.may_be[path] = {event.before_hash} | self._before_begun.get(event.change_id, set())
        self._changes[event.change_id] = event

    def _undone(self, seq: int, event: TurnUndone) -> None:
        parts = self.parts_of(event.turn_id)
        for file in event.files:
            first, lasts = parts[file.file_path]
            targets = lasts if event.redo else {first}
            known = self._now(file.file_path)
            if event.begun and file.outcome == "would":
                self.may_be[file.file_path] = known | targets
            elif not event.begun and file.outcome == "done":
                sources = {first} if event.redo else lasts
                if not sources & known:  # somebody else has brought it there, and this goes on from that
                    for source in sources:
                        self._taken_into_account(file.file_path, source)
                self.may_be[file.file_path] = set(targets)

    def parts_of(self, turn_id: str) -> dict[str, tuple[Digest, set[Digest]]]:
        """For each file of this turn: what it was at first, and what it may be at last."""
        parts: dict[str, tuple[Digest, set[Digest]]] = {}
        for change in self._changes.values():
            if change.turn_id == turn_id and change.status != "failed":
                first = parts.get(change.file_path, (change.before_hash, set()))[0]
                lasts = {change.after_hash} | ({change.before_hash} if change.status in ("begun", "unknown") else set())
                parts[change.file_path] = first, lasts
        return parts

    @property
    def turns(self) -> list[str]:
        """Those that have changed something, in their order."""
        done = (change for change in self._changes.values() if change.status != "failed")
        return list(dict.fromkeys(change.turn_id for change in done))

    def wrong(self, now: Mapping[str, Digest], saved: SavedByOthers) -> list[str]:
        """What is not as the log says."""
        found = []
        for path in sorted({*self.may_be, *now, *saved.digests}):
            digest, may_be, others = now.get(path), self.may_be.get(path, {None}), self.others(path)
            if digest not in may_be | others:
                found.append(f"{path} is {digest}, and may be {may_be}, or what others saved: {others}")
            last = saved.digests.get(path, [digest])[-1]
            if last in others and digest != last and last not in may_be:
                found.append(f"{path} was saved by somebody as {last}, which is lost: it is {digest}")
        return found


# -- requests and commands


def check_requests(stored: StoredSession) -> None:
    asked: dict[str, int] = {}
    approved: dict[str, bool] = {}
    started: set[str] = set()
    calls: Counter[str] = Counter()
    for seq, event in stored.events:
        match event:
            case PatchProposed(request_id=id, requires_approval=True) | RequestApproval(request_id=id):
                assert id not in asked, f"{seq}: {id} is asked again"
                asked[id] = seq
            case RequestCommandApproval(request_id=id, call_id=call):
                assert id not in asked, f"{seq}: {id} is asked again"
                asked[id] = seq
                calls[call] += 1
                assert calls[call] == 1, f"{seq}: the call {call} is asked again"
            case ApprovalResolved(request_id=id):
                assert id in asked, f"{seq}: {id} is resolved, and was never asked"
                assert id not in approved, f"{seq}: {id} is resolved again"
                approved[id] = event.approved
            case FileChanged(change_id=change, status="begun"):
                request = change.rpartition(".")[0]
                assert request not in asked or approved.get(request), f"{seq}: {change} begins, and was not approved"
            case CommandStarted(command_id=id):
                assert id not in started, f"{seq}: {id} starts again"
                started.add(id)
                assert id not in asked or approved.get(id), f"{seq}: {id} starts, and was not approved"
    turn = None if stored.row.turn is None else stored.row.turn.turn_id
    waits = {each.request_id for each in stored.row.pending if each.resolution is None}
    open_now = {id for id in asked if id not in approved}  # noqa: A001
    assert waits <= open_now, f"{waits - open_now} wait, and are resolved"
    assert turn is not None or not open_now, f"{open_now} are not resolved, and no turn is under way"
    assert open_now == waits, f"{open_now - waits} were asked, and wait no more"


def word_of(command: str) -> str:
    """The word that a command of the storm leaves: it is the third one of its line."""
    return command.split()[2]


def check_commands(stored: StoredSession, lines: Iterable[str], run_by_clients: set[str]) -> None:
    """`lines`: what commands have left."""
    ids = {
        event.command_id: word_of(event.command)
        for _, event in stored.events
        if isinstance(event, CommandStarted | RequestCommandApproval)
    }
    counts = Counter(lines)
    assert not (twice := [line for line, times in counts.items() if times > 1]), f"{twice} ran twice"
    started: set[str] = set()
    for seq, event in stored.events:
        match event:
            case CommandStarted(command_id=id):
                started.add(ids[id])
                assert ids[id] not in run_by_clients, f"{seq}: {ids[id]} was run by a client, and here too"
            case CommandFinished(command_id=id, ended="exited", exit_code=0, by="server"):
                assert counts[f"over {ids[id]}"] == 1, f"{seq}: {ids[id]} is told as done, and has not run to its end"
    for line in counts:
        word = line.partition(" ")[2]
        if word in ids.values():
            assert word in started | run_by_clients, f"{word} ran, and the log does not say so"


# -- turns


def check_turns(stored: StoredSession, calls_of: Mapping[str, int]) -> None:
    """`calls_of`: by the id of the message, how many calls its turn makes in all."""
    message: UserMessage | None = None
    calls: dict[str, list[str]] = {}
    for seq, event in stored.events:
        match event:
            case UserMessage(steers=False):
                message, calls = event, {}
            case ToolExecute(call_id=id, status=status):
                calls.setdefault(id, []).append(status)
            case MessageFinal(metadata=metadata):
                assert message is not None
                assert metadata.turn_id == message.turn_id
                if metadata.success:
                    odd = [told for told in calls.items() if len(told[1]) != 2 or told[1][0] != "started"]
                    assert not odd, f"{seq}: the turn is told as done, and of these calls is told: {odd}"
                    wanted = calls_of.get(message.message_id, len(calls))
                    assert len(calls) == wanted, f"{seq}: told as done after {len(calls)} of {wanted} calls"


def check_changes(stored: StoredSession, saved: SavedByOthers) -> None:
    """When a turn is over, of each change that it had begun is told whether it was done, or that it is not known yet.
    (Unless somebody else has saved the file: then nobody knows.)"""
    begun: dict[str, FileChanged] = {}
    for seq, event in stored.events:
        match event:
            case FileChanged(change_id=id, status="begun"):
                begun[id] = event
            case FileChanged(change_id=id):
                begun.pop(id, None)
            case MessageFinal():
                untold = [change for change in begun.values() if change.file_path not in saved.digests]
                assert not untold, f"{seq}: the turn is over, and of these only the begin is told: {untold}"
                begun = {}


def check_after_a_kill(before: StoredSession, after: StoredSession) -> None:
    """`before`: as it was when the server ended; `after`: when the next one has."""
    mark, pending = before.row.turn, before.row.pending
    if mark is None:
        return
    waits = {each.request_id for each in pending if each.resolution is None}
    suspended = bool(pending) and not any(each.begun for each in pending)
    for seq, event in after.since(before.last):
        match event:
            case MessageFinal(metadata=metadata):
                assert metadata.turn_id == mark.turn_id
                if suspended:
                    assert not metadata.interrupted, f"{seq}: it waited for {waits}, and was interrupted"
                    assert not waits or metadata.cancelled, f"{seq}: it is over, and {waits} are not answered"
                else:
                    assert metadata.interrupted, f"{seq}: it was at work when the server ended, and has {metadata}"
                return
            case ApprovalResolved(request_id=id):
                waits.discard(id)
            case FileChanged(status="begun") | CommandStarted() | ToolExecute():
                assert suspended, f"{seq}: a turn that was at work goes on after the end of its server: {event}"
                assert not waits, f"{seq}: {event} before {waits} are answered"
    if not suspended:
        turn = after.row.turn
        assert turn == mark, "a turn that was at work is gone without its last word"


# -- processes


def processes_with(word: str) -> list[tuple[int, str]]:
    """Those that have this in their environment or command line."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = Path(entry.path, "environ").read_bytes() + Path(entry.path, "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in text:
                found.append((int(entry.name), text[-200:].decode("utf-8", "replace")))
    return found


def descendants_of(pid: int) -> list[tuple[int, str]]:
    """Each with the moment of its start, so that another process of the same number is none of them."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append((int(entry.name), fields[19]))
    found, left = [], [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += [child for child, _ in children]
    return found


def still_there(processes: Iterable[tuple[int, str]]) -> list[int]:
    found = []
    for pid, start in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[19] == start and fields[0] not in "ZX":
            found.append(pid)
    return found
