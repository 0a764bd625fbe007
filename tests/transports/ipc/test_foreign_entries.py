"""Whatever stands in the base's own folders when it is opened: nothing outside is written, and the rest goes on."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from codec.ipc.folder import BaseFull, BaseGone, Tray
from transports.ipc import writing
from transports.ipc.base import FolderBase

REQUEST = b'{"request_id": "a", "command": "ping", "params": {}}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    for room in ("archive", "state"):
        (base / room).mkdir(parents=True, mode=0o700)
    base.chmod(0o700)
    return base


@pytest.mark.parametrize("end", ["client", "server"])
async def test_a_lock_that_is_somebodys_document_is_not_written_to(path: Path, end: str) -> None:
    document = path.parent / "document"
    document.write_text("mine")
    os.link(document, path / "state" / f"{end}.lock")
    base = FolderBase(path)
    claim = base.claim_client if end == "client" else base.claim_server
    with pytest.raises(BaseGone, match=f"{end}.lock is no plain file of yours"):
        await claim()
    assert document.read_text() == "mine"
    base.close()


def a_staged_file(archive: Path) -> None:
    (archive / ".staging").mkdir()
    (archive / ".staging" / "2026-01-01~abc~req").touch()


def a_day_that_is_a_file(archive: Path) -> None:
    (archive / ".staging" / "2026-01-01~abc~req").mkdir(parents=True)
    (archive / ".staging" / "2026-01-01~abc~req" / "request.json").touch()
    (archive / "2026-01-01").touch()


def staging_that_is_a_link(archive: Path) -> None:
    (archive / ".staging").symlink_to("/tmp")


@pytest.mark.parametrize("odd", [a_staged_file, a_day_that_is_a_file, staging_that_is_a_link])
async def test_an_odd_entry_of_the_archive_keeps_no_request_from_being_published(
    path: Path, odd: Callable[[Path], None]
) -> None:
    odd(path / "archive")
    base = FolderBase(path)
    await base.publish({"a": REQUEST})
    assert await base.ids(Tray.REQUESTS) == {"a"}
    base.close()


async def test_a_full_disk_is_the_bases_trouble_until_something_is_written_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = FolderBase(path)
    await base.publish({"a": REQUEST})

    def full(here: int, contents: Sequence[bytes], *, sync: bool) -> list[str | OSError]:
        return [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) for _ in contents]

    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_drafts", full)
        with pytest.raises(BaseFull):
            await base.publish({"b": REQUEST.replace(b'"a"', b'"b"')})
    assert "no room" in str((await base.health()).trouble)
    await base.publish({"b": REQUEST.replace(b'"a"', b'"b"')})
    assert (await base.health()).trouble is None
    base.close()
