"""Files that others use too are replaced in groups, on a real disk: exactly right, or left alone."""

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.agent.files import digest_of
from tests.transports.folder.disks import MAY_MOUNT, read_only_disk, small_disk
from transports.folder import drafts, swapping
from transports.folder.drafts import FEW, MANY, THREADS
from transports.folder.fitness import ChangedSince, NotFit
from transports.folder.replacing import FileSwap, Unsure, change_files
from transports.folder.rooted import NotPlain, Rooted
from transports.folder.whole_files import LARGEST, file_images, opened

ROOT = Path(__file__).parents[3]
SECRET = b"the secret outside"
OLD, NEW = b"old\n", b"new and longer\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_bytes(SECRET)
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def rooted(root: Path) -> Rooted:
    return Rooted(root, firm=True)


def swap(path: str, before: bytes | None, data: bytes | None, mode: int | None = None) -> FileSwap:
    return FileSwap(tuple(path.split("/")), None if before is None else digest_of(before), data, mode)


def put(root: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def everything(root: Path) -> dict[str, bytes | str]:
    """Every name below, with its content, or what it is."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_dir():
            found[f"{name}/"] = "folder"
        else:
            found[name] = path.read_bytes() if path.is_file() else "something"
    return found


@pytest.mark.parametrize("data", [NEW, None])
@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling link", "pipe"])
def test_what_is_to_be_absent_and_is_there_in_whatever_shape_is_left_alone(
    root: Path, kind: str, data: bytes | None
) -> None:
    match kind:
        case "file":
            put(root, {"a": OLD})
        case "folder":
            (root / "a").mkdir()
        case "pipe":
            os.mkfifo(root / "a")
        case _:
            (root / "a").symlink_to("nowhere" if kind == "dangling link" else "../outside/a.txt")
    before = everything(root)
    steps: list[str] = []
    (answer,) = change_files(rooted(root), [swap("a", None, data)], steps.append)
    assert isinstance(answer, ChangedSince)
    assert str(answer) == "is there already"
    assert everything(root) == before
    assert "renamed" not in steps  # it was seen before anything was begun


# -- what is wanted is done


def test_a_group_replaces_makes_and_deletes(root: Path) -> None:
    put(root, {"a.txt": OLD, "src/b.txt": OLD, "src/c.txt": OLD, "keep": OLD})
    answers = change_files(
        rooted(root),
        [
            swap("a.txt", OLD, NEW),
            swap("src/b.txt", OLD, None),
            swap("src/c.txt", OLD, b""),
            swap("src/deep/er/d.txt", None, NEW),
            swap("not/there", None, None),
        ],
    )
    assert answers == [digest_of(NEW), None, digest_of(b""), digest_of(NEW), None]
    assert everything(root) == {
        "a.txt": NEW,
        "keep": OLD,
        "src/": "folder",
        "src/c.txt": b"",
        "src/deep/": "folder",
        "src/deep/er/": "folder",
        "src/deep/er/d.txt": NEW,
    }


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    there=st.dictionaries(
        st.sampled_from([f"{folder}{name}" for folder in ("", "x/", "x/y/", "z/") for name in "abc"]),
        st.binary(max_size=5),
        max_size=9,
    ),
    wanted=st.dictionaries(
        st.sampled_from([f"{folder}{name}" for folder in ("", "x/", "x/y/", "z/") for name in "abc"]),
        st.tuples(st.one_of(st.none(), st.binary(max_size=5)), st.booleans()),
        max_size=12,
    ),
)
def test_each_file_of_any_group_is_as_wanted_if_it_was_as_expected_and_else_as_before(
    tmp_path_factory: pytest.TempPathFactory,
    there: dict[str, bytes],
    wanted: dict[str, tuple[bytes | None, bool]],
) -> None:
    root = tmp_path_factory.mktemp("root")
    put(root, there)
    swaps, expected = [], dict(there)
    for path, (data, honest) in wanted.items():
        before = there.get(path) if honest else b"something else"
        swaps.append(swap(path, before, data))
        if honest and data is None:
            expected.pop(path, None)
        elif honest:
            assert data is not None
            expected[path] = data
    answers = change_files(rooted(root), swaps)
    for (path, (data, honest)), answer in zip(wanted.items(), answers, strict=True):
        if honest:
            assert answer == (None if data is None else digest_of(data)), path
        else:
            assert isinstance(answer, ChangedSince), path
    assert {name: data for name, data in everything(root).items() if data != "folder"} == expected
    folders = {str(folder) for path in (*there, *expected) for folder in Path(path).parents} - {"."}
    assert {name.rstrip("/") for name, data in everything(root).items() if data == "folder"} == folders


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o644, 0o700, 0o664])
def test_permissions_stay_as_they_are(root: Path, mode: int) -> None:
    put(root, {"run.sh": OLD})
    (root / "run.sh").chmod(mode)
    assert change_files(rooted(root), [swap("run.sh", OLD, NEW)]) == [digest_of(NEW)]
    assert (root / "run.sh").stat().st_mode & 0o7777 == mode


def test_a_new_file_has_the_permissions_that_are_given_or_those_of_any_new_file(root: Path) -> None:
    before = os.umask(0o027)
    try:
        change_files(rooted(root), [swap("a", None, NEW), swap("b", None, NEW, 0o755), swap("c/d", None, NEW, 0o600)])
    finally:
        os.umask(before)
    assert [(root / name).stat().st_mode & 0o7777 for name in ("a", "b", "c/d", "c")] == [0o640, 0o755, 0o600, 0o750]


def test_rights_of_other_accounts_are_given_to_no_file(root: Path) -> None:
    (answer,) = change_files(rooted(root), [swap("a", None, NEW, 0o4755)])
    assert isinstance(answer, NotFit)
    assert everything(root) == {}


def test_the_user_s_attributes_and_group_stay(root: Path) -> None:
    put(root, {"a": OLD})
    try:
        os.setxattr(root / "a", "user.note", b"mine")
    except OSError:
        pytest.skip("there are no attributes on this disk")
    if os.geteuid() == 0:
        os.chown(root / "a", -1, 12345)
    group = (root / "a").stat().st_gid
    assert change_files(rooted(root), [swap("a", OLD, NEW)]) == [digest_of(NEW)]
    assert os.getxattr(root / "a", "user.note") == b"mine"
    assert (root / "a").stat().st_gid == group


@pytest.mark.parametrize(
    "name", ["naïve.py", "日本語.txt", unicodedata.normalize("NFD", "é.txt"), "a b'\"$(x).txt", "-rf"]
)
def test_names_are_taken_letter_for_letter(root: Path, name: str) -> None:
    others = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")} - {name}
    put(root, dict.fromkeys(others, OLD))
    assert change_files(rooted(root), [swap(name, None, NEW)]) == [digest_of(NEW)]
    assert change_files(rooted(root), [swap(name, NEW, OLD)]) == [digest_of(OLD)]
    assert change_files(rooted(root), [swap(name, OLD, None)]) == [None]
    assert everything(root) == dict.fromkeys(others, OLD)


def test_names_that_differ_in_capitals_are_different_files(root: Path) -> None:
    put(root, {"Readme": OLD, "README": b"other"})
    assert change_files(rooted(root), [swap("Readme", OLD, NEW)]) == [digest_of(NEW)]
    assert everything(root) == {"README": b"other", "Readme": NEW}


def test_where_capitals_do_not_count_only_the_disk_s_own_spelling_does(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS: a policy that closes `secret/` closes `Secret/` with it."""
    put(root, {"secret/Key.txt": OLD})
    opens, stats = os.open, os.stat

    def spelled(path: object, here: object) -> object:
        if isinstance(path, str) and isinstance(here, int):
            return next((name for name in os.listdir(here) if name.lower() == path.lower()), path)
        return path

    monkeypatch.setattr(os, "open", lambda path, *args, **options: opens(spelled(path, options.get("dir_fd")), *args, **options))  # type: ignore[arg-type]  # noqa: E501
    monkeypatch.setattr(os, "stat", lambda path, **options: stats(spelled(path, options.get("dir_fd")), **options))  # type: ignore[arg-type]
    for path in ("Secret/Key.txt", "secret/key.txt", "SECRET/KEY.TXT"):
        (image,) = file_images(rooted(root), [tuple(path.split("/"))], LARGEST)
        (answer,) = change_files(rooted(root), [swap(path, OLD, NEW)])
        assert isinstance(image, NotFit), path
        assert isinstance(answer, NotFit), path
    assert change_files(rooted(root), [swap("secret/Key.txt", OLD, NEW)]) == [digest_of(NEW)]


# -- what is not fit is left alone


def leave(root: Path, *swaps: FileSwap) -> list[OSError]:
    """Nothing is changed, and nothing is left behind."""
    before = everything(root.parent)
    answers = change_files(rooted(root), swaps)
    assert everything(root.parent) == before
    assert all(isinstance(answer, OSError) for answer in answers), answers
    return [answer for answer in answers if isinstance(answer, OSError)]


@pytest.mark.parametrize("data", [NEW, None])
@pytest.mark.parametrize("kind", ["link", "dangling link", "link within", "folder", "pipe", "socket", "device"])
def test_what_is_no_plain_file_is_not_even_opened(root: Path, kind: str, data: bytes | None) -> None:
    taken = root / "a.txt"
    put(root, {"other": OLD})
    match kind:
        case "link":
            taken.symlink_to(root.parent / "outside" / "a.txt")
        case "dangling link":
            taken.symlink_to(root.parent / "outside" / "none")
        case "link within":
            taken.symlink_to("other")
        case "folder":
            taken.mkdir()
        case "pipe":
            os.mkfifo(taken)
        case "socket":
            os.mknod(taken, 0o140600)
        case _:
            try:
                os.mknod(taken, 0o020600, os.makedev(1, 3))
            except PermissionError:
                pytest.skip("this account may make no devices")
    (image,) = file_images(rooted(root), [("a.txt",)], LARGEST)
    assert isinstance(image, NotPlain)
    for before in (SECRET, OLD, b""):
        (error,) = leave(root, swap("a.txt", before, data))
        assert isinstance(error, NotPlain)
    if data is not None:
        (error,) = leave(root, swap("a.txt", None, data))
        assert isinstance(error, ChangedSince)


@pytest.mark.parametrize("path", ["link/a.txt", "link/new/b.txt", "inner/link/a.txt", "file/a.txt"])
def test_a_folder_that_is_none_is_not_entered(root: Path, path: str) -> None:
    put(root, {"file": OLD, "inner/x": OLD})
    (root / "link").symlink_to(root.parent / "outside")
    (root / "inner" / "link").symlink_to("../../outside")
    for before in (SECRET, None):
        (error,) = leave(root, swap(path, before, NEW))
        assert isinstance(error, NotPlain)


def test_a_root_that_is_a_link_is_not_entered(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    (answer,) = change_files(Rooted(link, firm=True), [swap("a", None, NEW)])
    assert isinstance(answer, OSError)
    assert everything(root) == {}


@pytest.mark.parametrize(
    "path",
    [".git/config", "src/.git/hooks/pre-commit", ".GIT/config", ".git", ".Git /x", "git~1/config", ".g\u200cit/x"],
)
def test_git_s_own_files_are_closed_at_every_depth(root: Path, path: str) -> None:
    put(root, {path: OLD})
    names = tuple(path.split("/"))
    for each in (swap(path, OLD, NEW), swap(path, OLD, None), swap(path, None, NEW)):
        (error,) = leave(root, each)
        assert isinstance(error, NotPlain)
    assert isinstance(file_images(rooted(root), [names], LARGEST)[0], NotPlain)


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b", "x" * 256, "/etc/passwd", "../outside/a.txt"])
def test_what_is_no_name_leads_nowhere(root: Path, name: str) -> None:
    for names in ((name,), ("x", name), (name, "x"), ()):
        (answer,) = change_files(rooted(root), [FileSwap(names, None, NEW)])
        assert isinstance(answer, NotPlain)
        assert isinstance(file_images(rooted(root), [names], LARGEST)[0], NotPlain)
    assert everything(root.parent) == {"outside/": "folder", "outside/a.txt": SECRET, "root/": "folder"}


@pytest.mark.parametrize("data", [NEW, None])
@pytest.mark.parametrize("where", ["inside", "outside"])
def test_a_file_with_two_names_keeps_them(root: Path, where: str, data: bytes | None) -> None:
    put(root, {"a": OLD})
    os.link(root / "a", (root if where == "inside" else root.parent / "outside") / "b")
    (error,) = leave(root, swap("a", OLD, data))
    assert "hard link" in str(error)
    assert isinstance(file_images(rooted(root), [("a",)], LARGEST)[0], NotFit)


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6755])
def test_a_file_with_the_rights_of_others_is_left_alone(root: Path, mode: int) -> None:
    put(root, {"a": OLD})
    (root / "a").chmod(mode)
    (error,) = leave(root, swap("a", OLD, NEW))
    assert "set-uid" in str(error)


