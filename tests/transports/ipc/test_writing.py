"""What is changed in the rooms, by a process that is killed before any of its steps."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from codec.ipc.folder import BothFiles, Spoiled, Tray
from tests.transports.ipc.dying import CHANGES, DAY, KNOWN, NEW
from tests.transports.ipc.places import answered, asked, identity, put, refused
from transports.folder.drafts import rename_new
from transports.ipc import archiving, writing
from transports.ipc.archiving import ARCHIVED
from transports.ipc.site import Site
from transports.ipc.writing import RoomWriter

OLD = {
    (Tray.REQUESTS, "a"): asked("a"),
    (Tray.RESPONSES, "a"): refused("a"),
    (Tray.FAILED, "a"): refused("a", "old"),
    (Tray.EVALUATIONS, "a"): b"{}",
    (Tray.REQUESTS, "b"): asked("b"),
    (Tray.RESPONSES, "c"): refused("c"),
}
Files = dict[tuple[Tray, str], bytes]


class Dying:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.transports.ipc.dying"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )

    def __call__(self, step: int, change: str, path: Path) -> bool:
        """Whether it died: False, there are no more steps."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{step} {change} {path}\n")
        self._process.stdin.flush()
        ending = self._process.stdout.readline().strip()
        while ending not in ("died", "done"):  # what it logged
            assert ending, "the child failed"
            ending = self._process.stdout.readline().strip()
        return ending == "died"

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    process = Dying()
    yield process
    process.close()


def prepare(path: Path) -> None:
    reopen(path)
    for (tray, id), data in OLD.items():  # noqa: A001 - as in the contract
        put(path, tray, id, data)


def reopen(path: Path) -> None:
    """As the next process does."""
    site = Site(path, writing.give_back_what_is_away)
    assert RoomWriter(site, sync=False).run([writing.withdrawing("nobody")]) == [False]
    site.close()


def again(path: Path, change: str) -> None:
    site = Site(path, writing.give_back_what_is_away)
    RoomWriter(site, sync=False).run([CHANGES[change](path)])
    site.close()


def standing(path: Path) -> Files:
    return {(tray, entry.stem): entry.read_bytes() for tray in ARCHIVED for entry in (path / tray.value).iterdir()}


def archived(path: Path) -> Files:
    names = {name: tray for tray, name in ARCHIVED.items()}
    return {
        (names[entry.name], entry.parent.name): entry.read_bytes() for entry in (path / "archive").glob(f"{DAY}/*/*")
    }


def _each_is_old_or(new: Files) -> Callable[[Path], None]:
    def check(path: Path) -> None:
        for key, data in standing(path).items():
            assert data in (OLD.get(key), new.get(key))
        assert standing(path).keys() >= OLD.keys()

    return check


def _all_or_without(*missing: tuple[Tray, str]) -> Callable[[Path], None]:
    def check(path: Path) -> None:
        there = standing(path)
        assert there == {key: data for key, data in OLD.items() if key not in missing or key in there}

    return check


def _here_or_in_quarantine(path: Path) -> None:
    entries = [entry.read_bytes() for entry in (path / "quarantine").glob("*.entry")]
    if (Tray.RESPONSES, "a") in standing(path):
        assert entries == []
        assert list((path / "quarantine").iterdir()) == []
    else:
        (reason,) = (json.loads(entry.read_bytes()) for entry in (path / "quarantine").glob("*.json"))
        assert (reason["name"], reason["room"], reason["why"]) == ("a.json", "responses", "why")
        assert entries == [OLD[Tray.RESPONSES, "a"]]


def _wholly_here_or_there(path: Path) -> None:
    """A request that stood nowhere is there, or nowhere. A kill just before it is written there leaves it out."""
    there, here = archived(path), standing(path)
    assert there.pop((Tray.REQUESTS, "c"), KNOWN["c"]) == KNOWN["c"]
    assert there | here == OLD
    assert {key[1] for key in there} & {key[1] for key in here} == set()
    assert all(entry.name in (".staging", DAY) for entry in (path / "archive").iterdir())


