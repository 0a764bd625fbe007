"""The writing and the reading half, without actors and threads."""

import hashlib
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from actors.store import operations
from actors.store.connection import connect
from actors.store.database import COMMITS_BETWEEN_RESTS, LOG_BYTES, LOG_PAGES, ROWS, Database
from actors.store.directory import DATABASE, LOCK, StateDirectory
from actors.store.errors import Conflict, Refused, StateUnusable, StoreError, StoreFull
from actors.store.operations import (
    Append,
    Delete,
    Drop,
    DropBlob,
    Get,
    GetBlob,
    GetEach,
    Keys,
    Operation,
    Put,
    PutBlob,
    Question,
    Read,
    Streams,
    Together,
    Touch,
    Trim,
)
from actors.store.reader import Reader
from tests.store.opened import files_open_in


def one(half: Database | Reader, job: Operation[Any] | Question[Any]) -> Any:
    (answer,) = half.execute([job])  # type: ignore[list-item]
    return answer


def test_a_database_in_a_folder_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "troupe.db"
    with pytest.raises(StateUnusable) as refused:
        Database(path)
    assert str(refused.value) == f"The database {path} cannot be created: No such file or directory."


def test_events_are_counted_from_one_in_each_stream(database: Database, reader: Reader) -> None:
    assert database.execute([Append("a", [b"1", b"2"]), Append("b", [b"x"]), Append("a", [b"3"])]) == [2, 1, 3]
    assert one(reader, Read("a")) == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert one(reader, Read("b")) == [(1, b"x")]


def test_a_log_goes_on_counting_after_a_reopening(database: Database) -> None:
    one(database, Append("a", [b"1", b"2"]))
    database.close()
    again = Database(database.path)
    assert one(again, Append("a", [b"3"])) == 3
    again.close()


def test_a_log_goes_on_counting_when_all_of_it_was_trimmed(database: Database) -> None:
    database.execute([Append("a", [b"1", b"2"]), Trim("a", 2)])
    database.close()
    again, reader = Database(database.path), Reader(database.path)
    assert one(reader, Streams()) == [("a", 2)]
    assert one(again, Append("a", [b"3"])) == 3
    assert one(reader, Read("a")) == [(3, b"3")]
    reader.close()
    again.close()


@pytest.mark.parametrize(("upto", "left"), [(-1, [1, 2, 3]), (0, [1, 2, 3]), (2, [3]), (3, []), (99, [])])
def test_trimming_forgets_the_events_up_to_a_number(
    database: Database, reader: Reader, upto: int, left: list[int]
) -> None:
    database.execute([Append("a", [b"1", b"2", b"3"]), Append("b", [b"other"]), Trim("a", upto)])
    assert [seq for seq, _ in one(reader, Read("a"))] == left
    assert one(database, Append("a", [b"4"])) == 4
    assert one(reader, Read("b")) == [(1, b"other")]


def test_a_dropped_log_begins_anew_even_within_one_group(database: Database, reader: Reader) -> None:
    one(database, Append("a", [b"old", b"old"]))
    assert database.execute([Append("a", [b"old"]), Drop("a"), Append("a", [b"new"])]) == [3, None, 1]
    assert one(reader, Read("a")) == [(1, b"new")]


def test_trimming_and_dropping_what_is_not_there_does_nothing(database: Database, reader: Reader) -> None:
    assert database.execute([Trim("none", 5), Drop("none")]) == [None, None]
    assert one(reader, Streams()) == []


@pytest.mark.parametrize(
    ("expected", "answer"), [(0, Conflict), (1, Conflict), (2, 3), (3, Conflict), (None, 3)], ids=str
)
def test_an_append_may_expect_where_the_log_ends(
    database: Database, reader: Reader, expected: int | None, answer: object
) -> None:
    one(database, Append("a", [b"1", b"2"]))
    got = one(database, Append("a", [b"3"], expected))
    assert got == answer or type(got) is answer
    assert len(one(reader, Read("a"))) == (3 if answer == 3 else 2)


