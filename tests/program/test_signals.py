import signal

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from program.signals import ECHO, listen


class Heard:
    def __init__(self) -> None:
        self.stops: list[signal.Signals] = []
        self.kills: list[signal.Signals] = []

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
        assert (heard.stops, heard.kills) == ([number], [])
        nursery.cancel_scope.cancel()


async def test_a_later_one_means_impatience_and_ends_the_listening(mock_clock: MockClock) -> None:
    heard = Heard()
    async with trio.open_nursery() as nursery:
        await heard.listening(nursery)
        await arrives(signal.SIGINT)
        mock_clock.jump(ECHO)
        await arrives(signal.SIGTERM)
    assert (heard.stops, heard.kills) == ([signal.SIGINT], [signal.SIGTERM])


async def test_an_echo_of_the_first_is_not_impatience(mock_clock: MockClock) -> None:
    heard = Heard()
    async with trio.open_nursery() as nursery:
        await heard.listening(nursery)
        await arrives(signal.SIGINT)
        mock_clock.jump(ECHO / 2)
        await arrives(signal.SIGINT)
        await arrives(signal.SIGTERM)
        assert (heard.stops, heard.kills) == ([signal.SIGINT], [])
        nursery.cancel_scope.cancel()


async def test_afterwards_signals_are_what_they_were() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]
    async with trio.open_nursery() as nursery:
        await Heard().listening(nursery)
        nursery.cancel_scope.cancel()
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)] == before


@pytest.mark.parametrize(("number", "heeded"), [(signal.SIGHUP, False), (signal.SIGINT, False), (signal.SIGTERM, True)])
async def test_what_is_ignored_at_the_start_stays_ignored_but_for_sigterm(number: signal.Signals, heeded: bool) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        heard = Heard()
        async with trio.open_nursery() as nursery:
            await heard.listening(nursery)
            await arrives(number)
            assert heard.stops == [number] * heeded
            nursery.cancel_scope.cancel()
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
