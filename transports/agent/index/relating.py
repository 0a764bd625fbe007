"""Imports are resolved to files, and files are ranked by them: what many import, and what those import, counts more."""

import sqlite3
from collections.abc import Sequence

from msgspec.json import encode

from codec.agent.index.graph import ranks
from codec.agent.index.resolving import resolved

DIGITS = 4
"""Of a rank: the order in which numbers are added leaves its traces behind them."""


def was_related(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT value FROM meta WHERE key = 'related'").fetchone()[0])


def complete(connection: sqlite3.Connection, at: float, troubles: Sequence[str]) -> None:
    """One update has gone through the whole workspace. What was said of a damage before it is said no more when the
    next one has, too."""
    set_ = "UPDATE meta SET value = ? WHERE key = ?"
    connection.execute(
        "UPDATE meta SET value = '' WHERE key = 'notice' AND (SELECT value FROM meta WHERE key = 'complete') = 1"
    )
    told = encode(troubles).decode()
    connection.executemany(
        set_, [(1, "complete"), (0, "rebuilding"), (at, "completed_at"), (told, "troubles")]
    )


def relate(connection: sqlite3.Connection) -> None:
    numbers: dict[str, int] = {}
    written: dict[int, list[str]] = {}
    languages: dict[int, str] = {}
    old: dict[int, float] = {}
    for number, path, language, rank in connection.execute("SELECT id, path, language, rank FROM file ORDER BY path"):
        numbers[path], languages[number], old[number] = number, language, rank
    for number, target in connection.execute("SELECT file, target FROM written_import ORDER BY file, target"):
        written.setdefault(number, []).append(target)
    edges = resolved({path: (languages[number], written.get(number, ())) for path, number in numbers.items()})
    before = set(connection.execute("SELECT file, resolved FROM import"))
    after = {(numbers[path], numbers[each]) for path, targets in edges.items() for each in targets}
    connection.executemany("DELETE FROM import WHERE file = ? AND resolved = ?", before - after)
    connection.executemany("INSERT INTO import VALUES (?, ?)", sorted(after - before))
    new = {number: round(rank, DIGITS) for number, rank in ranks(list(old), after).items()}
    connection.executemany(
        "UPDATE file SET rank = ? WHERE id = ?",
        [(rank, number) for number, rank in new.items() if rank != old[number]],
    )
    connection.execute("UPDATE meta SET value = 1 WHERE key = 'related'")
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
