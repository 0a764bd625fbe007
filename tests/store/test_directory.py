"""Everything that can be wrong with the state directory is said in one sentence, before anything has started."""

import errno
import fcntl
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from actors.store.database import Database
from actors.store.directory import StateDirectory
from actors.store.errors import DatabaseDamaged, SchemaTooNew, StateError, StateInUse, StateUnusable
from actors.store.mark import mark_of, read_mark
from actors.store.operations import Append, Read
from actors.store.reader import Reader
from actors.store.schema import APPLICATION_ID, MIGRATIONS, migrate, version
from tests.patience import PATIENCE


def descriptors() -> dict[str, str]:
    """What is open."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the listing's own
            found[number] = os.readlink(f"/proc/self/fd/{number}")
    return found


def refusal(path: Path, *, is_open_here: bool = False) -> StateError:
    """It leaves nothing open, also while somebody holds the error. (`is_open_here`: SQLite closes no file of a database
    that another connection of this process has locked.)"""
    before = descriptors()
    with pytest.raises(StateError) as caught, StateDirectory.claim(path):
        raise AssertionError(f"{path} was claimed")
    assert is_open_here or descriptors() == before
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return caught.value


def test_a_claim_creates_a_private_directory(tmp_path: Path) -> None:
    with StateDirectory.claim(tmp_path / "deep" / "state") as directory:
        assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700
        assert directory.database.parent == directory.path


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with StateDirectory.claim(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_second_instance_is_told_the_process_of_the_first(tmp_path: Path) -> None:
    with StateDirectory.claim(tmp_path):
        error = refusal(tmp_path)
    assert isinstance(error, StateInUse)
    assert f"(process {os.getpid()})" in str(error)


@pytest.mark.slow
def test_a_claim_ends_with_its_process_however_it_dies(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, signal, sys; from actors.store.directory import StateDirectory\n"
        "with StateDirectory.claim(pathlib.Path(sys.argv[1])):\n"
        "    print('claimed', flush=True)\n"
        "    signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"claimed\n"
        assert f"(process {process.pid})" in str(refusal(tmp_path))
        process.kill()
    with StateDirectory.claim(tmp_path):
        pass


def test_a_disk_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert "No locks available" in str(refusal(tmp_path))


def test_a_claim_can_be_made_again_after_its_end(tmp_path: Path) -> None:
    for _ in range(2):
        with StateDirectory.claim(tmp_path):
            pass


def test_a_claim_ends_with_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), StateDirectory.claim(tmp_path):
        _ = 1 / 0
    with StateDirectory.claim(tmp_path):
        pass


@pytest.mark.slow
def test_a_claim_ends_soon_although_a_disk_hangs_and_nobody_else_may_make_one_yet(tmp_path: Path) -> None:
    began = time.monotonic()
    with StateDirectory.claim(tmp_path) as directory:
        directory.writing.acquire()  # as the thread does whose commit does not end
    assert time.monotonic() - began < PATIENCE
    assert isinstance(refusal(tmp_path), StateInUse)


def under_a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "state"


def a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def where_nothing_can_be_created(tmp_path: Path) -> Path:
    return Path("/proc/troupe-state")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (under_a_file, "Not a directory"),
        (a_file, "there is a file of that name"),
        (where_nothing_can_be_created, "No such file or directory"),
    ],
)
def test_a_place_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, place: Callable[[Path], Path], reason: str
) -> None:
    error = refusal(place(tmp_path))
    assert isinstance(error, StateUnusable)
    assert f"cannot be used: {reason}." in str(error)


# -- the database in it


def fill(path: Path) -> None:
    database = Database(path)
    database.execute([Append("a", [b"x" * 1000] * 200)])
    database.close()


def unfinished_log(path: Path) -> bytes:
    """Fill it, and give its log as it was before the database was closed."""
    fill(path)
    database = Database(path)
    database.execute([Append("a", [b"in the log"])])
    log = Path(f"{path}-wal").read_bytes()
    database.close()
    return log


def newer(path: Path) -> None:
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 7}")
    connection.close()


def text(path: Path) -> None:
    path.write_text("this is not a database, but a text of some length, so that SQLite takes a look at it\n" * 20)


def cut_in_the_header(path: Path) -> None:
    fill(path)
    os.truncate(path, 60)


def cut_in_the_middle(path: Path) -> None:
    fill(path)
    os.truncate(path, path.stat().st_size // 2)


def overwritten(path: Path) -> None:
    fill(path)
    with open(path, "r+b") as file:
        file.seek(4096 * 10)
        file.write(os.urandom(4096 * 20))


def cut_off_amid_a_page(path: Path) -> None:
    fill(path)
    os.truncate(path, path.stat().st_size - 1000)


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()


def a_directory(path: Path) -> None:
    path.mkdir()


REFUSED = [
    (newer, SchemaTooNew, f"(schema {len(MIGRATIONS) + 7}, this one knows up to {len(MIGRATIONS)})"),
    (text, DatabaseDamaged, "is damaged (file is not a database)"),
    (cut_in_the_header, DatabaseDamaged, "is damaged ("),
    (cut_in_the_middle, DatabaseDamaged, "is damaged ("),
    (cut_off_amid_a_page, DatabaseDamaged, "is damaged (it is cut off amid a page)"),
    (overwritten, DatabaseDamaged, "is damaged ("),
    (foreign, DatabaseDamaged, "is another program's database"),
    (a_directory, StateUnusable, "is a folder, where a server keeps a file"),
]


@pytest.mark.parametrize(("spoil", "kind", "words"), REFUSED, ids=[case[0].__name__ for case in REFUSED])
def test_a_database_that_cannot_be_used_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None], kind: type[StateError], words: str
) -> None:
    path = tmp_path / "troupe.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    error = refusal(tmp_path)
    assert type(error) is kind
    assert words in str(error)
    assert (path.read_bytes() if path.is_file() else None) == before


SEEN_WITHOUT_A_CHECK = [(newer, SchemaTooNew), (text, DatabaseDamaged), (foreign, DatabaseDamaged)]


@pytest.mark.parametrize(("spoil", "kind"), SEEN_WITHOUT_A_CHECK)
def test_the_writer_itself_refuses_what_the_claim_would(
    tmp_path: Path, spoil: Callable[[Path], None], kind: type[StateError]
) -> None:
    path = tmp_path / "troupe.db"
    spoil(path)
    before = descriptors()
    with pytest.raises(kind) as error:
        Database(path)
    assert descriptors() == before, error


def test_a_damaged_database_with_an_unfinished_log_is_not_touched(tmp_path: Path) -> None:
    path, log = tmp_path / "troupe.db", tmp_path / "troupe.db-wal"
    saved = unfinished_log(path)
    overwritten(path)
    log.write_bytes(saved)
    before = path.read_bytes()
    assert isinstance(refusal(tmp_path), DatabaseDamaged)
    assert path.read_bytes() == before
    assert log.read_bytes() == saved


@pytest.mark.parametrize("rubbish", [b"", b"\x00" * 5000, b"\x37\x7f\x06\x82" + b"rubbish" * 1000], ids=len)
def test_a_commit_that_was_half_written_when_the_power_failed_never_was(tmp_path: Path, rubbish: bytes) -> None:
    path, log = tmp_path / "troupe.db", tmp_path / "troupe.db-wal"
    database = Database(path)
    database.execute([Append("a", [b"1"])])
    marked = mark_of(path).read_bytes()  # the next mark is made when that commit is whole
    database.execute([Append("a", [b"2"])])
    mark = read_mark(path)
    assert mark is not None
    written, saved = log.read_bytes()[: 32 + mark.frames * (24 + 4096)], path.read_bytes()
    database.close()
    path.write_bytes(saved)
    log.write_bytes(written[:-1000] + rubbish)
    mark_of(path).write_bytes(marked)
    with StateDirectory.claim(tmp_path) as directory:
        database = Database(directory.database)
        reader = Reader(directory.database)
        assert reader.execute([Read("a")]) == [[(1, b"1")]]
        assert database.execute([Append("a", [b"next"])]) == [2]
        reader.close()
        database.close()


@pytest.mark.parametrize("gone", [True, False], ids=["gone", "emptied"])
def test_a_log_that_has_lost_its_database_is_not_thrown_away(tmp_path: Path, gone: bool) -> None:
    path, log = tmp_path / "troupe.db", tmp_path / "troupe.db-wal"
    saved = unfinished_log(path)
    log.write_bytes(saved)
    if gone:
        path.unlink()
    else:
        os.truncate(path, 0)
    error = refusal(tmp_path)
    assert isinstance(error, DatabaseDamaged)
    assert "it is empty or gone, and its log is not" in str(error)
    assert log.read_bytes() == saved


def test_a_restored_copy_whose_first_opening_was_killed_is_opened_again(tmp_path: Path) -> None:
    """It keeps a journal, not yet a log; so does a new database for a moment."""
    path, killed = tmp_path / "copy.db", tmp_path / "state"
    fill(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA cache_size = 1")  # so that the file is written to before the commit
    connection.execute("BEGIN")
    connection.execute("UPDATE event SET data = ?", (b"half-written",))
    killed.mkdir()
    shutil.copy(path, killed / "troupe.db")
    shutil.copy(f"{path}-journal", killed / "troupe.db-journal")
    connection.execute("ROLLBACK")
    connection.close()
    assert b"half-written" in (killed / "troupe.db").read_bytes()
    with StateDirectory.claim(killed) as directory:
        database, reader = Database(directory.database), Reader(directory.database)
        assert reader.execute([Read("a")]) == [[(number, b"x" * 1000) for number in range(1, 201)]]
        reader.close()
        database.close()


def test_a_database_that_lacks_a_table_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "troupe.db"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE pair")
    connection.close()
    error = refusal(tmp_path)
    assert isinstance(error, DatabaseDamaged)
    assert "it lacks the table pair" in str(error)


def test_a_database_whose_version_is_not_true_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "troupe.db"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    with pytest.raises(DatabaseDamaged, match="table stream already exists"):
        Database(path)


def test_a_database_that_another_program_keeps_locked_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.store.connection.BUSY_SECONDS", 0.0)
    path = tmp_path / "troupe.db"
    fill(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    error = refusal(tmp_path, is_open_here=True)
    other.close()
    assert isinstance(error, StateUnusable)
    assert "is locked by another program" in str(error)


@pytest.mark.parametrize("name", ["with ?, # and %20", "ünï", os.fsdecode(b"not \xff UTF-8")])
def test_a_directory_may_have_any_name(tmp_path: Path, name: str) -> None:
    with StateDirectory.claim(tmp_path / name) as directory:
        database, reader = Database(directory.database), Reader(directory.database)
        assert database.execute([Append("a", [b"1"])]) == [1]
        assert reader.execute([Read("a")]) == [[(1, b"1")]]
        reader.close()
        database.close()
        assert directory.database.is_file()


def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "troupe.db").touch()
    with StateDirectory.claim(tmp_path) as directory:
        database = Database(directory.database)
        assert database.execute([Append("a", [b"1"])]) == [1]
        database.close()


# -- migrations


def test_migrations_go_on_from_the_version_they_find() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    steps = (("CREATE TABLE first (x)",), ("CREATE TABLE second (x)", "INSERT INTO second VALUES (1)"))
    migrate(connection, steps[:1])
    assert version(connection) == 1
    migrate(connection, steps)
    migrate(connection, steps)
    assert version(connection) == 2
    assert connection.execute("SELECT * FROM second").fetchall() == [(1,)]
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_a_migration_that_fails_leaves_the_version_before_it() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (("CREATE TABLE first (x)",), ("CREATE TABLE second (x)", "CREATE TABLE first (x)")))
    assert version(connection) == 1
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("first",)]
    connection.close()