def test_of_two_appends_that_expect_the_same_end_in_one_group_the_first_wins(database: Database) -> None:
    first, second = database.execute([Append("a", [b"1"], 0), Append("a", [b"2"], 0)])
    assert first == 1
    assert isinstance(second, Conflict)
    assert (second.stream, second.expected, second.last) == ("a", 0, 1)
    assert "ends at 1, not at 0" in str(second)


WRONG: list[tuple[Operation[Any], str]] = [
    (Append("", [b"x"]), "1 to 512 bytes"),
    (Append("a" * 513, [b"x"]), "1 to 512 bytes, not 513"),
    (Append("a\nb", [b"x"]), "control characters"),
    (Append("\ud800", [b"x"]), "surrogates"),
    (Append(b"a", [b"x"]), "a str, not bytes"),  # type: ignore[arg-type]
    (Append("a", []), "an append to 'a' holds no event"),
    (Append("a", ["x"]), "an event is bytes, not str"),  # type: ignore[list-item]
    (Append("a", [b"x" * (operations.MAX_EVENT + 1)]), "at most 1,048,576 bytes, not 1,048,577"),
    (Append("a", [b"x" * operations.MAX_EVENT] * 17), "at most 16,777,216 bytes, not 17,825,792"),
    (Append("a", (event for event in [b"x"])), "a list, not generator"),  # type: ignore[arg-type]
    (Append("a", 5), "a list, not int"),  # type: ignore[arg-type]
    (Append([], [b"x"]), "a str, not list"),  # type: ignore[arg-type]
    (Trim("", 1), "1 to 512 bytes"),
    (Trim("ok", "1"), "an int, not str"),  # type: ignore[arg-type]
    (Trim("none", None), "an int, not NoneType"),  # type: ignore[arg-type]
    (Drop("\x00"), "control characters"),
    (Put("", "k", b""), "a space has 1 to 512"),
    (Put("s", "", b""), "a key has 1 to 512"),
    (Put("s", "k", b"x" * (operations.MAX_VALUE + 1)), "a value has at most"),
    (Delete("s", "\n"), "control characters"),
    (Together([Put("s", "k", b"1"), Put("s", "", b"2")]), "a key has 1 to 512"),
    (Together([Put("s", "k", b"1"), Append("a", [])]), "no event"),
    (Together([Append("a", [b"1"]), Delete("s", "\n")]), "control characters"),
    (Together([Append("a", [b"1"]), Append([], [b"1"])]), "a str, not list"),  # type: ignore[arg-type]
    (Together([Append("a", [b"1"]), Append("a", ["2"])]), "bytes, not str"),  # type: ignore[list-item]
    (Together([Append("a", [b"1"]), Append("b", (b for b in [b"1"]))]), "a list, not generator"),  # type: ignore[arg-type]
    (Together([Append("a", [b"1"]), Drop("a")]), "is Append, Put and Delete, not Drop"),  # type: ignore[list-item]
    (Together(Put("s", "k", b"1")), "a list, not Put"),  # type: ignore[arg-type]
    (
        Together([Append(stream, [b"x" * operations.MAX_EVENT] * 8) for stream in ("a", "b", "a")]),
        "appended together has at most 16,777,216 bytes, not 25,165,824",
    ),
    (DropBlob(""), "a digest has 1 to 512"),
    (DropBlob(b"digest"), "a str, not bytes"),  # type: ignore[arg-type]
    (PutBlob("text"), "bytes, not str"),  # type: ignore[arg-type]
    (Read("a"), "can do Append, Delete, Drop, DropBlob, Put, PutBlob, Together, Touch, Trim here, not Read"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=[f"{type(job).__name__}: {words}" for job, words in WRONG])
def test_a_wrong_operation_is_refused_in_words_and_its_neighbours_are_done(
    database: Database, reader: Reader, wrong: Operation[Any], words: str
) -> None:
    before, refusal, after = database.execute([Append("ok", [b"1"]), wrong, Append("ok", [b"2"])])
    assert (before, after) == (1, 2)
    assert isinstance(refusal, Refused)
    assert words in str(refusal)
    assert one(reader, Streams()) == [("ok", 2)]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Read(""), "1 to 512 bytes"),
        (Read("a", -1), "not -1"),
        (Read("a", "1"), "an int, not str"),  # type: ignore[arg-type]
        (Read("a", 0, 1.5), "an int, not float"),  # type: ignore[arg-type]
        (Streams(None), "a str, not NoneType"),  # type: ignore[arg-type]
        (Drop("a"), "can do Get, GetBlob, GetEach, Keys, Read, Streams here, not Drop"),
        (Read("a", 0, 0), "1 to 10,000, not 0"),
        (Read("a", 0, 10_001), "not 10,001"),
        (Keys("s", "\n"), "control characters"),
        (Streams(limit=0), "not 0"),
        (GetEach([]), "1 to 16 values"),
        (GetEach([("s", "k")] * 17), "1 to 16 values"),
        (Get("s", ""), "1 to 512"),
        (GetBlob(""), "1 to 512"),
    ],
)
def test_a_wrong_question_is_refused_in_words(reader: Reader, wrong: Question[Any], words: str) -> None:
    answer = one(reader, wrong)
    assert isinstance(answer, Refused)
    assert words in str(answer)


