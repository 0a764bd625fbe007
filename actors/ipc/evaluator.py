"""The evaluator: for each success whose request has a reference, writes once how close the answer comes to it.

    Succeeded   a request has succeeded. The comparison waits its turn; nobody waits for the evaluator

It stands outside the path of requests: it accepts every message at once, and all that takes time (the comparison, the
disk) is done one after the other in a task beside it.

Rules
  - What waits is bounded, in number and in size. When there is more, the oldest is dropped, and whatever was dropped is
    found again in the folder once nothing waits: it is what has a reference, a success, and no evaluation.
  - The same is done after a start, a few files at a time, for what the process before has left.
  - A peer of the HEAD dialect takes away the requests it has answered. Those are found again in the client end's
    journal, which is read a page at a time, with a pause between.
  - A folder that is missing or full loses nothing: the comparison is put back, and written later.
  - A comparison that does not come to its end in time is given up, and counted.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Protocol

import trio
from msgspec import Struct

from actors.ipc.dossier import Dossier
from actors.ipc.given import TROUBLE, Asked, Base, BaseFull, BaseGone, Tray
from actors.ipc.messages import EVALUATOR, EvaluatorMessage, Succeeded
from actors.ipc.steps import Answer
from actors.kernel import Actor, ChildSpec, Mailbox, Overflow, Registry
from codec.ipc import BadRequest, Scores, Success, read_request
from codec.ipc.evaluation import (
    Comparison,
    comparison,
    evaluation,
    is_done,
    iso_8601,
    read_evaluation,
    write_evaluation,
)
from codec.words import counted

MOST_WAITING = 1_000
MOST_CHARACTERS = 20_000_000
"""Of all texts that wait."""
AGAIN_SECONDS = 5.0
"""Until the folder is tried again, when it was missing or full."""
GLANCE = 32
"""Old requests that are looked at without a pause."""
GLANCE_SECONDS = 1.0
"""The pause after those. A hundred thousand old files must not keep a processor busy."""
PAGE_SECONDS = 3.0
"""The pause after a page of the journal."""
IDLE_SECONDS = 30.0
"""Until the comparing process is let go."""
HINTS = (b"expected_response", b"reference")
"""A request that holds neither word has no reference, and need not be read."""


class Scorer(Protocol):
    async def scores(self, answer: str, expected: str) -> Scores | None:
        """None: it took too long, or could not be done."""

    def rest(self) -> None:
        """Nothing is to be compared for a while; whatever is held for it is let go."""


class Ended(Protocol):
    """The client end's journal, of what is over. Every call may raise the store's errors."""

    async def referenced(self, after: str) -> tuple[Sequence[str], str | None]:
        """Of a page, the successes whose requests have a reference; and what the next one is asked for with."""

    async def find_over(self, id: str) -> Dossier | None:  # noqa: A002 - as in the contract
        """With all that belongs to it."""


class EvaluatorStatistics(Struct, frozen=True):
    waiting: int
    written: int
    dropped: int
    """Which are found again."""
    given_up: int


class _Job(Struct, frozen=True):
    wanted: Comparison
    seconds: float | None

    @property
    def size(self) -> int:
        return len(self.wanted.answer) + len(self.wanted.expected)


class Evaluator(Actor[EvaluatorMessage]):
    def __init__(
        self,
        base: Base,
        scorer: Scorer,
        now: Callable[[], float],
        ended: Callable[[Registry], Ended] | None = None,
    ) -> None:
        """`now`: seconds since 1970, for the files. `ended`: the journal of a client end, if there is one."""
        self._base = base
        self._make_ended = ended
        self._scorer = scorer
        self._now = now
        self._jobs: dict[str, _Job] = {}
        self._characters = 0
        """Invariant: the sum of their sizes."""
        self._search = True
        """Whether the folder may hold what was neither evaluated nor waits."""
        self._old: deque[str] = deque()
        self._after: str | None = None
        """Where the journal is to be read on; None: nowhere."""
        self._vanished: deque[str] = deque()
        """Of its last page, what the folder cannot tell any more."""
        self._hopeless: set[str] = set()
        self._news = trio.Event()
        self._written = self._dropped = self._given_up = self._lost_before = 0
        self._waits_for: str | None = None

    def statistics(self) -> EvaluatorStatistics:
        return EvaluatorStatistics(len(self._jobs), self._written, self._dropped, self._given_up)

    @property
    def trouble(self) -> str | None:
        return self._waits_for

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(EVALUATOR, self.ref)
        self._ended = None if self._make_ended is None else self._make_ended(self.stage.registry)
        self._lost_before = self._lost()
        if isinstance(kept, dict):
            for job in kept.values():
                self._put(job)
        self.run_beside(self._work)

    def keep(self) -> object:
        return self._jobs

    async def handle(self, message: EvaluatorMessage) -> None:
        match message:
            case Succeeded(request, outcome, seconds):
                wanted = comparison(request, outcome)
                if wanted is not None:
                    self._put(_Job(wanted, seconds))
            case _:
                self.unknown(message)
        if self._lost() > self._lost_before:  # the mailbox was full, and dropped its oldest
            self._dropped += self._lost() - self._lost_before
            self._lost_before = self._lost()
            self._search = True
        self._say()

    # -- what waits

    def _put(self, job: _Job) -> None:
        self._take(job.wanted.request_id)
        self._jobs[job.wanted.request_id] = job
        self._characters += job.size
        while len(self._jobs) > MOST_WAITING or self._characters > MOST_CHARACTERS:
            self._take(next(iter(self._jobs)))
            self._dropped += 1
            self._search = True
        self._news.set()

    def _take(self, id: str) -> _Job | None:  # noqa: A002 - as in the contract
        job = self._jobs.pop(id, None)
        self._characters -= job.size if job else 0
        return job

    def _lost(self) -> int:
        return self.ref.statistics().mailbox.dropped

    def _say(self) -> None:
        parts = [f"{counted(self._written, 'evaluation')} written"]
        if self._jobs:
            parts.append(f"{len(self._jobs):,} waiting")
        if self._given_up:
            parts.append(f"{self._given_up:,} given up, because comparing the texts took too long")
        self.note = ", ".join(parts)

    # -- the work

    async def _work(self) -> None:
        try:
            while True:
                try:
                    await self._work_once()
                except TROUBLE as why:
                    self._waits_for = str(why)
                    await trio.sleep(AGAIN_SECONDS)
                else:
                    self._waits_for = None
                self._say()
        finally:
            self._scorer.rest()

    async def _work_once(self) -> None:
        if self._jobs:
            await self._evaluate(next(iter(self._jobs)))
        elif self._old:
            if not await self._look_at_old():
                await self._wait(GLANCE_SECONDS)
        elif self._vanished:
            await self._look_at_vanished()
        elif self._after is not None:
            await self._read_on(self._after)
            if not self._vanished:
                await self._wait(PAGE_SECONDS)
        elif self._search:
            self._search = False
            await self._find_old()
        else:
            await self._wait(IDLE_SECONDS)
            if not self._jobs:
                self._scorer.rest()
                await self._news.wait()

    async def _wait(self, seconds: float) -> None:
        """Until there is something to compare, or this time has passed."""
        self._news = trio.Event()
        with trio.move_on_after(seconds):
            await self._news.wait()

    async def _evaluate(self, id: str) -> None:  # noqa: A002
        """It waits until it is written, so that a crash between is none of its own."""
        job = self._jobs[id]
        if not is_done(read_evaluation(await self._base.read(Tray.EVALUATIONS, id)), job.wanted):
            found = await self._scorer.scores(job.wanted.answer, job.wanted.expected)
            if found is None:
                self._given_up += 1
                self._hopeless.add(id)
            else:
                when = iso_8601(self._now())
                done = evaluation(job.wanted, found, duration=job.seconds, when=when)
                await self._base.write(Tray.EVALUATIONS, id, write_evaluation(done))
                self._written += 1
        if self._jobs.get(id) is job:  # it is not, if it has succeeded again, with another answer
            self._take(id)

    # -- what was left or dropped

    async def _find_old(self) -> None:
        try:
            answered = await self._base.ids(Tray.RESPONSES) & await self._base.ids(Tray.REQUESTS)
            done = await self._base.ids(Tray.EVALUATIONS)
        except (BaseGone, BaseFull):
            self._search = True
            raise
        self._old = deque(sorted(answered - done - self._hopeless))
        self._after = None if self._ended is None else ""

    async def _look_at_old(self) -> bool:
        """Whether any of the next few is to be evaluated."""
        next_few = list(islice(self._old, GLANCE))
        for id in await self._hinting(next_few):  # noqa: A001
            if job := await self._job_of(id):
                self._put(job)
        for _ in next_few:
            self._old.popleft()
        return bool(self._jobs)

    async def _hinting(self, ids: Sequence[str]) -> list[str]:
        """Those whose request may have a reference."""
        found = await self._base.read_several(Tray.REQUESTS, ids)
        return [id for id, data in found.items() if any(hint in data for hint in HINTS)]  # noqa: A001

    async def _job_of(self, id: str) -> _Job | None:  # noqa: A002
        both = await self._base.look(id)
        if isinstance(both.request, Asked) and isinstance(both.response, Answer):
            outcome = both.response.outcome
            if isinstance(outcome, Success) and (wanted := comparison(both.request.request, outcome)):
                return _Job(wanted, None)
        return None

    async def _read_on(self, after: str) -> None:
        assert self._ended is not None
        ids, then = await self._ended.referenced(after)
        if ids:
            done = await self._base.ids(Tray.EVALUATIONS) | self._hopeless
            found = await self._base.ids(Tray.REQUESTS) & await self._base.ids(Tray.RESPONSES)
            self._vanished.extend(id for id in ids if id not in done and id not in found)  # noqa: A001
        self._after = then

    async def _look_at_vanished(self) -> None:
        assert self._ended is not None
        for id in list(islice(self._vanished, GLANCE)):  # noqa: A001
            dossier = await self._ended.find_over(id)
            self._vanished.popleft()
            if id not in self._jobs and dossier is not None and (job := _job_in(dossier)) is not None:
                self._put(job)


def _job_in(dossier: Dossier) -> _Job | None:
    last = dossier.tried[-1] if dossier.tried else None
    if last is None or not isinstance(last.outcome, Success):
        return None
    try:
        wanted = comparison(read_request(dossier.content, dossier.id), last.outcome)
    except BadRequest:
        return None
    return None if wanted is None else _Job(wanted, last.seconds)


def evaluator_spec(
    base: Base, scorer: Scorer, now: Callable[[], float], ended: Callable[[Registry], Ended] | None = None
) -> ChildSpec[EvaluatorMessage]:
    """Its mailbox never refuses: whoever tells it of a success must not wait for it, nor fail."""
    return ChildSpec(
        "evaluator", lambda: Evaluator(base, scorer, now, ended), mailbox=partial(Mailbox, 1_024, Overflow.DROP_OLDEST)
    )
