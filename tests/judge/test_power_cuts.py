"""The law of a power cut: at whatever moment the machine goes down, a post that was answered is in its folder in the
end, each of its samples once, and its problem is in the list as it was posted.

The judge is the real one, over folders on paper and a store on a disk that forgets what was not synced. A file of a
folder is on the disk as soon as it has its name; what is under way has happened, or not. The power goes just before or
after any change to the store, and before any file.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio

from actors.judge.given import Names
from actors.judge.keeping import Keeping
from actors.judge.merge import NewCase
from actors.judge.posts import PREFIX, Posts
from actors.kernel import KernelError
from actors.kernel.testing import run_schedule
from actors.store import STORE, StateDirectory, StoreClient, StoreError
from tests.judge.kit import Folders, Found, Json, judging, post
from tests.plenty import plenty, seeds
from tests.store.forgetful import cut_the_power
from tests.store.power import Grid, in_the_grid

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

A, B, C = "abc1/abc1_a", "abc1/abc1_b", "abc2/abc2_a"
POSTED: list[tuple[str, list[str]]] = [(A, ["1", "2"]), (B, ["1"]), (A, ["2", "3"]), (C, ["1", "2", "3"])]
"""Problems, and the samples of each post."""
CALLS = (Posts, "keep"), (Posts, "over"), (Keeping, "keep")
"""All that changes the store."""
WANTED = {A: {"1", "2", "3"}, B: {"1"}, C: {"1", "2", "3"}}


class GridFolders(Folders):
    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.grid = grid

    async def add(self, task: Names, choose: Callable[[Found], Sequence[NewCase]]) -> Found:
        for index, given, wanted in choose(await self.find(task)):
            for kind, content in (("out", wanted), ("in", given)):
                if content is not None:
                    await self.grid.moment()
                    path = (*task, "tests", f"{index}.{kind}")
                    assert path not in self.files, f"{path} would be overwritten"
                    self.files[path] = content
        await self.grid.moment()
        return await super().add(task, lambda found: ())


async def live(cut_at: frozenset[int]) -> tuple[Grid, GridFolders, list[Json]]:
    """Posts everything until it is answered, however often the power goes. Returns the list of problems at the end."""
    grid, answered = Grid(cut_at), set[int]()
    folders = GridFolders(grid)
    with in_the_grid(grid, *CALLS), TemporaryDirectory() as place, trio.fail_after(7200):
        state, over = Path(place) / "state", False
        while not over:
            with StateDirectory.claim(state) as directory:
                async with judging(directory, folders) as court:
                    grid.house = court.house

                    async def send(number: int) -> None:
                        task, samples = POSTED[number]
                        try:
                            await court.desk.receive(post(task, *((f"{each}\n", f"{each}\n") for each in samples)))
                            answered.add(number)
                        except (KernelError, StoreError):  # the power has gone
                            pass

                    async def all_are_written() -> None:
                        nonlocal over
                        async with trio.open_nursery() as posters:
                            for number in set(range(len(POSTED))) - answered:
                                posters.start_soon(send, number)
                        store = StoreClient(court.house.stage.registry.get(STORE))
                        while await store.streams(PREFIX):  # noqa: ASYNC110 - time is virtual
                            await trio.sleep(0.1)
                        over = len(answered) == len(POSTED)
                        grid.house = None
                        court.house.root.begin_stop()

                    async def until_it_ends() -> None:
                        try:
                            await all_are_written()
                        except (KernelError, StoreError):
                            await court.house.root.wait_stopped()

                    court.nursery.start_soon(until_it_ends)
                    await court.house.root.wait_stopped()
                if grid.house is not None:
                    grid.house = None
                    cut_the_power(state)
        with StateDirectory.claim(state) as directory:
            async with judging(directory, folders) as court:
                page = await court.page(greets=False)
                await page.greet()
                listed = page.all("state/problems")[-1]["problems"]
    return grid, folders, listed


def check(folders: GridFolders, listed: list[Json]) -> None:
    found: dict[str, list[str]] = {}
    for (contest, task, *_, name), content in folders.files.items():
        number, _, kind = name.partition(".")
        if kind == "in":
            assert folders.files[contest, task, "tests", f"{number}.out"] == content
            found.setdefault(f"{contest}/{task}", []).append(content.decode().strip())
        elif kind == "out":
            assert (contest, task, "tests", f"{number}.in") in folders.files, f"{name} of {task} stays alone"
    assert {id: sorted(samples) for id, samples in found.items()} == {  # noqa: A001
        id: sorted(samples)
        for id, samples in WANTED.items()  # noqa: A001
    }
    assert all((*id.split("/"), "main.py") in folders.files for id in WANTED)  # noqa: A001
    assert {problem["id"]: (problem["url"], problem["cases"]) for problem in listed} == {
        id: (f"https://atcoder.jp/contests/{contest}/tasks/{task}", len(samples))
        for id, samples in WANTED.items()  # noqa: A001
        for contest, task in [id.split("/")]
    }


def test_where_the_power_stays_every_post_is_in_its_folder() -> None:
    grid, folders, listed = run_schedule(1, live, frozenset())
    check(folders, listed)
    assert 40 < grid.moments < 100


def test_at_whatever_moment_the_power_goes_every_answered_post_comes_into_its_folder_once() -> None:
    usual, _, _ = run_schedule(1, live, frozenset())
    numbers, cuts = random.sample(range(usual.moments), min(usual.moments, plenty(usual.moments // 2))), 0
    for number in numbers:
        grid, folders, listed = run_schedule(1, live, frozenset({number}))
        cuts += grid.cuts
        check(folders, listed)
    assert cuts == len(numbers)


def test_wherever_the_power_goes_twice_every_answered_post_comes_into_its_folder_once() -> None:
    for seed in seeds(10):
        _, folders, listed = run_schedule(seed, live, frozenset(random.sample(range(50), 2)))
        check(folders, listed)
