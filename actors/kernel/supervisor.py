"""An actor whose children are actors.

    a child ended                                     restarted?
    normally (DONE, SHUTDOWN)                         PERMANENT
    abnormally (KILLED, CRASHED, PEER_GONE,
                NEVER_STARTED)                        PERMANENT, TRANSIENT
    it was asked to stop for good, or its first start failed and somebody waits for that start     no

Each restart counts against the supervisor's meter, which says: go on, pause this child, or give up (the supervisor
then crashes itself, and its own supervisor decides). Before each restart comes the child's backoff.

Who may fall by its children? A supervisor of parts that make one thing: it gives up, and all of them begin anew
(Intensity). Never a Crowd, whose children are strangers to each other - rooms, pages, runs: what one of them was sent
is no reason to end another. There the one that keeps failing is paused (Decay): it keeps its place, its name and what
waits in its mailbox, whose bound then holds up only those who talk to it, and it is tried again after the pause. A
temporary child is never restarted, and a first start that fails is its starter's to know: neither is counted.

Who is restarted with it: nobody (ONE_FOR_ONE), all (ONE_FOR_ALL), all that were started after it (REST_FOR_ONE). A
group is stopped in reverse order and started in order, each start awaited. Static children start in order, each
`started()` awaited, before the supervisor itself is ready; they stop in reverse order, after the dynamic ones, which
stop together.

A child that has ended for good stays ended: whoever knows its ref was told so. A group's restart therefore brings
back neither a transient child that was done nor a temporary one.

Decisions about one child are taken synchronously where it ends. Only a group's restart takes time, and is a message
of the supervisor to itself, so that it can still hear that it shall stop. No more than one group waits for its start:
a failure inside of it changes nothing, a failure outside takes it over, and it is started although the child it waits
for has been stopped meanwhile.
"""

import enum
import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Never, Protocol, TypeVar

import trio

from actors.kernel.actor import Actor
from actors.kernel.errors import ActorDown, NameTaken, TooManyChildren, TooManyRestarts
from actors.kernel.lease import Lease
from actors.kernel.mailbox import Signal
from actors.kernel.place import Place
from actors.kernel.ref import ActorRef, Children
from actors.kernel.registry import Key
from actors.kernel.slot import Slot
from actors.kernel.spec import AnySpec, ChildSpec
from actors.kernel.standing import PAUSED, STOPPED, WAITING, Again
from actors.kernel.stop import Stop, Why
from actors.kernel.timers import Timer

M = TypeVar("M", contravariant=True)
C = TypeVar("C")


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
        while times and times[0] <= now - self.period:
            times.popleft()
        return 0.0 if len(times) <= self.restarts else None

    def limit(self) -> str:
        return f"{self.restarts} restarts in {self.period:g} s"


NEGLIGIBLE = 0.01
"""So little of a failure is forgotten."""


class Decay:
    """suture's rule, for what must stay up: each child's failures decay by half in `half_life`; above the
    threshold the child is paused, for `pause` seconds and up to half as long again, and its count starts anew."""

    def __init__(self, threshold: float = 5.0, half_life: float = 30.0, pause: float = 15.0) -> None:
        self.threshold = threshold
        self.half_life = half_life
        self.pause = pause
        self._levels: dict[Hashable, tuple[float, float]] = {}  # in the order of their last failures
        self._memory = half_life * math.log2(max(threshold, 1.0) / NEGLIGIBLE)  # after so long, any level is negligible

    def failure(self, child: Hashable, now: float, luck: float) -> float | None:
        while self._levels:  # dynamic children come and go
            eldest = next(iter(self._levels))
            if now - self._levels[eldest][1] < self._memory:
                break
            del self._levels[eldest]
        level, at = self._levels.pop(child, (0.0, now))
        level = self._decayed(level, now - at) + 1.0
        if level > self.threshold:
            return self.pause * (1.0 + 0.5 * luck)
        self._levels[child] = (level, now)
        return 0.0

    def _decayed(self, level: float, seconds: float) -> float:
        return level * math.exp2(-seconds / self.half_life)

    def limit(self) -> str:
        return f"{self.threshold:g} failures, halved every {self.half_life:g} s"


@dataclass(frozen=True, slots=True)
class _Regroup(Signal):
    """This child failed, and its group must be stopped, and started with it after a while."""

    slot: Slot
    delay: float


@dataclass(frozen=True, slots=True)
class _StartGroup(Signal):
    """The while is over. `of` is who says so: a supervisor's mailbox outlives it."""

    of: "Supervisor[Any]"


