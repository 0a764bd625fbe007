"""The nodes of a viz tree, which are opened only where they were changed.

A node is JSON until something in it changes. Then it is opened one level deep, and its items are still JSON. Items are
the parts of a list or a set, the entries of a dict, or the attributes of an object. There are three classes for these,
which differ in how they find the item for a segment of a path.

A node is whole when all its items are shown; clients send at most 50. `rest` is the client's note about the items that
are not shown. It stays last, and is removed when the node is whole. If a message does not give a container's new
length, the length follows from the change.

What is appended to a list that is not whole is shown at its end. Then a note of our own stands in the list, for the
items between those at its beginning and those at its end: {"type": "truncated", "hidden": how many}.

The board's page keeps the same nodes by the same rules (web/board/values.js), so a page that comes late shows the same
as the others.
"""

from collections.abc import Hashable
from typing import Any

import msgspec
from msgspec import Raw

from actors.sidekick.scene.tree import Fields, fields_of, write

LONGEST_KEY = 8
"""How deep tuples may be nested in a dict's key."""
LARGEST = 2**53
HIDDEN, NOTHING = b'"hidden"', Raw(b"null")

Key = tuple[Hashable, ...]
"""A dict's key, with its type, so that "1" is not 1, and "None" is not None."""

parts_of = msgspec.json.Decoder(list[Raw]).decode
value_of = msgspec.json.Decoder().decode


