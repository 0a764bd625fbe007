"""What boards are granted of the memory that all share: to the last byte, and not one more."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.sidekick.scene.limits import Budget, Limits, Reserve

TOTAL = 100
STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "use", "back"]), st.integers(0, 2), st.integers(0, 120), st.integers(0, 120)),
    max_size=30,
)


@pytest.mark.parametrize(
    ("least", "most", "granted"),
    [(60, 60, 60), (60, 80, 80), (100, 100, 100), (100, 200, 100), (99, 200, 100), (101, 200, 0), (0, 0, 0)],
)
def test_a_board_is_granted_what_it_needs_up_to_all_there_is(least: int, most: int, granted: int) -> None:
    assert Reserve(TOTAL).grant(least, most) == granted


@given(STEPS)
@example([("ask", 0, 60, 60), ("ask", 1, 40, 40)])
@example([("ask", 0, 60, 60), ("use", 0, 60, 0), ("ask", 1, 41, 41)])
@example([("ask", 0, 100, 100), ("use", 0, 30, 0), ("ask", 1, 70, 90)])
def test_what_is_granted_is_all_that_may_be(steps: list[tuple[str, int, int, int]]) -> None:
    """By a model: a board that needs at least so much has it when the others' use leaves as much."""
    reserve = Reserve(TOTAL)
    boards = [Budget(Limits(), reserve) for _ in range(3)]
    for what, number, one, other in steps:
        board = boards[number]
        match what:
            case "ask":
                least, most = sorted((one, other))
                used = sum(each.spent for each in boards)
                unused = sum(each.left for each in boards)
                free = TOTAL - used - unused
                granted = reserve.grant(least, most)
                if least <= free:
                    assert granted == min(most, free)
                elif least <= free + unused:
                    assert granted == min(most, free + unused)
                    assert all(each.left == 0 for each in boards)
                else:
                    assert granted == 0
                board.granted += granted
                board.left += granted
            case "use":
                board.left -= min(one, board.left)
            case "back":
                board.give_back()
        assert sum(each.granted for each in boards) <= TOTAL
        assert all(each.left >= 0 and each.spent >= 0 for each in boards)


def test_boards_that_nobody_looks_at_give_way_until_there_is_enough_and_no_further() -> None:
    reserve = Reserve(TOTAL)
    forsaken = [Budget(Limits(), reserve) for _ in range(4)]
    for board in forsaken:
        board.granted = 25

    def make_room() -> object:
        standing = next((board for board in forsaken if board.granted), None)
        if standing is not None:
            standing.end()
        return standing

    reserve.make_room = make_room
    assert reserve.grant(50, 60) == 50
    assert [board.granted for board in forsaken] == [0, 0, 25, 25]
    assert reserve.grant(101, 101) == 0
