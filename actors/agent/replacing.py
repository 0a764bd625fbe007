"""Approved changes are done to the files: in one group, begun in the log before the disk is touched, and told after it.

    images ─> how each change is done to its file as it is now ─> file.changed begun ─> Hands.change
           ─> file.changed done or failed, patch.applied

Rules
  - A file that is not as it was when the change was shown gets both changes, if they touch different places (a
    three-way merge). Otherwise it is left as it is, and FILE_MODIFIED says what can be done about it.
  - A file that changes between the look and the stroke is looked at again, a few times.
  - Before each stroke, the file's old and new content are kept as blobs, and the log says that the change is begun; if
    the turn is not heard any more, it is not begun. After a kill the file tells which of both it is, and so it does
    after a write that was given up (half_done.py).
"""

from collections.abc import Sequence
from functools import partial
from typing import Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from actors.agent.asking import Dealings
from actors.agent.given import FileModified, FileRefused, FileReplacement, FileUnknown, Hands
from actors.agent.leisure import at_leisure
from actors.agent.saying import Voice
from codec.agent.action_events import DiffHunk, FileChanged, HunkOutcome, PatchApplied
from codec.agent.advice import CHANGE_AGAIN, CONFLICT, DELETE_AGAIN
from codec.agent.drafts import FileAction, changed_places, lines_of
from codec.agent.events import LogEvent
from codec.agent.files import FileImage, digest_of
from codec.agent.patches import FilePatch, applied, made_diff, merged
from codec.words import counted, listed

TRIES = 3


class Images(Protocol):
    """Files as they were, kept with the session."""

    async def keep(self, data: bytes) -> str: ...

    async def get(self, digest: str) -> bytes | None: ...


class PlannedChange(Struct):
    """A change of one file that may be done, and how it went."""

    id: str
    path: str
    base: bytes | None
    """The file for which it was made; None: there was none."""
    after: bytes | None
    """The file as it is to be; None: there is to be none."""
    base_blob: str | None
    after_blob: str | None
    hunks: tuple[DiffHunk, ...] = ()
    patched: bool = True
    """Whether clients know it as a patch."""
    only: tuple[int, ...] | None = None
    """The hunks that are approved; None: all."""
    done: bool = False
    silent: bool = False
    """The editor that was to apply it has said nothing."""
    is_conflict: bool = False
    told: str = ""
    """What the model is told of it."""

    def every_hunk(self, outcome: Literal["applied", "already"]) -> tuple[HunkOutcome, ...]:
        """But those that were refused."""
        return tuple(
            HunkOutcome(index=index, outcome=outcome if self.only is None or index in self.only else "rejected")
            for index in range(len(self.hunks))
        )


class Unkept(Struct):
    """What is to be kept with the next commit."""

    events: list[LogEvent] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)

    def patch_applied(self, change: PlannedChange, hunks: tuple[HunkOutcome, ...], digest: str | None) -> None:
        if change.patched:
            self.applied.append(change.id)
            self.events.append(
                PatchApplied(patch_id=change.id, file_path=change.path, success=True, hunks=hunks, applied_hash=digest)
            )

    def patch_failed(self, change: PlannedChange) -> None:
        if change.patched:
            self.events.append(
                PatchApplied(patch_id=change.id, file_path=change.path, success=False, error=change.told)
            )


class _Step(Struct, frozen=True):
    """A change as it is done to the file as it is now."""

    change: PlannedChange
    begun: FileChanged
    now: bytes | None
    target: bytes | None
    outcomes: tuple[HunkOutcome, ...]


class Replacing:
    def __init__(self, turn_id: str, dealings: Dealings, voice: Voice, hands: Hands, images: Images) -> None:
        self._turn_id = turn_id
        self._dealings = dealings
        self._voice = voice
        self._hands = hands
        self._images = images

    async def act(self, changes: Sequence[PlannedChange], requests: Sequence[str], unkept: Unkept) -> None:
        """Each change is told and done, or told and not done. Raises NotHeard or FileRefused."""
        rest = list(changes)
        for number in range(1, TRIES + 1):
            if rest:
                rest = await self._try(rest, requests, unkept, number)
        for change in rest:
            _conflict(change, "it changes all the time", unkept)
        for change in changes:
            if change.is_conflict:
                options = ["regenerate", "cancel"] if change.after is None else ["regenerate", "force", "cancel"]
                await self._voice.error("FILE_MODIFIED", change.told, file_path=change.path, options=options)

    async def _try(
        self, changes: Sequence[PlannedChange], requests: Sequence[str], unkept: Unkept, number: int
    ) -> list[PlannedChange]:
        """Those that could not be done because their file has changed at that moment."""
        images = await self._hands.images([change.path for change in changes])
        steps = list[_Step]()
        for change, image in zip(changes, images, strict=True):
            if isinstance(image, FileRefused):
                _refused(change, image, unkept)
            elif (step := await self._step(change, image, f"{change.id}.{number}", unkept)) is not None:
                steps.append(step)
        if not steps:
            return []
        begun = [step.begun for step in steps]
        await self._dealings.keep([*unkept.events, *begun], begun=requests, applied=tuple(unkept.applied))
        unkept.events.clear()
        unkept.applied.clear()
        made: list[str] = []
        answers = await self._hands.change(
            [FileReplacement(step.change.path, step.begun.before_hash, step.target) for step in steps], made
        )
        again = []
        for step, answer in zip(steps, answers, strict=True):
            if isinstance(answer, FileUnknown):
                unkept.events.append(replace(step.begun, status="unknown", error=str(answer)))
                step.change.told = str(answer)
            elif isinstance(answer, FileRefused):
                unkept.events.append(replace(step.begun, status="failed", error=str(answer)))
                if isinstance(answer, FileModified):
                    again.append(step.change)
                else:
                    _refused(step.change, answer, unkept)
            else:
                above = [folder for folder in made if step.change.path.startswith(f"{folder}/")]
                made = [folder for folder in made if folder not in above]
                unkept.events.append(replace(step.begun, status="done", folders=tuple(above)))
                unkept.patch_applied(step.change, step.outcomes, step.begun.after_hash)
                size = len(step.now or b"") + len(step.target or b"")
                step.change.done, step.change.told = True, await at_leisure(size, partial(_told, step))
        return again

    async def _step(self, change: PlannedChange, image: FileImage | None, id: str, unkept: Unkept) -> _Step | None:  # noqa: A002
        """None: it cannot be done, or need not be."""
        now = None if image is None else image.data
        wanted, outcomes = await approved(change)
        target = wanted
        if now == wanted:
            outcomes = change.every_hunk("already")
            change.done, change.told = True, f"{change.path} is so already.{refused_hunks(outcomes)} {state(now)}"
            unkept.patch_applied(change, outcomes, None if now is None else digest_of(now))
            return None
        if now != change.base:
            target = None
            if now is not None and change.base is not None and wanted is not None:
                size = len(change.base) + len(wanted) + len(now)
                target = await at_leisure(size, partial(merged, change.base, wanted, now))
            if target is None:
                what = "there is one now" if change.base is None else "it has changed since"
                _conflict(change, what if now is not None else "it is not there any more", unkept)
                return None
            outcomes = tuple(
                replace(each, outcome="merged") if each.outcome == "applied" else each for each in outcomes
            )
        begun = await file_changed(self._images, self._turn_id, change, id, now, target)
        mode = None if image is None else image.mode
        return _Step(change, replace(begun, mode=mode), now, target, outcomes)


