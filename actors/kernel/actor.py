"""The base class of all actors. Its author writes the actor's state, and a handler for its messages.

At most one of `started`, `handle`, `down` and `stopping` runs at any time, so the state needs no lock. An actor
receives messages, decides and sends messages. It touches no bytes, sockets or threads: those belong to the transports.

An actor never sees its cancel scopes. A handler may be cancelled at any `await`, for one of three reasons:
  - It handles an ask whose asker has given up. The actor lives on, and keeps what the handler changed until then.
  - The actor is asked to stop. `stopping` follows.
  - The actor is killed. Nothing follows.
`with self.atomic():` holds off the first two.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Generic, Never, TypeVar, TypeVarTuple

from actors.kernel.stop import Down, Stop, Why

if TYPE_CHECKING:
    from actors.kernel.incarnation import Incarnation
    from actors.kernel.ref import ActorRef, AnyRef
    from actors.kernel.stage import Stage
    from actors.kernel.timers import Timer

M = TypeVar("M", contravariant=True)
Ts = TypeVarTuple("Ts")


class Actor(Generic[M]):
    ref: "ActorRef[M]"
    """The actor's own address. The kernel sets it before `started`."""
    stage: "Stage"
    """What all actors of a tree share: the clock, randomness, ids and names."""
    note: str | None = None
    """The actor's condition, in a sentence that the console shows. None: there is nothing to say."""
    supervises: bool = False
    incarnation: "Incarnation"

    # -- what to write

    async def started(self, kept: object | None) -> None:
        """Called before the first message. If it raises, or takes longer than `start_timeout`, the actor ends as
        NEVER_STARTED. `kept` is what `keep()` of a crashed predecessor returned. Each new incarnation is given it until
        one has started."""

    async def handle(self, message: M) -> None:
        """Called with each message. It consists of a `match` with a clause for each type of message; the last clause is
        `case _: self.unknown(message)`."""
        self.incarnation.unknown(message)

    def at_once(self, message: M) -> bool:
        """Called while the actor is idle, in the task that hands a message over (`ActorRef.hand`) or asks. Handling the
        message there saves two steps of the scheduler. False: nothing was done, and the message goes to the mailbox.
        If this method raises, the actor has crashed, not the caller."""
        return False

    async def down(self, down: Down) -> None:
        """Called when an actor that this one monitors has ended."""

    @property
    def called(self) -> str | None:
        """The actor's role and name for people, for an actor whose id is only a number. None: the id says enough. Like
        `trouble`, it is read whenever somebody looks at the tree."""
        return None

    @property
    def trouble(self) -> str | None:
        """Why the actor cannot do all of its work, although it lives and a restart would not help: a sentence for
        people. It is read whenever somebody looks at the tree, also before the actor has started."""
        return None

    def keep(self) -> object | None:
        """Called after a crash. Returns state for the next incarnation: only state that no handler leaves half
        changed."""
        return None

    async def stopping(self, stop: Stop) -> None:
        """The actor's last words. They may take at most `grace` seconds. They are also called after a crash, but never
        after a kill, and never if `started` did not return."""

    def let_go(self) -> None:
        """Called when nothing of this incarnation runs any more, whatever its end was. An actor whose parts know each
        other parts them here: then their memory is free at once, and not only when the collector finds them. It looks
        through what has lived long only after a million new objects."""

    # -- what to call

    def unknown(self, message: Never) -> None:
        """For the last clause of `handle`. Its type `Never` makes a type checker complain if a message of `M` has no
        clause of its own. A message that comes all the same is a dead letter. It is logged, once for each type, and if
        it is an ask, the asker is told at once."""
        self.incarnation.unknown(message)

    def finish(self, why: Why = Why.DONE) -> None:
        """End the actor after the message that is being handled."""
        self.incarnation.end(Stop(why))

    def tell_later(self, seconds: float, message: M) -> "Timer":
        """Send the actor itself a message after a delay. A cancelled message is not handled, even if it was due. The
        message dies with this incarnation."""
        return self.incarnation.tell_later(seconds, message)

    def monitor(self, ref: "AnyRef", *, every: bool = False) -> Callable[[], None]:
        """Have `down` called when the actor behind `ref` ends for good; with `every`, also at each end that a restart
        follows. Call the result to cancel the monitor."""
        return self.incarnation.monitor(ref, every=every)

    def run_beside(self, task: Callable[[*Ts], Awaitable[object]], *args: *Ts) -> None:
        """Run a task that ends with this incarnation at the latest. If it raises, the actor has crashed."""
        self.incarnation.run_beside(task, *args)

    def atomic(self) -> AbstractContextManager[None]:
        """A block that neither an asker who gives up nor a request to stop interrupts. A kill does."""
        return self.incarnation.atomic()


def actor_from(handle: Callable[[M], Awaitable[None]]) -> Callable[[], Actor[M]]:
    """Make an actor from one function: `ChildSpec("echo", actor_from(answer))`."""

    class FunctionActor(Actor[M]):
        async def handle(self, message: M) -> None:
            await handle(message)

    FunctionActor.__name__ = FunctionActor.__qualname__ = getattr(handle, "__name__", "function")
    return FunctionActor
