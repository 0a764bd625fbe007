"""A file that a command makes for its user is there as a whole, or is as it was before.

It is written beside its place and then renamed into it, so neither a signal nor a full disk leaves half of it, or takes
what was there. What is no file, such as a pipe or /dev/stdout, is written to as it is, and so is a file whose folder
takes no new names. A link stays one, and its file is replaced.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

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
    draft = target.with_name(f".troupe-{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            if there is not None:
                os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, target)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if there is None or not isinstance(error, OSError) or error.errno not in _NO_NEW_NAMES:
            raise
        target.write_bytes(content)
