"""Whole trees: whoever looks only at what they are told of knows in the end what is there."""

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.patience import PATIENCE
from tests.transports.folder.disks import UNWATCHED
from transports.folder.feed import MANY, PACE_SECONDS
from transports.folder.inotify import FolderEvent, Inotify
from transports.folder.trees import TreeChanges, TreeFeed

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
Known = dict[Path, int]
"""Each file and folder, with the number of the file; 0: a folder."""
numbers = count()


@asynccontextmanager
async def feeding(root: Path, most: int = 1_000) -> AsyncIterator[TreeFeed]:
    inotify = Inotify()
    try:
        feed = TreeFeed(inotify, most=most)
        feed.watch(root)
        with trio.fail_after(PATIENCE):
            yield feed
    finally:
        inotify.close()


def watched(feed: TreeFeed) -> int:
    """How many folders the system watches for it."""
    told = Path(f"/proc/self/fdinfo/{feed._inotify.fileno()}").read_text()
    return told.count("inotify wd:")


def there(root: Path) -> Known:
    found: Known = {}
    for folder, *names in os.walk(root):
        for name in chain(*names):
            path = Path(folder, name)
            found[path] = 0 if path.is_dir() and not path.is_symlink() else path.lstat().st_ino
    return found


def look(known: Known, changes: TreeChanges, root: Path) -> None:
    """What somebody does who believes what they are told."""
    if changes.lost:
        known.clear()
        known |= there(root)
        return
    for folder in changes.anew:
        for each in [each for each in known if each.is_relative_to(folder) and each != folder]:
            del known[each]
    for folder, names in changes.names.items():
        for name in names:
            path = folder / name
            try:
                status = os.lstat(path)
            except OSError:
                status = None
            is_folder = status is not None and path.is_dir() and not path.is_symlink()
            if not is_folder:
                for each in [each for each in known if each.is_relative_to(path)]:
                    del known[each]
            if status is not None:
                known[path] = 0 if is_folder else status.st_ino


async def settled(feed: TreeFeed, known: Known, root: Path) -> None:
    """Until all that was done before has been told."""
    last = f"last{next(numbers)}"
    (root / last).touch()
    seen = False
    while not seen:
        changes = await feed.changes()
        seen = changes.lost or last in changes.names.get(root, ())
        look(known, changes, root)
    os.unlink(root / last)
    known.pop(root / last, None)


FOLDERS = ["a", "b", "a/c", "a/c/d", "b/c"]
folders, files = st.sampled_from(FOLDERS), st.sampled_from(["x", "y"])
edits = st.one_of(
    st.tuples(st.just("make"), folders, files),
    st.tuples(st.just("write"), folders, files),
    st.tuples(st.just("delete"), folders, files),
    st.tuples(st.just("remove"), folders, files),
    st.tuples(st.just("move"), folders, folders),
    st.tuples(st.just("away"), folders, files),
    st.tuples(st.just("back"), folders, files),
    st.tuples(st.just("link"), folders, files),
)


def edit(root: Path, what: str, where: str, how: str) -> None:
    path, away = root / where, root.parent / "away"
    match what:
        case "make":
            path.mkdir(parents=True, exist_ok=True)
        case "write":
            path.mkdir(parents=True, exist_ok=True)
            draft = root.parent / f"draft{next(numbers)}"
            draft.touch()
            draft.rename(path / how)
        case "delete":
            (path / how).unlink()
        case "remove":
            shutil.rmtree(path)
        case "move":
            path.rename(root / how)
        case "away":
            shutil.rmtree(away, ignore_errors=True)
            path.rename(away)
        case "back":
            away.rename(path)
        case "link":
            (path / how).symlink_to(root)


async def _follow(story: list[list[tuple[str, str, str]]]) -> None:
    with TemporaryDirectory() as place:
        root = Path(place, "root")
        (root / "a" / "c").mkdir(parents=True)
        async with feeding(root) as feed:
            known = there(root)
            for step in story:
                for what, where, how in step:
                    with suppress(OSError):
                        edit(root, what, where, how)
                await settled(feed, known, root)
                wanted = there(root)
                assert known == wanted
                assert feed.folders == 1 + list(wanted.values()).count(0)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(edits, min_size=1, max_size=6), min_size=1, max_size=6))
@example([[("write", "a/c", "x")], [("away", "a", "x")], [("back", "b", "x")], [("write", "b/c", "y")]])
@example([[("move", "a", "b")], [("write", "b/c", "x")]])
@example([[("move", "a", "b"), ("make", "a", "x")]])
def test_who_looks_only_at_what_is_told_knows_what_is_there(story: list[list[tuple[str, str, str]]]) -> None:
    trio.run(_follow, story)


