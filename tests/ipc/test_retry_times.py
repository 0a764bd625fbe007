"""When each attempt of the client end begins: a table, under a clock that jumps."""

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.ipc.client_steps import OVERDUE, State
from actors.ipc.errand import MOST_PATIENCE, RESTED_SECONDS, ClientTerms
from actors.ipc.given import BaseHealth, Tray
from actors.ipc.running import MOST_ANSWERS, MOST_STEP, TOGETHER, Headway, RunningClock
from codec.ipc import Dialect, Failure, write_response
from tests.ipc.client_kit import BUSY, DONE, EPOCH, NEVER, Desk, play, put, request
from tests.ipc.paper import PaperBase

SPEC, HEAD = Dialect.SPEC, Dialect.HEAD
LATE = Failure(OVERDUE)

Times = list[tuple[float, float]]
"""For each attempt: not before, and not after."""

TABLE: list[tuple[Dialect, bool, float | None, int, Times]] = [
    # dialect, immediate, an error comes after (None: nothing comes), attempts, when they begin
    (SPEC, False, 1.0, 3, [(0.0, 0.0), (1.5, 2.5), (3.5, 6.5)]),
    (HEAD, False, 1.0, 3, [(0.0, 0.0), (1.5, 2.5), (3.5, 6.5)]),
    (SPEC, True, 1.0, 3, [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]),
    (HEAD, True, 1.0, 3, [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]),
    (SPEC, False, None, 3, [(0.0, 0.0), (100.5, 101.5), (201.5, 204.5)]),
    (HEAD, False, None, 3, [(0.0, 0.0), (100.5, 101.5), (201.5, 204.5)]),
    (SPEC, True, None, 3, [(0.0, 0.0), (100.0, 100.0), (200.0, 200.0)]),
    (HEAD, True, None, 3, [(0.0, 0.0), (100.0, 100.0), (200.0, 200.0)]),
]


class RefusingBase(PaperBase):
    """Each attempt fails so many seconds after it was asked for."""

    def __init__(self, dialect: Dialect, seconds: float | None, nursery: trio.Nursery | None = None) -> None:
        super().__init__()
        self.dialect = dialect
        self.seconds = seconds
        self.nursery = nursery

    def _changed(self, place: Tray, id: str) -> None:  # noqa: A002
        super()._changed(place, id)
        is_there = {tray: (tray, id) in self.files for tray in (Tray.REQUESTS, Tray.RESPONSES)}
        asks = is_there[Tray.REQUESTS] and not is_there[Tray.RESPONSES]
        if asks and self.seconds is not None and self.nursery is not None:
            self.nursery.start_soon(self._refuse, id, self.seconds)

    async def _refuse(self, id: str, seconds: float) -> None:  # noqa: A002
        await trio.sleep(seconds)
        self.foreign_put(Tray.RESPONSES, id, write_response(id, BUSY, (self.dialect,)))
        if self.dialect is HEAD:
            super()._drop(Tray.REQUESTS, id)


@pytest.mark.parametrize(("dialect", "immediate", "after", "attempts", "times"), TABLE)
def test_the_table_of_retries(
    dialect: Dialect, immediate: bool, after: float | None, attempts: int, times: Times
) -> None:
    base = RefusingBase(dialect, after)

    async def test(desk: Desk) -> None:
        async with trio.open_nursery() as nursery:
            base.nursery = nursery
            began = trio.current_time()
            await desk.submit(request("a"))
            (dossier,) = await desk.over("a")
            nursery.cancel_scope.cancel()
        assert dossier.state is State.GAVE_UP
        assert len(dossier.tried) == attempts
        assert dossier.row.failures == (BUSY if after is not None else LATE,) * attempts
        for each, (earliest, latest) in zip(dossier.tried, times, strict=True):
            assert earliest - 0.01 <= each.began - EPOCH - began <= latest + 0.01
            assert each.seconds == pytest.approx(100.0 if after is None else after, abs=0.05)

    play(test, base=base, terms=ClientTerms(dialect=dialect, immediate=immediate, attempt_seconds=100.0))


def test_no_attempt_ends_while_the_folder_is_in_trouble_though_it_can_be_read() -> None:
    class TroubledBase(PaperBase):
        trouble: str | None = "it cannot be written to"

        async def health(self) -> BaseHealth:
            return replace(await super().health(), trouble=self.trouble)

    base = TroubledBase()

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(5_000.0)
        assert (await desk.open("a")).attempt == 1
        base.trouble = None
        await trio.sleep(102.0)
        assert (await desk.open("a")).attempt == 2

    play(test, base=base, terms=ClientTerms(attempt_seconds=100.0, immediate=True))


def test_no_two_requests_rest_equally_long() -> None:
    base = RefusingBase(SPEC, 1.0)

    async def test(desk: Desk) -> None:
        async with trio.open_nursery() as nursery:
            base.nursery = nursery
            await desk.submit(*(request(str(n)) for n in range(20)))
            dossiers = await desk.over(*map(str, range(20)))
            nursery.cancel_scope.cancel()
        assert len({round(each.tried[1].began, 3) for each in dossiers}) > 15

    play(test, base=base)


