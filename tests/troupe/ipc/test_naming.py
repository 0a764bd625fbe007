"""Ids sort by time and no two are the same, whatever the clock does and however many processes there are."""

import multiprocessing
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.ipc import checked
from troupe.ipc import naming
from troupe.ipc.naming import new_id


@given(st.lists(st.integers(min_value=0, max_value=10**15), min_size=1, max_size=50))
def test_each_id_is_later_than_the_one_before_even_if_the_clock_is_set_back(moments: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naming, "_last", 0)
        ids = []
        for moment in moments:
            patch.setattr(time, "time_ns", lambda moment=moment: moment * 1000)
            ids.append(checked(new_id()))
    stamps = [each.rpartition("-")[0] for each in ids]
    assert stamps == sorted(set(stamps))


def _many(_: int) -> list[str]:
    return [new_id() for _ in range(2000)]


@pytest.mark.slow
def test_two_processes_that_begin_in_the_same_moment_never_give_the_same() -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        ids = [each for some in pool.map(_many, range(4), chunksize=1) for each in some]
    assert len(set(ids)) == len(ids) == 8000
