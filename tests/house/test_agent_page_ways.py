"""The ways through the agent's page, by keyboard and by mouse: each leads to its end, and none leads nowhere."""

import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.house.agent_kit import MODEL, agent_server, fake_model
from tests.house.agent_page import (
    add_folder,
    begin,
    choose_model,
    feet,
    field,
    link,
    say,
    transcript,
    visiting,
)
from tests.house.running import Server
from tests.house.test_agent_page import free_port
from tests.plenty import plenty
from tests.web.stage import write
from tests.web.test_design import CONTRASTS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(150)]

PLAN = (
    '!call update_plan {"steps": [{"description": "Look", "files_involved": ["a.py"]}, {"description": "Think"}, '
    '{"description": "Tell"}], "current_step": %d, "rationale": "First things first."}'
)
Press = Callable[[Locator], None]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "200") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with agent_server(tmp_path_factory.mktemp("house"), model) as house:
        yield house


def by_mouse(target: Locator) -> None:
    target.click()


def by_keyboard(target: Locator) -> None:
    """With the Tab key to it from where one is, and Enter: so it must be reached, and be seen when it is."""
    page = target.page
    page.evaluate("document.activeElement?.blur()")
    shown = target.element_handle()  # to look for it by its name after each key would take longer than the key
    for _ in range(80):
        page.keyboard.press("Tab")
        if shown.evaluate("target => target === document.activeElement || !target.isConnected"):
            break
    expect(target).to_be_focused()
    assert target.evaluate("target => getComputedStyle(target).outlineStyle") != "none"
    page.keyboard.press("Enter")


WAYS = pytest.mark.parametrize("press", [by_mouse, by_keyboard])


def asked(house: Server, method: str, path: str, body: object = None) -> Any:
    token = (house.state / "agent.token").read_text().strip()
    url = f"{house.url_of('agent')}/v1/{path}"
    answer = httpx.request(method, url, json=body, headers={"authorization": f"Bearer {token}"}, timeout=30)
    answer.raise_for_status()
    return answer.json()


def session_of(page: Page) -> str:
    return page.url.partition("#/")[2]


@pytest.mark.drawn(1)
@WAYS
def test_a_folder_a_session_its_name_and_its_end(
    near: Path, house: Server, chromium: Browser, press: Press
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        expect(page.locator("agent-sessions select")).to_be_visible()
        press(page.get_by_role("button", name="Add a folder"))
        write(page.get_by_role("textbox", name="Folder"), str(near / "nowhere"))
        press(page.get_by_role("button", name="Add", exact=True))
        expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("There is no folder")
        write(page.get_by_role("textbox", name="Folder"), str(near))
        press(page.get_by_role("button", name="Add", exact=True))
        expect(page.get_by_role("button", name="Begin a session")).to_be_focused()
        press(page.get_by_role("button", name="Begin a session"))
        expect(field(page)).to_be_focused()
        press(page.get_by_role("button", name="Rename: New session"))
        write(page.get_by_role("textbox", name="Name of the session"), "Talk of the town")
        press(page.get_by_role("button", name="Rename", exact=True))
        expect(page.get_by_role("heading", name="Talk of the town")).to_be_visible()
        press(page.get_by_role("button", name="Delete: Talk of the town"))
        press(page.get_by_role("button", name="Leave it"))
        press(page.get_by_role("button", name="Delete: Talk of the town"))
        press(page.get_by_role("button", name="Delete", exact=True))
        expect(page.locator("agent-sessions li")).to_have_count(0)
        expect(page.locator("agent-sessions .create")).to_be_focused()
        expect(page.get_by_role("button", name="Begin a session")).to_be_visible()


@pytest.mark.drawn(1)
@WAYS
def test_a_model_for_one_session_leaves_the_others_theirs(
    near: Path, house: Server, chromium: Browser, press: Press
) -> None:
    asked(house, "PUT", "models/current", {"provider": "builtin"})
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        add_folder(page, near)
        page.keyboard.press("n")
        expect(field(page)).to_be_focused()
        mine = session_of(page)
        shown = page.get_by_role("button", name=re.compile("^Model: "))
        expect(shown).to_have_text("builtin")
        press(shown)
        radio = page.get_by_role("radio", name=re.compile(MODEL))
        expect(radio).to_be_visible()
        if press is by_mouse:
            radio.check()
        else:
            page.keyboard.press("ArrowDown")  # the model that is used has the focus
        expect(radio).to_be_checked()
        expect(page.get_by_role("radio", name="for this session")).to_be_checked()
        press(page.get_by_role("button", name="Use it"))
        expect(shown).to_have_text(MODEL)
        fact = asked(house, "GET", f"sessions/{mine}")
        assert (fact["model_name"], fact["context_window"]) == (MODEL, 40_960)
        assert asked(house, "GET", "models/current")["provider"] == "builtin"
        page.get_by_role("button", name="New session", exact=True).click()
        expect(shown).to_have_text("builtin")
        page.go_back()
        expect(shown).to_have_text(MODEL)
        press(shown)
        press(page.get_by_role("button", name=re.compile("^Back to the usual one")))
        expect(shown).to_have_text("builtin")
        assert asked(house, "GET", f"sessions/{mine}")["model_provider"] is None


def test_a_model_for_new_sessions_leaves_those_that_have_their_own(
    near: Path, house: Server, chromium: Browser
) -> None:
    asked(house, "PUT", "models/current", {"provider": "builtin"})
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        add_folder(page, near)
        page.get_by_role("button", name="Begin a session").click()
        expect(field(page)).to_be_focused()
        page.get_by_role("button", name=re.compile("^Model: ")).click()
        page.get_by_role("radio", name=re.compile(MODEL)).check()
        page.get_by_role("radio", name=re.compile("^for new sessions")).check()
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("agent-head .model")).to_have_text(MODEL)
        assert asked(house, "GET", "models/current")["model_name"] == MODEL
        assert asked(house, "GET", f"sessions/{session_of(page)}")["model_provider"] is None


