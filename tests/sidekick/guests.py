"""Peers of a real server, with nothing between the test and the wire but the WebSocket."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio
from trio_websocket import WebSocketConnection, open_websocket_url

from tests.house.running import Server
from tests.web.board_words import Message, announce

PATIENCE = 60


class Guest:
    def __init__(self, socket: WebSocketConnection) -> None:
        self.heard: list[Message] = []
        self._socket = socket

    async def say(self, *messages: Message) -> None:
        for message in messages:
            await self._socket.send_message(json.dumps(message))

    async def hear(self, enough: Callable[[list[Message]], Any]) -> list[Message]:
        """All that was heard, once it is enough."""
        with trio.fail_after(PATIENCE):
            while not enough(self.heard):
                self.heard.append(json.loads(await self._socket.get_message()))
        return self.heard


@asynccontextmanager
async def guest(house: Server, room: str, role: str, version: str = "0.1.0") -> AsyncIterator[Guest]:
    """Somebody who has announced himself, under his role's name."""
    url = house.url_of("sidekick").replace("http", "ws") + f"/?session={room}"
    async with open_websocket_url(url, max_message_size=32 << 20) as socket:
        made = Guest(socket)
        await made.say(announce(role, role=role, version=version))
        yield made


async def board(house: Server, room: str) -> list[Message]:
    """What a page that comes now is shown."""
    async with guest(house, room, "sidekick") as screen:
        await screen.hear(clears)
        await screen.say(announce("sidekick", role="sidekick", version="0.1.0"))  # again: the scene is whole by then
        heard = await screen.hear(lambda heard: len(clears(heard)) == 2)
        first, second = clears(heard)
        return [each for each in heard[first + 1 : second] if each["type"] != "announce"]


def clears(heard: list[Message]) -> list[int]:
    return [at for at, each in enumerate(heard) if each["type"] == "clearAll"]
