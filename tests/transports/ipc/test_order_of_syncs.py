"""The order of syncs: what a power cut leaves of a request or an answer is all of it, or nothing.

    the content is synced      before the name stands there, so a name never stands for half a content
    the folder is synced       after the name, and before anybody is told that it is kept

There is no other sync between a request and its answer (tests/ipc/test_rows_of_a_trip.py has the rows, which are soft).
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from codec.ipc import Dialect
from codec.ipc.folder import BaseUnwritable, Identity, Tray
from tests.transports.ipc.places import answered, asked
from transports.folder import drafts
from transports.folder.drafts import MANY, WholeDisk, rename_new
from transports.ipc import writing
from transports.ipc.site import Site
from transports.ipc.writing import RoomWriter, WriteJob
from troupe.ipc import folder
from troupe.ipc.folder import DeskFolder

Steps = list[tuple[str, int]]
ALL = 0
"""Files."""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """What is done, and to the file or folder of which number."""
    found: Steps = []

    def synced(what: str, sync: Callable[[int], None], descriptor: int) -> None:
        sync(descriptor)
        found.append((what, os.fstat(descriptor).st_ino))

    def synced_whole(sync: Callable[[int], OSError | None], here: int) -> OSError | None:
        error = sync(here)
        found.append(("content", ALL))
        return error

    def named(rename: Callable[..., None], name: str, new: str, *places: int, **options: int) -> None:
        rename(name, new, *places, **options)
        there = options["dst_dir_fd"] if options else places[1]
        options.pop("follow_symlinks", None)
        found.append(("named", os.stat(new, dir_fd=there).st_ino))

    monkeypatch.setattr(os, "fdatasync", partial(synced, "content", os.fdatasync))
    monkeypatch.setattr(os, "fsync", partial(synced, "folder", os.fsync))
    whole_disk = WholeDisk(lambda: 0.0)  # it is not avoided, however slow it was
    monkeypatch.setattr(whole_disk, "sync", partial(synced_whole, whole_disk.sync))
    monkeypatch.setattr(drafts, "whole_disk", whole_disk)
    for way in ("rename", "replace", "link"):
        monkeypatch.setattr(os, way, partial(named, getattr(os, way)))
    monkeypatch.setattr(writing, "rename_new", partial(named, rename_new))
    monkeypatch.setattr(folder, "rename_new", partial(named, rename_new))
    return found


def by_the_server(base: Path, *jobs: WriteJob) -> Callable[[], None]:
    writer = RoomWriter(Site(base, writing.give_back_what_is_away), sync=True)
    writer.run([])

    def do() -> None:
        done = [result for result in writer.run(jobs) if not isinstance(result, Identity)]
        assert not any(done)  # no refusal, and none that is stuck

    return do


def requests(count: int) -> dict[str, bytes]:
    return {f"r-{number}": asked(f"r-{number}") for number in range(count)}


def dropped(base: Path, count: int, dialect: Dialect) -> Callable[[], None]:
    desk = DeskFolder(base)
    desk.make()
    (base / "state").mkdir(mode=0o700)
    (base / "state" / "client.lock").write_text(f"1 server client {dialect.value}\n")

    def do() -> None:
        assert desk.drop(requests(count)) == dict.fromkeys(requests(count))

    return do


WAYS: dict[str, tuple[Tray, Callable[[Path, int], Callable[[], None]]]] = {
    "dropped": (Tray.REQUESTS, partial(dropped, dialect=Dialect.SPEC)),
    "dropped with copies": (Tray.REQUESTS, partial(dropped, dialect=Dialect.HEAD)),
    "published": (Tray.REQUESTS, lambda base, count: by_the_server(base, writing.publishing(requests(count)))),
    "answered": (
        Tray.RESPONSES,
        lambda base, count: by_the_server(base, *(writing.answering(id, answered(id)) for id in requests(count))),  # noqa: A001
    ),
    "recorded": (
        Tray.FAILED,
        lambda base, count: by_the_server(
            base,
            *(writing.writing(Tray.FAILED, id, answered(id)) for id in requests(count)),  # noqa: A001
        ),
    ),
}


@pytest.mark.parametrize("count", [1, 5, MANY])
@pytest.mark.parametrize("way", WAYS)
def test_no_name_stands_for_what_is_not_on_the_disk_and_nothing_is_said_before_the_name_is(
    tmp_path: Path, steps: Steps, way: str, count: int
) -> None:
    tray, make = WAYS[way]
    do = make(tmp_path / "base", count)
    steps.clear()
    do()
    room = tmp_path / "base" / tray.value
    files = {path.stat().st_ino for path in room.iterdir()}
    assert len(files) == count
    content = [number for what, number in steps if what == "content"]
    assert steps[: len(content)] == [("content", number) for number in content]
    assert set(content) == ({ALL} if count == MANY else files)
    assert len(content) == (1 if count == MANY else count)
    rooms = [room, tmp_path / "base" / Tray.SUBMITTED.value] if way == "dropped with copies" else [room]
    assert {number for what, number in steps[len(content) : -len(rooms)] if what == "named"} == files
    assert len(steps) == len(content) + len(rooms) * (count + 1)
    assert steps[-len(rooms) :] == [("folder", each.stat().st_ino) for each in rooms]
    assert all({path.stat().st_ino for path in each.iterdir()} == files for each in rooms)


def test_a_folder_that_cannot_be_synced_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = RoomWriter(Site(tmp_path / "base", writing.give_back_what_is_away), sync=True)
    writer.run([])

    def fail(_: int) -> Any:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    results = writer.run([writing.answering("a", answered("a")), writing.answering("b", answered("b"))])
    assert [type(result) for result in results] == [BaseUnwritable, BaseUnwritable]
