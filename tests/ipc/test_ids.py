import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.ipc import BadId, checked, file_of, id_of, in_turn
from troupe.ipc.naming import new_id

GOOD = ["a", "0", "request-123", "A_b.c-d", "x" * 128, "con-1", "common", "com10", "a..b"]
BAD = {
    "": "must not be empty",
    "x" * 129: "at most 128 characters; this one has 129",
    ".hidden": "begins with a letter or a digit",
    "-a": "begins with a letter or a digit",
    "a/b": "begins with a letter or a digit",
    "a\\b": "begins with a letter or a digit",
    "..": "begins with a letter or a digit",
    "a b": "begins with a letter or a digit",
    "a\n": "begins with a letter or a digit",
    "a\0": "begins with a letter or a digit",
    "é": "begins with a letter or a digit",
    "٣": "begins with a letter or a digit",
    "a.": "does not end with a full stop",
    "con": "Windows takes it for a device",
    "NUL.txt": "Windows takes it for a device",
    "Com1.a.b": "Windows takes it for a device",
    "lpt0": "Windows takes it for a device",
}


@pytest.mark.parametrize("id", GOOD)
def test_an_id_names_a_file_and_is_found_in_its_name(id: str) -> None:  # noqa: A002
    assert checked(id) == id
    assert id_of(file_of(id)) == id


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_id_names_no_file_and_the_refusal_says_why(text: str) -> None:
    with pytest.raises(BadId, match=BAD[text]):
        checked(text)
    with pytest.raises(BadId):
        file_of(text)
    assert id_of(f"{text}.json") is None


@given(st.text())
@example("a.json.tmp")
@example(".json")
@example("a.JSON")
def test_a_name_that_gives_an_id_is_the_name_of_that_file_and_safe_everywhere(name: str) -> None:
    found = id_of(name)
    if found is not None:
        assert file_of(found) == name
        assert set(name) <= set(string.ascii_letters + string.digits + "_.-")
        assert name[0] not in ".-"


@given(st.text("ab-", min_size=1, max_size=5), st.sets(st.integers(0, 10**6)))
def test_ids_that_count_stand_in_the_order_in_which_they_count(name: str, numbers: set[int]) -> None:
    assert in_turn({f"{name}{number}" for number in numbers}) == [f"{name}{number}" for number in sorted(numbers)]


def test_ids_of_scripts_that_gave_none_stand_in_the_order_in_which_they_were_made() -> None:
    made = [new_id() for _ in range(1_000)]
    assert in_turn(set(made)) == made
