"""Globs of a policy, and which paths of a workspace they match.

`*` and `?` stand for characters of one name, `**` for any number of folders, `[...]` for a choice of characters. A glob
without a slash matches the name of a file or folder at any depth, as in .gitignore; what a folder matches, all below it
matches. Paths are compared as they are: no leading dot is ever stripped.

No glob takes long, for the whole server waits while an expression is matched. A part between two stars is taken where
it is found first, and no other place is tried after that (?>...): none would leave more for the rest.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_END = r"(?=/|\Z)"
"""A name ends here."""


def matches(globs: Iterable[str], path: str) -> bool:
    """Whether one of them matches this path (from the workspace's root, with /)."""
    return any(_pattern(glob).fullmatch(path) is not None for glob in globs)


@lru_cache(1024)
def _pattern(glob: str) -> re.Pattern[str]:
    anchored = glob.strip("/")
    if "/" not in anchored and "/" not in glob[:1]:
        anchored = f"**/{anchored}"
    parts = [each for each in anchored.split("/") if each]
    below = parts[-1:] == ["**"]
    while parts[-1:] == ["**"]:  # a/** is the folder a too, and all below it matches anyway
        parts.pop()
    if below and not parts:
        return re.compile(".*", re.DOTALL)
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_name(part))
    first, *others = runs
    made = "/".join(first)
    for run in filter(None, others):
        made += ("/" if made else "") + f"(?>(?:[^/]+/)*?{'/'.join(run)})"
    return re.compile(f"{made}(?:/.*)?", re.DOTALL)


def _name(part: str) -> str:
    first, *others = _between_stars(part)
    if not others:
        return f"{first}{_END}"
    *middle, last = others
    return f"(?>{first}{''.join(f'(?>[^/]*?{each})' for each in middle if each)}[^/]*{last}{_END})"


def _between_stars(part: str) -> list[str]:
    """Expressions of what stands between the stars. Each matches texts of one length only."""
    found, index = [""], 0
    while index < len(part):
        each = part[index]
        end = part.find("]", index + 2) if each == "[" else -1
        if each == "*":
            found.append("")
        elif each == "?":
            found[-1] += "[^/]"
        elif end != -1:
            inside = part[index + 1 : end]
            inverted = inside[0] in "!^"
            chosen = _choice(inside[inverted:])
            some = f"(?!/)[{'^' if inverted else ''}{chosen}]"
            found[-1] += re.escape(part[index : end + 1]) if chosen is None else some
            index = end
        else:
            found[-1] += re.escape(each)
        index += 1
    return found


def _choice(inside: str) -> str | None:
    """What stands in the brackets of an expression for these characters and ranges. None: there are none, or a range
    goes backwards; then all of it is meant as it is. Every sign is escaped, or two could look like an operation on
    sets."""
    made, index = "", 0
    while index < len(inside):
        first, last = inside[index], inside[index + 2 : index + 3]
        if last and inside[index + 1] == "-":
            if last < first:
                return None
            made += f"{_sign(first)}-{_sign(last)}"
            index += 3
        else:
            made += _sign(first)
            index += 1
    return made or None


def _sign(char: str) -> str:
    return char if char.isalnum() else f"\\U{ord(char):08x}"
