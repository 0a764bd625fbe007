"""A supervisor: an actor that starts, restarts and stops other actors, its children.

    how a child ended                                 the restart types that restart it
    normally (DONE, SHUTDOWN)                         PERMANENT
    abnormally (KILLED, CRASHED, PEER_GONE,
                NEVER_STARTED)                        PERMANENT, TRANSIENT
    after it was asked to stop for good               none
    in its first start, which its starter waits for   none

Each restart counts against the supervisor's meter. The meter says whether to go on, to pause this child, or to give
up. A supervisor that gives up crashes, and its own supervisor decides. Before each restart comes the child's backoff.

A supervisor whose children are parts of one thing gives up if they fail too often, and all of them begin anew
(Intensity). A Crowd never gives up, because its children (rooms, pages, runs) have nothing to do with each other: a bad
message to one of them is no reason to end another. A child of a crowd that keeps failing is paused (Decay), and tried
again after the pause. Meanwhile it keeps its place, its name and its mailbox with the messages in it; when that mailbox
is full, only the actors that talk to this child have to wait. Two kinds of ends are not counted, because no restart
follows them: the end of a temporary child, and an end in a first start whose starter waits for it and is told.

The strategy says which children are restarted together with the one that failed: none (ONE_FOR_ONE), all
(ONE_FOR_ALL), or all that were started after it (REST_FOR_ONE). A group is stopped in reverse order and started in
order, each start awaited. Static children start in order, each `started()` awaited, before the supervisor itself is
ready. When it stops, the dynamic children stop first, all at the same time, and then the static ones in reverse order.

A child that has ended for good stays ended, because everyone with a monitor was told so. A group's restart therefore
brings back neither a temporary child nor a transient one that was done.

Decisions about one child are taken synchronously where it ends. Only a group's restart takes time. The supervisor
sends itself a message about it, so it can still be told to stop. At most one group waits for its start. If a member of
it fails, nothing changes. If another child fails, its group takes the waiting one over. If the child whose failure
began all this is stopped meanwhile, the group is started all the same.
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
from actors.kernel.timers import Timer, growing_wait

M = TypeVar("M", contravariant=True)
C = TypeVar("C")


class Strategy(enum.Enum):
    ONE_FOR_ONE = "one for one"
    ONE_FOR_ALL = "one for all"
    REST_FOR_ONE = "rest for one"


class Meter(Protocol):
    """Decides when there are too many failures."""

    def failure(self, child: Hashable, now: float, luck: float) -> float | None:
        """One more failure. Returns 0 to go on, a number of seconds to pause this child, or None to give up. `luck` is
        a random number from 0 to 1."""

    def limit(self) -> str:
        """The limit that was exceeded, for an error text."""


class Intensity:
    """OTP's rule: if all children together need more than `restarts` restarts within `period` seconds, the supervisor
    gives up."""

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
"""A child whose failures have decayed to this level is forgotten."""


class Decay:
    """suture's rule, for supervisors that must stay up. The count of each child's failures decays by half in every
    `half_life` seconds. If it exceeds the threshold, the child is paused for `pause` seconds and up to half as long
    again, and its count begins anew."""

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
    """A child failed. Its group must be stopped, and started together with it after the delay."""

    slot: Slot
    delay: float


@dataclass(frozen=True, slots=True)
class _StartGroup(Signal):
    """The delay is over. `of` is the sender: a message of an earlier incarnation may still be in the mailbox."""

    of: "Supervisor[Any]"


class Supervisor(Actor[M]):
    supervises = True
    tolerant = False
    """True: the supervisor becomes ready although children failed to start, and restarts those."""

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
        """`intensity` and `period`: by default 3 restarts in 5 s, unless another meter is given. `max_children`: how
        many dynamic children it may have; by default it has static children only. `name`: the key that it claims in the
        registry when it is ready."""
        self.specs = specs
        self.strategy = strategy
        self.max_children = max_children
        self.meter = _meter(intensity, period, meter)
        self.name = name
        self.slots: dict[Hashable, Slot] = {}  # in start order
        self._static = 0  # how many children are not dynamic
        self._retry: Timer | None = None  # the timer of the group that waits for its start
        self.closing = False  # it stops or is being killed, and starts no child any more

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
        """Called with the supervisor's signals to itself. They do not go through `handle`, so a subclass with messages
        of its own cannot lose them."""
        match message:
            case _Regroup(slot, delay):
                if slot.regrouping:
                    pass  # the group of another child has taken it over
                elif slot.state in (WAITING, PAUSED):
                    await self._stop_group(slot)
                    if self._retry is not None:
                        self._retry.cancel()
                    self._retry = self.stage.timers.after(delay, partial(self._remind, _StartGroup(self)))
                elif self._retry is None or not self._retry.pending:
                    await self._start_group()  # the child was stopped meanwhile, but its group may wait to be started
            case _StartGroup(of):
                if of is self:
                    await self._start_group()

    @property
    def trouble(self) -> str | None:
        """A supervisor of parts is in trouble if one of its parts is: the trouble of the first such part."""
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
        for slot in [slot for slot in self.slots.values() if slot.dynamic]:
            slot.begin_stop()  # all at once; they stand behind the static ones, and so are waited for before those
        for slot in reversed(list(self.slots.values())):
            slot.begin_stop()
            await slot.wait_stopped()

    # -- children

    @property
    def place(self) -> Place:
        return self.incarnation.slot.place

    async def start_child(self, spec: ChildSpec[C]) -> ActorRef[C]:
        """Start a dynamic child and wait until it is ready. If the start fails or the caller is cancelled, there is no
        child."""
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
        """Begin to start a dynamic child. The caller has to wait for the start."""
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
        if known is not None:  # a static child that has stopped for good; a dynamic one would be forgotten
            self._static -= 1
            del self.slots[spec.id]
        self.slots[spec.id] = slot
        self._static += not dynamic
        return slot

    def forget(self, slot: Slot) -> None:
        """A child has ended for good. A static child stays in the list, as stopped, so that people can see it."""
        if slot.dynamic:
            del self.slots[slot.spec.id]

    # -- restarts

    def decide(self, slot: Slot, stop: Stop) -> Again | None:
        """A child has ended by itself. Returns how it is started again, or None if it is not."""
        if self.closing or not slot.spec.restart.wanted(stop.why):
            return None
        stage = self.stage
        try:
            pause = self.meter.failure(slot.spec.id, stage.now(), stage.random.random())
        except Exception as error:  # this runs in the child's task, which must not crash for it
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
        delay = growing_wait(first, slot.failures, most) * (1.0 + jitter * (2.0 * stage.random.random() - 1.0))
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
                    return  # this member failed, and a message about its own group is on its way


class Top(Supervisor[Never]):
    """The root of a tree that must stay up: no child's failure ends it. A child that cannot start does not keep the
    others from starting. A child that keeps failing is paused, and tried again later."""

    tolerant = True

    def __init__(self, specs: Sequence[AnySpec] = (), *, meter: Meter | None = None) -> None:
        super().__init__(specs, meter=meter or Decay())


class Crowd(Supervisor[M]):
    """A supervisor of children that come and go, and have nothing to do with each other. No child's failure ends it."""

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
    """The spec of a supervisor that is a child of another one. It may take as long to start and to stop as its children
    do. If a `meter` is given, its counts outlive the supervisor's incarnations."""
    _meter(intensity, period, meter)  # so that wrong arguments raise here, and not at each start in the tree
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
    """The spec of a crowd that is a child of a supervisor."""
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
