"""A visit to a room, as a hero or a screen makes one."""

from contextlib import AbstractAsyncContextManager
from urllib.parse import urlencode

from transports.websocket.client import Visit, visiting


def visit(url: str, room: str) -> AbstractAsyncContextManager[Visit]:
    """A connection to a room of the server at `url`, such as http://127.0.0.1:5163; "" is the default room."""
    return visiting(url, f"/?{urlencode({'session': room})}" if room else "/", "room")
