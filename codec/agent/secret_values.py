"""Whether a name is a secret's, and whether a value looks like a secret. Every form of withheld.py asks this."""

import re
from collections.abc import Iterable
from math import log2

from codec.redaction import BLANK, is_secret

WORDS = ("token", "authorization", "cookie", "passw", "_pass", "phrase", "pwd", "secret", "credential", "key")
"""One of them is in every name of a secret. Nearly all lines have none, and need no closer look."""

_NAMES = re.compile(
    r"""(?ix) (?: secret|encryption|master|auth|account|storage|license|deploy|service_?role ) [_-]? key $
      | (?: openai|anthropic|mistral|groq|gemini|stripe|sendgrid|twilio ) _? key $
      | (?: identity|registry|auth|access|refresh|bearer ) _? token $
      | secret_?key_?base$ | client-?key-?data$
      | (?: db|database|user|admin|root|smtp|mail|email|ftp|ssh|http|proxy|redis|mysql|pg|postgres|login ) _ pass $
      | (?: db|database|user|admin|root|smtp|mysql|postgres|login ) _ pwd $
      | [a-z0-9] passw(?:or)?d $ | ^(?:user|db|admin)?pwd$ | pass_?phrase$
    """
)
"""What codec/redaction.py need not know: as files of settings and programs call them."""
_PATH = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::|->)[A-Za-z_][\w]*)*\(?\)?")
_NOTHING = re.compile(r"(?i)(?:true|false|yes|no|on|off|none|nil|undefined|null|~|inherit|[$&*!{<\[%].*)", re.DOTALL)
"""What is no secret where a value needs no quotes: a switch, a reference, a tag, a placeholder."""
_SHOWN = re.compile(r"[A-Z][a-z]*|[^\W\d_]*[^\x00-\x7f][^\W\d_]*")
"""One word as it stands in a form: Password, Passwort, пароль."""
_PLACEHOLDERS = ("$", "{", "<", "%", "[", "(", "@", "#{", BLANK)
PASSWORD = re.compile(r"(?i)(?:passw(?:or)?d|pwd|pass|phrase|secret)$")
_TYPE = re.compile(r"(?i)(?:u?int|float|bytes?|bool|str|string|utf|base|sha|md|varchar|char|[iuf])_?\d+|#[0-9a-f]{3,8}")
SHORTEST, SHORT = 4, 8
"""Of a secret in code, and of one that need not be looked at more closely."""


def may_hold_secrets(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in WORDS)


def names_secret(name: str, value: object = "") -> bool:
    last = name.rsplit(".", 1)[-1]
    if last == "key":
        last = "_".join(name.split(".")[-2:])
    if is_secret(last, value):
        return True
    if _NAMES.search(last) is None:
        return False
    is_folder = isinstance(value, str) and last.lower() == "pwd" and ("/" in value or "\\" in value)
    return not is_folder


def means_nothing(value: str) -> bool:
    return _NOTHING.fullmatch(value) is not None


def is_placeholder(value: str) -> bool:
    return value.startswith(_PLACEHOLDERS)


def is_given(name: str, value: str) -> bool:
    """Of a file of settings, where whatever is given to a secret's name is one: not merely a number of tokens."""
    value = value.strip()
    number: object = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else value
    return names_secret(name, number) and value != BLANK and not means_nothing(value)


def is_paired(name: str, value: str) -> bool:
    """Of a name and a value that stand apart, as texts that a program shows do as well: "password" and "Password"."""
    value = value.strip()
    if not value or is_placeholder(value) or not is_given(name, value):
        return False
    if unlikely(value):
        return " " not in value
    return not re.search(r"\s", value) and not says_secret(value) and _SHOWN.fullmatch(value) is None


def is_written(name: str, parts: Iterable[str]) -> bool:
    """Of a text that is written in several pieces."""
    value = "".join(parts)
    return not re.search(r"\s", value) and is_literal(name, value)


def is_literal(name: str, value: str) -> bool:
    """Of a text in code, where `token` and `password` are ordinary names. Short ones are also types, colours, and one
    of several tokens. Digits alone may be a password, but hardly anything else that is secret."""
    if len(value) < SHORTEST or is_placeholder(value) or not names_secret(name, value):
        return False
    if value.isdigit():
        return PASSWORD.search(name) is not None
    if len(value) < SHORT and (is_type(value) or _is_of_many(name)):
        return False
    return unlikely(value)


def _is_of_many(name: str) -> bool:
    return name.lower().endswith("s") and not name.lower().endswith("ss")


def is_type(value: str) -> bool:
    return _TYPE.fullmatch(value) is not None


def is_code(value: str, *, plainly_set: bool) -> bool:
    """Whether a value without quotes is a name or a call rather than a text: token = self.next(), but not TOKEN=abc123.
    `plainly_set`: there is no blank around the sign, as in a shell."""
    path = _PATH.match(value)
    if path is None or len(path[0]) >= 40:
        return False
    rest = value[path.end() :]
    if rest[:1] in ("(", "[", ".", "<") or path[0].endswith((")", "(")) or re.search(r"\.|::|->", path[0]):
        return True
    return rest.strip(")]}") == "" and (not plainly_set or says_secret(path[0]))


def says_secret(value: str) -> bool:
    return any(word in value.lower() for word in ("token", "passw", "secret", "key"))


def unlikely(value: str) -> bool:
    """Whether nobody would write this as an ordinary word or name."""
    has_digit = any(each.isdigit() for each in value)
    has_letter = any(each.isalpha() for each in value)
    if has_digit and has_letter:
        return True
    return len(value) >= 20 and _entropy(value) >= 3.5 and not _PATH.fullmatch(value.replace("-", "_"))


def _entropy(text: str) -> float:
    return -sum((share := text.count(each) / len(text)) * log2(share) for each in set(text))
