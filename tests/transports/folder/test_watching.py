"""The watcher, on a real disk: an actor that looks only after a notice always ends up with the current content."""

import errno
import os
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from actors.kernel import (
    Actor,
    AnySpec,
    ChildSpec,
    Key,
    Mailbox,
)
from actors.kernel.testing import House, Log, staged
from codec.judge import fingerprint
from tests.patience import PATIENCE
from tests.transports.folder.disks import UNWATCHED
from transports.folder import inotify, watching
from transports.folder.feed import Gathered
from transports.folder.inotify import Inotify
from transports.folder.watching import Watched, WatcherMessage, Watching, watcher_spec
from transports.judge.task_folders import TaskFolders

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
TASK = ("abc1", "abc1_a")
STIRRED = "stirred"
WATCHER = Key[WatcherMessage]("watcher")


class Looker(Actor[str]):
    """Looks when it is told, and never else."""

    def __init__(self, folders: TaskFolders, seen: Log[Any]) -> None:
        self.folders = folders
        self.seen = seen

    async def started(self, kept: object | None) -> None:
        self.watching = Watching(WATCHER, self.stage.registry)
        self.watching.watch(self.ref, self.folders.watched(TASK), STIRRED)

    async def handle(self, message: str) -> None:
        assert message == STIRRED
        try:
            found = await self.folders.find(TASK)
        except OSError:
            self.seen.add("unreadable")
        else:
            self.seen.add(seen(found))
        self.watching.looked(self.ref)


def seen(found: Any) -> Any:
    cases = {index: tuple(text.head for text in pair) for index, pair in found.cases.items()}
    return cases, found.main, found.exists


def there(root: Path) -> Any:
    """What a person sees there."""
    task = root.joinpath(*TASK)
    if not task.is_dir():
        return {}, None, False
    tests, main = task / "tests", task / "main.py"
    numbers = sorted(int(path.stem) for path in tests.glob("*.in")) if tests.is_dir() else []
    cases = {
        number: tuple((tests / f"{number}.{kind}").read_bytes() for kind in ("in", "out"))
        for number in numbers
        if (tests / f"{number}.out").exists()
    }
    return cases, fingerprint(main.read_bytes()).digest() if main.exists() else None, True


@asynccontextmanager
async def looking(root: Path, *more: AnySpec) -> AsyncIterator[tuple[House, Log[Any]]]:
    folders = TaskFolders(root, tests_dir="tests", template="", head_bytes=100)
    log: Log[Any] = Log()
    specs: list[AnySpec] = [watcher_spec(WATCHER), ChildSpec("looker", lambda: Looker(folders, log)), *more]
    async with staged(*specs, intensity=100) as house:
        yield house, log


async def sees(log: Log[Any], wanted: Any) -> None:
    with trio.fail_after(PATIENCE):
        while not log.entries or log.entries[-1] != wanted:
            await log.nth(len(log.entries) + 1, lambda seen: True)


# -- what people and their programs do


def _write(root: Path, name: str, content: bytes) -> None:
    path = root.joinpath(*TASK, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _rename_over(root: Path, name: str, content: bytes) -> None:
    """As vim and most editors save."""
    path = root.joinpath(*TASK, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.swp")
    draft.write_bytes(content)
    draft.rename(path)


def _delete(root: Path, name: str, content: bytes) -> None:
    root.joinpath(*TASK, name).unlink(missing_ok=True)


def _remove_folder(root: Path, name: str, content: bytes) -> None:
    shutil.rmtree(_folder(root, content), ignore_errors=True)


def _move_away_and_back(root: Path, name: str, content: bytes) -> None:
    folder = _folder(root, content)
    away = root.parent / "away"
    if folder.exists() and not away.exists():
        folder.rename(away)
    elif away.exists() and not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        away.rename(folder)


def _put_another_in_its_place(root: Path, name: str, content: bytes) -> None:
    """As `git checkout` or unpacking does."""
    folder = root.joinpath(*TASK)
    other = root.parent / f"other-{os.urandom(4).hex()}"
    (other / "tests").mkdir(parents=True)
    for kind in ("in", "out"):
        (other / "tests" / f"7.{kind}").write_bytes(content)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    other.rename(folder)


def _folder(root: Path, content: bytes) -> Path:
    return [root, root / TASK[0], root.joinpath(*TASK), root.joinpath(*TASK, "tests")][len(content) % 4]


EDITS: list[Callable[[Path, str, bytes], None]] = [
    _write, _rename_over, _delete, _remove_folder, _move_away_and_back, _put_another_in_its_place,
]  # fmt: skip
edits = st.tuples(
    st.sampled_from(EDITS),
    st.sampled_from(["main.py", "tests/1.in", "tests/1.out", "tests/2.in", "tests/2.out"]),
    st.sampled_from([b"", b"1", b"2", b"33", b"444"]),
)


async def _follow(steps: list[list[Any]]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder, "place", "workspace")
        _remake(root)
        async with looking(root) as (_, log):
            for step in steps:  # what is in one step is done at once, and then the looker has time
                for edit, name, content in step:
                    try:
                        edit(root, name, content)
                    except (NotADirectoryError, FileExistsError):
                        continue
                await sees(log, there(root))


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(edits, min_size=1, max_size=6), min_size=1, max_size=5))
@example([[(_write, "tests/1.in", b"1"), (_write, "tests/1.out", b"1")], [(_remove_folder, "", b"444")], [(_write, "tests/1.in", b"2"), (_write, "tests/1.out", b"2")]])  # noqa: E501
@example([[(_write, "main.py", b"1")], [(_move_away_and_back, "", b"1")], [(_write, "main.py", b"2")]])
@example([[(_write, "main.py", b"1")], [(_remove_folder, "", b"")], [(_write, "main.py", b"1")]])
def test_who_looks_only_when_told_sees_in_the_end_what_is_there(steps: list[list[Any]]) -> None:
    trio.run(_follow, steps)


