"""What reaches an index, and what never does."""

import os
import socket
import sqlite3
from contextlib import chdir, closing
from pathlib import Path

import pytest
import trio

from codec.agent.index.asking import IndexQuery
from codec.agent.index.telling import IndexWish
from tests.transports.agent.index.house import fresh, open_indexes
from transports.agent.index import walk
from transports.folder.rooted import Rooted

pytestmark = pytest.mark.slow

MANY = int(os.environ.get("TROUPE_INDEX_FILES", "2000"))

_MARK = "OPENSSH PRIVATE KEY-----"
KEY = f"-----BEGIN {_MARK}\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END {_MARK}\n"
SECRETS: dict[str, str] = {
    ".env": "DATABASE_PASSWORD=hunter2zebra\n",
    "deploy/.env.production": "TOKEN=hunter2zebra\n",
    "deploy/production.env": "TOKEN=hunter2zebra\n",
    ".npmrc": "//registry/:_authToken=hunter2zebra\n",
    ".netrc": "machine a login b password hunter2zebra\n",
    ".pypirc": "[pypi]\npassword = hunter2zebra\n",
    "id_rsa": f"hunter2zebra\n{KEY}",
    "keys/server.pem": f"{KEY}hunter2zebra\n",
    "notes.md": f"The key is:\n\n{KEY}",
    "src/config.py": "API_TOKEN = 'sk-proj-hunter2zebra0123456789abcdef'\npassword = 'hunter2zebra99!x'\n",
    "conf/app.yaml": "database:\n  password: hunter2zebra\n",
    "link.txt": "postgres://me:hunter2zebra@example.org/db\n",
}


