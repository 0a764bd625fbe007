"""Clients of the storm of acting turns: they remember what they see, answer what is asked, and do what an editor does.

    a plain one     answers, or leaves it for later; refuses; approves some hunks; has it remembered
    an editor       applies patches itself, and runs commands in its own terminal, once each, whoever dies meanwhile
    the user        saves files while all of that goes on
"""

import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import trio

from codec.agent.action_events import PatchProposed
from codec.agent.files import digest_of, hex_digest
from codec.agent.patches import FilePatch, applied
from tests.agent.acting_laws import Files, SavedByOthers, StoredSession, files_of, processes_with, word_of
from tests.agent.storm import Contradiction, Event, Scene, Witness
from tests.house.agent_kit import Agent, Window
from transports.websocket.websocket import Closed

ASKS = ("patch.proposed", "tool.request_approval", "command.request_approval")


@dataclass
class ActingScene(Scene):
    """A session with a workspace of its own."""

    work: Path = Path()
    ledger: Path = Path()
    """To which commands add lines."""
    initial: Files = field(default_factory=dict)
    saved: SavedByOthers = field(default_factory=SavedByOthers)
    asked: dict[str, Event] = field(default_factory=dict)
    resolved: dict[str, Event] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    """The calls of which the end was heard."""
    remembered: dict[str, str] = field(default_factory=dict)
    """What was said to be remembered, by the request: where."""
    calls_of: dict[str, int] = field(default_factory=dict)
    """By the id of a message: how many calls its turn makes."""
    message_of: dict[str, str] = field(default_factory=dict)
    """By the id of a turn: that of its message."""
    mark: str = ""
    """With which the words of its commands begin."""
    run_by_clients: dict[str, Event] = field(default_factory=dict)
    """By the word of a command: its result."""
    when_killed: StoredSession | None = None

    @property
    def unapplied(self) -> list[Event]:
        """Patches and commands that are approved, and that an editor may have to do."""
        approved = [id for id, how in self.resolved.items() if how["approved"]]  # noqa: A001
        asked = [self.asked[id] for id in approved if id in self.asked]  # noqa: A001
        return [event for event in asked if event["call_id"] not in self.over]

    def lines(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []


@dataclass
class ActingWitness(Witness):
    scene: ActingScene
    can_act: bool = False
    greeting: Event | None = None
    """The state that it was shown first, until it has seen all that belongs to it."""
    greeted: trio.Event = field(default_factory=trio.Event)
    """It has seen all that was said before it came."""
    news: list[Event] = field(default_factory=list)
    """What it has not reacted to yet."""
    stir: trio.Event = field(default_factory=trio.Event)

    def see(self, message: Event) -> None:
        super().see(message)
        scene, kind = self.scene, message["type"]
        if kind in ASKS:
            scene.asked[message.get("request_id") or message["command_id"]] = message
        elif kind == "approval.resolved":
            scene.resolved[message["request_id"]] = message
            if message["approved"] and message["remember"] != "once":
                scene.remembered[message["request_id"]] = message["remember"]
        elif kind == "user.message" and not message["steers"]:
            scene.message_of[message["turn_id"]] = message["message_id"]
        elif kind == "assistant.message_final":
            self._check_nothing_runs(message["metadata"]["turn_id"])
        elif kind == "tool.execute" and message["status"] != "started":
            scene.over.add(message["call_id"])
        elif kind == "session.state":
            self._check_state(message)
            if self.greeting is None:
                self.greeting = message
        elif kind == "server.pong" and message["timestamp"] == "greeted":
            self._check_greeting()
            self.greeted.set()
        live = self.greeting is not None and message.get("seq", 0) > self.greeting["last_seq"]
        if live and (kind in ASKS or kind == "approval.resolved"):  # what is told again was told to others
            self.news.append(message)
            self.stir.set()

    def _check_state(self, message: Event) -> None:
        """What was resolved does not wait again."""
        for request in message["state"]["requests"]:
            how = self.scene.resolved.get(request["request_id"])
            if how is not None and how["seq"] <= message["last_seq"]:
                raise Contradiction(f"{request} waits, and was resolved: {how}")

    def _check_nothing_runs(self, turn_id: str) -> None:
        left = processes_with(f"{self.scene.mark}{self.scene.message_of[turn_id]}-")
        if left:
            raise Contradiction(f"the last word of {turn_id} is said, and of its commands are left: {left}")

    def _check_greeting(self) -> None:
        """Whatever a client was asked, and nobody has settled, waits when another one comes."""
        assert self.greeting is not None
        shown = {each["request_id"] for each in self.greeting["state"]["requests"]}
        for id, asked in self.scene.asked.items():  # noqa: A001
            if asked["seq"] > self.greeting["last_seq"] or id in self.scene.resolved or id in shown:
                continue
            if asked.get("requires_approval", True):
                raise Contradiction(f"{asked} was asked, was not settled, and does not wait any more: {self.greeting}")

    @asynccontextmanager
    async def attached(self, agent: Agent) -> AsyncIterator[Window]:
        self.greeting, self.greeted, self.news = None, trio.Event(), []
        async with agent.visitor.stream(self.scene.session) as visit:
            window = Window(visit)
            capabilities = ["token_delta"] if self.delta else []
            capabilities += ["patch_apply", "terminal_exec"] if self.can_act else []
            info = {"name": "an editor" if self.can_act else "a witness", "capabilities": capabilities}
            await window.say("client.hello", resume_from=self.last, client_info=info)
            await window.say("client.ping", timestamp="greeted")
            yield window

    # -- it reacts

    async def react(self, window: Window, draw: random.Random, *, eager: bool = False) -> None:
        """Answers what is asked, now or never. `eager`: it approves all, and leaves nothing."""
        with suppress(Closed):
            await self.greeted.wait()
            assert self.greeting is not None
            waiting = [each["request_id"] for each in self.greeting["state"]["requests"]]
            self.news = [self.scene.asked[id] for id in waiting if id in self.scene.asked] + self.news  # noqa: A001
            if self.can_act:
                left = self.greeting["state"]["pending_patches"]
                self.news += [each for each in self.scene.unapplied if each.get("patch_id") in left]
            while True:
                for each in self._taken():
                    await self._react(window, each, draw, eager=eager)
                self.stir = trio.Event()
                if not self.news:
                    await self.stir.wait()

    def _taken(self) -> list[Event]:
        taken, self.news = self.news, []
        return taken

    async def _react(self, window: Window, event: Event, draw: random.Random, *, eager: bool) -> None:
        if event["type"] == "approval.resolved":
            asked = self.scene.asked.get(event["request_id"])
            if self.can_act and event["approved"] and asked is not None and (eager or draw.random() < 0.9):
                await self._act(window, asked, event)
            return
        id = event.get("request_id") or event["command_id"]  # noqa: A001
        known = self.scene.resolved.get(id)
        if known is not None:
            if self.can_act and known["approved"]:
                await self._act(window, event, known)
            return
        if not event.get("requires_approval", True):
            if self.can_act and event["type"] == "command.request_approval":
                await self._act(window, event, None)
            return
        what = 0.3 if eager else draw.random()
        if what < 0.2 and not eager:
            return  # it is left to whoever comes
        if not eager:
            await trio.sleep(draw.choice([0.0, 0.005, 0.05]) * draw.random())
        if what < 0.3 and self.can_act and event["type"] != "tool.request_approval":
            await self._act(window, event, None)  # consent and result at once
        elif what < 0.42 and not eager:
            await window.say("client.approval_response", request_id=id, approved=False, reason="not now")
        elif what < 0.55 and len(event.get("hunks") or ()) > 1:
            hunks = sorted(draw.sample(range(len(event["hunks"])), draw.randrange(1, len(event["hunks"]))))
            await window.say("client.approval_response", request_id=id, approved=True, scope="hunk", hunks=hunks)
        else:
            fields: Event = {"scope": draw.choice(["all", "file"])}
            if draw.random() < 0.1 and not eager:
                fields["remember"] = draw.choice(["session", "workspace"])
            await window.say("client.approval_response", request_id=id, approved=True, **fields)

    # -- as an editor does

    async def _act(self, window: Window, asked: Event, how: Event | None) -> None:
        if asked["type"] == "patch.proposed":
            await window.say("client.patch_apply_result", **self._applied(asked, how))
        elif asked["type"] == "command.request_approval" and asked["execution_mode"] == "local_terminal":
            await window.say("client.command_result", **self._run(asked))

    def _applied(self, asked: Event, how: Event | None) -> Event:
        said: Event = {"patch_id": asked["patch_id"], "file_path": asked["file_path"]}
        path = self.scene.work / asked["file_path"]
        base = path.read_bytes() if path.exists() else None
        if (None if base is None else hex_digest(base)) != asked["base_hash"]:
            return {**said, "success": False, "error": {"message": "It has changed.", "type": "conflict"}}
        proposed = msgspec.convert({**asked, "seq": asked["seq"]}, PatchProposed)
        patch = FilePatch(path=proposed.file_path, action=proposed.action, hunks=proposed.hunks)
        made = applied(base, patch, only=None if how is None else how.get("hunks"))
        assert not made.refusals, (asked, made)
        self.save(asked["file_path"], made.data)
        return {**said, "success": True, "applied_hash": None if made.data is None else digest_of(made.data)}

    def save(self, name: str, data: bytes | None) -> None:
        path = self.scene.work / name
        self.scene.saved.note(name, None if data is None else digest_of(data))
        if data is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.scene.work.parent / f"saving-{id(self)}"
        beside.write_bytes(data)
        os.replace(beside, path)

    def _run(self, asked: Event) -> Event:
        """In its own terminal: once, and its result is told as often as one likes."""
        word = word_of(asked["command"])
        if word not in self.scene.run_by_clients:
            with self.scene.ledger.open("a") as ledger:
                ledger.write(f"begun {word}\nover {word}\n")
            self.scene.run_by_clients[word] = {
                "command_id": asked["command_id"],
                "command": asked["command"],
                "exit_code": 0,
                "stdout": "it was run in a terminal\n",
                "duration_ms": 3,
            }
        return self.scene.run_by_clients[word]

    async def edit(self, draw: random.Random) -> None:
        """The user saves a file now and then."""
        for number in range(1000):
            await trio.sleep(draw.choice([0.05, 0.3]) * draw.random())
            paths = [path for path in files_of(self.scene.work) if path.endswith(".txt")]
            if not paths:
                continue
            name = draw.choice(paths)
            with suppress(FileNotFoundError):
                text = (self.scene.work / name).read_text()
                anchor = f"# {draw.choice(['top', 'middle', 'middle'])} {name}\n"
                new = text.replace(anchor, f"{anchor}the user's {number} {draw.randrange(10**6)}\n", 1)
                if new != text:
                    self.save(name, new.encode())


