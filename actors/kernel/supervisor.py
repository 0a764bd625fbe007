"""An actor whose children are actors.

    a child ended                                     restarted?
    normally (DONE, SHUTDOWN)                         PERMANENT
    abnormally (KILLED, CRASHED, PEER_GONE,
                NEVER_STARTED)                        PERMANENT, TRANSIENT
    it was asked to stop for good, or its first start failed and somebody waits for that start     no

Each restart counts against the supervisor's meter, which says: go on, pause this child, or give up (the supervisor
then crashes itself, and its own supervisor decides). Before each restart comes the child's backoff.

Who is restarted with it: nobody (ONE_FOR_ONE), all (ONE_FOR_ALL), all that were started after it (REST_FOR_ONE). A
group is stopped in reverse order and started in order, each start awaited. Static children start in order, each
`started()` awaited, before the supervisor itself is ready; they stop in reverse order, after the dynamic ones, which
stop together.

Decisions about one child are taken synchronously where it ends. Only a group's restart takes time, and is a message
of the supervisor to itself, so that it can still hear that it shall stop.
"""

import enum
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import trio

from actors.kernel.actor import Actor
from actors.kernel.errors import ActorDown, NameTaken, TooManyChildren, TooManyRestarts
from actors.kernel.lease import Lease
from actors.kernel.ref import ActorRef
from actors.kernel.slot import STOPPED, WAITING, Again, ChildSpec, Slot
from actors.kernel.stop import Stop, Why


class Strategy(enum.Enum):
    ONE_FOR_ONE = "one for one"
    ONE_FOR_ALL = "one for all"
    REST_FOR_ONE = "rest for one"


class Meter(Protocol):
    """Decides when failures are too many."""

    def failure(self, child: Hashable, now: float, luck: float) -> float | None:
        """One more: 0 to go on, seconds to pause this child, None to give up. `luck` is drawn from 0 to 1."""

    def limit(self) -> str:
        """For the error text: what was exceeded."""


class Intensity:
    """OTP's rule: more than so many restarts within so many seconds, over all children, and the supervisor gives up."""

    def __init__(self, restarts: int = 3, period: float = 5.0) -> None:
        self.restarts = restarts
        self.period = period
        self._times: deque[float] = deque()

    def failure(self, child: Hashable, now: float, luck: float) -> float | None:
        times = self._times
        times.append(now)
        while times[0] <= now - self.period:
            times.popleft()
        return 0.0 if len(times) <= self.restarts else None

    def limit(self) -> str:
        return f"{self.restarts} restarts in {self.period:g} s"


class Decay:
    """suture's rule, for a top that must stay up: each child's failures decay by half in `half_life`; above the
    threshold the child is paused, for `pause` seconds and up to half as long again, and its count starts anew."""

    def __init__(self, threshold: float = 5.0, half_life: float = 30.0, pause: float = 15.0) -> None:
        self.threshold = threshold
        self.half_life = half_life
        self.pause = pause
        self._levels: dict[Hashable, tuple[float, float]] = {}

    def failure(self, child: Hashable, now: float, luck: float) -> float | None:
        level, at = self._levels.get(child, (0.0, now))
        level = level * 0.5 ** ((now - at) / self.half_life) + 1.0
        if level <= self.threshold:
            self._levels[child] = (level, now)
            return 0.0
        del self._levels[child]
        return self.pause * (1.0 + 0.5 * luck)

    def limit(self) -> str:
        return f"{self.threshold:g} failures, halved every {self.half_life:g} s"


@dataclass(frozen=True, slots=True)
class _Regroup:
    """This child failed, and its group must be stopped and started with it."""

    slot: Slot
    restarts: int
    delay: float


@dataclass(frozen=True, slots=True)
class _StartGroup:
    slot: Slot
    restarts: int


