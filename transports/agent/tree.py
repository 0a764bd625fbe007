"""A workspace's folder, as the agent reads it: files in it are read, listed and searched, and nothing outside of it.

    trees = FolderTrees()
    root = await trees.check("/home/me/project")
    text = await trees.tree(root).read("src/app.py", last=100)

Rules
  - Each name of a path is opened by descriptor inside the folder before it, and no link is followed, the root included
    (transports/folder/rooted.py). So it does not matter what changes on the disk between two looks.
  - Only plain files are read: a FIFO or a device is not even opened. A hard link is a plain file of this folder: nobody
    can tell it from any other, and only an account that may read a file can link it.
  - The filesystem's root, the kernel's own folders, and Troupe's (its state, with the token in it) are no workspaces.
    Troupe's is not entered through a workspace that contains it, either, by whichever name.
  - `.git` is closed, and files that are there to hold secrets are listed but not read (codec/agent/file_texts.py).
  - Disks may hang. Everything happens in threads, a few for each workspace, and has a deadline. A caller that gives up
    is free at once; the thread sees it and ends soon.
"""

import os
import stat
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

import trio

from codec.agent.file_texts import file_text, is_private_key, is_secret_name, secret
from codec.agent.files import FileHit, FileRefused, FileText, TreeEntry
from codec.agent.tree_paths import tree_names
from transports.agent.hands import FolderHands
from transports.agent.scanning import listed_files, listed_folder, scanned
from transports.agent.threads import in_thread
from transports.agent.walking import GivenUp
from transports.agent.writes import FolderWrites
from transports.folder.rooted import ClosedFolder, Identity, NotPlain, Rooted, identities

LARGEST = 8 << 20
"""Bytes of a file that is read."""
THREADS = 4
"""For each workspace."""
CHECK_THREADS = 8
KERNEL_FOLDERS = (Path("/proc"), Path("/sys"), Path("/dev"))
MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - a disk like any other
T = TypeVar("T")


class FolderTrees:
    def __init__(self, closed: Sequence[Path] = ()) -> None:
        """`closed`: Troupe's own folders, which are there."""
        self._closed = [Path(os.path.realpath(each)) for each in closed]
        self._identities = identities(self._closed)
        self._checks = trio.CapacityLimiter(CHECK_THREADS)
        self._limiters: WeakValueDictionary[str, trio.CapacityLimiter] = WeakValueDictionary()
        self._writes: WeakValueDictionary[str, FolderWrites] = WeakValueDictionary()
        """A write that is under way keeps its own here."""

    def tree(self, path: str) -> "FolderTree":
        return FolderTree(Path(path), self._limiter(path), self._identities)

    def hands(self, path: str) -> FolderHands:
        writes = self._writes.get(path)
        if writes is None:
            writes = self._writes[path] = FolderWrites(path)
        return FolderHands(Path(path), self._limiter(path), writes, self._identities)

    def _limiter(self, path: str) -> trio.CapacityLimiter:
        limiter = self._limiters.get(path)
        if limiter is None:
            limiter = self._limiters[path] = trio.CapacityLimiter(THREADS)
        return limiter

    async def check(self, path: str) -> str:
        return await in_thread(lambda given_up: _checked(path, self._closed), self._checks, path)


