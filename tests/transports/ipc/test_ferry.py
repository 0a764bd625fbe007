"""Calls share trips to the disk."""

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from transports.ipc.ferry import SHARE_SECONDS, SPELL_SECONDS, Ferry, NotShort


class Disk:
    """One that can be held up."""

    def __init__(self) -> None:
        self.trips: list[list[Any]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.left = trio.Event()
        self._token = trio.lowlevel.current_trio_token()

    def run(self, jobs: Sequence[Any]) -> list[Any]:
        self.trips.append(list(jobs))
        self._token.run_sync_soon(self.left.set)
        self.gate.wait()
        if "fault" in jobs:
            raise ZeroDivisionError
        return [ValueError(job) if job == "refused" else job for job in jobs]

    def ferry(self, *, most: int = 100, patience: float = 30.0) -> Ferry[Any]:
        return Ferry(
            self.run, "a ferry", most=most, patience=patience, hangs=lambda: OSError("hangs"), after=lambda: None
        )


async def test_who_comes_while_a_trip_is_under_way_rides_in_the_next() -> None:
    disk = Disk()
    ferry = disk.ferry(most=3)
    disk.gate.clear()
    answers: list[Any] = []

    async def ride(job: object) -> None:
        answers.append(await ferry.ride(job))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ride, 0)
        await disk.left.wait()
        for number in range(1, 6):
            nursery.start_soon(ride, number)
        await trio.testing.wait_all_tasks_blocked()
        disk.gate.set()
    assert [len(trip) for trip in disk.trips] == [1, 3, 2]
    assert sorted(answers) == [0, 1, 2, 3, 4, 5]


async def test_who_is_cancelled_hurts_nobody_before_or_during_the_trip() -> None:
    disk = Disk()
    ferry = disk.ferry()
    disk.gate.clear()
    during, before = trio.CancelScope(), trio.CancelScope()

    async def ride(job: str, scope: trio.CancelScope) -> None:
        with scope:
            await ferry.ride(job)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ride, "during", during)
        await disk.left.wait()
        nursery.start_soon(ride, "before", before)
        nursery.start_soon(ferry.ride, "stays")
        await trio.testing.wait_all_tasks_blocked()
        during.cancel()
        before.cancel()
        await trio.testing.wait_all_tasks_blocked()
        disk.gate.set()
    assert disk.trips == [["during"], ["stays"]]
    assert (during.cancelled_caught, before.cancelled_caught) == (True, True)


async def test_an_answer_that_is_an_error_is_its_asker_s_alone() -> None:
    ferry = Disk().ferry()

    async def refused() -> None:
        with pytest.raises(ValueError, match="refused"):
            await ferry.ride("refused")

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(refused)
            nursery.start_soon(ferry.ride, "good")


async def test_a_fault_is_told_to_who_rode_and_the_ferry_goes_on() -> None:
    ferry = Disk().ferry()
    with pytest.raises(ZeroDivisionError):
        await ferry.ride("fault")
    assert await ferry.ride("good") == "good"


async def test_nobody_waits_for_ever_for_a_disk_that_hangs() -> None:
    disk = Disk()
    ferry = disk.ferry(patience=0.02)
    disk.gate.clear()
    for job in ("hangs", "waits behind it"):
        with pytest.raises(OSError, match="hangs"):
            await ferry.ride(job)
    disk.gate.set()
    while len(disk.trips) < 2:
        try:
            assert await ferry.ride("good") == "good"
        except OSError:
            continue
    assert ["waits behind it"] not in disk.trips


class Here(Disk):
    """One in which nothing waits for a device, with a clock of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 100.0
        self.takes = 0.0
        self.threads: list[int] = []

    def run(self, jobs: Sequence[Any]) -> list[Any]:
        self.threads.append(threading.get_ident())
        self.seconds += self.takes
        if "long" in jobs:
            raise NotShort
        return super().run(jobs)

    def near(self) -> Ferry[Any]:
        return Ferry(
            self.run,
            "a ferry",
            most=100,
            patience=30.0,
            hangs=lambda: OSError("hangs"),
            after=lambda: None,
            near=lambda: True,
            now=lambda: self.seconds,
        )

    @property
    def were_here(self) -> list[bool]:
        return [thread == threading.get_ident() for thread in self.threads]


async def test_near_by_short_calls_are_made_in_the_loop_and_others_ride() -> None:
    disk = Here()
    ferry = disk.near()
    assert await ferry.ride("one", short="one") == "one"
    assert await ferry.ride("two") == "two"
    assert await ferry.ride("three", short="long") == "three"
    with pytest.raises(ValueError, match="refused"):
        await ferry.ride("refused", short="refused")
    assert disk.were_here == [True, False, True, False, True]


async def test_of_the_loops_time_such_calls_take_a_part_only() -> None:
    disk = Here()
    ferry = disk.near()
    disk.takes = 0.6 * SHARE_SECONDS
    for _ in range(4):
        await ferry.ride("call", short="call")
    disk.seconds += SPELL_SECONDS
    await ferry.ride("call", short="call")
    assert disk.were_here == [True, True, False, False, True]


async def test_no_call_overtakes_a_trip_that_is_under_way() -> None:
    disk = Here()
    ferry = disk.near()
    disk.gate.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ferry.ride, "first")
        await disk.left.wait()
        nursery.start_soon(partial(ferry.ride, "second", short="second"))
        await trio.testing.wait_all_tasks_blocked()
        disk.gate.set()
    assert disk.trips == [["first"], ["second"]]
    assert disk.were_here == [False, False]


async def test_a_call_in_the_loop_that_is_cancelled_is_not_made() -> None:
    disk = Here()
    ferry = disk.near()
    with trio.CancelScope() as scope:
        scope.cancel()
        await ferry.ride("call", short="call")
    assert scope.cancelled_caught
    assert disk.trips == []
