"""Whatever stands in the base's own folders when it is opened: nothing outside is written, and the rest goes on."""

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from actors.kernel import MailboxFull
from actors.kernel.testing import Log, staged
from codec.ipc.folder import (
    BaseFull,
    BaseGone,
    BaseIsBack,
    BaseIsGone,
    News,
    Rescan,
    Tray,
    WritingFails,
    WritingWorks,
)
from tests.transports.ipc.places import attendant_spec, heard_that, kept
from transports.ipc import keeper, writing
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


def _is_of_writing(news: News) -> bool:
    return isinstance(news, WritingFails | WritingWorks)


@pytest.mark.parametrize("trouble", ["full", "read-only", "blocked"])
async def test_that_a_change_can_be_made_again_is_found_out_though_nobody_tries_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setattr(keeper, "GONE_SECONDS", 0.01)
    base, tried, again = FolderBase(path), list[Exception](), trio.Event()
    try_again = base.try_again

    async def noted() -> None:
        try:
            await try_again()
        except (BaseFull, BaseGone) as error:
            tried.append(error)
            raise
        again.set()

    monkeypatch.setattr(base, "try_again", noted)

    def failing(here: int, contents: Sequence[bytes], *, sync: bool) -> list[str | OSError]:
        return [OSError(errno.ENOSPC if trouble == "full" else errno.EROFS, "") for _ in contents]

    async with kept(base, tick=1000.0) as (_, heard):
        await base.publish({"a": REQUEST})
        with monkeypatch.context() as patch:
            if trouble == "blocked":
                (path / "archive" / DAY).write_bytes(b"")
            else:
                patch.setattr(writing, "write_drafts", failing)
            with pytest.raises((BaseFull, BaseGone)):
                await (base.archive(["a"], DAY) if trouble == "blocked" else base.publish({"a": REQUEST}))
            while len(tried) < 2:
                await base.ids(Tray.REQUESTS)
            health = await base.health()
            assert (health.blocked if trouble == "blocked" else health.trouble) is not None
        (path / "archive" / DAY).unlink(missing_ok=True)
        await again.wait()
        health = await base.health()
        assert (health.trouble, health.blocked) == (None, None)
        assert await base.ids(Tray.REQUESTS) == {"a"}
        assert list((path / "tmp").iterdir()) == []
        if trouble != "blocked":
            await heard_that(heard, lambda news: isinstance(news, WritingWorks))
            news = list(filter(_is_of_writing, heard.entries))
            assert news == [WritingFails(str(tried[0])), WritingWorks()], "each is told once"
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
    trouble = (await base.health()).trouble
    assert trouble is not None
    assert "no room" in trouble
    heard: Log[News] = Log()
    async with staged(attendant_spec(base, heard)):
        await heard_that(heard, lambda news: news == WritingFails(trouble))
        await base.publish({"b": REQUEST.replace(b'"a"', b'"b"')})
        await heard_that(heard, lambda news: news == WritingWorks())
    assert (await base.health()).trouble is None
    base.close()


class Deaf:
    """Hears no news while it has no room."""

    alive = True

    def __init__(self) -> None:
        self.has_room = True
        self.is_there: bool | None = None
        self.can_be_written_to = True

    def hand(self, news: News) -> None:
        if not self.has_room:
            raise MailboxFull("it has no room")
        match news:
            case BaseIsGone():
                self.is_there = False
            case BaseIsBack() | Rescan():
                self.is_there = True
            case WritingFails() | WritingWorks():
                self.can_be_written_to = isinstance(news, WritingWorks)


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("has_room", [True, False])
@pytest.mark.parametrize("missed", [0, 1, 2])
async def test_whoever_attends_knows_whether_the_base_is_there_and_can_be_written_to_as_soon_as_it_has_room(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool, has_room: bool, missed: int
) -> None:
    """Whichever news of it was missed, and though the folder has gone since; and so does who comes then."""

    async def change(fails: bool) -> None:
        with monkeypatch.context() as patch, suppress(BaseFull):
            if fails:
                patch.setattr(writing, "write_drafts", full)
            await base.publish({"a": REQUEST})

    def full(here: int, contents: Sequence[bytes], *, sync: bool) -> list[str | OSError]:
        return [OSError(errno.ENOSPC, "") for _ in contents]

    base, deaf, late = FolderBase(path), Deaf(), Deaf()
    await base.ids(Tray.REQUESTS)
    base.attend(cast("Any", deaf), lambda news: news)
    changes = [not has_room, has_room, not has_room]
    for at, fails in enumerate(changes):
        deaf.has_room = at < len(changes) - missed
        await change(fails)
    if not is_there:
        os.rename(path, path.with_name("away"))
        with suppress(BaseGone):
            await base.ids(Tray.REQUESTS)
    base.attend(cast("Any", late), lambda news: news)
    deaf.has_room = True
    assert not base.catch_up()
    for each in (deaf, late):
        assert (each.is_there, each.can_be_written_to) == (is_there, has_room)
    if not is_there:
        os.rename(path.with_name("away"), path)
        await base.ids(Tray.REQUESTS)
        for each in (deaf, late):
            assert (each.is_there, each.can_be_written_to) == (True, has_room)
    base.close()
