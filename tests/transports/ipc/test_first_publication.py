"""A request that comes by the port, and by a script at the same time, is run once, though its peer answers at once."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codec.ipc import Request, Wishes, write_request
from codec.ipc.folder import IdOfAnother, Tray
from tests.patience import PATIENCE
from tests.transports.ipc.places import answered, asked, identity, put
from tests.troupe.ipc.test_folder import IDS, QuickEditor, request_of
from transports.ipc import writing
from transports.ipc.site import Site
from transports.ipc.writing import RoomWriter
from troupe.ipc import folder
from troupe.ipc.folder import DeskFolder, _named

WISHING = write_request(Request(id="a", command="ping", params={"n": 1}, wishes=Wishes(submitter="me", priority=3)))
OURS = asked("a", n=1)
LONG = write_request(Request(id="a", command="ping", params={"n": 1}, wishes=Wishes(reference="x" * 300_000)))


def _unreadable(path: Path) -> None:
    put(path, Tray.REQUESTS, "a", b"{")


def _a_folder(path: Path) -> None:
    (path / "requests" / "a.json").mkdir()


def _a_link(path: Path) -> None:
    (path / "a.json").write_bytes(OURS)
    (path / "requests" / "a.json").symlink_to(path / "a.json")


def _a_copy_and_an_answer(path: Path) -> None:
    put(path, Tray.SUBMITTED, "a", WISHING)
    put(path, Tray.RESPONSES, "a", answered("a"))


def _an_answer_to_another(path: Path) -> None:
    put(path, Tray.SUBMITTED, "a", asked("a", n=2))
    put(path, Tray.RESPONSES, "a", answered("a"))


STANDS: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (lambda path: None, True),
    "the same": (lambda path: put(path, Tray.REQUESTS, "a", OURS), False),
    "the same, with other wishes": (lambda path: put(path, Tray.REQUESTS, "a", WISHING), False),
    "another": (lambda path: put(path, Tray.REQUESTS, "a", asked("a", n=2)), False),
    "what cannot be read": (_unreadable, True),
    "a folder": (_a_folder, True),
    "a link to the same": (_a_link, True),
    "the same, with a large reference": (lambda path: put(path, Tray.REQUESTS, "a", LONG), False),
    "an answer to another": (_an_answer_to_another, False),
    "a copy, and an answer": (_a_copy_and_an_answer, False),
    "a copy": (lambda path: put(path, Tray.SUBMITTED, "a", WISHING), False),
    "a copy of another": (lambda path: put(path, Tray.SUBMITTED, "a", asked("a", n=2)), False),
    "a copy that cannot be read": (lambda path: put(path, Tray.SUBMITTED, "a", b"{"), True),
}
"""And whether ours is put there."""


@pytest.mark.parametrize("by_turns", [True, False])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("stands", STANDS)
def test_what_a_script_has_submitted_stays_if_it_is_another_request_or_ours_is_a_first_attempt(
    tmp_path: Path, stands: str, is_first: bool, by_turns: bool
) -> None:
    """Copies count only where a peer removes what it answers."""
    put_there, is_put = STANDS[stands]
    path = tmp_path / "base"
    writer = RoomWriter(Site(path), sync=False)
    writer.run([])
    put_there(path)
    request = path / "requests" / "a.json"
    before = identity(request) if request.is_file() and not request.is_symlink() else None
    first = ["a"] if is_first else []
    (refused,) = writer.run([writing.publishing({"a": OURS, "b": asked("b")}, first, by_turns=by_turns)])
    is_put = is_put or (before is None and not by_turns)
    is_anothers = "another" in stands and not is_put and (is_first or stands == "another")
    assert [*map(type, refused.values())] == [IdOfAnother] * is_anothers
    assert (path / "requests" / "b.json").read_bytes() == asked("b")
    if is_put or not (is_first or is_anothers):
        assert request.read_bytes() == OURS
        assert identity(request) != before
    elif before is None:
        assert not request.exists()
    else:
        assert identity(request) == before
    assert os.listdir(path / "tmp") == []


def test_only_those_that_are_first_make_way(tmp_path: Path) -> None:
    path = tmp_path / "base"
    writer = RoomWriter(Site(path), sync=False)
    writer.run([])
    for each in ("a", "b"):
        put(path, Tray.SUBMITTED, each, asked(each))
    assert writer.run([writing.publishing({"a": asked("a"), "b": asked("b")}, ["b"], by_turns=True)]) == [{}]
    assert os.listdir(path / "requests") == ["a.json"]


def test_a_first_attempt_takes_turns_with_a_script_that_submits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the script's look and its link, ours does not come, be answered, and be removed."""
    path = tmp_path / "base"
    DeskFolder(path).make()
    writer, editor = RoomWriter(Site(path), sync=False), QuickEditor(path)
    writer.run([])

    def serve() -> None:
        assert writer.run([writing.publishing({"a": OURS}, ["a"], by_turns=True)]) == [{}]
        editor.look()

    thread = threading.Thread(target=serve)

    def later(*args: Any) -> OSError | None:
        thread.start()
        thread.join(0.2)  # for as long as it has if nothing holds it back
        return _named(*args)

    monkeypatch.setattr(folder, "_named", later)
    assert DeskFolder(path).drop({"a": OURS}) == {"a": None}
    thread.join(PATIENCE)
    editor.look()
    assert editor.runs == ["a"]
    assert os.listdir(path / "requests") == os.listdir(path / "tmp") == []


def test_many_first_attempts_beside_two_scripts(tmp_path: Path) -> None:
    path = tmp_path / "base"
    DeskFolder(path).make()
    writer, editor = RoomWriter(Site(path), sync=False), QuickEditor(path)
    writer.run([])
    begin = threading.Barrier(3)

    def serve() -> None:
        begin.wait(PATIENCE)
        for each in IDS:
            assert writer.run([writing.publishing({each: request_of(each)}, [each], by_turns=True)]) == [{}]

    def submit() -> None:
        desk = DeskFolder(path)
        begin.wait(PATIENCE)
        for each in IDS:
            desk.drop({each: request_of(each)})

    editor.beside(serve, submit, submit)
    assert sorted(editor.runs) == sorted(IDS)
    assert os.listdir(path / "requests") == os.listdir(path / "tmp") == []