def test_many_rows_go_in_whole_statements_and_none_is_lost_at_the_seams(database: Database, reader: Reader) -> None:
    events = [b"%d" % number for number in range(3 * ROWS + 1)]
    assert one(database, Append("a", events)) == len(events)
    assert one(reader, Read("a")) == list(enumerate(events, 1))


def statements(half: Database | Reader, jobs: list[Any]) -> list[str]:
    """The first words of what SQLite is asked to run for these jobs."""
    ran: list[str] = []
    half._connection.set_trace_callback(lambda statement: ran.append(" ".join(statement.split()[:3])))
    half.execute(jobs)
    half._connection.set_trace_callback(None)
    return ran


def test_a_group_of_appends_is_one_statement_which_is_its_own_transaction(database: Database) -> None:
    streams = [f"s{number % 9}" for number in range(ROWS)]
    database.execute([Append(stream, [b"first"]) for stream in streams[:9]])
    assert statements(database, [Append(stream, [b"x"]) for stream in streams]) == ["INSERT INTO event"]


def test_operations_of_several_kinds_are_one_transaction(database: Database) -> None:
    jobs = [Append("new", [b"1"]), Put("s", "k", b"v"), Append("other", [b"1"]), Put("s", "l", b"v")]
    ran = [statement for statement in statements(database, jobs) if not statement.startswith("SELECT")]
    assert ran == ["BEGIN IMMEDIATE", "INSERT INTO stream", "INSERT INTO event", "REPLACE INTO pair", "COMMIT"]


def test_what_is_done_together_is_one_transaction(database: Database, reader: Reader) -> None:
    one(database, Put("s", "gone", b"1"))
    together = Together([Put("s", "k", b"1"), Delete("s", "gone"), Put("s", "l", b"2")])
    ran = statements(database, [together])
    assert (ran[0], ran[-1], len(ran)) == ("BEGIN IMMEDIATE", "COMMIT", 5)
    assert one(reader, Keys("s")) == [("k", b"1"), ("l", b"2")]


def test_of_what_is_done_together_nothing_is_done_if_one_cannot_be(database: Database, reader: Reader) -> None:
    together = Together([Put("s", "k", b"1"), Put("s", "l", b"x" * (operations.MAX_VALUE + 1))])
    refusal, after = database.execute([together, Put("s", "m", b"3")])
    assert isinstance(refusal, Refused)
    assert after is None
    assert one(reader, Keys("s")) == [("m", b"3")]


