"""The rules of JavaScript and TypeScript. A function has a name there by many ways: its own, the variable's that it is
given to, the property's that it is assigned to."""

import re

from tree_sitter import Node

from codec.agent.index.definitions import FUNCTIONS, TYPES, Around, Rule, Walk
from codec.agent.index.rule_forms import constant_or_variable, definition, scope, seeking, within, wrapper

_IMPORTS = re.compile(rb"(?:await\s+)?(?:require|import)\s*\(").match
_ARROWS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_NAMES = frozenset({"identifier", "property_identifier", "private_property_identifier"})


def _given(walk: Walk, node: Node, named: Node | None, value: Node | None, place: Around) -> bool:
    """A function or a class under the name that it is given to."""
    if value is None or named is None:
        return False
    if value.type in _ARROWS:
        name, kind = walk.text(named), "method" if place.kind in TYPES else "function"
    elif value.type == "class":
        name, kind = walk.text(named), "class"
    else:
        return False
    inside = walk.add(node, name.strip("'\"#"), kind, place, named.start_point[0])
    body = value.child_by_field_name("body")
    if body is not None and (kind == "class" or walk.holds(body)):
        walk.enter(body, inside)
    return True


def _declarator(walk: Walk, node: Node, place: Around) -> None:
    named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if named is None or _given(walk, node, named if named.type == "identifier" else None, value, place):
        return
    inside = place
    if place.kind not in FUNCTIONS:
        names = [named] if named.type == "identifier" else named.named_children
        if value is not None and named.type != "identifier" and _IMPORTS(walk.data, value.start_byte, value.end_byte):
            names = []
        for each in names:
            if each.type in ("identifier", "shorthand_property_identifier_pattern"):
                text = walk.text(each)
                holds = value is not None and value.type == "object"
                found = walk.add(node, text, constant_or_variable(text), place, each.start_point[0], block=holds)
                inside = found._replace(kind="object") if holds else place
    if value is not None and walk.holds(value):
        walk.visit(value, inside._replace(first=-1))


def _assignment(walk: Walk, node: Node, place: Around) -> None:
    """exports.open = function () {}, Socket.prototype.close = ..."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or value is None:
        return
    at = place
    if left.type == "member_expression":
        owner = left.child_by_field_name("object")
        words = [] if owner is None else walk.text(owner).removesuffix(".prototype").split(".")
        left = left.child_by_field_name("property") or left
        if (
            0 < len(words) < 4
            and all(word.isidentifier() for word in words)
            and words[-1] not in ("exports", "module", "this")
        ):
            at = place._replace(
                container=".".join(([place.container] if place.container else []) + words), kind="class"
            )
    if _given(walk, node, left if left.type in _NAMES else None, value, at):
        return
    if walk.holds(value):
        walk.visit(value, at._replace(first=-1))


def _pair(walk: Walk, node: Node, place: Around) -> None:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if not _given(walk, node, key, value, place) and value is not None:
        seeking(walk, node, place)


def _field(walk: Walk, node: Node, place: Around) -> None:
    named = node.child_by_field_name("property") or node.child_by_field_name("name")
    if named is not None and not _given(walk, node, named, node.child_by_field_name("value"), place):
        walk.add(node, walk.text(named).lstrip("#"), "property", place, named.start_point[0], block=False)


def _signature(walk: Walk, node: Node, place: Around) -> None:
    named = node.child_by_field_name("name")
    if named is not None and place.kind in TYPES:
        kind = "property" if node.type == "property_signature" else "method"
        walk.add(node, walk.text(named), kind, place, named.start_point[0], block=False)


def _enum(walk: Walk, node: Node, place: Around) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return
    inside = walk.add(node, walk.text(name), "enum", place, name.start_point[0])
    for each in body.named_children if body is not None else ():
        named = each.child_by_field_name("name") if each.type == "enum_assignment" else each
        if named is not None and named.type in _NAMES:
            walk.add(each, walk.text(named), "constant", inside, named.start_point[0], block=False)


JAVASCRIPT: dict[str, Rule] = {
    "function_declaration": definition("function", seek=True),
    "generator_function_declaration": definition("function", seek=True),
    "class_declaration": definition("class"),
    "method_definition": definition("method", seek=True),
    "variable_declarator": _declarator,
    "assignment_expression": _assignment,
    "pair": _pair,
    "field_definition": _field,
    "export_statement": wrapper,
    "lexical_declaration": within,
    "variable_declaration": within,
    "arrow_function": seeking,
    "function_expression": definition("function", seek=True, block=False),
    "class": definition("class"),
    **dict.fromkeys(
        ("expression_statement", "call_expression", "arguments", "parenthesized_expression", "object", "array",
         "return_statement", "unary_expression", "await_expression", "new_expression", "sequence_expression",
         "ternary_expression", "binary_expression", "member_expression"),
        seeking,
    ),
    **dict.fromkeys(
        ("statement_block", "class_body", "if_statement", "else_clause", "try_statement", "catch_clause",
         "finally_clause", "for_statement", "for_in_statement", "while_statement", "switch_statement",
         "switch_body", "switch_case", "switch_default", "labeled_statement"),
        within,
    ),
}  # fmt: skip

_method = definition("method", seek=True)


def _method_with_properties(walk: Walk, node: Node, place: Around) -> None:
    """constructor(private db: Database) declares a property, too."""
    _method(walk, node, place)
    name, given = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if name is None or given is None or walk.text(name) != "constructor":
        return
    for each in given.named_children:
        named = each.child_by_field_name("pattern")
        if named is not None and named.type == "identifier" and _declares(each):
            walk.add(each, walk.text(named), "property", place, named.start_point[0], block=False)


def _declares(parameter: Node) -> bool:
    return any(each.type in ("accessibility_modifier", "override_modifier", "readonly") for each in parameter.children)


TYPESCRIPT: dict[str, Rule] = {
    **{kind: rule for kind, rule in JAVASCRIPT.items() if kind != "field_definition"},
    "method_definition": _method_with_properties,
    "public_field_definition": _field,
    "abstract_class_declaration": definition("class"),
    "interface_declaration": definition("interface"),
    "type_alias_declaration": definition("type", body=""),
    "enum_declaration": _enum,
    "function_signature": definition("function", body="", block=False),
    "internal_module": scope("namespace"),
    "module": scope("namespace"),
    "ambient_declaration": wrapper,
    "method_signature": _signature,
    "abstract_method_signature": _signature,
    "property_signature": _signature,
    "as_expression": seeking,
    "satisfies_expression": seeking,
}
