"""The rules of each language that has a grammar: which nodes are definitions, and which are walked through."""

from collections.abc import Mapping
from functools import cache

from tree_sitter import Node

from codec.agent.index.definitions import FUNCTIONS, Around, Rule, Rules, Walk
from codec.agent.index.definitions import within as inner_name
from codec.agent.index.grammar_rules_c import CPP, C
from codec.agent.index.grammar_rules_script import JAVASCRIPT, TYPESCRIPT
from codec.agent.index.languages import grammar
from codec.agent.index.rule_forms import alone, constant_or_variable, definition, scope, seeking, within, wrapper

_ERROR = 65535
"""The kind of what could not be parsed. Definitions stand in it all the same."""


@cache
def rules_of(language: str) -> Rules:
    """By the numbers that the grammar gives to its kinds. A kind may have several."""
    named, table = grammar(language), _LANGUAGES[language]
    by_kind: dict[int, Rule] = {_ERROR: within}
    for number in range(named.node_kind_count):
        kind = named.node_kind_for_id(number)
        if kind is not None and kind in table and named.node_kind_is_named(number):
            by_kind[number] = table[kind]
    return Rules(by_kind, _WORDS.get(language, ()))


def unknown_kinds(language: str) -> set[str]:
    """Kinds that our table names and the grammar does not have."""
    named = grammar(language)
    return set(_LANGUAGES[language]) - {named.node_kind_for_id(number) for number in range(named.node_kind_count)}


# -- Python


_MOST_ASSIGNED = 100
_PYTHON_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})


def _python_statement(walk: Walk, node: Node, place: Around) -> None:
    if place.kind in FUNCTIONS:
        return
    assigned = node.named_child(0) if node.named_child_count else None
    for _ in range(_MOST_ASSIGNED):  # a = b = 1
        if assigned is None or assigned.type != "assignment":
            return
        left = assigned.child_by_field_name("left")
        names = [left] if left is not None else []
        for each in names:
            if each.type == "identifier":
                name = walk.text(each)
                walk.add(node, name, constant_or_variable(name), place, each.start_point[0], block=False)
            elif each.type in _PYTHON_PATTERNS and len(names) < _MOST_ASSIGNED:  # a, (b, *c); a.b and a[b] name nothing
                names += each.named_children
        assigned = assigned.child_by_field_name("right")


def _python_type(walk: Walk, node: Node, place: Around) -> None:
    """type Pairs[K] = ... is called Pairs."""
    if (left := node.child_by_field_name("left")) is not None:
        walk.add(node, walk.text(left).partition("[")[0].strip(), "type", place, left.start_point[0], block=False)


_PYTHON: dict[str, Rule] = {
    "function_definition": definition("function", seek=True),
    "class_definition": definition("class"),
    "decorated_definition": wrapper,
    "type_alias_statement": _python_type,
    "expression_statement": _python_statement,
    **dict.fromkeys(
        ("block", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause",
         "finally_clause", "with_statement", "for_statement", "while_statement", "match_statement", "case_clause"),
        within,
    ),
}  # fmt: skip

# -- Go


def _go_method(walk: Walk, node: Node, place: Around) -> None:
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None:
        return
    of = ""
    if receiver is not None:
        words = walk.text(receiver).partition("[")[0].replace("*", " ").strip("() \t\n").split()
        of = words[-1] if words else ""
    walk.add(node, walk.text(name), "method", place._replace(container=of), name.start_point[0])


def _go_type(walk: Walk, node: Node, place: Around) -> None:
    name, shape = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None:
        return
    kind = {"struct_type": "struct", "interface_type": "interface"}.get(shape.type if shape is not None else "", "type")
    inside = walk.add(node, walk.text(name), kind, place, name.start_point[0])
    if shape is not None and kind == "interface":
        walk.enter(shape, inside)


def _go_names(kind: str) -> Rule:
    def rule(walk: Walk, node: Node, place: Around) -> None:
        for name in node.children_by_field_name("name"):
            if name.type == "identifier" and (text := walk.text(name)) != "_":
                walk.add(node, text, kind, place, name.start_point[0], block=False)

    return rule


