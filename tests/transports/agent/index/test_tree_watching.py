"""A real folder is watched with all below it, less what git ignores; and what happens there is told."""

import errno
import math
import os
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest
import trio
import trio.testing

from actors.kernel.testing import run_in_virtual_time
from codec.agent.index.telling import WatchNews, WatchTrouble
from transports.agent.index import watching
from transports.agent.index.watching import (
    OPEN_SECONDS,
    OPEN_SETTLE_SECONDS,
    OpenFiles,
    TreeWatch,
    TreeWatches,
)
from transports.agent.walking import Rules
from transports.folder.feed import Gathered
from transports.folder.inotify import FolderEvent, Inotify
from transports.folder.rooted import Rooted

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
DEADLINE = 20.0


class Ear:
    """What was told."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.lost = 0
        self.news = 0
        self.over = trio.Event()
        self._heard = trio.Event()

    def told(self, news: WatchNews) -> None:
        self.news += 1
        self.paths.update(news.paths)
        self.lost += news.lost
        self._heard.set()
        self._heard = trio.Event()

    async def until(self, wanted: Callable[[], bool]) -> None:
        with trio.fail_after(DEADLINE):
            while not wanted():
                await self._heard.wait()

    async def hears(self, path: str) -> None:
        """That this, or a folder above it, may have changed."""
        parts = path.split("/")
        above = {"/".join(parts[: depth + 1]) for depth in range(len(parts))}
        await self.until(lambda: bool(above & self.paths))


@asynccontextmanager
async def watched(root: Path, watches: TreeWatches | None = None) -> AsyncIterator[Ear]:
    ear = Ear()

    async def watch() -> None:
        await (watches or TreeWatches()).watch(str(root), ear.told)
        ear.over.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        await ear.until(lambda: ear.lost == 1)
        yield ear
        nursery.cancel_scope.cancel()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    for folder in ("src/deep/deeper", "node_modules/lib", ".git/objects", ".hidden"):
        place.joinpath(folder).mkdir(parents=True)
    place.joinpath(".gitignore").write_text("node_modules/\n*.log\nbuild/\n")
    place.joinpath("src/a.py").write_text("a = 1\n")
    return place


async def test_a_file_that_is_saved_anywhere_is_told_also_if_it_is_replaced_or_deleted(root: Path) -> None:
    async with watched(root) as ear:
        root.joinpath("src/a.py").write_text("a = 2\n")
        await ear.hears("src/a.py")
        draft = root / "src/deep/deeper/.draft"
        draft.write_text("b = 1\n")
        draft.rename(root / "src/deep/deeper/b.py")
        await ear.hears("src/deep/deeper/b.py")
        ear.paths.clear()
        root.joinpath("src/deep/deeper/b.py").unlink()
        await ear.hears("src/deep/deeper/b.py")
        root.joinpath("top.py").write_text("")
        await ear.hears("top.py")


async def test_a_file_that_is_kept_open_or_cut_off_by_its_name_is_told_too(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "OPEN_SECONDS", 0.05)
    async with watched(root) as ear:
        with root.joinpath("src/deep/events.txt").open("w") as log:
            await ear.hears("src/deep/events.txt")
            for _ in range(3):
                ear.paths.clear()
                log.write("one more\n")
                log.flush()
                await ear.hears("src/deep/events.txt")
        os.truncate(root / "src/a.py", 3)
        await ear.hears("src/a.py")


async def test_who_may_read_a_file_or_a_folder_is_told_and_the_folder_is_watched_on(root: Path) -> None:
    async with watched(root) as ear:
        root.joinpath("src/a.py").chmod(0o600)
        await ear.hears("src/a.py")
        for mode in (0, 0o755):
            ear.paths.clear()
            root.joinpath("src/deep").chmod(mode)
            await ear.hears("src/deep")
        ear.paths.clear()
        root.joinpath("src/deep/deeper/b.py").write_text("b = 1\n")
        await ear.until(lambda: "src/deep/deeper/b.py" in ear.paths)


def test_a_file_that_is_written_to_without_end_is_told_once_in_a_while_and_at_once_when_it_is_closed() -> None:
    async def main() -> None:
        opened, told = OpenFiles(), 0
        began = trio.current_time()
        while trio.current_time() < began + 10 * OPEN_SECONDS:
            found = Gathered()
            found.take([FolderEvent(1, "log", of_folder=False, unfinished=True)])
            told += not opened.held_back(found)
            await trio.sleep(OPEN_SETTLE_SECONDS)
        assert 9 <= told <= 10
        closed = Gathered()
        closed.take([FolderEvent(1, "log", of_folder=False, unfinished=each) for each in (True, False, True)])
        assert not opened.held_back(closed)
        assert closed.names == {1: {"log"}}
        await trio.sleep_until(opened.due if opened.due < math.inf else began)
        assert opened.held_back(Gathered())  # nothing is left to tell
        assert opened.due == math.inf

    run_in_virtual_time(main)


@pytest.mark.parametrize("rules", ["*\n!*/\n!*.py\n", "deep\n!deep/\n"])
async def test_a_folder_that_goes_is_told_also_if_git_would_ignore_a_file_of_its_name(root: Path, rules: str) -> None:
    root.joinpath(".gitignore").write_text(rules)
    async with watched(root) as ear:
        root.joinpath("src/deep").rename(root / "src/other")
        await ear.hears("src/deep")
        root.joinpath("src/other").rename(root / "src/deep")
        await ear.hears("src/deep")
        ear.paths.clear()
        shutil.rmtree(root / "src/deep")
        await ear.hears("src/deep")


async def test_what_git_ignores_what_is_hidden_and_git_s_own_folder_are_not_told(root: Path) -> None:
    async with watched(root) as ear:
        for path in ("node_modules/lib/x.js", ".git/objects/x", ".hidden/x.py", "src/x.log", ".git/config"):
            root.joinpath(path).write_text("x")
        root.joinpath("build").mkdir()
        root.joinpath("build/x.py").write_text("x")
        root.joinpath("src/last.py").write_text("x")
        await ear.hears("src/last.py")
        assert ear.paths == {"src/last.py"}


async def test_new_folders_are_watched_with_all_that_was_made_in_them_meanwhile(root: Path) -> None:
    async with watched(root) as ear:
        for number in range(20):
            folder = root / f"new{number}/a/b/c"
            folder.mkdir(parents=True)
            folder.joinpath("x.py").write_text("x")
        for number in range(20):
            await ear.hears(f"new{number}/a/b/c/x.py")
        await trio.testing.wait_all_tasks_blocked(0.05)
        ear.paths.clear()
        for number in range(20):
            root.joinpath(f"new{number}/a/b/c/later.py").write_text("x")
        for number in range(20):
            await ear.hears(f"new{number}/a/b/c/later.py")
            assert f"new{number}/a/b/c/later.py" in ear.paths


async def test_a_renamed_folder_is_told_under_both_names_and_watched_on_under_the_new_one(root: Path) -> None:
    async with watched(root) as ear:
        root.joinpath("src/deep").rename(root / "moved")
        await ear.hears("src/deep")
        await ear.hears("moved")
        ear.paths.clear()
        root.joinpath("moved/deeper/x.py").write_text("x")
        await ear.until(lambda: "moved/deeper/x.py" in ear.paths)
        assert not any(path.startswith("src/deep") for path in ear.paths)


async def test_a_folder_that_leaves_the_workspace_is_watched_no_more(root: Path, tmp_path: Path) -> None:
    async with watched(root) as ear:
        root.joinpath("src/deep").rename(tmp_path / "outside")
        await ear.hears("src/deep")
        ear.paths.clear()
        tmp_path.joinpath("outside/deeper/x.py").write_text("x")
        root.joinpath("src/b.py").write_text("x")
        await ear.hears("src/b.py")
        assert ear.paths == {"src/b.py"}


@pytest.mark.parametrize("seed", range(3))
def test_whatever_comes_goes_and_moves_as_many_folders_are_known_as_there_are(root: Path, seed: int) -> None:
    """Each is told as the system does: its folder's number, and its name."""
    shutil.rmtree(root / "node_modules")
    shutil.rmtree(root / ".git")
    shutil.rmtree(root / ".hidden")
    tree = TreeWatch(Rooted(root, firm=True), Inotify())
    random = Random(seed)

    def folders() -> dict[str, str]:
        return {str(path.relative_to(root)): str(path) for path in root.rglob("*") if path.is_dir()}

    def told(*paths: str) -> None:
        found = Gathered()
        for path in paths:
            above, _, name = path.rpartition("/")
            names = tuple(above.split("/")) if above else ()
            for number in [number for number, (its, _) in tree._folders.items() if its == names]:
                found.names.setdefault(number, set()).add(name)
                found.folders.add(number)
        tree.taken(found)

    try:
        tree.begin()
        for step in range(25):
            there = sorted(folders())
            at = random.choice(["", *there])
            new = f"{at}/n{step}" if at else f"n{step}"
            match random.choice(("made", "gone", "moved")):
                case "gone" if at:
                    shutil.rmtree(root / at)
                    told(at)
                case "moved" if at:
                    target = f"m{step}"
                    (root / at).rename(root / target)
                    told(at, target)
                case _:
                    (root / new / "below").mkdir(parents=True)
                    told(new)
            assert {"/".join(names) for names, _ in tree._folders.values()} == {"", *folders()}
            assert len(tree) == len(folders()) + 1
    finally:
        tree.close()


