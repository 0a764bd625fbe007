"""Feedback: a UI of any dialect is heard, a hero of any dialect is told in its own words."""

from typing import Any

import pytest

from codec.sidekick import Bad, Dialect, Ear, Event, Fault, Mouth
from codec.sidekick.control import component_id, is_control, panel_and_control
from codec.sidekick.shapes import Click, ClickAt, Submit
from tests.sidekick.codec.kit import blobs, modern, old, third, without_id

AT = {"event": "click", "x": 1, "y": 2}

BOTH_WAYS: list[tuple[Dialect, Event, bytes]] = [
    (Dialect.A, Event("grid", "g", ClickAt(x=1, y=2)), old("grid", "notify", "g", AT)),
    (Dialect.B, Event("grid", "g", ClickAt(x=1, y=2)), old("grid", "notify", "g", AT)),
    (Dialect.C, Event("grid", "g", ClickAt(x=1, y=2)), third("grid", "event", "g", AT)),
    (Dialect.D, Event("grid", "g", ClickAt(x=1, y=2)), modern("grid", "event", "g", AT)),
    (Dialect.E, Event("grid", "g", ClickAt(x=1, y=2)), modern("grid", "event", "g", AT)),
    (Dialect.C, Event("canvas", "c", ClickAt(x=1, y=2)), third("canvas", "event", "c", AT)),
    (
        Dialect.A,
        Event("console", "c", Submit(value="a")),
        old("console", "notify", "c", {"event": "submit", "value": "a"}),
    ),
    (
        Dialect.B,
        Event("console", "c", Submit(value="a")),
        old("console", "notify", "c", {"event": "inputText", "value": "a"}),
    ),
    (
        Dialect.C,
        Event("console", "c", Submit(value="a")),
        third("console", "event", "c", {"event": "inputText", "value": "a"}),
    ),
    (
        Dialect.E,
        Event("console", "c", Submit(value="a")),
        modern("console", "event", "c", {"event": "submit", "value": "a"}),
    ),
    (
        Dialect.A,
        Event("button", "k/go", Click()),
        old("control", "notify", "k", {"event": "click", "control_id": "go"}),
    ),
    (Dialect.B, Event("button", "k/go", Click()), old("control", "notify", "k", {"event": "click", "controlId": "go"})),
    (
        Dialect.C,
        Event("button", "k/go", Click()),
        third("control", "event", "k", {"event": "click", "controlId": "go"}),
    ),
    (Dialect.E, Event("button", "k/go", Click()), modern("button", "event", "k/go", {"event": "click"})),
    (
        Dialect.A,
        Event("textbox", "k/nm", Submit(value="a")),
        old("control", "notify", "k", {"event": "submit", "control_id": "nm", "value": "a"}),
    ),
    (
        Dialect.B,
        Event("textbox", "k/nm", Submit(value="a")),
        old("control", "notify", "k", {"event": "inputText", "controlId": "nm", "value": "a"}),
    ),
    (
        Dialect.C,
        Event("textbox", "k/nm", Submit(value="a")),
        third("control", "event", "k", {"event": "inputText", "controlId": "nm", "value": "a"}),
    ),
    (
        Dialect.D,
        Event("textbox", "t", Submit(value="a")),
        modern("textbox", "event", "t", {"event": "submit", "value": "a"}),
    ),
]


@pytest.mark.parametrize(("dialect", "event", "words"), BOTH_WAYS)
def test_a_hero_is_told_of_an_event_in_its_own_words(dialect: Dialect, event: Event, words: bytes) -> None:
    [said] = blobs(Mouth(dialect).say(event))
    assert without_id(said) == without_id(words)


@pytest.mark.parametrize(("dialect", "event", "words"), BOTH_WAYS)
def test_a_ui_of_any_dialect_is_heard(dialect: Dialect, event: Event, words: bytes) -> None:
    heard = Ear(dialect).hear(words)
    assert isinstance(heard, Event)
    assert (heard.component, heard.src, heard.payload) == (event.component, event.src, event.payload)


