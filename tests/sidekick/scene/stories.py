"""What heroes say, plausible and not: hypothesis strategies for sequences of canonical messages as JSON.

`stories()` gives lists of bytes, to be heard by an `Ear(Dialect.D)`. Most of it makes sense together, because the names
are few and tell the kind; some of it is about things that are not there, that are something else, or that nobody knows.
"""

import json
from typing import Any

from hypothesis import strategies as st

from codec.sidekick import Dialect, Ear, Said

KINDS = {
    "row-1": "row", "row-2": "row", "column-1": "column", "grid-1": "grid", "canvas-1": "canvas", "viz-1": "viz",
    "console-1": "console", "label-1": "label", "button-1": "button", "markdown-1": "markdown", "textbox-1": "textbox",
    "chart-1": "chart",
}  # fmt: skip
NAMES = list(KINDS)
SPAWNS: dict[str, dict[str, Any]] = {
    "grid": {"numColumns": 3, "numRows": 2},
    "canvas": {"width": 30, "height": 20},
    "console": {"showInput": True, "text": "hello\n"},
    "label": {"text": "a label"},
    "button": {"text": "a button"},
    "markdown": {"initialSource": "# a title"},
    "textbox": {"placeholder": "your name"},
}

small = st.integers(0, 3)
words = st.sampled_from(["a", "b", "one\n", "two\nthree\n", "ä€\n", "x" * 40, "", "\n\n\n"])
names = st.sampled_from(NAMES)
parents = st.sampled_from(["root", "row-1", "row-2", "column-1", "chart-1", "label-1", "nowhere"])


def message(component: str, what: str, target: str | None = None, payload: Any = None, **more: Any) -> bytes:
    named = {} if target is None else {"target": target}
    said = {} if payload is None else {"payload": payload}
    return json.dumps({"id": 0, "component": component, "type": what, **named, **said, **more}).encode()


def update(target: str, action: str, options: Any = None, **payload: Any) -> bytes:
    said = {"action": action, **({} if options is None else {"options": options}), **payload}
    return message(KINDS.get(target, target.split("-")[0]), "update", target, said)


def spawn(target: str, **payload: Any) -> bytes:
    kind = KINDS.get(target, target.split("-")[0])
    return message(kind, "spawn", target, {**SPAWNS.get(kind, {}), **payload})


def heard(*frames: bytes) -> list[Any]:
    """What these messages say; a scene is only given what its rooms would give it."""
    ear = Ear(Dialect.D)
    said: list[Said] = []
    for frame in frames:
        one = ear.hear(frame)
        said += one if isinstance(one, list) else [one]
    return said


@st.composite
def spawns(draw: st.DrawFn, targets: st.SearchStrategy[str] = names) -> bytes:
    extra: dict[str, Any] = draw(st.sampled_from([{}, {}, {"flavour": [1, {"a": None}]}]))
    place = {"parent": draw(parents)} if draw(st.booleans()) else {}
    return spawn(draw(targets), **place, **extra)


moves = st.builds(
    lambda target, parent, before: update(target, "changeParent", {"parent": parent, **before}),
    names, parents, st.one_of(st.just({}), st.builds(lambda name: {"insertBefore": name}, names)),
)  # fmt: skip
removals = st.builds(lambda target: message(KINDS[target], "remove", target), names)

cells = st.one_of(
    st.builds(
        lambda x, y, color: update("grid-1", "setColor", {"x": x, "y": y, "color": color}),
        small, small, st.sampled_from(["red", "#00f", "", None]),
    ),
    st.builds(
        lambda x, y, text: update("grid-1", "setText", {"x": x, "y": y, "text": text}),
        small, small, st.sampled_from(["1", "x", "", None]),
    ),
    st.builds(lambda x, y: update("grid-1", "clearCell", {"x": x, "y": y}), small, small),
    st.just(update("grid-1", "clear")),
)  # fmt: skip

