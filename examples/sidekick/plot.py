"""A plot: two curves with axes, and their values where you click.

A drawing on a canvas. `with canvas.buffer()` draws a whole picture out of sight and then shows it at once, so nothing
flickers. A canvas remembers no curves, only what was painted: to change something, draw it all again.
"""

import sys
from math import cos, exp, pi

import sidekick

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 48, WIDTH - 24, 48, HEIGHT - 36
X_MOST = 4 * pi
PAPER, RULES, WORDS = "#0f172a", "#334155", "#cbd5e1"
CURVES = [
    ("a swing that dies away", "#38bdf8", lambda x: exp(-x / 6) * cos(2 * x)),
    ("how far it still goes", "#fb923c", lambda x: exp(-x / 6)),
]

sidekick.set_url("ws://localhost:5163/?session=plot")
canvas = sidekick.Canvas(WIDTH, HEIGHT)
label = sidekick.Label("Click the plot to read its values.")


def across(x):
    """Where x from 0 to X_MOST is on the canvas."""
    return LEFT + x / X_MOST * (RIGHT - LEFT)


def down(y):
    """Where y from -1 to 1 is on the canvas."""
    return TOP + (1 - y) / 2 * (BOTTOM - TOP)


def draw(marked=None):
    with canvas.buffer() as picture:
        picture.draw_rect(0, 0, WIDTH, HEIGHT, fill_color=PAPER, line_color=PAPER)
        draw_axes(picture)
        for number, (name, color, curve) in enumerate(CURVES):
            picture.draw_text(LEFT + 250 * number, 28, f"● {name}", text_color=color, text_size=16)
            xs = [X_MOST * step / 300 for step in range(301)]
            picture.draw_polyline([(across(x), down(curve(x))) for x in xs], line_color=color, line_width=2)
        if marked is not None:
            draw_mark(picture, marked)


def draw_axes(picture):
    for y in (-1, -0.5, 0, 0.5, 1):
        picture.draw_line(LEFT, down(y), RIGHT, down(y), line_color=RULES, line_width=1)
        picture.draw_text(10, down(y) + 5, f"{y:4.1f}", text_color=WORDS, text_size=13)
    for number, name in enumerate(["0", "π", "2π", "3π", "4π"]):
        x = across(number * pi)
        picture.draw_line(x, TOP, x, BOTTOM, line_color=RULES, line_width=1)
        picture.draw_text(x - 5 * len(name), BOTTOM + 22, name, text_color=WORDS, text_size=13)


def draw_mark(picture, x):
    picture.draw_line(across(x), TOP, across(x), BOTTOM, line_color=WORDS, line_width=1)
    for _, color, curve in CURVES:
        picture.draw_circle(across(x), down(curve(x)), 5, fill_color=color, line_color=WORDS, line_width=2)


@canvas.click
def read_values(event):
    x = X_MOST * (min(max(event.x, LEFT), RIGHT) - LEFT) / (RIGHT - LEFT)
    label.text = f"x = {x / pi:.2f}π: " + ", ".join(f"{name} {curve(x):.2f}" for name, _, curve in CURVES)
    draw(marked=x)


draw()
try:
    sidekick.wait_for_connection()
except sidekick.SidekickConnectionError:
    raise SystemExit("No board answers at localhost:5163. Start it in another terminal: troupe") from None
if sys.platform != "emscripten":  # in the browser (/script) the board is beside this script
    print("Open http://localhost:5163/session/plot and click the curves. Ctrl-C ends it.")
sidekick.run_forever()