def test_a_file_of_another_account_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, {"a": OLD})
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    for data in (NEW, None):
        (error,) = leave(root, swap("a", OLD, data))
        assert "another account" in str(error)
    assert isinstance(file_images(rooted(root), [("a",)], LARGEST)[0], NotFit)


@pytest.mark.parametrize("data", [NEW, None])
@pytest.mark.parametrize("what", ["a file", "a folder", "a folder above"])
def test_what_is_read_only_stays_as_it_is_and_can_be_read(root: Path, what: str, data: bytes | None) -> None:
    put(root, {"x/a": OLD})
    closed = {"a file": root / "x" / "a", "a folder": root / "x", "a folder above": root}[what]
    closed.chmod(0o444 if what == "a file" else 0o555)
    try:
        assert file_images(rooted(root), [("x", "a")], LARGEST) == [(OLD, (root / "x" / "a").stat().st_mode & 0o777)]
        if what == "a folder above":
            (error,) = leave(root, swap("y/b", None, NEW))
        else:
            (error,) = leave(root, swap("x/a", OLD, data))
        assert "read-only" in str(error)
    finally:
        closed.chmod(0o755)


def test_a_file_is_named_once_in_a_group(root: Path) -> None:
    put(root, {"a": OLD})
    one, two = change_files(rooted(root), [swap("a", OLD, NEW), swap("a", NEW, OLD)])
    assert one == digest_of(NEW)
    assert isinstance(two, NotFit)