_GO: dict[str, Rule] = {
    "function_declaration": definition("function", body=""),
    "method_declaration": _go_method,
    "type_declaration": within,
    "type_spec": _go_type,
    "type_alias": _go_type,
    "const_declaration": within,
    "var_declaration": within,
    "var_spec_list": within,
    "const_spec": _go_names("constant"),
    "var_spec": _go_names("variable"),
    "method_elem": definition("method", body="", block=False),
}

# -- Rust


_RUST_AROUND = {
    "generic_type": "type",
    "reference_type": "type",
    "pointer_type": "type",
    "scoped_type_identifier": "name",
}
"""Forms of a type, and where the type is that they are made of."""


def _rust_impl(walk: Walk, node: Node, place: Around) -> None:
    """`impl Display for &mut a::Point<T>`: what is in it belongs to Point."""
    shape, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    if shape is not None and body is not None:
        while (inner := shape.child_by_field_name(_RUST_AROUND.get(shape.type, ""))) is not None:
            shape = inner
        name = walk.text(shape)
        walk.enter(body, Around(inner_name(place.container, name), "class", place.depth + 1))


_RUST: dict[str, Rule] = {
    "function_item": definition("function", seek=True),
    "function_signature_item": definition("function", body="", block=False),
    "struct_item": definition("struct", body=""),
    "union_item": definition("union", body=""),
    "enum_item": definition("enum"),
    "enum_variant": definition("constant", body="", block=False),
    "trait_item": definition("trait"),
    "impl_item": _rust_impl,
    "mod_item": scope("module"),
    "const_item": definition("constant", body="", block=False),
    "static_item": definition("constant", body="", block=False),
    "type_item": definition("type", body="", block=False),
    "associated_type": definition("type", body="", block=False),
    "macro_definition": definition("macro", body=""),
    "foreign_mod_item": within,
    "declaration_list": within,
    "block": within,
}

# -- Java and C#


def _java_field(walk: Walk, node: Node, place: Around) -> None:
    if place.kind in FUNCTIONS:
        return
    text = walk.text(node).partition("=")[0]
    always = node.type == "constant_declaration"  # of an interface
    kind = "constant" if always or ("final" in text and "static" in text) else "variable"
    for each in node.children_by_field_name("declarator"):
        name = each.child_by_field_name("name")
        if name is not None:
            walk.add(node, walk.text(name), kind, place, name.start_point[0], block=False)


_JAVA: dict[str, Rule] = {
    "class_declaration": definition("class"),
    "interface_declaration": definition("interface"),
    "annotation_type_declaration": definition("interface"),
    "enum_declaration": definition("enum"),
    "record_declaration": definition("record"),
    "method_declaration": definition("method", seek=True),
    "annotation_type_element_declaration": definition("method", body="", block=False),
    "constructor_declaration": definition("constructor", seek=True),
    "compact_constructor_declaration": definition("constructor", seek=True),
    "enum_constant": definition("constant", block=False),
    "field_declaration": _java_field,
    "constant_declaration": _java_field,
    "enum_body_declarations": within,
    "module_declaration": scope("module", body=""),
}


def _c_sharp_field(walk: Walk, node: Node, place: Around) -> None:
    text = walk.text(node)
    kind = "constant" if "const " in text or "static readonly" in text else "variable"
    for shape in node.named_children:
        if shape.type == "variable_declaration":
            for each in shape.named_children:
                name = each.child_by_field_name("name") if each.type == "variable_declarator" else None
                if name is not None:
                    walk.add(node, walk.text(name), kind, place, name.start_point[0], block=False)


def _c_sharp_file_namespace(walk: Walk, node: Node, place: Around) -> None:
    """`namespace A.B;`: the whole file is in it, though it stands beside it in the tree."""
    name = node.child_by_field_name("name")
    if name is not None:
        walk.add(node, walk.text(name), "namespace", place, name.start_point[0], block=False)
        walk.whole = walk.text(name)


