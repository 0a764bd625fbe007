"""Git's rules of what is ignored: the lines of a .gitignore file, and what they say of a path.

    rules = read_rules(text)                            # of the file in one folder
    rules.verdict(("src", "a.pyc"), folder=False)       # from that folder on: True, False (named by !) or None

Rules
  - The last line that matches counts. Of several files, the deepest that says anything counts. Nothing below an ignored
    folder can be named back: so whoever walks does not enter it.
  - A line with a / before its end is anchored in its folder; any other means a name at any depth. A / at the end means
    folders only.
  - * and ? and [] match within a name, ** between slashes any number of names.

A repository may be hostile, so no line takes long: a name is matched in at most (length of the line) x (length of the
name) steps. A regular expression, which would be shorter, takes for ever with twenty stars.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

MOST_LINES = 10_000
LONGEST_LINE = 4_096

Match = Callable[[str], object]
"""Of one name: true if it matches."""
DEEP: Literal["**"] = "**"


class _Class(NamedTuple):
    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) is not self.negated


_Token = str | _Class
_ANY, _MANY = "\0", ""
"""Tokens that are no character: what ? and * mean."""

_POSIX = {
    "alnum": (("0", "9"), ("A", "Z"), ("a", "z")),
    "alpha": (("A", "Z"), ("a", "z")),
    "blank": ((" ", " "), ("\t", "\t")),
    "cntrl": (("\x00", "\x1f"), ("\x7f", "\x7f")),
    "digit": (("0", "9"),),
    "graph": (("!", "~"),),
    "lower": (("a", "z"),),
    "print": ((" ", "~"),),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": ((" ", " "), ("\t", "\r")),
    "upper": (("A", "Z"),),
    "xdigit": (("0", "9"), ("A", "F"), ("a", "f")),
}


@dataclass(frozen=True, slots=True)
class IgnoreLine:
    parts: tuple[Match | Literal["**"], ...]
    ignores: bool
    folders_only: bool
    anchored: bool

    def matches(self, names: Sequence[str]) -> bool:
        if not self.anchored:
            (part,) = self.parts
            return part != DEEP and bool(part(names[-1]))
        return _parts_match(self.parts, names)


class IgnoreRules:
    def __init__(self, lines: Sequence[IgnoreLine]) -> None:
        self._lines = tuple(reversed(lines))

    def verdict(self, names: Sequence[str], *, folder: bool) -> bool | None:
        """`names`: the path from the folder of these rules. None: they say nothing of it."""
        for line in self._lines:
            if (folder or not line.folders_only) and line.matches(names):
                return line.ignores
        return None


def read_rules(text: str) -> IgnoreRules:
    lines = text.removeprefix("\ufeff").split("\n")[:MOST_LINES]
    return IgnoreRules([line for each in lines if (line := _line(each)) is not None])


def _line(line: str) -> IgnoreLine | None:
    line = _without_spaces_at_its_end(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > LONGEST_LINE or "\0" in line:
        return None
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line and not folders_only:
        return None
    parts = _parts(line, anchored)
    return None if parts is None else IgnoreLine(parts, ignores, folders_only, anchored)


def _without_spaces_at_its_end(line: str) -> str:
    end = len(line)
    while end and line[end - 1] == " ":
        backslashes = len(line[: end - 1]) - len(line[: end - 1].rstrip("\\"))
        if backslashes % 2:
            break
        end -= 1
    return line[:end]


def _parts(line: str, anchored: bool) -> tuple[Match | Literal["**"], ...] | None:
    """None: a line that can match nothing."""
    parts: list[list[_Token]] = [[]]
    at = 0
    while at < len(line):
        char = line[at]
        at += 1
        match char:
            case "/":
                parts.append([])
            case "*":
                parts[-1].append(_MANY)
            case "?":
                parts[-1].append(_ANY)
            case "\\":
                if at == len(line):
                    return None
                if line[at] == "/":
                    parts.append([])
                else:
                    parts[-1].append(line[at])
                at += 1
            case "[":
                ended = _class(line, at)
                if ended is None:
                    return None
                token, at = ended
                parts[-1].append(token)
            case _:
                parts[-1].append(char)
    found: list[Match | Literal["**"]] = []
    for part in parts:
        if not (anchored and len(part) > 1 and all(token == _MANY for token in part)):
            found.append(_name_match(part))
        elif found[-1:] != [DEEP]:  # two of them mean no more than one
            found.append(DEEP)
    return tuple(found)


def _class(line: str, at: int) -> tuple[_Class, int] | None:
    """What stands after a [, and where it ends."""
    negated = line[at : at + 1] in ("!", "^") and line[at : at + 1] != ""
    at += negated
    ranges: list[tuple[str, str]] = []
    first = True
    before: str | None = None
    while True:
        char = line[at : at + 1]
        if not char:
            return None
        if char == "]" and not first:
            return _Class(tuple(ranges), negated), at + 1
        first = False
        if char == "[" and line[at + 1 : at + 2] == ":":
            end = line.find("]", at + 2)
            if end < 0:
                return None
            if line[end - 1] == ":" and end - 1 >= at + 2:
                posix = _POSIX.get(line[at + 2 : end - 1])
                if posix is None:
                    return None
                ranges += posix
                before, at = None, end + 1
                continue
            ranges.append(("[", "["))  # no class after all
            before, at = "[", at + 1
            continue
        if char == "-" and before is not None and line[at + 1 : at + 2] not in ("", "]"):
            at += 1
            char = line[at]
            if char == "\\":
                at += 1
                char = line[at : at + 1]
                if not char:
                    return None
            ranges.append((before, char))
            before, at = None, at + 1
            continue
        if char == "\\":
            at += 1
            char = line[at : at + 1]
            if not char:
                return None
        ranges.append((char, char))
        before, at = char, at + 1


def _name_match(tokens: Sequence[_Token]) -> Match:
    """The fastest way to match these."""
    if all(isinstance(token, str) and token not in (_ANY, _MANY) for token in tokens):
        return "".join(map(str, tokens)).__eq__
    stars = sum(token == _MANY for token in tokens)
    if stars <= 2:
        return re.compile("".join(map(_expression, tokens)), re.DOTALL).fullmatch
    return lambda name: _matches(tokens, name)


def _expression(token: _Token) -> str:
    if isinstance(token, _Class):
        inner = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in token.ranges if low <= high)
        if not inner:
            return r"[\s\S]" if token.negated else r"[^\s\S]"
        return f"[{'^' if token.negated else ''}{inner}]"
    return {_ANY: ".", _MANY: ".*"}.get(token) or re.escape(token)


def _matches(tokens: Sequence[_Token], name: str) -> bool:
    at = token = 0
    star, again = -1, 0
    while at < len(name):
        if token < len(tokens) and tokens[token] == _MANY:
            star, again = token, at
            token += 1
        elif token < len(tokens) and _fits(tokens[token], name[at]):
            at, token = at + 1, token + 1
        elif star >= 0:  # the last star takes one more
            again += 1
            at, token = again, star + 1
        else:
            return False
    return all(each == _MANY for each in tokens[token:])


def _fits(token: _Token, char: str) -> bool:
    return token.holds(char) if isinstance(token, _Class) else token in (_ANY, char)


def _parts_match(parts: Sequence[Match | Literal["**"]], names: Sequence[str]) -> bool:
    """The same, with names in place of characters. At its end ** means at least one name."""
    if parts[-1] == DEEP:
        return len(parts) == 1 or any(_parts_match(parts[:-1], names[:end]) for end in range(1, len(names)))
    at = part = 0
    deep, again = -1, 0
    while at < len(names):
        here = parts[part] if part < len(parts) else None
        if here == DEEP:
            deep, again = part, at
            part += 1
        elif here is not None and callable(here) and here(names[at]):
            at, part = at + 1, part + 1
        elif deep >= 0:
            again += 1
            at, part = again, deep + 1
        else:
            return False
    return part == len(parts)
