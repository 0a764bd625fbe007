"""The law of a power cut: at whatever moment of a trip the machine goes down, every request ends as it would have, and
what was acknowledged is kept.

Both ends are real, over a folder on paper and a store on a disk that forgets what was not synced. A file of the folder
is on the disk when the call that made it has returned; what is under way has happened, or not. The power goes just
before or after any trip to the folder and any change of either journal.
"""

import random
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio

from actors.ipc.client_end import client_spec
from actors.ipc.client_steps import MOST_ATTEMPTS
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.journal import ClientJournal
from actors.ipc.messages import CLIENT_END, SubmitRequests
from actors.ipc.server_journal import ServerJournal
from actors.kernel import ActorRef, KernelError
from actors.kernel.testing import House, run_schedule, staged
from actors.store import StateDirectory, StoreError
from codec.ipc import Request, Success, read_response
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import FOLDER, asked, specs, wall
from tests.plenty import plenty, seeds
from tests.store.forgetful import cut_the_power
from tests.store.power import Grid, in_the_grid

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CALLS = (ClientJournal, "keep"), (ServerJournal, "save"), (PaperBase, "answer")
"""All that changes a journal."""
DROPPED, SUBMITTED = ("good", "flaky", "slow", "failing", "broken"), ("promised",)


class GridBase(PaperBase):
    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.grid = grid

    async def _trip(self, what: str, *, writes: bool = False) -> None:
        await self.grid.moment()
        await super()._trip(what, writes=writes)


class Work:
    """`flaky` fails at first, `failing` always."""

    def __init__(self) -> None:
        self.runs: dict[str, int] = {}

    async def __call__(self, params: Any, context: CommandContext) -> Any:
        id = context.request.id  # noqa: A001
        assert context.start <= 3
        self.runs[id] = self.runs.get(id, 0) + 1
        if id == "slow":
            await trio.sleep(0.5)
        if id == "failing" or (id == "flaky" and self.runs[id] == 1):
            raise RuntimeError("busy")
        return id


async def live(cut_at: frozenset[int]) -> tuple[Grid, GridBase, Work, dict[str, Dossier]]:
    grid, work, found = Grid(cut_at), Work(), dict[str, Dossier]()
    base = GridBase(grid)
    base.known = True  # or what is answered before the client end attends were history, and nobody's
    with in_the_grid(grid, *CALLS), TemporaryDirectory() as place:
        state, promised = Path(place) / "state", False
        base.foreign_put(Tray.REQUESTS, "broken", b"[")
        with trio.fail_after(7200):
            while len(found) < len(DROPPED) + len(SUBMITTED):
                with StateDirectory.claim(state) as directory:
                    ends = [
                        *specs(base, directory, [KnownCommand("work", work)]),
                        client_spec(base, FOLDER, wall, ClientTerms(attempt_seconds=20.0)),
                    ]
                    async with staged(*ends, intensity=10_000) as house, trio.open_nursery() as nursery:
                        grid.house = house
                        nursery.start_soon(house.root.wait_stopped)

                        async def script(house: House = house) -> None:
                            nonlocal promised
                            journal = ClientJournal(house.stage.registry, FOLDER)
                            await a_client(house)
                            for id in DROPPED[:-1]:  # noqa: A001
                                if (Tray.REQUESTS, id) not in base.files:
                                    base.foreign_put(Tray.REQUESTS, id, asked(id, "work"))
                            if not promised:
                                request = Request(id="promised", command="work")
                                client: ActorRef[Any] = house.stage.registry.get(CLIENT_END)
                                await client.ask(partial(SubmitRequests, (request,)), timeout=60.0)
                                promised = True
                            while len(found) < len(DROPPED) + len(SUBMITTED):
                                for id in {*DROPPED, *SUBMITTED} - found.keys():  # noqa: A001
                                    if (over := await journal.find_over(id)) is not None:
                                        found[id] = over
                                await trio.sleep(0.3)

                        async def until_it_ends(house: House = house) -> None:
                            try:
                                await script()
                            except (KernelError, StoreError):
                                await house.root.wait_stopped()
                            else:
                                grid.house = None
                                house.root.begin_stop()

                        nursery.start_soon(until_it_ends)
                        await house.root.wait_stopped()
                        nursery.cancel_scope.cancel()
                    if grid.house is not None:
                        grid.house = None
                        cut_the_power(state)
                        for id in list(found):  # noqa: A001 - the journal may have to learn of it anew
                            del found[id]
    return grid, base, work, found


async def a_client(house: House) -> None:
    while house.stage.registry.find(CLIENT_END) is None:  # noqa: ASYNC110 - there is nothing else to wait for
        await trio.sleep(0.1)


def check(grid: Grid, base: GridBase, work: Work, found: dict[str, Dossier]) -> None:
    for id in ("good", "flaky", "slow", "promised"):  # noqa: A001
        assert found[id].shown == "success", (id, found[id])
        assert read_response(base.files[Tray.RESPONSES, id][1], id).outcome == Success(id)
        assert (Tray.FAILED, id) not in base.files
    for id in ("failing", "broken"):  # noqa: A001
        assert found[id].shown == "gave up", (id, found[id])
        assert (Tray.FAILED, id) in base.files
    assert all(dossier.begun <= MOST_ATTEMPTS for dossier in found.values())
    usual = {"good": 1, "slow": 1, "flaky": 2, "failing": 3, "promised": 1}
    for id, times in usual.items():  # noqa: A001
        assert work.runs[id] <= times + grid.cuts, (id, work.runs)


def test_where_the_power_stays_all_ends_as_usual() -> None:
    grid, base, work, found = run_schedule(1, live, frozenset())
    check(grid, base, work, found)
    assert grid.moments < 400


def test_at_whatever_moment_the_power_goes_all_ends_as_usual_and_what_was_acknowledged_is_kept() -> None:
    usual, _, _, _ = run_schedule(1, live, frozenset())
    numbers, cuts = random.sample(range(usual.moments), min(usual.moments, plenty(usual.moments // 3))), 0
    for number in numbers:
        grid, base, work, found = run_schedule(1, live, frozenset({number}))
        cuts += grid.cuts
        check(grid, base, work, found)
    assert cuts == len(numbers)


def test_wherever_the_power_goes_twice_all_ends_as_usual() -> None:
    for seed in seeds(15):
        moments = random.sample(range(170), 2)
        grid, base, work, found = run_schedule(seed, live, frozenset(moments))
        check(grid, base, work, found)
