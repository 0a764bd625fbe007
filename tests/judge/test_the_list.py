"""The list of problems is true: a problem that is gone leaves it, one that was taken off stays off, and a page that
does not follow keeps its problem."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio

from actors.judge.messages.problem import LookAgain
from actors.judge.messages.shelf import Looks
from actors.kernel import ActorRef
from actors.store import Refused, StateDirectory
from actors.store.database import Database
from actors.store.messages import Write
from tests.judge.kit import Court, Folders, Json, Machine, Page, judging, right

A, B, C = "abc1/abc1_a", "abc2/abc2_a", "abc3/abc3_a"


def remove(folders: Folders, task: str) -> dict[tuple[str, ...], bytes]:
    """As `rm -r`, or `mv` where it is put back afterwards."""
    gone = {path: content for path, content in folders.files.items() if "/".join(path[:2]) == task}
    for path in gone:
        del folders.files[path]
    return gone


async def told(page: Page) -> list[str]:
    """The list, as soon as it has been told."""
    await trio.sleep(1)
    return page.listed or [each["id"] for each in page.all("state/problems")[-1]["problems"]]


async def shown(court: Court, page: Page) -> str | None:
    await court.settled()
    said = [said for said in page.told if said["type"] in ("state/init", "state/update")][-1]
    return said["problem"]["id"] if "problem" in said else None


# -- folders that are gone


async def test_a_problem_whose_folder_is_gone_leaves_the_list_when_somebody_is_back(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        gone = remove(court.folders, A)  # which nobody looks at
        await page.say("ui/look")
        assert await told(page) == [B]
        court.folders.files |= gone
        await page.say("ui/look")
        assert await told(page) == [B, A]


async def test_a_page_that_comes_later_is_not_told_of_a_folder_that_is_gone(directory: StateDirectory) -> None:
    folders = Folders()
    async with judging(directory, folders) as court:
        await court.take_in(A, B)
    remove(folders, B)
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        assert (await page.greet())["problem"]["id"] == A
        assert await told(page) == [A]
        await court.take_in(B)
        assert await told(page) == [A, B]


async def test_who_shows_a_problem_whose_folder_is_gone_is_told_so(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        gone = remove(court.folders, A)
        await page.say("ui/look")
        problem = (await page.heard("state/update"))["problem"]
        assert (problem["gone"], problem["cases"]) == (True, [])
        assert await told(page) == []
        court.folders.files |= gone
        await page.say("ui/look")
        update = await page.heard("state/update")
        assert "gone" not in update["problem"]
        assert "outdated" not in update
        assert await told(page) == [A]


async def test_a_workspace_that_cannot_be_looked_at_loses_nothing(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        court.folders.trouble = lambda call, task: PermissionError(13, "Permission denied")
        await page.say("ui/look")
        assert await told(page) == [A, B]


async def test_what_is_posted_while_folders_are_looked_at_is_in_the_list(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        remove(court.folders, A)
        answers = court.folders.gates["answer"] = trio.Event()
        await page.say("ui/look")
        await court.settled()  # it was found to be missing, which the list has not heard yet
        await court.take_in(A)
        answers.set()
        assert await told(page) == [B, A]


async def test_a_folder_that_is_found_gone_while_all_are_looked_at_is_not_in_the_list(
    directory: StateDirectory,
) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        answers = court.folders.gates["answer"] = trio.Event()
        await page.say("ui/look")
        await court.settled()
        remove(court.folders, B)
        await court.problem(B).send(LookAgain())
        await court.settled()
        answers.set()
        assert await told(page) == [A]


async def test_who_looks_while_another_does_sees_what_is_there_now(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B, C)
        page, other = await court.page(), await court.page()
        answers = court.folders.gates["answer"] = trio.Event()
        await page.say("ui/look")
        await court.settled()
        remove(court.folders, A)  # which nobody looks at
        await other.say("ui/look")
        await court.settled()
        answers.set()
        assert await told(other) == [B, C]


# -- what a person takes off the list


async def test_what_is_taken_off_the_list_stays_off_and_its_folder_stays(directory: StateDirectory) -> None:
    folders = Folders()
    async with judging(directory, folders) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        files = dict(folders.files)
        await page.say("ui/forget", id=B)
        for each in (page, other):  # both showed it
            assert await shown(court, each) is None
            assert await told(each) == [A]
        assert folders.files == files
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        assert (await page.greet())["problem"]["id"] == A
        assert await told(page) == [A]


@pytest.mark.parametrize("restart", [False, True])
async def test_it_is_back_when_it_is_posted_again_or_asked_for(directory: StateDirectory, restart: bool) -> None:
    folders = Folders()
    async with judging(directory, folders) as court:
        await court.take_in(A, B)
        page = await court.page()
        for each in (A, B):
            await page.say("ui/forget", id=each)
        assert await told(page) == []
        if not restart:
            await back(court, page)
    if restart:
        async with judging(directory, folders) as court:
            await back(court, await court.page())
    async with judging(directory, folders) as court:
        assert sorted(await told(await court.page())) == [A, B]
        assert len([path for path in folders.files if path[2] == "tests"]) == 12


async def back(court: Court, page: Page) -> None:
    page.forget()
    await page.say("ui/openProblem", id=A)
    await page.heard("state/problems", lambda said: [each["id"] for each in said["problems"]] == [A])
    assert (await page.heard("state/init"))["problem"]["id"] == A
    assert await told(page) == [A]
    await court.take_in(B)
    assert await told(page) == [A, B]


async def test_what_is_being_run_is_not_taken_off(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.heard("run/progress")
        await page.say("ui/forget", id=A)
        assert await page.notice() == f"{A} is running. Cancel the run before you remove it."
        assert await told(page) == [A]


async def test_what_cannot_be_kept_off_is_not_taken_off(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(database: Database, jobs: list[Write]) -> list[object]:
        return [Refused("the disk is full") for _ in jobs]

    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        monkeypatch.setattr(Database, "execute", refuse)
        await page.say("ui/forget", id=A)
        assert await page.notice() == f"{A} was not removed from the list: the disk is full"
        assert await told(page) == [A]


async def test_only_so_many_are_kept_off(directory: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = Folders()
    async with judging(directory, folders) as court:
        await court.take_in(A, B, C)
        page = await court.page()
        monkeypatch.setattr("actors.judge.shelf.MOST", 2)
        for each in (A, B, C):
            await page.say("ui/forget", id=each)
        assert await told(page) == []
    async with judging(directory, folders) as court:
        assert await told(await court.page()) == [A]  # a folder like any other


# -- who follows


async def arrives(court: Court, *tasks: str, **fields: Json | str) -> None:
    await court.take_in(*tasks, **fields)
    await trio.sleep(1)


async def test_a_page_that_does_not_follow_stays_and_is_told_what_is_new(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page, follower = await court.page(), await court.page()
        await page.say("ui/requestInit", follow=False)
        await arrives(court, B, name="B. Two")
        assert await shown(court, page) == A
        assert await shown(court, follower) == B
        (arrived,) = page.all("state/arrived")
        assert (arrived["problem"]["id"], arrived["problem"]["name"]) == (B, "B. Two")
        assert follower.all("state/arrived") == []
        assert page.all("notice") == []


async def test_a_page_whose_problem_is_being_run_stays_until_that_is_over(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.heard("run/progress")
        await arrives(court, B, name="B. Two")
        assert await shown(court, page) == A
        assert await page.notice() == f"New: B. Two. It is not shown, because {A} is running."
        for program in court.machine.running:
            program.end(right(program))
        await court.settled()
        for program in court.machine.running:
            program.end(right(program))
        await page.ended()
        await arrives(court, C)
        assert await shown(court, page) == C


async def test_of_a_contest_a_page_that_does_not_follow_is_told_once(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in("abc0/abc0_a")
        page, other = await court.page(), await court.page()
        await page.say("ui/requestInit", follow=False)
        batch: Json = {"batch": {"id": "b1", "size": 3}}
        await arrives(court, "abc1/abc1_a", **batch)
        await other.say("ui/openProblem", id="abc0/abc0_a")  # who has gone on by himself is left alone
        await arrives(court, "abc1/abc1_b", "abc1/abc1_c", **batch)
        assert [said["problem"]["id"] for said in page.all("state/arrived")] == ["abc1/abc1_a"]
        assert await shown(court, other) == "abc0/abc0_a"


async def test_an_edit_of_a_problem_that_a_page_has_just_left_does_not_bring_it_back(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        await page.say("ui/openProblem", id=A)
        await court.settled()
        panel = court["panels"].children()[0]
        court.folders.files["abc1", "abc1_a", "main.py"] = b"edited"
        await page.say("ui/look")
        await page.say("ui/openProblem", id=B)
        assert await shown(court, page) == B
        assert panel.alive


# -- the current problem


async def test_the_current_problem_is_in_the_list_and_every_page_knows_it(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was done: pages that have been there all the time know what one knows that comes now."""
    monkeypatch.setattr("actors.judge.shelf.MOST", 3)
    folders = Folders()
    async with judging(directory, folders) as court:
        pages = [await court.page(), await court.page()]
        batch: Json = {"batch": {"id": "b2", "size": len(CONTEST)}}
        steps: list[tuple[str, Callable[[], Awaitable[object]]]] = [
            ("several posts", partial(arrives, court, A, B)),
            ("another page opens one", partial(pages[1].say, "ui/openProblem", id=A)),
            ("nothing new", partial(arrives, court, A)),
            ("more of one contest than are remembered", partial(arrives, court, *CONTEST, **batch)),
            ("one of them again", partial(pages[0].say, "ui/openProblem", id=CONTEST[-1])),
            ("it is taken off", partial(pages[0].say, "ui/forget", id=CONTEST[-1])),
            ("it was just being opened", partial(looks, court, CONTEST[-1])),
            ("one that is long forgotten was just being opened", partial(looks, court, A)),
            ("the folder is gone", partial(loses, folders, pages[1])),
            ("others are posted", partial(arrives, court, B, C)),
        ]
        for what, do in steps:
            await do()
            await trio.sleep(1)
            known = [(each.knows(), told_current(each)) for each in pages]
            fresh = await court.page(greets=False)
            await fresh.heard("state/problems")
            current = told_current(fresh)
            assert current in [each["id"] for each in fresh.knows()], what
            assert known == [(fresh.knows(), current)] * 2, what
            fresh.leave()
            await court.settled()


