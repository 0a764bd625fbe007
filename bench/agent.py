"""The agent's sessions between a model that streams and clients that read, beside a proxy that keeps nothing.

Sides
  - Ours is `python supervisor.py` with a state directory on a disk: every event is numbered and kept.
  - The proxy (contenders/sse_proxy.py) is what one writes on asyncio in an hour: it hands tokens on as server-sent
    events, and forgets them.
  - "The model itself" is a client that asks the model's server directly: so long take the sockets and this bench.
  - The model is a process of its own (contenders/token_source.py). Each token is the time at which it was written.

Units and goals
  - A delay is from the writing of a token to the moment at which its reader has it. All delays of a slice give its
    percentiles. Costs of ours alone are set beside what is allowed, which is a goal of 1.
  - A flood is written as fast as it is taken; its seconds are from the first question to the last token's reader, with
    all of it kept. Tokens that come faster than they can be sent are joined on the way to the client.
  - Silence after a cancel is when the client has been told that the turn is cancelled, and the model's connection has
    been closed: the later of the two. Ten sessions are cancelled at once, each at a moment of its own.
    TROUPE_BENCH_CANCELS=5000 draws more of them than 500.
  - An idle session has been made, and nobody is attached. "Left" means that each had a client once, more than a minute
    ago; its memory is resident memory, so it holds what the process has needed in the meantime.
  - The 10,000 events that are replayed are tokens and thoughts by turns, so that none can be joined to the next.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from select import select
from time import perf_counter_ns
from typing import Any
from urllib.request import urlopen

from bench.contenders.client import PATIENCE, Stuck
from bench.contenders.token_reader import Agent, DirectReader, ProxyReader, Reader, SessionReader, hear
from bench.contenders.token_source import MODEL
from bench.harness import BYTES, Result, Unit, in_turns
from bench.relay import ROOT, Relay, Running, running

NAME = "agent"
ABOUT = "tokens through an agent's sessions, beside a proxy on asyncio that keeps nothing"

MILLISECONDS = Unit("ms", cost=True)
TOKENS = Unit("tok/s")
RATE = 100
"""Tokens a second, of one model's answer."""
SLICE = 3
"""Seconds of tokens."""
CROWD = 50
BEGINNINGS = 1.005
"""Seconds in which all answers of a crowd begin, one after the other. In this part of a token's time their phases
differ."""
FLOOD = 1_000
CANCELS = int(os.environ.get("TROUPE_BENCH_CANCELS", "500"))
AT_ONCE = 10
MOMENTS = 0.3
"""Seconds of an answer in which it is cancelled."""
IDLE = 1_000
EVENTS = 10_000
EACH = "memory allowed for each"
REST_SECONDS = 65
"""After so long nothing is left of a session but its row (REST_SECONDS in actors/agent/session.py)."""


