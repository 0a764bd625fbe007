"""Boards are packed in the server's own loop: however many there are, others have their turn."""

from typing import Any

import trio

from actors.sidekick.board_messages import Snapshot
from actors.sidekick.bookkeeping import REST_AFTER, Bookkeeping
from codec.sidekick.kept import KeptPart


async def test_many_small_boards_in_a_row_let_others_have_their_turn_and_a_lone_one_needs_none() -> None:
    nobody: Any = None
    books = Bookkeeping(nobody, lambda: "id")
    board = Snapshot([KeptPart("ann", (), [b'{"component":"label"}'])], 1.0, ("ann",))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count)
        await trio.lowlevel.checkpoint()
        turns = 0
        size = (await books.bound("a", board)).size
        assert turns == 0
        for _ in range(100):
            await books.bound("a", board)
        boards_in_a_turn = -(-REST_AFTER // size)
        assert abs(turns - 101 // boards_in_a_turn) <= 1
        assert turns > 1
        nursery.cancel_scope.cancel()
