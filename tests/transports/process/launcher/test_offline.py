"""Programs that are kept off the network, and programs that begin in an open folder."""

import os
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from codec.programs import Bounds, Exited, Outcome, Signalled
from tests.accounts import CAN_BE_OTHERS, NOBODY, in_a_child_of_nobody
from tests.transports.process.house import PYTHON, Processes, open_launcher
from transports.process import keepers
from transports.process.launcher.birth import bear
from transports.process.launcher.orders import Order
from transports.process.launcher.system import be_private
from transports.process.run import NotKeptOffline, NotStarted


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()


async def alone(processes: Processes, source: str, *, offline: bool = True) -> Outcome:
    return await processes.runner.run(replace(processes.command([*PYTHON, source]), offline=offline))


CONNECT = """
import socket
try:
    socket.create_connection(("127.0.0.1", {}), 5)
    print("in")
except OSError as error:
    print(error)
"""
LISTEN = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    with socket.create_connection(server.getsockname(), 5) as client:
        server.accept()[0].sendall(b"well")
        print(client.recv(4).decode())
"""


async def test_no_server_of_this_machine_is_reached(processes: Processes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = CONNECT.format(server.getsockname()[1])
        assert (await alone(processes, source)).stdout.head == b"[Errno 111] Connection refused\n"
        assert (await alone(processes, source, offline=False)).stdout.head == b"in\n"


async def test_no_abstract_socket_is_reached(processes: Processes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(f"\0{processes.mark}")
        server.listen()
        source = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{processes.mark}')"
        assert (await alone(processes, source)).end == Exited(1)
        assert (await alone(processes, source, offline=False)).end == Exited(0)


async def test_nothing_but_a_loopback_of_its_own_is_there_and_it_works(processes: Processes) -> None:
    names = await alone(processes, "import socket; print([name for _, name in socket.if_nameindex()])")
    assert names.stdout.head == b"['lo']\n"
    assert (await alone(processes, LISTEN)).stdout.head == b"well\n"


async def test_what_it_writes_belongs_to_us_and_it_is_who_we_are(processes: Processes) -> None:
    source = "import os; open('made', 'w').close(); print(os.getuid(), os.getgid(), os.stat('made').st_uid)"
    told = await alone(processes, source)
    made = (processes.folder / "made").stat()
    assert (made.st_uid, made.st_gid) == (os.geteuid(), os.getegid())
    assert told.stdout.head.decode().split() == [str(os.geteuid()), str(os.getegid()), str(os.geteuid())]


async def test_otherwise_it_is_run_as_any_other(processes: Processes) -> None:
    """Its session, signals, input, outputs, arguments and environment."""
    source = """
import os, signal, sys
os.write(2, b"err")
print(os.getsid(0) == os.getpid(), input(), sys.argv[1:], sorted(os.environ), sorted(os.listdir("/proc/self/fd")))
print([signal.getsignal(number) for number in (1, 2, 13, 15, 25)], signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
    command = processes.command([*PYTHON, source, "a b"], stdin=b"line\n")
    with_network, without = [await processes.runner.run(replace(command, offline=offline)) for offline in (False, True)]
    assert without.stdout == with_network.stdout
    assert without.stderr == with_network.stderr
    assert without.stdout.head.startswith(b"True line ['a b']")


async def test_how_it_ended_is_told_as_of_any_other(processes: Processes) -> None:
    assert (await alone(processes, "import sys; sys.exit(7)")).end == Exited(7)
    source = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert (await alone(processes, source)).end == Signalled(signal.SIGTERM)


@pytest.mark.slow
async def test_its_limits_hold_as_for_any_other(processes: Processes) -> None:
    hog = "hog = []\nwhile True: hog.append(bytearray(b'x') * 1_000_000)"
    hoards = processes.command([*PYTHON, hog], memory_bytes=64 << 20)
    assert (await processes.runner.run(replace(hoards, offline=True))).stopped_for == "memory"
    bomb = "import os, time\nfor _ in range(50):\n if not os.fork(): time.sleep(1000)\ntime.sleep(1000)"
    forks = processes.command([*PYTHON, bomb], processes=20)
    assert (await processes.runner.run(replace(forks, offline=True))).stopped_for == "processes"
    assert processes.left() == []


@pytest.mark.parametrize("argv", [["nothere"], ["/etc/passwd"], ["/nothere/x"], ["/etc"], ["./text"]])
async def test_what_cannot_be_started_is_refused_in_the_same_words(processes: Processes, argv: list[str]) -> None:
    (processes.folder / "text").write_text("no program")
    (processes.folder / "text").chmod(0o755)
    words = []
    for each in (False, True):
        with pytest.raises(NotStarted) as refused:
            await processes.runner.run(replace(processes.command(argv), offline=each))
        words.append(str(refused.value))
    assert words[0] == words[1]


def as_a_keeper_would() -> bytes:
    """In a process of its own."""
    be_private()
    hears, tells = os.pipe()
    line = b"id -u; id -g; grep CapEff /proc/self/status"
    leader = bear(Order([b"/bin/sh", b"-c", line], [], b"/", offline=True), [hears, tells, tells], lambda given: 0)
    os.close(tells)
    with open(hears, "rb") as pipe:
        said = pipe.read()
    os.waitpid(leader, 0)
    return said


def test_an_account_without_any_privilege_is_itself_there_and_has_none() -> None:
    if not CAN_BE_OTHERS:  # then all tests here are run by such an account
        return
    user, group, capabilities, *_ = in_a_child_of_nobody(as_a_keeper_would).decode().splitlines()
    assert (user, group) == (str(NOBODY), str(NOBODY))
    assert int(capabilities.split()[1], 16) == 0


async def test_where_the_kernel_does_not_allow_it_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keepers, "PROGRAM", Path(__file__).parents[1] / "no_network_launcher.py")
    async with open_launcher(tmp_path) as processes:
        with pytest.raises(NotKeptOffline, match="this system does not let it be kept off the network"):
            await alone(processes, "open('made', 'w')")
        assert await processes.is_healthy()
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("offline", [False, True], ids=["", "offline"])
async def test_an_open_folder_is_entered_whatever_has_its_name_by_then(processes: Processes, offline: bool) -> None:
    here = processes.folder / "here"
    here.mkdir()
    folder = os.open(here, os.O_RDONLY | os.O_DIRECTORY)
    here.rename(processes.folder / "moved")
    here.symlink_to("/etc")
    try:
        command = replace(processes.command(["/bin/pwd", "-P"]), cwd=here, folder=folder, offline=offline)
        outcome = await processes.runner.run(command)
    finally:
        os.close(folder)
    assert outcome.stdout.head.decode() == f"{processes.folder}/moved\n"


async def test_who_may_hide_is_not_stopped_for_it(processes: Processes) -> None:
    source = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(0.2)"
    command = processes.command([*PYTHON, source], memory_bytes=1 << 30)
    outcome = await processes.runner.run(replace(command, bounds=replace(command.bounds, may_hide=True)))
    assert (outcome.end, outcome.stopped_for) == (Exited(0), None)
    assert not Bounds().may_hide
