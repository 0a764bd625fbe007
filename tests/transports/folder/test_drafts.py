"""Files that are complete before they have names, one and many at once."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.folder.disks import MAY_MOUNT, small_disk
from transports.folder import drafts
from transports.folder.drafts import WholeDisk, discard, new_draft, rename_new, sweep_old, together, write_drafts
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


def test_calls_together_run_at_once_and_an_error_of_any_is_raised() -> None:
    barrier = threading.Barrier(5, timeout=10.0)
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
