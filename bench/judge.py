"""The judge beside a bare loop that starts and awaits the same processes, and beside `oj test`.

Sides
  - Ours is `python supervisor.py` with everything on; what a page says and hears goes over a real WebSocket. Tests,
    state and solutions lie on the disk of this repository.
  - The bare loop spawns the same interpreter with the same input, as many at a time, throws its output away and waits
    for it, as one would by hand. We are faster, because a program that runs again does not start its interpreter again.
  - oj is online-judge-tools, installed once into an environment of its own in a cache of this machine. It gets the same
    folder and the same command. `oj test` runs one case after the other unless it is told otherwise; both ways stand
    there, and the goal is set against what one gets by typing `oj test`.

All run one interpreter, called by its own path: a shim before it would cost more than everything that is measured. It
is the system's own if there is one, because that starts quickest, and what is added to it weighs most.

Units and goals
  - Run All is from the click to `run/complete`. At most 1.18 times the bare loop is accepted, a goal of 0.85, and a
    fifth of oj's time.
  - A verdict is from the click on one case to its `run/result`; what it takes beyond the bare process may be 5 ms.
  - A flood of 1 GB may cost the server 20 MB, from what it had before to the most that it ever had.
  - A post is answered while others before it are being written and synced; they come at a rate, whether or not the
    last one was answered, and a post that is sent late counts from when it was due.
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from statistics import median, quantiles

from actors.judge.checkers import Same, compare
from bench.contenders.client import PATIENCE, Stuck
from bench.contenders.panel import Message, Panel
from bench.harness import BYTES, Result, Unit, in_turns
from bench.relay import Relay, Running, running
from codec.judge import Compare, CompareMode
from program.ready import SERVER_FILE

NAME = "judge"
ABOUT = "solutions run against their tests, beside a bare spawn loop and oj test"

OWN = "/usr/bin/python3"
CASES = 20
ONES = 10
"""Verdicts of one case in each slice."""
FLOOD = 1_000_000_000
LONG = 100_000_000
RATE = 100
"""Posts a second."""
CONNECTIONS = 8
SECONDS_OF_POSTS = 0.5
"""For each round."""

MILLISECONDS = Unit("ms", cost=True, scale=1e-3)
SECONDS = Unit("s", cost=True)
ROOT = Path(__file__).parent.parent

ECHO = "print(input())\n"
FLOODS = f"import os\nfor _ in range({FLOOD} // 100_000): os.write(1, b'x' * 100_000)\n"
WRITES = f"import os\nfor _ in range({LONG} // 100_000): os.write(1, b'0123456789' * 9_999 + b'012345678\\n')\n"


# -- what is run


@cache
def interpreter() -> str:
    """The system's own CPython, by its own path, or what python3 means; another can be given in TROUPE_BENCH_PYTHON."""
    asked = os.environ.get("TROUPE_BENCH_PYTHON", OWN if os.access(OWN, os.X_OK) else "python3")
    command = [asked, "-I", "-c", "import os, sys; print(os.path.realpath(sys._base_executable))"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def jobs() -> int:
    return len(os.sched_getaffinity(0))


def put(workspace: Path, task: str, main: str, cases: Sequence[tuple[bytes, bytes]]) -> Path:
    """The folder of a problem."""
    folder = workspace / "bench" / task
    tests = folder / "tests"
    tests.mkdir(parents=True)
    (folder / "main.py").write_text(main)
    for number, (given, wanted) in enumerate(cases, 1):
        (tests / f"{number}.in").write_bytes(given)
        (tests / f"{number}.out").write_bytes(wanted)
    return folder


@contextmanager
def house() -> Iterator[Path]:
    """A workspace on the disk of this repository: a directory for temporary files may be memory."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=ROOT if os.access(ROOT, os.W_OK) else None) as place:
        yield Path(place)


# -- the sides


def ours(place: Path) -> Relay:
    command = [sys.executable, str(ROOT / "supervisor.py"), "--state-dir", str(place / "state")]
    settings = [
        *("judge.port={port}", "sidekick.port=0", "console.port=0", "agent.port=0", "judge.compare=exact"),
        *(f"judge.workspace={place / 'workspace'}", f"judge.python_command={interpreter()}"),
    ]
    return Relay("ours", [*command, *(word for setting in settings for word in ("--set", setting))])


class Bare:
    """The loop, in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, folder: Path, indices: Sequence[int], at_once: int = 1) -> float:
        """Seconds for a process for each of these cases."""
        inputs = [str(folder / "tests" / f"{index}.in") for index in indices]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([at_once, [interpreter(), str(folder / "main.py")], inputs]) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