def test_what_is_too_large_is_not_read_whole_and_never_as_it_was(root: Path) -> None:
    with (root / "a").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert isinstance(file_images(rooted(root), [("a",)], 1 << 40)[0], NotFit)
    (error,) = leave(root, swap("a", b"\0" * (LARGEST + 1), NEW))
    assert isinstance(error, ChangedSince)


def test_images_have_a_limit_together(root: Path) -> None:
    put(root, {"a": b"12345", "b": b"12345", "c/d": b"1"})
    first, second, third, missing = file_images(rooted(root), [("a",), ("b",), ("c", "d"), ("no", "ne")], 9)
    assert first == (b"12345", (root / "a").stat().st_mode & 0o777)
    assert isinstance(second, NotFit)
    assert isinstance(third, NotFit)
    assert missing is None


# -- what has changed is left alone


def test_what_is_not_as_it_was_is_left_alone_and_the_others_are_done(root: Path) -> None:
    put(root, {"edited": b"by hand", "same": OLD, "there": OLD})
    answers = change_files(
        rooted(root),
        [
            swap("edited", OLD, NEW),
            swap("gone", OLD, NEW),
            swap("gone/too", OLD, None),
            swap("there", None, NEW),
            swap("there", None, None),
            swap("same", OLD, NEW),
        ],
    )
    assert [type(answer) for answer in answers] == [ChangedSince, ChangedSince, ChangedSince, ChangedSince, NotFit, str]
    assert everything(root) == {"edited": b"by hand", "same": NEW, "there": OLD}


