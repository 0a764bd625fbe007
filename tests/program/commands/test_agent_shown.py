"""`troupe ask`, against an agent that says what it is told to: what is asked of it, and for each event of a turn what
stands on standard output and on standard error."""

import io
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.kernel import PeerGone
from codec.agent.action_events import (
    CommandFinished,
    CommandOutput,
    CommandStarted,
    CommandTakenBack,
    PatchApplied,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
)
from codec.agent.client_messages import ApprovalResponse, CancelTurn, ClientHello, ClientMessage, UserSays
from codec.agent.events import (
    ErrorBody,
    FinalMetadata,
    MessageFinal,
    PlanPresented,
    PlanStep,
    RetrieveStatus,
    ServerError,
    Thinking,
    Token,
    ToolExecute,
    UserMessage,
)
from codec.agent.sessions import SessionFact, SessionWish
from codec.agent.workspaces import WorkspaceFact, WorkspaceWish
from program.agent_arguments import AskAgent
from program.commands import agent
from program.commands.agent import LONGEST_QUESTION, STOP_SECONDS, AgentMeans
from program.ready import SERVER_FILE, Announcement
from program.status import Status
from program.trouble import Trouble
from program.typed import Typist
from program.visiting import Finish

DONE = MessageFinal(message="Done.", metadata=FinalMetadata(success=True))
SESSION = SessionFact(id="s1", workspace_id="w1", created_at="", updated_at="")
read = msgspec.json.Decoder(ClientMessage)


class Refused(Exception):
    pass


class Agent:
    """An agent of one session. `turn`: what it says of the turn; bytes as they are, an Exception is raised. `stopped`:
    what it says when the turn is stopped; without it, it goes when it has said everything."""

    def __init__(
        self, turn: Sequence[object], before: Sequence[object] = (), stopped: Sequence[object] | None = None
    ) -> None:
        self.asked: list[tuple[str, str, object]] = []
        self.heard: list[Any] = []
        self._turn = turn
        self._stopped = stopped
        self._waiting: list[object] = list(before)
        self._more = trio.Event()

    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        await trio.lowlevel.checkpoint()
        self.asked.append((method, path, body))
        if path == "workspaces/register":
            return msgspec.json.encode(WorkspaceFact(id="w1", path="/w", name="w", created_at=""))
        return msgspec.json.encode(SESSION)

    @asynccontextmanager
    async def stream(self, session: str) -> AsyncIterator["Agent"]:
        assert session == SESSION.id
        yield self

    async def send(self, message: bytes) -> None:
        await trio.lowlevel.checkpoint()
        said = read.decode(message)
        self.heard.append(said)
        match said:
            case UserSays(message_id=str() as id):
                self._waiting += [UserMessage(message="", message_id=id, turn_id="t1"), *self._turn]
            case CancelTurn():
                self._waiting += self._stopped or ()
        self._more.set()
        self._more = trio.Event()

    async def receive(self) -> bytes:
        while not self._waiting:
            if self._stopped is None:
                raise PeerGone("it has said everything")
            await self._more.wait()
        match self._waiting.pop(0):
            case Exception() as error:
                raise error
            case bytes() as data:
                return data
            case event:
                return msgspec.json.encode(event)


async def asked(
    there: Agent,
    folder: Path,
    *,
    stop: Finish | None = None,
    question: str = "Why?",
    at_terminal: bool = False,
    **changed: Any,
) -> tuple[int, str, str]:
    """The exit code, and what was written to the two outputs. `at_terminal`: somebody is there who could be asked, and
    is not."""
    announced = Announcement(os.getpid(), {"agent": "http://there"})
    (folder / SERVER_FILE).write_bytes(msgspec.json.encode(announced))
    command = AskAgent(question, Path("/w"), None, None, (), folder, json=False)
    means = AgentMeans(lambda url, state_dir: there, None, Refused)  # type: ignore[arg-type]
    out, err = io.StringIO(), io.StringIO()
    command = replace(command, **changed)
    typist = cast("Typist", object()) if at_terminal else None
    code = await agent._ask(command, question, means, out, Status(err), typist, False, stop or Finish())
    return code, out.getvalue(), err.getvalue()


