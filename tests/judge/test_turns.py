"""Turns: in a given order, so many at once, whoever comes first."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.judge.glances import LookingTurn
from actors.judge.turns import Turns


class Stage:
    """Writes down who has begun."""

    def __init__(self, at_once: int, count: int) -> None:
        self.turns = Turns(at_once, range(1, count + 1))
        self.turn = {number: self.turns.turn(number) for number in range(1, count + 1)}
        self.began: list[int] = []

    def come(self, *numbers: int) -> None:
        for number in numbers:
            self.turn[number].come(partial(self.began.append, number))


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_they_begin_in_order_whoever_comes_first(order: Sequence[int]) -> None:
    stage = Stage(1, 3)
    stage.come(*order)
    assert stage.began == [1]
    stage.turn[1].over()
    assert stage.began == [1, 2]  # begun by whoever made room
    stage.turn[2].over()
    assert stage.began == [1, 2, 3]


def test_so_many_are_on_at_once() -> None:
    stage = Stage(2, 4)
    stage.come(1, 2, 3, 4)
    assert stage.began == [1, 2]
    stage.turn[2].over()
    assert stage.began == [1, 2, 3]


def test_one_that_will_not_come_is_not_waited_for_once_it_has_said_so() -> None:
    stage = Stage(1, 3)
    stage.come(2, 3)
    assert stage.began == []
    stage.turn[1].over()
    assert stage.began == [2]


def test_one_that_is_over_while_it_waits_never_begins() -> None:
    stage = Stage(1, 3)
    stage.come(1, 2, 3)
    stage.turn[2].over()
    assert stage.began == [1]
    stage.turn[1].over()
    assert stage.began == [1, 3]


def test_to_say_again_that_it_is_over_makes_no_more_room() -> None:
    stage = Stage(1, 4)
    stage.come(1, 2, 3, 4)
    for _ in range(3):
        stage.turn[1].over()
    assert stage.began == [1, 2]


def test_each_case_is_taken_once_and_in_order() -> None:
    turns = Turns(2, [2, 5, 9])
    assert [turns.take(1), turns.take(2)] == [2, 5]
    assert not turns.all_taken
    assert [turns.take(1), turns.take(1), turns.take(2)] == [9, None, None]
    assert turns.all_taken
    assert [turns.taken_by(1), turns.taken_by(2), turns.taken_by(3)] == [9, 5, None]


@given(st.integers(1, 4), st.permutations(range(1, 9)), st.data())
def test_there_is_always_one_on_that_can_be_and_never_one_too_many(
    at_once: int, comes: list[int], data: st.DataObject
) -> None:
    stage = Stage(at_once, 8)
    gone: set[int] = set()
    while len(gone) < 8:
        on = [number for number in stage.began if number not in gone]
        leaves = [*on, *(number for number in range(1, 9) if number not in gone and number not in comes)]
        if comes and (not leaves or data.draw(st.booleans())):
            stage.come(comes.pop())
        else:
            number = data.draw(st.sampled_from(leaves))
            gone.add(number)
            stage.turn[number].over()
        on = [number for number in stage.began if number not in gone]
        waiting = [number for number in range(1, 9) if number not in {*comes, *gone, *stage.began}]
        assert len(on) <= at_once
        if waiting and len(on) < at_once:  # then one before it has neither come nor said that it will not
            assert set(range(1, min(waiting))) - gone - set(stage.began)
    assert stage.began == sorted(stage.began)


def test_a_turn_at_which_somebody_looks_is_over_when_it_would_be_without() -> None:
    stage, looks = Stage(1, 2), list[int]()
    looking = LookingTurn(stage.turn[1], lambda: looks.append(len(stage.began)))
    stage.come(2)
    looking.come(partial(stage.began.append, 1))
    assert (stage.began, looks) == ([1], [0])
    looking.over()
    assert stage.began == [1, 2]
