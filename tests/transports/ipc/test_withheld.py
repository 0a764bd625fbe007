"""What the disk does not give of one file hurts nobody who asks for another."""

import errno
import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import structlog

from codec.ipc.folder import Answer, Asked, BaseGone, Torn, Tray
from tests.transports.ipc.places import Clock, answered, asked, put
from transports.folder.drafts import rename_new
from transports.ipc import archiving, reading
from transports.ipc import base as base_module
from transports.ipc.base import FolderBase
from transports.ipc.reading import USUAL
from transports.ipc.withheld import FIRST, MOST_SAID, Withheld

BAD, GOOD, STRAY = "bad", "good", "no id!"
DAY = "2026-01-31"


@contextmanager
def withheld(patch: pytest.MonkeyPatch, *, number: int = errno.EIO, calls: tuple[str, ...]) -> Iterator[None]:
    """What begins with BAD, and STRAY, by these calls."""

    def failing(call: Any) -> Any:
        def asked_for(name: Any, *args: Any, **more: Any) -> Any:
            if not isinstance(name, int) and os.path.basename(name).startswith((BAD, STRAY)):
                raise OSError(number, os.strerror(number), name)
            return call(name, *args, **more)

        return asked_for

    with patch.context() as inner:
        ways: dict[str, Any] = {"stat": USUAL.stat, "open": USUAL.open, "read": USUAL.read}
        for call in {*calls} & {"stat", "open"}:
            ways[call] = failing(ways[call])
        if "read" in calls:
            ways["read"] = failing_read(number)
        inner.setattr(reading, "USUAL", reading.Ways(**ways))
        inner.setattr(base_module, "AT_ONCE", reading.Ways(**ways))
        if "stat" in calls:
            inner.setattr(os, "stat", failing(os.stat))
        yield


def failing_read(number: int) -> Callable[[int, int], bytes]:
    def read(file: int, size: int) -> bytes:
        if Path(f"/proc/self/fd/{file}").readlink().name.startswith(BAD):
            raise OSError(number, os.strerror(number))
        return USUAL_READ(file, size)

    return read


USUAL_READ = USUAL.read


def two_requests(path: Path) -> None:
    for id in (BAD, GOOD):  # noqa: A001 - as in the contract
        put(path, Tray.REQUESTS, id, asked(id))
        put(path, Tray.RESPONSES, id, answered(id))
    put(path, Tray.REQUESTS, STRAY, b"{}")


@pytest.mark.parametrize("calls", [("read",), ("open",), ("stat",), ("stat", "open")])
@pytest.mark.parametrize("number", [errno.EIO, errno.EUCLEAN, errno.EWOULDBLOCK, errno.ESTALE])
async def test_what_the_disk_does_not_give_is_torn_until_it_can_be_read_and_the_others_are_told(
    base: FolderBase, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, calls: tuple[str, ...], number: int
) -> None:
    await base.ids(Tray.FAILED)
    two_requests(path)
    with withheld(monkeypatch, number=number, calls=calls), structlog.testing.capture_logs() as said:
        for _ in range(3):
            both = await base.look(BAD)
            assert (both.request, both.response) == (Torn(), Torn())
            both = await base.look(GOOD)
            assert isinstance(both.request, Asked)
            assert isinstance(both.response, Answer)
            assert await base.ids(Tray.REQUESTS) == await base.ids(Tray.RESPONSES) == {BAD, GOOD}
            assert await base.read_several(Tray.REQUESTS, [BAD, GOOD]) == {GOOD: asked(GOOD)}
            assert await base.read(Tray.RESPONSES, BAD) is None
            clock.seconds += 10.0
            health = await base.health()
            assert health.withheld >= 2
            assert {f"{room}/bad.json: {os.strerror(number)}" for room in ("requests", "responses")} <= {
                *health.withheld_reasons
            }
    named = [(line["room"], line["entry"]) for line in said if line["event"] == "cannot be read now"]
    assert len(named) == len(set(named))
    assert {("requests", "'bad.json'"), ("responses", "'bad.json'")} <= {*named}
    assert isinstance((await base.look(BAD)).request, Asked)
    assert isinstance((await base.look(BAD)).response, Answer)
    await base.ids(Tray.REQUESTS)
    health = await base.health()
    assert (health.trouble, health.withheld, health.withheld_reasons) == (None, 0, ())


async def test_whether_it_came_while_nobody_was_there_is_looked_at_rather_than_not(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.REQUESTS)
    for id in (BAD, GOOD, "late"):  # noqa: A001
        os.utime(put(path, Tray.REQUESTS, id, asked(id)), None if id == "late" else (1.0, 1.0))
    with withheld(monkeypatch, calls=("stat",)):
        assert await base.missed([BAD, GOOD, "late"]) == {BAD, "late"}


