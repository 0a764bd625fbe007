"""Tools for tests of actors: puppets, a stage that leaves nothing behind, a tracer that records, schedules that can be
replayed.

A test runs in virtual time and never sleeps. It waits until an actor was told or did something, or lets time jump.

    async with staged(puppet.spec()) as house:
        house["a"].tell("hello")
        assert await puppet.message(1) == "hello"
        house["a"].tell(crash())                # a message that can be called is called with the puppet
        await puppet.start(2)                   # it was restarted

Schedules: trio shuffles the tasks that are ready to run, so one run of a test shows one order of many.
`run_schedule(seed, ...)` draws the order from the seed: the same seed gives the same order. That needs two private
names of trio. Only `schedule` uses them, and it raises an error that says so if a release of trio has moved them.
"""

import inspect
import random as random_module
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import trio
import trio.testing

from actors.kernel.actor import Actor
from actors.kernel.ref import ActorRef, AnyRef
from actors.kernel.reply import Reply
from actors.kernel.spec import AnySpec, ChildSpec
from actors.kernel.stage import Stage, run
from actors.kernel.stop import Down, Ended, Stop, Why
from actors.kernel.supervisor import Strategy, supervisor_spec

T = TypeVar("T")
R = TypeVar("R")


class Log(Generic[T]):
    """A list that can be awaited."""

    def __init__(self) -> None:
        self.entries: list[T] = []
        self._waiting = trio.lowlevel.ParkingLot()

    def add(self, entry: T) -> None:
        self.entries.append(entry)
        self._waiting.unpark_all()

    async def nth(self, number: int, wanted: Callable[[T], bool]) -> T:
        """Wait for the n-th entry that is `wanted`, counted from 1."""
        while True:
            found = [entry for entry in self.entries if wanted(entry)]
            if len(found) >= number:
                return found[number - 1]
            await self._waiting.park()


# -- puppets

