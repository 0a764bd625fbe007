"""The search of the agent's page, on a scripted agent: what is typed is found, shown as it is now, and taken over."""

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, expect

from codec.agent.index.asking import FoundLine, Reason, SearchResult, SearchResults
from codec.agent.workspaces import IndexStatus
from tests.web.agent_stage import AgentStage, ShowAgent, showing_agent

pytestmark = [pytest.mark.browser, pytest.mark.slow]

READY = IndexStatus(
    workspace_id="w1", index_status="ready", indexed_files=3, total_files=3, generation=1, watching="events"
)
BEING_MADE = replace(READY, index_status="indexing", indexed_files=1, index_progress=0.3)


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


def results(*paths: str, words: str = "w", generation: int = 1, message: str = "") -> SearchResults:
    return SearchResults(
        query=words,
        results=tuple(
            SearchResult(
                path=path,
                first_line=at,
                last_line=at + 5,
                score=1 / at,
                symbol=f"Shop.{path.rpartition('/')[2].partition('.')[0]}",
                kind="method",
                reasons=(Reason("symbol_search", f"defines {path}", 1.0),),
                lines=(FoundLine(at, f"    def <b>{words}</b>():"),),
            )
            for at, path in enumerate(paths, 1)
        ),
        generation=generation,
        milliseconds=3.0,
        message=message,
    )


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search this folder")


def found(page: Page) -> Locator:
    return page.get_by_role("listbox", name="What was found").get_by_role("option")


def searching(show: ShowAgent, words: str, index: IndexStatus = READY) -> tuple[Page, AgentStage]:
    """These words are written and were searched for. Any words find a file that is called like them."""
    page, stage = show()
    stage.index = index
    stage.finds = lambda words, kind: results(f"{words}.py", words=words)
    page.keyboard.press("/")
    page.keyboard.type(words, delay=5)
    expect(found(page)).to_contain_text([f"{words}.py"])
    return page, stage


