"""Nothing outside of a workspace's folder is read, whatever the path and whatever changes on the disk; and what is in
it is found."""

import os
import random
import socket
import threading
import time
from itertools import product
from pathlib import Path

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.agent.file_texts import decoded, file_text, is_secret_name
from codec.agent.files import FileRefused, FileReplacement
from codec.agent.tree_paths import tree_names
from tests.patience import PATIENCE
from transports.agent import scanning, threads, walking
from transports.agent import tree as module
from transports.agent.tree import LARGEST, FolderTree, FolderTrees
from transports.folder.rooted import Rooted

SECRET = "the secret outside"
FILES = {
    "README.md": "# A project\n\nIt greets.\n",
    "src/app.py": "import os\n\n\ndef getUserName(user):\n    return user.name\n\n\nprint(getUserName(1))\n",
    "src/other.py": "from src.app import get_user_name\n",
    "src/deep/er/names.txt": "user\nname\n",
    ".gitignore": "*.log\nout/\n!keep.log\n/src/deep/ignored\n",
    "a.log": "getUserName",
    "keep.log": "kept",
    "out/made.py": "getUserName",
    "src/.gitignore": "!b.log\n",
    "src/b.log": "b",
    "src/deep/ignored/x.py": "getUserName",
    ".git/config": "[core] secret",
    ".git/HEAD": "ref",
    ".hidden/x.py": "getUserName",
    ".env": "KEY=getUserName",
    ".env.example": "KEY=",
    "key.py": "-----BEGIN RSA PRIVATE KEY-----\n",
    "key.pem": "-----BEGIN RSA PRIVATE KEY-----\ngetUserName\n-----END RSA PRIVATE KEY-----\n",
    "cert.pem": "-----BEGIN CERTIFICATE-----\n",
    "id_rsa": "getUserName",
    "naïve.py": "x = 1\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    place = tmp_path / "project"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "link.txt").symlink_to(outside / "secret.txt")
    (place / "link").symlink_to(outside)
    (place / "inner").symlink_to("src")
    (place / "loop").symlink_to("loop")
    (place / "up").symlink_to("..")
    os.mkfifo(place / "pipe")
    return place


@pytest.fixture
def tree(root: Path) -> FolderTree:
    return FolderTrees().tree(str(root))


async def refused(tree: FolderTree, path: str) -> str:
    with pytest.raises(FileRefused) as caught:
        await tree.read(path)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert SECRET not in sentence
    return sentence


# -- attacks

WAYS_UP = (
    "../outside/secret.txt",
    "src/../../outside/secret.txt",
    "./.././outside/secret.txt",
    "src/..",
    "..",
    "src/../README.md",
)
ABSOLUTE = (
    "/etc/passwd",
    "//etc/passwd",
    "/",
    "C:/x",
    "C:x",
    "c:\\x",
    "\\\\host\\share",
    "file:///etc/passwd",
    "~/../x",
)
GIT = (
    ".git",
    ".GIT",
    ".Git",
    ".git ",
    ".git.",
    ".git. .",
    "git~1",
    "GIT~1",
    ".g\u200cit",
    "\u200e.git",
    "．git",
    ".git::$INDEX_ALLOCATION",
    ".git:x",
    ".\u2060git",
    "gi7eba~1",
)
HELD = (
    "pipe",
    "link.txt",
    "link/secret.txt",
    "link",
    "inner/app.py",
    "loop",
    "up/outside/secret.txt",
    "src",
    "README.md/x",
    "none",
    "src/none",
)
ODD = (
    "a\0b",
    "README.md\0",
    "a\nb",
    "\ud800",
    "src\\app.py",
    "..\\outside\\secret.txt",
    "x" * 256,
    "x/" * 3000,
    "d/" * 300,
    "",
)


@pytest.mark.parametrize("path", [*WAYS_UP, *ABSOLUTE, *HELD, *ODD], ids=lambda path: ascii(path[:30]))
async def test_a_path_that_leads_elsewhere_or_to_no_plain_file_is_refused_in_words(tree: FolderTree, path: str) -> None:
    await refused(tree, path)


async def test_whatever_a_file_system_may_take_for_git_s_folder_is_closed(root: Path, tree: FolderTree) -> None:
    for name, (before, after) in product(GIT, (("", ""), ("", "/config"), ("src/", "/config"), ("./", "//HEAD"))):
        assert "closed" in await refused(tree, f"{before}{name}{after}")
        with pytest.raises(FileRefused):
            await tree.entries(f"{before}{name}")


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", "a.git", ".gitattributes", "digit~1", "git~x"])
def test_what_only_sounds_like_it_is_open(name: str) -> None:
    assert tree_names(f"src/{name}") == ("src", name)


PARTS = st.sampled_from(
    ["..", ".", "", "/", "\\", "link", "up", "inner", "src", "app.py", "outside", "secret.txt", ".git", "config", "~",
     "C:", "\0", "%2e%2e", "．．", "..;", "…", "\u202e", "etc", "passwd", "proc", "self", "pipe", "loop", "link.txt",
     "project"]
)  # fmt: skip


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("generated")
    files = {"outside/secret.txt": SECRET, "project/src/app.py": "x", "project/.git/config": "[core]"}
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    project = place / "project"
    for link, target in {"link": "../outside", "link.txt": "../outside/secret.txt", "up": "..", "inner": "src"}.items():
        (project / link).symlink_to(target)
    os.mkfifo(project / "pipe")
    return project


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.lists(PARTS, max_size=8), st.sampled_from(["/", "//", "/./", "\\"]), st.sampled_from(["", "/", "./", "../"]))
def test_no_generated_path_leads_out(generated: Path, parts: list[str], sign: str, before: str) -> None:
    tree = FolderTree(generated, trio.CapacityLimiter(1))
    path = before + sign.join(parts)
    for call in (
        lambda: tree._read(path, 1, None, 1000).text,
        lambda: tree._entries(path, 100, True, walking.GivenUp()),
    ):
        try:
            found = str(call())
        except FileRefused as error:
            found = str(error)
        assert SECRET not in found
        assert "[core]" not in found


