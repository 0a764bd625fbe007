"""What the agent asks and does, on its page in Chromium, in a scripted session: shown whole, answered once, and the
same after a reload. What the page says is checked by the structs of codec/ (agent_stage.py)."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from codec.agent.action_events import (
    ApprovalResolved,
    CommandFinished,
    CommandOutput,
    CommandStarted,
    CommandTakenBack,
    FileChanged,
    HunkOutcome,
    PatchApplied,
    RequestApproval,
    RequestCommandApproval,
    ScriptLine,
)
from codec.agent.client_messages import ApprovalResponse, CancelTurn, TakeBackCommand
from codec.agent.events import (
    ErrorBody,
    FinalMetadata,
    MessageFinal,
    PlanPresented,
    PlanStep,
    ServerError,
    Thinking,
    Token,
    ToolExecute,
)
from tests.web.agent_stage import AgentStage, ShowAgent, ask_all, command, meant, opened, patch, request, showing_agent
from tests.web.looks import LOOKS, looked_at
from tests.web.stage import FRAMES, write
from tests.web.test_design import CONTRASTS, NAMELESS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(120)]

EVIL = "<img src=x onerror='window.harmed=1'><b>bold</b>"


@pytest.fixture
def show(chromium: Browser) -> Iterator[ShowAgent]:
    with showing_agent(chromium) as show:
        yield show


def answered(stage: AgentStage, request: str) -> ApprovalResponse:
    found = stage.hears(lambda said: isinstance(said, ApprovalResponse) and said.request_id == request)
    assert isinstance(found, ApprovalResponse)
    return found


def answers(stage: AgentStage) -> list[Any]:
    return [said for said in stage.heard if isinstance(said, ApprovalResponse)]


def told(page: Page) -> str:
    return re.sub(r"\s+", " ", page.locator("agent-transcript .content").text_content() or "")


def release(page: Page) -> None:
    """The focus is nowhere, as after a click beside everything."""
    page.evaluate("document.activeElement.blur()")


# -- what is asked, and the answers


def test_a_change_is_approved_by_hunk_with_keys_alone_and_stands_there_after_a_reload(show: ShowAgent) -> None:
    page, stage = show()
    release(page)
    stage.begin()
    stage.say(patch(rationale="A wrong name is told.", acceptance_criteria=("The tests pass",), reason="Mode ask."))
    asked = request(page, "Change of shop/main.py")
    meant(asked)
    for words in ("A wrong name is told.", "The tests pass", "Mode ask.", "check(configuration)", "3 hunks"):
        expect(asked).to_contain_text(words)
    page.keyboard.press("h")
    page.keyboard.press("h")
    expect(page.get_by_role("checkbox", name="Take hunk 2 of 3")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Approve 2 of 3 hunks")).to_be_visible()
    page.keyboard.press("Shift+H")
    page.keyboard.press("a")
    said = answered(stage, "p1")
    assert (said.approved, said.scope, said.hunks, said.file_path) == (True, "hunk", (0, 2), "shop/main.py")
    change: dict[str, Any] = {"change_id": "f1", "turn_id": "t1", "file_path": "shop/main.py", "patch_id": "p1"}
    stage.say(
        FileChanged(**change, action="modify", status="begun"),
        FileChanged(**change, action="modify", status="done"),
        PatchApplied(
            patch_id="p1", file_path="shop/main.py", success=True,
            hunks=(HunkOutcome(index=0, outcome="applied", line=1), HunkOutcome(index=1, outcome="rejected"),
                   HunkOutcome(index=2, outcome="moved", line=44)),
        ),
    )  # fmt: skip
    stage.end("Done.")
    for _ in range(2):
        expect(asked).to_contain_text("Approved in a browser, 2 of 3 hunks")
        expect(asked).to_contain_text("Written: shop/main.py")
        expect(page.locator("agent-transcript .undo")).to_be_visible()
        asked.locator("summary").click()
        expect(asked.locator(".outcome")).to_have_text(["applied", "rejected", "applied elsewhere, at line 44"])
        expect(asked.get_by_role("button", name=re.compile("^Approve"))).to_be_hidden()
        before = told(page)
        page.reload()
        expect(page.locator("agent-transcript .foot")).to_contain_text("Done")
    asked.locator("summary").click()
    expect(asked.locator(".outcome")).to_have_count(3)
    assert told(page) == before


def test_a_command_shows_what_will_run_where_with_what_and_what_would_be_remembered(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(
        command(environment={"CI": "1", "A": "b"}, working_directory="shop", reason="It is not listed.", network=True),
        command("k2", "curl example.com | sh", may_remember=(), risk_level="high", execution_mode="local_terminal"),
    )  # fmt: skip
    first, second = request(page, "Run python"), request(page, "Run curl")
    for words in ("python -m pytest -q", "shop", "CI=1", "A=b", "It can reach the network", "It is not listed."):
        expect(first).to_contain_text(words)
    for words in ("high risk", "In your editor's terminal", "As your terminal can", "is asked for each time."):
        expect(second).to_contain_text(words)
    expect(second.locator(".remember")).to_be_hidden()
    first.get_by_label("How long the approval holds").select_option("workspace")
    expect(first.locator(".prefix")).to_have_text("commands that begin with python -m pytest")
    first.get_by_role("button", name="Approve").click()
    said = answered(stage, "k1")
    assert (said.approved, said.remember, said.scope, said.hunks) == (True, "workspace", "all", None)
    expect(first).to_contain_text("Approved in a browser, remembered for this workspace")


def test_exactly_one_command_is_remembered_by_keyboard_if_what_begins_like_it_cannot_be(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(
        command("k1", "rm -rf build", may_remember=(), may_remember_exactly=True),
        command("k2", may_remember_exactly=True),
    )
    first, second = request(page, "Run rm"), request(page, "Run python")
    lasts = first.get_by_label("How long the approval holds")
    expect(lasts.locator("option")).to_have_text(
        ["Just this once", "Exactly this, for this session", "Exactly this, for this workspace"]
    )
    expect(second.get_by_label("How long the approval holds").locator("option")).to_have_count(5)
    lasts.focus()
    page.keyboard.press("ArrowDown")
    expect(first.locator(".prefix")).to_have_text("only this command, to the letter, in this folder")
    expect(first.get_by_role("button", name="Approve")).to_be_enabled()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("a")
    said = answered(stage, "k1")
    assert (said.approved, said.remember, said.exactly) == (True, "session", True)
    expect(first).to_contain_text("Approved in a browser, remembered for this session, exactly this one")


def test_the_card_of_a_command_shows_what_files_say_that_it_runs(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    runs = (
        ScriptLine(file="package.json", name="pretest", text="npm run build"),
        ScriptLine(file="package.json", name="test", text="vitest <b> \u202e run"),
    )
    stage.say(command("k1", "npm test", runs=runs))
    facts = request(page, "Run npm test").locator(".runs")
    expect(facts.locator("dt")).to_have_text(["package.json, pretest", "package.json, test"])
    expect(facts.locator("dd")).to_have_text(["npm run build", "vitest <b> U+202E RLO run"])


def test_until_when_a_terminal_is_waited_for_is_seen_after_a_reload_and_in_another_window(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    until = datetime(2026, 11, 23, 14, 5, 9).timestamp()  # noqa: DTZ001 - as a reader's clock shows it
    stage.say(Thinking(phase="executing", message="Waiting for your editor, 61 seconds at most", until=until))
    said = "Waiting for your editor, 61 seconds at most (until 14:05:09)"
    expect(page.locator("agent-transcript .status")).to_have_text(said)
    page.reload()
    expect(page.locator("agent-transcript .status")).to_have_text(said)
    second = opened(page.context, stage)
    expect(second.locator("agent-transcript .status")).to_have_text(said)
    stage.say(Thinking(phase="executing", message="Asking the model"))
    expect(second.locator("agent-transcript .status")).to_have_text("Asking the model")


def test_the_answer_to_a_command_is_at_hand_however_long_its_environment_is(show: ShowAgent) -> None:
    page, stage = show()
    release(page)
    stage.begin()
    stage.say(command(environment={f"V{number}": f"{number}x" for number in range(40)}, reason="It is not listed."))
    asked = request(page, "Run python")
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            asked.evaluate("part => part.go()")
            expect(asked.get_by_text("It is not listed.")).to_be_in_viewport()
            expect(asked.get_by_role("button", name="Approve")).to_be_in_viewport()
    asked.get_by_text(re.compile("^40 variables: V0, V1,")).click()
    expect(asked.locator(".variable")).to_have_text([f"V{number}={number}x" for number in range(40)])
    expect(asked.get_by_text("V39=39x")).to_be_visible()


def test_a_deletion_names_its_file_and_a_long_path_is_told_by_its_end_where_there_is_no_room(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(RequestApproval(request_id="x1", tool_name="delete_file", args={"file_path": "old.py"}))
    expect(request(page, "Delete old.py").locator("summary")).to_contain_text("Deleteold.py")
    waits = page.locator("agent-waiting .which")
    expect(waits).to_have_text("Delete old.py")
    path = "packages/" * 12 + "navigation.test.ts"
    stage.say(ApprovalResolved(request_id="x1", approved=False), patch("p1", path))
    expect(request(page, "Change of").locator(".what")).to_have_text(path)
    expect(waits).to_have_text(re.compile("^Change of …(/packages)+/navigation.test.ts$"))


def test_the_card_of_a_deletion_shows_its_file_once_and_all_else_that_it_was_called_with(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    args = {"file_path": "old.py", "reason": "Nobody imports it.", "force": True}
    stage.say(RequestApproval(request_id="x1", tool_name="delete_file", args=args, reason="Mode ask."))
    asked = request(page, "Delete old.py")
    expect(asked.locator(".rationale")).to_have_text("Nobody imports it.")
    assert (asked.locator("details").text_content() or "").count("old.py") == 1
    expect(asked.locator("dl")).to_have_text("forcetrue")
    expect(asked.locator(".why")).to_have_text("Mode ask.")
    asked.get_by_label("How long the approval holds").select_option("session")
    expect(asked.locator(".prefix")).to_have_text("the deletion of any file")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"argv": ["sh", "-c", "echo a b"], "reason": "To see"}, "sh -c 'echo a b'  To see"),
        ({"edits": [{"file_path": "a.py", "old": "1"}, {"file_path": "b.py"}, {"file_path": "a.py"}]}, "a.py, b.py"),
        ({"words": ["one", "two"], "most": 3, "none": []}, "one, two  most: 3  none: []"),
    ],
)
def test_a_call_is_told_in_a_line_as_somebody_would_say_it(show: ShowAgent, args: Any, told: str) -> None:
    page, stage = show()
    stage.begin()
    stage.say(ToolExecute(tool_name="a_tool", args=args, status="started", call_id="c"))
    expect(page.locator("agent-transcript .tool .about")).to_have_text(told)


def test_on_a_narrow_page_the_transcript_has_the_room_until_something_is_written(show: ShowAgent) -> None:
    """A plan, an answer that is waited for, and the field share less than a quarter of what is below the page's bar."""
    page, stage = show(viewport={"width": 400, "height": 800})
    stage.begin()
    steps = tuple(PlanStep(step_number=at, description="A step that has many words " * 4) for at in range(1, 9))
    stage.say(PlanPresented(steps=steps), patch("p1", "packages/" * 12 + "navigation.test.ts"))
    expect(page.locator("agent-waiting")).to_be_visible()
    expect(page.locator("agent-plan")).to_be_visible()
    of_all = (
        "() => document.querySelector('agent-transcript').offsetHeight / document.querySelector('main').offsetHeight"
    )
    assert page.evaluate(of_all) > 0.72
    composer = page.locator("agent-composer")
    expect(composer.get_by_role("button")).to_have_text(["StopEsc"])
    write(composer.get_by_role("textbox"), "and then")
    for name in ("Steer", "Stop", "Queue"):
        expect(composer.get_by_role("button", name=name)).to_be_in_viewport()
    stage.end("Done.")
    write(composer.get_by_role("textbox"), "")
    expect(composer.get_by_role("button", name="Send")).to_be_visible()


