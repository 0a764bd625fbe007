"""Turns a decoder's error into a sentence for the author of the script: which component, action and field is wrong,
what was expected and what came."""

import re
from typing import Any

from codec.decoding import KIND, KINDS, MISSING, kinds, parted
from codec.words import kind

NOT_FINITE = frozenset(("NaN", "Infinity", "-Infinity"))

NAMES = KINDS | {"str": "a string"}
AMOUNTS = {
    ">= 1": "above 0",
    "> 0": "above 0",
    "> 0.0": "above 0",
    ">= 0": "0 or more",
    ">= 0.0": "0 or more",
}

CHOICES = {"role": "'hero' or 'sidekick'", "status": "'online' or 'offline'"}

TOO_SHORT = re.compile(r"Expected `array` of length >= (?P<least>\d+)")
WRONG_AMOUNT = re.compile(r"Expected `[^`]*` (?P<amount>[<>]=? -?[\d.]+)")
LONGEST_QUOTE = 40


def short(number: float) -> str:
    """A number, unless it is too long to be read."""
    return f"{number:,.15g}" if abs(number) < 10**12 else "(a very large number)"


def wanted(types: str) -> str:
    return "a number" if types == "int | float" else kinds(types, NAMES)


def quoted(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "…"


def at(payload: Any, path: str) -> Any:
    """The value at a decoder's path such as `.options.points[1].x`; None if the path leads nowhere."""
    for key, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", path):
        try:
            payload = payload[int(index)] if index else payload[key]
        except (TypeError, KeyError, IndexError):
            return None
    return payload


def refusal(error: str, payload: Any) -> str:
    """The error in a payload, from the decoder's message."""
    what, path, _ = parted(error)
    name, value = path.removeprefix(".") or "payload", at(payload, path)
    if match := MISSING.fullmatch(what):
        return f"{path}.{match['field']} is missing".removeprefix(".")
    if match := TOO_SHORT.fullmatch(what):
        return f"{name} must have at least {match['least']} items, not {len(value) if isinstance(value, list) else 0}"
    if match := WRONG_AMOUNT.fullmatch(what):
        return f"{name} must be {AMOUNTS.get(match['amount'], match['amount'])}, not {quoted(value)}"
    if what == "Number out of range":
        return f"{name} must be a number of a usual size, not {quoted(value)}"
    if (match := KIND.fullmatch(what)) and match["got"]:
        if isinstance(value, str) and value in NOT_FINITE:
            return f"{name} must be a finite number, not {value}"
        was = quoted(value) if match["got"] == "float" and value is not None else kind(value)
        return f"{name} must be {wanted(match['wanted'])}, not {was}"
    if what.startswith("Invalid"):
        was = quoted(repr(value))
        return f"{name} must be {CHOICES[name]}, not {was}" if name in CHOICES else f"{name} cannot be {was}"
    return f"{name}: {what[:1].lower()}{what[1:]}"


def unknown_color(field: str, color: str) -> str:
    known = "a colour as CSS has them: a name, #rrggbb, rgb(...), hsl(...)"
    return f"options.{field} must be {known}; not '{quoted(color)}'"


def sentence(component: str, target: str, doing: str, wrong: str) -> str:
    """ "canvas 'c1' drawLine: options.x1 must be a number, not a string"."""
    subject = f"{component} '{quoted(target)}'" if target else component
    return f"{subject} {doing}: {wrong}"
