"""One server and one client for each folder."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from random import Random

import pytest

from codec.ipc import Dialect
from codec.ipc.folder import BaseGone, Tray
from tests.transports.ipc.places import Clock
from transports.ipc.base import FolderBase
from transports.ipc.claims import CLIENT, ENDS, FRESH_SECONDS, SERVER, Claims


@pytest.fixture
def other(path: Path) -> Iterator[FolderBase]:
    opened = FolderBase(path)
    yield opened
    opened.close()


@pytest.fixture
def sleeper() -> Iterator[int]:
    """The id of a process that lives."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


SCRIPT = """
import sys, trio
from pathlib import Path
from transports.ipc.base import FolderBase
base = FolderBase(Path(sys.argv[1]))
print(trio.run(base.claim_server), flush=True)
input()
"""


@contextmanager
def claiming(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has claimed the server."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"None\n"
        yield process


async def test_the_second_of_two_is_told_who_the_first_is_and_may_follow_it(
    base: FolderBase, other: FolderBase, path: Path
) -> None:
    assert await base.claim_server() is None
    assert await base.claim_server() is None
    why = f"process {os.getpid()} is the server of {path}; our server end stays down until that has ended"
    assert await other.claim_server() == why
    assert await other.claim_client() is None  # the ends do not exclude each other
    assert "our client end stays down" in (await base.claim_client() or "")
    await base.release_server()
    assert await other.claim_server() is None
    other.close()
    assert await base.claim_client() is None


@pytest.mark.slow
async def test_the_lock_of_a_process_that_was_killed_is_nobody_s(base: FolderBase, path: Path) -> None:
    with claiming(path) as process:
        assert str(process.pid) in (await base.claim_server() or "")
        process.kill()
    assert await base.claim_server() is None


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)


def let_go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
    os.waitid(os.P_PID, pid, os.WCONTINUED | os.WNOWAIT)


@pytest.mark.slow
async def test_a_server_that_is_stopped_is_said_to_be_and_whoever_has_its_number_later_is_not(
    base: FolderBase, path: Path, sleeper: int
) -> None:
    assert await base.stopped_server() is None
    with claiming(path) as process:
        assert await base.stopped_server() is None
        stop(process.pid)
        assert f"process {process.pid} is the server of {path}, and is stopped" in (await base.stopped_server() or "")
        let_go_on(process.pid)
        assert await base.stopped_server() is None
        process.kill()
    (path / "state" / "server.lock").write_text(f"{sleeper}\n")
    stop(sleeper)
    assert await base.stopped_server() is None
    assert await base.claim_server() is None
    assert await base.stopped_server() is None


async def test_the_editor_s_own_server_goes_first_while_it_lives_and_says_so(
    base: FolderBase, path: Path, sleeper: int
) -> None:
    await base.ids(Tray.REQUESTS)
    lock = path / "state" / "ws.0123abcd.lock"
    lock.write_text(f"{sleeper}\n")
    assert f"the editor's extension (process {sleeper}) answers the requests" in (await base.claim_server() or "")
    assert await base.claim_client() is None
    old = lock.stat().st_mtime - FRESH_SECONDS - 1
    os.utime(lock, (old, old))
    assert await base.claim_server() is None


@pytest.mark.parametrize("by", [-3600.0, 3600.0])
@pytest.mark.parametrize("writes", [False, True])
def test_whoever_sets_the_clock_on_the_wall_makes_no_two_servers_of_a_folder_and_keeps_none_down(
    path: Path, sleeper: int, monkeypatch: pytest.MonkeyPatch, by: float, writes: bool
) -> None:
    clock, ahead = Clock(), 0.0
    epoch = 1.8e9 - clock.seconds
    monkeypatch.setattr(time, "time", lambda: epoch + clock.seconds + ahead)
    claims = Claims(path, clock)
    lock = path / "ws.0123abcd.lock"
    path.mkdir()
    lock.write_text(f"{sleeper}\n")
    state = os.open(path, os.O_RDONLY)

    def write() -> None:
        os.utime(lock, (time.time(), time.time()))

    write()
    assert claims.claim(state, SERVER) is not None
    if writes:
        clock.seconds += 10.0
        write()
    ahead = by
    for _ in range(3):
        clock.seconds += 10.0
        assert claims.claim(state, SERVER) is not None
    if writes:
        write()
        clock.seconds += FRESH_SECONDS - 1.0
        assert claims.claim(state, SERVER) is not None
    clock.seconds += FRESH_SECONDS
    assert claims.claim(state, SERVER) is None
    claims.close()
    os.close(state)


