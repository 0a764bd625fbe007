"""Secrets in files of YAML, where values need no quotes: whatever is given to a secret's name is withheld.

Without the line that names it a value looks like nothing. So what stands on lines of its own (folded texts, texts that
go on, the data of a Kubernetes secret) is withheld before lines are taken out of a file, and the rest line by line.
"""

import re

from codec.agent.secret_values import is_given, may_hold_secrets, means_nothing, names_secret
from codec.redaction import BLANK

_ENTRY = re.compile(
    r"^(?P<head>[ \t]*(?:-[ \t]+)*['\"]?(?P<name>[A-Za-z_][\w.-]*)['\"]?[ \t]*(?::[ \t]+|=(?=\S)))"
    r"(?P<value>\S(?:[^ \t\r]|[ \t\r]++(?!#|$))*+)(?P<tail>[ \t\r]*+(?:#.*)?)$"
)
"""A line of YAML; also one of a list of variables: - NAME=value."""
_INLINE = re.compile(
    r"(?P<head>[{,][ \t]*['\"]?(?P<name>[A-Za-z_][\w.-]*)['\"]?[ \t]*:[ \t]+)(?P<value>[^\s,{}\[\]][^,{}\[\]]*)"
)
_FOLDED = re.compile(r"[|>][+-]?\d?[+-]?")
_EMPTY = re.compile(r"^[ \t]*(?:-[ \t]+)*['\"]?(?P<name>[A-Za-z_][\w.-]*)['\"]?[ \t]*:[ \t\r]*(?:#.*)?$")
_OTHER = re.compile(r"(?:-[ \t]|['\"]?[\w./-]+['\"]?[ \t]*:(?:\s|$)|[\[{&*!%]).*")
"""What begins something else than a text: a list, a mapping, a reference."""
_CLOSED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'")
_KIND = re.compile(r"(?m)^[ \t-]*kind:[ \t]*['\"]?Secret['\"]?[ \t\r]*$")
_DOCUMENT = re.compile(r"(?m)^(?=---)")
_DATA = ("data", "stringData")


def is_yaml(path: str) -> bool:
    return path.lower().endswith((".yaml", ".yml"))


def yaml_withheld(text: str) -> str:
    if not may_hold_secrets(text):
        return text
    lines: list[str] = []
    for line in without_yaml_blocks(text).split("\n"):
        entry = _ENTRY.match(line)
        if entry is not None and _FOLDED.fullmatch(entry["value"]) and names_secret(entry["name"], entry["value"]):
            pass
        elif entry is not None and is_given(entry["name"], entry["value"]):
            line = f"{entry['head']}{BLANK}{entry['tail']}"
        elif "{" in line:
            line = _INLINE.sub(_inline, line)
        lines.append(line)
    return "\n".join(lines)


def without_yaml_blocks(text: str) -> str:
    if not may_hold_secrets(text):
        return text
    if _KIND.search(text) is None:
        return _without_blocks(text, of_secret=False)
    parts = _DOCUMENT.split(text)
    return "".join(_without_blocks(part, of_secret=_KIND.search(part) is not None) for part in parts)


def _inline(found: re.Match[str]) -> str:
    return f"{found['head']}{BLANK}" if is_given(found["name"], found["value"]) else found[0]


def _without_blocks(text: str, *, of_secret: bool) -> str:
    """`of_secret`: a document of Kubernetes in which all data is secret."""
    lines: list[str] = []
    block: int | None = None
    """While a secret's text lasts: how far its name is indented."""
    awaited = False
    """Its text has not begun yet: it may be no text but a list or a mapping."""
    data: int | None = None
    for line in text.split("\n"):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        if block is not None and (not bare or indent > block):
            begins = awaited and bare != "" and not bare.startswith("#")
            if not begins or not (_OTHER.match(bare) or means_nothing(bare.rstrip())):
                awaited = awaited and not begins
                lines.append(line if not bare or awaited else line[:indent] + BLANK)
                continue
        block, awaited = None, False
        if data is not None and bare and indent <= data:
            data = None
        if ":" in line or "=" in line:
            empty = _EMPTY.match(line)
            if empty is not None:
                if of_secret and empty["name"] in _DATA and data is None:
                    data = empty.start("name")
                elif data is not None or names_secret(empty["name"], "?"):
                    block, awaited = empty.start("name"), True
            elif (entry := _ENTRY.match(line)) is not None and (data is not None or names_secret(entry["name"], "?")):
                folded = _FOLDED.fullmatch(entry["value"]) is not None
                if folded or (not means_nothing(entry["value"]) and not _CLOSED.fullmatch(entry["value"])):
                    block = entry.start("name")
                if data is not None and not folded and not means_nothing(entry["value"]):
                    line = f"{entry['head']}{BLANK}{entry['tail']}"
        lines.append(line)
    return "\n".join(lines)
