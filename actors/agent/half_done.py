"""Changes of files that a turn had begun when it ended by a cancel, a failure or a kill: the files tell which of them
were done. Until then the log says of each change only that it was begun.

    begun ─> the turn has ended ─┬─ the files tell ──────────────────> done, or failed
                                 └─ the disk does not answer ─> unknown ─> it answers ─> done, or failed

Rules
  - A file that is as it was meant to be was changed; a file that is as it was before was not. Nothing is said of a file
    that is neither, because somebody has changed it since: undo looks at it once more.
  - As long as a write that was given up may still come, a file tells nothing. The turn's last word does not wait for
    that. Somebody looks afterwards as long as the session is awake; undo looks for itself.
  - A look sweeps what a killed process has left beside the files.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

import trio
from msgspec.structs import replace

from actors.agent.given import FileImage, FileRefused, Trees
from actors.agent.messages import WORKSPACES, WorkspaceAsked
from actors.agent.record import SessionRecord
from actors.agent.retelling import SoFar
from actors.kernel import KernelError, Registry
from codec.agent.action_events import FileChanged, PatchApplied

ASKED_SECONDS = 10.0
NOT_DONE = "The turn ended before it was done."
NOT_KNOWN = "It is not known yet whether it was written, because the disk has not answered."
AGAIN_SECONDS = (1.0, 60.0)
"""Until the files are looked at again: the first time, and at most."""

FileNow = FileImage | FileRefused | None
FilesNow = Callable[[Registry, str, Sequence[str]], Awaitable[Sequence[FileNow]]]
"""The files of the workspace with this id, as they are when no write that was given up is under way there any more. May
take for ever. May raise the kernel's errors, and FileRefused."""


class HalfDone:
    """What a session says of the changes that its turns have left."""

    def __init__(self, record: SessionRecord, look: FilesNow | None, registry: Callable[[], Registry]) -> None:
        self._record = record
        self._look = look
        self._registry = registry

    async def tell(self, so_far: SoFar, seconds: float) -> list[str]:
        """Of the changes that had only begun; the answer: patches that turn out to be applied. What nobody can tell in
        that time is unknown."""
        begun = tuple(so_far.changes.values())
        if not begun or self._look is None:
            return []
        with trio.move_on_after(seconds):
            return await self._tell(begun, so_far)
        for change in begun:
            so_far.add(self._record.say(replace(change, status="unknown", error=NOT_KNOWN)))
        return []

    async def tell_later(self, unknown: Sequence[FileChanged]) -> list[str]:
        """Of changes that are unknown, when the disk answers."""
        again, most = AGAIN_SECONDS
        while True:
            with suppress(KernelError, FileRefused):
                now = await self._files(unknown)
                if not any(isinstance(file, FileRefused) for file in now):
                    return self._say(ends(unknown, now))
            await trio.sleep(again)
            again = min(2 * again, most)

    async def _tell(self, begun: Sequence[FileChanged], so_far: SoFar) -> list[str]:
        with suppress(KernelError, FileRefused):
            return self._say(ends(begun, await self._files(begun)), so_far)
        return []

    async def _files(self, changes: Sequence[FileChanged]) -> Sequence[FileNow]:
        assert self._look is not None
        paths = [change.file_path for change in changes]
        return await self._look(self._registry(), self._record.row.fact.workspace_id, paths)

    def _say(self, events: Iterable[FileChanged | PatchApplied], so_far: SoFar | None = None) -> list[str]:
        applied = []
        for event in events:
            entry = self._record.say(event)
            if so_far is not None:
                so_far.add(entry)
            if isinstance(event, PatchApplied):
                applied.append(event.patch_id)
        return applied


async def files_now(trees: Trees, registry: Registry, workspace_id: str, paths: Sequence[str]) -> Sequence[FileNow]:
    """May raise the kernel's errors, and FileRefused."""
    asked = partial(WorkspaceAsked, workspace_id)
    workspace = await registry.get(WORKSPACES).ask(asked, timeout=ASKED_SECONDS)
    if workspace is None:
        raise FileRefused("The workspace is not registered any more.")
    hands = trees.hands(workspace.path)
    await hands.rested()
    return await hands.images(paths)


def ends(begun: Iterable[FileChanged], now: Iterable[FileNow]) -> list[FileChanged | PatchApplied]:
    """What the files tell of these changes."""
    found: list[FileChanged | PatchApplied] = []
    for change, file in zip(begun, now, strict=True):
        if isinstance(file, FileRefused):
            continue
        digest = None if file is None else file.digest
        if digest == change.after_hash:
            found.append(replace(change, status="done", error=None))
            if change.patch_id is not None:
                found.append(
                    PatchApplied(
                        patch_id=change.patch_id,
                        file_path=change.file_path,
                        success=True,
                        applied_hash=change.after_hash,
                    )
                )
        elif digest == change.before_hash:
            found.append(replace(change, status="failed", error=NOT_DONE))
    return found
