"""A disk that hangs while the agent writes: whoever gives up is free at once, and nothing is written over what somebody
else has written since."""

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.agent.given import FileModified, FileRefused, FileReplacement, FileUnknown
from codec.agent.files import digest_of
from tests.patience import PATIENCE
from tests.transports.agent.hanging import AFTER, STEPS, Hanging, reached
from transports.agent import writes
from transports.agent.hands import FolderHands
from transports.agent.tree import THREADS, FolderTrees
from transports.folder import swapping

OLD, NEW = b"old\n", b"new\n"
CHANGES = {
    "modify": FileReplacement("there.txt", digest_of(OLD), NEW),
    "create": FileReplacement("new/new.txt", None, NEW),
    "delete": FileReplacement("there.txt", digest_of(OLD), None),
}
AT = [(step, kind) for step in STEPS for kind in CHANGES if kind != "delete" or step in ("look", "rename", *AFTER)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "there.txt").write_bytes(OLD)
    return root


def everything(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def after(kind: str) -> dict[str, bytes]:
    return {
        "modify": {"there.txt": NEW},
        "create": {"there.txt": OLD, "new/new.txt": NEW},
        "delete": {},
    }[kind]


@asynccontextmanager
async def given_up(hands: FolderHands, step: str, changes: Sequence[FileReplacement]) -> AsyncIterator[Hanging]:
    """A change that hangs there, and was given up. The disk answers at the end."""
    disk = Hanging(step)
    with reached(disk.at):
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hands.change, changes)
                assert await trio.to_thread.run_sync(disk.begun.wait, 10)
                nursery.cancel_scope.cancel()
            yield disk  # so whoever gave up is free, and the thread still hangs
        finally:
            disk.go.set()
            with trio.fail_after(PATIENCE):
                await hands.rested()


@pytest.mark.parametrize(("step", "kind"), AT)
async def test_a_change_that_is_given_up_on_a_disk_that_hangs_is_done_or_not_when_the_disk_answers(
    root: Path, step: str, kind: str
) -> None:
    hands = FolderTrees().hands(str(root))
    async with given_up(hands, step, [CHANGES[kind]]):
        assert everything(root).get("there.txt") == after(kind).get("there.txt") or step not in AFTER
        with trio.move_on_after(0) as asking:
            await hands.rested()
        assert asking.cancelled_caught
    done = step in ("rename", *AFTER)
    assert everything(root) == (after(kind) if done else {"there.txt": OLD})
    assert not done or kind != "create" or (root / "new").is_dir()


@pytest.mark.parametrize("step", STEPS)
async def test_until_the_disk_answers_nothing_else_is_written_there_and_everything_elsewhere(
    root: Path, tmp_path: Path, step: str
) -> None:
    (tmp_path / "other").mkdir()
    trees = FolderTrees()
    hands, same, other = (trees.hands(str(place)) for place in (root, root, tmp_path / "other"))
    one = FileReplacement("a.txt", None, b"x")
    async with given_up(hands, step, [CHANGES["modify"], one]):
        for _ in range(2 * THREADS):  # none of them takes a thread for good
            (refused,) = await same.change([one])
            assert isinstance(refused, FileRefused)
            assert str(refused) == (
                f"It is not known yet whether there.txt and 1 other were written: the disk of {root} does not answer."
                " Nothing else is changed in this workspace until that is known. Try again when the disk answers."
            )
        assert await same.clear(["new"]) == ()
        assert await other.change([one]) == [digest_of(b"x")]
        assert [each and each.data for each in await same.images(["b.txt"]) if not isinstance(each, FileRefused)] == [
            None
        ]
    now = everything(root).get("a.txt")
    change = FileReplacement("a.txt", None if now is None else digest_of(now), b"y")
    assert await same.change([change]) == [digest_of(b"y")]


