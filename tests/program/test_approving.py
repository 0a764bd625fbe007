"""What the agent asks at a terminal: what is shown, and which line is which answer."""

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from codec.agent.action_events import (
    ApprovalResolved,
    Asked,
    CommandFinished,
    CommandOutput,
    CommandStarted,
    CommandTakenBack,
    DiffHunk,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
    ScriptLine,
)
from codec.agent.client_messages import ApprovalResponse, TakeBackCommand
from codec.agent.events import ServerMessage
from program.approving import SILENCE, Questions, choices_of, shown
from program.passed_on import LONGEST, PassedOn
from program.status import Status

DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n@@ -9,1 +9,1 @@\n--- the end\n+-- an end\n"
HUNKS = (
    DiffHunk(old_start=1, old_lines=2, new_start=1, new_lines=2, content=" same\n-old\n+new\n"),
    DiffHunk(old_start=9, old_lines=1, new_start=9, new_lines=1, content="--- the end\n+-- an end\n"),
)
PATCH = PatchProposed(
    patch_id="p", request_id="p", file_path="src/x", diff=DIFF, hunks=HUNKS, rationale="Why not", reason="Mode ask"
)
EMPTY = PatchProposed(patch_id="e", request_id="e", file_path="src/x", diff="", action="create")
RUN = RequestCommandApproval(
    command_id="k", request_id="k", command="npm test\x1b[2K\u202e", working_directory="web", environment={"CI": "1"},
    may_remember=("npm", "test"), risk_level="high",
)  # fmt: skip
IN_TERMINAL = replace(RUN, execution_mode="local_terminal")
HANDED_OVER: dict[str, list[ServerMessage]] = {
    "needs no approval": [replace(IN_TERMINAL, requires_approval=False)],
    "approved elsewhere": [IN_TERMINAL, ApprovalResolved(request_id="k", approved=True, by="web")],
}
HEARD: dict[str, ServerMessage] = {
    "started": CommandStarted(command_id="k", command="npm test", working_directory="."),
    "output": CommandOutput(command_id="k", stream="stdout", text="ok"),
    "finished": CommandFinished(command_id="k", exit_code=0, by="client"),
    "taken back": CommandTakenBack(command_id="k", run_here=True, by="web"),
}
OFFERED = "If it is not running there: [h] run it here, [g] go on without it: "
TOOL = RequestApproval(request_id="t", tool_name="delete_file", args={"file_path": "x"})


class Lines:
    """What somebody types, line by line; after the last one nothing comes."""

    def __init__(self, lines: Sequence[str | None]) -> None:
        self._lines = list(lines)
        self.forgotten = 0

    def forget(self) -> None:
        self.forgotten += 1

    async def line(self) -> str | None:
        if not self._lines:
            await trio.sleep_forever()
        return self._lines.pop(0)


