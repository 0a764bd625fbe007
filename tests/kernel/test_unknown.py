"""A message that no clause takes: a dead letter, a line in the log, and for an asker an answer. Never silence."""

import ast
import importlib
import inspect
import logging
import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import structlog
from trio.testing import wait_all_tasks_blocked

import actors
import program
import systems
import transports
from actors.kernel import Actor, ActorRef, ChildSpec, NotTaken, Reply, Restart, in_words
from actors.kernel.testing import staged
from program.journal import Journal


@dataclass(frozen=True, slots=True)
class Add:
    amount: int


@dataclass(frozen=True, slots=True)
class Total:
    reply: Reply[int]


@dataclass(frozen=True, slots=True)
class Tick:
    pass


@dataclass(frozen=True, slots=True)
class Odd:
    reply: Reply[int] | None = None


class Counter(Actor[Add | Total | Tick]):
    def __init__(self) -> None:
        self.total = 0

    async def handle(self, message: Add | Total | Tick) -> None:
        match message:
            case Add(amount):
                self.total += amount
            case Total(reply):
                reply.set(self.total)
            case Tick():
                odd: Any = Odd()
                self.tell_later(1.0, odd)
            case _:
                self.unknown(message)


class Mute(Actor[Add]):
    """It has forgotten to take anything."""


SPECS = ChildSpec("counter", Counter, restart=Restart.TEMPORARY), ChildSpec("mute", Mute, restart=Restart.TEMPORARY)
WAYS: list[Callable[[ActorRef[Any], object], None]] = [ActorRef.tell, ActorRef.urgent, ActorRef.hand]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["counter", "mute"])
async def test_what_no_clause_takes_is_a_dead_letter_and_ends_nobody(
    name: str, way: Callable[[ActorRef[Any], object], None]
) -> None:
    odd = Odd()
    letters: list[tuple[str, object, str]] = []
    async with staged(*SPECS, dead_letter=lambda *letter: letters.append((letter[0].path, *letter[1:]))) as house:
        await wait_all_tasks_blocked()
        way(house[name], odd)
        await wait_all_tasks_blocked()
        taker = name.title()
        assert letters == [(f"top/{name}", odd, f"no clause of {taker} takes it")]
        (kept,) = house.stage.dead_letters
        assert (kept.path, kept.message, kept.why, kept.untaken) == (f"top/{name}", "Odd", letters[0][2], True)
        assert house.stage.statistics().dead_letters == 1
        assert [entry.detail for entry in house.trace.of("dead")] == [kept]
        house["counter"].tell(Add(2))
        assert await house["counter"].ask(Total, timeout=1) == 2
        assert house[name].alive
        assert house.stage.statistics().crashes == 0


async def test_it_is_logged_once_for_each_type_and_class(caplog: pytest.LogCaptureFixture) -> None:
    async with staged(*SPECS) as house:
        for _ in range(100):
            house["counter"].tell(Odd())
        await wait_all_tasks_blocked()
        for _ in range(100):
            house["mute"].tell(Odd())
        house["mute"].tell(Add(1))
        await wait_all_tasks_blocked()
        assert house.stage.statistics().dead_letters == 201
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.WARNING, "top/counter was sent Odd, which no clause of Counter takes; it is told once"),
        (logging.WARNING, "top/mute was sent Odd, which no clause of Mute takes; it is told once"),
        (logging.WARNING, "top/mute was sent Add, which no clause of Mute takes; it is told once"),
    ]


async def test_the_journal_leaves_telling_of_it_to_the_kernel() -> None:
    with structlog.testing.capture_logs() as logs:
        async with staged(*SPECS) as house:
            house.stage.watch(Journal())
            house["counter"].tell(Odd())
            await wait_all_tasks_blocked()
            await house["mute"].stop()
            house["mute"].tell(Add(1))
    warned = [(entry["event"], entry["actor"]) for entry in logs if entry["log_level"] == "warning"]
    assert warned == [("a message reached nobody", "top/mute")]


async def test_whoever_asks_what_no_clause_takes_is_told_at_once() -> None:
    async with staged(*SPECS) as house:
        before = house.stage.now()
        with pytest.raises(NotTaken, match=r"^top/counter does not take Odd: no clause of Counter does$") as told:
            await house["counter"].ask(Odd, timeout=1000)
        assert house.stage.now() == before
        assert in_words(told.value) == "the server has made a mistake; its log says more"
        assert await house["counter"].ask(Total, timeout=1) == 0


async def test_an_asker_that_was_answered_before_is_told_nothing_more() -> None:
    class Slow(Counter):
        async def handle(self, message: Any) -> None:
            message.reply.set(1)
            self.unknown(message)

    async with staged(ChildSpec("slow", Slow)) as house:
        assert await house["slow"].ask(Odd, timeout=1) == 1
        await wait_all_tasks_blocked()
        assert (house.stage.statistics().dead_letters, house.stage.statistics().crashes) == (1, 0)


async def test_another_question_is_not_answered_in_its_stead() -> None:
    class Confused(Counter):
        async def handle(self, message: Any) -> None:
            odd: Any = Odd()
            self.unknown(odd)
            message.reply.set(1)

    async with staged(ChildSpec("confused", Confused)) as house:
        assert await house["confused"].ask(Odd, timeout=1) == 1


async def test_a_message_to_oneself_that_no_clause_takes_is_told_of_by_its_own_type() -> None:
    async with staged(*SPECS) as house:
        house["counter"].tell(Tick())
        letter = (await house.trace.nth("dead", "top/counter")).detail
        assert (letter.message, letter.at) == ("Odd", 1.0 + house.trace.of("spawn")[0].at)


# -- nobody forgets it


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith("__main__") and "launcher." not in found.name:  # what a process runs, and no actor
            yield importlib.import_module(found.name)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def handlers() -> dict[str, Function]:
    """Of all actors in the house. One that never waits may have its clauses in a method that `at_once` calls, too."""
    found: dict[str, Function] = {}
    for room in (actors, transports, program, systems):
        for module in modules(room):
            for name, kind in inspect.getmembers(module, inspect.isclass):
                if kind.__module__ == module.__name__ and issubclass(kind, Actor) and "handle" in vars(kind):
                    function = parsed(kind.handle)
                    found[f"{module.__name__}.{name}"] = parsed(getattr(kind, passed_to(function) or "handle"))
    return found


def parsed(method: Callable[..., object]) -> Function:
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(method))).body
    assert isinstance(function, Function)
    return function


def passed_to(handler: Function) -> str | None:
    """The method to which it passes every message as it is, and nothing else."""
    match handler.body:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name("self"), name), [ast.Name("message")], []))]:
            return None if name == "unknown" else name
    return None


def takes_the_rest(function: Function) -> bool:
    """One match over the message, whose last clause is for what is unknown."""
    body = [statement for statement in function.body if not isinstance(statement, ast.Expr)]
    if not body or not isinstance(body[0], ast.Match):
        return False
    last = body[0].cases[-1]
    return [ast.unparse(body[0].subject), ast.unparse(last.pattern), *map(ast.unparse, last.body)] == [
        "message",
        "_",
        "self.unknown(message)",
    ]


ANYTHING = {"actors.kernel.actor.Actor", "actors.kernel.testing.PuppetActor"}
"""That which has no clauses, and that which takes anything."""


def test_every_handler_of_the_house_says_what_becomes_of_a_message_that_it_does_not_know() -> None:
    found = handlers()
    assert len(found) >= 17
    assert {name for name, function in found.items() if not takes_the_rest(function)} == ANYTHING
