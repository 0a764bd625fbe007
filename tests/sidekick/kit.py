"""Clients of a real Sidekick port, with a raw socket each, and a pair that nothing may disturb."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import trio

from tests.house.running import Server
from tests.patience import PATIENCE
from tests.transports.house import PONG, TEXT, frame, read_until

Json = dict[str, Any]
UPGRADE = (
    "GET /?session={room} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PAGE = os.sysconf("SC_PAGESIZE")


def said(*messages: Json) -> bytes:
    return b"".join(frame(TEXT, json.dumps(message).encode()) for message in messages)


def announce(role: str, peer: str, version: str = "0.1.0") -> Json:
    payload = {"peerId": peer, "role": role, "status": "online", "version": version, "timestamp": 1}
    return {"id": 0, "component": "system", "type": "announce", "payload": payload}


def spawn(component: str, target: str, **payload: Any) -> Json:
    return {"id": 0, "component": component, "type": "spawn", "target": target, "payload": payload}


def update(component: str, target: str, action: str, **options: Any) -> Json:
    payload = {"action": action, "options": options}
    return {"id": 0, "component": component, "type": "update", "target": target, "payload": payload}


def resident_mib(house: Server) -> int:
    return int(Path(f"/proc/{house.process.pid}/statm").read_text().split()[1]) * PAGE >> 20


@asynccontextmanager
async def peer(house: Server, room: str) -> AsyncIterator[trio.SocketStream]:
    address = urlsplit(house.url_of("sidekick"))
    stream = await trio.open_tcp_stream(str(address.hostname), address.port or 0)
    try:
        await stream.send_all(UPGRADE.format(room=room, host=address.netloc).encode())
        assert b" 101 " in await read_until(stream, b"\r\n\r\n")
        yield stream
    finally:
        await trio.aclose_forcefully(stream)


class Bystanders:
    """A hero and a page of a room in which somebody misbehaves. The page speaks as the released one does: other
    heroes' mistakes are not shown to it."""

    def __init__(self, hero: trio.SocketStream, screen: trio.SocketStream) -> None:
        self._hero = hero
        self._screen = screen
        self._drawn = 0
        self._sending = trio.Lock()

    async def stay(self) -> None:
        """Give signs of life, as browsers and clients do in answer to pings, also while a test takes its time."""
        while True:
            async with self._sending:
                await self._hero.send_all(frame(PONG))
            await self._screen.send_all(frame(PONG))
            await trio.sleep(5)

    async def undisturbed(self) -> None:
        """What this hero draws comes to this page, at once, whole and in order; and the page hears of nothing else."""
        lines = [f"bystander {number};" for number in range(self._drawn, self._drawn + 20)]
        self._drawn += len(lines)
        drawing = said(*(update("console", "theirs", "append", text=line) for line in lines))
        async with self._sending:
            await self._hero.send_all(drawing)
        with trio.fail_after(PATIENCE):
            heard = await read_until(self._screen, lines[-1].encode() + b'"}}}')
        places = [heard.index(f'"{line}"'.encode()) for line in lines]
        assert places == sorted(places)
        assert heard.count(b"bystander") == len(lines)
        assert heard.count(b'"error"') == 0

    async def shown(self, text: bytes) -> None:
        await read_until(self._screen, text)


@asynccontextmanager
async def bystanders(house: Server, room: str) -> AsyncIterator[Bystanders]:
    async with peer(house, room) as hero, peer(house, room) as screen:
        await hero.send_all(said(announce("hero", "bystander-hero"), spawn("console", "theirs", showInput=False)))
        await read_until(hero, b'"online"')
        await screen.send_all(said(announce("sidekick", "bystander-screen", "0.0.8")))
        await read_until(screen, b'"theirs"')
        async with trio.open_nursery() as nursery:
            others = Bystanders(hero, screen)
            nursery.start_soon(others.stay)
            yield others
            nursery.cancel_scope.cancel()
