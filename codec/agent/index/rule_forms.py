"""The forms that the rules of most languages have."""


from tree_sitter import Node

from codec.agent.index.definitions import FUNCTIONS, TYPES, Around, Rule, Walk


def within(walk: Walk, node: Node, place: Around) -> None:
    """What is in it counts as if it stood here."""
    walk.enter(node, place)


def wrapper(walk: Walk, node: Node, place: Around) -> None:
    """The definition in it begins where this begins."""
    walk.enter(node, place if place.first >= 0 else place._replace(first=node.start_point[0]))


def alone(walk: Walk, node: Node, place: Around) -> None:
    """What is in it counts only outside of functions."""
    if place.kind not in FUNCTIONS:
        walk.enter(node, place)


def seeking(walk: Walk, node: Node, place: Around) -> None:
    """What is in it counts, if a definition may be in it."""
    if walk.holds(node):
        walk.enter(node, place)


def definition(kind: str, *, name: str = "name", body: str = "body", seek: bool = False, block: bool = True) -> Rule:
    """A node with a field that names it. `seek`: the body is entered only if a definition may be in it."""
    member = {"function": "method"}.get(kind, kind)

    def rule(walk: Walk, node: Node, place: Around) -> None:
        named = node.child_by_field_name(name)
        content = node.child_by_field_name(body) if body else None
        if named is None:
            if content is not None:
                walk.enter(content, place._replace(first=-1))
            return
        its_kind = member if place.kind in TYPES else kind
        inside = walk.add(node, walk.text(named).strip("\"'"), its_kind, place, named.start_point[0], block)
        if content is not None and (not seek or walk.holds(content)):
            walk.enter(content, inside)

    return rule


def scope(kind: str, *, name: str = "name", body: str = "body") -> Rule:
    """A node that gives its name to what is in it, and is no piece of its own: a namespace, a module."""
    return definition(kind, name=name, body=body, block=False)


def constant_or_variable(name: str) -> str:
    return "constant" if name.isupper() else "variable"
