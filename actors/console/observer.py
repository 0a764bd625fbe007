"""The observer samples the whole tree once a tick and keeps the last minute of it.

Rules
  - What it shows, the kernel said: counters are read from the mailboxes at each tick, so watching costs the watched
    actors nothing per message; ends and dead letters come through the kernel's tracer, as they happen.
  - A picture is bounded (picture.py), and so is what is remembered: the newest 100 ends and dead letters, 60 rates a
    row.
  - A slow viewer costs nothing: its mailbox holds one picture, the newest; it is told the difference to what it has.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from actors.console.messages import HowAreYou, ListenerChanged, Look, Measure, Tick, Watch, Welcome
from actors.console.metrics import exposition
from actors.console.picture import Facts, Picture, draw, greeting, walk
from actors.console.systems import Listening, SystemFact, health, status
from actors.kernel import Actor, ActorRef, DeadLetter, Down, Ended, SlotStatistics, Stop
from codec.console import DeadNote, StopNote, System, Totals

INTERVAL = 1.0
HISTORY = 60
REMEMBERED = 100
NAME = "console/observer"

ObserverMessage = Tick | ListenerChanged | Watch | Look | HowAreYou | Measure


class Observer(Actor[ObserverMessage]):
    def __init__(self, facts: Facts, systems: Sequence[SystemFact]) -> None:
        self.facts = facts
        self.systems = systems
        self.listening: dict[str, Listening] = {}
        self.viewers: set[ActorRef[Any]] = set()
        self.history: dict[str, deque[float]] = {}  # rates; "" is the whole house
        self.handled: dict[str, int] = {}  # as of the last sample
        self.since: dict[str, tuple[float, float]] = {}  # kernel time of a row's last change, and the wall time it was
        self.stops: deque[StopNote] = deque(maxlen=REMEMBERED)
        self.stops_seen = 0
        self.dead: deque[DeadNote] = deque(maxlen=REMEMBERED)
        self.dead_seen = 0
        self.sampled_at: float | None = None

    async def started(self, kept: object | None) -> None:
        if isinstance(kept, dict):
            self.listening = kept
        self.stage.registry.claim(NAME, self.ref)
        self._unwatch = self.stage.watch(self._trace)
        self.picture = self._sample(lag=0.0)
        self._next_tick()

    def keep(self) -> object:
        return self.listening

    async def stopping(self, stop: Stop) -> None:
        self._unwatch()

    async def handle(self, message: ObserverMessage) -> None:
        match message:
            case Tick(due):
                self.picture = self._sample(lag=max(0.0, self.stage.now() - due))
                for viewer in self.viewers:
                    if viewer.alive:
                        viewer.tell(self.picture)
                self._next_tick()
            case ListenerChanged(system, listening):
                self.listening[system] = listening
            case Watch(viewer):
                if viewer not in self.viewers:
                    self.viewers.add(viewer)
                    self.monitor(viewer)
                viewer.tell(Welcome(self._greeting(), self.picture))
            case Look(reply):
                reply.set(self._greeting())
            case HowAreYou(reply):
                facts, now = self.facts, self.facts.wall()
                reply.set(
                    health(self._statuses(), version=facts.version, pid=facts.pid, uptime=round(now - facts.started, 3))
                )
            case Measure(reply):
                reply.set(exposition(self.picture, self._statuses()))

    async def down(self, down: Down) -> None:
        self.viewers.discard(down.ref)

    def _next_tick(self) -> None:
        self.tell_later(INTERVAL, Tick(self.stage.now() + INTERVAL))

    def _greeting(self) -> Any:
        return greeting(self.facts, self.picture, self.history, INTERVAL)

    # -- the picture

    def _sample(self, lag: float) -> Picture:
        root = self.stage.root
        assert root is not None
        now, wall = self.stage.now(), self.facts.wall()
        passed = now - self.sampled_at if self.sampled_at is not None else 0.0
        self.sampled_at = now
        nodes = {}
        handled, since = {}, {}
        for sample in walk(root.ref):
            statistics = sample.statistics
            path = statistics.path
            handled[path] = statistics.mailbox.handled
            known = self.since.get(path)
            since[path] = known if known and known[0] == statistics.since else (
                statistics.since,
                round(wall - (now - statistics.since), 3),
            )
            rate = self._rate(path, handled[path], passed)
            nodes[path] = draw(sample, since=since[path][1], rate=rate)
        overall = self.stage.statistics()
        rate = self._rate("", overall.handled, passed)
        handled[""] = overall.handled
        self.handled, self.since = handled, since
        self.history = {path: rates for path, rates in self.history.items() if path in handled}
        return Picture(
            at=round(wall, 3),
            totals=Totals(
                actors=overall.living,
                handled=overall.handled,
                rate=rate,
                restarts=overall.restarts,
                dead_letters=overall.dead_letters,
                dropped=overall.drops,
                lag=round(lag, 4),
                memory=self.facts.memory(),
            ),
            systems=self._statuses(),
            nodes=nodes,
            stops=tuple(self.stops),
            stops_seen=self.stops_seen,
            dead=tuple(self.dead),
            dead_seen=self.dead_seen,
        )

    def _rate(self, path: str, handled: int, passed: float) -> float:
        before = self.handled.get(path, 0)
        rate = round((handled - before) / passed, 1) if passed > 0 and handled >= before else 0.0
        self.history.setdefault(path, deque(maxlen=HISTORY)).append(rate)
        return rate

    def _statuses(self) -> tuple[System, ...]:
        root = self.stage.root
        assert root is not None
        slots: dict[str, SlotStatistics] = {}
        for child in root.ref.children():
            statistics = child.statistics()
            slots[statistics.path.rpartition("/")[2]] = statistics
        return tuple(status(fact, slots.get(fact.name), self.listening.get(fact.name)) for fact in self.systems)

    # -- what the kernel tells as it happens

    def _trace(self, kind: str, ref: ActorRef[Any], detail: object, at: float) -> None:
        wall = round(self.facts.wall() - (self.stage.now() - at), 3)
        match detail:
            case Ended(stop, message, restarts):
                error = None if stop.error is None else str(stop).partition(": ")[2]
                self.stops.append(StopNote(wall, ref.path, stop.why.value, error, message, restarts))
                self.stops_seen += 1
            case DeadLetter():
                self.dead.append(DeadNote(wall, detail.path, detail.message, detail.why))
                self.dead_seen += 1
