"""A panel: the messages that a page may send, the messages that it gets, and the run that ends with it."""

from collections.abc import Iterable
from typing import Any

import pytest
import trio

from actors.judge.messages.panel import Follow
from actors.judge.messages.problem import LookAgain, NobodyLooks
from actors.judge.problem import FORSAKEN_AFTER
from actors.kernel import (
    ActorRef,
    TooManyChildren,
)
from actors.store import StateDirectory
from codec.judge import Listed, RunSettings
from tests.judge.kit import PATIENCE, Machine, judging, right

A, B = "abc1/abc1_a", "abc2/abc2_a"
LISTED = Listed(id=A, name="abc1_a", group="", contest_id="abc1", task_id="abc1_a", url="")


async def test_a_page_without_a_problem_is_told_the_settings(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=3)) as court:
        page = await court.page(greets=False)
        init = await page.greet()
        assert "problem" not in init
        assert init["settings"]["jobs"] == 3


async def test_a_page_that_asks_at_once_is_never_told_settings_that_are_not_so(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=3)) as court:
        await court.take_in(A)
        page = await court.page(greets=False)
        for _ in range(3):
            await page.say("ui/requestInit")
        await court.settled()
        inits = page.all("state/init")
        assert inits
        assert all(init["settings"]["jobs"] == 3 and init["problem"]["id"] == A for init in inits)


async def test_a_page_that_has_just_loaded_is_shown_its_problem_once(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        court.folders.gates["find"] = trio.Event()
        page = await court.page(greets=False)
        await court.settled()  # the problem is being opened
        await page.say("ui/requestInit")
        await court.settled()
        court.folders.gates["find"].set()
        assert (await page.heard("state/init"))["problem"]["id"] == A
        await court.settled()
        assert len(page.all("state/init")) == 1


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_page_comes_back_to_the_problem_that_it_showed(directory: StateDirectory, at_once: bool) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        await court.take_in(B)
        page = await court.page(greets=False)
        if not at_once:
            await court.settled()
        await page.say("ui/requestInit", problemId=A)
        await court.settled()
        assert [init["problem"]["id"] for init in page.all("state/init")] == [A]
        await page.say("ui/requestInit", problemId=A)
        await court.settled()
        assert [init["problem"]["id"] for init in page.all("state/init")] == [A, A]


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_page_that_comes_back_to_what_is_not_there_is_told_and_shown_what_is(
    directory: StateDirectory, at_once: bool
) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page(greets=False)
        if not at_once:
            await court.settled()
        await page.say("ui/requestInit", problemId="../etc")
        assert (await page.notice()).startswith("There is no problem '../etc' here.")
        assert (await page.heard("state/init"))["problem"]["id"] == A


async def test_a_page_that_has_not_asked_is_told_of_no_problem_by_itself(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page(greets=False)
        await court.take_in(A)
        await page.heard("state/problems", lambda said: said["problems"] != [])
        assert not page.all("state/update")


@pytest.mark.parametrize("id", ["../../x", "abc1/../abc1_a", "abc9/abc9_z", "/etc/passwd", "abc1", "a/b/c"])
async def test_a_problem_that_is_not_there_is_not_opened(directory: StateDirectory, id: str) -> None:  # noqa: A002
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        for wish in ({"type": "ui/openProblem", "id": id}, {"type": "ui/runAll", "problemId": id}):
            await page.say(str(wish.pop("type")), **wish)
            assert (await page.notice()).startswith(f"There is no problem {id!r} here. Send it ")
        assert [child.path.rpartition("problems/")[2] for child in court["problems"].children()] == [A]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "the message is not JSON"),
        (b"\xff\x00", "the message is not JSON"),
        (b"[]", "the message is an array"),
        (b'{"type": "ui/dance"}', 'type is "ui/dance"'),
        (b'{"type": "ui/runOne"}', "index is missing"),
        (b'{"type": "ui/runOne", "index": 0}', "index must be the number of a case, from 1, not 0"),
        (b'{"type": "ui/runAll", "indices": ["a"]}', "indices must be an array of at most 10,000 numbers"),
        (b"x" * 70_000, "the message is too long"),
    ],
)
async def test_what_is_not_understood_is_answered_and_the_panel_stays(
    directory: StateDirectory, said: bytes, words: str
) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say_raw(said)
        notice = await page.notice()
        assert notice.startswith("That was not understood: ")
        assert words in notice
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


@pytest.mark.parametrize("kind", ["ui/runAll", "ui/cancel"])
async def test_without_a_problem_there_is_nothing_to_do(directory: StateDirectory, kind: str) -> None:
    async with judging(directory) as court:
        page = await court.page()
        await page.say(kind)
        assert await page.notice() == "No problem is loaded yet. Send one with Competitive Companion."