class Supervisor(Actor[M]):
    supervises = True
    tolerant = False
    """Become ready although children failed to start, and restart those."""

    nursery: trio.Nursery

    def __init__(
        self,
        specs: Sequence[AnySpec] = (),
        strategy: Strategy = Strategy.ONE_FOR_ONE,
        *,
        intensity: int | None = None,
        period: float | None = None,
        max_children: int = 0,
        meter: Meter | None = None,
        name: Key[M] | None = None,
    ) -> None:
        """`intensity` and `period`: 3 in 5 s, unless a meter of another kind decides. `max_children`: dynamic ones, of
        which a supervisor of parts has none. `name`: what the registry knows it by, once it is ready."""
        self.specs = specs
        self.strategy = strategy
        self.max_children = max_children
        self.meter = _meter(intensity, period, meter)
        self.name = name
        self.slots: dict[Hashable, Slot] = {}  # in start order
        self._static = 0  # how many of them are not dynamic
        self._retry: Timer | None = None  # of the group that waits for its start
        self.closing = False  # no more starts: it stops, or is being killed

    # -- the life of a supervisor

    async def started(self, kept: object | None) -> None:
        for spec in self.specs:
            slot = self._adopt(spec, dynamic=False)
            slot.trial = not self.tolerant
            slot.start()
            if not await slot.wait_settled() and not self.tolerant:
                raise slot.failed_to_start()
        if self.name is not None:
            self.stage.registry.claim(self.name, self.ref)

    async def heard(self, message: Signal) -> None:
        """What it has told itself: no message, so whoever writes a supervisor that takes some cannot lose it."""
        match message:
            case _Regroup(slot, delay):
                if slot.regrouping:
                    pass  # another's group has taken it over
                elif slot.state in (WAITING, PAUSED):
                    await self._stop_group(slot)
                    if self._retry is not None:
                        self._retry.cancel()
                    self._retry = self.stage.timers.after(delay, partial(self._remind, _StartGroup(self)))
                elif self._retry is None or not self._retry.pending:
                    await self._start_group()  # it was stopped meanwhile, and those after it may wait for it
            case _StartGroup(of):
                if of is self:
                    await self._start_group()

    @property
    def trouble(self) -> str | None:
        """What keeps a part of it from doing all that it is for, keeps it too."""
        parts = [slot for slot in self.slots.values() if not slot.dynamic]
        return next(filter(None, (slot.statistics().trouble for slot in parts)), None)

    def close(self) -> None:
        self.closing = True
        if self._retry is not None:
            self._retry.cancel()
        for slot in self.slots.values():
            slot.call_off_restart()

    async def stopping(self, stop: Stop) -> None:
        self.close()
        dynamic = [slot for slot in self.slots.values() if slot.dynamic]
        for slot in dynamic:
            slot.begin_stop()
        for slot in dynamic:
            await slot.wait_stopped()
        for slot in reversed(list(self.slots.values())):
            slot.begin_stop()
            await slot.wait_stopped()

    # -- children

    @property
    def place(self) -> Place:
        return self.incarnation.slot.place

    async def start_child(self, spec: ChildSpec[C]) -> ActorRef[C]:
        """A dynamic child. If the start fails, or is no longer waited for, there is no child."""
        slot = self.begin_child(spec)
        try:
            ready = await slot.wait_settled()
        except BaseException:
            slot.begin_stop()
            raise
        if not ready:
            raise slot.failed_to_start()
        return slot.ref

    def lease(self, spec: ChildSpec[C]) -> Lease[C]:
        return Lease(self, spec)

    def begin_child(self, spec: AnySpec) -> Slot:
        """A dynamic child whose first start has begun, and is to be waited for."""
        slot = self._adopt(spec, dynamic=True)
        slot.trial = True
        slot.start()
        return slot

    def _adopt(self, spec: AnySpec, *, dynamic: bool) -> Slot:
        if self.closing:
            raise ActorDown(self.ref.path, Stop(Why.SHUTDOWN))
        known = self.slots.get(spec.id)
        if known is not None and known.state is not STOPPED:
            raise NameTaken(f"{known.path} exists already; a child's id must be unique within its supervisor")
        if dynamic and len(self.slots) - self._static >= self.max_children:
            if not self.max_children:
                raise TooManyChildren(f"{self.ref.path} has the children it was made with, and no others; a Crowd has")
            raise TooManyChildren(f"{self.ref.path} has {self.max_children} children, which is all it may have")
        slot = Slot(self.stage, spec, self.nursery, self, path=f"{self.ref.path}/{spec.id}", dynamic=dynamic)
        if known is not None:  # static, and stopped for good; a dynamic one would have been forgotten
            self._static -= 1
            del self.slots[spec.id]
        self.slots[spec.id] = slot
        self._static += not dynamic
        return slot

    def forget(self, slot: Slot) -> None:
        """A child ended for good. A static one stays in the list, stopped, to be seen."""
        if slot.dynamic:
            del self.slots[slot.spec.id]

    # -- restarts

    def decide(self, slot: Slot, stop: Stop) -> Again | None:
        """A child ended by itself: is it started again?"""
        if self.closing or not slot.spec.restart.wanted(stop.why):
            return None
        stage = self.stage
        try:
            pause = self.meter.failure(slot.spec.id, stage.now(), stage.random.random())
        except Exception as error:  # we are in the child's task, which must not die of it
            self._give_up(error)
            return None
        if pause is None:
            reason = TooManyRestarts(f"{slot.path} ended ({stop}) once more than {self.meter.limit()} allow")
            reason.__cause__ = stop.error
            self._give_up(reason)
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

    def _give_up(self, reason: Exception) -> None:
        self.incarnation.interrupt(Stop(Why.CRASHED, reason), self.incarnation.slot.spec.grace)

    def carry_out(self, slot: Slot, again: Again) -> None:
        if self.strategy is Strategy.ONE_FOR_ONE:
            slot.restart_in(again.delay)
        else:
            self._remind(_Regroup(slot, again.delay))

    def _remind(self, message: _Regroup | _StartGroup) -> None:
        self.incarnation.slot.box.put_system(message)

    async def _stop_group(self, slot: Slot) -> None:
        slots = list(self.slots.values())
        group = slots if self.strategy is Strategy.ONE_FOR_ALL else slots[slots.index(slot) :]
        for member in reversed(group):
            member.begin_regroup()
            await member.wait_ended()

    async def _start_group(self) -> None:
        for member in list(self.slots.values()):
            if member.regrouping and member.state in (WAITING, PAUSED):
                member.restart()
                if not await member.wait_settled() and member.state is not STOPPED:
                    return  # it failed, and a message about its own group is on its way


