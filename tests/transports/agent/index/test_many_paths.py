"""What is told of paths fits into frames, however many there are in one folder, and however long."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from codec.agent.index.telling import IndexWish
from tests.transports.agent.index.house import open_indexes
from transports.agent.index import orders
from transports.agent.index.schema import make_tables
from transports.agent.index.walk import BATCH, MOST_LETTERS, in_lots, scan
from transports.folder.rooted import Rooted
from transports.process.frames import MOST_BYTES

LONG = "x" * 200


def test_a_folder_with_many_files_of_long_names_is_told_in_parts(tmp_path: Path) -> None:
    for number in range(2_000):
        (tmp_path / f"{LONG}{number}").touch()
    told: list[tuple[int, int]] = []
    with closing(sqlite3.connect(":memory:")) as connection:
        make_tables(connection)
        look = scan(
            Rooted(tmp_path),
            connection,
            None,
            lambda: False,
            lambda changed, seen: told.append((len(changed), sum(len(path) for path, _ in changed))),
        )
    assert look.seen == sum(files for files, _ in told) == 2_000
    assert all(files <= BATCH and letters <= MOST_LETTERS + 4_096 for files, letters in told)


def test_what_is_gone_is_told_in_parts_each_of_which_is_a_frame() -> None:
    paths = ["\U0001f600" * 1_000 + str(number) for number in range(3_000)]
    lots = list(in_lots(paths))
    assert [path for lot in lots for path in lot] == paths
    for lot in lots:
        told = orders.FoundChanged(tuple((path, orders.GONE) for path in lot), 0)
        assert len(orders.encode(told)) < MOST_BYTES
    assert msgspec.msgpack.encode(paths).__sizeof__() > MOST_BYTES


@pytest.mark.slow
async def test_so_many_long_paths_as_fit_into_no_order_are_a_look_at_everything(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("new.py", "def okapi(): pass\n")
        paths = tuple("/".join([LONG] * 19) + f"/{number}" for number in range(2_000))
        facts = await house.index.update(IndexWish(paths=paths), house.said.append)
        assert (facts.complete, await house.found("okapi")) == (True, ["new.py"])