def test_what_cannot_be_helped_by_another_attempt_is_given_up_at_once() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", NEVER))
        await trio.sleep(0.1)
        found = await desk.journal.find_over("a")
        assert found is not None
        assert (found.begun, found.message) == (1, "never")

    play(test)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "hold", "release"]),
            st.sampled_from(["gone", "full"]),
            st.integers(0, 8).map(lambda quarters: quarters / 4) | st.integers(0, 10**6).map(float),
        ),
        max_size=50,
    )
)
@example([("hold", "gone", 0.5), ("hold", "full", 0.5), ("release", "gone", 0.5), ("release", "full", 0.5)])
def test_the_running_clock_counts_at_most_a_second_from_one_event_to_the_next_and_none_while_a_reason_holds_it(
    events: list[tuple[str, str, float]],
) -> None:
    now, counted, held = 0.25, 0.0, set[str]()
    clock = RunningClock(lambda: now)
    looked = now
    for what, why, seconds in events:
        now += seconds
        counted += 0.0 if held else min(now - looked, MOST_STEP)
        looked = now
        match what:
            case "read":
                assert clock.read() == counted
            case "hold":
                clock.hold(why)
                held.add(why)
            case _:
                clock.release(why)
                held.discard(why)
    assert clock.read() == counted


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=80))
def test_headway_is_the_last_answer_to_what_was_asked_for_before(events: list[tuple[bool, int]]) -> None:
    headway, answers, asked = Headway(), list[tuple[float, float]](), list[float]()
    for moment, (asks, which) in enumerate(events, 1):
        if asks:
            asked.append(float(moment))
        elif asked:
            answers.append((asked[which % len(asked)], float(moment)))
            headway.answered(*answers[-1])
        for one in asked:
            before = [answered for other, answered in answers if other <= one + TOGETHER]
            assert headway.last_before(one) == max(before, default=0.0)


def test_of_very_many_answers_the_newest_count_and_the_oldest_are_forgotten() -> None:
    headway = Headway()
    for number in range(3 * MOST_ANSWERS):
        moment = number * (TOGETHER + 1.0)
        headway.answered(moment, moment + 1.0)
        assert headway.last_before(moment) == moment + 1.0
        assert headway.last_before(max(0.0, moment - TOGETHER - 1.0)) == max(1.0, moment - TOGETHER)
        assert len(headway._answers) <= MOST_ANSWERS


def test_what_waits_in_a_slow_peers_queue_is_not_overdue_and_what_hangs_in_it_is() -> None:
    base = PaperBase()

    async def test(desk: Desk) -> None:
        ids = [f"r{n}" for n in range(15)]
        await desk.submit(*map(request, ids))
        await trio.sleep(1.0)
        for id in ids:  # noqa: A001 - it answers one in a minute, and never the tenth
            if id != "r10":
                await trio.sleep(60.0)
                base.foreign_put(Tray.RESPONSES, id, write_response(id, DONE))
        dossiers = await desk.over(*ids)
        assert [each.begun for each in dossiers] == [3 if each.id == "r10" else 1 for each in dossiers]

    play(test, base=base, terms=ClientTerms(attempt_seconds=100.0, immediate=True))


def test_an_attempt_ends_however_busy_the_peer_is_with_others() -> None:
    base = PaperBase()

    async def test(desk: Desk) -> None:
        await desk.submit(request("hangs"), *(request(f"r{n}") for n in range(99)))
        for n in range(99):
            await trio.sleep(60.0)
            base.foreign_put(Tray.RESPONSES, f"r{n}", write_response(f"r{n}", DONE))
        assert (await desk.over("hangs"))[0].tried[0].seconds == pytest.approx(MOST_PATIENCE * 100.0, abs=2.0)

    play(test, base=base, terms=ClientTerms(attempt_seconds=100.0, immediate=True))


def test_answers_whose_peer_has_died_before_it_removed_the_requests_hold_nobody_up_for_long() -> None:
    """In the HEAD dialect a request goes when its answer stands. Here they stay, and no attempt's time is over."""
    base = PaperBase()

    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(1.0)  # what has come since is no history
        many = [request(f"left-{number}") for number in range(20)]
        for each in many:
            put(base, each)
            base.foreign_put(Tray.RESPONSES, each.id, write_response(each.id, DONE, (Dialect.HEAD,)))
        await trio.sleep(1.0)
        began = trio.current_time()
        await desk.submit(request("lone"))
        while (Tray.REQUESTS, "lone") not in base.files:
            await base.change()
        assert trio.current_time() - began <= RESTED_SECONDS + 1.0
        for dossier in await desk.over(*(each.id for each in many)):
            assert (dossier.state, dossier.begun) == (State.SUCCESS, 1)
        assert trio.current_time() - began <= 3 * RESTED_SECONDS + 5.0

    play(test, base=base, terms=ClientTerms(dialect=HEAD, in_flight=8, attempt_seconds=3000.0))


@pytest.mark.parametrize("removed_after", [0.0, 0.9 * RESTED_SECONDS, None])
def test_the_next_attempt_begins_when_the_request_is_removed_or_its_answer_has_rested(
    removed_after: float | None,
) -> None:
    base = PaperBase()

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        while (Tray.REQUESTS, "a") not in base.files:
            await base.change()
        base.foreign_put(Tray.RESPONSES, "a", write_response("a", BUSY, (Dialect.HEAD,)))
        answered = trio.current_time()
        if removed_after is not None:
            await trio.sleep(removed_after)
            base.foreign_drop(Tray.REQUESTS, "a")
        while base.calls.count("publish a") < 2:
            await base.change()
        waited = trio.current_time() - answered
        assert waited == pytest.approx(RESTED_SECONDS if removed_after is None else removed_after, abs=1.0)
        assert (await desk.open("a")).attempt == 2

    play(test, base=base, terms=ClientTerms(dialect=HEAD, immediate=True, attempt_seconds=3000.0))
