"""Values by a JSON Schema: whether one fits, one that does, and what is wrong with it in every way in turn.

It knows the words that schemas/ uses, and no other; an unknown one is a KeyError.
"""

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]
SILENT = {"title", "description", "default", "discriminator", "$schema", "$defs", "examples", "required", "deprecated"}
WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30),
    *("", "x", "x" * 5000, "\x00\ud7ff"),
    *([], [None], [[[]]], {}, {"a": 1}),
)
"""For every place in a message."""


class Schemas:
    def __init__(self, document: Schema) -> None:
        self._document = document

    def at(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            found: Any = self._document
            for step in schema["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            schema = found
        return schema

    def why_not(self, schema: Schema, value: Any, where: str = "$") -> str | None:
        """What is wrong with the value; None: it fits."""
        schema = self.at(schema)
        for word, bound in schema.items():
            if word not in SILENT and (why := self._against(schema, word, bound, value, where)) is not None:
                return why
        if isinstance(value, dict):
            for name in schema.get("required", ()):
                if name not in value:
                    return f"{where} has no {name}"
        return None

    def _against(self, schema: Schema, word: str, bound: Any, value: Any, where: str) -> str | None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        inner: list[str | None] = []
        match word:
            case "type":
                kinds = [bound] if isinstance(bound, str) else bound
                fits = any(_is(kind, value) for kind in kinds)
            case "enum":
                fits = any(type(each) is type(value) and each == value for each in bound)
            case "const":
                fits = type(bound) is type(value) and bound == value
            case "anyOf":
                inner = [self.why_not(each, value, where) for each in bound]
                fits = None in inner
            case "minimum":
                fits = not number or value >= bound
            case "maximum":
                fits = not number or value <= bound
            case "minLength":
                fits = not isinstance(value, str) or len(value) >= bound
            case "maxLength":
                fits = not isinstance(value, str) or len(value) <= bound
            case "minItems":
                fits = not isinstance(value, list) or len(value) >= bound
            case "maxItems":
                fits = not isinstance(value, list) or len(value) <= bound
            case "items":
                inner = [self.why_not(bound, each, f"{where}[{at}]") for at, each in enumerate(_list(value))]
                return next((why for why in inner if why), None)
            case "prefixItems":
                pairs = enumerate(zip(bound, _list(value), strict=False))
                inner = [self.why_not(each, one, f"{where}[{at}]") for at, (each, one) in pairs]
                return next((why for why in inner if why), None)
            case "properties":
                for name, each in bound.items():
                    if isinstance(value, dict) and name in value:
                        inner.append(self.why_not(each, value[name], f"{where}.{name}"))
                return next((why for why in inner if why), None)
            case "additionalProperties":
                known = schema.get("properties", {})
                given = value if isinstance(value, dict) else {}
                rest = {name: one for name, one in given.items() if name not in known}
                if bound is False:
                    fits = not rest
                else:
                    inner = [self.why_not(bound, one, f"{where}.{name}") for name, one in rest.items()] if bound else []
                    return next((why for why in inner if why), None)
            case _:
                raise KeyError(f"the word {word} of a schema is not known here")
        return None if fits else f"{where}: {word} is {json.dumps(bound)[:200]}, and it is {json.dumps(value)[:200]}"

    def example(self, schema: Schema) -> Any:
        """A value in which every part is there."""
        schema = self.at(schema)
        if "anyOf" in schema:
            return self.example(next(each for each in schema["anyOf"] if each.get("type") != "null"))
        for word in ("enum", "const"):
            if word in schema:
                return schema[word][0] if word == "enum" else schema[word]
        match schema.get("type"):
            case "object":
                return {name: self.example(each) for name, each in schema.get("properties", {}).items()}
            case "array":
                return [self.example(schema["items"])] if "items" in schema else []
            case "string":
                return "x" * max(1, schema.get("minLength", 0))
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return True
            case "null":
                return None
        return "anything"

    def drawn(self, schema: Schema) -> st.SearchStrategy[Any]:
        """Values that fit."""
        schema = self.at(schema)
        if "anyOf" in schema:
            return st.one_of([self.drawn(each) for each in schema["anyOf"]])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        if "const" in schema:
            return st.just(schema["const"])
        match schema.get("type"):
            case "object":
                parts = {name: self.drawn(each) for name, each in schema.get("properties", {}).items()}
                needed = {name: parts.pop(name) for name in schema.get("required", ()) if name in parts}
                return st.fixed_dictionaries(needed, optional=parts)
            case "array":
                return st.lists(self.drawn(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=4)
            case "string":
                most = min(schema.get("maxLength", 40), 40)
                return st.text(min_size=schema.get("minLength", 0), max_size=most)
            case "integer":
                low, high = schema.get("minimum", -(2**40)), schema.get("maximum", 2**40)
                return st.integers(math.ceil(low), math.floor(high))
            case "number":
                low, high = schema.get("minimum", -1e9), schema.get("maximum", 1e9)
                return st.floats(low, high, allow_nan=False)
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
        return anything


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def spoilt(draw: st.DrawFn, whole: st.SearchStrategy[Any]) -> Any:
    """What was drawn, or the same with one of its parts replaced by anything, or left out."""
    value = draw(whole)
    there = list(places(value))
    if not there or draw(st.booleans()):
        return value
    *above, last = draw(st.sampled_from(there))
    inner = value = copy.deepcopy(value)
    for step in above:
        inner = inner[step]
    if draw(st.booleans()):
        del inner[last]
    else:
        inner[last] = draw(anything)
    return value


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every part."""
    if isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*above, name)
            yield from places(each, (*above, name))


def malformed(value: Any) -> Iterator[Any]:
    """The value with each of its parts left out, and with each replaced by whatever is odd."""
    for place in places(value):
        for wrong in (..., *WRONG):
            changed = copy.deepcopy(value)
            inner = changed
            for step in place[:-1]:
                inner = inner[step]
            if wrong is ...:
                del inner[place[-1]]
            else:
                inner[place[-1]] = wrong
            yield changed


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, float) and value.is_integer()
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
    return isinstance(value, dict)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
