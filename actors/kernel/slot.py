"""What a supervisor keeps a child in: it outlives incarnations, and owns what must survive them - the mailbox, the
address, the monitors, the claimed names, what was kept. What is counted lives longer still: with the place (place.py).

Whether a restart follows is the supervisor's decision (supervisor.py); everything else about ending is here, in this
order: nothing of the dead incarnation may arrive any more, its unanswered asks are refused, and - if it ends for
good - the mailbox is closed into the dead letters, names are released, then monitors are told.

From a crash to the restart, under ONE_FOR_ONE, by the methods that are called (a test follows them). From `ended` to
`restart_in` it is one synchronous step, in the task of the incarnation that has ended:

    incarnation          slot                       supervisor
    _crashed                                                       a handler has raised; its asker is told
    _last_words -------> stopping_began                            LEAVE; then the actor's own `stopping`
    live --------------> ended
    release <----------- |                                         nothing of this life may arrive any more
                         | -----------------------> decide         its restart type, then the meter
                         | <----------------------- |              None: `_terminate`, and it has ended for good
                         |                                         AGAIN, or PAUSE if that was too often
                         _keep                                     what the next life is given
                         | -----------------------> carry_out      the strategy: this child alone, or its group
                         restart_in <-------------- |              after the backoff
                         restart
                         start                                     START: a new incarnation, in a task of its own
    live <-------------- |
    _act                                                           make, `started`
    _perform ----------> became_ready                              READY; what was kept is let go of

Under another strategy `carry_out` sends the supervisor a message (_Regroup) instead: the group is stopped, each member
by `begin_regroup`, and after the backoff it is started in order.
"""

import contextvars
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import trio
from outcome import Outcome

from actors.kernel.errors import ActorDown, MailboxFull, StartFailed
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


class Slot:
    __slots__ = (
        "_context",
        "_on_stopped",
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
        "ref",
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
        box.on_drop = self._dropped
        box.on_dead = self._dead
        self.ref: ActorRef[Any] = ActorRef(self)  # what it takes is known to who started it, not to the kernel
        if stage.on_tell is not None:
            box.trace(self._told)
        self.state = WAITING
        self.since = stage.now()
        self.incarnation: Incarnation | None = None
        self.failures = 0  # in a row; what backoff doubles
        self.note: str | None = None  # what the kernel has to say of it; an actor's own note comes first
        self.leased = False  # it stands for a connection
        self.leaving = False  # it was asked to stop for good
        self.regrouping = False  # it is stopped, or asked to stop, and will be restarted with its group
        self.trial = False  # somebody waits for its first start, and a failure is his to know, not a reason to restart
        self.start_error: BaseException | None = None
        self.stop: Stop | None = None  # not None if and only if state is STOPPED
        self.monitors: dict[Monitor, None] | None = None  # over this slot
        self.watching: dict[Monitor, None] | None = None  # held by this slot, not by an incarnation of it
        self.names: list[str] | None = None
        self.kept: object | None = None  # of the last keep(), until an incarnation that was given it is ready
        self._retry: Timer | None = None
        self._ready_at: float | None = None
        self._settled: trio.Event | None = None
        self._stopped: trio.Event | None = None
        self._on_stopped: Callable[[], None] | None = None
        self._context = contextvars.copy_context()

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
        """After the backoff, unless it is stopped before."""
        self._retry = self.stage.timers.after(seconds, self.restart)

    def call_off_restart(self) -> None:
        """It waits on, to be stopped."""
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
        """Seconds from ready to now; 0 if this incarnation was not."""
        return 0.0 if self._ready_at is None else self.stage.now() - self._ready_at

    async def wait_settled(self) -> bool:
        """Until this start has succeeded or failed; True if it has succeeded, whatever came of it since."""
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
        """Stop for good; safe to call at any time, any number of times."""
        self.leaving = True
        self._interrupt(self.spec.grace if grace is None else grace)

    def begin_regroup(self) -> None:
        """Stop, to be started again with the group; neither a temporary child comes back, nor a transient one that was
        just about to be done."""
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
        """The supervisor's nursery cancels the task; this reaches the shields in it, and keeps it from coming back."""
        self.leaving = True
        if self.incarnation is not None:
            self.incarnation.kill()
        elif self.stop is None:
            self._terminate(Stop(Why.KILLED))

    async def wait_ended(self) -> None:
        """Until the present incarnation is gone."""
        if self.incarnation is not None:
            if self._stopped is None:
                self._stopped = trio.Event()
            await self._stopped.wait()

    async def wait_stopped(self) -> Stop:
        """Until it has ended for good."""
        while self.stop is None:
            if self._stopped is None:
                self._stopped = trio.Event()
            await self._stopped.wait()
        return self.stop

    def on_stopped(self, call: Callable[[], None]) -> None:
        self._on_stopped = call

    def ended(self, incarnation: Incarnation, stop: Stop) -> None:
        """An incarnation is over; called once for each, in its own task, synchronously."""
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
        self.stage.ended(self, Ended(stop, message, again is not None, _called(incarnation)))
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

    def _wake_waiters(self) -> None:
        for event in (self._settled, self._stopped):
            if event is not None:
                event.set()
        self._settled = self._stopped = None

    # -- monitors

    def watch(self, watched: "Slot", *, every: bool) -> Monitor:
        """Have whatever incarnation is here then told."""
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
            if not self.leased or self.box.closed.why.failed:  # what is said to a page that was closed is nobody's loss
                self.stage.dead(self.ref, message, self.box.closed)
        elif type(message) is Reply and message.wanted:  # a message of the dead to itself is nobody's loss
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
        """In start order."""
        supervisor = self._supervisor()
        return [] if supervisor is None else list(supervisor.slots.values())

    @property
    def handled(self) -> int:
        """Messages, by all that ever stood here."""
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


def _called(incarnation: Incarnation) -> str | None:
    try:
        return None if incarnation.actor is None else incarnation.actor.called
    except Exception as error:  # of the actor's own, and we are in the middle of its end
        return f"(its name cannot be had: {describe(error)})"


def _bare(message: Any) -> Any:
    """The message itself, out of what the kernel wraps it in."""
    return message.message if isinstance(message, Envelope) else message
