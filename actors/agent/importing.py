"""What the file in the editor imports: of each file of the workspace that it imports, the definitions that it uses.

It is read from the files as they are now, so it needs no index. imports.py says what is imported, and resolving.py
which file of the workspace is meant; an import that fits no file is a library, and is left out. The definitions that
are shown are those whose names the importing file has, the first ones first. Of a file without any, its beginning is
shown.
"""

import re
from collections.abc import Sequence
from functools import partial

from actors.agent.given import FileRefused, Tree
from actors.agent.leisure import at_leisure
from actors.agent.prompt import WantedLines
from codec.agent.index.imports import imports_of
from codec.agent.index.languages import language_of
from codec.agent.index.resolving import resolved
from codec.agent.symbols import around, definitions

MOST_IMPORTED, MOST_USED = 5, 4
"""Files, and definitions of each."""
MOST_LINES, BEGINNING = 40, 20
"""Of one definition, and of a file of which no definition is used."""
MOST_FILES = 5_000
"""Of the workspace."""
MOST_TEXT = 200_000
"""Characters of each file."""
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


async def imported_lines(tree: Tree, path: str) -> list[WantedLines]:
    """The most important first: in the order of the imports."""
    try:
        text = (await tree.read(path, most=MOST_TEXT)).text
        paths = [each.path for each in await tree.entries(most=MOST_FILES, deep=True)]
    except FileRefused:
        return []
    found = list[WantedLines]()
    used = frozenset(_NAME.findall(text))
    targets = await at_leisure(len(text) + 50 * len(paths), partial(imported, path, text, paths))
    for target in targets[:MOST_IMPORTED]:
        try:
            there = await tree.read(target, most=MOST_TEXT)
        except FileRefused:
            continue
        lines = await at_leisure(len(there.text), partial(used_lines, target, there.text, used))
        why = f"imported by {path}"
        found += [WantedLines(target, why, first, last) for first, last in lines or [(1, BEGINNING)]]
    return found


def imported(path: str, text: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The files among these that this one imports."""
    files: dict[str, tuple[str, Sequence[str]]] = {each: (language_of(each), ()) for each in paths}
    language = language_of(path)
    files[path] = language, imports_of(language, text)
    return resolved(files).get(path, ())


def used_lines(path: str, text: str, used: frozenset[str]) -> list[tuple[int, int]]:
    """The first and the last line of each definition at the outermost level whose name is used, at most so many."""
    found, done, lines = list[tuple[int, int]](), 0, text.split("\n")
    for each in definitions(path, text):
        if each.name in used and each.line > done and not lines[each.line - 1][:1].isspace():
            first, done = around(path, text, each.line)
            found.append((first, min(done, first + MOST_LINES - 1)))
            if len(found) == MOST_USED:
                break
    return found