Act = Callable[[Path], None]


def save(path: Path) -> None:
    """As editors do: another file under the same name."""
    path.with_name("saving").write_bytes(b"by hand")
    path.with_name("saving").rename(path)


def become_a_link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.parents[1] / "outside" / "a.txt")


def become_a_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


ACTS: dict[str, Act] = {
    "saved": save,
    "written in place": lambda path: (path.write_bytes(b"by hand"), None)[1],
    "deleted": lambda path: path.unlink(missing_ok=True),
    "a link": become_a_link,
    "a folder": become_a_folder,
}
STEPS = ("drafts written", "drafts synced", "checked")


@pytest.mark.parametrize("data", [NEW, None])
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("step", STEPS)
def test_whatever_somebody_does_with_a_file_before_its_rename_stands(
    root: Path, step: str, act: str, data: bytes | None
) -> None:
    put(root, {"a": OLD, "b": OLD})
    (root.parent / "beside").mkdir()
    ours = root.parent / "beside" / "a"
    ours.write_bytes(OLD)
    ACTS[act](ours)
    acted: list[str] = []

    def at(now: str) -> None:
        if now == step and not acted:
            acted.append(now)
            ACTS[act](root / "a")

    answer, other = change_files(rooted(root), [swap("a", OLD, data), swap("b", OLD, data)], at)
    assert acted
    assert isinstance(answer, OSError)
    assert other == (None if data is None else digest_of(data))
    expected = everything(ours.parent)
    if data is not None:
        expected["b"] = data
    assert everything(root) == expected
    assert (root.parent / "outside" / "a.txt").read_bytes() == SECRET


@pytest.mark.parametrize("act", [act for act in ACTS if act != "deleted"])
@pytest.mark.parametrize("step", ["drafts written", "drafts synced"])
def test_whatever_comes_where_a_file_is_to_be_made_stands(root: Path, step: str, act: str) -> None:
    def at(now: str) -> None:
        if now == step:
            ACTS[act](root / "a")

    (answer,) = change_files(rooted(root), [swap("a", None, NEW)], at)
    there = everything(root)
    assert isinstance(answer, ChangedSince)
    assert list(there) in (["a"], ["a/"])
    assert NEW not in there.values()
    assert (root.parent / "outside" / "a.txt").read_bytes() == SECRET


