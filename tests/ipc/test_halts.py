"""What holds the clock of attempts and shuts the gate of publishing, until each of its reasons has passed."""

from itertools import chain, combinations
from typing import Any, cast

import pytest
import trio

from actors.ipc.given import BaseGone
from actors.ipc.halts import Halts
from actors.ipc.messages import Hold
from actors.ipc.running import RunningClock
from actors.kernel.testing import run_in_virtual_time
from tests.ipc.paper import PaperBase


class PaperTimer:
    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Halted:
    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, PaperTimer]] = []
        self.clock = RunningClock(lambda: self.now)
        self.base = PaperBase()
        self.halts = Halts(self.base, self.clock, cast("Any", self._release_in))

    def _release_in(self, seconds: float) -> PaperTimer:
        self.timers.append((seconds, PaperTimer()))
        return self.timers[-1][1]

    def runs(self) -> bool:
        before = self.clock.read()
        self.now += 0.5
        return self.clock.read() == before + 0.5

    def do(self, what: str) -> None:
        match what:
            case "gone":
                self.halts.gone("it is gone")
            case "back":
                self.halts.back()
            case "full":
                self.halts.full("it is full")
            case "room":
                self.halts.has_room()
            case "stopped":
                self.halts.stopped("it is stopped")
            case "goes on":
                self.halts.stopped(None)
            case "hold":
                self.halts.hold(Hold("the editor starts", 60.0))
            case "go on":
                self.halts.go_on()


ENDS = {"gone": "back", "full": "room", "stopped": "goes on", "hold": "go on"}
SHUTS = {"gone", "hold"}


def test_the_clock_runs_and_the_gate_is_open_exactly_while_no_reason_is_against_it() -> None:
    async def main() -> None:
        for reasons in chain.from_iterable(combinations(ENDS, count) for count in range(len(ENDS) + 1)):
            for event in (*ENDS, *ENDS.values()):
                halted = Halted()
                for reason in reasons:
                    halted.do(reason)
                halted.do(event)
                _check(halted, {*reasons, *([event] if event in ENDS else ())} - {_ended_by(event)})
        await trio.lowlevel.checkpoint()

    run_in_virtual_time(main)


def _ended_by(event: str) -> str | None:
    return next((reason for reason, end in ENDS.items() if end == event), None)


def _check(halted: Halted, against: set[str]) -> None:
    halts = halted.halts
    assert halted.runs() == (not against)
    assert halts.publishing._open.is_set() == (not against & SHUTS)
    assert (halts.held is not None) == ("hold" in against)
    first = next((why for why in ("gone", "full", "stopped") if why in against), None)
    assert halts.trouble == (None if first is None else f"it is {first}")
    waiting = [seconds for seconds, timer in halted.timers if not timer.cancelled]
    assert waiting == ([60.0] if "hold" in against else [])


@pytest.mark.parametrize("before", [None, "it was stopped"])
@pytest.mark.parametrize("stopped", [None, "it is stopped"])
def test_a_server_end_that_is_stopped_halts_from_one_look_to_the_next(before: str | None, stopped: str | None) -> None:
    async def main() -> None:
        halted = Halted()
        halted.halts.stopped(before)
        halted.base.stopped = stopped
        await halted.halts.look_at_server()
        assert halted.halts.trouble == stopped
        assert halted.runs() == (stopped is None)

    run_in_virtual_time(main)


def test_a_look_at_the_server_that_a_lost_folder_prevents_changes_nothing() -> None:
    async def lost() -> str | None:
        await trio.lowlevel.checkpoint()
        raise BaseGone("it is gone")

    async def main() -> None:
        halted = Halted()
        halted.halts.stopped("it is stopped")
        halted.base.stopped_server = lost  # type: ignore[method-assign]
        await halted.halts.look_at_server()
        assert halted.halts.trouble == "it is stopped"
        assert not halted.runs()

    run_in_virtual_time(main)


@pytest.mark.parametrize(
    ("owner", "error", "is_ours", "trouble"),
    [
        (None, None, True, None),
        ("another has it", None, False, "another has it"),
        (None, BaseGone("it is missing"), False, "it is missing"),
    ],
)
@pytest.mark.parametrize("was_gone", [False, True])
def test_a_folder_is_ours_if_it_is_there_and_nobody_else_has_it(
    owner: str | None, error: Exception | None, is_ours: bool, trouble: str | None, was_gone: bool
) -> None:
    async def claim() -> str | None:
        await trio.lowlevel.checkpoint()
        if error is not None:
            raise error
        return owner

    async def main() -> None:
        halted = Halted()
        if was_gone:
            halted.halts.gone("it was gone")
        halted.base.claim_client = claim  # type: ignore[method-assign]
        assert await halted.halts.claim() == is_ours
        assert (halted.halts.trouble, halted.halts.down) == (trouble, owner)

    run_in_virtual_time(main)
