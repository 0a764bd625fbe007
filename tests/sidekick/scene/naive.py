"""A board that does what it is told, plainly: the measure for the scene.

It knows nothing of budgets, layers or JSON kept as JSON. A picture is the list of all that was drawn, a drawn buffer a
copy of its list; a variable is a tree of dicts. It takes canonical messages that were found good, and so complains of
nothing but what a scene should have refused.
"""

import json
from typing import Any, TypeGuard

from actors.sidekick.scene import Limits

Message = dict[str, Any]
CONTAINERS = ("row", "column")
PLAIN = ("button", "label", "markdown", "textbox")


class NaiveBoard:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.start()

    def start(self) -> None:
        self.children: dict[str, list[Any]] = {"root": []}
        self.kinds: dict[str, str] = {}
        self.states: dict[str, Any] = {}
        self.strays: list[Any] = []
        self.unknown: list[Any] = []

    def show(self, *frames: bytes) -> "NaiveBoard":
        for frame in frames:
            self.take(json.loads(frame))
        return self

    def picture(self) -> Any:
        """All that can be seen, as something that can be compared."""
        return {
            "strays": self.strays,
            "unknown": self.unknown,
            "tree": self.children,
            "components": {name: (kind, self.seen(name)) for name, kind in self.kinds.items()},
        }

    def seen(self, name: str) -> Any:
        kind, state = self.kinds[name], self.states[name]
        match kind:
            case "console":
                return self.tail(state["text"]), state["more"]
            case "canvas":
                return {number: buffer for number, (_, buffer) in state["buffers"].items()}, state["more"]
            case "viz":
                return {name: as_seen(node) for name, node in state["variables"].items()}, state["more"]
        return state

    def tail(self, text: str) -> str:
        lines = text[-self.limits.characters :].split("\n")
        return "\n".join(lines[-self.limits.lines - 1 :])

    # --- messages ---------------------------------------------------------------------------------------------------

    def take(self, message: Message) -> None:
        name, payload = message.get("target"), message.get("payload") or {}
        match message["type"]:
            case "clearAll":
                self.start()
            case "spawn":
                self.spawn(message["component"], name, payload)
            case "remove":
                self.remove(name)
            case "update" if payload.get("action") == "changeParent":
                self.move(name, payload["options"])
            case _ if name not in self.kinds:
                (self.strays if name else self.unknown).append(message)
            case "update":
                self.update(message, payload)
            case _:
                self.states[name]["more"].append(message)

    def spawn(self, kind: str, name: Any, payload: Message) -> None:
        assert name not in self.kinds
        self.children[payload.get("parent") or "root"].append(name)
        self.kinds[name] = kind
        if kind in CONTAINERS or kind not in (*PLAIN, "grid", "canvas", "console", "viz"):
            self.children[name] = []
        said = {key: value for key, value in payload.items() if key != "parent"}
        state: dict[str, Any] = {"said": said, "more": []}
        self.states[name] = state
        match kind:
            case "grid":
                state |= {"colors": {}, "texts": {}}
            case "canvas":
                state["buffers"] = {0: (False, ())}
            case "console":
                state |= {"text": payload.get("text") or ""}
            case "viz":
                state |= {"variables": {}}

    def remove(self, name: Any) -> None:
        for children in self.children.values():
            if name in children:
                children.remove(name)
        for child in list(self.children.pop(name, ())):
            self.remove(child)
        del self.kinds[name], self.states[name]

    def move(self, name: Any, options: Message) -> None:
        for children in self.children.values():
            if name in children:
                children.remove(name)
        siblings, before = self.children[options["parent"]], options.get("insertBefore")
        siblings.insert(len(siblings) if before is None else siblings.index(before), name)

    def update(self, message: Message, payload: Message) -> None:
        state, action, options = self.states[message["target"]], payload["action"], payload.get("options") or {}
        assert self.kinds[message["target"]] == message["component"]
        match message["component"], action:
            case ("button" | "label", "setText"):
                state["said"]["text"] = options["text"]
            case "markdown", "setSource":
                state["said"]["initialSource"] = options["source"]
            case "textbox", "setValue":
                state["said"]["initialValue"] = options["value"]
            case "textbox", "setPlaceholder":
                state["said"]["placeholder"] = options["placeholder"]
            case "console", "append":
                state["text"] += options["text"]
            case "console", "clear":
                state["text"] = ""
            case "grid", "setColor":
                put(state["colors"], (options["x"], options["y"]), options["color"])
            case "grid", "setText":
                put(state["texts"], (options["x"], options["y"]), options["text"] or None)
            case "grid", "clearCell":
                put(state["colors"], (options["x"], options["y"]), None)
                put(state["texts"], (options["x"], options["y"]), None)
            case "grid", "clear":
                state["colors"].clear()
                state["texts"].clear()
            case "canvas", _ if action[:4] in ("draw", "clea", "crea", "dest"):
                draw(state["buffers"], action, options, state["said"])
            case "viz", _ if "variableName" in payload:
                change(state["variables"], action, payload["variableName"], options)
            case _:
                state["more"].append(message)


