"""Where in a TOML text something stands, which tomllib does not say: so that whoever wrote it is told the line."""

import re
import tomllib
from collections.abc import Iterator


def lines_of(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key and table of a valid TOML text first appears."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    statement: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        statement.append(line)
        try:
            content = tomllib.loads("\n".join(statement))
        except tomllib.TOMLDecodeError:
            continue  # a string or an array that goes on
        begins = number - len(statement) + 1
        if statement[0].lstrip().startswith("["):
            table = max(_paths(content, ()), key=len)
            found |= {table[:depth]: begins for depth in range(1, len(table) + 1) if table[:depth] not in found}
        else:
            found |= {path: begins for path in _paths(content, table) if path not in found}
        statement = []
    return found


def _paths(content: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    match content:
        case dict():
            for key, value in content.items():
                yield (*above, key)
                yield from _paths(value, (*above, key))
        case [dict() as only]:
            yield from _paths(only, above)


def where_toml_broke(message: str, text: str) -> tuple[int, int, str]:
    """Line, column and what: tomllib says them in its message only (attributes came with Python 3.14)."""
    if at := re.search(r" \(at line (\d+), column (\d+)\)$", message):
        return int(at[1]), int(at[2]), message[: at.start()]
    lines = text.rstrip("\n").split("\n")
    return len(lines), len(lines[-1]) + 1, message.removesuffix(" (at end of document)")