Act = Callable[["PuppetActor"], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class Did:
    """One step of a puppet. `what` is started, handle, down or stopping, and `detail` is the argument of that
    method."""

    who: Hashable
    what: str
    detail: Any


class Puppet:
    """An actor whose behaviour the test drives, and a log of all that its incarnations did.

    Each start performs the next act of `on_start`, each stop the next of `on_stop`, each Down the next of `on_down`. If
    there is none left, it does nothing. Several puppets may share a log, which then shows in which order they acted.
    """

    def __init__(self, id: Hashable = "puppet", log: Log[Did] | None = None, **fields: Any) -> None:  # noqa: A002
        self.id = id
        self.log: Log[Did] = log if log is not None else Log()
        self.fields = fields
        self.on_start: list[Act] = []
        self.on_stop: list[Act] = []
        self.on_down: list[Act] = []
        self.keep: Callable[[], object | None] = lambda: None
        self.actor: PuppetActor | None = None
        """The current incarnation, or the last one."""

    def spec(self, **fields: Any) -> ChildSpec[Any]:
        return ChildSpec(self.id, lambda: PuppetActor(self), **{**self.fields, **fields})

    @property
    def ref(self) -> ActorRef[Any]:
        assert self.actor is not None
        return self.actor.ref

    def did(self, what: str) -> list[Any]:
        return [entry.detail for entry in self.log.entries if entry.who == self.id and entry.what == what]

    @property
    def messages(self) -> list[Any]:
        return self.did("handle")

    async def message(self, number: int) -> Any:
        """Wait until the puppet handles its n-th message, counted from 1. Returns the message."""
        return await self._nth("handle", number)

    async def down(self, number: int = 1) -> Down:
        down: Down = await self._nth("down", number)
        return down

    async def start(self, number: int = 1) -> object | None:
        """Wait until the n-th incarnation starts. Returns what its predecessors kept for it."""
        kept: object | None = await self._nth("started", number)
        return kept

    async def _nth(self, what: str, number: int) -> Any:
        entry = await self.log.nth(number, lambda entry: entry.who == self.id and entry.what == what)
        return entry.detail


class PuppetActor(Actor[Any]):
    def __init__(self, puppet: Puppet) -> None:
        self.puppet = puppet

    async def started(self, kept: object | None) -> None:
        self.puppet.actor = self
        await self._next("started", kept, self.puppet.on_start)

    async def handle(self, message: Any) -> None:
        self._did("handle", message)
        if callable(message):
            await self._perform(message)

    async def down(self, down: Down) -> None:
        await self._next("down", down, self.puppet.on_down)

    async def stopping(self, stop: Stop) -> None:
        await self._next("stopping", stop, self.puppet.on_stop)

    def keep(self) -> object | None:
        return self.puppet.keep()

    def _did(self, what: str, detail: object) -> None:
        self.puppet.log.add(Did(self.puppet.id, what, detail))

    async def _next(self, what: str, detail: object, acts: list[Act]) -> None:
        self._did(what, detail)
        if acts:
            await self._perform(acts.pop(0))

    async def _perform(self, act: Act) -> None:
        result = act(self)
        if inspect.isawaitable(result):
            await result


def crash(error: BaseException | None = None) -> Act:
    def act(puppet: PuppetActor) -> None:
        raise error if error is not None else RuntimeError("crash")

    return act


def finish(why: Why = Why.DONE) -> Act:
    return lambda puppet: puppet.finish(why)


def block(until: trio.Event | None = None) -> Act:
    """Wait until the event is set, or for ever."""

    async def act(puppet: PuppetActor) -> None:
        await (until if until is not None else trio.Event()).wait()

    return act


def pause(seconds: float) -> Act:
    async def act(puppet: PuppetActor) -> None:
        await trio.sleep(seconds)

    return act


def held(act: Act) -> Act:
    """Perform the act in an atomic block."""

    async def atomic(puppet: PuppetActor) -> None:
        with puppet.atomic():
            await puppet._perform(act)

    return atomic


def then(*acts: Act) -> Act:
    async def all_of_them(puppet: PuppetActor) -> None:
        for act in acts:
            await puppet._perform(act)

    return all_of_them


def answer(value: R, before: Act | None = None) -> Callable[[Reply[R]], Act]:
    """A question that the puppet answers with `value`: `await ref.ask(answer(3), timeout=1)`."""

    def make(reply: Reply[R]) -> Act:
        async def act(puppet: PuppetActor) -> None:
            if before is not None:
                await puppet._perform(before)
            reply.set(value)

        return act

    return make


# -- the stage


@dataclass(frozen=True, slots=True)
class Traced:
    kind: str
    path: str
    detail: Any
    at: float


class Trace:
    """A tracer that records all events."""

    def __init__(self) -> None:
        self.log: Log[Traced] = Log()

    def __call__(self, kind: str, ref: AnyRef, detail: object, at: float) -> None:
        self.log.add(Traced(kind, ref.path, detail, at))

    def of(self, kind: str, path: str | None = None) -> list[Traced]:
        return [entry for entry in self.log.entries if entry.kind == kind and path in (None, entry.path)]

    async def nth(self, kind: str, path: str, number: int = 1) -> Traced:
        return await self.log.nth(number, lambda entry: entry.kind == kind and entry.path == path)

    async def stop(self, path: str, number: int = 1) -> Stop:
        """Wait until the n-th incarnation of the actor has ended. Returns why."""
        ended: Ended = (await self.nth("stop", path, number)).detail
        return ended.stop


@dataclass
class House:
    """A tree of actors that runs in a test."""

    root: ActorRef[Any]
    stage: Stage
    trace: Trace
    stop: Stop | None = None
    """Why the root ended; known after the block."""

    def __getitem__(self, path: str) -> ActorRef[Any]:
        """The ref of an actor, by the ids below the root: `house["door/peer"]`."""
        ref = self.root
        for part in path.split("/"):
            ref = next(child for child in ref.children() if child.path == f"{ref.path}/{part}")
        return ref


@asynccontextmanager
async def staged(
    *specs: AnySpec,
    root: ChildSpec[Any] | None = None,
    messages: bool = False,
    dead_letter: Callable[[AnyRef, object, str], None] | None = None,
    random: random_module.Random | None = None,
    strategy: Strategy = Strategy.ONE_FOR_ONE,
    intensity: int | None = None,
    period: float | None = None,
    max_children: int = 1024,
) -> AsyncIterator[House]:
    """Run these children under a supervisor `top` (or run any `root`) until the block ends, and check that nothing of
    the tree is left."""
    trace, stages = Trace(), list[Stage]()
    top = supervisor_spec("top", specs, strategy, intensity=intensity, period=period, max_children=max_children)
    play = partial(
        run,
        root if root is not None else top,
        tracer=trace,
        messages=messages,
        dead_letter=dead_letter,
        random=random if random is not None else random_module.Random(0),
        on_stage=stages.append,
    )
    failed: Exception | None = None
    async with trio.open_nursery() as nursery:
        ref: ActorRef[Any] = await nursery.start(play)
        house = House(ref, stages[0], trace)
        try:
            yield house
        except Exception as error:  # raised again outside of the nursery, which would wrap it in a group
            failed = error
        finally:
            ref.begin_stop()
        house.stop = await ref.wait_stopped()
    if failed is not None:
        raise failed
    check_empty(house.stage)


def check_empty(stage: Stage) -> None:
    """Check that no living actor, no claimed name and no timer is left after the end of a tree."""
    left = stage.statistics()
    if (left.living, left.names, left.timers.pending) != (0, 0, 0):
        raise AssertionError(f"the tree has ended, but not all of it: {left}")


def check_sound(stage: Stage, *, but: str | None = None) -> None:
    """Check that nothing has crashed, whether it was started again or not. What a test has killed does not count, nor
    what it has let fall with these words in its error."""
    crashed = [each for each in stage.crashes if each.why is not Why.KILLED and not (but and but in (each.error or ""))]
    if crashed:
        raise AssertionError(f"this has crashed, and should not: {crashed}")


# -- schedules


def run_in_virtual_time(test: Callable[[], Awaitable[T]], **options: Any) -> T:
    """`trio.run` with a clock that jumps as soon as no task can run. If none can ever run again, the test fails."""

    async def within_a_day() -> T:
        with trio.fail_after(24 * 3600):
            return await test()

    return trio.run(within_a_day, **{**options, "clock": trio.testing.MockClock(autojump_threshold=0)})


def run_schedule(seed: int, test: Callable[..., Awaitable[T]], *args: object) -> T:
    """Run a test in virtual time, with the order of tasks that are ready to run drawn from the seed."""
    with schedule(seed):
        return run_in_virtual_time(partial(test, *args))


@contextmanager
def schedule(seed: int) -> Iterator[None]:
    """For trio runs inside this block, draw the order of tasks that are ready to run at the same time from the seed."""
    from trio._core import _run  # the only place that uses these private names

    if not isinstance(getattr(_run, "_r", None), random_module.Random) or not hasattr(_run, _SORTED):
        raise RuntimeError(
            f"trio {trio.__version__} has no `_r` or no `{_SORTED}` in trio._core._run: see how its scheduler orders "
            "a batch now, and mend schedule() in actors/kernel/testing.py"
        )
    dice: random_module.Random = _run._r
    before, was_sorted = dice.getstate(), getattr(_run, _SORTED)
    setattr(_run, _SORTED, True)
    dice.seed(seed)
    try:
        yield
    finally:
        setattr(_run, _SORTED, was_sorted)
        dice.setstate(before)


_SORTED = "_ALLOW_DETERMINISTIC_SCHEDULING"
