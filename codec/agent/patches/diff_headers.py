"""The lines of a diff that say which file it is about: paths, and what git says beside them."""

import re
from typing import Literal

from codec.agent.patches.patch import PatchUnreadable

NOWHERE = "/dev/null"
_PREFIXES = frozenset("abciow12")
"""The folders that git puts before paths, of one letter each."""
_TIME = re.compile(r"\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*(\s+[+-]\d{4})?\s*$")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{1,3})')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def header_path(rest: str) -> str:
    """The path after --- or +++, as it is written there, without a timestamp."""
    rest = rest.strip(" \r")
    if quoted := _QUOTED.match(rest):
        return unquoted(quoted[0])
    path = rest.partition("\t")[0]
    return _TIME.sub("", path).rstrip()


def git_paths(rest: str) -> tuple[str, str] | None:
    """Both paths after `diff --git`. None: where the first one ends cannot be told."""
    rest = rest.strip()
    if quoted := _QUOTED.match(rest):
        first, other = quoted[0], rest[quoted.end() :].strip()
        return unquoted(first), unquoted(other)
    if rest.endswith('"') and (at := rest.find(' "')) > 0:
        return rest[:at], unquoted(rest[at + 1 :])
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " ":
        first, other = rest[:middle], rest[middle + 1 :]
        if first.partition("/")[2] == other.partition("/")[2] or first == other:
            return first, other
    words = rest.split(" ")
    return (words[0], words[1]) if len(words) == 2 else None


def unquoted(path: str) -> str:
    if not (len(path) > 1 and path.startswith('"') and path.endswith('"')):
        return path

    def byte(found: re.Match[bytes]) -> bytes:
        word = found[1].decode()
        return bytes([_ESCAPES[word] if word in _ESCAPES else int(word, 8) & 255])

    return _ESCAPE.sub(byte, path[1:-1].encode("utf-8", "replace")).decode("utf-8", "replace")


def quoted(path: str) -> str:
    """As git quotes it, if it has to."""
    if not any(char < " " or char in '"\\\x7f' for char in path):
        return path
    names = {code: char for char, code in _ESCAPES.items()}
    return '"' + "".join(f"\\{names[ord(c)]}" if ord(c) in names else _octal(c) for c in path) + '"'


def _octal(char: str) -> str:
    return f"\\{ord(char):03o}" if char < " " or char == "\x7f" else char


def one_path(old: str | None, new: str | None) -> tuple[str, Literal["create", "modify", "delete"]]:
    """The file that two headers speak of. Raises PatchUnreadable if they speak of two."""
    if old in (None, NOWHERE) and new in (None, NOWHERE):
        raise PatchUnreadable("A file's header names no file. Write `--- a/PATH` and `+++ b/PATH` before its hunks.")
    if old is None or old == NOWHERE:
        assert new is not None
        return _plain(_without(new, "b")), "create" if old else "modify"
    if new is None or new == NOWHERE:
        return _plain(_without(old, "a")), "delete" if new else "modify"
    folder, _, rest = old.partition("/")
    other_folder, _, other_rest = new.partition("/")
    if folder != other_folder and {folder, other_folder} <= _PREFIXES and rest and other_rest:
        old, new = rest, other_rest
    elif old != new:
        old, new = _without(old, "a"), _without(new, "b")
    old, new = _plain(old), _plain(new)
    if old != new and old not in (f"{new}.orig", f"{new}~", f"{new}.old"):
        raise PatchUnreadable(
            f"The diff goes from {_shown(old)} to {_shown(new)}. A file is not renamed by a diff: "
            "delete the old one, and create the new one with all of its lines."
        )
    return new, "modify"


def _without(path: str, folder: str) -> str:
    return path.removeprefix(f"{folder}/") or path


def _plain(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    if not path:
        raise PatchUnreadable("A file's header names no file. Write `--- a/PATH` and `+++ b/PATH` before its hunks.")
    return path


def _shown(path: str) -> str:
    return f'"{path[:200]}"'


def permission_bits(word: str) -> int | None:
    """Of a mode as git writes it. None: the usual ones. Raises PatchUnreadable for what is no plain file."""
    kind, bits = word[:-4], word[-4:]
    if not re.fullmatch(r"[0-7]{6}", word) or kind != "10":
        raise PatchUnreadable(f"The diff makes a file of the mode {word[:20]}. Only plain files can be written.")
    return 0o755 if int(bits, 8) & 0o111 else None
