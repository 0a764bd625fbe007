"""Undo and redo of a turn: the log and the disk say what has to be restored, and it is done in one group.

Rules
  - It is decided anew each time what has to be done, from the log and the files as they are (undo_plans.py). So after a
    kill at any moment the same order again does what is missing, or reports what is already so.
  - The undo is in the log before the first file is changed (TurnUndone, begun), and again with what became of each
    file. The second entry makes the turn an undone one.
  - While a write that was given up may still come, nothing is decided.
  - A file that cannot be restored does not keep the others from it.
  - The images are those that the log names; no others are needed, and none is made.

The session calls this beside its mailbox, and lets no turn begin meanwhile.
"""

from collections.abc import Callable, Sequence
from functools import partial

import trio

from actors.agent.given import FileImage, FileRefused, FileReplacement, Hands, Trees
from actors.agent.images import Images
from actors.agent.log import SessionLog
from actors.agent.means import Keep, UndoOrder
from actors.agent.messages import WORKSPACES, WorkspaceAsked
from actors.agent.undo_plans import (
    PERMISSIONS,
    FileStep,
    TouchedFiles,
    chosen_turn,
    commands_run,
    empty_folders,
    later_turns,
    only_commands,
    step,
    summary,
    touched,
)
from codec.agent.action_events import TurnUndone, UndoneFile
from codec.agent.approvals import UndoReport, UndoWish
from codec.agent.kept import SessionRow
from codec.words import counted

READ_AT_ONCE = 32
"""Files: so many that all may be as large as any that is read."""
GROUP_FILES, GROUP_BYTES = 2_000, 64 << 20
"""What is more is done in several groups: all of a group is held in memory."""
RESTING_SECONDS = 1.0
"""In which a write that was given up may still end."""
HELD_UP = (
    "A change of this workspace that was given up may still be written, because the disk does not answer. Until that is"
    " known, nothing is undone or done again. Try it again when the disk answers."
)
DIFF_CHARACTERS = 1 << 20
"""Of a preview."""

SMALL = 32 << 10
"""Bytes of a file before and after. The diff of more is made in a thread."""

Differ = Callable[[str, bytes | None, bytes | None], str]
"""A path, the file before and after: the diff, as text."""
ASKED_SECONDS = 10.0


async def undo_order(trees: Trees, differ: Differ, order: UndoOrder) -> UndoReport:
    """In the session's own workspace."""
    asked = partial(WorkspaceAsked, order.row.fact.workspace_id)
    workspace = await order.registry.get(WORKSPACES).ask(asked, timeout=ASKED_SECONDS)
    if workspace is None:
        return _nothing(order.wish, order.redo, "The workspace of this session is not registered any more.")
    return await undo(
        order.log,
        Images(order.registry, order.row.fact.id),
        trees.hands(workspace.path),
        order.row,
        order.wish,
        order.redo,
        by=order.by,
        differ=differ,
        keep=order.keep,
    )


async def undo(
    log: SessionLog,
    images: Images,
    hands: Hands,
    row: SessionRow,
    wish: UndoWish,
    redo: bool,
    *,
    by: str,
    differ: Differ,
    keep: Keep,
) -> UndoReport:
    """May raise the store's errors, and the kernel's."""
    if row.turn is not None:
        return _nothing(wish, redo, "A turn is under way. Cancel it first, or wait for its end.")
    deeds = await log.deeds()
    turns = touched(deeds)
    if wish.turn_id is None and not redo and (why_not := only_commands(deeds, turns, row.undone)):
        return _nothing(wish, redo, why_not)
    turn_id = chosen_turn(turns, row.undone, wish.turn_id, redo)
    if turn_id is None:
        return _nothing(wish, redo, _why_none(wish, redo))
    files = turns[turn_id]
    later = later_turns(turns, turn_id, row.undone)
    undoing = _Undoing(images, hands, differ)
    with trio.move_on_after(RESTING_SECONDS) as resting:
        await hands.rested()
    if resting.cancelled_caught:
        return _nothing(wish, redo, HELD_UP)
    try:
        steps = await undoing.steps(files, later, redo, wish.preview)
    except FileRefused as refused:
        return _nothing(wish, redo, str(refused))
    if wish.preview:
        told = await undoing.previewed(steps)
    else:
        event = TurnUndone(turn_id=turn_id, redo=redo, by=by)
        if any(each.outcome == "would" for each in steps):
            await keep(_with(event, [each.told() for each in steps], begun=True))
        told = await undoing.done(steps)
        await undoing.clear(files, told)
        if _is_news(told, files, (turn_id in row.undone) == redo):
            await keep(_with(event, told))
    said = summary(told, commands_run(deeds, turn_id), redo=redo, preview=wish.preview)
    return UndoReport(
        turn_id=turn_id,
        redo=redo,
        preview=wish.preview,
        files=tuple(told),
        message=" ".join([said, *undoing.cleared]),
    )