async def test_when_the_rules_change_the_folder_is_told_and_what_they_hid_is_watched(root: Path) -> None:
    async with watched(root) as ear:
        root.joinpath(".gitignore").write_text("*.log\n")
        await ear.until(lambda: ear.lost == 2)
        root.joinpath("node_modules/lib/x.js").write_text("x")
        await ear.hears("node_modules/lib/x.js")


async def test_a_checkout_of_thousands_is_told_in_a_few_pieces(root: Path) -> None:
    async with watched(root) as ear:
        before = ear.news
        for number in range(3000):
            root.joinpath(f"src/deep/{number}.py").write_text("x")
        await ear.until(lambda: ear.lost > 1 or len(ear.paths) == 3000)
        assert ear.news - before <= 40


async def test_lost_events_are_a_whole_scan_and_everything_is_watched_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Inotify.read
    lose = [False]

    def losing(self: Inotify) -> list[FolderEvent]:
        events = read(self)
        return [FolderEvent(-1, "", of_folder=True)] if events and lose[0] else events

    monkeypatch.setattr(Inotify, "read", losing)
    async with watched(root) as ear:
        lose[0] = True
        root.joinpath("made/while/lost").mkdir(parents=True)
        await ear.until(lambda: ear.lost >= 2)
        await trio.sleep(0.1)
        lose[0] = False
        root.joinpath("made/while/lost/x.py").write_text("x")
        await ear.hears("made/while/lost/x.py")


