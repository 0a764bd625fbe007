"""What one can do at any desk, the real one and the one for tests: `AnyDesk`, and the tickets that it gives."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import trio

from codec.decoding import fault
from codec.ipc import Request, Wishes, checked, write_request
from codec.ipc.request import LONGEST_COMMAND
from codec.words import lasting
from troupe.ipc.arrivals import Watch
from troupe.ipc.naming import new_id
from troupe.ipc.results import Result
from troupe.ipc.troubles import BadParams, NotYet
from troupe.ipc.turns import Give, SubmitThese, Turn, WaitForOne, turns
from troupe.ipc.visits import LARGEST

if TYPE_CHECKING:
    from troupe.ipc.blocking import BlockingDesk

When = float | datetime
PATIENCE = 10.0
"""Seconds for which nobody may be at the desk, before whoever waits is told."""
JUST_NOW_SECONDS = 0.5
"""Another script may be about to submit what one waits for."""

Ids = Callable[[dict[str, Any]], str] | Iterable[str]
"""How `map` names its requests."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request that was submitted."""

    id: str
    command: str
    _desk: "AnyDesk"

    async def wait(self, timeout: float | None = None, *, patience: float | None = PATIENCE) -> Result:
        """How it ended. Raises NotYet after `timeout` seconds; NobodyAtTheDesk after `patience` seconds in which nobody
        was there who would answer. It goes on in either case, and can be waited for again. Raises NoSuchRequest if
        nobody has submitted it."""
        return await self._desk.wait(self.id, timeout, patience=patience)

    async def cancel(self) -> bool:
        """Whether it was cancelled: what is over stays as it is."""
        return bool(await self._desk.cancel([self.id]))


