"""A second reading of a file that its grammar could not read whole. Pure.

One `#if` in the midst of a list of parameters, or one type that JavaScript does not know, and the grammar loses the
class around it. So such a file is read once more, and that reading counts if it has fewer errors:

    C, C++, C#    with only one branch of each conditional that does not stand by itself. One that does (whole
                  statements, whole definitions) is left as it is, for the grammars know those
    JavaScript    by the grammar of TypeScript, which knows most of Flow's types
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

_TOKEN = re.compile(
    rb"""
      ^[ \t]*\#[ \t]*(?P<directive>\w*)[ \t]*(?P<condition>(?:[^\\\n]|\\\r?\n|\\.)*)
    | (?://[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z))
    | (?P<code>"(?:[^"\\\n]|\\.)*"?|'(?:\\[^\n]{1,8}?|[^'\\\n]{1,2})'|[^\s()\[\]{}"'/\#]+(?:\s+[^\s()\[\]{}"'/\#]+)*|\S)
    """,
    re.VERBOSE | re.MULTILINE,
)
_OPENING, _CLOSING = b"([{", b")]}"
_ENDS = b";{}:"
"""After these a statement or a definition may begin."""
_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def second_reading(language: str, data: bytes) -> tuple[str, bytes] | None:
    """The language and the content to try, of the same length."""
    if language == "javascript":
        return "tsx", data
    if language in ("c", "cpp", "c_sharp"):
        plain = without_conditionals(data)
        return None if plain is None else (language, plain)
    return None


class _Span(NamedTuple):
    begins: int
    ends: int


class _Conditional(Struct):
    directive: _Span
    """That opens the present branch."""
    stands: bool
    """As far as it is known, each branch is whole statements or definitions."""
    is_kept: bool
    """The present branch is."""
    depth: int
    """Brackets that were open before it."""
    lowest: int
    """As few were open within the present branch."""
    kept: tuple[int, int] | None = None
    """Of the branch that is kept: the brackets that are open after it, and as few as were open within it."""
    gone: list[_Span] = []
    """What is to go if it does not stand: its directives, and the branches that are not kept."""


def without_conditionals(data: bytes) -> bytes | None:
    """The same with blanks for what is to go. None: nothing is."""
    gone = list(_gone(data))
    if not gone:
        return None
    text = bytearray(data)
    for begins, ends in gone:
        text[begins:ends] = text[begins:ends].translate(_BLANK)
    return bytes(text)


def _gone(data: bytes) -> Iterator[_Span]:
    depth, last = 0, _ENDS[0]
    inside: list[_Conditional] = []
    for token in _TOKEN.finditer(data):
        if (code := token["code"]) is not None:
            last = code[-1]
            if code in _OPENING:
                depth += 1
            elif code in _CLOSING:
                depth -= 1
                if inside:
                    inside[-1].lowest = min(inside[-1].lowest, depth)
            continue
        match token["directive"]:
            case b"if" | b"ifdef" | b"ifndef":
                is_kept = token["condition"].strip() != b"0"
                inside.append(_Conditional(_Span(*token.span()), last in _ENDS, is_kept, depth, depth))
            case b"elif" | b"elifdef" | b"elifndef" | b"else" if inside:
                _close_branch(inside[-1], token.start(), depth, last)
                inside[-1].directive = _Span(*token.span())
                inside[-1].is_kept = inside[-1].kept is None
                depth = inside[-1].lowest = inside[-1].depth
            case b"endif" if inside:
                over = inside.pop()
                _close_branch(over, token.start(), depth, last)
                depth, lowest = over.kept or (over.depth, over.depth)
                if inside:
                    inside[-1].lowest = min(inside[-1].lowest, lowest)
                if not over.stands:
                    yield from over.gone
                    yield _Span(*token.span())


def _close_branch(around: _Conditional, ends: int, depth: int, last: int) -> None:
    around.stands &= depth == around.depth == around.lowest and last in _ENDS
    if around.is_kept:
        around.kept = depth, around.lowest
        around.gone.append(around.directive)
    else:
        around.gone.append(_Span(around.directive.begins, ends))
