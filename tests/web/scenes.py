"""Handmade pictures as a server might send them: small ones for tests, a rich one to look at, a large one to time."""

import math
import time
from typing import Any

from codec.console import Change, DeadNote, Hello, Node, StopNote, System, Totals

NOW = time.time()

LONG_ERROR = (
    "ValueError: the scene of room “lobby” has 5,001 elements, and 5,000 is the most a room may hold; "
    "ask the hero that draws it to remove some, or raise sidekick.max_elements in the configuration\n"
    '  in actors/sidekick/room.py, line 212, in _fold\n    raise ValueError(f"the scene of room {self.name!r} ...")\n'
    "  caused by KeyError: 'grid-7/cell-31-12'"
)
LONG_NAME = "session-for-a-workspace-with-a-remarkably-long-name-that-somebody-really-uses-2026-11-21"

TOTALS = Totals(actors=0, handled=0, rate=0.0, restarts=0, dead_letters=0, dropped=0, lag=0.0004, memory=48_200_000)


def node(path: str, **given: Any) -> Node:
    parent, _, name = path.rpartition("/")
    usual: dict[str, Any] = {
        "path": path,
        "parent": parent or None,
        "name": name,
        "kind": "actor",
        "state": "running",
        "since": NOW - 200,
        "restarts": 0,
        "queued": 0,
        "capacity": 256,
        "handled": 0,
        "rate": 0.0,
        "dropped": 0,
        "error": None,
        "note": None,
        "dynamic": False,
        "folded": 0,
        "inside": given.get("rate", 0.0),
        "trouble": "it waits to be started again" if given.get("state") in ("backoff", "paused") else None,
    }
    return Node(**(usual | given))


def supervisor(path: str, **given: Any) -> Node:
    return node(path, **({"kind": "supervisor", "capacity": 64} | given))


def hello(nodes: list[Node], **given: Any) -> Hello:
    usual: dict[str, Any] = {
        "at": NOW,
        "interval": 1.0,
        "version": "0.1.0",
        "pid": 4711,
        "started": NOW - 11_520,
        "totals": TOTALS,
        "systems": [],
        "nodes": nodes,
        "history": {},
        "stops": [],
        "dead": [],
    }
    return Hello(**(usual | given))


def change(*nodes: Node, **given: Any) -> Change:
    usual: dict[str, Any] = {
        "at": NOW + 1,
        "totals": TOTALS,
        "systems": None,
        "nodes": list(nodes),
        "gone": [],
        "stops": [],
        "dead": [],
    }
    return Change(**(usual | given))


def small() -> Hello:
    """A tree with two systems and five actors."""
    return hello(
        [
            supervisor("troupe"),
            node("troupe/store", rate=12.5, handled=4_200),
            supervisor("troupe/sidekick"),
            supervisor("troupe/sidekick/rooms"),
            node("troupe/sidekick/rooms/lobby", queued=12, rate=3.0),
            node("troupe/sidekick/rooms/garden"),
            node("troupe/sidekick/door", state="backoff", restarts=3, error="OSError: port 5163 is in use"),
        ],
        systems=[
            System("sidekick", "up", "Two rooms, three peers.", "http://127.0.0.1:5163/"),
            System("judge", "off", "Switched off in the configuration.", None),
        ],
    )


def wave(level: float, phase: float, swing: float = 0.45) -> list[float]:
    """Sixty ticks of a rate that goes up and down."""

    def height(tick: int) -> float:
        return 1 + swing * math.sin((tick + phase) / 5) + 0.18 * math.sin((tick * 7.3 + phase) / 3)

    return [round(max(0.0, level * height(tick)), 2) for tick in range(60)]


