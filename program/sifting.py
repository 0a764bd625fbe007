"""Selects the requested rows from the tree of a running server. Pure.

    troupe tree sidekick        this whole branch, and the way to it
    troupe tree 'page *'        all actors with such a name; * ? [ ] as in a shell
    troupe tree --trouble       actors that need attention; with words: only among the actors that these select

A word is searched for in the path below the top and in the actor's readable name, ignoring case. Of several words one
must match. An actor that matches is shown with everything below it. The actors above it are shown only as the way to
it, so the number of their other children is not given.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from codec.console import Hello, Node


def sift(hello: Hello, words: Sequence[str], *, trouble: bool) -> Hello:
    """The same message with only the selected rows and crashes. It has no rows if nothing matches."""
    found: set[str] = set()
    for node in hello.nodes:  # parents before their children
        if node.parent in found or not words or any(_is_called(node, word) for word in words):
            found.add(node.path)
    if trouble:
        found = {node.path for node in hello.nodes if node.path in found and node.trouble is not None}
    way: set[str | None] = set()
    for node in reversed(hello.nodes):
        if node.path in found or node.path in way:
            way.add(node.parent)
    whole = set() if trouble else found
    nodes = [node for node in hello.nodes if node.path in found or node.path in way]
    return replace(
        hello,
        nodes=[node if node.path in whole else replace(node, folded=0) for node in nodes],
        crashes=[crash for crash in hello.crashes if not words or any(_is_at(crash.path, word) for word in words)],
    )


def _is_called(node: Node, word: str) -> bool:
    return _is_at(node.path, word) or any(_fits(name, word) for name in (node.called, node.parent and node.name))


def _is_at(path: str, word: str) -> bool:
    top, _, below = path.partition("/")
    return _fits(below, word) or word.lower() == top.lower()


def _fits(name: str | None, word: str) -> bool:
    if not name:
        return False
    name, word = name.lower(), word.lower()
    return fnmatchcase(name, word) if any(sign in word for sign in "*?[") else word in name
