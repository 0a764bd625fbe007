"""Tasks as folders on a real disk."""

import os
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from codec.judge import fingerprint
from tests.transports.folder.disks import MAY_MOUNT, read_only_disk, small_disk
from transports.folder import clearance
from transports.folder.rooted import Rooted
from transports.judge import task_folders
from transports.judge.known_tests import KnownTests
from transports.judge.task_folders import Found, NewCase, TaskFolders

TASK = ("abc1", "abc1_a")
PATIENCE = 60.0


def folders(root: Path, *, tests_dir: str = "tests", template: str = "", head_bytes: int = 8) -> TaskFolders:
    return TaskFolders(root, tests_dir=tests_dir, template=template, head_bytes=head_bytes)


@pytest.fixture
def place(tmp_path: Path) -> TaskFolders:
    return folders(tmp_path / "workspace")


def cases_of(place: TaskFolders) -> Path:
    return place.path(TASK, "tests")


async def test_a_new_task_has_its_tests_and_a_solution_to_begin_with(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"1 2\n", b"3\n"), (2, b"", b"")])
    assert {path.name: path.read_bytes() for path in cases_of(place).iterdir()} == {
        "1.in": b"1 2\n", "1.out": b"3\n", "2.in": b"", "2.out": b"",
    }  # fmt: skip
    main = place.path(TASK, "main.py")
    compile(main.read_text(), "main.py", "exec")
    assert "pass" in main.read_text()


async def test_a_task_without_tests_has_a_folder_for_them(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [])
    assert cases_of(place).is_dir()
    found = await place.find(TASK)
    assert (found.cases, found.highest, found.has_main) == ({}, 0, True)


async def test_the_solution_is_never_written_over(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [])
    place.path(TASK, "main.py").write_text("mine")
    await place.add(TASK, lambda found: [(1, b"", b"")])
    assert place.path(TASK, "main.py").read_text() == "mine"


async def test_the_template_is_what_a_solution_begins_as(tmp_path: Path) -> None:
    (tmp_path / "template.py").write_text("import sys\n")
    place = folders(tmp_path / "workspace", template=str(tmp_path / "template.py"))
    await place.add(TASK, lambda found: [])
    assert place.path(TASK, "main.py").read_text() == "import sys\n"


async def test_a_template_that_is_missing_is_said_by_name_and_the_tests_are_there(tmp_path: Path) -> None:
    place = folders(tmp_path / "workspace", template=str(tmp_path / "template.py"))
    with pytest.raises(OSError, match=r"^the template .*template\.py cannot be read: No such file or directory$"):
        await place.add(TASK, lambda found: [(1, b"", b"")])
    assert list((await place.find(TASK)).cases) == [1]


LEFT = ["1.in", "1.out", "2.in", "2.out", "3.out", "4.in", "07.in", "5.OUT", "notes", "main.py"]
TEXTS = st.sampled_from([b"", b"1\n", b"1 2 3 4 5 6 7\n"])


def unstamped(found: Found) -> Found:
    """Without what only a look finds."""
    pairs = found.cases.items()
    cases = {index: (replace(one, stamp=None), replace(two, stamp=None)) for index, (one, two) in pairs}
    alone = {index: replace(text, stamp=None) for index, text in found.alone.items()}
    return replace(found, cases=cases, alone=alone, main_stamp=None)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(LEFT), TEXTS), st.lists(st.tuples(TEXTS, TEXTS), max_size=3), st.data())
