"""A slot: what a supervisor keeps a child in. A slot outlives the incarnations of its child, and owns what must survive
them: the mailbox, the address, the monitors, the claimed names, and the state that `keep()` returned. Counters live
still longer, in the place (place.py).

The supervisor decides whether a restart follows (supervisor.py). The slot does the rest of an end, in this order. It
makes sure that no timer, notice or answer of the ended incarnation arrives any more, and refuses its unanswered asks.
If the child has ended for good, the slot closes the mailbox (the messages left in it become dead letters), releases
the names, and then tells the monitors.

This is the way from a crash to the restart, under ONE_FOR_ONE, by the methods that are called (a test follows them).
Everything from `ended` to `restart_in` is one synchronous step in the task of the incarnation that has ended:

    incarnation          slot                       supervisor
    _crashed                                                       a handler has raised; its asker is told
    _last_words -------> stopping_began                            LEAVE; then the actor's own `stopping`
    live --------------> ended
    release <----------- |                                         its timers and monitors are cancelled
                         | -----------------------> decide         by the restart type, then by the meter
                         | <----------------------- |              None: `_terminate`, the child has ended for good
                         |                                         AGAIN, or PAUSE if it failed too often
                         _keep                                     state for the next incarnation
                         | -----------------------> carry_out      by the strategy: this child alone, or its group
                         restart_in <-------------- |              waits for the backoff
                         restart
                         start                                     START: a new incarnation, in a task of its own
    live <-------------- |
    _act                                                           make, `started`
    _perform ----------> became_ready                              READY; the kept state is dropped

Under another strategy `carry_out` sends the supervisor a message (_Regroup) instead. The supervisor then stops the
group, each member by `begin_regroup`, and after the backoff starts it in order.
"""

import contextvars
import weakref
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import trio
from outcome import Outcome

from actors.kernel.errors import ActorDown, MailboxFull, StartFailed
from actors.kernel.failures import strip
from actors.kernel.incarnation import Incarnation
from actors.kernel.mailbox import Envelope
from actors.kernel.monitor import Monitor
from actors.kernel.ref import ActorRef
from actors.kernel.reply import Reply
from actors.kernel.spec import AnySpec, Restart
from actors.kernel.standing import (
    AGAIN,
    END,
    LEAVE,
    MOVES,
    PAUSE,
    READY,
    REGROUPED,
    RUNNING,
    START,
    STARTING,
    STOPPING,
    WAITING,
    Again,
    SlotEvent,
    SlotStatistics,
)
from actors.kernel.stop import Down, Ended, Stop, Why, describe
from actors.kernel.timers import Timer

if TYPE_CHECKING:
    from actors.kernel.stage import Stage
    from actors.kernel.supervisor import Supervisor


Address = ActorRef[Any]
"""The ref of a slot. Its starter knows what messages it takes; the kernel does not."""


