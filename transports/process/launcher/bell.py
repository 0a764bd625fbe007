"""Rings when a child has ended. It can be polled together with sockets.

It is Python's own wakeup descriptor, because every system has it and because it also reports orphans, for which we have
no pidfd.
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
        """For use in a fork, which needs a bell of its own."""
        signal.set_wakeup_fd(-1)
        os.close(self._reads)
        os.close(self._writes)


def _nothing(signum: int, frame: object) -> None:
    pass
