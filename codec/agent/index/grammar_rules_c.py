"""The rules of C and C++. What a declaration declares is wrapped in pointers, arrays, parameters and brackets: the name
is the innermost declarator."""

import re

from tree_sitter import Node

from codec.agent.index.definitions import FUNCTIONS, TYPES, Around, Rule, Walk
from codec.agent.index.definitions import within as join_names
from codec.agent.index.rule_forms import definition, scope, within, wrapper

_NAMES = frozenset(
    """
    identifier field_identifier type_identifier destructor_name operator_name qualified_identifier
    template_function operator_cast primitive_type
    """.split()  # noqa: SIM905
)
_TYPES_WITH_BODY = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
_KINDS = {
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "class_specifier": "class",
}
_DEEPEST = 50


def _declared(node: Node) -> tuple[Node | None, bool]:
    """The node of the name, and whether it is a function."""
    at: Node | None = node.child_by_field_name("declarator")
    function = False
    for _ in range(_DEEPEST):
        if at is None or at.type in _NAMES:
            return at, function
        if at.type == "function_declarator":
            inner = at.child_by_field_name("declarator")
            # int (*name)(void) is a pointer to a function: a variable
            function = inner is None or inner.type != "parenthesized_declarator"
        next_one = at.child_by_field_name("declarator")
        if next_one is None:
            next_one = next(
                (each for each in at.named_children if "declarator" in each.type or each.type in _NAMES), None
            )
        at = next_one
    return None, function


def _own_name(walk: Walk, node: Node) -> str:
    if node.type == "template_function":
        return walk.text(node).partition("<")[0].strip()
    if node.type == "operator_cast":  # operator bool() const
        shape = node.child_by_field_name("type")
        return f"operator {walk.text(shape)}" if shape is not None else "operator"
    return " ".join(walk.text(node).split())


def _made_by_macro(walk: Walk, node: Node, name: str, place: Around) -> tuple[str, Around]:
    """TEST_F(StackTest, Pops) {...} has no type, and is not called TEST_F: its name is what the macro is given."""
    if not name.isupper() or node.child_by_field_name("type") is not None:
        return name, place
    declarator = node.child_by_field_name("declarator")
    given = declarator.child_by_field_name("parameters") if declarator is not None else None
    words = [word.strip() for word in walk.text(given).strip("()").split(",")] if given is not None else []
    if not words or not all(word.isidentifier() for word in words[:2]):
        return name, place
    if len(words) > 1:
        place = place._replace(container=join_names(place.container, words[0]))
    return words[:2][-1], place


def _split(walk: Walk, node: Node, place: Around) -> tuple[str, Around]:
    """Of ns::Class::name, the name, and the place with what it belongs to."""
    around: list[str] = []
    while node.type == "qualified_identifier":
        scope_of, inner = node.child_by_field_name("scope"), node.child_by_field_name("name")
        if scope_of is not None and (part := walk.text(scope_of).partition("<")[0].strip()):
            around += part.split("::")
        if inner is None:
            break
        node = inner
    name = _own_name(walk, node)
    if not around:
        return name, place
    written = ".".join(around)
    if place.container and not f"{written}.".startswith(f"{place.container}."):
        container = f"{place.container}.{written}" if written else place.container
    else:
        container = written
    return name, place._replace(container=container, kind="class" if around else place.kind)


def _function(walk: Walk, node: Node, place: Around) -> None:
    named, _ = _declared(node)
    if named is None:  # part of a macro, which looks like a function
        return
    name, at = _made_by_macro(walk, node, *_split(walk, named, place))
    walk.add(node, name, "method" if at.kind in TYPES else "function", at, named.start_point[0])


def _declaration(walk: Walk, node: Node, place: Around) -> None:
    if place.kind in FUNCTIONS:
        return
    shape = node.child_by_field_name("type")
    if shape is not None and shape.type in _TYPES_WITH_BODY:
        walk.visit(shape, place)
    for declarator in node.children_by_field_name("declarator"):
        named, function = (declarator, False) if declarator.type in _NAMES else _declared_in(declarator)
        if named is None:
            continue
        name, at = _split(walk, named, place)
        member = at.kind in TYPES
        if not function and member:
            continue  # fields are found by their type
        kind = ("method" if member else "function") if function else "variable"
        walk.add(node, name, kind, at, named.start_point[0], block=False)


def _declared_in(declarator: Node) -> tuple[Node | None, bool]:
    at: Node | None = declarator
    function = False
    for _ in range(_DEEPEST):
        if at is None or at.type in _NAMES:
            return at, function
        inner = at.child_by_field_name("declarator")
        if inner is None:
            inner = next((each for each in at.named_children if "declarator" in each.type or each.type in _NAMES), None)
        if at.type == "function_declarator":
            function = inner is None or inner.type != "parenthesized_declarator"
        at = inner
    return None, function


def _shape(walk: Walk, node: Node, place: Around) -> None:
    """struct x {...}. Without a body it is only named, and without a name only what is in it counts."""
    body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
    if body is None:
        return
    if name is None:
        walk.enter(body, place)
        return
    text = walk.text(name).rpartition("::")[2].partition("<")[0]
    walk.enter(body, walk.add(node, text, _KINDS[node.type], place, name.start_point[0]))


def _typedef(walk: Walk, node: Node, place: Around) -> None:
    shape = node.child_by_field_name("type")
    inside = place
    for declarator in node.children_by_field_name("declarator"):
        named, _ = _declared_in(declarator)
        if named is not None:
            with_body = shape is not None and shape.child_by_field_name("body") is not None
            inside = walk.add(node, walk.text(named), "type", place, named.start_point[0], block=with_body)
    if shape is not None and shape.type in _TYPES_WITH_BODY:
        if shape.child_by_field_name("name") is None and (body := shape.child_by_field_name("body")) is not None:
            walk.enter(body, inside)
        else:
            walk.visit(shape, place)


_EXPORTED = re.compile(
    rb"\b(?:class|struct|union)\s+([A-Z][A-Z0-9_]{2,}(?:\([^()\n]{0,200}\))?)(?=\s+[A-Za-z_][\w:]*\s*(?:final\s*)?[:{])"
)


def without_export_macros(data: bytes) -> bytes:
    """`class MY_API Widget : Base {` with blanks for MY_API, of the same length: the grammar, which cannot know that it
    is a macro, would take Widget for a variable and lose all that is in it."""
    return _EXPORTED.sub(lambda found: found[0][: found.start(1) - found.start()] + b" " * len(found[1]), data)


C: dict[str, Rule] = {
    "function_definition": _function,
    "declaration": _declaration,
    "struct_specifier": _shape,
    "union_specifier": _shape,
    "enum_specifier": _shape,
    "enumerator": definition("constant", body="", block=False),
    "type_definition": _typedef,
    "preproc_def": definition("macro", body="", block=False),
    "preproc_function_def": definition("macro", body="", block=False),
    **dict.fromkeys(("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef",
                     "linkage_specification", "declaration_list"), within),
}  # fmt: skip

CPP: dict[str, Rule] = {
    **C,
    "class_specifier": _shape,
    "namespace_definition": scope("namespace"),
    "template_declaration": wrapper,
    "field_declaration": _declaration,
    "alias_declaration": definition("type", body="", block=False),
    "concept_definition": definition("type", body="", block=False),
    "friend_declaration": within,
}
