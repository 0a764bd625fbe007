"""The list of empty rooms, the one that has been empty longest first. The first makes way when the limit of rooms or
the memory for drawings is reached. A new room is not on the list before a peer has come to it and left.

Everything here is synchronous, and a room's work on its board is, too. So whenever other code runs, a room can be told
to drop its board.
"""

from collections.abc import Callable

from actors.kernel import AnyRef


class Vacancies:
    def __init__(self) -> None:
        self._rooms: dict[AnyRef, Callable[[], None]] = {}
        """The callback that makes each room give way, in the order in which the rooms became empty."""

    def enter(self, room: AnyRef, give_way: Callable[[], None]) -> None:
        """A room has become empty. A room that is on the list already (it has crashed meanwhile) keeps its position."""
        self._rooms[room] = give_way

    def leave(self, room: AnyRef) -> None:
        self._rooms.pop(room, None)

    def give_way(self) -> AnyRef | None:
        """Make the room that has been empty longest drop its board and end. Returns that room, or None if there is
        none."""
        while self._rooms:
            room = next(iter(self._rooms))
            give_way = self._rooms.pop(room)
            if room.alive:
                give_way()
                return room
        return None
