"""A chat with a small bot, in a console.

A conversation: with `show_input` a console has a line to type in, and `on_submit` hears what was typed. The bot is a
table of patterns and answers; add a row to teach it something.
"""

import random
import re
import sys
import time

import sidekick

sidekick.set_url("ws://localhost:5163/?session=chat")
console = sidekick.Console(show_input=True)

ANSWERS = [
    (r"(?:hello|hi|hey)\b.*", lambda: "Hello! Type help to see what I know."),
    (r"help", lambda: "Try: what time is it · roll 2 dice · 6 * 7 · clear"),
    (r"what time is it\W*", lambda: time.strftime("It is %H:%M.")),
    (r"roll (\d) dic?e", lambda count: "You got " + " and ".join(str(random.randint(1, 6)) for _ in range(int(count)))),
    (r"(-?\d+) *([-+*]) *(-?\d+)\W*", lambda a, sign, b: calculated(int(a), sign, int(b))),
]


def calculated(a, sign, b):
    result = {"+": a + b, "-": a - b, "*": a * b}[sign]
    return f"{a} {sign} {b} = {result}"


def answer(typed):
    for pattern, reply in ANSWERS:
        if found := re.fullmatch(pattern, typed.strip(), re.IGNORECASE):
            return reply(*found.groups())
    return f"I have no answer to “{typed}”. Type help to see what I know."


@console.submit
def heard(event):
    if event.value.strip() == "clear":
        console.clear()
    else:
        console.print(f"you  {event.value}")
        console.print(f"bot  {answer(event.value)}")


console.print("bot  Hello! I am a very small bot. Type help to see what I know.")
try:
    sidekick.wait_for_connection()
except sidekick.SidekickConnectionError:
    raise SystemExit("No board answers at localhost:5163. Start it in another terminal: troupe") from None
if sys.platform != "emscripten":  # in the browser (/script) the board is beside this script
    print("Open http://localhost:5163/session/chat and talk. Ctrl-C ends it.")
sidekick.run_forever()
