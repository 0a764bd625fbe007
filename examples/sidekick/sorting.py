"""Sorting, step by step: insertion sort, as it happens in a list.

A variable on show. A `Viz` draws the list, and because it is an `ObservableValue`, each change shows the moment it is
made: the algorithm itself has no line about drawing. It is a coroutine, so that it can take its time (`sleep`) while
the button still works.
"""

import asyncio
import random
import sys

import sidekick

PAUSE = 0.5

sidekick.set_url("ws://localhost:5163/?session=sorting")
label = sidekick.Label()
button = sidekick.Button("Shuffle and sort again")
viz = sidekick.Viz()
numbers = sidekick.ObservableValue([])
viz.show("numbers", numbers)
busy = asyncio.Lock()


async def insertion_sort(values):
    moves = 0
    for end in range(1, len(values)):
        at = end
        while at > 0 and values[at - 1] > values[at]:
            values[at - 1], values[at] = values[at], values[at - 1]
            at -= 1
            moves += 1
            label.text = f"{values[at]} goes left: {counted(moves)} so far"
            await asyncio.sleep(PAUSE)
    return moves


def counted(moves):
    return f"{moves} move" + ("" if moves == 1 else "s")


@button.click
async def sort_again(event=None):
    if busy.locked():
        return
    async with busy:
        numbers.set(random.sample(range(10, 100), 10))
        label.text = f"Sorted with {counted(await insertion_sort(numbers))}."


sidekick.submit_task(sort_again())
try:
    sidekick.wait_for_connection()
except sidekick.SidekickConnectionError:
    raise SystemExit("No board answers at localhost:5163. Start it in another terminal: troupe") from None
if sys.platform != "emscripten":  # in the browser (/script) the board is beside this script
    print("Open http://localhost:5163/session/sorting and watch. Ctrl-C ends it.")
sidekick.run_forever()
