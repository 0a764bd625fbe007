"""The server, the launcher or a keeper is killed. Nothing is left of the runs, and the next one is right."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import trio

from actors.kernel import NobodyThere
from codec.programs import Exited, Stream
from tests.transports.process.house import PATIENCE, PYTHON, Processes, gone, marked, open_launcher
from transports.process.keepers import NAME, PROGRAM
from transports.process.launcher import census, orders
from transports.process.run import Interrupted, NotStarted, Runner

ROOT = Path(__file__).parents[3]

ESCAPES = """
import os, time
for _ in range(3):
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(1000)
        os._exit(0)
print("up", flush=True)
time.sleep(1000)
"""
"""Four processes, three of them orphans in sessions of their own; and three zombies."""


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()


async def interrupted(processes: Processes, kill: Callable[[], None]) -> None:
    """Run something that escapes, kill somebody, and see that the run is reported as interrupted."""
    up = trio.Event()

    def on_output(stream: Stream, data: bytes) -> None:
        up.set()

    async def ends() -> None:
        with pytest.raises(Interrupted, match="was interrupted: the launcher that ran it ended; run it again"):
            await processes.runner.run(processes.command([*PYTHON, ESCAPES]), on_output=on_output)

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            await up.wait()
            await processes.started(4)
            kill()
    await processes.gone()


def launcher_pid(processes: Processes) -> int:
    pid = processes.statistics().pid
    assert pid is not None
    return pid


@pytest.mark.slow
async def test_when_the_launcher_is_killed_its_runs_are_interrupted_and_ended(processes: Processes) -> None:
    await interrupted(processes, lambda: os.kill(launcher_pid(processes), signal.SIGKILL))
    assert await processes.is_healthy()
    assert len(processes.lives) == 2


async def test_when_a_keeper_is_killed_the_launcher_ends_its_run(processes: Processes) -> None:
    await interrupted(processes, lambda: os.kill(processes.keepers()[0], signal.SIGKILL))
    assert len(processes.lives) == 1


async def test_when_a_keeper_is_killed_the_other_runs_go_on(processes: Processes) -> None:
    async with processes.one_that_stays():
        (staying,) = processes.keepers()
        mark, processes.mark = processes.mark, f"{processes.mark}-other"

        def kill() -> None:
            (other,) = set(processes.keepers()) - {staying}
            os.kill(other, signal.SIGKILL)

        await interrupted(processes, kill)
        assert len(marked(mark)) == 1


async def test_when_an_idle_keeper_is_killed_nobody_notices(processes: Processes) -> None:
    assert await processes.is_healthy()
    (keeper,) = processes.keepers()
    os.kill(keeper, signal.SIGKILL)
    with trio.fail_after(PATIENCE):
        while keeper in processes.keepers():  # noqa: ASYNC110  it is the system that is asked
            await trio.sleep(0.005)
    assert await processes.is_healthy()


@pytest.mark.slow
async def test_when_launcher_and_keepers_are_killed_together_the_server_ends_the_group(processes: Processes) -> None:
    told: list[bytes] = []
    up = trio.Event()

    def on_output(stream: Stream, data: bytes) -> None:
        told.append(data)
        up.set()

    async def ends() -> None:
        argv = ["/bin/sh", "-c", "sleep 1000 & sleep 0.2; echo up; exec sleep 1000"]
        with pytest.raises(Interrupted):
            await processes.runner.run(processes.command(argv), on_output=on_output)

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            await up.wait()
            pids = [launcher_pid(processes), *processes.keepers()]
            for number in (signal.SIGSTOP, signal.SIGKILL):  # halted, none can act on the end of another
                for pid in pids:
                    os.kill(pid, number)
    await processes.gone()


async def test_who_kills_its_own_keeper_is_ended_too(processes: Processes) -> None:
    source = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(1000)"
    with pytest.raises(Interrupted):
        await processes.python(source)
    await processes.gone()


async def test_who_halts_its_own_keeper_is_ended_too(processes: Processes) -> None:
    escapes = "import os, signal, time\nif not os.fork(): os.setsid(); time.sleep(1000)\n"
    with pytest.raises(Interrupted):
        await processes.python(escapes + "os.kill(os.getppid(), signal.SIGSTOP); time.sleep(1000)")
    await processes.gone()
    assert len(processes.lives) == 1


async def test_a_launcher_that_was_halted_makes_room_for_another(processes: Processes) -> None:
    os.kill(launcher_pid(processes), signal.SIGSTOP)
    os.waitid(os.P_PID, launcher_pid(processes), os.WSTOPPED | os.WNOWAIT)  # noqa: ASYNC222  within a millisecond
    assert await processes.is_healthy()
    assert len(processes.lives) == 2
    assert [each.error for each in processes.stage.crashes] == ["LauncherLost: the launcher was halted"]


async def test_a_launcher_that_is_renewed_as_soon_as_it_is_there_has_not_failed(processes: Processes) -> None:
    assert await processes.is_healthy()
    for _ in range(3):  # the first is for the launcher that runs, each further one for the next that begins
        processes.runner.renew()
    assert await processes.is_healthy()
    assert len(processes.lives) == 4
    assert processes.stage.crash_count == 0


async def test_terminate_and_interrupt_are_not_for_the_launcher(processes: Processes) -> None:
    assert await processes.is_healthy()
    for pid in (launcher_pid(processes), *processes.keepers()):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(pid, number)
    assert await processes.is_healthy()
    assert (len(processes.lives), processes.statistics().forked) == (1, 1)


@pytest.mark.slow
async def test_when_the_server_is_killed_nothing_is_left(tmp_path: Path) -> None:
    mark = f"server-{tmp_path}"
    server = subprocess.Popen(  # noqa: ASYNC220  it is to be killed, not waited for
        [sys.executable, "-m", "tests.transports.process.house", mark, ESCAPES],
        cwd=ROOT,
        env={**os.environ, "MARK": mark},
    )
    try:
        with trio.fail_after(PATIENCE):
            while len(marked(mark)) < 7:  # noqa: ASYNC110  server, launcher, keeper, and the four
                await trio.sleep(0.01)
    finally:
        server.kill()
        server.wait()
    await gone(mark)


def test_a_launcher_whose_server_is_killed_before_it_has_started_ends_without_a_word() -> None:
    server, its = socket.socketpair()
    server.close()
    with its:
        words = [sys.executable, "-I", "-S", str(PROGRAM)]
        ended = subprocess.run(words, stdin=its.fileno(), capture_output=True, timeout=PATIENCE, start_new_session=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.slow
async def test_when_the_server_is_killed_while_it_floods_nothing_is_left(tmp_path: Path) -> None:
    mark = f"server-{tmp_path}"
    source = "import os, time\nif os.fork():\n while True: os.write(1, b'x' * 65536)\ntime.sleep(1000)"
    server = subprocess.Popen(  # noqa: ASYNC220  as above
        [sys.executable, "-m", "tests.transports.process.house", mark, source],
        cwd=ROOT,
        env={**os.environ, "MARK": mark},
    )
    try:
        with trio.fail_after(PATIENCE):
            while len(marked(mark)) < 5:  # noqa: ASYNC110  server, launcher, keeper, and the two
                await trio.sleep(0.01)
    finally:
        server.kill()
        server.wait()
    await gone(mark)


async def test_an_orderly_stop_interrupts_what_runs(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        async with open_launcher(tmp_path) as processes:

            async def ends() -> None:
                with pytest.raises(Interrupted):
                    await processes.python(ESCAPES)

            nursery.start_soon(ends)
            await processes.started(4)
        await processes.gone()
        with pytest.raises(NobodyThere):
            await Runner(processes.registry).run(processes.command(["/bin/true"]))


async def test_after_a_stop_neither_launcher_nor_keepers_are_left(tmp_path: Path) -> None:
    async with open_launcher(tmp_path) as processes:
        assert await processes.is_healthy()
        pids = [launcher_pid(processes), *processes.keepers()]
        assert all(census.member_of(pid) for pid in pids)
    assert not any(census.member_of(pid) for pid in pids)


@pytest.mark.slow
async def test_a_launcher_that_is_killed_as_an_actor_takes_everything_with_it(processes: Processes) -> None:
    ref = processes.registry.get(NAME)
    first = launcher_pid(processes)
    await interrupted(processes, ref.kill)
    assert census.member_of(first) is None
    assert await processes.is_healthy()


async def test_of_idle_keepers_only_some_are_kept(tmp_path: Path) -> None:
    async with open_launcher(tmp_path, idle=1) as processes:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(processes.run, ["/bin/true"])
        with trio.fail_after(PATIENCE):
            while len(processes.keepers()) != 1:  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.005)
        assert (processes.statistics().running, processes.statistics().idle) == (0, 1)


def launched_by(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next launcher is this program."""
    program = folder / "launcher.py"
    program.write_text(source)
    monkeypatch.setattr("transports.process.keepers.PROGRAM", program)