def test_what_adding_says_is_there_is_what_a_look_finds(
    left: dict[str, bytes], new: list[tuple[bytes, bytes]], data: st.DataObject
) -> None:
    def choose(found: Found) -> list[NewCase]:
        complete = data.draw(st.sets(st.sampled_from(sorted(found.alone)))) if found.alone else set[int]()
        beside = [(found.highest + number, *pair) for number, pair in enumerate(new, 1)]
        return [*((index, b"given\n", None) for index in complete), *beside]

    with tempfile.TemporaryDirectory() as root:
        place = folders(Path(root))
        for name, content in left.items():
            path = place.path(TASK, *([] if name == "main.py" else ["tests"]), name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        added = place._add(TASK, choose)
        assert unstamped(added) == unstamped(place._find(TASK))
        assert list(added.cases) == list(place._find(TASK).cases), "in order"
        assert added.has_main


async def test_a_case_is_there_when_both_its_files_are(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"11\n"), (2, b"22\n", b"2\n")])
    for name in ("5.out", "07.in", "x.in", "8.OUT", "0.in", "9.in.bak"):
        (cases_of(place) / name).write_bytes(b"")
    found = await place.find(TASK)
    assert list(found.cases) == [1, 2]
    given, wanted = found.cases[1]
    assert (given.head, given.size, given.digest) == (b"1\n", 2, fingerprint(b"1\n").digest())
    assert wanted.head == b"11\n"
    assert found.highest == 8


async def test_of_a_long_text_the_whole_is_digested_and_the_head_is_kept(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_folders, "CHUNK", 1000)
    long = bytes(range(256)) * 40
    await place.add(TASK, lambda found: [(1, long, b"")])
    given, _ = (await place.find(TASK)).cases[1]
    assert (given.size, given.head, given.digest) == (len(long), long[:8], fingerprint(long).digest())


async def test_what_is_no_plain_file_is_no_case_but_its_number_is_taken(place: TaskFolders, tmp_path: Path) -> None:
    await place.add(TASK, lambda found: [(1, b"", b"")])
    (tmp_path / "secret").write_bytes(b"secret")
    for kind in ("in", "out"):
        (cases_of(place) / f"2.{kind}").symlink_to(tmp_path / "secret")
        os.mkfifo(cases_of(place) / f"3.{kind}")
        (cases_of(place) / f"4.{kind}").mkdir()
    found = await place.find(TASK)
    assert (list(found.cases), found.highest) == ([1], 4)
    kinds = {2: "a link", 3: "a pipe", 4: "a folder"}
    assert found.odd == {f"{index}.{kind}": what for index, what in kinds.items() for kind in ("in", "out")}
    with pytest.raises(OSError, match="symbolic links"):
        await place.read(TASK, 2, "in")


async def test_half_a_test_is_no_case_and_the_other_half_is_missing(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"", b"")])
    for name in ("2.in", "3.out", "03.in", "0.in", "4.ins", "note.txt", "MAIN.PY"):
        (cases_of(place) / name).touch()
    found = await place.find(TASK)
    assert (list(found.cases), found.odd) == ([1], {"2.out": "missing", "3.in": "missing"})


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (FileNotFoundError(2, "No such file or directory"), "missing"),
        (PermissionError(13, "Permission denied"), "not readable for this account"),
    ],
)
@pytest.mark.parametrize("name", ["2.in", "2.out", "4.out"])
async def test_a_file_that_cannot_be_opened_is_passed_over_and_no_other(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch, error: OSError, what: str, name: str
) -> None:
    """It may have gone just now."""
    await place.add(TASK, lambda found: [(1, b"", b""), (2, b"", b""), (3, b"", b"")])
    (cases_of(place) / "4.out").touch()
    opened = Rooted.open_in

    def closed(self: Rooted, here: int, names: Sequence[str]) -> int:
        if names[-1] == name:
            raise error
        return opened(self, here, names)

    monkeypatch.setattr(Rooted, "open_in", closed)
    found = await place.find(TASK)
    assert list(found.cases) == ([1, 2, 3] if name == "4.out" else [1, 3])
    assert list(found.alone) == ([] if name == "4.out" else [4])
    assert found.odd == {name: what, "4.in": "missing"}


@pytest.mark.parametrize("what", ["a folder", "a pipe", "a link", "a file", "a link to a file", "nothing"])
async def test_a_solution_that_is_no_file_is_none_and_said_to_be_what_it_is(place: TaskFolders, what: str) -> None:
    await place.add(TASK, lambda found: [(1, b"", b"")])
    main = place.path(TASK, "main.py")
    main.unlink()
    match what:
        case "a folder":
            main.mkdir()
        case "a pipe":
            os.mkfifo(main)
        case "a link":
            main.symlink_to("nowhere")
        case "a file":
            main.touch()
        case "a link to a file":
            main.symlink_to("tests/1.in")
    found = await place.find(TASK)
    assert found.has_main is (what in ("a file", "a link to a file"))
    assert found.odd == ({"main.py": what} if what in ("a folder", "a pipe", "a link") else {})