def put(cells: dict[Any, Any], place: Any, value: Any) -> None:
    if value is None:
        cells.pop(place, None)
    else:
        cells[place] = value


# --- canvas -----------------------------------------------------------------------------------------------------------

Picture = tuple[bool, tuple[Any, ...]]
"""Whether nothing shines through, and what was drawn."""


def draw(buffers: dict[int, Picture], action: str, options: Message, size: Message) -> None:
    buffer = options.get("bufferId") or 0
    match action:
        case "createBuffer":
            buffers[buffer] = (False, ())
        case "destroyBuffer":
            del buffers[buffer]
        case "clear":
            buffers[buffer] = (False, ())
        case "drawBuffer":
            source, target = buffers[options["sourceBufferId"]], options["targetBufferId"]
            if source[1] and not (source[0] and target == options["sourceBufferId"]):
                buffers[target] = covered(buffers[target], source[0], ("drawn", source))
        case _:
            is_all = action == "drawRect" and options.get("fillColor") == "#123456" and is_whole(options, size)
            buffers[buffer] = covered(buffers[buffer], is_all, (action, json.dumps(options, sort_keys=True)))


def is_whole(options: Message, size: Message) -> bool:
    return (options["x"], options["y"]) == (0, 0) and (options["width"], options["height"]) == (
        size["width"],
        size["height"],
    )


def covered(picture: Picture, is_all: bool, stroke: Any) -> Picture:
    was_opaque, strokes = picture
    return (True, (stroke,)) if is_all else (was_opaque, (*strokes, stroke))


# --- viz --------------------------------------------------------------------------------------------------------------


def change(variables: dict[str, Any], action: str, name: str, options: Message) -> None:
    path, value, length = options.get("path") or [], options.get("valueRepresentation"), options.get("length")
    says = value is not None and value["type"] != "NoneType"
    if action == "removeVariable":
        del variables[name]
        return
    if not path and (action == "set" or (action == "clear" and says)):
        variables[name] = json.loads(json.dumps(value))
        return
    root = variables[name]
    parent = walk(root, path[:-1]) if path else None
    node = walk(root, path)
    match action:
        case "set" | "setitem":
            if is_container(parent):
                settle(parent, length, put_item(parent, path[-1], value, options.get("keyRepresentation")))
        case "append":
            target = parent if path else root
            ends = (count(parent), len(shown(parent))) if is_list(parent) else ()
            if ends and position(parent, path[-1]) not in ends:
                target = node if is_list(node) else parent
            if is_list(target):
                if length is not None and length > count(target) + 1:
                    target["value"], target["length"] = front(target), length - 1
                insert_item(target, len(front(target)) if has_all(target) else count(target), value)
                settle(target, length, 1)
        case "insert":
            if is_list(parent) and type(path[-1]) is int:
                everything = [None] * count(parent)
                everything.insert(path[-1], value)
                index = next(index for index, item in enumerate(everything) if item is value)
                insert_item(parent, index, value)
                settle(parent, length, 1)
        case "pop" | "remove" | "delitem":
            if is_container(parent):
                settle(parent, length, drop_item(parent, path[-1]))
        case "add_set":
            if is_list(node):
                new = not elements(node, value) if length is None else length > count(node)
                if new:
                    node["value"].insert(len(front(node)), value)
                settle(node, length, int(new))
        case "discard_set":
            if is_list(node):
                less = 0
                if says:
                    gone = elements(node, value)[:1]
                    less = 1 if gone or not has_all(node) else 0
                    node["value"] = [item for item in node["value"] if not any(item is one for one in gone)]
                settle(node, length, -less)
                if node.get("length") == 0:
                    node["value"] = []
        case "clear":
            if says and is_container(parent):
                put_item(parent, path[-1], value, None)
            elif is_container(node):
                node["value"] = type(node["value"])()
                settle(node, 0, 0)


def is_same(one: Any, other: Any) -> bool:
    return bool(one["type"] == other["type"] and plain_key(one) == plain_key(other))


def elements(node: Any, value: Any) -> list[Any]:
    return [item for item in shown(node) if item["id"] == value["id"] or is_same(item, value)]


def is_list(node: Any) -> TypeGuard[Message]:
    return is_container(node) and isinstance(node["value"], list) and not is_dict(node)


def is_dict(node: Any) -> bool:
    value = node["value"]
    return isinstance(value, list) and ("key" in value[0] if value else node["type"] == "dict")


def is_container(node: Any) -> TypeGuard[Message]:
    return node is not None and isinstance(node["value"], list | dict)


def rest(node: Any) -> Any:
    if note_at(node) is not None:
        return None
    if isinstance(node["value"], dict):
        return node["value"].get("...")
    last = node["value"][-1] if node["value"] else {}
    last_type = (last.get("key") or last).get("type", "")
    return last if last_type in ("truncated", "truncated_key") else None


def shown(node: Any) -> Any:
    """What is in it and can be seen; a copy."""
    if isinstance(node["value"], dict):
        return {name: value for name, value in node["value"].items() if name != "..."}
    return front(node) + tail(node)


