"""Which files of a folder that others use too may be replaced, and which properties its replacement inherits.

Rules
  - Only a plain file of our account, with one name, is replaced. To replace a hard link would part it from its other
    names; a file of another account would become ours; and one that runs with more rights than its user has
    (set-uid, capabilities) would lose them, or hand them on to what somebody else has written.
  - A file that its owner has made read-only stays as it is, though a rename could replace it.
  - Permission bits, group, ACL and the user's extended attributes are those of the file before it. If they cannot be
    kept, it is not replaced.
  - A name is one of the disk's own, letter for letter. Some disks find a file by other spellings, too, for which no
    rule is made that speaks of the file.

Everything here blocks: call it in a thread.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from string import ascii_lowercase, ascii_uppercase

from codec.agent.tree_paths import is_closed
from transports.folder.rooted import Names, NotPlain, Rooted, check_name

_HAS_ATTRIBUTES = hasattr(os, "listxattr")
_ACL, _CAPABILITY = "system.posix_acl_access", "security.capability"
_OTHER_CASE = str.maketrans(ascii_lowercase + ascii_uppercase, ascii_uppercase + ascii_lowercase)
PERMISSIONS = 0o777


class NotFit(OSError):
    """What is there is not to be changed. The text goes on where a path has begun a sentence: "is read-only"."""


class ChangedSince(OSError):
    """It is not as it was. The text goes on where a path has begun a sentence: "is not there any more"."""


def check_names(names: Names) -> None:
    """Raises NotPlain for what is no name, or leads into `.git` in any spelling."""
    if not names:
        raise NotPlain("a file has a name")
    for name in names:
        check_name(name)
        if is_closed(name):
            raise NotPlain(f"{name!r} is closed")


@contextmanager
def fit_file(rooted: Rooted, here: int, names: Names) -> Iterator[tuple[int, os.stat_result]]:
    """Opens a file that may be replaced, in the folder that all names but the last lead to; and how it is. What is no
    plain file is not even opened. Raises FileNotFoundError, NotPlain, NotFit, or the disk's errors."""
    seen = os.stat(names[-1], dir_fd=here, follow_symlinks=False)
    if not stat.S_ISREG(seen.st_mode):
        raise NotPlain(f"{rooted.path(names)} is not a plain file")
    check_spelling(here, names[-1], seen)
    file = rooted.open_in(here, names)
    try:
        status = os.fstat(file)
        if (why := _why_not(file, status)) is not None:
            raise NotFit(why)
        yield file, status
    finally:
        os.close(file)


def check_spelling(here: int, name: str, seen: os.stat_result) -> None:
    """Raises NotFit if the disk has what was found under this name under another one."""
    other = name.translate(_OTHER_CASE)
    if other == name:
        return
    try:
        same = os.stat(other, dir_fd=here, follow_symlinks=False)
    except OSError:
        return
    if (same.st_dev, same.st_ino) == (seen.st_dev, seen.st_ino) and name not in os.listdir(here):
        raise NotFit("is written with other capitals on the disk")


def _why_not(file: int, status: os.stat_result) -> str | None:
    if status.st_nlink != 1:
        return "has more than one name (a hard link), and a change would part it from the others"
    if status.st_uid != os.geteuid():
        return "belongs to another account"
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID) or _CAPABILITY in _attributes(file):
        return "runs with the rights of another account (set-uid, set-gid or capabilities)"
    return None


def check_writable(status: os.stat_result) -> None:
    """Of a file or a folder. Who may write by the right of another account, or of none, is for the kernel to say."""
    if status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWUSR:
        raise NotFit("is read-only")


# -- what goes over


class Manner:
    """Permissions, group and attributes of a file, for another that takes its place."""

    def __init__(self, file: int, status: os.stat_result) -> None:
        self.mode = stat.S_IMODE(status.st_mode)
        self.group = status.st_gid
        wanted = [name for name in _attributes(file) if name.startswith("user.") or name == _ACL]
        self.attributes = {name: os.getxattr(file, name) for name in wanted}

    def give(self, file: int, mode: int | None) -> None:
        """To a draft. Raises NotFit if that cannot be done."""
        try:
            if os.fstat(file).st_gid != self.group:
                os.fchown(file, -1, self.group)
            os.fchmod(file, self.mode if mode is None else mode)
            for name, value in self.attributes.items():
                if name != _ACL or mode is None:
                    os.setxattr(file, name, value)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOTSUP):
                raise
            raise NotFit("has a group or attributes that could not be kept") from None


def _attributes(file: int) -> Sequence[str]:
    if not _HAS_ATTRIBUTES:
        return ()
    try:
        return os.listxattr(file)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOSYS, errno.EPERM):
            raise
        return ()
