"""Rings when a child has ended: something to poll beside sockets.

Python's own wakeup descriptor, because it is everywhere, and because it tells of orphans too, of which nobody has a
pidfd.
"""

import os
import signal
from contextlib import suppress


class Bell:
    def __init__(self) -> None:
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)  # the wakeup descriptor is only written to if there is a handler

    def fileno(self) -> int:
        return self._reads

    def silence(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._reads, 4096)

    def close(self) -> None:
        """In a fork, which needs one of its own."""
        signal.set_wakeup_fd(-1)
        os.close(self._reads)
        os.close(self._writes)


def _nothing(signum: int, frame: object) -> None:
    pass
