"""The agent's page on a scripted agent: its HTTP and its stream, with a session whose log a test writes.

What it sends are the structs of codec/, and what the page says has to be one of theirs. A request is answered as the
real session does it: the first answer wins and is told to all, a second one is refused. Beyond that nothing happens by
itself: what the agent would do then, the test says (`say`).
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote

import msgspec
import trio
import trio_websocket
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

from actors.agent.requests import Unanswerable, resolved, settling, shown
from codec.agent.action_events import (
    ApprovalResolved,
    DiffHunk,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
)
from codec.agent.approvals import Pending, Remembered, RememberedList, UndoReport, UndoWish
from codec.agent.client_messages import ApprovalResponse, CancelTurn, ClientHello, ClientMessage, UserSays
from codec.agent.events import (
    ErrorBody,
    FinalMetadata,
    LogEvent,
    MessageFinal,
    ModelNow,
    PlanPresented,
    PlanStep,
    ServerError,
    ServerHello,
    ServerInfo,
    SessionState,
    SessionStateNow,
    UserMessage,
)
from codec.agent.index.asking import SearchResults
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionChange, SessionFact
from codec.agent.workspaces import IndexStatus, Policy, PolicyChange, StreamTicket, WorkspaceFact, merged
from tests.patience import PATIENCE
from tests.web.conftest import BROWSERS_OWN
from tests.web.stage import Replay, Stage, answer, page
from tests.web.windows import window

SESSION = "s1"
LINK = "#token=good"
MODEL = ModelNow(provider="ollama", model_name="qwen3:8b")
NOW = "2026-01-02T03:04:05Z"
DIFF = """\
--- a/shop/main.py
+++ b/shop/main.py
@@ -1,6 +1,7 @@
 from shop.configuration import read_configuration
 # --
 def main(path):
-    configuration = read_configuration(path)
+    configuration = read_configuration(path, strict=True)
+    check(configuration)
     serve(configuration["port"])
 # --
@@ -20,5 +21,4 @@ def check(configuration):
     for name in configuration:
         if name not in KNOWN:
-            print(name)
-            return
+            raise Unknown(name)
 # --
@@ -40,3 +40,3 @@
 def last():
     pass
