"""The script page with a fake Pyodide that only plays the protocol: states, the board, the editor, missing files."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.web.board_words import CLEAR, announce, spawn
from tests.web.looks import LOOKS, looked_at
from tests.web.playground_stage import ScriptPage, playground
from tests.web.stage import write
from tests.web.test_design import CONTRASTS, NAMELESS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., ScriptPage]
WHEEL = "sidekick_py-0.0.7-py3-none-any.whl"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    for name in ("pyodide", "scripts/week1"):
        (folder / name).mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("fake_pyodide.mjs"), folder / "pyodide" / "pyodide.mjs")
    (folder / "pyodide" / WHEEL).write_bytes(b"wheel")
    (folder / "scripts" / "hello.py").write_text("print hello\n")
    (folder / "scripts" / "week1" / "maze.py").write_text("print maze\n")
    return folder


@pytest.fixture(scope="module")
def visit(chromium: Browser, home: Path) -> Iterator[Open]:
    options = [f"--set=sidekick.pyodide={home}/pyodide", f"--set=sidekick.scripts={home}/scripts"]
    with playground(chromium, home / "server", *options) as open_page:
        yield open_page


def says(*messages: object) -> list[str]:
    return [f"say {json.dumps(message)}" for message in messages]


# --- states


def test_a_script_runs_prints_and_ends(visit: Open) -> None:
    at = visit()
    at.comes_to("Ready")
    assert at.page.evaluate("crossOriginIsolated")
    expect(at.output).to_contain_text("unpacked 5 bytes of whl from /pyodide/")
    at.run("print one", "print two")
    at.comes_to("Ended")
    expect(at.output).to_have_text(re.compile(r"one\ntwo"))
    expect(at.stop_button).to_be_enabled()
    at.stop_button.click()
    at.comes_to("Stopped")
    expect(at.stop_button).to_be_disabled()


def test_every_run_has_a_python_of_its_own_and_begins_with_nothing_printed(visit: Open) -> None:
    at = visit()
    at.run("print first")
    at.comes_to("Ended")
    at.run("wait")
    at.comes_to("Running")
    expect(at.output).not_to_contain_text("first")
    expect(at.output).to_contain_text("unpacked")
    expect(at.run_button).to_be_disabled()
    at.stop_button.click()
    at.comes_to("Stopped")


@pytest.mark.drawn(1)
@pytest.mark.parametrize("script", ["wait", "spin", "stubborn"])
def test_whatever_a_script_does_it_stops(visit: Open, script: str) -> None:
    at = visit()
    at.run(script)
    at.comes_to("Running")
    at.stop_button.click()
    at.comes_to("Stopped")
    at.run("print again")
    at.comes_to("Ended")
    expect(at.output).to_contain_text("again")


def test_a_script_that_fails_is_shown_with_the_line_it_failed_at(visit: Open) -> None:
    at = visit()
    at.run("print before", "", "fail 3")
    at.comes_to("Failed")
    expect(at.page.get_by_role("alert")).to_contain_text("Oops: no")
    expect(at.output).to_contain_text("before")
    fault = at.page.locator("code-editor .fault")
    assert fault.evaluate("fault => fault.style.getPropertyValue('--line')") == "2"
    at.editor.press("End")
    at.page.keyboard.type("x")
    expect(fault).to_be_hidden()


def test_a_python_that_cannot_be_loaded_is_said_and_tried_again(visit: Open) -> None:
    at = visit()
    at.comes_to("Ready")
    at.page.context.route("**/pyodide.mjs", lambda route: route.abort())
    at.run("print one")
    at.comes_to("Ended")
    at.run("print two")
    at.comes_to("Python could not be loaded")
    expect(at.page.get_by_role("alert")).to_contain_text("/pyodide/pyodide.mjs could not be loaded.")
    at.page.context.unroute("**/pyodide.mjs")
    at.run("print three")
    at.comes_to("Ended")
    expect(at.output).to_contain_text("three")


def test_a_browser_that_shares_no_memory_stops_a_busy_script_with_its_worker(visit: Open) -> None:
    at = visit()
    at.page.add_init_script("Object.defineProperty(globalThis, 'crossOriginIsolated', { value: false })")
    at.page.reload()
    at.run("stubborn")
    at.comes_to("Running")
    at.stop_button.click()
    at.comes_to("Stopped")


# --- the script and the board


def test_what_a_released_client_says_is_drawn_and_what_is_done_is_heard(visit: Open) -> None:
    at = visit()
    at.run(
        "listen",
        *says(announce("hero-1"), CLEAR, spawn("markdown", "m", text="# Head"), spawn("textbox", "t", value="old")),
        *says(spawn("button", "b", text="Go")),
    )
    at.comes_to("Ended; the board still answers")
    expect(at.page.get_by_role("heading", name="Head")).to_be_visible()
    expect(at.page.locator("button.peers")).to_contain_text("Script 0.0.7")
    expect(at.output).to_contain_text('"role":"sidekick","status":"online"')
    at.page.get_by_role("button", name="Go", exact=True).click()
    expect(at.output).to_contain_text('"src":"b","payload":{"event":"click"}')
    box = at.page.locator("board-textbox input")
    expect(box).to_have_value("old")
    write(box, "new")
    box.press("Enter")
    expect(at.output).to_contain_text('"payload":{"event":"submit","value":"new"}')
    at.stop_button.click()
    at.comes_to("Stopped")
    expect(at.page.locator("button.peers")).to_contain_text("No script")
    expect(box).to_be_visible()
    at.page.get_by_role("button", name="Go", exact=True).click()
    expect(at.page.get_by_text("No script is running, so nothing was sent.")).to_be_visible()


def test_the_board_is_cleared_for_the_next_run(visit: Open) -> None:
    at = visit()
    at.run(*says(spawn("label", "l", text="old")))
    expect(at.page.get_by_text("old", exact=True)).to_be_visible()
    at.run("print nothing drawn")
    expect(at.page.get_by_text("old", exact=True)).to_have_count(0)


def test_infinity_and_nonsense_do_no_harm(visit: Open) -> None:
    at = visit()
    viz = '{"component":"viz","type":"update","target":"v","payload":{"action":"set","variableName":"NaN here",'
    viz += '"options":{"path":[],"valueRepresentation":{"type":"float","id":"x","value":-Infinity}}}}'
    at.run(*says(spawn("viz", "v")), f"say {viz}", "say nonsense", *says(spawn("label", "l", text="after")))
    expect(at.page.locator("board-viz .entry")).to_have_text("NaN here-Infinity float")
    expect(at.page.locator("board-notes .note")).to_have_text("The script said something that is not JSON.")
    expect(at.page.get_by_text("after", exact=True)).to_be_visible()


# --- scripts


def test_a_script_of_the_folder_is_opened_by_its_address_or_from_the_list(visit: Open) -> None:
    at = visit("script/week1/maze")
    expect(at.editor).to_have_value("print maze\n")
    expect(at.page).to_have_title("week1/maze · Sidekick")
    at.page.get_by_role("combobox", name="Scripts").select_option("hello")
    at.page.wait_for_url("**/script/hello")
    expect(at.editor).to_have_value("print hello\n")
    at.run_button.click()
    at.comes_to("Ended")
    expect(at.output).to_contain_text("hello")


def test_a_file_is_opened_from_the_computer(visit: Open) -> None:
    at = visit()
    file: FilePayload = {"name": "mine.py", "mimeType": "text/x-python", "buffer": b"print mine"}
    at.page.locator("input.file").set_input_files(files=[file])
    expect(at.editor).to_have_value("print mine")


def test_what_is_written_is_there_after_a_reload(visit: Open) -> None:
    at = visit()
    expect(at.editor).to_have_value(re.compile("import sidekick"))
    write(at.editor, "print kept")
    at.page.reload()
    expect(at.editor).to_have_value("print kept")


def test_the_editor_indents_and_lets_one_leave(visit: Open) -> None:
    at = visit()
    at.comes_to("Ready")
    write(at.editor, "")
    at.editor.focus()
    keys = at.page.keyboard
    keys.type("for x in y:")
    keys.press("Enter")
    keys.type("a")
    keys.press("Enter")
    keys.type("b")
    expect(at.editor).to_have_value("for x in y:\n    a\n    b")
    expect(at.page.locator(".numbers")).to_have_text("1\n2\n3")
    keys.press("Control+a")
    keys.press("Tab")
    expect(at.editor).to_have_value("    for x in y:\n        a\n        b")
    keys.press("Shift+Tab")
    expect(at.editor).to_have_value("for x in y:\n    a\n    b")
    write(at.editor, "print ran")
    keys.press("Control+Enter")
    at.comes_to("Ended")
    keys.press("Escape")
    keys.press("Tab")
    expect(at.editor).not_to_be_focused()


# --- missing files


def test_without_pyodide_the_page_says_what_to_do(chromium: Browser, tmp_path: Path) -> None:
    with playground(chromium, tmp_path) as open_page:
        at = open_page()
        at.comes_to("Python is not available")
        expect(at.page.locator("house-empty")).to_contain_text("under [sidekick] set pyodide to")
        expect(at.run_button).to_be_disabled()


def test_without_the_client_scripts_run_and_the_page_says_how_to_get_it(
    chromium: Browser, home: Path, tmp_path: Path
) -> None:
    shutil.copytree(home / "pyodide", tmp_path / "pyodide")
    (tmp_path / "pyodide" / WHEEL).unlink()
    with playground(chromium, tmp_path, f"--set=sidekick.pyodide={tmp_path}/pyodide") as open_page:
        at = open_page()
        at.comes_to("Ready")
        expect(at.page.locator(".warnings .note")).to_contain_text("pip wheel --no-deps sidekick-py==0.0.7")
        at.run("print one")
        at.comes_to("Ended")


# --- what holds for every page


def test_the_page_can_be_read_and_fits(visit: Open) -> None:
    at = visit()
    at.run("print before", "fail 1")
    at.comes_to("Failed")
    for width, colors in LOOKS:
        with looked_at(at.page, width, colors, height=900):
            assert at.page.evaluate(CONTRASTS) == []
            assert at.page.evaluate(NAMELESS) == []
            assert at.page.evaluate("document.documentElement.scrollWidth") == width
