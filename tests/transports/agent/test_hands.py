"""The agent's hands in a workspace's folder, on a real disk: what they refuse they say in words, and what they begin
they end."""

import errno
import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agent.given import FileImage, FileModified, FileRefused, FileReplacement, Hands
from codec.agent.files import digest_of
from tests.patience import PATIENCE
from tests.transports.agent.test_tree import ABSOLUTE, GIT, ODD, WAYS_UP
from tests.transports.folder.disks import MAY_MOUNT, small_disk
from transports.agent import hands as module
from transports.agent import threads
from transports.agent.hands import NO_PLAIN_FILE, FolderHands
from transports.agent.tree import LARGEST, THREADS, FolderTrees

SECRET = "the secret outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "src" / "app.py").write_text("x = 1\n")
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link.txt").symlink_to(outside / "secret.txt")
    (place / "link").symlink_to(outside)
    (place / ".git").mkdir()
    (place / ".git" / "config").write_text("[core]\n")
    return place


@pytest.fixture
def hands(root: Path) -> FolderHands:
    return FolderTrees().hands(str(root))


def content(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def sentence(answer: object, path: str) -> str:
    assert isinstance(answer, FileRefused), (path, answer)
    assert str(answer).endswith(".")
    assert SECRET not in str(answer)
    return str(answer)


@pytest.mark.parametrize("number", [*sorted(errno.errorcode), None])
def test_whatever_the_disk_says_is_told_in_a_sentence_that_names_the_file(number: int | None) -> None:
    error = OSError("odd") if number is None else OSError(number, os.strerror(number))
    told = sentence(module.in_words("src/app.py", error), "src/app.py")
    assert told.startswith("src/app.py ")
    if number in (errno.EIO, None):
        assert told == f"src/app.py is left as it is: {error.strerror or 'the disk fails'}."


async def test_they_are_what_the_agent_is_given(hands: Hands, root: Path) -> None:
    app, run, missing = await hands.images(["src/app.py", "./run.sh", "src/none.py"])
    assert app == FileImage("src/app.py", b"x = 1\n", (root / "src/app.py").stat().st_mode & 0o777)
    assert run == FileImage("run.sh", b"#!/bin/sh\n", 0o755)
    assert missing is None
    answers = await hands.change(
        [
            FileReplacement("src/app.py", digest_of(b"x = 1\n"), b"x = 2\n"),
            FileReplacement("run.sh", digest_of(b"#!/bin/sh\n"), b"#!/bin/bash\n"),
            FileReplacement("docs/new/a.md", None, b"# New\n", 0o644),
        ]
    )
    assert answers == [digest_of(b"x = 2\n"), digest_of(b"#!/bin/bash\n"), digest_of(b"# New\n")]
    assert (root / "run.sh").stat().st_mode & 0o7777 == 0o755
    assert await hands.change([FileReplacement("src/app.py", digest_of(b"x = 2\n"), None)]) == [None]
    assert content(root) == {".git/config": "[core]\n", "docs/new/a.md": "# New\n", "run.sh": "#!/bin/bash\n"}


async def test_what_was_edited_meanwhile_is_told_as_such_and_untouched(hands: FolderHands, root: Path) -> None:
    (image,) = await hands.images(["src/app.py"])
    assert isinstance(image, FileImage)
    (root / "src" / "app.py").write_text("by hand\n")
    wishes = (
        ("src/app.py", image.digest, b"x = 2\n"),
        ("src/app.py", image.digest, None),
        ("src/app.py", None, b""),
        ("src/gone.py", image.digest, b"x = 2\n"),
        ("gone/gone.py", image.digest, b"x = 2\n"),
    )
    for path, before, data in wishes:
        (answer,) = await hands.change([FileReplacement(path, before, data)])
        assert isinstance(answer, FileModified)
        assert sentence(answer, path).startswith(path)
    assert content(root) == {".git/config": "[core]\n", "run.sh": "#!/bin/sh\n", "src/app.py": "by hand\n"}


LINKS = ("link.txt", "link/secret.txt", "link/new.txt", "link")


@pytest.mark.parametrize("path", [*WAYS_UP, *ABSOLUTE, *GIT, *ODD, *LINKS, "src"], ids=lambda path: ascii(path[:30]))
async def test_no_path_leads_elsewhere_or_into_git(hands: FolderHands, root: Path, path: str) -> None:
    before, outside = content(root), content(root.parent / "outside")
    (image,) = await hands.images([path])
    sentence(image, path)
    for digest, data in ((digest_of(SECRET.encode()), b"x"), (digest_of(SECRET.encode()), None), (None, b"x")):
        (answer,) = await hands.change([FileReplacement(path, digest, data)])
        sentence(answer, path)
    for below in ("config", "x/y"):
        (answer,) = await hands.change([FileReplacement(f"{path}/{below}", None, b"x")])
        if path not in ("src", ""):
            sentence(answer, path)
    (root / "src" / "config").unlink(missing_ok=True)
    assert content(root.parent / "outside") == outside
    after = content(root)
    after.pop("src/x/y", None)
    assert after == before


@pytest.mark.parametrize("path", [".env", "src/.env.local", "prod.env", "id_rsa", "keys/key.p12", ".netrc"])
async def test_files_that_hold_secrets_are_neither_read_nor_written(hands: FolderHands, root: Path, path: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text("KEY=1")
    (image,) = await hands.images([path])
    assert "secrets" in sentence(image, path)
    for before, data in ((digest_of(b"KEY=1"), b"KEY=2"), (digest_of(b"KEY=1"), None), (None, b"KEY=2")):
        (answer,) = await hands.change([FileReplacement(path, before, data)])
        assert "secrets" in sentence(answer, path)
    assert (root / path).read_text() == "KEY=1"
    (root / path).unlink()
    (answer,) = await hands.change([FileReplacement(path, None, b"KEY=2")])
    sentence(answer, path)
    assert not (root / path).exists()


async def test_a_private_key_is_neither_read_nor_written_under_any_name(hands: FolderHands, root: Path) -> None:
    key = b"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n"
    (root / "notes.txt").write_bytes(key)
    (image,) = await hands.images(["notes.txt"])
    sentence(image, "notes.txt")
    (answer,) = await hands.change([FileReplacement("other.txt", None, key)])
    assert "private key" in sentence(answer, "other.txt")
    assert not (root / "other.txt").exists()
    assert await hands.change([FileReplacement(".env.example", None, b"KEY=")]) == [digest_of(b"KEY=")]


async def test_sizes_and_numbers_are_limited(hands: FolderHands, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = b"x" * (LARGEST + 1)
    (root / "large").write_bytes(large)
    (image,) = await hands.images(["large"])
    assert "too large" in sentence(image, "large")
    (answer,) = await hands.change([FileReplacement("new", None, large)])
    assert "too large" in sentence(answer, "new")
    assert await hands.change([FileReplacement("new", None, large[1:])]) == [digest_of(large[1:])]
    assert isinstance((await hands.images(["new"]))[0], FileImage)
    monkeypatch.setattr(module, "MOST_FILES", 2)
    answers = await hands.images(["run.sh", "src/app.py", "a", ".env", "b"])
    assert [type(answer) for answer in answers] == [FileImage, FileImage, FileRefused, FileRefused, FileRefused]
    assert "one file too many" in str(answers[2])
    changed = await hands.change([FileReplacement(name, None, b"") for name in ("a", "b", "c")])
    assert [isinstance(each, FileRefused) for each in changed] == [False, False, True]
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    changed = await hands.change([FileReplacement(name, None, b"123456") for name in ("d", "e")])
    assert "too much" in sentence(changed[1], "e")
    assert "too much" in sentence((await hands.images(["run.sh", "src/app.py"]))[1], "src/app.py")


async def test_what_would_be_refused_whatever_the_files_are_is_known_before_and_in_the_same_words(
    hands: FolderHands, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    monkeypatch.setattr(module, "LARGEST", 8)
    contents = [(".env", b""), ("a", b"123456789"), ("b", b"1"), ("c", b"12"), ("gone", None)]
    before = hands.refusals(contents)
    answers = await hands.change([FileReplacement(path, None, data) for path, data in contents[:-1]])
    assert [None if each is None else str(each) for each in before[:-1]] == [
        str(each) if isinstance(each, FileRefused) else None for each in answers
    ]
    assert [each is None for each in before] == [False, False, True, False, False]


async def test_what_is_refused_says_what_it_is(hands: FolderHands, root: Path) -> None:
    os.link(root / "run.sh", root / "other.sh")
    os.mkfifo(root / "pipe")
    (root / "fixed").write_text("")
    (root / "fixed").chmod(0o444)
    (root / "suid").write_text("")
    (root / "suid").chmod(0o4755)
    run = digest_of(b"#!/bin/sh\n")
    answers = await hands.change(
        [
            FileReplacement("run.sh", run, b""),
            FileReplacement("pipe", digest_of(b""), b""),
            FileReplacement("fixed", digest_of(b""), b"x"),
            FileReplacement("suid", digest_of(b""), b"x"),
            FileReplacement("src/app.py/x", None, b"x"),
            FileReplacement("twice", None, b"x"),
            FileReplacement("./twice", None, b"y"),
            FileReplacement("rights", None, b"y", 0o4755),
        ]
    )
    told = [None if not isinstance(answer, FileRefused) else str(answer) for answer in answers]
    assert told == [
        "run.sh has more than one name (a hard link), and a change would part it from the others.",
        "pipe is no plain file of the workspace. Folders are not changed, and links are not followed.",
        "fixed is read-only.",
        "suid runs with the rights of another account (set-uid, set-gid or capabilities).",
        "src/app.py/x is no plain file of the workspace. Folders are not changed, and links are not followed.",
        None,
        "twice is named twice in one change.",
        "rights would get rights that no file gets here.",
    ]


if MAY_MOUNT:

    async def test_a_full_disk_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
        with small_disk(tmp_path / "small") as disk:
            (disk / "a").write_text("old")
            hands = FolderTrees().hands(str(disk))
            answers = await hands.change(
                [
                    FileReplacement("a", digest_of(b"old"), b"new"),
                    *(FileReplacement(f"x/{number}", None, bytes([number]) * 90_000) for number in range(20)),
                ]
            )
            assert {sentence(answer, "")[-50:] for answer in answers} == {
                "changed: the disk is full. Make room, and try again."[-50:]
            }
            assert content(disk) == {"a": "old"}
            assert os.listdir(disk) == ["a"]


async def test_a_folder_or_a_link_in_the_place_of_a_file_is_told_as_what_it_is(hands: FolderHands, root: Path) -> None:
    (root / "other").symlink_to("run.sh")
    told = [str(each) for each in await hands.images(["src", "other"])]
    assert [each.partition(" ")[2] for each in told] == [NO_PLAIN_FILE] * 2


async def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    hands = FolderTrees().hands(str(tmp_path / "gone"))
    (answer,) = await hands.change([FileReplacement("a", None, b"x")])
    sentence(answer, "a")
    assert await hands.images(["a"]) == [None]
    assert os.listdir(tmp_path) == []


# -- cancels


async def test_a_change_that_has_not_begun_never_does_if_who_asked_gives_up(root: Path) -> None:
    trees = FolderTrees()
    hands, go = trees.hands(str(root)), threading.Event()
    limiter = trees._limiter(str(root))
    async with trio.open_nursery() as nursery:
        for _ in range(THREADS):

            async def hold() -> None:
                await trio.to_thread.run_sync(go.wait, 10, limiter=limiter, abandon_on_cancel=True)

            nursery.start_soon(hold)
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as inner:
            inner.start_soon(hands.change, [FileReplacement("a", None, b"x")])
            await trio.testing.wait_all_tasks_blocked()
            inner.cancel_scope.cancel()
        go.set()
    assert not (root / "a").exists()


async def test_a_disk_that_does_not_answer_is_told(
    hands: FolderHands, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(threads, "SECONDS", 0.05)
    monkeypatch.setattr(module, "file_images", lambda *args: go.wait(PATIENCE))
    with pytest.raises(FileRefused, match="does not answer"):
        await hands.images(["a"])
    go.set()


# -- folders that are made for files


def everything(root: Path) -> set[Path]:
    return set(root.rglob("*"))


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.mark.slow
@settings(max_examples=60)
@given(there=st.sets(PATHS, max_size=3), made=st.sets(PATHS, min_size=1, max_size=5), added=st.sets(PATHS, max_size=2))
async def test_of_the_folders_that_were_made_for_files_those_that_are_empty_go_and_no_others(
    there: set[str], made: set[str], added: set[str]
) -> None:
    """`there`: empty folders of the user's; `added`: files that the user puts beside those that are made."""
    with TemporaryDirectory() as place:
        root = Path(place)
        for path in there:
            (root / path).mkdir(parents=True, exist_ok=True)
        before = everything(root)
        hands = FolderTrees().hands(place)
        folders: list[str] = []
        wanted = [f"{path}/made" for path in sorted(made)]
        answers = await hands.change([FileReplacement(path, None, b"x") for path in wanted], folders)
        assert {root / folder for folder in folders} == {path for path in everything(root) - before if path.is_dir()}
        theirs = {f"{path}/theirs" for path in added if (root / path).is_dir()}
        for path in theirs:
            (root / path).write_text("mine")
        gone = [FileReplacement(path, str(digest), None) for path, digest in zip(wanted, answers, strict=True)]
        assert await hands.change(gone) == [None] * len(gone)
        cleared = await hands.clear([*folders, "../elsewhere", ".git", ""])
        above = {
            parent for path in theirs for parent in [root / path, *(root / path).parents] if root in parent.parents
        }
        assert everything(root) == before | above
        assert set(cleared) <= set(folders)


async def test_a_folder_of_which_nothing_came_is_told_to_nobody(hands: FolderHands, root: Path) -> None:
    folders: list[str] = []
    (answer,) = await hands.change([FileReplacement("new/deep/.env", None, b"x")], folders)
    assert isinstance(answer, FileRefused)
    assert folders == []
    assert not (root / "new").exists()


async def test_a_link_in_the_place_of_a_folder_is_left_alone(hands: FolderHands, root: Path) -> None:
    assert await hands.clear(["link", "src", "run.sh", "nowhere"]) == []
    assert (root / "link").is_symlink()
