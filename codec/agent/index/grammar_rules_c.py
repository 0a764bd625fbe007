"""The rules of C and C++. What a declaration declares is wrapped in pointers, arrays, parameters and brackets: the name
is the innermost declarator."""

from tree_sitter import Node

from codec.agent.index.definitions import FUNCTIONS, TYPES, Around, Rule, Walk
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


def _split(walk: Walk, node: Node, place: Around) -> tuple[str, Around]:
    """Of ns::Class::name, the name, and the place with what it belongs to."""
    text = walk.text(node)
    if node.type != "qualified_identifier":
        return text.partition("<")[0] if node.type == "template_function" else " ".join(text.split()), place
    *around, name = (
        [part.partition("<")[0].strip() for part in text.split("::")]
        if "operator" not in text
        else [part.strip() for part in text.split("::")]
    )
    around = [part for part in around if part]
    written = ".".join(around)
    if place.container and not f"{written}.".startswith(f"{place.container}."):
        container = f"{place.container}.{written}" if written else place.container
    else:
        container = written
    return name, place._replace(container=container, kind="class" if around else place.kind)


def _function(walk: Walk, node: Node, place: Around) -> None:
    named, _ = _declared(node)
    if named is None:
        body = node.child_by_field_name("body")
        if body is not None:  # a macro that looks like a function, or a class behind a macro
            walk.enter(body, place)
        return
    name, at = _split(walk, named, place)
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
