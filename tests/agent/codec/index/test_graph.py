"""Ranks of files by what imports them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.index.graph import ranks

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


@given(EDGES)
def test_ranks_are_shared_out(edges: list[tuple[int, int]]) -> None:
    found = ranks(range(10), edges)
    assert sum(found.values()) == pytest.approx(10, rel=1e-6)
    assert all(rank > 0 for rank in found.values())


@given(EDGES, st.randoms(use_true_random=False))
def test_the_order_of_imports_does_not_matter(edges: list[tuple[int, int]], random) -> None:  # type: ignore[no-untyped-def]
    other = list(edges)
    random.shuffle(other)
    assert ranks(range(10), other) == ranks(range(10), edges)


def test_what_many_import_counts_most() -> None:
    found = ranks(range(5), [(1, 0), (2, 0), (3, 0), (3, 4)])
    assert max(found, key=lambda node: found[node]) == 0
    assert found[4] > found[1]


def test_ranks_of_somebody_are_about_what_is_near() -> None:
    edges = [(0, 1), (1, 2), (3, 4), (4, 5)]
    found = ranks(range(6), edges, {0: 1.0})
    assert found[1] > 0 == found[4]


def test_nothing_and_imports_of_strangers_have_no_rank() -> None:
    assert ranks([], [(1, 2)]) == {}
    assert ranks([1], [(1, 2), (2, 1), (1, 1)]) == {1: pytest.approx(1)}
