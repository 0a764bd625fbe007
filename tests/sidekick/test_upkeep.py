"""What a room reports to the boards' actor, which may have no room for it."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import trio
import trio.testing

from actors.kernel import MailboxFull
from actors.sidekick.board_messages import Pictured, Snapshot, Soiled, Stands
from actors.sidekick.scene import Scene
from actors.sidekick.upkeep import Upkeep


class Boards:
    """Of the boards' actor, its mailbox."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.has_room = trio.Event()

    def hand(self, message: object) -> None:
        if not self.has_room.is_set():
            raise MailboxFull
        self.heard.append(message)

    async def send(self, message: object) -> None:
        await self.has_room.wait()
        self.heard.append(message)


async def test_what_the_boards_have_no_room_for_is_told_in_order_and_of_each_kind_the_newest(
    autojump_clock: object,
) -> None:
    boards, now = Boards(), 1.0
    stage = SimpleNamespace(registry=SimpleNamespace(find=lambda key: boards))
    async with trio.open_nursery() as nursery:
        begun: list[Callable[[], Awaitable[None]]] = []

        def beside(task: Callable[[], Awaitable[None]]) -> None:
            begun.append(task)
            nursery.start_soon(task)

        upkeep = Upkeep("a", cast(Any, None), cast(Any, stage), lambda: now, beside)
        upkeep.soil()
        assert not upkeep.clean, "it is reported, though it is not heard yet"
        await trio.testing.wait_all_tasks_blocked()
        for now in (2.0, 3.0, 4.0):
            upkeep.drawn_at = now
            upkeep.picture(Scene(), ["hero"])
        assert upkeep.clean
        upkeep.soil(at_once=True)
        boards.has_room.set()
        await trio.testing.wait_all_tasks_blocked()
        newest = Pictured("a", Snapshot([], 4.0, ("hero",)))
        assert boards.heard == [Soiled("a"), newest, Soiled("a", at_once=True)]
        assert len(begun) == 1
        upkeep.picture(Scene(), None)
        upkeep.soil()
        assert boards.heard[-1] == Soiled("a")
        assert len(begun) == 1


def test_while_there_is_nobody_to_tell_each_change_reports_again() -> None:
    stage = SimpleNamespace(registry=SimpleNamespace(find=lambda key: None))
    upkeep = Upkeep("a", cast(Any, None), cast(Any, stage), lambda: 1.0, lambda task: None)
    upkeep.soil()
    assert upkeep.clean


def test_how_a_room_stands_is_told_when_it_is_news_and_again_if_nobody_heard_it() -> None:
    there: list[Boards] = []
    stage = SimpleNamespace(registry=SimpleNamespace(find=lambda key: there[0] if there else None))
    upkeep = Upkeep("a", cast(Any, None), cast(Any, stage), lambda: 1.0, lambda task: None)
    upkeep.tell(1, 0, None)
    boards = Boards()
    boards.has_room.set()
    there.append(boards)
    told = [(1, 0, None), (1, 1, None), (1, 1, 2.0), (1, 1, 3.0), (1, 0, 3.0), (1, 1, 3.0)]
    for scripts, pages, drawn_at in told:
        for _ in range(3):
            upkeep.tell(scripts, pages, drawn_at)
    assert boards.heard == [Stands(cast(Any, None), "a", *each) for each in told]
