"""`troupe judge run`: the judge in the terminal, without a server.

    judging              Judging: starts the run, shows what it reports, and ends with it
    ├─ launcher          starts programs
    └─ run               the same as the server's, with its cases below it

The parts of the judge are passed in (`JudgeParts`). This file knows only the command line and the output in the
terminal.

    exit code    when
    0            every case passed
    1            a case failed
    2            there was no solution, test or interpreter, or a case could not be judged or shown
    130, 143     Ctrl-C, SIGTERM; nothing is left running
    141          the reader of the output has left, as after `| head`

Rules
  - The table is printed once, at the end, so `| less` and `> file` get the same text as a screen. Until then a terminal
    shows one line that is rewritten.
  - `--json` prints one message a line as they come, the same messages that a page would get.
  - A test that is left out, because one of its files is missing, a link, a pipe or a folder, is told in the sentence of
    the page: below the table, as a notice, or behind the reason why nothing could be run.
"""

import math
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from signal import Signals
from typing import Any, Never, Protocol, TextIO, runtime_checkable

import msgspec
import trio
from msgspec import Struct

from actors.kernel import (
    Actor,
    ActorRef,
    AnyRef,
    AnySpec,
    ChildSpec,
    Down,
    KernelError,
    Registry,
    Restart,
    Stage,
    Stop,
    Supervisor,
    in_words,
    run,
)
from codec.judge import (
    MAIN,
    File,
    Input,
    Notice,
    Output,
    RunComplete,
    RunReport,
    RunResult,
    RunSettings,
    Stdin,
    Stdout,
    summary_of,
    write,
)
from codec.settings import JudgeSettings
from codec.words import sentences
from program import ending, places, signals, streams
from program.arguments import JudgeRun
from program.scorecard import draw, sum_up
from program.status import Status
from program.terminal import colours_wanted, is_terminal
from program.trouble import Trouble

BAR = 24
NOT_JUDGED = 2


class Found(Protocol):
    @property
    def cases(self) -> Mapping[int, object]: ...
    @property
    def has_main(self) -> bool: ...
    @property
    def odd(self) -> Mapping[str, str]:
        """What is wrong with which file, so that it is passed over."""


class Folders(Protocol):
    """One problem's folder."""

    def find(self, task: Sequence[str]) -> Awaitable[Found]: ...


class Machine(Protocol):
    def resolve(self, command: str) -> Awaitable[Path | str]:
        """An interpreter, or the reason why there is none."""


@runtime_checkable
class Reported(Protocol):
    """What a run tells of each case, whatever else it tells."""

    @property
    def result(self) -> RunResult: ...


class RunWanted(Struct, frozen=True):
    """Everything the judge must know to make a run."""

    folders: Any
    machine: Any
    program: Sequence[str]
    cwd: Path
    indices: Sequence[int]
    settings: RunSettings
    input: Input
    output: Output
    report: ActorRef[Reported]


class JudgeParts(Struct, frozen=True):
    """The parts of the judge."""

    folders: Callable[[Path, str], Folders]
    """Takes a problem's folder, and the name of the tests' folder in it."""
    machine: Callable[[Path, Registry, bool], Machine]
    """Takes the folder from which commands are searched, the registry that knows the launcher, and whether to start
    interpreters ahead."""
    launcher: Callable[[], AnySpec]
    run: Callable[[RunWanted], Actor[Never]]
    """The run reports by messages with a `result`, which is a RunResult."""
    left_out: Callable[[Mapping[str, str]], str | None]
    """What a folder's odd files amount to, in a sentence."""


class SettledRun(Struct, frozen=True):
    """The complete request, with all settings filled in. The interpreter is still only a name."""

    folder: Path
    folders: Folders
    interpreter: str
    named: bool
    """Whether the interpreter was named on the command line."""
    cwd: Path
    indices: tuple[int, ...]
    settings: RunSettings
    start_ahead: bool
    input: Input
    output: Output
    remark: str | None
    """Says which tests are left out, and why."""

    @property
    def main(self) -> Path:
        return self.folder / MAIN


def judge(
    command: JudgeRun, section: JudgeSettings, means: JudgeParts, out: TextIO | None = None, err: TextIO | None = None
) -> int:
    """The exit code."""
    places.check_interpreter()
    terminal = _Terminal(command, out or sys.stdout, err or sys.stderr)
    return trio.run(_judge, command, section, means, terminal)


