"""Files that are complete before they have names, one and many at once."""

import ctypes
import errno
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.patience import PATIENCE
from tests.transports.folder.disks import MAY_MOUNT, small_disk
from transports.folder import drafts
from transports.folder.drafts import (
    FEW,
    MANY,
    NO_NAMELESS,
    THREADS,
    WholeDisk,
    discard,
    exchange,
    new_draft,
    rename_new,
    sweep_old,
    together,
    write_drafts,
    write_new,
)
from transports.folder.rooted import NotPlain, Rooted

WAYS = ["one after the other", "by threads", "with the whole disk"]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[int]:
    folder = os.open(tmp_path, os.O_RDONLY)
    yield folder
    os.close(folder)


def go(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "FEW", 10_000 if way == "one after the other" else 0)
    monkeypatch.setattr(drafts, "MANY", 0 if way == "with the whole disk" else 10_000)


@pytest.mark.parametrize("way", WAYS)
def test_however_they_are_synced_all_drafts_hold_their_contents_in_order(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    go(way, monkeypatch)
    contents = [b"%d" % number * number for number in range(50)]
    names = [str(name) for name in write_drafts(here, contents)]
    assert [(tmp_path / name).read_bytes() for name in names] == contents
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in names} == {0o600}
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    discard(here, names)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("way", WAYS)
def test_no_two_drafts_look_the_same(tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    go(way, monkeypatch)
    seen: set[tuple[int, int]] = set()
    for _ in range(20):
        names = [str(name) for name in write_drafts(here, [b"x"] * 5)]
        found = {((tmp_path / name).stat().st_ino, (tmp_path / name).stat().st_mtime_ns) for name in names}
        assert not found & seen
        seen |= found
        discard(here, names)  # their numbers are used again


@pytest.mark.parametrize("way", WAYS)
def test_a_disk_that_cannot_sync_says_so_for_each_draft_and_keeps_none(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def fail(*args: Any) -> OSError:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    go(way, monkeypatch)
    monkeypatch.setattr(drafts, "sync_data", fail)
    monkeypatch.setattr(WholeDisk, "sync", lambda self, here: OSError(errno.EIO, os.strerror(errno.EIO)))
    written = write_drafts(here, [b"x"] * 5)
    assert [error.errno for error in written if isinstance(error, OSError)] == [errno.EIO] * 5
    assert os.listdir(tmp_path) == []


if MAY_MOUNT:

    @pytest.mark.parametrize("way", WAYS)
    def test_on_a_full_disk_what_has_room_is_written_and_the_rest_says_why(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
    ) -> None:
        go(way, monkeypatch)
        with small_disk(tmp_path / "small") as disk:
            folder = os.open(disk, os.O_RDONLY)
            written = write_drafts(folder, [b"x" * 100_000] * 30)
            errors = [each for each in written if isinstance(each, OSError)]
            assert {error.errno for error in errors} == {errno.ENOSPC}
            assert sorted(os.listdir(disk)) == sorted(each for each in written if isinstance(each, str))
            assert 0 < len(errors) < 30
            os.close(folder)


def test_a_disk_that_others_keep_busy_is_not_synced_as_a_whole_for_a_while(
    here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    whole = WholeDisk(lambda: now[0])

    def slow(_: int) -> int:
        now[0] += drafts.SLOW_SECONDS + 0.1
        return 0

    if not whole.may_be_synced():
        pytest.skip("this system cannot sync a whole disk")
    monkeypatch.setattr(whole, "_syncfs", slow)
    assert whole.sync(here) is None
    assert not whole.may_be_synced()
    now[0] += drafts.AVOIDED_SECONDS
    assert whole.may_be_synced()


def test_it_is_avoided_for_exactly_so_long_and_only_if_it_was_slower_than_that(
    here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, takes = [100.0], [0.0]
    whole = WholeDisk(lambda: now[0])

    def sync(_: int) -> int:
        now[0] += takes[0]
        return 0

    monkeypatch.setattr(whole, "_syncfs", sync)
    for takes[0] in (0.0, drafts.SLOW_SECONDS):
        assert whole.sync(here) is None
        assert whole.may_be_synced()
    takes[0] = drafts.SLOW_SECONDS * 1.5
    whole.sync(here)
    after = now[0]
    for now[0] in (after, after + drafts.AVOIDED_SECONDS - 0.5):
        assert not whole.may_be_synced()
    now[0] = after + drafts.AVOIDED_SECONDS
    assert whole.may_be_synced()
    monkeypatch.setattr(whole, "_syncfs", None)
    assert not whole.may_be_synced()


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_whole_disk_that_fails_says_how(here: int, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def sync(_: int) -> int:
        ctypes.set_errno(number)
        return -1

    whole = WholeDisk()
    monkeypatch.setattr(whole, "_syncfs", sync)
    error = whole.sync(here)
    assert error is not None
    assert (error.errno, error.strerror) == (number, os.strerror(number))


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, THREADS, THREADS + 1, MANY - 1, MANY])
def test_by_how_many_threads_drafts_are_written(
    here: int, monkeypatch: pytest.MonkeyPatch, count: int, busy: bool, sync: bool
) -> None:
    threads, whole = [], []

    def one_by_one(calls: Sequence[Callable[[], None]]) -> None:
        threads.append(len(calls))
        for call in calls:
            call()

    monkeypatch.setattr(drafts, "together", one_by_one)
    monkeypatch.setattr(drafts, "sync_data", lambda _: None)
    monkeypatch.setattr(WholeDisk, "may_be_synced", lambda _: not busy)
    monkeypatch.setattr(WholeDisk, "sync", lambda *_: whole.append(1))
    written = write_drafts(here, [b"x"] * count, sync=sync)
    assert len({str(name) for name in written}) == count
    if sync and count >= MANY and not busy:
        assert (threads, whole) == ([], [1])
    else:
        assert (threads, whole) == ([min(count, THREADS) if sync and count > FEW else 1], [])


def test_calls_together_run_at_once_and_an_error_of_any_is_raised() -> None:
    barrier = threading.Barrier(5, timeout=PATIENCE)
    together([lambda: (barrier.wait(), None)[1]] * 5)

    def fail() -> None:
        raise OSError(errno.EIO, "no")

    with pytest.raises(OSError, match="no"):
        together([lambda: None, fail])
    together([])


@pytest.mark.parametrize("way", ["renameat2", "links", "neither"])
def test_a_rename_that_replaces_nothing_replaces_nothing(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way != "renameat2":
        monkeypatch.setattr(drafts, "_renameat2", None)
    if way == "neither":
        monkeypatch.setattr(os, "link", _no_links)
    (tmp_path / "folder").mkdir()
    (tmp_path / "pointer").symlink_to("nowhere")
    (tmp_path / "taken").write_bytes(b"taken")
    (tmp_path / "draft").write_bytes(b"draft")
    for name in ("folder", "pointer", "taken"):
        with pytest.raises(FileExistsError):
            rename_new("draft", name, here, here)
    rename_new("draft", "free", here, here)
    assert (tmp_path / "free").read_bytes() == b"draft"
    assert sorted(os.listdir(tmp_path)) == ["folder", "free", "pointer", "taken"]
    with pytest.raises(FileNotFoundError):
        rename_new("draft", "again", here, here)


def _no_links(*args: Any, **options: Any) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_old_drafts_are_swept_by_the_disk_s_clock_and_nothing_else_is(tmp_path: Path, here: int) -> None:
    old, young = new_draft(), new_draft()
    for name in (old, young, "theirs.draft", ".theirs"):
        (tmp_path / name).write_bytes(b"")
        if name != young:
            os.utime(tmp_path / name, (0, 0))
    sweep_old(here, 60.0)
    assert sorted(os.listdir(tmp_path)) == sorted([young, "theirs.draft", ".theirs"])


def test_a_draft_is_old_if_it_is_older_than_that_by_the_disk_s_clock(tmp_path: Path, here: int) -> None:
    ages = {new_draft(): age for age in (0, 30, 55, 65, 90)}
    for name, age in ages.items():
        (tmp_path / name).write_bytes(b"")
        then = (tmp_path / name).stat().st_mtime - age
        os.utime(tmp_path / name, (then, then))
    sweep_old(here, 60.0)
    assert {ages[name] for name in os.listdir(tmp_path)} == {0, 30, 55}


@pytest.mark.parametrize(
    ("error", "expected"),
    [(None, True), (ProcessLookupError(), False), (PermissionError(), True), (OSError(errno.EIO, "odd"), True)],
)
def test_a_process_lives_unless_the_system_knows_none(
    monkeypatch: pytest.MonkeyPatch, error: OSError | None, expected: bool
) -> None:
    def kill(pid: int, number: int) -> None:
        assert (pid, number) == (4_711, 0)
        if error is not None:
            raise error

    monkeypatch.setattr(os, "kill", kill)
    assert drafts.lives(4_711) is expected


def test_drafts_of_others_that_live_and_of_ourselves_stay_and_those_of_the_dead_go(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = new_draft()
    same_number = f".{os.getpid()}-{'0' * 12}.draft"  # of a killed process that had ours
    living, dead, odd = (f".{pid}-{'0' * 12}.draft" for pid in (41, 42, 1_234_567_890))
    others = ["x.draft", f"{dead}x", f"x{dead}"]
    for name in (ours, same_number, living, dead, odd, *others):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(drafts, "lives", lambda pid: pid == 41)
    drafts.sweep(here)
    assert sorted(os.listdir(tmp_path)) == sorted([ours, living, odd, *others])


def test_no_two_of_so_many_drafts_in_a_row_have_the_same_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "_numbers", itertools.count((1 << 24) - 2))
    names = [new_draft() for _ in range(4)]
    assert len({*names}) == 4
    assert [name[-12:-6] for name in names] == ["fffffe", "ffffff", "000000", "000001"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOENT, errno.EIO, None])
def test_what_each_answer_of_the_kernel_to_an_exchange_leads_to(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    def fail(*_: object) -> int:
        assert number is not None
        ctypes.set_errno(number)
        return -1

    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    if number is not None:
        monkeypatch.setattr(drafts, "_renameat2", fail)
    if number in (errno.ENOENT, errno.EIO):
        with pytest.raises(OSError, match=os.strerror(number)) as caught:
            exchange("a", "b", here)
        assert caught.value.errno == number
    else:
        assert exchange("a", "b", here) is (number is None)
    there = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert there == ({"a": "b", "b": "a"} if number is None else {"a": "a", "b": "b"})
    monkeypatch.setattr(drafts, "_renameat2", None)
    assert exchange("a", "b", here) is False


NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV)


@pytest.mark.parametrize("number", [*NO_LINKS, errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("taken", ["by nothing", "by a file", "by a link to nothing"])
def test_without_links_a_file_is_named_by_a_rename_and_never_over_another(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, number: int, taken: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    if taken == "by a file":
        (tmp_path / "name").write_bytes(b"old")
    elif taken != "by nothing":
        (tmp_path / "name").symlink_to("nowhere")
    before = os.listdir(tmp_path)
    monkeypatch.setattr(os, "link", fail)
    if number in NO_LINKS and taken == "by nothing":
        write_new(here, "name", b"new")
        assert (tmp_path / "name").read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["name"]
    else:
        with pytest.raises(OSError, match="exists" if number in NO_LINKS else os.strerror(number)):
            write_new(here, "name", b"new")
        assert os.listdir(tmp_path) == before


@pytest.mark.parametrize("number", [*NO_NAMELESS, errno.EIO, errno.EACCES])
def test_only_where_there_are_no_files_without_a_name_another_way_is_tried(
    tmp_path: Path, here: int, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    opened = os.open

    def fail(path: str, flags: int, *modes: Any, **options: Any) -> int:
        if path == ".":
            raise OSError(number, os.strerror(number))
        return opened(path, flags, *modes, **options)

    monkeypatch.setattr(os, "open", fail)
    monkeypatch.setattr(drafts, "_NAMELESS", 1 << 30)
    if number in NO_NAMELESS:
        write_new(here, "name", b"new")
        assert (tmp_path / "name").read_bytes() == b"new"
    else:
        with pytest.raises(OSError, match=os.strerror(number)):
            write_new(here, "name", b"new")
    assert os.listdir(tmp_path) == (["name"] if number in NO_NAMELESS else [])


# -- a group, through Rooted

NAMES = st.sampled_from(["a", "b.json", "ü", "d"])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(NAMES, st.binary(max_size=20)), max_size=6))
def test_of_groups_that_are_published_the_last_content_of_each_name_stands(
    tmp_path_factory: pytest.TempPathFactory, groups: list[dict[str, bytes]]
) -> None:
    place, wanted = Rooted(tmp_path_factory.mktemp("place") / "root", own=True), dict[str, bytes]()
    for group in groups:
        place.publish(("room",), group)
        wanted |= group
    assert {name: place.read(("room", name)) for name in place.entries(("room",))} == wanted


def test_a_group_of_which_one_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    place = Rooted(tmp_path / "place", own=True)
    place.publish((), {"a": b"old"})
    with pytest.raises(NotPlain):
        place.publish((), {"a": b"new", "../b": b"new"})
    assert place.read(("a",)) == b"old"
    assert os.listdir(place.root) == ["a"]
    if MAY_MOUNT:
        with small_disk(tmp_path / "small") as disk:
            place = Rooted(disk / "place", own=True)
            place.publish((), {"a": b"old"})
            with pytest.raises(OSError, match="No space left"):
                place.publish((), {"a": b"new", "b": b"x" * 2_000_000})
            assert (place.read(("a",)), os.listdir(place.root)) == (b"old", ["a"])