texts = st.one_of(
    st.builds(lambda text: update("label-1", "setText", {"text": text}), words),
    st.builds(lambda text: update("button-1", "setText", {"text": text}), words),
    st.builds(lambda text: update("markdown-1", "setSource", {"source": text}), words),
    st.builds(lambda text: update("textbox-1", "setValue", {"value": text}), words),
    st.builds(lambda text: update("textbox-1", "setPlaceholder", {"placeholder": text}), words),
)
prints = st.one_of(
    st.builds(lambda text: update("console-1", "append", {"text": text}), words),
    st.builds(lambda text: update("console-1", "append", {"text": text}), words),
    st.just(update("console-1", "clear")),
)

buffers = st.sampled_from([0, 0, 1, 1, 2, 9])
strokes = st.one_of(
    st.builds(lambda x, b: update("canvas-1", "drawLine", {"x1": x, "y1": 0, "x2": 1, "y2": 2, "bufferId": b}),
              st.integers(0, 99), buffers),
    st.builds(lambda x: update("canvas-1", "drawCircle", {"cx": x, "cy": 0, "radius": 1.5}), st.integers(0, 99)),
    st.builds(lambda b: update("canvas-1", "drawRect", {"x": 0, "y": 0, "width": 30, "height": 20, "bufferId": b,
                                                        "fillColor": "#123456"}), buffers),
    st.builds(lambda b: update("canvas-1", "clear", {"bufferId": b}), buffers),
    st.builds(lambda b: update("canvas-1", "createBuffer", {"bufferId": b}), st.sampled_from([1, 1, 2])),
    st.builds(lambda b: update("canvas-1", "destroyBuffer", {"bufferId": b}), st.sampled_from([1, 2])),
    *2 * [st.builds(lambda a, b: update("canvas-1", "drawBuffer", {"sourceBufferId": a, "targetBufferId": b}),
                    buffers, buffers)],
)  # fmt: skip
"""Of them, `#123456` over the whole canvas covers everything."""


# --- viz --------------------------------------------------------------------------------------------------------------

fresh = st.integers(0, 10**6)


def leaf(number: int, value: Any) -> dict[str, Any]:
    kind = "NoneType" if value is None else type(value).__name__
    return {"id": f"{kind}_{number}", "type": kind, "value": "None" if value is None else value}


leaves = st.builds(leaf, fresh, st.sampled_from([1, 2, True, 1.5, "a", "None", None]))
segments = st.sampled_from([0, 0, 1, 2, 3, 51, -1, True, None, "a", "b", "None", [1, 2], 1.5, "int_7", "..."])
paths = st.lists(segments, max_size=3)


def list_node(number: int, items: list[Any], kind: str, hidden: int) -> dict[str, Any]:
    more = [{"id": "t", "type": "truncated", "value": f"... ({hidden} more)"}] if hidden else []
    return {"id": f"{kind}_{number}", "type": kind, "length": len(items) + hidden, "value": items + more}


def dict_node(number: int, items: dict[Any, Any], hidden: int) -> dict[str, Any]:
    keys = {key: leaf(index, key) for index, key in enumerate(items)}
    more = [{"key": {"id": "k", "type": "truncated_key", "value": "..."}, "value": leaf(0, "...")}] if hidden else []
    entries = [{"key": keys[key], "value": value} for key, value in items.items()]
    return {"id": f"dict_{number}", "type": "dict", "length": len(items) + hidden, "value": entries + more}


def object_node(number: int, items: dict[str, Any], hidden: int) -> dict[str, Any]:
    more = {"...": {"id": "t", "type": "truncated", "value": "..."}} if hidden else {}
    return {"id": f"o_{number}", "type": "object (P)", "length": len(items) + hidden, "value": {**items, **more}}


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hidden = st.sampled_from([0, 0, 0, 1, 7])
    keys = st.sampled_from([1, "a", "b", None, True, "None"])
    return st.one_of(
        st.builds(list_node, fresh, st.lists(inner, max_size=4), st.sampled_from(["list", "set"]), hidden),
        st.builds(dict_node, fresh, st.dictionaries(keys, inner, max_size=3), hidden),
        st.builds(object_node, fresh, st.dictionaries(st.sampled_from("ab"), inner, max_size=2), hidden),
    )


nodes = st.recursive(leaves, containers, max_leaves=6)
actions = st.sampled_from(["set", "setitem", "append", "insert", "pop", "remove", "delitem", "add_set", "discard_set",
                           "clear", "removeVariable"])  # fmt: skip


