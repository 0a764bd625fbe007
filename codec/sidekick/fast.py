"""The updates that make up nearly all traffic, and the events that answer them, decoded in one pass.

There is one decoder for each envelope. It accepts only messages that are canonical as they are. Any other message takes
the long way, where it is corrected, relayed as unknown, or refused with a sentence. So the long way would accept every
message that the fast way accepts, with the same result.
"""

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from codec.sidekick.shapes import ACTIONS, EVENTS, Action, ClearCanvas, VizChange
from codec.sidekick.weight import LONGEST_NAME

Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


def _message(key: str, component: str, payload: Any, what: str = "update", about: str = "target") -> Any:
    return msgspec.defstruct(
        f"{component.capitalize()}{what.capitalize()}",
        [("type", Literal[what]), (about, Id), ("payload", payload)],
        tag_field=key,
        tag=component,
        namespace={"component": component},
        frozen=True,
        gc=False,
    )


def _decoder(key: str, components: dict[str, tuple[type[Action], ...]]) -> msgspec.json.Decoder[Any]:
    """A decoder without the components that have only one action (a row can only be moved). With only one type to
    choose from, msgspec (0.20) accepts a payload whose action is missing."""
    several = {name: shapes for name, shapes in components.items() if len(shapes) > 1}
    messages = [_message(key, name, reduce(or_, shapes)) for name, shapes in several.items()]
    return msgspec.json.Decoder(reduce(or_, [*messages, _message(key, "viz", VizChange)]))


MODERN = _decoder("component", ACTIONS)
OF_C = _decoder(
    "module",
    {
        "grid": ACTIONS["grid"],
        "console": ACTIONS["console"],
        "canvas": tuple(shape for shape in ACTIONS["canvas"] if shape is not ClearCanvas),
    },
)
"""A canvas's clear takes the long way, because the old form may carry a colour."""

OF_A_UI: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    reduce(or_, [_message("component", name, shape, "event", "src") for name, shape in EVENTS.items()])
)

HEADS = ((b'{"id": 0, "module": ', b'{"id": 0, "component": '), (b'{"id":0,"module":', b'{"id":0,"component":'))
"""The beginning of a C message, as Python's json writes it, and its replacement in a D message."""


def with_component(data: bytes) -> bytes | None:
    """A C message in D's envelope, without decoding it. None if it does not start as the released clients' messages do,
    or if one of the keys comes again, because a reader of the result would take the later one."""
    for old, new in HEADS:
        if data.startswith(old) and not _names_it_again(data, len(old)):
            return new + data[len(old) :]
    return None


def with_module(data: bytes) -> bytes | None:
    """The same in the other direction."""
    for new, old in HEADS:
        if data.startswith(old) and not _names_it_again(data, len(old)):
            return new + data[len(old) :]
    return None


def _names_it_again(data: bytes, start: int) -> bool:
    return data.find(b'"module"', start) >= 0 or data.find(b'"component"', start) >= 0
