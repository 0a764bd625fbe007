"""Those who follow a status. Each follower tells which status it has seen last, and is answered with the next other
one, or after a while with the same, so that nobody waits for ever on a connection that is gone.

When too many follow, one more is refused. An answer before its time to one of those that wait would bring that one back
at once, and so on round all of them, without an end.
"""

from collections.abc import Callable
from functools import partial

from actors.kernel import KernelError, Reply, Timer
from codec.agent.workspaces import IndexStatus

FOLLOW_SECONDS = 25.0
MOST = 256


class TooManyFollow(KernelError):
    told = f"{MOST} connections follow this index already; close one, or ask for its status"


class Followers:
    def __init__(self, over_later: Callable[[Reply[IndexStatus]], Timer]) -> None:
        """`over_later`: has `over` called with this reply after FOLLOW_SECONDS."""
        self._over_later = over_later
        self._waiting: dict[Reply[IndexStatus], Timer] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def follow(self, seen: IndexStatus | None, shown: IndexStatus, reply: Reply[IndexStatus]) -> None:
        if seen != shown:
            reply.set(shown)
            return
        if len(self._waiting) >= MOST:
            reply.fail(TooManyFollow())
            return
        self._waiting[reply] = self._over_later(reply)
        reply.on_abandon(partial(self._forget, reply))

    def show(self, status: IndexStatus) -> None:
        for reply in list(self._waiting):
            self.over(reply, status)

    def over(self, reply: Reply[IndexStatus], shown: IndexStatus) -> None:
        if reply in self._waiting:
            self._forget(reply)
            if reply.wanted:
                reply.set(shown)

    def _forget(self, reply: Reply[IndexStatus]) -> None:
        timer = self._waiting.pop(reply, None)
        if timer is not None:
            timer.cancel()
