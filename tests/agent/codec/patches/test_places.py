"""Where lines stand in a file: beside a search that anybody can read, and within a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.patches import PatchRefused, applied, parse_diff, places
from codec.agent.patches.places import MOST_PLACES, LinePlaces

LINES = st.lists(st.sampled_from("abc"), max_size=12)


@given(LINES, st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
def test_lines_are_found_wherever_they_stand_one_after_the_other(file: list[str], wanted: list[str]) -> None:
    found = LinePlaces(file, [*wanted, "d"])
    expected = [at for at in range(len(file)) if file[at : at + len(wanted)] == wanted]
    word = found.word(wanted)
    assert list(found.places(word)) == list(found.places(word)) == expected
    assert [at for at in range(-2, len(file) + 2) if found.fits(word, at)] == expected
    for at in range(-5, len(file) + 2):
        alike = [number for number, line in enumerate(wanted) if 0 <= at + number < len(file)
                 and file[at + number] == line]  # fmt: skip
        assert list(found.alike(word, at)) == alike


@given(LINES, st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
def test_rare_lines_tell_where_the_others_would_begin(file: list[str], wanted: list[str]) -> None:
    found = LinePlaces(file, wanted)
    expected = {
        at - number
        for number, line in enumerate(wanted)
        for at, other in enumerate(file)
        if line == other and file.count(line) <= places.RARE
    }
    assert set(found.rare_places(found.word(wanted))) == expected


@pytest.mark.parametrize("count", [MOST_PLACES - 1, MOST_PLACES, MOST_PLACES + 1, MOST_PLACES + 50])
def test_so_many_places_are_counted_and_one_more(count: int) -> None:
    found = LinePlaces(["a"] * count, ["a"])
    assert len(found.places(found.word(["a"]))) == min(count, MOST_PLACES + 1)


def test_each_search_costs_the_file_and_what_it_finds_and_the_same_again_costs_nothing() -> None:
    file = ["a", "b"] * 5
    cost = len(file) + 100 + 5 * 2
    found = LinePlaces(file, ["a", "b"], cost)
    for _ in range(3):
        assert len(found.places(found.word(["a", "b"]))) == 5
    with pytest.raises(PatchRefused, match="too many hunks that are not where they say"):
        found.places(found.word(["b"]))
    with pytest.raises(PatchRefused):
        LinePlaces(file, ["a", "b"], cost - 1).places(found.word(["a", "b"]))


def test_a_patch_of_more_lines_than_can_be_told_apart_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    (patch,) = parse_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
    monkeypatch.setattr(places, "MOST_LINES", 3)
    assert applied(b"a\nb\n", patch).data == b"a\nc\n"
    monkeypatch.setattr(places, "MOST_LINES", 2)
    result = applied(b"a\nb\n", patch)
    assert result.data == b"a\nb\n"
    assert "The patch has too many lines. Send it in parts." in result.refusals[0]
