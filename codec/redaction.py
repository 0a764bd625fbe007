"""Removes secrets from every log entry just before it is written. (What must not reach a prompt: agent/withheld.py.)

A value is blanked if its key names a secret, at any depth. Texts are searched for the usual forms of secrets: the query
of an address, a password in an address, an Authorization or Cookie header, a printed mapping. An object that is not a
plain value is printed with `repr` and searched like any text, so a secret cannot hide in an object.

Also, every text is made safe to print (no control characters in our terminal, no lone surrogates that JSON refuses),
and everything is limited in length and depth.
"""

import re
from collections.abc import Mapping, MutableMapping
from itertools import islice
from typing import Any

from codec.printable import printable

BLANK = "***"
LONGEST_TEXT = 4_000
LONGEST_TRACE = 40_000
MOST_ITEMS = 100
DEEPEST = 6

_SECRETS = {"token", "authorization", "cookie", "password", "passwd", "passphrase", "secret", "credential", "apikey"}
_SECRET_KEYS = {"api", "private", "access", "signing", "session"}
"""Words that make a following `key` a secret one."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_NEEDLES = ("token", "passw", "secret", "api", "authorization", "cookie", "credential", "bearer", "://")
"""Nearly all texts contain none of these and need no closer look."""

_NAME = r"(?:token|passw(?:or)?d|secret|api[_-]?key|authorization|cookie|credential)"
_IN_TEXT: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?i)({_NAME}=)(?!['\"])[^&\s\"'#,;)}}\]]+"), rf"\1{BLANK}"),
    (re.compile(rf"(?is)({_NAME}s?['\"]?\s*[:=,]\s*b?)(['\"])(?:\\.|(?!\2).)*(?:\2|$)"), rf"\1\2{BLANK}\2"),
    (re.compile(r"(?i)((?:authorization|cookie|api-key)['\"]?\s*:\s*)(?!['\"])[^\r\n'\"]+"), rf"\1{BLANK}"),
    (re.compile(r"(?i)(bearer)\s+[\w.~+/=-]{8,}"), rf"\1 {BLANK}"),
    (re.compile(r"(://[^/\s:@]{0,100}:)[^/\s@]{1,200}@"), rf"\1{BLANK}@"),
)


def blank_secrets(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The structlog processor."""
    cleaned: MutableMapping[str, Any] = {}
    for key, value in entry.items():
        if key == "exception" and isinstance(value, str):
            cleaned[key] = "\n".join(_text(line, LONGEST_TEXT) for line in value[-LONGEST_TRACE:].splitlines())
        else:
            cleaned[_text(str(key), 100)] = BLANK if is_secret(key, value) else clean(value)
    return cleaned


def is_secret(key: object, value: object) -> bool:
    """True for `sessionToken`, `API-KEY`, `set-cookie`, and also for `tokens` unless the value is their number."""
    if isinstance(key, bytes):
        key = key.decode("latin-1")
    if not isinstance(key, str) or value is None:
        return False
    words = [word.lower() for word in _WORD.findall(key)] or [""]
    last = words[-1]
    if last.endswith("s") and isinstance(value, int | float):
        return False
    last = last.removesuffix("s")
    return last in _SECRETS or (last == "key" and len(words) > 1 and words[-2] in _SECRET_KEYS)


def clean(value: object, depth: int = 0) -> object:
    """`value` as plain values only, without its secrets."""
    match value:
        case None | bool() | float():
            return value
        case int():
            return value if abs(value) < 2**63 else str(value)[:100]
        case str():
            return _text(value, LONGEST_TEXT)
        case bytes() | bytearray():
            return _text(bytes(value[:LONGEST_TEXT]).decode("utf-8", "backslashreplace"), LONGEST_TEXT)
        case _ if depth >= DEEPEST:
            return "…"
        case Mapping():
            return {
                _text(str(key), 100): BLANK if is_secret(key, item) else clean(item, depth + 1)
                for key, item in islice(value.items(), MOST_ITEMS)
            }
        case (str() | bytes() as key, item) if is_secret(key, item):  # a header
            return [clean(key), BLANK]
        case list() | tuple() | set() | frozenset():
            return [clean(item, depth + 1) for item in islice(value, MOST_ITEMS)]
        case _:
            return _text(_printed(value), LONGEST_TEXT)


def _printed(value: object) -> str:
    try:
        return str(value) if isinstance(value, BaseException) else repr(value)
    except Exception:  # a foreign __repr__ may do anything, and the rest of the entry still matters
        return f"<{type(value).__name__} that cannot be printed>"


def _text(text: str, longest: int) -> str:
    if len(text) > longest:
        text = f"{text[:longest]}…"
    lowered = text.lower()
    if any(needle in lowered for needle in _NEEDLES):
        for pattern, replacement in _IN_TEXT:
            text = pattern.sub(replacement, text)
    return printable(text)
