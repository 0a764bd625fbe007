"""What a room reports to the boards' actor, which may have no room for it."""

from types import SimpleNamespace
from typing import Any, cast

from actors.kernel import MailboxFull
from actors.sidekick.board_messages import Soiled
from actors.sidekick.upkeep import Upkeep


class Boards:
    """Of the boards' actor, its mailbox."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.is_full = True

    def hand(self, message: object) -> None:
        if self.is_full:
            raise MailboxFull
        self.heard.append(message)


def test_a_change_for_which_the_boards_have_no_room_is_reported_with_the_next_one() -> None:
    boards = Boards()
    stage = SimpleNamespace(registry=SimpleNamespace(find=lambda key: boards))
    upkeep = Upkeep("a", cast(Any, None), cast(Any, stage), lambda: 7.0)
    upkeep.soil()
    assert upkeep.clean, "the room reports what changes while it is clean"
    boards.is_full = False
    upkeep.soil()
    assert not upkeep.clean
    assert boards.heard == [Soiled("a", False)]