def test_events_and_the_state_that_they_change_are_one_transaction(database: Database, reader: Reader) -> None:
    one(database, Put("s", "gone", b"1"))
    together = Together(
        [Append("a", [b"1", b"2"]), Put("s", "k", b"v"), Append("b", [b"1"]), Delete("s", "gone"), Append("a", [b"3"])]
    )
    ran = [statement for statement in statements(database, [together]) if not statement.startswith("SELECT")]
    assert (ran[0], ran[-1], ran.count("COMMIT")) == ("BEGIN IMMEDIATE", "COMMIT", 1)
    assert one(reader, Read("a")) == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert one(reader, Read("b")) == [(1, b"1")]
    assert one(reader, Keys("s")) == [("k", b"v")]


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ([], None),
        ([Put("s", "k", b"")], None),
        ([Append("a", [b"x"])], 3),
        ([Append("a", [b"x"] * 3), Put("s", "k", b"")], 5),
        ([Append("a", [b"x"]), Append("new", [b"x", b"x"])], 2),
        ([Append("a", [b"x"]), Append("a", [b"x"])], 4),
    ],
    ids=str,
)
def test_together_answers_the_last_number_of_its_last_append(
    database: Database, changes: list[Append | Put], answer: int | None
) -> None:
    one(database, Append("a", [b"1", b"2"]))
    assert one(database, Together(changes)) == answer


@pytest.mark.parametrize(
    ("expected", "conflict"),
    [
        ((2, 3), None),
        ((2, None), None),
        ((None, 3), None),
        ((2, 2), (2, 3)),
        ((1, 3), (1, 2)),
        ((3, 3), (3, 2)),
        ((None, 0), (0, 3)),
    ],
    ids=str,
)
def test_an_append_among_others_may_expect_where_its_log_ends_after_those_before_it(
    database: Database,
    reader: Reader,
    expected: tuple[int | None, int | None],
    conflict: tuple[int, int] | None,
) -> None:
    one(database, Append("a", [b"1", b"2"]))
    first, second = expected
    together = Together(
        [Append("new", [b"x"], 0), Append("a", [b"3"], first), Put("s", "k", b"v"), Append("a", [b"4"], second)]
    )
    answer, after = database.execute([together, Append("a", [b"after"])])
    if conflict is None:
        assert (answer, after) == (4, 5)
        assert one(reader, Get("s", "k")) == b"v"
        assert one(reader, Streams()) == [("a", 5), ("new", 1)]
    else:
        assert isinstance(answer, Conflict)
        assert (answer.stream, answer.expected, answer.last) == ("a", *conflict)
        assert after == 3
        assert one(reader, Get("s", "k")) is None
        assert one(reader, Streams()) == [("a", 3)]


def test_together_sees_what_its_own_group_did_before_it(database: Database, reader: Reader) -> None:
    group: list[Operation[Any]] = [Append("a", [b"1", b"2"]), Drop("a")]
    group += [Together([Append("a", [b"new"], 0), Append("a", [b"more"], 1)])]
    assert database.execute(group) == [2, None, 2]
    assert one(reader, Read("a")) == [(1, b"new"), (2, b"more")]


def test_an_event_and_its_state_that_do_not_fit_are_both_not_kept_and_their_numbers_are_not_used(
    database: Database, reader: Reader
) -> None:
    one(database, Append("a", [b"1"]))
    pages = database._connection.execute("PRAGMA page_count").fetchone()[0]
    database._connection.execute(f"PRAGMA max_page_count = {pages + 8}").fetchone()
    large = Together([Append("a", [b"2"]), Append("new", [b"1"]), Put("s", "k", b"x" * 500_000)])
    small = Together([Append("a", [b"two"], 1), Put("s", "l", b"v")])
    full, kept = database.execute([large, small])
    assert isinstance(full, StoreFull)
    assert kept == 2
    assert one(reader, Read("a")) == [(1, b"1"), (2, b"two")]
    assert one(reader, Keys("s")) == [("l", b"v")]
    assert one(reader, Streams()) == [("a", 2)]


def test_a_blob_that_is_dropped_is_gone_for_all_who_put_it_until_it_is_put_again(
    database: Database, reader: Reader
) -> None:
    digest, other = one(database, PutBlob(b"data")), one(database, PutBlob(b"other"))
    assert one(database, PutBlob(b"data")) == digest
    assert one(database, DropBlob(digest)) is None
    assert one(reader, GetBlob(digest)) is None
    assert one(reader, GetBlob(other)) == b"other"
    assert one(database, DropBlob(digest)) is None
    assert database.execute([PutBlob(b"data"), DropBlob(digest), PutBlob(b"data")]) == [digest, None, digest]
    assert one(reader, GetBlob(digest)) == b"data"


