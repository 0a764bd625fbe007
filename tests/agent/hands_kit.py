"""Hands in memory, commands that follow a script, and a user who answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import trio
from msgspec.structs import replace

from actors.agent.acting import ActingMeans
from actors.agent.given import (
    CommandOrder,
    CommandOutcome,
    FileImage,
    FileModified,
    FileRefused,
    FileReplacement,
    Stopping,
)
from actors.agent.rights import LookAtRights, same_rights
from codec.agent.action_events import StreamName
from codec.agent.approvals import ClientResult, Pending, Resolution
from codec.agent.file_texts import is_private_key, is_secret_name, secret
from codec.agent.files import digest_of
from tests.agent.turn_kit import MemoryTree

Hook = Callable[[], object]


class MemoryHands:
    """Changes the files of a tree in memory, each change in one step. Like real hands, it neither reads nor writes what
    holds secrets."""

    def __init__(self, tree: MemoryTree, *, forbidden: bool = False) -> None:
        self.tree = tree
        self.forbidden = forbidden
        """Whoever reaches them fails the test."""
        self.strokes: list[tuple[FileReplacement, ...]] = []
        self.before_stroke: list[Hook] = []
        """What happens in the moments before the next strokes, such as an edit of the user."""
        self.refuses: dict[str, FileRefused] = {}
        self.largest = 1 << 30

    def _data(self, path: str) -> bytes | None:
        text = self.tree.files.get(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    async def images(self, paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
        assert not self.forbidden
        await trio.lowlevel.checkpoint()
        return [self._image(path) for path in paths]

    def _image(self, path: str) -> FileImage | FileRefused | None:
        data = self._data(path)
        if is_secret_name(path) or (data is not None and is_private_key(path, data)):
            return secret(path)
        return None if data is None else FileImage(path, data, 0o644)

    async def clear(self, folders: Sequence[str]) -> Sequence[str]:
        raise AssertionError("a turn removes no folder")

    async def rested(self) -> None:
        await trio.lowlevel.checkpoint()

    def refusals(self, contents: Sequence[tuple[str, bytes | None]]) -> Sequence[FileRefused | None]:
        large = FileRefused("It would be too large.")
        return [large if len(data or b"") > self.largest else None for _, data in contents]

    async def change(
        self, changes: Sequence[FileReplacement], made: list[str] | None = None
    ) -> Sequence[str | FileRefused | None]:
        assert not self.forbidden
        await trio.lowlevel.checkpoint()
        if self.before_stroke:
            self.before_stroke.pop(0)()
        self.strokes.append(tuple(changes))
        answers = [self._one(each) for each in changes]
        await trio.lowlevel.checkpoint()  # who is cancelled meanwhile does not hear of it
        return answers

    def _one(self, change: FileReplacement) -> str | FileRefused | None:
        if change.path in self.refuses:
            return self.refuses[change.path]
        if is_secret_name(change.path) or (change.data is not None and is_private_key(change.path, change.data)):
            return secret(change.path)
        now = self._data(change.path)
        if (None if now is None else digest_of(now)) != change.before:
            return FileModified(f"{change.path} has changed.")
        if change.data is None:
            del self.tree.files[change.path]
            return None
        self.tree.files[change.path] = change.data.decode("utf-8", "surrogateescape")
        return digest_of(change.data)


class MemoryImages:
    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    async def keep(self, data: bytes) -> str:
        await trio.lowlevel.checkpoint()
        blob = f"s1 {digest_of(data)}"
        self.blobs[blob] = data
        return blob

    async def get(self, digest: str) -> bytes | None:
        await trio.lowlevel.checkpoint()
        return self.blobs.get(digest)


class PaperCommands:
    """Runs what is written down: an outcome, or what is to be awaited for it."""

    def __init__(self, *, confines: bool = True) -> None:
        self.outcomes: dict[str, CommandOutcome | Callable[..., Awaitable[CommandOutcome]]] = {}
        self.orders: list[CommandOrder] = []
        self.running = 0
        self._confines = confines

    async def run(self, order: CommandOrder, said: Callable[[StreamName, str], None], stop: Stopping) -> CommandOutcome:
        self.orders.append(order)
        self.running += 1
        outcome = CommandOutcome("stopped", None, "It was stopped.", 0.0, "", "")
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_stop, stop, nursery.cancel_scope)
                await trio.lowlevel.checkpoint()
                line = order.command if isinstance(order.command, str) else " ".join(order.command)
                found = self.outcomes.get(line, exited(0, "ok\n"))
                if isinstance(found, CommandOutcome):
                    said("stdout", found.stdout)
                    outcome = found
                else:
                    outcome = await found(said)
                nursery.cancel_scope.cancel()
        finally:
            self.running -= 1
        return outcome

    def environment(self, order: CommandOrder) -> Mapping[str, str]:
        return {"PATH": "/bin", **order.environment}

    async def confines(self) -> bool:
        return self._confines


async def _stop(stop: Stopping, scope: trio.CancelScope) -> None:
    await stop.wait()
    scope.cancel()


def exited(code: int, stdout: str = "", stderr: str = "", seconds: float = 1.5) -> CommandOutcome:
    return CommandOutcome("exited", code, "", seconds, stdout, stderr)


def means(
    images: MemoryImages | None = None, commands: PaperCommands | None = None, rights: LookAtRights = same_rights
) -> ActingMeans:
    images, commands = images or MemoryImages(), commands or PaperCommands()
    return ActingMeans(lambda registry: commands, lambda *_: images, rights, trio.current_time)


# -- answers


def approves(request: Pending, hunks: tuple[int, ...] | None = None) -> Pending:
    scope: Any = "all" if hunks is None else "hunk"
    return replace(request, resolution=Resolution(approved=True, scope=scope, hunks=hunks, by="editor"))


def refuses(request: Pending, reason: str | None = None) -> Pending:
    return replace(request, resolution=Resolution(approved=False, by="editor", reason=reason))


def has_done(request: Pending, **result: Any) -> Pending:
    """A client that has done it itself."""
    resolution = request.resolution or Resolution(approved=True, by="editor")
    return replace(request, resolution=resolution, result=ClientResult(**({"success": True} | result)))