class _Undoing:
    def __init__(self, images: Images, hands: Hands, differ: Differ) -> None:
        self._images = images
        self._hands = hands
        self._differ = differ
        self._now: dict[str, bytes] = {}
        """For a preview: what the files hold."""
        self.cleared: list[str] = []
        """A sentence, if folders were removed."""

    async def steps(self, files: TouchedFiles, later: set[str], redo: bool, preview: bool) -> list[FileStep]:
        steps = []
        paths = list(files)
        for start in range(0, len(paths), READ_AT_ONCE):
            some = paths[start : start + READ_AT_ONCE]
            for path, image in zip(some, await self._hands.images(some), strict=True):
                steps.append(step(files[path], image, redo=redo, later=path in later))
                if preview and isinstance(image, FileImage) and steps[-1].outcome == "would":
                    self._now[path] = image.data
        return steps

    # -- a preview

    async def previewed(self, steps: Sequence[FileStep]) -> list[UndoneFile]:
        told = []
        left = DIFF_CHARACTERS
        for each in steps:
            if each.outcome != "would":
                told.append(each.told())
                continue
            (data,) = await self._targets([each])
            if data is None and each.target.digest is not None:
                told.append(each.told("refused", _LOST))
                continue
            diff = ""
            if left > 0:
                diff = await self._diff(each.path, self._now.pop(each.path, None), data)
            left -= len(diff)
            told.append(each.told(diff=diff) if left > 0 else each.told(reason="The diff is too long to be shown."))
        return told

    async def _diff(self, path: str, before: bytes | None, after: bytes | None) -> str:
        if len(before or b"") + len(after or b"") <= SMALL:
            return self._differ(path, before, after)
        return await trio.to_thread.run_sync(self._differ, path, before, after, abandon_on_cancel=True)

    # -- doing it

    async def done(self, steps: Sequence[FileStep]) -> list[UndoneFile]:
        told: dict[str, UndoneFile] = {each.path: each.told() for each in steps}
        group: list[tuple[FileStep, FileReplacement]] = []
        size = 0
        wanted = [each for each in steps if each.outcome == "would"]
        for start in range(0, len(wanted), READ_AT_ONCE):
            some = wanted[start : start + READ_AT_ONCE]
            for each, data in zip(some, await self._targets(some), strict=True):
                if data is None and each.target.digest is not None:
                    told[each.path] = each.told("refused", _LOST)
                    continue
                if group and (len(group) >= GROUP_FILES or size + len(data or b"") > GROUP_BYTES):
                    await self._change(group, told)
                    group, size = [], 0
                mode = each.target.mode if each.before is None else None
                change = FileReplacement(each.path, each.before, data, None if mode is None else mode & PERMISSIONS)
                group.append((each, change))
                size += len(data or b"")
        if group:
            await self._change(group, told)
        return list(told.values())

    async def clear(self, files: TouchedFiles, told: Sequence[UndoneFile]) -> None:
        """What was made for files that are deleted now, and is empty."""
        deleted = {each.file_path for each in told if (each.action, each.outcome) == ("delete", "done")}
        folders = empty_folders(files, deleted)
        gone = await self._hands.clear(folders) if folders else ()
        if gone:
            self.cleared.append(
                f"{counted(len(gone), 'folder')} that the turn had made {'is' if len(gone) == 1 else 'are'} removed."
            )

    async def _targets(self, steps: Sequence[FileStep]) -> list[bytes | None]:
        """What the files are to hold."""
        blobs = {each.target.blob for each in steps if each.target.blob is not None and each.target.digest is not None}
        names = sorted(blobs)
        found = dict(zip(names, await self._images.get_all(names), strict=True))
        return [
            found[each.target.blob] if each.target.digest is not None and each.target.blob is not None else None
            for each in steps
        ]

    async def _change(self, group: Sequence[tuple[FileStep, FileReplacement]], told: dict[str, UndoneFile]) -> None:
        answers = await self._hands.change([change for _, change in group])
        for (each, _), answer in zip(group, answers, strict=True):
            refused = isinstance(answer, FileRefused)
            told[each.path] = each.told("refused", str(answer)) if refused else each.told("done")


_LOST = "What it held then is not kept any more."


def _with(event: TurnUndone, files: Sequence[UndoneFile], *, begun: bool = False) -> TurnUndone:
    return TurnUndone(turn_id=event.turn_id, redo=event.redo, by=event.by, files=tuple(files), begun=begun)


def _is_news(told: Sequence[UndoneFile], files: TouchedFiles, due: bool) -> bool:
    """Whether this makes the turn an undone one (or one that is not): something of it is undone, now or before a
    kill. `due`: the row does not say so yet."""
    if any(each.outcome == "done" for each in told):
        return True
    found = any(each.outcome == "unchanged" and files[each.file_path].is_changed for each in told)
    return due and (found or not any(each.outcome == "refused" for each in told))


def _nothing(wish: UndoWish, redo: bool, message: str) -> UndoReport:
    return UndoReport(turn_id=None, redo=redo, preview=wish.preview, message=message)


def _why_none(wish: UndoWish, redo: bool) -> str:
    if wish.turn_id is not None:
        return "This turn has changed no file, or there is no such turn."
    return "No turn is undone." if redo else "There is no turn that could be undone."
