"""Translates messages of a hero of B or C that D does not know. One message may become several:

    grid setCell, fill              one setColor or setText for each thing that changes
    canvas line, rect, circle       drawLine and so on, with the colours that `config` set before
    canvas config                   nothing: the pen is remembered here
    canvas clear with a colour      clear, then a rectangle of that colour
    control                         a column; each of its controls a button or a textbox in it
    console, up to 0.0.2            every text is a line of its own

A filled shape had no outline. UIs of D always draw one, so it is drawn `transparent`. A canvas was white or had its
`bgColor`, so a rectangle of that colour is drawn first. All other messages pass unchanged.

The memory is bounded. Above `MOST_REMEMBERED` components the oldest is forgotten, which costs it only its colours.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from codec.sidekick.control import component_id
from codec.sidekick.dialect import LINES_UNTIL, OLD_CANVAS_UNTIL, Release
from codec.sidekick.wording import quoted, short
from codec.words import kind

Message = dict[str, Any]

MOST_REMEMBERED = 10_000
MOST_FILLED = 40_000
"""Cells that one `fill` may change. In D each of them needs its own message."""
EVERYWHERE = 16_384
"""The side of a rectangle that covers a canvas of unknown size."""
NO_OUTLINE = "transparent"
PAPER = "#FFFFFF"


class CannotBeSaid(ValueError):
    """The message cannot be translated into D. The text says why and names the field; `doing` names the action."""

    def __init__(self, wrong: str, doing: str | None = None) -> None:
        super().__init__(wrong)
        self.doing = doing


class Pen(Struct):
    """The current style of an old canvas."""

    width: Any = EVERYWHERE
    height: Any = EVERYWHERE
    paper: str | None = None
    stroke: str = "#000000"
    fill: str = "#000000"
    line_width: int | float = 1


class OldHero(Struct):
    """Translates one hero; remembers what its later messages refer to."""

    release: Release | None = (0, 0, 0)
    """None: a peer of C with an unknown release, which is treated as the last one."""
    pens: dict[str, Pen] = field(default_factory=dict)
    grids: dict[str, tuple[int, int]] = field(default_factory=dict)
    controls: dict[tuple[str, str], str] = field(default_factory=dict)
    """The component of each control in each panel."""

    @property
    def writes_lines(self) -> bool:
        return self.release is not None and self.release <= LINES_UNTIL

    @property
    def has_white_canvases(self) -> bool:
        return self.release is not None and self.release <= OLD_CANVAS_UNTIL

    def translate(self, message: Message) -> list[Message]:
        """The translation into D. Raises Unreadable."""
        component, what = message.get("component"), message.get("type")
        if component == "global" and what == "clearAll":
            for memory in (self.pens, self.grids, self.controls):
                memory.clear()
        rule = RULES.get((str(component), str(what)))
        if rule is None or not isinstance(message.get("target"), str):
            return [message]
        return rule(self, message)


def _remember(memory: dict[Any, Any], target: Any, value: Any) -> None:
    memory[target] = value
    if len(memory) > MOST_REMEMBERED:
        del memory[next(iter(memory))]


def _fields(message: Message) -> Message:
    payload = message.get("payload")
    return payload if isinstance(payload, dict) else {}


def _options(message: Message) -> Message:
    options = _fields(message).get("options")
    return options if isinstance(options, dict) else {}


def _doing(message: Message, action: str, options: Message) -> Message:
    return {**message, "payload": {**_fields(message), "action": action, "options": options}}


def _without(fields: Message, *names: str) -> Message:
    return {name: value for name, value in fields.items() if name not in names}


# --- grid ------------------------------------------------------------------------------------------------------------


def _grid_spawn(hero: OldHero, message: Message) -> list[Message]:
    columns, rows = _fields(message).get("numColumns"), _fields(message).get("numRows")
    if isinstance(columns, int) and isinstance(rows, int):
        _remember(hero.grids, message["target"], (columns, rows))
    return [message]


def _grid_update(hero: OldHero, message: Message) -> list[Message]:
    match _fields(message).get("action"):
        case "setCell":
            return _set_cell(message)
        case "fill":
            return _fill(hero, message)
    return [message]


def _set_cell(message: Message) -> list[Message]:
    options = _options(message)
    changes = [(name, action) for name, action in (("color", "setColor"), ("text", "setText")) if name in options]
    if not changes:
        _position(options)
    return [
        _doing(message, action, _without(options, *(other for other, _ in changes if other != name)))
        for name, action in changes
    ]


def _position(options: Message) -> None:
    """An update that changes nothing must still name its cell."""
    for name in ("x", "y"):
        if name not in options:
            raise CannotBeSaid(f"{name} is missing")
        if not isinstance(options[name], int | float) or isinstance(options[name], bool):
            raise CannotBeSaid(f"{name} must be a whole number, not {kind(options[name])}")


def _fill(hero: OldHero, message: Message) -> list[Message]:
    color = _options(message).get("color")
    if not isinstance(color, str):
        raise CannotBeSaid(_not_a("fill_color", color, "a string"))
    columns, rows = hero.grids.get(message["target"], (0, 0))
    if columns <= 0 or rows <= 0:
        raise CannotBeSaid("fill_color needs a grid that was spawned before")
    if columns * rows > MOST_FILLED:
        raise CannotBeSaid(f"fill_color can fill {MOST_FILLED:,} cells at most, not {short(columns)} x {short(rows)}")
    cells = ({"x": x, "y": y, **_options(message)} for y in range(rows) for x in range(columns))
    return [_doing(message, "setColor", cell) for cell in cells]


# --- console ---------------------------------------------------------------------------------------------------------


def _line(text: Any) -> Any:
    return text if not isinstance(text, str) or text.endswith("\n") else text + "\n"


def _console_spawn(hero: OldHero, message: Message) -> list[Message]:
    payload = _fields(message)
    if not hero.writes_lines or not payload.get("text"):
        return [message]
    return [{**message, "payload": {**payload, "text": _line(payload["text"])}}]


def _console_update(hero: OldHero, message: Message) -> list[Message]:
    options = _options(message)
    if not hero.writes_lines or _fields(message).get("action") != "append" or "text" not in options:
        return [message]
    return [_doing(message, "append", {**options, "text": _line(options["text"])})]


# --- canvas ----------------------------------------------------------------------------------------------------------


def _canvas_spawn(hero: OldHero, message: Message) -> list[Message]:
    payload = _fields(message)
    paper = payload.get("bgColor", PAPER if hero.has_white_canvases else None)
    pen = Pen(payload.get("width"), payload.get("height"), paper if isinstance(paper, str) else None)
    _remember(hero.pens, message["target"], pen)
    spawned = {**message, "payload": _without(payload, "bgColor")} if "bgColor" in payload else message
    return [spawned, *_papered(pen, message, pen.paper)]


def _papered(pen: Pen, message: Message, color: Any) -> list[Message]:
    """Fills the whole canvas with a colour, if there is one."""
    if color is None:
        return []
    sheet = {"x": 0, "y": 0, "width": pen.width, "height": pen.height, "fillColor": color, "lineColor": NO_OUTLINE}
    return [{**message, "type": "update", "payload": {"action": "drawRect", "options": sheet}}]


def _canvas_update(hero: OldHero, message: Message) -> list[Message]:
    pen = hero.pens.get(message["target"]) or Pen(paper=PAPER if hero.has_white_canvases else None)
    action, options = _fields(message).get("action"), _options(message)
    match action:
        case "config":
            _remember(hero.pens, message["target"], _configured(pen, options))
            return []
        case "clear" if "bufferId" not in options:
            color = options.get("color", pen.paper)
            if not isinstance(color, str | None):
                raise CannotBeSaid(_not_a("options.color", color, "a string"))
            return [_doing(message, "clear", _without(options, "color")), *_papered(pen, message, color)]
        case "line":
            return [_doing(message, "drawLine", {**options, **_outline(pen)})]
        case "rect" | "circle":
            is_filled = options.get("filled", False)
            if not isinstance(is_filled, bool):
                raise CannotBeSaid(f"options.filled must be true or false, not {kind(is_filled)}")
            style = {"fillColor": pen.fill, "lineColor": NO_OUTLINE} if is_filled else _outline(pen)
            name = "drawRect" if action == "rect" else "drawCircle"
            return [_doing(message, name, {**_without(options, "filled"), **style})]
    return [message]


def _configured(pen: Pen, options: Message) -> Pen:
    stroke, fill = options.get("strokeStyle", pen.stroke), options.get("fillStyle", pen.fill)
    for name, color in (("strokeStyle", stroke), ("fillStyle", fill)):
        if not isinstance(color, str):
            raise CannotBeSaid(f"options.{name} must be a string, not {kind(color)}")
    line_width = options.get("lineWidth", pen.line_width)
    if isinstance(line_width, bool) or not isinstance(line_width, int | float):
        raise CannotBeSaid(f"options.lineWidth must be a number, not {kind(line_width)}")
    return replace(pen, stroke=stroke, fill=fill, line_width=line_width)


def _outline(pen: Pen) -> Message:
    return {"lineColor": pen.stroke, "lineWidth": pen.line_width}


def _canvas_remove(hero: OldHero, message: Message) -> list[Message]:
    hero.pens.pop(message["target"], None)
    return [message]


def _grid_remove(hero: OldHero, message: Message) -> list[Message]:
    hero.grids.pop(message["target"], None)
    return [message]


# --- control ---------------------------------------------------------------------------------------------------------


def _control_panel(hero: OldHero, message: Message) -> list[Message]:
    """A panel begins or ends. In both cases it is empty afterwards."""
    for key in [key for key in hero.controls if key[0] == message["target"]]:
        del hero.controls[key]
    return [{**message, "component": "column"}]


def _control_update(hero: OldHero, message: Message) -> list[Message]:
    payload, panel = _fields(message), message["target"]
    action, control = payload.get("action"), payload.get("controlId")
    if action not in ("add", "remove"):  # D does not know it, and would mistake the control for its column
        raise CannotBeSaid(_not_a("action", action, '"add" or "remove"'), "update")
    if not isinstance(control, str) or not control:
        raise CannotBeSaid(_not_a("controlId", control, "a string that is not empty"))
    key = (panel, control)
    gone = {**_without(message, "payload"), "type": "remove", "target": component_id(panel, control)}
    gone["component"] = hero.controls.get(key, "button")
    if action == "remove":
        hero.controls.pop(key, None)
        return [gone]
    component, fields = _control(control, _options(message))
    added = {
        **gone,
        "component": component,
        "type": "spawn",
        "payload": {**fields, "parent": panel, **_without(payload, "action", "controlId", "options")},
    }
    replaced = [gone] if key in hero.controls else []
    _remember(hero.controls, key, component)
    return [*replaced, added]


def _control(control: str, options: Message) -> tuple[str, Message]:
    """The component for a control, and its fields."""
    kind_of, config = options.get("controlType"), options.get("config")
    if not isinstance(config, dict):
        raise CannotBeSaid(_not_a("options.config", config, "an object"))
    if kind_of == "button":
        text = config.get("buttonText", config.get("text"))
        return "button", {"text": control if text in (None, "") else text, **_without(config, "text", "buttonText")}
    if kind_of == "textInput":
        return "textbox", config
    raise CannotBeSaid(_not_a("options.controlType", kind_of, '"button" or "textInput"'))


def _not_a(field_name: str, value: Any, wanted: str) -> str:
    if value is None:
        return f"{field_name} is missing"
    return f"{field_name} must be {wanted}, not " + (f'"{quoted(value)}"' if isinstance(value, str) else kind(value))


RULES: dict[tuple[str, str], Callable[[OldHero, Message], list[Message]]] = {
    ("grid", "spawn"): _grid_spawn,
    ("grid", "update"): _grid_update,
    ("grid", "remove"): _grid_remove,
    ("console", "spawn"): _console_spawn,
    ("console", "update"): _console_update,
    ("canvas", "spawn"): _canvas_spawn,
    ("canvas", "update"): _canvas_update,
    ("canvas", "remove"): _canvas_remove,
    ("control", "spawn"): _control_panel,
    ("control", "update"): _control_update,
    ("control", "remove"): _control_panel,
}