--- the old end
+-- the new end
"""
"""Three hunks; a line of the last one looks like the head of a file."""
ASKS = (PatchProposed, RequestCommandApproval, RequestApproval)

_said = msgspec.json.Decoder(ClientMessage)


def patch(name: str = "p1", path: str = "shop/main.py", diff: str = DIFF, **fields: Any) -> PatchProposed:
    return PatchProposed(patch_id=name, request_id=name, file_path=path, diff=diff, hunks=hunks_of(diff), **fields)


def hunks_of(diff: str) -> tuple[DiffHunk, ...]:
    """Of a diff no line of which looks like the head of a hunk."""
    heads = list(re.finditer(r"^@@ -(\d+),(\d+) \+(\d+),(\d+) @@.*\n", diff, re.M))
    ends = [*(head.start() for head in heads[1:]), len(diff)][: len(heads)]
    return tuple(
        DiffHunk(
            old_start=int(head[1]), old_lines=int(head[2]), new_start=int(head[3]), new_lines=int(head[4]),
            content=diff[head.end() : end],
        ) for head, end in zip(heads, ends, strict=True)
    )  # fmt: skip


def command(name: str = "k1", line: str = "python -m pytest -q", **fields: Any) -> RequestCommandApproval:
    facts: dict[str, Any] = {"working_directory": ".", "may_remember": ("python", "-m", "pytest")} | fields
    return RequestCommandApproval(command_id=name, request_id=name, command=line, **facts)


def ask_all(stage: "AgentStage") -> None:
    """A change, a command and a tool."""
    stage.say(
        patch(
            rationale="A wrong name is told at the start.", acceptance_criteria=("The tests pass",), reason="Mode ask."
        ),
        command(environment={"CI": "1"}, reason="It is not listed.", risk_level="high"),
        RequestApproval(request_id="x1", tool_name="delete_file", args={"file_path": "old.py"}, reason="Mode ask."),
    )


def plan(stage: "AgentStage") -> None:
    """A plan that waits to be approved, in a turn that has begun."""
    steps = ("Find where it is read", "Change it", "Run the tests")
    shown = tuple(
        PlanStep(step_number=at, description=each, files_involved=("shop/main.py",)) for at, each in enumerate(steps, 1)
    )
    stage.change(mode="plan")
    stage.say(PlanPresented(steps=shown, rationale="First things first."))
    stage.end("That is the plan.")


class AgentStage(Stage):
    """`with AgentStage() as stage`: serves the agent's page at `stage.url`. The methods are for tests."""

    def __init__(self) -> None:
        super().__init__(None)
        self.policy = Policy()
        self.fact = SessionFact(id=SESSION, workspace_id="w1", created_at=NOW, updated_at=NOW, title="A session")
        self.remembered: dict[str, list[Remembered]] = {"session": [], "workspace": []}
        self.undo: Callable[[UndoWish, bool], UndoReport] = lambda wish, redo: UndoReport(turn_id=None, redo=redo)
        self.begins: Callable[[UserSays], Sequence[LogEvent]] = lambda said: ()
        """The events of the turn that a message begins."""
        self.index = IndexStatus(workspace_id="w1", index_status="ready", watching="events")
        self.finds: Callable[[str, str], SearchResults] = lambda words, kind: SearchResults(query=words)
        """What a search of this kind finds."""
        self.searches: list[str] = []
        self.watch: Callable[[Page], None] = lambda page: None
        """What is done with each window that is opened."""
        self.state = SessionState(title="A session", model=MODEL)
        self.log: list[Any] = []
        self.heard: list[Any] = []
        """What the pages have said, but their hello."""
        self.asked: list[tuple[str, str, Any]] = []
        """Requests over HTTP that change something."""
        self.gone = False
        """The session was deleted."""
        self.forgets = False
        """What a user says is heard, and nothing comes of it: as if the server were killed before it is kept."""
        self.why_not = ""
        """Why it refuses what a user says."""
        self.hellos: list[ClientHello] = []
        self._attending: set[trio_websocket.WebSocketConnection] = set()
        """The pages that were told all there was to tell when they came: what happens they hear as it happens."""
        self.attended = 0
        self._shut: dict[str, trio.Event] = {}
        self._standing: set[str] = set()
        self._names: dict[object, str] = {}
        self._came = threading.Condition()

    # -- for tests

    def say(self, *events: LogEvent) -> None:
        """As the session does: each has its number, and then it is sent, with how things are."""
        self._do(self._say, events)

    def change(self, **state: Any) -> None:
        self._do(self._change, state)

    def begin(self, message: str = "Do it", turn: str = "t1") -> None:
        self.change(running=True, turn_id=turn)
        self.say(UserMessage(message=message, message_id=f"m-{turn}", turn_id=turn, by="web", at=time.time()))

    def end(self, message: str = "", *, turn: str = "t1", **metadata: Any) -> None:
        facts: dict[str, Any] = {"success": True, "turn_id": turn} | metadata
        self.say(MessageFinal(message=message, metadata=FinalMetadata(**facts)))
        self.change(running=False, turn_id=None, requests=(), pending_approvals=())

    def shut(self, *asked: str) -> None:
        """Requests of this kind, such as "GET sessions", and a window's "hello", are answered when it is opened, with
        what is true then."""
        self._do(self._shut_gates, asked)

    def stands(self, asked: str) -> None:
        """Waits until such a request stands at the gate."""
        with self._came:
            assert self._came.wait_for(lambda: asked in self._standing, PATIENCE), asked

    def open(self, asked: str) -> None:
        self._do(self._open_gate, asked)

    def attends(self, windows: int) -> None:
        """Waits until so many windows were told how things stand. What is said from then on is new to them."""
        with self._came:
            assert self._came.wait_for(lambda: self.attended >= windows, PATIENCE), self.attended

    def tell_gone(self) -> None:
        """As the session's stream does when the session was deleted."""
        error = ErrorBody(code="SESSION_NOT_FOUND", message="There is no such session any more.")
        self._do(self._tell, ServerError(error=error))

    def tell_refused(self, why: str) -> None:
        """As the session does when it does not take what the page has said."""
        self._do(self._tell, ServerError(error=ErrorBody(code="INTERNAL", message=why)))

    def hears(self, is_it: Callable[[Any], bool]) -> Any:
        """The first thing that pages have said, or asked to change, of which this holds."""
        with self._came:
            found = self._came.wait_for(lambda: next(filter(is_it, [*self.heard, *self.asked]), None), PATIENCE)
        assert found is not None, [*self.heard, *self.asked]
        return found

    # -- the session

    async def _say(self, events: Sequence[LogEvent]) -> None:
        for event in events:
            numbered = replace(event, seq=len(self.log) + 1)
            self.log.append(numbered)
            if isinstance(event, ASKS) and getattr(event, "requires_approval", True):
                await self._change({"requests": (*self.state.requests, shown(_pending(numbered)))}, tell=False)
            await self._tell(numbered)
        await self._tell(self._now)

    async def _change(self, state: dict[str, Any], tell: bool = True) -> None:
        self.state = replace(self.state, **state)
        self.fact = replace(self.fact, running=self.state.running, pending_approvals=len(self.state.requests))
        if tell:
            await self._tell(self._now)

    @property
    def _now(self) -> SessionStateNow:
        return SessionStateNow(state=replace(self.state, clients=len(self._sockets)), last_seq=len(self.log))

    async def _tell(self, message: object) -> None:
        text = msgspec.json.encode(message).decode()
        for socket in list(self._attending):
            with suppress(trio_websocket.ConnectionClosed):  # whoever leaves is told nothing
                await socket.send_message(text)

    async def _resolve(self, response: ApprovalResponse, by: str) -> None:
        """Raises Unanswerable."""
        asked = [_pending(event) for event in self.log if isinstance(event, ASKS) and self._waits(event)]
        settled = settling(asked, len(self.log), response, by)
        ids = {each.request_id for each in settled.requests}
        left = tuple(each for each in self.state.requests if each.request_id not in ids)
        await self._change({"requests": left}, tell=False)
        lasts = {"remember": settled.remember, "exactly": settled.exactly}
        await self._say([replace(resolved(each), **lasts) for each in settled.requests])

    def _waits(self, event: Any) -> bool:
        return any(each.request_id == event.request_id for each in self.state.requests)

    async def _hear(self, message: Any, by: str, socket: Any) -> None:
        if isinstance(message, ApprovalResponse):
            try:
                await self._resolve(message, by)
            except Unanswerable as why:
                error = ErrorBody(code="INVALID_MESSAGE", message=str(why))
                await socket.send_message(msgspec.json.encode(ServerError(error=error)).decode())
        if isinstance(message, UserSays) and self.why_not:
            error = ErrorBody(code="INTERNAL", message=self.why_not, details={"message_id": message.message_id})
            await socket.send_message(msgspec.json.encode(ServerError(error=error)).decode())
        elif isinstance(message, UserSays) and not self.forgets:
            asked = UserMessage(message=message.message, message_id=message.message_id or "m", turn_id="t1", by=by)
            await self._change({"running": True, "turn_id": "t1"}, tell=False)
            await self._say([asked, *self.begins(message)])
        if isinstance(message, CancelTurn):
            await self._cancel()
        self._note(self.heard, message)

    async def _cancel(self) -> None:
        asked, self.state = self.state.requests, replace(self.state, requests=())
        ends = [ApprovalResolved(request_id=each.request_id, approved=False, ended="cancelled") for each in asked]
        final = MessageFinal(message="", metadata=FinalMetadata(success=False, cancelled=True, turn_id="t1"))
        await self._say([*ends, final])

    async def _shut_gates(self, asked: Sequence[str]) -> None:
        for each in asked:
            self._shut[each] = trio.Event()

    async def _open_gate(self, asked: str) -> None:
        self._standing.discard(asked)
        self._shut.pop(asked).set()

    async def _pass(self, asked: str) -> None:
        if asked in self._shut:
            gate = self._shut[asked]
            with self._came:
                self._standing.add(asked)
                self._came.notify_all()
            await gate.wait()

    def _note(self, where: list[Any], what: Any) -> None:
        with self._came:
            where.append(what)
            self._came.notify_all()

    # -- the port

    async def _answer(self, stream: trio.SocketStream) -> None:
        head, body = b"", b""
        try:
            while b"\r\n\r\n" not in head:
                more = await stream.receive_some()
                if not more:
                    return
                head += more
            top, _, body = head.partition(b"\r\n\r\n")
            length = next(
                (int(line.split(b":")[1]) for line in top.lower().split(b"\r\n") if line.startswith(b"content-length")),
                0,
            )
            while len(body) < length:
                body += await stream.receive_some()
            method, target, _ = top.decode().split("\r\n")[0].split(" ")
            if "/stream?" in target:
                if not self.refusing:
                    await self._attend(Replay(head, stream))
            elif target.startswith("/v1/"):
                found = await self._http(method, target.removeprefix("/v1/"), json.loads(body) if body else None)
                await stream.send_all(answer(msgspec.json.encode(found), "application/json"))
            else:
                await stream.send_all(page("/web/agent/index.html" if target == "/" else target))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def _attend(self, stream: Replay) -> None:
        async with self._guest(stream) as socket:
            hello = _said.decode(await socket.get_message())
            assert isinstance(hello, ClientHello)
            self.hellos.append(hello)
            by = f"{hello.client_info.name} {len(self.hellos)}" if len(self.hellos) > 1 else hello.client_info.name
            info = ServerInfo(version="1", model=MODEL)
            await self._pass("hello")
            hello_back = ServerHello(server_info=info, session_id=SESSION, last_seq=len(self.log))
            await self._catch_up(socket, hello_back, hello.resume_from or 0)
            self._attending.add(socket)
            with self._came:
                self.attended += 1
                self._came.notify_all()
            try:
                while True:
                    await self._hear(_said.decode(await socket.get_message()), by, socket)
            finally:
                self._attending.discard(socket)

    async def _catch_up(self, socket: trio_websocket.WebSocketConnection, hello: ServerHello, seq: int) -> None:
        """Tells what stands in the log after `seq`, until nothing was added to it, and nothing changed, meanwhile."""
        state = None
        await socket.send_message(msgspec.json.encode(hello).decode())
        while state is not self.state or seq < len(self.log):
            if state is not self.state:
                state, message = self.state, self._now
            else:
                message = self.log[seq]
                seq += 1
            await socket.send_message(msgspec.json.encode(message).decode())

    async def _http(self, method: str, path: str, body: Any) -> Any:
        if method != "GET" and path != "tickets":
            self._note(self.asked, (method, path, body))
        if (method, path) == ("DELETE", f"sessions/{SESSION}"):
            self.gone = True
        await self._pass(f"{method} {path.partition('?')[0].partition('/')[0]}")
        match method, path.partition("?")[0].split("/"):
            case "POST", ["tickets"]:
                return StreamTicket(ticket="once", expires_in=60)
            case "GET", ["workspaces"]:
                return [WorkspaceFact(id="w1", path="/home/you/shop", name="shop", created_at=NOW)]
            case "POST", ["workspaces", "register"]:
                return WorkspaceFact(id="w1", path=body["path"], name="shop", created_at=NOW)
            case "POST", ["sessions"]:
                return self.fact
            case "GET", ["models", "current"]:
                return ModelConfig(provider="ollama", model_name="qwen3:8b")
            case "GET", ["sessions"]:
                return [] if self.gone else [self.fact]
            case "GET", ["sessions", _]:
                return self.fact
            case "DELETE", ["sessions", _]:
                return {"success": True}
            case "PATCH", ["sessions", _]:
                return await self._patched(msgspec.convert(body, SessionChange))
            case "GET", [kind, _, "approvals"]:
                return RememberedList(approvals=tuple(self.remembered[kind.removesuffix("s")]))
            case "DELETE", [kind, _, "approvals", id]:
                self.remembered[kind.removesuffix("s")] = [
                    each for each in self.remembered[kind.removesuffix("s")] if each.id != unquote(id)
                ]
                return {"success": True}
            case ("GET", ["workspaces", _, "index", "status"]) | ("POST", ["workspaces", _, "index", "refresh"]):
                return self.index
            case "GET", ["workspaces", _, "search"]:
                fields = parse_qs(path.partition("?")[2])
                self._note(self.searches, fields["q"][0])
                await self._pass("search")
                return self.finds(fields["q"][0], fields["kind"][0])
            case "GET", ["workspaces", _, "policy"]:
                return self.policy
            case "PUT", ["workspaces", _, "policy"]:
                self.policy = merged(self.policy, msgspec.convert(body, PolicyChange))
                return self.policy
            case "POST", ["sessions", _, ("undo" | "redo") as what]:
                return self.undo(msgspec.convert(body, UndoWish), what == "redo")
        raise AssertionError(f"the page asks for {method} {path}")

    async def _patched(self, change: SessionChange) -> SessionFact:
        parts = {
            name: part for name in change.__struct_fields__ if (part := getattr(change, name)) is not msgspec.UNSET
        }
        self.fact = replace(self.fact, **parts)
        if "mode" in parts:
            await self._change({"mode": parts["mode"]})
        return self.fact