@pytest.mark.slow
async def test_links_that_are_swapped_in_between_check_and_use_lead_nowhere(root: Path, tree: FolderTree) -> None:
    """A folder and a file change places with links to the outside, as fast as a thread can, while they are read."""
    (root / "swap").mkdir()
    (root / "swap" / "secret.txt").write_text("inside")
    (root / "plain.txt").write_text("inside")
    over = threading.Event()

    def swap() -> None:
        outside = root.parent / "outside"
        (root / "evil").symlink_to(outside)
        (root / "evil.txt").symlink_to(outside / "secret.txt")
        while not over.is_set():
            for one, other in (("swap", "evil"), ("plain.txt", "evil.txt")):
                os.rename(root / one, root / "aside")
                os.rename(root / other, root / one)
                os.rename(root / one, root / other)
                os.rename(root / "aside", root / one)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = {"inside": 0, "refused": 0}
    try:
        for _ in range(1500):
            for path in ("swap/secret.txt", "plain.txt"):
                try:
                    text = (await tree.read(path)).text
                except FileRefused:
                    text = "refused"
                seen[text] += 1
        for _ in range(50):
            assert SECRET not in str(await tree.search(["secret", "outside"]))
    finally:
        over.set()
        thread.join()
    assert seen["inside"] > 0


async def test_a_file_that_has_become_a_folder_since_it_was_listed_holds_nothing_and_is_closed_again(
    root: Path,
) -> None:
    place = Rooted(root, firm=True)
    with place.folder(()) as here:
        before = len(os.listdir("/dev/fd"))
        assert [scanning._read(place, here, name) for name in ("src", "pipe", "link.txt", "none")] == [b""] * 4
        assert len(os.listdir("/dev/fd")) == before


async def test_the_root_itself_is_no_link_however_it_changes(root: Path, tree: FolderTree) -> None:
    os.rename(root, root.parent / "moved")
    os.symlink(root.parent / "outside", root)
    await refused(tree, "secret.txt")
    with pytest.raises(FileRefused):
        await tree.entries()
    with pytest.raises(FileRefused):
        await tree.search(["secret"])


async def test_a_fifo_is_not_even_opened(root: Path, tree: FolderTree) -> None:
    """Whoever waits to write to it goes on waiting."""
    opened = threading.Event()

    def write() -> None:
        descriptor = os.open(root / "pipe", os.O_WRONLY)
        opened.set()
        os.close(descriptor)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert "no plain file" in await refused(tree, "pipe")
    assert await tree.search(["anything"]) == []
    assert not opened.wait(0.05)
    os.close(os.open(root / "pipe", os.O_RDONLY | os.O_NONBLOCK))
    thread.join(PATIENCE)


