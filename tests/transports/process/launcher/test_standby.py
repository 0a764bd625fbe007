"""An interpreter that waits: when it does, what bounds its clones, and that no run changes the next one."""

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from codec.programs import Exited
from tests.transports.process.house import PATIENCE, Processes, open_launcher, waits
from tests.transports.process.launcher.solution import IS_CLONE, PYTHON, Solution
from transports.process import keepers
from transports.process.launcher import census, standby
from transports.process.launcher.ahead import sitecustomize
from transports.process.launcher.ahead.sitecustomize import LOOK_SECONDS, TICK_NS
from transports.process.launcher.orders import Order
from transports.process.programs import Interpreters
from transports.process.run import Interrupted


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes


@pytest.fixture
def solution(processes: Processes) -> Solution:
    return Solution(processes)


def own_site(home: Path) -> Path:
    """The folder of the modules that its user has installed, and that each of the user's interpreters reads."""
    site = home / ".local" / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    site.mkdir(parents=True)
    return site


FORKS = """
import os, time
for _ in range(9):
    os.fork() or time.sleep(60)
time.sleep(60)
"""
WRITES = """
import time
files = [open(str(each), "wb", 0) for each in range(9)]
for file in files:
    file.write(bytes(900_000))
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("source", "bounds", "reason"),
    [
        ("while True: pass", {"cpu_seconds": 0.3}, "cpu"),
        ("import time; time.sleep(60)", {"wall_seconds": 0.3}, "wall"),
        ("a = bytearray(200_000_000)\nimport time; time.sleep(60)", {"memory_bytes": 100_000_000}, "memory"),
        (FORKS, {"processes": 4}, "processes"),
        ("import os\nwhile True: os.write(1, bytes(65536))", {"flood_bytes": 1_000_000}, "output"),
        (WRITES, {"file_bytes": 1_000_000}, "files"),
    ],
)
async def test_a_clone_is_bounded_as_a_started_one_is(
    solution: Solution, source: str, bounds: dict[str, Any], reason: str
) -> None:
    solution.script.write_text(source)
    started = await solution.run(ahead=False, **bounds)
    clone = await solution.as_clone(source, **bounds)
    assert clone.stopped_for == started.stopped_for == reason
    assert len(solution.waiting()) == 1  # nothing else is left


async def test_its_own_time_and_memory_count_and_not_those_of_the_one_that_waits(solution: Solution) -> None:
    clone = await solution.as_clone("import time\nwhile time.process_time() < 0.3: pass\ndata = bytearray(60_000_000)")
    assert 0.3 <= clone.cpu_seconds < 1.0
    assert 60_000_000 < clone.peak_bytes < 100_000_000
    small = await solution.as_clone("pass")
    assert small.cpu_seconds < 0.3
    assert small.peak_bytes < 40_000_000


ATTACKS = {
    "kills it": "os.kill(other, signal.SIGKILL)",
    "halts it": "os.kill(other, signal.SIGSTOP)",
    "interrupts it": "[os.kill(other, each) for each in (2, 15, 1, 10, 12, 14, 20, 28)]",
    "fills its queue of signals": "[libc.sigqueue(other, 40, None) for _ in range(3000)]",
    "has it go on": "os.kill(other, signal.SIGCONT)",
    "traces it": "assert libc.ptrace(16, other, 0, 0) == -1 and libc.ptrace(0x4206, other, 0, 0) == -1",
    "reads its memory": "assert refused(open, f'/proc/{other}/mem', 'rb') and refused(open, f'/proc/{other}/maps')",
    "writes its memory": "assert refused(open, f'/proc/{other}/mem', 'r+b')",
    "writes its memory from afar": "assert libc.process_vm_writev(other, None, 0, None, 0, 0) <= 0 and not written()",
    "takes its socket": "assert libc.syscall(438, libc.syscall(434, other, 0), 3, 0) == -1",
    "finds its descriptors": "assert all(refused(os.readlink, f'/proc/{other}/fd/{each}') for each in range(4))",
    "limits it": "assert refused(resource.prlimit, other, resource.RLIMIT_CPU, (1, 1))",
    "slows it": "assert refused(os.setpriority, os.PRIO_PROCESS, other, 19)",
    "takes its processors": "os.sched_setaffinity(other, {max(os.sched_getaffinity(0))})",
    "takes the keeper's": "os.kill(other, 9)\nos.sched_setaffinity(keeper, {max(os.sched_getaffinity(0))})",
    "joins its group": "assert refused(os.setpgid, 0, other) and refused(os.setpgid, other, 0)",
    "leaves something": "os.fork() or (os.setsid(), os.fork() or time.sleep(600))",
    "leaves much": "[os.fork() for _ in range(5)]\ntime.sleep(0.01)",
    "forks without end": "while True: os.fork()",
    "breaks its own library": "sys.modules.clear()",
    "changes what it inherited": "import builtins\nbuiltins.print = None\nos.environ['X'] = '2'\nsys.path.append('/x')",
    "kills all": "os.kill(-1, signal.SIGKILL)",
}
HEAD = f"""
import ctypes, os, resource, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
print({IS_CLONE}, flush=True)
keeper = os.getppid()
others = [int(each) for each in open(f"/proc/{{keeper}}/task/{{keeper}}/children").read().split()]
(other,) = [each for each in others if each != os.getpid()]
def refused(call, *given):
    try:
        call(*given)
    except OSError:
        return True