_C_SHARP: dict[str, Rule] = {
    "namespace_declaration": scope("namespace"),
    "file_scoped_namespace_declaration": _c_sharp_file_namespace,
    "class_declaration": definition("class"),
    "struct_declaration": definition("struct"),
    "interface_declaration": definition("interface"),
    "enum_declaration": definition("enum"),
    "record_declaration": definition("record"),
    "delegate_declaration": definition("type", body="", block=False),
    "method_declaration": definition("method"),
    "local_function_statement": definition("function"),
    "constructor_declaration": definition("constructor", body=""),
    "destructor_declaration": definition("method", body=""),
    "property_declaration": definition("property", body=""),
    "event_declaration": definition("property", body=""),
    "event_field_declaration": _c_sharp_field,
    "field_declaration": _c_sharp_field,
    "enum_member_declaration": definition("constant", body="", block=False),
    "declaration_list": within,
    "global_statement": within,
    **dict.fromkeys(("preproc_if", "preproc_else", "preproc_elif", "preproc_region"), within),
}

# -- Ruby


def _ruby_assignment(walk: Walk, node: Node, place: Around) -> None:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "constant" and place.kind not in FUNCTIONS:
        inside = walk.add(node, walk.text(left), "constant", place, left.start_point[0], block=False)
        right = node.child_by_field_name("right")
        if right is not None and right.type == "call":  # Point = Struct.new(:x) do ... end
            walk.visit(right, inside._replace(kind="class"))


_RUBY_NAMING = {
    "attr_accessor": "property",
    "attr_reader": "property",
    "attr_writer": "property",
    "alias_method": "method",
    "define_method": "method",
}


def _ruby_call(walk: Walk, node: Node, place: Around) -> None:
    """attr_reader :name and define_method(:name) define; private def x, and blocks, hold definitions."""
    method, given = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    kind = _RUBY_NAMING.get(walk.text(method)) if method is not None and given is not None else None
    if given is not None and kind is not None:
        for each in given.named_children[: None if kind == "property" else 1]:
            if each.type in ("simple_symbol", "string"):
                name = walk.text(each).lstrip(":").strip("\"'")
                walk.add(node, name, kind, place, each.start_point[0], block=False)
        return
    seeking(walk, node, place)


_RUBY: dict[str, Rule] = {
    "method": definition("function", seek=True),
    "singleton_method": definition("function", seek=True),
    "class": definition("class"),
    "module": definition("class"),
    "singleton_class": within,
    "assignment": _ruby_assignment,
    "alias": definition("function", body="", block=False),
    "call": _ruby_call,
    **dict.fromkeys(("body_statement", "block_body", "argument_list", "do_block", "block", "begin", "if", "unless",
                     "then", "else", "elsif", "rescue", "ensure", "if_modifier", "unless_modifier"), within),
}  # fmt: skip

# -- PHP


def _php_variable(walk: Walk, node: Node, place: Around) -> None:
    for each in node.named_children:
        if each.type == "property_element":
            name = each.child_by_field_name("name") or each.named_child(0)
            if name is not None:
                walk.add(node, walk.text(name).lstrip("$"), "property", place, name.start_point[0], block=False)
        elif each.type == "const_element":
            name = each.named_child(0)
            if name is not None:
                walk.add(node, walk.text(name), "constant", place, name.start_point[0], block=False)


def _php_promoted(walk: Walk, node: Node, place: Around) -> None:
    """__construct(private string $name) declares a property, too."""
    if (name := node.child_by_field_name("name")) is not None:
        walk.add(node, walk.text(name).lstrip("&$"), "property", place, name.start_point[0], block=False)


def _php_method(walk: Walk, node: Node, place: Around) -> None:
    _php_method_itself(walk, node, place)
    name, given = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if name is not None and given is not None and walk.text(name).lower() == "__construct":
        walk.enter(given, place)


_php_method_itself = definition("method", seek=True)


def _php_namespace(walk: Walk, node: Node, place: Around) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None:
        inside = walk.add(node, walk.text(name), "namespace", place, name.start_point[0], block=False)
        if body is not None:
            walk.enter(body, inside)
        else:
            walk.whole = walk.text(name).replace("\\", ".")
    elif body is not None:
        walk.enter(body, place)


