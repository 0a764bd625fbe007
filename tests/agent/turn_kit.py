"""A workspace in memory, models that follow a script, and a session that notes what its turn says."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import trio
from msgspec.structs import replace

from actors.agent.acting import ActingMeans
from actors.agent.commanding import commands_specs
from actors.agent.conversing import TurnLimits
from actors.agent.given import FileHit, FileLine, FileRefused, FileText, Hands, Tree, TreeEntry
from actors.agent.messages import (
    TURNS,
    CapabilitiesAsked,
    LogEntry,
    RequestSettled,
    SessionMessage,
    SteersAsked,
    TurnAsks,
    TurnKeeps,
    TurnOrder,
    TurnSays,
)
from actors.agent.turn import turn_spec
from actors.kernel import Actor, ActorRef, ChildSpec, crowd_spec
from actors.kernel.testing import House, Log, check_sound, staged
from codec.agent.approvals import Pending
from codec.agent.builtin import deltas
from codec.agent.context import EditorContext
from codec.agent.events import LogEvent, MessageFinal, Token, ToolExecute, UserMessage
from codec.agent.files import digest_of
from codec.agent.models import (
    BUILTIN,
    CalledTool,
    Delta,
    Finished,
    ModelConfig,
    ModelFact,
    ModelMessage,
    ModelRequest,
    ModelTrouble,
    ToolCall,
)
from codec.agent.sessions import SessionFact, SessionMode
from codec.agent.workspaces import Policy, WorkspaceFact

NOW = "2026-01-01T00:00:00Z"
REMOTE = ModelConfig(provider="ollama", model_name="scripted", url="http://x", context_window=16_384)


class MemoryTree:
    """A workspace of these files."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)
        self.hangs = False

    async def _disk(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.hangs:
            await trio.sleep_forever()

    async def read(self, path: str, *, first: int = 1, last: int | None = None, most: int = 200_000) -> FileText:
        await self._disk()
        if path.startswith("/") or ".." in path.split("/"):
            raise FileRefused(f"{path} is outside of the workspace.")
        if path not in self.files:
            raise FileRefused(f"There is no file {path} in the workspace.")
        whole = [f"{line}\n" for line in self.files[path].removesuffix("\n").split("\n") if self.files[path]]
        text = "".join(whole[first - 1 : last])
        return FileText(path, text[:most], first, len(whole), digest_of(self.files[path].encode()), len(text) > most)

    async def entries(self, folder: str = "", *, most: int = 1000, deep: bool = False) -> Sequence[TreeEntry]:
        await self._disk()
        below = [path for path in sorted(self.files) if not folder or path.startswith(f"{folder}/")]
        if folder and not below:
            raise FileRefused(f"There is no folder {folder} in the workspace.")
        if deep:
            return [TreeEntry(path, len(self.files[path])) for path in below][:most]
        rest = {path[len(folder) + 1 if folder else 0 :] for path in below}
        names = {part.partition("/")[0] + ("/" if "/" in part else "") for part in rest}
        return [TreeEntry(f"{folder}/{name}" if folder else name) for name in sorted(names)][:most]

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        await self._disk()
        found = []
        for path, text in self.files.items():
            lines = [
                FileLine(number, line)
                for number, line in enumerate(text.split("\n"), 1)
                if any(word.lower() in line.lower() for word in words)
            ]
            if lines:
                has = sum(word.lower() in text.lower() for word in words)
                found.append(FileHit(path, lines[:10], len(lines), has + len(lines) / 1_000_000))
        return sorted(found, key=lambda hit: -hit.score)[:most]


class MemoryTrees:
    def __init__(self, tree: Tree, hands: Hands | None = None) -> None:
        self._tree = tree
        self._hands = hands

    def tree(self, path: str) -> Tree:
        return self._tree

    def hands(self, path: str) -> Hands:
        assert self._hands is not None
        return self._hands

    async def check(self, path: str) -> str:
        return path


Act = Delta | Exception | Callable[[], Awaitable[object]]
"""What a scripted model does next: says something, fails, or waits."""


class Script:
    """Providers whose model answers the n-th request with the n-th list of acts; the last list is repeated."""

    def __init__(self, *answers: Iterable[Any]) -> None:  # of acts; a type checker joins structs to none of them
        self.answers: list[list[Act]] = [list(answer) for answer in answers]
        self.requests: list[ModelRequest] = []
        self.open = 0
        """Streams that are open now."""

    @asynccontextmanager
    async def _opened(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Delta]]:
        if request.model.provider == BUILTIN:
            acts: list[Act] = list(deltas(request))
        else:
            acts = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)

        async def pieces() -> AsyncIterator[Delta]:
            for act in acts:
                if isinstance(act, Exception):
                    raise act
                if callable(act):
                    await act()
                else:
                    await trio.lowlevel.checkpoint()
                    yield act

        self.open += 1
        made = pieces()
        try:
            yield made
        finally:
            self.open -= 1
            await made.aclose()  # type: ignore[attr-defined]

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Delta]]:
        return self._opened(request)

    def expect(self, model: ModelConfig) -> None:
        return

    async def listed(self) -> tuple[Sequence[ModelFact], Sequence[str]]:
        return (), ()

    async def check(self, request: ModelRequest) -> None:
        raise ModelTrouble("nobody checks here")


