"""A run of a solution: judges several cases at a time, and reports them in order.

    run                  Run: reports the results of its workers
    └─ worker 1 …        Worker: one case after another, with its program and its verdict

Rules
  - Cases run side by side and are reported in the order of their indices, so a page fills from top to bottom.
  - The number of programs that run at once is limited, and there are twice as many workers. While one waits for its
    program, another prepares the next case, and no core waits for either.
  - A run belongs to its problem. If the problem ends or is restarted, the run ends, and its programs with it.
  - Whatever ends a worker also ends its program, because the program runs inside the worker's task.
  - Results are urgent messages, like notices of an end. Otherwise, in a busy actor, the end of a worker or of the run
    would overtake its result. There are only as many as there are cases. If no actor is busy, they are handled at once:
    from a program's end to the page in one step.
  - Where the kernel permits it, a program can end the launcher of those beside it. An interrupted program is run once
    more, in a new folder and alone. For an honest program nobody notices this; a culprit is told.
  - A case that fails in our own code ends its worker and has a result too (IE). Another worker takes the remaining
    cases.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from actors.judge.checkers import Differs, Same, Verdict, compare
from actors.judge.comparing import APART, ELSEWHERE, MODULE, SECONDS, Undecided, alike, bounds, read, request
from actors.judge.difference import diff_summary
from actors.judge.given import CaseFile, Folders, Machine, Turn
from actors.judge.glances import Glances
from actors.judge.limits import CaseLimits
from actors.judge.messages.problem import CaseJudged
from actors.judge.messages.run import Go, Judged
from actors.judge.outputs import MOST_SHOWN
from actors.judge.stderr import console
from actors.judge.turns import Turns
from actors.judge.verdicts import Facts, is_no_program, rule
from actors.kernel import Actor, ActorRef, AnyRef, ChildSpec, Crowd, Down, KernelError, Restart, in_words
from codec.judge import Compare, File, Input, Output, RunResult, Stdout, excerpt
from codec.programs import MIB, Bounds, Outcome
from codec.words import lasting

KEPT, FLOOD = MIB, 64 * MIB
"""Bytes of output that are kept and allowed, beyond what is expected."""
PROCESSES = 128
"""That a solution may have at the same time: a thread is none."""
FILE_BYTES = 512 * MIB


class RunOrder(Struct, frozen=True):
    """Everything that is needed for a run."""

    task: Sequence[str]
    """The folder's names."""
    program: Sequence[str]
    cwd: Path
    indices: Sequence[int]
    limits: CaseLimits
    compare: Compare
    jobs: int
    input: Input
    output: Output
    expected: Mapping[int, CaseFile] = field(default_factory=dict)
    """The known beginnings of the answers: a short answer need not be read again."""


class Run(Crowd[Judged]):
    def __init__(self, order: RunOrder, folders: Folders, machine: Machine, report: ActorRef[CaseJudged]) -> None:
        super().__init__(max_children=3 * order.jobs)  # a worker that has failed may not quite have ended yet
        self._turns = Turns(order.jobs, sorted(order.indices))
        self._order = order
        self._folders = folders
        self._machine = machine
        self._report = report
        self._untold = deque(sorted(order.indices))
        """The cases that are not reported yet, in order."""
        self._judgements: dict[int, Judged] = {}
        """Results that wait for an earlier case."""
        self._workers: dict[AnyRef, int] = {}
        self._hired = 0

    @property
    def called(self) -> str:
        return f"run {self._report.path.rpartition('/')[2]}"

    async def started(self, kept: object | None) -> None:
        await super().started(kept)
        self.monitor(self._report, every=True)
        for _ in range(min(2 * self._order.jobs, len(self._untold))):
            await self._hire()

    def at_once(self, message: Judged) -> bool:
        if type(message) is not Judged:
            return False
        self._judged(message)
        return True

    async def handle(self, message: Judged) -> None:
        match message:
            case Judged():
                self._judged(message)
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        worker = self._workers.pop(down.ref, None)
        if worker is None:
            self.finish()
            return
        index = self._turns.taken_by(worker)
        if index is not None and index in self._untold and index not in self._judgements:
            if not self._turns.all_taken:
                await self._hire()
            self._judged(Judged(_our_fault(index, f"the judge has failed: {down.stop}")))

    async def _hire(self) -> None:
        self._hired = number = self._hired + 1
        judge = partial(_judge, self._order, self._folders, self._machine, self._turns)
        take = partial(self._turns.take, number)
        make = partial(Worker, self.ref, self._machine.room, take, judge)
        spec = ChildSpec(f"worker {number}", make, restart=Restart.TEMPORARY, grace=1.0)
        ref = await self.start_child(spec)
        self._workers[ref] = number
        self.monitor(ref)

    def _judged(self, judged: Judged) -> None:
        self._judgements[judged.result.index] = judged
        while self._untold and self._untold[0] in self._judgements:
            told = self._judgements.pop(self._untold.popleft())
            following = self._untold[0] if self._untold else None
            report = CaseJudged(self.ref, told.result, following, told.output, told.used)
            self._report.hand(report, urgent=True)
        self.note = f"{len(self._order.indices) - len(self._untold)} of {len(self._order.indices)} judged"
        if not self._untold:
            self.finish()


