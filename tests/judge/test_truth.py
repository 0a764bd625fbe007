"""A page shows the truth about the disk and about the runs.

Two pages, an editor and the judge act in any order, and now and then a problem crashes.
Whenever all is quiet, each page is asked what it knows: its cases are those on the disk, each result is of a program
that was run, and is marked as outdated if the solution, the test or the interpreter is another than that program's,
and only then, unless nobody can know that: a file was touched while its program ran, or edited again before it was
read. A case is told of before its result at all times, and no run's figures hold another's.
At the end each page knows as much as one that has just come.
"""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from actors.kernel.testing import run_schedule
from actors.store import StateDirectory
from codec.judge import RunSettings
from codec.programs import Outcome
from tests.judge.kit import Court, Folders, Json, Machine, Page, Program, Watching, an_outcome, judging
from tests.plenty import plenty

A, B = "abc1/abc1_a", "abc1/abc1_b"
TASK = ("abc1", "abc1_a")
MAIN = (*TASK, "main.py")
TESTS = (*TASK, "tests")


# -- what a page makes of what it is told


@dataclass
class Model:
    """What a page knows, by the rules of `web/judge/panel.js`, but for what is only about drawing."""

    id: str | None = None
    cases: dict[int, tuple[str, str]] = field(default_factory=dict)
    results: dict[int, Json] = field(default_factory=dict)
    gone: bool = False
    run: Json | None = None
    last: Json | None = None
    summary: Json | None = None
    settings: Json = field(default_factory=dict)

    def hear(self, said: Json) -> None:
        match said["type"]:
            case "state/init" if "problem" in said:
                self.settings = said["settings"]
                self._take(said["problem"])
                self.results = {result["index"]: result for result in said.get("results", ())}
                assert self.results.keys() <= self.cases.keys(), "results of cases that are not there"
                self.run, self.last, self.summary = said.get("running"), said.get("last"), said.get("summary")
                assert self.run is None or self.summary is None
            case "state/update":
                if self._take(said["problem"]):
                    self.results = {index: each for index, each in self.results.items() if index in self.cases}
                else:
                    self.results, self.run, self.last, self.summary = {}, None, None, None
                reasons = {each["index"]: each["reasons"] for each in said.get("outdated", ())}
                for index, result in self.results.items():
                    self.results[index] = {**result, "outdated": reasons.get(index, [])}
            case "run/progress" if said["problemId"] == self.id and said["running"]:
                if self.run is None or self.run["run"] != said["run"]:
                    assert self.run is None, "a run begins in the middle of another"
                    assert set(said["indices"]) <= self.cases.keys(), "a run of cases that the page was not told of"
                    self.run, self.summary = {"run": said["run"], "indices": said["indices"]}, None
            case "run/result" if said["problemId"] == self.id:
                result = said["result"]
                assert self.run is not None
                assert result["run"] == self.run["run"]
                assert result["index"] in self.run["indices"]
                if result["index"] in self.cases:
                    self.results[result["index"]] = result
            case "run/complete" if said["problemId"] == self.id:
                assert self.run is not None
                assert said["run"] == self.run["run"]
                self.last = {**self.run, "cancelled": said.get("cancelled", False)}
                self.summary, self.run = said["summary"], None

    def known(self) -> object:
        results = {index: {**each, "outdated": each.get("outdated", [])} for index, each in self.results.items()}
        last = self.last and (self.last["run"], self.last["indices"], self.last.get("cancelled", False))
        run = self.run and (self.run["run"], self.run["indices"])
        return self.cases, self.gone, results, run, last, self.summary

    def _take(self, problem: Json) -> bool:
        same = bool(problem["id"] == self.id)
        self.id = problem["id"]
        self.cases = {case["index"]: (case["inputContent"], case["expectedContent"]) for case in problem["cases"]}
        self.gone = problem.get("gone", False)
        return same


# -- what is so


@dataclass
class Fact:
    """A program that was run: on what, and what it wrote."""

    solution: bytes | None
    given: bytes | None
    wanted: bytes | None
    interpreter: str
    wrote: str
    stamp: object
    """Of the solution that it has read."""
    calm: bool
    """Nobody has edited anything while its run was under way, or before all was quiet after its end."""
    disturbed: bool = False
    """The solution was written to while it ran, or the judge crashed."""