async def test_sockets_and_devices_are_no_plain_files(
    root: Path, tree: FolderTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        await refused(tree, "socket")
    devices = FolderTrees().tree("/dev")
    for name in ("zero", "null", "tty"):
        assert "no plain file" in await refused(devices, name)
    assert all(each.path.endswith("/") for each in await devices.entries() if each.path.rstrip("/") in ("zero", "null"))


async def test_a_hard_link_is_a_file_of_the_folder(root: Path, tree: FolderTree) -> None:
    os.link(root / "README.md", root / "again.md")
    assert (await tree.read("again.md")).text == FILES["README.md"]


async def test_a_tree_of_any_depth_is_walked_and_ends(root: Path, tree: FolderTree) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(os.open("bottom.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    found = await tree.entries(deep=True, most=10_000)
    assert "README.md" in {each.path for each in found}
    await tree.search(["getUserName"])
    assert "too long" in await refused(tree, "d/" * 400 + "bottom.py")


# -- reading


async def test_lines_are_read_with_where_they_stand(tree: FolderTree) -> None:
    whole = await tree.read("src/app.py")
    assert (whole.text, whole.first_line, whole.lines, whole.cut) == (FILES["src/app.py"], 1, 8, False)
    assert whole.digest.startswith("sha256:")
    part = await tree.read("./src//app.py", first=4, last=5)
    assert (part.path, part.text) == ("src/app.py", "def getUserName(user):\n    return user.name\n")
    assert (part.first_line, part.lines, part.digest) == (4, 8, whole.digest)
    assert (await tree.read("src/app.py", first=99)).text == ""
    short = await tree.read("src/app.py", most=10)
    assert (short.text, short.cut) == ("import os\n", True)


@given(st.text(st.sampled_from("ab\r\nü"), max_size=20), st.integers(-1, 8), st.none() | st.integers(-1, 8))
def test_any_lines_are_those_of_the_text(text: str, first: int, last: int | None) -> None:
    found = file_text("a", text.encode(), first, last, 1000)
    lines = text.splitlines(keepends=True) if "\r" not in text else [f"{each}\n" for each in text.split("\n")]
    if "\r" in text:
        lines[-1] = lines[-1].removesuffix("\n")
        lines = lines if lines[-1] else lines[:-1]
    begin = max(first, 1) - 1
    assert found.lines == len(lines)
    assert found.text == "".join(lines[begin : None if last is None else max(last, 0)])
    assert not found.cut


ENCODED = [
    ("grüße".encode(), "grüße", "utf-8"),
    (b"\xef\xbb\xbfx", "x", "utf-8"),
    ("\ufeffgrüße".encode("utf-16-le"), "grüße", "utf-16-le"),
    ("\ufeffgrüße".encode("utf-16-be"), "grüße", "utf-16-be"),
    ("\ufeffx".encode("utf-32-le"), "x", "utf-32-le"),
    ("grüße".encode("latin-1"), "grüße", "latin-1"),
    (b"", "", "utf-8"),
    (b"\x1b[31mred\n", "\x1b[31mred\n", "utf-8"),
]
BINARY = [b"\x7fELF\0\0", b"\x89PNG\r\n\x1a\n\0", b"a\0b", b"\xff\xfea", bytes(range(256)), os.urandom(2000)]


@pytest.mark.parametrize(("data", "text", "encoding"), ENCODED, ids=lambda each: repr(each)[:20])
async def test_text_is_read_in_the_encoding_that_it_has(
    root: Path, tree: FolderTree, data: bytes, text: str, encoding: str
) -> None:
    (root / "file").write_bytes(data)
    found = await tree.read("file")
    assert (found.text, found.encoding) == (text, encoding)


@pytest.mark.parametrize("data", BINARY, ids=range(len(BINARY)))
async def test_what_is_no_text_is_refused_in_words(root: Path, tree: FolderTree, data: bytes) -> None:
    (root / "file").write_bytes(data)
    assert "no text" in await refused(tree, "file")
    await tree.search(["a"])


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_not_and_nothing_breaks(data: bytes) -> None:
    found = decoded(data)
    if found is not None and found[1] == "latin-1":
        assert found[0].encode("latin-1") == data


async def test_a_file_that_is_too_large_is_refused_and_not_read_to_its_end(root: Path, tree: FolderTree) -> None:
    (root / "large").write_bytes(b"x")
    os.truncate(root / "large", 1 << 40)
    assert f"at most {LARGEST >> 20} MiB" in await refused(tree, "large")


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "src/.env.local",
        "production.env",
        "id_rsa",
        "key.pem",
        "key.p12",
        ".netrc",
        "deploy-private.key",
        ".ENV",
    ],
)
async def test_files_of_secrets_are_not_read(root: Path, tree: FolderTree, path: str) -> None:
    (root / path).write_text(FILES.get(path, "SECRET=1"))
    assert "secrets" in await refused(tree, path)


@pytest.mark.parametrize("path", [".env.example", "key.py", "cert.pem", "environment.py", "src/app.py", "id_rsa.md"])
def test_what_only_sounds_like_secrets_is_read(path: str) -> None:
    assert not is_secret_name(path)


async def test_source_that_speaks_of_keys_is_read(tree: FolderTree) -> None:
    assert (await tree.read("key.py")).text == FILES["key.py"]


async def test_what_may_not_be_read_is_told_in_words(root: Path, tree: FolderTree) -> None:
    (root / "README.md").chmod(0)
    if os.geteuid() != 0:
        assert "may not be read" in await refused(tree, "README.md")


# -- listing


async def test_a_folder_is_listed_without_what_is_ignored_hidden_or_no_plain_file(tree: FolderTree) -> None:
    assert [each.path for each in await tree.entries()] == [
        "src/", ".env", ".env.example", ".gitignore", "README.md", "cert.pem", "id_rsa", "keep.log", "key.pem",
        "key.py", "naïve.py",
    ]  # fmt: skip
    assert [each.path for each in await tree.entries("src")] == [
        "src/deep/", "src/.gitignore", "src/app.py", "src/b.log", "src/other.py",
    ]  # fmt: skip
    assert [each.path for each in await tree.entries("src/deep")] == ["src/deep/er/"]
    sizes = {each.path: each.size for each in await tree.entries()}
    assert sizes["README.md"] == len(FILES["README.md"])


async def test_files_at_any_depth_are_listed_the_nearest_first(tree: FolderTree) -> None:
    every = [each.path for each in await tree.entries(deep=True)]
    assert every[-3:] == ["src/app.py", "src/b.log", "src/other.py"] or every[-1] == "src/deep/er/names.txt"
    assert {path.count("/") for path in every[:5]} == {0}
    assert not {"a.log", "out/made.py", ".git/config", ".hidden/x.py", "src/deep/ignored/x.py", "link.txt"} & {*every}
    assert [each.path for each in await tree.entries("src", deep=True)] == [
        path for path in every if path[:4] == "src/"
    ]
    assert [each.path for each in await tree.entries(deep=True, most=3)] == every[:3]


async def test_whoever_asks_for_an_ignored_folder_means_it(tree: FolderTree) -> None:
    assert [each.path for each in await tree.entries("out")] == ["out/made.py"]
    assert [each.path for each in await tree.entries("src/deep/ignored", deep=True)] == ["src/deep/ignored/x.py"]
    assert [each.path for each in await tree.entries(".hidden")] == [".hidden/x.py"]


@pytest.mark.parametrize("folder", ["none", "README.md", "link", "inner", "../outside", "/etc", ".git", "pipe"])
async def test_what_is_no_folder_of_the_workspace_is_not_listed(tree: FolderTree, folder: str) -> None:
    with pytest.raises(FileRefused):
        await tree.entries(folder)
    with pytest.raises(FileRefused):
        await tree.entries(folder, deep=True)


async def test_names_that_are_not_written_in_utf_8_are_left_out(root: Path, tree: FolderTree) -> None:
    (root / os.fsdecode(b"\xff.py")).write_text("getUserName")
    (root / "a\nb.py").write_text("getUserName")
    for found in (await tree.entries(), await tree.entries(deep=True), await tree.search(["getUserName"])):
        assert all(each.path.isprintable() for each in found)
        assert all(each.path.encode() for each in found)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    place = tmp_path / "large"
    (place / "0" / "0").mkdir(parents=True)
    (place / ".gitignore").write_text(
        "\n".join(["*.pyc", "build/", "/dist", "node_modules", "*.log", "!keep.log", "a/**/b"] * 3)
    )
    for one in range(100):
        folder = place / str(one)
        folder.mkdir(exist_ok=True)
        source = folder / "source.py"
        source.write_text("nothing of it\n" * 3)
        for other in range(999):
            os.link(source, folder / f"{other}.py")
    return place


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_hundred_thousand_files_are_listed_and_searched_in_time(large: Path) -> None:
    tree = FolderTrees().tree(str(large))
    before = time.process_time()
    assert len(await tree.entries(deep=True, most=1000)) == 1000
    assert time.process_time() - before < 3
    before = time.process_time()
    assert len(await tree.entries(deep=True, most=200_000)) > 10_000
    assert time.process_time() - before < scanning.WALK_SECONDS + 3
    before = time.process_time()
    await tree.search(["something"])
    assert time.process_time() - before < scanning.SCAN_SECONDS + 3


# -- searching


async def test_words_are_found_in_every_spelling_and_the_best_file_comes_first(tree: FolderTree) -> None:
    hits = await tree.search(["getUserName"])
    assert [hit.path for hit in hits] == ["src/app.py", "src/other.py", "src/deep/er/names.txt"]
    first = hits[0]
    assert [(line.number, line.text) for line in first.lines] == [
        (4, "def getUserName(user):"), (5, "    return user.name"), (8, "print(getUserName(1))"),
    ]  # fmt: skip
    assert first.count == 3
    assert hits[0].score > hits[1].score > hits[2].score > 0
    assert [hit.path for hit in await tree.search(["GET_USER_NAME"])] == [hit.path for hit in hits]
    assert [hit.path for hit in await tree.search(["getUserName"], most=1)] == ["src/app.py"]


async def test_a_file_s_name_counts_and_what_is_nowhere_is_not_found(tree: FolderTree) -> None:
    (hit,) = await tree.search(["readme"])
    assert (hit.path, hit.lines, hit.count) == ("README.md", (), 0)
    assert await tree.search(["nowhere-to-be-found"]) == []
    assert await tree.search([]) == []
    assert await tree.search(["", "  "]) == []


async def test_ignored_files_secrets_and_git_are_not_searched(root: Path, tree: FolderTree) -> None:
    found = {hit.path for hit in await tree.search(["getUserName", "secret", "KEY", "core"])}
    assert found <= {"src/app.py", "src/other.py", "src/deep/er/names.txt", "key.py", "cert.pem", ".env.example"}


async def test_words_with_other_letters_are_found_case_aside_in_any_encoding(root: Path, tree: FolderTree) -> None:
    (root / "eins.txt").write_bytes("ÄPFEL".encode())
    (root / "zwei.txt").write_bytes("\ufeffÄpfel".encode("utf-16-le"))
    (root / "drei.txt").write_bytes("äpfel".encode("latin-1"))
    assert {hit.path for hit in await tree.search(["äpfel"])} == {"eins.txt", "zwei.txt", "drei.txt"}


async def test_a_rare_word_counts_more_than_one_that_is_everywhere(root: Path, tree: FolderTree) -> None:
    for number in range(30):
        (root / f"m{number}.txt").write_text("common\n" * 5)
    (root / "rare.txt").write_text("unusual\n")
    assert (await tree.search(["common", "unusual"]))[0].path == "rare.txt"


async def test_long_lines_are_cut_and_many_lines_only_counted(root: Path, tree: FolderTree) -> None:
    (root / "long.txt").write_text("needle" + "x" * 10_000 + "\n" + "needle\n" * 5_000)
    (hit,) = await tree.search(["needle"])
    assert hit.count == 5_001
    assert len(hit.lines) == 5
    assert all(len(line.text) <= 301 for line in hit.lines)


# -- disks


async def test_who_gives_up_is_free_at_once_and_the_thread_ends(
    root: Path, tree: FolderTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, given_up = threading.Event(), list[walking.GivenUp]()

    def hang(root: object, words: object, most: int, told: walking.GivenUp) -> list[object]:
        given_up.append(told)
        go.wait(PATIENCE)
        return []

    monkeypatch.setattr(module, "scanned", hang)
    with trio.move_on_after(0.05):
        await tree.search(["x"])
    assert given_up[0].is_set()
    assert (await tree.read("README.md")).lines == 3
    go.set()


def test_a_walk_and_a_scan_end_when_they_are_given_up_and_when_their_time_is_over(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, given_up = Rooted(root, firm=True), walking.GivenUp()
    assert scanning.listed_files(place, (), 100, given_up) != []
    given_up.set()
    assert scanning.listed_files(place, (), 100, given_up) == []
    assert scanning.scanned(place, ["user"], 100, given_up) == []
    monkeypatch.setattr(scanning, "WALK_SECONDS", -1.0)
    monkeypatch.setattr(scanning, "SCAN_SECONDS", -1.0)
    assert scanning.listed_files(place, (), 100, walking.GivenUp()) == []
    assert scanning.scanned(place, ["user"], 100, walking.GivenUp()) == []


async def test_a_scan_ends_when_it_has_read_enough(
    root: Path, tree: FolderTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "SCAN_BYTES", len(FILES["README.md"]) + len(FILES[".gitignore"]))
    assert await tree.search(["project"]) != []
    assert await tree.search(["getUserName"]) == []


async def test_a_disk_that_does_not_answer_is_told_in_words_and_holds_up_no_other_workspace(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(threads, "SECONDS", 0.1)
    monkeypatch.setattr(module, "scanned", lambda *args: go.wait(PATIENCE))
    trees = FolderTrees()
    hung = trees.tree(str(root))
    async with trio.open_nursery() as nursery:

        async def search() -> None:
            with pytest.raises(FileRefused, match="does not answer"):
                await hung.search(["x"])

        for _ in range(10):
            nursery.start_soon(search)
    assert (await trees.tree(str(root / "src")).read("other.py")).lines == 1
    assert await trees.check(str(root)) == str(root)
    go.set()


# -- registering


def real(path: Path) -> str:
    return os.path.realpath(path)


async def test_a_folder_is_checked_for_what_it_really_is(root: Path) -> None:
    trees = FolderTrees()
    assert await trees.check(str(root)) == real(root)
    assert await trees.check(str(root / "inner")) == real(root / "src")
    assert await trees.check(f"{root}/src/../src/") == real(root / "src")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none", "absolute"),
        ("", "absolute"),
        ("~/project", "absolute"),
        ("/none/at/all", "There is no folder"),
        ("ROOT/README.md", "no folder"),
        ("ROOT/loop", "cannot be used"),
        ("/a\0b", "absolute"),
        ("/" + "x" * 5000, "cannot be used"),
        ("/\ud800", "UTF-8|no folder"),
    ],
)
async def test_what_cannot_be_a_workspace_is_refused_in_words(root: Path, path: str, words: str) -> None:
    with pytest.raises(FileRefused, match=words):
        await FolderTrees().check(path.replace("ROOT", str(root)))


@pytest.mark.parametrize("by", ["its own path", "a link"])
async def test_a_folder_whose_name_is_no_text_is_no_workspace_by_whatever_way(root: Path, by: str) -> None:
    folder = root / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    if by == "a link":
        (root / "cafe").symlink_to(folder)
        folder = root / "cafe"
    with pytest.raises(FileRefused, match="its name is not written in UTF-8"):
        await FolderTrees().check(str(folder))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", "the root of the filesystem"),
        ("/proc", "made by the system's kernel"),
        ("/proc/self/cwd", ""),
        ("/proc/self", "made by the system's kernel"),
        ("/sys", "made by the system's kernel"),
        ("/dev", "made by the system's kernel"),
        ("LINK", "made by the system's kernel"),
        ("STATE", "belongs to Troupe itself"),
        ("STATE/inner", "belongs to Troupe itself"),
        ("TO_STATE", "belongs to Troupe itself"),
    ],
)
async def test_folders_that_are_no_project_s_are_no_workspaces(tmp_path: Path, path: str, words: str) -> None:
    state = tmp_path / "state"
    (state / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("/proc")
    (tmp_path / "to-state").symlink_to(state)
    places = {"STATE": state, "LINK": tmp_path / "link", "TO_STATE": tmp_path / "to-state"}
    for name, place in sorted(places.items(), key=lambda each: -len(each[0])):
        path = path.replace(name, str(place))
    trees = FolderTrees([state])
    if path == "/proc/self/cwd":  # a link to an ordinary folder
        assert await trees.check(path) == real(Path.cwd())
        return
    with pytest.raises(FileRefused, match=f"cannot be a workspace: .*{words}"):
        await trees.check(path)
    assert await trees.check(str(tmp_path)) == real(tmp_path)


async def test_troupe_s_own_folder_is_not_entered_through_a_workspace_that_contains_it(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state"
    (state / "deep").mkdir(parents=True)
    (state / "store.txt").write_text("wonderful secret")
    (state / "deep" / "more.txt").write_text("wonderful secret")
    (tmp_path / "home" / "plain.txt").write_text("wonderful")
    trees = FolderTrees([state])
    for place in (tmp_path, tmp_path / "home", state):
        tree = trees.tree(str(place))
        inner = state.relative_to(place).as_posix().removeprefix(".")
        for name in ("store.txt", "deep/more.txt"):
            with pytest.raises(FileRefused, match="closed"):
                await tree.read(f"{inner}/{name}".lstrip("/"))
        with pytest.raises(FileRefused, match="closed"):
            await tree.entries(inner)
        if place != state:
            assert [hit.path for hit in await tree.search(["wonderful"])] == [
                (tmp_path / "home" / "plain.txt").relative_to(place).as_posix()
            ]
            assert all("txt" not in each.path or "plain" in each.path for each in await tree.entries(deep=True))
        hands = trees.hands(str(place))
        (image,) = await hands.images([f"{inner}/store.txt".lstrip("/")])
        assert isinstance(image, FileRefused)
        made = FileReplacement(f"{inner}/new.txt".lstrip("/"), None, b"x")
        (answer,) = await hands.change([made])
        assert isinstance(answer, FileRefused)
    assert sorted(os.listdir(state)) == ["deep", "store.txt"]


async def test_rules_without_end_do_not_hold_up_who_lists_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "WALK_SECONDS", 0.2)
    monkeypatch.setattr(scanning, "SCAN_SECONDS", 0.2)
    deep = tmp_path.joinpath(*["a" * 40] * 20)
    deep.mkdir(parents=True)
    line = "/" + "/".join(["*a*a*b"] * 250)
    for folder in (tmp_path, *deep.relative_to(tmp_path).parents):
        (tmp_path / folder / ".gitignore").write_text("\n".join([line, "*a*a*a*a*a*b", "**/*a*a*a/b"] * 200))
    for number in range(50):
        (deep / f"{'a' * 200}{number}").write_text("x")
    tree = FolderTrees().tree(str(tmp_path))
    began = time.process_time()
    await tree.entries(deep=True)
    await tree.entries(deep.relative_to(tmp_path).as_posix())
    await tree.search(["x"])
    assert time.process_time() - began < 5


def test_paths_and_names_of_any_kind_break_nothing() -> None:
    dice = random.Random(12)
    letters = "ab./\\:~ \0\n\u200c\ud800é．%"
    for _ in range(5_000):
        path = "".join(dice.choice(letters) for _ in range(dice.randrange(12)))
        try:
            names = tree_names(path)
        except FileRefused as error:
            str(error).encode()
        else:
            assert ".." not in names
            assert all(name and "/" not in name and "\0" not in name for name in names)


@pytest.mark.slow
async def test_a_link_that_takes_the_place_of_a_file_or_folder_while_it_is_read_leads_nowhere(tmp_path: Path) -> None:
    """For a second, the disk changes as fast as it can, under readers that see what is inside or a refusal."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        (folder / "folder").mkdir(parents=True)
        for name in ("file.txt", "folder/file.txt"):
            (folder / name).write_text(f"it is {folder.name}\n")
    stop = threading.Event()

    def swap() -> None:
        spare = tmp_path / "spare"
        number = 0
        while not stop.is_set():
            number += 1
            for name in ("file.txt", "folder"):
                place = inside / name
                place.rename(spare)
                place.symlink_to(outside / name)
                place.unlink()
                spare.rename(place)

    tree = FolderTrees().tree(str(inside))
    seen: dict[str, int] = {"inside": 0, "refused": 0}
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        began = time.monotonic()
        while time.monotonic() - began < 1:
            for path in ("file.txt", "folder/file.txt"):
                try:
                    text = (await tree.read(path)).text
                except FileRefused:
                    seen["refused"] += 1
                else:
                    assert text == "it is inside\n"
                    seen["inside"] += 1
            assert "it is outside" not in "".join(
                line.text for hit in await tree.search(["outside"]) for line in hit.lines
            )
            assert all(not each.path.startswith("..") for each in await tree.entries(deep=True))
    finally:
        stop.set()
        thread.join()
    assert min(seen.values()) > 0, seen
