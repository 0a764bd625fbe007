"""Laws of one list out of two: by words, and by meaning."""

from hypothesis import given
from hypothesis import strategies as st

from codec.agent.index.asking import IndexHit, Reason
from codec.agent.index.fusing import fused


@st.composite
def answers(draw: st.DrawFn, stage: str) -> list[IndexHit]:
    """The best first; no two of them overlap."""
    places = draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), unique=True, max_size=12))
    reasons = (Reason(stage, stage, 1.0),)  # type: ignore[arg-type]
    return [
        IndexHit(path=path, first_line=10 * at + 1, last_line=10 * at + 9, score=float(20 - place), reasons=reasons)
        for place, (path, at) in enumerate(places)
    ]


def place_of(hit: IndexHit) -> tuple[str, int]:
    return hit.path, hit.first_line


words, meanings = answers("text_search"), answers("vector_search")


@given(words, meanings, st.booleans())
def test_each_place_is_there_once_with_the_reasons_of_both(
    one: list[IndexHit], other: list[IndexHit], sole: bool
) -> None:
    found = fused(one, other, 100, 100, sole=sole)
    assert sorted(map(place_of, found)) == sorted({*map(place_of, one), *map(place_of, other)})
    for hit in found:
        stages = {reason.stage for reason in hit.reasons}
        assert ("text_search" in stages) is (place_of(hit) in map(place_of, one))
        assert ("vector_search" in stages) is (place_of(hit) in map(place_of, other))
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@given(words, meanings, st.integers(0, 8), st.integers(1, 3))
def test_there_are_no_more_than_were_asked_for(
    one: list[IndexHit], other: list[IndexHit], most: int, per_file: int
) -> None:
    found = fused(one, other, most, per_file)
    assert len(found) <= most
    assert all(sum(hit.path == path for hit in found) <= per_file for path in "abc")


@given(words, meanings)
def test_what_has_a_single_name_stays_in_its_order_before_what_only_means_it(
    one: list[IndexHit], other: list[IndexHit]
) -> None:
    found = fused(one, other, 100, 100, sole=True)
    assert [place_of(hit) for hit in found][: len(one)] == [place_of(hit) for hit in one]


@given(words)
def test_one_list_alone_stays_in_its_order(one: list[IndexHit]) -> None:
    assert [place_of(hit) for hit in fused(one, [], 100, 100)] == [place_of(hit) for hit in one]
    assert [place_of(hit) for hit in fused([], one, 100, 100)] == [place_of(hit) for hit in one]


@given(words, meanings)
def test_the_first_by_words_stands_before_all_that_is_found_by_meaning_alone(
    one: list[IndexHit], other: list[IndexHit]
) -> None:
    both = [place_of(hit) for hit in fused(one, other, 100, 100)]
    if one:
        alone = [place_of(hit) for hit in other if place_of(hit) not in map(place_of, one)]
        assert all(both.index(place_of(one[0])) < both.index(place) for place in alone)