def run(rounds: int) -> Iterator[Result]:
    with stage() as house:
        yield from _one(house, max(3, rounds // 3))
        yield from _many(house, max(3, rounds // 7))
        yield from _flood(house, max(3, rounds // 3))
        yield from _cancels(house)
        yield from _replay(house, max(3, rounds // 3))
    with stage() as house:
        yield from _idle(house)


# -- the sides


@dataclass
class House:
    model: int
    proxy: int
    server: Running
    agent: Agent
    workspace: str

    def session(self) -> str:
        return str(self.agent.ask("POST", "sessions", {"workspace_id": self.workspace})["id"])

    def attached(self) -> SessionReader:
        return self.agent.attach(self.session())

    def gone(self) -> list[tuple[int, int]]:
        """Which answers were left in their middle, and when."""
        with urlopen(f"http://127.0.0.1:{self.model}/gone", timeout=PATIENCE) as answer:
            return [(int(number), int(when)) for number, when in json.load(answer)]


@contextmanager
def stage() -> Iterator[House]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".bench-", dir=ROOT)))
        source = [sys.executable, "-m", "bench.contenders.token_source", "{port}"]
        model = stack.enter_context(running(Relay("model", source))).port
        plain = [sys.executable, "-m", "bench.contenders.sse_proxy", "{port}", str(model)]
        proxy = stack.enter_context(running(Relay("proxy", plain))).port
        server = stack.enter_context(running(ours(folder, model)))
        agent = Agent(server.port, _token(folder / "state" / "agent.token"))
        (folder / "workspace").mkdir()
        place = agent.ask("POST", "workspaces/register", {"path": str(folder / "workspace")})
        url = f"http://127.0.0.1:{model}"
        agent.ask("PUT", "models/current", {"provider": "ollama", "model_name": MODEL, "url": url})
        yield House(model, proxy, server, agent, place["id"])


def ours(folder: Path, model: int) -> Relay:
    settings = ["agent.port={port}", f"agent.ollama=http://127.0.0.1:{model}"]
    settings += ["sidekick.port=0", "console.port=0", "judge.port=0"]
    command = [sys.executable, str(ROOT / "supervisor.py"), "--state-dir", str(folder / "state")]
    return Relay("ours", [*command, *(word for setting in settings for word in ("--set", setting))])


def _token(path: Path) -> str:
    by = time.perf_counter() + PATIENCE
    while not path.exists():
        if time.perf_counter() > by:
            raise Stuck("the agent has made no token")
        time.sleep(0.05)
    return path.read_text("ascii").strip()


# -- the cases


def _delays(make: Callable[[], Any], readers: int, seconds: float) -> tuple[float, float, float]:
    """p50, p99 and the longest, in ms, of so many answers at once."""
    with ExitStack() as stack:
        heard: list[Reader] = [stack.enter_context(closing(make())) for _ in range(readers)]
        count = int(RATE * seconds)
        delays = sorted(hear(heard, f"flow {count} {RATE}", BEGINNINGS))
        if len(delays) != count * readers:
            raise Stuck(f"{count * readers - len(delays):,} of {count * readers:,} tokens were lost")
        return _at(delays, 0.5) / 1e6, _at(delays, 0.99) / 1e6, delays[-1] / 1e6


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[int(len(ordered) * share)]


def _streams(house: House, readers: int, rounds: int) -> list[list[tuple[float, float, float]]]:
    makes: list[Callable[[], Any]] = [
        house.attached,
        partial(ProxyReader, house.proxy),
        partial(DirectReader, house.model),
    ]
    return in_turns([partial(_delays, make, readers, SLICE) for make in makes], rounds)


def _one(house: House, rounds: int) -> Iterator[Result]:
    _delays(house.attached, 1, 1)  # the first turn of all loads what it needs
    mine, proxy, direct = _streams(house, 1, rounds)
    for place, (part, allowed) in enumerate((("p50", 1.0), ("p99", 5.0))):
        case = f"a token at 100/s, {part}"
        yield _alone(case, [each[place] for each in mine], allowed)
        yield _beside(case, "asyncio proxy", mine, proxy, place)
        yield _beside(case, "the model itself", mine, direct, place)


def _many(house: House, rounds: int) -> Iterator[Result]:
    mine, proxy, direct = _streams(house, CROWD, rounds)
    for place, part in enumerate(("p50", "p99", "latest")):
        case = f"{CROWD} sessions, {part}"
        if part == "latest":
            yield _alone(case, [max(each[place] for each in mine)], 50.0)
        yield _beside(case, "asyncio proxy", mine, proxy, place)
        yield _beside(case, "the model itself", mine, direct, place)


def _alone(case: str, figures: Sequence[float], allowed: float) -> Result:
    return Result.between(NAME, case, "allowed", [(each, allowed) for each in figures], MILLISECONDS, goal=1.0)


def _beside(
    case: str, peer: str, mine: Sequence[tuple[float, ...]], theirs: Sequence[tuple[float, ...]], place: int
) -> Result:
    pairs = [(one[place], other[place]) for one, other in zip(mine, theirs, strict=True)]
    return Result.between(NAME, case, peer, pairs, MILLISECONDS)


def _flood(house: House, rounds: int) -> Iterator[Result]:
    makes: list[Callable[[], Any]] = [house.attached, partial(ProxyReader, house.proxy)]
    mine, proxy = in_turns([partial(_flooded, make) for make in makes], rounds)
    case = f"{CROWD} floods, kept"
    yield Result.between(NAME, case, "wanted", [(each, 5_000.0) for each in mine], TOKENS, goal=1.0)
    yield Result.between(NAME, case, "asyncio proxy (keeps nothing)", list(zip(mine, proxy, strict=True)), TOKENS)


def _flooded(make: Callable[[], Any]) -> float:
    with ExitStack() as stack:
        heard: list[Reader] = [stack.enter_context(closing(make())) for _ in range(CROWD)]
        begun = time.perf_counter()
        hear(heard, f"flow {FLOOD} 0")
        took = time.perf_counter() - begun
        if lost := CROWD * FLOOD - sum(reader.tokens for reader in heard):
            raise Stuck(f"{lost:,} tokens were lost")
        return CROWD * FLOOD / took


def _cancels(house: House) -> Iterator[Result]:
    chance = Random(12)
    silent: list[float] = []
    with ExitStack() as stack:
        readers = [stack.enter_context(closing(house.attached())) for _ in range(AT_ONCE)]
        house.gone()
        while len(silent) < CANCELS:
            silent += _cancelled(house, readers, chance, len(silent))
    silent.sort()
    for part, share in (("p50", 0.5), ("p99", 0.99), ("latest", 1 - 1e-9)):
        pair = (_at(silent, share), 250.0)
        goal = 1.0 if part == "p99" else None
        yield Result.between(NAME, f"{len(silent)} cancels, {part}", "allowed", [pair], MILLISECONDS, goal)


def _cancelled(house: House, readers: Sequence[SessionReader], chance: Random, first: int) -> list[float]:
    """Milliseconds of each, from a cancel to silence. `first`: the number of the first of these answers."""
    begun = perf_counter_ns()
    for number, reader in enumerate(readers, first):
        reader.ask(f"flow {RATE * 60} {RATE} {number}")
    moments = sorted((begun + int(chance.uniform(0, MOMENTS) * 1e9), place) for place in range(len(readers)))
    cancelled: dict[int, int] = {}
    told: dict[int, int] = {}
    while len(told) < len(readers):
        while moments and moments[0][0] <= perf_counter_ns():
            place = moments.pop(0)[1]
            cancelled[first + place] = perf_counter_ns()
            readers[place].say("client.cancel")
        seconds = (moments[0][0] - perf_counter_ns()) / 1e9 if moments else PATIENCE
        ready, _, _ = select(readers, [], [], max(0.0, seconds))
        if not ready and not moments:
            raise Stuck(f"{len(readers) - len(told)} cancels were not answered")
        for reader in ready:
            now, parts = reader.read()
            for part in parts:
                number = first + readers.index(reader)
                if number in told and reader.token in part:
                    raise Stuck("a token came after its turn had been cancelled")
                if reader.last in part:
                    if b'"cancelled":true' not in part:
                        raise Stuck(f"a cancelled turn ended otherwise: {part!r}")
                    told[number] = now
    time.sleep(0.05)  # what has been closed is told to the model's server by its own loop
    for number, when in house.gone():
        told[number] = max(told[number], when)
    return [(told[number] - when) / 1e6 for number, when in cancelled.items()]


def _replay(house: House, rounds: int) -> Iterator[Result]:
    session = house.session()
    with closing(house.agent.attach(session)) as reader:
        reader.ask(f"mixed {EVENTS // 2}")
        last = json.loads(reader.until(reader.last))["seq"]
    if last < EVENTS:
        raise Stuck(f"the session has {last:,} events, and not {EVENTS:,}")
    took = []
    for _ in range(rounds):
        begun = time.perf_counter()
        with closing(SessionReader(house.server.port, house.agent.token, session, 0)) as reader:
            reader.until(reader.last)
            took.append((time.perf_counter() - begun) * 1e3)
    yield _alone(f"{last:,} events replayed", took, 300.0)


def _idle(house: House) -> Iterator[Result]:
    with closing(house.attached()) as reader:  # what every session needs is loaded
        reader.ask("flow 1 0")
        reader.until(reader.last)
    before = house.server.resident()
    sessions = [house.session() for _ in range(IDLE)]
    grown = max(house.server.resident() - before, 1) / IDLE
    yield Result.between(NAME, f"{IDLE:,} idle sessions", EACH, [(grown, 10_000.0)], BYTES, goal=1.0)
    for session in sessions:
        house.agent.attach(session).close()
    time.sleep(REST_SECONDS)
    grown = max(house.server.resident() - before, 1) / IDLE
    yield Result.between(NAME, f"{IDLE:,} that were left", EACH, [(grown, 10_000.0)], BYTES, goal=1.0)
