"""The intake: what becomes of a post after it was answered."""

import re

import pytest
import trio

from actors.judge.intake import SELDOM_SECONDS, TooMuchPosted
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


@pytest.mark.parametrize("error", [FULL, PermissionError(13, "Permission denied")])
async def test_what_cannot_be_written_is_told_to_all_panels_holds_up_no_other_and_is_written_when_it_can_be(
    directory: StateDirectory, error: OSError
) -> None:
    async with judging(directory) as court:
        page, other = await court.page(), await court.page()
        court.folders.trouble = lambda call, task: error if call == "add" and task[1] == "abc1_a" else None
        await court.desk.receive(post(A))
        for each in (page, other):
            notice = await each.heard("notice")
            assert notice["level"] == "error"
            assert notice["message"] == (
                f"abc1_a was not written to /workspace yet: {error.strerror}. "
                "It is kept, and will be written when that is fixed."
            )
        await court.take_in(B)
        assert (await page.heard("state/update"))["problem"]["id"] == B
        await trio.sleep(1000)
        court.folders.trouble = lambda call, task: None
        assert (await page.heard("state/update", patience=SELDOM_SECONDS + 1))["problem"]["id"] == A
        assert not page.all("notice")[1:], "it is told once"


async def test_of_many_that_cannot_be_written_a_page_hears_one_sentence_a_second(directory: StateDirectory) -> None:
    async with judging(directory, Folders(trouble=lambda call, task: FULL if call == "add" else None)) as court:
        page = await court.page()
        for number in range(40):
            await court.desk.receive(post(f"abc1/abc1_{number}"))
        await trio.sleep(10)
        told = [notice["message"] for notice in page.all("notice")]
        assert len(told) <= 11
        others = re.findall(r"for ([0-9]+) others", "".join(told))
        assert len(told) + sum(map(int, others)) == 40


async def test_what_could_not_be_written_is_tried_at_once_when_it_is_posted_again(directory: StateDirectory) -> None:
    async with judging(directory, Folders(trouble=lambda call, task: FULL if call == "add" else None)) as court:
        await court.take_in(A)
        await trio.sleep(1000)
        court.folders.trouble = lambda call, task: None
        await trio.sleep(3)
        began = trio.current_time()
        await court.take_in(A)
        assert len(court.folders.files) == 7
        assert trio.current_time() == began


async def test_what_cannot_be_written_while_nobody_looks_is_told_to_the_next_page(directory: StateDirectory) -> None:
    async with judging(directory, Folders(trouble=lambda call, task: FULL if call == "add" else None)) as court:
        await court.take_in(A)
        first, second = await court.page(greets=False), await court.page(greets=False)
        assert (await first.notice()).startswith("abc1_a was not written to /workspace yet: No space left on device.")
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
        await trio.sleep(1)
        slow.set()
        await court.settled()
        assert [said["problem"]["id"] for said in page.all("state/update")] == [A]
        assert [problem["id"] for problem in (await page.heard("state/problems"))["problems"]] == [A, B]
    async with judging(directory, court.folders) as court:  # and the next server has the same list
        assert (await court.page()).listed == [A, B]


async def test_more_posts_than_may_wait_are_refused_in_words_which_a_page_hears(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.intake.MOST", 20)
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        page = await court.page()
        for number in range(20):
            await court.desk.receive(post(f"abc1/abc1_{number}"))
        for number in (97, 98, 99):
            with pytest.raises(TooMuchPosted, match=f"^abc1_{number} was refused: 20 posts wait for their folders"):
                await court.desk.receive(post(f"abc1/abc1_{number}"))
        refusal = "was refused: 20 posts wait for their folders already. Wait a moment, and send it again."
        assert await page.notice() == f"abc1_97 {refusal}"
        assert await page.notice() == f"abc1_99 {refusal} The same goes for another one."
        folders.gates["add"].set()
        await court.settled()
        await court.take_in(B)
        assert ("abc1", "abc1_b", "tests", "1.in") in folders.files
        assert not any(path[1] == "abc1_99" for path in folders.files)


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_COMING"])
async def test_more_bytes_than_may_wait_are_refused_in_words_until_they_are_written(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"actors.judge.intake.{limit}", 900)
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        await court.desk.receive(post(A))
        await court.desk.receive(post(B))
        with pytest.raises(TooMuchPosted, match=r"^c+ was refused: .* are too large\. Wait a moment"):
            await court.desk.receive(post("abc1/abc1_c", name="c" * 300, tests=[{"input": "c" * 600}]))
        folders.gates["add"].set()
        await court.settled()
        for _ in range(10):
            await court.take_in("abc1/abc1_c")
        assert ("abc1", "abc1_c", "tests", "1.in") in folders.files


async def test_what_was_refused_takes_no_room_and_a_page_hears_of_it(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.desk.READING_BYTES", 1_000)
    async with judging(directory) as court:
        page = await court.page()
        for _ in range(10):
            with pytest.raises(BadTask):
                await court.desk.receive(b"x" * 900)
        with pytest.raises(TooMuchPosted, match="More is being posted than can be read at a time"):
            await court.desk.receive(b"x" * 1_001)
        assert (await page.notice()).startswith("What was posted is no problem: the body is not JSON (line 1, column 1")
        await court.take_in(A)
        assert len(court.folders.files) == 7
