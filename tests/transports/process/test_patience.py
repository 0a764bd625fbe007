"""Whoever asks a launcher or a crew for something waits so long and no longer, however often it is lost meanwhile."""

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.kernel import ActorDown, Stop, TooSlow, Why
from transports.process import crew, run
from transports.process.keepers import KeeperEnd, Launcher, LauncherLost
from transports.process.launcher.orders import PID_BYTES


class Asked:
    """An actor that never answers: each time it is lost, or the time that it is given has passed."""

    def __init__(self, *fates: Exception | None) -> None:
        self.fates = list(fates)
        self.given: list[tuple[float, float]] = []
        """When it was asked, and how long it was given."""
        self.alive = True

    async def ask(self, make: object, *, timeout: float) -> str:
        self.given.append((trio.current_time(), timeout))
        fate = self.fates.pop(0) if self.fates else None
        if fate is None:
            return "it"
        await trio.sleep(timeout if isinstance(fate, TooSlow) else 1.0)
        raise fate


def keeper_end(pid: int | None) -> KeeperEnd:
    keeper = KeeperEnd(None)  # type: ignore[arg-type]
    keeper.pid = pid
    return keeper


def _nothing_left(asked: Any) -> Awaitable[object]:
    return run._nothing_left(keeper_end(7), asked)


DOWN = ActorDown("the crew", Stop(Why.KILLED))
LAUNCHER, CREW = run.KEEPER_SECONDS, crew.LENT_SECONDS
Ask = Callable[[Any], Awaitable[object]]


@pytest.mark.parametrize(
    ("ask", "seconds", "lost"),
    [(run._borrowed, LAUNCHER, LauncherLost("it is lost")), (crew._lent, CREW, DOWN)],
)
async def test_what_is_lost_is_asked_for_again_for_as_long_as_its_time_lasts(
    ask: Ask, seconds: float, lost: Exception, autojump_clock: MockClock
) -> None:
    began = trio.current_time()
    asked = Asked(lost, lost)
    assert await ask(asked) == "it"
    assert asked.given == [(began + each, seconds - each) for each in (0.0, 1.0, 2.0)]
    began = trio.current_time()
    asked = Asked(*1000 * [lost])
    with pytest.raises(type(lost)):
        await ask(asked)
    assert asked.given == [(began + each, max(0.0, seconds - each)) for each in range(int(seconds) + 1)]


async def test_what_lets_nobody_ask_again_is_not_asked_again(autojump_clock: MockClock) -> None:
    asks: list[Ask] = [run._borrowed, crew._lent]
    for ask in asks:
        asked = Asked(TooSlow("busy"))
        with pytest.raises(TooSlow):
            await ask(asked)
        assert len(asked.given) == 1
    ended: Any = Asked(DOWN)
    ended.alive = False
    with pytest.raises(ActorDown):
        await crew._lent(ended)
    await _nothing_left(ended)
    assert len(ended.given) == 1


async def test_whether_anything_is_left_is_asked_now_and_then_until_there_is_an_answer_or_no_time(
    autojump_clock: MockClock,
) -> None:
    began = trio.current_time()
    asked = Asked(LauncherLost("lost"), DOWN, TooSlow("halted"))
    await _nothing_left(asked)
    assert asked.given == [(began + each, run.ASK_AGAIN_SECONDS) for each in range(4)]
    began = trio.current_time()
    asked = Asked(*1000 * [TooSlow("something hangs")])
    await _nothing_left(asked)
    assert asked.given == [(began + each, run.ASK_AGAIN_SECONDS) for each in range(int(LAUNCHER))]
    never: Any = Asked()
    await run._nothing_left(keeper_end(None), never)  # it has never said who it is, so it ran nothing
    assert never.given == []


class Told:
    """A reply."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.wanted = wanted
        self.told = 0

    def set(self, value: None) -> None:
        assert self.wanted
        self.told += 1


@pytest.mark.parametrize("step", [1, 3, PID_BYTES, 5, 100])
def test_the_answers_of_a_launcher_are_heard_however_they_are_cut(step: int) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        launcher: Any = Launcher()
        launcher._control = ours
        both, gone, never = (Told(), Told()), Told(wanted=False), Told()
        launcher._asked = {3: list(both), 70_000: [gone], 8: [never]}
        said = b"".join(pid.to_bytes(PID_BYTES, "big") for pid in (3, 70_000, 9, 3))
        assert launcher._hear()  # nothing has come yet
        for at in range(0, len(said), step):
            theirs.sendall(said[at : at + step])
            assert launcher._hear()
            known = (min(at + step, len(said))) // PID_BYTES
            assert [each.told for each in both] == [int(known >= 1)] * 2
            assert (70_000 in launcher._asked) is (known < 2)
        assert (gone.told, never.told, [*launcher._asked]) == (0, 0, [8])
        theirs.close()
        assert not launcher._hear()
