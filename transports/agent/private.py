"""Files that this account alone can read: a token, a key."""

import os
import secrets
import stat
from pathlib import Path

LONGEST = 65_536

AUTHORITY = "agent-ca.pem"
"""The certificate that clients are told to trust; the one of these files that everybody may read."""


def read_private(path: Path) -> bytes | None:
    """None: there is none, or it is none that only this account could have read. Raises OSError, also for a link."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError(0, "it is not a file of this account")
        return None if status.st_mode & 0o077 else opened.read(LONGEST)


def write_private(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replaces the file, and the link if it is one. It is on the disk when this returns."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
