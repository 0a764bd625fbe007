"""The examples, as they stand, with the newest released client against a real server: what they draw, and what they do
when somebody plays with them. Only the address is another, since the server of a test has a port of its own; and what
comes after an example's last line is left out. There the client takes its components apart, and if its loop has ended
before, it starts another in an interpreter that is ending: a tenth of the scripts hang there on a busy machine.
"""

import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.house.running import ROOT, server
from tests.sidekick.guests import PATIENCE, Guest, guest
from tests.sidekick.test_clients import python_with
from tests.web.board_words import Message

pytestmark = pytest.mark.slow
EXAMPLES = ROOT / "examples" / "sidekick"
ELSEWHERE = """
import os, runpy, sys, sidekick
set_url, path, url = sidekick.set_url, *sys.argv[1:]
sidekick.set_url = lambda customary: set_url(customary.replace("ws://localhost:5163", url))
runpy.run_path(path, run_name="__main__")
sys.stdout.flush()
os._exit(0)
"""


@asynccontextmanager
async def example(name: str, larder: Path, tmp_path: Path) -> AsyncIterator[Guest]:
    """A page that looks at this example. In the end it is stopped by Ctrl-C, and must have ended well."""
    python = await trio.to_thread.run_sync(python_with, larder, "0.0.7")
    room = name.replace("_", "-")
    with server(tmp_path) as house:
        house.ready()
        script = started(python, name, house.url_of("sidekick"))
        try:
            said = await line_of(script)
            assert said.startswith(f"Open http://localhost:5163/session/{room} and "), said + await rest_of(script)
            assert "Ctrl-C ends" in said
            async with guest(house, room, "sidekick") as page:
                yield page
            script.send_signal(signal.SIGINT)
            assert (await rest_of(script), script.returncode) == ("", 0)
        finally:
            script.kill()
            script.communicate()


def started(python: str, name: str, url: str) -> "subprocess.Popen[str]":
    line = [python, "-u", "-c", ELSEWHERE, str(EXAMPLES / f"{name}.py"), url.replace("http", "ws")]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


async def rest_of(script: "subprocess.Popen[str]") -> str:
    """Until its end."""
    rest, _ = await trio.to_thread.run_sync(lambda: script.communicate(timeout=PATIENCE))
    return rest


async def line_of(script: "subprocess.Popen[str]") -> str:
    assert script.stdout is not None
    with trio.fail_after(PATIENCE):
        return await trio.to_thread.run_sync(script.stdout.readline, abandon_on_cancel=True)


def event(component: str, src: str, **payload: Any) -> Message:
    return {"id": 0, "component": component, "type": "event", "src": src, "payload": payload}


def updates(heard: list[Message], component: str, action: str) -> list[Any]:
    """The options of all these, or for a viz the whole payload."""
    payloads = [each["payload"] for each in heard if (each["component"], each["type"]) == (component, "update")]
    return [each if component == "viz" else each.get("options") for each in payloads if each["action"] == action]


def spawned(heard: list[Message], component: str) -> Message:
    return next(each for each in heard if (each["component"], each["type"]) == (component, "spawn"))


def label(heard: list[Message]) -> str:
    """What the last label says."""
    texts = [options["text"] for options in updates(heard, "label", "setText")]
    return str(texts[-1] if texts else spawned(heard, "label")["payload"]["text"])


def says(*texts: str) -> Callable[[list[Message]], bool]:
    def enough(heard: list[Message]) -> bool:
        has_label = any(each["component"] == "label" for each in heard)
        return has_label and all(text in label(heard) for text in texts)

    return enough


async def test_lights_out_is_a_game_that_can_be_won(larder: Path, tmp_path: Path) -> None:
    async with example("lights_out", larder, tmp_path) as page:
        heard = await page.hear(lambda heard: says("0 moves", "to put out")(heard) and len(cells(heard)) == 25)
        grid = spawned(heard, "grid")
        assert (grid["payload"]["numColumns"], grid["payload"]["numRows"]) == (5, 5)
        dark = "#334155"
        assert str([color != dark for color in cells(heard).values()].count(True)) in label(heard)
        presses = solution({at for at, color in cells(heard).items() if color != dark})
        for number, (x, y) in enumerate(presses, 1):
            await page.say(event("grid", grid["target"], event="click", x=x, y=y))
            await page.hear(says(f"{number} move"))
        assert says(f"Solved in {len(presses)} move")(page.heard)
        solved = await page.hear(lambda heard: set(cells(heard).values()) == {"#34d399"})
        button = spawned(solved, "button")
        assert button["payload"]["text"] == "New puzzle"
        await page.say(event("button", button["target"], event="click"))
        await page.hear(says("0 moves", "to put out"))


def cells(heard: list[Message]) -> dict[tuple[int, int], str]:
    return {(each["x"], each["y"]): each["color"] for each in updates(heard, "grid", "setColor")}