class NotingSession(Actor[SessionMessage]):
    """Takes what a turn says, keeps and asks, and gives it the steers and answers that the test has put in."""

    def __init__(self, heard: "Heard") -> None:
        self._heard = heard

    async def started(self, kept: object | None) -> None:
        self._heard.session = self.ref

    async def handle(self, message: SessionMessage) -> None:
        match message:
            case TurnSays(event=event):
                if not self._heard.is_deaf:
                    self._heard.log.add(event)
            case TurnAsks(requests=requests):
                if not self._heard.is_deaf:
                    self._heard.ask(requests)
            case TurnKeeps(reply=reply):
                reply.set(self._heard.keep(message))
            case CapabilitiesAsked(reply=reply):
                reply.set(frozenset(self._heard.capabilities))
            case SteersAsked() if self._heard.is_silent:
                pass
            case SteersAsked(reply=reply):
                steers, self._heard.steers = self._heard.steers, []
                reply.set(steers)
            case _:
                raise AssertionError(message)


@dataclass
class Heard:
    log: Log[LogEvent] = field(default_factory=Log)
    steers: list[UserMessage] = field(default_factory=list)
    session: ActorRef[SessionMessage] | None = None
    turn: ActorRef[Any] | None = None
    answers: Callable[[Pending], Iterable[Pending]] = lambda request: ()
    """What the user does with a request, one answer after the other."""
    capabilities: Iterable[str] = ()
    is_deaf: bool = False
    """Whether the turn is cancelled: nothing is taken from it any more."""
    is_silent: bool = False
    """Whether it gives no steers, nor says that there are none."""
    requests: dict[str, Pending] = field(default_factory=dict)
    """Those that are not over."""
    asked: list[Pending] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    applied: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)

    def ask(self, requests: Sequence[Pending]) -> None:
        for request in requests:
            self.asked.append(request)
            self.requests[request.request_id] = request
            self.log.add(request.asked)
        for request in requests:
            for answer in self.answers(request):
                self.settle(answer)

    def settle(self, request: Pending) -> None:
        assert self.turn is not None
        self.requests[request.request_id] = request
        self.turn.tell(RequestSettled(request))

    def keep(self, message: TurnKeeps) -> bool:
        if self.is_deaf:
            return False
        assert set(message.begun) <= set(self.requests)
        for request_id in message.begun:
            self.requests[request_id] = replace(self.requests[request_id], begun=True)
        for request_id in message.over:
            del self.requests[request_id]
        for event in message.events:
            self.log.add(event)
        self.begun += message.begun
        self.over += message.over
        self.applied += message.applied
        return True

    @property
    def events(self) -> list[LogEvent]:
        return self.log.entries

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if type(event) is kind]

    @property
    def text(self) -> str:
        return "".join(event.token for event in self.of(Token))

    @property
    def final(self) -> MessageFinal:
        (final,) = self.of(MessageFinal)
        assert self.events[-1] is final
        assert isinstance(final, MessageFinal)
        return final


