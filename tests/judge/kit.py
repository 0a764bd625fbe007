"""A judge without processes and without a disk: the real actors, a store that works inside the loop, and folders and
programs that the test controls.

A program is a puppet. It runs as soon as it is started, and ends when the test says so, or at once if the test has said
so before.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import trio
from trio.testing import wait_all_tasks_blocked

from actors.judge import JudgeDesk, Problems, judge_specs
from actors.judge.comparing import answered
from actors.judge.given import Names, Turn
from actors.judge.given import Watching as AnyWatching
from actors.judge.merge import NewCase
from actors.kernel import ActorRef, ChildSpec, Registry
from actors.kernel.testing import House, Log, staged
from actors.store import Inline, StateDirectory, Store
from codec.judge import SHOWN, Commands, RunSettings
from codec.programs import Bounds, Captured, Excess, Exited, Outcome, Signalled

T = TypeVar("T")
Json = dict[str, Any]
ROOT = Path("/workspace")
CORES = 2
PATIENCE = 20.0
"""Virtual seconds; less than after which a problem is forsaken."""
FULL = OSError(28, "No space left on device")


def post(task: str = "abc1/abc1_a", *samples: tuple[str, str], **fields: Any) -> bytes:
    """What Competitive Companion would send, with the samples or three of them."""
    contest, name = task.split("/")
    tests = samples or (("1\n", "1\n"), ("2\n", "2\n"), ("3\n", "3\n"))
    known = {
        "name": name,
        "group": contest,
        "url": f"https://atcoder.jp/contests/{contest}/tasks/{name}",
        "timeLimit": 2000,
        "memoryLimit": 256,
        "tests": [{"input": given, "output": wanted} for given, wanted in tests],
    }
    return json.dumps(known | fields).encode()


# -- folders


@dataclass(frozen=True, slots=True)
class CaseFile:
    content: bytes
    stamp: object = None

    @property
    def head(self) -> bytes:
        return self.content[:SHOWN]

    @property
    def size(self) -> int:
        return len(self.content)

    @property
    def digest(self) -> bytes:
        return sha256(self.content).digest()


@dataclass(frozen=True, slots=True)
class Found:
    cases: Mapping[int, tuple[CaseFile, CaseFile]]
    alone: Mapping[int, CaseFile]
    highest: int
    main: bytes | None
    exists: bool
    odd: Mapping[str, str] = field(default_factory=dict)
    main_stamp: object = None

    @property
    def has_main(self) -> bool:
        return self.main is not None


class Stamps(NamedTuple):
    main: object
    given: object
    wanted: object


@dataclass
class PrivateFolder:
    path: Path
    files: dict[str, bytes]

    async def read(self, name: str, most: int) -> bytes | None:
        await trio.lowlevel.checkpoint()
        return self.files[name][:most] if name in self.files else None


@dataclass
class Folders:
    files: dict[tuple[str, ...], bytes] = field(default_factory=dict)
    """By names from the root on."""
    trouble: Callable[[str, tuple[str, ...]], Exception | None] = lambda call, task: None
    """What a call raises."""
    gates: dict[str, trio.Event] = field(default_factory=dict)
    """What a call waits for; "answer": what `present` waits for when it has looked."""
    privates: list[PrivateFolder] = field(default_factory=list)
    writes: dict[str, bytes] = field(default_factory=dict)
    """What a program leaves in a private folder."""
    takes_a_while: bool = False
    """Whether files can be looked at only in a thread."""
    root: Path = ROOT
    tests_dir: str = "tests"
    odd: dict[str, str] = field(default_factory=dict)
    """What is wrong with which file of any task."""
    touched: dict[tuple[str, ...], int] = field(default_factory=dict)
    """How often a file was written to, where a test says so."""

    def path(self, task: Names, *names: str) -> Path:
        return self.root.joinpath(*task, *names)

    def case_paths(self, task: Names, index: int) -> tuple[Path, Path]:
        return self.path(task, "tests", f"{index}.in"), self.path(task, "tests", f"{index}.out")

    async def find(self, task: Names) -> Found:
        await self._called("find", task)
        return self._content(task)

    def _content(self, task: Names) -> Found:
        tests, name = (*task, "tests"), task[1]
        here = [path for path in self.files if path[1] == name and path[:3] == tests]
        numbers = sorted({int(path[3].split(".")[0]) for path in here})
        pairs = {index: (self._text(task, index, "in"), self._text(task, index, "out")) for index in numbers}
        cases = {index: (given, wanted) for index, (given, wanted) in pairs.items() if given and wanted}
        alone = {index: wanted for index, (given, wanted) in pairs.items() if wanted and not given}
        main = self.files.get((*task, "main.py"))
        digest = None if main is None else sha256(main).digest()
        exists = any(path[:2] == tuple(task) for path in self.files)
        stamp = self.stamp(*task, "main.py")
        return Found(cases, alone, max(numbers, default=0), digest, exists, dict(self.odd), stamp)

    async def present(self, tasks: Sequence[Names]) -> list[bool]:
        await self._called("present", ())
        there = [any(path[:2] == tuple(task) for path in self.files) for task in tasks]
        if "answer" in self.gates:
            await self.gates["answer"].wait()
        return there

    def watched(self, task: Names) -> list[tuple[Path, frozenset[str] | None]]:
        return [(self.path(task), None)]

    def _text(self, task: Names, index: int, kind: str) -> CaseFile | None:
        path = (*task, "tests", f"{index}.{kind}")
        content = self.files.get(path)
        return None if content is None else CaseFile(content, self.stamp(*path))

    def stamp(self, *names: str) -> object:
        content = self.files.get(names)
        return None if content is None else (content, self.touched.get(names, 0))

    def stamps_at_once(self, task: Names, index: int) -> Stamps | None:
        return None if self.takes_a_while else self._stamps(task, index)

    async def stamps(self, task: Names, index: int) -> Stamps:
        await self._called("stamps", task)
        return self._stamps(task, index)

    def _stamps(self, task: Names, index: int) -> Stamps:
        main, tests = (*task, "main.py"), (*task, "tests")
        return Stamps(*(self.stamp(*names) for names in (main, (*tests, f"{index}.in"), (*tests, f"{index}.out"))))

    async def tasks(self) -> list[tuple[str, str]]:
        await self._called("tasks", ())
        return list(dict.fromkeys((path[0], path[1]) for path in sorted(self.files)))

    async def add(self, task: Names, choose: Callable[[Found], Sequence[NewCase]]) -> Found:
        await self._called("add", task)
        for index, given, wanted in choose(self._content(task)):
            for kind, content in (("out", wanted), ("in", given)):
                if content is None:
                    continue
                path = (*task, "tests", f"{index}.{kind}")
                assert path not in self.files, f"{path} would be overwritten"
                self.files[path] = content
        self.files.setdefault((*task, "main.py"), b"pass\n")
        return self._content(task)

    async def read(self, task: Names, index: int, kind: str) -> bytes:
        await self._called("read", task)
        try:
            return self.files[(*task, "tests", f"{index}.{kind}")]
        except KeyError:
            raise FileNotFoundError(2, "No such file or directory") from None

    @asynccontextmanager
    async def private(self, task: Names, index: int, input_name: str | None) -> AsyncIterator[PrivateFolder]:
        files = {} if input_name is None else {input_name: await self.read(task, index, "in")}
        folder = PrivateFolder(Path(f"/private/{len(self.privates)}"), files | self.writes)
        self.privates.append(folder)
        yield folder

    async def _called(self, call: str, task: Names) -> None:
        await trio.lowlevel.checkpoint()
        if call in self.gates:
            await self.gates[call].wait()
        if (error := self.trouble(call, tuple(task))) is not None:
            raise error


# -- programs


def an_outcome(
    output: bytes = b"",
    *,
    exit_code: int = 0,
    signal: int | None = None,
    stopped_for: Excess | None = None,
    cpu_seconds: float = 0.01,
    peak_bytes: int = 8 << 20,
    errors: bytes = b"",
) -> Outcome:
    return Outcome(
        end=Exited(exit_code) if signal is None else Signalled(signal),
        stopped_for=stopped_for,
        cpu_seconds=cpu_seconds,
        wall_seconds=0.02,
        peak_bytes=peak_bytes,
        contended=False,
        stdout=Captured(output, b"", len(output)),
        stderr=Captured(errors, b"", len(errors)),
    )


@dataclass(eq=False)
class Program:
    """A solution that runs on a case."""

    index: int
    argv: Sequence[str]
    cwd: Path
    stdin: Path | None
    bounds: Bounds
    outcome: Outcome | Exception | None = None
    ended: trio.Event = field(default_factory=trio.Event)
    cancelled: bool = False

    def end(self, outcome: Outcome | Exception) -> None:
        self.outcome = outcome
        self.ended.set()


class Interrupted(Exception):
    """As an outcome: somebody ended what ran it."""


@dataclass
class Machine:
    answer: Callable[[Program], Outcome | Exception | None] = lambda program: None
    """How a program ends as soon as it was started; None: when the test says so."""
    interpreters: dict[str, Path] = field(default_factory=lambda: {"python3": Path("/bin/python3")})
    log: Log[Program] = field(default_factory=Log)
    most: int = 0
    """Programs that have run at once."""
    rooms: int = 60
    alone: int = 0
    """Runs that had to be alone."""
    compares: Callable[[Sequence[bytes]], Outcome | Exception] = lambda given: an_outcome(
        answered(given[0], b"".join(given[1:]))
    )
    """What becomes of a comparison that is made elsewhere."""
    modules: list[str] = field(default_factory=list)

    @property
    def programs(self) -> list[Program]:
        return self.log.entries

    @property
    def running(self) -> list[Program]:
        return [program for program in self.programs if not program.ended.is_set()]

    async def started(self, index: int, number: int = 1) -> Program:
        """The n-th run of a case, as soon as it has begun."""
        with trio.fail_after(PATIENCE):
            return await self.log.nth(number, lambda program: program.index == index)

    def __post_init__(self) -> None:
        self._rooms = trio.CapacityLimiter(self.rooms)

    def room(self) -> trio.CapacityLimiter:
        return self._rooms

    async def resolve(self, command: str) -> Path | str:
        await trio.lowlevel.checkpoint()
        return self.interpreters.get(command, f"{command!r} is nowhere")

    async def run(
        self, program: Sequence[str], *, cwd: Path, stdin: Path | None, bounds: Bounds, turn: Turn | None
    ) -> Outcome | None:
        if turn is None:
            self.alone += 1
            return await self._run(program, cwd, stdin, bounds)
        begun = trio.Event()
        turn.come(begun.set)
        try:
            await begun.wait()
            return await self._run(program, cwd, stdin, bounds)
        except Interrupted:
            return None
        finally:
            turn.over()

    async def _run(self, program: Sequence[str], cwd: Path, stdin: Path | None, bounds: Bounds) -> Outcome:
        index = int(stdin.stem) if stdin is not None else len(self.programs) + 1
        running = Program(index, program, cwd, stdin, bounds)
        self.log.add(running)
        self.most = max(self.most, len(self.running))
        try:
            if (outcome := self.answer(running)) is not None:
                running.end(outcome)
            await running.ended.wait()
        except trio.Cancelled:
            running.cancelled = True
            running.ended.set()
            raise
        if isinstance(running.outcome, Exception):
            raise running.outcome
        assert running.outcome is not None
        return running.outcome

    async def elsewhere(self, module: str, given: Sequence[bytes], bounds: Bounds) -> Outcome:
        self.modules.append(module)
        await trio.lowlevel.checkpoint()
        outcome = self.compares(given)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def apart(self, call: Callable[..., T], *args: Any) -> T:
        await trio.lowlevel.checkpoint()
        return call(*args)


def right(program: Program) -> Outcome:
    """The answer to `post`'s own samples."""
    return an_outcome(f"{program.index}\n".encode())


