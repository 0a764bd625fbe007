"""How a request is cancelled where no client end is at work: its file moves from requests/ to cancelled/.

The client end that comes next reads there what it is to do no more, even if its journal has it
(actors/ipc/withdrawn.py). The move is one step. So at every moment the request either stands and goes on, or was
cancelled; and one that an editor has just taken cannot be cancelled.

Rules
  - A copy in submitted/ that is the very file in cancelled/ is what was cancelled. Another one is of a request that was
    submitted after that, and so is whatever stands in requests/.
  - A client end that comes waits for whoever is cancelling just now, and then reads what he has cancelled. So nobody
    cancels by himself what a client end has in hand.
"""

import errno
import os
import stat
from contextlib import suppress

from transports.folder.drafts import rename_new


def withdraw(name: str, there: int, notes: int) -> bool:
    """Whether it stood there. `notes`: cancelled/."""
    try:
        if not stat.S_ISREG(os.lstat(name, dir_fd=there).st_mode):
            raise OSError(errno.EINVAL, f"requests/{name} is no plain file")
        os.rename(name, name, src_dir_fd=there, dst_dir_fd=notes)
    except FileNotFoundError:
        return False
    return True


def give_back(name: str, there: int, notes: int) -> None:
    """It was answered meanwhile."""
    try:
        rename_new(name, name, notes, there)
    except FileExistsError:  # it was submitted anew
        os.unlink(name, dir_fd=notes)


def forget_copy(name: str, copies: int, notes: int) -> None:
    """If there is one, and it is not newer."""
    with suppress(FileNotFoundError):
        if os.path.samestat(os.lstat(name, dir_fd=copies), os.lstat(name, dir_fd=notes)):
            os.unlink(name, dir_fd=copies)
