"""What counts of the open files of a process: memory whoever may write to it, and disk space if it is open for
writing."""

import mmap
import os
from pathlib import Path

import pytest

from transports.process.launcher import census, holdings
from transports.process.launcher.holdings import MOST_REMEMBERED, Holdings

pytestmark = pytest.mark.skipif(not census.LISTS_CHILDREN, reason="it reads /proc")
SIZE = 64 * mmap.PAGESIZE


@pytest.fixture(autouse=True)
def nothing_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever these tests have written before."""
    monkeypatch.setattr(holdings, "_written_bytes", lambda pid: 0)


def found(reaped_bytes: int = 0) -> Holdings:
    member = census.member_of(os.getpid())
    assert member is not None
    found = Holdings(0)
    found.look([member], reaped_bytes)
    return found


@pytest.mark.parametrize(
    ("in_memory", "mode", "counts"),
    [(False, os.O_RDONLY, False), (False, os.O_RDWR, True), (True, os.O_RDONLY, True), (True, os.O_RDWR, True)],
)
def test_a_file_in_memory_counts_and_one_on_a_disk_if_it_is_open_for_writing(
    in_memory: bool, mode: int, counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(os.urandom(SIZE))
    device = (tmp_path / "file").stat().st_dev
    others = Holdings.memory_devices - {device}
    monkeypatch.setattr(Holdings, "memory_devices", others | {device} if in_memory else others)
    before = found()
    descriptor = os.open(tmp_path / "file", mode)
    copy = os.dup(descriptor)  # the same file, which counts once
    try:
        now = found()
    finally:
        os.close(descriptor)
        os.close(copy)
    used = (tmp_path / "file").stat().st_blocks * 512 if counts else 0
    assert now.memory_bytes - before.memory_bytes == (used if in_memory else 0)
    assert now.disk_bytes - before.disk_bytes == (0 if in_memory else used)


def test_a_file_that_was_closed_counts_as_long_as_it_has_its_name(tmp_path: Path) -> None:
    member = census.member_of(os.getpid())
    assert member is not None
    before, held = found(), Holdings(0)
    in_memory = tmp_path.stat().st_dev in Holdings.memory_devices
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(SIZE))
        file.flush()
        os.fsync(file.fileno())
        held.look([member], 0)

    def of_it() -> int:
        return (held.memory_bytes - before.memory_bytes) if in_memory else (held.disk_bytes - before.disk_bytes)

    used = (tmp_path / "file").stat().st_blocks * 512
    assert of_it() == used
    held.look([member], 0)
    assert of_it() == used
    (tmp_path / "file").rename(tmp_path / "other")
    held.look([member], 0)
    assert of_it() == (0 if in_memory else used)  # disk space is the most that there was


def test_what_was_written_by_those_who_have_gone_counts_too() -> None:
    assert found(1 << 40).disk_bytes == 1 << 40


def test_so_many_files_are_remembered_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_REMEMBERED == 4096
    monkeypatch.setattr(Holdings, "memory_devices", Holdings.memory_devices | {tmp_path.stat().st_dev})
    before = found()
    files = [(tmp_path / str(number)).open("w+b") for number in range(2)]
    for file in files:
        file.write(os.urandom(SIZE))
        file.flush()
    try:
        both = found()
        monkeypatch.setattr(holdings, "MOST_REMEMBERED", len(both._files) - 1)
        one = found()
    finally:
        for file in files:
            file.close()
    assert both.memory_bytes > one.memory_bytes >= before.memory_bytes


def test_the_devices_in_memory_are_those_that_the_kernel_mounts_as_such_and_those_of_memory_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mounts = (
        b"36 35 7:99 / /a rw,nosuid shared:4 - tmpfs none rw\n37 35 7:98 / /b rw - ext4 tmpfs rw\n"
        b"38 35 7:97 / /c rw - ramfs none rw\n39 35 7:96 / /d rw tmpfs\n40 35 7:95 / /e rw - hugetlbfs none rw\n"
    )
    monkeypatch.setattr(holdings, "read", lambda path: {"/proc/self/mountinfo": mounts}[path])
    descriptor = os.memfd_create("x")
    try:
        own = os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)
    devices = holdings._memory_devices()
    assert {os.makedev(7, minor) for minor in (99, 97, 95)} | {own} <= devices
    assert not devices & {os.makedev(7, minor) for minor in (98, 96)}
