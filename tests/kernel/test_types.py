"""What the types of the kernel promise: each line of a piece of code is right, or is refused by mypy as it says."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("actors", "transports", "program", "systems")

CODE = """
from dataclasses import dataclass
from functools import partial
from typing import assert_type

from actors.kernel import (
    Actor, ActorRef, AnyRef, AnySpec, Children, ChildSpec, Key, Lease, Registry, Reply, Supervisor, crowd_spec,
)


@dataclass(frozen=True, slots=True)
class Add:
    amount: int


@dataclass(frozen=True, slots=True)
class Total:
    reply: Reply[int]


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    reply: Reply[str]


CounterMessage = Add | Total | Named


class Counter(Actor[CounterMessage]):
    async def handle(self, message: CounterMessage) -> None:
        match message:
            case Add() | Total():
                pass
            case Named(name, reply):
                reply.set(name)
            case _:
                self.unknown(message)


class Forgetful(Actor[CounterMessage]):
    async def handle(self, message: CounterMessage) -> None:
        match message:
            case Add() | Total():
                pass
            case _:
                self.unknown(message)  # refused: arg-type


class Greeter(Actor[str]):
    pass


COUNTER = Key[CounterMessage]("counter")
COUNTERS = Key[Children[CounterMessage]]("counters")


async def asks(counter: ActorRef[CounterMessage]) -> None:
    assert_type(await counter.ask(Total, timeout=1), int)
    named: str = await counter.ask(partial(Named, "x"), timeout=1)
    counter.tell(Add(1))
    counter.tell(1)  # refused: arg-type
    await counter.ask(Add, timeout=1)  # refused: arg-type
    said: str = await counter.ask(Total, timeout=1)  # refused: arg-type


async def starts(crowd: ActorRef[Children[CounterMessage]], other: ActorRef[CounterMessage]) -> None:
    assert_type(await crowd.start_child(ChildSpec("one", Counter)), ActorRef[CounterMessage])
    assert_type(crowd.lease(ChildSpec("one", Counter)), Lease[CounterMessage])
    assert_type(crowd.child("one"), ActorRef[CounterMessage] | None)
    async with crowd.lease(ChildSpec("one", Counter)) as leased:
        assert_type(leased, ActorRef[CounterMessage])
    await crowd.start_child(ChildSpec("one", Greeter))  # refused: arg-type
    crowd.lease(ChildSpec("one", Greeter))  # refused: arg-type
    crowd.tell(Add(1))  # refused: arg-type
    await other.start_child(ChildSpec("one", Counter))  # refused: misc
    other.child("one")  # refused: misc


async def knows(registry: Registry, counter: ActorRef[CounterMessage], greeter: ActorRef[str]) -> None:
    assert_type(registry.get(COUNTER), ActorRef[CounterMessage])
    assert_type(registry.find(COUNTER), ActorRef[CounterMessage] | None)
    assert_type(registry.get(COUNTERS).child("one"), ActorRef[CounterMessage] | None)
    registry.claim(COUNTER, counter)
    registry.claim(COUNTER, greeter)  # refused: misc
    registry.get("counter")  # refused: arg-type
    registry.get(COUNTER).tell("hello")  # refused: arg-type


async def supervises(self: Supervisor[Add], greeter: ActorRef[str], counter: ActorRef[CounterMessage]) -> None:
    assert_type(await self.start_child(ChildSpec("one", Greeter)), ActorRef[str])
    specs: list[AnySpec] = [ChildSpec("a", Counter), ChildSpec("b", Greeter), crowd_spec("c", name=COUNTERS)]
    crowd_spec("c", name=COUNTER)  # refused: arg-type
    less: ActorRef[Add] = counter
    more: ActorRef[CounterMessage] = less  # refused: assignment
    anyone: set[AnyRef] = {greeter, counter}
    self.monitor(greeter)
    for each in anyone:
        self.monitor(each)
        each.tell("hello")  # refused: arg-type
"""


def refused(code: str, folder: Path) -> Counter[tuple[int, str]]:
    """Lines that mypy refuses as strictly as it reads the house, and why."""
    file = folder / "piece.py"
    file.write_text(code)
    options = f"--no-error-summary --cache-dir={folder / 'cache'} --config-file={ROOT / 'pyproject.toml'}".split()
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.stderr == ""
    found = re.findall(r"^.*?:(\d+): error: .*\[([\w-]+)\]$", told.stdout, re.MULTILINE)
    return Counter((int(line), why) for line, why in found)


@pytest.mark.slow
def test_what_is_told_asked_started_and_looked_up_has_the_type_of_who_takes_it(tmp_path: Path) -> None:
    wanted = Counter(
        (number, line.rpartition("# refused: ")[2])
        for number, line in enumerate(CODE.splitlines(), 1)
        if "# refused: " in line
    )
    assert set(refused(CODE, tmp_path)) == set(wanted)


def test_a_ref_that_can_be_told_anything_is_the_exception() -> None:
    """In the kernel a slot knows what it holds, not what that takes; in its kit, puppets take anything."""
    lines = [
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in path.read_text().splitlines()
        if "ActorRef[Any]" in line
    ]
    assert Counter(lines) == {"actors/kernel/slot.py": 1, "actors/kernel/testing.py": 4}


def test_no_two_keys_have_one_name() -> None:
    """They would be the same key, whatever their types say."""
    names = Counter(
        name
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.name != "registry.py"
        for name in re.findall(r'^\w+ = Key\[.*\]\("([^"]*)"\)', path.read_text(), re.MULTILINE)
    )
    assert len(names) >= 12
    assert [name for name, times in names.items() if times > 1] == []


def test_no_question_is_a_lambda() -> None:
    """Of such a one the type checker does not know the answer's type, and takes what follows for unreachable."""
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in path.read_text().splitlines()
        if ".ask(lambda" in line
    ]
    assert lines == []
