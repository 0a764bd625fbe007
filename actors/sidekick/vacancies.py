"""The list of empty rooms, the one that has been empty longest first. The first makes way when the limit of rooms or
the memory for drawings is reached.

Everything here is synchronous, and so is a room. So a room can be told to drop its board at any moment when other code
is running.
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