async def test_a_problem_is_opened_with_what_became_of_it(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        await court.take_in(B)
        await page.say("ui/openProblem", id=A)
        init = await page.heard("state/init")
        assert (init["problem"]["id"], len(init["results"])) == (A, 3)


async def test_a_panel_hears_only_of_the_problem_it_shows(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        await page.say("ui/openProblem", id=A)
        await page.heard("state/init")
        await page.say("ui/runAll")
        await page.ended()
        await court.settled()
        assert not other.all("run/result")


async def test_a_page_that_is_just_loading_when_another_problem_comes_is_shown_all_there_is(
    directory: StateDirectory,
) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        await court.take_in(B)
        court.folders.gates["find"] = trio.Event()
        page = await court.page(greets=False)
        await page.say("ui/requestInit")
        await court.settled()
        panel: ActorRef[Any] = court["panels"].children()[0]
        panel.tell(Follow(LISTED))
        await court.settled()
        court.folders.gates["find"].set()
        assert (await page.heard("state/init"))["problem"]["id"] == A


async def test_a_page_that_has_gone_ends_its_panel(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page, other = await court.page(), await court.page()
        page.line.takes = False
        await page.say("ui/requestInit")
        with trio.fail_after(PATIENCE):
            await page.over.wait()
        await court.take_in(B)
        assert (await other.heard("state/update"))["problem"]["id"] == B
        assert len(court["panels"].children()) == 1


async def test_a_panel_that_crashes_takes_nobody_with_it(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page, other = await court.page(), await court.page()
        court["panels"].children()[0].kill()
        with trio.fail_after(PATIENCE):
            await page.over.wait()
        await other.say("ui/runAll")
        assert (await other.ended())[0] == [1, 2, 3]


async def test_a_problem_that_has_failed_for_good_is_told_and_can_be_opened_again(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        court.problem().begin_stop()
        assert await page.notice() == f"{A} has failed (shutdown). Open it again."
        await page.say("ui/openProblem", id=A)
        await page.heard("state/init")
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


async def test_a_problem_that_leaves_just_when_it_is_opened_is_opened_again(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        problem = court.problem()
        page = await court.page()
        await court.take_in(B)
        problem.urgent(NobodyLooks())
        await page.say("ui/openProblem", id=A)
        assert (await page.heard("state/init"))["problem"]["id"] == A
        assert court.problem() is not problem
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


async def test_what_is_wanted_of_a_problem_that_is_about_to_leave_is_done(directory: StateDirectory) -> None:
    """A page need not show what it asks to be run, so it would hear nothing of that problem's end."""
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A, B)
        page = await court.page()
        court.folders.gates["find"] = trio.Event()
        problem = court.problem()
        problem.tell(LookAgain())
        problem.tell(NobodyLooks())
        await page.say("ui/runAll", problemId=A)
        await court.settled()
        court.folders.gates["find"].set()
        assert (await page.ended())[0] == [1, 2, 3]
        await trio.sleep(2 * FORSAKEN_AFTER)
        assert not problem.alive


async def test_a_problem_that_keeps_crashing_costs_no_other(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        await page.say("ui/openProblem", id=A)
        await page.heard("state/init")
        fails = ZeroDivisionError("our own mistake")
        court.folders.trouble = lambda call, task: fails if task == ("abc1", "abc1_a") else None
        await page.say("ui/requestInit")
        await trio.sleep(10)
        await other.say("ui/runAll")
        assert (await other.ended())[0] == [1, 2, 3]
        court.folders.trouble = lambda call, task: None
        told = len(page.all("state/init"))
        with trio.fail_after(60):
            await page.line.log.nth(told + 1, lambda said: said["type"] == "state/init")


async def test_there_is_a_limit_on_panels(directory: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.judge.desk.MOST_PANELS", 1)
    async with judging(directory) as court:
        await court.page()
        with pytest.raises(TooManyChildren, match="has 1 children, which is all it may have"):
            async with court.desk.attend(Silent()):
                pass


class Silent:
    def frames(self, texts: Iterable[bytes]) -> bytes:
        return b"".join(texts)

    def offer(self, frames: bytes) -> bool:
        return True


async def test_a_problem_that_was_left_before_it_could_open_is_left(directory: StateDirectory) -> None:
    """It is not held to be looked at: it ends, and nobody watches its folder."""
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        await page.say("ui/openProblem", id=A)
        await court.settled()
        find = court.folders.gates["find"] = trio.Event()
        await page.say("ui/look")
        await page.say("ui/openProblem", id=A)  # while it reads its folder
        await page.say("ui/openProblem", id=B)
        await court.settled()
        find.set()
        await trio.sleep(FORSAKEN_AFTER + 1)
        assert court["problems"].child(A) is None
        assert court["problems"].child(B) is not None


async def test_who_follows_is_told_of_the_last_run_even_if_it_has_judged_nothing(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await court.machine.started(1)
        await page.say("ui/cancel")
        await page.heard("run/complete")
        await court.take_in(B)
        await page.heard("state/update", lambda said: said["problem"]["id"] == B)
        await court.take_in(A)
        init = await page.heard("state/init", lambda said: said["problem"]["id"] == A)
        assert init["last"] == {"run": 1, "indices": [1, 2, 3], "cancelled": True}
        assert init["summary"]["total"] == 0
