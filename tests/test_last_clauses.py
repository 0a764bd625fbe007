"""An actor's handler takes every message: the last clause reports those that no other clause takes.

The kernel's tests show what `unknown` does with them. No actor of ours is sent such a message, because mypy would find
it; so this reads the sources.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("actors", "transports", "systems")
LAST = "case _:\n    self.unknown(message)"


def matches() -> Iterator[tuple[str, ast.Match]]:
    """Over a message that the handler was given, with where that is."""
    for path in sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.AsyncFunctionDef) and node.name == "handle":
                for each in ast.walk(node):
                    if isinstance(each, ast.Match) and ast.unparse(each.subject) == "message":
                        yield f"{path.relative_to(ROOT)}:{each.lineno}", each


@pytest.mark.slow
def test_the_last_clause_of_every_handler_reports_what_no_other_takes() -> None:
    found = dict(matches())
    assert len(found) > 20
    assert [where for where, each in found.items() if ast.unparse(each.cases[-1]).strip() != LAST] == []
