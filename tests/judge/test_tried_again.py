"""How often a post is tried again, and what a page goes on to show when its problem is taken away."""

import errno
from collections import Counter
from itertools import pairwise

import pytest
import trio

from actors.judge import desk
from actors.judge.intake import AGAIN_SECONDS, APART_SECONDS, SELDOM_SECONDS
from actors.store import StateDirectory
from codec.judge import RunSettings
from tests.judge.kit import Folders, judging

A, B, C = "abc1/abc1_a", "abc2/abc2_a", "abc3/abc3_a"


async def test_an_obstacle_that_stays_is_looked_at_less_and_less_often(directory: StateDirectory) -> None:
    tries: list[float] = []

    def trouble(call: str, task: tuple[str, ...]) -> Exception | None:
        if call != "add":
            return None
        tries.append(trio.current_time())
        return OSError(errno.EROFS, "Read-only file system")

    async with judging(directory, Folders(trouble=trouble)) as court:
        await court.take_in(A)
        await trio.sleep(20 * SELDOM_SECONDS)
    waits = [round(after - before, 3) for before, after in pairwise(tries)]
    doubled = [min(AGAIN_SECONDS * 2.0**number, SELDOM_SECONDS) + APART_SECONDS for number in range(len(waits))]
    assert len(waits) > 10
    assert waits == pytest.approx(doubled, abs=0.1)


async def test_however_many_posts_cannot_be_written_each_is_tried_again_and_none_is_lost(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than the intake may have timers."""
    monkeypatch.setattr(desk, "ASKED", 16)
    full = True
    tries = Counter[tuple[str, ...]]()

    def trouble(call: str, task: tuple[str, ...]) -> Exception | None:
        if call == "add":
            tries[task] += 1
        return OSError(errno.ENOSPC, "No space left on device") if call == "add" and full else None

    tasks = [f"abc{number}/abc{number}_a" for number in range(60)]
    async with judging(directory, Folders(trouble=trouble)) as court:
        page = await court.page()
        for task in tasks:
            await court.take_in(task)
        await trio.sleep(4 * SELDOM_SECONDS)
        assert min(tries.values()) > 3
        assert court["intake"].statistics().restarts == 0
        full = False
        await trio.sleep(2 * SELDOM_SECONDS)
        assert sorted(page.listed) == sorted(tasks)


async def test_somebody_who_edits_in_the_folder_is_waited_for_once_and_then_told_of(directory: StateDirectory) -> None:
    there = FileExistsError(errno.EEXIST, "File exists")
    folders = Folders(trouble=lambda call, task: there if call == "add" else None)
    async with judging(directory, folders) as court:
        page = await court.page()
        await court.take_in(A)
        await court.settled()
        assert page.all("notice") == []
        await trio.sleep(2 * AGAIN_SECONDS)
        assert "File exists" in await page.notice()


async def test_a_page_whose_problem_is_taken_off_while_it_runs_follows_the_next_that_arrives(
    directory: StateDirectory,
) -> None:
    async with judging(directory, configured=RunSettings(jobs=1)) as court:
        await court.take_in(B, A)
        page, other = await court.page(), await court.page()
        await other.say("ui/openProblem", id=B)
        await other.heard("state/init", lambda said: said.get("problem", {}).get("id") == B)
        await page.say("ui/runAll")
        await page.heard("run/progress", lambda said: said["running"])
        await other.say("ui/forget", id=A)
        await page.heard("state/init", lambda said: "problem" not in said)
        await court.take_in(C)
        assert (await page.heard("state/update"))["problem"]["id"] == C
