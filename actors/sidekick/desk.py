"""The desk gives the port's peers their seats in rooms."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import trio

from actors.kernel import (
    ActorRef,
    AnyRef,
    AnySpec,
    Children,
    ChildSpec,
    Key,
    Mailbox,
    MailboxFull,
    NameTaken,
    Registry,
    Restart,
    TooManyChildren,
    crowd_spec,
)
from actors.sidekick.board_messages import WhichRooms
from actors.sidekick.boards import NAME as BOARDS
from actors.sidekick.messages import Failed, Heard, Line, RoomMessage
from actors.sidekick.peer import Peer
from actors.sidekick.room import Room
from actors.sidekick.scene import Reserve
from actors.sidekick.vacancies import Vacancies
from codec.sidekick.rooms import DEFAULT_ROOM, Rooms, encode_rooms

ROOMS = Key[Children[RoomMessage]]("sidekick/rooms")
PEERS = Key[Children[Failed]]("sidekick/peers")
BATCHES = 64
"""How many reads may wait in a room's mailbox. While it is full, the room's peers are not read."""

RESTORING_SECONDS = 30.0
"""How long a room may take to start. Its stored board may be large, and the disk slow."""
PATIENCE = 5.0

MOST_ROOMS = 2048
MOST_PEERS = 4096

LEAVING_SECONDS = 5.0
"""How long to wait until an empty room has ended and given its last picture."""


def crowd_specs(most_rooms: int = MOST_ROOMS) -> list[AnySpec]:
    """Two crowds: one actor for each room that has peers or had some a while ago, and one for each connection."""
    return [
        crowd_spec("rooms", name=ROOMS, max_children=most_rooms),
        crowd_spec("peers", name=PEERS, max_children=MOST_PEERS),
    ]


class Seat:
    """A peer's place in its room."""

    __slots__ = ("_peer", "_room")

    def __init__(self, room: ActorRef[RoomMessage], peer: AnyRef) -> None:
        self._room = room
        self._peer = peer

    def heard_at_once(self, texts: list[bytes]) -> bool:
        """Give the room what was read from the peer's socket. False: its mailbox is full, and it was not given."""
        try:
            self._room.hand(Heard(self._peer, texts))
        except MailboxFull:
            return False
        return True

    async def heard(self, texts: list[bytes]) -> None:
        """The same, but while the room's mailbox is full, this waits."""
        if not self.heard_at_once(texts):
            await self._room.send(Heard(self._peer, texts))


class SidekickDesk:
    def __init__(
        self,
        registry: Registry,
        new_id: Callable[[], str],
        version: str,
        wall: Callable[[], float],
        reserve: Reserve | None = None,
    ) -> None:
        """`reserve`: the memory that the boards of all rooms share."""
        self._registry = registry
        self._new_id = new_id
        self._vacancies = Vacancies()
        shared = reserve or Reserve()
        shared.make_room = self._vacancies.give_way
        self._make_room = partial(Room, version=version, wall=wall, reserve=shared, vacancies=self._vacancies)

    @asynccontextmanager
    async def attend(self, room: str, line: Line) -> AsyncIterator[Seat]:
        """A seat in a room, for as long as the block lasts. Raises a KernelError if there is none."""
        ref = await self._room(room)
        spec = ChildSpec(self._new_id(), lambda: Peer(ref, line), grace=1.0)
        async with self._registry.get(PEERS).lease(spec) as peer:
            yield Seat(ref, peer)

    async def rooms(self) -> bytes:
        """The list of rooms, as JSON."""
        rooms = await self._registry.get(BOARDS).ask(WhichRooms, timeout=PATIENCE)
        return encode_rooms(Rooms(rooms))

    async def _room(self, name: str) -> ActorRef[RoomMessage]:
        rooms = self._registry.get(ROOMS)
        id = name or DEFAULT_ROOM  # noqa: A001 - as in ChildSpec
        known = rooms.child(id)
        if known is not None:
            return known
        make = partial(self._make_room, id, lasting=id == DEFAULT_ROOM)
        spec = ChildSpec(
            id,
            make,
            restart=Restart.TRANSIENT,
            start_timeout=RESTORING_SECONDS,
            mailbox=partial(Mailbox, BATCHES),
            unread_is_lost=False,  # a room that makes way: its peers are told, and its last picture is given
        )
        while True:
            try:
                return await rooms.start_child(spec)
            except NameTaken:  # two peers came at the same time; the room runs already, or starts
                known = rooms.child(id)
                if known is None:
                    raise
                return known
            except TooManyChildren:
                forsaken = self._vacancies.give_way()
                if forsaken is None:
                    raise
                with trio.move_on_after(LEAVING_SECONDS):  # it does not end if a peer has just come to it
                    await forsaken.wait_stopped()
