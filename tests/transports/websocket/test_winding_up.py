"""A server that is going away tells everybody: also whoever was still on the way in when it said so."""

import pytest

from tests.transports.house import TEXT, frame, open_house, read_until
from tests.transports.websocket.test_fast_lane import Fast
from tests.transports.websocket.test_websocket import close_code

STOPPING = b"the server is stopping"


@pytest.mark.parametrize("lane", ["fast", "library"])
async def test_who_is_connected_and_who_comes_later_are_told_the_same(lane: str) -> None:
    handler = {"on_websocket": Fast()} if lane == "fast" else {}
    async with open_house(**handler) as house, await house.connect() as early:
        await early.send_all(house.upgrade() + frame(TEXT, b"hi"))
        await read_until(early, b"\x02hi")
        house.nursery.start_soon(house.door._websockets.wind_up)
        assert close_code(await read_until(early, STOPPING)) == 1001
        late = await house.exchange(house.upgrade())
        assert late.endswith(STOPPING)
        assert close_code(late) == 1001
