"""Secrets whose name and value stand on different lines.

A line from within such a text looks like nothing without the line that names it. So this is done with the whole of a
file, before lines are taken out of it (withheld.py). Only lines that hold a word of a secret's name are looked at, and
from each of them at most MOST_LINES further.

  - a value on the line after its name:         API_KEY = (          password =
  - a text in several pieces:                   "abc" \\              "abc" +
  - a text that goes on:                        \"""...\"""           TOKEN=abc\\
  - a name and a value that are two entries:    - name: DB_PASSWORD  <key>token</key>
                                                  value: x           <string>x</string>
  - a variable with a default:                  variable "db_password" { default = "x" }
"""

import re
from collections.abc import Iterable, Iterator

from codec.agent.secret_values import is_code, is_literal, is_paired, is_written, names_secret
from codec.redaction import BLANK

MOST_LINES = 40

Span = tuple[int, int]

_NAME = r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,80})"
_SIGN = (
    r"['\"]?[\])]?(?:\[\w{0,20}\])?(?:[ \t]*:[ \t]*[\w.&'\[\]<>|? ]{1,60}?(?==)|[ \t]+string(?=[ \t]*=))?"
    r"[ \t]*(?::=|=>|=|:)[ \t]*"
)
_JOIN = r"(?:\\|\+|\.{1,2}|&|<>)?"
_OPENED = re.compile(_NAME + _SIGN + r"[(\[]?[ \t]*\\?[ \t\r]*$")
_TEXT = r"[bfrL@$]{0,2}(?P<quote>['\"`])(?P<value>[^\s'\"`]{1,500})(?P=quote)[ \t]*"
_BEGUN = re.compile(_NAME + _SIGN + r"\(?[ \t]*" + _TEXT + _JOIN + r"[ \t\r]*$")
_LONG = re.compile(
    _NAME + _SIGN + r"\(?[ \t]*[bfru]{0,2}(?P<quote>\"{3}|'{3}|`)\\?(?P<value>[^\s'\"`]{0,500})[ \t\r]*$"
)
_BROKEN = re.compile(_NAME + r"(?P<sign>" + _SIGN + r")(?P<quote>['\"]?)(?P<value>[^\s'\"`\\]{1,500})\\\r?$")
_PIECE = re.compile(
    r"^[ \t]*(?:[+.&]|<>)?[ \t]*" + _TEXT + r"(?P<end>[)\]};,]*)[ \t]*" + _JOIN + r"[ \t\r]*$"
)
_MORE = re.compile(r"^[ \t]*(?P<value>[^\s'\"`\\]{1,500})(?P<end>\\?)['\"]?[;,)]*[ \t\r]*$")
_TAG = re.compile(r"<(?:[\w.-]{1,80}:)?(?P<name>[A-Za-z_][\w.-]{1,80})(?:\s[^<>]{0,200})?>[ \t\r]*$")
_ALONE = re.compile(r"^[ \t]*(?P<value>[^\s<>]{1,500})[ \t\r]*$")

_HEAD = r"^[ \t]*(?P<dash>-[ \t]+)?(?P<brace>\{[ \t]*)?['\"]?"
_ENTRY_NAME = re.compile(
    _HEAD + r"(?i:name|key|id|variable|field|param(?:eter)?(?:_?(?:name|key))?)['\"]?[ \t]*[:=][ \t]*"
    r"(?P<quote>['\"]?)(?P<name>[A-Za-z_][\w./:-]{1,80})(?P=quote)[ \t]*,?[ \t\r]*(?:#.*)?$"
)
_ENTRY_VALUE = re.compile(
    _HEAD + r"(?i:value|val|default|content|param(?:eter)?_?value|secret_?string)['\"]?[ \t]*[:=][ \t]*"
    r"(?P<quote>['\"]?)(?P<value>[^'\"\n]{1,500}?)(?P=quote)[ \t]*,?[ \t\r]*(?:\}?,?[ \t\r]*|#.*)$"
)
_FOLDED = re.compile(r"[|>][+-]?\d?[+-]?")
_TAGGED_NAME = re.compile(r"<(?i:key|name|param-name|property)>[ \t]*(?P<name>[\w.:/-]{2,80})[ \t]*</")
_TAGGED_VALUE = re.compile(r"^[ \t]*<(?i:string|value|param-value|data)>(?P<value>[^<>\n]{1,500})</")
_VARIABLE = re.compile(r"^[ \t]*variable[ \t]+\"(?P<name>[\w-]{2,80})\"[ \t]*\{[ \t\r]*$")


def across(text: str, path: str, ends: dict[int, int]) -> str:
    """`ends`: of the lines that hold a word of a secret's name, by their begins."""
    spans: list[Span] = []
    for begin, end in ends.items():
        line = text[begin:end]
        if end - begin < 1_000:
            spans += _of(text, line, begin, end, path)
    if not spans:
        return text
    parts: list[str] = []
    last = 0
    for begin, end in sorted(set(spans)):
        if begin >= last:
            parts += (text[last:begin], BLANK)
            last = end
    return "".join((*parts, text[last:]))


