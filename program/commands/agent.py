"""`troupe ask`: the agent in the terminal.

With a running server it uses the server's port, as a page does. Without one it runs the agent's part of the tree for
the time of one turn (`AgentMeans.here`), at a port of its own, so that there is only one way in which a turn is asked.

Before the agent acts, it asks at the terminal (program/approving.py). Without a terminal, and with --json, its requests
are declined, and the command says so.

    standard output    the answer, as it comes; with --json every event of the turn, one a line
    standard error     what the agent does meanwhile; errors

    exit code    when
    0            the turn succeeded
    1            it failed, was interrupted, or could not be asked
    130, 143     Ctrl-C, SIGTERM; the turn is stopped
"""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TextIO
from urllib.parse import quote

import msgspec
import trio
from msgspec import Struct

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
from codec.agent.callers import done_by
from codec.agent.client_messages import ApprovalResponse, CancelTurn, ClientHello, ClientInfo, UserSays
from codec.agent.context import SaidContext
from codec.agent.events import (
    MessageFinal,
    PlanPresented,
    PlanStep,
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
from program import ready, streams
from program.agent_arguments import AgentCommand, AskAgent
from program.approving import Questions
from program.passed_on import PassedOn
from program.status import Status
from program.terminal import colours_wanted, is_terminal
from program.trouble import WENT_WRONG, Trouble
from program.typed import Typist
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
    def __call__(self, command: AgentCommand) -> AbstractAsyncContextManager[Visitor]: ...


class AgentMeans(Struct, frozen=True):
    meet: Meet
    here: Here
    refused: type[Exception]
    """What a Visitor raises for a refusal."""


# -- ask


def ask(command: AskAgent, means: AgentMeans, out: TextIO | None = None, err: TextIO | None = None) -> int:
    question = _question(command)
    said = err or sys.stderr
    typist = Typist.of() if is_terminal(said) and not command.json and command.question != "-" else None
    return run(partial(_ask, command, question, means, out or sys.stdout, Status(said), typist, colours_wanted(said)))


def _question(command: AskAgent) -> str:
    if command.question != "-":
        return command.question
    text = sys.stdin.read(LONGEST_QUESTION + 1).strip()
    if not text or len(text) > LONGEST_QUESTION:
        raise Trouble(f"Standard input holds no question of 1 to {LONGEST_QUESTION:,} characters")
    return text


async def _ask(
    command: AskAgent,
    question: str,
    means: AgentMeans,
    out: TextIO,
    status: Status,
    typist: Typist | None,
    colours: bool,
    stop: Finish,
) -> int:
    asking: _Asking | None = None
    try:
        with stop.waiting():  # until the turn is under way, which waits for itself
            async with AsyncExitStack() as stack:
                visitor = await visited(command, means, stack)
                session = await _session(command, question, visitor)
                stream = await stack.enter_async_context(visitor.stream(session))
                asking = _Asking(command, question, stream, out, status, stop)
                if typist is not None:
                    asking.questions = Questions(typist, status, asking.say, colours=colours)
                return await asking.turn()
        return stop.code
    except PeerGone as gone:
        if asking is None:
            raise Trouble(f"The agent cannot be asked: {gone}", code=WENT_WRONG) from None
        asking.left()
        raise Trouble(
            "The server has gone before the turn was over. What was said by then is kept: when the server runs again, "
            f"`troupe sessions --link` opens its page, and `troupe ask --session {session} QUESTION` goes on with it.",
            code=WENT_WRONG,
        ) from None
    except means.refused as refused:
        raise Trouble(f"The agent refuses: {refused}", code=WENT_WRONG) from None


@contextmanager
def troubles(means: AgentMeans) -> Iterator[None]:
    """In the block the agent is asked over its port: what goes wrong is told as a sentence."""
    try:
        yield
    except PeerGone as gone:
        raise Trouble(f"The agent cannot be asked: {gone}", code=WENT_WRONG) from None
    except means.refused as refused:
        raise Trouble(f"The agent refuses: {refused}", code=WENT_WRONG) from None


async def visited(command: AgentCommand, means: AgentMeans, stack: AsyncExitStack) -> Visitor:
    announced = ready.read(command.state_dir / ready.SERVER_FILE)
    if announced is None or ready.is_gone(announced):
        return await stack.enter_async_context(means.here(command))
    return met(means, command.state_dir)


def met(means: AgentMeans, state_dir: Path) -> Visitor:
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
    workspace = await registered(visitor, command.workspace)
    wish = SessionWish(workspace_id=workspace.id, title=question.splitlines()[0][:80])
    return msgspec.json.decode(await visitor.ask("POST", "sessions", wish), type=SessionFact).id


async def registered(visitor: Visitor, folder: Path) -> WorkspaceFact:
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
        self.questions: Questions | None = None
        """None: nobody can be asked."""
        self._turn: str | None = None
        """None: the question waits for another turn to end."""
        self._said = ""
        self._plan: tuple[PlanStep, ...] = ()
        """As it was told last."""
        self._output = PassedOn(status)

    async def turn(self) -> int:
        me = ClientInfo(name="troupe ask", version=version(), capabilities=("token_delta",))
        await self.say(ClientHello(client_info=me))
        command = next((each for each in COMMANDS if self._question.split(None, 1)[0] == each), None)
        message_id = f"ask-{trio.current_time()}-{id(self)}"
        await self.say(UserSays(message=self._question, message_id=message_id, context=SaidContext(command=command)))
        self._status.show("waiting for the agent")
        if self.questions is None:
            return await self._to_its_end(message_id)
        trouble: Exception | None = None
        code = 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.questions.run)
            try:
                code = await self._to_its_end(message_id)
            except Exception as error:  # is raised outside of the nursery, which would wrap it
                trouble = error
            nursery.cancel_scope.cancel()
        if trouble is not None:
            raise trouble
        return code

    async def _to_its_end(self, message_id: str) -> int:
        final: MessageFinal | None = None
        while final is None and not self._stop.asked:
            with self._stop.waiting():
                final = await self._next(message_id)
        if final is None:
            await self._cancel(message_id)
            return self._stop.code
        self._status.clear()
        return 0 if final.metadata.success else self._failed(final)

    def left(self) -> None:
        """The server has gone."""
        self._end_line()
        self._status.clear()

    async def _cancel(self, message_id: str) -> None:
        self._status.show("stopping the turn")
        with trio.move_on_after(STOP_SECONDS):
            await self.say(CancelTurn(reason="user_cancelled"))
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
        if self.questions is not None:
            self.questions.hear(event)
        if self._json:
            if getattr(event, "seq", msgspec.UNSET) is not msgspec.UNSET:
                streams.show(data.decode() + "\n", self._out)
        else:
            self._show(event)
        match event:
            case ServerError(error=error) if self._turn is None:
                raise Trouble(f"The agent refuses: {error.message}", code=WENT_WRONG)
            case (
                RequestApproval()
                | RequestCommandApproval(requires_approval=True)
                | PatchProposed(requires_approval=True)
            ):
                self._end_line()
                if self.questions is None:
                    await self._decline(event.request_id)
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
            case Thinking(message=message, until=until) if until:
                self._end_line()
                self._status.say(f"{message} (until {time.strftime('%H:%M:%S', time.localtime(until))})")
            case Thinking(message=message) | RetrieveStatus(message=message):
                self._end_line()
                if self.questions is None or not self.questions.is_open:
                    self._status.show(message)
            case ToolExecute(tool_name="update_plan"):
                pass  # the plan itself is told
            case ToolExecute(tool_name=name, status="started", args=args):
                self._end_line()
                about = " ".join(_about(*each) for each in args.items()) if isinstance(args, dict) else ""
                self._status.say(f"{name} {about}"[:300].strip())
            case ToolExecute(tool_name=name, status="failed", result=result):
                text = result.get("text", "") if isinstance(result, dict) else result
                self._status.say(f"{name} failed: {str(text).removeprefix(f'{name} failed: ')[:300]}")
            case PlanPresented(steps=steps) if steps != self._plan:
                self._plan = steps
                self._end_line()
                for step in steps:
                    self._status.say(f"{step.step_number}. {step.description}")
            case ServerError(error=error):
                self._end_line()
                rule = error.details.get("rule")
                self._status.say(f"{error.message} (rule: {rule})" if rule else error.message)
            case PatchProposed(requires_approval=False, file_path=path):
                self._end_line()
                self._status.say(f"changes {path}")
            case PatchApplied(file_path=path, success=success, error=error):
                self._end_line()
                self._status.say(
                    f"{path} is written" if success else f"{path} is not written: {error or 'it does not fit'}"
                )
            case CommandTakenBack(run_here=here, by=by):
                self._end_line()
                self._status.say(
                    f"Taken back{done_by(by)}, to be run here"
                    if here
                    else f"Given up{done_by(by)}: your editor's terminal is no longer waited for"
                )
            case CommandStarted(command=line):
                self._end_line()
                self._status.say(f"$ {line}")
            case CommandOutput(text=text):
                self._output.write(text)
            case CommandFinished(exit_code=code, ended=ended, why=why):
                self._output.end()
                self._status.say(
                    f"the command has ended with {code}" if ended == "exited" else why or f"the command: {ended}"
                )

    async def _decline(self, request: str) -> None:
        self._status.say("The agent asks for an approval, which is declined here; approve on its page, or in an editor")
        reason = "the question came from a terminal, where nobody can approve"
        await self.say(ApprovalResponse(request_id=request, approved=False, reason=reason))

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

    async def say(self, message: object) -> None:
        await self._stream.send(msgspec.json.encode(message))


def _about(name: str, argument: object) -> str:
    """An argument of a tool, as it is shown in one line: the words of a command as a shell would take them; of changes
    the files."""
    if isinstance(argument, list):
        words = [str(each.get("file_path", each) if isinstance(each, dict) else each) for each in argument]
        return shlex.join(words) if name == "argv" else " ".join(dict.fromkeys(words))
    return str(argument)
