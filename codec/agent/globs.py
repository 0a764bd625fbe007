"""Globs of a policy, and which paths of a workspace they match.

`*` and `?` stand for characters of one name, `**` for any number of folders, `[...]` for a choice of characters. A glob
without a slash matches the name of a file or folder at any depth, as in .gitignore; what a folder matches, all below it
matches. Paths are compared as they are: no leading dot is ever stripped.
"""

import re
from collections.abc import Iterable
from functools import lru_cache


def matches(globs: Iterable[str], path: str) -> bool:
    """Whether one of them matches this path (from the workspace's root, with /)."""
    path = path.rstrip("/")
    return any(_pattern(glob).fullmatch(path) is not None for glob in globs)


@lru_cache(1024)
def _pattern(glob: str) -> re.Pattern[str]:
    anchored = glob.strip("/")
    if "/" not in anchored and "/" not in glob[:1]:
        anchored = f"**/{anchored}"
    parts = [each for each in anchored.split("/") if each]
    made = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            made += "(?:.*)" if last else "(?:[^/]+/)*"
        else:
            made += _name(part) + ("" if last else "/")
    if parts and parts[-1] == "**" and len(parts) > 1:  # a/** is the folder a too
        made = made.removesuffix("/(?:.*)") + "(?:/.*)?" if made.endswith("/(?:.*)") else made
    return re.compile(f"{made}(?:/.*)?", re.DOTALL)


def _name(part: str) -> str:
    made, index = "", 0
    while index < len(part):
        each = part[index]
        end = part.find("]", index + 2) if each == "[" else -1
        if each == "*":
            made += "[^/]*"
        elif each == "?":
            made += "[^/]"
        elif end > 0:
            inside = part[index + 1 : end]
            inverted = inside[0] in "!^"
            chosen = f"[{'^' if inverted else ''}{re.escape(inside[inverted:]).replace(chr(92) + '-', '-')}]"
            made += f"(?!/){chosen}" if _is_choice(chosen) else re.escape(part[index : end + 1])
            index = end
        else:
            made += re.escape(each)
        index += 1
    return made


def _is_choice(chosen: str) -> bool:
    """Not if a range goes backwards: then its characters are meant as they are."""
    try:
        re.compile(chosen)
    except re.error:
        return False
    return True