@st.composite
def changes(draw: st.DrawFn) -> bytes:
    options: dict[str, Any] = {"path": draw(paths)}
    if draw(st.integers(0, 9)):
        options["valueRepresentation"] = draw(st.one_of(nodes, leaves))
    if draw(st.booleans()):
        options["keyRepresentation"] = draw(st.one_of(st.none(), leaves))
    if draw(st.booleans()):
        options["length"] = draw(st.integers(0, 5))
    return update("viz-1", draw(actions), options, variableName=draw(st.sampled_from(["v", "v", "v", "w"])))


shown = st.builds(
    lambda name, node: update("viz-1", "set", {"path": [], "valueRepresentation": node}, variableName=name),
    st.sampled_from(["v", "w"]), containers(nodes),
)  # fmt: skip

# --- all of it --------------------------------------------------------------------------------------------------------

unknown = st.sampled_from([
    message("chart", "update", "chart-1", {"action": "plot", "options": {"y": [1, 2]}}),
    message("chart", "remove", "chart-1"),
    message("chart", "blink", "chart-1"),
    message("chart", "blink", "chart-7"),
    message("grid", "update", "grid-1", {"action": "explode"}),
    message("label", "whisper", "label-1", {"to": "you"}),
    message("global", "setTheme", None, {"theme": "dark"}),
    message("grid", "update", "label-1", {"action": "clear"}),
    message("label", "update", "nowhere", {"action": "setText", "options": {"text": "?"}}),
    message("grid", "spawn", "grid-2", {"numColumns": 0, "numRows": 1}),
    message("label", "remove", "nowhere"),
    b"not even JSON",
    b'{"component":"grid","type":"update","target":"grid-1"}',
])  # fmt: skip
clears = st.just(message("global", "clearAll"))

anything = st.one_of(
    spawns(), moves, moves, removals, cells, texts, prints, strokes, strokes, changes(), shown, unknown, clears
)


numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
values = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=5), names)
keys = st.sampled_from([
    "x", "y", "text", "parent", "path", "options", "valueRepresentation", "type", "id", "value", "length", "bufferId",
    "points", "width", "action", "variableName", "insertBefore", "color", "?",
])  # fmt: skip
trees = st.recursive(
    values,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
ACTIONS_SAID = [
    "changeParent", "setText", "setColor", "append", "clear", "drawRect", "drawPolyline", "drawBuffer", "createBuffer",
    "set", "setitem", "add_set", "discard_set", "removeVariable", "whirl",
]  # fmt: skip
nonsense = st.builds(
    lambda target, what, payload, action: message(
        KINDS[target], what, target, {**payload, **action} if isinstance(payload, dict) else payload
    ),
    names,
    st.sampled_from(["spawn", "update", "update", "update", "remove", "whirl"]),
    st.one_of(st.dictionaries(keys, trees, max_size=5), trees),
    st.builds(lambda action: {"action": action, "variableName": "v"}, st.sampled_from(ACTIONS_SAID)),
)
"""Messages of the right outline with anything inside."""


BUFFERS_MADE = [update("canvas-1", "createBuffer", {"bufferId": number}) for number in (1, 2)]
COVERED_AND_STAMPED = [
    update("canvas-1", "drawLine", {"x1": 0, "y1": 0, "x2": 1, "y2": 2, "bufferId": 1}),
    update("canvas-1", "drawRect", {"x": 0, "y": 0, "width": 30, "height": 20, "bufferId": 0, "fillColor": "#123456"}),
    update("canvas-1", "drawBuffer", {"sourceBufferId": 1, "targetBufferId": 0}),
]
"""A layer more than was paid for, once."""


def stories(of: st.SearchStrategy[bytes] = anything, least: int = 0, most: int = 40) -> st.SearchStrategy[list[bytes]]:
    """A board with most of everything on it, and then what is said."""
    left_out = st.lists(names, max_size=2)
    opening = left_out.map(lambda some: [spawn(one) for one in NAMES if one not in some])
    said = st.lists(of, min_size=least, max_size=most)
    return st.builds(lambda first, then: [*first, *BUFFERS_MADE, *then], opening, said)