class AnyDesk(ABC):
    """A request is kept when `submit` returns. Every method can be cancelled at any time."""

    def __init__(self, submitter: str | None = None) -> None:
        self._submitter = _usual_submitter() if submitter is None else submitter

    async def submit(
        self,
        command: str,
        params: dict[str, Any] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - as in the contract
        reference: str | None = None,
        priority: int = 0,
        not_before: When | None = None,
        deadline: When | None = None,
        submitter: str | None = None,
    ) -> Ticket:
        """One request. With an `id` that was submitted before, with the same command and params, it is the same request
        and the ticket is for that. Raises IdTaken if they differ.

        `reference`: what a good answer says, for the evaluation. `priority`: from -100 to 100; of one submitter's
        requests the higher goes first. `not_before`, `deadline`: a time of day, as a datetime with its zone or in
        seconds since 1970; what nobody has begun by its deadline fails."""
        wishes = {
            "submitter": submitter,
            "priority": priority,
            "not_before": not_before,
            "deadline": deadline,
            "reference": reference,
        }
        (ticket,) = await self.submit_many([self.made(command, params, id, wishes)])
        return ticket

    async def submit_many(self, requests: Sequence[Request]) -> list[Ticket]:
        """All of them at once, for the price of one sync. Raises IdTaken, which names those whose ids are `taken`; the
        others are submitted all the same."""
        if requests:
            await self._submit(requests)
        return [Ticket(each.id, each.command, self) for each in requests]

    def ticket(self, id: str, command: str = "") -> Ticket:  # noqa: A002
        """For a request that was submitted before."""
        return Ticket(checked(id), command, self)

    async def run(
        self,
        command: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        patience: float | None = PATIENCE,
        **wishes: Any,
    ) -> Result:
        """Submits and waits. `wishes`: as those of `submit`."""
        ticket = await self.submit(command, params, **wishes)
        return await ticket.wait(timeout, patience=patience)

    async def wait(self, id: str, timeout: float | None = None, *, patience: float | None = PATIENCE) -> Result:  # noqa: A002
        watch = self.new_watch()
        until = trio.current_time() + (float("inf") if timeout is None else timeout)
        try:
            watch.add([id])
            with trio.move_on_at(min(until, trio.current_time() + JUST_NOW_SECONDS)):
                return await watch.next(patience)
            await self._check_known(id)
            with trio.move_on_at(until):
                return await watch.next(patience)
        finally:
            watch.close()
        raise NotYet(f"The request {id} was not over after {lasting(timeout or 0)}. It goes on; wait for it again")

    def map(
        self,
        command: str,
        params: Iterable[dict[str, Any]],
        *,
        concurrency: int = 16,
        ids: Ids | None = None,
        patience: float | None = PATIENCE,
        **wishes: Any,
    ) -> "Results":
        """The results for all of them, in their order, with at most `concurrency` under way. `params` may be endless.
        `ids` names the requests, so that a script which was killed can go on where it was: a function of the params, or
        an id for each of them, in order. `wishes`: as those of `submit`."""
        plan = turns(params, concurrency)
        return Mapped(plan, self.maker(command, ids, wishes), self.submit_many, self.new_watch(), patience)

    def as_completed(self, tickets: Iterable[Ticket], *, patience: float | None = PATIENCE) -> "Results":
        """The results, as they come."""
        watch = self.new_watch()
        watch.add([each.id for each in tickets])
        return Completed(watch, patience)

    def made(
        self,
        command: str,
        params: dict[str, Any] | None,
        id: str | None,  # noqa: A002
        wishes: Mapping[str, Any],
    ) -> Request:
        """Raises BadId, BadParams."""
        given = {"submitter": self._submitter, **{name: wish for name, wish in wishes.items() if wish is not None}}
        for name in ("not_before", "deadline"):
            if name in given:
                given[name] = _seconds(given[name], name)
        return _made(command, params, id, given)

    def maker(
        self, command: str, ids: Ids | None, wishes: Mapping[str, Any]
    ) -> Callable[[dict[str, Any]], Request]:
        name = _namer(ids)
        return lambda params: self.made(command, params, name(params), wishes)

    @classmethod
    def blocking(cls, *arguments: Any, **options: Any) -> "BlockingDesk":
        """The same desk for programs without trio: `with Desk.blocking() as desk`."""
        from troupe.ipc.blocking import BlockingDesk

        return BlockingDesk(lambda: cls(*arguments, **options))

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __enter__(self) -> NoReturn:
        raise TypeError("This desk is for trio: `async with Desk() as desk`. Else: `with Desk.blocking() as desk`.")

    def __exit__(self, *_: object) -> NoReturn:
        raise AssertionError  # never entered: Python only looks whether there is one

    @abstractmethod
    async def cancel(self, ids: Sequence[str]) -> list[str]:
        """Those that were cancelled."""

    def close(self) -> None:  # noqa: B027 - not every desk has anything to close
        """What was submitted goes on."""

    @abstractmethod
    async def _submit(self, requests: Sequence[Request]) -> None: ...

    @abstractmethod
    async def _check_known(self, id: str) -> None:  # noqa: A002
        """Raises NoSuchRequest."""

    @abstractmethod
    def new_watch(self) -> Watch: ...


class Results(ABC):
    """Results, one after the other: `async for result in ...`. If waiting for one is cancelled, none is lost."""

    def __init__(self, watch: Watch, patience: float | None) -> None:
        self._watch = watch
        self._patience = patience

    def __aiter__(self) -> "Results":
        return self

    @abstractmethod
    async def __anext__(self) -> Result: ...

    def __del__(self) -> None:
        self._watch.close()


class Completed(Results):
    async def __anext__(self) -> Result:
        try:
            return await self._watch.next(self._patience)
        except LookupError:
            raise StopAsyncIteration from None


