"""`troupe ask` and `troupe sessions`: the agent in the terminal.

With a running server they use its port, as a page does. Without one, `troupe ask` runs the agent's part of the tree for
the time of one turn (`AgentMeans.here`), at a port of its own, so that there is one way only in which a turn is asked.

    standard output    the answer, as it comes; with --json every event of the turn, one a line
    standard error     what the agent does meanwhile; errors

    exit code    when
    0            the turn succeeded
    1            it failed, was interrupted, or could not be asked
    130, 143     Ctrl-C, SIGTERM; the turn is stopped
"""

import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TextIO
from urllib.parse import quote

import msgspec
import trio

from actors.kernel import PeerGone
from codec.agent.client_messages import ApprovalResponse, CancelTurn, ClientHello, ClientInfo, UserSays
from codec.agent.context import EditorContext
from codec.agent.events import (
    MessageFinal,
    PatchProposed,
    PlanPresented,
    PlanStep,
    RequestApproval,
    RequestCommandApproval,
    RetrieveStatus,
    ServerError,
    ServerMessage,
    Thinking,
    Token,
    ToolExecute,
    UserMessage,
)
from codec.agent.sessions import SessionFact, SessionWish
from codec.agent.workspaces import WorkspaceFact, WorkspaceWish
from codec.printable import printable
from codec.words import counted
from program import ready, streams
from program.agent_arguments import AskAgent, ListSessions
from program.status import Status
from program.trouble import WENT_WRONG, Trouble
from program.version import version
from program.visiting import Finish, Visit, address, run

STOP_SECONDS = 5.0
"""How long a cancelled turn is waited for."""
LONGEST_QUESTION = 1_000_000
COMMANDS = ("/explain", "/fix", "/test", "/refactor")

_events = msgspec.json.Decoder(ServerMessage)


class Visitor(Protocol):
    """The agent's port. Both raise PeerGone if nobody is there; what is refused is any other exception, whose text can
    be shown."""

    async def ask(self, method: str, path: str, body: object = None) -> bytes: ...
    def stream(self, session: str) -> AbstractAsyncContextManager[Visit]: ...


class Meet(Protocol):
    def __call__(self, url: str, state_dir: Path) -> Visitor:
        """Raises OSError if its token cannot be read."""


class Here(Protocol):
    def __call__(self, command: AskAgent) -> AbstractAsyncContextManager[Visitor]: ...


@dataclass(frozen=True, slots=True)
class AgentMeans:
    meet: Meet
    here: Here
    refused: type[Exception]
    """What a Visitor raises for a refusal."""


# -- ask


def ask(command: AskAgent, means: AgentMeans, out: TextIO | None = None, err: TextIO | None = None) -> int:
    question = _question(command)
    return run(partial(_ask, command, question, means, out or sys.stdout, Status(err or sys.stderr)))


def _question(command: AskAgent) -> str:
    if command.question != "-":
        return command.question
    text = sys.stdin.read(LONGEST_QUESTION + 1).strip()
    if not text or len(text) > LONGEST_QUESTION:
        raise Trouble(f"Standard input holds no question of 1 to {LONGEST_QUESTION:,} characters")
    return text


async def _ask(command: AskAgent, question: str, means: AgentMeans, out: TextIO, status: Status, stop: Finish) -> int:
    try:
        with stop.waiting():  # until the turn is under way, which waits for itself
            async with AsyncExitStack() as stack:
                visitor = await _visitor(command, means, stack)
                session = await _session(command, question, visitor)
                stream = await stack.enter_async_context(visitor.stream(session))
                return await _Asking(command, question, stream, out, status, stop).turn()
        return stop.code
    except PeerGone as gone:
        raise Trouble(f"The agent cannot be asked: {gone}", code=WENT_WRONG) from None
    except means.refused as refused:
        raise Trouble(f"The agent refuses: {refused}", code=WENT_WRONG) from None


async def _visitor(command: AskAgent, means: AgentMeans, stack: AsyncExitStack) -> Visitor:
    announced = ready.read(command.state_dir / ready.SERVER_FILE)
    if announced is None or ready.is_gone(announced):
        return await stack.enter_async_context(means.here(command))
    return _met(means, command.state_dir)


