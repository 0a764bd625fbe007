"""What a server could say of itself, for the tests that draw it."""

from typing import Any

from codec.console import Hello, Node, System, Totals

TOTALS = Totals(
    actors=14, handled=99, rate=1234.5, restarts=2, dead_letters=1, dropped=0, lag=0.0012, memory=48_000_000
)


def node(path: str, **facts: Any) -> Node:
    """A quiet, running actor at `path`, but for `facts`; a supervisor when it is told to hold no mailbox."""
    parent, _, name = path.rpartition("/")
    quiet: dict[str, Any] = {
        "path": path,
        "parent": parent or None,
        "name": name,
        "kind": "actor",
        "dynamic": False,
        "state": "running",
        "since": 0.0,
        "restarts": 0,
        "queued": 0,
        "capacity": 256,
        "handled": 0,
        "rate": 0.0,
        "dropped": 0,
        "error": None,
        "note": None,
        "folded": 0,
        "inside": facts.get("rate", 0.0),
    }
    return Node(**(quiet | facts))


def hello(*nodes: Node, systems: tuple[System, ...] = (), **facts: Any) -> Hello:
    said: dict[str, Any] = {
        "at": 1_000_000.0 + 11_520,
        "interval": 1.0,
        "version": "0.1.0",
        "pid": 41,
        "started": 1_000_000.0,
        "totals": TOTALS,
        "systems": list(systems),
        "nodes": list(nodes),
        "history": {},
        "stops": [],
        "dead": [],
    }
    return Hello(**(said | facts))


TOP: dict[str, Any] = {"kind": "supervisor", "capacity": 0}

HOUSE = hello(
    node("troupe", **TOP),
    node("troupe/store", queued=3, capacity=1024, rate=12.34),
    node("troupe/sidekick", **TOP, note="4 rooms", folded=120),
    node("troupe/sidekick/room-編集者", queued=256, rate=123_456),
    node("troupe/console", state="backoff", restarts=3, error="OSError: address already in use, and a long story"),
    systems=(
        System("console", "up", "fine", "http://127.0.0.1:5160"),
        System("judge", "off", "not enabled", None),
        System("sidekick", "down", "port 5163 is in use; tried again every 10 seconds", None),
    ),
)
