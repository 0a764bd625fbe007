"""A place for a stranger is free again as soon as the stranger has been told."""

from tests.accounts import NOBODY
from tests.transports.house import open_house, read_all
from tests.transports.wire.test_account import Fake
from transports.wire.limits import DoorLimits


async def test_any_number_of_strangers_are_told_one_after_another() -> None:
    limits = DoorLimits(connections=1, strangers=2, linger_seconds=5)
    async with open_house(kernel=lambda: Fake(NOBODY), limits=limits) as house:
        for _ in range(8):
            async with await house.connect() as stream:
                await stream.send_eof()
                assert (await read_all(stream)).startswith(b"HTTP/1.1 403 ")
        assert house.door.statistics().strangers == 8
