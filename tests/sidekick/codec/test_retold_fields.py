"""An error that is told again in another dialect names the field as it is called there."""

import pytest

from codec.sidekick.retold import _field

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