async def test_a_file_is_read_anew_when_it_has_changed(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"1\n")])
    assert (await place.find(TASK)).cases[1][0].head == b"1\n"
    path = cases_of(place) / "1.in"
    path.write_bytes(b"2\n")
    os.utime(path, ns=(1, 1))
    assert (await place.find(TASK)).cases[1][0].head == b"2\n"


async def test_a_file_that_has_not_changed_is_not_read_again(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_folders, "TICK_NS", -(1 << 62))  # as if all had been written long ago
    await place.add(TASK, lambda found: [(1, b"1\n", b"1\n")])
    before = await place.find(TASK)

    def fail(content: bytes = b"") -> None:
        raise AssertionError("it was read again")

    monkeypatch.setattr(task_folders, "fingerprint", fail)
    assert await place.find(TASK) == before


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 12)), max_size=20))
def test_the_folder_that_was_looked_at_last_is_known_and_the_others_as_far_as_there_is_room(
    looks: list[tuple[str, int]],
) -> None:
    known, last = KnownTests[int](10), dict[str, int]()
    for folder, many in looks:
        known.looked((folder,), {str(number): number for number in range(many)})
        last.pop(folder, None)
        last[folder] = many
        there = {each: len(known.of((each,))) for each in last}
        assert there[folder] == many
        assert all(there[each] in (0, last[each]) for each in last)
        assert len(known) == sum(there.values())
        assert len(known) <= 10 or sum(map(bool, there.values())) == 1
        longest_ago_first = [there[each] == 0 for each in last if last[each]]
        assert longest_ago_first == sorted(longest_ago_first, reverse=True)


async def test_no_file_of_a_folder_is_read_twice_however_many_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_folders, "TICK_NS", -(1 << 62))  # as if all had been written long ago
    monkeypatch.setattr(task_folders, "REMEMBERED", 10)
    place = folders(tmp_path)
    await place.add(TASK, lambda found: [(number, b"%d\n" % number, b"1\n") for number in range(1, 21)])
    before = await place.find(TASK)
    assert len(before.cases) == 20
    read: list[str] = []
    real = place._root.open_in

    def open_in(here: int, names: Sequence[str]) -> int:
        read.append(names[-1])
        return real(here, names)

    monkeypatch.setattr(place._root, "open_in", open_in)
    assert await place.find(TASK) == before
    assert read == []
    (cases_of(place) / "7.in").write_bytes(b"changed\n")
    assert (await place.find(TASK)).cases[7][0].head == b"changed\n"
    assert read == ["7.in"]


async def test_an_edit_is_seen_however_soon_it_comes_after_the_one_before(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"0\n", b"0\n")])
    for number in range(1, 10):  # all of one size, and most within a tick of the disk's clock
        for path in (cases_of(place) / "1.in", cases_of(place) / "1.out", place.path(TASK, "main.py")):
            path.write_bytes(b"%d\n" % number)
        found = await place.find(TASK)
        assert [text.head for text in found.cases[1]] == [b"%d\n" % number] * 2
        assert found.main == fingerprint(b"%d\n" % number).digest()


class EditedMeanwhile:
    """A file; when it has been read, it is edited, once."""

    def __init__(self, path: Path, edit: Callable[[Path], object]) -> None:
        self._path = path
        self._edit = edit
        self.edited = False

    def open(self, file: int | Path, mode: str) -> Any:
        self._file = open(file, mode)  # noqa: SIM115 - it is closed with this
        is_it = not self.edited and os.fstat(self._file.fileno()).st_ino == self._path.stat().st_ino
        return self if is_it else self._file

    def __enter__(self) -> "EditedMeanwhile":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._file.close()

    def fileno(self) -> int:
        return self._file.fileno()

    def read(self, size: int = -1) -> Any:
        content = self._file.read(size)
        if not self.edited:
            self.edited = True
            self._edit(self._path)
        return content


