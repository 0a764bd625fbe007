"""Of a message that is refused nothing is held while the refusal is on its way, which a slow peer may draw out."""

import pytest
from wsproto.events import CloseConnection, Event

from tests.transports.house import CONTINUATION, TEXT, frame, open_house
from tests.transports.websocket.test_websocket import close_code
from transports.websocket.library import Mended
from transports.wire.limits import DoorLimits, WebSocketLimits


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"x" * 600, final=False) + frame(CONTINUATION, b"x" * 401), 1009),
        (frame(TEXT, b"x", final=False) + frame(CONTINUATION, b"x", final=False) * 20, 1008),
    ],
)
async def test_nothing_is_held_of_what_was_refused(monkeypatch: pytest.MonkeyPatch, sent: bytes, code: int) -> None:
    held: list[int] = []
    send = Mended._send

    async def noted(connection: Mended, event: Event) -> None:
        if isinstance(event, CloseConnection):
            held.append(len(connection._message))
        await send(connection, event)

    monkeypatch.setattr(Mended, "_send", noted)
    limits = WebSocketLimits(message_bytes=1000, fragments=8, close_seconds=0.5)
    async with open_house(limits=DoorLimits(websocket=limits)) as house:
        assert close_code(await house.exchange(house.upgrade() + sent)) == code
    assert held[0] == 0
