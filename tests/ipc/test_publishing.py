"""Groups of requests on a disk that has room for some of them."""

from collections.abc import Collection, Mapping
from typing import Any, cast

import pytest
import trio

from actors.ipc.given import BaseFull, EntryStuck
from actors.ipc.publishing import Publishing
from actors.kernel.testing import run_in_virtual_time


class SmallDisk:
    def __init__(self, room: int) -> None:
        self.room = room
        self.there: list[str] = []
        self.trips = 0
        self.largest = 1 << 20

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        await trio.lowlevel.checkpoint()
        self.trips += 1
        if len(requests) > self.room or max(map(len, requests.values())) > self.largest:
            raise BaseFull("there is no room left")
        self.room -= len(requests)
        self.there += requests
        return {}


@pytest.mark.parametrize("room", [0, 1, 2, 37, 106, 149])
def test_as_many_are_published_as_there_is_room_for_and_the_others_as_soon_as_there_is_more(room: int) -> None:
    async def main() -> None:
        disk, ids = SmallDisk(room), [f"r{number:03}" for number in range(150)]
        publishing = Publishing(cast("Any", disk))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(publishing.serve)
            async with trio.open_nursery() as waiting:
                for each in ids:
                    waiting.start_soon(publishing.publish, each, b"")
                await trio.sleep(10.5)
                assert len(disk.there) == len(set(disk.there)) == room
                assert disk.trips < 150 + 12  # and one a second, from then on
                disk.room = 150
            assert sorted(disk.there) == ids
            nursery.cancel_scope.cancel()

    run_in_virtual_time(main)


def test_after_a_full_disk_groups_grow_again() -> None:
    async def main() -> None:
        disk = SmallDisk(1)
        publishing = Publishing(cast("Any", disk))
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


def test_a_large_request_that_finds_no_room_keeps_no_small_one_from_being_published() -> None:
    async def main() -> None:
        disk = SmallDisk(1_000)
        disk.largest = 10
        publishing = Publishing(cast("Any", disk))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(publishing.serve)
            nursery.start_soon(publishing.publish, "large", b"x" * 11)
            await trio.sleep(5.0)
            async with trio.open_nursery() as waiting:
                for each in range(100):
                    waiting.start_soon(publishing.publish, str(each), b"x")
            assert len(disk.there) == 100
            disk.largest = 11
            await trio.sleep(2.5)
            assert "large" in disk.there
            nursery.cancel_scope.cancel()

    run_in_virtual_time(main)
