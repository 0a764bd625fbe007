"""The headings of a prose: of Markdown, and of reStructuredText. A section ends at the next heading of its level."""

import re
from collections.abc import Sequence

from codec.agent.index.definitions import LONGEST_NAME, MOST, Defined

_MARKDOWN = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t\r]*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}[ \t\r]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{3,})[ \t\r]*$")
_LONGEST_LINE = 300


def headings_of(language: str, lines: Sequence[str]) -> list[Defined]:
    heads = _markdown(lines) if language == "markdown" else _rst(lines)
    found: list[Defined] = []
    ends = [len(lines)] * len(heads)
    around: list[int] = []
    containers = []
    for index, (first, _, level, _) in enumerate(heads):
        while around and heads[around[-1]][2] >= level:
            ends[around.pop()] = first
        containers.append(".".join(heads[each][3] for each in around[:3]))
        around.append(index)
    for (first, line, _, title), end, container in zip(heads, ends, containers, strict=True):
        found.append(Defined(first + 1, max(end, line + 1), title, "heading", line + 1, container, True))
    return found[:MOST]


def _markdown(lines: Sequence[str]) -> list[tuple[int, int, int, str]]:
    """First line, line of the title (from 0), level, title."""
    heads = []
    fence = ""
    for number, line in enumerate(lines):
        if len(line) > _LONGEST_LINE:
            continue
        head = line.lstrip()[:1]
        if head in ("`", "~"):
            marked = _FENCE.match(line)
            if marked is not None:
                if not fence:
                    fence = marked[1]
                elif marked[1].startswith(fence):
                    fence = ""
        elif fence:
            continue
        elif head == "#" and (found := _MARKDOWN.match(line)) is not None:
            heads.append((number, number, len(found[1]), found[2][:LONGEST_NAME]))
        elif head in ("=", "-") and number and (under := _SETEXT.match(line)) is not None:
            title = lines[number - 1].strip()
            before = lines[number - 2].strip() if number > 1 else ""
            if title and not before and title[0] not in "#>-*+|`" and len(title) <= LONGEST_NAME:
                heads.append((number - 1, number - 1, 1 if under[1][0] == "=" else 2, title))
    return heads


def _rst(lines: Sequence[str]) -> list[tuple[int, int, int, str]]:
    heads: list[tuple[int, int, int, str]] = []
    levels: list[str] = []
    for number in range(1, len(lines)):
        line = lines[number]
        if not line or line[0].isalnum() or line[0] == " " or len(line) > _LONGEST_LINE:
            continue
        under = _UNDERLINE.match(line)
        if under is None:
            continue
        title = lines[number - 1].strip()
        if not title or len(title) > LONGEST_NAME or len(line.rstrip()) < len(title) or _UNDERLINE.match(title):
            continue
        over = number > 1 and lines[number - 2].rstrip() == line.rstrip()
        if lines[number - 1][:1] == " " and not over:
            continue
        style = under[1] + ("o" if over else "")
        if style not in levels:
            levels.append(style)
        first = number - 2 if over else number - 1
        heads.append((first, number - 1, levels.index(style), title))
    return heads