def _met(means: AgentMeans, state_dir: Path) -> Visitor:
    url = address(None, state_dir, "agent")
    try:
        return means.meet(url, state_dir)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it holds no token"
        raise Trouble(f"The agent's token in {state_dir} cannot be read: {reason}", code=WENT_WRONG) from None


async def _session(command: AskAgent, question: str, visitor: Visitor) -> str:
    if command.session is not None:
        answer = await visitor.ask("GET", f"sessions/{quote(command.session, safe='')}")
        return msgspec.json.decode(answer, type=SessionFact).id
    workspace = await _registered(visitor, command.workspace)
    wish = SessionWish(workspace_id=workspace.id, title=question.splitlines()[0][:80])
    return msgspec.json.decode(await visitor.ask("POST", "sessions", wish), type=SessionFact).id


async def _registered(visitor: Visitor, folder: Path) -> WorkspaceFact:
    answer = await visitor.ask("POST", "workspaces/register", WorkspaceWish(path=str(folder)))
    return msgspec.json.decode(answer, type=WorkspaceFact)


class _Asking:
    """One turn, from the question to its MessageFinal."""

    def __init__(
        self, command: AskAgent, question: str, stream: Visit, out: TextIO, status: Status, stop: Finish
    ) -> None:
        self._json = command.json
        self._question = question
        self._stream = stream
        self._out = out
        self._status = status
        self._stop = stop
        self._turn: str | None = None
        """None: the question waits for another turn to end."""
        self._said = ""
        self._plan: tuple[PlanStep, ...] = ()
        """As it was told last."""

    async def turn(self) -> int:
        me = ClientInfo(name="troupe ask", version=version(), capabilities=("token_delta",))
        await self._say(ClientHello(client_info=me))
        command = next((each for each in COMMANDS if self._question.split(None, 1)[0] == each), None)
        message_id = f"ask-{trio.current_time()}-{id(self)}"
        await self._say(UserSays(message=self._question, message_id=message_id, context=EditorContext(command=command)))
        self._status.show("waiting for the agent")
        final: MessageFinal | None = None
        while final is None and not self._stop.asked:
            with self._stop.waiting():
                final = await self._next(message_id)
        if final is None:
            await self._cancel(message_id)
            return self._stop.code
        self._status.clear()
        return 0 if final.metadata.success else self._failed(final)

    async def _cancel(self, message_id: str) -> None:
        self._status.show("stopping the turn")
        with trio.move_on_after(STOP_SECONDS):
            await self._say(CancelTurn(reason="user_cancelled"))
            while await self._next(message_id) is None:
                pass
        self._end_line()
        self._status.say("The turn was stopped")

    async def _next(self, message_id: str) -> MessageFinal | None:
        """Hears the next message; the turn's last one is returned."""
        data = await self._stream.receive()
        try:
            event = _events.decode(data)
        except msgspec.ValidationError:  # of a newer server
            return None
        if isinstance(event, UserMessage) and event.message_id == message_id:
            self._turn = event.turn_id
        if self._turn is None and not (isinstance(event, ServerError) and event.seq is msgspec.UNSET):
            return None  # of another turn
        if self._json:
            if getattr(event, "seq", msgspec.UNSET) is not msgspec.UNSET:
                streams.show(data.decode() + "\n", self._out)
        else:
            self._show(event)
        match event:
            case ServerError(error=error) if self._turn is None:
                raise Trouble(f"The agent refuses: {error.message}", code=WENT_WRONG)
            case RequestApproval(request_id=request) | RequestCommandApproval(request_id=request):
                await self._decline(request)
            case PatchProposed(request_id=request, requires_approval=True):
                await self._decline(request)
            case MessageFinal(metadata=metadata) if metadata.turn_id in ("", self._turn):
                self._finish(event)
                return event
        return None

    def _show(self, event: Any) -> None:
        match event:
            case Token(token=token):
                self._status.clear()
                self._said += token
                streams.show(token, self._out)
            case Thinking(message=message) | RetrieveStatus(message=message):
                self._end_line()
                self._status.show(message)
            case ToolExecute(tool_name="update_plan"):
                pass  # the plan itself is told
            case ToolExecute(tool_name=name, status="started", args=args):
                self._end_line()
                about = " ".join(str(value) for value in args.values()) if isinstance(args, dict) else ""
                self._status.say(f"{name} {about}"[:300].strip())
            case ToolExecute(tool_name=name, status="failed", result=result):
                text = result.get("text", "") if isinstance(result, dict) else result
                self._status.say(f"{name} failed: {str(text)[:300]}")
            case PlanPresented(steps=steps) if steps != self._plan:
                self._plan = steps
                self._end_line()
                for step in steps:
                    self._status.say(f"{step.step_number}. {step.description}")
            case ServerError(error=error):
                self._end_line()
                self._status.say(error.message)

    async def _decline(self, request: str) -> None:
        self._end_line()
        self._status.say("The agent asks for an approval, which is declined here; approve on its page, or in an editor")
        reason = "the question came from a terminal, where nobody can approve"
        await self._say(ApprovalResponse(request_id=request, approved=False, reason=reason))

    def _finish(self, final: MessageFinal) -> None:
        if self._json:
            return
        if not self._said.strip() and final.message:
            streams.show(final.message, self._out)
            self._said = final.message
        self._end_line()

    def _end_line(self) -> None:
        """What is said beside the answer begins a line of its own."""
        if self._said and not self._said.endswith("\n") and not self._json:
            streams.show("\n", self._out)
            self._said += "\n"

    def _failed(self, final: MessageFinal) -> int:
        metadata = final.metadata
        why = "was stopped" if metadata.cancelled else "was interrupted" if metadata.interrupted else "failed"
        self._status.say(f"The turn {why}")
        return WENT_WRONG

    async def _say(self, message: object) -> None:
        await self._stream.send(msgspec.json.encode(message))


