"""Access to a folder that never leads out of it.

Rules
  - A path from outside is a sequence of names, never a string that is joined. Each name is opened inside the folder
    before it, by descriptor, and links are not followed. So even if the disk changes meanwhile, the opened file is
    below the root.
  - A file is written completely or not at all, and never over another file. When the call returns, the file and its
    name are on the disk. It gets its name only when it is complete, so a kill leaves nothing behind. On systems without
    nameless files a draft is written instead; the next write there deletes drafts whose processes have ended.
  - Only regular files are read, because reading a pipe could block for ever.
  - Files are replaced and deleted in a folder of our own only (`publish`), or if they are still as they were, in a
    folder that others use too (replacing.py).
  - With `own`, the root itself is a real folder and no link, and it and all below belong to our account. If other
    accounts may only read it, it is closed to them; if they may write to it, it is refused (owned.py).

Everything here blocks: call it in a thread.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from transports.folder.drafts import discard, sweep, write_drafts, write_new
from transports.folder.owned import OWN_MODE, open_own

LONGEST_NAME = 255
TICK_NS, COARSE_NS = 40_000_000, 2_000_000_000
"""In which a file may change without looking so, on most disks and on those that count seconds."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Names = Sequence[str]


class NotPlain(OSError):
    """Something of that name exists but is not a plain file or folder; or the name is not valid."""


class ClosedFolder(NotPlain):
    """It is one of those that are not entered."""


Identity = tuple[int, int]
"""Of a folder, whatever its name is: its device and its number there."""


def identities(folders: Iterable[Path]) -> tuple[Identity, ...]:
    """Of folders that are there, or links to them."""
    return tuple((status.st_dev, status.st_ino) for status in map(os.stat, folders))


class Within(NamedTuple):
    """An open folder."""

    folder: int
    """Its descriptor."""
    depth: int
    """The number of names that lead to it."""


class FileEntry(NamedTuple):
    """A plain file. If it is written to or replaced, its entry changes, except within one tick of the disk's clock."""

    size: int
    changed_ns: int
    touched_ns: int
    """The time of any last change to it. Unlike `changed_ns`, programs cannot set it."""
    number: int
    """The file's number, which does not depend on its name."""

    @classmethod
    def of(cls, status: os.stat_result) -> "FileEntry":
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    @property
    def is_fresh(self) -> bool:
        """It has changed within the last tick of the disk's clock. So it might change again, and look the same."""
        coarse = self.changed_ns % 1_000_000_000 == 0
        return time.time_ns() - max(self.changed_ns, self.touched_ns) < (COARSE_NS if coarse else TICK_NS)


