"""A ref: the address of an actor. It is the address of the slot, not of an incarnation, so it survives restarts.

A ref carries the type of the messages that its actor takes. A ref that takes more types can be used where fewer are
needed: an `ActorRef[Add | Total]` is an `ActorRef[Add]`. Every ref is an `AnyRef`, to which no message can be sent.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, Never, TypeVar

from actors.kernel.reply import PostedQuestion, Reply
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
    """A message type without instances. It stands among the messages of a supervisor that takes in children at runtime,
    and names the messages of those children: through an `ActorRef[Children[C]]` one can start, lease and find
    `ActorRef[C]`s."""


class ActorRef(Generic[M]):
    __slots__ = ("__weakref__", "_box", "_lane", "_slot")

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
        """Send a message, synchronously. If the actor has ended, the message is a dead letter, and nothing is raised.
        If the mailbox is full and its policy is WAIT or REFUSE: MailboxFull."""
        box, lane = self._box, self._lane  # the body of Mailbox.put_nowait: a call less saves a fifth of the time
        if len(lane) < box._fast:
            lane.append(message)
            if box.parked is not None:
                box.wake()
        else:
            box.put_nowait(message)

    def hand(self, message: M, *, urgent: bool = False) -> None:
        """Like `tell`, or like `urgent`. If the actor is idle and can handle the message at once, it has done so when
        this method returns."""
        life = self._slot.incarnation
        if self._box.parked is None or life is None or not life.takes_at_once(message):
            if urgent:
                self.urgent(message)
            else:
                self.tell(message)

    async def send(self, message: M) -> None:
        """Like `tell`, with back-pressure and a checkpoint. Transports use it."""
        await self._box.put(message)

    def urgent(self, message: M) -> None:
        """Send a message by the system lane: it overtakes other messages, and is never refused. It is meant for
        disconnects, of which there is one per conversation."""
        self._slot.put_urgent(message)

    async def ask(self, make: Callable[[Reply[R]], M], *, timeout: float) -> R:
        """Send a question and wait for its answer: `await counter.ask(Total, timeout=1)`. A question with more fields
        than its reply is given as a `partial`: from a lambda, a type checker cannot infer the type of the answer.

        Raises TooSlow, ActorDown, MailboxFull, or what the callee raised. On timeout or cancellation the question is
        withdrawn: if it is queued, it is dropped, and if its handler runs, the handler is cancelled."""
        reply: Reply[R] = Reply(self._slot)
        answer: R = await reply.asked(make(reply), timeout)
        return answer

    def post(self, make: Callable[[Reply[R]], M]) -> PostedQuestion[R]:
        """Send a question, synchronously, and wait for its answer later: `await pending.answer(timeout=1)`. What is to
        be done meanwhile need not wait for it. Raises ActorDown or MailboxFull. Nobody has to wait for the answer."""
        reply: Reply[R] = Reply(self._slot)
        reply.posted(make(reply))
        return PostedQuestion(reply)

    # -- life

    async def stop(self, grace: float | None = None) -> Stop:
        """Ask the actor to stop for good, and wait until it has. `grace`: None for the grace time of its spec."""
        self._slot.begin_stop(grace)
        return await self._slot.wait_stopped()

    def begin_stop(self, grace: float | None = None) -> None:
        """Ask the actor to stop for good, without waiting. This is safe in the actor's own handlers and in signal
        handlers."""
        self._slot.begin_stop(grace)

    def kill(self) -> None:
        """End this incarnation now, without last words. This is an abnormal end, so the actor may be restarted."""
        self._slot.kill()

    async def wait_stopped(self) -> Stop:
        """Wait until the actor has ended for good."""
        return await self._slot.wait_stopped()

    def monitor(self, watcher: "AnyRef", *, every: bool = False) -> Callable[[], None]:
        """Have the watcher's `down` called exactly once when this actor has ended for good, at once if it already has.
        With `every`, it is also called at each end that a restart follows. Call the result to cancel the monitor.

        The monitor lasts until the watcher has ended for good. (A monitor set by `Actor.monitor` lasts until that
        incarnation ends.)"""
        return watcher._slot.watch(self._slot, every=every).cancel

    # -- children, if the actor is a supervisor

    async def start_child(self: "ActorRef[Children[C]]", spec: "ChildSpec[C]") -> "ActorRef[C]":
        """Start a dynamic child and wait until it is ready. Raises StartFailed, TooManyChildren, NameTaken or
        ActorDown."""
        return await self._slot.supervising().start_child(spec)

    def begin_child(self: "ActorRef[Children[C]]", spec: "ChildSpec[C]") -> "ActorRef[C]":
        """Begin to start a dynamic child, without waiting until it is ready; what it is told meanwhile waits for it. If
        the start fails, it has ended, and a monitor tells. Raises TooManyChildren, NameTaken or ActorDown."""
        return self._slot.supervising().begin_child(spec).ref

    def lease(self: "ActorRef[Children[C]]", spec: "ChildSpec[C]") -> "Lease[C]":
        """A temporary child that cannot outlive a block: `async with ref.lease(spec) as child`."""
        return self._slot.supervising().lease(spec)

    def child(self: "ActorRef[Children[C]]", id: Hashable) -> "ActorRef[C] | None":  # noqa: A002 - as in ChildSpec
        """The child with that id, started or starting. None if there is none, or if this actor is no supervisor."""
        slot = self._slot.child(id)
        return None if slot is None else slot.ref

    # -- looking

    def statistics(self) -> "SlotStatistics":
        return self._slot.statistics()

    def children(self) -> "list[AnyRef]":
        """The children in start order; empty if this actor is no supervisor."""
        return [slot.ref for slot in self._slot.children()]


AnyRef = ActorRef[Never]
"""The ref of an actor whose messages are not known. It can be compared, monitored and stopped, but not told
anything."""