def test_a_page_of_any_length_is_two_statements(database: Database, reader: Reader) -> None:
    database.execute([Append("a", [b"x"] * 3000)])
    assert len(statements(reader, [Read("a", 0, 3000)])) == 2


def test_a_log_is_read_page_by_page(database: Database, reader: Reader) -> None:
    one(database, Append("a", [b"%d" % number for number in range(1, 8)]))
    assert [seq for seq, _ in one(reader, Read("a", 0, 3))] == [1, 2, 3]
    assert [seq for seq, _ in one(reader, Read("a", 3, 3))] == [4, 5, 6]
    assert [seq for seq, _ in one(reader, Read("a", 6, 3))] == [7]
    assert one(reader, Read("a", 7, 3)) == []
    assert one(reader, Read("a", 2**63)) == []


def test_a_page_has_a_size_but_at_least_one_entry(
    database: Database, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.store.reader.PAGE_BYTES", 10)
    one(database, Append("a", [b"x" * 50, b"12345", b"67890", b"!"]))
    assert [seq for seq, _ in one(reader, Read("a"))] == [1]
    assert [seq for seq, _ in one(reader, Read("a", 1))] == [2, 3]


@pytest.mark.parametrize("data", [b"", b"\x00", b"a\x00b", b"\xff\xfe", "ü€😀".encode(), bytes(range(256))], ids=repr)
def test_any_bytes_come_back_as_they_were(database: Database, reader: Reader, data: bytes) -> None:
    database.execute([Append("a", [data, b"|", data]), Put("s", "k", data), PutBlob(data)])
    assert one(reader, Read("a")) == [(1, data), (2, b"|"), (3, data)]
    assert one(reader, Get("s", "k")) == data
    assert one(reader, Keys("s")) == [("k", data)]
    assert one(reader, GetBlob(hashlib.sha256(data).hexdigest())) == data


def test_pairs_are_put_replaced_deleted_in_their_order(database: Database, reader: Reader) -> None:
    database.execute([Put("s", "a", b"1"), Put("s", "a", b"2"), Put("t", "a", b"3")])
    database.execute([Put("s", "b", b"1"), Delete("s", "b"), Delete("s", "c"), Put("s", "c", b"4")])
    assert one(reader, Get("s", "a")) == b"2"
    assert one(reader, Get("s", "b")) is None
    assert one(reader, Get("t", "a")) == b"3"
    assert one(reader, Get("s", "c")) == b"4"
    database.execute([Delete("s", "a"), Delete("s", "c"), Delete("s", "never there")])
    assert one(reader, Keys("s")) == []


@pytest.mark.parametrize(
    ("prefix", "after", "limit", "found"),
    [
        ("", "", 100, ["a", "a/1", "a/2", "b", "ü", "\U0010ffff", "\U0010ffffz"]),
        ("a", "", 100, ["a", "a/1", "a/2"]),
        ("a/", "", 100, ["a/1", "a/2"]),
        ("a", "a/1", 100, ["a/2"]),
        ("", "", 2, ["a", "a/1"]),
        ("\U0010ffff", "", 100, ["\U0010ffff", "\U0010ffffz"]),
        ("c", "", 100, []),
    ],
)
def test_names_are_listed_by_prefix(
    database: Database, reader: Reader, prefix: str, after: str, limit: int, found: list[str]
) -> None:
    names = ["b", "a/2", "ü", "\U0010ffffz", "a", "\U0010ffff", "a/1"]
    database.execute([Put("s", name, name.encode()) for name in names] + [Append(name, [b"x"]) for name in names])
    assert one(reader, Keys("s", prefix, after, limit)) == [(name, name.encode()) for name in found]
    assert one(reader, Streams(prefix, after, limit)) == [(name, 1) for name in found]


@pytest.mark.parametrize("count", [1, 2, operations.MAX_PLACES])
def test_several_values_are_told_in_the_order_in_which_they_are_asked_for(
    database: Database, reader: Reader, count: int
) -> None:
    database.execute([Put("s", f"k{number}", b"%d" % number) for number in range(0, count, 2)])
    order = list(reversed(range(count)))
    told = one(reader, GetEach([("s", f"k{number}") for number in order]))
    assert told == [None if number % 2 else b"%d" % number for number in order]


def test_a_blob_is_kept_once_under_its_digest(database: Database, reader: Reader) -> None:
    digest = hashlib.sha256(b"data").hexdigest()
    assert database.execute([PutBlob(b"data"), PutBlob(b"data")]) == [digest, digest]
    assert one(database, PutBlob(b"data")) == digest
    connection = sqlite3.connect(database.path)
    assert connection.execute("SELECT count(*) FROM blob").fetchone() == (1,)
    connection.close()
    assert one(reader, GetBlob("00")) is None


def test_what_was_acknowledged_is_in_the_log_file_and_readers_see_it(database: Database, reader: Reader) -> None:
    assert one(reader, Read("a")) == []
    one(database, Append("a", [b"1"]))
    assert one(reader, Read("a")) == [(1, b"1")]


def test_nothing_is_acknowledged_while_the_database_is_not_in_its_place(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.store.database.LOOK_SECONDS", 0.0)
    for change in (lambda: database.path.rename(tmp_path / "moved"), lambda: database.path.write_bytes(b"another")):
        change()
        (answer,) = database.execute([Put("s", "k", b"v")])
        assert isinstance(answer, StoreError)
        assert "has been moved or removed: this was not kept" in str(answer)
    (tmp_path / "moved").rename(database.path)
    assert database.execute([Put("s", "k", b"v")]) == [None]


def fill(database: Database) -> int:
    """Append until the disk is full; how many fitted."""
    count = 0
    while not isinstance(answer := one(database, Append("filler", [b"x" * 20_000])), StoreFull):
        count = answer
    assert "no space left" in str(answer)
    return count


def test_a_touch_changes_nothing_and_is_written_all_the_same(database: Database) -> None:
    with closing(connect(database.path, readonly=True)) as other:
        before = other.execute("PRAGMA data_version").fetchone()
        assert one(database, Touch()) is None
        assert other.execute("PRAGMA data_version").fetchone() != before


def limit(database: Database, pages: int) -> None:
    database._connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()


def test_a_full_disk_is_an_answer_and_works_again_when_there_is_space(database: Database, reader: Reader) -> None:
    limit(database, 60)
    kept = fill(database)
    assert [seq for seq, _ in one(reader, Read("filler"))] == list(range(1, kept + 1))
    limit(database, 1000)
    assert one(database, Append("filler", [b"again"])) == kept + 1
    assert one(reader, Read("filler", kept)) == [(kept + 1, b"again")]


def test_on_a_full_disk_small_operations_still_fit_beside_a_large_one(database: Database, reader: Reader) -> None:
    limit(database, 60)
    small, large, new, after = database.execute(
        [Append("a", [b"1"]), PutBlob(b"x" * 1_000_000), Append("b", [b"1"], 0), Append("a", [b"2"])]
    )
    assert (small, new, after) == (1, 1, 2)
    assert isinstance(large, StoreFull)
    assert one(reader, Streams()) == [("a", 2), ("b", 1)]


def test_a_failed_group_counts_nothing(database: Database) -> None:
    limit(database, 60)
    kept = fill(database)
    failed = database.execute([Append("new", [b"x" * 30_000]), Append("filler", [b"x" * 30_000])])
    assert [type(answer) for answer in failed] == [StoreFull, StoreFull]
    limit(database, 1000)
    assert database.execute([Append("new", [b"1"], 0), Append("filler", [b"1"], kept)]) == [1, kept + 1]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, "the disk failed (it says)"),
        (sqlite3.SQLITE_BUSY, "another program holds the database locked (it says)"),
        (sqlite3.SQLITE_LOCKED, "another program holds the database locked (it says)"),
    ],
)
def test_what_concerns_all_is_said_in_words_and_not_waited_for_with_each_neighbour(
    database: Database, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    tries = 0

    def fail(statements: object) -> None:
        nonlocal tries
        tries += 1
        error = sqlite3.OperationalError("it says")
        error.sqlite_errorcode = code
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(database, "_commit", fail)
        answers = database.execute([Append("a", [b"1"]), Append("", [b"1"]), Put("s", "k", b"v")])
    assert tries == 1
    assert [type(answer) for answer in answers] == [StoreError, Refused, StoreError]
    assert words in str(answers[0])
    assert one(database, Append("a", [b"1"])) == 1


def test_another_program_that_holds_the_lock_is_said_in_words(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database._connection.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = one(database, Append("a", [b"1"]))
    assert isinstance(answer, StoreError)
    assert "another program holds the database locked" in str(answer)
    other.execute("ROLLBACK")
    other.close()
    assert one(database, Append("a", [b"1"])) == 1


def test_what_cannot_be_read_is_said_as_that(database: Database, reader: Reader) -> None:
    reader._connection.close()
    assert "nothing could be read" in str(one(reader, Read("a")))


def test_the_counters_of_many_streams_are_forgotten_and_found_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.store.database.COUNTED", 3)
    for expected in range(3):
        answers = database.execute([Append(f"s{number}", [b"x"], expected) for number in range(5)])
        assert answers == [expected + 1] * 5


def test_a_clock_that_runs_backward_disorders_nothing(
    database: Database, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = iter(range(1000, 0, -1))
    monkeypatch.setattr(time, "time", lambda: next(hours) * 3600.0)
    for number in range(1, 10):
        assert one(database, Append("a", [b"%d" % number])) == number
        one(database, Put("s", f"k{number}", b"%d" % number))
    assert one(reader, Read("a")) == [(number, b"%d" % number) for number in range(1, 10)]
    assert [key for key, _ in one(reader, Keys("s"))] == [f"k{number}" for number in range(1, 10)]


# -- the file


def pragma(database: Database, name: str) -> Any:
    return database._connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("fullfsync", 1),
        ("wal_autocheckpoint", LOG_PAGES),
        ("journal_size_limit", LOG_BYTES),
        ("foreign_keys", 1),
        ("busy_timeout", 5000),
        ("user_version", 1),
    ],
)
def test_the_database_is_durable_and_patient(database: Database, name: str, value: object) -> None:
    assert pragma(database, name) == value


def test_the_files_are_their_owners_only(database: Database) -> None:
    one(database, Append("a", [b"1"]))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database.path.parent.iterdir()}
    assert modes == dict.fromkeys([LOCK, *(f"{DATABASE}{tail}" for tail in ("", "-wal", "-shm", "-mark"))], 0o600)


