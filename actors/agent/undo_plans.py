"""What undo and redo of a turn restore: decided from the log's file.changed events and from how the files are now.
Nothing here waits, and nothing is remembered but the log.

Rules
  - A turn's part in a file is from its first image to its last. Undo puts the first in the place of the last, and redo
    the last in the place of the first. Files that the turn has not touched do not appear.
  - A file that already is as wanted is left alone. So whatever was done before a kill stays done, and the same order
    again does the rest.
  - A file that is in neither state is refused: somebody has changed it since, or a later turn has. So turns are undone
    in any order in which nothing is lost.
  - A file that somebody else has changed between two changes of the turn is refused, too, because the first image does
    not contain that change.
  - An undo that names no turn means the last one that has done anything and is not undone. If that turn has only run
    commands, nothing is undone: the turn before it is not taken in its place.
  - A folder that the turn has made for a file goes with the last file in it, and no other folder does.
  - A change that has only begun, or whose outcome is unknown, was done if the file says so. Until the file is compared,
    both are possible.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from actors.agent.given import FileImage, FileRefused
from codec.agent.action_events import CommandFinished, FileChanged, TurnUndone, UndoneFile
from codec.words import counted

PERMISSIONS = 0o777


class FileState(Struct, frozen=True):
    digest: str | None
    """None: there is no file."""
    blob: str | None = None
    mode: int | None = None


class TouchedFile(Struct):
    """A turn's part in a file."""

    path: str
    first: FileState
    lasts: tuple[FileState, ...]
    """The first of these is what the turn wanted; others are possible as well."""
    broken: bool = False
    """Somebody else has changed it in the middle."""
    folders: tuple[str, ...] = ()
    """Those that were made for it."""

    @property
    def is_changed(self) -> bool:
        return self.first.digest != self.lasts[0].digest


TouchedFiles = dict[str, TouchedFile]
"""By path."""


class _Change(Struct):
    event: FileChanged
    status: Literal["begun", "done", "failed", "unknown"]


def touched(events: Iterable[FileChanged | CommandFinished]) -> dict[str, TouchedFiles]:
    """What each turn has done, in the order of the turns."""
    changes: dict[str, _Change] = {}
    for event in events:
        if isinstance(event, CommandFinished):
            continue
        if (known := changes.get(event.change_id)) is None:
            changes[event.change_id] = _Change(event, event.status)
        elif event.status != "begun":
            known.event, known.status = event, event.status
    turns: dict[str, TouchedFiles] = {}
    for change in changes.values():
        if change.status != "failed":
            _touch(turns.setdefault(change.event.turn_id, {}), change.event, change.status == "done")
    return turns


def _touch(files: TouchedFiles, event: FileChanged, done: bool) -> None:
    before = FileState(event.before_hash, event.before, event.mode)
    after = FileState(event.after_hash, event.after, event.mode)
    lasts = (after,) if done else (after, before)
    file = files.get(event.file_path)
    if file is None:
        files[event.file_path] = TouchedFile(event.file_path, before, lasts, folders=event.folders)
        return
    file.folders += event.folders
    file.broken = file.broken or before.digest not in [last.digest for last in file.lasts]
    file.lasts = lasts


def commands_run(events: Iterable[FileChanged | CommandFinished], turn_id: str) -> int:
    """How many commands this turn has run, here or in a client's terminal."""
    ends = [event for event in events if isinstance(event, CommandFinished) and event.ended != "not_started"]
    return len({event.command_id for event in ends if event.command_id.startswith(f"{turn_id}-c")})


def acting_turns(events: Iterable[FileChanged | CommandFinished], turns: Collection[str]) -> list[str]:
    """Those that have changed files (`turns`) or run commands, in their order."""
    found: dict[str, None] = {}
    for event in events:
        if isinstance(event, FileChanged):
            if event.turn_id in turns:
                found[event.turn_id] = None
        elif event.ended != "not_started":
            found[event.command_id.rpartition("-c")[0]] = None
    return list(found)


def only_commands(
    events: Iterable[FileChanged | CommandFinished], turns: Mapping[str, TouchedFiles], undone: Collection[str]
) -> str:
    """Why the last turn that has done anything cannot be undone, in words for the user; empty: it can be, or there is
    none."""
    deeds = tuple(events)
    acted = acting_turns(deeds, turns)
    last = next((turn for turn in reversed(acted) if turn not in undone), None)
    if last is None or last in turns:
        return ""
    which = "The last turn" if last == acted[-1] else "The last turn that is not undone"
    commands = commands_run(deeds, last)
    what = "it" if commands == 1 else "they"
    said = (
        f"{which} has run {counted(commands, 'command')} and has changed no file itself. Nothing of it can be undone:"
        f" what {what} changed stays as it is."
    )
    if (before := chosen_turn(turns, tuple(undone), None, redo=False)) is not None:
        said += f" To undo the turn before it, choose Undo at the end of that turn, or name its turn_id: {before}."
    return said


