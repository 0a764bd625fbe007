"""How much of a stranger's value an entry of the log takes: of each kind, at each of its ends."""

from collections.abc import Callable
from typing import Any

import pytest

from codec.redaction import BLANK, DEEPEST, LONGEST_TEXT, MOST_ITEMS, blank_secrets, clean

NESTS: dict[str, Callable[[Any], Any]] = {
    "list": lambda inner: [inner],
    "tuple": lambda inner: (inner,),
    "mapping": lambda inner: {"in": inner},
    "mapping of a list": lambda inner: {"in": [inner]},
}


def depth(value: Any) -> int:
    """How many containers stand one in another."""
    match value:
        case dict():
            return 1 + max(map(depth, value.values()), default=0)
        case list():
            return 1 + max(map(depth, value), default=0)
    return 0


@pytest.mark.parametrize("nest", NESTS)
def test_containers_are_opened_so_deep_and_no_deeper(nest: str) -> None:
    value: Any = "core"
    for _ in range(DEEPEST * 3):
        value = NESTS[nest](value)
    assert depth(clean(value)) == DEEPEST
    assert "…" in str(clean(value))


@pytest.mark.parametrize("levels", [1, DEEPEST - 1, DEEPEST])
@pytest.mark.parametrize("nest", ["list", "mapping"])
def test_what_is_not_too_deep_is_there_whole(nest: str, levels: int) -> None:
    value: Any = "core"
    for _ in range(levels):
        value = NESTS[nest](value)
    assert clean(value) == value


@pytest.mark.parametrize("secret", [{"password": "x"}, {"a": {"password": "x"}}, [{"a": [{"password": "x"}]}]])
def test_a_secret_is_blanked_at_any_depth_that_is_shown(secret: object) -> None:
    assert BLANK in str(clean(secret))
    assert "'x'" not in str(clean(secret))


@pytest.mark.parametrize("extra", [0, 1])
def test_of_many_items_the_first_are_kept(extra: int) -> None:
    count = MOST_ITEMS + extra
    assert clean(list(range(count))) == list(range(MOST_ITEMS))
    assert clean({str(number): number for number in range(count)}) == {str(n): n for n in range(MOST_ITEMS)}


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ("x" * LONGEST_TEXT, "x" * LONGEST_TEXT),
        ("x" * (LONGEST_TEXT + 1), "x" * LONGEST_TEXT + "…"),
        ({"k" * 100: 1}, {"k" * 100: 1}),
        ({"k" * 101: 1}, {"k" * 100 + "…": 1}),
        ({1: 2, None: 3}, {"1": 2, "None": 3}),
        (2**63 - 1, 2**63 - 1),
        (2**63, str(2**63)),
        (-(2**63), str(-(2**63))),
        (10**200, "1" + "0" * 99),
        (b"\xff" + "é".encode(), "\\xffé"),
        ((b"password", b"x"), ["password", BLANK]),
        (("password", "x", "y"), ["password", "x", "y"]),
        (ValueError("a reason"), "a reason"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_each_kind_has_its_form(value: object, cleaned: object) -> None:
    assert clean(value) == cleaned


@pytest.mark.parametrize(
    ("entry", "cleaned"),
    [
        ({"k" * 100: 1}, {"k" * 100: 1}),
        ({"k" * 101: 1}, {"k" * 100 + "…": 1}),
        ({"password": "x", "a\nb": "c\nd"}, {"password": BLANK, "a\\nb": "c\\nd"}),
        ({"deep": {"k" * 101: {"token": "x"}}}, {"deep": {"k" * 100 + "…": {"token": BLANK}}}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_entry_has_the_same_bounds_at_its_top(entry: dict[str, object], cleaned: dict[str, object]) -> None:
    assert blank_secrets(None, "info", entry) == cleaned