@dataclass
class World:
    court: Court
    watching: Watching
    pages: list[tuple[Page, Model]]
    facts: dict[str, Fact] = field(default_factory=dict)
    """By what each writes to its console."""
    lately: list[str] = field(default_factory=list)
    """Of the programs that have run since all was quiet, what they write."""
    was_read: set[object] = field(default_factory=set)
    """The stamps of the solution whenever all was quiet and somebody looked."""
    passing: dict[tuple[str, ...], bytes] = field(default_factory=dict)
    """What the next program reads, and nobody else: the edit is undone at once."""
    quiet: bool = True
    calm: bool = True
    touched: int = 0

    @property
    def files(self) -> dict[tuple[str, ...], bytes]:
        return self.court.folders.files

    @property
    def machine(self) -> Machine:
        return self.court.machine

    @property
    def cases(self) -> dict[int, tuple[str, str]]:
        inputs = {int(path[3][:-3]): path for path in self.files if path[:3] == TESTS and path[3].endswith(".in")}
        return {
            number: (self.files[path].decode(), self.files[*TESTS, f"{number}.out"].decode())
            for number, path in sorted(inputs.items())
            if (*TESTS, f"{number}.out") in self.files
        }

    def edited(self) -> None:
        if self.machine.running or not self.quiet:
            self.calm = False
            for name in self.lately:
                self.facts[name].calm = False
        self.watching.stir()

    def write(self, path: tuple[str, ...], content: bytes) -> None:
        self.files[path] = content
        self.wrote(path)

    def wrote(self, path: tuple[str, ...]) -> None:
        self.touched += 1
        self.court.folders.touched[path] = self.touched
        if path == MAIN:
            self.disturbed([name_of(program) for program in self.machine.running])

    def disturbed(self, names: list[str]) -> None:
        for name in names:
            if name in self.facts:
                self.facts[name].disturbed = True

    def begun(self, program: Program) -> Outcome | None:
        """A program reads what there is when it starts, and prints its own source."""
        passing, self.passing = self.passing, {}
        before = {path: self.files[path] for path in passing if path in self.files}
        for path in before:
            self.write(path, passing[path])
        solution = self.files.get(MAIN)
        fact = Fact(
            solution,
            self.files.get((*TESTS, f"{program.index}.in")),
            self.files.get((*TESTS, f"{program.index}.out")),
            "pypy" if "pypy" in program.argv[0] else "cpython",
            (solution or b"").decode(),
            self.court.folders.stamp(*MAIN),
            self.calm,
        )
        self.facts[name_of(program)] = fact
        self.lately.append(name_of(program))
        for path, content in before.items():
            self.write(path, content)
            self.edited()
        return None

    async def settle(self) -> None:
        await self.court.settled()
        self.passing.clear()
        await trio.sleep(1)
        if self.machine.running or any(model.id == A for _, model in self.pages):
            self.was_read.add(self.court.folders.stamp(*MAIN))
        self.quiet = True
        self.lately = [name_of(program) for program in self.machine.running]
        for page, model in self.pages:
            for said in page.told[page._read :]:
                model.hear(said)
            page.forget()
            if model.id == A:
                self._check(model)

    async def compare(self) -> None:
        """A page that comes now knows what the others know. (It is not shown a problem whose folder is gone.)"""
        await self.settle()
        page, fresh = await self.court.page(greets=False), Model()
        await page.say("ui/requestInit", problemId=A)
        await self.court.settled()
        for said in page.told:
            fresh.hear(said)
        page.leave()
        await self.court.settled()
        for _, model in self.pages:
            if model.id == fresh.id:
                assert model.known() == fresh.known()

    def _check(self, model: Model) -> None:
        assert model.cases == self.cases
        assert model.gone == (not any(path[:2] == TASK for path in self.files))
        assert (model.run is not None) == bool(self.machine.running)
        for index, result in model.results.items():
            self._true(model, index, result)
        if model.summary is not None:
            assert model.last is not None
            own = [result for result in model.results.values() if result["run"] == model.last["run"]]
            assert model.summary["total"] >= len(own)
            assert model.summary["passed"] >= sum(result["status"] == "pass" for result in own)
            assert model.last.get("cancelled") or model.summary["total"] == len(model.last["indices"])

    def _true(self, model: Model, index: int, result: Json) -> None:
        fact, reasons = self.facts[result["console"]], set(result.get("outdated", ()))
        given, wanted = self.cases[index]
        assert result["actual"] == fact.wrote
        assert ("interpreter" in reasons) == (fact.interpreter != model.settings["interpreter"])
        if "solution" not in reasons:
            assert fact.solution == self.files.get(MAIN)
        elif not fact.disturbed and fact.stamp in self.was_read:
            assert fact.solution != self.files.get(MAIN)
        if "test" not in reasons:
            assert (fact.given or b"").decode() == given
            assert (result["status"] == "pass") == (fact.wrote == wanted)
            if result["status"] == "fail":
                assert f"expected {wanted.strip()!r} got {fact.wrote.strip()!r}" in result["diffSummary"]
        elif fact.calm:
            assert (fact.given, fact.wanted) != (given.encode(), wanted.encode())


