"""What has still to be sent to a client: a pure, bounded store of messages in their order.

Events that come faster than the client reads are held up to a limit. Beyond it the client is behind: these events are
dropped, and so is every event that comes before the client has begun to read again from the store. Of session.state
only the newest matters; of answers to the client's own messages only some are held.
"""

from collections import deque

from actors.agent.messages import LogEntry, ShowState
from codec.agent.events import ServerMessage

MOST_ENTRIES = 5000
MOST_BYTES = 2 << 20
MOST_ANSWERS = 256

Held = LogEntry | ShowState | ServerMessage


class Holding:
    def __init__(self) -> None:
        self.behind = True
        """Events are missing, which are to be read from the store."""
        self._items: deque[Held] = deque()
        self._entries = 0
        self._bytes = 0
        self._answers = 0

    def __len__(self) -> int:
        return len(self._items)

    def event(self, entry: LogEntry) -> None:
        if self.behind:
            return
        if self._entries >= MOST_ENTRIES or self._bytes + len(entry.text) > MOST_BYTES:
            self.fall_behind()
            return
        self._entries += 1
        self._bytes += len(entry.text)
        self._items.append(entry)

    def state(self, shown: ShowState) -> None:
        if self._items and type(self._items[-1]) is ShowState:
            self._items.pop()
        self._items.append(shown)

    def answer(self, message: ServerMessage) -> None:
        """An answer for this client alone."""
        if self._answers < MOST_ANSWERS:
            self._answers += 1
            self._items.append(message)

    def fall_behind(self) -> None:
        """The events are dropped, and of the states all but the newest."""
        self.behind = True
        states = [item for item in self._items if type(item) is ShowState][-1:]
        answers = [item for item in self._items if type(item) not in (ShowState, LogEntry)]
        self._items = deque((*answers, *states))
        self._entries = self._bytes = 0

    def begin_again(self) -> None:
        """Whatever is delivered from now on is held again."""
        self.behind = False

    def take(self) -> list[Held]:
        """All that is held. If events are missing, their place is before all of it."""
        items = list(self._items)
        self._items.clear()
        self._entries = self._bytes = self._answers = 0
        return items
