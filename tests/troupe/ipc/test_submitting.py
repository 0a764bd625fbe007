"""What a submitter asks for is on the disk, all of it; so is what has been taken back."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codec.ipc import Wishes, file_of, read_request
from troupe.ipc import Desk
from troupe.ipc.testing import NEVER, FakeDesk

MOMENT = datetime(2030, 1, 2, tzinfo=UTC)
WISHES: dict[str, tuple[Any, Any]] = {
    "submitter": ("mine", "mine"),
    "priority": (-7, -7),
    "not_before": (MOMENT, MOMENT.timestamp()),
    "deadline": (MOMENT.timestamp() + 5, MOMENT.timestamp() + 5),
    "reference": ("yes", "yes"),
}


def test_the_table_has_all_that_can_be_wished() -> None:
    assert WISHES.keys() == set(Wishes.__struct_fields__)


@pytest.mark.parametrize("wish", WISHES)
async def test_each_wish_is_in_the_request_and_no_other(tmp_path: Path, wish: str) -> None:
    said, written = WISHES[wish]
    async with Desk(tmp_path / "base", state=tmp_path) as desk:
        ticket = await desk.submit("ping", id="one", **{"submitter": "me", wish: said})
    request = read_request((tmp_path / "base/requests" / file_of(ticket.id)).read_bytes(), "one")
    assert request.wishes == Wishes(**{"submitter": "me", wish: written})
    async with FakeDesk({"ping": NEVER}) as fake:
        await fake.submit("ping", id="one", **{"submitter": "me", wish: said})
        assert fake.requests[0].wishes == request.wishes


async def test_what_is_taken_back_is_off_the_disk_before_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = tmp_path / "base/requests"
    async with Desk(tmp_path / "base", state=tmp_path) as desk:
        ticket = await desk.submit("ping")
        there, sync = requests.stat().st_ino, os.fsync
        synced: list[list[str]] = []

        def look(descriptor: int) -> None:
            sync(descriptor)
            if os.fstat(descriptor).st_ino == there:
                synced.append(os.listdir(requests))

        monkeypatch.setattr(os, "fsync", look)
        assert await desk.cancel([ticket.id]) == [ticket.id]
    assert synced == [[]]