def _of(text: str, line: str, begin: int, end: int, path: str) -> Iterable[Span]:
    last = line.rstrip()[-1:]
    if last == "\\" and (found := _BROKEN.search(line)) is not None and names_secret(found["name"]):
        return _broken(text, found, begin, end)
    if last and last in "=:([>\\" and (found := _OPENED.search(line)) is not None and names_secret(found["name"]):
        return _pieces(text, found["name"], [], end)
    if last and last in "'\"`\\+.&>":
        if (found := _LONG.search(line)) is not None and names_secret(found["name"]):
            return _long(text, found, begin, end)
        if (found := _BEGUN.search(line)) is not None and names_secret(found["name"]):
            return _pieces(text, found["name"], [_span(found, begin)], end)
    if last == ">":
        return _tagged(text, line, end, path)
    if (found := _ENTRY_NAME.match(line)) is not None and names_secret(found["name"]):
        return _paired(text, found, begin, end)
    if last == "{" and (found := _VARIABLE.match(line)) is not None and names_secret(found["name"]):
        return _default(text, found["name"], end)
    return ()


def _pieces(text: str, name: str, spans: list[Span], end: int) -> Iterable[Span]:
    """The lines that are nothing but a text in quotes."""
    for begin, line in _after(text, end):
        found = _PIECE.match(line)
        if found is None:
            break
        spans.append(_span(found, begin))
        if found["end"]:
            break
    return spans if is_written(name, _values(text, spans)) else ()


def _long(text: str, opened: re.Match[str], begin: int, end: int) -> Iterable[Span]:
    """To the closing quote."""
    spans = [_span(opened, begin)] if opened["value"] else []
    for at, line in _after(text, end):
        closes = line.find(opened["quote"])
        part = line if closes < 0 else line[:closes]
        bare = part.strip()
        if bare:
            first = at + len(part) - len(part.lstrip())
            spans.append((first, first + len(bare)))
        if closes >= 0:
            return spans if is_written(opened["name"], _values(text, spans)) else ()
    return ()


def _broken(text: str, opened: re.Match[str], begin: int, end: int) -> Iterable[Span]:
    """The line goes on behind a backslash, as in a shell, a makefile, a file of properties."""
    plainly = opened["sign"] == "="
    if not opened["quote"] and is_code(opened["value"], plainly_set=plainly):
        return ()
    spans = [_span(opened, begin)]
    for at, line in _after(text, end):
        found = _MORE.match(line)
        if found is None:
            break
        spans.append(_span(found, at))
        if not found["end"]:
            break
    return spans if is_written(opened["name"], _values(text, spans)) else ()


def _tagged(text: str, line: str, end: int, path: str) -> Iterable[Span]:
    opened = _TAG.search(line)
    named = _TAGGED_NAME.search(line)
    for begin, after in _after(text, end):
        if opened is not None and names_secret(opened["name"]) and (found := _ALONE.match(after)) is not None:
            sure = path.lower().endswith(".xml")
            value = found["value"]
            given = is_paired if sure else is_literal
            return [_span(found, begin)] if given(opened["name"], value) else ()
        if named is not None and names_secret(named["name"]) and (found := _TAGGED_VALUE.match(after)) is not None:
            return [_span(found, begin)] if is_paired(named["name"], found["value"]) else ()
        break
    return ()


def _paired(text: str, named: re.Match[str], begin: int, end: int) -> Iterable[Span]:
    around = [] if named["dash"] or named["brace"] else list(_before(text, begin, 3))
    for at, line in around:
        found = _ENTRY_VALUE.match(line)
        if found is not None:
            return _of_value(text, named["name"], found, at, at + len(line))
        if line.lstrip()[:1] in ("-", "{", "}", "["):
            break
    for count, (at, line) in enumerate(_after(text, end)):
        if count == 4 or line.lstrip()[:1] in ("-", "{", "}", "]"):
            break
        found = _ENTRY_VALUE.match(line)
        if found is not None:
            return _of_value(text, named["name"], found, at, at + len(line))
    return ()


def _of_value(text: str, name: str, found: re.Match[str], begin: int, end: int) -> Iterable[Span]:
    if not _FOLDED.fullmatch(found["value"]):
        return [_span(found, begin)] if is_paired(name, found["value"]) else ()
    indent = len(found[0]) - len(found[0].lstrip())
    spans: list[Span] = []
    for at, line in _after(text, end):
        deep = len(line) - len(line.lstrip())
        if line.strip() and deep <= indent:
            break
        if line.strip():
            spans.append((at + deep, at + len(line.rstrip())))
    return spans


def _default(text: str, name: str, end: int) -> Iterable[Span]:
    for begin, line in _after(text, end):
        if line.startswith("}"):
            break
        found = _ENTRY_VALUE.match(line)
        if found is not None and found["quote"] and is_paired(name, found["value"]):
            return [_span(found, begin)]
    return ()


def _span(found: re.Match[str], begin: int) -> Span:
    return begin + found.start("value"), begin + found.end("value")


def _values(text: str, spans: Iterable[Span]) -> Iterator[str]:
    return (text[begin:end] for begin, end in spans)


def _after(text: str, end: int) -> Iterator[tuple[int, str]]:
    for _ in range(MOST_LINES):
        if end >= len(text):
            return
        begin = end + 1
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield begin, text[begin : min(end, begin + 2_000)]


def _before(text: str, begin: int, most: int) -> Iterator[tuple[int, str]]:
    for _ in range(most):
        if begin <= 0:
            return
        end = begin - 1
        begin = text.rfind("\n", 0, end) + 1
        yield begin, text[begin : min(end, begin + 2_000)]
