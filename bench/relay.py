"""Sidekick's relay beside a Node `ws` relay that does what the original one does, over real sockets.

Sides
  - Ours is `python supervisor.py`, with everything on: messages are checked, and folded into the scene of their room.
    Another command, with {port} in it, can be given in TROUPE_BENCH_RELAY.
  - Node's parses, checks, serialises again and sends to all others, with `perMessageDeflate` off and without logging.
    Its package `ws` is installed by npm, once, into a cache of this machine.
  - The TCP splice hands on bytes without looking at them: the limit that sockets set.

Units and goals
  - A message is an update of a grid, of about 100 bytes. Messages per second are counted at the hero, and each has come
    to every UI. At most WINDOW of them are on their way: what we compare is speed, not how much is kept.
  - A ping-pong is an update to a UI, then an event back to the hero. One and a half of Node's time is accepted (a goal
    of 2/3), and of the slowest in a hundred twice its time.
  - Costs of ours alone are set beside what is allowed, which is a goal of 1. Memory is resident memory of the process.
  - TROUPE_BENCH_STALLED=60 measures the stalled UI alone, for 60 seconds, however many rounds there are.
"""

import os
import resource
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import quantiles

from bench.contenders.client import CHUNK, MASK, PATIENCE, Client, Stuck, compact, flow, masked
from bench.harness import BYTES, MESSAGES, MICROSECONDS, Result, Unit, in_turns

NAME = "relay"
ABOUT = "Sidekick's relay, with scene and checks, beside a Node ws relay and a TCP splice"

SLICE = 0.3
"""Seconds, of each side in each round."""
WINDOW = 2000
PING_PONGS = 300
SECONDS_ALONE = 3.0
"""For each of the 21 rounds that are usual, that what only we are measured in may take."""
RATE = 4000
"""Messages a second, over all rooms."""
IDLE = 1000
PAGE = os.sysconf("SC_PAGESIZE")

PERCENT = Unit("%", cost=True)
ROOT = Path(__file__).parent.parent
CONTENDERS = ROOT / "bench" / "contenders"

UPDATE = compact(
    {
        "component": "grid",
        "type": "update",
        "target": "g1",
        "payload": {"action": "setColor", "options": {"x": 3, "y": 14, "color": "red"}},
    }
)
SIGN_OF_LIFE = b"\x8a\x80" + MASK
"""A pong: what only reads is taken for lost half a minute later."""
BETWEEN_SIGNS = 8.0
"""Seconds."""
CLICK = compact({"component": "grid", "type": "event", "src": "g1", "payload": {"event": "click", "x": 3, "y": 14}})
SPAWN = {"component": "grid", "type": "spawn", "target": "g1", "payload": {"numColumns": 20, "numRows": 20}}


OURS, RELEASED = "1", "0.0.8"
"""Versions that pages announce: our own, and the released one (dialect E)."""


def announce(peer_id: str, role: str, version: str = OURS) -> dict[str, object]:
    payload = {"peerId": peer_id, "role": role, "status": "online", "version": version, "timestamp": 1_700_000_000_000}
    return {"id": 0, "component": "system", "type": "announce", "payload": payload}


# -- the sides


@dataclass(frozen=True)
class Relay:
    name: str
    command: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict)
    masks: bool = False
    """It hands on frames as they came, masked."""


class Running:
    def __init__(self, relay: Relay, port: int, process: subprocess.Popen[bytes]) -> None:
        self.relay = relay
        self.port = port
        self._process = process

    def cpu(self) -> float:
        """Seconds, of all its threads, and also of those that have ended: by its own clock, as Linux names it."""
        return time.clock_gettime(~self._process.pid << 3 | 2)

    def resident(self) -> int:
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * PAGE

    def size(self, frame: bytes) -> int:
        """Of what comes of a masked frame."""
        return len(frame) - (0 if self.relay.masks else 4)