@pytest.mark.parametrize("content", [b"", b"nobody", b"\xff" * 9000, b"0", b"999999999"])
async def test_a_foreign_lock_that_names_nobody_hinders_nobody(base: FolderBase, path: Path, content: bytes) -> None:
    await base.ids(Tray.REQUESTS)
    (path / "state" / "ws.x.lock").write_bytes(content)
    os.mkfifo(path / "state" / "ws.pipe.lock")
    os.mkdir(path / "state" / "ws.folder.lock")
    os.symlink("nowhere", path / "state" / "ws.link.lock")
    assert await base.claim_server() is None


async def test_what_was_claimed_is_claimed_in_the_folder_that_is_made_in_its_place(
    base: FolderBase, other: FolderBase, path: Path
) -> None:
    assert await base.claim_server() is None
    shutil.rmtree(path)
    os.mkdir(path, 0o700)
    assert await base.ids(Tray.REQUESTS) == set()
    assert "is the server of" in (await other.claim_server() or "")


async def test_a_folder_that_was_made_in_its_place_and_belongs_to_another_server_is_not_used_until_that_ends(
    base: FolderBase, other: FolderBase, path: Path
) -> None:
    assert await base.claim_server() is None
    shutil.rmtree(path)
    os.mkdir(path, 0o700)
    assert await other.claim_server() is None
    with pytest.raises(BaseGone, match="our server end stays down"):
        await base.ids(Tray.REQUESTS)
    await other.release_server()
    assert await base.ids(Tray.REQUESTS) == set()
    assert "is the server of" in (await other.claim_server() or "")


Step = tuple[int, str, str]
STEPS: list[Step] = list(product((0, 1), ("claim", "release"), ENDS))


def orders() -> Iterator[tuple[Step, ...]]:
    yield from product(STEPS, repeat=3)
    random = Random(7)
    for _ in range(300):
        yield tuple(random.choices(STEPS, k=10))


def test_of_two_that_are_to_have_both_ends_none_gets_one_that_the_other_is_to_have(path: Path) -> None:
    """In whatever order their ends start, crash and claim again."""
    path.mkdir()
    state = os.open(path, os.O_RDONLY)
    for order in orders():
        both = [Claims(path, ends=ENDS), Claims(path, ends=ENDS)]
        has: list[set[str]] = [set(), set()]
        for who, what, end in order:
            if what == "claim":
                why = both[who].claim(state, end)
                if why is None:
                    has[who].add(end)
                else:
                    assert f"process {os.getpid()} answers the requests in {path}, and sees to it that each ends" in why
            else:
                both[who].release(end)
                has[who].discard(end)
            assert not (has[0] and has[1]), order
        for each in both:
            each.close()
        assert both[0].claim(state, CLIENT) is None, order
        assert "our ends stay down" in (both[1].claim(state, SERVER) or ""), order
        both[0].close()
    os.close(state)


def test_a_server_that_is_to_have_one_end_shares_the_folder_with_one_that_is_to_have_the_other(path: Path) -> None:
    path.mkdir()
    state = os.open(path, os.O_RDONLY)
    answers, asks, third = (Claims(path, ends=ends) for ends in ({SERVER}, ENDS, ENDS))
    assert answers.claim(state, SERVER) is None
    assert "is the server of" in (asks.claim(state, SERVER) or "")
    assert asks.claim(state, CLIENT) is None
    assert "is the server of" in (third.claim(state, SERVER) or "")
    answers.close()
    assert "sees to it that each ends" in (third.claim(state, SERVER) or "")  # the other is to have it
    assert asks.claim(state, SERVER) is None
    for each in (asks, third):
        each.close()
    os.close(state)


async def test_in_the_folder_that_is_made_anew_both_ends_are_one_server_s(path: Path) -> None:
    ours, other = FolderBase(path, ends=ENDS), FolderBase(path, ends=ENDS)
    assert await ours.claim_server() is None
    assert await ours.claim_client() is None
    shutil.rmtree(path)
    os.mkdir(path, 0o700)
    assert await other.claim_client() is None
    with pytest.raises(BaseGone, match="our ends stay down"):
        await ours.ids(Tray.REQUESTS)
    assert await other.claim_server() is None
    await other.release_client()
    await other.release_server()
    assert await ours.ids(Tray.REQUESTS) == set()
    assert await other.claim_client() is not None
    ours.close()
    other.close()


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("ends", [ENDS, (CLIENT,)])
def test_a_lock_says_whose_it_is_with_which_ends_and_in_which_dialect_also_afterwards(
    path: Path, ends: tuple[str, ...], dialect: Dialect
) -> None:
    path.mkdir(mode=0o700)
    state = os.open(path, os.O_RDONLY)
    try:
        ours = Claims(path, ends=ends, dialect=dialect)
        assert ours.claim(state, CLIENT) is None
        ours.close()
    finally:
        os.close(state)
    assert (path / "client.lock").read_text().split() == [str(os.getpid()), *ends, dialect.value]