def written():
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    own = ctypes.create_string_buffer(b"evil")
    mine, there = Part(ctypes.addressof(own), 4), Part(id(None), 4)
    return libc.process_vm_writev(other, ctypes.byref(mine), 1, ctypes.byref(there), 1, 0) != -1
"""


HONEST = """
import os
(queued,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("SigQ")]
print(input(), os.environ["X"], os.sched_getaffinity(0), int(queued.partition("/")[0]) < 3000)
"""


@pytest.mark.parametrize("name", ATTACKS)
async def test_no_run_changes_the_next_one(solution: Solution, name: str) -> None:
    await solution.warm()
    solution.script.write_text(HEAD + ATTACKS[name])
    try:
        outcome = await solution.run(processes=64, wall_seconds=20.0)
    except Interrupted:
        assert name == "kills all"
    else:
        assert outcome.stdout.head.startswith(b"True\n")
        assert b"AssertionError" not in outcome.stderr.head, outcome.stderr.head
    solution.script.write_text(HONEST)
    expected = f"first 1 {os.sched_getaffinity(0)} True\n".encode()
    for _ in range(3):
        honest = await solution.run()
        assert (honest.end, honest.stdout.head, honest.stderr.head) == (Exited(0), expected, b"")
        assert len(solution.waiting()) <= 1


async def test_an_interpreter_waits_only_for_the_next_run_of_the_same_program(
    processes: Processes, solution: Solution
) -> None:
    first = await solution.warm()
    assert (await solution.run()).end == Exited(0)
    assert solution.waiting() == [first]
    await solution.run(ahead=False)
    assert (await processes.run(["/bin/true"])).end == Exited(0)
    assert solution.waiting() == []


async def test_it_is_replaced_now_and_then_and_ends_when_nobody_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keepers, "PROGRAM", Path(__file__).parents[1] / "hasty_launcher.py")
    async with open_launcher(tmp_path) as processes:
        solution = Solution(processes)
        seen = {await solution.warm()}
        while len(seen) < 3:
            await solution.run()
            seen |= set(solution.waiting())
        with trio.fail_after(PATIENCE):
            while solution.waiting():  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.02)
        assert await processes.is_healthy()


@pytest.mark.parametrize("whom", ["keeper", "launcher"])
async def test_it_ends_with_its_keeper(processes: Processes, solution: Solution, whom: str) -> None:
    waiting = await solution.warm()
    assert waits(waiting)
    pid = processes.statistics().pid
    assert pid is not None
    os.kill(processes.keepers()[0] if whom == "keeper" else pid, signal.SIGKILL)
    with trio.fail_after(PATIENCE):
        while waits(waiting):  # noqa: ASYNC110  it is the system that is asked
            await trio.sleep(0.005)


async def test_it_ends_with_its_keeper_even_if_it_is_halted_and_no_launcher_looks(
    processes: Processes, solution: Solution
) -> None:
    waiting = await solution.warm()
    pid = processes.statistics().pid
    assert pid is not None
    os.kill(waiting, signal.SIGSTOP)
    os.kill(pid, signal.SIGSTOP)
    try:
        os.kill(processes.keepers()[0], signal.SIGKILL)
        with trio.fail_after(PATIENCE):
            while (seen := census.member_of(waiting)) is not None and not seen.zombie:  # noqa: ASYNC110  as above
                await trio.sleep(0.005)
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_a_run_whose_clone_is_told_of_too_late_is_interrupted_and_not_run_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its output, and whatever else it has done, would be there twice."""
    monkeypatch.setattr(keepers, "PROGRAM", Path(__file__).parents[1] / "late_launcher.py")
    async with open_launcher(tmp_path) as processes:
        solution = Solution(processes)
        solution.script.write_text("open('ran', 'a').write('x')\nprint('once')")
        assert (await solution.run()).stdout.head == b"once\n"
        with pytest.raises(Interrupted):
            await solution.run()
        assert (solution.folder / "ran").read_text() == "xx"
        assert (await solution.run()).stdout.head == b"once\n"
        await processes.gone()