class Supervisor(Actor[Any]):
    supervises = True
    tolerant = False
    """Become ready although children failed to start, and restart those."""

    nursery: trio.Nursery

    def __init__(
        self,
        specs: Sequence[ChildSpec] = (),
        strategy: Strategy = Strategy.ONE_FOR_ONE,
        *,
        intensity: int = 3,
        period: float = 5.0,
        max_children: int = 1024,
        meter: Meter | None = None,
    ) -> None:
        self.specs = specs
        self.strategy = strategy
        self.max_children = max_children
        self.meter: Meter = meter if meter is not None else Intensity(intensity, period)
        self.slots: dict[Hashable, Slot] = {}  # in start order
        self.closing = False  # no more starts: it stops, or is being killed

    # -- the life of a supervisor

    async def started(self, kept: object | None) -> None:
        for spec in self.specs:
            slot = self.adopt(spec, dynamic=False)
            slot.trial = not self.tolerant
            slot.start()
            if not await slot.wait_settled() and not self.tolerant:
                raise slot.failed_to_start()

    async def handle(self, message: Any) -> None:
        match message:
            case _Regroup(slot, restarts, delay):
                if slot.restarts == restarts and slot.state is WAITING:
                    await self._stop_group(slot)
                    start = _StartGroup(slot, restarts)
                    self.stage.timers.after(delay, lambda: self._remind(start))
            case _StartGroup(slot, restarts):
                if slot.restarts == restarts and slot.state is WAITING:
                    await self._start_group(slot)
            case _:
                await super().handle(message)

    async def stopping(self, stop: Stop) -> None:
        self.closing = True
        dynamic = [slot for slot in self.slots.values() if slot.dynamic]
        for slot in dynamic:
            slot.begin_stop()
        for slot in dynamic:
            await slot.wait_stopped()
        for slot in reversed(list(self.slots.values())):
            slot.begin_stop()
            await slot.wait_stopped()

    # -- children

    async def start_child(self, spec: ChildSpec) -> ActorRef[Any]:
        """A dynamic child. If the start fails, or is no longer waited for, there is no child."""
        slot = self.adopt(spec)
        slot.trial = True
        slot.start()
        try:
            settled = await slot.wait_settled()
        except BaseException:
            slot.begin_stop()
            raise
        if not settled and slot.start_error is not None:
            raise slot.failed_to_start()
        return slot.ref

    def lease(self, spec: ChildSpec) -> Lease:
        return Lease(self, spec)

    def adopt(self, spec: ChildSpec, *, dynamic: bool = True) -> Slot:
        """A slot for a child, not started yet."""
        if self.closing:
            raise ActorDown(self.ref.path, Stop(Why.SHUTDOWN))
        known = self.slots.get(spec.id)
        if known is not None and known.state is not STOPPED:
            raise NameTaken(f"{known.path} exists already; a child's id must be unique within its supervisor")
        if len(self.slots) >= self.max_children:
            raise TooManyChildren(f"{self.ref.path} has {self.max_children} children, which is all it may have")
        path = f"{self.ref.path}/{spec.id}"
        slot = Slot(self.stage, spec, self.nursery, self, path=path, dynamic=dynamic)
        self.slots[spec.id] = slot
        return slot

    def forget(self, slot: Slot) -> None:
        """A child ended for good. A static one stays in the list, stopped, to be seen."""
        if slot.dynamic and self.slots.get(slot.spec.id) is slot:
            del self.slots[slot.spec.id]

    # -- restarts

    def decide(self, slot: Slot, stop: Stop) -> Again | None:
        """A child ended by itself: is it started again?"""
        if self.closing or not slot.spec.restart.wanted(stop.why):
            return None
        stage = self.stage
        now = stage.now()
        pause = self.meter.failure(slot.spec.id, now, stage.random.random())
        if pause is None:
            reason = TooManyRestarts(f"{slot.path} ended ({stop}) once more than {self.meter.limit()} allow")
            reason.__cause__ = stop.error
            self.incarnation.interrupt(Stop(Why.CRASHED, reason), self.incarnation.slot.spec.grace)
            return None
        if pause > 0:
            slot.failures = 0
            return Again(pause, paused=True)
        first, most, jitter = slot.spec.backoff
        if slot.ran_for() >= most:
            slot.failures = 0
        delay = min(most, first * 2.0 ** min(slot.failures, 60)) * (1.0 + jitter * (2.0 * stage.random.random() - 1.0))
        slot.failures += 1
        return Again(max(0.0, delay))

    def carry_out(self, slot: Slot, again: Again) -> None:
        if self.strategy is Strategy.ONE_FOR_ONE:
            slot.start_in(again.delay)
        else:
            self._remind(_Regroup(slot, slot.restarts, again.delay))

    def _remind(self, message: _Regroup | _StartGroup) -> None:
        self.incarnation.slot.box.put_system(message)

    def _group(self, slot: Slot) -> list[Slot]:
        slots = list(self.slots.values())
        return slots if self.strategy is Strategy.ONE_FOR_ALL else slots[slots.index(slot) :]

    async def _stop_group(self, slot: Slot) -> None:
        for member in reversed(self._group(slot)):
            member.begin_regroup()
            await member.wait_ended()

    async def _start_group(self, slot: Slot) -> None:
        for member in self._group(slot):
            if member.state is WAITING:
                member.restart()
                if not await member.wait_settled():
                    return  # it was decided anew when the member ended


class Top(Supervisor):
    """The root of a house that must stay up: no child's failure ends it. A child that cannot start does not keep the
    others from starting; one that keeps failing is paused, and tried again later."""

    tolerant = True

    def __init__(self, specs: Sequence[ChildSpec] = (), *, meter: Meter | None = None, max_children: int = 64) -> None:
        super().__init__(specs, meter=meter or Decay(), max_children=max_children)


def supervisor_spec(
    id: Hashable,  # noqa: A002 - as in ChildSpec
    specs: Sequence[ChildSpec] = (),
    strategy: Strategy = Strategy.ONE_FOR_ONE,
    **limits: Any,
) -> ChildSpec:
    """A supervisor as a child of another: it may take as long to start and to stop as its children do."""
    inf = float("inf")
    return ChildSpec(id, lambda: Supervisor(specs, strategy, **limits), start_timeout=inf, grace=inf)
