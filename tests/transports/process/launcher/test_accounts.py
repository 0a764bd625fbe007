"""What runs use is counted, in whatever way they use it; and what is no fault of theirs is not."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import trio

from codec.programs import Exited, Outcome, Signalled
from tests.accounts import CAN_BE_OTHERS, in_a_child_of_nobody
from tests.transports.process.house import PATIENCE, Processes, open_launcher
from transports.process.keepers import PROGRAM
from transports.process.launcher import census
from transports.process.launcher.group import own_groups
from transports.process.launcher.holdings import Holdings
from transports.process.launcher.system import be_private

pytestmark = pytest.mark.slow

GROUPLESS = Path(__file__).with_name("groupless_launcher.py")
MIB = 1024 * 1024
KILLED = Signalled(signal.SIGKILL)
CORES = len(os.sched_getaffinity(0))


def may_group() -> bool:
    groups = own_groups()
    if groups is not None:
        groups.close()
    return groups is not None


GROUPED = pytest.mark.skipif(not may_group(), reason="no cgroup can be made here")


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()


# -- wall time

BURN = """
import time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
"""
BURNERS = {
    "itself": "burn(0.3)",
    "in a child": "import os\nif not os.fork(): burn(0.3); os._exit(0)\nos.wait()",
    "in a thread": "import threading as t\nthread = t.Thread(target=burn, args=(0.3,))\nthread.start(); thread.join()",
    "in children one after the other": (
        "import os\nfor _ in range(3):\n    if not os.fork(): burn(0.1); os._exit(0)\n    os.wait()"
    ),
    "while its parent has gone": (
        "import os\nr, w = os.pipe()\nif not os.fork():\n    if not os.fork(): burn(0.3); os.write(w, b'.')\n"
        "    os._exit(0)\nos.read(r, 1)"
    ),
}


@pytest.mark.drawn(2)
@pytest.mark.parametrize("burner", BURNERS)
async def test_who_waits_for_a_processor_is_not_late_and_who_sleeps_beside_is(
    processes: Processes, burner: str
) -> None:
    """Each could be done within its wall time, had it a processor; all together they take several times as long."""
    outcomes: list[Outcome] = []
    slept: list[Outcome] = []

    async def burns() -> None:
        outcomes.append(await processes.python(BURN + BURNERS[burner], cpu_seconds=30.0, wall_seconds=0.6))

    async def sleeps() -> None:
        slept.append(await processes.run(["/bin/sleep", "1000"], cpu_seconds=30.0, wall_seconds=0.6))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleeps)
        for _ in range(4 * CORES):
            nursery.start_soon(burns)
    assert [(outcome.end, outcome.stopped_for) for outcome in outcomes] == [(Exited(0), None)] * 4 * CORES
    assert max(outcome.wall_seconds for outcome in outcomes) > 0.6
    (sleeper,) = slept
    assert (sleeper.end, sleeper.stopped_for) == (KILLED, "wall")
    assert sleeper.wall_seconds < 6.0  # 0.6, if nothing else ran here
    assert any(outcome.contended for outcome in outcomes)


async def test_who_only_pretends_to_wait_is_late_in_time(processes: Processes) -> None:
    source = "import os, time\nif not os.fork():\n    os.nice(19)\n    time.sleep(1000)\ntime.sleep(1000)"
    outcome = await processes.python(source, cpu_seconds=5.0, wall_seconds=0.3)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "wall")
    assert outcome.wall_seconds < 3.0


def test_where_the_system_does_not_tell_what_was_waited_nothing_is_taken_off() -> None:
    assert census.delay_seconds(2**22 + 1) == 0.0
    assert census.other_threads(2**22 + 1, 10) == []


# -- CPU time

UNREAPED = (
    BURN
    + """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(8):
    child = os.fork()
    if not child:
        burn(EACH)
        time.sleep(SEEN)
        os._exit(0)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass
