"""What a power cut leaves of files that were answered as done: each of them, whole, under its name.

    the content is synced      before the name stands there
    the folder is synced       after the name came or went, or a folder was made in it, and before that is answered

A sync of the whole disk is one of everything.
"""

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from codec.agent.files import digest_of
from transports.folder import drafts, swapping
from transports.folder.drafts import MANY, WholeDisk
from transports.folder.replacing import FileSwap, change_files, remove_empty
from transports.folder.rooted import Rooted

OLD, NEW = b"old\n", b"new and longer\n"
ALL = 0


class Steps:
    """What was done, in order, to the file or folder of which number."""

    def __init__(self) -> None:
        self.named: list[tuple[int, int, int]] = []
        """When, which file, and in which folder."""
        self.changed: list[tuple[int, int]] = []
        """When, and in which folder a name came or went."""
        self.synced: list[tuple[int, int]] = []

    def sync(self, sync: Callable[[int], Any], file: int) -> Any:
        answer = sync(file)
        self.synced.append((self._moment(), os.fstat(file).st_ino))
        return answer

    def sync_all(self, sync: Callable[..., Any], *where: Any) -> Any:
        answer = sync(*where)
        self.synced.append((self._moment(), ALL))
        return answer

    def name(self, call: Callable[..., Any], name: str, new: str, *places: int, **options: Any) -> Any:
        answer = call(name, new, *places, **options)
        here: int = options["dst_dir_fd"] if options else places[-1]
        moment, folder = self._moment(), os.fstat(here).st_ino
        self.named.append((moment, os.stat(new, dir_fd=here, follow_symlinks=False).st_ino, folder))
        self.changed.append((moment, folder))
        return answer

    def change(self, call: Callable[..., Any], name: str, *modes: Any, dir_fd: int | None = None) -> None:
        call(name, *modes, dir_fd=dir_fd)
        if dir_fd is not None:
            self.changed.append((self._moment(), os.fstat(dir_fd).st_ino))

    def _moment(self) -> int:
        return len(self.named) + len(self.changed) + len(self.synced)

    def check(self, root: Path, wanted: dict[str, bytes]) -> None:
        """Each of these stands there, and is safe."""
        for name, content in wanted.items():
            file = (root / name).stat().st_ino
            assert (root / name).read_bytes() == content
            (named,) = {moment for moment, number, _ in self.named if number == file}
            assert any(moment < named and number in (file, ALL) for moment, number in self.synced), name
        for moment, folder in self.changed:
            assert any(later > moment and number in (folder, ALL) for later, number in self.synced)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    steps = Steps()
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, partial(steps.sync, getattr(os, name)))
    for name in ("link", "rename"):
        monkeypatch.setattr(os, name, partial(steps.name, getattr(os, name)))
    monkeypatch.setattr(os, "mkdir", partial(steps.change, os.mkdir))
    for name in ("rename_new", "exchange"):
        monkeypatch.setattr(swapping, name, partial(steps.name, getattr(drafts, name)))
    sync = WholeDisk.sync
    monkeypatch.setattr(WholeDisk, "sync", lambda disk, here: steps.sync_all(sync, disk, here))
    monkeypatch.setattr(drafts.whole_disk, "_not_before", 0.0)  # it is not avoided, however slow it was
    return steps