def _remake(root: Path) -> None:
    root.mkdir(parents=True)


# -- bad days


async def test_an_edit_is_told_within_a_moment_and_nothing_without_one(tmp_path: Path) -> None:
    _write(tmp_path, "main.py", b"1")
    async with looking(tmp_path) as (_, log):
        await sees(log, there(tmp_path))
        (tmp_path / TASK[0] / "another").mkdir()  # beside it
        (tmp_path.joinpath(*TASK) / "notes.txt").write_bytes(b"what nobody asks for")
        told = len(log.entries)
        _write(tmp_path, "main.py", b"2")
        with trio.fail_after(PATIENCE / 3):
            await sees(log, there(tmp_path))
        assert len(log.entries) == told + 1


async def test_who_writes_without_end_makes_nobody_look_faster_than_they_can(tmp_path: Path) -> None:
    async with looking(tmp_path) as (house, log):
        _write(tmp_path, "main.py", b"0")
        for number in range(300):
            _write(tmp_path, "tests/1.in", b"%d" % number)
            _write(tmp_path, "tests/1.out", b"%d" % number)
            await trio.lowlevel.checkpoint()
        await sees(log, there(tmp_path))
        assert len(log.entries) < 100
        assert house["looker"].statistics().mailbox.queued == 0


async def test_after_a_crash_of_the_watcher_everybody_looks(tmp_path: Path) -> None:
    async with looking(tmp_path) as (house, log):
        await sees(log, there(tmp_path))
        house["watcher"].kill()
        _write(tmp_path, "main.py", b"1")
        await sees(log, there(tmp_path))
        _write(tmp_path, "main.py", b"2")
        await sees(log, there(tmp_path))


async def test_after_a_crash_of_who_looks_it_is_told_again(tmp_path: Path) -> None:
    async with looking(tmp_path) as (house, log):
        await sees(log, there(tmp_path))
        house["looker"].kill()
        _write(tmp_path, "main.py", b"1")
        await sees(log, there(tmp_path))


async def test_when_events_are_lost_everybody_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with looking(tmp_path) as (_, log):
        await sees(log, there(tmp_path))
        told, lost = len(log.entries), [inotify.FolderEvent(-1, "", of_folder=True)]
        monkeypatch.setattr(Inotify, "read", lambda self: [os.read(self.fileno(), 1 << 16), *lost][1:])
        _write(tmp_path, "main.py", b"1")
        await sees(log, there(tmp_path))
        assert len(log.entries) > told


async def test_nothing_is_watched_for_who_has_ended_or_wants_it_no_more(tmp_path: Path) -> None:
    async with looking(tmp_path) as (house, log):
        await sees(log, there(tmp_path))
        _write(tmp_path, "tests/1.in", b"1")
        await sees(log, there(tmp_path))
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert house["watcher"].statistics().note == "5 folders watched"
        await house["looker"].stop()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert house["watcher"].statistics().note == "0 folders watched"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSYS])
async def test_where_the_system_gives_none_nobody_is_told_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(self: Inotify) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Inotify, "__init__", refuse)
    async with looking(tmp_path) as (house, log):
        _write(tmp_path, "main.py", b"1")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert log.entries == []
        note = f"0 folders watched; not all that are looked at: {os.strerror(number)}"
        assert house["watcher"].statistics().note == note


