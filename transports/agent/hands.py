"""A workspace's folder, for the agent's changes: whole files are read, replaced, made and deleted.

    hands = trees.hands(root)
    (image,) = await hands.images(["src/app.py"])
    (answer,) = await hands.change([FileReplacement("src/app.py", image.digest, b"...")])

Rules
  - Nothing outside of the folder is changed, and no file that is not as the change was made for (transports/folder/
    replacing.py). `.git` is closed, as for reading.
  - Files that are there to hold secrets are not read. So they are not written either: nobody could show what was in
    them, or undo the change.
  - A caller that gives up is free at once. The outcome of a change that was given up is known when its thread is back
    (writes.py): until then nothing else is changed here.
  - Size and number are limited, for reading as for a change.
"""

import errno
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import trio

from codec.agent.file_texts import is_private_key, is_secret_name, secret
from codec.agent.files import FileImage, FileModified, FileRefused, FileReplacement
from codec.agent.tree_paths import tree_names
from transports.agent.threads import in_thread
from transports.agent.writes import FolderWrites, Wanted
from transports.folder.fitness import ChangedSince, NotFit
from transports.folder.replacing import FileSwap, Unsure, change_files, remove_empty
from transports.folder.rooted import Identity, Names, NotPlain, Rooted
from transports.folder.whole_files import LARGEST, file_images

NO_PLAIN_FILE = "is no plain file of the workspace. Folders are not changed, and links are not followed."
MOST_FILES = 5_000
MOST_BYTES = 256 << 20
"""Of all files of one call."""


class FolderHands:
    def __init__(
        self, root: Path, limiter: trio.CapacityLimiter, writes: FolderWrites, closed: Collection[Identity] = ()
    ) -> None:
        self._root = Rooted(root, firm=True, closed=closed)
        self._limiter = limiter
        self._writes = writes

    async def images(self, paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
        return await in_thread(lambda given_up: self._images(paths), self._limiter, str(self._root.root))

    async def change(
        self, changes: Sequence[FileReplacement], made: list[str] | None = None
    ) -> Sequence[str | FileRefused | None]:
        folders: list[str] = []
        try:
            answers = await self._writes.do(
                [change.path for change in changes],
                lambda wanted: self._change(changes, folders, wanted),
                self._limiter,
            )
        except FileRefused as refused:
            return [refused] * len(changes)
        if made is not None:
            made.extend(folders)
        return answers

    def refusals(self, contents: Sequence[tuple[str, bytes | None]]) -> Sequence[FileRefused | None]:
        found: list[FileRefused | None] = []
        count = size = 0
        for path, data in contents:
            try:
                names = _file_names(path)
                size += len(data or b"")
                if count == MOST_FILES or size > MOST_BYTES:
                    raise FileRefused(
                        f"{path} is too much for one change, of at most {MOST_FILES:,} files and"
                        f" {MOST_BYTES >> 20} MiB."
                    )
                _check_content(names, data)
            except FileRefused as refused:
                found.append(refused)
            else:
                found.append(None)
                count += 1
        return found

    async def clear(self, folders: Sequence[str]) -> Sequence[str]:
        try:
            return await self._writes.do(folders, lambda wanted: self._clear(folders), self._limiter)
        except FileRefused:
            return ()

    async def rested(self) -> None:
        await self._writes.rested()

    # -- in a thread

    def _images(self, paths: Sequence[str]) -> Sequence[FileImage | FileRefused | None]:
        answers: list[FileImage | FileRefused | None] = [None] * len(paths)
        wanted: dict[int, tuple[str, ...]] = {}
        for number, path in enumerate(paths):
            try:
                wanted[number] = _file_names(path)
                if len(wanted) > MOST_FILES:
                    raise FileRefused(f"{path} is one file too many: only {MOST_FILES:,} are read at once.")
            except FileRefused as refused:
                wanted.pop(number, None)
                answers[number] = refused
        images = file_images(self._root, list(wanted.values()), MOST_BYTES)
        for (number, names), image in zip(wanted.items(), images, strict=True):
            shown = "/".join(names)
            match image:
                case OSError():
                    answers[number] = in_words(shown, image)
                case (data, mode):
                    private = is_private_key(names[-1], data)
                    answers[number] = secret(shown) if private else FileImage(shown, data, mode)
        return answers

    def _clear(self, folders: Sequence[str]) -> Sequence[str]:
        wanted = []
        for folder in folders:
            with suppress(FileRefused):
                wanted.append(tree_names(folder))
        return ["/".join(names) for names in remove_empty(self._root, list(filter(None, wanted)))]

    def _change(
        self, changes: Sequence[FileReplacement], made: list[str], wanted: Wanted
    ) -> Sequence[str | FileRefused | None]:
        answers: list[str | FileRefused | None] = [*self.refusals([(change.path, change.data) for change in changes])]
        swaps = {
            number: FileSwap(_file_names(change.path), change.before, change.data, change.mode)
            for number, change in enumerate(changes)
            if answers[number] is None
        }
        folders: list[Names] = []
        done = change_files(self._root, list(swaps.values()), made=folders, wanted=wanted)
        made.extend("/".join(names) for names in folders)
        for (number, swap), answer in zip(swaps.items(), done, strict=True):
            answers[number] = in_words("/".join(swap.names), answer) if isinstance(answer, OSError) else answer
        return answers


def _file_names(path: str) -> tuple[str, ...]:
    names = tree_names(path)
    if not names:
        raise FileRefused("This is the workspace's own folder, and no file.")
    if is_secret_name(names[-1]):
        raise FileRefused(f"{'/'.join(names)} holds secrets, as far as its name tells. It is neither read nor written.")
    return names


def _check_content(names: Sequence[str], data: bytes | None) -> None:
    shown = "/".join(names)
    if data is None:
        return
    if len(data) > LARGEST:
        raise FileRefused(f"{shown} would be too large: only files of at most {LARGEST >> 20} MiB are written.")
    if is_private_key(names[-1], data):
        raise FileRefused(f"{shown} would begin with a private key. Such a file is not written.")


def in_words(shown: str, error: OSError) -> FileRefused:
    match error:
        case ChangedSince():
            return FileModified(f"{shown} {error}.")
        case NotFit():
            return FileRefused(f"{shown} {error}.")
        case Unsure():
            return FileRefused(
                f"{shown} is changed, but the disk failed before that was sure to stay: {error.strerror}."
            )
        case NotPlain() | NotADirectoryError() | IsADirectoryError():
            return FileRefused(f"{shown} {NO_PLAIN_FILE}")
        case PermissionError():
            return FileRefused(f"{shown} may not be read or changed by the server's account.")
    match error.errno:
        case errno.ELOOP:
            return FileRefused(f"{shown} {NO_PLAIN_FILE}")
        case errno.ENOSPC | errno.EDQUOT:
            return FileRefused(f"{shown} is not changed: the disk is full. Make room, and try again.")
        case errno.EROFS:
            return FileRefused(f"{shown} is not changed: its disk is read-only.")
        case errno.EFBIG:
            return FileRefused(f"{shown} is not changed: its new content is too large for the disk.")
        case _:
            return FileRefused(f"{shown} is left as it is: {error.strerror or 'the disk fails'}.")
