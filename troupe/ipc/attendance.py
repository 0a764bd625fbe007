"""Who is at the desk: what the locks in state/ say."""

import os
import re
import time
from contextlib import suppress
from typing import NamedTuple

from codec.ipc import Dialect
from transports.folder.drafts import lives
from troupe.ipc.visits import READ

FRESH_SECONDS = 60.0
"""An editor writes its lock every 15 seconds."""
_PID = re.compile(rb"[1-9][0-9]{0,8}")


class Attendance(NamedTuple):
    """Who is at the desk."""

    server: bool
    """Somebody answers requests: our server end, or an editor."""
    client: bool
    """Somebody tries again what has failed."""


def attendance(state: int) -> Attendance:
    names = os.listdir(state)
    locks = [name for name in names if name.startswith("ws.") and name.endswith(".lock")]
    editor = any(_is_fresh(name, state) for name in locks)
    server, client = (holder(name, state) is not None for name in ("server.lock", "client.lock"))
    return Attendance(editor or server, client)


def dialect(state: int) -> Dialect | None:
    """The one that the last end has left in its lock; None: nobody knows."""
    for name in ("client.lock", "server.lock"):
        with suppress(OSError):
            file = os.open(name, READ, dir_fd=state)
            try:
                words = os.read(file, 64).decode("ascii", "replace").split()
            finally:
                os.close(file)
            return next((each for each in (Dialect.SPEC, Dialect.HEAD) if each.value in words), None)
    return None


def holder(name: str, here: int) -> int | None:
    """The process that holds it; None: there is none that lives. The lock itself is tried only where the process in it
    seems to live, for to try it is to hold it for a moment, and then the server would be refused that is just
    starting."""
    import fcntl  # not on Windows

    with suppress(OSError):
        file = os.open(name, READ, dir_fd=here)
        pid = None
        try:
            pid = _PID.match(os.read(file, 64))
            if pid is None or not lives(int(pid[0])):
                return None
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(pid[0]) if pid else None
        finally:
            os.close(file)
    return None


def _is_fresh(name: str, here: int) -> bool:
    with suppress(OSError):
        file = os.open(name, READ, dir_fd=here)
        try:
            pid = _PID.search(os.read(file, 4096))
            return pid is not None and time.time() - os.fstat(file).st_mtime < FRESH_SECONDS and lives(int(pid[0]))
        finally:
            os.close(file)
    return False
