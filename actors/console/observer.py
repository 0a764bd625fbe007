"""The observer samples the whole tree once a tick and keeps the last minute of it.

Rules
  - All figures come from the kernel. Counters are read from the mailboxes at each tick, so being watched costs an actor
    nothing per message. Ends and dead letters come through the kernel's tracer, as they happen.
  - A tick costs as much as has happened since the last one. While nobody watches, actors at rest are not looked at.
  - A picture is bounded (picture.py), and so is the memory: the newest 100 notes of each kind, and 60 rates for each
    row. Pages and scripts that leave are a kind of their own: there are many, and the other ends stay. The kernel
    itself remembers crashes and dead letters, so an observer that was restarted, perhaps after its own crash, knows
    them.
  - A slow viewer costs nothing: its mailbox holds one picture, the newest, and it computes the difference to its last.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from actors.console.messages import (
    FirstPicture,
    HowAreYou,
    LookOnce,
    Measure,
    ObserverMessage,
    Tick,
    ViewerMessage,
    Watch,
)
from actors.console.picture import ROWS, Notes, Picture, Surroundings, draw, greeting, walk
from actors.console.rates import Rates
from actors.console.systems import SystemFact, health, restarted_lately, status
from actors.kernel import (
    Actor,
    ActorRef,
    AnyRef,
    Crash,
    DeadLetter,
    Down,
    Ended,
    Key,
    Place,
    Slot,
    SlotStatistics,
    Stop,
    describe,
)
from codec.console import DeadNote, Hello, Listening, Node, StopNote, System, Totals

INTERVAL = 1.0
HISTORY = 60
NAME = Key[ObserverMessage]("console/observer")


class Observer(Actor[ObserverMessage]):
    def __init__(
        self, facts: Surroundings, systems: Sequence[SystemFact], listening: Callable[[str], Listening | None]
    ) -> None:
        self.facts = facts
        self.systems = systems
        self.listening = listening  # the last report of each system's listener
        self.viewers: set[ActorRef[ViewerMessage]] = set()
        self.past: deque[Mapping[Place, float]] = deque(maxlen=HISTORY)  # rates of the branches that had any
        self.lag = 0.0  # seconds by which the last tick was late
        self.walls: dict[tuple[str, str], tuple[float, float]] = {}  # for each time of a row: kernel time, wall time
        self.stops = Notes[StopNote]()
        self.departures = Notes[StopNote]()
        self.dead = Notes[DeadNote]()
        self.crashes = Notes[StopNote]()

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(NAME, self.ref)
        self._remember()
        self._unwatch = self.stage.watch(self._trace)
        self.rates = Rates(self.stage)
        self._measure()
        self._next_tick()

    async def stopping(self, stop: Stop) -> None:
        self._unwatch()

    async def handle(self, message: ObserverMessage) -> None:
        match message:
            case Tick(due):
                self.lag = max(0.0, self.stage.now() - due)
                self._measure()
                self._show()
                self._next_tick()
            case Watch(viewer):
                if viewer not in self.viewers:
                    self.viewers.add(viewer)
                    self.monitor(viewer)
                picture = self._draw()
                viewer.tell(FirstPicture(self._greeting(picture), picture))
            case LookOnce(reply):
                reply.set(self._greeting(self._draw()))
            case HowAreYou(reply):
                facts, picture = self.facts, self._draw()
                uptime = round(picture.at - facts.started, 3)
                reply.set(health(picture.systems, version=facts.version, pid=facts.pid, uptime=uptime))
            case Measure(reply):
                from actors.console.metrics import exposition  # takes a while to load, and few ask

                reply.set(exposition(self._draw()))
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        self.viewers.discard(down.ref)

    def _next_tick(self) -> None:
        self.tell_later(INTERVAL, Tick(self.stage.now() + INTERVAL))

    def _show(self) -> None:
        if self.viewers:
            picture = self._draw()
            for viewer in self.viewers:
                if viewer.alive:
                    viewer.tell(picture)

    def _greeting(self, picture: Picture) -> Hello:
        return greeting(self.facts, picture, self._histories(), INTERVAL)

    def _histories(self) -> dict[str, list[float]]:
        """Of the whole server, "", and of those rows that have one: of the others, nothing was handled."""
        lively = set().union(*self.past)
        rows = ((slot.path, slot.place) for _, slot, _ in walk(self._root) if slot.place in lively)
        return {path: [rates.get(place, 0.0) for rates in self.past] for path, place in (("", self.stage.place), *rows)}

    # -- the picture

    def _measure(self) -> None:
        """Measure, once a tick, and remember the rates; if very many were at work, of the actors that are drawn."""
        self.rates.measure()
        rates = self.rates.sums
        if len(rates) > ROWS:
            rates = {slot.place: rates.get(slot.place, 0.0) for _, slot, _ in walk(self._root)}
        self.past.append(rates)

    def _draw(self) -> Picture:
        now, wall = self.stage.now(), self.facts.wall()
        walls = {}

        def settled(path: str, what: str, at: float) -> float:
            # A wall time is computed once: the clocks drift apart, and an unchanged row must not be sent again.
            known = self.walls.get((path, what))
            walls[path, what] = known if known and known[0] == at else (at, round(wall - (now - at), 3))
            return walls[path, what][1]

        nodes: dict[str, Node] = {}
        for parent, slot, folded in walk(self._root):
            statistics = slot.statistics()
            path, again = statistics.path, statistics.restarted_at
            nodes[path] = draw(
                statistics,
                parent,
                folded,
                since=settled(path, "changed", statistics.since),
                restarted=None if again is None else settled(path, "restarted", again),
                rate=self.rates.of(slot),
                inside=self.rates.sums.get(slot.place, 0.0),
                now=now,
            )
        self.walls = walls
        overall = self.stage.statistics()
        return Picture(
            at=round(wall, 3),
            totals=Totals(
                actors=overall.living,
                handled=overall.handled,
                rate=self.rates.overall,
                restarts=overall.restarts,
                dead_letters=overall.dead_letters,
                dropped=overall.drops,
                lag=round(self.lag, 4),
                memory=self.facts.memory(),
                crashes=overall.crashes,
                trouble=sum(node.trouble is not None for node in nodes.values()),
            ),
            systems=self._statuses(nodes),
            nodes=nodes,
            stops=self.stops,
            departures=self.departures,
            dead=self.dead,
            crashes=self.crashes,
        )

    @property
    def _root(self) -> Slot:
        assert self.stage.root is not None
        return self.stage.root

    def _statuses(self, nodes: Mapping[str, Node]) -> tuple[System, ...]:
        root = self._root
        slots: dict[str, SlotStatistics] = {}
        for child in root.children():
            statistics = child.statistics()
            slots[statistics.path.rpartition("/")[2]] = statistics
        return tuple(
            status(
                fact,
                slots.get(fact.name),
                self.listening(fact.name),
                restarted_lately(f"{root.path}/{fact.name}", nodes.values()),
            )
            for fact in self.systems
        )

    # -- what the kernel tells as it happens

    def _remember(self) -> None:
        """Takes over what the kernel remembers from before our start."""
        for crash in self.stage.crashes:
            self._crashed(crash)
        for letter in self.stage.dead_letters:
            self._died(letter)

    def _trace(self, kind: str, ref: AnyRef, detail: object, at: float) -> None:
        match detail:
            case Ended(stop) if stop.why.failed:
                self._crashed(self.stage.crashes[-1])
            case Ended(stop, message, restarts, called, leased):
                error = None if stop.error is None else describe(stop.error)
                note = StopNote(self._wall(at), ref.path, stop.why.value, error, message, restarts, called)
                if leased:
                    self.departures = self.departures.with_one_more(note)
                else:
                    self.stops = self.stops.with_one_more(note)
            case DeadLetter():
                self._died(detail)

    def _crashed(self, crash: Crash) -> None:
        at, why, called = self._wall(crash.at), crash.why.value, crash.called
        note = StopNote(at, crash.path, why, crash.error, crash.message, crash.restarts, called)
        self.crashes = self.crashes.with_one_more(note)

    def _died(self, letter: DeadLetter) -> None:
        note = DeadNote(self._wall(letter.at), letter.path, letter.message, letter.why)
        self.dead = self.dead.with_one_more(note)

    def _wall(self, at: float) -> float:
        return round(self.facts.wall() - (self.stage.now() - at), 3)
