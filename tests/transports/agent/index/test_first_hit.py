"""The first files can be found while the walk through the workspace still goes on, also in one large folder."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import trio

from codec.agent.index.telling import IndexFacts, IndexWish
from tests.patience import PATIENCE
from transports.agent.index import orders
from transports.agent.index.orders import (
    FoundChanged,
    IndexPlace,
    IndexTotals,
    Prepare,
    ReadPaths,
    Scan,
    Scanned,
    Written,
)
from transports.agent.index.schema import make_tables
from transports.agent.index.updating import IndexUpdate
from transports.agent.index.walk import BATCH, scan
from transports.agent.index.worker import IndexWorker
from transports.agent.walking import PART, TreeWalk
from transports.folder.rooted import Rooted
from transports.process.member import MemberLine


def as_kept(total: IndexTotals) -> IndexFacts:
    return IndexFacts(total_chunks=total.chunks, complete=total.complete)


def test_of_a_large_folder_the_first_files_are_told_before_the_last_are_looked_at(tmp_path: Path) -> None:
    many = 3 * BATCH
    for number in range(many):
        (tmp_path / f"{number:05}.py").touch()
    looked = 0
    told: list[tuple[int, int]] = []

    def late() -> bool:
        nonlocal looked
        looked += 1
        return False

    with closing(sqlite3.connect(":memory:")) as connection:
        make_tables(connection)
        scan(Rooted(tmp_path), connection, None, late, lambda changed, seen: told.append((seen, looked)))
    assert [seen for seen, _ in told[:3]] == [BATCH, 2 * BATCH, many]
    assert told[0][1] < told[1][1] < told[2][1]
    assert told[0][1] < many


def test_the_parts_of_a_folder_are_the_folder(tmp_path: Path) -> None:
    for number in range(PART + 3):
        (tmp_path / f"{number:05}.py").touch()
    (tmp_path / "below").mkdir()
    (tmp_path / "below/last.py").touch()
    (tmp_path / "empty").mkdir()
    parts: dict[str, list[str]] = {}
    for above, _, files in TreeWalk(Rooted(tmp_path), (), lambda: False).parts():
        parts.setdefault(above, []).extend(file.name for file in files)
    whole = {
        above: [file.name for file in files]
        for above, _, files in TreeWalk(Rooted(tmp_path), (), lambda: False).folders()
    }
    assert parts == whole
    assert list(whole) == ["", "below/", "empty/"]


async def test_the_first_batch_is_in_the_index_before_the_walk_has_ended() -> None:
    """The walk of this crew ends only when something has been read."""
    read = trio.Event()

    class Crew:
        async def do(
            self, order: bytes, heard: Callable[[bytes], object] = lambda part: None, *, seconds: float = 0.0
        ) -> bytes:
            match orders.order_of(order):
                case Scan():
                    heard(orders.encode(FoundChanged((("a.py", 1),), 1)))
                    await read.wait()
                    return orders.encode(Scanned(1, IndexTotals()))
                case ReadPaths(paths=paths):
                    assert paths == ("a.py",)
                    read.set()
                    return orders.encode(Written(IndexTotals(generation=1, files=1, chunks=1), changed=1))
            return orders.encode(Written(IndexTotals(generation=2, files=1, chunks=1, complete=True), related=True))

    said: list[int] = []
    with trio.fail_after(PATIENCE):
        facts = await IndexUpdate(
            Crew(), IndexPlace("", ""), IndexWish(), lambda facts: said.append(facts.total_chunks), 2, as_kept
        ).run()
    assert (facts.changed, facts.complete, said[0]) == (1, True, 1)


async def test_of_a_new_index_a_reader_is_ready_before_the_first_file_is_found() -> None:
    """The walk of this crew ends only when a reader was got ready."""
    ready = trio.Event()
    done: list[str] = []

    class Crew:
        async def do(
            self, order: bytes, heard: Callable[[bytes], object] = lambda part: None, *, seconds: float = 0.0
        ) -> bytes:
            wanted = orders.order_of(order)
            done.append(type(wanted).__name__)
            match wanted:
                case Scan():
                    heard(orders.encode(FoundChanged((), 0, new=is_new)))
                    if is_new:
                        await ready.wait()
                    return orders.encode(Scanned(0, IndexTotals()))
                case Prepare():
                    ready.set()
            return orders.encode(Written())

    for is_new in (True, False):
        done.clear()
        with trio.fail_after(PATIENCE):
            await IndexUpdate(Crew(), IndexPlace("", ""), IndexWish(), lambda facts: None, 2, as_kept).run()
        assert done == (["Scan", "Prepare", "Relate"] if is_new else ["Scan", "Relate"])


def test_a_scan_says_before_all_else_that_the_index_is_new(tmp_path: Path) -> None:
    class Line(MemberLine):
        def __init__(self) -> None:
            self.said: list[FoundChanged] = []

        def say(self, part: bytes) -> None:
            self.said.append(orders.found_of(part))

        def lively(self) -> None:
            pass

    def done(order: orders.IndexOrder) -> list[FoundChanged]:
        line = Line()
        assert not isinstance(orders.answer_of(worker.do(orders.encode(order), line)), orders.IndexRefusal)
        return line.said

    worker = IndexWorker()
    place = IndexPlace(str(tmp_path / "index/one.db"), str(tmp_path / "work"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.py").write_text("x = 1\n")
    assert done(Scan(place)) == [FoundChanged((), 0, new=True), FoundChanged((("a.py", 6),), 1)]
    assert done(Prepare(place)) == done(ReadPaths(place, ("a.py",))) == []
    assert [told.new for told in done(Scan(place, anew=True))] == [False]