def test_the_log_is_written_ahead_and_gone_after_an_orderly_end(database: Database) -> None:
    log = Path(f"{database.path}-wal")
    assert log.stat().st_size == LOG_BYTES
    one(database, Append("a", [b"1"]))
    database.close()
    assert not log.exists()


def test_whoever_closes_lets_go_of_every_file(directory: StateDirectory) -> None:
    database, reader = Database(directory.database), Reader(directory.database)
    one(database, Append("a", [b"1"]))
    one(reader, Read("a"))
    assert len(files_open_in(directory.path)) > 1
    reader.close()
    database.close()
    assert files_open_in(directory.path) == [LOCK]


def test_a_rest_carries_the_log_over_when_idle_or_when_it_is_time(database: Database) -> None:
    assert not database.rest(idle=False)
    one(database, Append("a", [b"x" * 50_000]))
    before = database.path.stat().st_size
    assert database.rest(idle=False)
    assert database.path.stat().st_size == before
    assert not database.rest(idle=True)
    assert database.path.stat().st_size > before
    database.unrested = COMMITS_BETWEEN_RESTS
    assert not database.rest(idle=False)


def test_a_checkpoint_that_fails_loses_nothing_and_is_made_later(database: Database) -> None:
    one(database, Append("a", [b"x" * 50_000]))
    before = database.path.stat().st_size
    database._connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
    assert not database.rest(idle=True)
    database._connection.set_authorizer(None)
    assert database.path.stat().st_size == before
    assert one(database, Append("a", [b"x" * 50_000])) == 2
    assert not database.rest(idle=True)
    assert database.path.stat().st_size > before
