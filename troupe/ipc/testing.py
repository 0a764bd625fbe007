"""A desk for the tests of scripts: the same calls, no files, no server, and answers that are known beforehand.

    desk = FakeDesk({
        "ping": {"message": "pong"},                             # every attempt gets this
        "submitPrompt": lambda params: {"content": params["prompt"].upper()},
        "busy": [fails("busy"), {"content": "at last"}],         # the first attempt, the second; then the last again
        "broken": fails("no such model"),                        # three attempts, as the real one has
        "slow": NEVER,                                           # under way until it is cancelled, or answered
    })
    with FakeDesk.blocking({...}) as desk: ...

`requests` holds what was submitted, in its order. A callable that raises fails the attempt, with the text of its
exception. `answer(id, data)` answers what is under way.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import trio

from codec.ipc import Failure, Outcome, Request, Success
from codec.ipc.desk import Attempt
from troupe.ipc.results import CANCELLED, Result
from troupe.ipc.tickets import AnyDesk
from troupe.ipc.troubles import IdTaken, NoSuchRequest

MOST_ATTEMPTS = 3
UNKNOWN = "Unknown command: {}"

Answer = Any
"""Data, a Failure, a callable that takes the params, NEVER, or a list of these: one for each attempt."""


class _Never:
    def __repr__(self) -> str:
        return "NEVER"


NEVER = _Never()


def fails(message: str, *, permanent: bool = False) -> Failure:
    """`permanent`: it is not tried again."""
    return Failure(message, permanent)


class FakeDesk(AnyDesk):
    def __init__(self, answers: Mapping[str, Answer] | None = None, *, submitter: str | None = None) -> None:
        super().__init__(submitter)
        self.requests: list[Request] = []
        self._answers = dict(answers or {})
        self._asked: dict[str, Request] = {}
        self._results: dict[str, Result] = {}
        self._watches: set[FakeWatch] = set()

    def set_answer(self, command: str, answer: Answer) -> None:
        """From now on."""
        self._answers[command] = answer

    def answer(self, id: str, data: Any = None) -> None:  # noqa: A002 - as in the contract
        """Ends a request that is under way. `data` may be a Failure."""
        outcome = data if isinstance(data, Failure) else Success(data)
        self._end(id, [outcome])

    async def cancel(self, ids: Sequence[str]) -> list[str]:
        await trio.lowlevel.checkpoint()
        cancelled = [each for each in ids if each in self._asked and each not in self._results]
        for each in cancelled:
            self._finish(Result(each, ok=False, error=CANCELLED, cancelled=True))
        return cancelled

    async def _submit(self, requests: Sequence[Request]) -> None:
        await trio.lowlevel.checkpoint()
        taken = {}
        for request in requests:
            known = self._asked.setdefault(request.id, request)
            if (known.command, known.params) != (request.command, request.params):
                taken[request.id] = f"There is a request {request.id} already, and it asks for something else"
            elif known is request:
                self.requests.append(request)
                self._begin(request)
        if taken:
            raise IdTaken(taken)

    async def _check_known(self, id: str) -> None:  # noqa: A002
        if id not in self._asked:
            raise NoSuchRequest(f"There is no request {id} at this desk. Submit it, or correct the id")

    def new_watch(self) -> "FakeWatch":
        watch = FakeWatch(self._results, self._watches)
        self._watches.add(watch)
        return watch

    def _begin(self, request: Request) -> None:
        known = request.command in self._answers
        script = self._answers[request.command] if known else Failure(UNKNOWN.format(request.command), permanent=True)
        steps = list(script) if isinstance(script, list) else [script]
        outcomes: list[Outcome] = []
        while len(outcomes) < MOST_ATTEMPTS:
            outcome = _outcome(steps[min(len(outcomes), len(steps) - 1)], request.params)
            if outcome is None:
                return
            outcomes.append(outcome)
            if isinstance(outcome, Success) or outcome.permanent:
                break
        self._end(request.id, outcomes)

    def _end(self, id: str, outcomes: list[Outcome]) -> None:  # noqa: A002
        now = time.time()
        tried = tuple(Attempt(number=n, began=now, ended=now, outcome=each) for n, each in enumerate(outcomes, 1))
        last = outcomes[-1]
        if isinstance(last, Success):
            self._finish(Result(id, ok=True, data=last.data, attempts=tried))
        else:
            self._finish(Result(id, ok=False, error=last.message, attempts=tried))

    def _finish(self, result: Result) -> None:
        self._results[result.id] = result
        for watch in self._watches:
            watch.stir()


class FakeWatch:
    def __init__(self, results: Mapping[str, Result], all_of_them: "set[FakeWatch]") -> None:
        self._results = results
        self._all = all_of_them
        self._ids: dict[str, None] = {}
        self._stirred = trio.Event()

    def add(self, ids: Iterable[str]) -> None:
        self._ids.update(dict.fromkeys(ids))

    async def next(self, _patience: float | None) -> Result:
        while True:
            await trio.lowlevel.checkpoint()
            for each in self._ids:
                if each in self._results:
                    del self._ids[each]
                    return self._results[each]
            if not self._ids:
                raise LookupError("all of them have been given")
            self._stirred = trio.Event()
            await self._stirred.wait()

    def stir(self) -> None:
        self._stirred.set()

    def close(self) -> None:
        self._all.discard(self)


def _outcome(step: Answer, params: dict[str, Any]) -> Outcome | None:
    """None: it is never answered."""
    if callable(step):
        try:
            step = step(params)
        except Exception as error:
            return Failure(str(error) or type(error).__name__)
    if step is NEVER:
        return None
    return step if isinstance(step, Failure | Success) else Success(step)