CROWDED = f"""
import errno, os, sys
sys.path.append({str(ROOT)!r})
def fork():
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
os.fork = fork
from transports.process.launcher.warden import serve
serve()
"""
"""A launcher on a machine that starts no process more."""


async def test_where_no_process_more_may_be_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launched_by(CROWDED, tmp_path, monkeypatch)
    async with open_launcher(tmp_path) as processes:
        for _ in range(50):  # it may have gone before the order, or after
            with pytest.raises(NotStarted, match="'/bin/true' cannot be started: there are as many processes as may"):
                await processes.run(["/bin/true"])
        assert len(processes.lives) == 1


HELD = f"""
import itertools, sys, time
sys.path.append({str(ROOT)!r})
from transports.process.launcher import keeper
calls = itertools.count()
def wait(self, seconds):
    time.sleep(seconds if next(calls) == 0 else 1000)
    return False
keeper.Keeper._wait = wait
from transports.process.launcher.warden import serve
serve()
"""
"""A launcher with keepers that hear nothing any more once they have told that a run lives."""


@pytest.mark.slow
async def test_a_keeper_that_does_not_answer_is_killed_and_its_run_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched_by(HELD, tmp_path, monkeypatch)
    monkeypatch.setattr("transports.process.run.END_SECONDS", 0.1)
    monkeypatch.setattr("transports.process.run.LATE_SECONDS", 0.1)
    async with open_launcher(tmp_path) as processes:
        with pytest.raises(Interrupted):
            await processes.python(ESCAPES, wall_seconds=1.0)
        await processes.gone()