@contextmanager
def running(relay: Relay) -> Iterator[Running]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="bench-relay-") as place, open(Path(place, "log"), "wb") as log:
        command = [part.format(port=port, place=place) for part in relay.command]
        # as a user's start: a shell may forbid Python to keep what it has compiled, and then every start compiles
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(command, cwd=ROOT, env={**kept, **relay.environ}, stdout=log, stderr=log)
        try:
            _wait_until_open(port, process, Path(place, "log"))
            yield Running(relay, port, process)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_open(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    begun = time.monotonic()
    while process.poll() is None and time.monotonic() < begun + PATIENCE:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise Stuck(f"a relay did not start: {log.read_text(errors='replace')[-2000:]}")


def ours() -> Relay:
    if command := os.environ.get("TROUPE_BENCH_RELAY"):
        return Relay("ours", shlex.split(command))
    ports = ("sidekick.port={port}", "console.port=0", "agent.port=0")
    settings = [*(word for port in ports for word in ("--set", port)), "--state-dir", "{place}/state"]
    return Relay("ours", [sys.executable, str(ROOT / "supervisor.py"), *settings])


def splice() -> Relay:
    return Relay("TCP splice", [sys.executable, "-m", "bench.contenders.splice", "{port}"], masks=True)


def node() -> Relay | str:
    """Or why there is none."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        return "node and npm are not installed"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "troupe-bench")
    if not (cache / "node_modules" / "ws").is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(cache), "ws@8"]
        done = subprocess.run(install, cwd=cache, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return "npm could not install ws: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1][:60]
    command = [program, str(CONTENDERS / "relay.js"), "{port}"]
    return Relay("Node ws", command, {"NODE_PATH": str(cache / "node_modules")})


# -- peers of a relay


@dataclass
class Board:
    """A hero with a grid, and those who watch it."""

    relay: Running
    hero: Client
    screens: list[Client]

    @property
    def all(self) -> list[Client]:
        return [self.hero, *self.screens]

    def send(self, messages: int) -> float:
        """Seconds until all screens have so many messages."""
        _show_life(self.all)
        frame = masked(UPDATE)
        block = frame * (CHUNK // len(frame))
        return flow(
            self.hero,
            self.screens,
            lambda most: block[: most * len(frame)],
            messages,
            sent_size=len(frame),
            received_size=self.relay.size(frame),
            window=WINDOW,
        )

    def ping_pong(self, times: int) -> list[float]:
        """Seconds of each update with the event that answers it."""
        ping, pong = masked(UPDATE), masked(CLICK)
        ping_size, pong_size = self.relay.size(ping), self.relay.size(pong)
        hero, screen = self.hero.socket, self.screens[0].socket
        taken = []
        for _ in range(times):
            begun = time.perf_counter()
            hero.sendall(ping)
            screen.recv(ping_size, socket.MSG_WAITALL)
            screen.sendall(pong)
            hero.recv(pong_size, socket.MSG_WAITALL)
            taken.append(time.perf_counter() - begun)
        return taken


@contextmanager
def board(relay: Running, screens: int, session: str | None = None, version: str = OURS) -> Iterator[Board]:
    with opened(relay.port, [session] * (1 + screens)) as (hero, *watching):
        hero.send(announce("hero", "hero"), SPAWN)
        settle([hero])
        for number, screen in enumerate(watching):
            screen.send(announce(f"screen {number}", "sidekick", version))
        settle([hero, *watching])
        yield Board(relay, hero, watching)


@contextmanager
def opened(port: int, sessions: Sequence[str | None]) -> Iterator[list[Client]]:
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Client(port, session))) for session in sessions]


def settle(clients: Sequence[Client], quiet: float = 0.3) -> None:
    """Show that somebody is there, for pings are not answered, and read until nothing more comes."""
    _show_life(clients)
    poll = select.epoll()
    by_number = {client.socket.fileno(): client for client in clients}
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    while ready := poll.poll(quiet):
        for number, _ in ready:
            by_number[number].drop()
    poll.close()


class Crowd:
    """Clients who show life while others come, and between measurements, for on a busy machine either takes long."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self._shown_at = time.monotonic()

    def grows(self, clients: Iterable[Client]) -> None:
        self.clients.extend(clients)
        if self._is_time:
            _show_life(self.clients)
            self._shown_at = time.monotonic()

    def stays(self) -> None:
        """What the signs cost is over when this returns."""
        if self._is_time:
            settle(self.clients)
            self._shown_at = time.monotonic()

    @property
    def _is_time(self) -> bool:
        return time.monotonic() > self._shown_at + BETWEEN_SIGNS


def _show_life(clients: Iterable[Client]) -> None:
    for client in clients:
        client.socket.sendall(SIGN_OF_LIFE)


# -- the cases


def run(rounds: int) -> Iterator[Result]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    if seconds_alone := os.environ.get("TROUPE_BENCH_STALLED"):
        yield _stalled(ours(), float(seconds_alone))
        return
    mine, theirs = ours(), node()
    peers = [theirs, splice()] if isinstance(theirs, Relay) else [splice()]
    absent = theirs if isinstance(theirs, str) else None
    for screens, goal in ((1, 2.0), (10, 12.0), (100, 12.0)):
        yield from _throughput(mine, peers, screens, goal, rounds, absent)
    for pages, goal in ((1, 2.0), (10, 12.0)):
        yield from _throughput(mine, peers, pages, goal, rounds, absent, RELEASED)
    yield from _ping_pong(mine, peers, rounds, absent)
    seconds = max(2.0, SECONDS_ALONE * rounds)
    yield from _idle(mine, min(seconds, 10.0))
    yield _stalled(mine, seconds)
    yield from _rooms(mine, rounds)


def _throughput(
    mine: Relay,
    peers: Sequence[Relay],
    screens: int,
    goal: float,
    rounds: int,
    absent: str | None,
    version: str = OURS,
) -> Iterator[Result]:
    what = "UI" if version == OURS else f"page {version}"
    case = f"1 hero to {screens} {what if screens == 1 else what.replace('UI', 'UIs').replace('page', 'pages')}"
    with boards([mine, *peers], screens, version) as each:
        sizes = [_messages_in(board, SLICE) for board in each]
        figures = in_turns([partial(_rate, board, size) for board, size in zip(each, sizes, strict=True)], rounds)
    if absent:
        yield Result(NAME, case, "Node ws", None, None, MESSAGES.name, None, goal, absent)
    for peer, theirs in zip(peers, figures[1:], strict=True):
        pairs = list(zip(figures[0], theirs, strict=True))
        yield Result.between(NAME, case, peer.name, pairs, MESSAGES, None if peer.masks else goal)


def _ping_pong(mine: Relay, peers: Sequence[Relay], rounds: int, absent: str | None) -> Iterator[Result]:
    with boards([mine, *peers], 1) as each:
        for board in each:
            board.ping_pong(PING_PONGS)
        slices = in_turns([partial(board.ping_pong, PING_PONGS) for board in each], rounds)
    for case, percent, goal in (("ping-pong, p50", 50, 1 / 1.5), ("ping-pong, p99", 99, 1 / 2)):
        mine_, *others = [[quantiles(taken, n=100)[percent - 1] * 1e6 for taken in side] for side in slices]
        if absent:
            yield Result(NAME, case, "Node ws", None, None, MICROSECONDS.name, None, goal, absent)
        for peer, theirs in zip(peers, others, strict=True):
            pairs = list(zip(mine_, theirs, strict=True))
            yield Result.between(NAME, case, peer.name, pairs, MICROSECONDS, None if peer.masks else goal)


def _idle(mine: Relay, seconds: float) -> Iterator[Result]:
    with running(mine) as relay, board(relay, 1):
        before = relay.resident()
        with ExitStack() as stack:
            crowd = Crowd()
            for number in range(IDLE):
                client = stack.enter_context(closing(Client(relay.port, f"idle-{number % 100}")))
                client.send(announce(f"idle {number}", "hero"))
                crowd.grows([client])
            settle(crowd.clients, 1.0)
            each = (relay.resident() - before) / IDLE
            cpu, begun = relay.cpu(), time.perf_counter()
            time.sleep(seconds)
            share = 100 * (relay.cpu() - cpu) / (time.perf_counter() - begun)
    case = f"{IDLE:,} idle peers"
    yield Result.between(NAME, case, "memory allowed for each", [(each, 64_000.0)], BYTES, goal=1.0)
    yield Result.between(NAME, case, "CPU allowed for all", [(max(share, 0.001), 1.0)], PERCENT, goal=1.0)


def _stalled(mine: Relay, seconds: float) -> Result:
    """A hero at full speed, a UI that keeps up, and one that reads nothing (until it is cut off for that)."""
    with running(mine) as relay, board(relay, 2) as board_:
        board_.screens.pop()
        messages = _messages_in(board_, SLICE)
        warm = time.perf_counter() + seconds / 6
        while time.perf_counter() < warm:
            board_.send(messages)
        before, end = relay.resident(), time.perf_counter() + seconds
        while time.perf_counter() < end:
            board_.send(messages)
            board_.screens[0].socket.sendall(SIGN_OF_LIFE)
        grown = max(PAGE, relay.resident() - before)
    return Result.between(
        NAME, f"a stalled UI, {seconds:g} s", "growth allowed", [(float(grown), 2e6)], BYTES, goal=1.0
    )


def _rooms(mine: Relay, rounds: int) -> Iterator[Result]:
    """What a message costs the server, at the same rate over all rooms."""
    costs: dict[int, list[float]] = {}
    for rooms in (10, 100, 1000):
        with running(mine) as relay, ExitStack() as stack:
            crowd = Crowd()
            each: list[Board] = []
            for number in range(rooms):
                each.append(stack.enter_context(_quick_board(relay, f"room{number}")))
                crowd.grows(each[-1].all)
            settle(crowd.clients)
            _drip(relay, each, 1.0)
            costs[rooms] = []
            for _ in range(rounds):
                crowd.stays()
                costs[rooms].append(_drip(relay, each, SLICE * 2))
    for rooms in (100, 1000):
        pairs = list(zip(costs[rooms], costs[10], strict=True))
        yield Result.between(NAME, f"a message, in {rooms:,} rooms", "in 10 rooms", pairs, MICROSECONDS, goal=1 / 1.3)


@contextmanager
def _quick_board(relay: Running, session: str) -> Iterator[Board]:
    with opened(relay.port, [session] * 2) as (hero, screen):
        hero.send(announce("hero", "hero"), SPAWN)
        screen.send(announce("screen", "sidekick"))
        yield Board(relay, hero, [screen])


def _drip(relay: Running, boards: Sequence[Board], seconds: float) -> float:
    """Microseconds of the server's CPU for each message."""
    frame = masked(UPDATE)
    poll = select.epoll()
    screens = {board.screens[0].socket.fileno(): board.screens[0] for board in boards}
    for number, screen in screens.items():
        poll.register(number, select.EPOLLIN)
        screen.received = 0
    messages = round(RATE * seconds)
    cpu, begun, sent = relay.cpu(), time.perf_counter(), 0
    while sum(screen.received for screen in screens.values()) < messages * relay.size(frame):
        due = min(messages, round((time.perf_counter() - begun) * RATE))
        for number in range(sent, due):
            boards[number % len(boards)].hero.socket.sendall(frame)
        sent = max(sent, due)
        for number, _ in poll.poll(0.002):
            screens[number].drop()
        if time.perf_counter() > begun + PATIENCE:
            raise Stuck(f"of {messages} messages over {len(boards)} rooms not all arrived")
    poll.close()
    return (relay.cpu() - cpu) / messages * 1e6


@contextmanager
def boards(relays: Sequence[Relay], screens: int, version: str = OURS) -> Iterator[list[Board]]:
    with ExitStack() as stack:
        started = [stack.enter_context(running(relay)) for relay in relays]
        yield [stack.enter_context(board(relay, screens, version=version)) for relay in started]


def _messages_in(board: Board, seconds: float) -> int:
    """How many make a slice; also a warm-up, for engines that need one."""
    messages = 500
    while True:
        took = min(board.send(messages) for _ in range(3))
        if took > seconds / 2:
            return round(messages * seconds / took)
        messages *= 2


def _rate(board: Board, messages: int) -> float:
    return messages / board.send(messages)