class Worker(Actor[Go]):
    """Judges one case after another, until all are taken."""

    def __init__(
        self,
        run: ActorRef[Judged],
        room: Callable[[], AbstractAsyncContextManager[object]],
        take: Callable[[], int | None],
        judge: Callable[[int], Awaitable[Judged]],
    ) -> None:
        self._run = run
        self._room = room
        self._take = take
        self._judge = judge

    async def started(self, kept: object | None) -> None:
        self.ref.tell(Go())

    async def handle(self, message: Go) -> None:
        match message:
            case Go():
                while await self._judged_one():
                    pass
                self.finish()
            case _:
                self.unknown(message)

    async def _judged_one(self) -> bool:
        async with self._room():
            index = self._take()
            if index is None:
                return False
            self.note = f"case {index}"
            self._run.hand(await self._judge(index), urgent=True)
            return True


async def _judge(order: RunOrder, folders: Folders, machine: Machine, turns: Turns, index: int) -> Judged:
    turn = turns.turn(index)
    try:
        glances = await Glances.begin(folders, order.task, index)
        expected, known = await _expected(order, folders, index)
        run = partial(_ran, order, folders, machine, index, len(expected))
        found = await run(glances.before(turn)) or await run(None)
        used = await glances.ended(answer=known, is_copied=isinstance(order.input, File))
    except OSError as error:
        return Judged(_our_fault(index, f"the files of case {index} cannot be used: {error.strerror or error}"))
    except KernelError as error:
        return Judged(_our_fault(index, in_words(error)))
    finally:
        turn.over()
    assert found is not None, "who runs alone has a result"
    ran, output = found
    written = output or b""
    answer = await _compared(machine, expected, written, order.compare) if ran.exit_code == 0 else None
    result = _result(order, index, ran, written, None if isinstance(answer, Undecided) else answer)
    if isinstance(answer, Undecided) and result.verdict == "AC":
        result = replace(result, status="re", verdict="IE", reason=answer.why)
    elif output is None and result.verdict == "WA" and isinstance(order.output, File):
        sentence = f"it has not written {order.output.file_name}, the file for the answer"
        result = replace(result, reason=sentence)
    return Judged(result, written[:MOST_SHOWN] if result.actual_cut else b"", used)


async def _compared(machine: Machine, expected: bytes, actual: bytes, how: Compare) -> Verdict | Undecided:
    size = len(expected) + len(actual)
    if size <= APART:
        return compare(expected, actual, how)
    if size <= ELSEWHERE:
        return await machine.apart(compare, expected, actual, how)
    if await machine.apart(alike, expected, actual):
        return Same()
    tried = f"The output could not be compared with the answer ({size / 1e6:,.0f} MB in all): the comparison"
    try:
        ran = await machine.elsewhere(MODULE, request(expected, actual, how), bounds(size))
    except KernelError as error:
        return Undecided(f"{tried} failed: {in_words(error).rstrip('.')}.")
    if ran.stopped_for in ("cpu", "wall"):
        return Undecided(f"{tried} took more than {lasting(SECONDS)} and was given up.")
    if ran.stopped_for == "memory":
        return Undecided(f"{tried} took too much memory and was given up.")
    if ran.exit_code != 0:
        return Undecided(f"{tried} was ended by something else. Run it again.")
    try:
        return read(ran.stdout.head)
    except msgspec.MsgspecError:
        return Undecided(f"{tried} has failed. Run it again.")