def test_a_session_that_is_deleted_elsewhere_is_left_with_a_word(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        asked(house, "DELETE", f"sessions/{session_of(page)}")
        expect(page.locator("house-notices")).to_contain_text("There is no such session any more.")
        expect(page.locator("agent-sessions li")).to_have_count(0)
        expect(page.locator("house-banner")).to_be_hidden()
        expect(page.get_by_role("button", name="Begin a session")).to_be_visible()


def test_a_link_leads_to_a_session_of_another_folder_and_the_list_of_folders_leads_back(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "first")
        first = page.url
        add_folder(page, near / "second")
        expect(page).not_to_have_url(first)
        page.goto(first)
        folders = page.get_by_role("combobox", name="Workspace")
        chosen = folders.locator("option:checked")
        expect(chosen).to_have_text("first")
        expect(page.locator("agent-sessions [aria-current]")).to_be_visible()
        folders.focus()
        folders.press_sequentially("sec")
        page.keyboard.press("Enter")
        expect(chosen).to_have_text("second")
        expect(page.get_by_role("button", name="Begin a session")).to_be_visible()
        page.reload()
        expect(chosen).to_have_text("second")


def test_a_folder_that_is_gone_is_told_and_its_sessions_can_be_read(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "before it went")
        expect(feet(page)).to_contain_text("Done")
        shutil.rmtree(near / "work")
        expect(page.locator("agent-sessions .missing")).to_contain_text("not there now")
        expect(page.locator("agent-transcript .said")).to_have_text("before it went")
        say(page, "and now?")
        expect(feet(page)).to_have_count(2)
        expect(page.locator("agent-transcript .failure")).to_contain_text("is not there now")
        (near / "work").mkdir()
        expect(page.locator("agent-sessions .missing")).to_be_hidden()
        again = page.get_by_role("button", name="Ask again")
        expect(again).to_have_count(1)
        by_keyboard(again)
        expect(feet(page)).to_have_count(3)
        expect(feet(page).last).to_contain_text("Done")
        expect(again).to_have_count(0)


def test_a_token_that_is_good_no_more_is_asked_for_and_the_session_goes_on(
    near: Path, model: str, chromium: Browser
) -> None:
    port = ("--set", f"agent.port={free_port()}")
    with visiting(chromium) as visitor, ExitStack() as stack:
        house = stack.enter_context(agent_server(near, model, *port))
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "remember me")
        expect(feet(page)).to_contain_text("Done")
        house.process.send_signal(signal.SIGTERM)
        house.ended()
        (house.state / "agent.token").unlink()
        house = stack.enter_context(agent_server(near, model, *port))
        token = page.get_by_label("Token", exact=True)
        expect(token).to_be_focused()
        expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("The token is wrong.")
        expect(page.locator("house-banner")).to_be_hidden()
        write(token, (house.state / "agent.token").read_text().strip())
        page.keyboard.press("Enter")
        expect(page.locator("agent-transcript .said")).to_have_text("remember me")


