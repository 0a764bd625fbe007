"""A folder that nothing leads out of, on a real disk."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transports.folder.disks import MAY_MOUNT, read_only_disk, small_disk
from transports.folder.rooted import ClosedFolder, NotPlain, Rooted

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(tmp_path: Path) -> Rooted:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"secret")
    return Rooted(tmp_path / "root")


def outside(place: Rooted) -> Path:
    return place.root.parent / "outside"


# -- reading and writing


def test_what_is_written_is_read(place: Rooted) -> None:
    place.write_new(("a", "b"), {"1.out": b"3\n", "1.in": b""})
    assert place.read(("a", "b", "1.out")) == b"3\n"
    assert place.read(("a", "b", "1.in")) == b""
    assert place.read(("a", "b", "1.out"), 1) == b"3"
    assert sorted(place.entries(("a", "b"))) == ["1.in", "1.out"]
    assert place.folders(("a",)) == ["b"]


def test_files_are_as_readable_as_any_other(place: Rooted) -> None:
    before = os.umask(0o022)
    try:
        place.write_new((), {"a": b""})
    finally:
        os.umask(before)
    assert (place.root / "a").stat().st_mode & 0o777 == 0o644


def test_where_there_is_no_folder_there_is_nothing(place: Rooted) -> None:
    assert place.entries(("a",)) == {}
    assert place.folders(("a",)) == []
    with pytest.raises(FileNotFoundError):
        place.read(("a", "b"))
    assert not place.root.exists()


def test_hidden_folders_are_not_listed(place: Rooted) -> None:
    for name in (".git", "b", "a"):
        (place.root / name).mkdir(parents=True)
    assert place.folders(()) == ["a", "b"]


# -- never over another


def test_nothing_is_written_over_another(place: Rooted) -> None:
    place.write_new((), {"a": b"first"})
    with pytest.raises(FileExistsError):
        place.write_new((), {"a": b"second"})
    assert place.read(("a",)) == b"first"
    assert list(place.entries(())) == ["a"]


@pytest.mark.parametrize("kind", ["folder", "link", "dangling link", "pipe"])
def test_whatever_has_the_name_already_stays(place: Rooted, kind: str) -> None:
    place.root.mkdir()
    taken = place.root / "a"
    match kind:
        case "folder":
            taken.mkdir()
        case "link":
            taken.symlink_to(outside(place) / "secret")
        case "dangling link":
            taken.symlink_to(outside(place) / "new")
        case _:
            os.mkfifo(taken)
    with pytest.raises(FileExistsError):
        place.write_new((), {"a": b"mine"})
    assert sorted(path.name for path in outside(place).iterdir()) == ["secret"]
    assert (outside(place) / "secret").read_bytes() == b"secret"
    assert os.listdir(place.root) == ["a"]


def no_links(*args: object, **options: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_where_there_are_no_links_nothing_is_written_over_another_either(
    place: Rooted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", no_links)
    place.write_new((), {"a": b"first"})
    with pytest.raises(FileExistsError):
        place.write_new((), {"a": b"second"})
    assert place.read(("a",)) == b"first"
    assert os.listdir(place.root) == ["a"]


@pytest.mark.slow
def test_of_two_that_write_the_same_name_at_once_one_is_first(place: Rooted) -> None:
    outcomes: list[str] = []
    barrier = threading.Barrier(8)

    def write(content: bytes) -> None:
        barrier.wait()
        try:
            place.write_new(("x",), {"a": content})
            outcomes.append("written")
        except FileExistsError:
            outcomes.append("refused")

    threads = [threading.Thread(target=write, args=(bytes([65 + number]) * 9,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 7 + ["written"]
    content = place.read(("x", "a"))
    assert content == content[:1] * 9
    assert os.listdir(place.root / "x") == ["a"]


# -- names


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/etc/passwd", "a\0b", "x" * 256, "é" * 200, "../outside/secret"]
)
def test_what_is_no_name_is_refused(place: Rooted, name: str) -> None:
    place.root.mkdir()
    calls: list[Callable[[], object]] = [
        lambda: place.read((name,)),
        lambda: place.read((name, "a")),
        lambda: place.entries((name,)),
        lambda: place.folders((name,)),
        lambda: place.write_new((name,), {"a": b""}),
        lambda: place.write_new((), {name: b""}),
    ]
    for call in calls:
        with pytest.raises(NotPlain, match="cannot be the name of a file or folder"):
            call()
    assert os.listdir(place.root) == []


# -- nothing leads out


def test_a_link_is_not_followed(place: Rooted) -> None:
    place.root.mkdir()
    (place.root / "file").symlink_to(outside(place) / "secret")
    (place.root / "folder").symlink_to(outside(place))
    with pytest.raises(OSError, match="symbolic links"):
        place.read(("file",))
    with pytest.raises(NotPlain, match="folder is a file or a link, and not a folder"):
        place.read(("folder", "secret"))
    with pytest.raises(NotPlain):
        place.write_new(("folder", "new"), {"a": b""})
    with pytest.raises(NotPlain):
        place.entries(("folder",))
    assert place.folders(()) == []
    assert place.entries(()) == {"file": None, "folder": None}
    assert os.listdir(outside(place)) == ["secret"]


def test_the_root_itself_may_be_a_link(place: Rooted) -> None:
    place.root.symlink_to(outside(place))
    assert place.read(("secret",)) == b"secret"


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere_else(
    place: Rooted, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write_new(("a", "b"), {"x": b"mine"})
    (outside(place) / "b").mkdir()
    opens = os.open
    done: list[bool] = []

    def swap(path: str, *args: int, **options: int) -> int:
        if path == "b" and not done:
            done.append(True)
            (place.root / "a").rename(place.root / "away")
            (place.root / "a").symlink_to(outside(place))
        return opens(path, *args, **options)

    monkeypatch.setattr(os, "open", swap)
    place.write_new(("a", "b"), {"y": b"mine"})
    assert os.listdir(outside(place) / "b") == []
    assert sorted(os.listdir(place.root / "away" / "b")) == ["x", "y"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
def test_only_a_plain_file_is_read_and_a_pipe_holds_nobody_up(place: Rooted, kind: str, tmp_path: Path) -> None:
    place.root.mkdir()
    match kind:
        case "folder":
            (place.root / "a").mkdir()
        case "pipe":
            os.mkfifo(place.root / "a")
        case _:
            os.mknod(place.root / "a", 0o140600)
    with pytest.raises(OSError):  # noqa: PT011 - NotPlain, or ENXIO for a socket
        place.read(("a",))
    assert place.entries(()) == {"a": None}


def test_an_entry_changes_with_its_file(place: Rooted) -> None:
    place.write_new((), {"a": b"12"})
    os.utime(place.root / "a", ns=(1, 7_000_000_000))
    entry = place.entries(())["a"]
    assert entry is not None
    assert entry[:2] == (2, 7_000_000_000)
    (place.root / "a").write_bytes(b"34")
    os.utime(place.root / "a", ns=(1, 7_000_000_000))  # as what unpacks or copies does
    assert place.entries(())["a"] != entry


def test_a_file_that_goes_while_the_folder_is_listed_is_left_out(
    place: Rooted, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write_new((), {"a": b"", "b": b""})
    scan = os.scandir

    class Listing:
        def __init__(self, here: int) -> None:
            self._entries = list(scan(here))

        def __enter__(self) -> list[os.DirEntry[str]]:
            (place.root / "a").unlink()
            return self._entries

        def __exit__(self, *args: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Listing)
    assert list(place.entries(())) == ["b"]


# -- whole or not at all


WRITER = """
import sys
from pathlib import Path
from transports.folder.rooted import Rooted
place = Rooted(Path(sys.argv[1]))
first = int(sys.argv[2])
print("go", flush=True)
for number in range(first, first + 100_000):
    place.write_new(("t",), {f"{number}.out": b"o" * 300_000, f"{number}.in": b"i" * 300_000})
    print(number, flush=True)
