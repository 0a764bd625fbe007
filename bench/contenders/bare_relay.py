"""Ours without its actors: fast lanes and outboxes, and nothing between. So much costs a message before it is read."""

import sys
from collections import defaultdict
from urllib.parse import parse_qs

import trio

from transports.door.door import Door
from transports.http.application import Application
from transports.websocket.outbox import Outbox, frame
from transports.websocket.websocket import Upgrade
from transports.wire.limits import DoorLimits


async def main(port: int) -> None:
    rooms: defaultdict[str, set[Outbox]] = defaultdict(set)

    async def relay(upgrade: Upgrade) -> None:
        socket = await upgrade.accept_fast()
        room = rooms[parse_qs(upgrade.query).get("session", ["default"])[0]]
        room.add(socket.outbox)

        def take(batch: list[bytes]) -> bool:
            blob = b"".join(map(frame, batch))
            for outbox in room:
                if outbox is not socket.outbox:
                    outbox.offer(blob)
            return True

        try:
            while True:
                take(await socket.receive_batch(take))
        finally:
            room.discard(socket.outbox)

    await Door(
        app=Application("bare relay"), on_websocket=relay, port=port, limits=DoorLimits(connections=4096)
    ).serve()


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
