"""Who has the token comes in, always; who has not, never."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transports.agent.gate import (
    BURST,
    EACH_SECONDS,
    MOST_ADDRESSES,
    MOST_TICKETS,
    TICKET_SECONDS,
    Gate,
    bearer,
    bearer_protocol,
)

TOKEN = "t" * 43


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def gate_at(clock: Clock) -> Gate:
    return Gate(TOKEN, clock)


@given(guesses=st.lists(st.tuples(st.text(), st.sampled_from(["a", "b"]), st.floats(0, 10)), max_size=60))
def test_no_guess_comes_in_and_none_locks_the_user_out(guesses: list[tuple[str, str, float]]) -> None:
    clock = Clock()
    gate = gate_at(clock)
    for guess, address, later in guesses:
        clock.now += later
        denial = gate.admit(guess, address)
        assert denial is not None
        assert denial.status in (401, 429)
        assert gate.admit(TOKEN, address) is None
    assert gate.denied == len(guesses)


def test_whoever_guesses_is_told_to_wait_and_may_try_again_after_that() -> None:
    clock = Clock()
    gate = gate_at(clock)
    denials = [gate.admit("wrong", "a") for _ in range(BURST + 3)]
    assert [denial.status for denial in denials if denial] == [401] * BURST + [429] * 3
    last = denials[-1]
    assert last is not None
    assert last.retry_after is not None
    assert f"{last.retry_after} seconds" in last.sentence
    other = gate.admit("wrong", "b")
    assert other is not None
    assert other.status == 401, "another address has guesses of its own"
    clock.now += last.retry_after + EACH_SECONDS
    again = gate.admit("wrong", "a")
    assert again is not None
    assert again.status == 401


def test_a_crowd_of_addresses_takes_a_bounded_place() -> None:
    gate = gate_at(Clock())
    for number in range(MOST_ADDRESSES * 2):
        gate.admit(None, str(number))
    assert len(gate._failures) == MOST_ADDRESSES


def test_a_ticket_is_good_once_and_for_a_while() -> None:
    clock = Clock()
    gate = gate_at(clock)
    ticket, seconds = gate.ticket()
    assert gate.admit_ticket(ticket, "a") is None
    assert gate.admit_ticket(ticket, "a") is not None
    late, _ = gate.ticket()
    clock.now += seconds
    assert gate.admit_ticket(late, "a") is not None
    assert seconds == TICKET_SECONDS


def test_tickets_that_nobody_redeems_are_bounded_and_the_newest_are_good() -> None:
    gate = gate_at(Clock())
    tickets = [gate.ticket()[0] for _ in range(MOST_TICKETS + 5)]
    known = [tickets[place] for place in (0, 4, 5, -1)]
    assert [gate.admit_ticket(ticket, "a") is None for ticket in known] == [False, False, True, True]
    assert len(set(tickets)) == len(tickets)


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        (["Bearer abc"], "abc"),
        (["bearer   abc "], "abc"),
        (["Basic abc"], None),
        (["Bearer"], None),
        (["Bearer a b"], None),
        (["Bearer a", "Bearer b"], None),
        ([], None),
    ],
)
def test_the_token_of_an_authorization(headers: Sequence[str], token: str | None) -> None:
    assert bearer(headers) == token


@pytest.mark.parametrize(
    ("proposed", "token", "accepted"),
    [
        (["loco.v1", "loco.bearer.abc"], "abc", "loco.v1"),
        (["troupe.bearer.abc", "troupe.v1"], "abc", "troupe.v1"),
        (["loco.bearer.abc"], "abc", None),
        (["troupe.v1", "other"], None, "troupe.v1"),
        (["other"], None, None),
        ([], None, None),
    ],
)
def test_the_token_among_subprotocols_is_never_echoed(
    proposed: Sequence[str], token: str | None, accepted: str | None
) -> None:
    assert bearer_protocol(proposed) == (token, accepted)
