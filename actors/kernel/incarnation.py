"""An incarnation: one life of an actor, from `make()` to its last words.

    task of the child (in its supervisor's nursery)
      life scope          cancelled by a kill; nothing of the actor runs after it
        nursery           only a supervisor has one: its children's tasks
          handling scope  around started() and every handler; cancelled to interrupt them, either because an ask was
                          abandoned while its handler ran (the loop opens the next scope and goes on), or because of
                          a request to stop
          last words      stopping(), outside the handling scope
      tasks beside        cancelled and awaited at the end
    The grace time begins with the request to stop, or with the crash. If any of this still runs when it is over, the
    incarnation is killed.

One handling scope serves all messages until it is cancelled, because a scope for each ask would cost a third of the
rate of asks. The scope can only be cancelled for the ask whose handler is running at that moment, so the loop checks
after each ask whether it was.

The reason for an end is recorded before anything is cancelled (`ending` for an orderly end, `cut` for a kill), because
the exception that arrives may be another one: an error raised in clean-up replaces the Cancelled.

An actor's exceptions become a Stop here and nowhere else. Only three things leave the child's task: KeyboardInterrupt,
SystemExit, and the Cancelled of a supervisor that is being killed.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import trio

from actors.kernel.actor import Actor
from actors.kernel.beside import Beside
from actors.kernel.errors import ActorDown, MailboxFull, NotTaken, TooSlow
from actors.kernel.failures import failure, fatal, in_spite_of, joined, parted
from actors.kernel.later import Later
from actors.kernel.mailbox import Envelope, Signal
from actors.kernel.monitor import DownNotice, Monitor
from actors.kernel.reply import ABANDONED, DEFERRED, RUNNING, WAITING, Reply
from actors.kernel.stop import Stop, Why, describe
from actors.kernel.timers import Timer

if TYPE_CHECKING:
    from actors.kernel.ref import AnyRef
    from actors.kernel.slot import Slot
    from actors.kernel.supervisor import Supervisor

STUCK_AFTER = 5.0
"""Seconds after a kill until an actor that still runs is reported: it never awaits, or it swallows Cancelled."""


class Incarnation(Signal):
    """It is also a signal: put into the actor's system lane, it tells the loop to look at `ending`."""

    __slots__ = (
        "_beside",
        "_current",
        "_deadline",
        "_deferred",
        "_late_errors",
        "_later",
        "_message",
        "_monitors",
        "_prompt",
        "_shields",
        "actor",
        "cut",
        "ending",
        "handling",
        "life",
        "over",
        "ready",
        "slot",
    )

    def __init__(self, slot: "Slot") -> None:
        self.slot = slot
        self.actor: Actor[Any] | None = None
        self.life = trio.CancelScope()
        self.handling = trio.CancelScope()
        self.ready = False  # started() has returned in time
        self.ending: Stop | None = None  # set before handling is cancelled for good
        self.cut: Stop | None = None  # set before life is cancelled
        self.over = False  # released: nothing may be started on its behalf any more
        self._message: Any = None  # the message whose handler crashed
        self._prompt: Actor[Any] | None = None  # the actor, if it has at_once() and is not just running it
        self._current: Reply[Any] | None = None  # the ask whose handler is running
        self._deferred: dict[Reply[Any], None] | None = None  # asks whose handler returned without an answer
        self._late_errors: tuple[Exception, ...] = ()  # raised outside the handlers after the reason to end was settled
        self._later: dict[Later, None] | None = None
        self._monitors: dict[Monitor, None] | None = None
        self._shields: dict[trio.CancelScope, None] | None = None
        self._beside: Beside | None = None
        self._deadline: Timer | None = None  # of the grace time; after the kill, until the actor is reported as stuck

    # -- the task

    async def live(self) -> None:
        failed: Stop | None = None
        foreign: BaseException | None = None
        try:
            with self.life:
                await self._act()
        except BaseException as error:
            own, foreign = parted(error)
            if foreign is not None and fatal(foreign):
                self.slot.stage.abort()
            failed = None if own is None else failure(own)  # it was raised by clean-up during a kill
        if self._beside is not None:
            self._set_deadline(self.slot.spec.grace)
            await self._beside.end()
        self.slot.ended(self, self._verdict(failed))
        if foreign is not None:
            raise foreign

    def _verdict(self, failed: Stop | None) -> Stop:
        known = [one for one in (self.cut, failed, self.ending) if one is not None]
        meant = known[0] if known else Stop(Why.KILLED)
        error = joined(*(one.error for one in known), *self._late_errors)
        return meant if error is None else in_spite_of(Stop(meant.why), error)

    async def _act(self) -> None:
        if self.cut is not None or self.ending is not None:  # it was stopped or killed before its first step
            return
        try:
            actor = self.actor = self.slot.spec.make()
        except Exception as error:
            self.ending = Stop(Why.NEVER_STARTED, error)
            return
        actor.incarnation = self
        if type(actor).at_once is not Actor.at_once and self.slot.stage.on_take is None:
            self._prompt = actor
        actor.ref = self.slot.ref
        actor.stage = self.slot.stage
        if not actor.supervises:
            await self._perform(actor)
            return
        supervisor = cast("Supervisor[Any]", actor)
        async with trio.open_nursery() as supervisor.nursery:
            await self._perform(actor)
            self._kill_children()  # there are none left, unless a subclass overrides `stopping` or `stopping` failed

    async def _perform(self, actor: Actor[Any]) -> None:
        slot = self.slot
        limit = slot.stage.timers.after(slot.spec.start_timeout, self._too_slow_to_start)
        returned = False
        try:
            with self.handling:
                await actor.started(slot.kept)
                returned = True
        except Exception as error:
            late = self.ending.error if self.ending is not None else None
            self.ending = Stop(Why.NEVER_STARTED, joined(late, error))
        finally:
            limit.cancel()
        self.ready = returned and (self.ending is None or self.ending.why is not Why.NEVER_STARTED)
        if self.ready:
            slot.became_ready()
            await self._last_words(actor, await self._loop(actor))
        elif returned or actor.supervises:
            assert self.ending is not None
            await self._last_words(actor, self.ending)

    def _too_slow_to_start(self) -> None:
        spec = self.slot.spec
        error = TooSlow(f"{self.slot.path} was not ready within {spec.start_timeout:g} s")
        self.interrupt(Stop(Why.NEVER_STARTED, error), spec.grace)

    async def _loop(self, actor: Actor[Any]) -> Stop:
        """Take messages and handle them until there is a reason to end."""
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
                    while not handling.cancel_called:
                        await box.wait()
                        for left in turn:
                            if system:
                                message = system.popleft()
                                if message is self:  # interrupt() or end() was called
                                    left += 1
                                    assert self.ending is not None
                                    return self.ending
                                await self._handle_system(actor, handle, message)
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
                                    elif message.state is ABANDONED:
                                        box.stale -= 1
                                elif kind is Later:
                                    if message.wanted:
                                        message.taken()
                                        await handle(message.message)
                                    else:
                                        box.stale -= 1
                                else:
                                    await handle(message)
                            else:
                                left += 1
                                break
                        message = None  # frees a message that may be large: the next one may take long to come
                        self._worked(box.budget - left)
                        left = box.budget
                if type(message) is Reply:
                    message.let_go()
                message = None  # a handler was cancelled
                self._worked(box.budget - left)
                left = box.budget
            return self.ending
        except Exception as error:
            return self._crashed(error, message)
        finally:
            self._worked(box.budget - left)

    # -- messages that are handled where they are brought

    def takes_at_once(self, message: Any, reply: Reply[Any] | None = None) -> bool:
        """Handle a message in the task of its sender; True if that was done. The caller has seen that the owner of the
        mailbox is parked: nothing of the actor runs and no message waits, so this message would be the next one.
        `reply` is given if the message is a question."""
        actor = self._prompt
        if actor is None:
            return False
        self._prompt = None  # until the actor is done, other messages go to the mailbox
        try:
            if not actor.at_once(message):
                return False
        except Exception as error:
            self._message = message
            if reply is not None and reply.state is WAITING:
                reply.fail(error)
            self._failed_meanwhile(error)
        finally:
            self._prompt = actor
        if reply is not None:
            reply.place = RUNNING
            self._may_answer_later(reply)
        self._worked(1)
        return True

    def _worked(self, messages: int) -> None:
        """So many messages were handled."""
        box = self.slot.box
        if box.still and messages:
            self.slot.stage.stirred(self.slot)
        box.handled += messages

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
        self._may_answer_later(reply)

    def unknown(self, message: object) -> None:
        """No clause of the handler takes this message."""
        slot, kind, actor = self.slot, type(message).__name__, type(self.actor).__name__
        slot.stage.untaken(slot.ref, message, actor)
        reply = self._current
        if reply is not None and reply.message is message and reply.wanted:
            reply.fail(NotTaken(f"{slot.path} does not take {kind}: no clause of {actor} does"))

    def _may_answer_later(self, reply: Reply[Any]) -> None:
        if reply.state is WAITING:
            reply.place = DEFERRED
            if self._deferred is None:
                self._deferred = {}
            self._deferred[reply] = None
        else:
            reply.let_go()

    async def _handle_system(
        self, actor: Actor[Any], handle: Callable[[Any], Awaitable[None]], message: object
    ) -> None:
        match message:
            case DownNotice(monitor=monitor, down=down):
                if monitor.take(down):
                    await actor.down(down)
            case Incarnation():
                pass  # left by a predecessor that was to end
            case Signal():
                await cast("Supervisor[Any]", actor).heard(message)
            case _:
                await handle(message)

    def _crashed(self, error: Exception, message: Any) -> Stop:
        match message:
            case DownNotice(down=down):
                self._message = down
            case Envelope():
                self._message = message.message
            case _:
                self._message = message
        if type(message) is Reply and message.state is WAITING:
            message.fail(error)
        if self.ending is None:
            return failure(error)
        return in_spite_of(self.ending, error)  # the actor was to end, and its clean-up failed

    async def _last_words(self, actor: Actor[Any], stop: Stop) -> None:
        self.ending = stop
        self.slot.stopping_began()
        if self._deadline is None:
            self._set_deadline(self.slot.spec.grace)
        try:
            await actor.stopping(stop)
        except Exception as error:
            self.ending = in_spite_of(stop, error)

    @property
    def crashed_on(self) -> object:
        """The message whose handler crashed, or None."""
        return self._message

    # -- ending it from outside the loop

    def end(self, stop: Stop) -> None:
        """End the actor after the message that is being handled."""
        if self.ending is None:
            self.ending = stop
            self.slot.box.put_first(self)

    def interrupt(self, stop: Stop, grace: float) -> None:
        """End the actor now, in order: the running handler is cancelled, unless it is atomic, and the last words
        follow."""
        if self.cut is not None:
            return
        if self.ending is None:
            self.ending = stop
            self.slot.box.put_first(self)
        self.handling.cancel()
        self._set_deadline(grace)

    def _set_deadline(self, grace: float) -> None:
        """Kill the actor after this grace time. A later request to stop may shorten the time, but not lengthen it."""
        if self.cut is not None:
            return
        timers = self.slot.stage.timers
        if self._deadline is not None:
            if self._deadline.due <= timers.now() + grace:
                return
            self._deadline.cancel()
        self._deadline = timers.after(grace, self.kill)

    def kill(self) -> None:
        """End the actor now, with all of its children, and without last words."""
        if self.cut is not None:
            return
        self.cut = Stop(Why.KILLED)
        self._kill_children()
        for shield in self._shields or ():
            shield.shield = False
        self.life.cancel()
        if self._beside is not None:
            self._beside.cancel()
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.slot.stage.timers.after(STUCK_AFTER, self._stuck)

    def _kill_children(self) -> None:
        self.slot.close_to_children()
        for child in self.slot.children():
            child.killed_with_supervisor()

    def _stuck(self) -> None:
        self.slot.stage.stuck(self.slot)

    # -- what belongs to this life and ends with it

    def tell_later(self, seconds: float, message: object) -> Later:
        slot, timers = self.slot, self.slot.stage.timers
        if self._later is None:
            self._later = {}
        if len(self._later) >= slot.box.capacity:
            raise MailboxFull(f"{slot.path} has {len(self._later)} timers pending, which is all it may have")
        later = Later(timers, timers.now() + seconds, slot.box, self._later, message)
        if self.over:
            later.cancel()
        else:
            timers.push(later)
        return later

    def monitor(self, ref: "AnyRef", *, every: bool) -> Callable[[], None]:
        if self._monitors is None:
            self._monitors = {}
        monitor = ref._slot.add_monitor(self.slot, self._monitors, every=every)
        if self.over:
            monitor.cancel()
        return monitor.cancel

    @contextmanager
    def atomic(self) -> Iterator[None]:
        with trio.CancelScope(shield=self.cut is None) as scope:
            if self._shields is None:
                self._shields = {}
            self._shields[scope] = None
            try:
                yield
            finally:
                del self._shields[scope]

    def run_beside(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        slot = self.slot
        if self.over:
            raise ActorDown(slot.path, slot.stop or Stop(Why.CRASHED))
        if self._beside is None:
            self._beside = Beside(self._failed_beside)
        self._beside.start(slot.nursery, f"{slot.path} beside: {getattr(task, '__qualname__', task)}", task, args)

    def _failed_beside(self, own: Exception | None, foreign: BaseException | None) -> None:
        if foreign is not None and fatal(foreign):
            self.slot.stage.abort()
        if own is not None:
            self._failed_meanwhile(own)

    def _failed_meanwhile(self, error: Exception) -> None:
        """A task beside the actor, `at_once` or an `on_abandon` callback has raised."""
        if self.ending is None and self.cut is None:
            self.interrupt(failure(error), self.slot.spec.grace)
        else:
            self._late_errors = (*self._late_errors, error)

    def asker_left(self, reply: Reply[Any], on_abandon: Callable[[], None] | None) -> None:
        """The asker of a question that is running or deferred has given up."""
        self.forget(reply)
        if self._current is reply:
            self.handling.cancel()
        if on_abandon is not None:
            try:
                on_abandon()
            except Exception as error:  # this runs in the asker's task, or in that of the timers
                self._failed_meanwhile(error)

    def forget(self, reply: Reply[Any]) -> None:
        if self._deferred is not None:
            self._deferred.pop(reply, None)

    def let_go(self) -> None:
        """Actor and incarnation forget each other, so that neither waits for the collector."""
        actor, self.actor, self._prompt, self._beside = self.actor, None, None, None
        self._current = self._message = None
        if actor is not None:
            try:
                actor.let_go()
            except Exception as error:  # the actor's code failed, and it has ended
                self.slot.place.error = f"{self.slot.path} did not let go: {describe(error)}"

    def release(self, stop: Stop) -> None:
        """This life is over: its timers and monitors are cancelled, and everyone who waits for its answers is told."""
        self.over = True
        if self._deadline is not None:
            self._deadline.cancel()
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