"""
)


@pytest.mark.drawn(1)
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("program", "each", "seen", "least"),
    [
        pytest.param(PROGRAM, 0.1, 0.0, 0.75, id="in a group", marks=GROUPED),
        pytest.param(PROGRAM, 0.008, 0.0, 0.03, id="in a group, briefly", marks=GROUPED),
        pytest.param(GROUPLESS, 0.2, 0.3, 0.5, id="by looks"),  # on a busy machine looks are late
    ],
)
async def test_what_children_use_whom_nobody_reaps_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Path, each: float, seen: float, least: float
) -> None:
    monkeypatch.setattr("transports.process.keepers.PROGRAM", program)
    async with open_launcher(tmp_path) as processes:
        for _ in range(2):  # a keeper is used again
            source = UNREAPED.replace("EACH", str(each)).replace("SEEN", str(seen))
            outcome = await processes.python(source, cpu_seconds=60.0)
            assert (outcome.end, outcome.stopped_for) == (Exited(0), None)
            assert least < outcome.cpu_seconds < 8 * each + 0.5
        enough = 0.1 if program is PROGRAM else 0.4  # looks see a part of it, and on a busy machine a small one
        source = UNREAPED.replace("EACH", str(enough)).replace("SEEN", str(seen))
        outcome = await processes.python(source, cpu_seconds=0.25)
        assert (outcome.end, outcome.stopped_for) == (KILLED, "cpu")


def groups_of(pid: int | None) -> list[Path]:
    return [*Path("/sys/fs/cgroup").glob(f"**/troupe-{pid}")]


@GROUPED
@pytest.mark.parametrize("keeper_lives", [False, True])
def test_what_is_left_in_the_groups_of_a_killed_launcher_is_ended_unless_its_keeper_lives(keeper_lives: bool) -> None:
    """If server, launcher and keepers were killed together, nobody else ends their runs."""
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    left = subprocess.Popen(["/bin/sleep", "600"])
    ours = own_groups()
    assert ours is not None
    (folder,) = groups_of(os.getpid())
    ours.close()
    launchers = folder.with_name(f"troupe-{ended.pid}")
    group = launchers / str(left.pid if keeper_lives else ended.pid)
    try:
        group.mkdir(parents=True)
        (group / "cgroup.procs").write_text(str(left.pid))
        following = own_groups()
        assert following is not None
        following.close()
        assert group.exists() is keeper_lives
        assert left.poll() == (None if keeper_lives else -signal.SIGKILL)
    finally:
        left.kill()
        left.wait()
        for each in (group, launchers):
            if each.exists():
                each.rmdir()


async def test_nothing_is_left_of_groups(tmp_path: Path) -> None:
    async with open_launcher(tmp_path) as processes:
        assert await processes.is_healthy()
        pid = processes.statistics().pid
        assert bool(groups_of(pid)) is may_group()
    assert not groups_of(pid)
    async with open_launcher(tmp_path) as processes:
        pid = processes.statistics().pid
        assert await processes.is_healthy()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        with trio.fail_after(PATIENCE):
            while len(processes.lives) == 1 or processes.statistics().pid is None:  # noqa: ASYNC110  the public figure
                await trio.sleep(0.005)
        assert await processes.is_healthy()
        assert not groups_of(pid)


# -- memory that is in files

MEMORY = {
    "memfds that are written": "held = [os.memfd_create('m') for _ in range(3)]\nfor fd in held: fill(fd)",
    "a memfd that a child has": "if not os.fork():\n    fd = os.memfd_create(''); fill(fd); fill(fd); time.sleep(1000)",
    "a file in memory that is closed": (
        "name = os.path.basename(os.getcwd())\nfor n in range(3):\n"
        "    with open(f'/dev/shm/{name}-{n}', 'wb') as file: fill(file.fileno()); time.sleep(0.1)"
    ),
    "one that is mapped": (
        "import mmap\nfd = os.memfd_create('m'); fill(fd); fill(fd)\nheld = mmap.mmap(fd, 0); os.close(fd)\n"
        "for at in range(0, len(held), 4096): held[at]"
    ),
    "memfds behind many other files": (
        "for _ in range(300): os.dup(0)\nheld = [os.memfd_create('m') for _ in range(3)]\nfor fd in held: fill(fd)"
    ),
    "memfds that only a thread has open": (
        "import ctypes, threading\ndef hold():\n    assert ctypes.CDLL(None).unshare(0x400) == 0\n"
        "    for fd in [os.memfd_create('m') for _ in range(3)]: fill(fd)\n    time.sleep(1000)\n"
        "threading.Thread(target=hold).start()"
    ),
    "what a thread has that outlives the main one": (
        "import ctypes, threading\ndef hold():\n    held = []\n"
        "    for _ in range(10): held.append(b'x' * 10_000_000); time.sleep(0.01)\n    time.sleep(1000)\n"
        "threading.Thread(target=hold).start()\nctypes.CDLL(None).pthread_exit(None)"
    ),
}


@pytest.mark.parametrize("way", MEMORY)
async def test_memory_in_files_is_memory(processes: Processes, way: str) -> None:
    begin = "import os, time\ndef fill(fd):\n    for _ in range(40): os.write(fd, b'x' * 1_000_000)\n"
    source = f"{begin}{MEMORY[way]}\ntime.sleep(1000)"
    try:
        outcome = await processes.python(source, memory_bytes=64 * MIB, wall_seconds=20)
    finally:
        for path in Path("/dev/shm").glob(f"{processes.folder.name}-*"):  # noqa: ASYNC240
            path.unlink()
    assert (outcome.end, outcome.stopped_for) == (KILLED, "memory")
    assert 64 * MIB < outcome.peak_bytes < 300 * MIB


async def test_memory_in_files_that_was_given_back_is_none(processes: Processes) -> None:
    source = (
        "import os, time\nfor _ in range(5):\n    fd = os.memfd_create('m')\n    os.write(fd, b'x' * 20_000_000)\n"
        "    time.sleep(0.03)\n    os.close(fd)"
    )
    outcome = await processes.python(source, memory_bytes=64 * MIB)
    assert (outcome.end, outcome.stopped_for) == (Exited(0), None)


# -- what cannot be looked at

HIDING = {
    "nobody may look at it": "libc.prctl(4, 0, 0, 0, 0)",
    "it has mounts of its own": "if libc.unshare(0x10020000): os._exit(7)",
    "its child does": "if not os.fork(): libc.prctl(4, 0, 0, 0, 0); libc.unshare(0x10020000)",
}


@pytest.mark.parametrize("way", HIDING)
async def test_whoever_hides_what_he_holds_is_stopped(processes: Processes, way: str) -> None:
    """Who may look everywhere, as root does, sees what he holds."""
    source = (
        f"import ctypes, os, time\nlibc = ctypes.CDLL(None)\n{HIDING[way]}\nfd = os.memfd_create('m')\n"
        "for _ in range(100): os.write(fd, b'x' * 1_000_000)\ntime.sleep(1000)"
    )
    outcome = await processes.python(source, memory_bytes=64 * MIB, wall_seconds=20)
    if outcome.end == Exited(7):
        pytest.skip("nobody may have namespaces of his own here")
    assert outcome.end == KILLED
    assert outcome.stopped_for in ("hidden", "memory")


async def test_mounts_of_ones_own_are_hiding_even_before_there_is_anything_in_them(processes: Processes) -> None:
    source = "import ctypes, os, time\nif ctypes.CDLL(None).unshare(0x10020000): os._exit(7)\ntime.sleep(1000)"
    outcome = await processes.python(source, memory_bytes=64 * MIB, wall_seconds=20)
    if outcome.end == Exited(7):
        pytest.skip("nobody may have namespaces of his own here")
    assert (outcome.end, outcome.stopped_for) == (KILLED, "hidden")


def test_a_clone_that_waits_for_a_processor_has_not_begun_and_does_not_hide() -> None:
    """It cannot be looked at until then, but by root."""

    def looked_at() -> bytes:
        reads, writes = os.pipe()
        clone = os.fork()
        if not clone:
            be_private()
            os.read(reads, 1)
            os.setsid()
            signal.pause()
        try:
            holdings = Holdings(clone)

            def hides() -> bool:
                for _ in range(3):
                    holdings.look(census.family([clone]), 0)
                return holdings.hidden

            before = hides()
            os.write(writes, b".")
            while os.getpgid(clone) != clone:
                os.sched_yield()
            return f"{before} {hides()}".encode()
        finally:
            os.kill(clone, signal.SIGKILL)
            os.waitpid(clone, 0)

    said = in_a_child_of_nobody(looked_at) if CAN_BE_OTHERS else looked_at()
    assert said == b"False True"


async def test_who_comes_and_goes_hides_nothing(processes: Processes) -> None:
    source = (
        "import subprocess, threading, time\nfor _ in range(40):\n    subprocess.run(['/bin/true'], check=True)\n"
        "    thread = threading.Thread(target=time.sleep, args=(0.001,)); thread.start()\nthread.join()"
    )
    outcome = await processes.python(source, memory_bytes=256 * MIB, file_bytes=16 * MIB)
    assert (outcome.end, outcome.stopped_for) == (Exited(0), None)


# -- files

FILES = {
    "in several files": (
        "for n in range(8):\n    with open(f'f{n}', 'wb') as file: file.write(b'x' * 4_000_000)\n    rest()"
    ),
    "in files that nobody can name": (
        "held = []\nfor n in range(8):\n    held.append(open('f', 'wb')); os.unlink('f')\n"
        "    held[-1].write(b'x' * 4_000_000); held[-1].flush()\n    rest()"
    ),
    "in children": (
        "for n in range(8):\n    if not os.fork():\n        with open(f'f{n}', 'wb') as file:\n"
        "            file.write(b'x' * 4_000_000)\n        os._exit(0)\n    os.wait(); rest()"
    ),
    "without writing": (
        "held = []\nfor n in range(8):\n    held.append(open(f'f{n}', 'wb'))\n"
        "    os.posix_fallocate(held[-1].fileno(), 0, 4_000_000); rest()"
    ),
}


@pytest.mark.parametrize("way", FILES)
async def test_what_is_written_to_several_files_counts_together(processes: Processes, way: str) -> None:
    begin = "import os, time\ndef rest(): time.sleep(0.03)\n"
    outcome = await processes.python(f"{begin}{FILES[way]}\ntime.sleep(1000)", file_bytes=16 * MIB, wall_seconds=20)
    assert (outcome.end, outcome.stopped_for) == (KILLED, "files")
    used = sum(path.stat().st_blocks * 512 for path in processes.folder.iterdir() if path.is_file())
    assert used < 32 * MIB


async def test_who_has_ended_before_anybody_looked_has_written_too_much_all_the_same(processes: Processes) -> None:
    source = "for n in range(8):\n    with open(f'f{n}', 'wb') as file: file.write(b'x' * 1_000_000)"
    outcome = await processes.python(source, file_bytes=4 * MIB)
    assert outcome.stopped_for == "files"
    assert (await processes.python(source, file_bytes=16 * MIB)).stopped_for is None


async def test_reading_and_printing_much_is_writing_nothing(processes: Processes) -> None:
    big = processes.folder / "big"
    big.write_bytes(b"x" * 20 * MIB)
    source = "import sys, time\ndata = open('big').read()\nsys.stdout.write(data)\ntime.sleep(0.1)"
    run = partial(processes.python, source, file_bytes=MIB, output_bytes=1000, stdin=big)
    outcome = await run()
    assert (outcome.end, outcome.stopped_for) == (Exited(0), None)
