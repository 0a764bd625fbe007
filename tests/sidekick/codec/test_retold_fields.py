"""An error that is told again in another dialect names the field as it is called there."""

import pytest

from codec.sidekick.dialect import Dialect
from codec.sidekick.retold import _field, retold

NAMES = {"numColumns": "width", "color": "colour"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("numColumns is missing", "width is missing"),
        ("options.color must be a text", "options.colour must be a text"),
        ("options.color.red must be a number", "options.colour.red must be a number"),
        ("color.numColumns must be a number", "colour.numColumns must be a number"),
        ("other must be a number", "other must be a number"),
        ("there is no such component: spawn it first", "there is no such component: spawn it first"),
    ],
)
def test_a_field_is_named_as_it_was_called(wrong: str, told: str) -> None:
    assert _field(wrong, NAMES) == told


LINE = "canvas 'x' drawLine: options.x1 is missing"
OLD_LINE = "canvas 'x' line: options.x1 is missing"
COLOR = "grid 'x' setColor: options.color must be a string"
SPAWN = "grid 'x' spawn: numColumns is missing"
SOURCE = "markdown 'x' setSource: options.source is missing"
NO_COMPONENT, NO_MODULE = "component is missing", "module is missing"
ODD = "something else is wrong"


@pytest.mark.parametrize("has_old_canvas", [False, True])
@pytest.mark.parametrize(
    ("dialect", "told"),
    [
        (
            Dialect.A,
            [
                "grid 'x' update: color must be a string",
                "grid 'x' spawn: size[0] is missing",
                "markdown 'x' set_source: source is missing",
                NO_MODULE,
            ],
        ),
        (Dialect.B, [COLOR, SPAWN, SOURCE, NO_MODULE]),
        (Dialect.C, [COLOR, SPAWN, SOURCE, NO_MODULE]),
        (Dialect.D, [COLOR, SPAWN, SOURCE, NO_COMPONENT]),
        (Dialect.E, [COLOR, SPAWN, "markdown 'x' setText: options.text is missing", NO_COMPONENT]),
    ],
)
def test_a_refusal_names_what_the_peer_wrote(dialect: Dialect, told: list[str], has_old_canvas: bool) -> None:
    line = OLD_LINE if has_old_canvas and dialect not in (Dialect.D, Dialect.E) else LINE
    cases = [
        ("canvas", LINE),
        ("grid", COLOR),
        ("grid", SPAWN),
        ("markdown", SOURCE),
        ("grid", NO_COMPONENT),
        ("", ODD),
    ]
    said = [retold(component, "x", text, dialect, has_old_canvas=has_old_canvas) for component, text in cases]
    assert said == [line, *told, ODD]
