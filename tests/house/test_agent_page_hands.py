"""The agent's page answers what real sessions ask: by hunk, once and for all windows, across the end of a server; what
is remembered is there to be revoked, and a plan is approved once."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from actors.agent.messages import TurnOrder
from codec.agent.approvals import Pending
from codec.agent.events import PlanPresented, PlanStep
from tests.agent.paper_store import Paper
from tests.agent.session_kit import Asks, tool
from tests.house.agent_hands_stage import SessionsStage, entered
from tests.house.agent_kit import agent_server, fake_model
from tests.house.agent_page import begin, feet, field, link, say, visiting
from tests.house.test_agent_page import free_port
from tests.web import agent_stage
from tests.web.agent_stage import meant, request

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


def patch(id: str, path: str) -> Pending:  # noqa: A002
    return Pending(request_id=id, call_id=id, tool_name="propose_diff", asked=agent_stage.patch(id, path))


def command(id: str) -> Pending:  # noqa: A002
    return Pending(request_id=id, call_id=id, tool_name="execute_command", asked=agent_stage.command(id))


def asks(*requests: Pending) -> Any:
    return lambda order: [Asks(requests)]


def resolution(stage: SessionsStage, id: str) -> Any:  # noqa: A002
    return stage.has_acted(id).resolution


def test_each_answer_is_to_its_request_and_every_window_sees_it(near: Path, chromium: Browser) -> None:
    script = asks(patch("p1", "a.py"), patch("p2", "a.py"), patch("p3", "b.py"), command("k1"), tool("x1"))
    with SessionsStage(free_port(), Paper(), script) as stage, visiting(chromium) as visitor:
        page = entered(visitor.context, stage, near)
        other = visitor.page(page.url)
        say(page, "Do it")
        expect(page.locator("agent-waiting")).to_contain_text("waits for 5 answers")
        expect(other).to_have_title("(5) Do it · Troupe")
        expect(page.locator("agent-sessions house-pill")).to_have_text("asks you · 5")
        page.locator("agent-request").first.get_by_role("checkbox", name="Take hunk 2 of 3").click()
        page.get_by_role("button", name="Approve 2 of 3 hunks").click()
        expect(page.locator("agent-waiting")).to_contain_text("waits for 4 answers")
        other.locator("agent-request").nth(1).get_by_role("button", name="Reject…").click()
        other.keyboard.type("not this one")
        other.keyboard.press("Enter")
        expect(page.locator("agent-waiting")).to_contain_text("waits for 3 answers")
        request(page, "Change of b.py").get_by_role("button", name="Approve").click()
        expect(other.locator("agent-waiting")).to_contain_text("waits for 2 answers")
        run = request(page, "Run python")
        run.get_by_label("How long the approval holds").select_option("workspace")
        run.get_by_role("button", name="Approve").click()
        expect(request(other, "Run python")).to_contain_text("Approved")  # as it folds, no click is meant for the next
        request(other, "Delete a.py").get_by_role("button", name="Approve").click()
        for window in (page, other):
            expect(feet(window)).to_contain_text("Done")
            expect(window.locator("agent-request[data-state=settled]")).to_have_count(5)
            expect(window).to_have_title("Do it · Troupe")
        assert (resolution(stage, "p1").approved, resolution(stage, "p1").hunks) == (True, (0, 2))
        assert (resolution(stage, "p2").approved, resolution(stage, "p2").reason) == (False, "not this one")
        assert (resolution(stage, "p3").approved, resolution(stage, "p3").hunks) == (True, None)
        assert [resolution(stage, each).approved for each in ("k1", "x1")] == [True, True]
        page.get_by_role("button", name="What the agent may do here").click()
        page.get_by_role("button", name="Revoke for this workspace: Commands that begin with python -m pytest").click()
        expect(page.get_by_text("Nothing is remembered.")).to_be_visible()


def test_a_turn_that_asks_waits_across_the_end_of_its_server_and_goes_on_with_the_answer(
    near: Path, chromium: Browser
) -> None:
    port, script = free_port(), asks(patch("p1", "a.py"), command("k1"))
    with visiting(chromium) as visitor:
        with SessionsStage(port, Paper(), script) as stage:
            page = entered(visitor.context, stage, near)
            say(page, "Do it")
            expect(page.locator("agent-waiting")).to_contain_text("waits for 2 answers")
            paper = stage.paper
        expect(page.locator("house-banner")).to_be_visible()
        with SessionsStage(port, paper, script) as stage:
            page.evaluate("window.dispatchEvent(new Event('online'))")
            expect(page.locator("house-banner")).to_be_hidden()
            expect(page.locator("agent-waiting")).to_contain_text("The turn waits for your answer since")
            request(page, "Change of a.py").get_by_role("button", name="Approve").click()
            expect(page.locator("agent-waiting")).to_contain_text("The agent waits for your answer: Run python")
            page.reload()
            expect(request(page, "Change of a.py")).to_contain_text("Approved in a browser")
            request(page, "Run python").get_by_role("button", name="Approve").click()
            expect(feet(page)).to_contain_text("Done")
            assert resolution(stage, "p1").approved
            assert resolution(stage, "k1").approved


def test_a_stop_ends_what_is_asked(near: Path, chromium: Browser) -> None:
    with SessionsStage(free_port(), Paper(), asks(command("k1"))) as stage, visiting(chromium) as visitor:
        page = entered(visitor.context, stage, near)
        say(page, "Do it")
        expect(request(page, "Run python")).to_contain_text("waits for you")
        page.get_by_role("button", name="Stop").click()
        expect(feet(page)).to_contain_text("Stopped")
        expect(request(page, "Run python")).to_contain_text("The turn was cancelled before it was answered.")
        expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)


def test_a_plan_is_approved_once_and_carried_out_in_its_mode(near: Path, chromium: Browser) -> None:
    orders: list[TurnOrder] = []

    def script(order: TurnOrder) -> Sequence[Any]:
        orders.append(order)
        steps = tuple(PlanStep(step_number=at, description=each) for at, each in enumerate(("Look", "Change"), 1))
        return [PlanPresented(steps=steps)] if order.fact.mode == "plan" else []

    with SessionsStage(free_port(), Paper(), script) as stage, visiting(chromium) as visitor:
        page = entered(visitor.context, stage, near)
        page.get_by_label("How far it goes").select_option("plan")
        expect(page.get_by_label("How far it goes")).to_have_value("plan")
        say(page, "Plan it")
        step = page.get_by_role("textbox", name="Step 2")
        step.press("End")
        step.press_sequentially(" with care")
        page.get_by_role("button", name="Carry it out").click()
        expect(feet(page)).to_have_count(2)
        expect(page.locator("agent-transcript .said").last).to_contain_text("2. Change with care")
        expect(page.get_by_label("How far it goes")).to_have_value("ask")
        expect(page.get_by_role("button", name="Carry it out")).to_have_count(0)
        assert [order.fact.mode for order in orders] == ["plan", "ask"]


# -- a whole server, whose model is a fake


def call(name: str, **arguments: Any) -> str:
    return f"!call {name} {json.dumps(arguments)}"


def rounds(*calls: tuple[str, dict[str, Any]]) -> str:
    return f"!rounds {json.dumps([[each] for each in calls])}"


def met(page: Page, title: str) -> Locator:
    """The request, to which the reader has come from the empty field by keyboard."""
    asked = request(page, title)
    expect(asked).to_contain_text("waits for you")
    field(page).press("ArrowUp")
    meant(asked)
    return asked


def test_a_whole_turn_is_planned_searched_approved_by_hunk_run_undone_and_stopped_by_keyboard_alone(
    near: Path, chromium: Browser
) -> None:
    """In a real folder, with a reload in the middle."""
    work = near / "work"
    work.mkdir()
    before = "".join(f"line {number}\n" for number in range(1, 41))
    (work / "a.txt").write_text(before)
    edits = [
        {"file_path": "a.txt", "old": "line 5\n", "new": "the fifth\n"},
        {"file_path": "a.txt", "old": "line 30\n", "new": "the thirtieth\n"},
    ]
    with fake_model("--rate", "200") as model, agent_server(near, model) as house, visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, work)
        steps = [{"description": "Look"}, {"description": "Change"}]
        change = {"edits": edits, "rationale": "Words in place of numbers."}
        plan = {"steps": steps, "current_step": 2}
        say(page, rounds(("update_plan", plan), ("search_text", {"query": "line 30"}), ("propose_diff", change)))
        asked = request(page, "Change of a.txt")
        expect(asked).to_contain_text("Words in place of numbers.")
        page.reload()
        expect(page.locator("agent-plan")).to_contain_text("Step 2 of 2")
        expect(page.locator("agent-transcript .tool").first).to_contain_text("search_text")
        met(page, "Change of a.txt")
        page.keyboard.press("h")
        page.keyboard.press("h")
        expect(page.get_by_role("checkbox", name="Take hunk 2 of 2")).to_be_focused()
        page.keyboard.press("Space")
        expect(asked.get_by_role("button", name="Approve 1 of 2 hunks")).to_be_visible()
        assert (work / "a.txt").read_text() == before
        page.keyboard.press("a")
        expect(asked).to_contain_text("Written: a.txt")
        expect(feet(page)).to_contain_text("Done")
        assert (work / "a.txt").read_text() == before.replace("line 5\n", "the fifth\n")

        say(page, call("execute_command", argv=["sh", "-c", "echo out; echo err >&2; exit 3"]))
        run = met(page, "Run sh -c")
        page.keyboard.press("a")
        expect(run.locator(".course")).to_contain_text("Exit code 3")
        expect(run.locator(".stdout")).to_have_text("out")
        expect(run.locator(".stderr")).to_have_text("err")
        expect(feet(page)).to_have_count(2)

        say(page, call("write_file", file_path="node_modules/x.js", content="x"))
        expect(page.locator("agent-transcript .failure")).to_contain_text("Refused by the policy.")
        expect(page.locator("agent-transcript .failure .rule")).to_contain_text("node_modules")
        expect(feet(page)).to_have_count(3)

        say(page, call("execute_command", argv=["sh", "-c", "echo begun; sleep 600"]))
        sleeper = met(page, "Run sh -c 'echo begun")
        page.keyboard.press("a")
        expect(sleeper.locator(".output")).to_contain_text("begun")
        page.keyboard.press("Escape")
        expect(feet(page).last).to_contain_text("Stopped")
        expect(sleeper.locator(".course")).to_contain_text("Cancelled")

        page.get_by_role("button", name="Undo…").press("Enter")
        expect(page.get_by_role("button", name="Undo: 1 file")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()  # it takes every key until the answer has come
        expect(page.get_by_role("button", name="Do it again…")).to_be_visible()
        assert (work / "a.txt").read_text() == before
        (work / "a.txt").write_text("something else\n")
        page.get_by_role("button", name="Do it again…").press("Enter")
        dialog = page.get_by_role("dialog", name="Do it again")
        expect(dialog.locator("li")).to_contain_text("stays as it is")
        expect(dialog.get_by_role("button", name=re.compile("^Do it again:"))).to_be_hidden()
        page.keyboard.press("Escape")
        assert (work / "a.txt").read_text() == "something else\n"


def test_what_is_remembered_is_not_asked_for_again_until_it_is_revoked(near: Path, chromium: Browser) -> None:
    with fake_model("--rate", "200") as model, agent_server(near, model) as house, visiting(chromium) as visitor:
        page = visitor.page(link(house))
        begin(page, near / "work")
        say(page, call("write_file", file_path="notes.md", content="one\n"))
        asked = request(page, "New file notes.md")
        asked.get_by_label("How long the approval holds").select_option("session")
        asked.get_by_role("button", name="Approve").click()
        expect(asked).to_contain_text("Made: notes.md")
        expect(feet(page)).to_have_count(1)
        say(page, call("write_file", file_path="notes.md", content="two\n"))
        expect(request(page, "Change of notes.md")).to_contain_text("Written: notes.md")
        expect(feet(page)).to_have_count(2)
        assert (near / "work" / "notes.md").read_text() == "two\n"
        page.get_by_role("button", name="What the agent may do here").click()
        page.get_by_role("button", name="Revoke for this session: Changes of notes.md").click()
        expect(page.get_by_text("Nothing is remembered.")).to_be_visible()
        page.keyboard.press("Escape")
        say(page, call("write_file", file_path="notes.md", content="three\n"))
        expect(page.locator("agent-waiting")).to_contain_text("Change of notes.md")
        page.locator("agent-request").last.get_by_role("button", name="Reject…").click()
        page.keyboard.type("it is good as it is")
        page.keyboard.press("Enter")
        expect(feet(page)).to_have_count(3)
        assert (near / "work" / "notes.md").read_text() == "two\n"