# -- sessions


def sessions(command: ListSessions, means: AgentMeans, out: TextIO | None = None) -> int:
    return run(partial(_sessions, command, means, out or sys.stdout))


async def _sessions(command: ListSessions, means: AgentMeans, out: TextIO, stop: Finish) -> int:
    visitor = _met(means, command.state_dir)
    if command.link:
        streams.show(link(address(None, command.state_dir, "agent"), command.state_dir) + "\n", out)
        return 0
    try:
        with stop.waiting():
            query = ""
            if command.workspace is not None:
                query = f"?workspace_id={quote((await _registered(visitor, command.workspace)).id, safe='')}"
            answer = await visitor.ask("GET", f"sessions{query}")
            places = msgspec.json.decode(await visitor.ask("GET", "workspaces"), type=list[WorkspaceFact])
            if command.json:
                streams.show(answer.decode() + "\n", out)
            else:
                streams.show(_listed(msgspec.json.decode(answer, type=list[SessionFact]), places), out)
            return 0
        return stop.code
    except PeerGone as gone:
        raise Trouble(f"The agent cannot be asked: {gone}", code=WENT_WRONG) from None
    except means.refused as refused:
        raise Trouble(f"The agent refuses: {refused}", code=WENT_WRONG) from None


def link(url: str, state_dir: Path) -> str:
    """Opens the page. What follows # stays in the browser."""
    return f"{url}/#token={(state_dir / 'agent.token').read_text('ascii').strip()}"


def _listed(facts: list[SessionFact], workspaces: list[WorkspaceFact]) -> str:
    if not facts:
        return "There are no sessions yet.\n"
    paths = {workspace.id: workspace.path for workspace in workspaces}
    return "".join(_lines(fact, paths.get(fact.workspace_id, "")) for fact in facts)


def _lines(fact: SessionFact, path: str) -> str:
    asks = f"asks {counted(fact.pending_approvals, 'time')}" if fact.pending_approvals else ""
    about = (fact.updated_at[:16].replace("T", " "), "running" if fact.running else asks, path)
    title = printable(fact.title or "New session")
    return f"{fact.id}  {title}\n    {printable('  '.join(part for part in about if part))}\n"
