# ruff: noqa: ASYNC220, ASYNC240 - files and processes are the subject
"""The real desk: files, kills, crowds, two who submit at once, and nobody who answers."""

import errno
import fcntl
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import trio
import trio.testing

from codec.ipc import Dialect, Failure, Request, Success, file_of, read_request, write_request, write_response
from tests.patience import PATIENCE
from tests.troupe.ipc.peer import Peer, at_the_desk
from transports.folder.drafts import rename_new
from transports.folder.inotify import FolderEvent
from transports.folder.waitless import open_at_once
from troupe.ipc import (
    Desk,
    DeskError,
    IdTaken,
    NobodyAtTheDesk,
    NoServer,
    NoSuchRequest,
    NotYet,
    Result,
    folder,
    visits,
)
from troupe.ipc.attendance import Attendance
from troupe.ipc.desk import JOURNAL_STEPS, PRESENCE_SECONDS
from troupe.ipc.tickets import Ticket
from troupe.ipc.visits import TakesLonger

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["on a disk", "on a local disk", "in memory"])
def base(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In memory, what is short is done in the loop; on a local disk, looks are, at what the system has in memory."""
    monkeypatch.setattr(folder, "lies_in_memory", lambda device: request.param == "in memory")
    monkeypatch.setattr(folder, "is_local", lambda device: request.param == "on a local disk")
    return tmp_path / "base"


def desk_of(base: Path, **options: float) -> Desk:
    return Desk(base, state=base.parent / "no state", history="failed", **options)  # type: ignore[arg-type]


async def test_a_request_is_on_the_disk_as_the_contract_has_it_and_only_for_us(base: Path) -> None:
    async with desk_of(base) as desk:
        ticket = await desk.submit("ping", {"a": [1, None]}, id="r1", priority=3, reference="yes")
    file = base / "requests" / file_of(ticket.id)
    request = read_request(file.read_bytes(), "r1")
    assert (request.command, request.params) == ("ping", {"a": [1, None]})
    assert (request.wishes.priority, request.wishes.reference) == (3, "yes")
    assert request.wishes.submitter.endswith(f"-{os.getpid()}")
    assert base.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    assert list((base / "tmp").iterdir()) == []


@pytest.mark.parametrize("size", [1, folder.SHORT, 10 * folder.SHORT])
async def test_however_large_a_request_and_its_answer_are_they_arrive_whole(base: Path, size: int) -> None:
    with at_the_desk(base):
        async with desk_of(base) as desk:
            assert (await desk.run("echo", {"prompt": "x" * size})).data == {"content": "x" * size}
            assert (await desk.run("fail")).error == "busy"


@pytest.mark.parametrize("fault", ["link", "shared", "file"])
async def test_a_folder_that_is_not_ours_alone_is_refused_in_words(base: Path, fault: str) -> None:
    match fault:
        case "link":
            (base.parent / "other").mkdir(mode=0o700)
            base.symlink_to(base.parent / "other")
        case "shared":
            base.mkdir()
            base.chmod(0o777)
        case "file":
            base.write_text("")
    async with desk_of(base) as desk:
        with pytest.raises(DeskError, match=str(base)):
            await desk.submit("ping")


@pytest.mark.slow
async def test_a_thousand_tickets_are_awaited_by_one_watcher(base: Path) -> None:
    ended = []
    async with desk_of(base) as desk:
        tickets = await desk.submit_many([desk.made("echo", {"prompt": n}, f"r{n}", {}) for n in range(1000)])

        async def wait(number: int) -> None:
            ended.append((number, (await tickets[number].wait()).data["content"]))

        async with trio.open_nursery() as nursery:
            for number in range(1000):
                nursery.start_soon(wait, number)
            while not desk._arrivals.rescans:  # noqa: ASYNC110 - it happens in a thread
                await trio.sleep(0.001)
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert descriptors("inotify") == 1
            peer = Peer(base)
            await trio.to_thread.run_sync(peer.look)
    assert sorted(ended) == [(number, number) for number in range(1000)]
    assert descriptors("inotify") == 0


def descriptors(kind: str) -> int:
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        try:
            found += kind in str(each.readlink())
        except OSError:
            continue
    return found


async def test_answers_are_heard_and_not_looked_for(base: Path) -> None:
    before = descriptors("inotify")
    async with desk_of(base, rescan=1000.0) as desk:
        ticket = await desk.submit("echo", id="r1")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ticket.wait)
            while not desk._arrivals.rescans:  # noqa: ASYNC110 - it happens in a thread
                await trio.sleep(0.001)
            await trio.testing.wait_all_tasks_blocked(0.01)
            put(base, "responses", "r1", Success({}))
            with trio.fail_after(PATIENCE):
                await ticket.wait()
        assert desk._arrivals.rescans == 1
        assert descriptors("inotify") == before + 1
    assert descriptors("inotify") == before, "a desk that is closed watches nothing"


async def test_without_inotify_the_folder_is_looked_at(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: object) -> None:
        raise OSError("there is no inotify on this system")

    monkeypatch.setattr("troupe.ipc.arrivals.Inotify.__init__", none)
    async with desk_of(base, poll=0.001) as desk:
        ticket = await desk.submit("echo", id="r1")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ticket.wait)
            await trio.testing.wait_all_tasks_blocked()
            put(base, "responses", "r1", Success({}))


async def test_events_that_were_lost_and_a_folder_that_was_replaced_cost_nothing(base: Path) -> None:
    async with desk_of(base, rescan=0.02) as desk:
        ticket = await desk.submit("echo", id="r1")
        with trio.move_on_after(0.05):
            await ticket.wait()
        base.rename(base.parent / "away")
        with trio.move_on_after(0.05):
            await ticket.wait()
        again = await desk.submit("echo", id="r1")
        put(base, "responses", "r1", Success({"n": 1}))
        with trio.fail_after(PATIENCE):
            assert (await again.wait()).data == {"n": 1}


async def submit(desk: Desk, request_id: str) -> None:
    await desk.submit("echo", id=request_id)


def put(base: Path, room: str, request_id: str, outcome: Success | Failure) -> None:
    draft = base / room / ".draft"
    draft.write_bytes(write_response(request_id, outcome))
    draft.rename(base / room / file_of(request_id))


def leave_a_lock(base: Path, end: str, line: str) -> None:
    """As an end that has served there, and has ended."""
    (base / "state").mkdir(parents=True, mode=0o700)
    (base / "state" / f"{end}.lock").write_text(f"{line}\n" if line else "")


async def test_a_torn_answer_is_waited_out(base: Path) -> None:
    async with desk_of(base) as desk:
        ticket = await desk.submit("echo", id="r1")
        whole = write_response("r1", Success({"n": 1}))
        path = base / "responses" / "r1.json"
        path.write_bytes(whole[:20])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ticket.wait)
            await trio.testing.wait_all_tasks_blocked(0.02)
            assert nursery.child_tasks
            path.write_bytes(whole)


async def test_an_error_that_may_be_tried_again_is_no_end_and_its_record_is(base: Path) -> None:
    async with desk_of(base) as desk:
        ticket = await desk.submit("echo", id="r1")
        put(base, "responses", "r1", Failure("busy"))
        with trio.move_on_after(0.05) as scope:
            await ticket.wait()
        assert scope.cancelled_caught
        put(base, "failed", "r1", Failure("busy"))
        assert (await ticket.wait()).error == "busy"


async def test_without_a_server_an_attempt_lasted_from_its_request_to_its_answer(base: Path) -> None:
    async with desk_of(base) as desk:
        await desk.submit("ping", id="r1")
        (base / "responses" / "r1.json").write_bytes(write_response("r1", Success(1)))
        os.utime(base / "requests" / "r1.json", (1_000.0, 1_000.0))
        os.utime(base / "responses" / "r1.json", (1_007.0, 1_007.0))
        (attempt,) = (await desk.wait("r1")).attempts
        assert (attempt.began, attempt.ended) == (1_000.0, 1_007.0)


@pytest.mark.parametrize("outcome", [Success({"n": 2}), Failure("busy")], ids=["a success", "a failure"])
async def test_what_has_been_put_away_is_still_found_on_its_last_day(base: Path, outcome: Success | Failure) -> None:
    async with desk_of(base) as other, desk_of(base) as desk:
        await other.submit("echo", id="r1")
        content = (base / "requests" / "r1.json").read_bytes()
        (base / "requests" / "r1.json").unlink()
        for number, day in enumerate(("2026-01-30", "2026-02-01", "2026-01-31")):
            there = base / "archive" / day / "r1"
            for each in (there.parent.parent, there.parent, there):
                each.mkdir(mode=0o700, exist_ok=True)
            last = day == "2026-02-01"
            answer = outcome if last else Success({"n": "old"})
            name = "failed.json" if isinstance(answer, Failure) else "response.json"
            (there / "request.json").write_bytes(content)
            (there / "response.json").write_bytes(write_response("r1", answer))
            (there / name).write_bytes(write_response("r1", answer))
            os.utime(there / "request.json", (1_000.0 + number, 1_000.0 + number))
            os.utime(there / name, (1_007.0 + number, 1_007.0 + number))
        result = await desk.wait("r1")
        assert (result.data, result.error) == (({"n": 2}, "") if isinstance(outcome, Success) else (None, "busy"))
        (attempt,) = result.attempts
        assert (attempt.began, attempt.ended) == (1_001.0, 1_008.0)


async def test_what_has_been_put_away_before_is_no_answer_to_what_was_submitted_since(base: Path) -> None:
    """Between two attempts a HEAD editor has neither its request nor an answer there."""
    there = base / "archive" / "2026-01-30" / "r1"
    async with desk_of(base) as desk:
        ticket = await desk.submit("echo", {"n": 1}, id="r1")
        for each in (there.parent.parent, there.parent, there):
            each.mkdir(mode=0o700)
        archived = there / "response.json"
        archived.write_bytes(write_response("r1", Success("old"), (Dialect.HEAD,)))
        os.utime(archived, (1_007.0, 1_007.0))
        (base / "requests" / "r1.json").unlink()
        with pytest.raises(NotYet):
            await ticket.wait(0.2)
        put(base, "responses", "r1", Success("new"))
        assert (await ticket.wait()).data == "new"
        archived.write_bytes((base / "responses" / "r1.json").read_bytes())
        (base / "responses" / "r1.json").unlink()
        assert (await ticket.wait()).data == "new"


async def test_who_waits_where_nobody_is_is_told_so_and_the_request_is_kept(base: Path) -> None:
    async with desk_of(base) as desk:
        ticket = await desk.submit("echo", id="r1")
        with pytest.raises(NobodyAtTheDesk, match="start the server with"):
            await ticket.wait(patience=0.01)
        put(base, "responses", "r1", Failure("no model"))
        desk._presence = (float("-inf"), None)
        with pytest.raises(NobodyAtTheDesk, match="answered with an error \\(no model\\)"):
            await ticket.wait(patience=0.01)
        assert (base / "requests" / "r1.json").exists()


@pytest.mark.parametrize(
    ("server", "client", "said"),
    [
        (False, False, "Nobody is at the desk"),
        (True, False, "nobody tries again what fails: switch the client end on"),
        (False, True, None),
        (True, True, None),
    ],
)
async def test_who_waits_is_told_which_end_is_missing_and_is_patient_where_one_tries_again(
    base: Path, monkeypatch: pytest.MonkeyPatch, server: bool, client: bool, said: str | None
) -> None:
    monkeypatch.setattr(folder.DeskFolder, "present", lambda _: Attendance(server, client))
    async with desk_of(base) as desk:
        ticket = await desk.submit("echo", id="r1")
        if said is not None:
            with pytest.raises(NobodyAtTheDesk, match=f"r1 is not over.*{said}.*is kept, and will go on"):
                await ticket.wait(patience=0.01)
        else:
            assert await desk.who_is_missing() is None


@pytest.mark.parametrize(
    ("later", "looked"), [(0.0, 1), (PRESENCE_SECONDS, 1), (PRESENCE_SECONDS + 0.1, 2), (60.0, 2)]
)
async def test_however_many_are_impatient_one_looks_who_is_there_for_a_while(
    base: Path, monkeypatch: pytest.MonkeyPatch, mock_clock: trio.testing.MockClock, later: float, looked: int
) -> None:
    present = Mock(return_value=Attendance(server=False, client=False))
    monkeypatch.setattr(folder.DeskFolder, "present", present)
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        for seconds in (later, 0.0):
            with pytest.raises(NobodyAtTheDesk):
                await desk._complain("r1")
            mock_clock.jump(seconds)
    assert present.call_count == looked


@pytest.mark.parametrize("way", ["the only one", "the only one, as there are no links", "the first", "the second"])
async def test_a_request_that_cannot_be_given_its_name_is_said_not_to_be_there(
    base: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    full, no_links = OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EPERM, "Operation not permitted")

    def fails(error: OSError, name: str, do: Callable[..., None]) -> Callable[..., None]:
        def failing(old: str, new: str, *folders: int, **options: Any) -> None:
            if new == name:
                raise error
            do(old, new, *folders, **options)

        return failing

    if way == "the only one":
        leave_a_lock(base, "client", "1 server client spec")
    if way == "the only one, as there are no links":
        monkeypatch.setattr(os, "link", fails(no_links, "r1.json", os.link))
    if way.startswith("the only one"):
        monkeypatch.setattr(folder, "rename_new", fails(full, "r1.json", rename_new))
    else:
        do = "link" if way == "the first" else "replace"
        monkeypatch.setattr(os, do, fails(full, "r1.json", getattr(os, do)))
    async with desk_of(base) as desk:
        several = [desk.made("echo", {}, name, {}) for name in ("r0", "r1", "r2")]
        with pytest.raises(DeskError, match=f"request r1 could not be written to {base}: No space left on device"):
            await desk.submit_many(several)
        assert sorted(os.listdir(base / "requests")) == ["r0.json", "r2.json"]
        assert os.listdir(base / "tmp") == []
        assert "r1.json" not in os.listdir(base / "submitted")


@pytest.mark.parametrize("held", [(), ("server",), ("client",), ("server", "client")])
def test_who_holds_which_lock_is_told(base: Path, held: tuple[str, ...]) -> None:
    with ExitStack() as stack:
        (base / "state").mkdir(parents=True, mode=0o700)
        for end in ("server", "client"):
            lock = stack.enter_context((base / "state" / f"{end}.lock").open("w"))
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            if end in held:
                fcntl.flock(lock, fcntl.LOCK_EX)
        desk_folder = folder.DeskFolder(base)
        assert desk_folder.present() == ("server" in held, "client" in held)
        assert desk_folder.client_process() == (os.getpid() if "client" in held else None)


@pytest.mark.parametrize("more", [0, 200])
def test_however_many_are_asked_for_those_are_told_of_which_there_is_an_end_or_nothing(base: Path, more: int) -> None:
    desk_folder = folder.DeskFolder(base)
    names = [f"r{number}" for number in range(8)]
    desk_folder.drop({each: write_request(Request(id=each, command="echo")) for each in names})
    put(base, "responses", "r1", Success({}))
    put(base, "failed", "r2", Failure("no"))
    for room in ("responses", "requests"):
        (base / room / "r3.json").unlink(missing_ok=True)
    put(base, "responses", "another", Success({}))
    others = [f"x{number}" for number in range(more)]
    assert desk_folder.ended_or_gone([*names, *others]) == {"r1", "r2", "r3", *others}


async def test_whoever_is_cancelled_while_the_disk_hangs_waits_for_it_no_longer(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, hangs = threading.Event(), trio.Event()

    def hang(_: folder.DeskFolder, ids: object) -> set[str]:
        trio.from_thread.run_sync(hangs.set)
        goes_on.wait(PATIENCE)
        return set()

    async with desk_of(base) as desk:
        ticket = await desk.submit("echo")
        monkeypatch.setattr(folder.DeskFolder, "ended_or_gone", hang)
        try:
            with trio.fail_after(PATIENCE):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(ticket.wait)
                    await hangs.wait()
                    nursery.cancel_scope.cancel()
        finally:
            goes_on.set()


@pytest.mark.parametrize("whole_after", [0.0, folder.TORN_SECONDS - 0.1, None])
def test_a_request_that_is_still_being_written_is_waited_for_and_not_for_long(
    base: Path, monkeypatch: pytest.MonkeyPatch, whole_after: float | None
) -> None:
    desk_folder, now = folder.DeskFolder(base), 100.0
    desk_folder.drop({"r1": write_request(Request(id="r1", command="echo", params={"n": 1}))})
    path = base / "requests" / "r1.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:20])

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        if whole_after is not None and now >= 100.0 + whole_after:
            path.write_bytes(whole)

    monkeypatch.setattr(folder, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    if whole_after is not None:
        request = desk_folder.request("r1")
        assert request is not None
        assert request.params == {"n": 1}
    else:
        with pytest.raises(DeskError, match="There is a request r1 already, and it cannot be read: "):
            desk_folder.request("r1")
        assert folder.TORN_SECONDS <= now - 100.0 <= folder.TORN_SECONDS + 2 * folder.TORN_STEP
    assert desk_folder.request("r2") is None


@pytest.mark.parametrize("fault", ["link", "file", "shared"])
async def test_who_asks_who_is_there_in_a_folder_that_cannot_be_used_is_told_why(base: Path, fault: str) -> None:
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        state = base / "state"
        if fault == "link":
            state.symlink_to(base.parent)
        elif fault == "file":
            state.write_text("")
        else:
            state.mkdir()
            state.chmod(0o777)
        with pytest.raises(DeskError, match=str(state)):
            desk.folder.present()


async def test_who_waits_where_nobody_is_for_what_nobody_has_submitted_is_told_so_at_once(base: Path) -> None:
    async with desk_of(base) as desk:
        with trio.fail_after(PATIENCE), pytest.raises(NoSuchRequest, match=f"no request r1 in {base}"):
            await desk.ticket("r1").wait()
        with pytest.raises(NoSuchRequest):
            await desk.ticket("r1").wait(0.01)


async def test_where_a_server_has_its_state_elsewhere_that_is_said(base: Path) -> None:
    with at_the_desk(base):
        async with desk_of(base) as desk:
            with pytest.raises(NoServer, match=r"Process \d+ serves .* state in another directory than .*no state"):
                await desk.totals()


async def test_who_waits_where_somebody_is_is_patient(base: Path) -> None:
    with at_the_desk(base):
        async with desk_of(base) as desk:
            ticket = await desk.submit("never")
            with trio.move_on_after(0.1) as scope:
                await ticket.wait(patience=0.01)
            assert scope.cancelled_caught


async def test_what_scripts_that_were_killed_have_left_is_cleared_away_where_scripts_write_and_nowhere_else(
    base: Path,
) -> None:
    left = ".999999999-abcdefabcdef.draft"  # by a process that cannot be
    rooms = [base / room for room in ("requests", "responses", "failed", "tmp")]
    for room in rooms:
        room.mkdir(mode=0o700, parents=True)
        (room / left).touch()
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        assert [(room / left).exists() for room in rooms] == [True, True, True, False]


async def test_what_lies_in_memory_is_looked_at_without_a_thread(base: Path) -> None:
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        put(base, "responses", "r1", Failure("busy"))
        if desk.folder.in_memory or desk.folder.is_local:
            sight = desk.folder.look_at_once("r1")
            assert (sight.outcome, sight.error) == (None, Failure("busy"))
        else:
            with pytest.raises(TakesLonger):
                desk.folder.look_at_once("r1")


async def test_a_look_that_may_not_wait_opens_nothing_but_plain_files(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()

    def seen(name: str | Path, flags: int, above: int | None = None) -> int:
        opened.append(str(name))
        return open_at_once(name, flags, above)

    monkeypatch.setattr(visits, "open_at_once", seen)
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        os.mkfifo(base / "responses" / "r1.json")
        if not desk.folder.in_memory:
            with pytest.raises(TakesLonger):
                desk.folder.look_at_once("r1")
        assert "r1.json" not in opened


async def test_a_lock_that_was_left_behind_is_nobody(base: Path) -> None:
    async with desk_of(base) as desk:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        (base / "state").mkdir(mode=0o700, parents=True)
        for pid in (str(ended.pid), "0", "", "1"):
            for end in ("server", "client"):
                (base / "state" / f"{end}.lock").write_text(pid)
            assert desk.folder.present() == (False, False)


async def test_without_a_server_a_request_is_cancelled_by_taking_it_away(base: Path) -> None:
    async with desk_of(base) as desk:
        ticket = await desk.submit("echo", id="r1")
        assert await ticket.cancel()
        assert (await ticket.wait()).cancelled
        assert not (base / "requests" / "r1.json").exists()
        done = await desk.submit("echo", id="r2")
        put(base, "responses", "r2", Success({}))
        assert not await done.cancel()


async def test_who_waits_for_what_is_cancelled_or_answered_after_another_hears_at_once(base: Path) -> None:
    """One watches for all: when that one has its result, another takes over."""
    async with desk_of(base, rescan=1000.0) as desk:
        several = [await desk.submit("echo", id=f"r{number}") for number in range(4)]
        found = dict[str, bool]()
        ended = {each.id: trio.Event() for each in several}

        async def wait(ticket: Ticket) -> None:
            found[ticket.id] = (await ticket.wait()).cancelled
            ended[ticket.id].set()

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                for each in several:
                    nursery.start_soon(wait, each)
                while not desk._arrivals.rescans:  # noqa: ASYNC110 - it happens in a thread
                    await trio.sleep(0.001)
                await trio.testing.wait_all_tasks_blocked(0.01)
                for name in ("r0", "r1"):
                    put(base, "responses", name, Success({}))
                    await ended[name].wait()
                assert await several[2].cancel()
                await ended["r2"].wait()
                put(base, "responses", "r3", Success({}))
        assert found == {"r0": False, "r1": False, "r2": True, "r3": False}


@pytest.mark.parametrize(
    ("said", "client", "unknown"),
    [
        (None, False, True),
        (None, True, True),
        ("a detail", False, False),
        (NoServer("nobody"), False, True),
        (NoServer("nobody"), True, False),
    ],
)
async def test_what_has_no_file_is_unknown_if_nobody_can_know_it(
    base: Path, monkeypatch: pytest.MonkeyPatch, said: object, client: bool, unknown: bool
) -> None:
    monkeypatch.setattr(folder.DeskFolder, "present", lambda _: Attendance(True, client))
    async with desk_of(base) as desk:
        await desk.submit("echo", id="there")
        desk.office = Mock(detail=Mock(side_effect=[said] * 2))
        assert desk._is_unknown("r1") is unknown
        assert not desk._is_unknown("there")


async def test_two_of_one_id_that_ask_for_different_things_are_refused_before_any_is_written(base: Path) -> None:
    async with desk_of(base) as desk:
        several = [desk.made("echo", {"n": number}, name, {}) for number, name in enumerate(("r0", "r1", "r1"))]
        with pytest.raises(IdTaken, match="There is a request r1 already, with other params"):
            await desk.submit_many(several)
        assert not (base / "requests").exists()
        assert [each.id for each in await desk.submit_many([*several[:2], several[1]])] == ["r0", "r1", "r1"]


async def test_a_journal_that_does_not_know_a_request_yet_is_asked_at_these_times(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder.DeskFolder, "present", lambda _: Attendance(server=True, client=True))
    slept = list[float]()
    monkeypatch.setattr("troupe.ipc.desk.time", SimpleNamespace(sleep=slept.append, time=time.time))
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        desk.office = Mock(detail=Mock(return_value=None), is_there=True)
        assert desk._settled("r1") is None
        assert slept == list(JOURNAL_STEPS)
        assert desk.office.detail.call_count == len(JOURNAL_STEPS)


async def test_of_so_many_that_were_cancelled_the_desk_remembers_the_last(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("troupe.ipc.desk.MOST_WITHDRAWN", 2)
    async with desk_of(base) as desk:
        several = [await desk.submit("echo", id=f"r{number}") for number in range(3)]
        assert [await each.cancel() for each in several] == [True, True, True]
        for each in several:  # a server has come, has noted it, and is not there any more
            (base / "cancelled" / f"{each.id}.json").unlink()
        assert [(await desk.wait(each.id)).cancelled for each in several[1:]] == [True, True]
        with pytest.raises(NoSuchRequest):
            await several[0].wait(0.01)


async def test_where_a_client_end_is_at_work_that_cannot_be_asked_nothing_is_taken_away(base: Path) -> None:
    with at_the_desk(base):
        async with desk_of(base) as desk:
            ticket = await desk.submit("never", id="r1")
            with pytest.raises(NoServer):
                await ticket.cancel()
            assert (base / "requests" / "r1.json").exists()


async def test_an_answer_without_its_request_is_given_to_nobody_who_may_ask_for_something_else(base: Path) -> None:
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        put(base, "responses", "r1", Success({}))
        (base / "requests" / "r1.json").unlink()
        (base / "submitted" / "r1.json").unlink()
        with pytest.raises(IdTaken, match="nobody can say"):
            await desk.submit("echo", id="r1")


@pytest.mark.parametrize("beside", ["request.json", "response.json", None])
async def test_an_editor_s_copy_that_was_put_away_alone_is_no_end(base: Path, beside: str | None) -> None:
    """Its request has succeeded later, and the script has tidied up. What was given up has more than this there."""
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        away = base / "archive" / "2026-01-31" / "r1"
        away.mkdir(parents=True)
        failed = write_response("r1", Failure("busy"), (Dialect.HEAD,))
        (away / "failed.json").write_bytes(failed)
        if beside is not None:
            (away / beside).write_bytes(failed)
        (base / "requests" / "r1.json").unlink()
        sight = desk.folder.look("r1")
        assert (sight.outcome, sight.is_gone) == ((None, True) if beside is None else (Failure("busy"), False))


async def test_whoever_submits_again_what_has_no_copy_leaves_one(base: Path) -> None:
    """A script may have been killed between the request and its copy."""
    async with desk_of(base) as desk:
        await desk.submit_many([desk.made("echo", {}, name, {}) for name in ("r1", "r2")])
        (base / "submitted" / "r1.json").unlink()
        await desk.submit_many([desk.made("echo", {}, name, {}) for name in ("r1", "r2", "r3")])
        assert sorted(os.listdir(base / "submitted")) == ["r1.json", "r2.json", "r3.json"]


async def test_what_a_peer_has_taken_is_known_by_its_copy(base: Path) -> None:
    async with desk_of(base) as desk:
        await desk.submit("echo", id="r1")
        put(base, "responses", "r1", Success({}))
        (base / "requests" / "r1.json").unlink()
        assert (await (await desk.submit("echo", id="r1")).wait()).ok
        with pytest.raises(IdTaken, match="r1"):
            await desk.submit("other", id="r1")


@pytest.mark.parametrize(
    ("lock", "line", "is_copied"),
    [
        (None, "", True),  # who will come is not known
        ("client", "1 client spec", False),
        ("client", "1 server client spec", False),
        ("client", "1 server client head", True),
        ("client", "1 client", True),  # of a server that says nothing of it
        ("client", "", True),
        ("server", "1 server spec", False),
        ("server", "1 server head", True),
    ],
)
async def test_a_request_is_left_as_a_copy_too_unless_the_client_end_says_that_none_is_taken_away(
    base: Path, lock: str | None, line: str, is_copied: bool
) -> None:
    if lock is not None:
        leave_a_lock(base, lock, line)
    async with desk_of(base) as desk:
        await desk.submit_many([desk.made("echo", {}, name, {}) for name in ("r1", "r2")])
        requests, copies = sorted(os.listdir(base / "requests")), sorted(os.listdir(base / "submitted"))
        assert requests == ["r1.json", "r2.json"]
        assert copies == (requests if is_copied else [])
        for name in copies:
            assert (base / "submitted" / name).read_bytes() == (base / "requests" / name).read_bytes()
        assert await desk.cancel(["r1"]) == ["r1"]
        assert os.listdir(base / "submitted") == copies[1:]


async def test_what_is_submitted_at_once_is_synced_together(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trips = []
    async with desk_of(base) as desk:
        drop = desk.folder.drop

        def counted(them: dict[str, bytes], **how: bool) -> dict[str, OSError | None]:
            trips.append(len(them))
            fates: dict[str, OSError | None] = drop(them, **how)
            return fates

        monkeypatch.setattr(desk.folder, "drop", counted)
        async with trio.open_nursery() as nursery:
            for number in range(200):
                nursery.start_soon(submit, desk, f"r{number}")
        assert sum(trips) == 200
        assert len(trips) <= 3


async def test_the_same_id_at_the_same_time_is_one_request_and_one_that_is_refused(base: Path) -> None:
    fates = []
    async with desk_of(base) as desk:

        async def ask_for(prompt: int) -> None:
            try:
                fates.append((await desk.submit("echo", {"prompt": prompt}, id="r1")).id)
            except IdTaken:
                fates.append("taken")

        async with trio.open_nursery() as nursery:
            for prompt in (1, 1, 2):
                nursery.start_soon(ask_for, prompt)
    assert fates.count("taken") in (1, 2)
    assert len(list((base / "requests").iterdir())) == 1


async def test_who_is_cancelled_while_he_submits_keeps_nobody_from_it(base: Path) -> None:
    async with desk_of(base) as desk:
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(submit, desk, f"r{number}")
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        with trio.fail_after(PATIENCE):
            await desk.submit("echo", id="last")
    assert (base / "requests" / "last.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
async def test_whoever_is_cancelled_while_he_waits_keeps_nobody_from_his_answer(base: Path, seed: int) -> None:
    chance, answered, numbers = random.Random(seed), [], list(range(40))
    async with desk_of(base, rescan=1000.0) as desk:
        tickets = await desk.submit_many([desk.made("echo", {}, f"r{n}", {}) for n in numbers])
        scopes = [trio.CancelScope() for _ in numbers]

        async def wait(number: int) -> None:
            with scopes[number]:
                await tickets[number].wait()
                answered.append(number)

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                for number in numbers:
                    nursery.start_soon(wait, number)
                chance.shuffle(numbers)
                left = numbers[:20]
                for number in numbers:
                    if number in left:
                        scopes[number].cancel()
                    else:
                        put(base, "responses", f"r{number}", Success({}))
                    for _ in range(chance.randrange(4)):
                        await trio.sleep(chance.choice([0, 0.001]))
    assert set(answered) >= set(numbers) - set(left)


SCRIPT = """
import sys, time
from troupe.ipc import Desk
with Desk.blocking(sys.argv[1], state=sys.argv[1]) as desk:
    tickets = [desk.submit("echo", {"prompt": n}, id=f"{sys.argv[2]}{n}") for n in range(20)]
    print("submitted", flush=True)
    for result in desk.as_completed(tickets, patience=None):
        print(result.id, result.data["content"], flush=True)
"""


def script(base: Path, name: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", SCRIPT, str(base), name]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_script_that_is_killed_between_submitting_and_waiting_goes_on_under_the_same_ids(base: Path) -> None:
    first = script(base, "r")
    assert first.stdout is not None
    assert first.stdout.readline() == "submitted\n"
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    assert len(list((base / "requests").iterdir())) == 20
    with at_the_desk(base) as peer:
        said, _ = script(base, "r").communicate(timeout=30)
    assert sorted(said.splitlines()[1:]) == sorted(f"r{n} {n}" for n in range(20))
    assert sorted(peer.order) == sorted(f"r{n}" for n in range(20))


@pytest.mark.slow
def test_two_scripts_at_once_get_their_own_answers(base: Path) -> None:
    with at_the_desk(base):
        both = [script(base, name) for name in ("a", "b")]
        said = [each.communicate(timeout=30)[0] for each in both]
    for name, lines in zip("ab", said, strict=True):
        assert sorted(lines.splitlines()[1:]) == sorted(f"{name}{n} {n}" for n in range(20))


@pytest.mark.slow
def test_ctrl_c_ends_a_blocking_wait_and_the_request_goes_on(base: Path) -> None:
    with at_the_desk(base), Desk.blocking(base, state=base) as desk:
        ticket = desk.submit("never")
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            ticket.wait()
        assert desk.run("echo", {"prompt": 1}).ok
    assert (base / "requests" / f"{ticket.id}.json").exists()


def test_blocking_calls_do_what_the_others_do(base: Path) -> None:
    with at_the_desk(base), Desk.blocking(base, state=base) as desk:
        prompts = ({"prompt": number} for number in range(20))
        assert [each.data["content"] for each in desk.map("echo", prompts, concurrency=3)] == list(range(20))
        tickets = [desk.submit("wrong"), desk.submit("echo")]
        assert {each.id: each.ok for each in desk.as_completed(tickets)} == {tickets[0].id: False, tickets[1].id: True}
        with pytest.raises(TimeoutError):
            desk.submit("never").wait(0.01)
        with pytest.raises(ValueError, match="JSON"):
            desk.submit("echo", {"x": object()})
    with pytest.raises(DeskError, match="This desk was closed"):
        desk.submit("echo")
    assert "troupe desk" not in {thread.name for thread in threading.enumerate()}


def test_a_blocking_map_takes_from_its_iterable_in_the_callers_thread(base: Path) -> None:
    def prompts() -> object:
        for _ in range(3):
            seen.add(threading.current_thread())
            yield {}

    seen: set[threading.Thread] = set()
    with at_the_desk(base), Desk.blocking(base, state=base) as desk:
        assert len(list(desk.map("echo", prompts()))) == 3  # type: ignore[arg-type]
    assert seen == {threading.current_thread()}


async def looks_for(desk: Desk, id: str) -> int:  # noqa: A002 - as in the contract
    """How often a request is looked at until its answer has come, which takes a while."""
    looks = [0]
    ended = desk._ended

    async def counted(ids: list[str]) -> list[Result]:
        looks[0] += 1
        return await ended(ids)

    desk._ended = counted  # type: ignore[method-assign]
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(desk.run, "ping", id=id))
            while not (desk._arrivals._leading and desk._arrivals.rescans):  # noqa: ASYNC110 - it happens in a thread
                await trio.sleep(0.002)  # until then, an answer may be there before anybody watches
            answer(desk.base, id)
    finally:
        del desk._ended
    return looks[0]


def answer(base: Path, id: str) -> None:  # noqa: A002
    draft = base / "responses" / ".draft"
    draft.write_bytes(write_response(id, Success("done")))
    draft.rename(base / "responses" / file_of(id))


async def test_what_is_submitted_while_the_folder_is_watched_is_looked_at_when_something_happens_to_it(
    base: Path,
) -> None:
    async with desk_of(base, rescan=1000.0) as desk:
        await looks_for(desk, "first")
        assert await looks_for(desk, "second") == 1
        assert (await desk.run("ping", id="second")).data == "done", "it was there before"
        ticket = await desk.submit("ping", id="third")
        answer(base, "third")
        assert (await ticket.wait()).data == "done"


async def test_what_has_happened_before_anybody_waits_is_seen(base: Path) -> None:
    async with desk_of(base, rescan=1000.0) as desk:
        await looks_for(desk, "first")
        heard, late, lost = [await desk.submit("ping", id=each) for each in ("heard", "late", "lost")]
        answer(base, "heard")
        await looks_for(desk, "another")  # whoever waits hears of all that happens
        answer(base, "late")
        assert (await heard.wait()).data == "done"
        assert (await late.wait()).data == "done"
        answer(base, "lost")
        assert desk._arrivals._eyes is not None
        assert desk._arrivals._eyes.inotify is not None
        desk._arrivals._eyes.inotify.read()
        desk._arrivals._heard(Overflown())
        assert (await lost.wait()).data == "done"


class Overflown:
    """An inotify that has lost events."""

    def read(self) -> list[FolderEvent]:
        return [FolderEvent(-1, "", of_folder=True)]
