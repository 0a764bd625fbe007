"""The folder itself: what is made, what is refused, and what is noticed when somebody changes it under our hands."""

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from codec.ipc.folder import ROOMS, Answer, BaseFull, BaseGone, Tray
from tests.transports.folder.disks import MAY_MOUNT, read_only_disk, small_disk
from tests.transports.ipc.places import answered, asked, put
from transports.ipc.base import FolderBase
from transports.ipc.site import OLD_DRAFT_SECONDS

ROOT = os.geteuid() == 0


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_a_base_that_is_not_there_is_made_for_our_account_alone(base: FolderBase, path: Path) -> None:
    before = os.umask(0)
    try:
        await base.publish({"x": asked("x")})
    finally:
        os.umask(before)
    assert sorted(os.listdir(path)) == sorted(ROOMS)
    assert {mode(path), *(mode(path / room) for room in ROOMS)} == {0o700}
    assert mode(path / "requests" / "x.json") == 0o600


async def test_a_base_that_others_may_read_is_closed_to_them_and_that_is_said(base: FolderBase, path: Path) -> None:
    os.mkdir(path, 0o755)
    os.mkdir(path / "requests", 0o755)
    with capture_logs() as logs:
        await base.ids(Tray.REQUESTS)
    assert (mode(path), mode(path / "requests")) == (0o700, 0o700)
    assert [str(line["event"]).split(" could")[0] for line in logs] == ["others"] * 2
    assert all("only your account has access" in str(line["event"]) for line in logs)


def _writable(path: Path) -> None:
    path.chmod(0o770)


def _room_is_writable(path: Path) -> None:
    (path / "responses").chmod(0o702)


def _foreign(path: Path) -> None:
    os.chown(path, 65534, -1)


def _link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to(path.with_name("real"))


def _room_is_a_link(path: Path) -> None:
    (path / "requests").rename(path.with_name("elsewhere"))
    (path / "requests").symlink_to(path.with_name("elsewhere"))