async def test_of_the_current_problem_alone_no_page_is_told_the_whole_list(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        before = len(page.all("state/problems"))
        await other.say("ui/openProblem", id=A)
        await trio.sleep(1)
        assert page.told[-1] == {"type": "state/problemsChanged", "current": A}
        assert len(page.all("state/problems")) == before


async def test_a_page_that_opens_what_another_is_just_taking_off_does_not_show_it(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        await other.say("ui/forget", id=A)
        await page.say("ui/openProblem", id=A)
        assert await told(page) == [B]
        assert await shown(court, page) is None


async def test_who_opens_what_another_page_takes_off_shows_nothing_and_follows_what_comes(
    directory: StateDirectory,
) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page(greets=False)
        await page.say("ui/openProblem", id=A)
        await court.settled()
        await other.say("ui/forget", id=B)
        await page.say("ui/openProblem", id=B)
        assert await shown(court, page) is None
        await arrives(court, A)
        assert await shown(court, page) == A


CONTEST = [f"abc2/abc2_{letter}" for letter in "abcde"]


def told_current(page: Page) -> str | None:
    return [said.get("current") for said in page.told if said["type"].startswith("state/problems")][-1]


async def looks(court: Court, task: str) -> None:
    panel: ActorRef[Any] = court["panels"].children()[0]
    await court["shelf"].send(Looks(panel, task))


async def loses(folders: Folders, page: Page) -> None:
    assert remove(folders, told_current(page) or "")
    await page.say("ui/look")
