"""Values in words, for sentences: of what kind one is, how many there are."""

from collections.abc import Iterable
from typing import Any


def kind(value: Any) -> str:
    """The kind of this JSON value, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts, as people say it: "1 room", "2,000 rooms". `many`: if that is no plural in s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def listed(names: Iterable[str]) -> str:
    """As people say it: "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
