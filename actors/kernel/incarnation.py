"""One life of an actor: from `make()` to its last words.

    task of the child (in its supervisor's nursery)
      life scope          cancelled by a kill; nothing of the actor runs after it
        nursery           only a supervisor has one: its children's tasks
          handling scope  around started() and every handler; cancelled to interrupt them: by an ask that was abandoned
                          while its handler ran (the loop opens the next scope and goes on), or by a request to stop
          last words      stopping(), outside the handling scope, with the grace time running
      tasks beside        cancelled and awaited at the end

One handling scope serves all messages until it is cancelled: a scope for each ask would cost a third of its rate. It
can only be cancelled for the ask whose handler is running right now, and after each ask the loop looks whether it
was.

The reason is recorded before anything is cancelled (`ending` for an orderly end, `cut` for a kill), because trio may
deliver something else than what was meant: an error raised in clean-up replaces the Cancelled.

This is the only place where an actor's exceptions become a Stop: nothing but KeyboardInterrupt, SystemExit and the
Cancelled of a supervisor that is being killed leaves the child's task.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, cast

import trio

from actors.kernel.actor import Actor
from actors.kernel.errors import MailboxFull, PeerGone, TooSlow
from actors.kernel.monitor import Monitor, Notice
from actors.kernel.reply import DEFERRED, RUNNING, WAITING, Reply
from actors.kernel.stop import Stop, Why
from actors.kernel.timers import Timer, Timers

if TYPE_CHECKING:
    from actors.kernel.ref import ActorRef
    from actors.kernel.slot import Slot
    from actors.kernel.supervisor import Supervisor

STUCK_AFTER = 5.0
"""Seconds after a kill until an actor that is still there is reported: it never awaits, or swallows Cancelled."""


class Incarnation:
    __slots__ = (
        "_beside",
        "_current",
        "_deferred",
        "_grace_timer",
        "_late_error",
        "_later",
        "_message",
        "_monitors",
        "_quiet",
        "_shields",
        "actor",
        "cut",
        "ending",
        "handling",
        "life",
        "ready",
        "slot",
    )

    def __init__(self, slot: "Slot") -> None:
        self.slot = slot
        self.actor: Actor[Any] | None = None
        self.life = trio.CancelScope()
        self.handling = trio.CancelScope()
        self.ready = False  # started() has returned
        self.ending: Stop | None = None  # set before handling is cancelled for good
        self.cut: Stop | None = None  # set before life is cancelled
        self._message: object = None  # what crashed
        self._current: Reply[Any] | None = None  # the ask whose handler is running
        self._deferred: set[Reply[Any]] | None = None  # asks whose handler returned without an answer
        self._late_error: Exception | None = None  # of a task beside, after the reason to end was settled
        self._later: set[Later] | None = None
        self._monitors: set[Monitor] | None = None
        self._shields: set[trio.CancelScope] | None = None
        self._beside: set[trio.CancelScope] | None = None
        self._quiet: trio.Event | None = None  # set when _beside becomes empty, once somebody waits for that
        self._grace_timer: Timer | None = None

    # -- the task

    async def live(self) -> None:
        stop: Stop | None = None
        try:
            try:
                with self.life:
                    stop = await self._act()
            except Exception as error:  # of clean-up during a kill, stripped of Cancelled by the scope
                stop = Stop(Why.CRASHED, error)
            await self._end_beside()
        except BaseException as error:
            self.slot.ended(self, Stop(Why.KILLED, _leave_cancelled(error)), with_supervisor=True)
            _raise_on(error)
        self.slot.ended(self, self._verdict(stop))

    def _verdict(self, stop: Stop | None) -> Stop:
        meant = self.cut or stop
        assert meant is not None
        error = meant.error or (stop and stop.error) or self._late_error
        if error is None:
            return meant
        return Stop(Why.CRASHED if meant.why.normal else meant.why, error)

    async def _act(self) -> Stop:
        try:
            actor = self.actor = self.slot.spec.make()
        except Exception as error:
            return Stop(Why.NEVER_STARTED, error)
        actor.incarnation = self
        actor.ref = self.slot.ref
        actor.stage = self.slot.stage
        if actor.supervises:
            async with trio.open_nursery() as nursery:
                cast("Supervisor", actor).nursery = nursery
                return await self._perform(actor)
        return await self._perform(actor)

    async def _perform(self, actor: Actor[Any]) -> Stop:
        slot = self.slot
        limit = slot.stage.timers.after(slot.spec.start_timeout, self._too_slow_to_start)
        try:
            with self.handling:
                await actor.started(slot.take_kept())
                self.ready = True
        except Exception as error:
            self.ending = Stop(Why.NEVER_STARTED, error)
        finally:
            limit.cancel()
        if self.ready:
            slot.became_ready()
            return await self._last_words(actor, await self._loop(actor))
        assert self.ending is not None
        return await self._last_words(actor, self.ending) if actor.supervises else self.ending

    def _too_slow_to_start(self) -> None:
        spec = self.slot.spec
        error = TooSlow(f"{self.slot.path} was not ready within {spec.start_timeout:g} s")
        self.interrupt(Stop(Why.NEVER_STARTED, error), spec.grace)

    async def _loop(self, actor: Actor[Any]) -> Stop:
        """Take messages until there is a reason to end."""
        box = self.slot.box
        lane, system = box.lane, box.system
        handle = self._traced(actor.handle)
        turn = range(box.budget - 1, -1, -1)
        left = box.budget
        message: Any = None
        try:
            while self.ending is None:
                self._current = None
                self.handling = handling = trio.CancelScope()
                with handling:
                    while True:
                        await box.wait()
                        for left in turn:
                            if system:
                                message = system.popleft()
                                if message is self:  # interrupt() or end() was called
                                    assert self.ending is not None
                                    return self.ending
                                await self._handle_system(actor, message)
                            elif lane:
                                message = lane.popleft()
                                if box.senders:
                                    box.admit()
                                kind = type(message)
                                if kind is Reply:
                                    if message.state is WAITING:
                                        await self._handle_ask(handle, message)
                                        if handling.cancel_called:
                                            break
                                elif kind is Later:
                                    if message.arrived():
                                        await handle(message.message)
                                else:
                                    await handle(message)
                            else:
                                left += 1
                                break
                        box.handled += box.budget - left
                        left = box.budget
                        if handling.cancel_called:
                            break
            return self.ending
        except Exception as error:
            box.handled += box.budget - left
            return self._crashed(error, message)

    def _traced(self, handle: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        on_take, ref = self.slot.stage.on_take, self.slot.ref
        if on_take is None:
            return handle

        async def traced(message: Any) -> None:
            on_take(ref, message)
            await handle(message)

        return traced

    async def _handle_ask(self, handle: Callable[[Any], Awaitable[None]], reply: Reply[Any]) -> None:
        reply.place = RUNNING
        self._current = reply
        await handle(reply.message)
        self._current = None
        if reply.state is WAITING:
            reply.place = DEFERRED
            if self._deferred is None:
                self._deferred = set()
            self._deferred.add(reply)

    async def _handle_system(self, actor: Actor[Any], message: Any) -> None:
        match message:
            case Notice():
                if message.monitor.active:
                    await actor.down(message.down)
            case Incarnation():
                pass  # the end of a predecessor
            case _:
                await actor.handle(message)

    def _crashed(self, error: Exception, message: Any) -> Stop:
        self._message = message.message if type(message) in (Reply, Later) else message
        if type(message) is Reply and message.state is WAITING:
            message.fail(error)
        if self.ending is not None:  # it was interrupted, and its clean-up failed
            return self.ending if self.ending.error is not None else Stop(Why.CRASHED, error)
        return _failure(error)

    async def _last_words(self, actor: Actor[Any], stop: Stop) -> Stop:
        self.ending = stop
        self.slot.stopping_began()
        if self._grace_timer is None:
            self._set_grace(self.slot.spec.grace)
        try:
            await actor.stopping(stop)
        except Exception as error:
            if stop.error is None:
                return Stop(Why.CRASHED, error)
            return Stop(stop.why, ExceptionGroup("it failed, and again while stopping", _errors(stop.error, error)))
        finally:
            if self._grace_timer is not None:
                self._grace_timer.cancel()
        return stop

    @property
    def crashed_on(self) -> object:
        """The message whose handler crashed, or None."""
        return self._message

    # -- ending it from outside the loop

    def end(self, stop: Stop) -> None:
        """End after the message that is being handled."""
        if self.ending is None:
            self.ending = stop
            self.slot.box.put_system(self)

    def interrupt(self, stop: Stop, grace: float) -> None:
        """End now, in order: whatever is being handled is cancelled, unless atomic, and last words follow."""
        if self.cut is not None:
            return
        if self.ending is None:
            self.ending = stop
            self.slot.box.put_system(self)
        self.handling.cancel()
        self._set_grace(grace)

    def _set_grace(self, grace: float) -> None:
        timers = self.slot.stage.timers
        due = timers.now() + grace
        if self._grace_timer is None or due < self._grace_timer.due:
            if self._grace_timer is not None:
                self._grace_timer.cancel()
            self._grace_timer = timers.after(grace, self.kill)

    def kill(self) -> None:
        """End now, with everything below, without last words."""
        if self.cut is not None:
            return
        self.cut = Stop(Why.KILLED)
        for child in self.slot.children():
            child.killed_with_supervisor()
        self.slot.close_to_children()
        for shield in self._shields or ():
            shield.shield = False
        self.life.cancel()
        for scope in self._beside or ():
            scope.cancel()
        self.slot.stage.timers.after(STUCK_AFTER, self._stuck)

    def _stuck(self) -> None:
        if self.slot.incarnation is self:
            self.slot.stage.stuck(self.slot)

    # -- what belongs to this life and ends with it

    def tell_later(self, seconds: float, message: object) -> "Later":
        if self._later is None:
            self._later = set()
        if len(self._later) >= self.slot.box.capacity:
            raise MailboxFull(f"{self.slot.path} has {len(self._later)} timers pending, which is all it may have")
        timers = self.slot.stage.timers
        later = Later(timers, timers.now() + seconds, self, message)
        self._later.add(later)
        timers.push(later)
        return later

    def monitor(self, ref: "ActorRef[Any]", *, every: bool) -> Callable[[], None]:
        monitor = ref._slot.add_monitor(self.slot, every=every)
        if self._monitors is None:
            self._monitors = set()
        monitors = self._monitors
        monitors.add(monitor)

        def cancel() -> None:
            monitors.discard(monitor)
            monitor.cancel()

        return cancel

    @contextmanager
    def atomic(self) -> Iterator[None]:
        with trio.CancelScope(shield=self.cut is None) as scope:
            if self._shields is None:
                self._shields = set()
            self._shields.add(scope)
            try:
                yield
            finally:
                self._shields.discard(scope)

    def run_beside(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        scope = trio.CancelScope()
        if self._beside is None:
            self._beside = set()
        self._beside.add(scope)
        if self.cut is not None:
            scope.cancel()
        name = f"{self.slot.path} beside: {getattr(task, '__qualname__', task)}"
        self.slot.nursery.start_soon(self._run_beside, scope, task, args, name=name)

    async def _run_beside(
        self, scope: trio.CancelScope, task: Callable[..., Awaitable[object]], args: tuple[object, ...]
    ) -> None:
        assert self._beside is not None
        try:
            with scope:
                await task(*args)
        except Exception as error:
            if self.ending is None:
                self.interrupt(_failure(error), self.slot.spec.grace)
            else:
                self._late_error = error
        finally:
            self._beside.discard(scope)
            if not self._beside and self._quiet is not None:
                self._quiet.set()

    async def _end_beside(self) -> None:
        if self._beside:
            self._quiet = trio.Event()
            for scope in self._beside:
                scope.cancel()
            with trio.CancelScope(shield=True):
                await self._quiet.wait()

    def cancel_handling(self, reply: Reply[Any]) -> None:
        if self._current is reply:
            self.handling.cancel()

    def forget(self, reply: Reply[Any]) -> None:
        if self._deferred is not None:
            self._deferred.discard(reply)

    def forget_later(self, later: "Later") -> None:
        if self._later is not None:
            self._later.discard(later)

    def release(self, stop: Stop) -> None:
        """The life is over: nothing of it may arrive any more, and whoever waits for its answers is told."""
        for later in tuple(self._later or ()):
            later.cancel()
        for monitor in tuple(self._monitors or ()):
            monitor.cancel()
        unanswered = list(self._deferred or ())
        if self._current is not None:
            unanswered.append(self._current)
        for reply in unanswered:
            if reply.state is WAITING:
                self.slot.refuse(reply, stop)


class Later(Timer):
    """A timer message: in the heap until it is due, then in its actor's lane."""

    __slots__ = ("_incarnation", "cancelled", "message")

    def __init__(self, timers: Timers, due: float, incarnation: Incarnation, message: object) -> None:
        super().__init__(timers, due, self._come)
        self._incarnation = incarnation
        self.message = message
        self.cancelled = False

    def _come(self) -> None:
        self._incarnation.slot.box.put_over(self)

    def cancel(self) -> None:
        self.cancelled = True
        self._incarnation.forget_later(self)
        super().cancel()

    def arrived(self) -> bool:
        """It was popped from the lane: is it still wanted?"""
        self._incarnation.forget_later(self)
        return not self.cancelled


def _failure(error: Exception) -> Stop:
    return Stop(Why.PEER_GONE if isinstance(error, PeerGone) else Why.CRASHED, error)


def _leave_cancelled(error: BaseException) -> BaseException | None:
    """What else there is beside Cancelled."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[1]
    return None if isinstance(error, trio.Cancelled) else error


def _raise_on(error: BaseException) -> NoReturn:
    """Pass on what is not ours: Cancelled, KeyboardInterrupt, SystemExit. Errors of clean-up were recorded."""
    if isinstance(error, BaseExceptionGroup):
        others = error.split(Exception)[1]
        raise error if others is None else others
    raise error


def _errors(*errors: BaseException) -> list[Exception]:
    return [error for error in errors if isinstance(error, Exception)]
