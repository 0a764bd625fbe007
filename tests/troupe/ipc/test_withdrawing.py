"""A request that is cancelled where no client end is at work: at every moment it stands, or was cancelled."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codec.ipc import Failure, Outcome, Request, Success, file_of, write_request, write_response
from transports.folder import drafts
from troupe.ipc import NoServer, withdrawing
from troupe.ipc.attendance import Attendance
from troupe.ipc.folder import DeskFolder, Sight

DATA = write_request(Request(id="r", command="ping"))
NAME = file_of("r")
CANCELLED = Sight(None, is_cancelled=True)


class Killed(BaseException):
    pass


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    assert DeskFolder(base).drop({"r": DATA}) == {"r": None}
    return base


def standing(base: Path) -> set[str]:
    return {room for room in ("requests", "submitted", "cancelled") if (base / room / NAME).exists()}


def dying(monkeypatch: pytest.MonkeyPatch, moment: int) -> Callable[[], int]:
    """At that change of the folder the process is killed. How many there were."""
    count = 0

    def before(real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == moment:
                raise Killed
            return real(*args, **options)

        return change

    for name in ("rename", "unlink", "fsync"):
        monkeypatch.setattr(os, name, before(getattr(os, name)))
    monkeypatch.setattr(withdrawing, "rename_new", before(drafts.rename_new))
    return lambda: count


@pytest.mark.parametrize("answer", [None, Success("done"), Failure("busy")], ids=["none", "success", "error"])
def test_whoever_is_killed_while_he_cancels_leaves_a_request_that_goes_on_or_was_cancelled(
    base: Path, monkeypatch: pytest.MonkeyPatch, answer: Outcome | None
) -> None:
    """Never a copy alone, which would say that somebody has taken the request."""
    if answer is not None:
        (base / "responses" / NAME).write_bytes(write_response("r", answer))
    seen = set()
    for moment in range(1, 100):
        with monkeypatch.context() as patch:
            count = dying(patch, moment)
            try:
                done = DeskFolder(base).withdraw("r")
                break
            except Killed:
                pass
        there = standing(base)
        seen.add(frozenset(there))
        assert len(there & {"requests", "cancelled"}) == 1
        assert DeskFolder(base).look("r").is_cancelled == ("cancelled" in there)
        if "cancelled" in there:  # as it was
            (base / "cancelled" / NAME).rename(base / "requests" / NAME)
            (base / "submitted" / NAME).unlink(missing_ok=True)
            (base / "submitted" / NAME).hardlink_to(base / "requests" / NAME)
    assert count() == moment - 1 >= 4
    assert done == (not isinstance(answer, Success))
    assert standing(base) == ({"cancelled"} if done else {"requests", "submitted"})
    assert {"requests", "submitted"} in seen
    assert {"cancelled", "submitted"} in seen


def test_what_is_submitted_after_that_was_not_cancelled_whoever_has_taken_it(base: Path) -> None:
    folder = DeskFolder(base)
    assert folder.withdraw("r")
    assert folder.look("r") == CANCELLED
    (base / "responses" / NAME).write_bytes(write_response("r", Success("late")))
    assert folder.look("r") == CANCELLED  # an editor had begun
    (base / "responses" / NAME).unlink()
    assert folder.drop({"r": DATA}) == {"r": None}
    assert standing(base) == {"requests", "submitted", "cancelled"}
    assert not folder.look("r").is_cancelled
    (base / "requests" / NAME).unlink()
    assert not folder.look("r").is_cancelled
    (base / "responses" / NAME).write_bytes(write_response("r", Success("new")))
    assert folder.look("r").outcome == Success("new")
    assert not folder.withdraw("r")


def test_what_nobody_has_submitted_or_an_editor_has_taken_is_not_cancelled(base: Path) -> None:
    assert not DeskFolder(base).withdraw("other")
    (base / "requests" / NAME).unlink()
    assert not DeskFolder(base).withdraw("r")
    assert standing(base) == {"submitted"}


def test_where_a_client_end_has_come_meanwhile_it_is_asked(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeskFolder, "present", lambda _: Attendance(server=True, client=True))
    with pytest.raises(NoServer, match="A server has just come"):
        DeskFolder(base).withdraw("r")
    assert standing(base) == {"requests", "submitted"}


def test_what_is_no_plain_file_is_not_moved(base: Path) -> None:
    (base / "requests" / NAME).unlink()
    (base / "requests" / NAME).mkdir()
    with pytest.raises(Exception, match="cannot be used"):
        DeskFolder(base).withdraw("r")
    assert standing(base) == {"requests", "submitted"}
