"""Looks that wait for no disk: they tell what others do, or nothing."""

import ctypes
import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transports.folder.test_memory import MOUNTS
from transports.folder import waitless
from transports.folder.waitless import is_local, open_at_once, read_at_once, stat_at_once

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def test_what_was_just_written_is_there_and_what_was_just_missed_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        assert os.path.samestat(stat_at_once("a", here), os.lstat(tmp_path / "a"))
        file = open_at_once("a", READ, here)
        try:
            assert read_at_once(file, 7) == b"content"
            assert read_at_once(file, 3) == b"con"
            assert read_at_once(file, 100) == b"content"
            assert not os.get_inheritable(file)
        finally:
            os.close(file)
        with pytest.raises((FileNotFoundError, BlockingIOError)):
            open_at_once("b", READ, here)
    finally:
        os.close(here)


def test_a_link_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert stat.S_ISLNK(stat_at_once(tmp_path / "link").st_mode)
    with pytest.raises(OSError, match="link"):
        open_at_once(tmp_path / "link", READ)


@given(data=st.binary(max_size=300), steps=st.lists(st.integers(1, 100), max_size=10), blocks=st.booleans())
def test_a_content_that_comes_in_pieces_is_whole_or_would_wait(data: bytes, steps: list[int], blocks: bool) -> None:
    pieces = iter(steps)

    def preadv(file: int, buffers: list[memoryview], offset: int, flags: int) -> int:
        assert (file, flags) == (3, os.RWF_NOWAIT)
        most = next(pieces, None)
        if most is None and blocks:
            raise BlockingIOError
        piece = data[offset : offset + min(most or 1000, len(buffers[0]))]
        buffers[0][: len(piece)] = piece
        return len(piece)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "preadv", preadv)
        try:
            assert read_at_once(3, len(data)) == data
        except BlockingIOError:
            assert blocks
            assert sum(steps) < len(data)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for name in ("", "none"):
        with suppress(OSError):
            stat_at_once(tmp_path / name)
    assert len(os.listdir("/proc/self/fd")) == before


def without(name: str, value: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(waitless, name, value)


def refused(*_: Any) -> int:
    ctypes.set_errno(errno.ENOSYS)
    return -1


@pytest.mark.parametrize("missing", [without("_syscall", None), without("_syscall", refused)])
def test_where_the_system_cannot_do_that_everything_would_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: Callable[[pytest.MonkeyPatch], None]
) -> None:
    missing(monkeypatch)
    with pytest.raises(BlockingIOError):
        stat_at_once(tmp_path)


@pytest.mark.parametrize(("device", "expected"), [((0, 23), True), ((8, 1), True), ((0, 40), False), ((9, 9), False)])
def test_only_local_disks_are_looked_at(tmp_path: Path, device: tuple[int, int], expected: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert is_local(os.makedev(*device), mounts) is expected