@pytest.mark.parametrize("by", ["add", "__init__"])
async def test_a_system_that_allows_it_again_is_asked_again_and_who_looks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    allowed, usual = False, getattr(Inotify, by)

    def limited(self: Inotify, *arguments: Any) -> Any:
        if not allowed:
            raise OSError(errno.ENOSPC, "no more of it")
        return usual(self, *arguments)

    monkeypatch.setattr(Inotify, by, limited)
    monkeypatch.setattr(watching, "TRY_SECONDS", 0.15)
    async with looking(tmp_path) as (house, log):
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert house["watcher"].statistics().note == "0 folders watched; not all that are looked at: no more of it"
        _write(tmp_path, "main.py", b"1")
        allowed = True
        await sees(log, there(tmp_path))
        _write(tmp_path, "main.py", b"2")
        await sees(log, there(tmp_path))
        assert house["watcher"].statistics().note == "4 folders watched"


async def test_a_disk_that_hangs_when_it_is_asked_again_does_not_hide_why_nothing_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, hangs, hung = trio.Event(), False, trio.Event()

    def limited(self: Inotify, folder: Path) -> int:
        if hangs:
            trio.from_thread.run_sync(hung.set)
            trio.from_thread.run(gate.wait)
        raise OSError(errno.ENOSPC, "no more of it")

    monkeypatch.setattr(Inotify, "add", limited)
    monkeypatch.setattr(watching, "TRY_SECONDS", 0.15)
    async with looking(tmp_path) as (house, _):
        await trio.testing.wait_all_tasks_blocked(0.05)
        monkeypatch.setattr(watching, "PATIENCE", 0.01)  # until now, a busy machine would have been taken for the disk
        hangs = True
        await hung.wait()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert house["watcher"].statistics().note == "0 folders watched; not all that are looked at: no more of it"
        gate.set()


async def test_only_so_many_folders_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_FOLDERS", 3)
    for name in ("main.py", "tests/1.in"):
        _write(tmp_path, name, b"1")
    async with looking(tmp_path) as (house, log):
        await sees(log, there(tmp_path))
        assert house["watcher"].statistics().note == "3 folders watched"


async def test_who_comes_when_no_folder_more_is_watched_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_FOLDERS", 3)
    _write(tmp_path, "tests/1.in", b"1")
    late = tmp_path / "late"
    late.mkdir()
    async with looking(tmp_path, ChildSpec("late", lambda: Deaf(late, trio.Event()))) as (house, log):
        await sees(log, there(tmp_path))
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert house["watcher"].statistics().note == "3 folders watched"


class Deaf(Actor[Any]):
    """Never hears what it is told."""

    def __init__(self, root: Path, gate: trio.Event) -> None:
        self._root = root
        self._gate = gate
        self.heard = 0

    async def started(self, kept: object | None) -> None:
        Watching(WATCHER, self.stage.registry).watch(self.ref, [(self._root, None)], STIRRED)

    async def handle(self, message: Any) -> None:
        await self._gate.wait()


async def test_one_that_does_not_hear_holds_nobody_up(tmp_path: Path) -> None:
    gate = trio.Event()
    deaf = ChildSpec("deaf", lambda: Deaf(tmp_path, gate), mailbox=lambda: Mailbox(1))
    async with looking(tmp_path, deaf) as (house, log):
        house["deaf"].tell("first")  # and its news is the second, for which there is room, and no more
        await trio.testing.wait_all_tasks_blocked(0.01)
        for number in range(5):
            _write(tmp_path, "main.py", b"%d" % number)
            await sees(log, there(tmp_path))
        gate.set()


async def test_a_disk_that_hangs_holds_the_server_up_no_longer_than_its_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = trio.Event()

    def hang(self: Inotify, folder: Path) -> int:
        trio.from_thread.run(hung.wait)
        return 1

    monkeypatch.setattr(watching, "PATIENCE", 0.05)
    monkeypatch.setattr(Inotify, "add", hang)
    async with looking(tmp_path) as (_, log):
        await sees(log, there(tmp_path))  # not watched, but looked at
        hung.set()


@pytest.mark.parametrize(("error", "why"), UNWATCHED)
@pytest.mark.parametrize("by", ["add", "__init__"])
async def test_why_not_all_is_watched_is_said_in_the_system_s_words_or_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, why: str | None, by: str
) -> None:
    add = Inotify.add

    def refuse(self: Inotify, folder: Path = tmp_path / TASK[0]) -> int:
        if folder == tmp_path / TASK[0]:
            raise error
        return add(self, folder)

    _write(tmp_path, "tests/1.in", b"1")
    monkeypatch.setattr(Inotify, by, refuse)
    async with looking(tmp_path) as (house, _):
        await trio.testing.wait_all_tasks_blocked(0.05)
        count = 4 if by == "add" else 0
        said = why if by == "add" else why or error.strerror
        note = f"{count} folders watched" + (f"; not all that are looked at: {said}" if said is not None else "")
        assert house["watcher"].statistics().note == note


