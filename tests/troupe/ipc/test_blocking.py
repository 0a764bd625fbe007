"""The desk for programs without trio: interruptions of its calls, at every moment, and its end."""

import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import FrameType

import pytest
import trio

from tests.patience import PATIENCE
from troupe.ipc import Desk, DeskError
from troupe.ipc.blocking import BlockingDesk
from troupe.ipc.testing import FakeDesk


class Interrupted(BaseException):
    pass


@pytest.fixture
def interrupting() -> Iterator[None]:
    """SIGALRM is like Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("interrupting")
@pytest.mark.parametrize("interrupts_nothing", [False, True])
def test_a_blocking_call_that_is_interrupted_is_cancelled(interrupts_nothing: bool) -> None:
    """A signal interrupts no system call if it comes just before one. It does neither in a thread that does not get it,
    as here; and then Python runs its handler when the system call has ended."""
    ended = threading.Event()

    async def wait() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    with BlockingDesk(FakeDesk) as desk:
        signal.pthread_sigmask(signal.SIG_BLOCK if interrupts_nothing else signal.SIG_UNBLOCK, [signal.SIGALRM])
        try:
            with pytest.raises(Interrupted):
                desk.call(wait)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        assert ended.wait(PATIENCE)
        assert desk.run("unheard").error == "Unknown command: unheard"


def test_wherever_a_blocking_call_is_interrupted_the_desk_goes_on() -> None:
    """Python runs the handlers of signals when a function begins, and when one that is written in C has returned."""
    left = 0

    def interrupt(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal left
        left -= event in ("call", "c_return")
        if left == 0:
            raise Interrupted

    with BlockingDesk(FakeDesk) as desk:
        for number in count(1):
            left = number
            sys.setprofile(interrupt)
            try:
                desk.run("unheard")
            except Interrupted:
                pass
            finally:
                sys.setprofile(None)
            assert desk.run("unheard").error == "Unknown command: unheard"
            if left > 0:
                break
        assert number > 20


def test_a_blocking_call_of_one_thread_ends_when_another_one_closes_the_desk() -> None:
    def wait() -> str:
        try:
            while True:  # it may be closed before the call, while it begins, and later
                desk.run("unheard")
        except DeskError as error:
            return str(error)

    for _ in range(20):
        desk = BlockingDesk(FakeDesk)
        with ThreadPoolExecutor() as threads:
            waiting = [threads.submit(wait) for _ in range(3)]
            desk.run("unheard")
            desk.close()
            assert [each.result(PATIENCE) for each in waiting] == ["This desk was closed"] * 3


def test_a_blocking_desk_that_cannot_be_made_raises_why() -> None:
    def make() -> Desk:
        raise DeskError("there is no folder")

    with pytest.raises(DeskError, match="there is no folder"):
        BlockingDesk(make)
