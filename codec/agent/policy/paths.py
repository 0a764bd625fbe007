"""The one form in which a path is judged and written, or why it has none.

Rules
  - What may not be read (codec/agent/tree_paths.py: NUL, absolute, .., a drive, a backslash, `.git` in any spelling)
    may not be written.
  - Nor what would be another file somewhere else: a path that begins with ~, the name of a Windows device, a name that
    ends with a dot or a blank, one with a colon (a stream of NTFS), one with a character that is not seen.
  - Whether a path is blocked is asked of its folded form, in which all spellings that some file system takes for one
    are one: capitals, composed and compatible characters, characters that are not seen.
"""

import re
import unicodedata
from functools import lru_cache

from codec.agent.files import FileRefused
from codec.agent.globs import matches
from codec.agent.policy.verdicts import shown
from codec.agent.tree_paths import tree_names

_DEVICE = re.compile(r"(?i)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:[. ].*)?", re.DOTALL)


def normal_path(path: str) -> str:
    """The path with single slashes and without dots. Raises FileRefused."""
    if path.startswith("~"):
        raise FileRefused(
            f"The path {shown(path)} begins with ~. Write it from the workspace's root, such as src/app.py."
        )
    if ".." in path.split("/"):
        raise FileRefused(f"The path {shown(path)} leads upwards. Only what is in the workspace can be changed.")
    parts = tree_names(path)
    if not parts or path.endswith(("/", "/.")):
        raise FileRefused(f"The path {shown(path)} names a folder. Only files can be changed.")
    for name in parts:
        _check(name, path)
    return "/".join(parts)


def _check(name: str, path: str) -> None:
    if name.isascii() and name.isalnum() and len(name) > 7:
        return  # nearly all names; no device's is as long
    if _DEVICE.fullmatch(name):
        raise FileRefused(f"The path {shown(path)} holds {shown(name)}, which is a device under Windows.")
    if name[-1] in ". ":
        raise FileRefused(
            f"The path {shown(path)} holds a name that ends with a dot or a blank, which Windows leaves off."
        )
    if ":" in name:
        raise FileRefused(
            f"The path {shown(path)} holds a colon. Under Windows it would be another file's hidden part."
        )
    if not name.isascii() and any(_is_unseen(char) for char in name):
        raise FileRefused(f"The path {shown(path)} holds a character that is not seen.")


def _is_unseen(char: str) -> bool:
    """Two names that differ in it look the same."""
    return unicodedata.category(char) in ("Cf", "Zs") and char != " "


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    seen = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())


def blocking_glob(globs: tuple[str, ...], path: str) -> str | None:
    """The first of them that matches the path in any spelling."""
    plain, all_folded = folded(path), _all_folded(globs)
    if not matches(all_folded, plain) and not matches(globs, path):
        return None
    pairs = zip(globs, all_folded, strict=True)
    return next(glob for glob, each in pairs if matches((each,), plain) or matches((glob,), path))


@lru_cache(64)
def _all_folded(globs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(folded, globs))
