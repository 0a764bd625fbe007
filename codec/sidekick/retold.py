"""Translates the text of a refusal into the dialect of the refused message.

Messages are judged in canonical form, so a refusal names canonical actions and fields: "canvas 'c' drawLine: options.x1
is missing". If the script said `line`, or its dialect has no `options`, the refusal should name what the script wrote.
A text that does not begin like one of our sentences is left as it is.
"""

import re

from codec.sidekick.dialect import KEYS, Dialect
from codec.sidekick.flat import VIZ_FIELDS, backwards
from codec.sidekick.wording import sentence
from codec.sidekick.words import BY_D

FIELD = re.compile(r"(?P<field>[\w.\[\]]+)(?P<rest> (?:is|must|cannot|needs|may) .*)", re.DOTALL)
DOING = re.compile(r"(?P<doing>\w+): (?P<wrong>.*)", re.DOTALL)
HUMP = re.compile(r"(?<=[a-z])([A-Z])")

DRAWING = {"drawLine": "line", "drawRect": "rect", "drawCircle": "circle"}
SIZES = {"numColumns": "size[0]", "numRows": "size[1]"}
ACTION_IN_A = {"canvas": "command", "viz": "change_type", "control": "operation"}
FLAT = frozenset(("grid", "console"))
"""Modules whose updates in A name no action: each is an `update`."""


def retold(component: str, target: str, text: str, dialect: Dialect, *, has_old_canvas: bool) -> str:
    """`has_old_canvas`: whether the peer says `line` for `drawLine`."""
    if dialect is Dialect.D:
        return text
    begin = sentence(component, target, "", "").removesuffix(": ")
    found = DOING.fullmatch(text.removeprefix(begin)) if text.startswith(begin) else None
    if found is None:
        return _field(text, dict(zip(("component", "type"), KEYS[dialect], strict=True)))
    doing, wrong = found["doing"], found["wrong"]
    if dialect is Dialect.E:
        words = BY_D.get((component, None if doing == "spawn" else doing))
        if words is None:
            return text
        return f"{begin}{words.action or doing}: {_field(wrong, {new: old for old, new in words.fields.items()})}"
    if has_old_canvas and component == "canvas":
        doing = DRAWING.get(doing, doing)
    if dialect is Dialect.A:
        doing, wrong = _in_a(component, doing, wrong)
    return f"{begin}{doing}: {wrong}"


def _in_a(component: str, doing: str, wrong: str) -> tuple[str, str]:
    wrong = _field(wrong, {**SIZES, **backwards(VIZ_FIELDS), "action": ACTION_IN_A.get(component, "action")})
    if component == "canvas":
        return doing, wrong
    if component in FLAT and doing not in ("spawn", "remove"):
        doing = "update"
    field, space, rest = wrong.removeprefix("options.").partition(" ")
    return _snake(doing), _snake(field) + space + rest


def _field(wrong: str, names: dict[str, str]) -> str:
    """The same sentence with the peer's own name for the field, found by the first part of its path after `options`."""
    found = FIELD.fullmatch(wrong)
    if found is None:
        return wrong
    options = "options." if found["field"].startswith("options.") else ""
    first, dot, inner = found["field"].removeprefix(options).partition(".")
    return f"{options}{names.get(first, first)}{dot}{inner}{found['rest']}"


def _snake(name: str) -> str:
    return HUMP.sub(lambda hump: "_" + hump[1].lower(), name)
