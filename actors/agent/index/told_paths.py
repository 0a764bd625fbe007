"""What an editor tells of changed files, made into paths from the root. Pure.

Only the path is taken from the editor's report: the disk says what the file is now. So a hash that differs from the
disk's changes nothing, and it does not matter whether a file was made, changed or deleted.
"""

from collections.abc import Iterable

from msgspec import Struct

from codec.agent.client_messages import FileChange
from codec.agent.files import FileRefused
from codec.agent.tree_paths import tree_names


class ToldPaths(Struct, frozen=True):
    paths: tuple[str, ...]
    refused: tuple[tuple[int, str], ...]
    """By the number of the change: why its path is none of this workspace."""


def told_paths(changes: Iterable[FileChange]) -> ToldPaths:
    paths: dict[str, None] = {}
    refused: list[tuple[int, str]] = []
    for number, change in enumerate(changes):
        try:
            names = tree_names(change.file_path)
            if not names:
                raise FileRefused("This is the workspace's own folder, and no file.")
        except FileRefused as why:
            refused.append((number, str(why)))
        else:
            paths["/".join(names)] = None
    return ToldPaths(tuple(paths), tuple(refused))
