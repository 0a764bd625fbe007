"""The server refuses only strokes that a browser would not draw: both are tested with the same strokes."""

import pytest
from playwright.sync_api import Browser

from actors.sidekick.scene import Limits
from codec.sidekick.colors import NAMES, is_color

pytestmark = pytest.mark.slow

WORDS = """
rgb(1,2,3) | rgb( 1 , 2 , 3 ) | RGBA(1,2,3,.5) | rgb(1 2 3/0.5) | rgb(1 2 3 / none) | rgb(1,2,3 | rgb(1 2 calc(3
hsl(1 2% 3% | rgb(1.5,2,3) | rgb(-5,300,1) | rgb(1e2,2,3) | rgb(calc(1 + 2) 2 3) | rgb(calc(infinity) 0 0)
rgb(1,2,3)/**/ | rgb(1,2,/*x*/3) | hsl(120deg,50%,50%) | hsl(0.5turn 50% 50%) | hsla(120,50%,50%,1) | hwb(1 2% 3%)
lab(50 20 30) | lch(50% 30 40deg) | oklab(0.5 0.1 0.1) | oklch(70% 0.1 200) | color(srgb 1 0 0)
color(display-p3 1 0 0) | color(xyz 0 0 0) | color(rec2020 1 0 0) | color-mix(in srgb, red, blue)
color-mix(in srgb, rgb(1 2 3 / .5) 20%, color-mix(in oklab, red, rgb(5 6 7)) 30%) | rgb(from red r g b)
rgb(from color-mix(in srgb, red, blue) r g b) | oklch(from red l c h) | light-dark(red, blue) | #12 | #123 | #1234
#12345 | #123456 | #1234567 | #12345678 | #ABC | red; | red !important | rgb(1,2,3)) | rgb(1,2,3) red
AccentColor | Canvas | ButtonShadow | currentcolor | inherit | windowText | LinkText | -webkit-link
-webkit-activelink | TOMATO | transparent | light blue | grey80 | gray50 | 0 | none | auto | k | 0.5 | tab:blue
rgb | rgb() | (1, 2, 3)
"""
COLOURS = [word.strip() for line in WORDS.split("\n") for word in line.split(" | ") if word.strip()]
SPACED = [" red ", "\tred\n", "rgb(1\n,2,3)"]

DRAWN_COLOURS = """colours => colours.filter(colour => {
    const context = document.createElement("canvas").getContext("2d");
    return ["#010203", "#030201"].map(before => {
        context.fillStyle = before;
        context.fillStyle = colour;
        return context.fillStyle;
    }).reduce((one, other) => one === other);
})"""
DRAWN_SIZES = """sizes => sizes.filter(([width, height]) => {
    const canvas = Object.assign(document.createElement("canvas"), {width, height});
    const context = canvas.getContext("2d");
    context.fillRect(width - 3, height - 3, 3, 3);
    return context.getImageData(width - 2, height - 2, 1, 1).data[3] === 255;
})"""


def test_every_colour_that_a_browser_draws_with_is_one(chromium: Browser) -> None:
    page = chromium.new_page()
    drawn = page.evaluate(DRAWN_COLOURS, [*COLOURS, *SPACED, *NAMES])
    page.close()
    assert len(drawn) > len(NAMES)
    assert [colour for colour in drawn if not is_color(colour)] == []


def test_every_size_that_a_browser_can_draw_is_let_through(chromium: Browser) -> None:
    limits = Limits()
    sides = [100, 20_000, 32_767, 40_000, limits.side, limits.side + 1, 100_000]
    page = chromium.new_page()
    drawn = page.evaluate(DRAWN_SIZES, [*([side, 10] for side in sides), *([10, side] for side in sides)])
    page.close()
    assert drawn
    assert [size for size in drawn if max(size) > limits.side] == []
