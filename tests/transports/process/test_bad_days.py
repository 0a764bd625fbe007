"""Programs that do not behave. After each nothing is left, and the next run is right."""

import errno
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
import trio.testing

from codec.programs import Exited, Outcome, Signalled
from tests.transports.process.house import PATIENCE, PYTHON, Processes, open_launcher

MIB = 1024 * 1024
KILLED = Signalled(signal.SIGKILL)


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()
        with trio.fail_after(PATIENCE):
            while processes.statistics().running:  # noqa: ASYNC110  what is asked is the public figure
                await trio.sleep(0.005)


async def promptly(house: Processes, argv: list[str], **options: object) -> Outcome:
    """Much sooner than any sleep or deadline in the program would allow, and nothing is left when it is told."""
    began = time.monotonic()
    outcome = await house.run(argv, **options)  # type: ignore[arg-type]
    assert not house.left()
    assert time.monotonic() - began < PATIENCE / 2
    return outcome


@pytest.mark.slow
async def test_an_endless_loop_is_stopped_for_its_cpu_time(processes: Processes) -> None:
    outcome = await promptly(processes, [*PYTHON, "while True: pass"], cpu_seconds=0.2)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "cpu")
    assert 0.15 < outcome.cpu_seconds < 2


@pytest.mark.slow
async def test_endless_loops_in_children_count_together(processes: Processes) -> None:
    source = "import os\nfor _ in range(3): os.fork()\nwhile True: pass"
    outcome = await promptly(processes, [*PYTHON, source], cpu_seconds=0.4)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "cpu")


async def test_a_sleeper_is_stopped_for_its_wall_time(processes: Processes) -> None:
    outcome = await promptly(processes, ["/bin/sleep", "1000"], cpu_seconds=5, wall_seconds=0.05)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "wall")
    assert outcome.cpu_seconds < 0.5
    assert 0.04 < outcome.wall_seconds < 5


@pytest.mark.slow
async def test_a_memory_hog_is_stopped(processes: Processes) -> None:
    source = "hog = []\nwhile True: hog.append(bytearray(b'x') * 1_000_000)"
    outcome = await promptly(processes, [*PYTHON, source], memory_bytes=64 * MIB)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "memory")
    assert 64 * MIB < outcome.peak_bytes < 1024 * MIB


@pytest.mark.slow
async def test_a_hog_in_many_processes_is_stopped_but_shared_memory_counts_once(processes: Processes) -> None:
    source = """
import os, time
shared = bytearray(b"x") * 40_000_000
ready, write = os.pipe()
go, held = os.pipe()
for _ in range(4):
    if not os.fork():
        os.close(held)
        own = bytearray(b"x") * OWN
        os.write(write, b".")
        os.read(go, 1)
        os._exit(0)
count = 0
while count < 4:
    count += len(os.read(ready, 4))
time.sleep(LONG)
"""
    sharing = await promptly(
        processes, [*PYTHON, source.replace("OWN", "1").replace("LONG", "0.2")], memory_bytes=90 * MIB
    )
    assert (sharing.end, sharing.stopped_for) == (Exited(0), None)
    hoarding = await promptly(
        processes, [*PYTHON, source.replace("OWN", "30_000_000").replace("LONG", "1000")], memory_bytes=90 * MIB
    )
    assert (hoarding.end, hoarding.stopped_for) == (KILLED, "memory")


@pytest.mark.slow
async def test_a_fork_bomb_is_stopped(processes: Processes) -> None:
    source = """
import os, time
for _ in range(200):
    if not os.fork():
        time.sleep(1000)
time.sleep(1000)
"""
    outcome = await promptly(processes, [*PYTHON, source], processes=20)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "processes")


@pytest.mark.slow
async def test_a_fork_bomb_of_which_each_leaves_its_session_is_stopped(processes: Processes) -> None:
    source = """
import os, time
for _ in range(8):
    if not os.fork():
        os.setsid()
time.sleep(1000)
"""
    outcome = await promptly(processes, [*PYTHON, source], processes=20)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "processes")


