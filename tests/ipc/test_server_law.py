"""The server end's law: whatever ends, before or after whichever step, every request is answered as it would have been.

A client of the contract stands on the other side: it takes errors away, which asks for another run, and leaves
successes. The victim dies just before a trip to the folder, or just after it and before anything else: a command, the
server end, or the whole process (on the same store and the same folder).
"""

import random
from typing import Any

import pytest
import trio

from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.server_steps import MOST_STARTS, POISON
from actors.kernel.testing import House, run_schedule
from codec.ipc import Failure, Outcome, Success, read_response
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import asked, serving, state_directory
from tests.plenty import seeds

VICTIMS = ("a command", "the server end", "the whole")
REQUESTS = ("good", "failing", "torn", "broken")
BUSY = Failure("work failed: RuntimeError: busy")
MOST_TRIPS = 400
POISONED = Failure(POISON, permanent=True)


class DeadlyBase(PaperBase):
    """Kills at the trips that it is told."""

    def __init__(self, kills: dict[tuple[int, bool], str]) -> None:
        super().__init__()
        self.kills = kills
        """By the number of the trip, and whether after it."""
        self.trips = 0
        self.house: House | None = None
        self.killed = 0

    async def _trip(self, what: str, *, writes: bool = False) -> None:
        number = self.trips
        self.trips += 1
        self.kill(number, False)
        await super()._trip(what, writes=writes)
        self.kill(number, True)

    def kill(self, number: int, after: bool) -> None:
        victim = self.kills.pop((number, after), None)
        if victim is None or self.house is None:
            return
        self.killed += 1
        match victim:
            case "the whole":
                self.house.root.kill()
            case "the server end":
                self.house["server/end"].kill()
            case "a command":
                for child in self.house["server/commands"].children()[:1]:
                    child.kill()


class Client:
    """Of the contract. It sees every answer, and takes errors away while it has attempts left."""

    def __init__(self, base: DeadlyBase) -> None:
        self.base = base
        self.seen: dict[str, list[Outcome]] = {id: [] for id in REQUESTS}  # noqa: A001
        self.known: set[Any] = set()
        self.over: dict[str, Outcome] = {}

    def look(self) -> None:
        for id in REQUESTS:  # noqa: A001
            there = self.base.files.get((Tray.RESPONSES, id))
            if there is None or there[0] in self.known:
                continue
            self.known.add(there[0])
            outcome = read_response(there[1], id).outcome
            self.seen[id].append(outcome)
            final = isinstance(outcome, Success) or outcome.permanent or len(self.seen[id]) == 3
            if final:
                self.over[id] = outcome
            else:
                self.base.foreign_drop(Tray.RESPONSES, id)


async def live(kills: dict[tuple[int, bool], str]) -> tuple[DeadlyBase, Client, list[str]]:
    base = DeadlyBase(kills)
    client = Client(base)
    runs: list[str] = []

    async def work(params: Any, context: CommandContext) -> Any:
        id = context.request.id  # noqa: A001
        assert not any(isinstance(each, Success) for each in client.seen[id]), "run again after its success"
        assert context.start <= MOST_STARTS
        runs.append(id)
        await trio.sleep(0.5)
        if id == "failing" and len(client.seen[id]) < 2:
            raise RuntimeError("busy")
        return id

    for id in ("good", "failing"):  # noqa: A001
        base.foreign_put(Tray.REQUESTS, id, asked(id, "work"))
    base.foreign_put(Tray.REQUESTS, "broken", b"[")
    base.foreign_put(Tray.REQUESTS, "torn", b"{")
    with state_directory() as directory:
        with trio.fail_after(3600):
            while len(client.over) < len(REQUESTS):
                async with serving(base, directory, [KnownCommand("work", work)]) as (_, house):
                    base.house = house
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(deal, client, nursery)
                        await house.root.wait_stopped()
                        nursery.cancel_scope.cancel()
                    base.house = None
    return base, client, runs


async def deal(client: Client, nursery: trio.Nursery) -> None:
    while len(client.over) < len(REQUESTS):
        await trio.sleep(0.05)
        client.look()
        if client.base.trips > 4 and (Tray.REQUESTS, "torn") not in client.known:
            client.known.add((Tray.REQUESTS, "torn"))
            client.base.foreign_put(Tray.REQUESTS, "torn", asked("torn", "work"))
    assert client.base.house is not None
    client.base.house.root.begin_stop()


def check(base: DeadlyBase, client: Client, runs: list[str]) -> None:
    assert client.over["good"] == Success("good")
    assert client.over["torn"] == Success("torn")
    assert client.over["failing"] == Success("failing")
    assert client.seen["failing"][:2] == [BUSY] * 2
    broken = client.over["broken"]
    assert isinstance(broken, Failure)
    assert broken.permanent
    assert client.seen["broken"] == [broken]
    assert all(runs.count(each) <= 1 + base.killed for each in ("good", "torn"))
    assert runs.count("failing") <= 3 + base.killed


def test_where_nobody_dies_each_is_run_as_often_as_it_is_asked_for() -> None:
    base, client, runs = run_schedule(1, live, {})
    check(base, client, runs)
    assert sorted(runs) == ["failing"] * 3 + ["good", "torn"]
    assert base.trips < MOST_TRIPS / 4


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("after", [False, True])
def test_whoever_dies_at_any_step_every_request_is_answered_as_it_would_have_been(victim: str, after: bool) -> None:
    plain, _, _ = run_schedule(1, live, {})
    for number in range(plain.trips):
        check(*run_schedule(1, live, {(number, after): victim}))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_however_many_die_in_seeded_runs_every_request_ends() -> None:
    for seed in seeds(50):  # a run takes 60 ms of processor
        dice = random.Random(seed)
        deaths = {(dice.randrange(60), dice.random() < 0.5): dice.choice(VICTIMS) for _ in range(dice.randrange(1, 6))}
        _, client, _ = run_schedule(seed, live, deaths)
        for id, outcome in client.over.items():  # noqa: A001
            # An error that is taken away while no server lives, before it was noted as written, is told once more.
            known: dict[str, list[Outcome]] = {"failing": [BUSY], "broken": client.seen["broken"][:1]}
            assert isinstance(outcome, Success) or outcome in [*known.get(id, []), POISONED], (seed, id, outcome)
