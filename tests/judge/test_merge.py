"""Which files a post adds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge.merge import Pair, plan
from codec.judge import Sample, fingerprint


def pair(given: bytes | None, wanted: bytes | None) -> Pair:
    return Pair(*(None if content is None else fingerprint(content).digest() for content in (given, wanted)))


ONE, TWO, THREE = Sample("1\n", "a\n"), Sample("2\n", "b\n"), Sample("3\n", "c\n")

MERGES = [
    ("an empty folder", {}, [ONE, TWO], 0, [(1, b"1\n", b"a\n"), (2, b"2\n", b"b\n")]),
    ("nothing posted", {1: pair(b"1\n", b"a\n")}, [], 1, []),
    ("sent again", {1: pair(b"1\n", b"a\n"), 2: pair(b"2\n", b"b\n")}, [ONE, TWO], 2, []),
    ("one is new", {1: pair(b"1\n", b"a\n")}, [ONE, TWO], 1, [(2, b"2\n", b"b\n")]),
    ("twice in one post", {}, [ONE, ONE, TWO], 0, [(1, b"1\n", b"a\n"), (2, b"2\n", b"b\n")]),
    ("a gap stays", {1: pair(b"x", b"y"), 7: pair(b"1\n", b"a\n")}, [TWO], 7, [(8, b"2\n", b"b\n")]),
    ("half a pair keeps its index", {3: pair(b"1\n", None)}, [ONE], 0, [(4, b"1\n", b"a\n")]),
    ("an output alone", {3: pair(None, b"a\n")}, [ONE], 0, [(4, b"1\n", b"a\n")]),
    ("indices beside the pairs", {1: pair(b"1\n", b"a\n")}, [TWO], 9, [(10, b"2\n", b"b\n")]),
    ("another output", {1: pair(b"1\n", b"z\n")}, [ONE], 1, [(2, b"1\n", b"a\n")]),
    ("other newlines", {1: pair(b"1\r\n", b"a\r\n")}, [ONE], 1, [(2, b"1\n", b"a\n")]),
]


@pytest.mark.parametrize(
    ("existing", "samples", "highest", "files"), [row[1:] for row in MERGES], ids=[row[0] for row in MERGES]
)
def test_what_is_written(
    existing: dict[int, Pair], samples: list[Sample], highest: int, files: list[tuple[int, bytes, bytes]]
) -> None:
    assert plan(existing, samples, highest) == files


samples = st.lists(st.builds(Sample, st.sampled_from("abc"), st.sampled_from("xyz")), max_size=12)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(samples, samples, st.integers(0, 30))
def test_sending_twice_is_sending_once_and_nothing_is_overwritten(
    first: list[Sample], then: list[Sample], highest: int
) -> None:
    written = {index: (given, wanted) for index, given, wanted in plan({}, first, highest)}
    there = {index: pair(*contents) for index, contents in written.items()}
    assert plan(there, first, highest) == []
    added = plan(there, then, highest)
    assert all(index > max(highest, *there, 0) for index, _, _ in added)
    assert [index for index, _, _ in added] == sorted({index for index, _, _ in added})
    everything = [*written.values(), *((given, wanted) for _, given, wanted in added)]
    assert sorted(everything) == sorted({(each.input.encode(), each.output.encode()) for each in (*first, *then)})
