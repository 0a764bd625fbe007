"""Talks to the agent of a real server, and kills the server again and again at random moments of a scripted turn.

The law, as witnessed by clients that live through it (they connect again, and say again what nobody has shown them):

    one log         whatever number a client has seen, it has seen the same event there as every other client. Of
                    tokens: the text of the turn up to that number is the same, however they came and were joined.
    no gap          what is stored is numbered without a hole, but where a kill has cost tokens: then the next event is
                    the notice. Of text that was seen, only its end may be missing.
    no loss         whatever was seen with a number, and is no token, is in the log. A message that was shown to wait is
                    said, once; so is one that a client repeats with its id.
    one end         each turn has one message_final, and nothing comes after that. One that was under way when the
                    server died was interrupted, and keeps a prefix of what was seen, or all of that and more.

    .venv/bin/python -m tests.agent.storm --rounds 200 --seed 1
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import trio

from actors.agent.log import SPACE
from actors.store.operations import Read
from actors.store.reader import Reader
from codec.agent.kept import numbers_of
from tests.agent.fakes.script import MODELS
from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import Server, server
from transports.agent.client import AgentRefused
from transports.websocket.client import Unreachable
from transports.websocket.websocket import Closed

PATIENCE = 60.0
LONGEST_LIFE = 1.5
MODEL = MODELS[0].name
ORDERS = (
    "!long 5",
    "!long 40",
    "!long 150",
    "!long 600",
    "!long 3000",
    "!think and then some words",
    '!call read_file {"file_path": "a.txt"}',
    '!call read_file {"file_path": "not there"}',
    '!call search_text {"query": "needle"}',
    '!call update_plan {"steps": [{"step_number": 1, "description": "look"}], "current_step": 1}',
    "!hang",
    "!die",
    "!leave",
    "!garbage",
    "!error out of memory",
    "!refuse 500",
    "what is this?",
)
LONG = "!long 3000"
CALM = 0.5
"""So often somebody asks for a long answer and lets the model speak: then a kill falls between what was sent and what
was stored: a number that is used again is found only then."""
Event = dict[str, Any]


class Contradiction(AssertionError):
    """Clients have seen what cannot both be true."""


@dataclass
class Scene:
    """A session, and all that its clients have ever seen of it."""

    session: str
    facts: dict[int, str] = field(default_factory=dict)
    """By number: what is no token."""
    spoken: dict[int, str] = field(default_factory=dict)
    """By number of a token: the text of its turn up to there."""
    said: dict[str, Event] = field(default_factory=dict)
    """By id: what the user has said."""
    waited: set[str] = field(default_factory=set)
    """The ids of messages that were shown to wait."""
    unrepeated: set[str] = field(default_factory=set)
    """The ids of messages that are said once, come what may."""
    withdrawn: set[str] = field(default_factory=set)
    witnesses: list["Witness"] = field(default_factory=list)

    @property
    def unheard(self) -> list[str]:
        """The ids of messages that have to be said again, in the order in which they were said."""
        shown = {json.loads(fact)["message_id"] for fact in self.facts.values() if '"user.message"' in fact}
        return [each for each in self.said if each not in shown | self.waited | self.unrepeated | self.withdrawn]

    def text_at(self, seq: int) -> str:
        """What the turn that is under way at this number has said up to there, as far as anybody has seen it."""
        for number in sorted((each for each in self.facts | self.spoken if each <= seq), reverse=True):
            if number in self.spoken:
                return self.spoken[number]
            fact = json.loads(self.facts[number])
            if fact["type"] == "assistant.message_final" or (fact["type"] == "user.message" and not fact["steers"]):
                break
        return ""

    def fact(self, seq: int, event: Event) -> None:
        text = json.dumps(event, sort_keys=True)
        if seq in self.spoken:
            raise Contradiction(f"{seq} was a token of {self.spoken[seq][-40:]!r}, and is {text}")
        if json.loads(self.facts.setdefault(seq, text)) != event:  # 0 and 0.0 are the same
            raise Contradiction(f"{seq} was {self.facts[seq]}, and is {text}")

    def token(self, before: int, seq: int, text: str) -> None:
        """A client that had seen `before` has seen this text when it saw the token `seq`."""
        other = [number for number in range(before + 1, seq + 1) if number in self.facts]
        if other:
            raise Contradiction(f"the token {seq} after {before} stands for {[self.facts[each] for each in other]}")
        if self.spoken.setdefault(seq, text) != text:
            raise Contradiction(f"the text up to {seq} was {self.spoken[seq][-60:]!r}, and is {text[-60:]!r}")


@dataclass
class Witness:
    """A client that remembers what it has seen, through any number of connections."""

    scene: Scene
    delta: bool
    last: int = 0
    text: str = ""
    finals: int = 0
    state: Event = field(default_factory=dict)

    def see(self, message: Event) -> None:
        scene, kind, seq = self.scene, message["type"], message.get("seq")
        if kind == "session.state":
            self.state = message["state"]
            scene.waited.update(each["message_id"] for each in self.state["queued"])
        if seq is None:
            return
        if seq <= self.last:
            raise Contradiction(f"after {self.last} came {seq}: {message}")
        if kind == "assistant.token":
            self.text = self.text + message["token"] if self.delta else message["cumulative_text"]
            if not self.text.endswith(message["token"]):
                raise Contradiction(f"the cumulative text at {seq} does not end with its token: {message}")
            scene.token(self.last, seq, self.text)
        else:
            scene.fact(seq, message)
            if kind == "assistant.message_final":
                self.finals += 1
            if kind == "assistant.message_final" or (kind == "user.message" and not message["steers"]):
                self.text = ""
        self.last = seq

    @asynccontextmanager
    async def attached(self, agent: Agent) -> AsyncIterator[Window]:
        async with agent.visitor.stream(self.scene.session) as visit:
            window = Window(visit)
            capabilities = ["token_delta"] if self.delta else []
            info = {"name": "a witness", "capabilities": capabilities}
            await window.say("client.hello", resume_from=self.last, client_info=info)
            yield window

    async def watch(self, window: Window) -> None:
        """Until the connection ends."""
        while True:
            message: Event = json.loads(await window.visit.receive())
            self.see(message)

    async def until_seen(self, window: Window, seq: int) -> None:
        with trio.fail_after(PATIENCE):
            while self.last < seq:
                self.see(json.loads(await window.visit.receive()))


@dataclass
class AgentStorm:
    folder: Path
    model: str
    """The address of the fake."""
    seed: int
    scenes: list[Scene] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    lost: int = 0
    """Characters that a client had seen, and that are not kept: the most of any turn."""

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self.work = self.folder / "work"
        self.work.mkdir(parents=True)
        (self.work / "a.txt").write_text("a needle\n" * 30)

    def life(self) -> None:
        """Clients talk with two sessions, until the server dies."""
        by = self._draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        if self.scenes and self._draw.random() < 0.15:  # as it starts, and mends what the last kill left
            with server(self.folder, "--set", f"agent.ollama={self.model}") as house:
                time.sleep(self._draw.random() * 1.2)
                house.process.send_signal(by)
                house.ended()
            self.ends[f"{by.name} as it starts"] += 1
        else:
            with agent_server(self.folder, self.model) as house:
                trio.run(self._talk, house, by)
                house.ended()
                assert "Traceback" not in house.said, house.said
            self.ends[by.name] += 1
        self.kills += by is signal.SIGKILL

    async def _talk(self, house: Server, by: signal.Signals) -> None:
        agent = Agent(house)
        while len(self.scenes) < 2 or (len(self.scenes) < 6 and self._draw.random() < 0.3):
            self.scenes.append(Scene(await agent.session(self.work, model=MODEL)))
        async with trio.open_nursery() as nursery:
            for scene in self.scenes[-2:]:
                scene.witnesses += [Witness(scene, delta) for delta in (True, False) if len(scene.witnesses) < 4]
                for witness in scene.witnesses:
                    draw = random.Random(self._draw.random())
                    nursery.start_soon(self._live, agent, witness, draw, witness is scene.witnesses[0])
            await trio.sleep(self._draw.random() * self._draw.choice([0.2, LONGEST_LIFE]))
            house.process.send_signal(by)
            await trio.to_thread.run_sync(house.process.wait)
            nursery.cancel_scope.deadline = trio.current_time() + 1.0  # what is still in the sockets is heard

    async def _live(self, agent: Agent, witness: Witness, draw: random.Random, speaks: bool) -> None:
        """Connects, talks and leaves, until nobody is there."""
        with suppress(Unreachable, AgentRefused, FileNotFoundError):  # a server that ends well takes its address away
            while True:
                with suppress(Closed):
                    async with witness.attached(agent) as window, trio.open_nursery() as nursery:
                        if speaks:
                            nursery.start_soon(self._speak, witness.scene, window, draw)
                        with suppress(Closed), trio.move_on_after(10.0 if speaks else draw.random()):
                            await witness.watch(window)
                        nursery.cancel_scope.cancel()

    async def _speak(self, scene: Scene, window: Window, draw: random.Random) -> None:
        with suppress(Closed):
            for id in scene.unheard:  # noqa: A001
                await window.say("client.user_message", **scene.said[id])
            if draw.random() < CALM:
                await window.say("client.cancel")
                await self._order(scene, window, draw, LONG)
                await trio.sleep_forever()
            while True:
                await self._say_something(scene, window, draw)
                await trio.sleep(draw.choice([0.0, 0.02, 0.1, 0.5]) * draw.random())

    async def _say_something(self, scene: Scene, window: Window, draw: random.Random) -> None:
        what = draw.random()
        if what < 0.6:
            await self._order(scene, window, draw, draw.choice(ORDERS))
        elif what < 0.8:
            await window.say("client.cancel")
        elif what < 0.9:
            output = {"stdout": "y" * draw.choice([9, 9999])}
            await window.say("client.context_update", updates={"terminal_output": output})
        elif scene.waited:
            id = draw.choice(sorted(scene.waited))  # noqa: A001
            scene.withdrawn.add(id)
            await window.say("client.withdraw", message_id=id)

    async def _order(self, scene: Scene, window: Window, draw: random.Random, order: str) -> None:
        id = f"{len(scene.said)}-{draw.randrange(10**6)}"  # noqa: A001
        fields: Event = {"message": order, "message_id": id, "delivery": draw.choice(["queue", "steer"])}
        if draw.random() < 0.3:
            fields["context"] = {"terminal_output": {"command": "make", "stdout": "x" * draw.choice([10, 50_000])}}
        if draw.random() < 0.3:
            scene.unrepeated.add(id)
        scene.said[id] = fields
        for _ in range(draw.choice([1, 1, 2])):  # the same id is the same message
            await window.say("client.user_message", **fields)

    # -- afterwards

    def settle(self) -> None:
        """All that waits is answered, and then the log is compared with what was ever seen of it."""
        with agent_server(self.folder, self.model) as house:
            trio.run(self._settle, house)
            restarted = [node for node in house.json("/tree.json")["nodes"] if node["restarts"]]
            assert restarted == []
            assert house.stop() == 0, house.said
            assert "Traceback" not in house.said, house.said
        with Reading(self.folder / "state" / "troupe.db") as reader:
            for scene in self.scenes:
                self._check_stored(scene, reader)

    async def _settle(self, house: Server) -> None:
        agent = Agent(house)
        for scene in self.scenes:
            witness = scene.witnesses[0] if scene.witnesses else Witness(scene, True)
            async with witness.attached(agent) as window:
                await self._until_idle(scene, witness, window)
            whole = Witness(scene, True)  # sees it all in one piece
            heard: list[Event] = []
            async with whole.attached(agent) as window:
                with trio.fail_after(PATIENCE):
                    while whole.last < witness.last:
                        heard.append(message := json.loads(await window.visit.receive()))
                        whole.see(message)
            log = [message for message in heard if "seq" in message]
            self._check(scene, log)
            await self._read_in_pieces(agent, scene, witness.last)
            await self._read_over_http(agent, scene, log)

    async def _until_idle(self, scene: Scene, witness: Witness, window: Window) -> None:
        """Repeats what nobody was shown, and ends what waits."""
        with trio.fail_after(PATIENCE):
            while not witness.state:
                witness.see(json.loads(await window.visit.receive()))
            for id in scene.unheard:  # noqa: A001
                await window.say("client.user_message", **scene.said[id])
                await window.say("client.ping", timestamp=id)
            await window.say("client.cancel")
            await window.say("client.ping", timestamp="all")
            ponged = False
            while not ponged or witness.state["running"] or witness.state["queued"]:
                message = json.loads(await window.visit.receive())
                witness.see(message)
                if message["type"] == "server.pong":
                    ponged = ponged or message["timestamp"] == "all"
                if message["type"] == "session.state" and message["state"]["running"]:
                    await window.say("client.cancel")

    async def _read_in_pieces(self, agent: Agent, scene: Scene, last: int) -> None:
        """A client that resumes anywhere sees exactly what follows there."""
        stored = sorted(seq for seq in (scene.facts | scene.spoken) if seq < last)
        for seq in self._draw.sample(stored, min(4, len(stored))):
            witness = Witness(scene, self._draw.random() < 0.5, last=seq, text=scene.text_at(seq))
            if witness.delta and seq in scene.spoken and not self._kept(scene, seq):
                continue
            async with witness.attached(agent) as window:
                await witness.until_seen(window, last)

    def _kept(self, scene: Scene, seq: int) -> bool:
        """Whether this text is kept as it was seen."""
        end = min((number for number in scene.facts if number > seq), default=0)
        final = json.loads(scene.facts[end]) if end else {}
        return not (final.get("metadata") or {}).get("interrupted", False)

    async def _read_over_http(self, agent: Agent, scene: Scene, log: list[Event]) -> None:
        after, events = 0, []
        while True:
            page = await agent.ask("GET", f"sessions/{scene.session}/events?after={after}&limit=50")
            events += page["events"]
            after = page["after"]
            if not page["more"]:
                break
        assert _values(facts_of(events)) == _values(facts_of(log))
        words = ["".join(each["token"] for each in told if each["type"] == "assistant.token") for told in (events, log)]
        assert words[0] == words[1]
        listed = await agent.ask("GET", f"sessions/{scene.session}/messages")
        asked = [each["id"] for each in listed if each["role"] == "user"]
        assert asked == [each["message_id"] for each in log if each["type"] == "user.message"]
        fact = await agent.ask("GET", f"sessions/{scene.session}")
        assert not fact.get("running"), fact

    def _check(self, scene: Scene, log: list[Event]) -> None:
        """`log`: all of it, as one client was told it."""
        facts = facts_of(log)
        missing = sorted(set(scene.facts) - set(facts))
        assert not missing, f"{len(missing)} events were seen and are not there: {scene.facts[missing[0]]}"
        numbers = [event["seq"] for event in log]
        assert all(one < other for one, other in pairwise(numbers))
        said = Counter(event["message_id"] for event in log if event["type"] == "user.message")
        assert not (twice := [each for each, times in said.items() if times > 1]), f"said twice: {twice}"
        assert set(said) <= set(scene.said)
        lost = [each for each in scene.waited - scene.withdrawn if each not in said]
        assert not lost, f"waited, and was never said: {lost}"
        self._check_turns(scene, log)

    def _check_turns(self, scene: Scene, log: list[Event]) -> None:
        turn, text = None, ""
        for event in log:
            kind = event["type"]
            if kind in ("model.changed", "turn.undone"):
                continue
            if kind == "user.message" and not event["steers"]:
                assert turn is None, f"a turn begins in another: {event}"
                turn, text = event, ""
                continue
            assert turn is not None, f"an event of no turn: {event}"
            if kind == "assistant.token":
                text += event["token"]
            elif kind == "assistant.message_final":
                self._check_end(scene, turn, event, text)
                turn = None
        assert turn is None, f"a turn without an end: {turn}"

    def _check_end(self, scene: Scene, turn: Event, final: Event, text: str) -> None:
        metadata = final["metadata"]
        assert metadata["turn_id"] == turn["turn_id"]
        assert final["message"].strip() == text.strip(), (final["message"][-80:], text[-80:])
        outcome = next((how for how in ("success", "cancelled", "interrupted") if metadata[how]), "failed")
        self.ends[f"turns, {outcome}"] += 1
        assert metadata["success"] + metadata["cancelled"] + metadata["interrupted"] <= 1
        seen = [scene.spoken[seq] for seq in range(turn["seq"], final["seq"]) if seq in scene.spoken]
        for each in seen:
            if len(each) > len(text):
                assert metadata["interrupted"], f"{each[-60:]!r} was seen, and is not kept, though nothing broke"
                assert each.startswith(text)
                self.lost = max(self.lost, len(each) - len(text))
            else:
                assert text.startswith(each)

    def _check_stored(self, scene: Scene, reader: Reader) -> None:
        """Numbers have no hole, but before a notice."""
        stream, position, expected = f"{SPACE}/{scene.session}", 0, 1
        holes = 0
        while page := reader.execute([Read(stream, position)])[0]:
            assert isinstance(page, list), page
            for position, entry in page:  # noqa: B007 - the next page begins after the last one
                first, last = numbers_of(entry)
                if first != expected:
                    notice = json.loads(scene.facts[first])
                    assert first > expected, f"{first} comes after {expected - 1}"
                    assert notice["type"] == "assistant.message_final", notice
                    assert notice["metadata"]["interrupted"], notice
                    holes += 1
                expected = last + 1
        assert expected - 1 == max(scene.facts, default=0)
        assert holes <= self.kills, (holes, self.kills)


class Reading:
    def __init__(self, database: Path) -> None:
        self._reader = Reader(database)

    def __enter__(self) -> Reader:
        return self._reader

    def __exit__(self, *_: object) -> None:
        self._reader.close()


def facts_of(events: list[Event]) -> dict[int, str]:
    return {each["seq"]: json.dumps(each, sort_keys=True) for each in events if each["type"] != "assistant.token"}


def _values(facts: dict[int, str]) -> dict[int, Event]:
    return {seq: json.loads(text) for seq, text in facts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=200, help="how often a server is ended")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    seed, lost = options.seed, 0
    with fake_model("--rate", "300") as model:
        while (done := sum(count for what, count in ends.items() if what.startswith("SIG"))) < options.rounds:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                storm = AgentStorm(Path(folder), model, seed)
                for _ in range(min(5, options.rounds - done)):
                    storm.life()
                storm.settle()
            ends += storm.ends
            lost = max(lost, storm.lost)
            events = sum(len(scene.facts) + len(scene.spoken) for scene in storm.scenes)
            sys.stdout.write(f"seed {seed}: {storm.ends}, {events:,} numbers seen, {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
            seed += 1
    told = ", ".join(f"{count} {what}" for what, count in sorted(ends.items()))
    sys.stdout.write(f"{told}; at most {lost} characters of a turn were seen and are not kept\n")


if __name__ == "__main__":
    main()
