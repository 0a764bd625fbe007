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


def lasting(number: float, unit: str = "second") -> str:
    """A time, as people say it: "1 second", "0.5 seconds", "2,000 seconds"."""
    return f"{number:,.10g} {unit}{'' if number == 1 else 's'}"


def sentences(*parts: str) -> str:
    """One after the other, each with its full stop; those that say nothing are left out."""
    told = (part.strip() for part in parts)
    return " ".join(part if part.endswith((".", "!", "?", ":")) else f"{part}." for part in told if part)


def listed(names: Iterable[str]) -> str:
    """As people say it: "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