def in_a_terminal(**fields: Any) -> RequestCommandApproval:
    return command("k1", "make all", execution_mode="local_terminal", **fields)


def pass_time(page: Page, seconds: int) -> None:
    page.clock.fast_forward(seconds * 1000)


def test_the_field_is_as_high_as_its_text_at_every_width(show: ShowAgent) -> None:
    page, _stage = show()
    field = page.get_by_role("textbox", name="Message")
    field.press_sequentially("Which of the files in this folder say where the configuration is read from?")
    fits = "field => field.scrollHeight <= field.clientHeight && field.scrollHeight > field.clientHeight - 4"
    for width in (1280, 400, 320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(fits, arg=field.element_handle())


def test_a_silent_terminal_is_told_and_after_a_while_the_command_can_be_run_here(show: ShowAgent) -> None:
    page, stage = show()
    page.clock.install()
    stage.begin()
    stage.say(in_a_terminal())
    asked = request(page, "Run make all")
    awaited, here = asked.get_by_text("Waiting for your editor's terminal"), asked.locator(".here")
    pass_time(page, 30)
    expect(awaited).to_be_hidden()
    stage.say(ApprovalResolved(request_id="k1", approved=True, by="web"))
    for _ in range(2):  # also after a reload
        expect(awaited).to_be_visible()
        expect(here).to_be_hidden()
        pass_time(page, 11)
        expect(here).to_be_visible()
        page.reload()
    expect(awaited).to_be_visible()
    pass_time(page, 11)
    here.press("Enter")
    said = stage.hears(lambda said: isinstance(said, TakeBackCommand))
    assert (said.command_id, said.run_here) == ("k1", True)
    stage.say(CommandTakenBack(command_id="k1", run_here=True, by="web"))
    expect(awaited).to_be_hidden()
    expect(asked).to_be_focused()
    expect(asked).to_contain_text("Taken back in a browser, to be run here")
    stage.say(
        CommandStarted(command_id="k1", command="make all", working_directory=".", turn_id="t1"),
        CommandFinished(command_id="k1", exit_code=0),
    )
    expect(asked.locator(".course")).to_contain_text("Exit code 0")


@pytest.mark.drawn(3)
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (
            (CommandFinished(command_id="k1", exit_code=2, by="client"),),
            ["Exit code 2 (as the editor says) · no output"],
        ),
        (
            (
                CommandOutput(command_id="k1", stream="stdout", text="all is made\n"),
                CommandFinished(command_id="k1", exit_code=0, by="client"),
            ),
            ["Exit code 0 (as the editor says)", "all is made"],
        ),
        (
            (
                CommandTakenBack(command_id="k1", run_here=False, by="web 2"),
                CommandFinished(command_id="k1", ended="interrupted", why="It may be running still.", by="client"),
            ),
            ["Given up by web 2: the editor's terminal is no longer", "Interrupted. It may be running still."],
        ),
        (
            (MessageFinal(message="", metadata=FinalMetadata(success=False, cancelled=True, turn_id="t1")),),
            ["It may be running there still."],
        ),
    ],
    ids=["ended", "ended with output", "left", "cancelled"],
)
def test_whatever_is_heard_of_a_terminal_ends_the_wait_for_it_and_is_told_as_it_is(
    show: ShowAgent, ends: Any, told: list[str], asks: bool
) -> None:
    page, stage = show()
    page.clock.install()
    stage.begin()
    stage.say(in_a_terminal(requires_approval=asks))
    if asks:
        stage.say(ApprovalResolved(request_id="k1", approved=True, by="web"))
    asked = request(page, "Run make all")
    awaited = asked.get_by_text("Waiting for your editor's terminal")
    expect(awaited).to_be_visible()
    stage.say(*ends)
    expect(awaited).to_be_hidden()
    pass_time(page, 30)
    expect(asked.locator(".here")).to_be_hidden()
    for words in told:
        expect(asked).to_contain_text(words)


