"""Everyday use of the pages, with the keyboard only, and in a narrow window."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from codec.judge import Forget, OpenProblem, RunAll, StateProblems
from codec.words import counted
from tests.web import board_stage, judge_stage
from tests.web.conftest import Visit
from tests.web.judge_page import SUMS, standing
from tests.web.judge_stage import init
from tests.web.looks import looked_at
from tests.web.scenes import LONG_NAME, hello, node, supervisor
from tests.web.test_judge_truth import NUMBERED

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def judge(chromium: Browser) -> Iterator[judge_stage.Show]:
    with judge_stage.showing(chromium) as show:
        yield show


@pytest.fixture
def board(chromium: Browser) -> Iterator[board_stage.Show]:
    with board_stage.showing(chromium, tolerated="the server responded with a status of 404") as show:
        yield show


# -- the judge


def test_enter_opens_what_was_searched_for_and_leaves_the_search(judge: judge_stage.Show) -> None:
    page, stage = judge(init(SUMS), NUMBERED)
    expect(standing(page)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("problem 10")
    page.keyboard.press("Enter")
    assert [one.id for one in stage.heard(OpenProblem)] == [
        next(one.id for one in NUMBERED.problems if one.name == "Problem 10")
    ]
    expect(page.get_by_role("searchbox")).to_have_value("")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    page.keyboard.press("r")
    assert stage.heard(RunAll) == [RunAll(None, SUMS.id)]


def test_enter_on_nothing_stays_in_the_search(judge: judge_stage.Show) -> None:
    page, stage = judge(init(SUMS), NUMBERED)
    expect(standing(page)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("nobody")
    assert stage.so_far(OpenProblem) == []


def test_who_takes_the_last_find_off_the_list_is_back_in_the_search(judge: judge_stage.Show) -> None:
    page, stage = judge(init(SUMS), NUMBERED)
    expect(standing(page)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("problem 21")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Delete")
    (gone,) = stage.heard(Forget)
    stage.say(StateProblems(tuple(one for one in NUMBERED.problems if one.id != gone.id), NUMBERED.current))
    expect(page.get_by_text("Nothing matches “problem 21”.")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_focused()


# -- the board


def test_arrows_go_through_an_open_menu_and_round_it(board: board_stage.Show) -> None:
    page, _ = board()
    opener = page.get_by_role("button", name="Board menu")
    choices = page.locator("board-menu .panel button")
    opener.press("ArrowDown")  # the menu is closed, so the key is the page's
    expect(opener).to_be_focused()
    opener.press("Enter")
    last = choices.count() - 1
    for key, at in [("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", last), ("ArrowDown", 0),
                    ("End", last), ("Home", 0)]:  # fmt: skip
        page.keyboard.press(key)
        expect(choices.nth(at)).to_be_focused()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()


def test_nothing_lies_over_the_first_script_nor_takes_its_room(board: board_stage.Show) -> None:
    page, _ = board()
    code = page.get_by_role("group", name="Script")
    for width in (400, 1280):
        with looked_at(page, width):
            box, copy = code.bounding_box(), page.get_by_role("button", name="Copy").bounding_box()
            assert box is not None
            assert copy is not None
            assert copy["y"] >= box["y"] + box["height"] or copy["y"] + copy["height"] <= box["y"]
            assert code.evaluate("pre => pre.scrollWidth - pre.clientWidth") == 0


# -- the console


def test_a_long_name_on_a_narrow_console_moves_nothing(visit: Visit) -> None:
    rooms = [node(f"troupe/rooms/{name}", note="1 drawing, 2 watching", rate=12_345.6) for name in ("a", LONG_NAME)]
    page, _ = visit(hello([supervisor("troupe"), supervisor("troupe/rooms"), *rooms]),
                    viewport={"width": 400, "height": 800})  # fmt: skip
    places = []
    for each in rooms:
        row = page.locator(f'.row[data-key="{each.path}"]')
        cells = [row.locator(cell).bounding_box() for cell in (".state", ".last", ".rate")]
        outer = row.bounding_box()
        assert outer is not None
        assert all(cell is not None and cell["x"] + cell["width"] <= outer["width"] + 1 for cell in cells)
        places.append([(cell["x"], cell["width"]) for cell in cells if cell is not None])
        assert row.locator(".last").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert places[0] == places[1]


# -- words


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 rooms"), (1, "1 room"), (2, "2 rooms"), (1_000, "1,000 rooms")]
)
def test_what_is_counted_is_counted_in_english(number: int, words: str) -> None:
    assert counted(number, "room") == words
    assert counted(number, "entry", "entries") == words.replace("rooms", "entries").replace("room", "entry")
