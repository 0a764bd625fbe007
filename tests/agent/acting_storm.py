"""Lets the agent of a real server write, delete, ask and run, and kills the server again and again in the middle of it.

Clients answer, or leave it for the next life; an editor applies patches itself; the user saves files; turns are undone
and done again. After each end of a server, its log as it is stored, the files, the lines that commands have left and
the processes of this machine say whether the laws hold (acting_laws.py); clients say whether what they have seen is
true (acting_clients.py, storm.py). At last all that waits is answered, each turn is undone, and done again.

    .venv/bin/python -m tests.agent.acting_storm --rounds 200 --seed 1
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio

from tests.agent.acting_clients import ActingScene, ActingWitness
from tests.agent.acting_laws import (
    Folded,
    check_after_a_kill,
    check_changes,
    check_commands,
    check_requests,
    check_turns,
    copied_store,
    descendants_of,
    drafts_of,
    files_of,
    processes_with,
    still_there,
    stored_session,
)
from tests.agent.fakes.script import MODELS
from tests.agent.storm import AgentStorm, Event
from tests.house.agent_kit import Agent, Window, agent_server, fake_model
from tests.house.running import Server, server
from transports.agent.client import AgentRefused
from transports.websocket.client import Unreachable
from transports.websocket.websocket import Closed

PATIENCE = 60.0
LONGEST_LIFE = 3.0
LIVES = 5
"""Of servers over the same state."""
GONE_SECONDS = 5.0
"""For the processes of a killed server: a second, and four for a busy machine."""
MODEL = MODELS[0].name
NAMES = ("a.txt", "b.txt", "c.txt", "deep/d.txt", "deep/er/e.txt")
ASKING: Event = {"execution_mode": "server_runner", "patch_application": "server", "command_approval": "prompt"}
POLICIES: Sequence[tuple[str, bool, Event]] = (
    ("ask", False, ASKING),
    ("ask", True, {}),
    ("auto", False, {**ASKING, "command_approval": "never"}),
    ("ask", False, {**ASKING, "auto_approve_simple_changes": True}),
)
"""The mode, whether its first client is an editor, and the policy."""
MOMENTS: Sequence[Callable[[Event], bool]] = (
    lambda message: message["type"] == "approval.resolved",
    lambda message: message["type"] == "patch.proposed",
    lambda message: message["type"] in ("tool.request_approval", "command.request_approval"),
    lambda message: message["type"] == "file.changed" and message["status"] == "begun",
    lambda message: message["type"] == "file.changed" and message["status"] == "done",
    lambda message: message["type"] == "tool.execute",
    lambda message: message["type"] in ("command.started", "command.output"),
    lambda message: message["type"] == "command.finished",
    lambda message: message["type"] == "turn.undone",
    lambda message: message["type"] == "assistant.message_final",
    lambda message: False,
)
"""A server dies soon after such a message, or at any moment."""


def text_of(name: str, version: str) -> str:
    lines = [f"# top {name}", f"version {version}"]
    lines += [f"the line {number} of {name}" for number in range(30)]
    lines += [f"# middle {name}"]
    lines += [f"the line {number} of {name}" for number in range(30, 60)]
    return "\n".join([*lines, f"# bottom {name}", ""])


@dataclass
class ActingStorm(AgentStorm):
    acting: list[ActingScene] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    """What was heard in the storm, for whoever wants to know whether it is one."""
    kept: Counter[str] = field(default_factory=Counter)
    """What stands in the logs after it."""
    slowest: float = 0.0
    """Until the processes of a killed server were gone."""
    drafts: int = 0
    """That a killed server has left until the next one."""

    # -- a life

    def life(self) -> None:
        by = self._draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        if self.acting and self._draw.random() < 0.1:  # as it starts, and mends what the last kill left
            with server(self.folder, "--set", f"agent.ollama={self.model}") as house:
                time.sleep(self._draw.random() * 1.5)
                self._end(house, by)
            self.ends[f"{by.name} as it starts"] += 1
        else:
            with agent_server(self.folder, self.model) as house:
                trio.run(self._live_and_die, house, by)
            self.ends[by.name] += 1
        self.kills += by is signal.SIGKILL
        self.check_stored()

    def _end(self, house: Server, by: signal.Signals) -> None:
        processes = descendants_of(house.process.pid)
        house.process.send_signal(by)
        house.process.wait()
        began = time.monotonic()
        while left := [*still_there(processes), *processes_with(self._mark)]:
            assert time.monotonic() - began < GONE_SECONDS, f"of the killed server are left: {left}"
            time.sleep(0.01)
        self.slowest = max(self.slowest, time.monotonic() - began)
        house.ended()
        assert "Traceback" not in house.said, house.said
        said = [line for line in house.said.splitlines() if '"error"' in line]
        assert not said, "\n".join(said)

    @property
    def _mark(self) -> str:
        """With which the words begin that its commands leave, and theirs alone on this machine."""
        return f"storm-{os.getpid()}-{self.seed}-"

    async def _live_and_die(self, house: Server, by: signal.Signals) -> None:
        agent = Agent(house)
        while len(self.acting) < 2 or (len(self.acting) < len(POLICIES) and self._draw.random() < 0.5):
            self.acting.append(await self._scene(agent))
        self._dies, moment = trio.Event(), self._draw.choice(MOMENTS)
        left = self._draw.choice([1, 1, 2, 3, 5])
        async with trio.open_nursery() as nursery:

            def look(message: Event) -> None:
                nonlocal left
                if moment(message):
                    left -= 1
                    if left == 0:
                        self._dies.set()

            for scene in self._draw.sample(self.acting, 2):
                for number in (0, 1) if self._draw.random() < 0.5 else (0,):
                    witness = scene.witnesses[number]
                    assert isinstance(witness, ActingWitness)
                    draw = random.Random(self._draw.random())
                    nursery.start_soon(self._attend, agent, witness, draw, number == 0, look)
                if self._draw.random() < 0.3:
                    editor = scene.witnesses[0]
                    assert isinstance(editor, ActingWitness)
                    nursery.start_soon(editor.edit, random.Random(self._draw.random()))
            with trio.move_on_after(self._draw.uniform(0.3, LONGEST_LIFE)):
                await self._dies.wait()
                await trio.sleep(self._draw.choice([0.0, 0.002, 0.02, 0.1]) * self._draw.random())
            for _ in range(2):  # who edits is not to be in the middle of it
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.deadline = trio.current_time() + 1.0  # what is still in the sockets is heard
            await trio.to_thread.run_sync(self._end, house, by)
            nursery.cancel_scope.cancel()

    async def _scene(self, agent: Agent) -> ActingScene:
        number = len(self.acting)
        mode, is_editor, policy = POLICIES[number]
        work = self.folder / f"work-{number}"
        for name in NAMES:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text_of(name, "0"))
        place = await agent.ask("POST", "workspaces/register", {"path": str(work)})
        await agent.ask("PUT", f"workspaces/{place['id']}/policy", policy)
        session = await agent.session(work, model=MODEL, mode=mode, context_window=131072)
        ledger = self.folder / f"ledger-{number}.txt"
        scene = ActingScene(session, work=work, ledger=ledger, initial=files_of(work), mark=self._mark)
        scene.witnesses += [ActingWitness(scene, True, can_act=is_editor), ActingWitness(scene, False)]
        return scene

    # -- clients

    async def _attend(
        self,
        agent: Agent,
        witness: ActingWitness,
        draw: random.Random,
        speaks: bool,
        look: Callable[[Event], None],
    ) -> None:
        """Connects, talks, answers and leaves, until nobody is there."""

        async def watch(window: Window) -> None:
            while True:
                message: Event = json.loads(await window.visit.receive())
                witness.see(message)
                self.done[message["type"]] += 1
                look(message)

        with suppress(Unreachable, AgentRefused, FileNotFoundError, json.JSONDecodeError):
            while True:
                with suppress(Closed):
                    async with witness.attached(agent) as window, trio.open_nursery() as nursery:
                        nursery.start_soon(witness.react, window, draw)
                        if speaks:
                            nursery.start_soon(self._talk_on, agent, witness, window, draw)
                        with suppress(Closed), trio.move_on_after(draw.choice([0.3, 2.0, 9.0])):
                            await watch(window)
                        nursery.cancel_scope.cancel()

    async def _talk_on(self, agent: Agent, witness: ActingWitness, window: Window, draw: random.Random) -> None:
        scene = witness.scene
        with suppress(Closed, Unreachable, AgentRefused):
            for id in scene.unheard:  # noqa: A001
                await window.say("client.user_message", **scene.said[id])
            while True:
                state = witness.state
                if len(state.get("queued", ())) < 2 and (not state.get("running") or draw.random() < 0.1):
                    await self._order_acts(scene, window, draw)
                await trio.sleep(draw.choice([0.02, 0.2, 0.5]) * draw.random())
                what = draw.random()
                if what < 0.05:
                    await window.say("client.cancel")
                elif what < 0.25 and not witness.state.get("running"):
                    redo = draw.choice(["undo", "undo", "redo"])
                    report = await agent.ask(
                        "POST", f"sessions/{scene.session}/{redo}", {"preview": draw.random() < 0.2}
                    )
                    self.done[f"{redo}: {len(report['files'])} files"] += 1

    async def _order_acts(self, scene: ActingScene, window: Window, draw: random.Random) -> None:
        id = f"{len(scene.said)}-{draw.randrange(10**6)}"  # noqa: A001
        rounds = [
            [self._call(scene, draw, f"{id}-{number}-{place}") for place in range(draw.choice([1, 1, 2]))]
            for number in range(draw.choice([1, 2, 3]))
        ]
        scene.calls_of[id] = sum(map(len, rounds))
        scene.said[id] = {"message": f"!rounds {json.dumps(rounds)}", "message_id": id}
        await window.say("client.user_message", **scene.said[id])

    def _order_last(self, scene: ActingScene) -> None:
        """A turn that writes, asks and runs in the calm after the storm, however little the lives before have done."""
        id = f"{len(scene.said)}-last"  # noqa: A001
        new = f"last-{id}.txt"
        rounds = [[("write_file", {"file_path": new, "content": text_of(new, id)})], [self._command(scene, id)]]
        scene.calls_of[id] = 2
        scene.said[id] = {"message": f"!rounds {json.dumps(rounds)}", "message_id": id}

    def _call(self, scene: ActingScene, draw: random.Random, id: str) -> tuple[str, Event]:  # noqa: A002
        what, name = draw.random(), draw.choice(NAMES)
        if what < 0.3:
            names = draw.sample(NAMES, draw.choice([1, 2, 4]))
            edits = [
                {"file_path": each, "old": f"{anchor}\n", "new": f"{anchor}\nadded {id}\n"}
                for each in names
                for anchor in draw.sample([f"# top {each}", f"# bottom {each}"], draw.choice([1, 2, 2]))
            ]
            return "propose_diff", {"edits": edits, "rationale": "It is better."}
        if what < 0.45:
            return "write_file", {"file_path": name, "content": text_of(name, id)}
        if what < 0.55:
            new = f"{draw.choice(['', 'deep/', 'new/'])}made-{id}.txt"
            return "write_file", {"file_path": new, "content": text_of(new, id)}
        if what < 0.65:
            return "delete_file", {"file_path": name, "reason": "Nobody needs it."}
        if what < 0.7:
            return "read_file", {"file_path": name}
        stubborn = '(trap "" TERM INT HUP; sleep 60.5) & '
        return self._command(scene, id, draw.choice(["", f"{stubborn}sleep 0.2; ", "sleep 1; "]))

    def _command(self, scene: ActingScene, id: str, between: str = "") -> tuple[str, Event]:  # noqa: A002
        word = f"{self._mark}{id}"
        begun, over = f"echo begun {word} >> {scene.ledger}", f"echo over {word} >> {scene.ledger}"
        return "execute_command", {"command": f"{begun} ; {between}{over}", "timeout": 20}

    # -- afterwards

    def check_stored(self) -> None:
        """The server has ended: the log as it is stored, and what it says of the world."""
        with copied_store(self.folder / "state") as reader:
            for scene in self.acting:
                stored = stored_session(reader, scene.session)
                seen = {seq: json.loads(fact) for seq, fact in scene.facts.items()}
                kept = dict(stored.events)
                lost = [fact for seq, fact in seen.items() if seq not in kept]
                assert not lost, f"seen, and lost: {lost[0]}"
                check_requests(stored)
                check_commands(stored, scene.lines(), set(scene.run_by_clients))
                check_turns(stored, scene.calls_of)
                check_changes(stored, scene.saved)
                folded = Folded(scene.initial, stored.events, scene.saved)
                wrong = folded.wrong(files_of(scene.work), scene.saved)
                assert not wrong, "\n".join(wrong)
                self.drafts += len(drafts_of(scene.work))
                if scene.when_killed is not None:
                    check_after_a_kill(scene.when_killed, stored)
                scene.when_killed = stored

    def settle(self) -> None:
        """All that waits is answered, and what is still asked for is done; every turn is undone, and done again."""
        with agent_server(self.folder, self.model) as house:
            trio.run(self._settle_all, house)
            restarted = [node for node in house.json("/tree.json")["nodes"] if node["restarts"]]
            assert restarted == []
            assert house.stop() == 0, house.said
            assert "Traceback" not in house.said, house.said
        self.check_stored()
        for scene in self.acting:
            assert drafts_of(scene.work) == []
            assert scene.when_killed is not None
            self.kept.update(type(event).__name__ for _, event in scene.when_killed.events)

    async def _settle_all(self, house: Server) -> None:
        agent = Agent(house)
        for scene in self.acting:
            self._order_last(scene)
            witness = scene.witnesses[0]
            assert isinstance(witness, ActingWitness)
            async with witness.attached(agent) as window, trio.open_nursery() as nursery:
                nursery.start_soon(lambda: witness.react(window, self._draw, eager=True))  # noqa: B023
                await self._until_all_is_said(scene, witness, window)
                nursery.cancel_scope.cancel()
            await self._compare(agent, scene, witness.last)
            await self._undo_all(agent, scene)

    async def _until_all_is_said(self, scene: ActingScene, witness: ActingWitness, window: Window) -> None:
        with trio.fail_after(PATIENCE):
            while witness.greeting is None:
                witness.see(json.loads(await window.visit.receive()))
            for id in scene.unheard:  # noqa: A001
                await window.say("client.user_message", **scene.said[id])
            await window.say("client.ping", timestamp="all")
            ponged = False
            while not ponged or witness.state["running"] or witness.state["queued"]:
                message = json.loads(await window.visit.receive())
                witness.see(message)
                ponged = ponged or message == {"type": "server.pong", "timestamp": "all"}

    async def _compare(self, agent: Agent, scene: ActingScene, last: int) -> None:
        """What is kept, in one piece, with all that was ever seen; and what is remembered."""
        whole = ActingWitness(scene, True)
        heard: list[Event] = []
        async with whole.attached(agent) as window:
            with trio.fail_after(PATIENCE):
                while whole.last < last:
                    heard.append(message := json.loads(await window.visit.receive()))
                    whole.see(message)
        self._check(scene, [message for message in heard if "seq" in message])
        await self._read_in_pieces(agent, scene, last)
        fact = await agent.ask("GET", f"sessions/{scene.session}")
        known = {
            "session": await agent.ask("GET", f"sessions/{scene.session}/approvals"),
            "workspace": await agent.ask("GET", f"workspaces/{fact['workspace_id']}/approvals"),
        }
        for request, where in scene.remembered.items():
            paths = {each.get("path") or each.get("tool_name") for each in known[where]["approvals"]}
            asked = scene.asked[request]
            assert {asked.get("file_path"), asked.get("tool_name")} & paths, (where, asked, known)

    async def _undo_all(self, agent: Agent, scene: ActingScene) -> None:
        events = (await self._all_events(agent, scene)) if scene.said else []
        turns = list(dict.fromkeys(each["turn_id"] for each in events if each["type"] == "file.changed"))
        for way, order in (("undo", turns[::-1]), ("redo", turns)):
            for turn in order:
                before = files_of(scene.work)
                preview = await agent.ask("POST", f"sessions/{scene.session}/{way}", {"turn_id": turn, "preview": True})
                assert files_of(scene.work) == before
                report = await agent.ask("POST", f"sessions/{scene.session}/{way}", {"turn_id": turn})
                would = [{**each, "diff": ""} for each in preview["files"]]
                told = [{**each, "outcome": "would"} if each["outcome"] == "done" else each for each in report["files"]]
                assert told == would, (preview, report)
                now = files_of(scene.work)
                for each in report["files"]:
                    path, outcome = each["file_path"], each["outcome"]
                    self.done[f"at last, {way}: {outcome}"] += 1
                    if outcome != "done":
                        assert each["reason"], each
                        assert now.get(path) == before.get(path)
                    elif each["action"] == "delete":
                        assert path not in now
                    else:
                        assert now[path] != before.get(path)
                again = await agent.ask("POST", f"sessions/{scene.session}/{way}", {"turn_id": turn})
                assert not [each for each in again["files"] if each["outcome"] == "done"], again
            if way == "undo" and not scene.saved.digests:
                assert files_of(scene.work) == scene.initial

    async def _all_events(self, agent: Agent, scene: ActingScene) -> list[Event]:
        after, events = 0, list[Event]()
        while True:
            page = await agent.ask("GET", f"sessions/{scene.session}/events?after={after}")
            events += page["events"]
            after = page["after"]
            if not page["more"]:
                return events


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=200, help="how often a server is ended")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    done: Counter[str] = Counter()
    seed, slowest, drafts = options.seed, 0.0, 0
    with fake_model("--rate", "300") as model:
        while (ended := sum(count for what, count in ends.items() if what.startswith("SIG"))) < options.rounds:
            began = time.monotonic()
            folder = tempfile.mkdtemp(prefix="acting-storm-")
            storm = ActingStorm(Path(folder), model, seed)
            try:
                for _ in range(min(LIVES, options.rounds - ended)):
                    storm.life()
                storm.settle()
            except BaseException:
                sys.stdout.write(f"seed {seed}: what is left of it is in {folder}\n")
                raise
            shutil.rmtree(folder)
            ends += storm.ends
            done += storm.done
            slowest, drafts = max(slowest, storm.slowest), drafts + storm.drafts
            sys.stdout.write(f"seed {seed}: {dict(storm.ends)}, {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
            seed += 1
    told = ", ".join(f"{count} {what}" for what, count in sorted(ends.items()))
    sys.stdout.write(f"{told}\nheard: {dict(done.most_common())}\n")
    sys.stdout.write(f"processes were gone after {slowest:.2f} s at the latest; {drafts} drafts were left by kills\n")


if __name__ == "__main__":
    main()