def write_more(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more\n")


def replace_it(path: Path) -> None:
    path.with_name("aside").write_bytes(path.read_bytes())
    path.with_name("aside").rename(path)


@pytest.mark.parametrize("name", ["main.py", "tests/1.in", "tests/1.out"])
@pytest.mark.parametrize("edit", [write_more, replace_it])
async def test_a_file_that_is_edited_while_it_is_read_has_no_stamp_until_it_is_read_again(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch, name: str, edit: Callable[[Path], None]
) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"2\n")])
    for each in ("main.py", "tests/1.in", "tests/1.out"):
        os.utime(place.path(TASK, *each.split("/")), ns=(1, 1))
    edited = EditedMeanwhile(place.path(TASK, *name.split("/")), edit)
    monkeypatch.setattr(task_folders, "open", edited.open, raising=False)
    first = stamps(await place.find(TASK))
    assert edited.edited
    second = stamps(await place.find(TASK))
    assert [each for each, stamp in first.items() if stamp is None] == [name]
    assert all(second.values())
    assert second[name] == (await place.stamps(TASK, 1))[["main.py", "tests/1.in", "tests/1.out"].index(name)]


async def test_a_solution_that_cannot_be_read_is_told_from_one_that_can(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"2\n")])
    main = place.path(TASK, "main.py")

    def closed(file: int | Path, mode: str) -> Any:
        if file == main:
            raise PermissionError(13, "Permission denied", str(file))
        return open(file, mode)

    monkeypatch.setattr(task_folders, "open", closed, raising=False)
    found = await place.find(TASK)
    assert (found.main, found.main_stamp) == (b"", (await place.stamps(TASK, 1)).main)
    monkeypatch.undo()
    assert (await place.find(TASK)).main == fingerprint(main.read_bytes()).digest()


def stamps(found: Found) -> dict[str, object]:
    given, wanted = found.cases[1]
    return {"main.py": found.main_stamp, "tests/1.in": given.stamp, "tests/1.out": wanted.stamp}


async def test_a_folder_that_is_gone_is_told_from_one_without_tests(place: TaskFolders) -> None:
    assert not (await place.find(TASK)).exists
    await place.add(TASK, lambda found: [])
    assert (await place.find(TASK)).exists
    assert await place.present([TASK, ("abc1", "other"), ("none", "x")]) == [True, False, False]
    shutil.rmtree(place.path(TASK))
    found = await place.find(TASK)
    assert (found.exists, found.has_main, found.cases) == (False, False, {})


async def test_a_case_that_is_taken_meanwhile_is_not_written_over(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"1\n")])
    with pytest.raises(FileExistsError):
        await place.add(TASK, lambda found: [(1, b"2\n", b"2\n")])
    assert await place.read(TASK, 1, "in") == b"1\n"


async def test_tests_may_lie_deeper(tmp_path: Path) -> None:
    place = folders(tmp_path, tests_dir="data/samples")
    await place.add(TASK, lambda found: [(1, b"1\n", b"")])
    assert (tmp_path / "abc1/abc1_a/data/samples/1.in").read_bytes() == b"1\n"
    assert place.case_paths(TASK, 1)[0] == tmp_path / "abc1/abc1_a/data/samples/1.in"
    assert await place.tasks() == [TASK]


async def test_tasks_are_the_folders_with_tests_in_them(place: TaskFolders, tmp_path: Path) -> None:
    await place.add(("b", "two"), lambda found: [(1, b"", b"")])
    await place.add(("b", "none"), lambda found: [])
    await place.add((".git", "x"), lambda found: [(1, b"", b"")])
    await place.add(("a", "one"), lambda found: [(1, b"", b"")])
    (place.root / "link").symlink_to(place.root / "a")
    (place.root / "file").write_bytes(b"")
    assert await place.tasks() == [("a", "one"), ("b", "two")]


async def test_a_folder_that_cannot_be_looked_into_hides_no_other(place: TaskFolders) -> None:
    await place.add(("b", "two"), lambda found: [(1, b"", b"")])
    for name in ("file", "link"):
        (place.root / "a" / name).mkdir(parents=True)
    (place.root / "a" / "file" / "tests").write_bytes(b"")
    (place.root / "a" / "link" / "tests").symlink_to(place.root / "b" / "two" / "tests")
    assert await place.tasks() == [("b", "two")]


