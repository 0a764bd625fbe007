"""Sessions in virtual time: the real actors over a store on paper, scripted turns, and clients that keep what they see.

A kill of the process is the end of a house, and another one over what was committed at that moment.
"""

import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import trio

from actors.agent.client import ClientSeat, ServerFacts, client_spec
from actors.agent.commanding import commands_specs
from actors.agent.index.messages import INDEXER_ACTORS
from actors.agent.log import SessionLog
from actors.agent.means import MakeTurn
from actors.agent.messages import (
    CLIENTS,
    MODELS,
    SESSION_ACTORS,
    SESSIONS,
    TURNS,
    WORKSPACES,
    ContextChanged,
    CreateSession,
    CurrentModelAsked,
    ExpectModel,
    LogEntry,
    ModelsMessage,
    PolicyAsked,
    RememberApproval,
    RememberedAsked,
    RequestSettled,
    SteersAsked,
    TurnAsks,
    TurnKeeps,
    TurnMessage,
    TurnOrder,
    TurnSays,
    WorkspaceAsked,
    WorkspacesMessage,
)
from actors.agent.sessions import sessions_specs
from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    AnySpec,
    ChildSpec,
    Down,
    KernelError,
    PeerGone,
    Reply,
    Restart,
    crowd_spec,
)
from actors.kernel.testing import House, check_sound, staged
from codec.agent.action_events import (
    DiffHunk,
    PatchApplied,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
)
from codec.agent.approvals import ExactCommand, Pending, Remembered, RememberedList
from codec.agent.context import EditorContext
from codec.agent.events import FinalMetadata, LogEvent, MessageFinal, Token
from codec.agent.models import ModelConfig
from codec.agent.refusing import ContractRefusal
from codec.agent.sessions import SessionFact, SessionWish
from codec.agent.workspaces import Policy, WorkspaceFact
from tests.agent.paper_store import PaperDisk, paper_spec

EPOCH = 1_800_000_000.0
PATIENCE = 3600.0
FALLS = "the turn falls"


def wall() -> float:
    return EPOCH + trio.current_time()


# -- scripted turns: events are said, and these done


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Tokens:
    count: int
    every: float = 0.01


@dataclass(frozen=True)
class Steers:
    """Reads what steers, and repeats it."""


@dataclass(frozen=True)
class Asks:
    """Waits for the answers to these, and acts upon each as it was answered."""

    requests: tuple[Pending, ...]


def patch(id: str, path: str = "a.py", hunks: int = 2, **more: Any) -> Pending:  # noqa: A002
    hunk = DiffHunk(old_start=1, old_lines=1, new_start=1, new_lines=1, content="x")
    asked = PatchProposed(patch_id=id, request_id=id, file_path=path, diff="", hunks=(hunk,) * hunks)
    return Pending(request_id=id, call_id=f"call {id}", tool_name="propose_diff", asked=asked, **more)


def command(
    id: str,  # noqa: A002
    may_remember: tuple[str, ...] = ("npm", "test"),
    *,
    asks: bool = True,
    exactly: ExactCommand | None = None,
    mode: Literal["local_terminal", "server_runner"] = "server_runner",
    **more: Any,
) -> Pending:
    asked = RequestCommandApproval(
        command_id=id,
        request_id=id,
        command="npm test",
        working_directory="/work",
        may_remember=may_remember,
        may_remember_exactly=exactly is not None,
        requires_approval=asks,
        execution_mode=mode,
    )
    call = f"call {id}"
    return Pending(request_id=id, call_id=call, tool_name="execute_command", asked=asked, exactly=exactly, **more)


def tool(id: str) -> Pending:  # noqa: A002
    asked = RequestApproval(request_id=id, tool_name="delete_file", args={"file_path": "a.py"})
    return Pending(request_id=id, call_id=f"call {id}", tool_name="delete_file", asked=asked)


@dataclass(frozen=True)
class Acted:
    """What a turn has done upon an answer."""

    turn_id: str
    request: Pending


@dataclass(frozen=True)
class Fall:
    """Crashes."""


@dataclass(frozen=True)
class Vanish:
    """Ends without a last word."""


