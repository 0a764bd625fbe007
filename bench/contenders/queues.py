"""Queues that other projects keep on a disk, in their durable settings: a text is on the disk before the next is taken.
Every function puts these texts and returns seconds; opening and closing is not timed.

    huey, files       it never syncs, and has no setting for it
    huey, SQLite      fsync=True
    litequeue         it asks SQLite for synchronous=NORMAL, which loses the last commits in a power cut: here FULL
    persist-queue     its SQLite queue, durable by default (its file queue syncs once in a hundred texts)
    one by one        no queue at all: a file is written, synced and renamed, and its folder synced
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

Put = Callable[[str], object]


def timed(put: Put, texts: Sequence[str]) -> float:
    begun = time.perf_counter()
    for text in texts:
        put(text)
    return time.perf_counter() - begun


def one_by_one(place: Path, texts: Sequence[str]) -> float:
    place.mkdir(parents=True, exist_ok=True)
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)

    def put(text: str) -> None:
        draft = place / "draft"
        with draft.open("x") as file:
            file.write(text)
            file.flush()
            os.fdatasync(file.fileno())
        draft.rename(place / f"{os.urandom(8).hex()}.json")
        os.fsync(folder)

    try:
        return timed(put, texts)
    finally:
        os.close(folder)


def huey_files(place: Path, texts: Sequence[str]) -> float:
    from huey.storage import FileStorage

    storage = FileStorage("bench", str(place))
    return timed(lambda text: storage.enqueue(text.encode()), texts)


def huey_sqlite(place: Path, texts: Sequence[str]) -> float:
    from huey.storage import SqliteStorage

    place.mkdir(parents=True, exist_ok=True)
    storage = SqliteStorage("bench", str(place / "huey.db"), fsync=True)
    try:
        return timed(lambda text: storage.enqueue(text.encode()), texts)
    finally:
        storage.close()


def litequeue(place: Path, texts: Sequence[str]) -> float:
    from litequeue import LiteQueue

    place.mkdir(parents=True, exist_ok=True)
    queue = LiteQueue(str(place / "lite.db"))
    queue.conn.execute("PRAGMA synchronous = FULL")
    with closing(queue.conn):
        return timed(queue.put, texts)


def persist_queue_sqlite(place: Path, texts: Sequence[str]) -> float:
    from persistqueue import SQLiteQueue

    queue = SQLiteQueue(str(place), auto_commit=True)
    try:
        return timed(queue.put, texts)
    finally:
        queue.close()
