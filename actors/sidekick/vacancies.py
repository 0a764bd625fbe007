"""Rooms in which nobody is, the longest forsaken first: whoever is first gives way when there is no room for another
room, or no memory for what is drawn in one.

All that is here is synchronous, and so is a room in all it does: it can be told to let go of its board at any moment
at which anybody else is at work.
"""

from collections.abc import Callable

from actors.kernel import AnyRef


class Vacancies:
    def __init__(self) -> None:
        self._rooms: dict[AnyRef, Callable[[], None]] = {}
        """What each does to give way; in the order in which they were forsaken."""

    def enter(self, room: AnyRef, give_way: Callable[[], None]) -> None:
        """Nobody is there any more. A room that has crashed meanwhile keeps its place."""
        self._rooms[room] = give_way

    def leave(self, room: AnyRef) -> None:
        self._rooms.pop(room, None)

    def give_way(self) -> AnyRef | None:
        """The longest forsaken one lets go of what it holds, and is about to end; None if there is none."""
        while self._rooms:
            room = next(iter(self._rooms))
            give_way = self._rooms.pop(room)
            if room.alive:
                give_way()
                return room
        return None