class Entry:
    """As `os.scandir` tells it, of a disk whose listings tell no kinds."""

    def __init__(self, entry: "os.DirEntry[str]") -> None:
        self.name = entry.name
        self._entry = entry

    def _asked(self) -> None:
        if self.name.startswith(BAD):
            raise OSError(errno.EIO, os.strerror(errno.EIO), self.name)

    def is_file(self, *, follow_symlinks: bool) -> bool:
        self._asked()
        return self._entry.is_file(follow_symlinks=follow_symlinks)

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        self._asked()
        return self._entry.stat(follow_symlinks=follow_symlinks)


async def test_listings_go_on_where_each_kind_has_to_be_asked_for(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.REQUESTS)
    two_requests(path)
    scandir = os.scandir

    @contextmanager
    def unkind(folder: int) -> Iterator[Iterator[Entry]]:
        with scandir(folder) as listed:
            yield map(Entry, listed)

    def differences() -> Any:
        return base.visit(lambda reader, opened: reader.differences(opened, Tray.REQUESTS))

    assert await differences() == {BAD, GOOD}
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", unkind)
        assert await base.ids(Tray.REQUESTS) == {BAD, GOOD}
        assert await differences() == {BAD}
        assert await differences() == set()
    assert await differences() == {BAD}  # it can be told again


async def test_a_file_on_which_another_program_has_a_lease_is_torn_until_it_lets_it_go(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.REQUESTS)
    two_requests(path)
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # by which the kernel asks for it
    leased = os.open(path / "responses" / f"{BAD}.json", os.O_RDWR)
    try:
        fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        both = await base.look(BAD)
        assert isinstance(both.request, Asked)
        assert both.response == Torn()
        fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    finally:
        os.close(leased)
        signal.signal(signal.SIGIO, before)
    assert isinstance((await base.look(BAD)).response, Answer)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
async def test_what_we_lack_ourselves_says_nothing_of_a_file(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    await base.ids(Tray.REQUESTS)
    two_requests(path)
    with withheld(monkeypatch, number=number, calls=("open",)):
        with pytest.raises(BaseGone, match="cannot be read"):
            await base.look(BAD)
        with pytest.raises(BaseGone, match="cannot be read"):
            await base.read(Tray.REQUESTS, BAD)


@pytest.mark.parametrize("name", [f"{DAY}~{BAD}~req.res", f"{DAY}~{GOOD}~req"])
async def test_what_was_being_put_away_and_cannot_be_moved_keeps_no_base_from_being_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for stage in (name, f"{DAY}~other~req"):
        (path / "archive" / ".staging" / stage).mkdir(parents=True, mode=0o700)
        (path / "archive" / ".staging" / stage / "request.json").write_bytes(asked("x"))
    stuck = name.split("~")[1]

    def failing(old: str, new: str, here: int, there: int) -> None:
        if stuck in (new, old.split("~")[1] if "~" in old else old):
            raise OSError(errno.EIO, os.strerror(errno.EIO), old)
        rename_new(old, new, here, there)

    base = FolderBase(path)
    with monkeypatch.context() as patch:
        patch.setattr(archiving, "rename_new", failing)
        assert await base.ids(Tray.REQUESTS) == {stuck}
    assert os.listdir(path / "archive" / DAY) == ["other"]
    base.close()


async def test_a_response_that_was_being_taken_away_and_is_withheld_keeps_no_base_from_being_opened(
    base: FolderBase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.ids(Tray.REQUESTS)
    base.close()
    for id in (BAD, GOOD):  # noqa: A001
        (path / "tmp" / f".away-1-1-{id}").write_bytes(answered(id))
    stat = os.stat

    def failing(name: Any, **more: Any) -> os.stat_result:
        if str(name).endswith(BAD):
            raise OSError(errno.EIO, os.strerror(errno.EIO), name)
        return stat(name, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", failing)
        assert await base.ids(Tray.RESPONSES) == {GOOD}
    base.close()
    assert await base.ids(Tray.RESPONSES) == {BAD, GOOD}


def test_of_very_many_that_are_withheld_the_log_says_so_of_the_first_and_of_others_when_those_are_gone() -> None:
    found, error = Withheld(), OSError(errno.EIO, "Input/output error")
    names = [f"r{number}.json" for number in range(2 * MOST_SAID)]
    with structlog.testing.capture_logs() as said:
        for _ in range(3):
            for name in names:
                found.met(Tray.REQUESTS, name, error)
    assert [line["entry"] for line in said] == [ascii(name) for name in names[:MOST_SAID]]
    assert found.told == (MOST_SAID, tuple(f"requests/{name}: Input/output error" for name in names[:FIRST]))
    found.met(Tray.RESPONSES, "x.json", error)
    found.listed(Tray.REQUESTS, set(names[MOST_SAID - 1 :]))
    with structlog.testing.capture_logs() as said:
        for name in names[MOST_SAID - 1 :]:
            found.met(Tray.REQUESTS, name, error)
    assert len(said) == MOST_SAID - 1