class FolderTree:
    def __init__(self, root: Path, limiter: trio.CapacityLimiter, closed: Collection[Identity] = ()) -> None:
        self._root = Rooted(root, firm=True, closed=closed)
        self._limiter = limiter

    async def read(self, path: str, *, first: int = 1, last: int | None = None, most: int = 200_000) -> FileText:
        return await self._do(lambda given_up: self._read(path, first, last, most))

    async def entries(self, folder: str = "", *, most: int = 1000, deep: bool = False) -> Sequence[TreeEntry]:
        return await self._do(lambda given_up: self._entries(folder, most, deep, given_up))

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        return await self._do(lambda given_up: self._search(words, most, given_up))

    async def _do(self, job: Callable[["GivenUp"], T]) -> T:
        return await in_thread(job, self._limiter, str(self._root.root))

    # -- in a thread

    def _read(self, path: str, first: int, last: int | None, most: int) -> FileText:
        names = tree_names(path)
        shown = "/".join(names)
        if not names:
            raise FileRefused("This is the workspace's own folder, and no file.")
        if is_secret_name(names[-1]):
            raise secret(shown)
        try:
            data = read_plain(self._root, names, LARGEST + 1)
        except OSError as error:
            raise refused_read(shown, error) from None
        if len(data) > LARGEST:
            raise FileRefused(f"{shown} is too large: only files of at most {LARGEST >> 20} MiB are read.")
        if is_private_key(names[-1], data):
            raise secret(shown)
        return file_text(shown, data, first, last, most)

    def _entries(self, folder: str, most: int, deep: bool, given_up: GivenUp) -> Sequence[TreeEntry]:
        names = tree_names(folder)
        try:
            return (listed_files if deep else listed_folder)(self._root, names, most, given_up)
        except OSError as error:
            raise refused_read("/".join(names) or "The workspace's folder", error) from None

    def _search(self, words: Sequence[str], most: int, given_up: GivenUp) -> Sequence[FileHit]:
        try:
            return scanned(self._root, words, most, given_up)
        except OSError as error:
            raise refused_read("The workspace's folder", error) from None


def read_plain(root: Rooted, names: Sequence[str], most: int) -> bytes:
    """At most so many bytes. What is no plain file is not opened: even that may have an effect."""
    *above, name = names
    with root.folder(above) as here:
        if not stat.S_ISREG(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise NotPlain("no plain file")
        with open(root.open_in(here, names), "rb") as file:
            return file.read(most)


def refused_read(shown: str, error: OSError) -> FileRefused:
    match error:
        case FileNotFoundError():
            return FileRefused(f"{shown} is not there.")
        case ClosedFolder():
            return FileRefused(f"{shown} is in Troupe's own folder, which is closed.")
        case NotPlain() | NotADirectoryError() | IsADirectoryError():
            return FileRefused(f"{shown} is no plain file or folder of the workspace. Links are not followed.")
        case PermissionError():
            return FileRefused(f"{shown} may not be read by the server's account.")
        case _:
            return FileRefused(f"{shown} cannot be read: {error.strerror or 'the disk fails'}.")


def _checked(path: str, closed: Sequence[Path]) -> str:
    if "\0" in path or not os.path.isabs(path):
        raise FileRefused("The path of a workspace is absolute, such as /home/me/project.")
    try:
        real = os.path.realpath(path, strict=True)
        real.encode()
        if (why := _no_workspace(Path(real), closed)) is not None:
            raise FileRefused(f"{path} cannot be a workspace: {why}")
        if not stat.S_ISDIR(os.stat(real).st_mode):
            raise FileRefused(f"{path} is a file, and no folder.")
        with os.scandir(real) as listed:
            next(listed, None)
    except UnicodeError:
        raise FileRefused(f"{path!r} cannot be a workspace: its name is not written in UTF-8.") from None
    except FileNotFoundError:
        raise FileRefused(f"There is no folder {path}.") from None
    except PermissionError:
        raise FileRefused(f"{path} may not be read by the server's account.") from None
    except OSError as error:
        raise FileRefused(f"{path} cannot be used: {error.strerror or 'the disk fails'}.") from None
    return real


def _no_workspace(real: Path, closed: Sequence[Path]) -> str | None:
    """Why this folder is none, in a sentence's second half."""
    if real == Path(real.anchor):
        return "it is the root of the filesystem, with everything in it. Name a project's own folder."
    if any(real.is_relative_to(each) for each in KERNEL_FOLDERS) and not real.is_relative_to(MEMORY_DISK):
        return "the files there are made by the system's kernel, and reading them may do anything."
    if any(real.is_relative_to(each) for each in closed):
        return "it belongs to Troupe itself, which keeps its state and its token there."
    return None
