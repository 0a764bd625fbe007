"""The clock on the wall is for display, and for what users wish by it. Whoever sets it changes no attempt."""

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.ipc.client_steps import State
from actors.ipc.errand import ClientTerms
from actors.ipc.fairness import WALL_SECONDS
from actors.ipc.given import TOO_LATE
from actors.ipc.uptime import Uptime, passed
from actors.kernel.testing import run_in_virtual_time
from codec.ipc import Dialect
from codec.ipc.folder import Tray
from tests.ipc.client_kit import DONE, EPOCH, PaperServer, a_state, desk, in_turn, request
from tests.ipc.paper import PaperBase
from tests.ipc.test_retry_times import RefusingBase
from tests.plenty import plenty

HOUR = 3600.0

changes = st.lists(st.tuples(st.floats(0.0, 300.0), st.sampled_from([-HOUR, HOUR, -24 * HOUR, -1.0])), max_size=4)


@pytest.mark.slow
@settings(max_examples=plenty(10), deadline=None)
@given(
    changes=changes, answers=st.booleans(), dialect=st.sampled_from([Dialect.SPEC, Dialect.HEAD]), tells=st.booleans()
)
def test_whoever_sets_the_clock_on_the_wall_three_attempts_take_their_time_and_none_ends_before_it_began(
    changes: list[tuple[float, float]], answers: bool, dialect: Dialect, tells: bool
) -> None:
    """Where the machine tells of its own clock, the request takes the time of its attempts, and no more."""
    seconds = 1.0 if answers else 100.0
    ahead = 0.0

    async def main() -> None:
        base = RefusingBase(dialect, seconds if answers else None)

        async def set_clock(after: float, by: float) -> None:
            nonlocal ahead
            await trio.sleep(after)
            ahead += by

        terms = ClientTerms(dialect=dialect, immediate=True, attempt_seconds=100.0)
        with a_state() as directory:
            async with trio.open_nursery() as nursery:
                base.nursery = nursery
                wall = lambda: EPOCH + trio.current_time() + ahead  # noqa: E731
                up = lambda: Uptime("boot", trio.current_time()) if tells else None  # noqa: E731
                async with desk(directory, base, terms, wall=wall, uptime=up) as it:
                    await it.ready()
                    began = trio.current_time()
                    for after, by in changes:
                        nursery.start_soon(set_clock, after, by)
                    await it.submit(request("a"))
                    (dossier,) = await it.over("a")
                    took = trio.current_time() - began
                nursery.cancel_scope.cancel()
        assert dossier.state is State.GAVE_UP
        assert len(dossier.tried) == 3
        assert took == pytest.approx(3 * seconds, abs=2.0)
        assert dossier.seconds is not None
        for each in dossier.tried:
            assert each.seconds == pytest.approx(seconds, abs=0.05)
            assert each.ended is not None
            assert each.ended >= each.began
        assert dossier.seconds >= 3 * seconds - 0.2
        if tells:
            assert dossier.seconds == pytest.approx(3 * seconds, abs=2.0)

    run_in_virtual_time(main)


@pytest.mark.parametrize("hours", [1, 24 * 365])
def test_what_waits_for_its_time_begins_or_is_too_late_soon_after_the_clock_on_the_wall_is_set_forward(
    hours: int,
) -> None:
    """A machine that sleeps does the same: the clock by which one waits stands still meanwhile."""
    ahead = 0.0

    async def main() -> None:
        nonlocal ahead
        base = RefusingBase(Dialect.SPEC, 1.0)
        with a_state() as directory:
            async with trio.open_nursery() as base.nursery:
                wall = lambda: EPOCH + trio.current_time() + ahead  # noqa: E731
                async with desk(directory, base, ClientTerms(immediate=True), wall=wall) as it:
                    await it.ready()
                    now = EPOCH + trio.current_time()
                    await it.submit(
                        request("later", not_before=now + HOUR / 2),
                        request("late", not_before=now + HOUR * 0.8, deadline=now + HOUR / 2),
                    )
                    await trio.sleep(60.0)
                    assert (Tray.REQUESTS, "later") not in base.files
                    ahead, began = hours * HOUR, trio.current_time()
                    (late,) = await it.over("late")
                    (later,) = await it.over("later")
                    assert trio.current_time() - began < WALL_SECONDS + 3 * 1.0 + 1.0
                base.nursery.cancel_scope.cancel()
        assert (late.message, late.begun) == (TOO_LATE, 1)
        assert len(later.tried) == 3

    run_in_virtual_time(main)


@pytest.mark.parametrize(
    ("since", "now", "seconds"),
    [
        (Uptime("a", 5.0), Uptime("a", 7.5), 2.5),
        (Uptime("a", 5.0), Uptime("a", 5.0), 0.0),
        (Uptime("a", 5.0), Uptime("b", 7.5), None),
        (Uptime("a", 5.0), Uptime("a", 4.5), None),
        (None, Uptime("a", 7.5), None),
        (Uptime("a", 5.0), None, None),
    ],
)
def test_what_has_passed_is_known_within_one_start_of_the_machine(
    since: Uptime | None, now: Uptime | None, seconds: float | None
) -> None:
    assert passed(since, now) == seconds


def test_a_request_that_is_cancelled_has_taken_the_time_that_it_waited_whoever_set_the_clock() -> None:
    ahead = 0.0

    async def main() -> None:
        nonlocal ahead
        with a_state() as directory:
            wall = lambda: EPOCH + trio.current_time() + ahead  # noqa: E731
            up = lambda: Uptime("boot", trio.current_time())  # noqa: E731
            async with desk(directory, RefusingBase(Dialect.SPEC, None), wall=wall, uptime=up) as it:
                await it.submit(request("a"))
                await trio.sleep(7.0)
                ahead = HOUR
                await it.cancel(ids=("a",))
                (dossier,) = await it.over("a")
        assert dossier.seconds == pytest.approx(7.0, abs=0.1)

    run_in_virtual_time(main)


def test_what_ended_a_minute_ago_is_archived_by_no_age_that_the_clock_on_the_wall_makes_up() -> None:
    ahead = 0.0

    async def main() -> None:
        nonlocal ahead
        folder = PaperBase()
        with a_state() as directory:
            wall = lambda: EPOCH + trio.current_time() + ahead  # noqa: E731
            up = lambda: Uptime("boot", trio.current_time())  # noqa: E731
            server = PaperServer(folder, in_turn(DONE), Dialect.SPEC)
            async with desk(directory, folder, servers=[server], wall=wall, uptime=up) as it:
                await it.submit(request("a"), request("b"))
                await it.over("a", "b")
                await trio.sleep(60.0)
                ahead = 24 * 30 * HOUR
                assert (await it.archive(older_than=600.0)).ids == ()
                await trio.sleep(600.0)
                assert set((await it.archive(older_than=600.0)).ids) == {"a", "b"}

    run_in_virtual_time(main)