async def test_when_the_folder_itself_goes_watching_is_over(root: Path) -> None:
    elsewhere = root.with_name("elsewhere")
    async with watched(root) as ear:
        os.rename(root, elsewhere)
        with trio.fail_after(DEADLINE):
            await ear.over.wait()
    os.rename(elsewhere, root)
    async with watched(root) as ear:
        shutil.rmtree(root)
        with trio.fail_after(DEADLINE):
            await ear.over.wait()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
async def test_a_limit_of_the_system_is_told_with_what_to_do(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    count = len(os.listdir("/proc/self/fd"))

    def refuse(*given: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Inotify, "add_opened" if number == errno.ENOSPC else "__init__", refuse)
    with pytest.raises(WatchTrouble) as told:
        await TreeWatches().watch(str(root), lambda news: None)
    wanted = "fs.inotify.max_user_watches" if number == errno.ENOSPC else "fs.inotify.max_user_instances"
    assert f"sudo sysctl {wanted}=" in str(told.value)
    assert "looked at every few seconds" in str(told.value)
    assert len(os.listdir("/proc/self/fd")) == count


async def test_links_are_not_followed_and_closed_folders_are_not_watched(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root.joinpath("src/link").symlink_to(outside)
    root.joinpath("state").mkdir()
    async with watched(root, TreeWatches([root / "state"])) as ear:
        outside.joinpath("x.py").write_text("x")
        root.joinpath("state/x.py").write_text("x")
        root.joinpath("src/b.py").write_text("x")
        await ear.hears("src/b.py")
        assert ear.paths == {"src/b.py"}


async def test_a_thread_that_hangs_adds_no_watch_after_its_watch_has_ended(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, added = threading.Event(), threading.Event(), []
    add = Inotify.add_opened

    def slow(self: Inotify, folder: int, wanted: int) -> int:
        added.append(folder)
        return add(self, folder, wanted)

    def hang(root: Rooted, here: int, depth: int, rules: Rules) -> Rules:
        begun.set()
        go_on.wait(DEADLINE)
        return rules

    monkeypatch.setattr(Inotify, "add_opened", slow)
    monkeypatch.setattr(watching, "with_own", hang)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(TreeWatches().watch, str(root), lambda news: None)
        await trio.to_thread.run_sync(begun.wait, DEADLINE)
        nursery.cancel_scope.cancel()
    count = len(added)
    go_on.set()
    await trio.sleep(0.1)
    assert len(added) == count
