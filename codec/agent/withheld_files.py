"""Secrets that nothing names on their own line: the form of the file, or of an entry of it, tells what they are.

  - logins                        {"auths": {"ghcr.io": {"auth": "..."}}}, which is user:password in base64;
                                  auth=("user", "password")
  - private parts of a JSON Web Key  {"kty": "EC", "d": "..."}
  - columns of a table            user,password
  - a file of .pgpass             host:port:database:user:password
  - a file of settings            db_password=correct, under a name that says nothing of it
  - variables of a shell          db_password=correct; what stands there without a quote is a text, too

A line alone tells few of them, so all is done with the whole of a file, before lines are taken out of it
(withheld.py). Nearly every text is let go after a few searches for a word.
"""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from codec.agent.secret_values import PASSWORD, is_given, is_placeholder, names_secret, unlikely
from codec.redaction import BLANK

_AUTH = re.compile(r"""(auth(?<![\w.-]auth)\\?['"]?\s*[:=]\s*\\?['"]?)([A-Za-z0-9+/]{8,2000}={0,2})(?![\w+/=])""")
_PAIR = re.compile(
    r"""(uth(?:(?<=(?<![\w.-])auth)\s*=|(?<=[ct]Auth))\s*\(\s*(['"])[^\s'"]{1,80}\2\s*,\s*(['"]))([^\s'"]{4,200})(?=\3\s*\))""",
)
_KEY_TYPE = re.compile(r"""['"]?\bkty\\?['"]?\s*[:=]""")
_PRIVATE_PART = re.compile(
    r"""((?<![\w.-])\\?['"]?(?:d|p|q|dp|dq|qi|k)\\?['"]?\s*[:=]\s*[bru]?\\?['"])([\w+/-]{16,4000}=*)(?=\\?['"])"""
)
_LONGEST_KEY = 12_000
_TABLES = (".csv", ".tsv", ".tab", ".psv")
_CELL = {
    delimiter: re.compile(rf'(?:"((?:[^"]|"")*+)"|([^{re.escape(delimiter)}\r\n]*+))({re.escape(delimiter)}|\r?\n|\Z|)')
    for delimiter in ",;\t|"
}
_LOGIN = r"(?:[^\s:\\#]|\\.)(?:[^\s:\\]|\\.)*+:(?:\d{1,5}|\*):(?:[^\s:\\]|\\.)++:(?:[^\s:\\]|\\.)++:"
_LOGINS = re.compile(rf"(?:[ \t]*(?:\#[^\n]*)?\r?\n|{_LOGIN}(?:[^\s:\\]|\\.)++\r?(?:\n|\Z))++")
_LOGIN_LINE = re.compile(rf"(?m)^({_LOGIN})([^\s]+)")
_SET = r"(?:export[ \t]+)?[A-Za-z_][\w.-]*[ \t]*[:=][ \t]*"
_SET_FILE = re.compile(
    rf"(?:[ \t]*(?:[#;!][^\n]*|\[[^\n\]]*\][ \t]*)?\r?\n|{_SET}(?!\(|\{{)[^\n]*(?:\n|\Z))++"
)
_SET_LINE = re.compile(
    r"(?m)^(?P<head>(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*[:=][ \t]*(?P<quote>['\"]?))"
    r"(?P<value>[^\s'\"]+)(?=(?P=quote)[ \t\r]*$)"
)
_MOST_OF_SETTINGS = 100_000
_NO_SETTINGS = (
    *(".py", ".js", ".ts", ".go", ".rs", ".java", ".c", ".h", ".cpp", ".cs", ".rb", ".php", ".html", ".css", ".json"),
    *(".md", ".rst", ".example", ".sample", ".template", ".dist", ".po", ".pot", ".properties", ".lock"),
)
_SHELLS = (".sh", ".bash", ".zsh", ".ksh", ".bats", ".envrc", ".bashrc", ".zshrc", ".profile", ".bash_profile")
_OF_SHELL = re.compile(
    r"(?<![\w$-])(?P<head>(?P<name>[A-Za-z_]\w*)=(?P<quote>['\"]?))"
    r"(?P<value>(?:[^\s'\"`$(){}\[\];&|<>*?\\]|(?<!&)&(?![\s&])){4,500})(?=(?P=quote)(?:[\s;&|)]|$))"
)


