"""The order in which the events of a session are numbered, kept and sent: a pure core, which knows no store.

Rules
  - Numbers rise by one. Each event gets the next one, wherever it comes from.
  - Events are sent in the order of their numbers. An event waits until it is kept. A token is sent before that, if its
    number is reserved: a kill may lose it, but its number is never given again. Whatever comes after an event that
    waits, waits too.
  - Events are kept in the order of their numbers, one commit after the other. A commit that has failed, or whose
    outcome is unknown, is tried again exactly as it was, before anything else.
  - Each commit says up to which number clients may see tokens before the next one. While no turn runs, that is the last
    number: then a kill leaves no hole. A commit that takes numbers back has taken them back from the moment at which it
    is made.

    last >= sent >= kept      last: given      sent: gone to the clients      kept: in the store
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from actors.agent.messages import LogEntry
from codec.agent.events import Token

BLOCK = 1000
"""So many numbers are reserved..."""
RENEW_BELOW = 500
"""...again, when there are fewer left."""


class Portion(Struct, frozen=True):
    """What one commit keeps."""

    entries: Sequence[LogEntry]
    reserved: int
    """After it, tokens up to this number may be sent before they are kept."""

    @property
    def last(self) -> int | None:
        return self.entries[-1].seq if self.entries else None


class Outflow:
    def __init__(self, last: int) -> None:
        """`last`: the last number that may have been given before."""
        self.last = last
        self.sent = last
        self.kept = last
        self.reserved = last
        self.waiting_bytes = 0
        """Of what is not kept yet."""
        self._unkept: deque[LogEntry] = deque()
        self._unsent: deque[LogEntry] = deque()
        self._portion: Portion | None = None
        """What is being kept."""
        self._urgent = 0
        """How many of those that are not in a commit yet are no tokens."""

    # -- numbering

    @property
    def next(self) -> int:
        return self.last + 1

    def add(self, entry: LogEntry) -> None:
        """An event with the next number."""
        assert entry.seq == self.next
        self.last = entry.seq
        self._unkept.append(entry)
        self._unsent.append(entry)
        self.waiting_bytes += len(entry.text)
        self._urgent += type(entry.event) is not Token

    # -- sending

    def to_send(self) -> list[LogEntry]:
        """What may be sent now, and counts as sent from now on."""
        found: list[LogEntry] = []
        unsent, kept, reserved = self._unsent, self.kept, self.reserved
        while unsent:
            entry = unsent[0]
            if entry.seq > kept and (entry.seq > reserved or type(entry.event) is not Token):
                break
            found.append(unsent.popleft())
        if found:
            self.sent = found[-1].seq
        return found

    @property
    def tail(self) -> list[LogEntry]:
        """What is sent and not kept."""
        return [entry for entry in self._unkept if entry.seq <= self.sent]

    # -- keeping

    @property
    def unkept(self) -> bool:
        return bool(self._unkept)

    @property
    def urgent(self) -> bool:
        """Whether something waits for a commit that cannot be sent without it."""
        return self._urgent > 0

    def needs_numbers(self) -> bool:
        """Whether a turn that runs should have more numbers reserved."""
        return self.reserved - self.last < RENEW_BELOW

    def portion(self, *, running: bool) -> Portion:
        """All that is not kept yet, for the next commit; there is none under way."""
        assert self._portion is None
        self._urgent = 0
        reserved = self.reserved
        if not running:
            reserved = self.last
        elif self.needs_numbers():
            reserved = self.last + BLOCK
        self.reserved = min(self.reserved, reserved)
        self._portion = Portion(tuple(self._unkept), reserved)
        return self._portion

    def done(self) -> None:
        """The portion is in the store."""
        portion, self._portion = self._portion, None
        assert portion is not None
        for entry in portion.entries:
            self._unkept.popleft()
            self.waiting_bytes -= len(entry.text)
        self.kept = portion.last or self.kept
        self.reserved = portion.reserved
