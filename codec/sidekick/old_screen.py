"""Translates canonical messages for a UI of A, B or C into C's form, with replacements for what only D has.

    row, column             nothing: an old UI is flat; their children stand side by side, and are removed with them
    label, markdown         a console with that text
    button, textbox         a control, in the panel it came from or in one of its own
    changeParent            nothing
    grid, up to 0.0.2       setCell
    canvas, up to 0.0.4     config, line, rect, circle; polylines and polygons as lines; no ellipse, text or buffer
    console, up to 0.0.2    every text is a line of its own, so a newline at its end is left out
    grid clear, in A        the grid is made anew
    clearAll, in A          a remove of everything that is shown

The memory here holds what the UI shows, so the limits of the scene bound it.

Total: rules get valid messages only. There is one rule for each action, and it reads only the fields that the action
must have; all other fields of the payload and the options may hold anything. An unknown message (`Other`) has a place
in the tree and is shown unchanged: no rule looks into it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from codec.sidekick.control import panel_and_control
from codec.sidekick.dialect import LINES_UNTIL, OLD_CANVAS_UNTIL, Release
from codec.sidekick.messages import ROOT, ClearAll, Other, Remove, Spawn, Update
from codec.sidekick.old_hero import NO_OUTLINE
from codec.sidekick.shapes import ACTIONS, ChangeParent

Message = dict[str, Any]


@dataclass(slots=True)
class OldScreen:
    """Translates for one UI, and remembers what this UI shows."""

    release: Release | None = (0, 0, 0)
    """None: a peer of C with an unknown release, which is treated as the last one."""
    knows_clear: bool = True
    """Whether the dialect can clear a grid, and the whole board."""
    kinds: dict[str, str] = field(default_factory=dict)
    children: dict[str, dict[str, None]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    panels: set[str] = field(default_factory=set)
    configs: dict[str, Message] = field(default_factory=dict)
    """For each textbox: the message that made its control."""
    sizes: dict[str, Message] = field(default_factory=dict)
    """For each grid: the payload that made it."""
    pens: dict[str, Message] = field(default_factory=dict)
    commands: int = 0
    is_newest: bool = field(init=False, default=True)
    shows_lines: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.is_newest = self.release is None or self.release > OLD_CANVAS_UNTIL
        self.shows_lines = self.release is not None and self.release <= LINES_UNTIL

    def show(self, said: Spawn | Update | Remove | ClearAll | Other, message: Message) -> list[Message]:
        """The translation, as far as this UI can show the message. `message` is its JSON."""
        match said:
            case ClearAll():
                return self._cleared(message)
            case Spawn(component=component, target=target, parent=parent):
                self.kinds[target] = component
                self._move(target, parent or ROOT)
                rule = SPAWNED.get(component)
            case Update(target=target, payload=ChangeParent(options=options)):
                self._move(target, options.parent)
                return []
            case Update(component=component, action=action):
                rule = UPDATED.get((component, action))
            case Remove(target=target):
                return list(self._removed(target, message))
            case Other():
                return self._unknown(said, message)
        return rule(self, message) if rule else [message]

    def _unknown(self, said: Other, message: Message) -> list[Message]:
        """A message of an unknown component, or an unknown message of a known one."""
        if said.target is None:
            return [message]
        match said.type, message.get("payload"):
            case "spawn", payload:
                parent = payload.get("parent") if isinstance(payload, dict) else None
                self.kinds[said.target] = said.component
                self._move(said.target, parent if isinstance(parent, str) and parent else ROOT)
            case "remove", _:
                return list(self._removed(said.target, message))
            case "update", {"action": "changeParent", "options": {"parent": str(parent)}}:
                self._move(said.target, parent)
                return []
        return [message]

    def _cleared(self, message: Message) -> list[Message]:
        removals: list[Message] = []
        if not self.knows_clear:
            for target in list(self.children.get(ROOT, ())):
                removals += self._removed(target, {**_without(message, "payload"), "type": "remove"})
        self.panels.clear()
        for memory in (self.kinds, self.children, self.parents, self.configs, self.sizes, self.pens):
            memory.clear()
        return [message] if self.knows_clear else removals

    def _move(self, target: str, parent: str) -> None:
        self.children.get(self.parents.get(target, ""), {}).pop(target, None)
        self.parents[target] = parent
        self.children.setdefault(parent, {})[target] = None

    def _removed(self, target: str, message: Message) -> Iterator[Message]:
        """The removal of a component and everything in it, innermost first. Even a circle ends, since each is
        forgotten."""
        ways = [target]
        gone = []
        while ways:
            one = ways.pop()
            gone.append((one, self.kinds.pop(one, message["component"])))
            self.children.get(self.parents.pop(one, ""), {}).pop(one, None)
            ways.extend(self.children.pop(one, {}))
        for one, component in reversed(gone):
            for memory in (self.configs, self.sizes, self.pens):
                memory.pop(one, None)
            yield from self._gone(one, component, {**message, "target": one})

    def _gone(self, target: str, component: str, message: Message) -> Iterator[Message]:
        if component in ("button", "textbox"):
            panel, control = panel_and_control(target)
            if panel != target:
                yield _control({**message, "type": "update"}, panel, {"action": "remove", "controlId": control})
                return
        if component in ("row", "column", "button", "textbox"):
            if target in self.panels:
                self.panels.discard(target)
                yield {**message, "component": "control"}
            return
        yield {**message, "component": "console" if component in ("label", "markdown") else component}


Rule = Callable[[OldScreen, Message], list[Message]]


def _options(message: Message) -> Message:
    """The options; None if the action needs none."""
    options = message["payload"].get("options")
    return options if isinstance(options, dict) else {}


def _without(fields: Message, *names: str) -> Message:
    return {name: value for name, value in fields.items() if name not in names}


def _doing(message: Message, action: str, options: Message | None) -> Message:
    payload = _without(message["payload"], "options")
    return {**message, "payload": {**payload, "action": action, **({} if options is None else {"options": options})}}


def _orphaned(message: Message) -> Message:
    """A spawn without its parent: an old UI has only one place."""
    return {**message, "payload": _without(message["payload"], "parent")}


# --- what has no place, and what is shown as something else ----------------------------------------------------------


def _nothing(screen: OldScreen, message: Message) -> list[Message]:
    return []


def _page(text: str) -> Rule:
    """`text` is the name of the field that holds the text."""

    def spawned(screen: OldScreen, message: Message) -> list[Message]:
        fields = _without(message["payload"], "parent", "showInput", text)
        shown = {**fields, "showInput": False, "text": message["payload"][text]}
        return [{**message, "component": "console", "payload": shown}]

    return spawned


def _page_update(text: str) -> Rule:
    def updated(screen: OldScreen, message: Message) -> list[Message]:
        shown = {**message, "component": "console", "payload": {}}
        return [_doing(shown, "clear", None), _doing(shown, "append", {"text": _options(message)[text]})]

    return updated


def _control(message: Message, panel: str, payload: Message) -> Message:
    return {**_without(message, "payload"), "component": "control", "target": panel, "payload": payload}


def _added(screen: OldScreen, message: Message, options: Message) -> list[Message]:
    panel, control = panel_and_control(message["target"])
    base = {**message, "type": "update"}
    shown = [_control(base, panel, {"action": "add", "controlId": control, "options": options})]
    if panel not in screen.panels:
        screen.panels.add(panel)
        screen.kinds.setdefault(panel, "column")
        shown.insert(0, _control({**message, "type": "spawn"}, panel, {}))
    return shown


def _button_spawn(screen: OldScreen, message: Message) -> list[Message]:
    return _button(screen, message, message["payload"]["text"], _without(message["payload"], "text", "parent"))


def _button_update(screen: OldScreen, message: Message) -> list[Message]:
    rest = _without(message["payload"], "action", "options")
    return _button(screen, message, _options(message)["text"], rest)


def _button(screen: OldScreen, message: Message, text: str, rest: Message) -> list[Message]:
    name = "buttonText" if screen.is_newest else "text"
    return _added(screen, message, {"controlType": "button", "config": {**rest, name: text}})


def _textbox_spawn(screen: OldScreen, message: Message) -> list[Message]:
    config = {"placeholder": "", "initialValue": "", "buttonText": "", **_without(message["payload"], "parent")}
    screen.configs[message["target"]] = config
    return _added(screen, message, {"controlType": "textInput", "config": config})


def _textbox_update(old: str, new: str) -> Rule:
    """A field of the control, and its name in D."""

    def updated(screen: OldScreen, message: Message) -> list[Message]:
        config = screen.configs.setdefault(message["target"], {})
        config[old] = _options(message)[new]
        return _added(screen, message, {"controlType": "textInput", "config": config})

    return updated


# --- what an older release said otherwise ----------------------------------------------------------------------------


def _grid_spawn(screen: OldScreen, message: Message) -> list[Message]:
    shown = _orphaned(message)
    screen.sizes[message["target"]] = shown["payload"]
    return [shown]


def _grid_clear(screen: OldScreen, message: Message) -> list[Message]:
    if screen.knows_clear:
        return [message]
    anew = {**message, "type": "spawn", "payload": screen.sizes.get(message["target"], {})}
    return [{**_without(message, "payload"), "type": "remove"}, anew]


def _cell(screen: OldScreen, message: Message) -> list[Message]:
    return [_doing(message, "setCell", _options(message))] if screen.shows_lines else [message]


def _cell_clear(screen: OldScreen, message: Message) -> list[Message]:
    if not screen.shows_lines:
        return [message]
    return [_doing(message, "setCell", {**_options(message), "color": None, "text": None})]


def _console_spawn(screen: OldScreen, message: Message) -> list[Message]:
    shown = _orphaned(message)
    text = shown["payload"].get("text")
    if screen.shows_lines and isinstance(text, str):
        shown["payload"]["text"] = _as_line(text)
    return [shown]


def _console_append(screen: OldScreen, message: Message) -> list[Message]:
    if not screen.shows_lines:
        return [message]
    options = _options(message)
    return [_doing(message, "append", {**options, "text": _as_line(options["text"])})]


def _as_line(text: str) -> str:
    """The text as a line of its own, without its newline. A newline after an empty line stays: without it the line
    would vanish."""
    said = text.removesuffix("\n")
    return text if said.endswith("\n") else said


def _bare_spawn(screen: OldScreen, message: Message) -> list[Message]:
    return [_orphaned(message)]


Stroke = tuple[str, Message]
Draw = Callable[[OldScreen, str, Message], Iterator[Stroke]]


def _drawn(draw: Draw | None) -> Rule:
    """`draw` is None if an old canvas has no such command."""

    def shown(screen: OldScreen, message: Message) -> list[Message]:
        if screen.is_newest:
            return [message]
        options = _options(message)
        if draw is None or options.get("bufferId"):
            return []
        return [_command(screen, message, *stroke) for stroke in draw(screen, message["target"], options)]

    return shown


def _command(screen: OldScreen, message: Message, action: str, options: Message) -> Message:
    screen.commands += 1
    return {**message, "payload": {"action": action, "options": options, "commandId": screen.commands}}


def _pen(screen: OldScreen, target: str, wanted: Message) -> Iterator[Stroke]:
    pen = screen.pens.setdefault(target, {})
    if changed := {name: value for name, value in wanted.items() if pen.get(name) != value}:
        pen.update(changed)
        yield "config", changed


def _outlined(screen: OldScreen, target: str, options: Message, strokes: list[Stroke]) -> Iterator[Stroke]:
    color, width = options.get("lineColor"), options.get("lineWidth")
    if color == NO_OUTLINE or width == 0:
        return
    pen = {"strokeStyle": "black" if color is None else color, "lineWidth": 1 if width is None else width}
    yield from _pen(screen, target, pen)
    yield from strokes


STYLE = ("bufferId", "lineColor", "lineWidth", "fillColor")


def _wiped(screen: OldScreen, target: str, options: Message) -> Iterator[Stroke]:
    yield "clear", _without(options, "bufferId")


def _line(screen: OldScreen, target: str, options: Message) -> Iterator[Stroke]:
    yield from _outlined(screen, target, options, [("line", _without(options, *STYLE))])


def _shape(name: str) -> Draw:
    def drawn(screen: OldScreen, target: str, options: Message) -> Iterator[Stroke]:
        where = _without(options, *STYLE)
        if options.get("fillColor") is not None:
            yield from _pen(screen, target, {"fillStyle": options["fillColor"]})
            yield name, {**where, "filled": True}
        yield from _outlined(screen, target, options, [(name, {**where, "filled": False})])

    return drawn


def _lines(*, closed: bool) -> Draw:
    def drawn(screen: OldScreen, target: str, options: Message) -> Iterator[Stroke]:
        points = options["points"]
        ends = points[1:] + points[:1] if closed else points[1:]
        strokes = [
            ("line", {"x1": start["x"], "y1": start["y"], "x2": end["x"], "y2": end["y"]})
            for start, end in zip(points, ends, strict=False)
        ]
        yield from _outlined(screen, target, options, strokes)

    return drawn


STROKES: dict[str, Draw] = {
    "clear": _wiped,
    "drawLine": _line,
    "drawRect": _shape("rect"),
    "drawCircle": _shape("circle"),
    "drawPolyline": _lines(closed=False),
    "drawPolygon": _lines(closed=True),
}

SPAWNED: dict[str, Rule] = {
    "row": _nothing,
    "column": _nothing,
    "label": _page("text"),
    "markdown": _page("initialSource"),
    "button": _button_spawn,
    "textbox": _textbox_spawn,
    "grid": _grid_spawn,
    "console": _console_spawn,
    "canvas": _bare_spawn,
    "viz": _bare_spawn,
}
UPDATED: dict[tuple[str, str], Rule] = {
    ("label", "setText"): _page_update("text"),
    ("markdown", "setSource"): _page_update("source"),
    ("button", "setText"): _button_update,
    ("textbox", "setValue"): _textbox_update("initialValue", "value"),
    ("textbox", "setPlaceholder"): _textbox_update("placeholder", "placeholder"),
    ("grid", "setColor"): _cell,
    ("grid", "setText"): _cell,
    ("grid", "clearCell"): _cell_clear,
    ("grid", "clear"): _grid_clear,
    ("console", "append"): _console_append,
    **{("canvas", shape.action): _drawn(STROKES.get(shape.action)) for shape in ACTIONS["canvas"]},
}