async def test_a_clone_can_be_looked_at_before_it_leads_a_group(processes: Processes) -> None:
    """From then on it would hide if it could not be (`holdings.py`), however long it waits for a processor."""
    script, told = processes.folder / "main.py", processes.folder / "told"
    site = own_site(processes.folder)
    tell = f"open({str(told)!r}, 'a').write(str(library.prctl(3, 0, 0, 0, 0)))"
    begin = f"lambda begin=os.setsid, library=ctypes.CDLL(None): ({tell}, begin())"
    (site / "some.pth").write_text(f"import ctypes, os; os.setsid = {begin}\n")
    script.write_text("import os\nprint(os.getpgrp() == os.getpid() == os.getsid(0))")
    command = processes.command([PYTHON, str(script)], stdin=Path(os.devnull))
    command = replace(command, env={**command.env, "HOME": str(processes.folder)}, ahead=True)
    with trio.fail_after(PATIENCE):
        while not told.exists() or len(told.read_text()) < 3:
            assert (await processes.runner.run(command)).stdout.head == b"True\n"
    assert set(told.read_text()) == {"1"}


async def test_a_clone_begins_in_a_folder_that_may_be_entered_and_not_read(solution: Solution) -> None:
    """No matter for root, who may read everything."""
    await solution.warm()
    solution.folder.chmod(0o311)
    try:
        clone = await solution.run()
    finally:
        solution.folder.chmod(0o755)
    assert (clone.end, clone.stdout.head) == (Exited(0), b"True\n")


@pytest.mark.parametrize(
    ("line", "halts"),
    [
        ("import sys; sys.path.append('/x')", True),
        ("import atexit; atexit.register(print)", True),
        ("import sys; sys.kept = open('/dev/null', 'w')", False),
        ("import os; os.chdir('/tmp')", False),
        ("import os, sys; sys.path.append(os.getcwd())", False),
        ("import subprocess; subprocess.Popen(['/bin/sleep', '60']).returncode = 0", False),
        ("import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", False),
        ("print('hello', flush=True)", False),
        ("raise SystemExit(1)", False),
    ],
)
async def test_what_a_site_does_at_each_start_decides_whether_it_is_started_ahead(
    processes: Processes, line: str, halts: bool
) -> None:
    """What it keeps open would be shared by all clones, and what it learns of its folder would be wrong."""
    (own_site(processes.folder) / "some.pth").write_text(f"import sys; {line}\n")
    env = {**processes.command(["x"]).env, "HOME": str(processes.folder)}
    interpreters = Interpreters(processes.runner)
    found = await interpreters.resolve(PYTHON, cwd=processes.folder, env=env)
    assert interpreters.can_be_ahead(str(found)) is halts


SHOWS = f"""
import sys
try:
    import there
    print(there.WORD)
except ImportError:
    print("nothing")
print({IS_CLONE})
"""


async def test_whatever_is_installed_is_seen_by_the_runs_that_follow(solution: Solution) -> None:
    """An interpreter that has started before would not know of it, or would still have what is gone."""
    home = solution.folder.parent
    solution.env = {"HOME": str(home)}
    solution.script.write_text(SHOWS)

    async def shows(word: str) -> None:
        """Soon, and at last in a clone again."""
        until = time.monotonic() + LOOK_SECONDS
        said = [""]
        with trio.fail_after(PATIENCE):
            while said != [word, "True"]:
                late = time.monotonic() > until
                said = (await solution.run()).stdout.head.decode().split()
                assert said[0] == word or not late

    def offers(word: str) -> Path:
        (home / word).mkdir()
        (home / word / "there.py").write_text(f"WORD = {word!r}")
        return home / word

    await shows("nothing")
    line = own_site(home) / "some.pth"
    line.write_text(str(offers("installed")))  # the folder did not exist when the interpreter started
    await shows("installed")
    line.write_text(str(offers("edited")))
    await shows("edited")
    line.unlink()
    await shows("nothing")
    (line.parent / "usercustomize.py").write_text(f"import sys; sys.path.append({str(offers('customized'))!r})")
    await shows("customized")
    (line.parent / "usercustomize.py").write_text(f"import sys; sys.path.append({str(offers('otherwise'))!r})")
    await shows("otherwise")