@pytest.mark.parametrize(
    ("step", "kind", "with_exchange"),
    [
        (step, kind, with_exchange)
        for step, kind in AT
        for with_exchange in (True, False)
        if with_exchange or step != "rename"
    ],
)
async def test_what_somebody_saves_while_the_disk_hangs_is_never_written_over(
    root: Path, step: str, kind: str, with_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an exchange of names, a rename that hangs in the kernel itself is the only exception (swapping.py)."""
    if not with_exchange:
        monkeypatch.setattr(swapping, "exchange", lambda *names: False)
    hands, change = FolderTrees().hands(str(root)), CHANGES[kind]
    place = root / change.path
    async with given_up(hands, step, [change]):
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"theirs\n")
    assert everything(root)[change.path] == b"theirs\n"
    assert len(everything(root)) == (2 if kind == "create" else 1)


async def test_of_a_group_nothing_is_renamed_any_more_once_it_is_given_up(root: Path) -> None:
    hands = FolderTrees().hands(str(root))
    names = [f"{letter}/new.txt" for letter in "abc"]
    async with given_up(hands, "rename", [FileReplacement(name, None, NEW) for name in names]):
        pass
    assert everything(root) == {"there.txt": OLD, "a/new.txt": NEW}
    assert not (root / "b").exists()


async def test_a_change_on_a_disk_that_never_answers_is_given_up_for_whoever_waits(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "SECONDS", 0.05)
    hands, disk = FolderTrees().hands(str(root)), Hanging("sync")
    with reached(disk.at):
        made: list[str] = []
        (told,) = await hands.change([CHANGES["create"]], made)
        assert isinstance(told, FileUnknown)
        assert str(told) == (
            f"It is not known yet whether new/new.txt was written: the disk of {root} does not answer."
        )
        assert made == []
        disk.go.set()
        await hands.rested()
    assert everything(root) == {"there.txt": OLD}


async def test_a_change_for_which_there_is_no_thread_is_told_as_not_begun(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "SECONDS", 0.05)
    trees = FolderTrees()
    hands, limiter = trees.hands(str(root)), trees._limiter(str(root))
    for token in range(THREADS):
        await limiter.acquire_on_behalf_of(token)
    (told,) = await hands.change([CHANGES["create"]])
    assert str(told) == f"Nothing was written: the disk of {root} does not answer."
    assert not isinstance(told, FileUnknown)
    await hands.rested()


async def test_a_change_that_waits_while_another_is_given_up_does_not_begin(root: Path) -> None:
    trees = FolderTrees()
    hands, limiter = trees.hands(str(root)), trees._limiter(str(root))
    for token in range(THREADS - 1):
        await limiter.acquire_on_behalf_of(token)
    answers: list[Any] = []

    async def late() -> None:
        answers.extend(await hands.change([FileReplacement("late.txt", None, NEW)]))

    disk = Hanging("write")
    with reached(disk.at):
        async with trio.open_nursery() as nursery:
            async with trio.open_nursery() as first:
                first.start_soon(hands.change, [CHANGES["modify"]])
                assert await trio.to_thread.run_sync(disk.begun.wait, 10)
                nursery.start_soon(late)
                await wait_all_tasks_blocked()
                first.cancel_scope.cancel()
            limiter.total_tokens += 1
        disk.go.set()
        await hands.rested()
    assert isinstance(answers[0], FileRefused)
    assert not isinstance(answers[0], FileModified)
    assert everything(root) == {"there.txt": OLD}


async def test_a_write_that_is_given_up_before_its_thread_begins_never_begins(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins, go, over, done = threading.Event(), threading.Event(), threading.Event(), list[str]()
    begin = writes.FolderWrites._begin

    def late(self: writes.FolderWrites, write: writes.FolderWrite) -> None:
        begins.set()
        go.wait(PATIENCE)
        try:
            begin(self, write)
        finally:
            over.set()

    monkeypatch.setattr(writes.FolderWrites, "_begin", late)
    all_writes = writes.FolderWrites(str(root))
    limiter = trio.CapacityLimiter(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(all_writes.do, ["there.txt"], lambda wanted: done.append("written"), limiter)
        assert await trio.to_thread.run_sync(begins.wait, 10)
        nursery.cancel_scope.cancel()
    go.set()
    assert await trio.to_thread.run_sync(over.wait, 10)
    with trio.fail_after(PATIENCE):
        while limiter.borrowed_tokens:  # until its thread is back
            await trio.lowlevel.checkpoint()
    assert done == []
    monkeypatch.setattr(writes.FolderWrites, "_begin", begin)
    await all_writes.do(["there.txt"], lambda wanted: done.append("the next"), limiter)
    assert done == ["the next"]


async def test_a_write_that_nobody_gives_up_holds_nobody_up(root: Path) -> None:
    hands, disk = FolderTrees().hands(str(root)), Hanging("sync")
    answers: list[Any] = []

    async def change(one: FileReplacement) -> None:
        answers.extend(await hands.change([one]))

    with reached(disk.at):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(change, CHANGES["modify"])
            assert await trio.to_thread.run_sync(disk.begun.wait, 10)
            await hands.rested()
            await change(CHANGES["create"])
            disk.go.set()
    assert answers == [digest_of(NEW)] * 2
    assert not [each for each in threading.enumerate() if each.name.startswith("writing in")]