class Mapped(Results):
    def __init__(
        self,
        plan: Generator[Turn, Any, None],
        make: Callable[[dict[str, Any]], Request],
        submit: Callable[[Sequence[Request]], Awaitable[object]],
        watch: Watch,
        patience: float | None,
    ) -> None:
        super().__init__(watch, patience)
        self._plan = plan
        self._make = make
        self._submit = submit
        self._turn: Turn | None = next(plan, None)
        self._made: list[Request] = []

    async def __anext__(self) -> Result:
        while self._turn is not None:
            answer: Any = None
            match self._turn:
                case SubmitThese(params):
                    self._made = self._made or [self._make(each) for each in params]  # once, or they had other ids
                    await self._submit(self._made)
                    answer = [each.id for each in self._made]
                    self._watch.add(answer)
                    self._made = []
                case WaitForOne():
                    answer = await self._watch.next(self._patience)
                case Give(result):
                    self._go_on(None)
                    return result
            self._go_on(answer)
        raise StopAsyncIteration

    def _go_on(self, answer: Any) -> None:
        try:
            self._turn = self._plan.send(answer)
        except StopIteration:
            self._turn = None


def _made(command: str, params: dict[str, Any] | None, id: str | None, wishes: dict[str, Any]) -> Request:  # noqa: A002
    if not isinstance(command, str) or not 0 < len(command) <= LONGEST_COMMAND:
        raise BadParams(f"A command is a text of 1 to {LONGEST_COMMAND} characters, and not {str(command)[:40]!r}")
    params = {} if params is None else params
    if not isinstance(params, dict) or not all(isinstance(name, str) for name in params):
        raise BadParams(f"The params of {command} are a dict with texts as keys, and not {type(params).__name__}")
    name = new_id() if id is None else checked(id)
    try:
        written = msgspec.json.decode(msgspec.json.encode(params))
        changed = None if params == written else _changed(params, written, "params")
        request = Request(id=name, command=command, params=written, wishes=msgspec.convert(wishes, Wishes))
    except msgspec.ValidationError as wrong:
        raise BadParams(f"The request of {command} is not right: {fault(wrong)}") from None
    except (TypeError, ValueError, RecursionError) as wrong:
        raise BadParams(f"The params of {command} cannot be written as JSON: {wrong}") from None
    if changed is not None:
        where, what = changed
        raise BadParams(f"The params of {command} cannot be written as JSON: {where} is {what}, which JSON cannot say")
    if (size := len(write_request(request))) > LARGEST:
        raise BadParams(f"A request has at most {LARGEST:,} bytes; this one of {command} has {size:,}")
    return request


def _changed(given: Any, written: Any, where: str) -> tuple[str, str] | None:
    """The first part that whoever reads it would find changed, and what it is: nan would be null, a set a list."""
    if isinstance(given, dict) and isinstance(written, dict) and all(isinstance(name, str) for name in given):
        parts = ((given[name], written.get(name), f"{where}.{name[:40]}") for name in given)
    elif isinstance(given, list | tuple) and isinstance(written, list):
        parts = ((each, other, f"{where}[{at}]") for at, (each, other) in enumerate(zip(given, written, strict=True)))
    elif given is written or (isinstance(given, str | int | float) and given == written):
        return None
    else:
        is_number = isinstance(given, float)
        return where, str(given) if is_number else f"a value of the type {type(given).__name__}"
    return next((found for part in parts if (found := _changed(*part)) is not None), None)


def _seconds(when: When | None, name: str) -> float | None:
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise BadParams(f"{name} has no time zone; give it one, such as datetime.now(UTC)")
        return when.timestamp()
    return when


def _usual_submitter() -> str:
    """So that scripts take turns with each other."""
    name = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] else "script"
    return f"{name[:60]}-{os.getpid()}"


def _namer(ids: Ids | None) -> Callable[[dict[str, Any]], str | None]:
    if ids is None:
        return lambda _: None
    if isinstance(ids, str):
        raise BadParams("expected ids to be a function of the params, or an id for each of them, and it is a text")
    if callable(ids):
        return ids
    left = iter(ids)

    def name(_: dict[str, Any]) -> str:
        for each in left:
            return each
        raise BadParams("there are fewer ids than params")

    return name
