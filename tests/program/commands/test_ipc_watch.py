"""`troupe ipc watch` on a terminal: what it says of speed and of the time that is left, over any course of events."""

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from program.clerk import ServerAway
from program.commands import ipc_status
from program.commands.ipc_status import EVERY, watch
from program.ipc_arguments import WatchDesk

TOTAL = 1_000


class Watched:
    """A clerk at a desk without a server, where more and more requests are over; and a clock."""

    base = Path("/nowhere")

    def __init__(self, before: int, ended: list[int], now: float) -> None:
        self._over = iter([before, *ended])
        self.now = now

    def totals(self) -> Any:
        raise ServerAway("nobody is there")

    def counts(self) -> tuple[int, int, int]:
        return TOTAL, next(self._over), 0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@given(st.integers(0, 400), st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 10**6))
def test_the_rate_is_that_of_what_has_ended_since_one_began_to_look(before: int, steps: list[int], now: int) -> None:
    ended = [before + sum(steps[: number + 1]) for number in range(len(steps))]
    clerk: Any = Watched(before, [*ended, TOTAL], float(now))
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc_status, "is_terminal", lambda _: True)
        patch.setattr(ipc_status, "time", SimpleNamespace(monotonic=lambda: clerk.now, sleep=clerk.sleep))
        patch.setenv("COLUMNS", "200")
        assert watch(WatchDesk(until_done=True), clerk, out) == 0
    pictures = [text for text in out.getvalue().splitlines() if "answered" in text]
    assert len(pictures) == len(steps) + 2
    for number, (over, picture) in enumerate(zip(ended, pictures[1:], strict=False), 1):
        rate = (over - before) / (number * EVERY)
        told = re.search(r"([0-9.]+)/s", picture)
        assert (told[1] if told else "") == (f"{rate:.1f}" if rate else "")