def of_files(text: str, path: str) -> str:
    """`path`: empty, if the text is none of a file's."""
    if "uth" in text:
        text = _PAIR.sub(_second, _AUTH.sub(_login, text))
    if "kty" in text:
        text = _private_parts(text)
    if not path:
        return text
    name = path.rpartition("/")[2].lower()
    if name.endswith(_TABLES):
        return _columns(text)
    if name.endswith(_SHELLS) or text.startswith(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")):
        return _OF_SHELL.sub(_given, text) if "=" in text else text
    if not name.endswith(_NO_SETTINGS) and len(text) <= _MOST_OF_SETTINGS:
        if _LOGINS.fullmatch(text) is not None:
            return _LOGIN_LINE.sub(rf"\1{BLANK}", text)
        if _SET_FILE.fullmatch(text) is not None:
            return _SET_LINE.sub(_given, text)
    return text


def _login(found: re.Match[str]) -> str:
    try:
        said = b64decode(found[2], validate=True).decode("ascii")
    except (NotBase64, UnicodeDecodeError):
        return found[0]
    return f"{found[1]}{BLANK}" if ":" in said and said.isprintable() else found[0]


def _second(found: re.Match[str]) -> str:
    return f"{found[1]}{BLANK}" if unlikely(found[4]) and not is_placeholder(found[4]) else found[0]


def _private_parts(text: str) -> str:
    """Of the object that has a `kty`: a key of this kind has no object within."""
    parts: list[str] = []
    last = 0
    for found in _KEY_TYPE.finditer(text):
        begin = text.rfind("{", max(found.start() - _LONGEST_KEY, last), found.start())
        end = text.find("}", found.end(), found.end() + _LONGEST_KEY)
        if begin >= last and end >= 0:
            parts += (text[last:begin], _PRIVATE_PART.sub(rf"\1{BLANK}", text[begin:end]))
            last = end
    return "".join((*parts, text[last:])) if parts else text


def _columns(text: str) -> str:
    head = text[: text.find("\n") + 1]
    delimiter = max(_CELL, key=head.count)
    cells = _cells(text, delimiter)
    columns: dict[int, bool] = {}
    for row, column, begin, end in cells:
        if row:
            break
        name = re.sub(r"\W+", "_", text[begin:end].strip().removeprefix("\ufeff"))
        if names_secret(name, "?"):
            columns[column] = PASSWORD.search(name) is not None
    if not columns:
        return text
    parts: list[str] = []
    last = 0
    for row, column, begin, end in _cells(text, delimiter):
        if row and column in columns and begin < end:
            value = text[begin:end].strip()
            if columns[column] or (len(value) >= 8 and unlikely(value)):
                parts += (text[last:begin], BLANK + "\n" * text.count("\n", begin, end))
                last = end
    return "".join((*parts, text[last:]))


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, int, int, int]]:
    """The row, the column, and where the cell begins and ends, without its quotes."""
    row = column = at = 0
    match = _CELL[delimiter].match
    while at < len(text) and (found := match(text, at)) is not None:
        begin, end = found.span(1) if found[1] is not None else found.span(2)
        yield row, column, begin, end
        if found.end() == at:  # behind a quoted cell there is something else
            at += 1
            continue
        at = found.end()
        if found[3].endswith("\n"):
            row, column = row + 1, 0
        elif found[3]:
            column += 1


def _given(found: re.Match[str]) -> str:
    return f"{found['head']}{BLANK}" if is_given(found["name"], found["value"]) else found[0]
