"""Git's rules of what is ignored: the lines of a .gitignore file, and what they say of a path.

    rules = read_rules(text)                            # of the file in one folder
    rules.verdict(("src", "a.pyc"), folder=False)       # from that folder on: True, False (named by !) or None

Rules
  - The last line that matches counts. Of several files, the deepest that says anything counts. Nothing below an ignored
    folder can be named back, so a walk does not enter it.
  - A line with a / before its end is anchored in its folder; any other means a name at any depth. A / at the end means
    folders only.
  - * and ? and [] match within a name, ** between slashes any number of names.

A repository may be hostile, so no line takes long: a name is matched in at most (length of the line) x (length of the
name) steps. There may still be thousands of such lines, so the caller says when it is late.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

MOST_LINES = 10_000
LONGEST_LINE = 4_096

Match = Callable[[str], object]
"""Of one name: true if it matches."""
DEEP: Literal["**"] = "**"
LONGEST_NAME, DEEPEST = 255, 256
"""On a disk: a line that wants more characters in a name, or more names, matches nothing."""
EASY = 200
"""Characters: so long a line, and any that is no longer and has no **, takes no time."""
SOME = 256


class TooLate(Exception):
    """There was no time to go through all lines."""


class _Class(NamedTuple):
    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) is not self.negated


_Token = str | _Class
_PLAIN_BEGIN = re.compile(r"(?P<begin>[^*?\[\\]*[^*?\[\\/])\*\*+(?P<rest>/.*|)", re.DOTALL)
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


class IgnoreLine(Struct, frozen=True):
    parts: tuple[Match | Literal["**"], ...]
    ignores: bool
    folders_only: bool
    anchored: bool
    is_hard: bool = False
    """Whether it may take long."""

    def matches(self, names: Sequence[str]) -> bool:
        if not self.anchored:
            (part,) = self.parts
            return part != DEEP and bool(part(names[-1]))
        return _parts_match(self.parts, names)


class IgnoreRules:
    def __init__(self, lines: Sequence[IgnoreLine]) -> None:
        self._lines = tuple(reversed(lines))

    def verdict(
        self, names: Sequence[str], *, folder: bool, late: Callable[[], bool] = lambda: False
    ) -> bool | None:
        """`names`: the path from the folder of these rules. None: they say nothing of it. Raises TooLate."""
        for number, line in enumerate(self._lines):
            if (line.is_hard or number % SOME == 0) and late():
                raise TooLate
            if (folder or not line.folders_only) and line.matches(names):
                return line.ignores
        return None


def read_rules(text: str) -> IgnoreRules:
    lines = text.removeprefix("\ufeff").split("\n")[:MOST_LINES]
    return IgnoreRules([line for each in lines for line in _line(each)])


def _line(line: str) -> Iterator[IgnoreLine]:
    line = _without_spaces_at_its_end(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > LONGEST_LINE or "\0" in line:
        return
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return
    hard = len(line) > EASY or (anchored and "**" in line)
    for each in (line, *(_as_git_has_it(line) if anchored else ())):
        parts = _parts(each, anchored)
        if parts is not None and sum(part != DEEP for part in parts) <= DEEPEST:
            yield IgnoreLine(parts, ignores, folders_only, anchored, hard)


def _as_git_has_it(line: str) -> tuple[str, ...]:
    """Git 2.39 compares the plain characters at a line's beginning apart, and so sees a ** behind them as if a / stood
    before it: a**/b is ab too, and a1/2/b."""
    found = _PLAIN_BEGIN.fullmatch(line)
    if found is None:
        return ()
    begin, rest = found["begin"], found["rest"]
    if not rest:
        return (f"{begin}*/**",)
    rest = rest[1:]
    while rest.startswith("**/"):
        rest = rest[3:]
    if not rest or rest.startswith("/"):  # no path has two slashes side by side: a**//b is a/b
        return (f"{begin}{rest}",)
    return f"{begin}*/**/{rest}", f"{begin}{rest}"


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
        if sum(token != _MANY for token in part) > LONGEST_NAME:
            return None
        if not (anchored and len(part) > 1 and all(token == _MANY for token in part)):
            found.append(_name_match(part))
        elif found[-1:] != [DEEP]:  # two of them mean no more than one
            found.append(DEEP)
    return tuple(found)


def _class(line: str, at: int) -> tuple[_Class, int] | None:
    """What stands after a [, and where it ends."""
    negated = line[at : at + 1] in ("!", "^")
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
    return NameGlob(tokens).matches


class NameGlob:
    """Matches one name. What stands between two stars is taken where it is found first (?>...), and no other place is
    tried after that: none would leave more for the rest. It is compiled when it is first needed."""

    __slots__ = ("_pattern", "_tokens")

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tuple(tokens)
        self._pattern: re.Pattern[str] | None = None

    def matches(self, name: str) -> bool:
        if self._pattern is None:
            self._pattern = re.compile(self._expression(), re.DOTALL)
        return self._pattern.fullmatch(name) is not None

    def _expression(self) -> str:
        runs = [""]
        for token in self._tokens:
            if token == _MANY:
                runs.append("")
            else:
                runs[-1] += _expression(token)
        first, *others = runs
        if not others:
            return first
        *middle, last = others
        return f"(?>{first}{''.join(f'(?>.*?{each})' for each in middle if each)}).*{last}"


def _expression(token: _Token) -> str:
    if isinstance(token, _Class):
        inner = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in token.ranges if low <= high)
        if not inner:
            return r"[\s\S]" if token.negated else r"[^\s\S]"
        return f"[{'^' if token.negated else ''}{inner}]"
    return "." if token == _ANY else re.escape(token)


def _parts_match(parts: Sequence[Match | Literal["**"]], names: Sequence[str]) -> bool:
    """All ways at once: `here` holds the parts that may come next. At its end ** means at least one name."""
    here = _with_those_behind(parts, {0})
    for name in names:
        after = set[int]()
        for at in here:
            part = parts[at] if at < len(parts) else None
            if part == DEEP:
                after.add(at)
                if at == len(parts) - 1:
                    after.add(len(parts))
            elif part is not None and callable(part) and part(name):
                after.add(at + 1)
        if not after:
            return False
        here = _with_those_behind(parts, after)
    return len(parts) in here


def _with_those_behind(parts: Sequence[Match | Literal["**"]], here: set[int]) -> set[int]:
    """Before its end ** may mean no name at all. Two of them never stand together."""
    return here | {at + 1 for at in here if at < len(parts) - 1 and parts[at] == DEEP}