class Opened:
    __slots__ = ("fields", "length", "rest")

    def __init__(self, fields: Fields, length: int | None, rest: Raw | None = None) -> None:
        self.fields = fields
        """All fields except the value and the length."""
        self.length = length
        self.rest = rest

    def child(self, segment: Any) -> "Opened | None":
        """The node that a segment of a path leads to, opened. None if there is no such node, or if it has no items."""
        item = self._get(segment)
        if item is None or isinstance(item, Opened):
            return item
        opened = open_node(item)
        if opened is not None:
            self.put(segment, opened, None)
        return opened

    def size(self) -> int:
        """How many items are shown."""
        raise NotImplementedError

    def _get(self, segment: Any) -> "Raw | Opened | None":
        raise NotImplementedError

    def put(self, segment: Any, value: "Raw | Opened", key: Raw | None) -> int:
        """Set the item at a segment. Returns how many more items there are now, as far as can be told."""
        raise NotImplementedError

    def drop(self, segment: Any) -> int:
        """Remove the item at a segment. Returns -1, or 0 if there was no such item."""
        raise NotImplementedError

    def empty(self) -> None:
        raise NotImplementedError

    def value(self) -> Any:
        """The items, to be written as JSON."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """How many items there are, shown or not."""
        return self.size() if self.length is None else self.length

    @property
    def whole(self) -> bool:
        return self.size() >= self.count

    def settle(self, length: int | None, change: int) -> None:
        """Set the length after a change: to `length`, if the message gave it, else by adding `change`."""
        if length is not None and 0 <= length < LARGEST:
            self.length = length
        elif self.length is not None:
            self.length = max(0, self.length + change)
        if self.whole:
            self.rest = None

    def written(self) -> dict[str, Any]:
        length = {} if self.length is None else {"length": self.length}
        return {**self.fields, "value": self.value(), **length}


class Sequence(Opened):
    """A list, a tuple or a set. `is_noted`: a note of our own may stand in it, which is looked for in each part."""

    __slots__ = ("items", "tail")

    def __init__(self, fields: Fields, length: int | None, parts: list[Any], *, is_noted: bool) -> None:
        super().__init__(fields, length)
        self.items = parts
        """Those at the beginning; all of them, if it is whole..."""
        self.tail: list[Any] = []
        """...and those at the end, if there are others in between."""
        note = _place_of_note(parts) if is_noted and length is not None and length >= len(parts) else None
        if note is not None:
            self.items, self.tail = parts[:note], parts[note + 1 :]
        elif parts and _stands_for_rest(parts[-1], len(parts), length):
            self.rest = parts.pop()

    def index(self, segment: Any) -> int | None:
        """The index that a segment stands for in the whole list, including items that are not shown."""
        if type(segment) is not int:
            return None
        index = segment if segment >= 0 else self.count + segment
        return index if index >= 0 else None

    def size(self) -> int:
        return len(self.items) + len(self.tail)

    def _found(self, segment: Any) -> tuple[list[Any], int] | None:
        """The list in which the item is shown, and its index there."""
        index = self.index(segment)
        if index is None or index < len(self.items):
            return None if index is None else (self.items, index)
        index -= self.count - len(self.tail)
        return (self.tail, index) if 0 <= index < len(self.tail) else None

    def _get(self, segment: Any) -> "Raw | Opened | None":
        found = self._found(segment)
        return None if found is None else found[0][found[1]]

    def put(self, segment: Any, value: "Raw | Opened", key: Raw | None) -> int:
        if (found := self._found(segment)) is not None:
            found[0][found[1]] = value
        return 0

    def append(self, value: Raw, length: int | None) -> None:
        """`length`: after that. If it has grown by more, what came before was lost on its way to us."""
        if length is not None and self.count + 1 < length < LARGEST:
            self.length, self.tail = length - 1, []
        if self.whole:  # perhaps more items are shown than there are, for nobody knows which have gone
            self.items.append(value)
        else:
            self.insert(self.count, value)

    def insert(self, segment: int, value: Raw) -> None:
        """Insert an item as Python does: an index that is too small or too large means the beginning or the end."""
        index = min(self.index(segment) or 0, self.count)
        if index < len(self.items) + self.whole:
            self.items.insert(index, value)
        elif (in_tail := index - (self.count - len(self.tail))) >= 0:
            self.tail.insert(in_tail, value)
            self.rest = None

    def add(self, value: Raw, length: int | None) -> int:
        """Add an element to a set. A set has no order, so a new element is shown even if others are not."""
        if length <= self.count if length is not None else self._place(value) is not None:
            return 0
        self.items.append(value)
        return 1

    def discard(self, value: Raw) -> int:
        found = self._place(value)
        if found is None:
            return 0 if self.whole else -1
        del found[0][found[1]]
        return -1

    def _place(self, value: Raw) -> tuple[list[Any], int] | None:
        """Of an element of a set: the list in which it is shown, and its index there."""
        wanted = _identity(value)
        places = ((some, index) for some in (self.items, self.tail) for index in range(len(some)))
        return next(((some, index) for some, index in places if _identity(some[index]) & wanted), None)

    def drop(self, segment: Any) -> int:
        index = self.index(segment)
        if index is None or index >= self.count:
            return 0
        if (found := self._found(segment)) is not None:
            del found[0][found[1]]
        return -1

    def settle(self, length: int | None, change: int) -> None:
        super().settle(length, change)
        if self.tail and self.whole:
            self.items, self.tail = self.items + self.tail, []

    def empty(self) -> None:
        self.items, self.tail, self.rest = [], [], None

    def value(self) -> Any:
        items, tail = (
            [item.written() if isinstance(item, Opened) else item for item in some] for some in (self.items, self.tail)
        )
        if tail:
            return [*items, _note(self.count - self.size()), *tail]
        return items if self.rest is None else [*items, self.rest]


class Mapping(Opened):
    """A dict."""

    __slots__ = ("by_id", "entries")

    def __init__(self, fields: Fields, length: int | None, parts: list[Raw]) -> None:
        super().__init__(fields, length)
        self.entries: dict[Key, tuple[Raw, Any]] = {}
        self.by_id: dict[str, Key] = {}
        for part in parts:
            entry = some_fields(part)
            key, value = entry.get("key", Raw(b"null")), entry.get("value", Raw(b"null"))
            if _text(some_fields(key).get("type")) == "truncated_key":
                self.rest = part
            else:
                self._enter(_key_of_node(key), key, value)

    def _enter(self, name: Key, key: Raw, value: "Raw | Opened") -> None:
        node_id = _text(some_fields(key).get("id"))
        self.entries[name] = (key, value)
        if node_id:
            self.by_id[node_id] = name

    def _name(self, segment: Any) -> Key | None:
        """The key of the entry that a segment leads to; None if there is none."""
        name = _key_of_segment(segment)
        if name in self.entries:
            return name
        return self.by_id.get(segment) if isinstance(segment, str) else None

    def size(self) -> int:
        return len(self.entries)

    def _get(self, segment: Any) -> "Raw | Opened | None":
        name = self._name(segment)
        return None if name is None else self.entries[name][1]

    def put(self, segment: Any, value: "Raw | Opened", key: Raw | None) -> int:
        standing = self._name(segment)
        if standing is not None:
            self.entries[standing] = (self.entries[standing][0], value)
            return 0
        new = int(self.whole)
        if key is None or (segment is not None and _text(some_fields(key).get("type")) == "NoneType"):
            key = _node_of_segment(segment, self.size())
        self._enter(_key_of_segment(segment), key, value)
        return new

    def drop(self, segment: Any) -> int:
        name = self._name(segment)
        if name is None:
            return 0 if self.whole else -1
        key, _ = self.entries.pop(name)
        self.by_id.pop(_text(some_fields(key).get("id")) or "", None)
        return -1

    def empty(self) -> None:
        self.entries, self.by_id, self.rest = {}, {}, None

    def value(self) -> Any:
        entries: list[Any] = [
            {"key": key, "value": value.written() if isinstance(value, Opened) else value}
            for key, value in self.entries.values()
        ]
        return entries if self.rest is None else [*entries, self.rest]


class Attributes(Opened):
    """An object."""

    __slots__ = ("attributes",)

    def __init__(self, fields: Fields, length: int | None, attributes: Fields) -> None:
        super().__init__(fields, length)
        self.rest = attributes.pop("...", None)
        self.attributes: dict[str, Any] = attributes

    def size(self) -> int:
        return len(self.attributes)

    def _get(self, segment: Any) -> "Raw | Opened | None":
        return self.attributes.get(segment) if isinstance(segment, str) else None

    def put(self, segment: Any, value: "Raw | Opened", key: Raw | None) -> int:
        if not isinstance(segment, str):
            return 0
        new = int(segment not in self.attributes and self.whole)
        self.attributes[segment] = value
        return new

    def drop(self, segment: Any) -> int:
        if isinstance(segment, str) and self.attributes.pop(segment, None) is not None:
            return -1
        return 0 if self.whole else -1

    def empty(self) -> None:
        self.attributes, self.rest = {}, None

    def value(self) -> Any:
        shown = {name: one.written() if isinstance(one, Opened) else one for name, one in self.attributes.items()}
        return shown if self.rest is None else {**shown, "...": self.rest}


def open_node(raw: Raw) -> Opened | None:
    """Open a node. None: it has no items, or makes no sense. Raises RecursionError if it is nested too deeply."""
    fields = some_fields(raw)
    value, length = fields.pop("value", None), fields.pop("length", None)
    whole = None if length is None else value_of(length)
    count = whole if type(whole) is int and 0 <= whole < LARGEST else None
    try:
        match b"" if value is None else bytes(memoryview(value)[:1]):
            case b"[" if value is not None:
                parts = parts_of(value)
                is_dict = some_fields(parts[0]).keys() >= {"key", "value"} if parts else _is_dict(fields)
                if is_dict:
                    return Mapping(fields, count, parts)
                return Sequence(fields, count, parts, is_noted=HIDDEN in bytes(memoryview(value)))
            case b"{" if value is not None:
                return Attributes(fields, count, fields_of(value))
    except msgspec.MsgspecError:
        pass
    return None


def some_fields(raw: "Raw | Opened") -> Fields:
    """The fields of a node that should be a JSON object; none if it is not one."""
    if isinstance(raw, Opened):
        return raw.fields
    try:
        return fields_of(raw)
    except msgspec.MsgspecError:
        return {}


def _text(raw: Raw | None) -> str:
    value = None if raw is None else value_of(raw)
    return value if isinstance(value, str) else ""


def _is_dict(fields: Fields) -> bool:
    return "dict" in _text(fields.get("type")).lower()


def _stands_for_rest(raw: Raw, size: int, length: int | None) -> bool:
    """Whether a list's last part is the note about items that are not shown. An item that was too deep to be shown has
    the same type."""
    fields = some_fields(raw)
    if _text(fields.get("type")) != "truncated":
        return False
    return _text(fields.get("value")).startswith("...") or (length is not None and length > size)


def _note(hidden: int) -> dict[str, Any]:
    """Our own, of items in the middle of a list."""
    return {"type": "truncated", "value": f"... ({hidden:,} more)", "hidden": hidden}


def _place_of_note(parts: list[Raw]) -> int | None:
    return next((at for at, part in enumerate(parts) if _is_note(some_fields(part))), None)


def _is_note(fields: Fields) -> bool:
    return _text(fields.get("type")) == "truncated" and type(value_of(fields.get("hidden", NOTHING))) is int


def _key_of_segment(segment: Any, depth: int = LONGEST_KEY) -> Key:
    match segment:
        case None:
            return ("none",)
        case int() | float():  # also True, which is the same dict key as 1
            return ("number", segment)
        case str():
            return ("text", segment)
        case list() if depth:
            return ("tuple", *(_key_of_segment(part, depth - 1) for part in segment))
    return ("unknown",)


def _key_of_node(raw: Raw, depth: int = LONGEST_KEY) -> Key:
    fields = some_fields(raw)
    value = fields.get("value")
    if _text(fields.get("type")) == "NoneType":
        return ("none",)
    match b"" if value is None else bytes(memoryview(value)[:1]):
        case b"[" if depth and value is not None:
            return ("tuple", *(_key_of_node(part, depth - 1) for part in parts_of(value)))
        case b"" | b"[" | b"{" | b"n":
            return ("id", _text(fields.get("id")))
    return _key_of_segment(value_of(value))  # type: ignore[arg-type]


def _node_of_segment(segment: Any, number: int) -> Raw:
    """The node of a dict's key, for a message that did not contain it."""
    kind = {"none": "NoneType", "text": "str", "number": type(segment).__name__, "tuple": "list"}
    shape, *_ = _key_of_segment(segment)
    value = "None" if segment is None else segment
    if isinstance(segment, list):
        value = [_node_of_segment(part, index) for index, part in enumerate(segment)] if shape == "tuple" else []
    return Raw(write({"type": kind.get(str(shape), "object"), "value": value, "id": f"key_{number}"}))


def _identity(raw: "Raw | Opened") -> frozenset[Key]:
    """The keys by which an element of a set is recognised: its id, and its type with its value."""
    if isinstance(raw, Opened):
        raw = Raw(write(raw.written()))
    fields = some_fields(raw)
    return frozenset((("id", _text(fields.get("id"))), (_text(fields.get("type")), _key_of_node(raw))))