class Top(Supervisor[Never]):
    """The root of a house that must stay up: no child's failure ends it. A child that cannot start does not keep the
    others from starting; one that keeps failing is paused, and tried again later."""

    tolerant = True

    def __init__(self, specs: Sequence[AnySpec] = (), *, meter: Meter | None = None) -> None:
        super().__init__(specs, meter=meter or Decay())


class Crowd(Supervisor[M]):
    """Of children that come and go, and that are nothing to each other: it never falls by what becomes of them."""

    def __init__(self, *, name: Key[M] | None = None, max_children: int = 1024) -> None:
        super().__init__(meter=Decay(), name=name, max_children=max_children)


def supervisor_spec(
    id: Hashable,  # noqa: A002 - as in ChildSpec
    specs: Sequence[AnySpec] = (),
    strategy: Strategy = Strategy.ONE_FOR_ONE,
    *,
    intensity: int | None = None,
    period: float | None = None,
    max_children: int = 0,
    meter: Meter | None = None,
    name: Key[Any] | None = None,
) -> AnySpec:
    """A supervisor as a child of another: it may take as long to start and to stop as its children do. A `meter` counts
    on when the supervisor itself is restarted."""
    _meter(intensity, period, meter)  # what makes no sense is the caller's to know, not the tree's at each start
    make: Callable[[], Supervisor[Any]] = partial(
        Supervisor,
        specs,
        strategy,
        intensity=intensity,
        period=period,
        max_children=max_children,
        meter=meter,
        name=name,
    )
    return ChildSpec(id, make, start_timeout=math.inf, grace=math.inf)


def crowd_spec(
    id: Hashable,  # noqa: A002 - as in ChildSpec
    *,
    name: Key[Children[Any]] | None = None,
    max_children: int = 1024,
) -> AnySpec:
    """A crowd as a child of a supervisor."""
    make: Callable[[], Crowd[Any]] = partial(Crowd, name=name, max_children=max_children)
    return ChildSpec(id, make, start_timeout=math.inf, grace=math.inf)


def _meter(intensity: int | None, period: float | None, meter: Meter | None) -> Meter:
    if meter is None:
        return Intensity(3 if intensity is None else intensity, 5.0 if period is None else period)
    if intensity is not None or period is not None:
        raise ValueError(
            f"a supervisor counts restarts by intensity and period, or by a meter, not by both: got "
            f"intensity={intensity}, period={period} and meter={meter!r}"
        )
    return meter
