"""What each answer of the kernel to a rename that replaces nothing leads to."""

import ctypes
import errno
import os
from pathlib import Path

import pytest

from transports.folder import drafts

CANNOT = (errno.EINVAL, errno.ENOSYS)


def folder(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)


@pytest.mark.parametrize("number", [*CANNOT, errno.EEXIST, errno.EIO, errno.ENOSPC, errno.EXDEV])
@pytest.mark.parametrize("taken", [False, True])
def test_where_the_kernel_cannot_rename_so_a_link_does_it_and_any_other_error_is_told_and_nothing_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, taken: bool
) -> None:
    def fail(*_: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(drafts, "_renameat2", fail)
    (tmp_path / "draft").write_text("new")
    if taken:
        (tmp_path / "name").write_text("old")
    here = folder(tmp_path)
    try:
        if number in CANNOT and not taken:
            drafts.rename_new("draft", "name", here, here)
            assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"name": "new"}
        else:
            with pytest.raises(OSError) as caught:  # noqa: PT011 - its number says which
                drafts.rename_new("draft", "name", here, here)
            assert caught.value.errno == (errno.EEXIST if number in CANNOT else number)
            there = {each.name: each.read_text() for each in tmp_path.iterdir()}
            assert there == {"draft": "new", **({"name": "old"} if taken else {})}
    finally:
        os.close(here)