async def test_a_solution_is_a_file(place: TaskFolders) -> None:
    place.path(TASK, "main.py").mkdir(parents=True)
    assert not (await place.find(TASK)).has_main


async def test_where_there_is_no_workspace_there_are_no_tasks(place: TaskFolders) -> None:
    assert await place.tasks() == []
    assert not place.root.exists()


async def test_of_a_large_workspace_only_the_first_tasks_are_found(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_folders, "MOST_FOLDERS", 2)
    for name in "abc":
        await place.add(("x", name), lambda found: [(1, b"", b"")])
    assert await place.tasks() == [("x", "a"), ("x", "b")]


# -- a folder for one run


async def test_a_private_folder_holds_the_input_and_is_gone_afterwards(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"1 2\n", b"3\n")])
    async with place.private(TASK, 1, "sum.in") as private:
        assert (private.path / "sum.in").read_bytes() == b"1 2\n"
        assert place.root not in private.path.parents
        (private.path / "sum.out").write_bytes(b"3\n")
        assert await private.read("sum.out", 100) == b"3\n"
        assert await private.read("sum.out", 1) == b"3"
    assert not private.path.exists()


async def test_a_private_folder_without_an_input_is_empty(place: TaskFolders) -> None:
    async with place.private(TASK, 1, None) as private:
        assert os.listdir(private.path) == []
        assert await private.read("sum.out", 100) is None


async def test_what_a_program_leaves_instead_of_its_output_is_no_output(place: TaskFolders) -> None:
    async with place.private(TASK, 1, None) as private:
        (private.path / "link").symlink_to("/etc/passwd")
        os.mkfifo(private.path / "pipe")
        (private.path / "folder").mkdir()
        for name in ("link", "pipe", "folder"):
            assert await private.read(name, 100) is None


async def test_a_private_folder_is_gone_also_when_the_run_is_cancelled(place: TaskFolders) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"")])
    with trio.CancelScope() as scope:
        async with place.private(TASK, 1, "a.in") as private:
            (private.path / "deep").mkdir()
            scope.cancel()
            await trio.lowlevel.checkpoint()
    with trio.fail_after(PATIENCE):
        while private.path.exists():  # noqa: ASYNC110  it is the disk that is asked
            await trio.sleep(0.005)