class Watching:
    """As the real one: whoever watches is told once, until they have looked."""

    def __init__(self) -> None:
        self.watched: dict[ActorRef[Any], object] = {}
        self.told: set[ActorRef[Any]] = set()
        self.stirred: set[ActorRef[Any]] = set()

    def watch(self, who: ActorRef[Any], places: Sequence[Any], news: object) -> None:
        self.watched[who] = news
        self.told.discard(who)
        self.stir()

    def looked(self, who: ActorRef[Any]) -> None:
        self.told.discard(who)
        self._tell()

    def unwatch(self, who: ActorRef[Any]) -> None:
        self.watched.pop(who, None)

    def stir(self) -> None:
        self.stirred.update(self.watched)
        self._tell()

    def _tell(self) -> None:
        for who in self.stirred & self.watched.keys() - self.told:
            self.stirred.discard(who)
            self.told.add(who)
            who.tell(self.watched[who])


# -- pages


class Line:
    """A page's end: all it was told, and whether it takes any."""

    def __init__(self) -> None:
        self.log: Log[Json] = Log()
        self.takes = True

    def frames(self, texts: Iterable[bytes]) -> bytes:
        return b"".join(text + b"\n" for text in texts)

    def offer(self, frames: bytes) -> bool:
        if self.takes:
            for text in frames.splitlines():
                self.log.add(json.loads(text))
        return self.takes


