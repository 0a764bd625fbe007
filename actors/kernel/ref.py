"""The address of an actor: of its slot, not of an incarnation, so it stays valid across restarts.

A ref carries the type of the messages that its actor takes. Whoever takes more can stand where less is asked for:
`ActorRef[Add | Total]` is an `ActorRef[Add]`, and every ref is an `AnyRef`, to which nothing can be told.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, Never, TypeVar

from actors.kernel.reply import Reply
from actors.kernel.stop import Stop

if TYPE_CHECKING:
    from actors.kernel.lease import Lease
    from actors.kernel.slot import Slot
    from actors.kernel.spec import ChildSpec
    from actors.kernel.standing import SlotStatistics

M = TypeVar("M", contravariant=True)
C = TypeVar("C")
R = TypeVar("R")


class Children(Generic[C]):
    """Stands among the messages of a supervisor that takes in children at runtime, and says what each of them takes:
    what can be told `ActorRef[Children[C]]` is to start, lease and find `ActorRef[C]`s. Nobody makes one."""


class ActorRef(Generic[M]):
    __slots__ = ("_box", "_lane", "_slot")

    def __init__(self, slot: "Slot") -> None:
        self._slot = slot
        self._box = slot.box
        self._lane = slot.box.lane

    @property
    def path(self) -> str:
        return self._slot.path

    @property
    def alive(self) -> bool:
        """False once the actor has ended for good; True while it is being restarted."""
        return self._box.closed is None

    def __repr__(self) -> str:
        return f"<{self._slot.path} {self._slot.state.value}>"

    # -- messages

    def tell(self, message: M) -> None:
        """Synchronous. To a dead actor: a dead letter, no exception. Full under WAIT or REFUSE: MailboxFull."""
        box, lane = self._box, self._lane  # the body of Mailbox.put_nowait: a call less is a fifth of the price
        if len(lane) < box._fast:
            lane.append(message)
            if box.parked is not None:
                box.wake()
        else:
            box.put_nowait(message)

    def hand(self, message: M, *, urgent: bool = False) -> None:
        """Tell, or tell urgently; and if it is idle and can handle the message at once, it has done so when this
        returns."""
        life = self._slot.incarnation
        if self._box.parked is None or life is None or not life.takes_at_once(message):
            if urgent:
                self.urgent(message)
            else:
                self.tell(message)

    async def send(self, message: M) -> None:
        """Tell with back-pressure, and a checkpoint: what transports use."""
        await self._box.put(message)

    def urgent(self, message: M) -> None:
        """Tell by the system lane: it overtakes, and is never refused. For disconnects: one per conversation."""
        self._slot.put_urgent(message)

    async def ask(self, make: Callable[[Reply[R]], M], *, timeout: float) -> R:
        """`await counter.ask(Total, timeout=1)`; a question of more than its reply is a `partial`, since of a lambda a
        type checker does not know what it is answered.

        Raises TooSlow, ActorDown, MailboxFull, or what the callee raised. On timeout or cancellation the question is
        withdrawn: dropped if queued, its handler cancelled if running."""
        reply: Reply[R] = Reply(self._slot)
        return await reply.asked(make(reply), timeout)

    # -- life

    async def stop(self, grace: float | None = None) -> Stop:
        """Ask it to stop for good and wait until it has. `grace`: None for that of its spec."""
        self._slot.begin_stop(grace)
        return await self._slot.wait_stopped()

    def begin_stop(self, grace: float | None = None) -> None:
        """Ask it to stop, without waiting: safe from its own handlers and from signal handlers."""
        self._slot.begin_stop(grace)

    def kill(self) -> None:
        """End this incarnation now, without last words: abnormally, so its restart type may bring it back."""
        self._slot.kill()

    async def wait_stopped(self) -> Stop:
        """Until it has ended for good."""
        return await self._slot.wait_stopped()

    def monitor(self, watcher: "AnyRef", *, every: bool = False) -> Callable[[], None]:
        """Have the watcher's `down` called exactly once when this actor has ended for good, at once if it already has;
        with `every`, also at each end that a restart will follow. The result cancels the monitor.

        It lasts until the watcher has ended for good; one set by `Actor.monitor`, until that incarnation ends."""
        return watcher._slot.watch(self._slot, every=every).cancel

    # -- children, if the actor is a supervisor

    async def start_child(self: "ActorRef[Children[C]]", spec: "ChildSpec[C]") -> "ActorRef[C]":
        """Start a dynamic child and wait until it is ready: StartFailed, TooManyChildren, NameTaken, ActorDown."""
        return await self._slot.supervising().start_child(spec)

    def lease(self: "ActorRef[Children[C]]", spec: "ChildSpec[C]") -> "Lease[C]":
        """`async with ref.lease(spec) as child`: a temporary child that cannot outlive the block."""
        return self._slot.supervising().lease(spec)

    def child(self: "ActorRef[Children[C]]", id: Hashable) -> "ActorRef[C] | None":  # noqa: A002 - as in ChildSpec
        """The child of that id, started or starting; None if there is none, or it is no supervisor."""
        slot = self._slot.child(id)
        return None if slot is None else slot.ref

    # -- looking

    def statistics(self) -> "SlotStatistics":
        return self._slot.statistics()

    def children(self) -> "list[AnyRef]":
        """In start order; empty if it is not a supervisor."""
        return [slot.ref for slot in self._slot.children()]


AnyRef = ActorRef[Never]
"""Of an actor, whatever it takes: it can be compared, monitored and stopped, and told nothing."""
