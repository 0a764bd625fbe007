"""Paths as models, editors and users write them, made into names that can be opened one below the other.

Rules
  - A path is relative to the workspace's root and never leads upwards: no /, no .., no drive, no backslash.
  - An editor tells 10,000 paths at once: single characters are looked at only where some cannot be seen.
  - Every name that any file system takes for `.git` is closed, at every depth: in capitals, with characters that are
    not seen, with characters that Windows leaves off at the end of a name, by its short name, or one of its streams.
"""

import re
import unicodedata

from codec.agent.files import FileRefused

LONGEST_PATH, LONGEST_NAME, DEEPEST = 4_096, 255, 200

_DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def tree_names(path: str) -> tuple[str, ...]:
    """The names from the root on; none for the root itself. Raises FileRefused."""
    if len(path) > LONGEST_PATH:
        raise FileRefused(f"The path {_shown(path)} is too long.")
    if not path.isprintable() and any(map(_may_be_in_no_path, path)):
        raise FileRefused(f"The path {_shown(path)} holds characters that no path may hold.")
    if "\\" in path:
        raise FileRefused(f"The path {_shown(path)} holds a backslash. Write it with /, from the workspace's root.")
    if path.startswith("/") or _DRIVE.match(path) or _SCHEME.match(path):
        raise FileRefused(f"The path {_shown(path)} is not one from the workspace's root, such as src/app.py.")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise FileRefused(f"The path {_shown(path)} leads upwards. Only what is in the workspace can be read.")
    if len(names) > DEEPEST or any(len(name.encode()) > LONGEST_NAME for name in names):
        raise FileRefused(f"The path {_shown(path)} is too long.")
    if any(map(is_closed, names)):
        raise FileRefused(f"The path {_shown(path)} leads into .git, which is closed.")
    return names


def _may_be_in_no_path(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")


def is_closed(name: str) -> bool:
    if name.isascii() and name[:2].lower() not in (".g", "gi"):
        return False
    seen = name if name.isprintable() else "".join(char for char in name if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", seen).casefold().partition(":")[0].rstrip(" .")
    return plain == ".git" or re.fullmatch(r"(git|\.git|gi[0-9a-f]{4})~[0-9]+", plain) is not None


def _shown(path: str) -> str:
    text = "".join(char if char.isprintable() else "\ufffd" for char in path[:100])
    return f'"{text}…"' if len(path) > 100 else f'"{text}"'
