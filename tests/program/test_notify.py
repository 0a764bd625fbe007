import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from program.notify import Notifier


class Systemd:
    """The other end of the socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self.socket.setblocking(False)
        self.environ = {"NOTIFY_SOCKET": address}

    def heard(self) -> list[str]:
        said = []
        while True:
            try:
                said.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return said


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Systemd]:
    there = Systemd(str(tmp_path / "notify") if request.param == "path" else f"@troupe-test-{os.getpid()}")
    with there.socket:
        yield there


def test_systemd_hears_how_we_are(systemd: Systemd) -> None:
    notifier = Notifier(systemd.environ)
    notifier.status("4 listeners\nare up")
    notifier.ready()
    notifier.stopping()
    assert systemd.heard() == ["STATUS=4 listeners are up", f"READY=1\nMAINPID={os.getpid()}", "STOPPING=1"]


async def test_the_watchdog_is_fed_twice_as_often_as_it_asks(systemd: Systemd, mock_clock: MockClock) -> None:
    notifier = Notifier(systemd.environ | {"WATCHDOG_USEC": "20000000", "WATCHDOG_PID": str(os.getpid())})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(notifier.watchdog)
        await wait_all_tasks_blocked()
        assert systemd.heard() == ["WATCHDOG=1"]
        mock_clock.jump(9.9)
        await wait_all_tasks_blocked()
        assert systemd.heard() == []
        for _ in range(3):
            mock_clock.jump(10)
            await wait_all_tasks_blocked()
            assert systemd.heard() == ["WATCHDOG=1"]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "-5"},
        {"WATCHDOG_USEC": "soon"},
        {"WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "1"},
    ],
)
async def test_a_watchdog_that_does_not_ask_us_is_not_fed(
    systemd: Systemd, mock_clock: MockClock, asked: dict[str, str]
) -> None:
    await Notifier(systemd.environ | asked).watchdog()
    assert systemd.heard() == []


@pytest.mark.parametrize("name", ["", "/", "@", "relative", "vsock:2:1234", "/nowhere/at/all", "/" + "x" * 300])
async def test_where_nobody_listens_nothing_is_hurt(name: str, mock_clock: MockClock) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"})
    notifier.ready()
    notifier.status("x" * 10**6)
    notifier.stopping()
    with trio.move_on_after(5):
        mock_clock.autojump_threshold = 0
        await notifier.watchdog()


def test_a_listener_that_does_not_read_holds_nobody_up(systemd: Systemd) -> None:
    notifier = Notifier(systemd.environ)
    for _ in range(2000):
        notifier.status("busy")
    assert 0 < len(systemd.heard()) < 2000


async def test_without_the_environment_nothing_is_done() -> None:
    notifier = Notifier({"WATCHDOG_USEC": "1000000"})
    notifier.ready()
    await notifier.watchdog()