async def answered(
    *lines: str | None, to: Sequence[ServerMessage], later: float = 0
) -> tuple[list[ApprovalResponse | TakeBackCommand], str]:
    said: list[ApprovalResponse | TakeBackCommand] = []
    out = io.StringIO()

    async def say(response: ApprovalResponse | TakeBackCommand) -> None:
        said.append(response)

    questions = Questions(Lines(lines), Status(out), say, colours=False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(questions.run)
        for each in to:
            questions.hear(each)
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(later)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return said, out.getvalue()


def response(request: str, approved: bool = True, **fields: Any) -> ApprovalResponse:
    return ApprovalResponse(request_id=request, approved=approved, **fields)


def yes(request: str, **fields: Any) -> ApprovalResponse:
    """To this change alone: the scope `all` would be to every change that waits."""
    return response(request, **({"scope": "hunk", "hunks": (0, 1), "file_path": "src/x"} | fields))


def no(request: str, **fields: Any) -> ApprovalResponse:
    return response(request, False, scope="hunk", **fields)


@pytest.mark.parametrize(
    ("asked", "lines", "answer"),
    [
        (PATCH, ["y"], yes("p")),
        (PATCH, ["YES "], yes("p")),
        (PATCH, ["", "yep", "n"], no("p")),
        (PATCH, ["a"], yes("p", remember="session")),
        (PATCH, ["r", "  It is used "], no("p", reason="It is used")),
        (PATCH, ["r", ""], no("p")),
        (PATCH, ["h", "n", "y"], yes("p", hunks=(1,))),
        (PATCH, ["h", "y", "?", "y"], yes("p")),
        (EMPTY, ["y"], yes("e", scope="file", hunks=None)),
        (PATCH, ["h", "n", "n"], no("p", reason="none of its hunks was taken")),
        (PATCH, [None], no("p", reason="the terminal was closed")),
        (RUN, ["y"], response("k")),
        (RUN, ["a"], response("k", remember="session")),
        (RUN, ["h", "n"], response("k", False)),
        (RUN, ["e", "n"], response("k", False)),
        (replace(RUN, may_remember_exactly=True), ["e"], response("k", remember="session", exactly=True)),
        (
            replace(RUN, may_remember=(), may_remember_exactly=True),
            ["a", "exactly"],
            response("k", remember="session", exactly=True),
        ),
        (TOOL, ["always"], response("t", remember="session")),
    ],
)
async def test_a_line_is_an_answer(asked: Asked, lines: list[str | None], answer: ApprovalResponse) -> None:
    said, _ = await answered(*lines, to=[asked])
    assert said == [answer]


@pytest.mark.parametrize(
    ("diff", "told"),
    [
        (" a\r\n-b\r\n+c\r\n", " a\n-b\n+c\n"),
        (" a\r\n-b\r\n+c\r\n d\n\\ No newline at end of file\n", " a\n-b\n+c\n d\n\\ No newline at end of file\n"),
        (" a\r\n-b\r\n+c\n", " a\\r\n-b\\r\n+c\n"),
        (
            " a\r\n-d\n\\ No newline at end of file\n+d\r\n\\ No newline at end of file\n",
            " a\n-d\n\\ No newline at end of file\n+d\\r\n\\ No newline at end of file\n",
        ),
    ],
)
def test_ends_of_lines_are_shown_unless_all_are_as_on_windows(diff: str, told: str) -> None:
    assert shown(replace(PATCH, diff=f"@@ -1,3 +1,3 @@\n{diff}"), colours=False).partition("@@\n")[2].startswith(told)


async def test_a_deletion_names_its_file_and_all_else_that_it_was_called_with() -> None:
    args = {"file_path": "old\u202e.py", "reason": "Nobody imports it.\nIt is dead.", "force": True}
    _, told = await answered(to=[replace(TOOL, args=args, risk_level="high", reason="Mode ask.")])
    shown_first = r"""The agent asks to delete old\u202e.py (high risk)
  Nobody imports it.
  It is dead.
    force: True
  Mode ask.
Delete it? [y] yes, """
    assert told.startswith(shown_first)
    _, told = await answered(to=[replace(TOOL, tool_name="other")])
    assert told.startswith("The agent asks to use other\n    file_path: x\nAllow it? [y] yes, ")


def test_what_a_command_runs_is_shown_beside_it() -> None:
    runs = (ScriptLine(file="package.json", name="test", text="vitest \u202e run"),)
    told = shown(replace(RUN, runs=runs), colours=False)
    assert "  it runs (package.json, test): vitest \\u202e run\n" in told


@pytest.mark.parametrize(
    ("asked", "covered"),
    [
        (PATCH, "for this file"),
        (RUN, "for what begins with npm test"),
        (TOOL, "for the deletion of any file"),
        (replace(TOOL, tool_name="vector_search"), "for this tool"),
    ],
)
def test_what_would_be_remembered_is_said_with_all_that_it_covers(asked: Asked, covered: str) -> None:
    (always,) = [each for each in choices_of(asked) if each.key == "a"]
    assert always.says == f"always {covered} in this session"


async def test_what_cannot_be_remembered_is_not_offered_and_not_taken() -> None:
    once = RequestCommandApproval(command_id="k", request_id="k", command="a | b", working_directory=".")
    assert [each.key for each in choices_of(once)] == ["y", "n", "r"]
    said, told = await answered("a", "n", to=[once])
    assert said == [response("k", False)]
    assert "always" not in told


async def test_several_are_asked_one_by_one_and_what_another_has_answered_is_not_asked() -> None:
    said: list[ApprovalResponse | TakeBackCommand] = []
    out = io.StringIO()

    async def say(response: ApprovalResponse | TakeBackCommand) -> None:
        said.append(response)

    lines = Lines([])
    questions = Questions(lines, Status(out), say, colours=False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(questions.run)
        for each in (PATCH, RUN, TOOL):
            questions.hear(each)
        await trio.testing.wait_all_tasks_blocked()
        assert questions.is_open
        assert "to delete x" not in out.getvalue()
        questions.hear(ApprovalResolved(request_id="k", approved=True, by="web"))  # is not asked yet
        questions.hear(ApprovalResolved(request_id="p", approved=False, by="web", reason="no"))  # is being asked
        await trio.testing.wait_all_tasks_blocked()
        assert "Rejected in a browser: no" in out.getvalue()
        assert "run a command" not in out.getvalue()
        assert out.getvalue().endswith("[r] no, and say why: ")
        assert lines.forgotten == 2
        questions.hear(ApprovalResolved(request_id="t", approved=False, ended="cancelled"))
        await trio.testing.wait_all_tasks_blocked()
        assert not questions.is_open
        nursery.cancel_scope.cancel()
    assert said == []


@pytest.mark.parametrize("handed_over", HANDED_OVER.values(), ids=HANDED_OVER)
@pytest.mark.parametrize(("line", "here"), [("h", True), ("here", True), ("g", False), ("Go on", False)])
async def test_a_command_is_taken_back_from_an_editors_terminal_that_tells_nothing_and_not_before(
    autojump_clock: trio.testing.MockClock, handed_over: list[ServerMessage], line: str, here: bool
) -> None:
    said, told = await answered("", line, to=handed_over, later=SILENCE)
    assert said == [TakeBackCommand(command_id="k", run_here=here)]
    assert r"    npm test\x1b[2K\u202e" in told
    assert told.count(OFFERED) == 2
    said, told = await answered(line, to=handed_over, later=SILENCE - 0.1)
    assert (said, OFFERED in told) == ([], False)


@pytest.mark.parametrize("handed_over", HANDED_OVER.values(), ids=HANDED_OVER)
@pytest.mark.parametrize("heard", HEARD.values(), ids=HEARD)
async def test_it_is_not_asked_any_more_when_something_is_heard_of_the_command(
    autojump_clock: trio.testing.MockClock, handed_over: list[ServerMessage], heard: ServerMessage
) -> None:
    said, told = await answered("h", to=[*handed_over, heard], later=2 * SILENCE)
    assert (said, OFFERED in told) == ([], False)
    out = io.StringIO()
    questions = Questions(Lines([]), Status(out), _nowhere, colours=False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(questions.run)
        for each in handed_over:
            questions.hear(each)
        await trio.sleep(SILENCE)
        await trio.testing.wait_all_tasks_blocked()
        assert questions.is_open
        questions.hear(heard)
        await trio.sleep(2 * SILENCE)
        assert not questions.is_open
        assert out.getvalue().endswith(f"{OFFERED}\n")
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "events",
    [
        [replace(RUN, requires_approval=False)],
        [RUN, ApprovalResolved(request_id="k", approved=True)],
        [IN_TERMINAL, ApprovalResolved(request_id="k", approved=False)],
    ],
    ids=["run here", "approved, run here", "rejected"],
)
async def test_nothing_is_taken_back_that_no_editor_has(
    autojump_clock: trio.testing.MockClock, events: list[ServerMessage]
) -> None:
    said, told = await answered("h", to=events, later=2 * SILENCE)
    assert (said, OFFERED in told) == ([], False)


async def test_where_nobody_types_any_more_an_editors_terminal_is_waited_for(
    autojump_clock: trio.testing.MockClock,
) -> None:
    said, told = await answered(None, to=HANDED_OVER["needs no approval"], later=3 * SILENCE)
    assert (said, told.count(OFFERED)) == ([], 1)


async def _nowhere(response: ApprovalResponse | TakeBackCommand) -> None:
    raise AssertionError(response)


def test_all_that_will_happen_is_shown() -> None:
    text = shown(PATCH, colours=False)
    for words in ("change src/x", "Why not", "Mode ask", *DIFF.splitlines()):
        assert words in text
    text = shown(RUN, colours=False)
    for words in (r"    npm test\x1b[2K\u202e", "high risk", "in web", "CI=1", "cannot reach the network"):
        assert words in text
    assert "to delete x" in shown(TOOL, colours=False)
    coloured = shown(PATCH, colours=True)
    assert "\x1b[32m+new\x1b[0m" in coloured
    assert "\x1b[31m--- the end\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == shown(PATCH, colours=False)


def test_a_line_break_of_a_command_is_not_shown_as_a_backslash_in_it() -> None:
    broken = shown(structs.replace(RUN, command="echo ok # \nrm x"), colours=False)
    assert "\n    echo ok # \n    rm x\n" in broken
    assert broken != shown(structs.replace(RUN, command=r"echo ok # \nrm x"), colours=False)


@given(st.text(), st.text(), st.text())
def test_nothing_that_is_shown_moves_the_cursor(one: str, other: str, third: str) -> None:
    for asked in (
        PatchProposed(patch_id="p", file_path=one, diff=f"@@ -1,1 +1,1 @@ {other}\n-{one}\n+{other}\n", rationale=third,
                      acceptance_criteria=(one,), reason=other),
        RequestCommandApproval(command_id="k", command=one, working_directory=other, environment={one: third},
                               may_remember=(other,), reason=third),
        RequestApproval(request_id="t", tool_name=one, args={other: third}, reason=other),
    ):  # fmt: skip
        text = shown(asked, colours=False) + "".join(each.says for each in choices_of(asked))
        assert text.replace("\n", "").isprintable()


def test_output_is_passed_on_by_the_line_as_it_is_at_its_end() -> None:
    out = io.StringIO()
    passed = PassedOn(Status(out))
    for piece in ("\x1b[32mgr", "een\x1b[0m\r\n10%\r", "100%\n", "\x1b[", "31mred\x07\n", "no end"):
        passed.write(piece)
    passed.end()
    assert out.getvalue() == "    green\n    100%\n    red\\x07\n    no end\n"


@pytest.mark.parametrize(("length", "lines"), [(LONGEST, 1), (LONGEST + 1, 2)])
def test_a_line_without_end_is_broken_when_it_is_too_long(length: int, lines: int) -> None:
    out = io.StringIO()
    passed = PassedOn(Status(out))
    passed.write("x" * length)
    passed.write("end\n")
    assert out.getvalue().replace("\n    ", "").strip() == "x" * length + "end"
    assert out.getvalue().count("\n") == lines