@pytest.mark.parametrize("again", ["saved", "deleted", "nothing"])
@pytest.mark.parametrize("data", [NEW, None])
def test_who_saves_twice_in_the_middle_loses_neither(root: Path, data: bytes | None, again: str) -> None:
    put(root, {"a": OLD})

    def at(now: str) -> None:
        if now == "checked":
            (root / "a").write_bytes(b"first save")
        elif now in ("exchanged", "moved aside") and again == "saved":
            save(root / "a")
        elif now in ("exchanged", "moved aside") and again == "deleted":
            (root / "a").unlink(missing_ok=True)

    (answer,) = change_files(rooted(root), [swap("a", OLD, data)], at)
    there = everything(root)
    assert isinstance(answer, ChangedSince)
    if again == "saved":
        assert there.pop("a") == b"by hand"
        ((name, kept),) = there.items()
        assert name.startswith("a.")
        assert name.endswith(".saved")
        assert kept == b"first save"
    else:
        assert there == {"a": b"first save"}


def test_who_saves_after_the_replacement_has_the_last_word(root: Path) -> None:
    put(root, {"a": OLD})

    def at(now: str) -> None:
        if now == "exchanged":
            save(root / "a")

    change_files(rooted(root), [swap("a", OLD, NEW)], at)
    assert everything(root) == {"a": b"by hand"}


@pytest.mark.parametrize("missing", ["renameat2", "links, too"])
def test_without_an_exchange_a_file_is_replaced_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def no_links(*args: object, **options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(drafts, "_renameat2", None)
    if missing == "links, too":
        monkeypatch.setattr(os, "link", no_links)
    put(root, {"a": OLD, "b": OLD, "there": OLD, "edited": b"by hand"})
    answers = change_files(
        rooted(root),
        [
            swap("a", OLD, NEW),
            swap("b", OLD, None),
            swap("c", None, NEW),
            swap("there", None, NEW),
            swap("edited", OLD, NEW),
        ],
    )
    assert answers[:3] == [digest_of(NEW), None, digest_of(NEW)]
    assert all(isinstance(answer, ChangedSince) for answer in answers[3:])
    assert everything(root) == {"a": NEW, "c": NEW, "there": OLD, "edited": b"by hand"}


@pytest.mark.parametrize("step", ["drafts written", "drafts synced"])
def test_a_folder_that_is_another_one_now_is_left_alone(root: Path, step: str) -> None:
    put(root, {"x/a": OLD, "b": OLD})

    def at(now: str) -> None:
        if now == step and (root / "x").exists() and not (root / "y").exists():
            (root / "x").rename(root / "y")
            put(root, {"x/a": OLD})

    answer, other = change_files(rooted(root), [swap("x/a", OLD, NEW), swap("b", OLD, NEW)], at)
    assert isinstance(answer, ChangedSince)
    assert other == digest_of(NEW)
    there = everything(root)
    assert (there["x/a"], there["y/a"]) == (OLD, OLD)


def test_permissions_that_change_meanwhile_are_not_overruled(root: Path) -> None:
    put(root, {"a": OLD})

    def at(now: str) -> None:
        if now == "drafts synced":
            (root / "a").chmod(0o700)

    (answer,) = change_files(rooted(root), [swap("a", OLD, NEW)], at)
    assert isinstance(answer, ChangedSince)
    assert (root / "a").stat().st_mode & 0o777 == 0o700
    assert everything(root) == {"a": OLD}


# -- races


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["folder", "file"])
def test_nothing_outside_is_changed_while_links_come_and_go(root: Path, victim: str) -> None:
    """One thread swaps a folder, or a file, for a link to the outside and back, as fast as it can."""
    outside = root.parent / "outside"
    put(root, {"x/a.txt": SECRET})
    (root / "link").symlink_to(outside / "a.txt" if victim == "file" else outside)
    place = root / "x" / "a.txt" if victim == "file" else root / "x"
    stop = threading.Event()

    def attack() -> None:
        here = os.open(root, os.O_RDONLY)
        name, other = place.relative_to(root).as_posix(), "link"
        while not stop.is_set():
            try:
                if drafts._renameat2 is not None:
                    drafts._renameat2(here, os.fsencode(other), here, os.fsencode(name), 2)
            except OSError:
                pass
        os.close(here)

    attacker = threading.Thread(target=attack)
    attacker.start()
    outcomes = set()
    current = SECRET
    try:
        for number in range(400):
            wanted = SECRET + b"%d" % number
            swaps = [swap("x/a.txt", current, wanted), swap(f"x/new{number}.txt", None, NEW)]
            answer, new = change_files(rooted(root), swaps)
            outcomes.add(type(answer).__name__)
            if isinstance(answer, str):
                current = wanted
            if new == digest_of(NEW):
                change_files(rooted(root), [swap(f"x/new{number}.txt", NEW, None)])
            assert everything(outside) == {"a.txt": SECRET}
    finally:
        stop.set()
        attacker.join()
    assert everything(outside) == {"a.txt": SECRET}
    assert len(outcomes) > 1, "the attacker was never in time, or always"


