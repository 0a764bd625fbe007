"""Folders that are ours alone, through Rooted: the root and all below it."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from transports.folder.owned import NotOurs
from transports.folder.rooted import Rooted

BELOW = ("a", "b")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def place(tmp_path: Path, said: list[str]) -> Rooted:
    return Rooted(tmp_path / "above" / "place", own=True, said=said.append)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_is_made_is_made_for_our_account_alone_whatever_the_umask(place: Rooted, said: list[str]) -> None:
    before = os.umask(0)
    try:
        place.write_new(BELOW, {"x": b""})
    finally:
        os.umask(before)
    assert {mode(place.path(names)) for names in ((), BELOW[:1], BELOW)} == {0o700}
    assert said == []


@pytest.mark.parametrize("names", [(), BELOW[:1], BELOW])
@pytest.mark.parametrize("open_to", [0o755, 0o750, 0o711, 0o704])
def test_what_others_may_only_read_is_closed_to_them_and_said_once(
    place: Rooted, said: list[str], names: tuple[str, ...], open_to: int
) -> None:
    place.write_new(BELOW, {"x": b"1"})
    place.path(names).chmod(open_to)
    assert place.read((*BELOW, "x")) == b"1"
    assert mode(place.path(names)) == 0o700
    assert place.read((*BELOW, "x")) == b"1"
    assert said == [
        f"others could look into {place.path(names)}, and no longer can: only your account has access to it now"
    ]


def _writable_by_group(path: Path) -> None:
    path.chmod(0o770)


def _writable_by_all(path: Path) -> None:
    path.chmod(0o1777)


def _foreign(path: Path) -> None:
    os.chown(path, 65534, -1)


def _link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _file(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.write_bytes(b"")


REFUSED: list[tuple[Callable[[Path], None], str]] = [
    (_writable_by_group, r"other accounts may write to .*; look what is in it, then run: chmod 700 "),
    (_writable_by_all, r"other accounts may write to "),
    (_link, r"is a link or a file, and has to be a real folder; move it away"),
    (_file, r"is a link or a file, and has to be a real folder; move it away"),
    *([(_foreign, r"belongs to another account; choose a folder that is yours")] if os.geteuid() == 0 else []),
]


@pytest.mark.parametrize("names", [(), BELOW[:1], BELOW])
@pytest.mark.parametrize(("trouble", "why"), REFUSED)
def test_what_is_not_ours_alone_is_refused(
    place: Rooted, names: tuple[str, ...], trouble: Callable[[Path], None], why: str
) -> None:
    place.write_new(BELOW, {"x": b"1"})
    trouble(place.path(names))
    for call in (
        lambda: place.read((*BELOW, "x")),
        lambda: place.write_new(BELOW, {"y": b""}),
        lambda: place.publish(BELOW, {"y": b""}),
        lambda: place.entries(BELOW),
    ):
        with pytest.raises(NotOurs, match=why):
            call()


def test_who_does_not_ask_for_it_may_still_use_what_is_shared_and_linked(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real").chmod(0o777)
    (tmp_path / "link").symlink_to("real")
    place = Rooted(tmp_path / "link")
    place.write_new(("a",), {"x": b"1"})
    assert place.read(("a", "x")) == b"1"


def test_no_descriptor_of_a_refused_folder_is_left_open(place: Rooted) -> None:
    place.write_new(BELOW, {"x": b"1"})
    place.path(BELOW).chmod(0o777)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(NotOurs):
        place.read((*BELOW, "x"))
    assert len(os.listdir("/proc/self/fd")) == before


MARKS = ("requests", "responses")


@pytest.mark.parametrize(
    "there",
    [(), ("lost+found/",), ("requests/",), ("responses/",), ("requests/", "notes.txt"), ("notes.txt",), (".profile",),
     ("requests",), ("lost+found/", "bin/"), ("tmp/",), ("tmp/", "bin/")],
)  # fmt: skip
@pytest.mark.parametrize("create", [True, False])
def test_a_folder_that_is_kept_for_something_else_is_left_as_it_is(
    tmp_path: Path, said: list[str], there: tuple[str, ...], create: bool
) -> None:
    """`name/` is a folder in it, any other name a file."""
    root = tmp_path / "it's"
    root.mkdir(mode=0o755)
    for name in there:
        (root / name).mkdir() if name.endswith("/") else (root / name).touch()
    rooms = (*MARKS, "tmp")
    only_rooms = {name.strip("/") for name in there} <= {*rooms, "lost+found"}
    is_ours = any(f"{mark}/" in there for mark in MARKS) or only_rooms
    place = Rooted(root, own=True, marks=MARKS, rooms=rooms, said=said.append)
    if is_ours:
        os.close(place.open_root(create=create))
        assert (mode(root), len(said)) == (0o700, 1)
        return
    for _ in range(2):
        with pytest.raises(NotOurs, match="it's holds other things; choose a folder that is empty, or one") as told:
            place.open_root(create=create)
        *_, way_out = str(told.value).partition("right one: ")
        assert shlex.split(way_out.removesuffix(")")) == ["mkdir", "-m", "700", str(root / "requests")]
    assert (mode(root), said) == (0o755, [])
    assert {path.name for path in root.iterdir()} == {name.rstrip("/") for name in there}