def note_at(node: Any) -> int | None:
    """Where in a list the note stands for those between its beginning and its end."""
    parts = enumerate(node["value"])
    return next((at for at, part in parts if isinstance(part, dict) and "hidden" in part), None)


def front(node: Any) -> list[Any]:
    at = note_at(node)
    return list(node["value"][: len(node["value"]) - (rest(node) is not None)] if at is None else node["value"][:at])


def tail(node: Any) -> list[Any]:
    at = note_at(node)
    return [] if at is None else node["value"][at + 1 :]


def insert_item(node: Any, index: int, value: Any) -> None:
    first, last, had_all = front(node), tail(node), has_all(node)
    if index < len(first) + had_all:
        node["value"].insert(index, value)
    elif index >= count(node) - len(last):
        last.insert(index - (count(node) - len(last)), value)
        node["value"] = [*first, {"hidden": 0}, *last]


def index_in_value(node: Any, index: int) -> int | None:
    """Where the item with this index stands, note and all."""
    first, last = front(node), tail(node)
    if index < len(first):
        return index
    index -= count(node) - len(last)
    return len(first) + 1 + index if 0 <= index < len(last) else None


def count(node: Any) -> int:
    return int(node.get("length", len(shown(node))))


def has_all(node: Any) -> bool:
    return len(shown(node)) >= count(node)


def settle(node: Any, length: Any, change: int) -> None:
    if length is not None:
        node["length"] = length
    elif "length" in node:
        node["length"] = max(0, node["length"] + change)
    if has_all(node):
        node["value"] = shown(node)
    elif tail(node):
        hidden = count(node) - len(shown(node))
        note = {"type": "truncated", "value": f"... ({hidden:,} more)", "hidden": hidden}
        node["value"] = [*front(node), note, *tail(node)]
    elif note_at(node) is not None:
        node["value"] = front(node)


def position(node: Any, segment: Any) -> int | None:
    if type(segment) is not int:
        return None
    index = segment if segment >= 0 else count(node) + segment
    return index if index >= 0 else None


def plain_key(node: Any) -> Any:
    if node.get("type") == "NoneType":
        return ("NoneType",)
    value = node.get("value")
    return [plain_key(part) for part in value] if isinstance(value, list) else value


def segment_key(segment: Any) -> Any:
    if isinstance(segment, list):
        return [segment_key(part) for part in segment]
    return ("NoneType",) if segment is None else segment


def entry_of(node: Any, segment: Any) -> Any:
    entries = [entry for entry in shown(node) if plain_key(entry["key"]) == segment_key(segment)]
    return (entries or [entry for entry in shown(node) if entry["key"]["id"] == segment] or [None])[0]


def walk(node: Any, path: list[Any]) -> Any:
    for segment in path:
        if not is_container(node):
            return None
        if isinstance(node["value"], dict):
            node = shown(node).get(segment) if isinstance(segment, str) else None
        elif is_dict(node):
            entry = entry_of(node, segment)
            node = entry and entry["value"]
        else:
            index = position(node, segment)
            at = None if index is None else index_in_value(node, index)
            node = None if at is None else node["value"][at]
    return node


def put_item(node: Any, segment: Any, value: Any, key: Any) -> int:
    """How many more there are now."""
    had_all = has_all(node)
    if isinstance(node["value"], dict):
        if not isinstance(segment, str):
            return 0
        new = segment not in node["value"]
        node["value"][segment] = value
    elif is_dict(node):
        if entry := entry_of(node, segment):
            entry["value"] = value
            return 0
        if key is None or (key["type"] == "NoneType" and segment is not None):
            key = made_key(segment)
        new = True
        node["value"].insert(len(shown(node)), {"key": key, "value": value})
    else:
        new = False
        index = position(node, segment)
        if index is not None and (at := index_in_value(node, index)) is not None:
            node["value"][at] = value
    return int(new and had_all)


def made_key(segment: Any) -> Any:
    kind = {type(None): "NoneType", list: "list"}.get(type(segment), type(segment).__name__)
    value = "None" if segment is None else list(map(made_key, segment)) if isinstance(segment, list) else segment
    return {"type": kind, "value": value, "id": "made"}


def drop_item(node: Any, segment: Any) -> int:
    """How many more there are now."""
    before, had_all = len(shown(node)), has_all(node)
    if isinstance(node["value"], dict):
        if isinstance(segment, str) and segment != "...":
            node["value"].pop(segment, None)
    elif is_dict(node):
        entry = entry_of(node, segment)
        node["value"] = [one for one in node["value"] if one is not entry]
    else:
        index = position(node, segment)
        if index is None or index >= count(node):
            return 0
        if (at := index_in_value(node, index)) is not None:
            del node["value"][at]
    return -1 if len(shown(node)) < before or not had_all else 0


def as_seen(node: Any) -> Any:
    """A tree without what a made key's id happens to be."""
    if isinstance(node, list):
        return [as_seen(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = str(node.get("id", "")).startswith(("key_", "made"))
    return {name: as_seen(value) for name, value in node.items() if not (made and name == "id")}
