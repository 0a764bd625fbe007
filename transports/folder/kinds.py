"""What an entry of a folder is, in a word."""

import stat
from collections.abc import Callable, Mapping

_KINDS: Mapping[str, Callable[[int], bool]] = {
    "link": stat.S_ISLNK,
    "folder": stat.S_ISDIR,
    "pipe": stat.S_ISFIFO,
    "socket": stat.S_ISSOCK,
    "device": lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode),
}


def kind_of(mode: int) -> str:
    return next((kind for kind, is_one in _KINDS.items() if is_one(mode)), "file")
