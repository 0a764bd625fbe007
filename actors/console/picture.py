"""The state of the server at one moment, as values; and the difference between two moments. Pure.

A picture is always bounded: of a supervisor with very many children, the first are drawn and the rest are counted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

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
REMEMBERED = 100
"""The most notes of a kind."""

N = TypeVar("N", bound=StopNote | DeadNote)

STATES: dict[SlotState, NodeState] = {
    SlotState.WAITING: "backoff",
    SlotState.STARTING: "starting",
    SlotState.RUNNING: "running",
    SlotState.STOPPING: "stopping",
    SlotState.PAUSED: "paused",
    SlotState.STOPPED: "stopped",
}


class Notes(Struct, Generic[N], frozen=True):
    """The newest notes of one kind, newest last, and how many there ever were. Each kind is bounded by itself, so none
    pushes out another."""

    newest: tuple[N, ...] = ()
    seen: int = 0

    def with_one_more(self, note: N) -> "Notes[N]":
        return Notes((*self.newest[1 - REMEMBERED :], note), self.seen + 1)

    def since(self, earlier: "Notes[N]") -> list[N]:
        """Those of our newest that had not been seen by then."""
        fresh = min(self.seen - earlier.seen, len(self.newest))
        return list(self.newest[len(self.newest) - fresh :])


class Picture(Struct, frozen=True):
    at: float
    totals: Totals
    systems: tuple[System, ...]
    nodes: Mapping[str, Node]
    stops: Notes[StopNote]
    departures: Notes[StopNote]
    dead: Notes[DeadNote]
    crashes: Notes[StopNote]


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


def difference(before: Picture, after: Picture) -> Change:
    """The change that turns `before` into `after`."""
    return Change(
        at=after.at,
        totals=after.totals,
        systems=None if after.systems == before.systems else list(after.systems),
        nodes=[node for path, node in after.nodes.items() if before.nodes.get(path) != node],
        gone=[path for path in before.nodes if path not in after.nodes],
        stops=after.stops.since(before.stops),
        departures=after.departures.since(before.departures),
        dead=after.dead.since(before.dead),
        crashes=after.crashes.since(before.crashes),
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
        stops=list(picture.stops.newest),
        departures=list(picture.departures.newest),
        dead=list(picture.dead.newest),
        crashes=list(picture.crashes.newest),
    )