AFTER: dict[str, Callable[[Path], None]] = {
    "publish": _each_is_old_or({(Tray.REQUESTS, key): data for key, data in NEW.items()}),
    "answer": _each_is_old_or({(Tray.RESPONSES, "b"): answered("b", "new")}),
    "write": _each_is_old_or({(Tray.FAILED, "a"): refused("a", "new")}),
    "take_away": _all_or_without((Tray.RESPONSES, "a")),
    "withdraw": _all_or_without((Tray.REQUESTS, "a")),
    "reopen": _all_or_without((Tray.FAILED, "a")),
    "set_aside": _here_or_in_quarantine,
    "archive": _wholly_here_or_there,
}


@pytest.mark.slow
@pytest.mark.parametrize("change", AFTER)
def test_a_change_that_is_killed_at_any_step_has_happened_or_not(tmp_path: Path, dying: Dying, change: str) -> None:
    for step in count(1):
        path = tmp_path / f"base{step}"
        prepare(path)
        was = identity(path / "responses" / "a.json")
        died = dying(step, change, path)
        reopen(path)
        AFTER[change](path)
        assert [name for name in os.listdir(path / "tmp") if not name.endswith(".draft")] == []
        response = path / "responses" / "a.json"
        if change != "publish" and response.exists():
            assert identity(response) == was
            again(path, change)
            AFTER[change](path)
        if not died:
            break
    assert step > 2