class Slot:
    __slots__ = (
        "__weakref__",
        "_context",
        "_known",
        "_on_stopped",
        "_own",
        "_ready_at",
        "_retry",
        "_settled",
        "_stopped",
        "box",
        "dynamic",
        "failures",
        "incarnation",
        "kept",
        "leased",
        "leaving",
        "monitors",
        "names",
        "note",
        "nursery",
        "path",
        "place",
        "regrouping",
        "since",
        "spec",
        "stage",
        "start_error",
        "state",
        "stop",
        "supervisor",
        "trial",
        "watching",
    )

    def __init__(
        self,
        stage: "Stage",
        spec: AnySpec,
        nursery: trio.Nursery,
        supervisor: "Supervisor[Any] | None" = None,
        *,
        path: str,
        dynamic: bool = False,
    ) -> None:
        self.stage = stage
        self.spec = spec
        self.nursery = nursery
        self.supervisor = supervisor
        self.path = path
        self.dynamic = dynamic
        self.place = stage.place if supervisor is None else supervisor.place.take(spec.id, stage.now())
        self.box = box = spec.mailbox()
        box.name = path
        box.still = stage.observed
        box.on_drop = self._dropped
        box.on_dead = self._dead
        self._own: Address | None = ActorRef(self)  # None if and only if the child has ended for good
        self._known: weakref.ref[Address] | None = None
        if stage.on_tell is not None:
            box.trace(self._told)
        self.state = WAITING
        self.since = stage.now()
        self.incarnation: Incarnation | None = None
        self.failures = 0  # in a row; each doubles the backoff
        self.note: str | None = None  # the kernel's note about the child; the actor's own note comes first
        self.leased = False  # the child serves a connection
        self.leaving = False  # the child was asked to stop for good
        self.regrouping = False  # the child is stopped, or asked to stop, and will be restarted with its group
        self.trial = False  # its starter waits for the first start, and is told if it fails: no restart then
        self.start_error: BaseException | None = None
        self.stop: Stop | None = None  # not None if and only if state is STOPPED
        self.monitors: dict[Monitor, None] | None = None  # those that watch this slot
        self.watching: dict[Monitor, None] | None = None  # those held by this slot, not by an incarnation of it
        self.names: list[str] | None = None
        self.kept: object | None = None  # from the last keep(), until an incarnation that was given it is ready
        self._retry: Timer | None = None
        self._ready_at: float | None = None
        self._settled: trio.Event | None = None
        self._stopped: trio.Event | None = None
        self._on_stopped: Callable[[], None] | None = None
        self._context = contextvars.copy_context()

    @property
    def ref(self) -> Address:
        """There is only one at a time, so it can be compared."""
        if self._own is not None:
            return self._own
        ref = self._known() if self._known is not None else None
        if ref is None:
            ref = ActorRef(self)
            self._known = weakref.ref(ref)
        return ref

    def _move(self, event: SlotEvent) -> None:
        self.state = MOVES.after(event, self.state, self.path)
        self.since = self.stage.now()

    # -- starting

    def start(self) -> None:
        self._retry = None
        self._move(START)
        self._settled = None
        self._ready_at = None
        self.regrouping = False
        self.incarnation = incarnation = Incarnation(self)
        self.stage.living += 1
        self.stage.restarts += self.place.start(self.since)
        self.stage.trace("spawn", self.ref, self.place.restarts)
        self._context.run(partial(self.nursery.start_soon, incarnation.live, name=self.path))

    def restart_in(self, seconds: float) -> None:
        """Restart the child after the backoff, unless it is stopped before."""
        self._retry = self.stage.timers.after(seconds, self.restart)

    def call_off_restart(self) -> None:
        """Cancel the restart that is due. The child then waits to be stopped."""
        if self._retry is not None:
            self._retry.cancel()

    def restart(self) -> None:
        self.note = None
        self.start()

    def became_ready(self) -> None:
        if self.state is STARTING:
            self._move(READY)
        self.trial = False
        self.kept = None
        self._ready_at = self.stage.now()
        self.stage.trace("ready", self.ref, None)
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def ran_for(self) -> float:
        """Seconds since the incarnation was ready; 0 if it never was."""
        return 0.0 if self._ready_at is None else self.stage.now() - self._ready_at

    async def wait_settled(self) -> bool:
        """Wait until this start has succeeded or failed. True if it succeeded, even if the child has ended since."""
        incarnation = self.incarnation
        if self.state is STARTING:
            if self._settled is None:
                self._settled = trio.Event()
            await self._settled.wait()
        return incarnation is not None and incarnation.ready

    def failed_to_start(self) -> StartFailed:
        cause = self.start_error
        error = StartFailed(f"{self.path} did not start: {describe(cause) if cause else 'it was stopped'}")
        error.__cause__ = cause
        return error

    # -- ending

    def begin_stop(self, grace: float | None = None) -> None:
        """Stop the child for good. It is safe to call this at any time, any number of times."""
        self.leaving = True
        self._interrupt(self.spec.grace if grace is None else grace)

    def begin_regroup(self) -> None:
        """Stop the child, to start it again with its group. A temporary child does not come back, and neither does a
        transient one that was just about to end as DONE."""
        if self.spec.restart is Restart.TEMPORARY:
            self.leaving = True
        else:
            self.regrouping = True
        self._interrupt(self.spec.grace)

    def _interrupt(self, grace: float) -> None:
        if self.incarnation is not None:
            if self.state in (STARTING, RUNNING):
                self._move(LEAVE)
            self.incarnation.interrupt(Stop(Why.SHUTDOWN), grace)
        elif self.leaving and self.stop is None:
            self._terminate(Stop(Why.SHUTDOWN))

    def stopping_began(self) -> None:
        if self.state is not STOPPING:
            self._move(LEAVE)

    def kill(self) -> None:
        if self.incarnation is not None:
            self.incarnation.kill()

    def killed_with_supervisor(self) -> None:
        """The supervisor is being killed, and its nursery cancels the child's task. This method also breaks the shields
        inside of the task, and keeps the child from being restarted."""
        self.leaving = True
        if self.incarnation is not None:
            self.incarnation.kill()
        elif self.stop is None:
            self._terminate(Stop(Why.KILLED))

    async def wait_ended(self) -> None:
        """Wait until the current incarnation has ended."""
        if self.incarnation is not None:
            if self._stopped is None:
                self._stopped = trio.Event()
            await self._stopped.wait()

    async def wait_stopped(self) -> Stop:
        """Wait until the child has ended for good."""
        while self.stop is None:
            if self._stopped is None:
                self._stopped = trio.Event()
            await self._stopped.wait()
        return self.stop

    def on_stopped(self, call: Callable[[], None]) -> None:
        self._on_stopped = call

    def ended(self, incarnation: Incarnation, stop: Stop) -> None:
        """An incarnation is over. Called once for each incarnation, synchronously, in its own task."""
        self._ended(incarnation, stop)
        incarnation.let_go()
        if stop.error is not None and not stop.why.failed:
            strip(stop.error)

    def _ended(self, incarnation: Incarnation, stop: Stop) -> None:
        if not incarnation.ready and stop.why is Why.CRASHED:
            stop = Stop(Why.NEVER_STARTED, stop.error)
        self.stage.living -= 1
        self.incarnation = None
        incarnation.release(stop)
        if not stop.why.normal:
            self.place.error = str(stop)
        if stop.why.failed:
            self.place.crash(self.stage.now())
        if not incarnation.ready:
            self.start_error = stop.error
        again: Again | None = None
        unwanted = self.leaving or (self.trial and not incarnation.ready)
        if self.supervisor is not None and not unwanted:
            if not self.regrouping:
                again = self.supervisor.decide(self, stop)
            elif stop.why is not Why.DONE or self.spec.restart is Restart.PERMANENT:
                again = REGROUPED
        crashed_on = incarnation.crashed_on
        message = None if crashed_on is None else type(crashed_on).__name__
        self.stage.ended(self, Ended(stop, message, again is not None, _called(incarnation), self.leased))
        if again is None:
            self._terminate(stop)
            return
        self._move(PAUSE if again.paused else AGAIN)
        if again.paused:
            self.note = f"failed too often; trying again in {again.delay:.0f} s"
            self.stage.trace("pause", self.ref, again.delay)
        if incarnation.ready and not stop.why.normal:
            self._keep(incarnation)
        for monitor in tuple(self.monitors or ()):
            if monitor.every:
                monitor.notify(Down(self.ref, stop, final=False))
        self._wake_waiters()
        if again is not REGROUPED:
            assert self.supervisor is not None
            self.supervisor.carry_out(self, again)

    def _keep(self, incarnation: Incarnation) -> None:
        assert incarnation.actor is not None
        try:
            self.kept = incarnation.actor.keep()
        except Exception as error:
            self.place.error = f"{self.place.error}; and keep() failed: {describe(error)}"

    def _terminate(self, stop: Stop) -> None:
        self._move(END)
        self.stop = stop
        self.kept = None
        self.call_off_restart()
        self.stage.handled_by_gone += self.box.handled
        self.place.handled += self.box.handled
        self.place.dropped += self.box.dropped
        left = self.box.close(stop)
        for name in self.names or ():
            self.stage.registry.release(name, self.ref)
        for message in left:
            self._dead(message)
        for monitor in tuple(self.watching or ()):
            monitor.cancel()
        monitors, self.monitors = self.monitors, None
        for monitor in monitors or ():
            monitor.notify(Down(self.ref, stop))
        if self.supervisor is not None:
            self.supervisor.forget(self)
            if self.dynamic:
                lost = self.supervisor.closing and self.spec.restart is not Restart.TEMPORARY
                self.supervisor.place.leave(self.spec.id, self.since, vacant=lost or stop.why.failed)
        self._wake_waiters()
        if self._on_stopped is not None:
            self._on_stopped()
        self._let_go()

    def _let_go(self) -> None:
        """From now on the slot lasts as long as others have its ref. Until here, slot and ref, and slot and mailbox,
        knew each other; only the collector would find such a circle."""
        assert self._own is not None
        self._known, self._own = weakref.ref(self._own), None
        self._on_stopped = None
        self.box.on_drop, self.box.on_dead = _nobody_left, _weakly(self._dead)

    def _wake_waiters(self) -> None:
        for event in (self._settled, self._stopped):
            if event is not None:
                event.set()
        self._settled = self._stopped = None

    # -- monitors

    def watch(self, watched: "Slot", *, every: bool) -> Monitor:
        """Watch another slot, and tell the incarnation that is in this slot at that time."""
        if self.watching is None:
            self.watching = {}
        monitor = watched.add_monitor(self, self.watching, every=every)
        if self.stop is not None:
            monitor.cancel()
        return monitor

    def add_monitor(self, watcher: "Slot", holder: dict[Monitor, None], *, every: bool) -> Monitor:
        monitor = Monitor(self, watcher, holder, every)
        if self.stop is not None:
            monitor.notify(Down(self.ref, self.stop))
        else:
            if self.monitors is None:
                self.monitors = {}
            self.monitors[monitor] = None
        return monitor

    def drop_monitor(self, monitor: Monitor) -> None:
        if self.monitors is not None:
            self.monitors.pop(monitor, None)

    # -- messages that go astray, and asks

    def put_urgent(self, message: object) -> None:
        if self.box.closed is not None:
            self._dead(message)
        else:
            if self.box.on_tell is not None:
                self.box.on_tell(message)
            self.box.put_system(message)

    def _told(self, message: Any) -> None:
        assert self.stage.on_tell is not None
        self.stage.on_tell(self.ref, _bare(message))

    def _dropped(self, message: Any) -> None:
        self.stage.dropped(self.ref, _bare(message))
        if type(message) is Reply and message.wanted:
            policy = self.box.overflow.value
            message.fail(MailboxFull(f"{self.path} has no room, and its policy ({policy}) dropped this ask"))

    def _dead(self, message: Any) -> None:
        assert self.box.closed is not None
        if not isinstance(message, Envelope):
            concerns_nobody = self.leased or not self.spec.unread_is_lost  # such as a message to a closed connection
            if not concerns_nobody or self.box.closed.why.failed:
                self.stage.dead(self.ref, message, self.box.closed)
        elif type(message) is Reply and message.wanted:  # an actor's message to itself is no loss
            self.refuse(message, self.box.closed)

    def refuse(self, reply: Reply[Any], stop: Stop) -> None:
        reply.fail(ActorDown(self.path, stop))

    def answered(self, reply: Reply[Any], outcome: Outcome[Any]) -> None:
        if self.incarnation is not None:
            self.incarnation.forget(reply)
        if self.stage.on_reply is not None:
            self.stage.on_reply(self.ref, outcome)

    def late(self, reply: Reply[Any]) -> None:
        self.stage.late(self.ref, reply.message)

    def asker_left(self, reply: Reply[Any], on_abandon: Callable[[], None] | None) -> None:
        if self.incarnation is not None:
            self.incarnation.asker_left(reply, on_abandon)

    # -- the actor in it as a supervisor

    def _supervisor(self) -> "Supervisor[Any] | None":
        actor = self.incarnation.actor if self.incarnation is not None else None
        return cast("Supervisor[Any]", actor) if actor is not None and actor.supervises else None

    def supervising(self) -> "Supervisor[Any]":
        supervisor = self._supervisor()
        if supervisor is not None:
            return supervisor
        if self.incarnation is None or self.incarnation.actor is None:
            raise ActorDown(self.path, self.stop or Stop(Why.CRASHED))
        kind = type(self.incarnation.actor).__name__
        raise TypeError(f"{self.path} is a {kind}, which has no children; only a Supervisor has")

    def close_to_children(self) -> None:
        supervisor = self._supervisor()
        if supervisor is not None:
            supervisor.close()

    def child(self, id: Hashable) -> "Slot | None":  # noqa: A002 - as in ChildSpec
        supervisor = self._supervisor()
        return None if supervisor is None else supervisor.slots.get(id)

    def children(self) -> "list[Slot]":
        """The children in start order."""
        supervisor = self._supervisor()
        return [] if supervisor is None else list(supervisor.slots.values())

    @property
    def handled(self) -> int:
        """How many messages were handled in this place, by this slot and by those before it."""
        return self.place.handled + (self.box.handled if self.stop is None else 0)

    def statistics(self) -> SlotStatistics:
        actor = self.incarnation.actor if self.incarnation is not None else None
        place = self.place
        return SlotStatistics(
            path=self.path,
            supervises=self._supervisor() is not None,
            dynamic=self.dynamic,
            state=self.state,
            since=self.since,
            restarts=place.restarts,
            restarted_at=place.restarted_at,
            crashes=place.crashes,
            crashed_at=place.crashed_at,
            error=place.error,
            handled=self.handled,
            dropped=place.dropped + (self.box.dropped if self.stop is None else 0),
            children=len(self.children()),
            called=actor.called if actor is not None else None,
            note=(actor.note if actor is not None else None) or self.note,
            trouble=actor.trouble if actor is not None else None,
            mailbox=self.box.statistics(),
        )


def _nobody_left(message: Any) -> None:
    """A mailbox that is closed drops nothing."""


def _weakly(method: Callable[[Any], None]) -> Callable[[Any], None]:
    """A call of the method that does not keep its object. Whoever can put a message into the mailbox has the ref, and
    so the slot."""
    known = weakref.WeakMethod(method)

    def call(message: Any) -> None:
        living = known()
        if living is not None:
            living(message)

    return call


def _called(incarnation: Incarnation) -> str | None:
    try:
        return None if incarnation.actor is None else incarnation.actor.called
    except Exception as error:  # the actor's code failed, and this is the middle of its end
        return f"(its name cannot be had: {describe(error)})"


def _bare(message: Any) -> Any:
    """The message itself, without the kernel's envelope."""
    return message.message if isinstance(message, Envelope) else message
