"""The embedded model with hands, in whole turns: ruff's fixes, and the workspace's tests."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.agent.given import CommandOutcome
from actors.kernel.testing import run_in_virtual_time
from codec.agent.approvals import Pending
from codec.agent.builtin_hands import asks_only_to_run, ruff_diff, wants_tests
from codec.agent.context import ActiveEditor, Diagnostic, EditorContext, TextPosition, TextSelection
from codec.agent.events import ServerError, ToolExecute
from codec.agent.findings import read_run_text, run_text
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionMode
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import MemoryHands, PaperCommands, approves, exited, means, refuses
from tests.agent.turn_kit import Heard, MemoryTree, Script, unpaired, whole

APP = "import os\nimport sys\n\nprint(sys.argv)\n"
FIXED = "import sys\n\nprint(sys.argv)\n"
RUFF = """\
--- src/app.py
+++ src/app.py
@@ -1,2 +1 @@
-import os
 import sys

Would fix 1 error.
"""
SHOWN = EditorContext(
    active_editor=ActiveEditor(file_path="src/app.py", selection=TextSelection(TextPosition(0, 0), TextPosition(0, 0))),
    diagnostics=(Diagnostic(file_path="src/app.py", message="`os` imported but unused", line=0),),
)
ASKING = "ruff check --fix --diff -- src/app.py"


class Desk:
    def __init__(self, files: dict[str, str]) -> None:
        self.tree = MemoryTree(files)
        self.commands = PaperCommands()
        self.hands = MemoryHands(self.tree)
        self.heard = Heard(answers=lambda request: [approves(request)])

    def ask(
        self,
        message: str,
        answers: Callable[[Pending], list[Pending]] | None = None,
        context: EditorContext | None = None,
        mode: SessionMode = "ask",
    ) -> str:
        if answers is not None:
            self.heard.answers = answers
        policy = Policy(execution_mode="server_runner", patch_application="server")
        given: dict[str, Any] = {"hands": self.hands, "acting": means(commands=self.commands), "policy": policy}
        model = ModelConfig(provider="builtin")

        async def play() -> None:
            given_too = {"heard": self.heard, "model": model, "context": context, "mode": mode}
            await whole(message, Script(), self.tree, **given, **given_too)

        run_in_virtual_time(play)
        assert self.heard.of(ServerError) == []
        assert unpaired(self.heard.events) == []
        assert self.heard.final.metadata.success
        return self.heard.final.message

    @property
    def ran(self) -> list[str]:
        return [" ".join(order.command) for order in self.commands.orders]


def test_what_ruff_would_fix_is_proposed_and_made_if_the_user_agrees() -> None:
    desk = Desk({"src/app.py": APP})
    desk.commands.outcomes[ASKING] = exited(1, RUFF, "Would fix 1 error.\n")
    said = desk.ask("/fix", context=SHOWN)
    assert desk.ran == [ASKING]
    assert desk.tree.files["src/app.py"] == FIXED
    assert "ruff has fixes for it: src/app.py was changed" in said
    assert "I can propose the fixes that ruff knows, but I cannot write others." in said


@pytest.mark.parametrize(
    "message", ["/fix @src/app.py", "/fix the imports of @src/app.py, please", "/fix what is wrong in @src/app.py."]
)
def test_a_file_that_the_message_names_is_fixed_without_an_editor(message: str) -> None:
    desk = Desk({"src/app.py": APP, "src/other.py": APP})
    desk.commands.outcomes[ASKING] = exited(1, RUFF, "Would fix 1 error.\n")
    desk.ask(message)
    assert desk.ran == [ASKING]
    assert desk.tree.files == {"src/app.py": FIXED, "src/other.py": APP}


def test_the_fixes_are_not_made_if_the_user_refuses_them() -> None:
    desk = Desk({"src/app.py": APP})
    desk.commands.outcomes[ASKING] = exited(1, RUFF)

    def answer(request: Pending) -> list[Pending]:
        return [refuses(request, "Later.") if request.tool_name == "propose_diff" else approves(request)]

    said = desk.ask("/fix", answer, context=SHOWN)
    assert desk.tree.files["src/app.py"] == APP
    assert "the user refused it and says: Later." in said


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (exited(0), "has nothing that it would fix by itself"),
        (exited(127, "", "ruff: not found\n"), "Is it installed?"),
        (exited(2, "", "invalid configuration\n"), "invalid configuration"),
        (CommandOutcome("not_started", None, "There is no program ruff.", 0, "", ""), "There is no program ruff."),
    ],
)
def test_without_a_diff_of_ruff_nothing_is_proposed_and_it_is_said_why(outcome: CommandOutcome, told: str) -> None:
    desk = Desk({"src/app.py": APP})
    desk.commands.outcomes[ASKING] = outcome
    assert told in desk.ask("/fix", context=SHOWN)
    assert desk.hands.strokes == []


def test_no_ruff_is_asked_about_other_languages() -> None:
    desk = Desk({"src/app.go": "package main\n"})
    context = EditorContext(diagnostics=(Diagnostic(file_path="src/app.go", message="missing return", line=0),))
    desk.ask("/fix", context=context)
    assert desk.ran == []


PYTHON = {"pyproject.toml": "[tool.pytest.ini_options]\n", "app.py": "x = 1\n", "tests/test_app.py": "import app\n"}


@pytest.mark.parametrize("message", ["Run the tests", "please run all tests!", "can you run my test suite?", "/test"])
def test_the_tests_are_run_and_their_outcome_is_told_plainly(message: str) -> None:
    desk = Desk(PYTHON)
    desk.commands.outcomes["pytest"] = exited(1, "F\n1 failed\n")
    said = desk.ask(message)
    assert desk.ran == ["pytest"]
    assert "I ran `pytest`. The tests did not pass: it ended with exit code 1 after 1.5 seconds." in said
    assert "1 failed" in said


def test_tests_that_pass_are_told_as_that() -> None:
    assert "The tests passed: it ended with exit code 0" in Desk(PYTHON).ask("run the tests")


def test_tests_that_the_user_does_not_want_do_not_run() -> None:
    desk = Desk(PYTHON)
    said = desk.ask("run the tests", lambda request: [refuses(request, "Not now.")])
    assert desk.ran == []
    assert said.startswith("The tests did not run. It was not run: the user refused it and says: Not now.")


def test_a_workspace_without_tests_is_told_as_that() -> None:
    desk = Desk({"README.md": "# Hello\n"})
    assert "I found no command that runs the tests of this workspace" in desk.ask("run the tests")
    assert desk.ran == []


def test_in_plan_mode_it_has_no_hands() -> None:
    desk = Desk(PYTHON)
    desk.hands.forbidden = True
    desk.ask("/test", mode="plan")
    assert desk.ran == []
    assert all(each.tool_name != "execute_command" for each in desk.heard.of(ToolExecute))


WORDS = [
    ("Run the tests", True),
    ("execute tests please", True),
    ("Which function runs the tests?", False),
    ("What does login do?", False),
    ("Where are the tests?", False),
    ("run the server", False),
    ("x" * 200 + " run the tests", False),
]


@pytest.mark.parametrize(("words", "runs"), WORDS, ids=[words[:30] for words, _ in WORDS])
def test_only_a_message_about_running_them_runs_the_tests(words: str, runs: bool) -> None:
    assert asks_only_to_run(None, words) is runs
    assert wants_tests("/test", words)


def test_a_command_that_was_told_is_read_back() -> None:
    ended = "It ended with exit code 2 after 1.0 seconds."
    text = run_text("make all  (in src)", ended, [("stdout", "a\n"), ("stderr", "")])
    run = read_run_text(text)
    assert run is not None
    assert (run.command, run.exit_code, run.outputs) == ("make all  (in src)", 2, (("stdout", "a"),))
    assert read_run_text("execute_command failed: no") is None
    silent = read_run_text(run_text("true", "It ended with exit code 0 after 0.0 seconds.", []))
    assert silent is not None
    assert silent.outputs == ()


def test_a_diff_that_was_cut_is_none() -> None:
    ended = "It ended with exit code 1 after 0.1 seconds."
    assert ruff_diff(run_text("ruff", ended, [("stdout", RUFF)])) is not None
    cut = f"{RUFF}\n[100 characters are left out here]\n{RUFF}"
    assert ruff_diff(run_text("ruff", ended, [("stdout", cut)])) is None
    assert ruff_diff(run_text("ruff", ended, [("stdout", "All checks passed!\n")])) is None
