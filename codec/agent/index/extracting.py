"""What the index takes out of one file: everything at once, in the process that reads it.

Nothing that a file holds makes this fail: a text that no grammar reads, or none in time, is divided by its lines, and
its definitions are found by their first lines if at all (codec/agent/symbols.py).
"""

import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from codec.agent.index.chunks import chunks_of
from codec.agent.index.definitions import MOST, Defined, Walk
from codec.agent.index.facts import FileFacts, Symbol
from codec.agent.index.file_kinds import file_kind, is_minified
from codec.agent.index.grammar_rules import rules_of
from codec.agent.index.grammar_rules_c import without_export_macros
from codec.agent.index.headings import headings_of
from codec.agent.index.imports import imports_of
from codec.agent.index.languages import GRAMMARS, language_of, parser
from codec.agent.index.second_reading import second_reading
from codec.agent.symbols import definitions

LARGEST = 1_500_000
"""Bytes of a text that is parsed."""
_MOST_ERRORS = 100
_STEPS = 2_000
"""Of the parser (hundreds of its own), and a step for each STEP_BYTES: far more than any sound text takes."""
_STEP_BYTES = 10


def extracted(path: str, text: str, late: Callable[[], bool] | None = None) -> FileFacts:
    """`late` is asked while the file is parsed: True ends that, and the file is taken without its tree."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    language = language_of(path, lines[0] if text.startswith("#!") else "")
    kind = file_kind(path, text, language)
    data = text.encode("utf-8", "replace")
    found, errors = _definitions(path, language, text, lines, data, late)
    return FileFacts(
        language,
        kind,
        len(lines) - (not lines[-1]),
        chunks_of(text, lines, found, language),
        tuple([Symbol(each.name, each.kind, each.line, each.last, each.container) for each in found]),
        imports_of(language, text),
        errors,
    )


def _definitions(
    path: str, language: str, text: str, lines: Sequence[str], data: bytes, late: Callable[[], bool] | None
) -> tuple[list[Defined], int]:
    if is_minified(text):
        return [], 0
    if language in GRAMMARS and len(data) <= LARGEST:
        plain = without_export_macros(data) if language in ("c", "cpp") else data
        root = _root(language, plain, late)
        if root is None:
            return _by_lines(path, text), 1
        errors = _errors(root)
        if errors and (second := second_reading(language, plain)) is not None:
            other = _root(*second, late)
            if other is not None and (fewer := _errors(other)) < errors:
                language, root, errors = second[0], other, fewer
        return Walk(rules_of(language), data).over(root), errors
    if language in ("markdown", "rst", "text"):
        return headings_of(language, lines), 0
    if language == "html":
        return _html(lines), 0
    return _by_lines(path, text), 0


def _root(language: str, data: bytes, late: Callable[[], bool] | None) -> Node | None:
    left = _STEPS + len(data) // _STEP_BYTES

    def stops(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0 or (late is not None and late())

    def read(offset: int, _point: object) -> bytes:
        return data[offset:] if offset else data

    reader = parser(language)
    try:
        return reader.parse(read, progress_callback=stops).root_node
    except ValueError:  # it was stopped
        reader.reset()
        return None


def _errors(root: Node) -> int:
    if not root.has_error:
        return 0
    count, left = 0, [root]
    for _ in range(20 * _MOST_ERRORS):
        if not left or count >= _MOST_ERRORS:
            break
        node = left.pop()
        if node.is_error or node.is_missing:
            count += 1
        else:
            left += [each for each in node.children if each.has_error]
    return max(count, 1)


def _by_lines(path: str, text: str) -> list[Defined]:
    found = []
    for each in definitions(path, text):
        found.append(Defined(each.line, each.line, each.name[:120], each.kind, each.line, "", False))
        if len(found) >= MOST:
            break
    return found


_NAMED = re.compile(r"""<([a-z][\w.]*-[\w.-]{1,80})[\s>/]|\bid\s*=\s*["']?([A-Za-z_][\w:.-]{0,80})""")


def _last_of(pattern: re.Pattern[str], line: str) -> int | None:
    """Where the last one ends."""
    end = None
    for each in pattern.finditer(line[:4_000]):
        end = each.end()
    return end


_SCRIPT = re.compile(r"(?i)<script\b[^>]*>")
_SCRIPT_END = re.compile(r"(?i)</script\s*>")


def _html(lines: Sequence[str]) -> list[Defined]:
    """Ids, elements of one's own where they are first used, and what scripts in the page define, line by line."""
    found: list[Defined] = []
    seen = set()
    script = False
    for number, line in enumerate(lines, 1):
        if script:
            if (end := _SCRIPT_END.search(line)) is not None:
                script, line = False, line[end.end() :]
            else:
                found += [
                    Defined(number, number, each.name[:120], each.kind, number, "", False)
                    for each in definitions("page.js", line, number)
                ]
                if len(found) >= MOST:
                    return found[:MOST]
                continue
        if "<" in line and (begin := _last_of(_SCRIPT, line)) is not None:
            script = _SCRIPT_END.search(line, begin) is None
        if "id" not in line and "-" not in line:
            continue
        for element, named in _NAMED.findall(line[:4_000]):
            if (name := element or named) not in seen:
                seen.add(name)
                found.append(Defined(number, number, name, "element" if element else "id", number, "", False))
                if len(found) >= MOST:
                    return found
    return found