@pytest.mark.slow
async def test_thousands_of_changes_at_once_are_a_few_answers(tmp_path: Path) -> None:
    wanted: dict[Path, set[str]] = {}
    async with feeding(tmp_path) as feed:
        for folder in range(50):
            (tmp_path / f"{folder}").mkdir()
            for file in range(100):
                (tmp_path / f"{folder}" / f"{file}").touch()
            wanted[tmp_path / f"{folder}"] = {f"{file}" for file in range(100)}
        told: dict[Path, set[str]] = {}
        answers = 0
        while not all(told.get(folder, set()) >= names for folder, names in wanted.items()):
            changes = await feed.changes()
            answers += 1
            for path, names in changes.names.items():
                told.setdefault(path, set()).update(names)
        assert answers < 20
        assert feed.folders == 51


async def test_when_events_are_lost_all_is_watched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(self: Inotify) -> list[Any]:
        os.read(self.fileno(), 1 << 16)
        monkeypatch.undo()
        return [FolderEvent(-1, "", of_folder=True)]

    async with feeding(tmp_path) as feed:
        monkeypatch.setattr(Inotify, "read", lossy)
        (tmp_path / "a" / "b").mkdir(parents=True)
        assert (await feed.changes()).lost
        assert feed.folders == 3
        (tmp_path / "a" / "b" / "x").touch()
        assert (await feed.changes()).names == {tmp_path / "a" / "b": {"x"}}


async def test_only_so_many_folders_are_watched_and_that_is_said(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
    async with feeding(tmp_path, most=3) as feed:
        assert (feed.folders, feed.why_not) == (3, "only 3 folders are watched")


async def test_a_folder_that_has_left_the_tree_is_watched_no_more_and_nothing_below_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "b" / "c").mkdir(parents=True)
    async with feeding(root) as feed:
        assert feed.folders == watched(feed) == 4
        (root / "a").rename(tmp_path / "a")
        assert (await feed.changes()).names == {root: {"a"}}
        assert feed.folders == watched(feed) == 1


async def test_folders_that_have_moved_within_the_tree_are_watched_once_with_what_they_hold_now(tmp_path: Path) -> None:
    root, names = tmp_path / "root", [f"{number}" for number in range(10)]
    for name in names:  # of ten, one is listed anew under its new name before it is missed under its old one
        (root / name / "gone").mkdir(parents=True)
        (root / name / "kept").mkdir()
    async with feeding(root) as feed:
        assert feed.folders == 31
        for name in names:
            (root / name).rename(root / f"new-{name}")
            (root / f"new-{name}" / "gone").rename(tmp_path / name)
        told: set[Path] = set()
        while len(told) < 10:
            told |= {folder for folder in (await feed.changes()).anew if folder.parent == root}
        assert feed.folders == watched(feed) == 21
        for name in names:
            (tmp_path / name / "x").touch()  # nobody is told of what has left the tree
        for name in names:
            (root / f"new-{name}" / "kept" / "x").touch()
        seen: dict[Path, set[str]] = {}
        while len(seen) < 10:
            told_now = (await feed.changes()).names
            seen |= {folder: found for folder, found in told_now.items() if "x" in found}
        assert seen == {root / f"new-{name}" / "kept": {"x"} for name in names}


async def test_a_lone_change_is_told_at_once_and_after_many_the_answer_waits_for_more(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    inotify = Inotify()
    try:
        feed = TreeFeed(inotify)
        feed.watch(tmp_path)

        async def told(files: int) -> float:
            for _ in range(files):
                (tmp_path / f"{next(numbers)}").touch()
            began = trio.current_time()
            await feed.changes()
            return trio.current_time() - began

        assert [await told(1), await told(1), await told(MANY), await told(1)] == [0, 0, 0, pytest.approx(PACE_SECONDS)]
        assert [await told(1), await told(1)] == [pytest.approx(PACE_SECONDS), 0]
    finally:
        inotify.close()


@pytest.mark.parametrize(("error", "why"), UNWATCHED)
async def test_what_the_system_does_not_watch_is_said_unless_it_has_only_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, why: str | None
) -> None:
    (tmp_path / "a").mkdir()
    add = Inotify.add

    def refuse(self: Inotify, folder: Path, wanted: int) -> int:
        if folder.name == "a":
            raise error
        return add(self, folder, wanted)

    monkeypatch.setattr(Inotify, "add", refuse)
    async with feeding(tmp_path) as feed:
        assert (feed.folders, feed.why_not) == (1, why)


@pytest.mark.parametrize("most", [1, 2, 3, 4])
async def test_there_is_room_for_exactly_as_many_folders_as_are_allowed(tmp_path: Path, most: int) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with feeding(tmp_path, most=most) as feed:
        assert feed.folders == min(most, 3)
        assert (feed.why_not is None) == (most >= 3)


async def test_a_root_that_has_itself_gone_is_looked_at_anew(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    async with feeding(root) as feed:
        root.rename(tmp_path / "old")
        (root / "b" / "c").mkdir(parents=True)
        assert (await feed.changes()).lost
        assert feed.folders == 3
        (root / "b" / "c" / "x").touch()
        assert (await feed.changes()).names == {root / "b" / "c": {"x"}}
        (tmp_path / "old" / "a" / "x").touch()
        (root / "y").touch()
        assert (await feed.changes()).names == {root: {"y"}}
