import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from program.signals import ECHO, INTERRUPTED, listen, quietly


class Heard:
    def __init__(self) -> None:
        self.stops: list[str] = []
        self.kills: list[str] = []

    async def listening(self, nursery: trio.Nursery) -> None:
        await nursery.start(listen, self.stops.append, self.kills.append)


async def arrives(number: signal.Signals) -> None:
    signal.raise_signal(number)
    await wait_all_tasks_blocked()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_the_first_signal_asks_for_an_orderly_stop(number: signal.Signals) -> None:
    heard = Heard()
    async with trio.open_nursery() as nursery:
        await heard.listening(nursery)
        await arrives(number)
        assert (heard.stops, heard.kills) == ([number.name], [])
        nursery.cancel_scope.cancel()


async def test_a_later_one_means_impatience_and_ends_the_listening(mock_clock: MockClock) -> None:
    heard = Heard()
    async with trio.open_nursery() as nursery:
        await heard.listening(nursery)
        await arrives(signal.SIGINT)
        mock_clock.jump(ECHO)
        await arrives(signal.SIGTERM)
    assert (heard.stops, heard.kills) == (["SIGINT"], ["SIGTERM"])


async def test_an_echo_of_the_first_is_not_impatience(mock_clock: MockClock) -> None:
    heard = Heard()
    async with trio.open_nursery() as nursery:
        await heard.listening(nursery)
        await arrives(signal.SIGINT)
        mock_clock.jump(ECHO / 2)
        await arrives(signal.SIGINT)
        await arrives(signal.SIGTERM)
        assert (heard.stops, heard.kills) == (["SIGINT"], [])
        nursery.cancel_scope.cancel()


async def test_afterwards_signals_are_what_they_were() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]
    async with trio.open_nursery() as nursery:
        await Heard().listening(nursery)
        nursery.cancel_scope.cancel()
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] == before


async def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        heard = Heard()
        async with trio.open_nursery() as nursery:
            await heard.listening(nursery)
            await arrives(signal.SIGHUP)
            assert heard.stops == []
            nursery.cancel_scope.cancel()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_code_of_main_is_passed_on() -> None:
    assert quietly(lambda: 7) == 7


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), BaseExceptionGroup("", [BaseExceptionGroup("", [KeyboardInterrupt()])])]
)
def test_an_interrupt_that_nobody_heard_is_an_exit_code(error: BaseException) -> None:
    def main() -> int:
        raise error

    assert quietly(main) == INTERRUPTED


def test_any_other_error_is_not_hidden() -> None:
    def main() -> int:
        raise BaseExceptionGroup("", [KeyboardInterrupt(), ValueError("real")])

    with pytest.raises(ExceptionGroup):
        quietly(main)


PROGRAM = """
import sys, trio
from program.signals import listen, quietly

async def serve():
    async with trio.open_nursery() as nursery:
        await nursery.start(listen, lambda name: (print("stop", name), nursery.cancel_scope.cancel()), print)
        print("listening", flush=True)
        await trio.sleep_forever()

def main():
    if "early" in sys.argv:
        print("listening", flush=True)
        trio.run(trio.sleep_forever)
    trio.run(serve)
    return 0

sys.exit(quietly(main))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said", "code"), [([], "stop SIGINT\n", 0), (["early"], "", INTERRUPTED)], ids=["heard", "unheard"]
)
def test_ctrl_c_never_shows_a_traceback(arguments: list[str], said: str, code: int) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == "listening\n"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert (out, err, program.returncode) == (said, "", code)
