# ruff: noqa: E501 - patterns are read in one line
"""Definitions in a source file, found line by line: functions, classes and the like of the common languages.

It is no parser: a definition in a text or a comment is found too, and one that is broken over lines is found by its
first line. It needs nothing but the text, so it works where no index has been made. Lines end with \\n only, as everywhere in the agent: a form feed ends none.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct


class Definition(Struct, frozen=True):
    name: str
    kind: str
    line: int
    """Counted from 1."""
    text: str


_N = r"(?P<name>[A-Za-z_$][\w$]*)"
_C_LIKE = (
    ("class", rf"^\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|export|data|open)\s+)*"
     rf"(?:class|record|struct)\s+{_N}"),
    ("interface", rf"^\s*(?:(?:public|private|protected|internal|export|sealed)\s+)*(?:interface|protocol)\s+{_N}"),
    ("enum", rf"^\s*(?:(?:public|private|protected|internal|static|export)\s+)*enum\s+(?:class\s+)?{_N}"),
)  # fmt: skip
_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "python": (
        ("function", rf"^\s*(?:async\s+)?def\s+{_N}"),
        ("class", rf"^\s*class\s+{_N}"),
        ("constant", r"^(?P<name>[A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=(?!=)"),
        ("variable", r"^(?P<name>[a-z_]\w*)\s*(?::[^=]+)?=(?!=)"),
    ),
    "javascript": (
        ("function", rf"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*{_N}"),
        ("class", rf"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+{_N}"),
        ("interface", rf"^\s*(?:export\s+)?(?:declare\s+)?interface\s+{_N}"),
        ("type", rf"^\s*(?:export\s+)?(?:declare\s+)?type\s+{_N}\b[^=]*="),
        ("enum", rf"^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s+{_N}"),
        ("function", rf"^\s*(?:export\s+)?(?:const|let|var)\s+{_N}\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>)"),
        ("variable", rf"^(?:export\s+)?(?:const|let|var)\s+{_N}\b"),
        ("method", r"^\s+(?:(?:public|private|protected|static|async|readonly|get|set|override)\s+)*"
         r"(?!(?:if|for|while|switch|catch|return|function|await|new|super)\b)(?P<name>[A-Za-z_$#][\w$]*)\s*\([^;]*\)\s*(?::[^{;]+)?\{\s*$"),
    ),
    "go": (
        ("function", rf"^func\s+(?:\([^)]*\)\s*)?{_N}"),
        ("type", rf"^\s*type\s+{_N}\b"),
        ("variable", rf"^(?:var|const)\s+{_N}\b"),
    ),
    "rust": (
        ("function", rf"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern\s+\"[^\"]*\")\s+)*fn\s+{_N}"),
        ("type", rf"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union|type|mod)\s+{_N}"),
        ("constant", rf"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?{_N}"),
        ("macro", rf"^\s*macro_rules!\s*{_N}"),
    ),
    "java": (
        *_C_LIKE,
        ("method", r"^\s+(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|synchronized)\s+)+"
         r"(?:[\w<>\[\],.?]+\s+)+(?P<name>[A-Za-z_]\w*)\s*\("),
        ("function", rf"^\s*(?:(?:public|private|protected|internal|override|suspend|inline|open)\s+)*(?:fun|func|def)\s+(?:<[^>]*>\s*)?{_N}"),
    ),
    "c": (
        *_C_LIKE,
        ("namespace", rf"^\s*namespace\s+{_N}"),
        ("macro", rf"^\s*#\s*define\s+{_N}"),
        ("type", r"^\s*typedef\b.*?\b(?P<name>[A-Za-z_]\w*)\s*;"),
        ("function", r"^(?!\s*(?:return|else|if|while|for|switch|typedef|using|delete|throw)\b)(?:[A-Za-z_][\w:<>,*&\s]*[\s*&])"
         r"(?:[A-Za-z_]\w*::)*~?(?P<name>[A-Za-z_]\w*)\s*\([^;]*$"),
    ),
    "ruby": (("function", r"^\s*def\s+(?:self\.)?(?P<name>[A-Za-z_]\w*[?!]?)"), ("class", rf"^\s*(?:class|module)\s+(?:\w+::)*{_N}")),
    "php": (("function", rf"^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?{_N}"), *_C_LIKE),
    "shell": (("function", r"^\s*(?:function\s+)?(?P<name>[A-Za-z_][\w-]*)\s*\(\)"), ("function", rf"^\s*function\s+{_N}")),
    "sql": (("table", r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index|trigger)\s+"
             r"(?:if\s+not\s+exists\s+)?[\"`\[]?(?P<name>[A-Za-z_]\w*)"),),
    "markdown": (("heading", r"^#{1,6}\s+(?P<name>.+?)\s*#*$"),),
}  # fmt: skip
_KINDS = {
    language: tuple((kind, re.compile(pattern)) for kind, pattern in patterns)
    for language, patterns in _PATTERNS.items()
}
_BY_ENDING = {
    ending: language
    for language, endings in {
        "python": "py pyi pyx",
        "javascript": "js jsx mjs cjs ts tsx mts cts vue svelte",
        "go": "go",
        "rust": "rs",
        "java": "java kt kts cs swift scala groovy dart",
        "c": "c h cc cpp cxx hh hpp hxx m mm ino",
        "ruby": "rb rake",
        "php": "php",
        "shell": "sh bash zsh",
        "sql": "sql",
        "markdown": "md markdown",
    }.items()
    for ending in endings.split()
}
LONGEST_LINE = 500


def language_of(path: str) -> str | None:
    return _BY_ENDING.get(PurePosixPath(path).suffix.lower().removeprefix("."))


def definitions(path: str, text: str, first_line: int = 1, holding: str = "") -> Iterator[Definition]:
    """In the order of the file; at most one for each line. `holding`: only lines that hold this (lowercase) are looked
    at, which is much faster."""
    kinds = _KINDS.get(language_of(path) or "", ())
    if not kinds:
        return
    for number, line in enumerate(text.split("\n"), first_line):
        if len(line) > LONGEST_LINE or (holding and holding not in line.lower()):
            continue
        for kind, pattern in kinds:
            if (found := pattern.match(line)) is not None:
                yield Definition(found["name"], kind, number, line.strip())
                break


def around(path: str, text: str, line: int, first_line: int = 1) -> tuple[int, int]:
    """The first and the last line of the definition that encloses this line; the line itself if none does.

    Its end is where the indentation is back at that of its first line, which is so in nearly all formatted code."""
    lines = text.split("\n")
    index = line - first_line
    if not 0 <= index < len(lines):
        return line, line
    starts = {
        found.line: found for found in definitions(path, text, first_line) if found.kind not in ("variable", "constant")
    }
    inner = next((each for each in lines[index:] if each.strip()), "")
    for number in range(line, first_line - 1, -1):
        head = lines[number - first_line]
        if number in starts and (number == line or _indent(head) < _indent(inner) or _closes(inner, head)):
            return number, _end(lines, number - first_line) + first_line
    return line, line


def _closes(line: str, head: str) -> bool:
    return line.lstrip()[:1] in ("}", ")", "]") and _indent(line) == _indent(head)


def _end(lines: list[str], index: int) -> int:
    base, last = _indent(lines[index]), index
    for number in range(index + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        if _indent(line) < base or (_indent(line) == base and line.lstrip()[:1] not in "}])"):
            break
        last = number
        if _indent(line) == base and line.lstrip()[:1] == "}":
            break
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
