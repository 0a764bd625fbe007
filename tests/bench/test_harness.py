"""How benches measure and what they print; never how fast anything is."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bench import harness
from bench.harness import BYTES, MESSAGES, MICROSECONDS, Absent, Go, Peer, Result, Side, Timing, Unit

ROUNDS = [(10.0, 1.0), (40.0, 2.0), (30.0, 3.0)]  # ours, theirs

REACHED = Result("mailbox", "tell burst", "trio channel", 2.7e6, 1.3e5, "msg/s", 20.6, 15)
MISSED = Result("mailbox", "ask", "trio channel", 1.3e5, 1.3e5, "msg/s", 1.0, 1.8)
SHOWN = Result("mailbox", "ask", "asyncio.Queue", 1.3e5, 2.6e5, "msg/s", 0.5)
ABSENT = Result("mailbox", "ask", "pykka", None, None, "msg/s", None, 2.0, "pykka is not installed")


class Clock:
    """Moves when the work says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(harness, "perf_counter", lambda: self.now)
        monkeypatch.setattr(harness, "process_time", lambda: self.now / 2)
        monkeypatch.setattr(harness, "collect", lambda: 0)

    def side(self, log: list[str], name: str, seconds: float, around: float = 0.0) -> Side:
        """A side that needs so many seconds for each unit, and so many before and after all of them."""

        @asynccontextmanager
        async def work(units: int) -> AsyncIterator[Go]:
            self.now += around

            async def go() -> None:
                log.append(name)
                self.now += units * seconds

            yield go
            self.now += around

        return work


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_figures_are_medians_and_the_ratio_is_the_median_of_the_rounds() -> None:
    result = Result.between("b", "c", "p", ROUNDS, MESSAGES, goal=5)
    assert (result.ours, result.theirs, result.ratio, result.goal) == (30.0, 2.0, 10.0, 5)


def test_the_ratio_of_a_cost_is_turned_round_so_that_more_is_better() -> None:
    result = Result.between("b", "c", "p", ROUNDS, BYTES)
    assert (result.ours, result.theirs, result.ratio) == (30.0, 2.0, 0.1)


def test_figures_are_rounded_to_the_digits_that_mean_something() -> None:
    result = Result.between("b", "c", "p", [(1234567.0, 3.0)], MESSAGES)
    assert (result.ours, result.ratio) == (1235000.0, 411500.0)


@pytest.mark.parametrize(("unit", "figure"), [(MESSAGES, 500.0), (MICROSECONDS, 2000.0), (Unit("s", cost=True), 0.002)])
def test_a_unit_turns_a_slice_into_a_figure(unit: Unit, figure: float) -> None:
    assert unit.of(50, 0.1) == pytest.approx(figure)


@pytest.mark.parametrize(
    ("ratio", "goal", "missed"),
    [(1.9, 1.8, False), (1.8, 1.8, False), (1.7, 1.8, True), (0.1, None, False), (None, 1.8, False)],
)
def test_a_goal_is_the_least_ratio_that_is_accepted(ratio: float | None, goal: float | None, missed: bool) -> None:
    assert Result("b", "c", "p", 1.0, 1.0, "msg/s", ratio, goal).missed is missed


def test_a_result_in_json_has_the_promised_fields() -> None:
    assert REACHED.to_json() == (
        '{"bench": "mailbox", "case": "tell burst", "peer": "trio channel", "ours": 2700000.0, "theirs": 130000.0, '
        '"unit": "msg/s", "ratio": 20.6, "goal": 15}'
    )


def test_a_peer_that_is_absent_is_a_line_of_nulls_that_says_why() -> None:
    line = json.loads(ABSENT.to_json())
    assert (line["ours"], line["theirs"], line["ratio"], line["goal"]) == (None, None, None, 2.0)
    assert line["why"] == "pykka is not installed"


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    harness.print_json([REACHED, ABSENT])
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["peer"] for line in lines] == ["trio channel", "pykka"]


def test_the_table_marks_what_was_missed_and_says_what_is_absent(capsys: pytest.CaptureFixture[str]) -> None:
    harness.print_table([REACHED, MISSED, SHOWN, ABSENT])
    head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["case", "beside", "ours", "theirs", "unit", "ratio", "goal"]
    assert [row[-1] for row in rows] == ["reached", "MISSED", "-", "installed"]
    assert rows[0][:6] == ["tell", "burst", "trio", "channel", "2,700,000", "130,000"]
    assert [row[0] for row in rows[1:]] == ["ask", "asyncio.Queue", "pykka"], "the name of a case stands once"


async def test_setting_up_and_clearing_away_are_off_the_clock(clock: Clock) -> None:
    assert await harness.timed(clock.side([], "a", 0.5, around=100.0), 4) == Timing(4, cpu=1.0, wall=2.0)


async def test_a_slice_has_as_many_units_as_fit_in_it(clock: Clock) -> None:
    quick, slow = clock.side([], "quick", 1 / 4096), clock.side([], "slow", 10.0)
    peers = [Peer("quick", quick, wall=True), Peer("quick in CPU time", quick), Peer("slow", slow)]
    timings = await harness.take_turns(peers, 1, seconds=0.25)
    assert [turn.units for side in timings for turn in side] == [1024, 2048, 1]


async def test_sides_alternate_and_each_begins_a_round_in_turn(clock: Clock) -> None:
    log: list[str] = []
    timings = await harness.take_turns([Peer(name, clock.side(log, name, 1.0)) for name in "abc"], 4, seconds=0.1)
    assert "".join(log) == "aaabbbccc" + "abc" + "bca" + "cab" + "abc"  # three tries of each go before
    assert [len(side) for side in timings] == [4, 4, 4]


async def test_each_peer_is_compared_in_its_own_clock_and_in_the_order_given(clock: Clock) -> None:
    ours, slow, slower = (clock.side([], "", seconds) for seconds in (1.0, 4.0, 8.0))
    absent = Absent("gone", "it is not installed")
    peers = (Peer("slow", slow, goal=3.0), absent, Peer("slower", slower, wall=True))
    results = await harness.compare("b", "c", ours, peers, rounds=3, seconds=0.1)
    assert results == [
        Result("b", "c", "slow", 2.0, 0.5, "msg/s", 4.0, 3.0),
        Result("b", "c", "gone", None, None, "msg/s", None, None, "it is not installed"),
        Result("b", "c", "slower", 1.0, 0.125, "msg/s", 8.0),
    ]
