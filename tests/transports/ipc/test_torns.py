"""When a torn file is to be looked at again."""

import os
from collections import deque
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from codec.ipc.folder import Tray
from tests.transports.ipc.places import Clock
from transports.ipc import torns as module
from transports.ipc.torns import OLD_SECONDS, TORN_SECONDS, Torns

steps = st.lists(
    st.tuples(st.sampled_from(["look", "change", "forget", "wait", "due"]), st.integers(0, 4), st.floats(0.1, 0.9)),
    max_size=40,
)


@given(steps)
def test_each_torn_file_is_due_once_a_second_after_its_last_change(story: list[tuple[str, int, float]]) -> None:
    clock, sizes = Clock(), [1] * 5
    torns = Torns(clock)
    since: dict[str, float] = {}
    untold: set[str] = set()
    for what, number, seconds in story:
        name = f"r{number}"
        match what:
            case "look" | "change":
                sizes[number] += what == "change"
                is_new = name not in since or what == "change"
                if is_new:
                    since[name] = clock.seconds
                    untold.add(name)
                status = os.stat_result((0o600, 1, 1, 1, 0, 0, sizes[number], 0, 0, 0))
                assert torns.is_still(Tray.REQUESTS, name, status) == (
                    not is_new and clock.seconds - since[name] >= TORN_SECONDS
                )
            case "forget":
                torns.forget(Tray.REQUESTS, name)
                since.pop(name, None)
                untold.discard(name)
            case "wait":
                clock.seconds += seconds
            case "due":
                late = {each for each in untold if clock.seconds - since[each] >= TORN_SECONDS}
                assert torns.due().get(Tray.REQUESTS, frozenset()) == late
                untold -= late
        waiting = [since[each] + TORN_SECONDS - clock.seconds for each in untold]
        assert torns.next_due() == (max(0.0, min(waiting)) if waiting else None)
        assert len(torns) == len(since)


def _file() -> os.stat_result:
    return os.stat_result((0o600, 1, 1, 1, 0, 0, 1, 0, 0, 0))


@given(count=st.integers(1, 60), most=st.integers(2, 12), turns=st.integers(1, 8))
@example(count=60, most=2, turns=8)
@example(count=13, most=12, turns=1)
def test_however_many_more_are_torn_than_are_remembered_the_turn_of_each_comes(
    count: int, most: int, turns: int
) -> None:
    """They are read as an end reads them: all that is torn once a second, and what is still has a turn, when it is
    looked at again."""
    clock = Clock()
    torns, file = Torns(clock), _file()
    torn, queue, over = list(range(count)), deque[int](), set[int]()

    def is_still(number: int) -> bool:
        return torns.is_still(Tray.REQUESTS, f"r{number}", file)

    with patch.object(module, "MOST_REMEMBERED", most):
        for _ in range(40 * count):
            clock.seconds += TORN_SECONDS
            again, torn = torn, []
            for number in again:
                (queue if is_still(number) else torn).append(number)
            for _ in range(min(turns, len(queue))):
                number = queue.popleft()
                if is_still(number):
                    over.add(number)
                    is_still(number)  # there is news of its answer
                else:
                    torn.append(number)
            assert len(torns) <= most
            if len(over) == count:
                break
    assert over == set(range(count))


def test_what_is_not_there_any_more_takes_no_place() -> None:
    clock = Clock()
    torns = Torns(clock)
    for tray in (Tray.REQUESTS, Tray.RESPONSES):
        for name in ("a.json", "b.json"):
            torns.is_still(tray, name, _file())
    torns.listed(Tray.REQUESTS, {"b.json", "c.json"})
    assert len(torns) == 3
    clock.seconds += TORN_SECONDS
    assert torns.due() == {Tray.REQUESTS: {"b.json"}, Tray.RESPONSES: {"a.json", "b.json"}}


def test_what_nobody_looks_at_any_more_keeps_its_place_for_a_while() -> None:
    clock = Clock()
    torns = Torns(clock)
    with patch.object(module, "MOST_REMEMBERED", 1):
        for _ in range(2):
            torns.is_still(Tray.REQUESTS, "a.json", _file())
            clock.seconds += TORN_SECONDS
        for seconds, is_known in ((OLD_SECONDS - TORN_SECONDS - 1, False), (1.0, True)):
            clock.seconds += seconds
            torns.is_still(Tray.REQUESTS, "b.json", _file())
            clock.seconds += TORN_SECONDS * is_known
            assert torns.is_still(Tray.REQUESTS, "b.json", _file()) is is_known