# -- what is asked of it


async def test_a_question_is_asked_in_a_session_of_its_own(tmp_path: Path) -> None:
    there = Agent([DONE])
    question = f"/fix {'x' * 100}\nand more"
    assert await asked(there, tmp_path, question=question) == (0, "Done.\n", "")
    title = question[:80]
    assert there.asked == [
        ("POST", "workspaces/register", WorkspaceWish(path="/w")),
        ("POST", "sessions", SessionWish(workspace_id="w1", title=title)),
    ]
    hello, said = there.heard
    assert isinstance(hello, ClientHello)
    assert (hello.client_info.name, hello.client_info.capabilities) == ("troupe ask", ("token_delta",))
    assert (said.message, said.context.command) == (question, "/fix")


@pytest.mark.parametrize(("question", "command"), [("/fixed it", None), ("why /fix", None), ("/test", "/test")])
async def test_a_command_stands_first_and_by_itself(tmp_path: Path, question: str, command: str | None) -> None:
    there = Agent([DONE])
    await asked(there, tmp_path, question=question)
    assert there.heard[-1].context.command == command


async def test_a_session_that_is_named_is_gone_on_with(tmp_path: Path) -> None:
    there = Agent([DONE])
    await asked(there, tmp_path, session="a/b c")
    assert there.asked == [("GET", "sessions/a%2Fb%20c", None)]


# -- what is shown

PATCH = PatchProposed(patch_id="p", request_id="r", file_path="a.py", diff="")
RUN = RequestCommandApproval(command_id="k", request_id="r", command="ls", working_directory=".")
DECLINED = "troupe: The agent asks for an approval, which is declined here; approve on its page, or in an editor\n"
PLAN = PlanPresented(steps=(PlanStep(step_number=1, description="Look"), PlanStep(step_number=2, description="Leap")))
UNTIL = 1_700_000_000.0
CLOCK = time.strftime("%H:%M:%S", time.localtime(UNTIL))


def tool(status: str, args: object = None, result: object = None, name: str = "read_file") -> ToolExecute:
    return ToolExecute(tool_name=name, args=args or {}, status=status, call_id="c", result=result)  # type: ignore[arg-type]


def failed(message: str, **details: str) -> ServerError:
    return ServerError(seq=7, error=ErrorBody(code="INTERNAL", message=message, details=details))


def ended(**facts: Any) -> CommandFinished:
    return CommandFinished(command_id="k", **facts)