class Rooted:
    def __init__(
        self,
        root: Path,
        *,
        own: bool = False,
        firm: bool = False,
        marks: Collection[str] = (),
        rooms: Collection[str] = (),
        said: Callable[[str], None] = lambda sentence: None,
        closed: Collection[Identity] = (),
    ) -> None:
        """`firm`: the root's own name is no link. `marks`: an own root has one of these folders, or nothing
        but `rooms`. `said`: is told of each folder that has been closed to others. `closed`: folders that are not
        entered, by whichever name."""
        self.root = root
        self._firm = firm
        self._own = own
        self._marks = marks
        self._rooms = rooms
        self._said = said
        self._closed = closed

    def path(self, names: Names) -> Path:
        """The path for display. Files are not opened by it."""
        return self.root.joinpath(*names)

    @contextmanager
    def folder(self, names: Names, *, create: bool = False, within: Within | None = None) -> Iterator[int]:
        """The folder as a descriptor. `create`: make all missing folders on the way, including the root. `within`: one
        on the way that is open already."""
        with self._walked(names, create, within) as (here, _):
            yield here

    @contextmanager
    def folder_made(self, names: Names) -> Iterator[tuple[Within, bool]]:
        """The folder, with all missing ones on the way, and whether it has just been made here, and so is empty."""
        with self._walked(names, create=True) as (here, new):
            yield Within(here, len(names)), new

    @contextmanager
    def _walked(self, names: Names, create: bool, within: Within | None = None) -> Iterator[tuple[int, bool]]:
        here = self.open_root(create=create) if within is None else os.dup(within.folder)
        new = False
        try:
            for depth in range(0 if within is None else within.depth, len(names)):
                there, new = self._entered_or_made(here, names[: depth + 1], create=create)
                os.close(here)
                here = there
            yield here, new
        finally:
            os.close(here)

    @contextmanager
    def folder_if_there(self, names: Names) -> Iterator[int | None]:
        """None: it does not exist."""
        with ExitStack() as held:
            try:
                here = held.enter_context(self.folder(names))
            except FileNotFoundError:
                here = None
            yield here

    def open_root(self, *, create: bool = False) -> int:
        """The caller closes the descriptor."""
        if self._own:
            if create:
                with suppress(FileExistsError):  # what it is will be seen
                    self.root.mkdir(mode=OWN_MODE, parents=True)
            return open_own(self.root, None, self.root, self._said, self._marks, self._rooms)
        flags = _FOLDER if self._firm else _FOLDER & ~os.O_NOFOLLOW
        try:
            root = os.open(self.root, flags)
        except FileNotFoundError:
            if not create:
                raise
            self.root.mkdir(parents=True, exist_ok=True)
            root = os.open(self.root, flags)
        return self._unless_closed(root, ())

    def enter(self, here: int, names: Names, *, create: bool = False) -> int:
        """The last of these names, in the folder that the others lead to. The caller closes the descriptor."""
        return self._entered_or_made(here, names, create=create)[0]

    def _entered_or_made(self, here: int, names: Names, *, create: bool) -> tuple[int, bool]:
        """The same, and whether it was made."""
        check_name(names[-1])
        try:
            return self._entered(here, names), False
        except FileNotFoundError:
            if not create:
                raise
        made = False
        with suppress(FileExistsError):  # another process was faster
            os.mkdir(names[-1], OWN_MODE if self._own else 0o777, dir_fd=here)
            made = True
            os.fsync(here)
        return self._entered(here, names), made

    def _entered(self, here: int, names: Names) -> int:
        if self._own:
            return open_own(names[-1], here, f"{self.root}/{'/'.join(names)}", self._said)
        try:
            there = os.open(names[-1], _FOLDER, dir_fd=here)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            raise NotPlain(f"{self.path(names)} is a file or a link, and not a folder") from None
        return self._unless_closed(there, names)

    def _unless_closed(self, folder: int, names: Names) -> int:
        if self._closed:
            status = os.fstat(folder)
            if (status.st_dev, status.st_ino) in self._closed:
                os.close(folder)
                raise ClosedFolder(f"{self.path(names)} is closed")
        return folder

    def entries(self, names: Names) -> dict[str, FileEntry | None]:
        """The entries of a folder; None for anything that is not a plain file. Empty if the folder does not exist."""
        with self.folder_if_there(names) as here:
            return {} if here is None else self.entries_in(here)

    def entries_in(self, here: int) -> dict[str, FileEntry | None]:
        """The same of an open folder."""
        found: dict[str, FileEntry | None] = {}
        with os.scandir(here) as listed:
            for one in listed:
                try:
                    status = one.stat(follow_symlinks=False)
                except FileNotFoundError:  # it has just been removed
                    continue
                plain = stat.S_ISREG(status.st_mode)
                found[one.name] = FileEntry.of(status) if plain else None
        return found

    def has_folder(self, names: Names) -> bool:
        """Whether the folder exists. Raises OSError if this cannot be determined."""
        try:
            with self.folder(names):
                return True
        except FileNotFoundError:
            return False

    def folders(self, names: Names) -> list[str]:
        """The folders in a folder, in order, without hidden ones; none if there is no such folder."""
        try:
            with self.folder(names) as here, os.scandir(here) as listed:
                return sorted(
                    one.name for one in listed if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)
                )
        except (FileNotFoundError, PermissionError):
            return []

    def open(self, names: Names) -> int:
        """Opens a file for reading. The caller closes the descriptor."""
        with self.folder(names[:-1]) as here:
            return self.open_in(here, names)

    def open_in(self, here: int, names: Names) -> int:
        """The same in the folder that all names but the last one lead to."""
        check_name(names[-1])
        file = os.open(names[-1], _FILE, dir_fd=here)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise NotPlain(f"{self.path(names)} is not a plain file")
        os.set_blocking(file, True)
        return file

    def read(self, names: Names, most: int = -1) -> bytes:
        with open(self.open(names), "rb") as file:
            return file.read(most)

    def write_new(
        self, names: Names, files: Mapping[str, bytes], *, within: Within | None = None, new: bool = False
    ) -> None:
        """Writes new files into one folder, in this order. An existing file is left alone and raises FileExistsError.
        `within`: as in `folder`. `new`: the folder has just been made, so nobody's drafts are in it."""
        with self.folder(names, create=True, within=within) as here:
            if not new:
                sweep(here)
            for name, content in files.items():
                check_name(name)
                write_new(here, name, content)
            os.fsync(here)

    def publish(self, names: Names, files: Mapping[str, bytes], *, sync: bool = True) -> None:
        """Writes files into one folder, over what is there, and syncs them as one group: the files together, and the
        folder once. Others see each of them whole or not at all. If one cannot be written, none gets its name."""
        for name in files:
            check_name(name)
        with self.folder(names, create=True) as here:
            sweep(here)
            drafts = write_drafts(here, list(files.values()), sync=sync)
            try:
                for draft in drafts:
                    if isinstance(draft, OSError):
                        raise draft
                for name, draft in zip(files, drafts, strict=True):
                    os.rename(str(draft), name, src_dir_fd=here, dst_dir_fd=here)
                if sync:
                    os.fsync(here)
            finally:
                discard(here, drafts)


def check_name(name: str) -> None:
    if not name or name in (".", "..") or "/" in name or "\0" in name or len(os.fsencode(name)) > LONGEST_NAME:
        raise NotPlain(f"{name[:80]!r} cannot be the name of a file or folder")
