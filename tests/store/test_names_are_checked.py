"""A name that can be none is refused by every operation and question, each of its names; and a file that is refused is
let go."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.store import connection
from actors.store.database import Database
from actors.store.errors import Refused, StateError
from actors.store.operations import (
    MAX_NAME,
    Append,
    Delete,
    Drop,
    Get,
    GetBlob,
    GetEach,
    Keys,
    Put,
    Read,
    Streams,
    Together,
    Trim,
)
from actors.store.reader import Reader

CHANGES: list[Callable[[Any], Any]] = [
    lambda name: Append(name, [b"x"]),
    lambda name: Trim(name, 1),
    lambda name: Drop(name),
    lambda name: Put(name, "key", b"x"),
    lambda name: Put("space", name, b"x"),
    lambda name: Delete(name, "key"),
    lambda name: Delete("space", name),
    lambda name: Together([Put("space", "key", b"x"), Put(name, "key", b"x")]),
]
QUESTIONS: list[Callable[[Any], Any]] = [
    lambda name: Read(name),
    lambda name: Get(name, "key"),
    lambda name: Get("space", name),
    lambda name: GetEach([("space", "key"), (name, "key")]),
    lambda name: GetEach([("space", "key"), ("space", name)]),
    lambda name: GetBlob(name),
    lambda name: Keys(name),
    lambda name: Keys("space", prefix=name or "\0"),
    lambda name: Keys("space", after=name or "\0"),
    lambda name: Streams(prefix=name or "\0"),
    lambda name: Streams(after=name or "\0"),
]
NONE = ["", "a\nb", "\ud800", "x" * (MAX_NAME + 1), "ä" * MAX_NAME, 7, b"bytes", ["a"]]


@pytest.mark.parametrize("name", NONE, ids=repr)
def test_what_can_be_no_name_is_refused_wherever_one_is_given(tmp_path: Path, name: Any) -> None:
    database = Database(tmp_path / "troupe.db")
    reader = Reader(database.path)
    try:
        for change in CHANGES:
            (answer,) = database.execute([change(name)])
            assert isinstance(answer, Refused), change(name)
        for question in QUESTIONS:
            (answer,) = reader.execute([question(name)])
            assert isinstance(answer, Refused), question(name)
        assert reader.execute([Keys("space"), Streams()]) == [[], []]
    finally:
        reader.close()
        database.close()


@pytest.mark.parametrize("content", [b"not a database, by no means" * 100, bytes(5_000)])
def test_a_file_that_is_refused_is_let_go_before_the_refusal_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "troupe.db"
    path.write_bytes(content)
    with pytest.raises(StateError) as refused:
        connection.inspect(path)
    opened = {os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}
    assert str(path) not in opened, refused.value
