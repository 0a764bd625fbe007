"""The queue of posts: which is taken in next. Pure.

    event      when
    KEPT       the store has it
    TAKEN      it is the first of its lane, and there is none such before it
    PUT_OFF    it is to be tried again later
    WOKEN      its time has come, or another post of its lane has
    OVER       it could not be kept; or its folder is whole, or it is set aside

Rules
  - Posts of one lane are taken in one after the other, in the order of their numbers, whatever becomes of them: one
    that rests holds up its lane, and no other.
  - What rests is tried at once when another post comes to its lane: who sends a problem again has mended something.
  - In hand are so many at a time, of so many bytes; one that is larger than all that is in hand alone.
"""

import enum
import heapq
from collections import deque
from dataclasses import dataclass

from actors.kernel import Table
from codec.judge import Task


class Where(enum.Enum):
    KEEPING = "keeping"
    WAITING = "waiting"
    IN_HAND = "in hand"
    RESTING = "resting"
    GONE = "gone"


KEEPING, WAITING, IN_HAND, RESTING, GONE = Where


class Event(enum.Enum):
    KEPT = "kept"
    TAKEN = "taken"
    PUT_OFF = "put off"
    WOKEN = "woken"
    OVER = "over"


KEPT, TAKEN, PUT_OFF, WOKEN, OVER = Event

MOVES = Table(
    "a post",
    {
        KEPT: {KEEPING: WAITING},
        TAKEN: {WAITING: IN_HAND},
        PUT_OFF: {IN_HAND: RESTING},
        WOKEN: {RESTING: WAITING},
        OVER: {KEEPING: GONE, IN_HAND: GONE},
    },
)


@dataclass(eq=False, slots=True)
class Post:
    number: int
    """In the order in which they came; never given twice."""
    lane: str
    """Equal for two posts that may have to do with the same folder."""
    size: int
    """Bytes, as the store has it."""
    where: Where = KEEPING
    task: Task | None = None
    """None: it is to be read from the store."""
    again: bool = False
    """It may have been begun before, and left half done."""
    tries: int = 0
    failures: int = 0
    """Tries that crashed something, and may have been its own fault."""
    told: bool = False
    """People know that it could not be written."""
    end: "End | None" = None
    """What has become of it, which the store does not know yet."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Its folder has all of it."""


@dataclass(frozen=True, slots=True)
class Aside:
    """It is not tried again."""

    why: str


End = Whole | Aside


class Queue:
    def __init__(self, *, at_once_bytes: int) -> None:
        self._at_once_bytes = at_once_bytes
        self._lanes: dict[str, deque[Post]] = {}
        self._ready: list[tuple[int, Post]] = []
        """A heap. Invariant: those that are WAITING and the first of their lane, once each."""
        self._in_hand = 0
        self._in_hand_bytes = 0
        self.count = 0
        """Of all that are not GONE..."""
        self.bytes = 0
        """...and their bytes."""

    def add(self, post: Post) -> Post | None:
        """At the end of its lane. The post that holds up that lane, if it rests."""
        lane = self._lanes.setdefault(post.lane, deque())
        lane.append(post)
        self.count += 1
        self.bytes += post.size
        if lane[0] is post and post.where is WAITING:
            self._offer(post)
        return lane[0] if lane[0].where is RESTING else None

    def kept(self, post: Post) -> None:
        """The store has it."""
        self._move(post, KEPT)
        if self._lanes[post.lane][0] is post:
            self._offer(post)

    def take(self, at_once: int) -> Post | None:
        """The next one, to be held in hand; None while there is none, or no room for it beside so many."""
        if not self._ready or self._in_hand >= at_once:
            return None
        post = self._ready[0][1]
        if self._in_hand and self._in_hand_bytes + post.size > self._at_once_bytes:
            return None
        heapq.heappop(self._ready)
        self._move(post, TAKEN)
        self._in_hand += 1
        self._in_hand_bytes += post.size
        return post

    def rest(self, post: Post) -> None:
        self._move(post, PUT_OFF)
        self._let_go(post)

    def wake(self, post: Post) -> None:
        """Nothing happens if it does not rest (any more)."""
        if post.where is RESTING:
            self._move(post, WOKEN)
            self._offer(post)

    def gone(self, post: Post) -> None:
        was_in_hand = post.where is IN_HAND
        self._move(post, OVER)
        if was_in_hand:
            self._let_go(post)
        self.count -= 1
        self.bytes -= post.size
        lane = self._lanes[post.lane]
        was_first = lane[0] is post
        lane.remove(post)
        if not lane:
            del self._lanes[post.lane]
        elif was_first and lane[0].where is WAITING:
            self._offer(lane[0])

    def _let_go(self, post: Post) -> None:
        self._in_hand -= 1
        self._in_hand_bytes -= post.size

    def _offer(self, post: Post) -> None:
        heapq.heappush(self._ready, (post.number, post))

    def _move(self, post: Post, event: Event) -> None:
        post.where = MOVES.after(event, post.where, f"post {post.number}")