async def approved(change: PlannedChange) -> tuple[bytes | None, tuple[HunkOutcome, ...]]:
    """The file as it is to be with the hunks that are approved, if nobody else changes it."""
    if change.only is None or change.base is None or change.after is None:
        return change.after, change.every_hunk("applied")
    patch = FilePatch(path=change.path, hunks=change.hunks)
    size = len(change.base) + len(change.after)
    made = await at_leisure(size, partial(applied, change.base, patch, only=change.only))
    return made.data, made.outcomes


async def part_of_it(change: PlannedChange, now: bytes | None) -> tuple[bytes | None, bytes | None]:
    """What somebody else has done for this change: the file before it and after it. What the user has done to the file
    meanwhile stands in both, so that an undo leaves it alone. If that cannot be told apart, the file is not as it would
    be after the change alone, and an undo refuses it."""
    target, _ = await approved(change)
    if now != target and now is not None and target is not None and change.base is not None:
        without = await at_leisure(len(now) + len(target), partial(merged, target, change.base, now))
        if without is not None:
            return without, now
    return change.base, target


async def file_changed(
    images: Images,
    turn_id: str,
    change: PlannedChange,
    id: str,  # noqa: A002
    before: bytes | None,
    after: bytes | None,
    status: Literal["begun", "done"] = "begun",
) -> FileChanged:
    """The event of this change; both images are kept."""
    known = {change.base: change.base_blob, change.after: change.after_blob}

    async def blob(data: bytes | None) -> str | None:
        return None if data is None else known.get(data) or await images.keep(data)

    return FileChanged(
        change_id=id,
        turn_id=turn_id,
        file_path=change.path,
        action=action_of(before, after),
        status=status,
        before=await blob(before),
        after=await blob(after),
        before_hash=None if before is None else digest_of(before),
        after_hash=None if after is None else digest_of(after),
        patch_id=change.id if change.patched else None,
    )


def action_of(before: bytes | None, after: bytes | None) -> FileAction:
    return "create" if before is None else "delete" if after is None else "modify"


# -- in words


def _told(step: _Step) -> str:
    change = step.change
    if step.target is None:
        return f"{change.path} is deleted."
    places = changed_places(made_diff(change.path, step.now, step.target).hunks)
    lines = "line" if places.isdigit() else "lines"
    told = f"{change.path} was {'made' if step.now is None else f'changed ({lines} {places})'}."
    told += refused_hunks(step.outcomes)
    if any(each.outcome == "merged" for each in step.outcomes):
        told += " It had been changed elsewhere since you read it; both changes stand in it now."
    for each in step.outcomes:
        if each.outcome == "refused":
            told += f" Hunk {each.index + 1} did not fit: {each.reason}"
    return f"{told} {state(step.target)}"


def refused_hunks(outcomes: Sequence[HunkOutcome]) -> str:
    """A sentence after another one; empty: none was refused by the user."""
    refused = [str(each.index + 1) for each in outcomes if each.outcome == "rejected"]
    if not refused:
        return ""
    return f" The user refused {'hunk' if len(refused) == 1 else 'hunks'} {listed(refused)} of {len(outcomes)}."


def state(data: bytes | None) -> str:
    """How a file is now, for whoever goes on with it."""
    if data is None:
        return "There is no such file now."
    return f"It has {counted(lines_of(data), 'line')} now, and is {digest_of(data)[:19]}."


def _refused(change: PlannedChange, why: FileRefused, unkept: Unkept) -> None:
    change.told = f"{change.path} was not changed: {why}"
    unkept.patch_failed(change)


def _conflict(change: PlannedChange, what: str, unkept: Unkept) -> None:
    change.is_conflict = True
    if change.after is None:
        change.told = f"{CONFLICT}{change.path} was not deleted: {what}, and nobody has seen how. {DELETE_AGAIN}"
    else:
        change.told = (
            f"{CONFLICT}{change.path} was left as it is: {what}, and the change does not fit onto that. {CHANGE_AGAIN}"
        )
    unkept.patch_failed(change)