@pytest.mark.slow
@pytest.mark.parametrize("data", [NEW, None])
def test_no_save_of_an_editor_is_lost_whenever_it_comes(root: Path, data: bytes | None) -> None:
    """An editor saves a file by a rename, again and again, while it is changed: whoever was second says so."""
    path = root / "a"
    path.write_bytes(OLD)
    stop, last = threading.Event(), [b""]

    def edit() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            (root / "saving").write_bytes(b"save %d" % number)
            last[0] = b"save %d" % number
            (root / "saving").rename(path)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        for _ in range(300):
            (image,) = file_images(rooted(root), [("a",)], LARGEST)
            if isinstance(image, tuple):
                change_files(rooted(root), [swap("a", image[0], data)])
    finally:
        stop.set()
        editor.join()
    (root / "saving").unlink(missing_ok=True)
    there = everything(root)
    assert there.pop("a", last[0]) in (last[0], NEW)
    assert all(name.endswith(".saved") for name in there), "no draft stays"


# -- bad days


def twenty(before: bytes | None = OLD, size: int = 60_000) -> list[FileSwap]:
    return [swap(f"d{number % 4}/f{number}", before, bytes([number]) * size) for number in range(20)]


if MAY_MOUNT:

    @pytest.mark.parametrize("before", [OLD, None])
    def test_a_disk_that_is_full_in_the_middle_of_twenty_files_changes_none(
        tmp_path: Path, before: bytes | None
    ) -> None:
        with small_disk(tmp_path / "small") as disk:
            if before is not None:
                put(disk, {"/".join(each.names): OLD for each in twenty()})
            there = everything(disk)
            answers = change_files(rooted(disk), twenty(before))
            assert {answer.errno for answer in answers if isinstance(answer, OSError)} == {errno.ENOSPC}
            assert len(answers) == 20
            assert everything(disk) == there
            assert all(isinstance(answer, str) for answer in change_files(rooted(disk), twenty(before, 4_000)))


def test_a_file_that_is_too_large_for_the_system_keeps_its_whole_group_from_being_changed(root: Path) -> None:
    put(root, {"/".join(each.names): OLD for each in twenty()})
    there = everything(root)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        answers = change_files(rooted(root), [swap("d0/f0", OLD, NEW), *twenty()[1:]])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert {answer.errno for answer in answers if isinstance(answer, OSError)} == {errno.EFBIG}
    assert len(answers) == 20
    assert everything(root) == there


def test_a_read_only_disk_is_told(tmp_path: Path) -> None:
    with read_only_disk(tmp_path / "fixed") as disk:
        (answer,) = change_files(rooted(disk), [swap("a", None, NEW)])
    assert isinstance(answer, OSError)