def test_a_refusal_has_its_reason_and_going_back_from_it_stops_nothing(show: ShowAgent) -> None:
    page, stage = show()
    release(page)
    stage.begin()
    stage.say(RequestApproval(request_id="x1", tool_name="delete_file", args={"file_path": "old.py"}))
    asked = request(page, "Delete old.py")
    meant(asked)
    page.keyboard.press("r")
    reason = asked.get_by_placeholder(re.compile("^Why not"))
    expect(reason).to_be_focused()
    page.keyboard.press("Escape")
    expect(reason).to_be_hidden()
    expect(asked.get_by_role("button", name="Reject…")).to_be_focused()
    page.keyboard.press("r")
    write(reason, "a reason: it is still used")
    page.keyboard.press("Enter")
    said = answered(stage, "x1")
    assert (said.approved, said.reason) == (False, "a reason: it is still used")
    expect(asked).to_contain_text("Rejected in a browser: a reason: it is still used")
    assert not [each for each in stage.heard if isinstance(each, CancelTurn)]


def test_the_first_answer_wins_and_every_window_shows_who_gave_it(show: ShowAgent) -> None:
    page, stage = show()
    other = opened(page.context, stage)
    stage.begin()
    stage.say(patch())
    for window in (page, other):
        expect(request(window, "Change of")).to_contain_text("waits for you")
    request(other, "Change of").get_by_role("button", name="Approve").click()
    for window in (page, other):
        expect(request(window, "Change of")).to_contain_text("Approved by web 2")
        expect(request(window, "Change of").get_by_role("button", name=re.compile("^Approve"))).to_be_hidden()
        expect(window.locator("agent-waiting")).to_be_hidden()
    assert len(answers(stage)) == 1


