"""Puts a server under mixed load for some minutes, to see whether anything grows.

A lap does what users do: a script and two pages (ours and the released kind) meet on one of twenty boards, draw, click
and leave, some without a word; every tenth script sends a message of 4 MiB; a problem is posted, and a page of the
judge runs all cases of one and then one of them; the console's page is looked at, and files of every page are read.
After each lap the server's resident memory, its descriptors and its threads are looked at.

The first third is a warm-up. A straight line is fitted to the figures after it, and its slope per hour is compared with
the allowed one. The slope is the median of the slopes between all pairs of laps (Theil and Sen), so one lap with a
large message does not bend it. A few minutes are enough to tell a leak of kilobytes in each lap from the noise of an
allocator; a smaller leak needs an hour.

    python -m bench soak --minutes 30
"""

import json
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from bench.contenders.client import HEAD_END, PATIENCE, Client, Stuck, compact, masked
from bench.contenders.panel import Panel
from bench.harness import Result, Unit
from bench.judge import ECHO, house, ours, posted, put
from bench.relay import CLICK, OURS, PAGE, RELEASED, SPAWN, UPDATE, announce, running, settle
from program.ready import SERVER_FILE, read

NAME = "soak"
ABOUT = "a server under mixed load for some minutes (--minutes N): what grows of memory, descriptors and threads"
MINUTES = 3.0

BOARDS, PROBLEMS, CASES, UPDATES = 20, 30, 3, 200
LARGE = compact(
    {"component": "label", "type": "update", "target": "l1", "payload": {"action": "setText", "options": {"text": "x"}}}
).replace(b'"x"', b'"' + b"x" * (4 << 20) + b'"')
LABEL = {"component": "label", "type": "spawn", "target": "l1", "payload": {"text": "a label"}}
PATHS = {"console": ("/", "/health", "/tree.json", "/metrics"), "sidekick": ("/", "/rooms.json"), "judge": ("/",)}
LEAST_LAPS = 6
"""To lay a line through."""

MEMORY = Unit("bytes/h", cost=True)
DESCRIPTORS = Unit("fds/h", cost=True)
THREADS = Unit("thr/h", cost=True)
ALLOWED = ((MEMORY, "memory", 8e6), (DESCRIPTORS, "descriptors", 6.0), (THREADS, "threads", 6.0))
LEAST = 1e-3
"""A slope that is less is none: what shrinks does not grow."""


class Seen(NamedTuple):
    at: float
    memory: int
    descriptors: int
    threads: int


class Server:
    """Where it listens, and what can be seen of it from outside."""

    def __init__(self, state: Path) -> None:
        self.pid, self.urls = _found(state)

    def port(self, system: str) -> int:
        return urlsplit(self.urls[system]).port or 0

    def look(self) -> Seen:
        process = Path(f"/proc/{self.pid}")
        pages = int((process / "statm").read_text().split()[1])
        return Seen(
            time.monotonic(),
            pages * PAGE,
            sum(1 for _ in (process / "fd").iterdir()),
            sum(1 for _ in (process / "task").iterdir()),
        )


def run(rounds: int, *, minutes: float = MINUTES) -> Iterator[Result]:
    """However many rounds: time is what counts here."""
    with house() as place:
        workspace = place / "workspace"
        put(workspace, "echo", ECHO, [(b"%d\n" % number,) * 2 for number in range(CASES)])
        with running(ours(place)):
            seen = list(_laps(Server(place / "state"), minutes * 60))
    yield from results(seen)


def results(seen: Sequence[Seen]) -> Iterator[Result]:
    later = seen[len(seen) // 3 :]
    for place, (unit, what, allowed) in enumerate(ALLOWED, 1):
        case = f"{what}, {len(later)} laps"
        if len(later) < LEAST_LAPS:
            why = f"{len(later)} laps are too few for a line: give it more minutes"
            yield Result(NAME, case, "growth allowed", None, allowed, unit.name, None, 1.0, why)
            continue
        grown = max(LEAST, 3600 * slope([(one.at, float(one[place])) for one in later]))
        yield Result.between(NAME, case, "growth allowed", [(grown, allowed)], unit, goal=1.0)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between all pairs: by Theil and Sen."""
    return median((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x2 != x1)


# -- the load


def _laps(server: Server, seconds: float) -> Iterator[Seen]:
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        _board(server.port("sidekick"), number)
        _post(server.urls["judge"], number)
        _judge(server.port("judge"), number)
        _look(server, number)
        yield server.look()
        number += 1


def _board(port: int, number: int) -> None:
    room = f"soak-{number % BOARDS}"
    with (
        closing(Client(port, room)) as hero,
        closing(Client(port, room)) as page,
        closing(Client(port, room)) as released,
    ):
        hero.send(announce(f"hero {number}", "hero"), {"component": "global", "type": "clearAll"}, SPAWN, LABEL)
        page.send(announce(f"page {number}", "sidekick", OURS))
        released.send(announce(f"released {number}", "sidekick", RELEASED))
        settle([hero, page, released], 0.05)
        hero.socket.sendall(masked(UPDATE) * UPDATES)
        page.socket.sendall(masked(CLICK) * 10)
        if number % 10 == 0:
            hero.socket.sendall(b"\x81\xff" + len(LARGE).to_bytes(8, "big") + bytes(4) + LARGE)
        settle([hero, page, released], 0.05)
        if number % 2:
            hero.send({**announce(f"hero {number}", "hero"), "payload": _offline(number)})
        elif number % 3 == 0:
            hero.socket.shutdown(socket.SHUT_RDWR)


def _offline(number: int) -> object:
    fields = {"peerId": f"hero {number}", "role": "hero", "status": "offline", "version": OURS}
    return {**fields, "timestamp": 1_700_000_000_000}


def _post(url: str, number: int) -> None:
    body = json.dumps(posted(number % PROBLEMS)).encode()
    with urlopen(Request(url, body, {"Content-Type": "application/json"}), timeout=PATIENCE) as answer:
        answer.read()


def _judge(port: int, number: int) -> None:
    with closing(Panel(port)) as panel:
        panel.open("bench/echo")
        found = panel.run_all()
        if [result["verdict"] for result in found] != ["AC"] * CASES:
            raise Stuck(f"a run was judged {[result['verdict'] for result in found]}")
        panel.run_one(1 + number % CASES)
        panel.settle()


def _look(server: Server, number: int) -> None:
    for system, paths in PATHS.items():
        for path in paths:
            with urlopen(server.urls[system].rstrip("/") + path, timeout=PATIENCE) as answer:
                answer.read()
    port = server.port("console")
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as viewer:
        viewer.sendall(
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        held = b""
        while HEAD_END not in held or len(held) < 2_000:  # and the beginning of the first picture
            more = viewer.recv(1 << 16)
            if not more:
                raise Stuck(f"the console let a page go in lap {number}")
            held += more


def _found(state: Path) -> tuple[int, dict[str, str]]:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = read(state / SERVER_FILE)
        if said is not None and all(said.listeners.values()):
            return said.pid, {system: str(url) for system, url in said.listeners.items()}
        time.sleep(0.05)
    raise Stuck("the server did not say where it listens")
