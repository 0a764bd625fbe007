"""Solutions that misbehave, and the texts that users see about them. After each, nothing is left running, and the next
run is right."""

from contextlib import suppress

import pytest

from tests.judge.kit import post
from tests.judge.port import EXAMPLES, SUMS, Port
from tests.transports.folder.disks import MAY_MOUNT, small_disk

pytestmark = pytest.mark.slow

LARGE = 10 << 20

CALM = {"timeLimit": 8000}
"""Milliseconds, for what shall not be stopped for its time however busy the machine is."""
SHORT = {"timeLimit": 250}

FORK_BOMB = """
import os, time
for _ in range(200):
    if os.fork() == 0:
        time.sleep(1000)
time.sleep(1000)
"""
LITTER = """
import os, time
for _ in range(100):
    if os.fork() == 0:
        time.sleep(1000)
print(3)
"""
ESCAPEE = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
print(sum(map(int, input().split())))
"""
DEAF = """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)
while True:
    pass
"""
HOLDER = """
import os, time
if os.fork() == 0:
    time.sleep(1000)
print(sum(map(int, input().split())))
"""
WRITES_FIRST = """
import sys
sys.stdout.write("x" * (10 << 20))
sys.stdout.flush()
sys.stdin.read()
"""
SEGFAULT = "import ctypes\nctypes.string_at(0)\n"
HOG = "kept = []\nwhile True:\n    kept.append(bytearray(b'x' * (8 << 20)))\n"
MEMFDS = """
import os, time
for fd in [os.memfd_create("m") for _ in range(3)]:
    for _ in range(4):
        os.write(fd, b"x" * (8 << 20))