ASKS: list[object] = [PATCH, RUN, RequestApproval(request_id="r", tool_name="delete_file", args={})]
SHOWN: list[tuple[list[object], str]] = [
    ([Thinking(phase="planning", message="Hm")], ""),  # is for a terminal only
    ([RetrieveStatus(stage="reranking", results_count=1, message="Hm")], ""),
    ([Thinking(phase="planning", message="Waits", until=UNTIL)], f"troupe: Waits (until {CLOCK})\n"),
    ([tool("started", {"file_path": "a.py", "lines": 3})], "troupe: read_file a.py 3\n"),
    ([tool("started", {"argv": ["a b", "c"]})], "troupe: read_file 'a b' c\n"),
    ([tool("started", {"names": ["a b", "c", "a b"]})], "troupe: read_file a b c\n"),
    ([tool("started", {"x": "y" * 400})], f"troupe: {('read_file ' + 'y' * 400)[:300]}\n"),
    ([tool("started", "no object")], "troupe: read_file\n"),
    ([tool("started", name="update_plan")], ""),
    ([tool("failed", result="it is gone", name="update_plan")], ""),
    ([tool("completed")], ""),
    ([tool("failed", result={"text": "read_file failed: gone"})], "troupe: read_file failed: gone\n"),
    ([tool("failed", result={"text": "x" * 400})], f"troupe: read_file failed: {'x' * 300}\n"),
    ([tool("failed", result="gone")], "troupe: read_file failed: gone\n"),
    ([tool("failed", result={})], "troupe: read_file failed: \n"),
    ([PLAN, PLAN], "troupe: 1. Look\ntroupe: 2. Leap\n"),
    ([PLAN, replace(PLAN, steps=PLAN.steps[1:])], "troupe: 1. Look\ntroupe: 2. Leap\ntroupe: 2. Leap\n"),
    ([failed("It is so")], "troupe: It is so\n"),
    ([failed("It is so", rule="mine")], "troupe: It is so (rule: mine)\n"),
    ([replace(PATCH, requires_approval=False)], "troupe: changes a.py\n"),
    ([PatchApplied(patch_id="p", file_path="a.py", success=True)], "troupe: a.py is written\n"),
    (
        [PatchApplied(patch_id="p", file_path="a.py", success=False)],
        "troupe: a.py is not written: it does not fit\n",
    ),
    (
        [PatchApplied(patch_id="p", file_path="a.py", success=False, error="it is gone")],
        "troupe: a.py is not written: it is gone\n",
    ),
    (
        [CommandTakenBack(command_id="k", run_here=True, by="vim")],
        "troupe: Taken back by vim, to be run here\n",
    ),
    (
        [CommandTakenBack(command_id="k", run_here=False)],
        "troupe: Given up: your editor's terminal is no longer waited for\n",
    ),
    ([CommandStarted(command_id="k", command="ls", working_directory=".")], "troupe: $ ls\n"),
    (
        [CommandOutput(command_id="k", stream="stdout", text=text) for text in ("a", "b\nc")] + [ended(exit_code=3)],
        "    ab\n    c\ntroupe: the command has ended with 3\n",
    ),
    ([ended(ended="stopped", why="It took too long")], "troupe: It took too long\n"),
    ([ended(ended="cancelled")], "troupe: the command: cancelled\n"),
    *(([each], DECLINED) for each in ASKS),
    ([replace(RUN, requires_approval=False)], ""),
    ([b'{"type":"of.a.newer.server","seq":3}', b'{"type":"assistant.token","token":7}'], ""),
    ([replace(DONE, metadata=FinalMetadata(success=True, turn_id="another"))], ""),
]


@pytest.mark.parametrize(("events", "said"), SHOWN)
async def test_what_the_agent_does_stands_on_standard_error_and_the_answer_on_standard_output(
    events: list[object], said: str, tmp_path: Path
) -> None:
    there = Agent([*events, Token(token="It is "), Token(token="so."), DONE])
    assert await asked(there, tmp_path) == (0, "It is so.\n", said)
    answers = [each for each in there.heard if isinstance(each, ApprovalResponse)]
    reason = "the question came from a terminal, where nobody can approve"
    assert answers == ([ApprovalResponse(request_id="r", approved=False, reason=reason)] if said == DECLINED else [])


@pytest.mark.parametrize(
    "event",
    [
        Thinking(phase="planning", message="Hm"),
        Thinking(phase="planning", message="Waits", until=UNTIL),
        RetrieveStatus(stage="reranking", results_count=1, message="Hm"),
        tool("started"),
        PLAN,
        failed("It is so"),
        replace(PATCH, requires_approval=False),
        PATCH,
        RUN,
        PatchApplied(patch_id="p", file_path="a.py", success=True),
        CommandTakenBack(command_id="k", run_here=True),
        CommandStarted(command_id="k", command="ls", working_directory="."),
    ],
)
async def test_what_is_told_between_two_parts_of_an_answer_ends_the_line_of_the_first(
    event: object, tmp_path: Path
) -> None:
    assert (await asked(Agent([Token(token="One"), event, event, Token(token="two"), DONE]), tmp_path))[
        1
    ] == "One\ntwo\n"
    ends_itself = Agent([Token(token="One\n"), event, Token(token="two\n"), DONE])
    assert (await asked(ends_itself, tmp_path))[1] == "One\ntwo\n"
    assert (await asked(Agent([event, DONE]), tmp_path))[1] == "Done.\n"


