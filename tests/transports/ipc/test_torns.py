"""When a torn file is to be looked at again."""

import os

from hypothesis import given
from hypothesis import strategies as st

from codec.ipc.folder import Tray
from tests.transports.ipc.places import Clock
from transports.ipc.torns import TORN_SECONDS, Torns

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
