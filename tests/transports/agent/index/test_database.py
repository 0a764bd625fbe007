"""The file of an index: a change happens whole or not at all, and what cannot be used makes room for a new one."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from transports.agent.index.database import ASIDE, IndexDamaged, ReadableIndex, WritableIndex, number_of
from transports.agent.index.writing import totals


class BrokenOff(BaseException):
    """Nobody catches it by its class."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index" / "one.db"


def generation(writable: WritableIndex) -> int:
    with writable.changing() as connection:
        ((found,),) = connection.execute("SELECT value FROM meta WHERE key = 'generation'")
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("error", [BrokenOff(), ValueError("no file"), OSError("the disk")], ids=repr)
def test_a_change_that_is_broken_off_has_not_happened_and_whoever_made_it_hears_why(
    file: Path, error: BaseException
) -> None:
    writable = WritableIndex(file)
    before = generation(writable)

    def break_off() -> None:
        with writable.changing() as connection:
            connection.execute("UPDATE meta SET value = value + 7 WHERE key = 'generation'")
            raise error

    with pytest.raises(type(error)) as caught:
        break_off()
    assert caught.value is error
    assert generation(writable) == before


@pytest.mark.parametrize("change", ["UPDATE meta SET value = 'x' WHERE key = 'chunks'", "DELETE FROM meta"])
def test_totals_that_are_none_are_a_fault_of_the_file(file: Path, change: str) -> None:
    with WritableIndex(file).changing() as connection:
        totals(connection)
        connection.execute(change)
        with pytest.raises(sqlite3.DatabaseError, match="a value that no index has"):
            totals(connection)


@pytest.mark.parametrize("ends", [["-wal"], ["-wal", "-shm"]], ids=" ".join)
def test_a_log_that_somebody_has_removed_is_damage_for_each_that_has_the_index_open(
    file: Path, ends: list[str]
) -> None:
    writable, other, readable = WritableIndex(file), WritableIndex(file), ReadableIndex(file)
    for each in (writable, other, writable):
        generation(each)
    assert readable.connection() is readable.connection()
    number = number_of(file)
    for end in ends:
        file.with_name(file.name + end).unlink()
    for use in (readable.connection, lambda: generation(writable)):
        with pytest.raises(IndexDamaged):
            use()
    assert number_of(file) != number
    for each in (other, writable):
        assert generation(each) == 0
    readable.close()


def test_a_log_that_is_emptied_or_goes_with_those_who_had_the_index_open_is_no_damage(file: Path) -> None:
    for _ in range(3):
        writable, other, readable = WritableIndex(file), WritableIndex(file), ReadableIndex(file)
        for each in (writable, other, writable):
            with each.changing() as connection:
                connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
            assert readable.connection() is not None
            other.settle()
        for held in (other, writable, readable):
            held.close()
    assert generation(WritableIndex(file)) == 9


def nothing(path: Path) -> None:
    pass


def text(path: Path) -> None:
    path.write_text("no index")


def link(path: Path) -> None:
    path.symlink_to("elsewhere")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def empty_folder(path: Path) -> None:
    path.mkdir()


def full_folder(path: Path) -> None:
    path.mkdir()
    (path / "theirs.txt").write_text("kept")


@pytest.mark.parametrize("now", [text, full_folder, pipe, link], ids=lambda each: each.__name__)
@pytest.mark.parametrize("before", [nothing, text, link, empty_folder, full_folder], ids=lambda each: each.__name__)
def test_an_index_is_put_aside_whatever_stands_there_from_before(
    file: Path, before: Callable[[Path], None], now: Callable[[Path], None]
) -> None:
    file.parent.mkdir()
    now(file)
    aside = file.with_name(file.name + ASIDE)
    before(aside)
    damaged = number_of(file)
    with pytest.raises(IndexDamaged), WritableIndex(file).changing():
        pass
    assert number_of(aside) == damaged, "the last that was damaged is there to be looked at"
    kept = [Path(folder) / name for folder, _, names in os.walk(file.parent) for name in names if name == "theirs.txt"]
    assert len(kept) == [before, now].count(full_folder), "what somebody has in a folder is never deleted"
    assert generation(WritableIndex(file)) == 0