def asked_for(command: JudgeRun, settings: RunSettings) -> RunSettings:
    """The settings, changed by the options of the command line."""
    changes: dict[str, Any] = {}
    match command.interpreter:
        case None:
            pass
        case "cpython" | "pypy" as known:
            changes["interpreter"] = known
        case path:
            changes |= {"interpreter": "cpython", "python_command": path}
    if command.jobs is not None:
        changes["jobs"] = command.jobs
    if command.timeout_ms is not None:
        changes["timeout_ms"] = command.timeout_ms
    if command.compare is not None:
        changes["compare"] = msgspec.structs.replace(settings.compare, mode=command.compare)
    return msgspec.structs.replace(settings, **changes)


async def _judge(command: JudgeRun, section: JudgeSettings, means: JudgeParts, terminal: "_Terminal") -> int:
    """Raises Trouble outside of the nursery, because a nursery would wrap it in a group."""
    trouble: Trouble | None = None
    interrupted: int | None = None
    stages: list[Stage] = []
    orderly = trio.CancelScope()

    def stop(signal: Signals) -> None:
        nonlocal interrupted
        interrupted = ending.code(signal)
        orderly.cancel()

    def kill(signal: Signals) -> None:
        for stage in stages:
            if stage.root is not None:
                stage.root.kill()

    async with trio.open_nursery() as nursery:
        await nursery.start(signals.listen, stop, kill)
        try:
            with orderly:
                task = await _task(command, section, means)
                judging = Judging(task, means, terminal)
                spec = ChildSpec("judging", lambda: judging, start_timeout=math.inf, grace=math.inf)
                terminal.begin(len(task.indices), task.remark)
                ended = await run(spec, on_stage=stages.append)
                trouble = judging.failure or _failed(ended)
        except Trouble as found:
            trouble = found
        nursery.cancel_scope.cancel()
    if trouble is not None and interrupted is None:
        terminal.clear()
        raise trouble
    terminal.end(interrupted=interrupted is not None)
    return terminal.exit_code if interrupted is None else interrupted


def _failed(ended: Stop) -> Trouble | None:
    return None if ended.why.normal else Trouble(f"The judge has failed ({ended}). Run it again")


async def _task(command: JudgeRun, section: JudgeSettings, means: JudgeParts) -> SettledRun:
    settings, tests_dir, folder = asked_for(command, section.run), section.tests_dir, command.folder
    name_another = f"Name the one where {MAIN} is: troupe judge run FOLDER"
    try:
        there = folder.is_dir()
    except OSError as error:
        raise Trouble(f"The folder {folder} cannot be read: {error.strerror}. {name_another}") from None
    if not there:
        raise Trouble(f"There is no folder {folder}. {name_another}")
    folders = means.folders(folder, tests_dir)
    try:
        found = await folders.find(())
    except OSError as error:
        raise Trouble(f"The tests in {folder / tests_dir} cannot be read: {error.strerror or error}") from None
    remark = means.left_out(found.odd)
    if not found.has_main:
        why = f"There is no {MAIN} in {folder}. Write one, or name another folder: troupe judge run FOLDER"
        raise _refusal(why, remark)
    if not found.cases:
        raise _refusal(f"There are no tests in {folder / tests_dir}. Put some there, as 1.in and 1.out", remark)
    missing = [index for index in command.cases if index not in found.cases]
    if missing:
        known = ranges(tuple(found.cases))
        raise _refusal(f"There is no case {missing[0]} in {folder / tests_dir}; there are {known}", remark)
    pypy = settings.interpreter == "pypy"
    return SettledRun(
        folder=folder,
        folders=folders,
        interpreter=settings.pypy_command if pypy else settings.python_command,
        named=command.interpreter not in (None, "cpython", "pypy"),
        cwd=Path(section.workspace or places.here()) if settings.run_cwd_mode == "workspace" else folder,
        indices=command.cases or tuple(found.cases),
        settings=settings,
        start_ahead=section.start_ahead,
        input=Stdin() if command.input_file is None else File(command.input_file),
        output=Stdout() if command.output_file is None else File(command.output_file),
        remark=remark,
    )


def _refusal(why: str, remark: str | None) -> Trouble:
    return Trouble(sentences(why, remark or "").removesuffix("."))


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in words: 1 to 3, 5."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return ", ".join(f"{each[0]} to {each[-1]}" if len(each) > 1 else str(each[0]) for each in found)