@pytest.mark.parametrize("folders", [1, 3])
@pytest.mark.parametrize("count", [1, 6, MANY + 1])
def test_of_a_group_that_is_answered_every_change_is_on_the_disk(
    tmp_path: Path, steps: Steps, count: int, folders: int
) -> None:
    swaps: list[FileSwap] = []
    wanted: dict[str, bytes] = {}
    for number in range(count):
        folder = f"d{number % folders}"
        (tmp_path / folder).mkdir(exist_ok=True)
        for kind in ("replaced", "deleted"):
            (tmp_path / folder / f"{kind}{number}").write_bytes(OLD)
        swaps += [
            FileSwap((folder, f"replaced{number}"), digest_of(OLD), NEW),
            FileSwap((folder, f"deleted{number}"), digest_of(OLD), None),
            FileSwap((folder, f"new{number}"), None, NEW),
            FileSwap((folder, "made", f"{number}"), None, NEW),
        ]
        wanted |= {"/".join(swap.names): NEW for swap in swaps if swap.data is not None}
    answers = change_files(Rooted(tmp_path, firm=True), swaps)
    assert answers == [None if swap.data is None else digest_of(NEW) for swap in swaps]
    steps.check(tmp_path, wanted)
    whole = len(wanted) >= MANY
    assert [number for _, number in steps.synced].count(ALL) == (2 if whole else 0)
    below = 3 * min(folders, count)  # each folder, the one that was made in it, and the folder once more for that
    assert whole or len(steps.synced) == len(wanted) + below


def no_nameless(opened: Callable[..., int], path: str, flags: int, *modes: Any, **options: Any) -> int:
    if path == ".":
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return opened(path, flags, *modes, **options)


def no_links(*_: Any, **__: Any) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.fixture(params=["nameless", "by a link", "by a rename"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, steps: Steps) -> str:
    way: str = request.param
    if way != "nameless":
        monkeypatch.setattr(os, "open", partial(no_nameless, os.open))
    if way == "by a rename":
        monkeypatch.setattr(os, "link", no_links)
    return way


def test_new_files_are_on_the_disk_with_their_folders_however_they_are_made(
    tmp_path: Path, steps: Steps, way: str
) -> None:
    files = {"a": b"x", "b": NEW}
    Rooted(tmp_path / "root").write_new(("x", "y"), files)
    steps.check(tmp_path / "root" / "x" / "y", files)
    assert sorted(os.listdir(tmp_path / "root" / "x" / "y")) == ["a", "b"]


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("count", [1, 6, MANY])
def test_a_group_that_is_published_is_on_the_disk_if_that_is_wanted(
    tmp_path: Path, steps: Steps, count: int, sync: bool
) -> None:
    files = {f"{number}": NEW for number in range(count)}
    place = Rooted(tmp_path / "root", own=True)
    place.publish(("x",), {})
    steps.synced.clear()
    place.publish(("x",), files, sync=sync)
    if sync:
        steps.changed = steps.changed[-count:]
        steps.check(tmp_path / "root" / "x", files)
        assert len(steps.synced) == (1 if count >= MANY else count) + 1
    else:
        assert steps.synced == []


def test_a_folder_that_is_removed_stays_so(tmp_path: Path, steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "rmdir", partial(steps.change, os.rmdir))
    for folder in ("a/b/c", "a/full", "d"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "a" / "full" / "file").write_bytes(OLD)
    steps.changed.clear()
    names = [("a",), ("a", "b", "c"), ("a", "b"), ("a", "full"), ("d",), ("d",), ("none",)]
    assert remove_empty(Rooted(tmp_path), names) == [("a", "b", "c"), ("a", "b"), ("d",)]
    assert len(steps.changed) == 3
    steps.check(tmp_path, {})
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "a",
        "a/full",
        "a/full/file",
    ]


def test_a_folder_in_which_only_dead_processes_were_writing_is_empty(tmp_path: Path) -> None:
    for folder, process in (("dead", 999_999_999), ("ours", os.getpid()), ("parent", os.getppid())):
        (tmp_path / folder).mkdir()
        name = drafts.new_draft().replace(f".{os.getpid()}-", f".{process}-")
        (tmp_path / folder / name).touch()
    assert remove_empty(Rooted(tmp_path), [("dead",), ("ours",), ("parent",)]) == [("dead",)]
    assert {path.name: len(list(path.iterdir())) for path in tmp_path.iterdir()} == {"ours": 1, "parent": 1}
