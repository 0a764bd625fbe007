"""Laws of the codec, over messages nobody thought of."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.sidekick import (
    Bad,
    Dialect,
    Ear,
    Event,
    Mouth,
    Other,
    Said,
    Spawn,
    Update,
    dialect_of,
    encode,
)
from codec.sidekick.shapes import ACTIONS, EVENTS, SPAWNS, VIZ_ACTIONS, CanvasSpawn, ClickAt, GridSpawn
from tests.plenty import plenty
from tests.sidekick.codec.kit import RELEASES, blobs, each, recorded, without_id

pytestmark = pytest.mark.slow
quick = settings(max_examples=plenty(10), deadline=None)
thorough = settings(max_examples=plenty(130), deadline=None)

DIALECTS = st.sampled_from(Dialect)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)

NAMES = [
    "text",
    "value",
    "options",
    "action",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "color",
    "width",
    "height",
    "points",
    "cx",
    "cy",
    "radius",
    "bufferId",
    "numColumns",
    "numRows",
    "size",
    "showInput",
    "initialSource",
    "source",
    "initialValue",
    "placeholder",
    "parent",
    "event",
    "message",
    "variableName",
    "path",
    "valueRepresentation",
    "controlId",
    "controlType",
    "config",
    "filled",
    "strokeStyle",
    "command",
    "operation",
    "control_id",
    "change_type",
    "fill_color",
    "clear",
    "length",
]
WORDS = [
    *SPAWNS,
    "control",
    "system",
    "global",
    "spawn",
    "update",
    "remove",
    "event",
    "notify",
    "error",
    "announce",
    "clearAll",
    *(shape.action for shapes in ACTIONS.values() for shape in shapes),
    *VIZ_ACTIONS,
    "setCell",
    "config",
    "line",
    "rect",
    "circle",
    "add",
    "button",
    "textInput",
    "click",
    "submit",
    "inputText",
    "hero",
    "online",
    "k/go",
    "g",
]

near = st.sampled_from(WORDS) | scalars
"""Values that are nearly right: what a wrong message is really made of."""
near_options = st.dictionaries(
    st.sampled_from(NAMES), near | anything | st.dictionaries(st.sampled_from(NAMES), near), max_size=6
)
near_payload = st.dictionaries(st.sampled_from(NAMES), near | near_options, max_size=6) | anything
near_message = st.fixed_dictionaries(
    {},
    optional={
        **{
            key: st.sampled_from(WORDS) | anything for key in ("component", "module", "type", "method", "target", "src")
        },
        "payload": near_payload,
        "id": scalars,
    },
)


def said_by(ear: Ear, data: bytes) -> list[Said]:
    return list(each(ear.hear(data)))


@thorough
@given(DIALECTS, st.binary(max_size=200))
def test_hear_is_total_on_bytes(dialect: Dialect, data: bytes) -> None:
    assert said_by(Ear(dialect), data) != [None]
    dialect_of(data)


@thorough
@given(DIALECTS, DIALECTS, st.lists(near_message | anything, max_size=5))
def test_hear_and_say_are_total_on_json_and_what_is_heard_is_canonical(
    speaker: Dialect, listener: Dialect, messages: list[Any]
) -> None:
    ear, mouth = Ear(speaker), Mouth(listener)
    for message in messages:
        data = json.dumps(message).encode()
        dialect_of(data)
        for one in said_by(ear, data):
            for blob in blobs(mouth.say(one)):
                assert isinstance(msgspec.json.decode(blob), dict)
            if isinstance(one, Bad):
                assert one.sentence
            else:
                assert Ear(Dialect.D).hear(encode(one)) == one


CLICK = encode(Event("grid", "g", ClickAt(x=1, y=2)))
fields_of_events = st.dictionaries(
    st.sampled_from(["event", "x", "y", "value"]), st.sampled_from(["click", "submit"]) | scalars, max_size=4
)
near_events = st.fixed_dictionaries(
    {"component": st.sampled_from([*EVENTS, "viz", "chart"]), "type": st.sampled_from(["event", "update", "error"])},
    optional={"src": scalars | st.text(min_size=1), "payload": fields_of_events | anything, "id": scalars},
)


@thorough
@given(near_events | near_message)
def test_who_has_sent_an_event_is_understood_as_before(message: Any) -> None:
    data = json.dumps(message).encode()
    ui = Ear(Dialect.D)
    assert isinstance(ui.hear(CLICK), Event)
    assert ui.hear(CLICK) == Ear(Dialect.D).hear(CLICK)
    assert ui.hear(data) == Ear(Dialect.D).hear(data)


def mutilated(data: bytes, at: int, byte: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes((byte,)) + data[at + 1 :]


@thorough
@given(
    st.sampled_from([line for release in RELEASES for line in recorded(release)]), st.integers(0), st.integers(0, 255)
)
def test_hear_is_total_on_recorded_messages_with_a_wrong_byte(line: bytes, at: int, byte: int) -> None:
    data = mutilated(line, at, byte)
    for one in said_by(Ear(Dialect.C if b'"module"' in line else Dialect.E), data):
        if not isinstance(one, Bad):
            msgspec.json.decode(encode(one))
            encode(one).decode()


# --- messages that are right -----------------------------------------------------------------------------------------

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False, width=32)
texts = st.text(max_size=8)
ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
extras = st.dictionaries(st.sampled_from(["later", "trace", "note"]), st.integers() | texts, max_size=2)


sizes = st.integers(1, 2**53) | st.floats(0.5, 1e6)
places = st.none() | texts
spawns: dict[str, st.SearchStrategy[Any]] = {
    **{component: st.from_type(shape) for component, shape in SPAWNS.items()},
    "canvas": st.builds(CanvasSpawn, width=sizes, height=sizes, parent=places),
    "grid": st.builds(GridSpawn, num_columns=st.integers(1), num_rows=st.integers(1), parent=places),
}


def representable(value: Any) -> bool:
    """Finite numbers and whole surrogate pairs: what JSON has."""
    try:
        json.dumps(msgspec.to_builtins(value), allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, UnicodeEncodeError):
        return False
    return True


cells = st.fixed_dictionaries({"x": st.integers(0, 99), "y": st.integers(0, 99)})
points = st.fixed_dictionaries({"x": numbers, "y": numbers})
stroke = {"lineColor": texts, "lineWidth": st.integers(1, 9)}


def options_of(component: str, action: str) -> st.SearchStrategy[Any]:
    table: dict[tuple[str, str], st.SearchStrategy[Any]] = {
        ("grid", "setColor"): st.builds(lambda cell, color: {**cell, "color": color}, cells, texts | st.none()),
        ("grid", "setText"): st.builds(lambda cell, text: {**cell, "text": text}, cells, texts | st.none()),
        ("grid", "clearCell"): cells,
        ("console", "append"): texts.map(lambda text: {"text": text + "\n"}),
        ("canvas", "clear"): st.just({}),
        ("canvas", "drawLine"): st.fixed_dictionaries({**dict.fromkeys(("x1", "y1", "x2", "y2"), numbers), **stroke}),
        ("canvas", "drawRect"): st.fixed_dictionaries(
            {**dict.fromkeys(("x", "y", "width", "height"), numbers), **stroke}
        ),
        ("canvas", "drawCircle"): st.fixed_dictionaries(
            {"cx": numbers, "cy": numbers, "radius": st.integers(0, 9), **stroke}
        ),
        ("canvas", "drawPolyline"): st.fixed_dictionaries({"points": st.lists(points, min_size=2, max_size=4)}),
    }
    return table[component, action]


def update_of(component: str, action: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda target, options, more: {
            "id": 0,
            "component": component,
            "type": "update",
            "target": target,
            "payload": {"action": action, "options": options},
            **more,
        },
        ids,
        options_of(component, action),
        extras,
    )


IN_ALL = [
    ("grid", "setColor"),
    ("grid", "setText"),
    ("console", "append"),
    ("canvas", "drawLine"),
    ("canvas", "drawRect"),
    ("canvas", "drawCircle"),
]
"""Updates for which every dialect has words. (A grid's clearCell becomes two messages again where it is a setCell.)"""
IN_NEW = [*IN_ALL, ("grid", "clearCell"), ("canvas", "clear"), ("canvas", "drawPolyline")]


@pytest.mark.parametrize(("component", "action"), IN_NEW)
def test_an_unchanged_message_of_d_keeps_its_bytes(component: str, action: str) -> None:
    @quick
    @given(update_of(component, action), st.sampled_from([None, 1]), st.booleans())
    def law(message: dict[str, Any], indent: int | None, is_ascii: bool) -> None:
        data = json.dumps(message, indent=indent, ensure_ascii=is_ascii).encode()
        heard = Ear(Dialect.D).hear(data)
        assert isinstance(heard, Update)
        assert heard.raw is data
        assert Mouth(Dialect.D).say(heard) is data

    law()


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize(("component", "action"), IN_ALL)
def test_what_a_dialect_has_words_for_is_heard_as_it_was_said(dialect: Dialect, component: str, action: str) -> None:
    @quick
    @given(update_of(component, action))
    def law(message: dict[str, Any]) -> None:
        meant = Ear(Dialect.D).hear(json.dumps(message).encode())
        assert isinstance(meant, Update)
        ear = Ear(dialect)
        [heard] = [one for blob in blobs(Mouth(dialect).say(meant)) for one in said_by(ear, blob)]
        assert isinstance(heard, Update)
        assert (heard.component, heard.target, heard.payload) == (meant.component, meant.target, meant.payload)
        # Unknown fields survive both ways.
        assert (
            without_id(heard.raw).items()
            >= {key: value for key, value in message.items() if key in extra_names}.items()
        )

    extra_names = {"later", "trace", "note"}
    law()


@pytest.mark.parametrize("dialect", [Dialect.C, Dialect.D, Dialect.E])
@pytest.mark.parametrize(("component", "action"), IN_NEW)
def test_the_newer_dialects_lose_nothing_at_all(dialect: Dialect, component: str, action: str) -> None:
    @quick
    @given(update_of(component, action))
    def law(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        meant = Ear(Dialect.D).hear(data)
        assert isinstance(meant, Update)
        [blob] = blobs(Mouth(dialect).say(meant))
        [heard] = said_by(Ear(dialect), blob)
        assert isinstance(heard, Update)
        assert json.loads(heard.raw) == message
        assert heard.payload == meant.payload

    law()


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("component", ["button", "canvas", "console", "grid", "textbox"])
def test_an_event_is_heard_as_it_was_said(dialect: Dialect, component: str) -> None:
    @quick
    @given(
        st.from_type(EVENTS[component]).filter(representable),
        ids.map(lambda name: "panel/" + name.replace("/", "").replace("~", "") + "x"),
    )
    def law(payload: Any, src: str) -> None:
        meant = Event(component, src, payload)
        [blob] = blobs(Mouth(dialect).say(meant))
        [heard] = said_by(Ear(dialect), blob)
        assert isinstance(heard, Event)
        assert (heard.component, heard.src, heard.payload) == (component, src, payload)

    law()


@pytest.mark.parametrize("component", sorted(SPAWNS))
def test_what_we_write_is_what_we_read(component: str) -> None:
    @quick
    @given(spawns[component].filter(representable), ids)
    def law(payload: Any, target: str) -> None:
        spawn = Spawn(component, target, payload, "root" if payload.parent is None else payload.parent)
        heard = Ear(Dialect.D).hear(encode(spawn))
        assert isinstance(heard, Spawn)
        assert (heard.target, heard.payload, heard.parent) == (target, payload, spawn.parent)

    law()


@quick
@given(st.dictionaries(st.text(max_size=5), anything.filter(representable), max_size=4), DIALECTS)
def test_what_nobody_knows_is_relayed_with_every_field(fields: dict[str, Any], dialect: Dialect) -> None:
    message = {"id": 0, "component": "hologram", "type": "glow", "target": "h", "payload": fields}
    heard = Ear(Dialect.D).hear(json.dumps(message).encode())
    assert isinstance(heard, Other)
    [blob] = blobs(Mouth(dialect).say(heard))
    [again] = said_by(Ear(dialect), blob)
    assert isinstance(again, Other)
    assert json.loads(again.raw) == message