def evening() -> Hello:
    """A tree on a busy evening: many actors that work, and one of each kind of trouble."""
    top = "troupe"
    nodes = [
        supervisor(top, note="5 of 6 systems are up"),
        node(
            f"{top}/store", handled=184_203, queued=3, capacity=4096, rate=212.4, note="group commit: 38 a transaction"
        ),
        supervisor(f"{top}/sidekick"),
        supervisor(f"{top}/sidekick/rooms"),
        node(
            f"{top}/sidekick/rooms/lobby",
            state="backoff",
            since=NOW - 3,
            restarts=14,
            queued=231,
            handled=90_212,
            error=LONG_ERROR,
            dropped=17,
            crashes=14,
            restarted=NOW - 4,
            lately="crashed",
        ),
        node(f"{top}/sidekick/rooms/garden", queued=12, handled=3_004, rate=41.2),
        node(f"{top}/sidekick/rooms/maze", handled=912, rate=0.4),
        supervisor(f"{top}/sidekick/peers", folded=823, capacity=512),
        *[
            node(
                f"{top}/sidekick/peers/peer-{n:04d}",
                called="page garden" if n else "script garden",
                handled=n * 31,
                rate=float(n % 7) * 1.3,
                queued=n % 3,
            )
            for n in range(8)
        ],
        supervisor(
            f"{top}/judge",
            state="paused",
            since=NOW - 95,
            restarts=6,
            queued=40,
            error="OSError: port 10043 is in use by another program; close it, or set judge.port to a free one",
            note="paused after 6 restarts in 30 s",
        ),
        supervisor(f"{top}/agent"),
        supervisor(f"{top}/agent/workspaces"),
        node(f"{top}/agent/workspaces/index", state="starting", since=NOW - 2, note="12,431 of 40,220 files read"),
        supervisor(f"{top}/agent/sessions"),
        node(f"{top}/agent/sessions/{LONG_NAME}", queued=170, handled=20_114, rate=1210.0),
        node(f"{top}/agent/sessions/b81f", state="stopping", since=NOW - 1),
        supervisor(f"{top}/ipc"),
        node(f"{top}/ipc/server", handled=412, rate=2.1),
        node(f"{top}/ipc/editor", state="stopped", since=NOW - 3600, note="no editor is attached"),
        supervisor(f"{top}/console"),
        node(f"{top}/console/metrics", handled=11_520, rate=1.0),
        node(
            f"{top}/console/<img src=x onerror=alert(1)>",
            error="<script>alert('no')</script>",
            restarts=1,
            crashes=1,
            restarted=NOW - 130,
            lately="crashed",
            trouble="it crashed lately",
        ),
    ]
    return hello(
        nodes,
        totals=Totals(
            actors=854,
            handled=1_284_550,
            rate=1468.2,
            restarts=21,
            dead_letters=37,
            dropped=17,
            lag=0.0031,
            memory=91_400_000,
            crashes=17,
            trouble=3,
        ),
        systems=[
            System("store", "up", "184,203 commits, 38 in a transaction; 12 MB.", None),
            System("sidekick", "up", "3 rooms, 831 peers.", "http://127.0.0.1:5163/"),
            System(
                "judge",
                "down",
                "Port 10043 is in use by another program. Close it, or set judge.port to a free one. "
                "Trying again in 12 s.",
                None,
            ),
            System("agent", "starting", "Reading the workspace: 12,431 of 40,220 files.", "http://127.0.0.1:3199/"),
            System("ipc", "up", "One server, no editor.", None),
            System(
                "console", "up", "You are looking at it.", "http://127.0.0.1:5160/", "restarted lately: observer"
            ),
        ],
        history={"": wave(1468, 3), **{each.path: wave(each.rate, n * 3) for n, each in enumerate(nodes) if each.rate}},
        stops=[StopNote(NOW - 3610, f"{top}/ipc/editor", "done", None, None, False)],
        departures=[
            StopNote(
                NOW - 20, f"{top}/console/viewers/12-ab", "peer gone", "Closed: WebSocket closed with 1001", None, False
            ),
        ],
        crashes=[
            StopNote(
                NOW - 260,
                f"{top}/judge/door",
                "never started",
                "OSError: [Errno 98] Address already in use",
                None,
                True,
            ),
            StopNote(NOW - 9, f"{top}/agent/sessions/{LONG_NAME}", "killed", None, "Cancel", False),
            StopNote(NOW - 3, f"{top}/sidekick/rooms/lobby", "crashed", LONG_ERROR, "FromHero", True),
        ],
        dead=[
            DeadNote(NOW - 70, f"{top}/sidekick/peers/peer-0031", "Say", "the actor has ended"),
            DeadNote(
                NOW - 0.4, f"{top}/sidekick/rooms/lobby", "FromUi", "the mailbox is full (256) and drops the newest"
            ),
        ],
    )


def crowd(rows: int = 5_000) -> Hello:
    """A large tree: fifty supervisors, with actors under each."""
    nodes = [supervisor("troupe")]
    for group in range(50):
        nodes.append(supervisor(f"troupe/group-{group:02d}"))
        nodes += [
            node(f"troupe/group-{group:02d}/actor-{n:03d}", rate=float(n % 9), queued=n % 40)
            for n in range(rows // 50 - 1)
        ]
    return hello(nodes, history={each.path: wave(each.rate, n) for n, each in enumerate(nodes)})
