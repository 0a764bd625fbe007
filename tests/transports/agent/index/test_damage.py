"""An index that cannot be used: it is put aside and made anew, or a sentence says why, and it goes on later."""

import gc
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import trio

from actors.agent.index.given import IndexTrouble
from codec.agent.index.asking import IndexQuery
from codec.agent.index.telling import IndexFacts, IndexWish
from tests.transports.agent.index.house import IndexHouse, fresh, open_indexes
from transports.agent.index.database import (
    BUSY_SECONDS,
    DAMAGED_NOTICE,
    LONG_LOG,
    OTHER_VERSION_NOTICE,
    ReadableIndex,
    WritableIndex,
    number_of,
    room_for_others,
)
from transports.agent.index.folder_indexes import UNUSED_DAYS
from transports.agent.index.orders import IndexPlace, Relate, Written, answer_of, encode
from transports.agent.index.schema import LEAST_SQLITE, VERSION, why_no_sqlite
from transports.agent.index.worker import IndexWorker
from transports.process.member import MemberLine

pytestmark = pytest.mark.slow


def truncated(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def garbage(file: Path) -> None:
    with file.open("r+b") as opened:
        for place in range(4096, file.stat().st_size - 4096, 3 * 4096):
            opened.seek(place)
            opened.write(os.urandom(4096))


def no_index(file: Path) -> None:
    file.write_bytes(b"This was a text all along.\n" * 500)


def other_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def other_application(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA application_id = 77")


def without_a_table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE symbol")


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "something").write_text("in it")


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def gone(file: Path) -> None:
    file.unlink()


DAMAGES = (truncated, garbage, no_index, other_application, without_a_table, folder)


async def made(house: IndexHouse) -> None:
    for number in range(60):
        house.write(f"p{number % 5}/m{number}.py", f"def okapi_{number}(): return someThing\n" * 10)
    await house.update()


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def make() -> None:
        async with open_indexes(place) as house:
            await made(house)

    place = tmp_path_factory.mktemp("made")
    trio.run(make)
    file = place / "state" / "index" / "one.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    return place


@pytest.fixture
def file(made_once: Path, tmp_path: Path) -> Path:
    """Of an index of this test's own, that nobody has open."""
    shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "state" / "index" / "one.db"


@pytest.mark.drawn(6)
@pytest.mark.parametrize("asked_first", [True, False])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
async def test_a_damaged_index_is_put_aside_and_made_anew_and_says_so(
    tmp_path: Path, file: Path, damage: Callable[[Path], None], asked_first: bool
) -> None:
    damage(file)
    async with open_indexes(tmp_path) as house:
        if asked_first:
            for question in (house.index.facts, lambda: house.find("okapi_7")):
                await question()
        facts = await house.update()
        assert (facts.complete, facts.indexed_files) == (True, 60)
        assert DAMAGED_NOTICE in facts.troubles
        assert (await house.found("okapi_7"))[0] == "p2/m7.py"
        assert house.file.with_name("one.db.damaged").exists()
        assert house.tables() == await fresh(house)
        assert (await house.update()).troubles == ()


@pytest.mark.parametrize("asked_first", [True, False])
async def test_an_index_of_another_version_is_made_anew_and_called_that(
    tmp_path: Path, file: Path, asked_first: bool
) -> None:
    other_version(file)
    async with open_indexes(tmp_path) as house:
        if asked_first:
            await house.find("okapi_7")
        facts = await house.update()
        assert (facts.complete, facts.indexed_files, facts.troubles) == (True, 60, (OTHER_VERSION_NOTICE,))
        assert not house.file.with_name("one.db.damaged").exists()
        assert house.tables() == await fresh(house)
        assert (await house.update()).troubles == ()


@pytest.mark.parametrize("damage", [emptied, gone], ids=lambda damage: damage.__name__)
async def test_an_index_that_is_empty_or_gone_is_made_without_a_word(
    tmp_path: Path, file: Path, damage: Callable[[Path], None]
) -> None:
    damage(file)
    async with open_indexes(tmp_path) as house:
        assert (await house.index.facts()).total_files == 0
        assert (await house.update()).troubles == ()
        assert house.tables() == await fresh(house)


async def test_damage_while_workers_have_the_file_open_is_repaired(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        await made(house)
        await house.find("okapi_7")
        garbage(house.file)
        await house.update(anew=True)
        await house.update()
        assert house.tables() == await fresh(house)


async def test_a_file_of_the_log_that_is_another_index_s_troubles_nobody(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        await made(house)
    house.file.with_name("one.db-wal").write_bytes(os.urandom(100_000))
    async with open_indexes(tmp_path) as house:
        await house.update()
        assert house.tables() == await fresh(house)


async def test_an_index_that_may_not_be_written_to_says_so_and_still_answers(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        await made(house)
        house.write("new.py", "okapi = 1\n")
        await house.find("okapi_7")
        async with open_indexes(tmp_path, odd="readonly=") as other:
            with pytest.raises(IndexTrouble, match="The index cannot be used: it may not be written to"):
                await other.update()
            assert (await other.found("okapi_7"))[0] == "p2/m7.py"
    async with open_indexes(tmp_path) as house:
        assert (await house.update()).changed == 1


async def test_a_full_disk_is_told_and_the_index_goes_on_when_there_is_room(tmp_path: Path) -> None:
    async with open_indexes(tmp_path, odd=f"fails={300 << 10}") as house:
        for number in range(600):
            house.write(f"p{number % 5}/m{number}.py", f"def okapi_{number}(): return some_{number}\n" * 40)
        with pytest.raises(IndexTrouble, match="The index cannot be used: the disk is full"):
            await house.update()
        before = await house.index.facts()
        assert before.indexed_files < 600
    async with open_indexes(tmp_path) as house:
        facts = await house.update()
        assert (facts.indexed_files, facts.troubles) == (600, ())
        assert house.tables() == await fresh(house)


async def test_an_index_leaves_room_on_its_disk_and_goes_on_when_there_is_more(tmp_path: Path) -> None:
    full = tmp_path / "full"
    async with open_indexes(tmp_path, odd=f"room={full}") as house:
        house.write("one.py", "okapi = 1\n")
        await house.update()
        before = house.tables()
        house.write("two.py", "okapi = 2\n")
        full.touch()
        with pytest.raises(IndexTrouble, match=r"The index waits for room: less than \d+ MB would be free"):
            await house.update()
        assert house.tables() == before
        assert await house.found("okapi") == ["one.py"]
        full.unlink()
        assert (await house.update()).changed == 1
        assert house.tables() == await fresh(house)


def test_the_room_for_others_is_a_tenth_of_the_disk_within_bounds() -> None:
    sizes = [room_for_others(megabytes << 20) >> 20 for megabytes in (1, 40, 200, 640, 1 << 20)]
    assert sizes == [8, 8, 20, 64, 64]


def test_who_lets_go_of_a_file_that_was_put_aside_does_the_new_one_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "one.db"
    first, second, reader = WritableIndex(file), WritableIndex(file), ReadableIndex(file)
    for index in (first, second):
        with index.changing() as connection:
            connection.execute("UPDATE meta SET value = 7 WHERE key = 'files'")
    assert reader.connection() is not None
    first.put_aside(number_of(file) or 0)
    with first.changing() as connection:
        connection.execute("UPDATE meta SET value = 8 WHERE key = 'files'")
    reader.close()
    second.close()
    assert file.with_name("one.db-wal").exists()
    for index in (first, second):
        with index.looking() as connection:
            assert connection.execute("SELECT value FROM meta WHERE key = 'files'").fetchone() == (8,)
    first.close()
    second.close()


async def test_a_log_that_is_deleted_while_somebody_reads_in_it_is_damage_that_is_repaired(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        await made(house)
        await house.update("p2/m7.py", anew=True)
        reader = house.index
        await reader.facts()
        house.file.with_name("one.db-wal").unlink()
        async with open_indexes(tmp_path) as other:
            house.write("new.py", "okapi = 1\n")
            await other.update()
            await reader.facts()  # whoever stumbles over it puts it aside
            await house.update()
            assert (await reader.facts()).complete
            assert house.tables() == await fresh(house)


def both_ask(file: Path, both: list[ReadableIndex]) -> None:
    for each in (*both, both[0]):
        assert asked(each) == 60


def another_one_asks(file: Path, both: list[ReadableIndex]) -> None:
    assert asked(ReadableIndex(file)) == 60


def one_is_closed(file: Path, both: list[ReadableIndex]) -> None:
    both.pop().close()


def all_are_closed(file: Path, both: list[ReadableIndex]) -> None:
    while both:
        both.pop().close()


def all_are_forgotten(file: Path, both: list[ReadableIndex]) -> None:
    both.clear()
    gc.collect()


@pytest.mark.drawn(20)
@pytest.mark.parametrize("log_is_long", [True, False])
@pytest.mark.parametrize("somebody_writes", [True, False])
@pytest.mark.parametrize("left", [0, 1, 136, 32 << 10, 40_000])
@pytest.mark.parametrize(
    "touch",
    [both_ask, another_one_asks, one_is_closed, all_are_closed, all_are_forgotten],
    ids=lambda each: each.__name__,
)
def test_the_server_is_not_ended_by_an_index_of_the_log_that_was_cut_off(
    file: Path,
    touch: Callable[[Path, list[ReadableIndex]], None],
    left: int,
    somebody_writes: bool,
    log_is_long: bool,
) -> None:
    """SIGBUS would end the tests as well. So this is done by another process."""
    child = os.fork()
    if not child:
        code = 1
        try:
            writer, both = sqlite3.connect(file, isolation_level=None), [ReadableIndex(file), ReadableIndex(file)]
            writer.execute("PRAGMA wal_autocheckpoint = 0")
            writer.execute("CREATE TABLE much (text)")
            for each in both:
                assert asked(each) == 60
            much = 6_000 if log_is_long else 1
            writer.execute("BEGIN")
            writer.executemany("INSERT INTO much VALUES (?)", [("x" * 3_000,)] * much)
            writer.execute("COMMIT")
            for each in both:
                assert asked(each) == 60
            if not somebody_writes:  # so whoever closes last copies the log
                writer.close()
            os.truncate(file.with_name("one.db-shm"), left)
            touch(file, both)
            if not somebody_writes:
                writer = sqlite3.connect(file, isolation_level=None)
            both_ask(file, [*both, ReadableIndex(file)])
            writer.execute("DELETE FROM file WHERE path LIKE 'p0/%'")
            for each in (*both, ReadableIndex(file)):
                assert asked(each) == 48
            assert writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert writer.execute("SELECT count(*) FROM much").fetchone() == (much,)
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_index_of_the_log_that_a_killed_process_has_left_may_be_begun_anew_shorter(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To give it its old length would cut off for a moment what others ask, and end the server."""
    child = os.fork()
    if not child:
        writer, reader = (sqlite3.connect(file, isolation_level=None) for _ in range(2))
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        reader.execute("SELECT count(*) FROM file").fetchall()
        writer.execute("CREATE TABLE much (text)")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO much VALUES (?)", [("x" * 3_000,)] * 6_000)
        writer.execute("COMMIT")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    shm = file.with_name("one.db-shm")
    before, cut = shm.stat().st_size, list[int]()

    def truncate(path: Path, length: int) -> None:
        cut.append(length)

    monkeypatch.setattr(os, "truncate", truncate)
    both = [ReadableIndex(file), ReadableIndex(file)]
    for _ in range(2):
        for each in both:
            assert asked(each) == 60
    assert shm.stat().st_size < before
    for each in both:
        each.close()
    assert not cut


async def test_a_worker_that_is_ended_by_it_is_followed_by_another_one(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        kept = house.index  # no thread of ours closes a connection at the moment in which the file is cut off
        for number in range(3):
            house.write(f"new{number}.py", f"okapi_{number} = 1\n")
            await house.update()
            assert (await house.found(f"okapi_{number}", kept))[0] == f"new{number}.py"
            os.truncate(house.file.with_name("one.db-shm"), 0)
        house.write("last.py", "okapi_last = 1\n")
        facts = await house.update()
        assert (facts.complete, facts.troubles) == (True, ())
        assert (await house.found("okapi_last", kept))[0] == "last.py"
        assert house.tables() == await fresh(house)


def asked(index: ReadableIndex) -> int:
    connection = index.connection()
    assert connection is not None
    ((count,),) = connection.execute("SELECT count(*) FROM file")
    return int(count)


def test_an_index_of_the_log_that_is_another_file_by_now_is_let_be(file: Path) -> None:
    index = ReadableIndex(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("CREATE TABLE little (text)")
        assert asked(index) == 60
        shm = file.with_name("one.db-shm")
        shm.rename(shm.with_name("kept"))
        shm.write_bytes(b"x" * 100)
        assert asked(index) == 60
        assert shm.read_bytes() == b"x" * 100
        shm.unlink()
        assert asked(index) == 60
        shm.with_name("kept").rename(shm)
    index.close()


async def test_what_is_not_found_while_the_workspace_is_away_has_not_gone(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("a/one.py", "def one():\n    pass\n")
        house.write("a/two.py", "def two():\n    pass\n")
        await house.update()
        before = house.tables()
        house.root.rename(tmp_path / "away")
        with pytest.raises(IndexTrouble, match=r"The workspace's folder cannot be read: it is not there\."):
            await house.update("a/one.py", "a")
        assert house.tables() == before
        (tmp_path / "away").rename(house.root)
        house.root.joinpath("a/one.py").unlink()
        await house.update("a/one.py")
        assert (await house.found("one"), await house.found("two")) == ([], ["a/two.py"])


async def test_a_workspace_that_is_gone_is_told_and_its_index_stays(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        await made(house)
        house.root.rename(tmp_path / "elsewhere")
        with pytest.raises(IndexTrouble, match="The workspace's folder cannot be read: it is not there"):
            await house.update()
        assert (await house.index.facts()).total_files == 60
        (tmp_path / "elsewhere").rename(house.root)
        assert (await house.update()).changed == 0
        shutil.rmtree(house.root)
        house.root.write_text("a file")
        with pytest.raises(IndexTrouble, match="it is a file, or a link"):
            await house.update()


def aged(house: IndexHouse, days: float) -> None:
    then = time.time() - days * 86_400
    for path in house.file.parent.iterdir():
        os.utime(path, (then, then))


async def test_an_index_that_nobody_uses_is_deleted_and_the_next_update_begins_anew(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        await made(house)
        aged(house, UNUSED_DAYS - 1)
        assert await house.indexes.tidy() == []
        aged(house, UNUSED_DAYS + 1)
        await house.find("okapi")
        assert await house.indexes.tidy() == []  # it was asked
        aged(house, UNUSED_DAYS + 1)
        assert await house.indexes.tidy() == ["one"]
        assert list(house.file.parent.iterdir()) == []
        assert (await house.index.facts()).total_files == 0
        assert (await house.update()).indexed_files == 60
        assert (house.file.stat().st_mode & 0o777, house.file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_relating_empties_a_long_log_unless_somebody_reads_in_it(tmp_path: Path) -> None:
    file, worker = tmp_path / "one.db", IndexWorker()
    log = file.with_name("one.db-wal")
    relate = encode(Relate(IndexPlace(str(file), str(tmp_path))))
    writer, reader = WritableIndex(file), ReadableIndex(file)
    with writer.changing() as connection:
        connection.execute("INSERT INTO meta VALUES ('large', ?)", ("x" * LONG_LOG,))
    asks = reader.connection()
    assert asks is not None
    asks.execute("BEGIN")
    large = "SELECT length(value) FROM meta WHERE key = 'large'"
    assert asks.execute(large).fetchone() == (LONG_LOG,)
    with writer.changing() as connection:
        connection.execute("UPDATE meta SET value = 'small' WHERE key = 'large'")
    began = time.monotonic()
    assert isinstance(answer_of(worker.do(relate, _Unheard())), Written)
    assert time.monotonic() - began < BUSY_SECONDS / 2  # it does not wait for the question
    assert log.stat().st_size > LONG_LOG
    assert asks.execute(large).fetchone() == (LONG_LOG,)
    asks.execute("ROLLBACK")
    worker.do(relate, _Unheard())
    assert log.stat().st_size == 0
    assert asks.execute(large).fetchone() == (5,)
    writer.close()
    reader.close()


class _Unheard(MemberLine):
    def __init__(self) -> None:
        pass


async def test_two_servers_at_one_file_wait_for_each_other(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house, open_indexes(tmp_path) as other:
        for number in range(300):
            house.write(f"p{number % 5}/m{number}.py", f"def okapi_{number}(): return someThing\n" * 10)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.update)
            nursery.start_soon(other.update)
        await house.update()
        assert house.tables() == await fresh(house)


async def test_questions_are_answered_while_an_update_runs_and_see_one_commit(tmp_path: Path) -> None:
    """Between two commits the workers are stopped, so the update surely runs while it is asked."""
    async with open_indexes(tmp_path) as house:
        for number in range(800):
            house.write(f"p{number % 5}/m{number}.py", f"def okapi_{number}(): return someThing\n" * 10)
        seen, stopped = list[int](), trio.Event()

        async def generation() -> int:
            return (await house.index.find(IndexQuery(text="someThing"), lambda path: True)).generation

        def told(facts: IndexFacts) -> None:
            if facts.generation and not stopped.is_set():
                for pid in house.statistics().pids:
                    os.kill(pid, signal.SIGSTOP)
                stopped.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.index.update, IndexWish(), told)
            await stopped.wait()
            for _ in range(3):
                seen.append(await generation())
            for pid in house.statistics().pids:
                os.kill(pid, signal.SIGCONT)
        seen.append(await generation())
        assert seen == sorted(seen)
        assert 0 < seen[0] <= seen[2] < seen[3]


def test_the_sqlite_of_this_python_can_be_used() -> None:
    assert sqlite3.sqlite_version_info >= LEAST_SQLITE
    assert why_no_sqlite() is None


def test_too_old_a_sqlite_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 30, 0))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.30.0")
    assert why_no_sqlite() == "The index needs SQLite 3.35.0 or newer, and Python here has 3.30.0."


ODD_VALUES = {
    "a count is no number": "UPDATE meta SET value = 'x' WHERE key = 'chunks'",
    "all that was noted is nothing": "UPDATE meta SET value = NULL",
    "nothing is noted": "DELETE FROM meta",
    "bytes are noted": "UPDATE meta SET value = x'ff00'",
    "a path is no text": "UPDATE file SET path = CAST(path AS BLOB) WHERE path = 'p2/m7.py'",
}


@pytest.mark.drawn(5)
@pytest.mark.parametrize("asked_first", [True, False])
@pytest.mark.parametrize("odd", ODD_VALUES.values(), ids=ODD_VALUES.keys())
async def test_a_value_that_no_index_has_is_damage_and_is_repaired(
    tmp_path: Path, file: Path, odd: str, asked_first: bool
) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(odd)
        connection.commit()
    async with open_indexes(tmp_path) as house:
        if asked_first:
            for question in (house.index.facts, lambda: house.find("okapi_7")):
                await question()
        facts = await house.update()
        assert (facts.complete, facts.indexed_files) == (True, 60)
        assert house.tables() == await fresh(house)
