"""Definitions in a syntax tree.

A language is a table: which node is a definition and what it is called, and which nodes are walked through to find
others. Everything else is never looked at, which is why this is no query of tree-sitter's: a query visits every node of
the tree, and costs more than a quarter of the parse even if it finds nothing; the walk costs a fifth, with names, lines
and containers. The tables are in grammar_rules.py.

Rules
  - No recursion: a file may nest as deep as it likes.
  - The body of a function is entered only if one of the words that begin definitions in that language is in it. Where
    they stand is found once, so this costs no more in a file that nests deeply.
  - A file has at most MOST symbols, a name at most LONGEST_NAME characters, and names are kept within DEEPEST others.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

MOST = 5_000
LONGEST_NAME = 120
DEEPEST = 12


class Defined(NamedTuple):
    """A definition, and where what belongs to it begins: its decorators, its attributes."""

    first: int
    last: int
    name: str
    kind: str
    line: int
    container: str
    block: bool
    """Whether it can be a piece of its own: a function and a class can, a variable and an entry of an enum cannot."""


class Around(NamedTuple):
    """Where the walk is."""

    container: str = ""
    kind: str = ""
    """Of the innermost definition around."""
    depth: int = 0
    first: int = -1
    """The line (from 0) at which a wrapper of the next definition begins: a decorator, `export`, `template <...>`."""


Rule = Callable[["Walk", Node, Around], None]


class Rules(NamedTuple):
    by_kind: Mapping[int, Rule]
    words: tuple[bytes, ...]
    """Definitions within functions begin with one of these."""


FUNCTIONS = frozenset({"function", "method", "constructor"})
TYPES = frozenset({"class", "interface", "struct", "enum", "union", "trait", "record", "type", "object"})


class Walk:
    """One pass over one tree."""

    def __init__(self, rules: Rules, data: bytes) -> None:
        self.data = data
        self.found: list[Defined] = []
        self.whole = ""
        """A namespace that the rest of the file is in, without a body of its own."""
        self._rule_of = rules.by_kind.get
        self._words = _places(data, rules.words)
        self._left: list[tuple[Sequence[Node], Around]] = []

    def over(self, root: Node) -> list[Defined]:
        """In the order of the file, the outer before the inner."""
        self.enter(root, Around())
        rule_of = self._rule_of
        while self._left and len(self.found) < MOST:
            nodes, place = self._left.pop()
            for node in nodes:
                rule = rule_of(node.kind_id)
                if rule is not None:
                    rule(self, node, place)
        if self.whole:
            self.found = [
                each if each.kind == "namespace" else each._replace(container=within(self.whole, each.container))
                for each in self.found
            ]
        self.found.sort(key=_in_order)
        del self.found[MOST:]
        return self.found

    def enter(self, node: Node, place: Around) -> None:
        """Its children are looked at, later."""
        self._left.append((node.named_children, place))

    def visit(self, node: Node, place: Around) -> None:
        """This node is looked at, later."""
        self._left.append(((node,), place))

    def holds(self, node: Node) -> bool:
        """Whether it may have definitions in it."""
        at = bisect_left(self._words, node.start_byte)
        return at < len(self._words) and self._words[at] < node.end_byte

    def text(self, node: Node) -> str:
        start, end = node.start_byte, node.end_byte
        if end - start > LONGEST_NAME:
            end = min(end, start + 4 * LONGEST_NAME)
        return self.data[start:end].decode("utf-8", "replace")[:LONGEST_NAME]

    def add(self, node: Node, name: str, kind: str, place: Around, line: int, block: bool = True) -> Around:
        """The place within it. What has no name, because a grammar has supposed one where none is, defines nothing."""
        name = name[:LONGEST_NAME]
        if not name.strip():
            return place
        first = place.first if place.first >= 0 else node.start_point[0]
        end = node.end_point
        last = end[0] if end[1] else end[0] - 1  # some nodes hold the line break behind them
        if last < line:
            last = line
        self.found.append(Defined(first + 1, last + 1, name, kind, line + 1, place.container, block))
        if place.depth >= DEEPEST:
            return Around(place.container, kind, place.depth)
        return Around(within(place.container, name), kind, place.depth + 1)


def within(container: str, name: str) -> str:
    """a::b in ns is ns.a.b; so it is written in every language."""
    if ":" in name or "\\" in name:
        name = name.replace("::", ".").replace("\\", ".")
    if not container or not name:
        return container or name
    return f"{container}.{name}"


def _places(data: bytes, words: Sequence[bytes]) -> list[int]:
    places = []
    for word in words:
        at = data.find(word)
        while at >= 0:
            places.append(at)
            at = data.find(word, at + 1)
    if len(words) > 1:
        places.sort()
    return places


def _in_order(found: Defined) -> tuple[int, int, int]:
    return found.first, -found.last, found.line
