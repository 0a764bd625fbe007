"""What the index takes out of one file: chunks for the search of text, definitions and what it imports."""

from typing import Literal

from msgspec import Struct

FileKind = Literal["code", "test", "doc", "example", "data"]
"""data: settings, tables, generated and minified files, and whatever has no language."""


class Symbol(Struct, frozen=True, array_like=True):
    """A definition."""

    name: str
    kind: str
    """function, method, class, interface, type, enum, constant, variable, macro, module, heading, ..."""
    line: int
    """Counted from 1."""
    last: int
    container: str = ""
    """The definitions around it, joined with dots: Connection.close is in Connection."""


class Chunk(Struct, frozen=True, array_like=True):
    """A piece that is found as one: a definition, what stands between two, or some lines."""

    first: int
    last: int
    name: str
    """Of the definition, with its containers; empty for what stands between."""
    text: str


class FileFacts(Struct, frozen=True, array_like=True):
    language: str
    """Empty: none that is known."""
    kind: FileKind
    lines: int
    chunks: tuple[Chunk, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[str, ...] = ()
    """As the language writes them: `a.b`, `..a.b`, `./a`, `<stdio.h>`."""
    errors: int = 0
    """Places that could not be parsed. The rest counts all the same."""
