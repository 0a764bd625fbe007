"""The actor of one connection to a room.

It gives the connection a name, a life and a place in the tree. Messages do not pass through it but go straight to the
room, because another actor on the way would cost every message another step.
"""

from actors.kernel import Actor, ActorRef, Down
from actors.sidekick.messages import Failed, Joined, Line, RoomMessage

ROLES = {"hero": "script", "screen": "page"}
"""The names for people."""


class Peer(Actor[Failed]):
    def __init__(self, room: ActorRef[RoomMessage], line: Line) -> None:
        self._room = room
        self._line = line
        self._part = ""

    @property
    def called(self) -> str:
        return f"{ROLES.get(self._part, 'peer')} {self._room.path.rpartition('/')[2]}"

    async def started(self, kept: object | None) -> None:
        self.note = f"in {self._room.path}"
        self.monitor(self._room)
        await self._room.send(Joined(self.ref, self._line, self._takes_part))

    def _takes_part(self, part: str) -> None:
        self._part = part

    async def handle(self, message: Failed) -> None:
        match message:
            case Failed(error):
                raise error
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        self.finish()
