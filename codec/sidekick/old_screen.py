"""What is shown to a UI of A, B or C in place of what only D has: canonical messages in, messages in C's form out.

    row, column             nothing: an old UI is flat; their children stand side by side, and go when they go
    label, markdown         a console with that text
    button, textbox         a control, in the panel it came from or in one of its own
    changeParent            nothing
    grid, up to 0.0.2       setCell
    canvas, up to 0.0.4     config, line, rect, circle; polylines and polygons as lines; no ellipse, text or buffer
    console, up to 0.0.2    every text is a line of its own, so a newline at its end is left out
    grid clear, in A        the grid is made anew
    clearAll, in A          a remove of everything that is shown

What is remembered here is what the UI shows, so it is bounded by what the scene lets be shown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from codec.sidekick.control import panel_and_control
from codec.sidekick.dialect import LINES_UNTIL, OLD_CANVAS_UNTIL, Release
from codec.sidekick.messages import ROOT
from codec.sidekick.old_hero import NO_OUTLINE

Message = dict[str, Any]


@dataclass(slots=True)
class OldScreen:
    """Translates for one UI; remembers what it shows."""

    release: Release | None = (0, 0, 0)
    """None: a C whose release is not known; it is taken for the last one."""
    knows_clear: bool = True
    """Whether it has words for clearing a grid, and everything."""
    kinds: dict[str, str] = field(default_factory=dict)
    children: dict[str, dict[str, None]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    panels: set[str] = field(default_factory=set)
    configs: dict[str, Message] = field(default_factory=dict)
    """Of each textbox: how its control was made."""
    sizes: dict[str, Message] = field(default_factory=dict)
    """Of each grid: the payload it was made with."""
    pens: dict[str, Message] = field(default_factory=dict)
    commands: int = 0
    is_newest: bool = field(init=False, default=True)
    shows_lines: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.is_newest = self.release is None or self.release > OLD_CANVAS_UNTIL
        self.shows_lines = self.release is not None and self.release <= LINES_UNTIL

    def show(self, message: Message) -> list[Message]:
        """The same, as far as this UI can show it."""
        target = message.get("target")
        payload = message.get("payload")
        if message["type"] == "clearAll":
            return self._cleared(message)
        if not isinstance(target, str):  # of a component that we do not know
            return [message]
        match message["type"], payload:
            case "spawn", _:
                self._place(target, message)
            case "remove", _:
                return list(self._removed(target, message))
            case _, {"action": "changeParent", "options": {"parent": str(parent)}}:
                self._move(target, parent)
                return []
        rule = RULES.get((message["component"], message["type"]))
        return rule(self, message) if rule else [message]

    def _cleared(self, message: Message) -> list[Message]:
        removals: list[Message] = []
        if not self.knows_clear:
            for target in list(self.children.get(ROOT, ())):
                removals += self._removed(target, {**_without(message, "payload"), "type": "remove"})
        self.panels.clear()
        for memory in (self.kinds, self.children, self.parents, self.configs, self.sizes, self.pens):
            memory.clear()
        return [message] if self.knows_clear else removals

    def _place(self, target: str, message: Message) -> None:
        payload = message.get("payload")
        parent = payload.get("parent") if isinstance(payload, dict) else None
        self.kinds[target] = message["component"]
        self._move(target, parent if isinstance(parent, str) and parent else ROOT)

    def _move(self, target: str, parent: str) -> None:
        self.children.get(self.parents.get(target, ""), {}).pop(target, None)
        self.parents[target] = parent
        self.children.setdefault(parent, {})[target] = None

    def _removed(self, target: str, message: Message) -> Iterator[Message]:
        """The removal of a component and all in it, innermost first. Ends in a circle too: each is forgotten."""
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


def _options(message: Message) -> Message:
    return message["payload"].get("options") or {}


def _without(fields: Message, *names: str) -> Message:
    return {name: value for name, value in fields.items() if name not in names}


def _doing(message: Message, action: str, options: Message | None) -> Message:
    payload = _without(message["payload"], "options")
    return {**message, "payload": {**payload, "action": action, **({} if options is None else {"options": options})}}


def _orphaned(message: Message) -> Message:
    """A spawn without its place: an old UI has only one."""
    return {**message, "payload": _without(message["payload"], "parent")}


# --- what has no place, and what is shown as something else ----------------------------------------------------------


def _nothing(screen: OldScreen, message: Message) -> list[Message]:
    return []


def _page_spawn(screen: OldScreen, message: Message) -> list[Message]:
    fields = _without(message["payload"], "parent", "text", "initialSource")
    text = message["payload"].get("text", message["payload"].get("initialSource"))
    return [{**message, "component": "console", "payload": {"showInput": False, "text": text, **fields}}]


def _page_update(screen: OldScreen, message: Message) -> list[Message]:
    options = _options(message)
    text = options.get("text", options.get("source"))
    shown = {**message, "component": "console", "payload": {}}
    return [_doing(shown, "clear", None), _doing(shown, "append", {"text": text})]


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


def _button(screen: OldScreen, message: Message) -> list[Message]:
    payload = message["payload"]
    text = payload.get("text", (payload.get("options") or {}).get("text"))
    rest = _without(payload, "text", "parent", "action", "options")
    name = "buttonText" if screen.is_newest else "text"
    return _added(screen, message, {"controlType": "button", "config": {name: text, **rest}})


def _textbox_spawn(screen: OldScreen, message: Message) -> list[Message]:
    config = {"placeholder": "", "initialValue": "", "buttonText": "", **_without(message["payload"], "parent")}
    screen.configs[message["target"]] = config
    return _added(screen, message, {"controlType": "textInput", "config": config})


def _textbox_update(screen: OldScreen, message: Message) -> list[Message]:
    config, options = screen.configs.setdefault(message["target"], {}), _options(message)
    for old, new in (("initialValue", "value"), ("placeholder", "placeholder")):
        if new in options:
            config[old] = options[new]
    return _added(screen, message, {"controlType": "textInput", "config": dict(config)})


# --- what an older release said otherwise ----------------------------------------------------------------------------


def _grid_spawn(screen: OldScreen, message: Message) -> list[Message]:
    shown = _orphaned(message)
    screen.sizes[message["target"]] = shown["payload"]
    return [shown]


def _grid_update(screen: OldScreen, message: Message) -> list[Message]:
    action = message["payload"].get("action")
    if action == "clear" and not screen.knows_clear:
        anew = {**message, "type": "spawn", "payload": screen.sizes.get(message["target"], {})}
        return [{**_without(message, "payload"), "type": "remove"}, anew]
    if screen.shows_lines and action in ("setColor", "setText"):
        return [_doing(message, "setCell", _options(message))]
    if screen.shows_lines and action == "clearCell":
        return [_doing(message, "setCell", {**_options(message), "color": None, "text": None})]
    return [message]


def _console_spawn(screen: OldScreen, message: Message) -> list[Message]:
    shown = _orphaned(message)
    text = shown["payload"].get("text")
    if screen.shows_lines and isinstance(text, str):
        shown["payload"]["text"] = _as_line(text)
    return [shown]


def _console_update(screen: OldScreen, message: Message) -> list[Message]:
    if screen.shows_lines and message["payload"].get("action") == "append":
        options = _options(message)
        return [_doing(message, "append", {**options, "text": _as_line(options["text"])})]
    return [message]


def _as_line(text: str) -> str:
    """As a line of its own, whose end is not said; but an end behind an empty line is what makes that line one."""
    said = text.removesuffix("\n")
    return text if said.endswith("\n") else said


def _canvas_spawn(screen: OldScreen, message: Message) -> list[Message]:
    return [_orphaned(message)]


def _canvas_update(screen: OldScreen, message: Message) -> list[Message]:
    if screen.is_newest:
        return [message]
    options = _options(message)
    draw = STROKES.get(message["payload"]["action"])
    if draw is None or options.get("bufferId"):
        return []
    return [_command(screen, message, *stroke) for stroke in draw(screen, message["target"], options)]


Stroke = tuple[str, Message]


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


def _shape(name: str) -> Callable[[OldScreen, str, Message], Iterator[Stroke]]:
    def drawn(screen: OldScreen, target: str, options: Message) -> Iterator[Stroke]:
        where = _without(options, *STYLE)
        if options.get("fillColor") is not None:
            yield from _pen(screen, target, {"fillStyle": options["fillColor"]})
            yield name, {**where, "filled": True}
        yield from _outlined(screen, target, options, [(name, {**where, "filled": False})])

    return drawn


def _lines(*, closed: bool) -> Callable[[OldScreen, str, Message], Iterator[Stroke]]:
    def drawn(screen: OldScreen, target: str, options: Message) -> Iterator[Stroke]:
        points = options["points"]
        ends = points[1:] + points[:1] if closed else points[1:]
        strokes = [
            ("line", {"x1": start["x"], "y1": start["y"], "x2": end["x"], "y2": end["y"]})
            for start, end in zip(points, ends, strict=False)
        ]
        yield from _outlined(screen, target, options, strokes)

    return drawn


STROKES: dict[str, Callable[[OldScreen, str, Message], Iterator[Stroke]]] = {
    "clear": _wiped,
    "drawLine": _line,
    "drawRect": _shape("rect"),
    "drawCircle": _shape("circle"),
    "drawPolyline": _lines(closed=False),
    "drawPolygon": _lines(closed=True),
}

RULES: dict[tuple[str, str], Callable[[OldScreen, Message], list[Message]]] = {
    ("row", "spawn"): _nothing,
    ("row", "update"): _nothing,
    ("column", "spawn"): _nothing,
    ("column", "update"): _nothing,
    ("label", "spawn"): _page_spawn,
    ("label", "update"): _page_update,
    ("markdown", "spawn"): _page_spawn,
    ("markdown", "update"): _page_update,
    ("button", "spawn"): _button,
    ("button", "update"): _button,
    ("textbox", "spawn"): _textbox_spawn,
    ("textbox", "update"): _textbox_update,
    ("grid", "spawn"): _grid_spawn,
    ("grid", "update"): _grid_update,
    ("console", "spawn"): _console_spawn,
    ("console", "update"): _console_update,
    ("canvas", "spawn"): _canvas_spawn,
    ("canvas", "update"): _canvas_update,
    ("viz", "spawn"): _canvas_spawn,
}