async def _expected(order: RunOrder, folders: Folders, index: int) -> tuple[bytes, bytes | None]:
    """The answer, and its digest if it was known before."""
    known = order.expected.get(index)
    if known is not None and len(known.head) == known.size:
        return known.head, known.digest
    return await folders.read(order.task, index, "out"), None


async def _ran(
    order: RunOrder, folders: Folders, machine: Machine, index: int, expected: int, turn: Turn | None
) -> tuple[Outcome, bytes | None] | None:
    """Runs the program. Returns the run, and the content of the output file if there is one. Returns None if the run
    was interrupted."""
    bounds = Bounds(
        cpu_seconds=order.limits.cpu_ms / 1000,
        wall_seconds=order.limits.wall_ms / 1000,
        memory_bytes=None if order.limits.memory_kb is None else order.limits.memory_kb * 1024,
        processes=PROCESSES,
        file_bytes=FILE_BYTES,
        output_bytes=2 * (expected + KEPT),  # if there is more, the first and the last half of this are kept
        flood_bytes=2 * expected + FLOOD,
    )
    stdin, _ = folders.case_paths(order.task, index)
    if isinstance(order.output, Stdout) and not isinstance(order.input, File):
        ran = await machine.run(order.program, cwd=order.cwd, stdin=stdin, bounds=bounds, turn=turn)
        return None if ran is None else (ran, ran.stdout.head)
    input_name = order.input.file_name if isinstance(order.input, File) else None
    async with folders.private(order.task, index, input_name) as folder:
        given = None if input_name is not None else stdin
        ran = await machine.run(order.program, cwd=folder.path, stdin=given, bounds=bounds, turn=turn)
        if ran is None or isinstance(order.output, Stdout):
            return None if ran is None else (ran, ran.stdout.head)
        return ran, await folder.read(order.output.file_name, bounds.output_bytes)


def _result(order: RunOrder, index: int, ran: Outcome, output: bytes, answer: Same | Differs | None) -> RunResult:
    head, tail, size = ran.stderr.head, ran.stderr.tail, ran.stderr.total
    cpu_ms, memory_kb = round(ran.cpu_seconds * 1000), ran.peak_bytes // 1024
    facts = Facts(
        exit_code=ran.exit_code,
        signal=ran.signal,
        stopped_for=ran.stopped_for,
        cpu_ms=cpu_ms,
        memory_kb=memory_kb,
        limits=order.limits,
        no_program=ran.exit_code == 1 and is_no_program(head + tail),
        answer=answer,
    )
    ruling = rule(facts)
    written = ran.stdout.total if isinstance(order.output, Stdout) else len(output)
    actual = excerpt(output, size=written)
    return RunResult(
        index=index,
        status=ruling.status,
        duration_ms=round(ran.wall_seconds * 1000),
        actual=actual.text,
        console=console(head, tail, size),
        diff_summary=diff_summary(answer) if isinstance(answer, Differs) and ruling.verdict == "WA" else None,
        verdict=ruling.verdict,
        reason=ruling.reason,
        cpu_ms=cpu_ms,
        memory_kb=memory_kb,
        contended=ran.contended,
        exit_code=ran.exit_code,
        signal=ran.signal,
        actual_size=actual.size,
        actual_cut=actual.cut,
    )


def _our_fault(index: int, reason: str) -> RunResult:
    return RunResult(
        index=index, status="re", duration_ms=0, actual="", console=reason, verdict="IE", reason=reason, actual_size=0
    )
