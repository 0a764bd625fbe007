"""The program of a member that works on indexes. It is started by its path with `-I -S`; the arguments after its limits
are its module path.

It keeps the files of the last few indexes open. The grammars, which take a while to load, are loaded with the first
file that is read; a worker that scans does without.
"""

import gc
import os
import sqlite3
import sys
from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transports.agent.index.database import WritableIndex
    from transports.agent.index.orders import (
        ChunkMeaning,
        IndexAnswer,
        IndexOrder,
        IndexPlace,
        ReadPaths,
        Relate,
        Scan,
        SeekMeanings,
        Written,
    )
    from transports.agent.index.writing import TakenFile
    from transports.folder.rooted import Rooted
    from transports.process.member import MemberLine

MOST_OPEN = 4
READER = "transports.agent.index.reading"
"""Takes longer to load than all the rest."""
RARELY = 200_000, 10, 100
"""When garbage is looked for: what is taken out of files is no garbage, and looking at it took a tenth of the time."""


class IndexWorker:
    def __init__(self) -> None:
        self._open: OrderedDict[str, WritableIndex] = OrderedDict()

    def do(self, order: bytes, line: "MemberLine") -> bytes:
        from transports.agent.index import orders
        from transports.agent.index.database import DAMAGED_NOTICE, IndexDamaged, IndexUnusable, index_trouble

        wanted = orders.order_of(order)
        try:
            return orders.encode(self._answer(wanted, line))
        except IndexDamaged:
            return orders.encode(orders.IndexRefusal(DAMAGED_NOTICE, damaged=True))
        except (IndexUnusable, sqlite3.Error, OSError) as error:
            if isinstance(error, ConnectionError):
                raise
            self._index(wanted.place).close()
            return orders.encode(orders.IndexRefusal(index_trouble(error)))

    def _answer(self, order: "IndexOrder", line: "MemberLine") -> "IndexAnswer":
        from transports.agent.index import orders

        match order:
            case orders.Scan():
                return self._scan(order, line)
            case orders.Prepare():
                import_module(READER)
            case orders.ReadPaths():
                return self._read(order, line)
            case orders.LeaveOut(place, path, why):
                return self._leave_out(place, path, why)
            case orders.Relate():
                return self._relate(order)
            case orders.SeekMeanings():
                return self._seek_meanings(order)
            case orders.KeepMeanings(place, model, meanings):
                return self._keep_meanings(place, model, meanings)
            case orders.PutAside(place, number):
                self._index(place).put_aside(number)
            case orders.RemoveIndex(place, unused_since):
                return orders.Written(changed=int(self._index(place).remove(unused_since)))
        return orders.Written()

    def _scan(self, order: "Scan", line: "MemberLine") -> "IndexAnswer":
        from transports.agent.index import orders
        from transports.agent.index.relating import was_related
        from transports.agent.index.vector_rows import forget_refused
        from transports.agent.index.walk import in_lots, scan
        from transports.agent.index.writing import read_anew, totals

        def told(changed: Sequence[tuple[str, int]], seen: int) -> None:
            line.say(orders.encode(orders.FoundChanged(tuple(changed), seen)))

        def lively() -> bool:
            line.lively()
            return False

        index = self._index(order.place)
        if order.anew:
            with index.changing() as connection:
                read_anew(connection)
                forget_refused(connection)
        with index.looking() as connection:
            total, related = totals(connection), was_related(connection)
            if not total.files:
                line.say(orders.encode(orders.FoundChanged((), 0, new=True)))
            look = scan(_rooted(order.place), connection, order.paths, lively, told)
        for some in in_lots(look.gone):
            told([(path, orders.GONE) for path in some], look.seen)
        return orders.Scanned(look.seen, total, tuple(look.troubles), related)

    def _read(self, order: "ReadPaths", line: "MemberLine") -> "IndexAnswer":
        from transports.agent.index.reading import read_files
        from transports.agent.index.walk import check_root
        from transports.agent.index.writing import TakenFile, digests_of

        index = self._index(order.place)
        with index.looking() as connection:
            digests = digests_of(connection, order.paths)
        root = _rooted(order.place)
        reads = read_files(root, order.paths, digests, line.lively)
        if order.gone or any(read.entry is None for read in reads):
            check_root(root)
        return self._write(index, [*reads, *(TakenFile(path, None) for path in order.gone)])

    def _leave_out(self, place: "IndexPlace", path: str, why: str) -> "IndexAnswer":
        from transports.agent.index.reading import glanced
        from transports.agent.index.writing import TakenFile

        return self._write(self._index(place), [TakenFile(path, glanced(_rooted(place), path), trouble=why)])

    def _write(self, index: "WritableIndex", every: "list[TakenFile]") -> "Written":
        from transports.agent.index.orders import Written
        from transports.agent.index.relating import was_related
        from transports.agent.index.writing import IndexRows

        with index.changing() as connection:
            rows = IndexRows(connection)
            again = tuple(read.path for read in every if not rows.bring(read))
            return Written(rows.close(), rows.changed, was_related(connection), again)

    def _relate(self, order: "Relate") -> "IndexAnswer":
        from transports.agent.index.orders import Written
        from transports.agent.index.relating import complete, relate, was_related
        from transports.agent.index.writing import totals

        index = self._index(order.place)
        with index.changing() as connection:
            if not was_related(connection):
                relate(connection)
            if order.completed_at is not None:
                complete(connection, order.completed_at, order.troubles)
            total = totals(connection)
        index.settle()
        return Written(total, related=True)

    def _seek_meanings(self, order: "SeekMeanings") -> "IndexAnswer":
        from transports.agent.index.vector_rows import without_meaning

        with self._index(order.place).changing() as connection:
            return without_meaning(connection, order.model, order.size, order.after)

    def _keep_meanings(self, place: "IndexPlace", model: str, meanings: "Sequence[ChunkMeaning]") -> "IndexAnswer":
        from transports.agent.index.orders import Written
        from transports.agent.index.vector_rows import keep_meanings
        from transports.agent.index.writing import totals

        with self._index(place).changing() as connection:
            keep_meanings(connection, model, meanings)
            return Written(totals(connection))

    def _index(self, place: "IndexPlace") -> "WritableIndex":
        from transports.agent.index.database import WritableIndex

        index = self._open.pop(place.file, None) or WritableIndex(Path(place.file))
        self._open[place.file] = index
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return index


def _rooted(place: "IndexPlace") -> "Rooted":
    from transports.folder.rooted import Rooted

    return Rooted(Path(place.root), firm=True, closed=frozenset(place.closed))


def main() -> None:
    life, memory, seconds, *paths = sys.argv[1:]
    sys.path += paths
    os.umask(0o077)
    gc.set_threshold(*RARELY)
    from transports.process.member import serve

    serve(IndexWorker().do, [life, memory, seconds])


if __name__ == "__main__":
    main()