def test_a_link_with_another_token_replaces_none_that_is_good(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        address = house.url_of("agent")
        for other in (f"{address}/#token=foreign", f"{address}/?again#token=foreign"):
            page.goto(other)
            expect(page.locator("house-notices")).to_contain_text("The link held another token.")
            expect(page.get_by_role("button", name="New session", exact=True)).to_be_visible()
            assert "foreign" not in page.url
            assert "foreign" not in page.evaluate("JSON.stringify(localStorage)")
        fresh = visitor.page(address)
        expect(fresh.get_by_role("button", name="New session", exact=True)).to_be_visible()


def test_a_link_with_the_right_token_replaces_one_that_is_good_no_more(house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(f"{house.url_of('agent')}/#token=stale")
        expect(page.get_by_label("Token", exact=True)).to_be_visible()
        page.evaluate("localStorage.setItem('troupe.agent.token', 'stale')")
        page.goto(f"{link(house).replace('/#', '/?again#')}")
        expect(page.get_by_role("button", name="Add a folder")).to_be_visible()
        assert link(house).partition("=")[2] in page.evaluate("localStorage.getItem('troupe.agent.token')")


def test_the_plan_says_where_it_is_and_folds_when_all_is_done(near: Path, house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, PLAN % 2)
        expect(feet(page)).to_have_count(1)
        plan = page.locator("agent-plan")
        expect(plan.locator(".said")).to_have_text("Ended at step 2 of 3")
        expect(page.locator("agent-transcript .tool").filter(has_text="update_plan")).to_have_count(0)
        expect(plan.locator("summary .now")).to_have_text("Think")
        expect(plan.locator("ol")).to_be_hidden()
        by_keyboard(plan.locator("summary"))
        expect(plan.locator("[aria-current=step]")).to_have_text("Think")
        expect(plan.locator("li.done")).to_have_text("Look a.py")
        page.reload()
        expect(plan.locator(".said")).to_have_text("Ended at step 2 of 3")
        say(page, PLAN % 3)
        expect(plan.locator(".said")).to_have_text("All 3 steps are done")
        say(page, "no plan")
        expect(plan).to_be_hidden()


def test_a_search_says_what_it_found_and_why(near: Path, house: Server, chromium: Browser) -> None:
    (near / "work").mkdir()
    (near / "work" / "lighthouse.py").write_text("def keeper_of_the_light():\n    return 'trims the lamp'\n")
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "who is keeper_of_the_light?")
        expect(feet(page)).to_have_count(1)
        found = page.locator("agent-transcript details.retrieval").first
        by_keyboard(found.locator("summary"))
        expect(found.locator("li").first).to_contain_text("lighthouse.py")
        expect(found.locator(".reason").first).to_contain_text("keeper_of_the_light")
        expect(page.locator("agent-head .usage")).to_contain_text("%")


def test_tokens_are_not_read_out_but_the_answer_is_and_what_is_old_is_not(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        log = page.get_by_role("log", name="Transcript")
        heard = page.locator("#heard")
        page.evaluate(
            """() => {
                window.heard = [];
                const place = document.querySelector("#heard");
                new MutationObserver(() => window.heard.push(place.textContent)).observe(place, { childList: true });
            }"""
        )
        say(page, "!long 500")
        expect(heard).to_have_text(re.compile("^Done. word0 word1 "))
        said = [each for each in page.evaluate("window.heard") if each]
        assert "Writing" in said
        assert len(said) <= 4
        assert log.get_attribute("aria-live") == "off"
        assert log.locator("[aria-live], [role=status], [role=alert]").count() == 0
        page.reload()
        expect(feet(page)).to_have_count(1)
        expect(heard).to_have_text("")


def test_a_token_costs_no_more_at_the_end_of_a_long_text_than_at_its_beginning(
    near: Path, model: str, chromium: Browser
) -> None:
    """Work is counted, not timed: what is built anew is the open block, once a frame; the rest is left alone."""
    long = plenty(15_000)
    with fake_model("--rate", "0") as fast, agent_server(near, fast) as house, visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        page.evaluate(
            """() => {
                window.counted = { frames: 0, built: 0, kept: new Set() };
                const frame = () => { window.counted.frames += 1; requestAnimationFrame(frame); };
                requestAnimationFrame(frame);
                new MutationObserver((records) => {
                    for (const { addedNodes, target } of records) {
                        if (target.closest?.(".text")) window.counted.built += addedNodes.length;
                    }
                }).observe(document.querySelector("agent-transcript"), { childList: true, subtree: true });
            }"""
        )
        say(page, f"!long {long}")
        expect(feet(page)).to_contain_text("Done", timeout=60_000)
        words = page.locator("agent-transcript .text > p").evaluate_all(
            "all => all.map((each) => each.textContent).join(' ').split(/\\s+/)"
        )
        assert words == [f"word{number}" for number in range(long)]
        counted = page.evaluate("window.counted")
        paragraphs = page.locator("agent-transcript .text > p").count()
        assert paragraphs > 10  # a long line does not stay one open block
        assert counted["built"] <= 4 * (counted["frames"] + paragraphs)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("width", "height"), [(640, 400), (320, 640)])
def test_the_page_can_be_used_at_200_percent_and_on_the_narrowest_screen(
    near: Path, house: Server, chromium: Browser, width: int, height: int
) -> None:
    with visiting(chromium, viewport={"width": width, "height": height}) as visitor:
        page = visitor.page(link(house))
        sessions = page.get_by_role("button", name="Sessions", exact=True)
        sessions.click()
        expect(page.locator("agent-composer")).to_have_js_property("inert", True)  # what is covered is not reached
        begin(page, near / "work")
        expect(page.locator("agent-sessions")).to_be_hidden()
        page.evaluate("document.activeElement.blur()")
        by_keyboard(sessions)
        page.keyboard.press("Escape")
        expect(sessions).to_be_focused()
        say(page, PLAN % 1)
        expect(feet(page)).to_have_count(1)
        say(page, "!endless")
        expect(page.get_by_role("button", name="Stop")).to_be_in_viewport(ratio=1)
        write(field(page), "and this")
        for name in ("Stop", "Steer", "Queue"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        expect(field(page)).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name="Stop").click()
        expect(feet(page).last).to_contain_text("Stopped")
        assert page.locator("agent-transcript").evaluate("each => each.clientHeight") > 80
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_on_paper_stands_what_was_said_whole_and_nothing_to_press(
    near: Path, house: Server, chromium: Browser
) -> None:
    with visiting(chromium, color_scheme="dark") as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "!long 900")
        expect(feet(page)).to_contain_text("Done")
        page.emulate_media(media="print")
        for gone in ("agent-sessions", "agent-composer", "agent-head button"):
            expect(page.locator(gone).first).to_be_hidden()
        assert page.locator("agent-transcript").evaluate("each => each.scrollHeight <= each.clientHeight + 1")
        assert "word899" in transcript(page)
        assert page.evaluate(CONTRASTS) == []


