"""Hearing and saying are total: for every JSON value in every field of every message of every dialect."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.sidekick import Bad, Dialect, Ear, Mouth, Other, Said, dialect_of, encode
from codec.sidekick.canonical import understand
from tests.sidekick import odd
from tests.sidekick.codec.kit import blobs, each

LISTENERS = [
    *((dialect, "") for dialect in Dialect),
    *((Dialect.C, version) for version in ("0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.0.5")),
]


def mouths() -> list[Mouth]:
    return [Mouth(dialect, version) for dialect, version in LISTENERS]


def hold(ear: Ear, told: list[Mouth], data: bytes) -> None:
    """The law, for one message: it is heard, what was heard is what anybody reads in it, and it is said to all."""
    for said in each(ear.hear(data)):
        for mouth in told:
            for blob in blobs(mouth.say(said)):
                assert isinstance(json.loads(blob), dict)
        if isinstance(said, Bad):
            assert said.sentence
        else:
            assert understood(encode(said)) == said


def understood(raw: bytes) -> Said:
    """By a reader in a browser: of a field that is given twice, it takes the last."""
    return understand(json.loads(raw), raw)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(Dialect), st.sampled_from(Dialect), st.integers(0, 2**32))
def test_every_json_value_in_every_field_is_heard_and_said(spoken: Dialect, words: Dialect, seed: int) -> None:
    """`words` are those of another dialect now and then: a peer's dialect is settled by its first message."""
    dice, ear, told = Random(seed), Ear(spoken), mouths()
    for _ in range(12):
        data = odd.drawn(dice, dice.choice((spoken, spoken, spoken, words)))
        dialect_of(data)
        hold(ear, told, data)


def d(component: str, what: str, payload: Any, **more: Any) -> bytes:
    about = "src" if what == "event" else "target"
    return odd.written({"component": component, "type": what, about: component, "payload": payload, **more})


def a(module: str, what: str, payload: Any, key: str = "method", **more: Any) -> bytes:
    about = "src" if what == "notify" else "target"
    return odd.written({"id": 0, "module": module, key: what, about: module, "payload": payload, **more})


CELL = {"action": "setColor", "options": {"x": 1, "y": 1, "color": "red"}}
ADDED = {"operation": "add", "control_id": "k", "control_type": "button"}
NO_OBJECTS: list[Any] = [True, 7, "x", [1], [[]], 1.5]
FOUND: list[tuple[Dialect, bytes]] = [
    *((Dialect.D, d("column", "event", payload)) for payload in NO_OBJECTS),
    *((Dialect.A, a("control", "notify", payload)) for payload in NO_OBJECTS),
    *((Dialect.D, d(one, "update", {"action": "glow", "options": True})) for one in odd.SPAWNED),
    *((Dialect.D, d(one, "update", {"action": "glow", "options": [5]})) for one in odd.SPAWNED),
    (Dialect.D, d("button", "spawn", {"text": "go", "options": "x"})),
    (Dialect.A, a("control", "update", {**ADDED, "config": {"text": "go", "options": 5}})),
    (Dialect.D, d("hologram", "update", {"action": [], "options": {"parent": "row"}})),
    (Dialect.D, d("hologram", "update", {"action": {}})),
    (Dialect.C, a("grid", "update", CELL, "type", component=[1])),
    (Dialect.C, a("grid", "update", CELL, "type", component="console")),
    (Dialect.C, a("grid", "update", CELL, "type")[:-1] + b', "module": "update"}'),
    (Dialect.D, b'{"id": 0, ' + d("grid", "update", CELL)[1:-1] + b', "component": "grid"}'),
    (Dialect.D, odd.written({"id": 0, **json.loads(d("grid", "update", CELL)), "module": 5, "method": 6})),
    (Dialect.A, a("grid", "update", {"x": 1, "y": 1, "color": "red"}, type="spawn")),
    (Dialect.D, d("markdown", "update", {"action": "glow", "initialSource": 5, "options": []})),
    (Dialect.D, d("hologram", "clearAll", None)),
    *((Dialect.D, d(one, "update", {"options": {"parent": "root"}})) for one in odd.SPAWNED),
]


@pytest.mark.parametrize(("dialect", "data"), FOUND, ids=lambda one: getattr(one, "name", None))
def test_what_was_found_once_is_heard_and_said(dialect: Dialect, data: bytes) -> None:
    hold(Ear(dialect), mouths(), data)


@pytest.mark.parametrize("listener", [Dialect.A, Dialect.B, Dialect.C])
def test_what_is_not_understood_is_put_into_an_envelope_and_nothing_in_it_is_looked_at(listener: Dialect) -> None:
    module, method = ("module", "type") if listener is Dialect.C else ("module", "method")
    for one in odd.SPAWNED:
        payload = {"action": "glow", "options": [5], "text": {"x": 1}}
        heard = Ear(Dialect.D).hear(d(one, "update", payload))
        assert isinstance(heard, Other)
        [blob] = blobs(Mouth(listener, "0.0.1").say(heard))
        assert json.loads(blob) == {module: one, method: "update", "target": one, "payload": payload}


def test_a_clear_all_of_a_component_we_do_not_know_is_not_the_boards() -> None:
    mouth = Mouth(Dialect.A)
    say = [d("row", "spawn", {}), d("grid", "spawn", {"numColumns": 1, "numRows": 1, "parent": "row"})]
    for data in (*say, d("hologram", "clearAll", None)):
        for said in each(Ear(Dialect.D).hear(data)):
            mouth.say(said)
    [removed] = blobs(mouth.say(next(iter(each(Ear(Dialect.D).hear(d("row", "remove", None)))))))
    assert json.loads(removed)["module"] == "grid"
