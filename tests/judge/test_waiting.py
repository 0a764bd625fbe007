"""The queue of posts, whatever happens to it in whatever order."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge.waiting import (
    GONE,
    IN_HAND,
    KEEPING,
    KEPT,
    MOVES,
    OVER,
    PUT_OFF,
    RESTING,
    WAITING,
    Post,
    Queue,
    Where,
)  # fmt: skip
from actors.kernel import IllegalMove

AT_ONCE, AT_ONCE_BYTES = 3, 100
EVENTS = st.sampled_from(["come", "come", "kept", "lost", "take", "take", "over", "rest", "wake"])
Step = tuple[str, int, int]
STEPS = st.lists(st.tuples(EVENTS, st.integers(0, 30), st.sampled_from([1, 40, 99, 101, 500])), max_size=80)


class Clerk:
    """Does what it is told, and checks after each step what always holds."""

    def __init__(self) -> None:
        self.queue = Queue(at_once_bytes=AT_ONCE_BYTES)
        self.posts: list[Post] = []
        self.taken: dict[str, list[int]] = defaultdict(list)

    def those(self, where: Where) -> list[Post]:
        return [post for post in self.posts if post.where is where]

    def do(self, event: str, which: int, size: int) -> None:
        match event:
            case "come":
                post = Post(len(self.posts) + 1, "abc"[which % 3], size)
                self.posts.append(post)
                rests = self.queue.add(post)
                assert (rests is not None) == any(other.lane == post.lane for other in self.those(RESTING))
            case "kept" if keeping := self.those(KEEPING):
                self.queue.kept(keeping[which % len(keeping)])
            case "lost" if keeping := self.those(KEEPING):
                self.queue.gone(keeping[which % len(keeping)])
            case "take":
                self.take()
            case "over" if in_hand := self.those(IN_HAND):
                self.queue.gone(in_hand[which % len(in_hand)])
            case "rest" if in_hand := self.those(IN_HAND):
                self.queue.rest(in_hand[which % len(in_hand)])
            case "wake" if self.posts:
                self.queue.wake(self.posts[which % len(self.posts)])
        self.check()

    def take(self) -> None:
        """It gives the first that may be taken, exactly when there is one and there is room."""
        firsts: dict[str, Post] = {}
        for post in self.posts:
            if post.where is not GONE:
                firsts.setdefault(post.lane, post)
        ready = [post for post in firsts.values() if post.where is WAITING]
        expected = min(ready, key=lambda post: post.number) if ready else None
        in_hand = self.those(IN_HAND)
        if len(in_hand) == AT_ONCE:
            expected = None
        if expected and in_hand and sum(post.size for post in in_hand) + expected.size > AT_ONCE_BYTES:
            expected = None
        assert self.queue.take(AT_ONCE) is expected
        if expected is not None:
            self.taken[expected.lane].append(expected.number)

    def check(self) -> None:
        there = [post for post in self.posts if post.where is not GONE]
        assert (self.queue.count, self.queue.bytes) == (len(there), sum(post.size for post in there))
        in_hand = [post.lane for post in self.those(IN_HAND)]
        assert len(set(in_hand)) == len(in_hand) <= AT_ONCE
        for numbers in self.taken.values():
            assert numbers == sorted(numbers), "one was taken before another of its lane"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_posts_of_one_lane_are_taken_in_order_and_none_is_held_up_by_another_lanes(steps: list[Step]) -> None:
    clerk = Clerk()
    for step in steps:
        clerk.do(*step)
    for post in clerk.those(KEEPING):
        clerk.queue.kept(post)
    while there := [post for post in clerk.posts if post.where is not GONE]:  # then all are taken
        for post in there:
            clerk.queue.wake(post)
        clerk.take()
        for post in clerk.those(IN_HAND):
            clerk.queue.gone(post)
    clerk.check()


@pytest.mark.parametrize("where", list(Where))
def test_a_post_moves_as_its_table_says_and_not_otherwise(where: Where) -> None:
    moves = {KEPT: Queue.kept, OVER: Queue.gone, PUT_OFF: Queue.rest}
    for event, move in moves.items():
        queue = Queue(at_once_bytes=1)
        post = Post(1, "a", 1)
        queue.add(post)
        if where in (WAITING, IN_HAND, RESTING):
            queue.kept(post)
        if where in (IN_HAND, RESTING):
            assert queue.take(1) is post
        if where is RESTING:
            queue.rest(post)
        if where is GONE:
            queue.gone(post)
        if event in MOVES.becomes(where):
            move(queue, post)
            assert post.where is MOVES.becomes(where)[event]
        else:
            before = queue.count, queue.bytes, queue._in_hand, queue._in_hand_bytes
            with pytest.raises(IllegalMove, match=f"^post 1 is {where.value}; '{event.value}' can happen only while"):
                move(queue, post)
            assert (queue.count, queue.bytes, queue._in_hand, queue._in_hand_bytes) == before