time.sleep(1000)
"""

DAYS = {
    "a fork bomb": (FORK_BOMB, CALM, "re", "RE", "too many processes"),
    "a hundred that stay behind": (LITTER, CALM, "pass", "AC", ""),
    "who forks twice and leaves the session": (ESCAPEE, CALM, "pass", "AC", ""),
    "who ignores signals": (DEAF, SHORT, "timeout", "TLE", "of CPU time"),
    "a grandchild that holds the output": (HOLDER, CALM, "pass", "AC", ""),
    "invalid UTF-8": ("import os\nos.write(1, b'\\xff3\\n')\n", CALM, "fail", "WA", ""),
    "an endless loop": ("while True:\n    pass\n", SHORT, "timeout", "TLE", "of CPU time"),
    "a sleeper": ("import time\ntime.sleep(1000)\n", SHORT, "timeout", "TLE", "of waiting"),
    "a memory hog": (HOG, CALM | {"memoryLimit": 128}, "re", "MLE", "of memory"),
    "memory that only looks like a file": (MEMFDS, CALM | {"memoryLimit": 64}, "re", "MLE", "of memory"),
    "a segmentation fault": (SEGFAULT, CALM, "re", "RE", "SIGSEGV"),
    "a flood": ("while True:\n    print('x' * 65536)\n", CALM, "re", "OLE", "too much"),
    "who exits in anger": ("raise SystemExit(7)\n", CALM, "re", "RE", "exit code 7"),
    "who kills itself": ("import os\nos.kill(os.getpid(), 9)\n", CALM, "re", "RE", "SIGKILL"),
}


@pytest.mark.parametrize("day", DAYS)
async def test_a_bad_day_has_its_verdict_and_leaves_nothing(port: Port, day: str) -> None:
    source, fields, status, verdict, reason = DAYS[day]
    task = f"bad/bad_{list(DAYS).index(day)}"
    async with port.solving(task, source, EXAMPLES[0], **fields) as panel:
        (result,) = await panel.run()
        await port.nothing_is_left(task)
        assert (result["status"], result["verdict"]) == (status, verdict), result
        assert reason in result.get("reason", "")
    await port.is_healthy(task)


async def test_invalid_utf8_is_shown_as_well_as_it_can_be(port: Port) -> None:
    async with port.solving("bad/bad_text", "import os\nos.write(1, b'\\xff3\\n')\n", EXAMPLES[0], **CALM) as panel:
        (result,) = await panel.run()
        assert result["actual"] == "�3\n"
        assert result["diffSummary"].startswith("line 1: expected '3' got ")


LARGE_INPUTS = {
    "never read": ("import time\nprint(3, flush=True)\ntime.sleep(0.2)\n", "3\n"),
    "exit before reading": ("print(3)\n", "3\n"),
    "deadlock both ways": (WRITES_FIRST, "x" * LARGE),
    "read whole": ("import sys\nprint(len(sys.stdin.read()))\n", f"{LARGE}\n"),
}


@pytest.mark.parametrize("day", LARGE_INPUTS)
async def test_ten_megabytes_of_input_hold_nobody_up(port: Port, day: str) -> None:
    source, wanted = LARGE_INPUTS[day]
    task = f"large/large_{list(LARGE_INPUTS).index(day)}"
    async with port.solving(task, source, EXAMPLES[0], **CALM) as panel:
        tests = port.folder(task) / "tests"
        (tests / "1.in").write_text("1" * LARGE)
        (tests / "1.out").write_text(wanted)
        (result,) = await panel.run()
        assert (result["status"], result["verdict"]) == ("pass", "AC"), result.get("reason")
    await port.is_healthy(task)


async def test_without_a_solution_it_is_said_where_one_is_expected(port: Port) -> None:
    task = "bad/bad_none"
    async with port.solving(task, SUMS) as panel:
        main = port.folder(task) / "main.py"
        main.unlink()
        await panel.say("ui/runAll")
        assert await panel.notice() == f"There is no solution: {main} is missing. Write it, and run again."
        assert (await panel.heard("run/progress"))["running"] is False
    await port.is_healthy(task)


async def test_a_solution_that_is_removed_during_a_run_fails_in_the_cases_that_were_left(port: Port) -> None:
    task = "bad/bad_removed"
    source = "import pathlib\npathlib.Path(__file__).unlink(missing_ok=True)\n" + SUMS
    many = [(f"{number} 1\n", f"{number + 1}\n") for number in range(8)]
    async with port.solving(task, source, *many, **CALM) as panel:
        results = await panel.run()
        told = [each["verdict"] for each in results]
        assert [each["index"] for each in results] == list(range(1, 9))
        assert told.count("AC") in (1, 2)  # those that had begun before it was removed
        assert set(told) == {"AC", "RE"}
        assert "No such file or directory" in results[-1]["console"]
    await port.is_healthy(task)


async def test_a_solution_that_cannot_write_to_its_folder_is_told_by_its_traceback(port: Port) -> None:
    async with port.solving("bad/bad_write", "open('/proc/nothing', 'w')\n", EXAMPLES[0], **CALM) as panel:
        (result,) = await panel.run()
        assert (result["status"], result["verdict"]) == ("re", "RE")
        assert "Error: " in result["console"]


if MAY_MOUNT:

    async def test_a_full_disk_is_told_in_words_and_when_there_is_room_the_problem_is_written_by_itself(
        port: Port,
    ) -> None:
        contest = port.workspace / "full"
        port.workspace.mkdir(exist_ok=True)
        with small_disk(contest) as disk:
            async with port.panel() as panel:
                with suppress(OSError), (disk / "ballast").open("wb", 0) as ballast:
                    while ballast.write(b"x" * 4096):
                        pass
                assert port.post(post("full/full_a", *EXAMPLES)).status_code == 200
                notice = await panel.notice()
                assert notice.startswith("full_a was not written to ")
                assert "No space left on device" in notice
                (disk / "ballast").unlink()
                assert len((await panel.shows("full/full_a"))["cases"]) == 3
                (disk / "full_a" / "main.py").write_text(SUMS)
                assert [each["status"] for each in await panel.run()] == ["pass"] * 3
            await port.nothing_is_left("full/full_a")
