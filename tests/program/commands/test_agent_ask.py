"""`troupe ask` at a real terminal, with a scripted agent: the question, its answer, and what ends it."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from codec.agent.action_events import (
    ApprovalResolved,
    CommandFinished,
    CommandOutput,
    CommandStarted,
    CommandTakenBack,
    PatchApplied,
)
from codec.agent.client_messages import ApprovalResponse, CancelTurn, UserSays
from codec.agent.events import Thinking, Token, ToolExecute
from program.ready import SERVER_FILE, Announcement
from tests.house.running import DEADLINE, PROGRAM
from tests.web.agent_stage import AgentStage, command, patch

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


class Terminal:
    """`troupe ask` with a terminal of its own, and somebody who types at it."""

    def __init__(self, stage: AgentStage, folder: Path, *words: str) -> None:
        state = folder / "state"
        state.mkdir(mode=0o700)
        (state / "agent.token").write_text("good\n")
        known = Announcement(os.getpid(), {"agent": stage.url.rstrip("/")})
        (state / SERVER_FILE).write_bytes(msgspec.json.encode(known))
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(PROGRAM),
                "ask",
                "Do it",
                "--workspace",
                str(folder),
                "--state-dir",
                str(state),
                *words,
            ],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm", "NO_COLOR": ""},
        )
        os.close(theirs)
        self.said = ""

    def sees(self, text: str) -> None:
        deadline = time.monotonic() + DEADLINE
        while text not in self.said:
            ready, _, _ = select.select([self._ours], [], [], deadline - time.monotonic())
            assert ready, self.said
            try:
                self.said += os.read(self._ours, 4096).decode(errors="replace")
            except OSError:  # everybody has closed it
                break
        assert text in self.said, self.said

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        return self.process.wait(DEADLINE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)


@contextmanager
def asking(folder: Path, *events: object, words: tuple[str, ...] = ()) -> Iterator[tuple[AgentStage, Terminal]]:
    with AgentStage() as stage:
        stage.begins = lambda said: events  # type: ignore[assignment,return-value]
        terminal = Terminal(stage, folder, *words)
        try:
            yield stage, terminal
        finally:
            terminal.close()


def answer(stage: AgentStage, request: str) -> ApprovalResponse:
    found = stage.hears(lambda said: isinstance(said, ApprovalResponse) and said.request_id == request)
    assert isinstance(found, ApprovalResponse)
    return found


def test_a_change_and_a_command_are_asked_in_turn_and_what_becomes_of_them_is_told(tmp_path: Path) -> None:
    with asking(tmp_path, patch(), command(environment={"CI": "1"})) as (stage, terminal):
        terminal.sees("\x1b[32m+    check(configuration)\x1b[0m")
        terminal.sees("Change it? [y] yes")
        assert "run a command" not in terminal.said
        terminal.types("y\n")
        assert answer(stage, "p1").approved
        stage.say(PatchApplied(patch_id="p1", file_path="shop/main.py", success=True))
        terminal.sees("Run it? [y] yes")
        terminal.types("a\n")
        assert answer(stage, "k1").remember == "session"
        stage.say(
            CommandTakenBack(command_id="k1", run_here=True, by="web"),
            CommandStarted(command_id="k1", command="python -m pytest -q", working_directory="."),
            CommandOutput(command_id="k1", stream="stdout", text="4 passed\n"),
            CommandFinished(command_id="k1", exit_code=0),
            Token(token="Done."),
        )
        stage.end("Done.")
        terminal.sees("Done.")
        assert terminal.ended() == 0
        back = "Taken back in a browser, to be run here"
        for words in ("shop/main.py is written", back, "$ python -m pytest -q", "    4 passed", "has ended with 0"):
            assert words in terminal.said


def test_a_call_is_told_as_somebody_would_type_it_and_its_failure_once(tmp_path: Path) -> None:
    args = {"argv": ["pytest", "-k", "a b"], "acceptance_criteria": ["It passes"]}
    told = {"text": "execute_command failed: It was not run."}
    begun = ToolExecute(tool_name="execute_command", args=args, status="started", call_id="c")
    over = ToolExecute(tool_name="execute_command", args=args, status="failed", call_id="c", result=told)
    edits = [{"file_path": "a.py", "old": "1", "new": "2"}, {"file_path": "b.py"}, {"file_path": "a.py"}]
    change = ToolExecute(tool_name="propose_diff", args={"edits": edits}, status="started", call_id="d")
    with asking(tmp_path, begun, over, change) as (stage, terminal):
        terminal.sees("execute_command pytest -k 'a b' It passes\r\n")
        terminal.sees("propose_diff a.py b.py\r\n")
        terminal.sees("execute_command failed: It was not run.")
        assert "failed: execute_command failed" not in terminal.said
        stage.end("Done.")
        assert terminal.ended() == 0


def test_until_when_a_terminal_is_waited_for_stands_in_a_line_of_its_own(tmp_path: Path) -> None:
    until = datetime(2026, 11, 23, 14, 5, 9).timestamp()  # noqa: DTZ001 - as a reader's clock shows it
    waits = Thinking(phase="executing", message="Waiting for your editor, 61 seconds at most", until=until)
    with asking(tmp_path, waits) as (stage, terminal):
        terminal.sees("troupe: Waiting for your editor, 61 seconds at most (until 14:05:09)\r\n")
        stage.end("Done.")
        assert terminal.ended() == 0


def test_ctrl_c_at_the_question_cancels_the_turn(tmp_path: Path) -> None:
    with asking(tmp_path, command()) as (stage, terminal):
        terminal.sees("Run it?")
        terminal.types("\x03")
        stage.hears(lambda said: isinstance(said, CancelTurn))
        terminal.sees("The turn was stopped")
        assert terminal.ended() == 128 + signal.SIGINT
        assert not [said for said in stage.heard if isinstance(said, ApprovalResponse)]


def test_another_client_that_answers_first_ends_the_question(tmp_path: Path) -> None:
    with asking(tmp_path, command()) as (stage, terminal):
        terminal.sees("Run it?")
        stage.change(requests=())
        stage.say(ApprovalResolved(request_id="k1", approved=False, by="web", reason="not now"))
        terminal.sees("Rejected in a browser: not now")
        terminal.types("y\n")  # too late
        stage.end("Then not.")
        assert terminal.ended() == 0
        assert not [said for said in stage.heard if isinstance(said, ApprovalResponse)]


def test_what_was_typed_before_the_question_is_no_answer_to_it(tmp_path: Path) -> None:
    with asking(tmp_path) as (stage, terminal):
        stage.hears(lambda said: isinstance(said, UserSays))
        terminal.types("y\ny\n")
        terminal.sees("y\r\ny\r\n")  # the terminal has it
        stage.say(command())
        terminal.sees("Run it?")
        terminal.types("r\n")
        terminal.sees("Why not?")
        terminal.types("it is too late\n")
        said = answer(stage, "k1")
        assert (said.approved, said.reason) == (False, "it is too late")


def test_for_a_program_it_declines_aloud(tmp_path: Path) -> None:
    with asking(tmp_path, patch(), command(requires_approval=False), words=("--json",)) as (stage, terminal):
        terminal.sees("which is declined here")
        said = answer(stage, "p1")
        assert (said.approved, said.reason) == (False, "the question came from a terminal, where nobody can approve")
        stage.end("Then not.")
        assert terminal.ended() == 0
        assert len([said for said in stage.heard if isinstance(said, ApprovalResponse)]) == 1
