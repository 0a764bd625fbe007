"""The queue of posts: decides which is taken in next. Pure.

    event      when
    KEPT       the store has it
    TAKEN      it is the first of its lane, and no such post comes before it
    PUT_OFF    it is to be tried again later
    WOKEN      its time has come, or another post of its lane has come
    OVER       it could not be kept; or its folder is complete, or it is set aside

Rules
  - Posts of one lane are taken in one after another, in the order of their numbers. A post that rests holds up its own
    lane and no other.
  - A resting post is tried at once when another comes to its lane: a user who sends a problem again has fixed
    something.
  - The number of posts in hand, and their bytes, are limited. A post that is larger than the limit is in hand alone.
"""

import enum
import heapq
from collections import deque

from msgspec import Struct

from actors.kernel import Table
from codec.judge import Task


class Where(enum.Enum):
    KEEPING = "keeping"
    WAITING = "waiting"
    IN_HAND = "in hand"
    RESTING = "resting"
    GONE = "gone"


KEEPING, WAITING, IN_HAND, RESTING, GONE = Where


class PostEvent(enum.Enum):
    KEPT = "kept"
    TAKEN = "taken"
    PUT_OFF = "put off"
    WOKEN = "woken"
    OVER = "over"


KEPT, TAKEN, PUT_OFF, WOKEN, OVER = PostEvent

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


class Post(Struct, eq=False):
    number: int
    """Numbers are in the order in which posts came, and are never reused."""
    lane: str
    """Equal for two posts that may belong to the same folder."""
    size: int
    """The bytes of its stored form."""
    where: Where = KEEPING
    task: Task | None = None
    """None: it has to be read from the store."""
    at: float = 0.0
    """When it was last taken up, in seconds of the wall clock."""
    again: bool = False
    """Whether it may have been begun before and left half done."""
    tries: int = 0
    failures: int = 0
    """Attempts that crashed something, perhaps by its own fault."""
    told: bool = False
    """Whether users have been told that it could not be written."""
    end: "End | None" = None
    """Its outcome, which the store does not know yet."""


class Whole(Struct, frozen=True):
    """Its folder is complete."""


class Aside(Struct, frozen=True):
    """The post is not tried again."""

    why: str


End = Whole | Aside


class Queue:
    def __init__(self, *, at_once_bytes: int) -> None:
        self._at_once_bytes = at_once_bytes
        self._lanes: dict[str, deque[Post]] = {}
        self._ready: list[tuple[int, Post]] = []
        """A heap. Invariant: it holds each post that is WAITING and the first of its lane, once."""
        self._in_hand = 0
        self._in_hand_bytes = 0
        self.count = 0
        """The number of posts that are not GONE..."""
        self.bytes = 0
        """...and their bytes."""

    def add(self, post: Post) -> Post | None:
        """Adds the post at the end of its lane. Returns the post that holds up this lane, if it is resting."""
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
        """Takes the next post in hand; None if there is none, or no room for it beside the others."""
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
        """Ends the post's rest. Does nothing if it is not resting (any more)."""
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

    def _move(self, post: Post, event: PostEvent) -> None:
        post.where = MOVES.after(event, post.where, f"post {post.number}")
