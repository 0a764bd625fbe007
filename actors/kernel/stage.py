"""The running kernel: what all actors of a tree share, and `run`, which starts a tree and stops it.

Time comes from trio; randomness and ids can be given. So under MockClock and with a seed, a whole tree runs the same
way each time.
"""

import itertools
import logging
import random as random_module
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import trio
from outcome import Outcome

from actors.kernel.mailbox import Mailbox, kind_of
from actors.kernel.place import Place
from actors.kernel.ref import ActorRef, AnyRef
from actors.kernel.registry import Registry
from actors.kernel.slot import Slot
from actors.kernel.spec import ChildSpec
from actors.kernel.stop import Ended, Stop, Why, describe
from actors.kernel.timers import Timers, TimersStatistics

M = TypeVar("M", contravariant=True)

logger = logging.getLogger("troupe.kernel")

REMEMBERED = 100
"""How many of the latest crashes are kept to be looked at, and how many of the latest dead letters."""
MOST_STIRRED = 100_000
"""If so many have handled something since the observer looked last, it has gone."""


class Tracer(Protocol):
    """A callable that the kernel calls, synchronously, with every event in the tree. It must not raise, block or send
    messages.

    kind     detail
    spawn    the number of restarts so far; 0 at the first start
    ready    None
    stop     Ended; if the actor failed, the last of `crashes` is this one
    pause    seconds
    stuck    None
    drop     the message
    dead     DeadLetter
    and, if the stage was made with `messages=True`:
    tell     the message
    take     the message
    reply    the outcome
    """

    def __call__(self, kind: str, ref: AnyRef, detail: object, at: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Crash:
    """An actor failed: it ended neither in order nor because its counterpart had vanished."""

    at: float
    path: str
    why: Why
    error: str | None
    """One line."""
    message: str | None
    """The type of the message it crashed on."""
    restarts: bool
    called: str | None = None
    """Its role and name for people, if its id is only a number."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that nobody will handle, and why."""

    at: float
    path: str
    message: str
    """Its type, never its content."""
    why: str
    untaken: bool = False
    """The actor was alive, but no clause of its handler takes such a message. The kernel has logged that."""
    at_the_end: bool = False
    """The whole tree was being stopped. The asker is told so, and nobody can do more."""


@dataclass(frozen=True, slots=True)
class StageStatistics:
    living: int
    handled: int
    """The messages that all actors have handled, including actors that have ended."""
    restarts: int
    """All starts that were not the first in their place."""
    crashes: int
    dead_letters: int
    drops: int
    names: int
    timers: TimersStatistics


class Stage:
    def __init__(
        self,
        *,
        tracer: Tracer | None = None,
        messages: bool = False,
        dead_letter: Callable[[AnyRef, object, str], None] | None = None,
        random: random_module.Random | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.timers = Timers()
        self.registry = Registry()
        self.random = random if random is not None else random_module.Random()
        counter = itertools.count(1)
        self.new_id: Callable[[], str] = new_id or (lambda: f"{next(counter):x}-{self.random.getrandbits(32):08x}")
        self.now = trio.current_time
        self.root: Slot | None = None
        self.place = Place()  # the root's place
        self.crashes: deque[Crash] = deque(maxlen=REMEMBERED)
        self.dead_letters: deque[DeadLetter] = deque(maxlen=REMEMBERED)
        self.living = 0  # incarnations whose task has not ended
        self.handled_by_gone = 0
        self.restarts = 0
        self.crash_count = 0
        self.dead_count = 0
        self.drop_count = 0
        self._stirred: list[tuple[Place, Mailbox[Any], int]] | None = None  # None: nobody observes
        self._told_of: set[tuple[str, str]] = set()  # (class of an actor, type of a message that it does not take)
        self._dead_letter = dead_letter
        self._tracers: tuple[Tracer, ...] = ()
        self.on_tell: Callable[[AnyRef, Any], None] | None = None
        self.on_take: Callable[[AnyRef, Any], None] | None = None
        self.on_reply: Callable[[AnyRef, Outcome[Any]], None] | None = None
        if tracer is not None:
            self.watch(tracer)
            if messages:
                self.on_tell = lambda ref, message: self.trace("tell", ref, message)
                self.on_take = lambda ref, message: self.trace("take", ref, message)
                self.on_reply = lambda ref, outcome: self.trace("reply", ref, outcome)

    @property
    def ends(self) -> bool:
        """The whole tree is being stopped."""
        return self.root is not None and self.root.leaving

    # -- looking on

    def watch(self, tracer: Tracer) -> Callable[[], None]:
        """Call this tracer too, from now on. Single messages (tell, take, reply) are traced only if the stage was made
        with `messages`. Call the result to remove the tracer."""
        self._tracers = (*self._tracers, tracer)

        def unwatch() -> None:
            self._tracers = tuple(other for other in self._tracers if other is not tracer)

        return unwatch

    def trace(self, kind: str, ref: AnyRef, detail: object) -> None:
        if not self._tracers:
            return
        at = self.now()
        for tracer in self._tracers:
            try:
                tracer(kind, ref, detail, at)
            except Exception:
                # A tracer is called in the middle of the kernel's own steps, so its error must not disturb them.
                self._tracers = tuple(other for other in self._tracers if other is not tracer)
                logger.exception("a tracer failed on %s of %s, and is told nothing more", kind, ref.path)

    def slots(self) -> Iterator[Slot]:
        """All slots of the tree, parents before children, children in start order."""
        stack = [self.root] if self.root is not None else []
        while stack:
            slot = stack.pop()
            yield slot
            stack.extend(reversed(slot.children()))

    def work(self) -> Mapping[Place, int]:
        """How many messages were handled in each place since the last call, also by those that have ended since. Places
        in which nothing was handled are not named, and not looked at: a large tree at rest costs nothing. There is one
        observer; its first call begins, and returns nothing."""
        stirred, self._stirred = self._stirred, []
        if stirred is None:
            for slot in self.slots():
                slot.box.still = True
            return {}
        steps: dict[Place, int] = {}
        for place, box, before in stirred:
            steps[place] = steps.get(place, 0) + box.handled - before
            box.still = True
        return steps

    @property
    def observed(self) -> bool:
        return self._stirred is not None

    def statistics(self) -> StageStatistics:
        return StageStatistics(
            living=self.living,
            handled=self.handled_by_gone + sum(slot.box.handled for slot in self.slots() if slot.stop is None),
            restarts=self.restarts,
            crashes=self.crash_count,
            dead_letters=self.dead_count,
            drops=self.drop_count,
            names=len(self.registry),
            timers=self.timers.statistics(),
        )

    # -- what slots report

    def stirred(self, slot: Slot) -> None:
        """It has handled something, for the first time since the observer looked. That is not counted yet."""
        box = slot.box
        box.still = False
        if self._stirred is None:
            return
        self._stirred.append((slot.place, box, box.handled))
        if len(self._stirred) > MOST_STIRRED:
            self._stirred = None

    def ended(self, slot: Slot, ended: Ended) -> None:
        stop = ended.stop
        if stop.why.failed:
            self.crash_count += 1
            error = None if stop.error is None else describe(stop.error)
            crash = Crash(self.now(), slot.path, stop.why, error, ended.message, ended.restarts, ended.called)
            self.crashes.append(crash)
        self.trace("stop", slot.ref, ended)

    def stuck(self, slot: Slot) -> None:
        slot.note = "was killed but does not end: it never awaits, or it swallows Cancelled"
        logger.error("%s %s", slot.path, slot.note)
        self.trace("stuck", slot.ref, None)

    def untaken(self, ref: AnyRef, message: object, actor: str) -> None:
        """No clause of this actor's class takes the message. That is a mistake in the code, and would happen again and
        again, so it is logged only once for each class and type of message."""
        kind = type(message).__name__
        if (actor, kind) not in self._told_of:
            self._told_of.add((actor, kind))
            logger.warning("%s was sent %s, which no clause of %s takes; it is told once", ref.path, kind, actor)
        self._bury(ref, message, f"no clause of {actor} takes it", untaken=True)

    def dead(self, ref: AnyRef, message: object, stop: Stop) -> None:
        self._bury(ref, message, f"the actor is down ({stop})")

    def late(self, ref: AnyRef, message: object) -> None:
        self._bury(ref, message, "answered after the asker had gone")

    def dropped(self, ref: AnyRef, message: object) -> None:
        self.drop_count += 1
        self.trace("drop", ref, message)

    def _bury(self, ref: AnyRef, message: object, why: str, *, untaken: bool = False) -> None:
        self.dead_count += 1
        letter = DeadLetter(self.now(), ref.path, kind_of(message).__name__, why, untaken, self.ends)
        self.dead_letters.append(letter)
        self.trace("dead", ref, letter)
        if self._dead_letter is not None:
            try:
                self._dead_letter(ref, message, why)
            except Exception:  # as with a tracer
                self._dead_letter = None
                logger.exception("the taker of dead letters failed on one to %s, and is given no more", ref.path)

    def abort(self) -> None:
        """KeyboardInterrupt or the like is on its way out. All actors are killed, so that none holds up the end."""
        if self.root is not None:
            self.root.killed_with_supervisor()


async def run(
    spec: ChildSpec[M],
    *,
    tracer: Tracer | None = None,
    messages: bool = False,
    dead_letter: Callable[[AnyRef, object, str], None] | None = None,
    random: random_module.Random | None = None,
    new_id: Callable[[], str] | None = None,
    on_stage: Callable[["Stage"], None] | None = None,
    task_status: trio.TaskStatus[ActorRef[M]] = trio.TASK_STATUS_IGNORED,
) -> Stop:
    """Run a tree until its root has ended. The root is never restarted. `task_status` is given the root's ref once the
    root is ready or has failed. `on_stage` is called before the root starts.

    A cancellation from outside becomes an orderly stop of the whole tree: the tree is shielded, and a task beside it,
    which is not shielded, is cancelled and asks the root to stop.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    stage = Stage(tracer=tracer, messages=messages, dead_letter=dead_letter, random=random, new_id=new_id)

    async def stop_on_cancel(root: Slot) -> None:
        try:
            await trio.sleep_forever()
        finally:
            root.begin_stop()

    async with trio.open_nursery() as watching:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                root = stage.root = Slot(stage, spec, nursery, path=str(spec.id))
                if on_stage is not None:
                    on_stage(stage)
                watching.start_soon(stop_on_cancel, root)
                nursery.start_soon(stage.timers.run)
                root.start()
                try:
                    await root.wait_settled()
                    task_status.started(root.ref)
                    stop = await root.wait_stopped()
                except BaseException:  # KeyboardInterrupt: this may be the main task
                    stage.abort()
                    raise
                nursery.cancel_scope.cancel()
        watching.cancel_scope.cancel()
    return stop