@pytest.mark.slow
async def test_two_hundred_processes_that_stay_behind_are_ended(processes: Processes) -> None:
    source = """
import faulthandler, os
faulthandler.dump_traceback_later(20)
ready, write = os.pipe()
for _ in range(200):
    if not os.fork():
        os.write(write, b".")
        os.execv("/bin/sleep", ["sleep", "1000"])
os.close(write)
count = 0
while more := len(os.read(ready, 200)):  # until each has become a sleeper, or has ended
    count += more
print(count)
"""
    outcome = await promptly(processes, [*PYTHON, source])
    assert (outcome.end, outcome.stopped_for) == (Exited(0), None), outcome.stderr.head
    assert outcome.stdout.head == b"200\n"


async def test_who_forks_twice_and_leaves_the_session_does_not_escape(processes: Processes) -> None:
    source = """
import os
ready, write = os.pipe()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.setsid()
        os.write(write, b".")
        os.execve("/bin/sleep", ["sleep", "1000.5"], {})
    os._exit(0)
os.wait()
os.read(ready, 1)
"""
    outcome = await promptly(processes, [*PYTHON, source])
    assert outcome.end == Exited(0)
    assert not sleepers("1000.5")


async def test_an_escapee_of_one_run_is_not_taken_for_one_of_another(processes: Processes) -> None:
    escape = "import os, time\nif not os.fork():\n os.setsid()\n if not os.fork(): {}\n os._exit(0)\n"
    stays = escape.format("time.sleep(1000)") + "os.wait(); print(flush=True); time.sleep(1000)"
    up = trio.Event()
    command = processes.command([*PYTHON, stays])
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: processes.runner.run(command, on_output=lambda *_: up.set()))
            await up.wait()
            escaped = processes.left()
            assert len(escaped) == 2
            for _ in range(3):
                other = await processes.run([*PYTHON, escape.format("time.sleep(999)") + "os.wait()"])
                assert other.end == Exited(0)
                assert processes.left() == escaped
            nursery.cancel_scope.cancel()
    await processes.gone()


async def test_who_ignores_signals_is_ended_all_the_same(processes: Processes) -> None:
    source = "trap '' TERM INT HUP QUIT; while :; do sleep 1000; done"
    outcome = await promptly(processes, ["/bin/sh", "-c", source], wall_seconds=0.05)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "wall")


async def test_who_has_been_halted_is_ended_all_the_same(processes: Processes) -> None:
    outcome = await promptly(processes, ["/bin/sh", "-c", "kill -STOP $$"], wall_seconds=0.05)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "wall")


async def test_a_grandchild_that_holds_the_output_holds_nothing_up(processes: Processes) -> None:
    outcome = await promptly(processes, ["/bin/sh", "-c", "sleep 1000 & echo done"])
    assert outcome.end == Exited(0)
    assert outcome.stdout.head == b"done\n"
    assert outcome.wall_seconds < PATIENCE / 2


async def test_ten_megabytes_of_input_need_not_be_read(processes: Processes) -> None:
    outcome = await promptly(processes, ["/bin/sleep", "0.05"], stdin=b"x" * 10 * MIB)
    assert (outcome.end, outcome.stopped_for) == (Exited(0), None)


async def test_who_ends_before_reading_is_not_in_error(processes: Processes) -> None:
    outcome = await promptly(processes, ["/bin/sh", "-c", "exec 0<&-; sleep 0.05; exit 7"], stdin=b"x" * MIB)
    assert (outcome.end, outcome.stopped_for) == (Exited(7), None)


