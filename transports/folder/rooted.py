"""Access to a folder that never leads out of it.

Rules
  - A path from outside is a sequence of names, never a string that is joined. Each name is opened inside the folder
    before it, by descriptor, and links are not followed. So even if the disk changes meanwhile, the opened file is
    below the root.
  - A file is written completely or not at all, and never over another file. When the call returns, the file and its
    name are on the disk. It gets its name only when it is complete, so a kill leaves nothing behind. On systems without
    nameless files a draft is written instead; the next write there deletes drafts whose processes have ended.
  - Only regular files are read, because reading a pipe could block for ever.

Everything here blocks: call it in a thread.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

LONGEST_NAME = 255
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_NAMELESS = getattr(os, "O_TMPFILE", 0)
"""Only Linux has it, and not on every file system."""
NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
"""The errors of a file system or kernel that does not support it."""

_OURS = os.urandom(3).hex()
"""Distinguishes us from a killed process that had the same process id."""
_DRAFT = re.compile(r"\.([0-9]{1,9})-([0-9a-f]{6})[0-9a-f]{6}\.draft", re.ASCII)
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV)
"""The errors of a file system without links, such as FAT."""

Names = Sequence[str]


class NotPlain(OSError):
    """Something of that name exists but is not a plain file or folder; or the name is not valid."""


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


class Rooted:
    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, names: Names) -> Path:
        """The path for display. Files are not opened by it."""
        return self.root.joinpath(*names)

    @contextmanager
    def folder(self, names: Names, *, create: bool = False) -> Iterator[int]:
        """The folder as a descriptor. `create`: make all missing folders on the way, including the root."""
        if create:
            self.root.mkdir(parents=True, exist_ok=True)
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for depth in range(len(names)):
                there = self._enter(here, names[: depth + 1], create=create)
                os.close(here)
                here = there
            yield here
        finally:
            os.close(here)

    def _enter(self, here: int, names: Names, *, create: bool) -> int:
        """The last of these names, in the folder that the others lead to."""
        check_name(names[-1])
        try:
            return _entered(here, names[-1], create=create)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            raise NotPlain(f"{self.path(names)} is a file or a link, and not a folder") from None

    def entries(self, names: Names) -> dict[str, FileEntry | None]:
        """The entries of a folder; None for anything that is not a plain file. Empty if the folder does not exist."""
        found: dict[str, FileEntry | None] = {}
        try:
            with self.folder(names) as here, os.scandir(here) as listed:
                for one in listed:
                    try:
                        status = one.stat(follow_symlinks=False)
                    except FileNotFoundError:  # it has just been removed
                        continue
                    plain = stat.S_ISREG(status.st_mode)
                    found[one.name] = FileEntry.of(status) if plain else None
        except FileNotFoundError:
            return {}
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
        *above, name = names
        check_name(name)
        with self.folder(above) as here:
            file = os.open(name, _FILE, dir_fd=here)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise NotPlain(f"{self.path(names)} is not a plain file")
        os.set_blocking(file, True)
        return file

    def read(self, names: Names, most: int = -1) -> bytes:
        with open(self.open(names), "rb") as file:
            return file.read(most)

    def write_new(self, names: Names, files: Mapping[str, bytes]) -> None:
        """Writes new files into one folder, in this order. An existing file is left alone and raises
        FileExistsError."""
        with self.folder(names, create=True) as here:
            _sweep(here)
            for name, content in files.items():
                check_name(name)
                _write_new(here, name, content)
            os.fsync(here)


def _entered(here: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=here)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(name, dir_fd=here)
        os.fsync(here)
    return os.open(name, _FOLDER, dir_fd=here)


def check_name(name: str) -> None:
    if not name or name in (".", "..") or "/" in name or "\0" in name or len(os.fsencode(name)) > LONGEST_NAME:
        raise NotPlain(f"{name[:80]!r} cannot be the name of a file or folder")


def _sweep(here: int) -> None:
    """Deletes the drafts of processes that were killed while they wrote."""
    for name in os.listdir(here):
        if (draft := _DRAFT.fullmatch(name)) and not _writes(int(draft[1]), draft[2]):
            with suppress(OSError):  # another process was faster; or it is not a plain file, and not ours
                os.unlink(name, dir_fd=here)


def _writes(pid: int, whose: str) -> bool:
    return whose == _OURS if pid == os.getpid() else lives(pid)


def lives(pid: int) -> bool:
    """Whether this process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists, and belongs to another user
        return True
    return True


def _write_new(here: int, name: str, content: bytes) -> None:
    if not (_NAMELESS and _write_nameless(here, name, content)):
        _write_draft(here, name, content)


def _write_nameless(here: int, name: str, content: bytes) -> bool:
    """Writes a file that has no name until it is complete. False: this file system cannot do that."""
    try:
        file = os.open(".", os.O_WRONLY | os.O_CLOEXEC | _NAMELESS, 0o666, dir_fd=here)
    except OSError as error:
        if error.errno in NO_NAMELESS:
            return False
        raise
    with open(file, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(file)
        try:
            os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=here)  # follows the link in /proc to our own descriptor
        except OSError as error:
            if error.errno in (errno.ENOENT, *NO_LINKS):  # there is no /proc
                return False
            raise
    return True


def _write_draft(here: int, name: str, content: bytes) -> None:
    draft = f".{os.getpid()}-{_OURS}{os.urandom(3).hex()}.draft"
    file = os.open(draft, _NEW, 0o666, dir_fd=here)
    try:
        with open(file, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        _name(here, draft, name)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=here)


def _name(here: int, draft: str, name: str) -> None:
    """Gives a draft its name, by a link: a rename could overwrite another file."""
    try:
        os.link(draft, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=here, follow_symlinks=False)
            raise FileExistsError(f"{name} exists") from None
        os.rename(draft, name, src_dir_fd=here, dst_dir_fd=here)