"""


@pytest.mark.slow
def test_who_is_killed_while_writing_leaves_whole_files_or_none(place: Rooted) -> None:
    said: list[int] = []
    for life in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(place.root), str(life * 1_000_000)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        said += [int(writer.stdout.readline()) for _ in range(1 + life)]
        os.kill(writer.pid, signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split()]
        writer.stdout.close()
        writer.wait()
        for name, entry in place.entries(("t",)).items():
            assert name.endswith(".draft") or (entry is not None and entry.size == 300_000)
        for number in said:
            assert place.read(("t", f"{number}.out")) == b"o" * 300_000
            assert place.read(("t", f"{number}.in")) == b"i" * 300_000
    place.write_new(("t",), {"last": b""})
    assert not [name for name in os.listdir(place.root / "t") if name.endswith(".draft")]


def test_a_draft_of_somebody_who_lives_is_not_swept_away(place: Rooted) -> None:
    place.root.mkdir()
    living, other = f".{os.getppid()}-{'0' * 12}.draft", ".notes.draft"
    dead_with_our_number = f".{os.getpid()}-{'0' * 12}.draft"
    for name in (living, other, dead_with_our_number):
        (place.root / name).write_bytes(b"")
    place.write_new((), {"a": b""})
    assert sorted(os.listdir(place.root)) == sorted((living, other, "a"))


def no_nameless(place: Path) -> bool:
    try:
        os.close(os.open(place, os.O_WRONLY | getattr(os, "O_TMPFILE", os.O_CREAT)))
    except OSError:
        return True
    return False


@pytest.mark.skipif(no_nameless(Path(tempfile.gettempdir())), reason="there are no files without a name on this disk")
def test_what_is_being_written_has_no_name_until_it_is_whole(place: Rooted, monkeypatch: pytest.MonkeyPatch) -> None:
    place.root.mkdir()
    seen, sync = [], os.fsync

    def look(descriptor: int) -> None:
        seen.append(os.listdir(place.root))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    place.write_new((), {"a": b"x"})
    assert seen == [[], ["a"]]


@pytest.mark.parametrize("missing", ["nameless files", "/proc"])
def test_where_there_are_no_files_without_a_name_a_draft_is_renamed(
    place: Rooted, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    opened, link, drafts = os.open, os.link, []

    def no_tmpfile(path: str, flags: int, *args: Any, **options: Any) -> int:
        if missing == "nameless files" and path == ".":
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        drafts.append(path)
        return opened(path, flags, *args, **options)

    def no_proc(source: str, *args: Any, **options: Any) -> None:
        if missing == "/proc" and source.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        link(source, *args, **options)

    monkeypatch.setattr(os, "open", no_tmpfile)
    monkeypatch.setattr(os, "link", no_proc)
    place.write_new((), {"a": b"x"})
    with pytest.raises(FileExistsError):
        place.write_new((), {"a": b"y"})
    assert [str(each).endswith(".draft") for each in drafts].count(True) == 2
    assert os.listdir(place.root) == ["a"]
    assert place.read(("a",)) == b"x"


def test_a_disk_that_fails_leaves_neither_file_nor_draft(place: Rooted, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    place.root.mkdir()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        place.write_new((), {"a": b"x"})
    assert os.listdir(place.root) == []


if MAY_MOUNT:

    def test_a_full_disk_leaves_neither_file_nor_draft_and_takes_more_when_there_is_room(tmp_path: Path) -> None:
        with small_disk(tmp_path / "small") as disk:
            place = Rooted(disk)
            place.write_new(("a",), {"ballast": b"x" * 900_000})
            with pytest.raises(OSError, match="No space left"):
                place.write_new(("a",), {"1.out": b"y", "1.in": b"x" * 900_000})
            assert sorted(os.listdir(disk / "a")) == ["1.out", "ballast"]
            (disk / "a" / "ballast").unlink()
            place.write_new(("a",), {"1.in": b"x" * 500_000})
            assert len(place.read(("a", "1.in"))) == 500_000


def test_in_a_read_only_folder_nothing_is_written(tmp_path: Path) -> None:
    with (
        read_only_disk(tmp_path / "fixed") as disk,
        pytest.raises(OSError, match=r"Read-only file system|Permission denied"),
    ):
        Rooted(disk).write_new(("a",), {"b": b""})


def test_a_closed_folder_is_entered_by_no_name_and_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "closed" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to("closed")
    status = (tmp_path / "closed").stat()
    place = Rooted(tmp_path, closed={(status.st_dev, status.st_ino)})
    before = len(os.listdir("/proc/self/fd"))
    for names in (("closed",), ("closed", "below"), ("link",), ("link", "below")):
        for call in (place.entries, place.folders):
            with pytest.raises((ClosedFolder, NotPlain)):
                call(names)
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_descriptor_is_left_open(place: Rooted) -> None:
    def all_of_it() -> None:
        place.write_new(("a", "b", "c"), {f"{number}": b"x" for number in range(20)})
        for call in (place.entries, place.folders, place.read):
            for names in (("a", "b"), ("a", "nothing"), ("a", "b", "c", "1"), ("a", "..")):
                try:
                    call(names)
                except OSError:
                    continue

    before = len(os.listdir("/proc/self/fd"))
    all_of_it()
    assert len(os.listdir("/proc/self/fd")) == before