async def test_who_writes_without_reading_is_drained(processes: Processes) -> None:
    """Both sides have more to say than a pipe holds, and the program listens only when it has said it."""
    source = "import sys\nsys.stdout.write('y' * 3_000_000)\nsys.stdout.flush()\nprint(len(sys.stdin.read()))"
    argv = [*PYTHON, source]
    outcome = await promptly(processes, argv, stdin=b"x" * 3 * MIB, output_bytes=4 * MIB)
    assert outcome.stdout.head == b"y" * 3_000_000 + b"%d\n" % (3 * MIB)


async def test_who_floods_is_stopped(processes: Processes) -> None:
    outcome = await promptly(processes, ["/usr/bin/yes"], flood_bytes=2 * MIB, output_bytes=100_000)
    assert outcome.stopped_for == "output"
    assert outcome.end in (KILLED, Signalled(signal.SIGPIPE), Exited(1))  # it may have noticed that nobody reads
    assert len(outcome.stdout.head) + len(outcome.stdout.tail) == 100_000
    assert 2 * MIB < outcome.stdout.total < 3 * MIB


async def test_who_floods_its_error_output_is_stopped(processes: Processes) -> None:
    outcome = await promptly(processes, ["/bin/sh", "-c", "exec yes >&2"], flood_bytes=2 * MIB)
    assert outcome.stopped_for == "output"


@pytest.mark.slow
async def test_a_flood_of_a_gigabyte_costs_the_server_no_memory(processes: Processes) -> None:
    argv = ["/usr/bin/head", "-c", str(1024 * MIB), "/dev/zero"]
    before = peak_of_this_process()
    outcome = await promptly(processes, argv, flood_bytes=None)
    assert outcome.stdout.total == 1024 * MIB
    assert peak_of_this_process() - before < 20 * MIB


async def test_a_crash_is_told_as_its_signal(processes: Processes) -> None:
    source = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    outcome = await promptly(processes, [*PYTHON, source])
    assert (outcome.end, outcome.stopped_for) == (Signalled(signal.SIGSEGV), None)
    assert not list(processes.folder.glob("core*"))


async def test_a_file_that_grows_too_large_is_not_written(processes: Processes) -> None:
    source = "import time; time.sleep(0.02); f = open('big', 'wb', 0)\ntry:\n while True: f.write(b'x' * 65536)\n"
    source += "except OSError as error: print(error.errno)"
    outcome = await promptly(processes, [*PYTHON, source], file_bytes=MIB)
    assert outcome.stdout.head == b"%d\n" % errno.EFBIG
    assert (processes.folder / "big").stat().st_size == MIB


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["at once", "while it runs", "while it is fed", "while it floods"])
async def test_a_run_that_is_cancelled_leaves_nothing(processes: Processes, moment: str) -> None:
    stdin = b"x" * 10 * MIB if moment == "while it is fed" else b""
    program = "yes" if moment == "while it floods" else "sleep 1000"
    command = processes.command(
        ["/bin/sh", "-c", f"trap '' TERM; setsid sleep 1000 & {program}"], stdin=stdin, flood_bytes=None
    )
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(processes.runner.run, command)
            if moment == "at once":
                await trio.testing.wait_all_tasks_blocked()
            else:
                await processes.started(3)
            nursery.cancel_scope.cancel()
    await processes.gone()


async def test_runs_that_are_cancelled_cost_no_other_run(processes: Processes) -> None:
    outcomes: list[Outcome] = []

    async def stays() -> None:
        outcomes.append(await processes.run(["/bin/sh", "-c", "read line; echo $line"], stdin=processes.folder / "in"))

    (processes.folder / "in").write_text("still here\n")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stays)
        for _ in range(5):
            with trio.move_on_after(0.01):
                await processes.run(["/bin/sleep", "1000"])
    assert [outcome.stdout.head for outcome in outcomes] == [b"still here\n"]
    await processes.gone()


def sleepers(seconds: str) -> list[str]:
    """Those who sleep for so long, whatever their environment."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has gone
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(name)
    return found


def peak_of_this_process() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the system does not tell")