class Judging(Supervisor[Reported]):
    """The root of the tree. It starts the run and is told of each case."""

    def __init__(self, task: SettledRun, means: JudgeParts, terminal: "_Terminal") -> None:
        super().__init__([means.launcher()], max_children=1)  # the run
        self.failure: Trouble | None = None
        """Why there was no run."""
        self._task = task
        self._means = means
        self._terminal = terminal

    async def started(self, kept: object | None) -> None:
        await super().started(kept)
        self.run_beside(self._begin)

    async def handle(self, message: Reported) -> None:
        match message:
            case Reported(result=result):
                try:
                    self._terminal.take(result)
                except Trouble as trouble:
                    self.failure = trouble
                    self.finish()
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        if not down.stop.why.normal:
            self.failure = _failed(down.stop)
        self.finish()

    async def _begin(self) -> None:
        try:
            self.monitor(await self._run())
        except (Trouble, KernelError) as trouble:
            why = f"Nothing could be run: {in_words(trouble)}"
            self.failure = trouble if isinstance(trouble, Trouble) else Trouble(why)
            self.finish()

    async def _run(self) -> AnyRef:
        task = self._task
        machine = self._means.machine(places.here(), self.stage.registry, task.start_ahead)
        interpreter = await machine.resolve(task.interpreter)
        if isinstance(interpreter, str):
            raise Trouble(_missing(task, interpreter))
        wanted = RunWanted(
            folders=task.folders,
            machine=machine,
            program=(str(interpreter), str(task.main)),
            cwd=task.cwd,
            indices=task.indices,
            settings=task.settings,
            input=task.input,
            output=task.output,
            report=self.ref,
        )
        return await self.start_child(
            ChildSpec(
                "run",
                lambda: self._means.run(wanted),
                restart=Restart.TEMPORARY,
                start_timeout=math.inf,
                grace=math.inf,
            )
        )


def _missing(task: SettledRun, why: str) -> str:
    if task.named:
        return f"There is no Python to run this with: {why}. Name another: cpython, pypy, or a path"
    setting, install = "python_command", "Install Python"
    if task.settings.interpreter == "pypy":
        setting, install = "pypy_command", "Install it (Debian: apt install pypy3; macOS: brew install pypy3)"
    name = "PyPy" if task.settings.interpreter == "pypy" else "Python"
    return (
        f"There is no {name} to run this with: {why}. {install}, name it with --interpreter PATH, or set "
        f"judge.{setting} to its path"
    )


class _Terminal:
    """Shows a run in the terminal."""

    def __init__(self, command: JudgeRun, out: TextIO, err: TextIO) -> None:
        self._json = command.json
        self._out = out
        self._status = Status(err)
        self._live = is_terminal(out) and not command.json
        self._asked = 0
        self._results: list[RunResult] = []
        self._remark: str | None = None
        self._began: float | None = None
        """None: its tests are not known yet."""

    @property
    def exit_code(self) -> int:
        if any(result.verdict == "IE" for result in self._results):
            return NOT_JUDGED
        return 0 if all(result.status == "pass" for result in self._results) else 1

    def begin(self, asked: int, remark: str | None) -> None:
        self._asked = asked
        self._remark = remark
        self._began = trio.current_time()
        if self._json and remark is not None:
            self._print(write(Notice("warn", remark)).decode())
        self._show()

    def take(self, result: RunResult) -> None:
        self._results.append(result)
        if self._json:
            self._print(write(RunReport("all", result)).decode())
        self._show()

    def clear(self) -> None:
        self._status.clear()

    def end(self, *, interrupted: bool) -> None:
        self._status.clear()
        milliseconds = 0 if self._began is None else round((trio.current_time() - self._began) * 1000)
        if self._json:
            self._print(write(RunComplete("all", summary_of(self._results, milliseconds), None, interrupted)).decode())
            return
        width, colours = shutil.get_terminal_size().columns, colours_wanted(self._out)
        if self._results:
            self._print(draw(self._results, width=width, colours=colours) + "\n")
        for line in sum_up(self._results, self._asked, milliseconds, self._remark, width=width, colours=colours):
            self._print(line)

    def _show(self) -> None:
        if not self._live:
            return
        done = len(self._results)
        passed = sum(result.status == "pass" for result in self._results)
        full = BAR * done // self._asked
        self._status.show(f"{'█' * full}{'░' * (BAR - full)}  {done} of {self._asked} judged, {passed} passed")

    def _print(self, text: str) -> None:
        streams.show(text + "\n", self._out, code=NOT_JUDGED)
