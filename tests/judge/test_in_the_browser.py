"""The judge as a contestant uses it: a problem is posted as the extension does it, and a browser shows the panel."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.house.running import Server, server
from tests.patience import PATIENCE
from tests.web.windows import window

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.drawn(1)]

ADD = "a, b = map(int, input().split())\nprint(a + b)\n"
EXTENSION = {"origin": "chrome-extension://cjnmckjndlpiamhfimnnjmnckgghkjbl"}
TASK: dict[str, Any] = {
    "name": "A. Add",
    "group": "AtCoder - Beginner Contest 999",
    "url": "https://atcoder.jp/contests/abc999/tasks/abc999_a",
    "interactive": False,
    "memoryLimit": 1024,
    "timeLimit": 2000,
    "tests": [{"input": f"{number} 1\n", "output": f"{number + 1}\n"} for number in (1, 2, 3)],
    "testType": "single",
    "input": {"type": "stdin"},
    "output": {"type": "stdout"},
    "batch": {"id": "b-1", "size": 1},
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Server]:
    with server(tmp_path, "--set", f'judge.workspace="{tmp_path / "contests"}"') as house:
        yield house.ready()


@pytest.fixture(params=[1280, 400])
def page(house: Server, chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    with window(chromium, viewport={"width": request.param, "height": 800}) as context:
        page = context.new_page()
        page.goto(house.url_of("judge"))
        shows(page, "Competitive Companion")
        yield page


def post(house: Server, **changes: Any) -> None:
    answer = httpx.post(house.url_of("judge"), json={**TASK, **changes}, headers=EXTENSION)
    assert answer.status_code == 200, answer.text


def solve(house: Server, source: str) -> None:
    (house.folder / "contests/abc999/abc999_a/main.py").write_text(source)


def shows(page: Page, text: str) -> None:
    """Somewhere; a narrow page has some of it folded away."""
    expect(page.get_by_text(text, exact=False).locator("visible=true").first).to_be_visible()


def run_all(page: Page) -> None:
    page.get_by_role("button", name="Run all").click()


def living(mark: str) -> str:
    return subprocess.run(["pgrep", "-f", mark], capture_output=True, text=True, check=False).stdout


def test_from_a_post_to_a_green_run_all_and_again_after_a_reload(house: Server, page: Page) -> None:
    post(house)
    shows(page, "A. Add")
    solve(house, ADD)
    run_all(page)
    shows(page, "3/3 passed")
    page.reload()
    shows(page, "3/3 passed")


def test_each_tab_comes_back_to_the_problem_that_it_showed(house: Server, page: Page) -> None:
    post(house)
    expect(page).to_have_title("A. Add")  # the list names it before it is shown
    link = page.url
    post(house, name="B. Other", url=TASK["url"].removesuffix("a") + "b")
    expect(page).to_have_title("B. Other")
    page.go_back()
    expect(page).to_have_title("A. Add")
    other = page.context.new_page()
    other.goto(link.replace("999_a", "999_b"))
    expect(other).to_have_title("B. Other")
    page.reload()
    expect(page).to_have_title("A. Add")
    page.go_forward()
    expect(page).to_have_title("B. Other")


def test_a_wrong_answer_is_shown_with_its_difference(house: Server, page: Page) -> None:
    post(house)
    shows(page, "A. Add")
    solve(house, ADD + "if a == 2: print('too much')\n")
    run_all(page)
    shows(page, "2/3 passed")
    shows(page, "line 2: expected end of output got 'too much'")


def test_a_timeout_is_shown_and_then_the_mended_solution_passes(house: Server, page: Page) -> None:
    post(house, timeLimit=200)
    shows(page, "A. Add")
    solve(house, ADD + "while a == 2: pass\n")
    run_all(page)
    shows(page, "TLE")
    shows(page, "2/3 passed")
    solve(house, ADD)
    run_all(page)
    shows(page, "3/3 passed")


def test_a_run_is_cancelled_and_nothing_of_it_is_left(house: Server, page: Page, tmp_path: Path) -> None:
    post(house, timeLimit=60_000)
    shows(page, "A. Add")
    solve(house, "import time\ntime.sleep(1000)\n")
    run_all(page)
    page.get_by_role("button", name="Cancel").click()
    shows(page, "cancelled")
    expect(page.get_by_role("button", name="Run all")).to_be_visible()
    until = time.monotonic() + PATIENCE
    while living(f"{tmp_path}/contests/abc999/abc999_a/main.py"):
        assert time.monotonic() < until, "the solution is still running"