names = st.sets(st.sampled_from("abc"))


@given(
    mattering=st.dictionaries(st.integers(1, 3), st.lists(st.none() | names.map(frozenset), max_size=2)),
    found=st.dictionaries(st.integers(1, 3), names),
    itself=st.sets(st.integers(1, 3)),
    lost=st.booleans(),
)
def test_an_actor_is_concerned_by_what_happens_to_its_folders_or_to_a_name_that_matters_in_them(
    mattering: dict[int, list[frozenset[str] | None]], found: dict[int, set[str]], itself: set[int], lost: bool
) -> None:
    watched = Watched((), lambda: None, numbers=mattering)
    expected = lost or any(
        number in itself or any(found.get(number, set()) & (set("abc") if one is None else one) for one in each)
        for number, each in mattering.items()
    )
    assert watched.concerned(Gathered(names=found, itself=itself, lost=lost)) is expected


class Thorough(Actor[str]):
    """Looks for as long as it is let, once for each notice."""

    def __init__(self, places: list[tuple[Path, None]], begun: list[trio.Event], let: trio.Event) -> None:
        self.places = places
        self.begun = begun
        self.let = let

    async def started(self, kept: object | None) -> None:
        self.watching = Watching(WATCHER, self.stage.registry)
        self.watching.watch(self.ref, self.places, STIRRED)

    async def handle(self, message: str) -> None:
        self.begun.pop(0).set()
        await self.let.wait()
        self.watching.looked(self.ref)


@pytest.mark.parametrize("edited", [True, False])
async def test_what_changes_while_an_actor_looks_is_told_when_it_has_looked_and_else_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    begun, let, heard, hear = [trio.Event() for _ in range(3)], trio.Event(), trio.Event(), watching.Watcher._heard
    first, second, third = begun

    def told(watcher: watching.Watcher, found: Gathered) -> None:
        hear(watcher, found)
        heard.set()

    monkeypatch.setattr(watching.Watcher, "_heard", told)
    looker = ChildSpec("thorough", lambda: Thorough([(tmp_path, None)], begun, let))
    with trio.fail_after(PATIENCE):
        async with staged(watcher_spec(WATCHER), looker):
            await first.wait()
            if edited:
                (tmp_path / "a").touch()
                await heard.wait()
            let.set()
            if edited:
                await second.wait()
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert second.is_set() == edited
            assert not third.is_set()


async def test_a_disk_that_does_not_come_back_is_left_to_its_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung, begun = threading.Event(), threading.Event()

    def hang(self: Inotify, folder: Path) -> int:
        begun.set()
        assert hung.wait(PATIENCE)
        return 1

    monkeypatch.setattr(watching, "PATIENCE", 0.05)
    monkeypatch.setattr(Inotify, "add", hang)
    try:
        async with looking(tmp_path) as (_, log):
            await sees(log, there(tmp_path))
            assert begun.is_set()
            assert not hung.is_set()
    finally:
        hung.set()


async def test_who_wants_nothing_watched_any_more_is_told_nothing_and_nothing_is(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    stirred: Log[str] = Log()

    class Hears(Actor[str]):
        async def started(self, kept: object | None) -> None:
            self.watching = Watching(WATCHER, self.stage.registry)
            self.watching.watch(self.ref, [(folder, None)], "watched")

        async def handle(self, message: str) -> None:
            stirred.add(message)
            if message == "unwatch":
                self.watching.unwatch(self.ref)
            elif message == "again":
                self.watching.watch(self.ref, [(folder, None)], "watched again")
            self.watching.looked(self.ref)

    async with staged(watcher_spec(WATCHER), ChildSpec("hears", Hears)) as house:
        with trio.fail_after(PATIENCE):
            await stirred.nth(1, lambda news: news == "watched")
            (folder / "one").touch()
            await stirred.nth(2, lambda news: news == "watched")
            assert house["watcher"].statistics().note == "1 folder watched"
            house["hears"].tell("unwatch")
            while house["watcher"].statistics().note != "0 folders watched":
                await wait_all_tasks_blocked()
            before = list(stirred.entries)
            (folder / "two").touch()
            await wait_all_tasks_blocked(0.01)
            assert stirred.entries == before
            house["hears"].tell("again")
            await stirred.nth(1, lambda news: news == "watched again")
            assert house["watcher"].statistics().note == "1 folder watched"
