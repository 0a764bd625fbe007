"""What may not stay in the rooms: whatever stands there, nothing is read or written through it, nothing is lost, and
every call goes on."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from codec.ipc.folder import Answer, Asked, Spoiled, Torn, Tray, Unreadable
from tests.transports.ipc.places import Clock, answered, asked, put, refused
from transports.ipc import quarantine
from transports.ipc.base import FolderBase
from transports.ipc.quarantine import KEPT
from transports.ipc.writing import LARGEST

SECRET = b"what nobody is to read, nor to write over"


def _link(place: Path, outside: Path) -> None:
    place.symlink_to(outside)


def _dangling(place: Path, outside: Path) -> None:
    place.symlink_to(outside.with_name("nowhere"))


def _pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def _folder(place: Path, outside: Path) -> None:
    place.mkdir()
    (place / "deep").write_bytes(SECRET)


def _socket(place: Path, outside: Path) -> None:
    here = os.getcwd()
    os.chdir(place.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(place.name)
    finally:
        os.chdir(here)


def _foreign(place: Path, outside: Path) -> None:
    place.write_bytes(asked("x"))
    os.chown(place, 65534, 65534)


OBSTACLES: list[Callable[[Path, Path], None]] = [_link, _dangling, _pipe, _folder, _socket]
SEEN_BY_LOOKING = [*OBSTACLES, _foreign] if os.geteuid() == 0 else OBSTACLES


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside.json"
    path.write_bytes(SECRET)
    return path


def reasons(path: Path) -> list[dict[str, str]]:
    return [json.loads(each.read_bytes()) for each in sorted((path / "quarantine").glob("*.json"))]


def entries(path: Path) -> list[bytes]:
    return [name for name in os.listdir(os.fsencode(path / "quarantine")) if name.endswith(b".entry")]


def content(path: Path) -> bytes:
    return path.read_bytes()


def make(path: bytes, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


async def _opened(base: FolderBase) -> None:
    await base.ids(Tray.REQUESTS)


@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("tray", [Tray.REQUESTS, Tray.RESPONSES])
async def test_what_is_no_plain_file_is_moved_away_by_a_listing(
    base: FolderBase, path: Path, outside: Path, obstacle: Callable[[Path, Path], None], tray: Tray
) -> None:
    await _opened(base)
    put(path, tray, "good", b"{}")
    obstacle(path / tray.value / "x.json", outside)
    with capture_logs() as logs:
        assert await base.ids(tray) == {"good"}
    assert [(line["event"], line["entry"]) for line in logs] == [("set aside", "'x.json'")]
    (entry,) = entries(path)
    assert entry.startswith(b"x.json-")
    (reason,) = reasons(path)
    assert (reason["name"], reason["room"]) == ("x.json", tray.value)
    assert content(outside) == SECRET
    assert await base.ids(tray) == {"good"}
    health = await base.health()
    assert (health.quarantined, health.reasons) == (1, (f"{tray.value}/x.json: {reason['why']}",))
    base.close()
    await _opened(base)
    after = await base.health()
    assert (after.quarantined, after.reasons) == (health.quarantined, health.reasons)


@pytest.mark.parametrize("obstacle", SEEN_BY_LOOKING)
async def test_what_stands_in_the_way_is_set_aside_and_every_call_goes_on(
    base: FolderBase, path: Path, outside: Path, obstacle: Callable[[Path, Path], None]
) -> None:
    await _opened(base)
    for tray in (Tray.REQUESTS, Tray.RESPONSES):
        obstacle(path / tray.value / "x.json", outside)
    both = await base.look("x")
    assert (both.request, both.response) == (None, None)
    for tray in (Tray.REQUESTS, Tray.RESPONSES, Tray.FAILED, Tray.EVALUATIONS):
        obstacle(path / tray.value / "y.json", outside)
    await base.publish({"y": asked("y")})
    await base.answer("y", answered("y"))
    await base.write(Tray.FAILED, "y", refused("y"))
    await base.write(Tray.EVALUATIONS, "y", b"{}")
    both = await base.look("y")
    assert isinstance(both.request, Asked)
    assert isinstance(both.response, Answer)
    assert await base.read(Tray.FAILED, "y") == refused("y")
    for tray in (Tray.REQUESTS, Tray.FAILED):
        obstacle(path / tray.value / "z.json", outside)
    assert await base.read(Tray.FAILED, "z") is None
    assert not await base.withdraw("z")
    assert not await base.reopen("z")
    assert content(outside) == SECRET
    assert len(entries(path)) == len(reasons(path)) == (await base.health()).quarantined == 8


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (b"x" * 250 + b".json", b"x" * KEPT),
        (b"\xff\xfe\x80.json", b"\xff\xfe\x80.json"),
        (b"\xff" * 250 + b".json", b"\xff" * KEPT),
        ("\u00e9".encode() * 125 + b".json", ("\u00e9".encode() * 125)[:KEPT]),
        (b".hidden.json", b".hidden.json"),
        (b"con.json", b"con.json"),
        (b"a b.json", b"a b.json"),
        (b"\x1b[2J\n.json", b"\x1b[2J\n.json"),
        (b".json", b".json"),
        (b"-rf.json", b"-rf.json"),
    ],
)
async def test_a_name_that_is_no_id_is_moved_away_once_nobody_writes_it_any_more(
    base: FolderBase, path: Path, clock: Clock, name: bytes, kept: bytes
) -> None:
    await _opened(base)
    stray = os.path.join(os.fsencode(path / "requests"), name)
    make(stray, SECRET)
    assert await base.ids(Tray.REQUESTS) == set()
    clock.seconds += 0.9
    assert await base.ids(Tray.REQUESTS) == set()
    assert entries(path) == []
    clock.seconds += 0.2
    with capture_logs() as logs:
        assert await base.ids(Tray.REQUESTS) == set()
    (entry,) = entries(path)
    assert entry.startswith(kept)
    (line,) = logs
    assert str(line["entry"]).isprintable()
    assert name not in os.listdir(os.path.dirname(stray))
    (told,) = await base.ids(Tray.QUARANTINE)  # the desk reads the reason as it reads any other document
    reason = json.loads(await base.read(Tray.QUARANTINE, told) or b"")
    assert bytes.fromhex(reason["entry"]) == entry
    assert reason["name"].isprintable()
    assert "is no id" in reason["why"] or "an id " in reason["why"]


async def test_what_others_keep_beside_documents_is_left_alone(base: FolderBase, path: Path, clock: Clock) -> None:
    await _opened(base)
    (path / "requests" / "x.json.tmp").write_bytes(b"a draft")
    (path / "requests" / "processing").mkdir()
    (path / "failed" / "corrupted").mkdir()
    for _ in range(3):
        clock.seconds += 2
        for tray in Tray:
            assert await base.ids(tray) == set()
    assert (await base.health()).quarantined == 0


async def test_a_giant_is_not_read_and_its_request_still_ends(path: Path, clock: Clock) -> None:
    base = FolderBase(path, now=clock, largest=100)
    await _opened(base)
    put(path, Tray.REQUESTS, "x", asked("x", text="x" * 200))
    put(path, Tray.RESPONSES, "x", answered("x", "x" * 200))
    both = await base.look("x")
    assert (both.request, both.response) == (Torn(), Torn())
    clock.seconds += 1
    both = await base.look("x")
    assert isinstance(both.request, Unreadable)
    assert isinstance(both.response, Spoiled)
    assert both.request.why.endswith("bytes, and at most 100 are read")
    await base.set_aside("x", both.response.identity, both.response.why)
    assert (await base.look("x")).response is None
    base.close()


async def test_a_sparse_file_of_a_terabyte_is_no_trouble(base: FolderBase, path: Path, clock: Clock) -> None:
    await _opened(base)
    os.truncate(put(path, Tray.RESPONSES, "x", b""), 1 << 40)
    assert (await base.look("x")).response == Torn()
    clock.seconds += 1
    assert isinstance((await base.look("x")).response, Spoiled)
    assert LARGEST < 1 << 40


async def test_a_reason_whose_entry_never_came_is_cleared_at_the_next_opening(base: FolderBase, path: Path) -> None:
    await _opened(base)
    (path / "responses" / "x.json").mkdir()
    await base.ids(Tray.RESPONSES)
    (entry,) = entries(path)
    base.close()
    put(path, Tray.QUARANTINE, "notes", b"of a person")
    os.rmdir(os.path.join(os.fsencode(path / "quarantine"), entry))
    await _opened(base)
    assert await base.ids(Tray.QUARANTINE) == {"notes"}


async def test_at_an_opening_no_reason_is_read_whose_entry_is_there(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _opened(base)
    names = (b"plain", b"has a blank", b"\xff\xfe", b"x" * 250)
    for name in names:
        os.mkdir(os.path.join(os.fsencode(path / "requests"), name + b".json"))
    await base.ids(Tray.REQUESTS)
    base.close()
    monkeypatch.setattr(quarantine, "LATEST", 0)
    read: list[str] = []
    monkeypatch.setattr(quarantine.Quarantine, "_reason", lambda self, name: read.append(name))
    await _opened(base)
    assert not read
    assert (await base.health()).quarantined == len(names)


async def test_a_reason_that_is_nested_too_deeply_does_not_close_the_folder(base: FolderBase, path: Path) -> None:
    await _opened(base)
    base.close()
    put(path, Tray.QUARANTINE, "x", b"[" * 16_000)
    await _opened(base)
    assert await base.ids(Tray.REQUESTS) == frozenset()


async def test_a_draft_that_is_away_under_no_id_does_not_close_the_folder(base: FolderBase, path: Path) -> None:
    await _opened(base)
    base.close()
    (path / "tmp" / f".away-1-1-{'a' * 200}").write_bytes(b"{}")
    await _opened(base)
    assert await base.ids(Tray.REQUESTS) == frozenset()
