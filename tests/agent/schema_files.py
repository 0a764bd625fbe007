"""Writes schemas/, the agent's contract for programs.

    .venv/bin/python -m tests.agent.schema_files

codec/agent/schemas.py makes it. Here the texts of the fields are read from the source.
"""

import ast
import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from codec.agent.schemas import schema_files

FOLDER = Path(__file__).parents[2] / "schemas"
COMMAND = ".venv/bin/python -m tests.agent.schema_files"


@cache
def texts() -> Mapping[str, str]:
    """The files by their names."""
    return {name: json.dumps(schema, indent=1) + "\n" for name, schema in schema_files(notes).items()}


def notes(struct: type[Any]) -> Mapping[str, str]:
    """The texts below the fields of this struct and of what it is derived from."""
    found: dict[str, str] = {}
    for each in reversed(struct.__mro__):
        if each.__module__.startswith("codec."):
            found |= _notes(each.__module__, each.__name__)
    return found


@cache
def _notes(module: str, name: str) -> Mapping[str, str]:
    source = Path(str(sys.modules[module].__file__)).read_text("utf-8")
    (tree,) = (each for each in ast.parse(source).body if isinstance(each, ast.ClassDef) and each.name == name)
    found = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=id_)), ast.Expr(value=ast.Constant(value=str(text))):
                found[id_] = " ".join(text.split())
    return found


if __name__ == "__main__":
    for file, text in texts().items():
        (FOLDER / file).write_text(text)
