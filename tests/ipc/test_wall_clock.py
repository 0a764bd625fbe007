"""The clock on the wall is for display, and for what users wish by it. Whoever sets it changes no attempt."""

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.ipc.client_steps import State
from actors.ipc.errand import ClientTerms
from actors.kernel.testing import run_in_virtual_time
from codec.ipc import Dialect
from tests.ipc.client_kit import EPOCH, a_state, desk, request
from tests.ipc.test_retry_times import RefusingBase
from tests.plenty import plenty

HOUR = 3600.0

changes = st.lists(st.tuples(st.floats(0.0, 300.0), st.sampled_from([-HOUR, HOUR, -24 * HOUR, -1.0])), max_size=4)


@pytest.mark.slow
@settings(max_examples=plenty(10), deadline=None)
@given(changes=changes, answers=st.booleans(), dialect=st.sampled_from([Dialect.SPEC, Dialect.HEAD]))
def test_whoever_sets_the_clock_on_the_wall_three_attempts_take_their_time_and_none_ends_before_it_began(
    changes: list[tuple[float, float]], answers: bool, dialect: Dialect
) -> None:
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
                async with desk(directory, base, terms, wall=wall) as it:
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

    run_in_virtual_time(main)
