"""One task that watches the sockets of many connections.

trio watches a socket for one task and one read: each time, the socket is registered with the kernel anew, and the task
is resumed through all that awaits in it. With a thousand connections that say little now and then, each of these tasks
has left the processor's caches when its turn comes, and a message cost up to 1.6 times as much as with ten connections.

So the sockets of a door are registered once, with a selector of the door's own, and one task waits for that. It calls a
function for each socket that has something, and the function reads it. The connection's own task is only resumed if the
function cannot deal with what has come.

Rules
  - The kernel reports a socket once for what comes, and not for as long as it is there. A function that does not read
    its socket empty has to remember that. And the end of a stream is no news any more when it came together with the
    last bytes, so a function is told whether the stream ends.
  - A socket is forgotten before it is closed, so its number cannot mean another one.
  - A function must not raise.
  - After `AT_ONCE` sockets, other tasks have their turn.

Only Linux has such selectors; elsewhere there is no lookout, and the tasks wait for their sockets themselves.
"""

import select
import sys
from collections.abc import Callable
from contextlib import suppress

import trio

AT_ONCE = 64
ENDS = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR if sys.platform == "linux" else 0


class Lookout:
    __slots__ = ("_calls", "_selector")

    def __init__(self) -> None:
        self._selector = select.epoll()
        self._calls: dict[int, Callable[[bool], None]] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def watch(self, number: int, call: Callable[[bool], None]) -> bool:
        """Call a function whenever something has come: with True if nothing can come after what is there now. False:
        the kernel watches no more sockets."""
        try:
            self._selector.register(number, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
        except (OSError, ValueError):
            return False
        self._calls[number] = call
        return True

    def forget(self, number: int) -> None:
        if self._calls.pop(number, None) is not None:
            with suppress(OSError, ValueError):
                self._selector.unregister(number)

    async def run(self) -> None:
        selector, calls = self._selector, self._calls
        try:
            while True:
                await trio.lowlevel.wait_readable(selector.fileno())
                for number, events in selector.poll(0, AT_ONCE):
                    call = calls.get(number)
                    if call is not None:  # it may have been closed by one of the others
                        call(events & ENDS != 0)
        finally:
            selector.close()


def lookout() -> Lookout | None:
    """None if this system has no such selectors."""
    return Lookout() if sys.platform == "linux" else None