def chosen_turn(turns: Mapping[str, TouchedFiles], undone: Sequence[str], wanted: str | None, redo: bool) -> str | None:
    """The last one that can be undone, or done again, unless one is named. None: there is none."""
    if wanted is not None:
        return wanted if wanted in turns else None
    if redo:
        return next((turn for turn in reversed(undone) if turn in turns), None)
    return next((turn for turn in reversed(list(turns)) if turn not in undone), None)


def later_turns(turns: Mapping[str, TouchedFiles], turn_id: str, undone: Collection[str]) -> set[str]:
    """Paths of files that turns after this one have changed, and that are not undone."""
    order = list(turns)
    later = [turn for turn in order[order.index(turn_id) + 1 :] if turn not in undone]
    return {path for turn in later for path, file in turns[turn].items() if file.is_changed}


def undone_after(undone: Sequence[str], event: TurnUndone) -> tuple[str, ...]:
    """The row's list, when this event is in the log."""
    if event.begun:
        return tuple(undone)
    others = tuple(turn for turn in undone if turn != event.turn_id)
    return others if event.redo else (*others, event.turn_id)


def empty_folders(files: TouchedFiles, deleted: Collection[str]) -> list[str]:
    """Folders that the turn has made, and that may be empty now that these files of them are deleted."""
    made = {folder for file in files.values() for folder in file.folders}
    return sorted(folder for folder in made if any(path.startswith(f"{folder}/") for path in deleted))


# -- one file


class FileStep(Struct, frozen=True):
    """What is to be done with a file."""

    path: str
    action: Literal["restore", "delete", "create"]
    outcome: Literal["would", "refused", "unchanged"]
    reason: str = ""
    before: str | None = None
    """The digest of the file as it is now..."""
    target: FileState = field(default_factory=lambda: FileState(None))
    """...and what it is to be."""

    def told(
        self, outcome: Literal["would", "done", "refused", "unchanged"] | None = None, reason: str = "", diff: str = ""
    ) -> UndoneFile:
        return UndoneFile(
            file_path=self.path,
            action=self.action,
            outcome=outcome or self.outcome,
            reason=reason or self.reason,
            diff=diff,
        )


def step(file: TouchedFile, current: FileImage | FileRefused | None, *, redo: bool, later: bool) -> FileStep:
    """`later`: a later turn has changed it, too."""
    target = file.lasts[0] if redo else file.first
    expected = [file.first.digest] if redo else [last.digest for last in file.lasts]
    action: Literal["restore", "delete", "create"] = "restore"
    if target.digest is None:
        action = "delete"
    elif (file.first if redo else file.lasts[0]).digest is None:
        action = "create"

    def refused(reason: str) -> FileStep:
        return FileStep(file.path, action, "refused", reason)

    if isinstance(current, FileRefused):
        return refused(str(current))
    now = None if current is None else current.digest
    if now == target.digest:
        return FileStep(file.path, action, "unchanged", "It is so already.")
    if now not in expected:
        return refused(_why_other(now, later))
    if file.broken:
        return refused("Somebody else has changed it while the turn was changing it, and that would be lost.")
    if target.digest is not None and target.blob is None:
        return refused("What it held then is not kept.")
    if now is None:
        action = "create"
    return FileStep(file.path, action, "would", before=now, target=target)


def _why_other(now: str | None, later: bool) -> str:
    if later:
        return "A later turn has changed it, too. Undo that turn first."
    return "It has been deleted since." if now is None else "It has been changed since."


# -- the report


def summary(files: Sequence[UndoneFile], commands: int, *, redo: bool, preview: bool) -> str:
    """A sentence or two for the user. `commands`: how many the turn has run."""
    done = sum(file.outcome in ("done", "would") for file in files)
    refused = sum(file.outcome == "refused" for file in files)
    unchanged = len(files) - done - refused
    parts = []
    if done:
        state = f"as the turn left {'it' if done == 1 else 'them'}" if redo else "as before the turn"
        parts.append(f"{counted(done, 'file')} {'would be' if preview else _are(done)} again {state}.")
    if unchanged:
        parts.append(f"{counted(unchanged, 'file')} {_are(unchanged)} so already.")
    if refused:
        parts.append(f"{counted(refused, 'file')} {_are(refused)} left alone, each for its reason.")
    if not parts:
        parts.append("The turn has changed no file.")
    if commands:
        told = f"The turn has also run {counted(commands, 'command')}"
        if redo:
            parts.append(f"{told}, which {_are(commands)} not run again.")
        else:
            parts.append(f"{told}: what {'it' if commands == 1 else 'they'} changed stays as it is.")
    return " ".join(parts)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