async def test_as_json_every_event_of_the_turn_is_a_line_and_nothing_else_is(tmp_path: Path) -> None:
    numbered = [replace(each, seq=number) for number, each in enumerate([Token(token="So"), PATCH, DONE], 5)]
    there = Agent([Token(token="is not kept"), *numbered])
    code, out, err = await asked(there, tmp_path, json=True)
    assert (code, err) == (0, DECLINED)
    assert [msgspec.json.decode(line)["seq"] for line in out.splitlines()] == [5, 6, 7]


# -- how it ends


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (FinalMetadata(success=False), "failed"),
        (FinalMetadata(success=False, turn_id="t1", cancelled=True), "was stopped"),
        (FinalMetadata(success=False, turn_id="t1", interrupted=True), "was interrupted"),
    ],
)
@pytest.mark.parametrize("at_terminal", [False, True])
async def test_a_turn_that_has_no_success_is_exit_code_1(
    ending: FinalMetadata, said: str, at_terminal: bool, tmp_path: Path
) -> None:
    final = MessageFinal(message="", metadata=ending)
    assert await asked(Agent([final]), tmp_path, at_terminal=at_terminal) == (1, "", f"troupe: The turn {said}\n")
    assert await asked(Agent([DONE]), tmp_path, at_terminal=at_terminal) == (0, "Done.\n", "")


async def test_what_belongs_to_another_turn_is_not_told(tmp_path: Path) -> None:
    there = Agent([DONE], before=[Token(token="other"), failed("other"), DONE])
    assert await asked(there, tmp_path) == (0, "Done.\n", "")


@pytest.mark.parametrize("at_terminal", [False, True])
async def test_what_is_refused_or_gone_is_a_sentence(at_terminal: bool, tmp_path: Path) -> None:
    no = ServerError(error=ErrorBody(code="INTERNAL", message="too many"))
    for there, sentence in (
        (Agent([], before=[no]), "The agent refuses: too many"),
        (Agent([Refused("it may not")]), "The agent refuses: it may not"),
        (
            Agent([Token(token="One"), PeerGone("gone")]),
            "The server has gone before the turn was over. What was said by then is kept: when the server runs again, "
            "`troupe sessions --link` opens its page, and `troupe ask --session s1 QUESTION` goes on with it.",
        ),
    ):
        with pytest.raises(Trouble) as trouble:
            await asked(there, tmp_path, at_terminal=at_terminal)
        assert (str(trouble.value), trouble.value.code) == (sentence, 1)


@pytest.mark.parametrize("answers", [True, False])
async def test_a_turn_is_stopped_with_the_command_and_waited_for_so_long(
    answers: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    stop = Finish()
    final = MessageFinal(message="", metadata=FinalMetadata(success=False, cancelled=True, turn_id="t1"))
    there = Agent([Token(token="One")], stopped=[final] if answers else [])
    began = trio.current_time()
    async with trio.open_nursery() as nursery:

        async def interrupt() -> None:
            await trio.sleep(1.0)
            stop.ask()

        nursery.start_soon(interrupt)
        assert await asked(there, tmp_path, stop=stop) == (130, "One\n", "troupe: The turn was stopped\n")
    assert there.heard[-1] == CancelTurn(reason="user_cancelled")
    assert trio.current_time() - began == pytest.approx(1.0 if answers else 1.0 + STOP_SECONDS)


# -- a question from standard input


@pytest.mark.parametrize(
    ("typed", "question"),
    [
        (" Why?\n", "Why?"),
        ("x" * LONGEST_QUESTION, "x" * LONGEST_QUESTION),
        ("x" * (LONGEST_QUESTION + 1), None),
        (" \n", None),
    ],
    ids=["one", "the longest", "too long", "none"],
)
def test_a_question_from_standard_input(typed: str, question: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    command = AskAgent("-", Path("/w"), None, None, (), Path("/s"), json=False)
    assert agent._question(replace(command, question="What?")) == "What?"
    if question is None:
        with pytest.raises(Trouble, match=r"^Standard input holds no question of 1 to 1,000,000 characters$"):
            agent._question(command)
    else:
        assert agent._question(command) == question