_PHP: dict[str, Rule] = {
    "namespace_definition": _php_namespace,
    "class_declaration": definition("class"),
    "interface_declaration": definition("interface"),
    "trait_declaration": definition("trait"),
    "enum_declaration": definition("enum"),
    "enum_case": definition("constant", body="", block=False),
    "function_definition": definition("function", seek=True),
    "method_declaration": _php_method,
    "property_promotion_parameter": _php_promoted,
    "const_declaration": _php_variable,
    "property_declaration": _php_variable,
    **dict.fromkeys(("declaration_list", "compound_statement", "if_statement", "else_clause", "colon_block"), within),
}

# -- CSS, JSON, Bash


def _css_rule(walk: Walk, node: Node, place: Around) -> None:
    selectors = next((each for each in node.named_children if each.type == "selectors"), None)
    if selectors is None:
        return
    inside = place
    for each in selectors.named_children[:20]:
        name = " ".join(walk.text(each).split())
        its = walk.add(node, name, "selector", place, each.start_point[0])
        inside = its if inside is place else inside
    block = next((each for each in node.named_children if each.type == "block"), None)
    if block is not None:
        walk.enter(block, inside)


def _css_declaration(walk: Walk, node: Node, place: Around) -> None:
    name = node.named_child(0) if node.named_child_count else None
    if name is not None and (text := walk.text(name)).startswith("--"):
        walk.add(node, text, "variable", place, name.start_point[0], block=False)


def _css_keyframes(walk: Walk, node: Node, place: Around) -> None:
    name = next((each for each in node.named_children if each.type == "keyframes_name"), None)
    if name is not None:
        walk.add(node, walk.text(name), "keyframes", place, name.start_point[0])


_CSS: dict[str, Rule] = {
    "rule_set": _css_rule,
    "declaration": _css_declaration,
    "keyframes_statement": _css_keyframes,
    **dict.fromkeys(("media_statement", "supports_statement", "at_rule", "block"), within),
}


def _json_pair(walk: Walk, node: Node, place: Around) -> None:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None or place.depth > 1:
        return
    inside = walk.add(node, walk.text(key).strip('"'), "key", place, key.start_point[0])
    if value is not None and value.type == "object":
        walk.enter(value, inside)


def _json_object(walk: Walk, node: Node, place: Around) -> None:
    if place.depth == 0:
        walk.enter(node, place)


_JSON: dict[str, Rule] = {"object": _json_object, "pair": _json_pair}


def _bash_assignment(walk: Walk, node: Node, place: Around) -> None:
    name = node.child_by_field_name("name")
    if name is not None and name.type == "variable_name" and place.kind not in FUNCTIONS:
        text = walk.text(name)
        walk.add(node, text, constant_or_variable(text), place, name.start_point[0], block=False)


_BASH: dict[str, Rule] = {
    "function_definition": definition("function", seek=True),
    "variable_assignment": _bash_assignment,
    "declaration_command": alone,
    **dict.fromkeys(("compound_statement", "if_statement", "else_clause", "elif_clause", "do_group", "case_statement",
                     "case_item", "for_statement", "while_statement", "subshell", "list"), within),
}  # fmt: skip

_LANGUAGES: Mapping[str, Mapping[str, Rule]] = {
    "python": _PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TYPESCRIPT,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": C,
    "cpp": CPP,
    "c_sharp": _C_SHARP,
    "ruby": _RUBY,
    "php": _PHP,
    "css": _CSS,
    "json": _JSON,
    "bash": _BASH,
}

_WORDS: Mapping[str, tuple[bytes, ...]] = {
    "python": (b"def ", b"class "),
    **dict.fromkeys(
        ("javascript", "typescript", "tsx"), (b"function", b"class", b"=>", b") {", b"){", b"namespace ")
    ),
    "rust": (b"fn ", b"struct ", b"enum ", b"trait ", b"impl", b"mod ", b"macro_rules!"),
    "java": (b"class ", b"interface ", b"enum ", b"record "),
    "ruby": (b"def ", b"class ", b"module ", b"attr_"),
    "php": (b"function ", b"class "),
    "bash": (b"()", b"function "),
}
"""That begin a definition in the middle of other things."""
