"""What one writes: state, and a handler for each message.

At most one of `started`, `handle`, `down`, `stopping` runs at any time, so state needs no lock. Messages are
answered, sent and decided on here; bytes, sockets and threads are somebody else's (transports).

An actor never sees its scopes. It may be cancelled at any await of a handler: because the asker of the ask it
handles has gone (the actor lives on, with whatever the handler had changed by then), because it is asked to stop
(`stopping` follows), or because it is killed (nothing follows). `with self.atomic():` holds off the first two.
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
    """My own address; bound by the kernel before `started`."""
    stage: "Stage"
    """Where I live: the clock, randomness, ids and names."""
    note: str | None = None
    """How I am, in a sentence for people; shown in the console. None: nothing to say."""
    supervises: bool = False
    incarnation: "Incarnation"

    # -- what to write

    async def started(self, kept: object | None) -> None:
        """Before the first message. Raising, or taking longer than `start_timeout`: NEVER_STARTED. `kept` is what
        `keep()` of a crashed predecessor gave; it is given again until a start has succeeded."""

    async def handle(self, message: M) -> None:
        """A `match` with a clause for each message, and a last one: `case _: self.unknown(message)`."""
        self.incarnation.unknown(message)

    def at_once(self, message: M) -> bool:
        """Handle a message in the task of whoever hands it over (`ActorRef.hand`) or asks, while I am idle: two steps
        of the scheduler less. False: nothing was done, and it goes to the mailbox. Raising is a crash of mine, not
        the other's."""
        return False

    async def down(self, down: Down) -> None:
        """An actor that I monitor has ended."""

    @property
    def called(self) -> str | None:
        """What people call me, where my id is only a number: my role and my name. None: the id says it. Asked for, as
        `trouble` is, whenever somebody looks."""
        return None

    @property
    def trouble(self) -> str | None:
        """Why I cannot do all that I am for, though I live and a restart would not help: in a sentence for people.
        Asked for whenever somebody looks, also before I have started."""
        return None

    def keep(self) -> object | None:
        """State for the next incarnation, asked for after a crash: return only what each handler commits whole."""
        return None

    async def stopping(self, stop: Stop) -> None:
        """Last words, of at most `grace` seconds: also after a crash, never after a kill, never if `started` did not
        return."""

    # -- what to call

    def unknown(self, message: Never) -> None:
        """For the last clause of `handle`. A type checker sees by it that every message of `M` has a clause of its own.
        What comes all the same, and none takes, is a dead letter. It is logged, once for each type, and an asker is
        told at once."""
        self.incarnation.unknown(message)

    def finish(self, why: Why = Why.DONE) -> None:
        """End after the message that is being handled."""
        self.incarnation.end(Stop(why))

    def tell_later(self, seconds: float, message: M) -> "Timer":
        """A message to myself. Once cancelled it is not handled, even if it was due; it dies with this incarnation."""
        return self.incarnation.tell_later(seconds, message)

    def monitor(self, ref: "AnyRef", *, every: bool = False) -> Callable[[], None]:
        """Have `down` called when that actor ends; `every`: also when it will be restarted. The result cancels that."""
        return self.incarnation.monitor(ref, every=every)

    def run_beside(self, task: Callable[[*Ts], Awaitable[object]], *args: *Ts) -> None:
        """Run a task that ends with this incarnation at the latest. If it raises, the actor has crashed."""
        self.incarnation.run_beside(task, *args)

    def atomic(self) -> AbstractContextManager[None]:
        """Neither an asker that leaves nor a request to stop interrupts this block; a kill does."""
        return self.incarnation.atomic()


def actor_from(handle: Callable[[M], Awaitable[None]]) -> Callable[[], Actor[M]]:
    """An actor that is one function: `ChildSpec("echo", actor_from(answer))`."""

    class FunctionActor(Actor[M]):
        async def handle(self, message: M) -> None:
            await handle(message)

    FunctionActor.__name__ = FunctionActor.__qualname__ = getattr(handle, "__name__", "function")
    return FunctionActor
