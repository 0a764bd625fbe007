"""Two processes that submit the same requests at the same time, to a peer that answers and removes them at once."""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codec.ipc import Request, Success, file_of, write_request, write_response
from tests.patience import PATIENCE
from transports.folder.drafts import write_drafts
from troupe.ipc import folder
from troupe.ipc.folder import DeskFolder
from troupe.ipc.visits import TakesLonger

IDS = [f"r{number}" for number in range(200)]


def request_of(id: str) -> bytes:  # noqa: A002 - as in the contract
    return write_request(Request(id=id, command="ping"))


class QuickEditor:
    """Of the HEAD dialect: it answers whatever stands there, and then removes it."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self.runs: list[str] = []

    def look(self) -> None:
        for name in os.listdir(self._base / "requests"):
            id = name.removesuffix(".json")  # noqa: A001
            self.runs.append(id)
            draft = self._base / f".{name}"
            draft.write_bytes(write_response(id, Success({"run": len(self.runs)})))
            draft.rename(self._base / "responses" / name)
            (self._base / "requests" / name).unlink()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        stopped = threading.Event()

        def work() -> None:
            while not stopped.is_set():
                self.look()

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join(PATIENCE)
            self.look()

    def beside(self, *work: Callable[[], object]) -> None:
        """It is at work while all of these are done, each in a thread."""
        threads = [threading.Thread(target=each) for each in work]
        with self.at_work():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    DeskFolder(base).make()
    return base


def test_who_comes_late_finds_the_answer_to_the_same_request(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the link of the one, the other's request has come, was answered and was removed."""
    editor = QuickEditor(base)

    def later(drafts: int, contents: Any) -> list[str | OSError]:
        monkeypatch.setattr(folder, "write_drafts", write_drafts)
        assert DeskFolder(base).drop({"r1": request_of("r1")}) == {"r1": None}
        editor.look()
        return write_drafts(drafts, contents)

    monkeypatch.setattr(folder, "write_drafts", later)
    fates = DeskFolder(base).drop({"r1": request_of("r1"), "r2": request_of("r2")})
    assert isinstance(fates["r1"], FileExistsError)
    assert fates["r2"] is None
    editor.look()
    assert editor.runs == ["r1", "r2"]


def test_who_comes_late_leaves_the_copy_that_the_other_was_killed_before(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(drafts: int, contents: Any) -> list[str | OSError]:
        (base / "requests" / file_of("r1")).write_bytes(request_of("r1"))
        return write_drafts(drafts, contents)

    monkeypatch.setattr(folder, "write_drafts", later)
    assert isinstance(DeskFolder(base).drop({"r1": request_of("r1")})["r1"], FileExistsError)
    assert (base / "submitted" / file_of("r1")).read_bytes() == request_of("r1")
    assert os.listdir(base / "tmp") == []


def test_in_the_loop_nobody_is_waited_for(base: Path) -> None:
    held = os.open(base / "submitted", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TakesLonger):
            DeskFolder(base).drop({"r1": request_of("r1")}, waits=False)
    finally:
        os.close(held)
    assert os.listdir(base / "requests") == os.listdir(base / "tmp") == []
    assert DeskFolder(base).drop({"r1": request_of("r1")}, waits=False) == {"r1": None}


def test_one_request_that_several_submit_at_once_is_run_once(base: Path) -> None:
    editor = QuickEditor(base)
    begin = threading.Barrier(3)
    fates: list[dict[str, OSError | None]] = []

    def submit() -> None:
        desk = DeskFolder(base)
        begin.wait(PATIENCE)
        fates.extend(desk.drop({each: request_of(each)}) for each in IDS)

    editor.beside(submit, submit, submit)
    assert sorted(editor.runs) == sorted(IDS)
    assert sorted(name for each in fates for name, fate in each.items() if fate is None) == sorted(IDS)
    assert os.listdir(base / "requests") == []


def test_one_that_was_stopped_in_the_middle_holds_nobody_up_for_long(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "STOPPED_SECONDS", 0.05)
    held = os.open(base / "submitted", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert DeskFolder(base).drop({"r1": request_of("r1")}) == {"r1": None}
    finally:
        os.close(held)
    assert (base / "submitted" / file_of("r1")).exists()


def test_what_an_editor_has_taken_and_its_script_has_read_is_counted_by_its_copy(base: Path) -> None:
    desk = DeskFolder(base)
    desk.drop({each: request_of(each) for each in ("r1", "r2", "r3")})
    (base / "requests" / file_of("r1")).unlink()
    (base / "responses" / file_of("r2")).write_bytes(write_response("r2", Success()))
    assert desk.counts() == (3, 2, 0)


def test_until_it_is_made_nothing_is_looked_at_without_a_thread(base: Path) -> None:
    DeskFolder(base).drop({"r1": request_of("r1")})
    with pytest.raises(TakesLonger):
        DeskFolder(base).look_at_once("r1")
