"""Flights: the open requests of a client end, in the lineup or in the hands of an errand.

A bounded number is in flight. Each is an Errand in the crowd ERRANDS, which is started when its turn has come and ends
with its request; then the next one's turn has come.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import trio

from actors.ipc.errand import Errand, ErrandMeans, NewsOfIt
from actors.ipc.given import TROUBLE
from actors.ipc.lineup import Lineup
from actors.kernel import ActorRef, AnyRef, Children, ChildSpec, Key, Mailbox, Overflow, Registry, Restart

ERRANDS = Key[Children[NewsOfIt]]("ipc/requests")
AGAIN_SECONDS = 1.0


@dataclass
class Flight:
    """An errand, from when its request has left the lineup."""

    ref: ActorRef[NewsOfIt] | None = None
    """None: it is being started."""
    settled: trio.Event = field(default_factory=trio.Event)
    """It has been started, or is not going to be."""
    wanted: bool = True
    """False: it was stopped while it was being started."""
    missed: bool = False
    """There was news of it while it was being started."""


class Flights:
    def __init__(
        self,
        means: ErrandMeans,
        registry: Registry,
        run_beside: Callable[[Callable[[str, Flight], Awaitable[None]], str, Flight], None],
        monitor: Callable[[AnyRef], object],
        on_room: Callable[[], None],
        on_none: Callable[[str], None],
    ) -> None:
        """`on_room` is told when an errand has come to nothing, and `on_none` of a request that is not open."""
        self._means = means
        self._registry = registry
        self._run_beside = run_beside
        self._monitor = monitor
        self._on_room = on_room
        self._on_none = on_none
        self.lineup = Lineup()
        self._flights: dict[str, Flight] = {}
        self._ids: dict[AnyRef, str] = {}

    def __len__(self) -> int:
        return len(self._flights)

    @property
    def full(self) -> bool:
        return len(self._flights) >= self._means.terms.most_in_flight

    def fill_up(self) -> float | None:
        """Begins what may be begun. In how many seconds there may be more, though nothing ends; None: never."""
        now = self._means.wall()
        while not self.full and (id := self.lineup.take(now)) is not None:  # noqa: A001 - as in the contract
            flight = self._flights[id] = Flight()
            self._run_beside(self._start, id, flight)
        moment = None if self.full else self.lineup.next_moment(now)
        return None if moment is None else moment - now

    def news(self, id: str) -> None:  # noqa: A002
        flight = self._flights.get(id)
        if flight is not None and flight.ref is not None:
            flight.ref.hand(NewsOfIt())
        elif flight is not None:
            flight.missed = True

    def news_of_all(self) -> None:
        for id in list(self._flights):  # noqa: A001
            self.news(id)

    def ended(self, ref: AnyRef) -> None:
        id = self._ids.pop(ref, None)  # noqa: A001
        if id is not None and (flight := self._flights.get(id)) is not None and flight.ref is ref:
            del self._flights[id]

    async def _start(self, id: str, flight: Flight) -> None:  # noqa: A002
        try:
            dossier, files = self.lineup.at_hand(id)
            if dossier is None:
                dossier = await self._means.journal.find_open(id)
            if dossier is None:
                self._on_none(id)
            elif flight.wanted:
                begun, first = dossier, iter([files])  # of one that is started again, it is old
                spec = ChildSpec(
                    id,
                    lambda: Errand(self._means, begun, next(first, None)),
                    restart=Restart.TRANSIENT,
                    mailbox=partial(Mailbox, 4, Overflow.DROP_NEWEST),
                    unread_is_lost=False,  # news of a request that has just ended
                )
                flight.ref = await self._registry.get(ERRANDS).start_child(spec)
                self._ids[flight.ref] = id
                self._monitor(flight.ref)
                if flight.missed:
                    flight.ref.hand(NewsOfIt())
                return
        except TROUBLE:
            await trio.sleep(AGAIN_SECONDS)
            if flight.wanted:
                self.lineup.add_again(id)
        finally:
            flight.settled.set()
        if self._flights.get(id) is flight:
            del self._flights[id]
        self._on_room()

    async def stop(self, id: str) -> None:  # noqa: A002
        """Takes an open request out of the lineup, or of its errand's hands."""
        self.lineup.discard(id)
        flight = self._flights.get(id)
        if flight is None:
            return
        flight.wanted = False
        await flight.settled.wait()
        if flight.ref is not None:
            await flight.ref.stop()
            self.ended(flight.ref)
        if self._flights.get(id) is flight:
            del self._flights[id]