class ScriptedTurn(Actor[TurnMessage]):
    def __init__(self, order: TurnOrder, script: Sequence[Any], acts: Callable[[Acted], None]) -> None:
        """`acts` is called when it acts upon an answer. Whatever is left of its script when it is suspended is not
        said by the turn that goes on."""
        self.order = order
        self.script = script
        self.acts = acts
        self.contexts: list[EditorContext] = []
        self.settled: dict[str, Pending] = {}
        self.heard = trio.Event()
        self.text = "".join(entry.event.token for entry in order.said if isinstance(entry.event, Token))

    async def started(self, kept: object | None) -> None:
        self.monitor(self.order.session, every=True)
        self.run_beside(self._work)

    async def handle(self, message: TurnMessage) -> None:
        match message:
            case ContextChanged(context):
                self.contexts.append(context)
            case RequestSettled(request):
                assert request.resolution is not None
                self.settled[request.request_id] = request
                self.heard.set()
                self.heard = trio.Event()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        self.finish()

    async def _say(self, event: LogEvent) -> None:
        if isinstance(event, Token):
            self.text += event.token
        await self.order.session.send(TurnSays(self.order.turn_id, event))

    async def _keep(self, *events: LogEvent, **parts: Any) -> bool:
        def question(reply: Reply[bool]) -> TurnKeeps:
            return TurnKeeps(self.order.turn_id, events, reply=reply, **parts)

        return await self.order.session.ask(question, timeout=PATIENCE)

    async def _act_upon(self, requests: Sequence[Pending]) -> None:
        for request in requests:
            id = request.request_id  # noqa: A001
            if not await self._keep(begun=[id]):
                await trio.sleep_forever()
            self.acts(Acted(self.order.turn_id, request))
            assert request.resolution is not None
            applied = [id] if request.resolution.approved and isinstance(request.asked, PatchProposed) else []
            told = [PatchApplied(patch_id=id, file_path="a.py", success=True) for id in applied]  # noqa: A001
            await self._keep(*told, over=[id], applied=applied)

    async def _work(self) -> None:
        try:
            await self._act()
        except ActorDown as error:
            if error.path != self.order.session.path:
                raise
            self.finish()  # as the agent's own turns do

    async def _act(self) -> None:
        if self.order.resumed:
            await self._act_upon(self.order.resumed)
            await self._say(Token(token="(on) "))
        for step in () if self.order.resumed else self.script:
            match step:
                case Asks(requests):
                    await self.order.session.send(TurnAsks(self.order.turn_id, requests))
                    while not all(each.request_id in self.settled for each in requests):
                        await self.heard.wait()
                    await self._act_upon([self.settled[each.request_id] for each in requests])
                case Pause(seconds):
                    await trio.sleep(seconds)
                case Tokens(count, every):
                    for number in range(count):
                        await self._say(Token(token=f"{number} "))
                        await trio.sleep(every)
                case Steers():
                    asked = partial(SteersAsked, self.order.turn_id)
                    for said in await self.order.session.ask(asked, timeout=PATIENCE):
                        await self._say(Token(token=f"({said.message}) "))
                case Fall():
                    raise RuntimeError(FALLS)
                case Vanish():
                    self.finish()
                    return
                case _:
                    await self._say(step)
        metadata = FinalMetadata(success=True, turn_id=self.order.turn_id)
        await self._say(MessageFinal(message=self.text, metadata=metadata))
        self.finish()


# -- what else it needs


class PaperWorkspaces(Actor[WorkspacesMessage]):
    def __init__(self, here: "Stay") -> None:
        self.here = here

    @property
    def facts(self) -> dict[str, WorkspaceFact]:
        return self.here.workspaces

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(WORKSPACES, self.ref)

    async def handle(self, message: WorkspacesMessage) -> None:
        match message:
            case WorkspaceAsked(id, reply):
                await trio.sleep(self.here.asking_seconds)
                reply.set(self.facts.get(id))
            case PolicyAsked(id, reply):
                reply.set(self.here.policy if id in self.facts else None)
            case RememberedAsked(id, reply):
                reply.set(RememberedList(approvals=tuple(self.here.remembered)) if id in self.facts else None)
            case RememberApproval(_, approval, answer):
                await trio.sleep(self.here.remembering_seconds)
                if self.here.forgetful:
                    answer.fail(ContractRefusal(507, "INTERNAL", "The approval was not stored: the disk is full."))
                else:
                    self.here.remembered.append(approval)
                    answer.set(None)
            case _:
                raise NotImplementedError(message)


class PaperModels(Actor[ModelsMessage]):
    def __init__(self, here: "Stay") -> None:
        self.here = here

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(MODELS, self.ref)

    async def handle(self, message: ModelsMessage) -> None:
        match message:
            case CurrentModelAsked(reply):
                reply.set(self.here.model)
            case ExpectModel(_, expected):
                expected.set(None)
            case _:
                raise NotImplementedError(message)


# -- clients