async def test_an_interpreter_that_is_replaced_runs_no_more_clones(solution: Solution) -> None:
    environment = solution.folder.parent / "environment"
    (environment / "bin").mkdir(parents=True)
    program = environment / "bin" / "python"
    program.symlink_to(PYTHON)
    solution.program = str(program)
    settings = environment / "pyvenv.cfg"
    first = f"home = {Path(PYTHON).parent}\n"
    settings.write_text(first)

    async def gone(waiting: int) -> None:
        until = time.monotonic() + LOOK_SECONDS
        with trio.fail_after(PATIENCE):
            while waiting in solution.waiting():
                late = time.monotonic() > until
                await solution.run()
                assert waiting not in solution.waiting() or not late

    first_one = await solution.warm()
    settings.write_text(f"{first}include-system-site-packages = true\n")
    await gone(first_one)
    second_one = await solution.warm()
    other = program.with_name("other")
    other.symlink_to("/bin/echo")
    other.rename(program)
    await gone(second_one)
    assert b"main.py" in (await solution.run()).stdout.head


def test_what_has_just_changed_may_change_once_more_unseen(tmp_path: Path) -> None:
    """The clock of a disk has steps."""
    file = tmp_path / "some.pth"
    file.touch()
    changed = file.stat().st_ctime_ns
    for since, unsure in ((0, True), (TICK_NS - 1, True), (TICK_NS + 1, False), (-1, False)):
        made_of = sitecustomize.Foundations([str(file), str(tmp_path / "none")], changed + since)
        assert made_of.have_changed(0.0) is unsure


def test_a_change_is_looked_for_now_and_then(tmp_path: Path) -> None:
    file = tmp_path / "some.pth"
    file.touch()
    made_of = sitecustomize.Foundations([str(file)], file.stat().st_ctime_ns - 1)
    assert not made_of.have_changed(7.0)
    file.unlink()
    assert not made_of.have_changed(7.0 + LOOK_SECONDS)
    assert made_of.have_changed(7.0 + 1.01 * LOOK_SECONDS)
    assert not made_of.have_changed(7.0 + 2 * LOOK_SECONDS)
    assert made_of.have_changed(7.0 + 2.02 * LOOK_SECONDS)


async def test_an_interpreter_that_has_changed_is_tried_again(processes: Processes) -> None:
    path = processes.folder / "python"
    interpreters = Interpreters(processes.runner)
    env = processes.command(["x"]).env
    for age, (options, halts) in enumerate([("", True), ("-E", False), ("", True)]):
        path.write_text(f'#!/bin/sh\ncase "$*" in *executable*) echo "$0";; *) exec {PYTHON} {options} "$@";; esac\n')
        path.chmod(0o755)
        os.utime(path, (age, age))
        await interpreters.resolve(str(path), cwd=processes.folder, env=env)
        assert interpreters.can_be_ahead(str(path)) is halts


async def test_an_interpreter_is_started_ahead_if_it_was_seen_to_halt(processes: Processes) -> None:
    """Others would run the script, unasked and unbounded."""

    def program(name: str, text: str) -> str:
        path = processes.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    says_itself = 'case "$*" in *executable*) echo "$0";; *) {};; esac'
    expected = {
        PYTHON: True,
        program("deaf", says_itself.format(f'exec {PYTHON} -E "$@"')): False,
        program("nothing", says_itself.format("exit 0")): False,
        program("chatty", says_itself.format(f'echo hello; exec {PYTHON} "$@"')): False,
        program("failing", says_itself.format("exit 1")): False,
    }
    interpreters = Interpreters(processes.runner)
    for command, halts in expected.items():
        found = await interpreters.resolve(command, cwd=processes.folder, env=processes.command(["x"]).env)
        assert interpreters.can_be_ahead(str(found)) is halts, command


@pytest.mark.parametrize(
    "change",
    [
        {"argv": [b"/usr/bin/python3", b"-O", b"/x/main.py"]},
        {"argv": [b"/usr/bin/python3", b"main.py"]},
        {"argv": [b"/usr/bin/python3"]},
        {"env": [b"PYTHONPATH=/x"]},
        {"stdin": b""},
        {"cwd": b""},
        {"offline": True},
        {"ahead": False},
    ],
)
def test_what_is_unusual_is_started_in_the_usual_way(change: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "argv": [b"/usr/bin/python3", b"/x/main.py"], "env": [b"A=B"], "cwd": b"/x", "stdin": b"/x/1.in", "ahead": True,
    }  # fmt: skip
    assert standby._can_be_halted(Order(**usual))
    assert not standby._can_be_halted(Order(**{**usual, **change}))


def test_both_sides_mean_the_same() -> None:
    ours = sitecustomize.WOULD_WAIT, sitecustomize.PID_BYTES, sitecustomize.START
    assert ours == (standby.WOULD_WAIT, standby.PID_BYTES, standby.START)