def order(
    session: ActorRef[SessionMessage],
    message: str,
    model: ModelConfig = REMOTE,
    context: EditorContext | None = None,
    transcript: Sequence[LogEntry] = (),
    policy: Policy | None = None,
    mode: SessionMode = "ask",
    **more: Any,
) -> TurnOrder:
    said = UserMessage(message=message, message_id="m1", turn_id="t1", context=context or EditorContext())
    fact = SessionFact(id="s1", workspace_id="w1", created_at=NOW, updated_at=NOW, mode=mode)
    workspace = WorkspaceFact(id="w1", path="/w", name="demo", created_at=NOW)
    return TurnOrder("t1", session, fact, workspace, policy or Policy(), model, said, transcript, **more)


@asynccontextmanager
async def turn(
    message: str,
    script: Script,
    files: Mapping[str, str] | MemoryTree | None = None,
    *,
    limits: TurnLimits | None = None,
    instrument: Any = None,
    heard: Heard | None = None,
    hands: Hands | None = None,
    acting: ActingMeans | None = None,
    but: str | None = None,
    **given: Any,
) -> AsyncIterator[tuple[Heard, House]]:
    """A turn that has begun. `but`: with these words in its error it may crash."""
    heard = heard or Heard()
    if instrument is not None:
        instrument.heard = heard
    tree = files if isinstance(files, MemoryTree) else MemoryTree(files or {})
    session: ChildSpec[SessionMessage] = ChildSpec("session", lambda: NotingSession(heard))
    async with staged(session, *commands_specs(), crowd_spec("turns", name=TURNS)) as house:
        assert heard.session is not None
        spec = turn_spec(order(heard.session, message, **given), script, MemoryTrees(tree, hands), limits, acting)
        heard.turn = await house["turns"].start_child(spec)
        yield heard, house
        check_sound(house.stage, but=but)


async def whole(message: str, script: Script, files: Any = None, **given: Any) -> Heard:
    """A turn from its begin to its end."""
    async with turn(message, script, files, **given) as (heard, _):
        assert heard.turn is not None
        with trio.fail_after(24 * 3600):
            await heard.turn.wait_stopped()
            await trio.testing.wait_all_tasks_blocked()
    assert script.open == 0
    return heard


def call(name: str, /, **arguments: Any) -> CalledTool:
    return CalledTool(ToolCall(id="c", name=name, arguments=arguments))


def entries(events: Sequence[LogEvent], first: int = 1) -> list[LogEntry]:
    return [LogEntry(number, event) for number, event in enumerate(events, first)]


def faults(messages: Sequence[ModelMessage]) -> list[str]:
    """What is wrong with a request, as a strict server of models would see it."""
    found = []
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if message.role not in ("system", "user", "assistant", "tool"):
            found.append(f"{index}: nobody is called {message.role!r}")
        if message.role == "tool":
            if message.tool_call_id in open_calls:
                open_calls.remove(message.tool_call_id)
            else:
                found.append(f"{index}: a result of no call")
            continue
        if open_calls:
            found.append(f"{index}: {open_calls} have no result")
        open_calls = [call.id for call in message.tool_calls]
        if len(set(open_calls)) < len(open_calls):
            found.append(f"{index}: two calls with one id")
        if message.tool_calls and message.role != "assistant":
            found.append(f"{index}: {message.role} calls")
        if message.role == "assistant" and not message.tool_calls and not message.content.strip():
            found.append(f"{index}: an answer that says nothing")
        if message.role == "system" and index:
            found.append(f"{index}: a second system message")
    return found + ([f"at the end: {open_calls} have no result"] if open_calls else [])


def unpaired(events: Sequence[LogEvent]) -> list[str]:
    """Calls of which clients are not told one begin and then one end."""
    found = dict[str, list[str]]()
    for event in events:
        if isinstance(event, ToolExecute):
            found.setdefault(event.call_id, []).append(event.status)
    return [
        f"{call_id}: {told}"
        for call_id, told in found.items()
        if told not in (["started", "completed"], ["started", "failed"])
    ]


STOP = Finished()