async def test_nobody_waits_while_a_full_private_folder_is_removed(
    place: TaskFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = threading.get_ident()
    removed_in = []

    def clear_away(folder: Path) -> None:
        removed_in.append(threading.get_ident())
        clearance.clear_away(folder)

    monkeypatch.setattr(task_folders, "clear_away", clear_away)
    async with place.private(TASK, 1, None) as private:
        pass
    assert not private.path.exists()
    assert removed_in
    assert here not in removed_in


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private folders are."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


async def test_without_its_input_there_is_no_private_folder(place: TaskFolders, temporary: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with place.private(TASK, 1, "a.in"):
            raise AssertionError("there is a folder")
    assert os.listdir(temporary) == []


async def test_private_folders_of_a_server_that_was_killed_are_swept_away(place: TaskFolders, temporary: Path) -> None:
    process = await trio.run_process(["/bin/sh", "-c", "echo $$"], capture_stdout=True)
    gone = int(process.stdout)
    lives, born = os.getppid(), task_folders._born(os.getppid())
    stay = ["mine", "troupe-judge-x", f"troupe-judge-{lives}-x", f"troupe-judge-{lives}.{born}-x"]
    others = [f"troupe-judge-{gone}-x", f"troupe-judge-{gone}.1-x", f"troupe-judge-{lives}.1-x"]
    for name in (*stay, *others):
        (temporary / name / "deep").mkdir(parents=True)
    assert await place.tasks() == []
    with trio.fail_after(PATIENCE):
        while len(os.listdir(temporary)) > len(stay):  # noqa: ASYNC110  it is the disk that is asked
            await trio.sleep(0.005)
    assert sorted(os.listdir(temporary)) == sorted(stay)


ODD = ["", "0", "x", "-1", "1.x", "٣", "1" * 200, str(1 << 31), str(1 << 63), "1\n", "\udcff"]
"""Numbers of no process."""


@pytest.mark.parametrize("number", ODD)
def test_whoever_names_a_folder_like_ours_keeps_nobody_from_sweeping(temporary: Path, number: str) -> None:
    """All accounts may make folders there."""
    odd = temporary / f"troupe-judge-{number}-x"
    odd.mkdir()
    task_folders._sweep(temporary)
    assert odd.exists()


# -- bad disks


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A disk from which nothing comes until this is set. Set itself when somebody waits for it."""
    answers, asked = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> bytes:
        asked.set()
        assert answers.wait(PATIENCE)
        return b""

    monkeypatch.setattr(Rooted, "read", hang)
    monkeypatch.setattr(Rooted, "write_new", hang)
    monkeypatch.setattr(shutil, "copyfileobj", hang)
    yield asked
    answers.set()


@pytest.mark.parametrize("call", ["add", "read", "private"])
async def test_whoever_is_cancelled_while_a_disk_hangs_leaves_it_behind(
    place: TaskFolders, temporary: Path, call: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"")])
    asked = request.getfixturevalue("hanging")
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(CALLS[call], place)
            await trio.to_thread.run_sync(asked.wait)
            nursery.cancel_scope.cancel()
        while os.listdir(temporary):  # noqa: ASYNC110  it is the disk that is asked
            await trio.sleep(0.005)


async def test_a_private_folder_that_is_there_too_late_is_cleared_away(
    place: TaskFolders, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.add(TASK, lambda found: [(1, b"1\n", b"")])
    asked, answers, made = threading.Event(), threading.Event(), threading.Event()
    mkdir = Path.mkdir

    def late(path: Path, mode: int) -> None:
        asked.set()
        assert answers.wait(PATIENCE)
        mkdir(path, mode)
        made.set()

    monkeypatch.setattr(Path, "mkdir", late)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(enter_private, place)
            await trio.to_thread.run_sync(asked.wait)
            nursery.cancel_scope.cancel()
        while any(each.name.startswith("clearing ") for each in threading.enumerate()):  # noqa: ASYNC110
            await trio.sleep(0.005)
        answers.set()
        await trio.to_thread.run_sync(made.wait)
        while os.listdir(temporary):  # noqa: ASYNC110  it is the disk that is asked
            await trio.sleep(0.005)


async def enter_private(place: TaskFolders) -> None:
    async with place.private(TASK, 1, "a.in"):
        raise AssertionError("it was laid out")


CALLS: dict[str, Callable[[TaskFolders], Awaitable[object]]] = {
    "add": lambda place: place.add(TASK, lambda found: [(2, b"2\n", b"")]),
    "read": lambda place: place.read(TASK, 1, "in"),
    "private": enter_private,
}


async def test_in_a_read_only_workspace_nothing_is_written(tmp_path: Path) -> None:
    with read_only_disk(tmp_path / "fixed") as disk:
        with pytest.raises(OSError, match=r"Read-only file system|Permission denied"):
            await folders(disk).add(TASK, lambda found: [(1, b"", b"")])
        assert await folders(disk).tasks() == []


if MAY_MOUNT:

    async def test_on_a_full_disk_whole_cases_are_there_and_the_rest_comes_later(tmp_path: Path) -> None:
        with small_disk(tmp_path / "small") as disk:
            place = folders(disk)
            cases = [(number, b"x" * 200_000, b"y" * 200_000) for number in range(1, 5)]
            with pytest.raises(OSError, match="No space left"):
                await place.add(TASK, lambda found: cases)
            found = await place.find(TASK)
            assert list(found.cases) == [1, 2]
            assert all(text.size == 200_000 for case in found.cases.values() for text in case)
            for path in (disk / "abc1/abc1_a/tests").iterdir():
                path.unlink()
            await place.add(TASK, lambda found: cases[2:])
            assert list((await place.find(TASK)).cases) == [3, 4]
