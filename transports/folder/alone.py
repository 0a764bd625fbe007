"""A folder in which one process at a time does something: a lock of the kernel's on the folder itself, which nobody
holds any more when its process has ended.

Whoever was stopped while he held it is waited for only for a moment where Linux tells that he is stopped, and otherwise
only so long. Then he is not heeded. Not every file system has locks; there nobody is waited for.

Everything here blocks: call it in a thread, or wait for no time.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STOPPED_SECONDS, STEP = 1.0, 0.002
LOOK_SECONDS = 0.02
"""Between two looks whether the holder is stopped. They read a table of all locks of the machine."""


@contextmanager
def alone(here: int, seconds: float = STOPPED_SECONDS) -> Iterator[bool]:
    """Whether nobody else is there, of those who ask; False: somebody is, and is stopped, or has been for so many
    seconds."""
    import fcntl  # not on Windows

    now = time.monotonic()
    until, look_at, is_alone = now + seconds, now + LOOK_SECONDS, True
    with suppress(OSError):
        while True:
            try:
                fcntl.flock(here, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                now = time.monotonic()
                is_alone = now < until
                if is_alone and now >= look_at:
                    is_alone = not holder_is_stopped(here)
                    look_at = now + LOOK_SECONDS
                if not is_alone:
                    break
                time.sleep(STEP)
            else:
                break
    try:
        yield is_alone
    finally:
        if is_alone:
            with suppress(OSError):
                fcntl.flock(here, fcntl.LOCK_UN)


def holder_is_stopped(here: int, proc: Path = Path("/proc")) -> bool:
    """As by SIGSTOP. False also where nobody knows: other systems, and other containers."""
    status = os.fstat(here)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with suppress(OSError):
        for line in (proc / "locks").read_text("ascii", "replace").splitlines():
            match line.split():
                case [_, "FLOCK", _, "WRITE", pid, where, *_] if where == place:
                    return b") T " in (proc / pid / "stat").read_bytes()
    return False
