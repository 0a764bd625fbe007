"""The files of a case, looked at without reading them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from transports.judge import stamps as looks
from transports.judge import task_folders
from transports.judge.stamps import Stamps
from transports.judge.task_folders import TaskFolders

TASK = ("abc1", "abc1_a")
FILES = ["main.py", "tests/1.in", "tests/1.out"]


@pytest.fixture
async def place(tmp_path: Path) -> TaskFolders:
    place = TaskFolders(tmp_path, tests_dir="tests", template="", head_bytes=10)
    await place.add(TASK, lambda found: [(1, b"1\n", b"2\n"), (2, b"3\n", b"4\n")])
    await place.find(TASK)
    return place


async def looked(place: TaskFolders, index: int = 1) -> Stamps:
    """Both ways, which agree."""
    seen = await place.stamps(TASK, index)
    assert place.stamps_at_once(TASK, index) in (seen, None)
    return seen


async def found(place: TaskFolders, index: int = 1) -> Stamps:
    """As they were read."""
    there = await place.find(TASK)
    return Stamps(there.main_stamp, *(each.stamp for each in there.cases[index]))


def move_back_and_forth(path: Path) -> None:
    path.rename(path.with_name("aside"))
    path.with_name("aside").rename(path)


def copy_over(path: Path) -> None:
    path.with_name("aside").write_bytes(path.read_bytes())
    path.with_name("aside").rename(path)


def write_over(path: Path) -> None:
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(1, 1))  # as an archive does


CHANGES: list[Callable[[Path], None]] = [move_back_and_forth, copy_over, write_over]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", CHANGES)
async def test_whatever_happens_to_a_file_it_has_another_stamp_and_the_others_have_not(
    place: TaskFolders, name: str, change: Callable[[Path], None]
) -> None:
    before, other = await looked(place), await looked(place, 2)
    assert before == await found(place)
    path = place.path(TASK, *name.split("/"))
    tick(path)
    change(path)
    after = await looked(place)
    assert after == await found(place)
    assert [one != another for one, another in zip(before, after, strict=True)] == [name == each for each in FILES]
    assert (await looked(place, 2))[1:] == other[1:]


@pytest.mark.parametrize("name", FILES)
async def test_what_is_no_file_has_no_stamp(place: TaskFolders, name: str) -> None:
    path = place.path(TASK, *name.split("/"))
    path.unlink()
    for is_folder in (False, True):
        if is_folder:
            path.mkdir()
        assert [stamp is None for stamp in await looked(place)] == [name == each for each in FILES]


async def test_where_there_is_no_folder_there_is_nothing(tmp_path: Path) -> None:
    place = TaskFolders(tmp_path / "nowhere", tests_dir="tests", template="", head_bytes=10)
    assert await looked(place) == Stamps(None, None, None)


async def test_of_a_link_both_ends_count(place: TaskFolders, tmp_path: Path) -> None:
    main, one, two = place.path(TASK, "main.py"), tmp_path / "one.py", tmp_path / "two.py"
    for path in (one, two):
        path.write_text("print(1)\n")
    seen = set[object]()
    for target, edit in ((one, None), (one, "print(2)\n"), (two, None), (one, None)):
        if edit is None:
            main.unlink()
            main.symlink_to(target)
        else:
            tick(target)
            target.write_text(edit)
        assert place.stamps_at_once(TASK, 1) is None, "it may lead to any disk"
        stamps = await looked(place)
        assert stamps == await found(place)
        seen.add(stamps.main)
    assert len(seen - {None}) == 4, "also the one that leads to where it led before"
    one.unlink()
    assert (await looked(place)).main is None


async def test_a_link_in_the_place_of_a_test_is_none(place: TaskFolders, tmp_path: Path) -> None:
    path = place.path(TASK, "tests", "1.in")
    path.rename(tmp_path / "aside")
    path.symlink_to(tmp_path / "aside")
    assert (await looked(place)).given is None


@pytest.mark.parametrize("is_local", [False, True])
async def test_files_are_looked_at_at_once_on_local_disks_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    monkeypatch.setattr(task_folders, "is_local", lambda device: device == tmp_path.stat().st_dev and is_local)
    monkeypatch.setattr(looks, "stat_at_once", os.lstat)  # which this system may not have
    place = TaskFolders(tmp_path, tests_dir="tests", template="", head_bytes=10)
    await place.add(TASK, lambda found: [(1, b"1\n", b"2\n")])
    assert place.stamps_at_once(TASK, 1) is None, "nobody knows the disk yet"
    there = await found(place)
    assert place.stamps_at_once(TASK, 1) == (there if is_local else None)


async def test_what_is_not_in_memory_is_looked_at_in_a_thread(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def would_wait(path: object) -> os.stat_result:
        raise BlockingIOError(11, "it is on the disk", str(path))

    monkeypatch.setattr(looks, "stat_at_once", would_wait)
    assert place.stamps_at_once(TASK, 1) is None
    assert await place.stamps(TASK, 1) == await found(place)


def tick(path: Path) -> None:
    """Until the disk's clock has gone on since this file was touched."""
    other = path.parent.parent / "clock"
    while other.write_bytes(b"") or other.stat().st_ctime_ns <= path.stat().st_ctime_ns:
        pass
    other.unlink()
