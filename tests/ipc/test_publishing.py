"""Groups of requests on a disk that has room for some of them."""

from collections.abc import Mapping
from typing import Any, cast

import pytest
import trio

from actors.ipc.given import BaseFull
from actors.ipc.publishing import Publishing
from actors.kernel.testing import run_in_virtual_time


class SmallDisk:
    def __init__(self, room: int) -> None:
        self.room = room
        self.there: list[str] = []
        self.trips = 0

    async def publish(self, requests: Mapping[str, bytes]) -> Mapping[str, str]:
        await trio.lowlevel.checkpoint()
        self.trips += 1
        if len(requests) > self.room:
            raise BaseFull("there is no room left")
        self.room -= len(requests)
        self.there += requests
        return {}


@pytest.mark.parametrize("room", [0, 1, 2, 37, 106, 149])
def test_as_many_are_published_as_there_is_room_for_and_the_others_as_soon_as_there_is_more(room: int) -> None:
    async def main() -> None:
        disk, ids, told = SmallDisk(room), [f"r{number:03}" for number in range(150)], list[Exception | None]()
        publishing = Publishing(cast("Any", disk), told.append)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(publishing.serve)
            async with trio.open_nursery() as waiting:
                for each in ids:
                    waiting.start_soon(publishing.publish, each, b"")
                await trio.sleep(10.5)
                assert len(disk.there) == len(set(disk.there)) == room
                assert isinstance(told[-1], BaseFull)
                assert disk.trips < 150 + 12  # and one a second, from then on
                disk.room = 150
            assert sorted(disk.there) == ids
            assert told[-1] is None
            nursery.cancel_scope.cancel()

    run_in_virtual_time(main)


def test_after_a_full_disk_groups_grow_again() -> None:
    async def main() -> None:
        disk = SmallDisk(1)
        publishing = Publishing(cast("Any", disk), lambda _: None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(publishing.serve)
            async with trio.open_nursery() as waiting:
                for each in range(1_000):
                    waiting.start_soon(publishing.publish, str(each), b"")
                await trio.sleep(5.5)
                disk.room, disk.trips = 1_000, 0
            assert disk.trips <= 11
            nursery.cancel_scope.cancel()

    run_in_virtual_time(main)