class Page:
    """One open page. What it has waited for is behind it: `heard` goes on from there."""

    def __init__(self, line: Line, say: Callable[[bytes], Any], scope: trio.CancelScope) -> None:
        self.line = line
        self.scope = scope
        self.over = trio.Event()
        """The server has let go of it."""
        self._say = say
        self._read = 0

    @property
    def told(self) -> list[Json]:
        return self.line.log.entries

    @property
    def listed(self) -> list[str]:
        """The problems, as it was last told of them."""
        told = [message for message in self.told if message["type"] == "state/problems"]
        return [problem["id"] for problem in told[-1]["problems"]]

    def knows(self) -> list[Json]:
        """The problems, by all that it was told of them."""
        known: dict[str, Json] = {}
        for message in self.told:
            if message["type"] == "state/problems":
                known = {}
            elif message["type"] == "state/problemsChanged":
                known = {name: each for name, each in known.items() if name not in message.get("gone", ())}
            else:
                continue
            known |= {each["id"]: each for each in message.get("problems", ())}
        return list(known.values())

    def all(self, kind: str) -> list[Json]:
        """All such messages so far."""
        return [message for message in self.told if message["type"] == kind]

    def forget(self) -> None:
        """What it was told so far is behind it."""
        self._read = len(self.told)

    async def say(self, kind: str, **fields: Any) -> None:
        await self._say(json.dumps({"type": kind, **fields}).encode())

    async def say_raw(self, text: bytes) -> None:
        await self._say(text)

    async def heard(
        self, kind: str, wanted: Callable[[Json], bool] = lambda message: True, *, patience: float = PATIENCE
    ) -> Json:
        """The next such message."""
        with trio.fail_after(patience):
            while True:
                for place in range(self._read, len(self.told)):
                    if self.told[place]["type"] == kind and wanted(self.told[place]):
                        self._read = place + 1
                        return self.told[place]
                await self.line.log.nth(len(self.told) + 1, lambda message: True)

    async def greet(self) -> Json:
        """As a page that was just loaded."""
        await self.say("ui/requestInit")
        init = await self.heard("state/init")
        if not self.all("state/problems"):
            await self.heard("state/problems")
        self.forget()
        return init

    async def notice(self) -> str:
        return str((await self.heard("notice"))["message"])

    async def ended(self) -> tuple[list[int], Json]:
        """The indices of results up to the end of the run, as they were told, and that end."""
        before = self._read
        complete = await self.heard("run/complete")
        part = self.told[before : self._read]
        return [message["result"]["index"] for message in part if message["type"] == "run/result"], complete

    def leave(self) -> None:
        self.scope.cancel()