def test_a_text_runs_as_its_own_letters_do(near: Path, house: Server, chromium: Browser) -> None:
    with visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "مرحبا بالعالم")
        expect(feet(page)).to_have_count(1)
        edges = page.locator("agent-transcript .text p").first.evaluate(
            """(paragraph) => {
                const range = document.createRange();
                range.selectNodeContents(paragraph);
                const [text, box] = [range.getBoundingClientRect(), paragraph.getBoundingClientRect()];
                return [text.left - box.left, box.right - text.right];
            }"""
        )
        assert edges[0] > edges[1]


def test_nothing_turns_for_those_who_want_no_motion(near: Path, house: Server, chromium: Browser) -> None:
    with visiting(chromium, reduced_motion="reduce") as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, "!endless")
        expect(page.locator("agent-transcript .status")).to_be_visible()
        assert page.evaluate("document.getAnimations().length") == 0
        page.keyboard.press("Escape")
        expect(feet(page)).to_contain_text("Stopped")


def test_what_is_chosen_is_seen_in_the_system_s_own_colours(near: Path, house: Server, chromium: Browser) -> None:
    with visiting(chromium, forced_colors="active") as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        page.get_by_role("button", name="New session", exact=True).click()
        expect(page.locator("agent-sessions li")).to_have_count(2)
        edges = page.locator("agent-sessions .open").evaluate_all(
            "all => all.map((each) => getComputedStyle(each).border)"
        )
        assert len(set(edges)) == 2
        choose_model(page)