def _file(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.write_bytes(b"")


def _gone(path: Path) -> None:
    shutil.rmtree(path)


TROUBLES: list[tuple[Callable[[Path], None], str]] = [
    (_writable, "other accounts may write to"),
    (_room_is_writable, "other accounts may write to"),
    (_link, "is a link or a file, and has to be a real folder"),
    (_room_is_a_link, "is a link or a file, and has to be a real folder"),
    (_file, "is a link or a file, and has to be a real folder"),
    *([(_foreign, "belongs to another account")] if ROOT else []),
]


def _mend(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        os.chown(path, os.geteuid(), -1)
        path.chmod(0o700)
        if (path / "requests").is_symlink():
            (path / "requests").unlink()
        if (path / "responses").exists():
            (path / "responses").chmod(0o700)
    path.mkdir(mode=0o700, exist_ok=True)


async def _every_call_is_refused(base: FolderBase, why: str) -> None:
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: base.ids(Tray.REQUESTS),
        lambda: base.look("x"),
        lambda: base.publish({"x": asked("x")}),
        lambda: base.answer("x", b"{}"),
        lambda: base.archive(["x"], "2026-01-31"),
        lambda: base.claim_server(),
        lambda: base.read(Tray.FAILED, "x"),
    ]
    for call in calls:
        with pytest.raises(BaseGone, match=why):
            await call()


@pytest.mark.parametrize(("trouble", "why"), TROUBLES)
async def test_such_a_base_is_refused_when_it_is_opened_and_used_when_it_is_mended(
    base: FolderBase, path: Path, trouble: Callable[[Path], None], why: str
) -> None:
    for room in ROOMS:
        os.makedirs(path / room, 0o700)
    os.chmod(path, 0o700)
    trouble(path)
    await _every_call_is_refused(base, why)
    _mend(path)
    await base.publish({"x": asked("x")})
    assert await base.ids(Tray.REQUESTS) == {"x"}


async def test_a_folder_that_is_kept_for_something_else_is_left_as_it_is_until_somebody_makes_it_a_desk(
    base: FolderBase, path: Path
) -> None:
    os.mkdir(path, 0o755)
    os.mknod(path / ".profile")
    await _every_call_is_refused(base, "holds other things; choose a folder that is empty")
    assert (mode(path), os.listdir(path)) == (0o755, [".profile"])
    os.mkdir(path / "requests", 0o700)
    await base.publish({"x": asked("x")})
    assert await base.ids(Tray.REQUESTS) == {"x"}


@pytest.mark.parametrize("left", ["requests", "responses", "failed", "quarantine"])
async def test_a_desk_of_which_one_room_is_left_is_made_whole(base: FolderBase, path: Path, left: str) -> None:
    await base.publish({"x": asked("x")})
    for room in ROOMS:
        if room not in (left, "archive"):
            shutil.rmtree(path / room)
    assert await base.ids(Tray.REQUESTS) == ({"x"} if left == "requests" else set())
    assert sorted(os.listdir(path)) == sorted(ROOMS)


@pytest.mark.parametrize(("trouble", "why"), [*TROUBLES, (_gone, "is gone; make it again")])
async def test_such_a_base_is_refused_while_it_is_used_and_used_again_when_it_is_mended(
    base: FolderBase, path: Path, trouble: Callable[[Path], None], why: str
) -> None:
    await base.ids(Tray.REQUESTS)
    trouble(path)
    await _every_call_is_refused(base, why)
    assert (await base.health()).trouble is not None
    _mend(path)
    await base.publish({"x": asked("x")})
    assert await base.ids(Tray.REQUESTS) == {"x"}
    assert (await base.health()).trouble is None


async def test_through_a_link_in_place_of_the_base_nothing_is_written(base: FolderBase, path: Path) -> None:
    await base.ids(Tray.REQUESTS)
    other = path.with_name("other")
    for room in ROOMS:
        os.makedirs(other / room, 0o700)
    _gone(path)
    os.symlink(other, path)
    with pytest.raises(BaseGone):
        await base.publish({"x": asked("x")})
    assert os.listdir(other / "requests") == os.listdir(other / "tmp") == []


async def test_rooms_that_somebody_has_removed_are_made_again(base: FolderBase, path: Path) -> None:
    await base.publish({"x": asked("x")})
    for room in ROOMS:
        shutil.rmtree(path / room)
    assert await base.ids(Tray.REQUESTS) == set()
    await base.publish({"x": asked("x")})
    assert await base.ids(Tray.REQUESTS) == {"x"}


async def test_another_folder_of_ours_in_its_place_is_opened_and_no_descriptor_is_left(
    base: FolderBase, path: Path
) -> None:
    await base.publish({"x": asked("x")})
    before = len(os.listdir("/proc/self/fd"))
    for number in range(5):
        os.rename(path, path.with_name(f"away{number}"))
        os.mkdir(path, 0o700)
        assert await base.ids(Tray.REQUESTS) == set()
        await base.publish({"x": asked("x")})
    assert len(os.listdir("/proc/self/fd")) <= before + 1


async def test_old_drafts_are_swept_and_new_ones_stay(base: FolderBase, path: Path) -> None:
    await base.ids(Tray.REQUESTS)
    base.close()
    for name, age in ((".1-abcdef012345.draft", OLD_DRAFT_SECONDS + 60), (".1-abcdef012346.draft", 0.0)):
        (path / "tmp" / name).write_bytes(b"")
        now = (path / "tmp" / name).stat().st_mtime
        os.utime(path / "tmp" / name, (now - age, now - age))
    (path / "tmp" / "theirs").write_bytes(b"")
    os.utime(path / "tmp" / "theirs", (0, 0))
    await base.ids(Tray.REQUESTS)
    assert sorted(os.listdir(path / "tmp")) == [".1-abcdef012346.draft", "theirs"]


if MAY_MOUNT:

    async def test_a_full_disk_is_said_keeps_what_there_is_and_takes_more_when_there_is_room(tmp_path: Path) -> None:
        with small_disk(tmp_path / "small") as disk:
            base = FolderBase(disk / "base")
            await base.publish({"x": asked("x")})
            await base.answer("x", answered("x"))
            put(disk / "base", Tray.EVALUATIONS, "ballast", b"x" * 800_000)
            large = asked("y", text="y" * 400_000)
            for call in (
                base.publish({"small": asked("small"), "y": large}),
                base.answer("y", large),
                base.write(Tray.FAILED, "x", large),
            ):
                with pytest.raises(BaseFull, match="no room left on the disk"):
                    await call
            assert await base.ids(Tray.REQUESTS) == {"x"}
            assert isinstance((await base.look("x")).response, Answer)
            assert os.listdir(disk / "base" / "tmp") == []
            await base.publish({"small": asked("small")})  # for which there is room
            os.unlink(disk / "base" / "eval" / "ballast.json")
            await base.publish({"y": large})
            assert await base.ids(Tray.REQUESTS) == {"x", "y", "small"}
            base.close()

    async def test_one_that_finds_no_room_hurts_nobody_who_rides_with_it(tmp_path: Path) -> None:
        with small_disk(tmp_path / "small") as disk:
            base = FolderBase(disk / "base")
            await base.ids(Tray.REQUESTS)
            full = trio.Event()

            async def too_large() -> None:
                with pytest.raises(BaseFull):
                    await base.answer("y", b"x" * 2_000_000)
                full.set()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(base.answer, "first", answered("first"))
                nursery.start_soon(too_large)
                for number in range(10):
                    nursery.start_soon(base.answer, f"r{number}", answered(f"r{number}"))
            assert full.is_set()
            assert await base.ids(Tray.RESPONSES) == {"first", *(f"r{number}" for number in range(10))}
            base.close()


async def test_on_a_read_only_disk_every_call_says_so(tmp_path: Path) -> None:
    with read_only_disk(tmp_path / "fixed") as disk:
        base = FolderBase(disk / "base")
        await _every_call_is_refused(base, r"cannot be used: (Read-only file system|Permission denied)")
        base.close()


USES: dict[str, tuple[Callable[[FolderBase], Awaitable[object]], set[str]]] = {
    "a look": (lambda base: base.look("a"), {"requests", "responses"}),
    "an answer": (lambda base: base.answer("b", answered("b", 1)), {"responses", "tmp"}),
    "a publication": (lambda base: base.publish({"c": asked("c")}), {"requests", "tmp"}),
    "a listing": (lambda base: base.ids(Tray.FAILED), {"failed"}),
    "a copy": (lambda base: base.write(Tray.FAILED, "a", answered("a", 1)), {"failed", "tmp"}),
    "a requeue": (lambda base: base.reopen("a"), {"failed"}),
}


@pytest.mark.parametrize(("use", "room"), [(use, room) for use, (_, rooms) in USES.items() for room in sorted(rooms)])
async def test_whatever_is_used_is_compared_before(base: FolderBase, path: Path, use: str, room: str) -> None:
    await base.publish({"a": asked("a")})
    (path / room).chmod(0o702)
    with pytest.raises(BaseGone, match=room):
        await USES[use][0](base)
    (path / room).chmod(0o700)
    await USES[use][0](base)


@pytest.mark.parametrize("room", ["requests", "responses", "failed", "eval", "quarantine", "archive", "state", "tmp"])
async def test_what_is_not_used_is_compared_when_the_keeper_comes(base: FolderBase, path: Path, room: str) -> None:
    await base.publish({"a": asked("a")})
    (path / room).chmod(0o702)
    with pytest.raises(BaseGone, match=room):
        await base.visit(lambda reading, opened: None)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("where", ["the folder", "the claims"])
async def test_a_base_is_closed_though_a_disk_hangs_under_a_thread_that_has_it_in_hand(
    base: FolderBase, where: str
) -> None:
    assert await base.claim_server() is None
    site = base._site
    with site._lock if where == "the folder" else site.claims._lock:
        await base.release_server()
        base.close()
    base.close()
    assert await base.claim_server() is None