@pytest.mark.parametrize("tray", [Tray.REQUESTS, Tray.RESPONSES])
def test_what_a_peer_puts_there_while_its_predecessor_is_deleted_stays_whenever_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tray: Tray
) -> None:
    path = tmp_path / "base"
    writer = RoomWriter(Site(path, writing.give_back_what_is_away), sync=False)
    writer.run([])
    file, calls = path / tray.value / "a.json", 0
    for step in count(1):
        put(path, tray, "a", OLD[tray, "a"])
        was, calls = identity(file), 0

        def counted(call: Callable[..., Any], *args: Any, at: int = step, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                (path / "newer").write_bytes(b"newer")
                os.replace(path / "newer", file)
            return call(*args, **options)

        with monkeypatch.context() as patched:
            for name in ("stat", "rename", "unlink"):
                patched.setattr(os, name, partial(counted, getattr(os, name)))
            taking = writing.taking_away if tray is Tray.RESPONSES else writing.withdrawing
            (is_gone,) = writer.run([taking("a", was)])
        if calls < step:
            break
        assert file.read_bytes() == b"newer"
        assert os.listdir(path / "tmp") == []
        file.unlink()
    assert (is_gone, file.exists()) == (True, False)
    assert step > 3


@pytest.mark.parametrize("tray", [Tray.REQUESTS, Tray.RESPONSES])
@pytest.mark.parametrize("stood", [True, False])
@pytest.mark.parametrize("known", [{}, {"a": KNOWN["a"]}])
def test_what_comes_while_its_predecessors_are_archived_stays_whenever_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tray: Tray, stood: bool, known: Mapping[str, bytes]
) -> None:
    path, newer, calls = tmp_path / "base", asked("a", text="newer"), 0
    file = path / tray.value / "a.json"
    writer = RoomWriter(Site(path, writing.give_back_what_is_away), sync=False)
    writer.run([])
    for step in count(1):
        for each in (Tray.REQUESTS, Tray.RESPONSES):
            if stood or each is not tray:
                put(path, each, "a", OLD[each, "a"])
        trays = {Tray.REQUESTS: path / "requests" / "a.json", Tray.RESPONSES: path / "responses" / "a.json"}
        request, response = (identity(there) if there.exists() else None for there in trays.values())
        seen = BothFiles(None, response and Spoiled(response, ""), stands_as=request)
        calls = 0

        def counted(call: Callable[..., Any], *args: Any, at: int = step, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                (path / "newer").write_bytes(newer)
                os.replace(path / "newer", file)
            return call(*args, **options)

        with monkeypatch.context() as patched:
            for name in ("stat", "mkdir", "open"):
                patched.setattr(os, name, partial(counted, getattr(os, name)))
            patched.setattr(archiving, "rename_new", partial(counted, rename_new))
            job = writing.archiving(["a"], DAY, None, known, {"a": seen})
            calls = 0
            writer.run([job])
        if calls < step:
            break
        assert file.read_bytes() == newer
        others = {where.read_bytes() for where in (path / "archive" / DAY).rglob("*.json")}
        assert newer not in others
        assert os.listdir(path / "archive" / archiving.STAGING) == []
        assert os.listdir(path / "tmp") == []
        assert {each for each in trays if trays[each].exists()} == {tray}
        file.unlink()
        shutil.rmtree(path / "archive" / DAY, ignore_errors=True)
    assert step > 5


def test_a_request_that_stands_nowhere_is_archived_beside_its_answer(tmp_path: Path) -> None:
    prepare(tmp_path / "base")
    again(tmp_path / "base", "archive")
    assert archived(tmp_path / "base") == {**OLD, (Tray.REQUESTS, "c"): KNOWN["c"]}
    assert os.listdir(tmp_path / "base" / "tmp") == []


@pytest.mark.slow
def test_an_archiving_that_is_killed_is_finished_though_that_is_killed_as_well(tmp_path: Path, dying: Dying) -> None:
    numbers = count(1)
    for step in count(1):
        for later in count(1, 3):
            path = tmp_path / f"base{next(numbers)}"
            prepare(path)
            died = dying(step, "archive", path)
            died_again = dying(later, "open", path)
            reopen(path)
            _wholly_here_or_there(path)
            if not died_again:
                break
        if not died:
            break


@pytest.mark.slow
def test_a_first_opening_that_is_killed_at_any_step_is_repeated(tmp_path: Path, dying: Dying) -> None:
    for step in count(1):
        path = tmp_path / f"base{step}"
        died = dying(step, "open", path)
        reopen(path)
        prepare(path)
        _each_is_old_or({})(path)
        if not died:
            break
    assert step > 20


@pytest.mark.slow
def test_a_new_request_under_an_id_that_was_being_put_away_stays(tmp_path: Path, dying: Dying) -> None:
    path, kinds = tmp_path / "base", set()
    for step in count(1):
        path = tmp_path / f"base{step}"
        prepare(path)
        died = dying(step, "archive", path)
        is_moved = not (path / "requests" / "a.json").exists()
        if is_moved:
            put(path, Tray.REQUESTS, "a", asked("a", text="new"))
        reopen(path)
        if is_moved:
            assert standing(path)[Tray.REQUESTS, "a"] == asked("a", text="new")
            assert archived(path)[Tray.REQUESTS, "a"] == OLD[Tray.REQUESTS, "a"]
        kinds.add(is_moved)
        if not died:
            break
    assert kinds == {True, False}


def test_of_the_copies_of_requests_only_those_are_forgotten_that_still_are_what_they_were(tmp_path: Path) -> None:
    path = tmp_path / "base"
    writer = RoomWriter(Site(path), sync=False)
    writer.run([])
    known = {id: asked(id) for id in ("same", "newer", "longer", "away", "link", "pipe", "folder")}  # noqa: A001
    room = path / "submitted"
    put(path, Tray.SUBMITTED, "same", known["same"])
    put(path, Tray.SUBMITTED, "newer", asked("newer", other=1))
    put(path, Tray.SUBMITTED, "longer", known["longer"] + b" ")
    put(path, Tray.SUBMITTED, "other", asked("other"))
    (room / "link.json").symlink_to(room / "same.json")
    os.mkfifo(room / "pipe.json")
    (room / "folder.json").mkdir()
    assert writer.run([writing.forgetting(known)]) == [None]
    left = ["folder.json", "link.json", "longer.json", "newer.json", "other.json", "pipe.json"]
    assert sorted(os.listdir(room)) == left


def test_of_what_stands_nowhere_the_archive_gets_the_request_if_it_is_known(tmp_path: Path) -> None:
    path = tmp_path / "base"
    writer = RoomWriter(Site(path), sync=False)
    writer.run([])
    put(path, Tray.REQUESTS, "stands", asked("stands"))
    known = {id: asked(id) for id in ("cancelled", "stands")}  # noqa: A001 - as in the contract
    known["stands"] += b" "
    ids = ["cancelled", "stands", "unknown"]
    assert writer.run([writing.archiving(ids, "2026-01-31", asked=known)]) == [frozenset({"cancelled", "stands"})]
    day = path / "archive" / "2026-01-31"
    assert {str(each.relative_to(day)): each.read_bytes() for each in day.rglob("*.json")} == {
        "cancelled/request.json": asked("cancelled"),
        "stands/request.json": asked("stands"),
    }
    assert os.listdir(path / "tmp") == os.listdir(path / "archive" / ".staging") == []
