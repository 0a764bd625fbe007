"""Whose turn it is, whatever comes and goes in whatever order."""

from collections import defaultdict

from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.ipc.fairness import FEW, FairQueue, submitter_of
from codec.ipc import Wishes

IDS = [f"r{number}" for number in range(12)]
WISHES = st.builds(
    Wishes,
    submitter=st.sampled_from(["", "anna", "ben", "cleo"]),
    priority=st.integers(-2, 2),
    not_before=st.none() | st.integers(0, 40).map(float),
    deadline=st.none() | st.integers(0, 40).map(float),
)
STEPS = st.lists(
    st.tuples(st.just("add"), st.sampled_from(IDS), WISHES)
    | st.tuples(st.sampled_from(["take", "take", "discard", "wait", "ask"]), st.sampled_from(IDS), st.just(Wishes())),
    max_size=80,
)


class Usher:
    """What the queue should do, in the plainest words: a list, searched from end to end each time."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[int, Wishes]] = {}
        self.number = 0

    def add(self, id: str, wishes: Wishes) -> None:  # noqa: A002
        if id not in self.waiting or self.waiting[id][1] != wishes:
            self.number += 1
            self.waiting[id] = (self.number, wishes)

    def may_begin(self, id: str, now: float) -> bool:  # noqa: A002
        wishes = self.waiting[id][1]
        return self.is_late(id, now) or wishes.not_before is None or wishes.not_before <= now

    def is_late(self, id: str, now: float) -> bool:  # noqa: A002
        deadline = self.waiting[id][1].deadline
        return deadline is not None and deadline <= now

    def latest(self, now: float) -> set[str]:
        """Those whose deadline passed before that of all others."""
        late = {each: self.waiting[each][1].deadline or 0.0 for each in self.waiting if self.is_late(each, now)}
        return {each for each, deadline in late.items() if deadline == min(late.values())}

    def firsts(self, now: float) -> set[str]:
        """Of each lane the one that goes first."""
        lanes = defaultdict(list)
        for id, (number, wishes) in self.waiting.items():  # noqa: A001
            if self.is_late(id, now):
                lanes["late "].append((float(wishes.deadline or 0), 0, id))
            elif self.may_begin(id, now):
                lanes[submitter_of(id, wishes)].append((float(-wishes.priority), number, id))
        return {min(lane)[2] for lane in lanes.values()}


def stale(queue: FairQueue) -> int:
    """How many entries in its heaps stand for nothing any more."""
    heaps = (queue._early, queue._deadlines, *queue._lanes.values())
    return sum(not queue._stands(*entry[1:]) for heap in heaps for entry in heap)


@given(STEPS)
@example([("add", "r0", Wishes(not_before=1.0)), ("wait", "r0", Wishes()), ("take", "r0", Wishes())])
@example([("add", "r0", Wishes(not_before=9.0, deadline=1.0)), ("wait", "r0", Wishes()), ("take", "r0", Wishes())])
@settings(max_examples=300)
def test_what_is_taken_is_the_first_of_its_lane_and_there_is_something_exactly_when_something_may_begin(
    steps: list[tuple[str, str, Wishes]],
) -> None:
    queue, usher, now = FairQueue(), Usher(), 0.0
    for what, id, wishes in steps:  # noqa: A001
        match what:
            case "add":
                queue.add(id, wishes)
                usher.add(id, wishes)
            case "discard":
                assert queue.discard(id) == (usher.waiting.pop(id, None) is not None)
            case "wait":
                now += 1
            case "take":
                firsts, taken = usher.firsts(now), queue.take(now)
                # Those with the same deadline are as good as each other.
                assert taken in firsts | usher.latest(now) if firsts else taken is None
                if taken is not None:
                    del usher.waiting[taken]
            case "ask":
                moment = queue.next_moment(now)
                if usher.firsts(now):
                    assert moment == now
                else:
                    moments = [
                        m for _, w in usher.waiting.values() for m in (w.not_before, w.deadline) if m is not None
                    ]
                    assert moment == min(moments, default=None)
        assert stale(queue) == queue._discarded <= max(FEW, len(queue)) + 1, "so its heaps are tidied up in time"
        assert len(queue) == len(usher.waiting)
        assert all((each in queue) == (each in usher.waiting) for each in IDS)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-3, 3)), min_size=1, max_size=60))
@example([("a", 0)] * 40 + [("b", 0)])
def test_submitters_take_turns_whatever_each_has_waiting(sent: list[tuple[str, int]]) -> None:
    queue = FairQueue()
    owner: dict[str, str] = {}
    for number, (name, priority) in enumerate(sent):
        id = f"r{number}"  # noqa: A001
        owner[id] = name
        queue.add(id, Wishes(submitter=name, priority=priority))
    left = {name: sum(each == name for each in owner.values()) for name in set(owner.values())}
    order = []
    while (taken := queue.take(0.0)) is not None:
        order.append(taken)
    assert sorted(order) == sorted(owner)
    waited: dict[str, int] = dict.fromkeys(left, 0)
    for taken in order:
        name = owner[taken]
        left[name] -= 1
        waited[name] = 0
        for other in left:
            if other != name and left[other]:
                waited[other] += 1
                assert waited[other] < len(left), "somebody had two turns before another had one"


@given(st.lists(st.tuples(st.sampled_from(IDS), WISHES), max_size=20), st.integers(0, 40).map(float), st.integers(0, 9))
def test_taking_some_is_taking_one_after_another_up_to_so_many(
    sent: list[tuple[str, Wishes]], now: float, most: int
) -> None:
    queue, one_by_one = FairQueue(), FairQueue()
    for id, wishes in sent:  # noqa: A001
        queue.add(id, wishes)
        one_by_one.add(id, wishes)
    taken = [one_by_one.take(now) for _ in range(most)]
    assert queue.take_some(now, most) == [each for each in taken if each is not None]
    assert set(queue) == set(one_by_one)


def test_a_lone_request_in_the_midst_of_twenty_thousand_is_next_though_neither_says_who_asks() -> None:
    queue = FairQueue()
    for number in range(20_000):
        queue.add(f"batch-{number:05}")
    for _ in range(10):
        queue.take(0.0)
    queue.add("mine-1")
    assert "mine-1" in [queue.take(0.0) for _ in range(2)]


def test_scripts_that_name_nobody_are_told_apart_by_their_words_and_drawn_ids_are_all_alike() -> None:
    assert submitter_of("batch-1", Wishes()) == submitter_of("batch-2", Wishes()) != submitter_of("mine-1", Wishes())
    assert submitter_of("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", Wishes()) == submitter_of("0" * 32, Wishes()) == ""
    assert submitter_of("batch-1", Wishes(priority=1)) == ""
    assert submitter_of("batch-1", Wishes(submitter="as batch")) != submitter_of("batch-1", Wishes())
    assert submitter_of("batch-1", Wishes(submitter="late ")) != "late "


def test_what_comes_and_goes_leaves_nothing_behind() -> None:
    queue = FairQueue()
    queue.add("stays", Wishes(not_before=1e9))
    for number in range(20 * FEW):
        queue.add(f"r{number}", Wishes(deadline=2e9, not_before=1e9 + number))
        queue.discard(f"r{number}")
    held = len(queue._early) + len(queue._deadlines) + sum(map(len, queue._lanes.values()))
    assert held <= 2 * FEW + 2
    for number in range(20 * FEW):
        queue.add(f"r{number % 7}", Wishes(priority=number % 5, deadline=2e9))
    held = len(queue._early) + len(queue._deadlines) + sum(map(len, queue._lanes.values()))
    assert held <= 2 * FEW + 20


def test_what_is_late_is_told_before_what_is_more_urgent_in_its_lane() -> None:
    queue = FairQueue()
    queue.add("second", Wishes(submitter="anna", priority=-1, deadline=2.0))
    queue.add("first", Wishes(submitter="anna", priority=-2, deadline=1.0))
    for number in range(20):
        queue.add(f"more{number}", Wishes(submitter="anna", priority=9))
    taken = [queue.take(3.0) for _ in range(4)]
    assert [each for each in taken if each in ("first", "second")] == ["first", "second"]