# -- the house


@dataclass
class Court:
    """A judge that runs."""

    house: House
    desk: JudgeDesk
    folders: Folders
    machine: Machine
    nursery: trio.Nursery

    def __getitem__(self, path: str) -> ActorRef[Any]:
        return self.house[path]

    def problem(self, id: str = "abc1/abc1_a") -> ActorRef[Any]:  # noqa: A002 - as on the wire
        found = self["problems"].child(id)
        assert found is not None, f"{id} is not open"
        return found

    async def page(self, *, greets: bool = True) -> Page:
        line, ready = Line(), list[Page]()
        there = trio.Event()

        async def attend() -> None:
            with trio.CancelScope() as scope:
                async with self.desk.attend(line) as seat:
                    ready.append(Page(line, seat.heard, scope))
                    there.set()
                    await trio.sleep_forever()
            ready[0].over.set()

        self.nursery.start_soon(attend)
        await there.wait()
        if greets:
            await ready[0].greet()
            await self.settled()
            ready[0].forget()
        return ready[0]

    async def take_in(self, *tasks: str, **fields: Any) -> None:
        """Post these, and wait until they are on the shelf."""
        for task in tasks:
            await self.desk.receive(post(task, **fields))
        await self.settled()

    async def settled(self) -> None:
        await wait_all_tasks_blocked()


@asynccontextmanager
async def judging(
    directory: StateDirectory,
    folders: Folders | None = None,
    machine: Machine | None = None,
    *,
    configured: RunSettings | None = None,
    commands: Commands | None = None,
    wall: Callable[[], float] = trio.current_time,
    watching: Callable[[Registry], AnyWatching] | None = None,
) -> AsyncIterator[Court]:
    folders, machine = folders or Folders(), machine or Machine()
    problems = Problems(folders, cache(lambda registry: machine), wall, CORES, watching, commands or Commands())
    store = ChildSpec("store", partial(Store, directory, Inline))
    specs = judge_specs(problems, configured or RunSettings())
    async with staged(store, *specs, intensity=100) as house:
        desk = JudgeDesk(house.stage.registry, house.stage.new_id, problems)
        async with trio.open_nursery() as nursery:
            yield Court(house, desk, folders, machine, nursery)
            nursery.cancel_scope.cancel()
