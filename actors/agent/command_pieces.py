"""The output of a command, on its way to a session: in pieces, not too many, and not without end.

    take        what the command says; it never waits, so it is gathered here
    pending     what has been gathered since: one piece for each stream, whatever number of writes it came in
    rest        at the end: how much was left out, and how it ended

Invariant: what is gathered is never more than what is still to be told, and the last characters of each stream.
"""

from codec.agent.action_events import StreamName

MOST_TOLD = 200_000
"""Characters, of both streams together, that are told as they come."""
LAST_TOLD = 4_000
"""Characters at the end of each stream that are told then, if there were more."""

StreamText = tuple[StreamName, str]


class CommandPieces:
    def __init__(self, most: int = MOST_TOLD, last: int = LAST_TOLD) -> None:
        self._left = most
        self._last = last
        self._gathered: dict[StreamName, list[str]] = {}
        self._untold: dict[StreamName, tuple[int, str]] = {}
        """How many characters were not told, and the last of them."""

    @property
    def waiting(self) -> bool:
        return bool(self._gathered)

    def take(self, stream: StreamName, text: str) -> None:
        now, later = text[: self._left], text[self._left :]
        if now:
            self._left -= len(now)
            self._gathered.setdefault(stream, []).append(now)
        if later:
            number, tail = self._untold.get(stream, (0, ""))
            self._untold[stream] = number + len(later), (tail + later[-self._last :])[-self._last :]

    def pending(self) -> list[StreamText]:
        gathered, self._gathered = self._gathered, {}
        return [(stream, "".join(texts)) for stream, texts in gathered.items()]

    def rest(self) -> list[StreamText]:
        untold, self._untold = self._untold, {}
        told = []
        for stream, (number, tail) in untold.items():
            missing = number - len(tail)
            gap = f"\n[... {missing:,} characters left out ...]\n" if missing else ""
            told.append((stream, gap + tail))
        return told