SLOW = f"""
import sys
sys.path.append({str(ROOT)!r})
from transports.process.launcher import account, keeper
look = account.Account.look
def look_slowly(self):
    self.waited_seconds += 1.5 * keeper.TELL_SECONDS
    return look(self)
account.Account.look = look_slowly
from transports.process.launcher.warden import serve
serve()
"""
"""A launcher of a machine so busy that its programs wait for a second and more until the end of each look."""


async def test_a_run_that_waits_long_from_its_first_look_on_has_its_whole_wall_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched_by(SLOW, tmp_path, monkeypatch)
    async with open_launcher(tmp_path) as processes:
        outcome = await processes.run(["/bin/sh", "-c", "sleep 0.2; echo whole"], memory_bytes=1024**3)
        assert (outcome.end, outcome.stopped_for, outcome.stdout.head) == (Exited(0), None, b"whole\n")


STUBBORN = """
import socket
from transports.process.launcher import keeper, system
keeper.PATIENCE_SECONDS = 0.1
keeper.strike = lambda roots: None
system.adopt_orphans()
keeper.Keeper(keeper.ServerLine(socket.socket(fileno=0))).serve()
"""
"""A keeper that can end a group, and nothing else."""


@pytest.mark.slow
def test_a_keeper_that_cannot_end_a_run_says_so_and_ends(tmp_path: Path) -> None:
    mark = f"MARK={tmp_path}"
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE)
    with theirs:
        keeper = subprocess.Popen([sys.executable, "-c", STUBBORN], stdin=theirs.fileno(), cwd=ROOT)
    try:
        with ours, open(os.devnull, "r+b") as nothing:
            source = b"setsid sleep 1000 & exec sleep 0.1"
            order = orders.Order([b"/bin/sh", b"-c", source], [b"PATH=/usr/bin:/bin", mark.encode()], b"/")
            socket.send_fds(ours, [order.frame()], [nothing.fileno()] * 3)
            held, said = bytearray(), [b""]
            while said[0] != orders.ENDED:
                held += ours.recv(4096)
                said = orders.take_frame(held) or [b""]
            ended = orders.read_ended(said)
            assert (ended.status, ended.left) == (0, True)
            assert keeper.wait(PATIENCE) == 0
            assert len(marked(mark)) == 1
    finally:
        keeper.kill()
        keeper.wait()
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)
