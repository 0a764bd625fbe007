"""Whatever stands in the base's own folders when it is opened: nothing outside is written, and the rest goes on."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from codec.ipc.folder import BaseFull, BaseGone, Tray
from transports.ipc import writing
from transports.ipc.base import FolderBase

DAY = "2026-01-01"
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
    brought_back = {"abc"} if odd is a_day_that_is_a_file else set()
    assert await base.ids(Tray.REQUESTS) == {"a", *brought_back}
    base.close()


@pytest.mark.parametrize("name", [DAY, ".staging"])
async def test_a_link_in_place_of_a_folder_of_the_archive_leaves_every_file_where_it_was_and_is_said(
    path: Path, name: str
) -> None:
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    (path / "archive" / name).symlink_to(elsewhere)
    base = FolderBase(path)
    await base.publish({"a": REQUEST})
    with pytest.raises(BaseGone, match=f"archive/{name} is no folder; move it away"):
        await base.archive(["a"], DAY)
    assert await base.ids(Tray.REQUESTS) == {"a"}
    health = await base.health()
    assert health.trouble is None
    assert f"archive/{name} is no folder" in (health.blocked or "")
    assert list(elsewhere.iterdir()) == []
    (path / "archive" / name).unlink()
    assert await base.archive(["a"], DAY) == {"a"}
    assert (await base.health()).blocked is None
    assert (path / "archive" / DAY / "a" / "request.json").read_bytes() == REQUEST
    base.close()


async def test_what_was_gathered_before_a_kill_and_cannot_be_filed_away_is_where_it_was(path: Path) -> None:
    stage = path / "archive" / ".staging" / f"{DAY}~a~req.res"
    stage.mkdir(parents=True, mode=0o700)
    (stage / "request.json").write_bytes(REQUEST)
    (path / "archive" / DAY).symlink_to(path.parent)
    base = FolderBase(path)
    assert await base.ids(Tray.REQUESTS) == {"a"}
    assert (path / "requests" / "a.json").read_bytes() == REQUEST
    assert not stage.exists()
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