@pytest.mark.parametrize(
    ("event", "words"), [(event, words) for dialect, event, words in BOTH_WAYS if dialect is Dialect.D]
)
def test_an_event_is_heard_at_once_as_it_is_closely(event: Event, words: bytes) -> None:
    ear = Ear(Dialect.D)
    ear.hear(words)  # from its first event on, a peer is taken for a UI
    assert ear.hear(words) == ear._hear_closely(words) == Event(event.component, event.src, event.payload, words)


@pytest.mark.parametrize("dialect", [Dialect.A, Dialect.B, Dialect.C])
@pytest.mark.parametrize("event", [Event("button", "button-6", Click()), Event("textbox", "t", Submit(value="a"))])
def test_an_old_hero_is_not_told_of_what_it_cannot_have_made(dialect: Dialect, event: Event) -> None:
    assert Mouth(dialect).say(event) is None


@pytest.mark.parametrize(
    ("control", "event", "heard"),
    [
        ("/button-6", {"event": "click"}, Event("button", "button-6", Click())),
        ("/button-6", {"event": "inputText", "value": "a"}, Event("textbox", "button-6", Submit(value="a"))),
    ],
)
def test_a_modern_button_on_an_old_ui_is_known_again(control: str, event: Any, heard: Event) -> None:
    said = Ear(Dialect.C).hear(third("control", "event", "button-6", {"controlId": control, **event}))
    assert isinstance(said, Event)
    assert (said.component, said.src, said.payload) == (heard.component, heard.src, heard.payload)


ERRORS: list[tuple[Dialect, Fault | Bad, bytes]] = [
    (Dialect.A, Fault("grid", "g", "boo"), old("grid", "error", "g", {"message": "boo"})),
    (Dialect.B, Fault("grid", "g", "boo"), old("grid", "error", "g", {"message": "boo"})),
    (Dialect.C, Fault("grid", "g", "boo"), third("grid", "error", "g", {"message": "boo"})),
    (Dialect.C, Fault("button", "k/go", "boo"), third("control", "error", "k", {"message": "boo"})),
    (Dialect.C, Fault("column", "k", "boo"), third("control", "error", "k", {"message": "boo"})),
    (Dialect.D, Fault("grid", "g", "boo"), modern("grid", "error", "g", {"message": "boo"})),
    (Dialect.E, Fault("markdown", "m", "boo"), modern("markdown", "error", "m", {"message": "boo"})),
    (Dialect.C, Bad("grid", "g", "boo"), third("grid", "error", "g", {"message": "boo"})),
    (Dialect.D, Bad("grid", "g", "boo"), modern("grid", "error", "g", {"message": "boo"})),
]


@pytest.mark.parametrize(("dialect", "fault", "words"), ERRORS)
def test_a_hero_is_told_of_an_error_in_its_own_words(dialect: Dialect, fault: Fault | Bad, words: bytes) -> None:
    [said] = blobs(Mouth(dialect).say(fault))
    assert without_id(said) == without_id(words)


@pytest.mark.parametrize(
    ("panel", "control"), [("k", "go"), ("k/1", "go"), ("k", "a/b"), ("~", "~1"), ("k", "="), ("a/b", "/b")]
)
def test_a_controls_id_as_a_component_leads_back_to_it(panel: str, control: str) -> None:
    component = component_id(panel, control)
    assert panel_and_control(component) == (panel, control)
    assert is_control(component)


@pytest.mark.parametrize("component", ["button-6", "", "/", "a/", "/a", "a/b/c", "~2/x"])
def test_any_other_component_gets_a_panel_of_its_own_name(component: str) -> None:
    panel, control = panel_and_control(component)
    assert panel == component
    assert component_id(panel, control) == component
    assert not is_control(component)