def name_of(program: Program) -> str:
    return f"program {id(program)}"


# -- what happens


async def _edit(world: World, name: str, content: bytes | None) -> None:
    path = (*TASK, *name.split("/"))
    if content is None:
        world.files.pop(path, None)
        world.wrote(path)
    else:
        world.write(path, content)
    world.edited()


async def _edit_and_undo(world: World, name: str, content: bytes) -> None:
    """Just when the next program begins."""
    world.passing[*TASK, *name.split("/")] = content


async def _remove_all(world: World) -> None:
    for path in [path for path in world.files if path[:2] == TASK]:
        del world.files[path]
        world.wrote(path)
    world.edited()


async def _say(world: World, number: int, kind: str, **fields: Any) -> None:
    await world.pages[number][0].say(kind, **fields)


async def _run(world: World, number: int, **wish: Any) -> None:
    if not world.machine.running:
        world.calm = world.quiet
    await _say(world, number, "ui/runAll", problemId=A, **wish)


async def _ends(world: World, count: int) -> None:
    for program in world.machine.running[:count]:
        wrote = world.facts[name_of(program)].wrote.encode()
        said = name_of(program).encode()
        program.end(an_outcome(wrote, errors=said))


async def _end_all(world: World) -> None:
    await world.court.settled()
    while world.machine.running:
        await _ends(world, 99)
        await world.court.settled()


async def _crash(world: World) -> None:
    for problem in world.court["problems"].children():
        problem.kill()
    world.disturbed(world.lately)
    await trio.sleep(5)


FILES = ["main.py", "tests/1.in", "tests/1.out", "tests/2.in", "tests/2.out", "tests/3.in", "tests/3.out"]
PAGES = st.integers(0, 1)


