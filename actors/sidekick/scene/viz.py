"""A viz: variables by name, each a tree that is updated at paths.

What an update does

    set, setitem            puts the value at the path. A `set` with an empty path makes a variable, or makes it anew
    append                  puts the value at the end, where it is shown even if the items before it are not. The path
                            leads to the list or, from released clients, to the new position in it: then the last
                            segment is the length before the change
    insert                  puts the value before the item at the path
    pop, remove, delitem    removes the item at the path
    add_set                 puts the value into the set at the path
    discard_set             removes the item that equals the value (by type and value, or by id) from the set at the
                            path. Released clients do not tell which item left (NoneType): then all items stay, unless
                            the length is 0, and only the length tells that there are fewer
    clear                   replaces the node at the path by the value; without one (or with NoneType), empties the node
    removeVariable          removes the variable

Rules
  - In a dict, a segment finds an entry by its key's value, or else by its key's id. "1" is not 1, but 1, 1.0 and True
    are one key, as in Python; a tuple is compared by its items. In a list, a segment is an index; a negative one counts
    from the end of the whole list. In an object, it is the name of an attribute.
  - A change to items that are not shown changes only the length. A change at a path that leads nowhere changes nothing.
  - The length is the one in the update. If the update gives none and there was one, it is the number of items, if all
    of them are shown.

A variable can be 11 MB of JSON, and ten times that as Python objects. So it stays JSON except for the nodes on changed
paths (see nodes.py). An untouched variable is the very message in which it came. If the patches become larger than the
variable, it is written anew in one piece. So, within a small factor, its real cost is that of its bytes, which are
counted.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, ClassVar

import msgspec
from msgspec import Raw

from actors.sidekick.scene.limits import Budget, refused
from actors.sidekick.scene.nodes import Opened, Sequence, open_node
from actors.sidekick.scene.tree import Actions, Component, Hero, write
from codec.sidekick import Spawn, Update
from codec.sidekick.shapes import VizChange, VizNode, VizOptions

VARIABLE = 300
PATCHES = 64 * 1024
"""A variable is written anew when its patches exceed its own size by so many bytes."""
LONGEST_PATH = 16
"""Clients show 5 levels."""
LONGEST_NAME = 1_000


NULL = Raw(b"null")


class _Nodes(msgspec.Struct):
    value: Raw = msgspec.field(name="valueRepresentation", default=NULL)
    key: Raw = msgspec.field(name="keyRepresentation", default=NULL)


class _Change(msgspec.Struct):
    options: _Nodes


class _Message(msgspec.Struct):
    """An update whose nodes are left as JSON."""

    payload: _Change


read = msgspec.json.Decoder(_Message).decode


class Variable:
    __slots__ = ("patched", "size", "tree", "weight")

    def __init__(self, raw: bytes) -> None:
        self.tree: bytes | Raw | Opened = raw
        """The message that set the variable, or its node, closed or open."""
        self.size = len(raw)
        """Its bytes when it was last written in one piece."""
        self.patched = 0
        """The bytes of all patches since then."""
        self.weight = VARIABLE + len(raw)

    def root(self) -> Opened | None:
        if isinstance(self.tree, bytes):
            self.tree = read(self.tree).payload.options.value
        if not isinstance(self.tree, Opened):
            self.tree = open_node(self.tree) or self.tree
        return self.tree if isinstance(self.tree, Opened) else None

    def now(self) -> Any:
        """The message that set the variable, or its node to be written as JSON. Later changes do not alter the
        result."""
        return self.tree.written() if isinstance(self.tree, Opened) else self.tree

    def node(self, path: list[Any]) -> Opened | None:
        """The node at the path, opened. None if there is no such node, or if it has no items."""
        node = self.root()
        for segment in path:
            if node is None:
                return None
            node = node.child(segment)
        return node


class Viz(Component):
    __slots__ = ("variables",)

    contains = False

    def __init__(self, message: Spawn, budget: Budget, parent: str, hero: Hero = None) -> None:
        super().__init__(message, budget, parent, hero)
        self.variables: dict[str, Variable] = {}

    def change(self, options: VizOptions, message: Update) -> str | None:
        assert isinstance(message.payload, VizChange)
        name, path, action = message.payload.variable_name, options.path or [], message.payload.action
        if len(name) > LONGEST_NAME:
            return refused(message, f"variableName must not be longer than {LONGEST_NAME:,} characters")
        if len(path) > LONGEST_PATH:
            return refused(message, f"options.path must not be longer than {LONGEST_PATH} steps")
        if action in NEED_VALUE and options.value_representation is None:
            return refused(message, "options.valueRepresentation is missing")
        variable = self.variables.get(name)
        if not path and action == "set":
            return self._set(name, message.raw, message)
        if variable is None:
            return refused(message, f"there is no variable '{name[:40]}': set it first")
        if action == "removeVariable":
            self.budget.left += variable.weight
            del self.variables[name]
            return None
        try:
            if not path and action == "clear" and _says_which(message):
                return self._set(name, set_message(self.target, name, _nodes(message).value), message)
            return self._patch(message, variable, path)
        except (RecursionError, msgspec.MsgspecError):  # the codec had more stack, or took the last of two equal keys
            return refused(message, "this variable is nested too deeply to be changed, or says something twice")

    def _set(self, name: str, raw: bytes, message: Update) -> str | None:
        before, after = self.variables.get(name), Variable(raw)
        cost = after.weight - (before.weight if before else 0)
        if cost > 0 and cost > self.budget.left and (wrong := self.budget.refusal(message, cost)):
            return wrong
        self.budget.left -= cost
        self.variables[name] = after
        return None

    def _patch(self, message: Update, variable: Variable, path: list[Any]) -> str | None:
        cost = 0 if message.action in TAKING else len(message.raw)
        if cost > self.budget.left and (wrong := self.budget.refusal(message, cost)):
            return wrong
        ACTIONS[message.action](variable, path, message)
        self.budget.left -= cost
        variable.weight += cost
        variable.patched += len(message.raw)
        if variable.patched > variable.size + PATCHES:
            self._write_anew(variable)
        return None

    def _write_anew(self, variable: Variable) -> None:
        if isinstance(variable.tree, Opened):
            variable.tree = Raw(write(variable.tree.written()))
            variable.size = len(memoryview(variable.tree))
        variable.patched = 0  # also if there is nothing to patch, as in a number: it retained nothing
        self.budget.left += variable.weight - (VARIABLE + variable.size)
        variable.weight = VARIABLE + variable.size

    def updates(self) -> Iterator[bytes]:
        return self._said((name, variable.now()) for name, variable in self.variables.items())

    def frozen(self) -> Iterable[bytes]:
        variables = [(name, variable.now()) for name, variable in self.variables.items()]
        return chain([self.spawned()], self._said(variables), self.unknown[:])

    def _said(self, variables: Iterable[tuple[str, Any]]) -> Iterator[bytes]:
        for name, now in variables:
            yield now if isinstance(now, bytes) else set_message(self.target, name, now)

    def held(self) -> int:
        return sum(variable.weight for variable in self.variables.values())

    actions: ClassVar[Actions] = {VizChange: change}


def set_message(target: str, name: str, node: Any) -> bytes:
    payload = {"action": "set", "variableName": name, "options": {"path": [], "valueRepresentation": node}}
    return write({"id": 0, "component": "viz", "type": "update", "target": target, "payload": payload})


def is_none(node: VizNode | None) -> bool:
    """Whether there is no node, or the node for None, which released clients send instead."""
    return node is None or node.get("type") == "NoneType"


def _nodes(message: Update) -> _Nodes:
    """The nodes of a message as JSON, copied out of it so that the message can be freed."""
    nodes = read(message.raw).payload.options
    return _Nodes(nodes.value.copy(), nodes.key.copy())


# --- the actions; they do nothing if their path leads nowhere ---------------------------------------------------------


def _length(message: Update) -> int | None:
    return message.payload.options.length  # type: ignore[union-attr]


def _says_which(message: Update) -> bool:
    return not is_none(message.payload.options.value_representation)  # type: ignore[union-attr]


def _put(variable: Variable, path: list[Any], message: Update) -> None:
    node, nodes = variable.node(path[:-1]), _nodes(message)
    if node is not None and path:
        node.settle(_length(message), node.put(path[-1], nodes.value, None if nodes.key == NULL else nodes.key))


def _append(variable: Variable, path: list[Any], message: Update) -> None:
    node = variable.node(path[:-1])
    if path and isinstance(node, Sequence) and node.index(path[-1]) not in (node.count, node.size()):
        inner = node.child(path[-1])
        node = inner if isinstance(inner, Sequence) else node
    if isinstance(node, Sequence):
        node.append(_nodes(message).value, _length(message))
        node.settle(_length(message), 1)


def _insert(variable: Variable, path: list[Any], message: Update) -> None:
    node = variable.node(path[:-1])
    if isinstance(node, Sequence) and path and type(path[-1]) is int:
        node.insert(path[-1], _nodes(message).value)
        node.settle(_length(message), 1)


def _drop(variable: Variable, path: list[Any], message: Update) -> None:
    node = variable.node(path[:-1])
    if node is not None and path:
        node.settle(_length(message), node.drop(path[-1]))


def _add(variable: Variable, path: list[Any], message: Update) -> None:
    node = variable.node(path)
    if isinstance(node, Sequence):
        node.settle(_length(message), node.add(_nodes(message).value, _length(message)))


def _discard(variable: Variable, path: list[Any], message: Update) -> None:
    node = variable.node(path)
    if not isinstance(node, Sequence):
        return
    node.settle(_length(message), node.discard(_nodes(message).value) if _says_which(message) else 0)
    if node.length == 0:
        node.empty()


def _clear(variable: Variable, path: list[Any], message: Update) -> None:
    if _says_which(message) and (parent := variable.node(path[:-1])) is not None:
        parent.put(path[-1], _nodes(message).value, None)
    elif (node := variable.node(path)) is not None:
        node.empty()
        node.settle(0, 0)


ACTIONS: dict[str, Callable[[Variable, list[Any], Update], None]] = {
    "set": _put,
    "setitem": _put,
    "append": _append,
    "insert": _insert,
    "pop": _drop,
    "remove": _drop,
    "delitem": _drop,
    "add_set": _add,
    "discard_set": _discard,
    "clear": _clear,
}
NEED_VALUE = frozenset(("set", "setitem", "append", "insert", "add_set"))
TAKING = frozenset(("pop", "remove", "delitem", "discard_set"))
"""Actions that add nothing to what is retained."""
