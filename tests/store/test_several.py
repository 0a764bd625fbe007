"""Several things at once: so many together, in their order, and the first error as it is."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.kernel.testing import run_in_virtual_time
from actors.store import StoreFull, all_of


@given(st.lists(st.floats(0.0, 5.0), max_size=12), st.integers(1, 5), st.none() | st.integers(0, 11))
def test_however_long_each_takes_the_results_are_in_order_and_at_most_so_many_are_under_way(
    seconds: list[float], at_once: int, fails: int | None
) -> None:
    under_way, most, begun, ended = set[int](), 0, list[int](), list[int]()

    async def call(place: int) -> int:
        nonlocal most
        begun.append(place)
        under_way.add(place)
        most = max(most, len(under_way))
        await trio.sleep(seconds[place])
        under_way.discard(place)
        ended.append(place)
        if place == fails:
            raise StoreFull(str(place))
        return -place

    async def test() -> None:
        if fails is not None and fails < len(seconds):
            with pytest.raises(StoreFull, match=str(fails)):
                await all_of(range(len(seconds)), call, at_once)
            assert max(begun) < (fails // at_once + 1) * at_once
        else:
            assert await all_of(range(len(seconds)), call, at_once) == [-place for place in range(len(seconds))]
            assert sorted(begun) == list(range(len(seconds)))

    run_in_virtual_time(test)
    assert most <= at_once
    assert sorted(begun) == sorted(ended), "nothing is cut short"
