"""Turns: in a given order, so many at once, whoever comes first."""

from collections.abc import Sequence

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.judge.turns import Turns


class Stage:
    def __init__(self, turns: Turns, nursery: trio.Nursery) -> None:
        self.turns = turns
        self.nursery = nursery
        self.began: list[int] = []
        self.end = {number: trio.Event() for number in range(1, 10)}
        self.scopes: dict[int, trio.CancelScope] = {}

    async def come(self, *numbers: int) -> None:
        for number in numbers:
            self.nursery.start_soon(self._perform, number)
            await wait_all_tasks_blocked()

    async def _perform(self, number: int) -> None:
        with trio.CancelScope() as self.scopes[number]:
            async with self.turns.turn(number):
                self.began.append(number)
                await self.end[number].wait()

    async def ends(self, number: int) -> None:
        self.end[number].set()
        await wait_all_tasks_blocked()


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
async def test_they_begin_in_order_whoever_comes_first(order: Sequence[int]) -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(Turns(1, [1, 2, 3]), nursery)
        await stage.come(*order)
        assert stage.began == [1]
        await stage.ends(1)
        await stage.ends(2)
        assert stage.began == [1, 2, 3]
        nursery.cancel_scope.cancel()


async def test_so_many_are_on_at_once() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(Turns(2, [1, 2, 3, 4]), nursery)
        await stage.come(1, 2, 3, 4)
        assert stage.began == [1, 2]
        await stage.ends(2)
        assert stage.began == [1, 2, 3]
        nursery.cancel_scope.cancel()


async def test_one_that_does_not_come_is_not_waited_for_once_it_has_said_so() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(Turns(1, [1, 2, 3]), nursery)
        await stage.come(2, 3)
        assert stage.began == []
        stage.turns.forgo(1)
        await wait_all_tasks_blocked()
        assert stage.began == [2]
        stage.turns.forgo(2)  # it has had its turn: nothing changes
        await wait_all_tasks_blocked()
        assert stage.began == [2]
        nursery.cancel_scope.cancel()


async def test_one_that_is_cancelled_while_it_waits_or_is_on_makes_room() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(Turns(1, [1, 2, 3]), nursery)
        await stage.come(1, 2, 3)
        stage.scopes[2].cancel()
        await wait_all_tasks_blocked()
        assert stage.began == [1]
        stage.scopes[1].cancel()
        await wait_all_tasks_blocked()
        assert stage.began == [1, 3]
        nursery.cancel_scope.cancel()