async def test_no_secret_is_in_any_byte_of_an_index(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for path, text in SECRETS.items():
            house.write(path, text)
        house.write("plain.py", "giraffe = 1\n")
        await house.update()
        kept = house.bytes_kept().lower()
        assert b"giraffe" in kept
        assert b"hunter2zebra" not in kept
        assert b"b3blbnnzac1" not in kept
        digests = {path: digest for path, _, digest, *_ in house.tables()["file"]}
        assert digests[".env"] == digests["id_rsa"] == digests["keys/server.pem"] == ""
        assert "src/config.py" in digests


async def test_a_file_or_folder_with_a_key_in_its_name_is_left_out(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        key = "ghp_" + "aB3" * 12
        for path in (f"{key}.txt", f"src/of {key}/plain.py", f"src/{key}", "src/a_long_and_ordinary_name_of_a_file.py"):
            house.write(path, "giraffe = 1\n")
        await house.update()
        assert await house.found("giraffe") == ["src/a_long_and_ordinary_name_of_a_file.py"]
        house.root.joinpath("src/a_long_and_ordinary_name_of_a_file.py").rename(house.root / f"src/{key}.py")
        await house.update(f"src/{key}.py", "src/a_long_and_ordinary_name_of_a_file.py")
        assert await house.found("giraffe") == []
        assert key.encode() not in house.bytes_kept()


async def test_what_is_no_plain_file_leads_out_or_is_git_s_is_never_opened(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    async with open_indexes(tmp_path, odd=f"opens={opened}") as house:
        house.write("kept.py", "giraffe = 1\n")
        house.write(".git/config", "[core]\n")
        house.write("sub/.git/HEAD", "ref\n")
        house.write(".env", "A=1\n")
        outside = tmp_path / "outside.py"
        outside.write_text("gazelle = 1\n")
        (tmp_path / "far").mkdir()
        (tmp_path / "far" / "inner.py").write_text("gazelle = 2\n")
        os.mkfifo(house.root / "pipe.py")
        (house.root / "out.py").symlink_to(outside)
        (house.root / "far").symlink_to(tmp_path / "far")
        (house.root / "loop").symlink_to(house.root)
        (house.root / "zero.py").symlink_to("/dev/zero")
        with socket.socket(socket.AF_UNIX) as bound:
            with chdir(house.root):  # a socket's path is short
                bound.bind("socket.py")
            await house.update()
            await house.update("pipe.py", "out.py", "far", "far/inner.py", "loop/kept.py", ".git/config", "socket.py")
        assert [path for path, *_ in house.tables()["file"]] == [".env", "kept.py"]
        notes = opened.read_text()
        assert "kept.py" in notes
        for name in ("pipe.py", "out.py", "inner.py", "zero.py", "socket.py", ".git", "config", ".env"):
            assert f"open {name}\n" not in notes
        assert "/far" not in notes
        assert b"gazelle" not in house.bytes_kept()


ODD_FILES: dict[str, bytes] = {
    "nothing.py": b"",
    "binary.bin": bytes(range(256)) * 40,
    "half.py": b"caf\xc3\xa9 = 'ostrich'\nbroken = '\xe9\xff'\n",
    "utf16.txt": "ostrich \u00e9\u00e8\n".encode("utf-16"),
    "utf16be.txt": b"\xfe\xff" + "ostrich\n".encode("utf-16-be"),
    "half16.txt": b"\xff\xfeo\x00s\x00t",
    "bom.py": b"\xef\xbb\xbfostrich = 1\n",
    "zeroes.py": b"ostrich\0\0\0\n" * 10,
    "broken.py": b"def (((\nclass :\n  ostrich\n" * 30,
    "broken.js": b"function ( { ] ostrich\n" * 30,
    "deep.json": b"[" * 50_000,
    "minified.js": b"var a=ostrich;" * 20_000,
    "one_line.txt": b"ostrich " * 90_000,
    "giant.txt": b"ostrich\n" * 200_000,
    "no_end.c": b"/* ostrich",
    "returns.py": b"ostrich = 1\rx = 2\r\n",
    "controls.txt": b"ostrich \x1b[31m \x07\n",
    "quotes'\"%?#.py": b"ostrich = 1\n",
    "\u00fcml\u00e4ut.py": b"ostrich = 1\n",
}
NO_TEXT = {"nothing.py", "binary.bin", "zeroes.py", "half16.txt", "giant.txt"}


async def test_odd_files_are_in_the_index_as_far_as_they_are_text_and_trouble_nobody(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for path, data in ODD_FILES.items():
            house.write(path, data)
        facts = await house.update()
        assert facts.troubles == ()
        assert (facts.complete, facts.indexed_files) == (True, len(ODD_FILES))
        with_words = {path for path, _, body, *_ in house.tables()["text"] if "ostrich" in body}
        assert with_words == set(ODD_FILES) - NO_TEXT - {"deep.json"}
        sizes = {path: size for path, size, *_ in house.tables()["file"]}
        assert sizes["giant.txt"] == 1_600_000


async def test_code_that_is_too_large_is_told_and_no_data(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        large = "int kiwi;\n" * 120_000
        for path in ("src/all.c", "data.json", "big.min.js", "vendor/all.c", "notes.bin"):
            house.write(path, large)
        facts = await house.update()
        assert facts.troubles == ("src/all.c was left out: it is larger than 1 MiB, and only its name can be found.",)
        assert (await house.found("all.c"))[0] in ("src/all.c", "vendor/all.c")
        house.write("src/all.c", "int kiwi;\n")
        assert (await house.update()).troubles == ()
        assert await house.found("kiwi") == ["src/all.c"]


async def test_names_that_are_not_written_in_utf_8_are_left_out(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("kept.py", "ostrich = 1\n")
        house.write("bad\udcff.py", "ostrich = 2\n")
        assert (await house.update()).indexed_files == 1


async def test_a_deep_tree_is_walked_as_far_as_paths_can_be_written(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        place = house.root
        for number in range(60):
            place = place / f"d{number}"
            place.mkdir()
            (place / "f.py").write_text(f"kiwi{number} = 1\n")
        assert (await house.update()).indexed_files == 60
        assert (await house.found("kiwi59"))[:1] == ["/".join(f"d{number}" for number in range(60)) + "/f.py"]


async def test_a_folder_that_may_not_be_read_is_told_and_left_out(tmp_path: Path) -> None:
    async with open_indexes(tmp_path, odd="denies=closed") as house:
        house.write("kept.py", "kiwi = 1\n")
        house.write("closed/other.py", "kiwi = 2\n")
        facts = await house.update()
        assert facts.troubles == ("closed cannot be read: this folder is left out.",)
        assert await house.found("kiwi") == ["kept.py"]


async def test_a_file_that_may_not_be_read_is_told_and_known_by_its_name(tmp_path: Path) -> None:
    async with open_indexes(tmp_path, odd="denies=closed.py") as house:
        house.write("kept.py", "kiwi = 1\n")
        house.write("closed.py", "kiwi = 2\n")
        facts = await house.update()
        assert facts.troubles == ("closed.py cannot be read: permission denied.",)
        assert (facts.indexed_files, await house.found("kiwi")) == (2, ["kept.py"])


async def test_troupe_s_own_folder_in_a_workspace_is_not_entered(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.root = tmp_path
        (tmp_path / "state" / "note.py").write_text("kiwi = 1\n")
        house.write("work/kept.py", "kiwi = 2\n")
        await house.update()
        assert await house.found("kiwi") == ["work/kept.py"]


async def test_a_file_that_changes_while_it_is_read_is_right_in_the_end(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        place = house.write("a.py", "kiwi = 0\n")
        for number in range(30):
            place.write_text(f"kiwi = {number}\n")
            await house.update("a.py")
            place.write_text(f"kiwi = {number + 1}\n")  # of the same length, and in the same tick
        await house.update()
        assert house.tables() == await fresh(house)


async def test_nested_workspaces_have_an_index_each(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("inner/a.py", "kiwi = 1\n")
        house.write("b.py", "kiwi = 2\n")
        await house.update()
        inner = house.indexes.index("two", str(house.root / "inner"))
        await inner.update(IndexWish(), lambda facts: None)
        found = await inner.find(IndexQuery(text="kiwi"), lambda path: True)
        assert [hit.path for hit in found.hits] == ["a.py"]
        assert sorted(await house.found("kiwi")) == ["b.py", "inner/a.py"]


@pytest.mark.timeout(180 if MANY < 10_000 else 1_800)
async def test_very_many_small_files_are_one_update(tmp_path: Path) -> None:
    """TROUPE_INDEX_FILES=100000 plays it with a hundred thousand."""
    async with open_indexes(tmp_path) as house:
        for number in range(MANY):
            house.write(f"d{number % 250}/f{number}.txt", f"small {number}\n")
        with trio.fail_after(1_800):
            facts = await house.index.update(IndexWish(), lambda facts: None)
        assert facts.indexed_files == MANY
        assert (await house.update("d1/f1.txt")).total_files == MANY


async def test_more_files_than_are_kept_are_told(tmp_path: Path) -> None:
    """The limit is the walk's, which runs in a worker: it is asked directly."""
    async with open_indexes(tmp_path) as house:
        for number in range(20):
            house.write(f"f{number}.py", "kiwi = 1\n")
        await house.update()
        with closing(sqlite3.connect(house.file)) as connection, pytest.MonkeyPatch.context() as patch:
            patch.setattr(walk, "MOST_FILES", 7)
            look = walk.scan(Rooted(house.root, firm=True), connection, None, lambda: False, lambda *_: None)
        assert look.seen == 7
        assert look.troubles == ["The workspace has more than 7 files. Those that are farthest down are left out."]