@contextmanager
def bare() -> Iterator[Bare]:
    program = str(ROOT / "bench" / "contenders" / "bare_spawn.py")
    with subprocess.Popen(
        [interpreter(), "-I", "-S", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Bare(process)


def oj() -> Path | str:
    """Its program; or why there is none."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "troupe-bench", "oj")
    program = cache / "bin" / "oj"
    if not program.is_file():
        cache.parent.mkdir(parents=True, exist_ok=True)
        install = [str(cache / "bin" / "python"), "-m", "pip", "install", "--quiet", "online-judge-tools==11.5.1"]
        for command in ([interpreter(), "-m", "venv", "--clear", str(cache)], install):
            done = subprocess.run(command, capture_output=True, text=True, timeout=240)
            if done.returncode:
                shutil.rmtree(cache, ignore_errors=True)
                said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                return f"oj could not be installed: {said[:60]}"
    return program


def oj_test(program: Path, folder: Path, *options: str) -> float:
    """Seconds for all cases of a folder."""
    command = [str(program), "test", "--directory", "tests", "--format", "%s.%e", *options]
    begun = time.perf_counter()
    done = subprocess.run(
        [*command, "--command", f"{interpreter()} main.py"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    took = time.perf_counter() - begun
    if done.returncode:
        raise Stuck(f"oj did not pass: {done.stderr[-500:]}")
    return took


# -- the cases


def run(rounds: int) -> Iterator[Result]:
    program = oj()
    with house() as place:
        workspace = place / "workspace"
        echo = put(workspace, "echo", ECHO, [(b"%d\n" % number,) * 2 for number in range(CASES)])
        put(workspace, "flood", FLOODS, [(b"", b"")])
        long = put(workspace, "long", WRITES, [(b"", b"0123456789" * 9_999 + b"012345678\n")])
        _grow(long / "tests" / "1.out", LONG)
        with running(ours(place)) as server, bare() as loop:
            yield from _run_all(server, loop, program, echo, rounds)
            yield from _verdict(server, loop, echo, rounds)
            yield _flood(server, _pid(place / "state"), rounds)
            yield _long(server, loop, long, min(rounds, 3))
        for mode in ("exact", "tokens"):
            yield _equal(mode, min(rounds, 5))
    os.sync()  # what the cases before have written, and deleted, is not to be waited for by the posts
    with house() as place, running(ours(place)) as server:
        yield _posts(server, max(2.0, SECONDS_OF_POSTS * rounds))


def _run_all(server: Running, loop: Bare, program: Path | str, folder: Path, rounds: int) -> Iterator[Result]:
    case = f"{CASES} cases, Run All"
    sides = [
        partial(_all_passed, server, "echo", CASES),
        partial(loop.run, folder, range(1, CASES + 1), jobs()),
        *([partial(oj_test, program, folder)] if isinstance(program, Path) else []),
        *([partial(oj_test, program, folder, "--jobs", str(jobs()))] if isinstance(program, Path) else []),
    ]
    for side in sides:  # a warm-up; and oj asks on its first day whether it is the newest
        side()
    mine, *others = in_turns(sides, rounds)
    peers = [("a bare spawn loop", 0.85), ("oj test", 5.5), (f"oj test --jobs {jobs()}", None)]
    for (peer, goal), theirs in zip(peers, others, strict=False):
        yield _between(case, peer, mine, theirs, MILLISECONDS, goal)
    if isinstance(program, str):
        yield Result(NAME, case, "oj test", None, None, MILLISECONDS.name, None, 5.5, program)


def _verdict(server: Running, loop: Bare, folder: Path, rounds: int) -> Iterator[Result]:
    def alone() -> float:
        return median(loop.run(folder, [1]) for _ in range(ONES))

    sides: list[Callable[[], float]] = [partial(_one_passed, server), alone]
    mine, theirs = in_turns(sides, rounds)
    yield _between("a verdict", "the bare process", mine, theirs, MILLISECONDS)
    over = [max(1e-6, one - other) for one, other in zip(mine, theirs, strict=True)]
    yield _between("a verdict, beyond that", "allowed", over, [0.005] * rounds, MILLISECONDS, goal=1.0)


def _flood(server: Running, pid: int, rounds: int) -> Result:
    """The most that any of the floods made of it."""
    grown = 1.0
    for _ in range(min(rounds, 5)):
        with page(server, "flood") as panel:
            before = server.resident()
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # its peak is now what it has
            (result,) = panel.run_all()
            if result["verdict"] != "OLE":
                raise Stuck(f"a flood was judged {result['verdict']}")
            grown = max(grown, float(_peak(pid) - before))
    return Result.between(NAME, "a flood of 1 GB", "growth allowed", [(grown, 20e6)], BYTES, goal=1.0)


def _long(server: Running, loop: Bare, folder: Path, rounds: int) -> Result:
    mine, theirs = in_turns([partial(_all_passed, server, "long", 1), partial(loop.run, folder, [1])], rounds)
    return _between("100 MB of output, judged", "bare, to /dev/null", mine, theirs, MILLISECONDS)


def _equal(mode: CompareMode, rounds: int) -> Result:
    """Byte for byte the same; in words, one of them has other blanks, so that no comparison of memory will do."""
    expected = (b"0123456789 " * 9 + b"\n") * (LONG // 100)
    actual = bytes(bytearray(expected)) if mode == "exact" else expected.replace(b"\n", b"\t", 1)
    took = []
    for _ in range(rounds):
        begun = time.perf_counter()
        if not isinstance(compare(expected, actual, Compare(mode=mode)), Same):
            raise Stuck(f"the same in mode {mode} was found to differ")
        took.append(time.perf_counter() - begun)
    goal = 1.0 if mode == "exact" else None
    return _between(f"100 MB equal, {mode}", "allowed", took, [1.0] * rounds, SECONDS, goal)


def _posts(server: Running, seconds: float) -> Result:
    count = round(seconds * RATE)
    with ThreadPoolExecutor(CONNECTIONS) as posters:
        free = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=30) for _ in range(CONNECTIONS)]
        for connection in free:
            connection.connect()
        begun = time.perf_counter() + 0.1

        def post(number: int) -> float | None:
            """Seconds; none if it was refused."""
            due = begun + number / RATE
            body = json.dumps(posted(number))
            connection = free.pop()
            try:
                time.sleep(max(0.0, due - time.perf_counter()))
                connection.request("POST", "/", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
            finally:
                free.append(connection)
            return time.perf_counter() - due if answer.status == 200 else None

        took = [seconds for seconds in posters.map(post, range(count)) if seconds is not None]
        for connection in free:
            connection.close()
    case = f"{RATE} posts/s, p99"
    if len(took) < count:
        why = f"{count - len(took)} of {count} posts were refused: the disk takes fewer in this time"
        return Result(NAME, case, "allowed", None, 20.0, MILLISECONDS.name, None, 1.0, why)
    return _between(case, "allowed", [quantiles(took, n=100)[98]], [0.02], MILLISECONDS, goal=1.0)


def posted(number: int) -> Message:
    return {
        "name": f"A - Number {number}",
        "group": "AtCoder - Bench",
        "url": f"https://atcoder.jp/contests/bench{number // 6}/tasks/bench{number // 6}_{number % 6}",
        "interactive": False,
        "memoryLimit": 1024,
        "timeLimit": 2000,
        "tests": [{"input": f"{number} {each}\n", "output": f"{number + each}\n"} for each in range(3)],
        "testType": "single",
        "input": {"type": "stdin"},
        "output": {"type": "stdout"},
        "languages": {"java": {"mainClass": "Main", "taskClass": f"ANumber{number}"}},
        "batch": {"id": f"{number // 6:08}", "size": 6},
    }


@contextmanager
def page(server: Running, task: str) -> Iterator[Panel]:
    """One for each turn: a page that is silent while others have theirs is taken for gone."""
    with closing(Panel(server.port)) as panel:
        panel.open(f"bench/{task}")
        yield panel


def _all_passed(server: Running, task: str, cases: int) -> float:
    with page(server, task) as panel:
        begun = time.perf_counter()
        results = panel.run_all()
        took = time.perf_counter() - begun
    if [result["verdict"] for result in results] != ["AC"] * cases:
        raise Stuck(f"not all of {cases} cases passed: {[result['verdict'] for result in results]}")
    return took


def _one_passed(server: Running) -> float:
    took = []
    with page(server, "echo") as panel:
        for _ in range(ONES):
            begun = time.perf_counter()
            result = panel.run_one(1)
            took.append(time.perf_counter() - begun)
            panel.settle()
            if result["verdict"] != "AC":
                raise Stuck(f"the case was judged {result['verdict']}")
    return median(took)


def _pid(state: Path) -> int:
    """Of the server that keeps its state there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(FileNotFoundError):
            return int(json.loads((state / SERVER_FILE).read_text())["pid"])
        time.sleep(0.05)
    raise Stuck("the server did not say who it is")


def _peak(pid: int) -> int:
    """Bytes, the most since it was last forgotten."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _grow(file: Path, size: int) -> None:
    """What is in it, again and again."""
    piece = file.read_bytes()
    with file.open("wb") as long:
        for _ in range(size // len(piece)):
            long.write(piece)


def _between(
    case: str, peer: str, mine: Sequence[float], theirs: Sequence[float], unit: Unit, goal: float | None = None
) -> Result:
    """Of seconds."""
    pairs = [(unit.of(1, one), unit.of(1, other)) for one, other in zip(mine, theirs, strict=True)]
    return Result.between(NAME, case, peer, pairs, unit, goal)