def _pending(event: Any) -> Pending:
    return Pending(request_id=event.request_id, call_id="c", tool_name="a tool", asked=event, seq=event.seq)


class ShowAgent(Protocol):
    def __call__(self, **context: Any) -> tuple[Page, AgentStage]: ...


@contextmanager
def showing_agent(chromium: Browser) -> Iterator[ShowAgent]:
    """Opens the page in the scripted session. In the end no page may have reported an error."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(BROWSERS_OWN):
            errors.append(message.text)

    def watch(page: Page) -> None:
        page.on("console", hear)
        page.on("pageerror", lambda error: errors.append(str(error)))

    with ExitStack() as stack:

        def show(**context: Any) -> tuple[Page, AgentStage]:
            stage = stack.enter_context(AgentStage())
            visitor = stack.enter_context(window(chromium, **context))
            stage.watch = watch
            return opened(visitor, stage), stage

        yield show
    assert not errors, errors


def opened(visitor: BrowserContext, stage: AgentStage) -> Page:
    """Another window of the same person, at the session, which it has heard of."""
    page = visitor.new_page()
    stage.watch(page)
    windows = stage.attended + 1
    page.goto(f"{stage.url}{LINK}")
    page.goto(f"{stage.url}#/{SESSION}")
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    expect(page.locator("agent-head h1")).to_have_text("A session")
    stage.attends(windows)
    return page


def meant(target: Locator) -> None:
    """The reader has seen that the focus is there."""
    expect(target).to_be_focused()
    target.page.wait_for_function("part => part.isMeant", arg=target.element_handle())


def request(page: Page, name: str) -> Locator:
    """A request, by the beginning of its name."""
    return page.locator(f"agent-request[aria-label^={json.dumps(name)}]")
