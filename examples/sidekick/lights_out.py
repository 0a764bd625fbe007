"""Lights out: press a light, and it changes with its neighbours. Put them all out.

A game on a grid: `on_click` hears the clicks, `set_color` paints the cells. The board shows what the script knows; it
keeps nothing that the script would have to ask it for.
"""

import random
import sys

import sidekick

SIZE = 5
ON, OFF, SOLVED = "#fbbf24", "#334155", "#34d399"
NEIGHBOURHOOD = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]

sidekick.set_url("ws://localhost:5163/?session=lights-out")


class Game:
    def __init__(self):
        self.grid = sidekick.Grid(SIZE, SIZE, on_click=self.clicked)
        self.label = sidekick.Label()
        self.button = sidekick.Button("New puzzle", on_click=lambda event: self.begin())
        sidekick.Row(self.button, self.label)
        self.begin()

    def begin(self):
        self.lit = set()
        self.moves = 0
        while not self.lit:
            for x, y in random.sample([(x, y) for x in range(SIZE) for y in range(SIZE)], SIZE):
                self.press(x, y)  # a puzzle that was made by pressing can be solved by pressing
        self.show()

    def clicked(self, event):
        if self.lit:
            self.press(event.x, event.y)
            self.moves += 1
            self.show()

    def press(self, x, y):
        for dx, dy in NEIGHBOURHOOD:
            if 0 <= x + dx < SIZE and 0 <= y + dy < SIZE:
                self.lit ^= {(x + dx, y + dy)}

    def show(self):
        for x in range(SIZE):
            for y in range(SIZE):
                self.grid.set_color(x, y, ON if (x, y) in self.lit else OFF if self.lit else SOLVED)
        moves = f"{self.moves} move" + ("" if self.moves == 1 else "s")
        self.label.text = f"{moves}, {len(self.lit)} to put out" if self.lit else f"Solved in {moves}!"


game = Game()
try:
    sidekick.wait_for_connection()
except sidekick.SidekickConnectionError:
    raise SystemExit("No board answers at localhost:5163. Start it in another terminal: troupe") from None
if sys.platform != "emscripten":  # in the browser (/script) the board is beside this script
    print("Open http://localhost:5163/session/lights-out and put out the lights. Ctrl-C ends the game.")
sidekick.run_forever()
