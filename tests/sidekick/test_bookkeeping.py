"""Boards are packed in the server's own loop: however many there are, others have their turn."""

from typing import Any

from actors.sidekick.board_messages import Snapshot
from actors.sidekick.bookkeeping import REST_AFTER, Bookkeeping
from codec.sidekick.kept import KeptPart
from tests.others_turns import others_turns


async def test_many_small_boards_in_a_row_let_others_have_their_turn_and_a_lone_one_needs_none() -> None:
    nobody: Any = None
    books = Bookkeeping(nobody, lambda: "id")
    board = Snapshot([KeptPart("ann", (), [b'{"component":"label"}'])], 1.0, ("ann",))
    async with others_turns() as turns:
        size = (await books.bound("a", board)).size
        assert turns.taken == 0
        for _ in range(100):
            await books.bound("a", board)
        boards_in_a_turn = -(-REST_AFTER // size)
        assert abs(turns.taken - 101 // boards_in_a_turn) <= 1
        assert turns.taken > 1