def solution(lit: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Which cells to press: whoever chooses the first row has chosen them all, since each puts out what is above it."""
    for choice in range(32):
        left, presses = set(lit), []
        for y in range(5):
            for x in range(5):
                if choice >> x & 1 if y == 0 else (x, y - 1) in left:
                    presses.append((x, y))
                    left ^= {(x + dx, y + dy) for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))}
                    left &= {(column, row) for column in range(5) for row in range(5)}
        if not left:
            return presses
    raise AssertionError(f"{sorted(lit)} cannot be put out")


async def test_the_plot_draws_two_curves_and_reads_them_where_one_clicks(larder: Path, tmp_path: Path) -> None:
    async with example("plot", larder, tmp_path) as page:
        heard = await page.hear(lambda heard: updates(heard, "canvas", "drawBuffer") and says("Click")(heard))
        curves = updates(heard, "canvas", "drawPolyline")
        assert [len(each["points"]) for each in curves] == [301, 301]
        assert len({each["lineColor"] for each in curves}) == 2
        width, height = (spawned(heard, "canvas")["payload"][side] for side in ("width", "height"))
        assert all(0 <= at["x"] <= width and 0 <= at["y"] <= height for each in curves for at in each["points"])
        drawn = [each["text"] for each in updates(heard, "canvas", "drawText")]
        assert {"0", "π", "4π", " 1.0", "-1.0"} <= set(drawn)
        await page.say(event("canvas", spawned(heard, "canvas")["target"], event="click", x=48, y=100))
        heard = await page.hear(
            lambda heard: says("x = 0.00π: ", " 1.00, ")(heard) and len(updates(heard, "canvas", "drawCircle")) == 2
        )
        assert {round(each["cx"]) for each in updates(heard, "canvas", "drawCircle")} == {48}


async def test_sorting_shows_each_move_until_the_list_is_sorted(larder: Path, tmp_path: Path) -> None:
    async with example("sorting", larder, tmp_path) as page:
        heard = await page.hear(says("Sorted with "))
        values = shown(heard)
        assert len(values) == 10
        assert values == sorted(values)
        assert len(updates(heard, "viz", "setitem")) >= 2
        counted = [options["text"] for options in updates(heard, "label", "setText")]
        assert any(each.endswith("goes left: 1 move so far") for each in counted)
        assert not any(" 1 moves" in each for each in counted)
        button = spawned(heard, "button")
        await page.say(event("button", button["target"], event="click"))
        await page.hear(lambda heard: len(updates(heard, "viz", "set")) >= 2 and says("goes left")(heard))


def shown(heard: list[Message]) -> list[int]:
    """The list as the viz shows it."""
    payloads = [each["payload"] for each in heard if (each["component"], each["type"]) == ("viz", "update")]
    values: list[int] = []
    for each in payloads:
        node = each["options"].get("valueRepresentation")
        match each["action"], each["options"]["path"]:
            case "set", []:
                values = [one["value"] for one in node["value"]]
            case "setitem", [index]:
                values[index] = node["value"]
    return values


async def test_the_bot_answers_what_is_typed(larder: Path, tmp_path: Path) -> None:
    async with example("chat", larder, tmp_path) as page:
        heard = await page.hear(lambda heard: "very small bot" in text(heard))
        console = spawned(heard, "console")
        assert console["payload"]["showInput"] is True
        for typed, answer in [
            ("6 * 7", "6 * 7 = 42"),
            ("Roll 2 dice", "You got "),
            ("what time is it?", "It is "),
            ("will it rain?", "no answer to “will it rain?”"),
        ]:
            await page.say(event("console", console["target"], event="submit", value=typed))
            heard = await page.hear(lambda heard, answer=answer: answer in text(heard))  # type: ignore[misc]
            assert f"you  {typed}\n" in text(heard)
        await page.say(event("console", console["target"], event="submit", value="clear"))
        await page.hear(lambda heard: any(each.get("payload", {}).get("action") == "clear" for each in heard))


def text(heard: list[Message]) -> str:
    """All that the console shows; what it had before is in its spawn."""
    begun = [
        each["payload"].get("text", "") for each in heard if (each["component"], each["type"]) == ("console", "spawn")
    ]
    return "".join([*begun, *(options["text"] for options in updates(heard, "console", "append"))])


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
async def test_without_a_server_an_example_says_how_to_start_one(name: str, larder: Path) -> None:
    python = await trio.to_thread.run_sync(python_with, larder, "0.0.7")
    script = started(python, name, "http://127.0.0.1:1")
    said = await rest_of(script)
    assert said == "No board answers at localhost:5163. Start it in another terminal: troupe\n"
    assert script.returncode == 1


def test_every_example_is_in_the_readme() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f"`python examples/sidekick/{path.name}`" in readme
        assert f"http://localhost:5163/session/{path.stem.replace('_', '-')}>" in readme
