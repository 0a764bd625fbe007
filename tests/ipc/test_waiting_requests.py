"""Requests that wait for their turn: what is in memory of them, and what becomes of one that is gone when it comes."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import trio
from trio.testing import MockClock

from actors.ipc import lineup
from actors.ipc.dossier import Dossier, opened
from actors.ipc.flights import Flights
from actors.ipc.given import BothFiles, Tray
from actors.ipc.handlers import KnownCommand
from actors.ipc.lineup import Lineup
from codec.ipc import Request
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import serving, state_directory

FILES = BothFiles(None, None, None)


def dossier(id: str, size: int = 100) -> Dossier:  # noqa: A002
    return opened(Request(id=id, command="ping"), b"x" * size, 1.0, "submitted")


@pytest.mark.parametrize(("second", "is_near"), [(100, True), (101, False)])
def test_of_waiting_requests_so_many_bytes_are_in_memory(
    monkeypatch: pytest.MonkeyPatch, second: int, is_near: bool
) -> None:
    monkeypatch.setattr(lineup, "NEAR_BYTES", 300)
    waiting, first, other = Lineup(), dossier("a", 200), dossier("b", second)
    for each in (first, first, other):
        waiting.add(each, FILES)
    assert len(waiting) == 2
    assert waiting.at_hand("b") == ((other, FILES) if is_near else (None, None))
    waiting.add(other)
    waiting.is_later("a")
    assert waiting.at_hand("a") == (first, None), "its files are looked at again"
    assert waiting.at_hand("a") == (None, None), "and is not any more"
    for _ in range(9):
        waiting.add(first, FILES)
        waiting.discard("a")
    assert "a" not in waiting
    waiting.add(dossier("c", 300 - second * is_near), FILES)
    assert waiting.at_hand("c")[0] is not None, "what was let go has made room"


async def test_of_a_request_that_is_not_open_when_its_turn_comes_the_books_are_told() -> None:
    beside = list[Any]()
    journal = SimpleNamespace(find_open=AsyncMock(return_value=None))
    means: Any = SimpleNamespace(wall=lambda: 5.0, terms=SimpleNamespace(most_in_flight=1), journal=journal)
    room, none, nobody = Mock(), Mock(), Mock()
    flights = Flights(means, nobody, lambda *call: beside.append(call), nobody, room, none)
    for id in ("a", "b"):  # noqa: A001
        flights.lineup.add_row(dossier(id))
    for id in ("a", "b"):  # noqa: A001
        assert flights.fill_up() is None
        assert (len(flights), flights.full) == (1, True)
        (call,) = beside
        start, *given = call
        await start(*given)
        none.assert_called_with(id)
        assert len(flights) == 0
        beside.clear()
    assert (room.call_count, none.call_count) == (2, 2)


async def test_what_is_taken_away_or_answered_before_its_turn_waits_no_longer(autojump_clock: MockClock) -> None:
    base, held = PaperBase(), trio.Event()

    async def hold(params: Any, context: Any) -> Any:
        await held.wait()
        return {}

    with state_directory() as directory:
        async with serving(base, directory, [KnownCommand("hold", hold)], concurrency=1) as (desk, house):
            for name in ("r0", "r1", "r2", "r3"):
                desk.put(name, "hold")
                await trio.sleep(1)
            end = house["server/end"]
            assert end.statistics().note == "1 in hand, 3 wait"
            base.foreign_drop(Tray.REQUESTS, "r1")
            await trio.sleep(1)
            assert end.statistics().note == "1 in hand, 2 wait"
            held.set()
            await desk.success("r3")
            await trio.sleep(5)
            assert end.statistics().note == "0 in hand, 0 wait"
            assert desk.answered() == {"r0", "r2", "r3"}
