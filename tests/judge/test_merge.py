"""Which files a post adds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge.merge import Pair, plan
from codec.judge import Sample, fingerprint


def pair(given: bytes | None, wanted: bytes | None) -> Pair:
    return Pair(*(None if content is None else fingerprint(content).digest() for content in (given, wanted)))


ONE, TWO = Sample("1\n", "a\n"), Sample("2\n", "b\n")

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


def digest(text: bytes) -> bytes:
    return fingerprint(text).digest()


RESUMED = [
    ("its answer is there", {}, [ONE, TWO], 1, {1: b"a\n"}, [(1, b"1\n", None), (2, b"2\n", b"b\n")]),
    ("the second's is", {1: pair(b"1\n", b"a\n")}, [ONE, TWO], 2, {2: b"b\n"}, [(2, b"2\n", None)]),
    ("another's is", {}, [ONE, TWO], 1, {1: b"z\n"}, [(2, b"1\n", b"a\n"), (3, b"2\n", b"b\n")]),
    ("only a later one's is", {}, [ONE, TWO], 1, {1: b"b\n"}, [(2, b"1\n", b"a\n"), (3, b"2\n", b"b\n")]),
    ("an older one, of a person, too", {}, [ONE], 5, {2: b"a\n", 5: b"a\n"}, [(5, b"1\n", None)]),
    ("nothing is missing", {1: pair(b"1\n", b"a\n")}, [ONE], 2, {2: b"a\n"}, []),
]


@pytest.mark.parametrize(
    ("existing", "samples", "highest", "alone", "files"), [row[1:] for row in RESUMED], ids=[row[0] for row in RESUMED]
)
def test_what_was_cut_short_is_gone_on_with(
    existing: dict[int, Pair],
    samples: list[Sample],
    highest: int,
    alone: dict[int, bytes],
    files: list[tuple[int, bytes, bytes | None]],
) -> None:
    assert plan(existing, samples, highest, {index: digest(text) for index, text in alone.items()}) == files


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
    everything = [*written.values(), *((given, wanted or b"") for _, given, wanted in added)]
    assert sorted(everything) == sorted({(each.input.encode(), each.output.encode()) for each in (*first, *then)})


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(samples, samples, st.lists(st.integers(0, 30), max_size=4))
def test_however_often_it_is_cut_short_it_comes_to_the_same(
    first: list[Sample], then: list[Sample], stops: list[int]
) -> None:
    """Files are written in order, the answer before the input; each stop leaves some of them."""

    def write(files: dict[str, bytes], samples: list[Sample], *, again: bool, most: int | None = None) -> None:
        numbers = {int(name.split(".")[0]) for name in files}
        both = {number: (files.get(f"{number}.in"), files.get(f"{number}.out")) for number in numbers}
        whole = {number: pair(*texts) for number, texts in both.items() if None not in texts}
        alone = {number: digest(wanted) for number, (asked, wanted) in both.items() if asked is None and wanted}
        new = []
        for number, asked, wanted in plan(whole, samples, max(numbers, default=0), alone if again else None):
            new += [(f"{number}.out", wanted)] if wanted is not None else []
            new += [(f"{number}.in", asked)]
        for name, content in new[:most]:
            assert name not in files
            files[name] = content

    straight: dict[str, bytes] = {}
    write(straight, first, again=False)
    write(straight, then, again=False)
    halting: dict[str, bytes] = {}
    write(halting, first, again=False)
    for number, stop in enumerate(stops):
        write(halting, then, again=number > 0, most=stop)
    write(halting, then, again=bool(stops))
    assert halting == straight