@pytest.mark.parametrize("files", [4, MANY + 1])
def test_a_disk_that_fails_to_sync_drafts_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    put(root, {f"f{number}": OLD for number in range(files)})
    there = everything(root)

    def fail(*args: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(drafts, "sync_data", fail)
    monkeypatch.setattr(drafts.WholeDisk, "sync", lambda self, here: OSError(errno.EIO, "Input/output error"))
    answers = change_files(rooted(root), [swap(f"f{number}", OLD, NEW) for number in range(files)])
    assert {answer.errno for answer in answers if isinstance(answer, OSError)} == {errno.EIO}
    assert everything(root) == there


@pytest.mark.parametrize("before", [OLD, None])
@pytest.mark.parametrize(
    ("number", "is_of_all"),
    [(errno.EIO, True), (errno.ENOSPC, True), (errno.ESTALE, True), (errno.EACCES, False), (errno.EBUSY, False)],
)
def test_a_disk_that_fails_at_a_look_keeps_all_as_they_are_and_an_error_of_one_file_that_one(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_of_all: bool, before: bytes | None
) -> None:
    stat = os.stat

    def fail(path: Any, **how: Any) -> os.stat_result:
        if path == "b":
            raise OSError(number, os.strerror(number))
        return stat(path, **how)

    put(root, {"x": OLD} if before is None else dict.fromkeys("abc", OLD))
    there = everything(root)
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", fail)
        answers = change_files(rooted(root), [swap(name, before, NEW) for name in "abc"])
    failed = [answer.errno if isinstance(answer, OSError) else None for answer in answers]
    assert failed == ([number] * 3 if is_of_all else [None, number, None])
    assert everything(root) == (there if is_of_all else there | dict.fromkeys("ac", NEW))


def test_a_disk_that_fails_to_sync_a_folder_leaves_nobody_sure(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    put(root, {"a": OLD, "b/c": b"other"})
    monkeypatch.setattr(os, "fsync", fail)
    answer, other = change_files(rooted(root), [swap("a", OLD, NEW), swap("b/c", OLD, NEW)])
    assert isinstance(answer, Unsure)
    assert isinstance(other, ChangedSince)
    assert everything(root) == {"a": NEW, "b/": "folder", "b/c": b"other"}


def test_a_folder_that_was_made_is_synced_with_the_one_that_it_is_in(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, fsync = set[int](), os.fsync

    def sync(file: int) -> None:
        synced.add(os.fstat(file).st_ino)
        fsync(file)

    (root / "there").mkdir()
    monkeypatch.setattr(os, "fsync", sync)
    (answer,) = change_files(rooted(root), [swap("there/x/y/a", None, NEW)])
    assert answer == digest_of(NEW)
    assert synced >= {(root / each).stat().st_ino for each in ("there", "there/x", "there/x/y")}


def test_folders_that_were_made_for_nothing_are_removed_and_others_stay(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "mine").mkdir()
    monkeypatch.setattr(drafts, "sync_data", lambda file: os.write(-1, b""))  # EBADF
    (answer,) = change_files(rooted(root), [swap("mine/x/y/a", None, NEW)])
    assert isinstance(answer, OSError)
    assert everything(root) == {"mine/": "folder"}


def test_a_folder_that_somebody_uses_meanwhile_stays(root: Path) -> None:
    def at(now: str) -> None:
        if now == "drafts written":
            put(root, {"x/y/theirs": OLD, "x/y/a": OLD})

    (answer,) = change_files(rooted(root), [swap("x/y/a", None, NEW)], at)
    assert isinstance(answer, ChangedSince)
    assert everything(root) == {"x/": "folder", "x/y/": "folder", "x/y/a": OLD, "x/y/theirs": OLD}


DYING = """
import os, signal, sys
from pathlib import Path
from codec.agent.files import digest_of
from transports.folder.replacing import FileSwap, change_files
from transports.folder.rooted import Rooted
root, left = Path(sys.argv[1]), int(sys.argv[2])

def at(step):
    global left
    print(step, flush=True)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

old, new = digest_of(b"old\\n"), b"new and longer\\n"
swaps = [FileSwap((f"d{n % 2}", f"f{n}"), old, new) for n in range(4)]
swaps += [FileSwap(("d0", "gone"), old, None), FileSwap(("made", "x", "n"), None, new)]
change_files(Rooted(root, firm=True), swaps, at)
print("over", flush=True)
"""


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_whole_files_and_the_next_one_sweeps_what_is_left(root: Path) -> None:
    step, said = 0, ""
    steps = []
    while "over" not in said:
        step += 1
        place = root / f"{step}"
        put(place, {**{f"d{number % 2}/f{number}": OLD for number in range(4)}, "d0/gone": OLD})
        command = [sys.executable, "-c", DYING, str(place), str(step)]
        dying = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        said = dying.stdout
        if "over" in said:
            break
        assert dying.returncode == -signal.SIGKILL
        steps.append(said.split("\n")[-2])
        found = {name: data for name, data in everything(place).items() if not name.endswith(".draft")}
        for number in range(4):
            assert found.pop(f"d{number % 2}/f{number}") in (OLD, NEW)
        assert found.pop("d0/gone", OLD) == OLD
        assert found.pop("made/x/n", NEW) == NEW
        assert set(found.values()) <= {"folder"}
        images = file_images(rooted(place), [("d0", "f0"), ("d1", "f1"), ("made", "x", "n")], LARGEST)
        assert all(image is None or isinstance(image, tuple) for image in images)
        assert not [name for name in everything(place) if name.endswith(".draft")], steps[-1]
    assert set(steps) == {
        "drafts written",
        "drafts synced",
        "checked",
        "exchanged",
        "moved aside",
        "renamed",
        "folders synced",
    }


def test_drafts_of_somebody_who_lives_and_files_that_only_look_like_one_stay(root: Path) -> None:
    living = f".{os.getppid()}-{'0' * 12}.draft"
    put(root, {living: b"", ".notes.draft": b"", f".{os.getpid()}-{'0' * 12}.draft": b""})
    change_files(rooted(root), [swap("a", None, NEW)])
    assert sorted(everything(root)) == sorted((living, ".notes.draft", "a"))


def test_no_descriptor_is_left_open(root: Path) -> None:
    put(root, {f"d{number}/f": OLD for number in range(MANY + 4)})
    (root / "link").symlink_to("d0")
    swaps = [swap(f"d{number}/f", OLD if number % 2 else NEW, NEW) for number in range(MANY + 4)]
    swaps += [swap("link/f", OLD, NEW), swap("x/y/z", None, NEW), swap("", None, NEW), swap("d3/f/x", None, NEW)]
    before = len(os.listdir("/proc/self/fd"))
    for some in (swaps, swaps[:3], swaps[-4:]):
        change_files(rooted(root), some)
        file_images(rooted(root), [each.names for each in some], LARGEST)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_group_may_have_more_folders_than_files_may_be_open(root: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = 200
    put(root, {f"d{number}/f": OLD for number in range(count)})
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 60, limits[1]))
    try:
        answers = change_files(rooted(root), [swap(f"d{number}/f", OLD, NEW) for number in range(count)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert answers == [digest_of(NEW)] * count


def test_many_are_removed_by_several_threads_and_all_are(root: Path) -> None:
    put(root, {f"d{number % 7}/f{number}": OLD for number in range(100)})
    names = [((f"d{number % 7}",), f"f{number}") for number in range(100)]
    swapping.remove_all(rooted(root), [*names, (("none",), "x"), (("d0",), "none")])
    assert not [name for name in everything(root) if not name.endswith("/")]
    swapping.remove_all(rooted(root), [])


@pytest.mark.parametrize("kind", ["new", "replaced", "deleted"])
@pytest.mark.parametrize("folders", [1, MANY - 1, MANY])
@pytest.mark.parametrize("count", [MANY - 1, MANY])
def test_the_whole_disk_is_synced_for_exactly_so_many_files_or_folders(
    root: Path, monkeypatch: pytest.MonkeyPatch, kind: str, folders: int, count: int
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(drafts.WholeDisk, "may_be_synced", lambda _: True)
    monkeypatch.setattr(drafts.WholeDisk, "sync", lambda _, here: synced.append(here))
    before, data = (None if kind == "new" else OLD), (None if kind == "deleted" else NEW)
    names = [f"d{number % folders}/f{number}" for number in range(count)]
    put(root, dict.fromkeys(names, OLD) if kind != "new" else {name.replace("f", "x"): OLD for name in names})
    answers = change_files(rooted(root), [swap(name, before, data) for name in names])
    assert answers == [None if data is None else digest_of(data)] * count
    whole = count >= MANY and (kind != "deleted" or folders >= MANY)
    assert len(synced) == (2 if whole else 0)
    assert len(set(synced)) <= 1


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES])
def test_a_folder_that_goes_before_what_was_made_in_it_is_synced_takes_nothing_back(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    above = root.stat().st_ino

    def sync(file: int) -> None:
        if os.fstat(file).st_ino == above:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", sync)
    (answer,) = change_files(rooted(root), [swap("x/a", None, NEW)])
    assert answer == digest_of(NEW)
    assert everything(root) == {"x/": "folder", "x/a": NEW}


@pytest.mark.parametrize("data", [NEW, None])
def test_what_goes_between_the_look_and_the_rename_is_told_as_gone(root: Path, data: bytes | None) -> None:
    put(root, {"a": OLD, "b": OLD})

    def at(now: str) -> None:
        if now == "checked":
            (root / "a").unlink(missing_ok=True)

    answer, other = change_files(rooted(root), [swap("a", OLD, data), swap("b", OLD, data)], at)
    assert isinstance(answer, ChangedSince)
    assert str(answer) == "is not there any more"
    assert other == (None if data is None else digest_of(data))
    assert everything(root) == ({} if data is None else {"b": data})


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, THREADS, THREADS + 1, 5 * THREADS])
@pytest.mark.parametrize("folders", [1, 3, 7])
def test_few_are_removed_without_a_thread_and_each_thread_enters_a_folder_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, count: int, folders: int
) -> None:
    names = [((f"d{number % folders}",), f"f{number}") for number in range(count)]
    put(root, {"/".join((*folder, name)): OLD for folder, name in names})
    threads, entered = [], list[Sequence[str]]()

    def counted(rooted: Rooted, folder: Sequence[str]) -> Any:
        entered.append(folder)
        return opened(rooted, folder)

    def one_by_one(calls: Sequence[Callable[[], None]]) -> None:
        threads.append(len(calls))
        for call in calls:
            call()

    monkeypatch.setattr(swapping, "opened", counted)
    monkeypatch.setattr(swapping, "together", one_by_one)
    swapping.remove_all(rooted(root), names)
    assert not [name for name in everything(root) if not name.endswith("/")]
    (calls,) = threads
    assert calls == (min(count, 1) if count <= FEW else min(count, THREADS) if count != THREADS + 1 else 9)
    assert len(entered) <= max(0, calls - 1) + min(folders, count)
