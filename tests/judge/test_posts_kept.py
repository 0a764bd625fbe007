"""A post that was answered is never lost: its form in the store, and its way from there after each kind of end."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import trio

from actors.judge.given import Names
from actors.judge.intake import AT_ONCE, MOST_FAILURES, NotKept
from actors.judge.keeping import PROBLEMS
from actors.judge.merge import NewCase
from actors.judge.posts import ASIDE, PART, PARTS, PREFIX, Posts, encode, read
from actors.judge.waiting import Post
from actors.kernel import KernelError
from actors.store import STORE, Refused, StateDirectory, StoreClient
from actors.store.database import Database
from actors.store.operations import Append, Put
from codec.judge import Sample, Task
from tests.judge.kit import FULL, Court, Folders, Found, judging, post

A, B, C = "abc1/abc1_a", "abc1/abc1_b", "abc1/abc1_c"


def store(court: Court) -> StoreClient:
    return StoreClient(court.house.stage.registry.get(STORE))


async def waiting(court: Court) -> int:
    return len(await store(court).streams(PREFIX))


def never() -> Folders:
    """Nothing is ever written."""
    return Folders(gates={"add": trio.Event()})


async def test_a_post_is_in_the_store_when_it_is_answered_and_no_more_when_its_folder_is_whole(
    directory: StateDirectory,
) -> None:
    folders = never()
    async with judging(directory, folders) as court:
        await court.desk.receive(post(A))
        assert await waiting(court) == 1
        folders.gates["add"].set()
        await court.settled()
        assert len(folders.files) == 7
        assert await waiting(court) == 0


@pytest.mark.slow
async def test_what_was_answered_is_taken_in_after_a_restart_in_order(directory: StateDirectory) -> None:
    count = 12
    async with judging(directory, never()) as court:
        for number in range(count):
            await court.desk.receive(post(A, (f"{number}\n", f"{number}\n")))
            await court.desk.receive(post(f"abc1/abc1_{number}"))
    async with judging(directory) as court:
        await court.settled()
        files = court.folders.files
        for number in range(count):
            assert files["abc1", "abc1_a", "tests", f"{number + 1}.in"] == f"{number}\n".encode()
            assert ("abc1", f"abc1_{number}", "main.py") in files
        assert await waiting(court) == 0


@pytest.mark.parametrize("victim", ["intake", "store", "shelf", "problems"])
async def test_what_was_answered_is_taken_in_whoever_ends(directory: StateDirectory, victim: str) -> None:
    folders = never()
    async with judging(directory, folders) as court:
        for number in range(12):
            await court.desk.receive(post(f"abc1/abc1_{number}"))
        await court.settled()
        court[victim].kill()
        folders.gates["add"].set()
        await trio.sleep(200)
        await court.settled()
        assert len(folders.files) == 12 * 7
        assert await waiting(court) == 0


async def test_a_poster_that_does_not_wait_has_its_problem_taken_in_all_the_same(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        with trio.CancelScope() as scope:
            scope.cancel()
            await court.desk.receive(post(A))
        await court.settled()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(court.desk.receive, post(B))
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        await court.settled()
        await court.take_in(C)
        assert ("abc1", "abc1_c", "main.py") in court.folders.files
        assert await waiting(court) == 0


async def test_what_the_store_could_not_keep_is_no_200_and_leaves_nothing(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Database.execute

    def full(database: Database, jobs: Sequence[Any]) -> list[object]:
        refusal = Refused("there is no space left")
        return [refusal if isinstance(job, Append) else execute(database, [job])[0] for job in jobs]

    async with judging(directory) as court:
        page = await court.page()
        monkeypatch.setattr(Database, "execute", full)
        with pytest.raises(NotKept, match="there is no space left"):
            await court.desk.receive(post(A))
        assert "abc1_a was not taken: there is no space left. Fix that" in await page.notice()
        monkeypatch.undo()
        assert not court.folders.files
        await court.take_in(B)
        assert len(court.folders.files) == 7


HALF: dict[tuple[str, ...], bytes] = {("abc1", "abc1_a", "tests", "1.out"): b"1\n"}


async def test_what_was_cut_short_by_the_end_is_gone_on_with_at_the_next_start(directory: StateDirectory) -> None:
    async with judging(directory, never()) as court:
        await court.desk.receive(post(A))
    async with judging(directory, Folders(dict(HALF))) as court:
        await court.settled()
        assert court.folders.files["abc1", "abc1_a", "tests", "1.in"] == b"1\n"
        assert len(court.folders.files) == 7


async def test_an_answer_of_somebody_else_is_left_alone_by_a_new_post(directory: StateDirectory) -> None:
    async with judging(directory, Folders(dict(HALF))) as court:
        await court.take_in(A)
        assert ("abc1", "abc1_a", "tests", "1.in") not in court.folders.files
        assert len(court.folders.files) == 8


async def test_what_a_disk_cut_short_is_gone_on_with_when_it_is_tried_again(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        court.folders.trouble = lambda call, task: FULL if call == "add" else None
        await court.take_in(A)
        court.folders.files |= HALF
        court.folders.trouble = lambda call, task: None
        await trio.sleep(10)
        assert court.folders.files["abc1", "abc1_a", "tests", "1.in"] == b"1\n"
        assert len(court.folders.files) == 7


# -- what crashes of a post


async def test_what_a_problem_crashes_of_each_time_is_set_aside_with_a_sentence_and_holds_up_nobody(
    directory: StateDirectory,
) -> None:
    tries = 0

    def crash(call: str, task: tuple[str, ...]) -> Exception | None:
        nonlocal tries
        tries += call == "add" and task[1] == "abc1_a"
        return ZeroDivisionError("our own mistake") if call == "add" and task[1] == "abc1_a" else None

    sentence = (
        "abc1_a was not taken in: ZeroDivisionError: our own mistake. It was tried 3 times, and is set aside. "
        "Send it again."
    )
    async with judging(directory, Folders(trouble=crash)) as court:
        page = await court.page()
        await court.desk.receive(post(A))
        await court.take_in(B)
        assert (await page.heard("state/update"))["problem"]["id"] == B
        assert await page.notice() == sentence
        await court.take_in(C)
        await trio.sleep(10_000)
        assert tries == MOST_FAILURES
        assert len(court.folders.files) == 14
    async with judging(directory, Folders(trouble=crash)) as court:
        page = await court.page(greets=False)
        assert await page.notice() == sentence, "it is told at each start"
        await trio.sleep(10_000)
        assert tries == MOST_FAILURES, "and not tried any more"
    async with judging(directory) as court:
        await court.take_in(A)
        assert len(court.folders.files) == 7
        await trio.sleep(10)
        assert await waiting(court) == 0
        assert await store(court).keys(ASIDE) == []


async def test_of_very_many_that_are_set_aside_the_newest_are_kept(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.intake.MOST_ASIDE", 3)
    crash = Folders(trouble=lambda call, task: ZeroDivisionError() if call == "add" else None)
    async with judging(directory, crash) as court:
        for number in range(8):
            await court.take_in(f"abc1/abc1_{number}")
            await trio.sleep(100)
        assert [name[len(PREFIX) :][:12] for name, _ in await store(court).streams(PREFIX)] == [
            f"{number:012}" for number in (6, 7, 8)
        ]
        assert len(await store(court).keys(ASIDE)) == 3


async def test_a_kept_post_that_cannot_be_read_is_set_aside_and_holds_up_nobody(directory: StateDirectory) -> None:
    async with judging(directory, never()) as court:
        await court.desk.receive(post(A))
        await store(court).append(f"{PREFIX}000000000000/{'0' * 16}/3", [b"{}}"])
        await store(court).append(f"{PREFIX}no name of ours", [b"{}}"])
    async with judging(directory) as court:
        page = await court.page()
        assert len(court.folders.files) == 7
        await trio.sleep(100)
        assert (await page.notice()).startswith("A post was not taken in: ")


# -- sizes


@pytest.mark.slow
async def test_a_post_of_many_megabytes_is_kept_in_parts_and_read_again(directory: StateDirectory) -> None:
    text = "".join(map(chr, range(0x20, 0x5000))) * 300
    task = {"input": text.encode(errors="replace").decode(), "output": "é\0\u2028"}
    async with judging(directory, never()) as court:
        await court.desk.receive(post(A, tests=[task]))
        [(_, parts)] = await store(court).streams(PREFIX)
        assert parts > PARTS, "more than one append"
    async with judging(directory) as court:
        await court.settled()
        files = court.folders.files
        assert files["abc1", "abc1_a", "tests", "1.in"] == f"{task['input']}\n".encode()
        assert files["abc1", "abc1_a", "tests", "1.out"] == "é\0\u2028\n".encode()


async def test_what_was_kept_in_part_was_never_answered_and_is_no_post(directory: StateDirectory) -> None:
    async with judging(directory, never()) as court:
        encoded = json.dumps({"name": "A", "group": "x"}).encode()
        half = Post(7, "0" * 16, len(encoded))
        await Posts(court.house.stage.registry).keep(half, encoded[:-1])
    async with judging(directory) as court:
        page = await court.page()
        await court.take_in(A)
        assert len(court.folders.files) == 7
        assert not page.all("notice")
        assert await waiting(court) == 0


MANY = 1_050
"""More than a page of names."""


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Post]:
    """Posts that were read from the store."""
    parts, found = Posts.parts, list[Post]()

    async def noted(posts: Posts, each: Post) -> list[bytes]:
        found.append(each)
        return await parts(posts, each)

    monkeypatch.setattr(Posts, "parts", noted)
    return found


@pytest.mark.slow
async def test_however_many_wait_at_a_start_few_are_read_at_a_time(
    directory: StateDirectory, reads: list[Post]
) -> None:
    async with judging(directory, never()) as court:
        for start in range(0, MANY, 350):
            async with trio.open_nursery() as nursery:
                for number in range(start, start + 350):
                    nursery.start_soon(court.desk.receive, post(f"abc1/abc1_{number}"))
        assert not reads, "they have only just come"
    async with judging(directory, never()) as court:
        await court.settled()
        assert len(reads) == AT_ONCE
        assert f"{MANY:,} wait" in str(court["intake"].statistics().note)


@pytest.mark.slow
async def test_large_posts_wait_in_the_store_and_not_in_memory(directory: StateDirectory, reads: list[Post]) -> None:
    folders = never()
    async with judging(directory, folders) as court:
        for number in range(AT_ONCE + 3):
            await court.desk.receive(post(f"abc1/abc1_{number}", tests=[{"input": "x" * PART, "output": ""}]))
        await court.settled()
        assert len(reads) == AT_ONCE
        folders.gates["add"].set()
        await court.settled()
        assert len(reads) == AT_ONCE + 3


@pytest.mark.slow
async def test_a_workspace_that_cannot_be_written_for_long_loses_nothing(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.intake.APART_SECONDS", 10.0)
    full = Folders(trouble=lambda call, task: FULL if call == "add" else None)
    async with judging(directory, full) as court:
        for number in range(20):
            await court.desk.receive(post(f"abc1/abc1_{number}"))
        await trio.sleep(600)
        full.trouble = lambda call, task: None
        while not full.files:  # noqa: ASYNC110  time is virtual, and passes at once
            await trio.sleep(1)
        await court.settled()
        assert len(full.files) == 20 * 7, "where one can be written, so can the others"
        assert await waiting(court) == 0


def test_a_task_is_kept_as_it_was_understood() -> None:
    task = Task(name="é", group="x", tests=(Sample("1\0\n", "\ufffd\n"),))
    assert read([encode(task)]) == task


async def test_without_an_intake_a_post_is_refused_in_words(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court["intake"].stop()
        with pytest.raises(KernelError):
            await court.desk.receive(post(A))


@pytest.mark.parametrize("what", ["the store", "the disk, in the middle"])
async def test_tests_that_were_written_are_told_though_the_post_is_to_be_tried_again(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    execute = Database.execute

    def full(database: Database, jobs: Sequence[Any]) -> list[object]:
        refused = Refused("there is no space left")
        return [
            refused if isinstance(job, Put) and job.space == PROBLEMS else execute(database, [job])[0] for job in jobs
        ]

    class CutShort(Folders):
        async def add(self, task: Names, choose: Callable[[Any], Sequence[NewCase]]) -> Found:
            found = await super().add(task, choose)
            if what == "the store" or 4 not in found.cases:
                return found
            raise FULL

    four = [(f"{number}\n", f"{number}\n") for number in range(1, 5)]
    async with judging(directory, CutShort()) as court:
        await court.take_in(A)
        page, other = await court.page(), await court.page()
        if what == "the store":
            monkeypatch.setattr(Database, "execute", full)
        await court.desk.receive(post(A, *four, name="another name"))
        await court.settled()
        shown = page.all("state/update")[-1]["problem"]
        assert [case["index"] for case in shown["cases"]] == [1, 2, 3, 4]
        assert shown["name"] == "abc1_a"  # the rest of the post is not kept yet
        await trio.sleep(0.5)
        assert [each["cases"] for each in other.knows()] == [4]
        assert await waiting(court) == 1
