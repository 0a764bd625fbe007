"""JSON values in words, for the sentences that refuse one."""

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
