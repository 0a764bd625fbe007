"""Random operations in random groups, against a model of dictionaries; now and then reopened, now and then full."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from actors.store.database import Database
from actors.store.errors import Conflict, StoreFull
from actors.store.operations import (
    MAX_PLACES,
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
    Read,
    Streams,
    Together,
    Trim,
)
from actors.store.reader import Reader


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


NAMES = st.sampled_from(["a", "b", "ü/c"])
DATA = st.binary(max_size=20) | st.just(b"x" * 5000)
APPENDS = st.builds(Append, NAMES, st.lists(DATA, min_size=1, max_size=4), st.none() | st.integers(0, 6))
TOGETHER = APPENDS | st.builds(Put, NAMES, NAMES, DATA) | st.builds(Delete, NAMES, NAMES)
OPERATIONS: st.SearchStrategy[Operation[Any]] = st.one_of(
    APPENDS,
    st.builds(Together, st.lists(TOGETHER, max_size=5)),
    st.builds(Trim, NAMES, st.integers(0, 8)),
    st.builds(Drop, NAMES),
    st.builds(Put, NAMES, NAMES, DATA, st.booleans()),
    st.builds(Delete, NAMES, NAMES, st.booleans()),
    st.builds(PutBlob, DATA),
    st.builds(DropBlob, DATA.map(digest_of)),
)
GROUPS = st.lists(OPERATIONS, min_size=1, max_size=8)


class Model:
    def __init__(self) -> None:
        self.logs: dict[str, tuple[int, dict[int, bytes]]] = {}
        self.pairs: dict[tuple[str, str], bytes] = {}
        self.blobs: dict[str, bytes] = {}

    def check(self, operation: Operation[Any], answer: object) -> None:
        """This answer is the right one; do the same here."""
        if isinstance(answer, StoreFull):
            return
        match operation:
            case Append(stream, events, expected):
                last, log = self.logs.get(stream, (0, {}))
                if expected is not None and expected != last:
                    assert isinstance(answer, Conflict)
                    assert answer.last == last
                else:
                    log = log | dict(enumerate(events, last + 1))
                    self.logs[stream] = (last + len(events), log)
                    assert answer == last + len(events)
            case Trim(stream, upto):
                if stream in self.logs:
                    last, log = self.logs[stream]
                    self.logs[stream] = (last, {seq: event for seq, event in log.items() if seq > upto})
                assert answer is None
            case Drop(stream):
                self.logs.pop(stream, None)
                assert answer is None
            case Put(space, key, value):
                self.pairs[space, key] = value
                assert answer is None
            case Delete(space, key):
                self.pairs.pop((space, key), None)
                assert answer is None
            case Together(changes):
                self.check_together(changes, answer)
            case PutBlob(data):
                self.blobs[digest_of(data)] = data
                assert answer == digest_of(data)
            case DropBlob(digest):
                self.blobs.pop(digest, None)
                assert answer is None

    def check_together(self, changes: Sequence[Append | Put | Delete], answer: object) -> None:
        lasts = {stream: last for stream, (last, _) in self.logs.items()}
        done = None
        for change in changes:
            if isinstance(change, Append):
                last = lasts.get(change.stream, 0)
                if change.expected not in (None, last):
                    assert isinstance(answer, Conflict)
                    assert (answer.stream, answer.last) == (change.stream, last)
                    return
                done = lasts[change.stream] = last + len(change.events)
        assert answer == done
        for change in changes:
            each = self.logs.get(change.stream, (0, {}))[0] + len(change.events) if isinstance(change, Append) else None
            self.check(change, each)

    def check_all(self, reader: Reader) -> None:
        names = sorted(self.logs, key=str.encode)
        assert reader.execute([Streams()]) == [[(name, self.logs[name][0]) for name in names]]
        for name in ("a", "b", "ü/c"):
            log = self.logs.get(name, (0, {}))[1]
            assert reader.execute([Read(name)]) == [sorted(log.items())]
            pairs = sorted((key, value) for (space, key), value in self.pairs.items() if space == name)
            assert reader.execute([Keys(name)]) == [pairs]
            for key, value in pairs:
                assert reader.execute([Get(name, key)]) == [value]
        places = [*list(self.pairs)[: MAX_PLACES - 2], ("a", "none"), ("none", "a")]
        assert reader.execute([GetEach(places)]) == [[self.pairs.get(place) for place in places]]
        for digest in (digest_of(b""), digest_of(b"x" * 5000), *self.blobs):
            assert reader.execute([GetBlob(digest)]) == [self.blobs.get(digest)]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(groups=st.lists(st.tuples(GROUPS, st.sampled_from(["go on", "reopen", "rest", "full", "space"])), max_size=8))
def test_any_groups_of_operations_do_what_the_model_does(groups: list[tuple[list[Operation[Any]], str]]) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.store.database.LOG_BYTES", 0)  # written at each of some thousand openings
        path = Path(place) / "troupe.db"
        database, reader, model = Database(path), Reader(path), Model()
        try:
            for group, event in groups:
                match event:
                    case "reopen":
                        database.close()
                        database = Database(path)
                    case "rest":
                        database.unrested = 1
                        database.rest(idle=True)
                    case "full" | "space":
                        pages = 20 if event == "full" else 10_000
                        database._connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
                for operation, answer in zip(group, database.execute(group), strict=True):
                    model.check(operation, answer)
                model.check_all(reader)
        finally:
            reader.close()
            database.close()
