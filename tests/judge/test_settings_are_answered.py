"""A page that changes a setting is told the resulting settings, whatever else happens at the same time."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio

from actors.kernel.testing import run_schedule
from actors.store import StateDirectory
from tests.judge.kit import PATIENCE, Court, Json, Machine, Page, judging, post, right

A, B = "abc1/abc1_a", "abc2/abc2_a"


async def _posts(court: Court, page: Page) -> None:
    await court.desk.receive(post("abc3/abc3_a"))


async def _opens(court: Court, page: Page) -> None:
    await page.say("ui/openProblem", id=B)


async def _reloads(court: Court, page: Page) -> None:
    await page.say("ui/requestInit")


async def _runs(court: Court, page: Page) -> None:
    await page.say("ui/runAll")


async def _loses_its_problem(court: Court, page: Page) -> None:
    for problem in court["problems"].children():
        problem.begin_stop()


async def _crashes(court: Court, page: Page) -> None:
    for problem in court["problems"].children():
        problem.kill()


async def _nothing(court: Court, page: Page) -> None:
    pass


BESIDE = [_nothing, _posts, _opens, _reloads, _runs, _loses_its_problem, _crashes]


async def _changed(beside: Any, before: int, changes: list[Json]) -> None:
    """So many schedules after `beside` has begun, these changes are made one after the other."""
    with TemporaryDirectory() as folder, StateDirectory.claim(Path(folder)) as directory:
        async with judging(directory, machine=Machine(right)) as court:
            await court.take_in(A, B)
            page, other = await court.page(), await court.page()
            await beside(court, page)
            for _ in range(before):
                await trio.lowlevel.checkpoint()
            for change in changes:
                page.forget()
                await page.say("ui/updateSettings", settings=change)
                await page.heard("state/init", partial(_has, change))
            with trio.fail_after(PATIENCE):
                await other.line.log.nth(1, lambda said: said["type"] == "state/init" and _has(changes[-1], said))


def _has(change: Json, init: Json) -> bool:
    return all(init["settings"][name] == value for name, value in change.items())


@pytest.mark.slow
@pytest.mark.parametrize("beside", BESIDE)
def test_a_changed_setting_is_answered_whatever_happens_at_the_same_time(beside: Any) -> None:
    for before in range(12):
        run_schedule(before, partial(_changed, beside, before, [{"timeoutMs": 700}]))


def test_a_change_that_changes_nothing_is_answered_too() -> None:
    run_schedule(1, partial(_changed, _nothing, 0, [{"interpreter": "pypy"}, {"interpreter": "pypy"}]))


def test_a_change_and_its_opposite_at_once_are_answered() -> None:
    async def there_and_back() -> None:
        with TemporaryDirectory() as folder, StateDirectory.claim(Path(folder)) as directory:
            async with judging(directory) as court:
                page = await court.page()
                for interpreter in ("pypy", "cpython"):
                    await page.say("ui/switchInterpreter", interpreter=interpreter)
                told = [(await page.heard("state/init"))["settings"]["interpreter"] for _ in range(2)]
                assert told == ["pypy", "cpython"]

    run_schedule(1, there_and_back)