def test_what_is_typed_is_found_and_the_chosen_file_goes_into_the_message(show: ShowAgent) -> None:
    page, stage = show()
    stage.index = READY
    stage.finds = lambda words, kind: results("a/one.py", "a/two.py", words=words)
    page.keyboard.press("/")
    expect(field(page)).to_be_focused()
    expect(page.locator("agent-search .index")).to_have_text("3 files in the index.")
    page.keyboard.type("checkout", delay=20)
    expect(found(page)).to_have_count(2)
    expect(found(page).first).to_contain_text("defines a/one.py")
    expect(found(page).first.locator("pre")).to_have_text("1def <b>checkout</b>():")  # a text, and no element
    expect(found(page).first.locator("mark")).to_have_text("checkout")
    expect(found(page).first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(found(page).nth(1)).to_have_attribute("aria-selected", "true")
    expect(field(page)).to_have_attribute("aria-activedescendant", "agent-found-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("@a/two.py ")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    expect(page.locator("agent-search dialog")).to_be_hidden()


def test_a_question_that_was_overtaken_shows_nothing(show: ShowAgent) -> None:
    """However slowly it is answered."""
    page, stage = searching(show, "slow")
    stage.shut("GET workspaces")
    page.keyboard.type("er", delay=5)
    stage.stands("GET workspaces")
    for _ in "er":
        page.keyboard.press("Backspace")
    stage.open("GET workspaces")
    expect(found(page)).to_contain_text(["slow.py"])
    for _ in "slow":
        page.keyboard.press("Backspace")
    expect(found(page)).to_have_count(0)


def test_enter_takes_what_answers_the_words_that_are_written_and_waits_for_it(show: ShowAgent) -> None:
    page, stage = searching(show, "cart")
    stage.shut("GET workspaces")
    page.keyboard.type("s", delay=5)
    page.keyboard.press("Enter")
    stage.stands("GET workspaces")
    expect(page.locator("agent-search dialog")).to_be_visible()
    stage.open("GET workspaces")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("@carts.py ")


def test_an_index_that_grows_is_searched_again_and_what_was_chosen_stays_chosen(show: ShowAgent) -> None:
    page, stage = show()
    stage.index = BEING_MADE
    stage.finds = lambda words, kind: results("b.py", "c.py", words=words, message="The index is being made.")
    page.keyboard.press("/")
    page.keyboard.type("shop", delay=5)
    expect(found(page)).to_have_count(2)
    expect(page.locator("agent-search .index")).to_have_text("The index is being made: 1 of 3 files.")
    expect(page.locator("agent-search progress")).to_be_visible()
    page.keyboard.press("ArrowDown")
    stage.finds = lambda words, kind: results("a.py", "b.py", "x.py", "c.py", words=words, generation=2)
    stage.index = replace(READY, generation=2)
    expect(found(page)).to_have_count(4)
    expect(page.locator("agent-search li[aria-selected=true]")).to_contain_text(["c.py"])
    expect(page.locator("agent-search progress")).to_be_hidden()


def test_other_words_begin_with_their_best_place_in_sight(show: ShowAgent) -> None:
    page, stage = show()
    stage.index = READY
    stage.finds = lambda words, kind: results(*(f"{number}.py" for number in range(20)), words=words)
    page.keyboard.press("/")
    page.keyboard.type("shop", delay=5)
    expect(found(page)).to_have_count(20)
    for _ in range(4):
        page.keyboard.press("PageDown")
    expect(found(page).first).not_to_be_in_viewport()
    page.keyboard.type("s", delay=5)
    expect(found(page).first).to_contain_text("shops")
    expect(found(page).first).to_be_in_viewport()
    expect(found(page).first).to_have_attribute("aria-selected", "true")


def test_an_index_that_changes_meanwhile_overtakes_no_answer_and_a_late_one_is_waited_for_in_sight(
    show: ShowAgent,
) -> None:
    """Else nothing is shown until the index of a large folder is complete, but what was found before."""
    page, stage = searching(show, "shop", BEING_MADE)
    stage.shut("search")
    page.keyboard.type("s", delay=5)
    stage.stands("search")
    expect(page.get_by_role("listbox", name="What was found")).to_have_attribute("aria-busy", "true")
    expect(page.locator("agent-search .said")).to_have_text("Searching…")
    for generation in (2, 3):
        stage.index = replace(stage.index, indexed_files=generation, generation=generation)
        expect(page.locator("agent-search .index")).to_have_text(f"The index is being made: {generation} of 3 files.")
    assert stage.searches.count("shops") == 1
    stage.open("search")
    expect(found(page)).to_contain_text(["shops.py"])
    expect(page.get_by_role("listbox", name="What was found")).to_have_attribute("aria-busy", "false")
    expect(page.locator("agent-search .said")).to_contain_text("1 place in")


def test_the_kind_is_asked_for_and_escape_leads_back(show: ShowAgent) -> None:
    page, stage = show()
    stage.index = READY
    stage.finds = lambda words, kind: results(f"{kind}.py", words=words)
    page.get_by_role("button", name="Search").click()
    page.keyboard.type("shop", delay=5)
    expect(found(page)).to_contain_text(["all.py"])
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Definitions")).to_be_checked()
    expect(found(page)).to_contain_text(["symbols.py"])
    page.keyboard.press("Escape")
    expect(page.locator("agent-search dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Search")).to_be_focused()


def test_nothing_found_and_a_failing_index_are_told_in_words(show: ShowAgent) -> None:
    page, stage = show()
    stage.index = replace(READY, index_status="failed", errors=("The disk is full.",))
    stage.finds = lambda words, kind: SearchResults(query=words, message=f"Nothing was found for {words}.")
    page.keyboard.press("/")
    expect(page.locator("agent-search .index")).to_have_text("The disk is full.")
    page.keyboard.type("shop", delay=5)
    expect(page.locator("agent-search .said")).to_have_text("Nothing was found for shop.")
    page.keyboard.press("Enter")  # there is nothing to take
    expect(field(page)).to_be_focused()


def test_what_was_found_is_looked_for_again_when_the_folder_goes_and_when_it_is_back(show: ShowAgent) -> None:
    """The index stays as it is, but the files are not there."""
    page, stage = searching(show, "shop")
    stage.finds = lambda words, kind: SearchResults(query=words, generation=1, message="Nothing was found.")
    stage.index = replace(READY, index_status="failed", errors=("There is no folder /work.",))
    expect(found(page)).to_have_count(0)
    stage.finds = lambda words, kind: results("a.py", words=words)
    stage.index = READY
    expect(found(page)).to_have_count(1)


def test_what_was_found_is_looked_for_again_when_the_policy_lets_other_files_be_read(show: ShowAgent) -> None:
    """Whoever has changed it, and also if that was while an answer was awaited."""
    page, stage = searching(show, "shop", BEING_MADE)
    nothing = SearchResults(query="shop", generation=1, message="Nothing was found.")
    stage.finds = lambda words, kind: nothing
    stage.policy = replace(stage.policy, blocked_globs=("*.py",))
    expect(found(page)).to_have_count(0)
    answers = iter([nothing, results("a.py", words="shops")])
    stage.finds = lambda words, kind: next(answers)
    stage.shut("search")
    page.keyboard.type("s", delay=5)
    stage.stands("search")
    stage.policy = replace(stage.policy, blocked_globs=())
    for files in (2, 3):  # so it has been looked at
        stage.index = replace(stage.index, indexed_files=files)
        expect(page.locator("agent-search .index")).to_have_text(f"The index is being made: {files} of 3 files.")
    stage.open("search")
    expect(found(page)).to_contain_text(["a.py"])


def test_what_turns_a_line_around_is_shown_as_its_code(show: ShowAgent) -> None:
    page, stage = show()
    stage.index = READY
    line = "    is_admin = shop()  # \u202e fi nimda\t\u05d0"
    answer = results("a\u202eyp.exe", words="shop")
    stage.finds = lambda words, kind: replace(
        answer, results=(replace(answer.results[0], lines=(FoundLine(7, line),)),)
    )
    page.keyboard.press("/")
    page.keyboard.type("shop", delay=5)
    expect(found(page).locator("pre")).to_have_text("7is_admin = shop()  # U+202E RLO fi nimda\t\u05d0")
    expect(found(page).locator("mark")).to_have_text("shop")
    expect(found(page).locator(".path")).to_have_text("aU+202E RLOyp.exe:1")


TRACE = """Traceback (most recent call last):
  File "shop.py", line 7, in check
    raise Trouble
Trouble: the basket is empty
"""


def paste(page: Page, text: str) -> None:
    """As Ctrl+V does, into the field that has the focus."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def test_of_a_stack_trace_the_lines_stay_apart(show: ShowAgent) -> None:
    page, _ = searching(show, "in")
    page.keyboard.press("Space")
    paste(page, TRACE)
    joined = (
        'Traceback (most recent call last): File "shop.py", line 7, in check raise Trouble Trouble: the basket is empty'
    )
    expect(field(page)).to_have_value(f"in {joined}")
    expect(found(page)).to_contain_text([f"in {joined}.py"])
    page.keyboard.press("Control+z")  # it is undone like what is typed
    expect(field(page)).not_to_have_value(f"in {joined}")


@pytest.mark.parametrize(("letter", "most"), [("x", 2_000), ("я", 1_000), ("💡", 500), ("\ud800", 666)])
def test_of_a_text_that_is_too_long_both_ends_are_searched_for_and_that_is_said(
    show: ShowAgent, letter: str, most: int
) -> None:
    """No address grows longer than the server reads."""
    page, stage = searching(show, "begin")
    field(page).evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')) }",
        f"begin {letter * 3_000} end",
    )
    expect(page.locator("agent-search .said")).to_contain_text("characters are searched for.")
    said = page.locator("agent-search .said").inner_text().replace("\u2009", ",").replace("\u202f", ",")
    asked = stage.searches[-1]
    shown = letter.replace(chr(0xD800), chr(0xFFFD))
    assert asked.startswith(f"begin {shown}")
    assert asked.endswith(f"{shown} end")
    assert most - 10 < len(asked) < min(2_000, most + 10) + 1
    first = re.fullmatch(r".*Only the first ([\d,]+) and the last ([\d,]+) characters are searched for\.", said)
    assert first is not None
    assert sum(int(count.replace(",", "")) for count in first.groups()) + 1 == len(asked)


@pytest.mark.parametrize(
    ("words", "line", "shown"),
    [
        (("at",), "compare at thread.compareAt(what)", ["at", "At"]),
        (("on", "no"), "NonNull on nothing, no isOnNo", ["on", "no", "On", "No"]),
        (("gizmos",), "def gizmo(gizmos): Gizmoed", ["gizmo", "gizmos", "Gizmoed"]),
        (("serializing", "errors"), "SerializeError serialization", ["Serialize", "Error", "serialization"]),
        (("stream",), "openstream(upstreams)", ["stream", "streams"]),
        (("a", "("), "a (b)", []),
    ],
)
def test_the_words_that_were_looked_for_are_marked_in_their_usual_forms_and_short_ones_not_within_others(
    show: ShowAgent, words: tuple[str, ...], line: str, shown: list[str]
) -> None:
    place = SearchResult(path="a.py", first_line=1, last_line=1, score=1.0, lines=(FoundLine(1, line),))
    page, stage = show()
    stage.finds = lambda asked, kind: SearchResults(query=asked, results=(place,), words=words)
    page.keyboard.press("/")
    page.keyboard.type("it", delay=5)
    expect(found(page)).to_have_count(1)
    assert found(page).locator("pre mark").all_inner_texts() == shown