@dataclass
class Screen:
    """A client as a person has it in front of them: over all its connections it keeps what it has seen."""

    name: str
    delta: bool = False
    cancels: bool = False
    """Whether the turn is to end when it vanishes."""
    can: tuple[str, ...] = ()
    """Its capabilities."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    seat: ClientSeat | None = None
    scope: trio.CancelScope | None = None
    gone: bool = False
    """The socket has broken."""
    stalled: bool = False
    """It does not read."""
    seated: trio.Event = field(default_factory=trio.Event)
    ended: trio.Event = field(default_factory=trio.Event)
    _read: trio.Event = field(default_factory=trio.Event)
    _unsent: Sequence[str] = ()
    _whole: bool = True
    """Its socket takes the next in one piece."""

    # the outlet

    async def send(self, text: str) -> None:
        await trio.lowlevel.checkpoint()
        while self.stalled and not self.gone:
            await self._read.wait()
        if self.gone:
            raise PeerGone("it has gone")
        self.show(text)

    def show(self, text: str) -> None:
        self.messages.append(json.loads(text))

    async def send_all(self, texts: Sequence[str]) -> None:
        unsent, self._unsent = self._unsent, ()
        for text in (*unsent, *texts):
            await self.send(text)

    def send_now(self, texts: Sequence[str]) -> bool:
        taken = 0 if self.stalled or self.gone else len(texts) if self._whole else len(texts) // 2
        self._whole = not self._whole
        for text in texts[:taken]:
            self.show(text)
        self._unsent = tuple(texts[taken:])
        return not self._unsent

    def stall(self) -> None:
        if not self.stalled:
            self.stalled, self._read = True, trio.Event()

    def read(self) -> None:
        self.stalled = False
        self._read.set()

    # what it has seen

    @property
    def events(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if "seq" in message]

    @property
    def last(self) -> int:
        return max((message["seq"] for message in self.events), default=0)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]

    @property
    def errors(self) -> list[str]:
        return [message["error"]["code"] for message in self.of("server.error")]

    @property
    def reasons(self) -> list[str]:
        """What it was told in words with them."""
        return [message["error"]["message"] for message in self.of("server.error")]

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.of("session.state")[-1]["state"]
        return state

    def rendered(self) -> list[str]:
        """The text of each turn, as it stands in front of the user: added up, until the end says what it is."""
        turns: list[str] = []
        for message in self.events:
            match message["type"]:
                case "user.message" if not message["steers"]:
                    turns.append("")
                case "assistant.token":
                    turns = turns or [""]
                    turns[-1] = turns[-1] + message["token"] if self.delta else message["cumulative_text"]
                case "assistant.message_final":
                    turns = turns or [""]
                    turns[-1] = message["message"]
        return turns

    # what it says

    async def say(self, message: dict[str, Any] | str) -> None:
        assert self.seat is not None
        await self.seat.heard(message if isinstance(message, str) else json.dumps(message))

    async def ask(self, text: str, id: str | None = None, **more: Any) -> None:  # noqa: A002
        await self.say({"type": "client.user_message", "message": text, "message_id": id, **more})

    async def answer(self, id: str, approved: bool = True, **more: Any) -> None:  # noqa: A002
        await self.say({"type": "client.approval_response", "request_id": id, "approved": approved, **more})

    async def cancel(self) -> None:
        await self.say({"type": "client.cancel"})


# -- the house


@dataclass
class Stay:
    """A process: a house, from its start to its end or its kill."""

    disk: PaperDisk
    scripts: Callable[[TurnOrder], Sequence[Any]]
    ids: Iterator[int]
    workspaces: dict[str, WorkspaceFact] = field(default_factory=dict)
    model: ModelConfig = field(default_factory=lambda: ModelConfig(provider="builtin"))
    policy: Policy = field(default_factory=Policy)
    remembered: list[Remembered] = field(default_factory=list)
    """In the workspace."""
    asking_seconds: float = 0
    """Until the workspaces tell of one."""
    remembering_seconds: float = 0
    forgetful: bool = False
    """Whether the workspaces cannot store anything."""
    acted: list[Acted] = field(default_factory=list)
    acts: Callable[[Acted], None] = lambda acted: None
    made: list[ScriptedTurn] = field(default_factory=list)
    house: House = None  # type: ignore[assignment]
    nursery: trio.Nursery = None  # type: ignore[assignment]

    def new_id(self) -> str:
        return f"id-{next(self.ids)}"

    def make_turn(self, order: TurnOrder) -> ChildSpec[TurnMessage]:
        def make() -> ScriptedTurn:
            turn = ScriptedTurn(order, self.scripts(order), self._acts)
            self.made.append(turn)
            return turn

        return ChildSpec(order.turn_id, make, restart=Restart.TEMPORARY)

    def _acts(self, acted: Acted) -> None:
        self.acted.append(acted)
        self.acts(acted)

    @property
    def registry(self) -> Any:
        return self.house.stage.registry

    @property
    def sessions(self) -> ActorRef[Any]:
        found: ActorRef[Any] = self.registry.get(SESSIONS)
        return found

    async def ask(self, question: Any, *args: Any) -> Any:
        return await self.sessions.ask(partial(question, *args), timeout=PATIENCE)

    async def create(self, **wish: Any) -> SessionFact:
        fact: SessionFact = await self.ask(CreateSession, SessionWish(**{"workspace_id": "w", **wish}))
        return fact

    def session(self, id: str) -> ActorRef[Any] | None:  # noqa: A002
        found: ActorRef[Any] | None = self.registry.get(SESSION_ACTORS).child(id)
        return found

    def turns(self) -> list[Any]:
        return list(self.registry.get(TURNS).children())

    def log(self, id: str) -> SessionLog:  # noqa: A002
        return SessionLog(self.registry, id)

    async def stored(self, id: str) -> list[LogEntry]:  # noqa: A002
        """Every event, and every token by itself."""
        return [entry async for page in self.log(id).pages() for entry in page]

    def open(self, screen: Screen, session: str) -> None:
        """A socket, without a word on it."""
        screen._unsent = ()
        screen.gone, screen.seat, screen.seated, screen.ended = False, None, trio.Event(), trio.Event()
        screen.scope = trio.CancelScope()
        self.nursery.start_soon(self._connection, screen, session, screen.scope)

    async def _connection(self, screen: Screen, session: str, scope: trio.CancelScope) -> None:
        try:
            with scope:
                spec = client_spec(self.new_id(), session, screen, ServerFacts("0.0.0"))
                async with self.registry.get(CLIENTS).lease(spec) as client:
                    screen.seat = ClientSeat(client)
                    screen.seated.set()
                    await trio.sleep_forever()
        except KernelError:
            pass
        finally:
            screen.seat = None
            screen.ended.set()

    async def connect(self, screen: Screen, session: str, resume: int | None = None) -> None:
        self.open(screen, session)
        await screen.seated.wait()
        info = {"name": screen.name, "capabilities": [*screen.can, *(["token_delta"] if screen.delta else [])]}
        hello = {"type": "client.hello", "client_info": info, "cancel_on_disconnect": screen.cancels}
        await screen.say({**hello, "resume_from": resume})

    async def drop(self, screen: Screen) -> None:
        """The network is gone."""
        screen.gone = True
        screen.read()
        if screen.scope is not None:
            screen.scope.cancel()
            await screen.ended.wait()


Scripts = Sequence[Any] | Callable[[TurnOrder], Sequence[Any]]
THREE = (Tokens(3),)


@asynccontextmanager
async def stay(
    disk: PaperDisk | None = None,
    script: Scripts = THREE,
    ids: Iterator[int] | None = None,
    store: AnySpec | None = None,
    make_turn: MakeTurn | None = None,
    clock: Callable[[], float] = wall,
    **more: Any,
) -> AsyncIterator[Stay]:
    """`make_turn`: in the place of scripted turns. `more`: for the sessions."""
    scripts = script if callable(script) else lambda order: script
    here = Stay(disk or PaperDisk(), scripts, ids or itertools.count(1))
    here.workspaces["w"] = WorkspaceFact(id="w", path="/work", name="work", created_at="2026-01-01T00:00:00Z")
    specs: list[AnySpec] = [
        store or paper_spec(here.disk),
        ChildSpec("workspaces", partial(PaperWorkspaces, here)),
        ChildSpec("models", partial(PaperModels, here)),
        *commands_specs(),
        crowd_spec("indexers", name=INDEXER_ACTORS),
        *sessions_specs(make_turn or here.make_turn, clock, here.new_id, **more),
    ]
    async with trio.open_nursery() as nursery, staged(*specs, intensity=10_000) as house:
        here.house, here.nursery = house, nursery
        await until(lambda: house.stage.registry.find(SESSIONS) is not None)
        yield here
        check_sound(house.stage, but=FALLS)
        nursery.cancel_scope.cancel()


async def until(holds: Callable[[], Any]) -> None:
    with trio.fail_after(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is looked at tells nobody
            await trio.sleep(0.005)
