"""Hands: the requests that the server end is at, each a command (command.py) in a crowd of its own.

    in hand     means
    running     its command is there, and its handler may run
    ran         its handler has ended: the next one may run, while this answer is on its way to the disk

Rules
  - The commands do not fall with the server end: the next one finds them in the crowd, and has them look again.
  - News of a request in hand is for its command. Whether one has missed something is known when it has ended: it says
    how often it was stirred. What happens to a success that we have answered is no news.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from msgspec import Struct

from actors.ipc.command import (
    CommandOver,
    CommandRan,
    KnownBefore,
    RunningCommand,
    ServerMeans,
    Settlement,
    StirCommand,
)
from actors.kernel import ActorRef, AnyRef, Children, ChildSpec, KernelError, Key, NameTaken, Registry, Restart

MOST_ENDING = 256
"""Commands that have run, and whose answers are on their way to the disk. They share its syncs."""
COMMANDS = Key[Children[StirCommand]]("ipc/commands")

logger = logging.getLogger("troupe.ipc")


def is_quiet(settled: Settlement | None) -> bool:
    """It is answered with a success, and nothing is to be done if that goes."""
    return settled is not None and not settled.asks_when_taken


class InHand(Struct):
    ref: ActorRef[StirCommand]
    stirs: int = 0
    over: CommandOver | None = None
    look_again: bool = False
    """When it has ended: it may have missed something."""
    ran: bool = False
    """Its handler has ended, so that another one may run."""


class HandEnded(Struct, frozen=True):
    id: str
    over: CommandOver | None
    """None: it crashed, or was stopped."""
    look_again: bool


class Hands:
    def __init__(
        self,
        means: ServerMeans,
        registry: Registry,
        monitor: Callable[[AnyRef], object],
        on_change: Callable[[], None],
    ) -> None:
        self._means = means
        self._registry = registry
        self._monitor = monitor
        self._on_change = on_change
        self._in_hand: dict[str, InHand] = {}
        self._ids: dict[AnyRef, str] = {}
        self._ran = 0
        """Of those in hand, the ones whose handlers have ended."""
        self.lost = 0
        """Handlers that go on, though they were to end."""

    def __contains__(self, id: str) -> bool:  # noqa: A002 - as in the contract
        return id in self._in_hand

    def __iter__(self) -> Iterator[str]:
        return iter(self._in_hand)

    @property
    def running(self) -> int:
        return len(self._in_hand) - self._ran

    @property
    def have_room(self) -> bool:
        return self.running < self._means.terms.concurrency and self._ran < MOST_ENDING

    @property
    def _crowd(self) -> ActorRef[Children[StirCommand]]:
        return self._registry.get(COMMANDS)

    # -- begin

    def take_up(self) -> None:
        """What a crash of the server end has left."""
        crowd = self._crowd
        for ref in crowd.children():
            id = ref.path.rpartition("/")[2]  # noqa: A001
            command = crowd.child(id)
            if command is not None:
                self._take(id, command, look_again=True)

    def start(self, id: str, known: KnownBefore) -> bool:  # noqa: A002
        """False: it cannot be, now."""
        given: list[KnownBefore] = []
        make = partial(RunningCommand, id, self._means, given)
        # what it leaves unread is counted when it has ended
        spec = ChildSpec(id, make, restart=Restart.TRANSIENT, unread_is_lost=False)
        try:
            ref = self._crowd.begin_child(spec)
            given.append(known.begun(id, self._means))  # it is made later, in a step of its own
            self._take(id, ref)
        except NameTaken:  # it is still there, from before: it will hear of it
            before = self._crowd.child(id)
            if before is None:
                return False
            self._take(id, before, look_again=True)
        except KernelError as error:
            logger.info("the request %s has to wait: %s", id, error)
            return False
        return True

    def _take(self, id: str, ref: ActorRef[StirCommand], *, look_again: bool = False) -> None:  # noqa: A002
        self._in_hand[id] = InHand(ref, look_again=look_again)
        self._ids[ref] = id
        self._monitor(ref)
        if look_again:
            self.stir(id)
        self._on_change()

    # -- on the way

    def stir(self, id: str, *, of_answer: bool = False) -> None:  # noqa: A002
        hand = self._in_hand[id]
        if of_answer and hand.over is not None and is_quiet(hand.over.settled):
            return
        hand.stirs += 1
        with suppress(KernelError):  # it is told more than it can take: then it knows
            hand.ref.hand(StirCommand(of_answer))

    def look_again(self, id: str) -> None:  # noqa: A002
        self._in_hand[id].look_again = True

    # -- end

    def heard_ran(self, report: CommandRan) -> bool:
        """Whether the next one may run."""
        self.lost += report.lost
        hand = self._in_hand.get(report.id)
        if hand is None or hand.ran:
            return False
        hand.ran = True
        self._ran += 1
        return True

    def heard_over(self, report: CommandOver) -> None:
        if (hand := self._in_hand.get(report.id)) is not None:
            hand.over = report

    def ended(self, ref: AnyRef) -> HandEnded | None:
        id = self._ids.pop(ref, None)  # noqa: A001
        hand = None if id is None else self._in_hand.pop(id, None)
        if id is None or hand is None:
            return None
        self._ran -= hand.ran
        over = hand.over
        return HandEnded(id, over, over is None or hand.look_again or over.heard < hand.stirs)