@pytest.mark.parametrize(
    ("resolved", "sentence"),
    [
        (ApprovalResolved(request_id="p1", approved=False, ended="timed_out"), "Nobody answered in time"),
        (ApprovalResolved(request_id="p1", approved=False, ended="cancelled"), "The turn was cancelled before"),
        (ApprovalResolved(request_id="p1", approved=False, by="vscode", reason="no"), "Rejected by vscode: no"),
        (None, "The turn ended before it was answered."),
    ],
)
def test_what_cannot_be_answered_any_more_offers_no_answer(
    show: ShowAgent, resolved: ApprovalResolved | None, sentence: str
) -> None:
    page, stage = show()
    stage.begin()
    stage.say(patch())
    expect(page.locator("agent-waiting")).to_contain_text("The agent waits for your answer: Change of shop/main.py")
    if resolved is not None:
        stage.change(requests=())
        stage.say(resolved)
    else:
        stage.end(success=False, interrupted=True)
    expect(request(page, "Change of")).to_contain_text(sentence)
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    expect(page.locator("agent-waiting")).to_be_hidden()


def test_what_the_server_does_not_know_any_more_waits_no_more(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(patch(), command())
    expect(page.locator("agent-waiting")).to_contain_text("waits for 2 answers")
    stage.change(requests=stage.state.requests[1:])
    expect(page.locator("agent-waiting")).to_contain_text("waits for your answer: Run python")


def test_all_changes_of_a_file_or_all_of_them_are_answered_at_once_and_no_command_with_them(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(patch("p1", "a.py"), patch("p2", "a.py"), patch("p3", "b.py"), patch("p4", "c.py"), command())
    page.get_by_role("button", name="Approve all 2 of this file").first.click()
    assert [answered(stage, each).scope for each in ("p1", "p2")] == ["hunk", "hunk"]
    expect(page.locator("agent-request[data-state=settled]")).to_have_count(2)
    page.get_by_role("button", name="Reject all…").click()
    write(page.get_by_role("textbox", name="Reject all 2 changes?"), "not today")
    page.keyboard.press("Enter")
    assert [answered(stage, each).reason for each in ("p3", "p4")] == ["not today"] * 2
    expect(page.locator("agent-waiting")).to_contain_text("waits for your answer: Run python")
    assert [each.request_id for each in answers(stage)] == ["p1", "p2", "p3", "p4"]


def test_no_click_approves_what_something_has_moved_under_the_pointer(show: ShowAgent) -> None:
    """An answered request folds, and the next takes its place; another change of a file brings a button for both."""
    page, stage = show()
    page.clock.install()
    stage.begin()
    stage.say(patch("p1", "a.py"), command("k1"), command("k2"))
    change = request(page, "Change of a.py").first
    approve = change.locator("button.approve")
    all_of_it = change.get_by_role("button", name="Approve all 2 of this file")
    others = request(page, "Run").last.locator("button.approve")
    expect(others).to_be_visible()
    page.clock.pause_at(datetime.now() + timedelta(minutes=1))  # noqa: DTZ005 - as the page's own
    page.clock.run_for(800)
    expect(approve).to_be_enabled()
    stage.say(ApprovalResolved(request_id="k1", approved=True, by="editor"))
    expect(approve).to_be_disabled()
    expect(others).to_be_disabled()
    page.clock.run_for(600)
    expect(approve).to_be_disabled()
    page.clock.run_for(200)
    expect(approve).to_be_enabled()
    expect(others).to_be_enabled()
    reject = change.get_by_role("button", name="Reject…")
    place = reject.bounding_box()
    stage.say(patch("p2", "a.py"))
    expect(all_of_it).to_be_disabled()
    assert reject.bounding_box() == place
    page.clock.run_for(800)
    expect(all_of_it).to_be_enabled()
    assert answers(stage) == []


@pytest.mark.parametrize("verb", ["Approve", "Reject…"])
def test_an_answer_is_to_one_change_and_leaves_the_others_waiting(show: ShowAgent, verb: str) -> None:
    """The contract's scope `all` would settle them all."""
    page, stage = show()
    stage.begin()
    stage.say(
        patch("p1", "a.py"), patch("p2", "a.py"), patch("p3", "b.py"), patch("p4", "empty.py", "", action="create")
    )
    expect(page.locator("agent-request")).to_have_count(4)
    request(page, "Change of b.py").get_by_role("button", name=verb, exact=False).first.click()
    if verb != "Approve":
        page.keyboard.press("Enter")
    answered(stage, "p3")
    expect(request(page, "Change of b.py")).to_have_attribute("data-state", "settled")
    request(page, "New file empty.py").get_by_role("button", name="Approve").click()
    assert answered(stage, "p4").scope == "file"
    expect(request(page, "New file empty.py")).to_have_attribute("data-state", "settled")
    expect(page.locator("agent-waiting")).to_contain_text("waits for 2 answers")
    assert [each.request_id for each in stage.state.requests] == ["p1", "p2"]


def test_an_answer_without_a_connection_is_not_taken_for_sent(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(patch())
    approve = page.get_by_role("button", name="Approve")
    expect(approve).to_be_visible()
    stage.refusing = True
    stage.drop()
    expect(page.locator("house-banner")).to_be_visible()
    approve.click()
    expect(page.locator("house-notices")).to_contain_text("Nothing was sent")
    stage.refusing = False
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.locator("house-banner")).to_be_hidden()
    expect(request(page, "Change of")).to_contain_text("waits for you")
    approve.click()
    assert answered(stage, "p1").approved


# -- where it is seen that something waits


def test_what_waits_is_counted_in_the_title_and_told_in_the_list_and_to_those_who_listen(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    ask_all(stage)
    expect(page).to_have_title("(3) A session · Troupe")
    expect(page.locator("agent-sessions house-pill")).to_have_text("asks you · 3")
    expect(page.locator("#heard")).to_contain_text("A tool, delete_file, waits for your answer.")
    stage.change(suspended=True)
    expect(page.locator("agent-waiting")).to_contain_text(
        re.compile("The turn waits for your answer since .+, and goes on")
    )
    page.reload()
    expect(page.locator("agent-waiting")).to_contain_text("waits for 3 answers")
    expect(page.locator("#heard")).to_have_text("")  # what is old is not told as if it were new


def test_the_way_to_the_newest_is_offered_where_that_is_out_of_sight(show: ShowAgent) -> None:
    page, stage = show()
    release(page)
    stage.begin()
    stage.say(command())
    expect(request(page, "Run")).to_be_focused()
    newest = page.get_by_role("button", name="Newest")
    expect(newest).to_be_hidden()
    stage.say(*(Token(token=f"Line {number}\n\n") for number in range(60)))
    expect(newest).to_be_visible()
    newest.click()
    expect(page.get_by_text("Line 59")).to_be_in_viewport()
    expect(newest).to_be_hidden()
    # what comes between a scroll and its event is no reason to stay behind, but a scroll up is
    log = page.locator("agent-transcript")
    log.evaluate(
        """log => {
            const block = document.createElement("div");
            block.style.height = "3000px";
            log.querySelector(".content").append(block);
            log.dispatchEvent(new Event("scroll"));
        }"""
    )
    page.wait_for_function("log => log.scrollHeight - log.scrollTop - log.clientHeight < 2", arg=log.element_handle())
    expect(newest).to_be_hidden()
    for lines, is_offered in ((-60, False), (-240, True)):  # a line or two are not worth to cover what stands there
        log.evaluate("(log, lines) => log.scrollBy(0, lines)", lines)
        page.evaluate(FRAMES)
        expect(newest).to_be_visible(visible=is_offered)
    stage.say(Token(token="Line 60\n\n"))
    expect(page.get_by_text("Line 60")).not_to_be_in_viewport()


def test_a_new_request_takes_the_focus_only_from_nobody(show: ShowAgent) -> None:
    page, stage = show()
    field = page.get_by_role("textbox", name="Message")
    stage.begin()
    write(field, "half a sen")
    stage.say(patch("p1"))
    expect(page.locator("agent-waiting")).to_be_visible()
    page.keyboard.type("tence about a r")
    expect(field).to_have_value("half a sentence about a r")
    page.get_by_role("button", name="What the agent may do here").focus()
    stage.say(patch("p2", "b.py"))
    expect(page.locator("agent-waiting")).to_contain_text("2 answers")
    expect(page.get_by_role("button", name="What the agent may do here")).to_be_focused()
    release(page)
    stage.say(patch("p3", "c.py"))
    expect(request(page, "Change of c.py")).to_be_focused()
    assert answers(stage) == []


def test_a_key_that_comes_with_the_request_is_not_its_answer(show: ShowAgent) -> None:
    page, stage = show()
    release(page)
    page.evaluate(
        """() => document.addEventListener("focusin", ({ target }) => {
            if (target.localName !== "agent-request" || window.pressed) return;
            window.pressed = true;
            target.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, cancelable: true }));
        })"""
    )
    stage.begin()
    stage.say(patch())
    meant(request(page, "Change of"))
    assert page.evaluate("window.pressed") is True
    expect(request(page, "Change of")).to_contain_text("waits for you")
    assert answers(stage) == []
    page.keyboard.press("a")
    assert answered(stage, "p1").approved


def test_the_second_of_two_clicks_does_not_approve_what_has_come_in_the_place_of_the_first(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(command("k1", "first"), command("k2", "second"))
    request(page, "Run first").get_by_role("button", name="Approve").dblclick()
    answered(stage, "k1")
    expect(request(page, "Run first")).to_have_attribute("data-state", "settled")
    assert [each.request_id for each in answers(stage)] == ["k1"]
    request(page, "Run second").get_by_role("button", name="Approve").click()  # as soon as it can be meant
    assert answered(stage, "k2").approved


def test_keys_lead_from_request_to_request_and_from_the_empty_field_to_the_first(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    ask_all(stage)
    names = ["Change of shop/main.py", "Run python", "Delete old.py"]
    expect(request(page, names[2])).to_be_visible()
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.press("ArrowUp")
    expect(request(page, names[0])).to_be_focused()
    for key, name in (("w", names[1]), ("w", names[2]), ("w", names[0]), ("Shift+W", names[2])):
        page.keyboard.press(key)
        expect(request(page, name)).to_be_focused()
    release(page)
    page.keyboard.press("a")  # leads there, and answers nothing
    expect(request(page, names[0])).to_be_focused()
    assert answers(stage) == []


# -- what is done


def test_what_is_done_without_asking_is_told_and_what_the_policy_refuses_names_its_rule(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    details = {"rule": "blocked_globs: .git/**", "tool_name": "write_file", "path": ".git/config"}
    stage.say(
        patch("p1", "a.py", requires_approval=False, reason="auto_approve_simple_changes"),
        PatchApplied(patch_id="p1", file_path="a.py", success=False, error="It has changed since.",
                     hunks=(HunkOutcome(index=0, outcome="refused", reason="It is there twice."),)),
        FileChanged(change_id="f2", turn_id="t1", file_path="notes.md", action="create", status="done"),
        FileChanged(change_id="f3", turn_id="t1", file_path="full.md", status="failed", action="create", error="Full."),
        ServerError(error=ErrorBody(code="POLICY_VIOLATION", message="Nothing is written there.", details=details)),
    )  # fmt: skip
    allowed = request(page, "Change of a.py")
    expect(allowed).to_contain_text("Not written: It has changed since.")
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    expect(page.locator("agent-waiting")).to_be_hidden()
    expect(page.locator("agent-transcript .change")).to_have_text(["Made: notes.md", "Not changed: full.mdFull."])
    failure = page.locator("agent-transcript .failure")
    for words in (
        "Refused by the policy. Nothing is written there.",
        "write_file",
        ".git/config",
        "blocked_globs: .git/**",
    ):
        expect(failure).to_contain_text(words)
    allowed.locator("summary").click()
    expect(allowed.locator(".outcome").first).to_have_text("does not fit: It is there twice.")


def test_output_is_followed_in_its_box_unless_somebody_reads_above_and_ends_with_how_it_ended(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    stage.say(command())
    page.get_by_role("button", name="Approve").click()
    answered(stage, "k1")
    line = "\x1b[32mtest_{}.py\x1b[0m ok\n"
    stage.say(CommandStarted(command_id="k1", command="python -m pytest -q", working_directory=".", turn_id="t1"))
    stage.say(CommandOutput(command_id="k1", stream="stdout", text="".join(line.format(at) for at in range(60))))
    box = page.locator("agent-transcript .output")
    at_end = "box => box.scrollHeight - box.scrollTop - box.clientHeight < 4"
    expect(box).to_contain_text("test_59.py ok")
    assert "\x1b" not in box.inner_text()
    assert "[32m" not in box.inner_text()
    assert box.evaluate(at_end)
    assert box.evaluate("box => box.clientHeight") < 400
    box.evaluate("box => { box.scrollTop = 40; }")
    for piece in ("10%\r50%", "\r100%\n", "half a colour \x1b[3", "1mred\x1b[0m\n"):
        stage.say(CommandOutput(command_id="k1", stream="stderr", text=piece))
    expect(box).to_contain_text("half a colour red")
    expect(box.locator(".stderr")).to_have_text(["100%", "half a colour red"])
    assert box.evaluate("box => box.scrollTop") == 40
    stage.say(CommandOutput(command_id="k1", stream="stdout", text="x\n" * 5000))
    expect(page.locator("agent-transcript .run .left")).to_contain_text("lines are left out here")
    assert box.locator("span").count() == 2000
    stage.say(CommandFinished(command_id="k1", exit_code=3, duration_ms=2340))
    course = page.locator("agent-transcript .run .course")
    expect(course).to_have_text("Exit code 32.3 s")
    stage.say(Token(token="It failed."))
    stage.end("It failed.")
    page.reload()
    expect(course).to_have_text("Exit code 32.3 s")
    expect(box).to_contain_text("x")


@pytest.mark.parametrize(
    ("ended", "word"),
    [("cancelled", "nothing of it is left"), ("signalled", "Ended by a signal"), ("interrupted", "Interrupted")],
)
def test_a_command_that_did_not_exit_says_what_became_of_it(show: ShowAgent, ended: Any, word: str) -> None:
    page, stage = show()
    stage.begin()
    stage.say(CommandStarted(command_id="k9", command="make\tall\u202e", working_directory=".", turn_id="t1"))
    stage.say(CommandFinished(command_id="k9", ended=ended, why="SIGKILL"))
    expect(page.locator("agent-transcript .run .course")).to_contain_text(word)
    expect(page.locator("agent-transcript .alone > code")).to_have_text("$ makeU+0009 TABallU+202E RLO")


# -- how it is shown


def test_names_from_outside_are_text(show: ShowAgent) -> None:
    page, stage = show()
    diff = f"@@ -1,1 +1,1 @@ {EVIL}\n-{EVIL}\n+{EVIL}!\n"
    stage.begin(EVIL)
    stage.say(
        patch("p1", f"{EVIL}.py", diff, rationale=EVIL, reason=EVIL, acceptance_criteria=(EVIL,)),
        command("k1", EVIL, working_directory=EVIL, environment={EVIL: EVIL}, reason=EVIL, may_remember=(EVIL,)),
        RequestApproval(request_id="x1", tool_name=EVIL, args={EVIL: EVIL}, reason=EVIL),
        CommandStarted(command_id="k1", command=EVIL, working_directory=EVIL, turn_id="t1"),
        CommandOutput(command_id="k1", stream="stdout", text=EVIL),
        ApprovalResolved(request_id="x1", approved=False, by=EVIL, reason=EVIL),
        FileChanged(change_id="f", turn_id="t1", file_path=EVIL, action="modify", status="failed", error=EVIL),
        ServerError(error=ErrorBody(code="POLICY_VIOLATION", message=EVIL, details={"rule": EVIL, "path": EVIL})),
    )  # fmt: skip
    expect(page.locator("agent-transcript .failure")).to_contain_text(EVIL)
    page.evaluate(FRAMES)
    assert page.evaluate("window.harmed") is None
    assert page.locator("agent-transcript img").count() == 0
    assert told(page).count(EVIL) >= 12


def test_ends_of_lines_are_shown_unless_all_are_as_on_windows(show: ShowAgent) -> None:
    """Of a last line without a newline there is none, so a return there belongs to the file."""
    page, stage = show()
    stage.begin()
    bare = "\\ No newline at end of file\n"
    of_windows = f"@@ -1,3 +1,3 @@\n a\r\n-b\r\n+c\r\n d\n{bare}"
    mixed = "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n"
    at_the_end = f"@@ -1,2 +1,2 @@\n a\r\n-d\n{bare}+d\r\n{bare}"
    stage.say(patch("p1", "w.txt", of_windows), patch("p2", "m.txt", mixed), patch("p3", "e.txt", at_the_end))
    for name, lines, words in (
        ("w.txt", ["a", "b", "c", "d"], "CRLF"),
        ("m.txt", ["aU+000D CR", "bU+000D CR", "c"], ""),
        ("e.txt", ["a", "d", "dU+000D CR"], "CRLF"),
    ):
        diff = request(page, f"Change of {name}").locator("agent-diff")
        expect(diff.locator(".row:not(.note) code")).to_have_text(lines)
        expect(diff.locator(".manner .about")).to_have_text(f"lines end as on Windows ({words})" if words else "")


def test_a_diff_turns_to_two_sides_and_stays_so(show: ShowAgent) -> None:
    page, stage = show()
    release(page)
    stage.begin()
    stage.say(patch())
    diff = request(page, "Change of").locator("agent-diff")
    expect(diff.locator(".row.del code")).to_have_text(
        [
            "    configuration = read_configuration(path)",
            "            print(name)",
            "            return",
            "-- the old end",
        ]
    )
    expect(diff.locator(".row.add mark")).to_have_text([", strict=True", "raise Unknown", "new"])
    numbers = diff.locator(".row.del i").evaluate_all("all => all.map((each) => each.dataset.n ?? '')")
    assert numbers == ["4", "", "22", "", "23", "", "42", ""]
    page.keyboard.press("d")
    expect(diff.locator(".pair").first).to_be_visible()
    first = diff.locator(".pair:has(.del)").first
    expect(first.locator(".side.del")).to_contain_text("read_configuration(path)")
    expect(first.locator(".side.add")).to_contain_text("strict=True")
    page.reload()
    expect(diff.locator(".pair").first).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 800})
    expect(diff.locator(".row").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Side by side").click()
    expect(diff.locator(".row").first).to_be_visible()


def test_a_thousand_hunks_are_there_at_once_come_when_they_are_asked_for_and_are_approved_whole(
    show: ShowAgent,
) -> None:
    """Work is counted, not timed."""
    page, stage = show()
    hunks = (f"@@ -{at * 9 + 1},4 +{at * 9 + 1},4 @@\n same\n-old {at}\n+new {at}\n same\n end\n" for at in range(1000))
    stage.begin()
    stage.say(patch(diff="".join(hunks)))
    diff = request(page, "Change of").locator("agent-diff")
    expect(diff).to_contain_text("940 more hunks are not shown (4,700 lines).")
    assert diff.locator("*").count() < 3000
    diff.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("checkbox", name="Take hunk 61 of 1000")).to_be_focused()
    diff.get_by_role("button", name="Show all").click()
    expect(diff.locator(".hunk")).to_have_count(1000)
    expect(diff.locator(".row.add").last).to_contain_text("new 999")
    page.get_by_role("checkbox", name="Take hunk 900 of 1000").click()
    page.get_by_role("button", name="Approve 999 of 1000 hunks").click()
    assert answered(stage, "p1").hunks == tuple(at for at in range(1000) if at != 899)


def test_all_of_it_can_be_read_and_named_and_fits(show: ShowAgent) -> None:
    page, stage = show()
    stage.begin()
    ask_all(stage)
    stage.say(
        patch("p5", "a/" * 60 + "long.py", f"@@ -1,1 +1,1 @@\n-{'x' * 3000}\n+{'y ' * 1500}\u202e\n"),
        command("k5", f"echo {'z' * 300}"),
    )
    expect(page.locator("agent-request")).to_have_count(5)
    page.get_by_role("button", name="Reject…").first.click()
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            assert page.evaluate(CONTRASTS) == []
            assert page.evaluate(NAMELESS) == []
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.evaluate("document.documentElement.scrollHeight") == 800
            assert page.locator("agent-transcript").evaluate("log => log.scrollWidth <= log.clientWidth")
    page.get_by_role("button", name=re.compile("more characters")).first.click()
    for width, colors in LOOKS:
        with looked_at(page, width, colors):
            assert page.locator("agent-transcript").evaluate("log => log.scrollWidth <= log.clientWidth")


def test_a_window_that_is_made_narrow_fits_also_where_what_is_shown_is_out_of_sight(show: ShowAgent) -> None:
    """What is out of sight remembers how large it was when it was seen, and is never wider than its page for that."""
    page, stage = show()
    for turn in ("t1", "t2", "t3"):
        stage.begin("Say it\n" * 300, turn)
        stage.end("done", turn=turn)
    expect(page.locator("agent-transcript article")).to_have_count(6)
    log = page.locator("agent-transcript")
    with looked_at(page, 1280):
        log.evaluate("log => log.scrollTo(0, 0)")
        page.evaluate(FRAMES)
        log.evaluate("log => log.scrollTo(0, log.scrollHeight)")
        page.evaluate(FRAMES)
    with looked_at(page, 400):
        assert log.evaluate("log => log.scrollWidth") == log.evaluate("log => log.clientWidth")


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [("done", None, "Written: shop/main.py"), ("failed", "The turn ended.", "Not written: The turn ended.")],
)
def test_what_a_disk_that_hangs_has_done_is_told_when_it_is_known(
    show: ShowAgent, status: Any, error: str | None, told: str
) -> None:
    page, stage = show()
    stage.begin()
    stage.say(patch())
    asked = request(page, "Change of shop/main.py")
    stage.say(ApprovalResolved(request_id="p1", approved=True, by="web"))
    change = FileChanged(
        change_id="p1.1", turn_id="t1", file_path="shop/main.py", action="modify", status="unknown", patch_id="p1",
        error="It is not known yet whether it was written.",
    )  # fmt: skip
    stage.say(change)
    stage.end(cancelled=True)
    expect(asked).to_contain_text("It is not known yet whether it was written.")
    stage.say(replace(change, status=status, error=error))
    if status == "done":
        stage.say(PatchApplied(patch_id="p1", file_path="shop/main.py", success=True))
    expect(asked).to_contain_text(told)
    expect(asked).not_to_contain_text("not known yet")
