"""What a file has besides its content goes over to the one that takes its place, or it is said why not."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from transports.folder.fitness import Manner, NotFit

NOT_ALLOWED = (errno.EPERM, errno.EACCES, errno.ENOTSUP)
FAILING = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@pytest.mark.parametrize("by", ["fchown", "fchmod", "setxattr"])
@pytest.mark.parametrize("number", [*NOT_ALLOWED, *FAILING])
def test_what_the_system_does_not_allow_is_said_in_words_and_a_disk_that_fails_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, number: int
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    said = "could not be kept" if number in NOT_ALLOWED else os.strerror(number)
    with (tmp_path / "a").open("wb") as old, (tmp_path / "b").open("wb") as new:
        manner = Manner(old.fileno(), os.fstat(old.fileno()))
        manner.group += 1
        manner.attributes = {"user.colour": b"green"}
        for each in ("fchown", "fchmod", "setxattr"):
            monkeypatch.setattr(os, each, fail if each == by else lambda *_: None)
        with pytest.raises(OSError, match=said) as failed:
            manner.give(new.fileno(), None)
    assert isinstance(failed.value, NotFit) == (number in NOT_ALLOWED)
