"""The texts of a case on the judge's page, and how they differ, in a real browser."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, expect

from codec.judge import (
    Notice,
    RequestCase,
    StateCase,
    StateProblems,
    StateUpdate,
)
from tests.web.judge_page import failing, item, lines, standing, text
from tests.web.judge_stage import (
    Show,
    case,
    init,
    listed,
    problem,
    result,
    showing,
    whole_run,
)
from tests.web.looks import looked_at

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


def test_a_difference_is_marked_on_either_side_word_by_word(show: Show) -> None:
    page, _ = show(*failing("Yes\n1 2 3 4\nend\n", "Yes\n1 2 5 4\nend\n"))
    expect(text(page, 1, "Expected").locator("mark")).to_have_text("3")
    expect(text(page, 1, "Actual").locator("mark")).to_have_text("5")
    expect(text(page, 1, "Expected").locator("[data-tone=good]")).to_have_text("1 2 3 4")
    expect(text(page, 1, "Actual").locator("[data-tone=bad]")).to_have_text("1 2 5 4")
    assert lines(page, 1, "Input") == ["1 2"]


def test_blanks_that_differ_can_be_seen_and_are_not_part_of_the_text(show: Show) -> None:
    page, _ = show(*failing("1\t2\n3\n", "1 2 \n3"))
    actual, expected = text(page, 1, "Actual"), text(page, 1, "Expected")
    assert lines(page, 1, "Actual") == ["1 2 ", "3"]
    signs = "blanks => blanks.map(({ dataset }) => dataset.sign)"
    assert actual.locator(".blank").evaluate_all(signs) == ["·", "·"]
    assert lines(page, 1, "Expected") == ["1\t2", "3"]
    assert expected.locator(".blank").evaluate_all(signs) == ["→"]
    expect(actual.locator(".remark")).to_have_attribute("data-sign", "no newline at end")
    expect(expected.locator(".remark")).to_have_count(0)
    ends = "lines => lines.map(line => getComputedStyle(line, '::after').content)"
    assert expected.locator(".line").evaluate_all(ends) == ['"↵"', '"↵"']


def test_blanks_are_shown_everywhere_when_asked_for(show: Show) -> None:
    page, _ = show(*failing("a b\nc\n", "a b\nd\n"))
    expect(text(page, 1, "Actual").locator("mark")).to_have_text("d")
    expect(text(page, 1, "Input").locator(".blank")).to_have_count(0)
    page.get_by_role("button", name="Show all blanks").click()
    expect(text(page, 1, "Input").locator(".blank")).to_have_count(1)
    expect(text(page, 1, "Actual").locator(".blank")).to_have_count(1)


def test_a_character_that_cannot_be_seen_is_shown_by_its_number(show: Show) -> None:
    page, _ = show(*failing("a b\n", "a\u00a0b\u202e\r\n\u200b\n"))
    odd = text(page, 1, "Actual").locator(".odd")
    expect(odd).to_have_count(3)
    signs = odd.evaluate_all("signs => signs.map(({ dataset }) => dataset.sign)")
    assert signs == ["U+00A0", "U+202E", "U+200B"]


def test_text_that_contains_html_is_shown_and_not_run(show: Show) -> None:
    evil = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>&amp;"
    shown = problem("a", case(1, f"{evil}\n", f"{evil}\n"), name=evil, group=evil, url="javascript:alert(1)")
    wrong = result(1, "RE", f"{evil}!\n", console=f"{evil}\n", reason=evil, diff_summary=evil)
    page, _ = show(
        init(shown), StateProblems((listed(shown),)), Notice("warn", evil), *whole_run(shown, wrong)
    )  # fmt: skip
    expect(page.get_by_role("heading", level=1)).to_have_text(evil)
    for label in ("Input", "Expected", "Console"):
        assert lines(page, 1, label) == [evil]
    assert lines(page, 1, "Actual") == [f"{evil}!"]
    expect(page.locator("judge-notices p")).to_have_text(evil)
    expect(page.locator("judge-problem a:visible, main img, main script")).to_have_count(0)
    assert page.title().endswith(evil)


def test_copying_gives_the_text_as_the_program_wrote_it(show: Show) -> None:
    page, _ = show(*failing("1\t2\n", "1  2 \n3"), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy actual").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "1  2 \n3"


def test_a_text_that_was_cut_is_fetched_whole_on_request(show: Show) -> None:
    long = "".join(f"{n}\n" for n in range(20_000))
    shown = problem("a", case(1, long, "3\n"))
    page, stage = show(init(shown), *whole_run(shown, result(1, "WA", "4\n")))
    expect(item(page, 1).locator(".input .size")).to_have_text("the first 16.4 kB of 109 kB")
    page.get_by_role("button", name="Show all of input").click()
    assert stage.heard(RequestCase) == [RequestCase(1, shown.id)]
    whole = replace(shown.cases[0], input_content=long, input_cut=False)
    stage.say(StateCase(problem_id=shown.id, case=whole))
    expect(item(page, 1).locator(".input .size")).to_have_text("109 kB")
    expect(page.get_by_role("button", name="Show all of input")).to_be_hidden()
    stage.say(StateUpdate(shown))
    expect(item(page, 1).locator(".input .size")).to_have_text("109 kB")


def test_a_text_that_was_cut_is_copied_whole(show: Show) -> None:
    long = "".join(f"{n}\n" for n in range(20_000))
    shown = problem("a", case(1, long, "3\n"))
    page, stage = show(
        init(shown), *whole_run(shown, result(1, "WA", "4\n")), permissions=["clipboard-read", "clipboard-write"]
    )
    page.get_by_role("button", name="Copy input").click()
    stage.heard(RequestCase)
    stage.say(StateCase(problem_id=shown.id, case=replace(shown.cases[0], input_content=long, input_cut=False)))
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == long


def test_what_the_server_has_no_more_of_is_said_so(show: Show) -> None:
    page, stage = show(*failing("3\n", "4\n" * 20_000))
    page.get_by_role("button", name="Show all of actual").click()
    stage.heard(RequestCase)
    stage.say(StateCase(problem_id="abc999/abc999_a", case=case(1, "1 2\n", "3\n")))
    expect(item(page, 1).locator(".actual .size")).to_have_text(
        "the first 16.4 kB of 40.0 kB; the server has no more"
    )  # fmt: skip


def test_a_difference_behind_the_cut_is_said_to_be_there(show: Show) -> None:
    same = "0123456789\n" * 2_000
    page, _ = show(*failing(f"{same}1\n", f"{same}2\n"))
    expect(page.get_by_text("The first difference comes after the part that is shown here.")).to_be_visible()
    expect(item(page, 1).locator("[data-tone=good].line, [data-tone=bad].line")).to_have_count(0)


def test_the_first_difference_is_scrolled_into_sight_and_the_next_can_be_gone_to(show: Show) -> None:
    expected = [f"line {n}" for n in range(1, 1001)]
    actual = [f"{line}!" if n in (600, 900) else line for n, line in enumerate(expected, 1)]
    page, _ = show(*failing("\n".join(expected) + "\n", "\n".join(actual) + "\n"))
    for label, word in (("Expected", "line 600"), ("Actual", "line 600!")):
        expect(text(page, 1, label).get_by_text(word, exact=True)).to_be_in_viewport()
    expect(page.get_by_text("Difference 1 of 2")).to_be_visible()
    page.keyboard.press("n")
    expect(text(page, 1, "Actual").locator(".line[data-tone]")).to_have_text("line 900!")
    expect(text(page, 1, "Actual").locator(".line[data-tone]")).to_be_in_viewport()
    expect(page.get_by_text("Difference 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Next difference").click()
    expect(text(page, 1, "Expected").get_by_text("line 600", exact=True)).to_be_in_viewport()


def test_the_two_sides_scroll_together(show: Show) -> None:
    expected = "".join(f"line {n}\n" for n in range(1, 1001))
    page, _ = show(*failing(expected, expected.replace("line 3\n", "line three\n")))
    expect(text(page, 1, "Actual").get_by_text("line three")).to_be_in_viewport()
    text(page, 1, "Actual").evaluate("lines => { lines.scrollTop = 9000 }")
    expect(text(page, 1, "Expected").get_by_text("line 505", exact=True)).to_be_in_viewport()


def test_a_difference_far_out_in_a_long_line_is_in_sight(show: Show) -> None:
    numbers = [str(n) for n in range(3_000)]
    wrong = [*numbers[:2_500], "x", *numbers[2_501:]]
    page, _ = show(*failing(" ".join(numbers) + "\n", " ".join(wrong) + "\n"))
    for label, word in (("Expected", "2500"), ("Actual", "x")):
        expect(text(page, 1, label).locator("mark")).to_have_text(word)
        expect(text(page, 1, label).locator("mark")).to_be_in_viewport()
        assert len(lines(page, 1, label)[0]) < 5_000


def test_the_two_sides_stand_beside_each_other_where_there_is_room(show: Show) -> None:
    page, _ = show(*failing("1\n", "2\n"))
    expect(text(page, 1, "Actual").locator("mark")).to_be_visible()
    for width, beside in ((1280, True), (400, False)):
        with looked_at(page, width):
            expected, actual = (text(page, 1, label).bounding_box() for label in ("Expected", "Actual"))
            assert expected is not None
            assert actual is not None
            assert (expected["y"] == actual["y"]) == beside


def test_outputs_of_ten_thousand_lines_are_drawn_where_they_are_looked_at(show: Show) -> None:
    expected = "".join(f"{n} {n * n}\n" for n in range(10_000))
    actual = expected.replace("9990 99800100\n", "9990 0\n")
    big = replace(case(1, "1\n", expected), expected_content=expected, expected_cut=False)
    shown = problem("a", big)
    wrong = replace(result(1, "WA", ""), actual=actual, actual_size=len(actual), actual_cut=False)
    page, _ = show(init(shown), *whole_run(shown, wrong))
    expect(text(page, 1, "Actual").locator("mark")).to_have_text("0")
    expect(text(page, 1, "Actual").locator("mark")).to_be_in_viewport()
    assert page.locator(".line").count() < 300
    text(page, 1, "Actual").evaluate("lines => { lines.scrollTop = 0 }")
    expect(text(page, 1, "Actual").get_by_text("3 9", exact=True)).to_be_in_viewport()
    assert page.locator(".line").count() < 300


def test_a_hundred_failed_cases_are_drawn_where_they_are_looked_at(show: Show) -> None:
    texts = ["".join(f"{n} {k}\n" for n in range(100)) for k in range(2)]
    shown = problem("a", *[case(n, texts[0], texts[0]) for n in range(1, 101)])
    page, _ = show(init(shown), *whole_run(shown, *[result(n, "WA", texts[1]) for n in range(1, 101)]))
    expect(standing(page)).to_have_text("0/100 passed, 120 ms · 100 WA")
    expect(text(page, 1, "Actual").locator("mark").first).to_be_visible()
    assert page.locator(".line").count() < 1_500  # the text has thirty thousand
    page.keyboard.press("k")
    expect(text(page, 100, "Actual").locator("mark").first).to_be_attached()
