"""What the console says beside a problem, a run and the shelf; and how long a problem's folder is watched."""

from typing import Any
from unittest.mock import Mock

import pytest
import trio

from actors.judge.given import Watching
from actors.judge.messages.problem import Stirred
from actors.kernel import ActorRef, Registry
from actors.store import StateDirectory
from tests.judge.kit import Court, Page, judging, right

A, B = "abc1/abc1_a", "abc2/abc2_a"
NEW = ("abc1", "abc1_a", "tests", "4.in"), ("abc1", "abc1_a", "tests", "4.out")


def note(actor: ActorRef[Any]) -> object:
    return actor.statistics().note


@pytest.mark.parametrize("is_shown", [True, False])
async def test_notes_tell_how_it_stands(directory: StateDirectory, is_shown: bool) -> None:
    async with judging(directory) as court:
        await court.take_in(B)
        await court.take_in(A)
        assert note(court["intake"]) == "2 taken in; the last was abc1_a"
        assert note(court["shelf"]) == "2 problems, 0 pages"
        page = await court.page(greets=is_shown)
        assert note(court["shelf"]) == "2 problems, 1 page"
        assert note(court.problem()) == "3 cases"
        court.folders.files |= dict.fromkeys(NEW, b"4\n")
        await court.problem().send(Stirred())
        await court.settled()
        assert note(court.problem()) == "4 cases"
        if not is_shown:
            return
        await page.say("ui/runAll")
        for index in range(1, 5):
            program = await court.machine.started(index)
            await court.settled()
            (run,) = court["runs"].children()
            assert note(court.problem()) == "4 cases, running"
            await trio.sleep(1)
            program.end(right(program))
            await court.settled()
            assert not run.alive or note(run) == f"{index} of 4 judged"
        assert not run.alive
        _, complete = await page.ended()
        assert complete["summary"]["durationMs"] == 4_000
        assert note(court.problem()) == "4 cases"
        await leave(court, page)
        assert note(court["shelf"]) == "2 problems, 0 pages"


async def test_a_folder_is_watched_once_while_anybody_looks_and_no_longer(directory: StateDirectory) -> None:
    watching = Mock(spec_set=["watch", "unwatch"])

    def given(_: Registry) -> Watching:
        return watching

    def calls() -> list[str]:
        return [call[0] for call in watching.method_calls]

    async with judging(directory, watching=given) as court:
        await court.take_in(A)
        assert calls() == []
        one, other = await court.page(), await court.page()
        assert calls() == ["watch"]
        await leave(court, one)
        assert calls() == ["watch"]
        await leave(court, other)
        assert calls() == ["watch", "unwatch"]
        await court.page()
        assert calls() == ["watch", "unwatch", "watch"]


async def leave(court: Court, page: Page) -> None:
    page.leave()
    await page.over.wait()
    await court.settled()
