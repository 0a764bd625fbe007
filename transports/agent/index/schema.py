"""The tables of an index.

    meta       what is so of the whole index: see Meta below
    file       a file of the workspace; also one that has no text for us (`kind` is data then, `digest` empty)
    chunk      a piece of a file, which is found as one. `text` has its words, under the same number
    text       FTS5: `body` as it stands in the file without secrets, `names` the parts of its identifiers, `path` the
               parts of its file's path
    symbol     a definition. `symbol_text` has the parts of its name and of its containers, under the same number
    import     which file imports which other one of this workspace; `written_import`: what each imports, as it is
               written there

A number of a chunk or a symbol is the number of its file times SPAN, and its place in the file. So the rows of a file
stand together, and need no index to be found or deleted.

SQLite 3.35 is needed, with FTS5 and JSON.
"""

import re
import sqlite3

LEAST_SQLITE = (3, 35, 0)
APPLICATION = 0x54726F49
"""`application_id`: "TroI"."""
VERSION = 6
"""`user_version`. An index of another version is made anew."""
SPAN = 1 << 16
"""More than a file has chunks, or symbols."""

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    digest TEXT NOT NULL,
    language TEXT NOT NULL,
    kind TEXT NOT NULL,
    lines INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    rank REAL NOT NULL DEFAULT 0,
    trouble TEXT NOT NULL DEFAULT ''
);
CREATE INDEX file_trouble ON file (path) WHERE trouble != '';
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    name TEXT NOT NULL
);
CREATE VIRTUAL TABLE text USING fts5(body, names, path, tokenize = 'porter unicode61');
CREATE TABLE symbol (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    line INTEGER NOT NULL,
    last INTEGER NOT NULL,
    container TEXT NOT NULL
);
CREATE INDEX symbol_name ON symbol (lower(name));
CREATE VIRTUAL TABLE symbol_text USING fts5(names, containers, tokenize = 'porter unicode61');
CREATE TABLE written_import (
    file INTEGER NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (file, target)
) WITHOUT ROWID;
CREATE TABLE import (
    file INTEGER NOT NULL,
    resolved INTEGER NOT NULL,
    PRIMARY KEY (file, resolved)
) WITHOUT ROWID;
CREATE INDEX import_resolved ON import (resolved);
INSERT INTO text (text, rank) VALUES ('automerge', 16);
INSERT INTO symbol_text (symbol_text, rank) VALUES ('automerge', 16);
"""
TABLES = frozenset(re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", SCHEMA))

META = {
    "generation": 0,  # grows with every commit
    "files": 0,
    "chunks": 0,
    "symbols": 0,
    "complete": 0,  # whether one update has gone through the whole workspace
    "rebuilding": 0,  # whether files are marked to be read anew, and not all of them have been
    "completed_at": None,  # when the last one did, by the wall's clock
    "related": 1,  # whether imports are resolved as the files are now
    "notice": "",  # a sentence: that it was damaged, and is made anew
    "troubles": "[]",  # sentences, as JSON: what was in the way when the whole workspace was last gone through
}


def why_no_sqlite() -> str | None:
    """Why there can be no index with this SQLite, in a sentence."""
    if sqlite3.sqlite_version_info < LEAST_SQLITE:
        least = ".".join(map(str, LEAST_SQLITE))
        return f"The index needs SQLite {least} or newer, and Python here has {sqlite3.sqlite_version}."
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE one USING fts5(words)")
        connection.execute("SELECT value FROM json_each('[]')")
    except sqlite3.Error:
        return "The index needs SQLite with FTS5 and JSON, and the one of Python here lacks them."
    finally:
        connection.close()
    return None


def make_tables(connection: sqlite3.Connection) -> None:
    """In one transaction: others see all of it, or nothing."""
    statements = [
        "BEGIN IMMEDIATE",
        *(part for part in SCHEMA.split(";\n") if part.strip()),
        f"PRAGMA application_id = {APPLICATION}",
        f"PRAGMA user_version = {VERSION}",
    ]
    for statement in statements:
        connection.execute(statement)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", META.items())
    connection.execute("COMMIT")
