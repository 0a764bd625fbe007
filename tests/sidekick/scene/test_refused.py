"""What no browser could draw is told to the script, in a short sentence."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sidekick.scene import Limits, Scene
from codec.sidekick import Bad, Dialect, Ear, Other
from codec.sidekick.colors import NAMES, is_color
from tests.sidekick.codec.kit import modern, update
from tests.sidekick.scene import stories
from tests.sidekick.scene.kit import scene_of, told

HUGE = 10**400
CANVAS = modern("canvas", "spawn", "c", {"width": 30, "height": 20})
GRID = modern("grid", "spawn", "g", {"numColumns": 3, "numRows": 3})


def answer(*messages: bytes) -> str | None:
    """What is said to the last of them."""
    scene, ear = Scene(), Ear(Dialect.D)
    refusal: str | None = None
    for message in messages:
        said = ear.hear(message)
        assert not isinstance(said, list | Other)
        refusal = said.sentence if isinstance(said, Bad) else scene.fold(said)  # type: ignore[arg-type]
    return refusal


@pytest.mark.parametrize(
    ("size", "wrong"),
    [
        ((1e9, 1e9), "can be 65,535 pixels wide and high at most, not 1,000,000,000 x 1,000,000,000"),
        ((65_536, 1), "65,535 pixels wide"),
        ((32_000, 32_000), "can have 268,435,456 pixels at most, not 32,000 x 32,000"),
        ((HUGE, 1), "not (a very large number) x 1"),
    ],
)
def test_a_canvas_is_no_larger_than_a_browser_can_draw(size: tuple[float, float], wrong: str) -> None:
    assert wrong in str(answer(modern("canvas", "spawn", "c", dict(zip(("width", "height"), size, strict=True)))))
    assert answer(modern("canvas", "spawn", "c", {"width": 16_384, "height": 16_384})) is None


@pytest.mark.parametrize("number", [HUGE, -HUGE, 10**18, 1.5e300])
def test_no_number_is_printed_whole(number: float) -> None:
    line: dict[str, Any] = {"x1": 0, "y1": 0, "x2": 0, "y2": number}
    for messages in (
        [modern("grid", "spawn", "g", {"numColumns": number, "numRows": 3})],
        [modern("canvas", "spawn", "c", {"width": number, "height": 3})],
        [CANVAS, update("canvas", "c", "drawLine", **line)],
        [CANVAS, update("canvas", "c", "drawCircle", cx=0, cy=0, radius=number)],
        [CANVAS, update("canvas", "c", "drawBuffer", sourceBufferId=number, targetBufferId=0)],
        [GRID, update("grid", "g", "setColor", x=number, y=0, color="red")],
    ):
        assert len(answer(*messages) or "") < 200


@pytest.mark.parametrize("field", ["lineWidth", "textSize"])
def test_a_width_or_a_size_is_not_below_0(field: str) -> None:
    shape = {"lineWidth": ("drawRect", {"x": 0, "y": 0, "width": 1, "height": 1})}
    action, options = shape.get(field, ("drawText", {"x": 0, "y": 0, "text": "a"}))
    assert answer(CANVAS, update("canvas", "c", action, **options, **{field: -3})) == (
        f"canvas 'c' {action}: options.{field} must be 0 or more, not -3"
    )
    assert answer(CANVAS, update("canvas", "c", action, **options, **{field: 0})) is None


GOOD = [
    *("red", "Tomato", " teal ", "transparent", "currentColor", "#abc", "#ABCD", "#a1b2c3", "#a1b2c3d4", ""),
    *("rgb(1,2,3)", "rgb(1 2 3 / 50%)", "rgba(1, 2, 3, .5)", "hsl(120deg 50% 50%)", "hsla(1,2%,3%,.4)"),
    *("hwb(1 2% 3%)", "lab(50% 40 59)", "oklch(70% 0.1 20)", "color(display-p3 1 0 0)"),
    *("color-mix(in srgb, red, rgb(0 0 255) 20%)", "rgb(1,2,3", "rgb(1,2,calc(3 + 4)", "rgb(1,2,3) /* sic */"),
]
BAD = [
    *("grellow", "#12", "#ggg", "rgb(1,2,3))", "rgb(1,2,3) red", "url(x)", "red; color: blue", "rgb", "12"),
    *("light blue", "x" * 500),
]


def test_a_colour_is_what_a_browser_takes_for_one() -> None:
    assert [color for color in [*GOOD, *NAMES] if not is_color(color)] == []
    assert [color for color in BAD if is_color(color)] == []


@given(st.text())
def test_whether_it_is_a_colour_can_be_asked_of_any_text(text: str) -> None:
    assert is_color(text) in (True, False)


@pytest.mark.parametrize("color", BAD)
def test_an_unknown_colour_is_told_and_changes_nothing(color: str) -> None:
    rect = {"x": 0, "y": 0, "width": 99, "height": 99, "fillColor": "red"}
    for before, wrong in (
        (GRID, update("grid", "g", "setColor", x=0, y=0, color=color)),
        (CANVAS, update("canvas", "c", "drawRect", **rect, lineColor=color)),
        (CANVAS, update("canvas", "c", "drawRect", **{**rect, "fillColor": color})),
        (CANVAS, update("canvas", "c", "drawText", x=0, y=0, text="a", textColor=color)),
    ):
        scene = Scene()
        drawn = [before, *([update("canvas", "c", "drawRect", **rect)] if before is CANVAS else [])]
        assert told(scene, *drawn) == [None] * len(drawn)
        shown = list(scene.replay())
        (refusal,) = told(scene, wrong)
        assert "must be a colour as CSS has them" in str(refusal)
        assert list(scene.replay()) == shown


@pytest.mark.parametrize("component", ["row", "canvas", "viz", "hologram"])
@pytest.mark.parametrize("options", [{}, {"options": None}, {"options": {}}, {"options": {"parent": None}}])
def test_a_move_that_does_not_say_where_leads_to_the_board(component: str, options: dict[str, Any]) -> None:
    """However it does not say it, and whoever moves."""
    message = modern(component, "update", "r", {"action": "changeParent", **options})
    said = Ear(Dialect.D).hear(message)
    assert not isinstance(said, list | Bad)
    assert b'"options":{"parent":"root"}' in said.raw


@pytest.mark.parametrize(
    "odd",
    [
        stories.message("sparkle", "glow", payload={"how": "brightly" * 20}),
        stories.message("sparkle", "glow", "s", {"how": "brightly" * 20}),
        update("label", "label-1", "shine", how="brightly" * 20),
    ],
    ids=["of nobody", "of a stranger", "of a component"],
)
def test_what_nobody_understands_is_kept_while_there_is_room_and_then_refused_as_all_else_is(odd: bytes) -> None:
    scene = scene_of(stories.spawn("label-1"), limits=Limits(memory=20_000))
    answers = told(scene, *[odd] * 250)
    kept = answers.count(None)
    assert 0 < kept < 250
    assert all("the board is full (20,000 bytes)" in str(answer) for answer in answers[kept:])
    assert scene.memory <= 20_000
    assert len(list(scene.replay())) == 1 + kept
