"""A file that a command makes for its user is there as a whole, or is as it was before.

It is written beside its place and then renamed into it, so neither a signal nor a full disk leaves half of it, or takes
what was there. What is no file, such as a pipe or /dev/stdout, is written to as it is, and so is a file whose folder
takes no new names. A link stays one, and its file is replaced.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NO_NEW_NAMES = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def write_whole(path: Path, content: bytes) -> None:
    """Raises an OSError that is about this path."""
    target = Path(os.path.realpath(path))
    try:
        there = path.stat()
    except FileNotFoundError:
        there = None
    if there is not None and not (stat.S_ISREG(there.st_mode) and target.exists() and target.samefile(path)):
        path.write_bytes(content)
        return
    try:
        with drafted(target) as file:
            if there is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if there is None or error.errno not in _NO_NEW_NAMES:
            raise
        target.write_bytes(content)


@contextmanager
def drafted(target: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file beside `target` that takes its place at the end of the block, or is gone if that fails. `mode`: without
    what the process's umask takes away."""
    draft = target.with_name(f".troupe-{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
