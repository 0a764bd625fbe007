"""What the boards do while rooms are slow, gone or drawn oddly: with rooms that the test plays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from actors.kernel import ActorRef, ChildSpec
from actors.kernel.testing import Puppet, staged
from actors.sidekick.board_messages import Keep, Pictured, Snapshot, Soiled, Stands
from actors.sidekick.boards import KEEP_AFTER, PATIENCE, boards_spec
from actors.sidekick.bookkeeping import Bookkeeping
from actors.store import STORE, Inline, StateDirectory, Store, StoreClient
from codec.sidekick.kept import KeptPart

FRAME = b'{"type":"spawn","component":"grid","target":"g","src":"h","payload":{}}'
SNAPSHOT = Snapshot([KeptPart(None, (), [FRAME])], 1e9, ())


class Played:
    """The boards, rooms, and what is stored when."""

    def __init__(self, house: Any, rooms: dict[str, Puppet]) -> None:
        self.boards: ActorRef[Any] = house["boards"]
        self.rooms = rooms
        self._store = StoreClient(house.stage.registry.get(STORE))

    async def kept(self) -> set[str]:
        return {name for name, _ in await self._store.keys("sidekick/board")}

    async def drawn_on(self, *names: str) -> None:
        for name in names:
            await self.boards.send(Stands(self.rooms[name].ref, name, 1, 0, 1e9))
        for name in names:
            await self.boards.send(Soiled(name))
        await trio.sleep(KEEP_AFTER)


@asynccontextmanager
async def played(folder: Path, *names: str) -> AsyncIterator[Played]:
    rooms = {name: Puppet(name) for name in names}
    with StateDirectory.claim(folder) as directory:
        store = ChildSpec("store", partial(Store, directory, Inline))
        boards = boards_spec(86_400.0, lambda: 1e9 + trio.current_time())
        async with staged(store, boards, *(room.spec() for room in rooms.values())) as house:
            await trio.testing.wait_all_tasks_blocked()
            yield Played(house, rooms)


async def test_boards_that_are_drawn_on_together_are_written_together(autojump_clock: object, tmp_path: Path) -> None:
    names = ("a", "b", "c")
    async with played(tmp_path / "s", *names) as here:
        await here.drawn_on(*names)
        for name in names:
            assert await here.kept() == set()
            await here.boards.send(Pictured(name, SNAPSHOT))
            await trio.sleep(0.1)
        assert await here.kept() == set(names)


async def test_a_picture_that_comes_when_nobody_waits_for_it_any_more_is_kept_all_the_same(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with played(tmp_path / "s", "slow") as here:
        await here.drawn_on("slow")
        await trio.sleep(2 * PATIENCE)
        assert await here.kept() == set()
        await here.boards.send(Pictured("slow", SNAPSHOT))
        await trio.sleep(0.1)
        assert await here.kept() == {"slow"}


async def test_what_is_drawn_after_a_picture_that_nobody_waits_for_any_more_is_kept_too(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with played(tmp_path / "s", "slow") as here:
        await here.drawn_on("slow")
        await trio.sleep(2 * PATIENCE)
        asked = len(here.rooms["slow"].messages)
        here.boards.tell(Pictured("slow", SNAPSHOT))
        here.boards.tell(Soiled("slow"))
        await trio.sleep(0.1)
        assert await here.kept() == {"slow"}
        await trio.sleep(KEEP_AFTER)
        assert len(here.rooms["slow"].messages) == asked + 1


async def test_a_room_that_ends_while_it_is_asked_for_a_picture_holds_up_no_other(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with played(tmp_path / "s", "gone", "good") as here:
        await here.drawn_on("gone", "good")
        await here.boards.send(Pictured("good", SNAPSHOT))
        await trio.sleep(0.5)
        assert await here.kept() == set()
        await here.rooms["gone"].ref.stop()
        await trio.sleep(0.5)
        assert await here.kept() == {"good"}


async def test_whoever_leaves_a_board_that_cannot_be_written_is_told_at_once_and_the_others_are_kept(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = Bookkeeping.bound

    async def odd(books: Bookkeeping, name: str, snapshot: Snapshot) -> Any:
        if name == "odd":
            raise ZeroDivisionError("our own mistake")
        return await bound(books, name, snapshot)

    monkeypatch.setattr(Bookkeeping, "bound", odd)
    async with played(tmp_path / "s") as here:
        with trio.fail_after(1):
            with pytest.raises(ZeroDivisionError):
                await here.boards.ask(partial(Keep, "odd", SNAPSHOT), timeout=60)
            await here.boards.ask(partial(Keep, "good", SNAPSHOT), timeout=60)
        assert await here.kept() == {"good"}
