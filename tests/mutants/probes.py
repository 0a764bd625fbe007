"""A source that says which of its lines run, so that only tests are asked which come there. Pure.

Each drawn mutant has a number, and the place it would change gets a probe: a call that leaves a file of that name in a
folder. A file is seen wherever the line ran, in the test's process or in a server that it started; a tracer would be
blind there, and ten times as slow.
"""

import ast
from collections.abc import Iterable, Mapping

from tests.mutants.mutations import Mutant

NAME = "_reached_"
_CODE = """
def {name}(number):
    import os
    try:
        os.close(os.open(os.path.join({folder!r}, str(number)), os.O_CREAT | os.O_WRONLY, 0o666))
    except Exception:
        pass
"""


def probed(source: bytes, places: Mapping[int, Mutant], folder: str) -> bytes:
    """The source with a probe wherever one of these mutants would be."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    statements = {span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    inserted: list[tuple[int, int, int, str]] = []  # where, and in which order where two stand at one place
    for number, mutant in places.items():
        length = mutant.end - mutant.start
        if (mutant.start, mutant.end) in statements:
            inserted.append((mutant.start, 1, -length, f"{NAME}({number}); "))
        else:
            inserted.append((mutant.start, 2, -length, f"({NAME}({number}), "))
            inserted.append((mutant.end, 0, length, ")[-1]"))
    head = _after_the_head(tree.body, starts)
    inserted.append((head, 0, 0, _CODE.format(name=NAME, folder=folder)))
    return _with(source, inserted)


def _after_the_head(body: list[ast.stmt], starts: list[int]) -> int:
    """Where the first line may stand that is neither the docstring nor an import from the future."""
    line = 0
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
                line = node.end_lineno or line
            case _:
                break
    return starts[line]


def _with(source: bytes, inserted: Iterable[tuple[int, int, int, str]]) -> bytes:
    parts, at = [], 0
    for place, _, _, text in sorted(inserted):
        parts += [source[at:place], text.encode()]
        at = place
    return b"".join([*parts, source[at:]])
