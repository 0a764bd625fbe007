"""The state of the server at one moment, as values; and the difference between two moments. Pure.

A picture is always bounded: of a supervisor with very many children, the first are drawn and the rest are counted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from actors.kernel import Slot, SlotState, SlotStatistics
from codec.console import Change, DeadNote, Hello, Lately, Node, NodeState, StopNote, System, Totals

CROWD = 100
"""The most children of one supervisor that are drawn."""
ROWS = 2000
"""The most rows that are drawn in all."""
LATELY = 600.0
"""Seconds for which a crash or a restart counts as recent."""
NEARLY_FULL = 0.9

STATES: dict[SlotState, NodeState] = {
    SlotState.WAITING: "backoff",
    SlotState.STARTING: "starting",
    SlotState.RUNNING: "running",
    SlotState.STOPPING: "stopping",
    SlotState.PAUSED: "paused",
    SlotState.STOPPED: "stopped",
}


class Picture(Struct, frozen=True):
    """`stops`, `dead` and `crashes` are the newest ones; `..._seen` counts all that ever were."""

    at: float
    totals: Totals
    systems: tuple[System, ...]
    nodes: Mapping[str, Node]
    stops: tuple[StopNote, ...]
    stops_seen: int
    dead: tuple[DeadNote, ...]
    dead_seen: int
    crashes: tuple[StopNote, ...]
    crashes_seen: int


def walk(root: Slot, crowd: int = CROWD, rows: int = ROWS) -> Iterator[tuple[str | None, Slot, int]]:
    """The tree as far as it is drawn, parents before children, children in start order: each with the path of its
    parent, and the number of its children that are not drawn."""
    waiting: list[tuple[str | None, Slot]] = [(None, root)]
    room = rows
    while waiting and room > 0:
        parent, slot = waiting.pop()
        room -= 1
        children = slot.children()
        shown = children[: min(crowd, max(0, room - len(waiting)))]
        yield parent, slot, len(children) - len(shown)
        path = slot.path
        waiting.extend((path, child) for child in reversed(shown))


def draw(
    statistics: SlotStatistics,
    parent: str | None,
    folded: int,
    *,
    since: float,
    restarted: float | None,
    rate: float,
    inside: float,
    now: float,
) -> Node:
    """`now` is kernel time, the other two are wall time."""
    return Node(
        path=statistics.path,
        parent=parent,
        name=statistics.path if parent is None else statistics.path[len(parent) + 1 :],
        kind="supervisor" if statistics.supervises else "actor",
        state=STATES[statistics.state],
        since=since,
        restarts=statistics.restarts,
        queued=statistics.mailbox.queued,
        capacity=statistics.mailbox.capacity,
        handled=statistics.handled,
        rate=rate,
        dropped=statistics.dropped,
        error=statistics.trouble or statistics.error,
        note=statistics.note,
        dynamic=statistics.dynamic,
        folded=folded,
        called=statistics.called,
        inside=inside,
        crashes=statistics.crashes,
        restarted=restarted,
        lately=lately(statistics, now),
        trouble=trouble(statistics, now),
    )


def lately(statistics: SlotStatistics, now: float) -> Lately | None:
    def fresh(at: float | None) -> bool:
        return at is not None and now - at < LATELY

    return "crashed" if fresh(statistics.crashed_at) else "restarted" if fresh(statistics.restarted_at) else None


def trouble(statistics: SlotStatistics, now: float) -> str | None:
    """The reason why it needs attention. An actor that was only restarted together with others needs none."""
    mailbox = statistics.mailbox
    if statistics.trouble is not None:
        return statistics.trouble
    if statistics.state is SlotState.PAUSED:
        return statistics.note or "it failed too often and is paused"
    if statistics.state is SlotState.WAITING:
        return "it waits to be started again"
    if mailbox.queued >= NEARLY_FULL * mailbox.capacity:
        return f"{mailbox.queued:,} messages wait in its mailbox, which takes {mailbox.capacity:,}"
    if lately(statistics, now) == "crashed":
        return "it crashed lately" + (f", and {statistics.crashes:,} times in all" if statistics.crashes > 1 else "")
    return None


def newest(notes: Sequence[Any], seen: int, told: int) -> list[Any]:
    """The newest notes without the first `told` of all `seen`."""
    fresh = min(seen - told, len(notes))
    return list(notes[len(notes) - fresh :])


def difference(before: Picture, after: Picture) -> Change:
    """The change that turns `before` into `after`."""
    return Change(
        at=after.at,
        totals=after.totals,
        systems=None if after.systems == before.systems else list(after.systems),
        nodes=[node for path, node in after.nodes.items() if before.nodes.get(path) != node],
        gone=[path for path in before.nodes if path not in after.nodes],
        stops=newest(after.stops, after.stops_seen, before.stops_seen),
        dead=newest(after.dead, after.dead_seen, before.dead_seen),
        crashes=newest(after.crashes, after.crashes_seen, before.crashes_seen),
    )


class Surroundings(Struct, frozen=True):
    """Facts that do not change while the program runs, and the clocks and gauges from outside the kernel."""

    version: str
    pid: int
    started: float
    wall: Callable[[], float]
    memory: Callable[[], int]
    """Resident bytes of the process."""


def greeting(facts: Surroundings, picture: Picture, history: Mapping[str, Sequence[float]], interval: float) -> Hello:
    return Hello(
        at=picture.at,
        interval=interval,
        version=facts.version,
        pid=facts.pid,
        started=facts.started,
        totals=picture.totals,
        systems=list(picture.systems),
        nodes=list(picture.nodes.values()),
        history={path: list(rates) for path, rates in history.items()},
        stops=list(picture.stops),
        dead=list(picture.dead),
        crashes=list(picture.crashes),
    )