def step(do: Any, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(partial, st.just(do), **arguments)


edits = step(_edit, name=st.sampled_from(FILES), content=st.sampled_from([b"1\n", b"2\n", b"3\n", None]))
STEPS = st.one_of(
    edits,
    edits,
    edits,
    step(_edit_and_undo, name=st.sampled_from(["main.py", "tests/1.in", "tests/2.in"]), content=st.just(b"4\n")),
    step(_run, number=PAGES),
    step(_run, number=PAGES),
    step(_run, number=PAGES, indices=st.sampled_from([[1], [2], [1, 2], [1, 3]])),
    step(_ends, count=st.integers(1, 3)),
    step(_end_all),
    step(_say, number=PAGES, kind=st.just("ui/cancel"), problemId=st.just(A)),
    step(_say, number=PAGES, kind=st.just("ui/switchInterpreter"), interpreter=st.sampled_from(["cpython", "pypy"])),
    step(_say, number=PAGES, kind=st.just("ui/openProblem"), id=st.sampled_from([A, A, B])),
    step(_say, number=PAGES, kind=st.just("ui/requestInit"), problemId=st.just(A)),
    step(_say, number=PAGES, kind=st.just("ui/requestCase"), problemId=st.just(A), index=st.integers(1, 3)),
    step(_remove_all),
    step(_crash),
)


async def play(steps: list[tuple[Any, bool]]) -> list[tuple[list[Json], Model]]:
    """What two pages were told, and what they make of it."""
    machine = Machine(interpreters={"python3": Path("/bin/python3"), "pypy3": Path("/bin/pypy3")})
    watching = Watching()
    with TemporaryDirectory() as folder, StateDirectory.claim(Path(folder)) as directory:
        async with judging(
            directory, Folders(), machine, configured=RunSettings(jobs=2), watching=lambda _: watching
        ) as court:
            await court.take_in(A, B)
            pages = [(await court.page(greets=False), Model()) for _ in range(2)]
            world = World(court, watching, pages)
            machine.answer = world.begun
            for page, _ in pages:
                await page.say("ui/requestInit", problemId=A)
            await world.settle()
            for step, quiet in steps:
                await step(world)
                world.quiet = False
                if quiet:
                    await world.settle()
            await world.compare()
            await _end_all(world)
            await world.compare()
            return [(page.told, model) for page, model in pages]


RUN, QUIET = partial(_run, number=0), True
ISSUE = [
    (partial(_edit, name="main.py", content=b"1\n"), QUIET),
    (RUN, QUIET),
    (partial(_end_all), QUIET),
    (partial(_edit, name="tests/3.in", content=b"3\n"), False),
    (partial(_edit, name="tests/3.out", content=b"3\n"), False),
    (partial(_edit, name="tests/1.out", content=b"3\n"), False),
    (partial(_edit, name="tests/2.in", content=None), False),
    (partial(_edit, name="tests/2.out", content=None), False),
    (RUN, False),
    (partial(_end_all), QUIET),
]
"""Tests are added, changed and deleted beside the page, and then it is run."""
ONE_AFTER_ALL = [
    (RUN, QUIET), (partial(_end_all), QUIET),
    (partial(_run, number=1, indices=[1]), QUIET), (partial(_ends, count=1), QUIET),
]  # fmt: skip
CUT_OFF = [
    (RUN, QUIET), (partial(_end_all), QUIET), (RUN, QUIET), (partial(_ends, count=1), QUIET),
    (partial(_say, number=1, kind="ui/cancel", problemId=A), QUIET),
]  # fmt: skip
IN_THE_MIDDLE = [
    (RUN, QUIET), (partial(_edit, name="main.py", content=b"1\n"), QUIET), (partial(_end_all), QUIET),
    (partial(_edit, name="main.py", content=b"pass\n"), QUIET),
]  # fmt: skip

GONE_AND_BACK = [
    (RUN, QUIET), (partial(_end_all), QUIET),
    (partial(_edit, name="tests/1.in", content=None), QUIET),
    (partial(_edit, name="tests/1.in", content=b"1\n"), QUIET),
]  # fmt: skip
"""A test is away for a moment, as when another branch is checked out."""
JUDGED_WHILE_AWAY = [
    (RUN, QUIET), (partial(_edit, name="tests/1.in", content=None), QUIET), (partial(_end_all), QUIET),
    (partial(_edit, name="tests/1.in", content=b"1\n"), QUIET),
]  # fmt: skip
UNDONE = [(partial(_edit_and_undo, name="main.py", content=b"1\n"), False), (RUN, QUIET), (partial(_end_all), QUIET)]
"""A program reads a version that was there for a moment only."""
TEST_UNDONE = [
    (RUN, QUIET), (partial(_ends, count=1), False),
    (partial(_edit_and_undo, name="tests/2.in", content=b"4\n"), False), (partial(_run, number=0, indices=[2]), QUIET),
    (partial(_end_all), QUIET), (partial(_run, number=0, indices=[2]), QUIET), (partial(_end_all), QUIET),
]  # fmt: skip
THERE_AND_BACK = [
    (RUN, False), (partial(_say, number=0, kind="ui/switchInterpreter", interpreter="pypy"), False),
    (partial(_say, number=0, kind="ui/switchInterpreter", interpreter="cpython"), False),
]  # fmt: skip
"""What is set changes again while the problem is about to be shown with what was set before."""


@pytest.mark.timeout(300)
@pytest.mark.slow
@settings(max_examples=plenty(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(STEPS, st.booleans()), max_size=14), st.integers(0, 5))
@example(ISSUE, 0)
@example(ONE_AFTER_ALL, 0)
@example(CUT_OFF, 0)
@example(IN_THE_MIDDLE, 0)
@example(THERE_AND_BACK, 0)
@example(UNDONE, 0)
@example(TEST_UNDONE, 0)
@example(GONE_AND_BACK, 0)
@example(JUDGED_WHILE_AWAY, 0)
def test_what_a_page_knows_is_what_is_on_the_disk_and_what_was_run(steps: list[tuple[Any, bool]], seed: int) -> None:
    run_schedule(seed, play, steps)
