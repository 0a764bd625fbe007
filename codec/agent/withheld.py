"""What must not reach a prompt: keys, passwords and the values of `.env` files.

Each is replaced by ***, and nothing else is: what a model reads is code, in which `token` and `password` are ordinary
names. So a value is withheld if it has the shape of a known kind of key, or if a secret's name is given a value that
looks like none that a person would choose as an ordinary word. Line breaks stay, so line numbers stay true.

This is a net with holes: a short password in the middle of a sentence is not found.
"""

import re
from collections.abc import Mapping
from math import log2
from pathlib import PurePosixPath
from typing import Any

from codec.redaction import BLANK, is_secret

_BLOCK = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(.*?)"
    r"(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_SHAPES = re.compile(
    r"""(?x) (?<![\w-])(?:
        sk-(?:[A-Za-z]{1,12}-){0,3}[\w-]{16,}        # of model servers
      | gh[pousr]_\w{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
      | xox[abeoprs]-[\w-]{10,} | xapp-[\w-]{10,}
      | (?:AKIA|ASIA)[A-Z0-9]{16}
      | AIza[\w-]{30,} | ya29\.[\w-]{20,}
      | [rs]k_(?:live|test)_\w{10,} | whsec_\w{16,}
      | npm_\w{30,} | pypi-\w[\w-]{30,} | hf_\w{20,} | dop_v1_\w{30,}
      | SG\.[\w-]{16,}\.[\w-]{16,}
      | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*          # a JSON Web Token
    )"""
)
_IN_ADDRESS = re.compile(r"(://[^/\s:@'\"]{0,100}:)(?![${<%\[*])[^/\s@'\"]{1,200}@")
_HEADER = re.compile(r"(?i)\b((?:bearer|basic)\s+)([\w.~+/=-]{12,})")
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,80})['"]?(?P<sign>\s*(?::=|[:=])\s*)(?P<quote>b?['"`]?)(?P<value>[^\s'"`,;]{8,500})"""
)
_PREFIXES = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-", "AKIA", "ASIA", "AIza"),
    *("ya29.", "k_live", "k_test", "whsec_", "npm_", "pypi-", "hf_", "dop_v1_", "SG.", "eyJ"),
)
"""One of them is in whatever _SHAPES finds."""
_WORDS = ("token", "authorization", "cookie", "passw", "passphrase", "secret", "credential", "key", "bearer", "basic")
"""One of them is in every line in which a value is named by a secret's name, or is in a header. Nearly all lines have
none, and need no closer look."""
_SETTING = re.compile(r"(?m)^(\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=[ \t]*)(?!\s*$)(.+)$")
_PATH = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::|->)[A-Za-z_][\w]*)*\(?\)?")
_MULTILINE = re.compile(r"""(?ms)^(\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=[ \t]*)(["'])((?:\\.|(?!\2).)*)\2""")


def is_settings(path: str) -> bool:
    """Whether the values of this file are withheld, whatever they look like: .env, .env.local, production.env."""
    name = PurePosixPath(path).name.lower()
    if name.endswith((".example", ".sample", ".template", ".dist")):
        return False
    return (
        name == ".env" or name.startswith(".env.") or name.endswith(".env") or name in (".npmrc", ".pypirc", ".netrc")
    )


def withheld(text: str, path: str = "") -> str:
    """The text without secrets; `path`: where it comes from, if that is a file."""
    if path and is_settings(path):
        return _settings(text)
    text = without_private_keys(text)
    if any(prefix in text for prefix in _PREFIXES):
        text = _SHAPES.sub(BLANK, text)
    if "://" in text:
        text = _IN_ADDRESS.sub(rf"\1{BLANK}@", text)
    lowered = text.lower()
    if any(word in lowered for word in _WORDS):
        text = "\n".join(_line(line) for line in text.split("\n"))
    return text


def without_private_keys(text: str) -> str:
    """For whole files, before lines are taken out of them: a line from within a key looks like nothing."""
    return _BLOCK.sub(_block, text) if "PRIVATE KEY" in text else text


def _line(line: str) -> str:
    lowered = line.lower()
    if not any(word in lowered for word in _WORDS):
        return line
    return _NAMED.sub(_named, _HEADER.sub(_header, line))


def all_withheld(value: Any) -> Any:
    """The same for every text in a JSON value."""
    match value:
        case str():
            return withheld(value)
        case Mapping():
            return {
                key: BLANK if isinstance(item, str) and is_secret(key, item) and _unlikely(item) else all_withheld(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [all_withheld(item) for item in value]
    return value


def _settings(text: str) -> str:
    def multiline(found: re.Match[str]) -> str:
        return f"{found[1]}{BLANK}" + "\n" * found[0].count("\n") if "\n" in found[0] else found[0]

    text = _SETTING.sub(rf"\1{BLANK}", _MULTILINE.sub(multiline, text))
    return "\n".join(
        line if "=" in line or not line.strip() or line.lstrip().startswith("#") else BLANK for line in text.split("\n")
    )


def _block(found: re.Match[str]) -> str:
    if not found[2].strip():
        return found[0]  # a text that speaks of keys
    return f"{found[1]}{BLANK}" + "\n" * found[2].count("\n") + found[3]


def _header(found: re.Match[str]) -> str:
    return f"{found[1]}{BLANK}" if _unlikely(found[2]) else found[0]


def _named(found: re.Match[str]) -> str:
    value = found["value"]
    if not _is_secret_name(found["name"], value) or value.startswith(("$", "{", "<", "%", "[", "(", BLANK)):
        return found[0]
    if not found["quote"] and _is_code(value, plainly_set=found["sign"] == "="):
        return found[0]
    return found[0][: found.start("value") - found.start()] + BLANK if _unlikely(value) else found[0]


def _is_secret_name(name: str, value: str) -> bool:
    last = name.rsplit(".", 1)[-1]
    return is_secret(last, value) or re.search(r"(?i)(?:secret|encryption|master|auth)[_-]?key$", last) is not None


def _is_code(value: str, *, plainly_set: bool) -> bool:
    """Whether a value without quotes is a name or a call rather than a text: token = self.next(), but not TOKEN=abc123.
    `plainly_set`: there is no blank around the sign, as in a shell."""
    path = _PATH.match(value)
    if path is None or len(path[0]) >= 40:
        return False
    rest = value[path.end() :]
    if rest[:1] in ("(", "[", ".") or path[0].endswith((")", "(")) or re.search(r"\.|::|->", path[0]):
        return True
    return rest.strip(")]}") == "" and (not plainly_set or _names_a_secret(path[0]))


def _names_a_secret(value: str) -> bool:
    return any(word in value.lower() for word in ("token", "passw", "secret", "key"))


def _unlikely(value: str) -> bool:
    """Whether nobody would write this as an ordinary word or name."""
    has_digit = any(each.isdigit() for each in value)
    has_letter = any(each.isalpha() for each in value)
    if has_digit and has_letter:
        return True
    return len(value) >= 20 and _entropy(value) >= 3.5 and not _PATH.fullmatch(value.replace("-", "_"))


def _entropy(text: str) -> float:
    return -sum((share := text.count(each) / len(text)) * log2(share) for each in set(text))
