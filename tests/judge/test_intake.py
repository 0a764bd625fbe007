"""The intake: what becomes of a post after it was answered."""

import re

import pytest
import trio

from actors.judge.desk import TooMuchPosted
from actors.kernel import MailboxFull
from actors.store import StateDirectory
from codec.judge import BadTask
from tests.judge.kit import FULL, Folders, judging, post

A, B = "abc1/abc1_a", "abc1/abc1_b"


async def test_a_post_is_answered_before_it_is_on_the_disk(directory: StateDirectory) -> None:
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        await court.desk.receive(post(A))
        await court.settled()
        assert not folders.files
        folders.gates["add"].set()
        await court.settled()
        assert len(folders.files) == 7


async def test_a_post_that_is_no_problem_is_refused_and_leaves_nothing(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        with pytest.raises(BadTask, match="the problem has no address"):
            await court.desk.receive(b"{}")
        await court.settled()
        assert not court["problems"].children()


async def test_a_large_post_is_read_where_nobody_waits(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, tests=[{"input": "x" * 400_000, "output": "1\n"}])
        assert len(court.folders.files[("abc1", "abc1_a", "tests", "1.in")]) == 400_001


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FULL, "abc1_a was not written to /workspace: No space left on device. Mend that and send it again."),
        (
            PermissionError(13, "Permission denied"),
            "abc1_a was not written to /workspace: Permission denied. Mend that and send it again.",
        ),
        (
            ZeroDivisionError("our own mistake"),
            "abc1_a was not taken in: .*our own mistake.*Send it again.",
        ),
    ],
)
async def test_what_cannot_be_written_is_told_to_all_panels_and_the_next_post_is_taken(
    directory: StateDirectory, error: Exception, sentence: str
) -> None:
    async with judging(directory) as court:
        page, other = await court.page(), await court.page()
        court.folders.trouble = lambda call, task: error if call == "add" and task[1] == "abc1_a" else None
        await court.desk.receive(post(A))
        for each in (page, other):
            notice = await each.heard("notice")
            assert notice["level"] == "error"
            assert re.fullmatch(sentence, notice["message"])
        await court.take_in(B)
        assert (await page.heard("state/update"))["problem"]["id"] == B
        court.folders.trouble = lambda call, task: None
        await court.take_in(A)
        assert (await page.heard("state/update"))["problem"]["id"] == A


async def test_what_cannot_be_written_while_nobody_looks_is_told_to_the_next_page(directory: StateDirectory) -> None:
    async with judging(directory, Folders(trouble=lambda call, task: FULL if call == "add" else None)) as court:
        await court.take_in(A)
        first, second = await court.page(greets=False), await court.page(greets=False)
        assert (await first.notice()).startswith("abc1_a was not written to /workspace: No space left on device.")
        await court.settled()
        assert not second.all("notice")


async def test_a_few_are_written_at_once_and_the_others_wait(directory: StateDirectory) -> None:
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        for number in range(20):
            await court.desk.receive(post(f"abc1/abc1_{number}"))
        await court.settled()
        assert len(court["problems"].children()) == 8
        folders.gates["add"].set()
        await court.settled()
        assert len(folders.files) == 140


async def test_a_page_follows_what_was_posted_first_and_not_what_was_written_first(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        slow = court.folders.gates["add"] = trio.Event()
        await court.desk.receive(post(A, batch={"id": "b", "size": 2}))
        await court.settled()
        del court.folders.gates["add"]
        await court.take_in(B, batch={"id": "b", "size": 2})
        assert ("abc1", "abc1_b", "tests", "1.in") in court.folders.files
        assert not page.all("state/update")
        slow.set()
        await court.settled()
        assert [said["problem"]["id"] for said in page.all("state/update")] == [A]
        assert [problem["id"] for problem in (await page.heard("state/problems"))["problems"]] == [A, B]


async def test_more_posts_than_may_wait_are_refused_in_words(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.desk.POSTS", 4)
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        for number in range(8 + 1 + 4):  # that are being written, in the intake's hand, in its mailbox
            await court.desk.receive(post(f"abc1/abc1_{number}"))
            await court.settled()
        with pytest.raises(MailboxFull, match="messages waiting, which is all it takes"):
            await court.desk.receive(post(B))
        folders.gates["add"].set()
        await court.settled()
        await court.take_in(B)
        assert ("abc1", "abc1_b", "tests", "1.in") in folders.files


async def test_more_bytes_than_may_wait_are_refused_in_words_until_they_are_written(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.desk.POSTED_BYTES", 1_000)
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        await court.desk.receive(post(A))
        await court.desk.receive(post(B))
        with pytest.raises(TooMuchPosted, match="wait a moment, and send it again"):
            await court.desk.receive(post("abc1/abc1_c", name="c" * 400))
        folders.gates["add"].set()
        await court.settled()
        for _ in range(10):
            await court.take_in("abc1/abc1_c")
        assert ("abc1", "abc1_c", "tests", "1.in") in folders.files


async def test_what_was_refused_takes_no_room(directory: StateDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.judge.desk.POSTED_BYTES", 1_000)
    async with judging(directory) as court:
        for _ in range(10):
            with pytest.raises(BadTask):
                await court.desk.receive(b"x" * 900)
        court.folders.trouble = lambda call, task: FULL if call == "add" else None
        for _ in range(10):
            await court.take_in(A)
        court.folders.trouble = lambda call, task: None
        await court.take_in(A)
        assert len(court.folders.files) == 7


async def test_an_intake_that_crashes_gives_back_all_room(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.desk.POSTED_BYTES", 10_000)
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        for number in range(12):
            await court.desk.receive(post(f"abc1/abc1_{number}"))
        await court.settled()
        court["intake"].kill()
        folders.gates["add"].set()
        await trio.sleep(1)
        await court.settled()
        for number in range(100, 120):
            await court.take_in(f"abc1/abc1_{number}")
        assert len([path for path in folders.files if path[1].startswith("abc1_1") and len(path[1]) == 8]) == 140
