"""How far the agent may go, and how one goes back, on its page in Chromium: its mode, the policy, what is remembered, a
plan that is approved, undo and doing again."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from codec.agent.action_events import FileChanged, TurnUndone, UndoneFile
from codec.agent.approvals import ExactCommand, Remembered, UndoReport, UndoWish
from codec.agent.audit import ApprovalForgotten, ApprovalRemembered, PolicyAudited
from codec.agent.client_messages import ApprovePlan
from codec.agent.events import ModeChanged, PlanPresented, PlanStep
from codec.agent.workspaces import Policy, PolicyChange
from tests.web.agent_stage import DIFF, AgentStage, ShowAgent, plan, showing_agent
from tests.web.looks import LOOKS, looked_at
from tests.web.stage import write
from tests.web.test_design import CONTRASTS, NAMELESS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


def changed(stage: AgentStage, method: str) -> tuple[str, Any]:
    """The last request over HTTP that changes something: its path and its body."""
    stage.hears(lambda said: isinstance(said, tuple) and said[0] == method)
    found = [said for said in stage.asked if said[0] == method]
    return found[-1][1], found[-1][2]


# -- undo


def worked(stage: AgentStage) -> None:
    """A turn that has changed two files."""
    stage.begin()
    stage.say(
        FileChanged(change_id="f1", turn_id="t1", file_path="shop/main.py", action="modify", status="done"),
        FileChanged(change_id="f2", turn_id="t1", file_path="notes.md", action="create", status="done"),
    )
    stage.end("Done.")


def would_undo(wish: UndoWish, redo: bool) -> UndoReport:
    outcome: Any = "would" if wish.preview else "done"
    files = (
        UndoneFile(file_path="shop/main.py", action="restore", outcome=outcome, diff=DIFF if wish.preview else ""),
        UndoneFile(file_path="notes.md", action="delete", outcome="refused", reason="You have edited it since."),
    )
    return UndoReport(turn_id=wish.turn_id or "t1", redo=redo, preview=wish.preview, files=files)


def would_redo(wish: UndoWish, redo: bool) -> UndoReport:
    file = UndoneFile(file_path="notes.md", action="create", outcome="would" if wish.preview else "done")
    return UndoReport(turn_id="t1", redo=redo, preview=wish.preview, files=(file,))


def test_undo_says_first_what_it_would_do_and_then_file_by_file_what_it_did(show: ShowAgent) -> None:
    page, stage = show()
    stage.undo = would_undo
    worked(stage)
    page.get_by_role("button", name="Undo…").click()
    dialog = page.get_by_role("dialog", name="Undo")
    expect(dialog).to_contain_text("raise Unknown(name)")
    expect(dialog.locator("li").nth(1)).to_contain_text("stays as it is")
    expect(dialog.locator("li").nth(1)).to_contain_text("You have edited it since.")
    path, body = changed(stage, "POST")
    assert (path, body) == ("sessions/s1/undo", {"preview": True, "turn_id": "t1"})
    expect(dialog.get_by_role("button", name="Undo: 1 file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog.locator("li").nth(0)).to_contain_text("done")
    expect(dialog).to_contain_text("You have edited it since.")  # a refusal is not told in passing
    assert changed(stage, "POST")[1] == {"preview": False, "turn_id": "t1"}
    page.keyboard.press("Escape")


def test_what_is_undone_can_be_done_again_in_every_window_and_after_a_reload(show: ShowAgent) -> None:
    page, stage = show()
    worked(stage)
    files = (UndoneFile(file_path="notes.md", action="delete", outcome="done"),)
    stage.say(TurnUndone(turn_id="t1", files=files, by="vscode"))
    for _ in range(2):
        expect(page.locator("agent-transcript .undo")).to_have_text("Do it again…")
        expect(page.locator("agent-transcript .note").last).to_contain_text("Undone by vscode")
        page.reload()
    stage.undo = would_redo
    page.get_by_role("button", name="Do it again…").click()
    page.get_by_role("button", name="Do it again: 1 file").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("house-notices")).to_contain_text("1 file is as after that turn.")
    assert changed(stage, "POST")[0] == "sessions/s1/redo"
    stage.say(TurnUndone(turn_id="t1", files=files, redo=True))
    expect(page.locator("agent-transcript .undo")).to_have_text("Undo…")


def test_a_key_undoes_the_last_turn_and_says_if_there_is_none(show: ShowAgent) -> None:
    page, stage = show()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("u")
    expect(page.get_by_role("dialog", name="Undo")).to_contain_text("There is nothing to be undone.")
    assert changed(stage, "POST") == ("sessions/s1/undo", {"preview": True})
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


# -- the policy, and what is remembered


def open_rules(page: Page) -> None:
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("p")
    expect(page.get_by_label("Files that it may read")).to_have_value("**/*")


def test_only_what_was_changed_of_the_policy_is_sent(show: ShowAgent) -> None:
    page, stage = show()
    open_rules(page)
    expect(page.get_by_label("Files that it never touches")).to_have_value(".git/**\nnode_modules/**")
    page.get_by_label("Commands may reach the network").check()
    page.get_by_label("Who writes changes").select_option("server")
    write(page.get_by_label(re.compile("^Take a request as rejected")), "soon")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("The seconds are a number")
    write(page.get_by_label(re.compile("^Take a request as rejected")), "600")
    write(page.get_by_label("Commands that it may run without asking"), "npm test\n\n  make check ")
    page.get_by_role("button", name="Save").click()
    path, body = changed(stage, "PUT")
    assert path == "workspaces/w1/policy"
    assert body == {
        "network_enabled": True,
        "patch_application": "server",
        "approval_timeout_s": 600,
        "allowed_commands": ["npm test", "make check"],
    }
    expect(page.get_by_role("dialog")).to_have_count(0)
    open_rules(page)
    expect(page.get_by_label("Commands that it may run without asking")).to_have_value("npm test\nmake check")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len([said for said in stage.asked if said[0] == "PUT"]) == 1


def test_what_is_remembered_is_listed_and_revoked(show: ShowAgent) -> None:
    page, stage = show()
    stage.remembered["session"] = [Remembered(id="r/1", kind="command", argv=("npm", "test"), by="web")]
    stage.remembered["workspace"] = [
        Remembered(id="r2", kind="path", path="docs/a.md", scope="workspace"),
        Remembered(id="r3", kind="tool", tool_name="delete_file", scope="workspace"),
        Remembered(id="r4", kind="command", exactly=ExactCommand(argv=("rm", "a b"), folder="web"), scope="workspace"),
        Remembered(id="r5", kind="command", exactly=ExactCommand(line="npm test | tail"), scope="workspace"),
    ]
    open_rules(page)
    rows = page.locator("agent-rules .remembered li")
    expect(rows.nth(0)).to_contain_text("Commands that begin with npm testthis session, approved in a browser")
    expect(rows.nth(1)).to_contain_text("Changes of docs/a.mdthis workspace")
    expect(rows.nth(2)).to_contain_text("The deletion of any filethis workspace")
    expect(rows.nth(3)).to_contain_text("Exactly the command rm 'a b' in webthis workspace")
    expect(rows.nth(4)).to_contain_text("Exactly the command npm test | tail in the workspace's own folder")
    page.get_by_role("button", name="Revoke for this workspace: Exactly the command rm 'a b' in web").click()
    expect(rows).to_have_count(4)
    own = "Revoke for this workspace: Exactly the command npm test | tail in the workspace's own folder"
    page.get_by_role("button", name=own).click()
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Revoke for this session: Commands that begin with npm test").click()
    expect(rows).to_have_count(2)
    assert changed(stage, "DELETE")[0] == "sessions/s1/approvals/r%2F1"
    expect(page.get_by_role("button", name="Revoke for this workspace: Changes of docs/a.md")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1)
    expect(page.get_by_role("button", name="Revoke for this workspace: The deletion of any file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is remembered.")).to_be_visible()


def test_the_mode_is_chosen_and_shown_as_the_session_has_it(show: ShowAgent) -> None:
    page, stage = show()
    mode = page.get_by_label("How far it goes")
    expect(mode).to_have_value("ask")
    mode.select_option("auto")
    assert changed(stage, "PATCH") == ("sessions/s1", {"mode": "auto"})
    stage.change(mode="plan")
    expect(mode).to_have_value("plan")


def test_what_changes_in_what_it_may_do_is_a_line_of_the_transcript_also_after_a_reload(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    change = PolicyChange(network_enabled=True, patch_application="client", allowed_commands=("npm test", "make"))
    once = Remembered(id="r1", kind="command", exactly=ExactCommand(line="npm test | tail"), by="web")
    path = Remembered(id="r2", kind="path", path="docs/a.md", by="web", scope="workspace")
    stage.say(
        ModeChanged(mode="auto", before="plan", by="web"),
        PolicyAudited(at=1.0, by="::1", change=change, before=Policy()),
        ApprovalRemembered(at=2.0, by="web", approval=once),
    )
    stage.end("Done.")
    stage.say(ModeChanged(mode="ask", before="auto"), ApprovalForgotten(at=3.0, by="::1", approval=path))
    for _ in range(2):
        notes = page.locator("agent-transcript .note")
        expect(notes.nth(0)).to_have_text("The mode is auto from here on, approved in a browser")
        notes.nth(1).get_by_text("The policy of this workspace has changed").click()
        fields = notes.nth(1).locator("li")
        expect(fields).to_have_text(
            [
                "Commands that it may run without asking: npm test, make",
                "Commands may reach the network: yes",
                "Who writes changes: The editor, if it can",
            ]
        )
        exactly = "Remembered for this session: Exactly the command npm test | tail in the workspace's own folder"
        expect(notes.nth(2)).to_have_text(exactly)
        expect(notes.nth(3)).to_have_text("The mode is ask from here on")
        expect(notes.nth(4)).to_have_text("Revoked, not allowed in this workspace any more: Changes of docs/a.md")
        assert page.evaluate(CONTRASTS) == []
        page.reload()


CUT = """() => [...document.querySelectorAll("agent-transcript .note, agent-transcript .note *")]
    .filter((each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.textContent)"""


def test_nothing_of_what_such_a_line_says_is_cut_off_on_a_narrow_page(show: ShowAgent) -> None:
    page, stage = show(viewport={"width": 400, "height": 900})
    long = "src/some/deep/folder/with/a/long/name/" + "module_of_the_house" * 3 + ".py"
    why = "It is not known yet whether it was written, because the disk has not answered."
    facts: dict[str, Any] = {"change_id": "f1", "turn_id": "t1", "action": "modify"}
    path = Remembered(id="r2", kind="path", path=long, by="web", scope="workspace")
    change = PolicyChange(blocked_globs=(long, "secrets/**"))
    stage.begin()
    stage.say(
        FileChanged(file_path=long, status="unknown", error=why, **facts),
        PolicyAudited(at=1.0, by="::1", change=change, before=Policy()),
        ApprovalRemembered(at=2.0, by="web", approval=path),
        ApprovalForgotten(at=3.0, by="::1", approval=path),
    )
    notes = page.locator("agent-transcript .note")
    expect(notes).to_have_count(4)
    notes.nth(1).locator("summary").click()
    expect(notes.first).to_contain_text(why)
    assert page.evaluate(CUT) == []


# -- a plan


def test_a_plan_is_written_anew_moved_shortened_and_approved_once(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin("Plan it")
    plan(stage)
    steps = page.locator("agent-plan textarea")
    expect(steps).to_have_count(3)
    write(page.get_by_role("textbox", name="Step 2"), "Change it with care")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_role("textbox", name="Step 1")).to_be_focused()
    page.get_by_role("button", name="Remove: step 3").click()
    expect(page.get_by_role("button", name="Remove: step 2")).to_be_focused()
    page.get_by_role("button", name="Another step").click()
    page.keyboard.type("Tell what was done")
    page.get_by_role("button", name="Later: step 1").click()
    page.get_by_role("button", name="Carry it out").click()
    said = stage.hears(lambda said: isinstance(said, ApprovePlan))
    assert [each.description for each in said.steps] == [
        "Find where it is read",
        "Change it with care",
        "Tell what was done",
    ]
    assert [each.files_involved for each in said.steps] == [("shop/main.py",), ("shop/main.py",), ()]
    assert (said.plan_seq, said.mode) == (2, "ask")
    assert isinstance(stage.log[said.plan_seq - 1], PlanPresented)
    expect(page.get_by_role("button", name="Carry it out")).to_be_hidden()
    stage.change(mode="ask")
    stage.begin("Carry out this plan", "t2")
    expect(page.locator("agent-plan")).to_be_hidden()
    page.reload()
    expect(page.locator("agent-transcript .said").last).to_have_text("Carry out this plan")
    expect(page.get_by_role("button", name="Carry it out")).to_have_count(0)


@pytest.mark.parametrize("how", ["refused", "lost"])
def test_an_approval_that_was_refused_or_lost_is_given_again_with_the_steps_as_they_were_edited(
    show: ShowAgent, how: str
) -> None:
    page, stage = show()
    stage.begin("Plan it")
    plan(stage)
    write(page.get_by_role("textbox", name="Step 2"), "Change it with care")
    page.get_by_role("button", name="Remove: step 3").click()
    page.get_by_role("button", name="Carry it out").click()
    first = stage.hears(lambda said: isinstance(said, ApprovePlan))
    expect(page.get_by_role("button", name="Carry it out")).to_be_hidden()
    if how == "refused":
        stage.tell_refused("The plan cannot be read now. Try it again.")
    else:
        stage.drop()
        stage.attends(2)
    expect(page.get_by_role("textbox", name="Step 2")).to_have_value("Change it with care")
    page.get_by_role("button", name="Carry it out").click()
    again = stage.hears(lambda said: isinstance(said, ApprovePlan) and said.message_id != first.message_id)
    assert (again.plan_seq, again.steps, again.mode) == (first.plan_seq, first.steps, first.mode)
    assert len(again.steps) == 2


def test_only_in_the_mode_of_plans_and_after_the_turn_is_there_a_plan_to_approve(show: ShowAgent) -> None:
    page, stage = show()
    carry = page.get_by_role("button", name="Carry it out")
    step = PlanStep(step_number=1, description="Look")
    stage.begin()
    stage.say(PlanPresented(steps=(step,)))
    expect(page.locator("agent-plan li")).to_have_count(1)
    stage.change(mode="plan")
    expect(page.get_by_label("How far it goes")).to_have_value("plan")
    expect(carry).to_be_hidden()
    stage.end("That is it.")
    expect(carry).to_be_visible()
    stage.change(mode="auto")
    expect(carry).to_be_hidden()


@pytest.mark.parametrize("what", ["policy", "undo", "plan"])
def test_the_dialogs_and_the_plan_can_be_read_and_named_and_fit(show: ShowAgent, what: str) -> None:
    page, stage = show()
    if what == "plan":
        stage.begin()
        plan(stage)
        expect(page.get_by_role("textbox", name="Step 3")).to_be_visible()
    elif what == "undo":
        stage.undo = would_undo
        worked(stage)
        page.get_by_role("button", name="Undo…").click()
        expect(page.get_by_role("button", name="Undo: 1 file")).to_be_visible()
    else:
        stage.remembered["session"] = [Remembered(id="r", kind="command", argv=("x" * 200,), by="web")]
        open_rules(page)
        expect(page.get_by_role("button", name=re.compile("^Revoke"))).to_be_visible()
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            assert page.evaluate(CONTRASTS) == []
            assert page.evaluate(NAMELESS) == []
            assert page.evaluate("document.documentElement.scrollWidth") == width
            for dialog in page.locator("dialog[open]").all():
                assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
