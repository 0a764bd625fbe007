"""The server end's journal: rows come back as they were, or in short, and what cannot be read costs only itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from trio.testing import MockClock

from actors.ipc.server_journal import LARGE_ANSWER, LONGEST_KEPT, ServerJournal
from actors.ipc.server_steps import Phase, Row
from actors.kernel import ChildSpec
from actors.kernel.testing import run_in_virtual_time, staged
from actors.store import STORE, Inline, Store, StoreClient
from codec.ipc import Failure, Success
from tests.ipc.server_kit import FOLDER, state_directory
from tests.ipc.test_documents import JSON

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
OUTCOMES = st.builds(Success, JSON) | st.builds(Failure, TEXTS, st.booleans())
_row = partial(st.builds, Row, st.just("r"), st.binary(max_size=32))
ROWS = (
    _row(st.just(Phase.ASKED), st.integers(1, 3))
    | _row(st.just(Phase.DECIDED), st.integers(0, 3), OUTCOMES)
    | _row(st.just(Phase.ANSWERED), st.integers(0, 3), OUTCOMES, st.booleans())
)


def in_short(row: Row) -> Row:
    if row.phase is not Phase.ANSWERED:
        return row
    if isinstance(row.outcome, Failure):
        return replace(row, outcome=replace(row.outcome, message=row.outcome.message[:LONGEST_KEPT]))
    return replace(row, outcome=Success())


@asynccontextmanager
async def journal() -> AsyncIterator[tuple[ServerJournal, StoreClient]]:
    with state_directory() as directory:
        async with staged(ChildSpec("store", partial(Store, directory, Inline))) as house:
            registry = house.stage.registry
            yield ServerJournal(registry, FOLDER), StoreClient(registry.get(STORE))


@pytest.mark.slow
@given(st.lists(ROWS, min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_a_row_is_loaded_as_it_was_saved_last_and_an_answered_one_in_short(rows: list[Row]) -> None:
    async def main() -> None:
        async with journal() as (books, _):
            known = None
            for row in rows:
                await books.save(row, known)
                known = await books.load("r")
                assert known == in_short(row)
            assert [each async for each in books.all()] == [("r", rows[-1].phase)]
            await books.forget(["r", "none"])
            assert await books.load("r") is None

    run_in_virtual_time(main)


async def test_an_answer_too_large_for_a_row_is_kept_beside_it(autojump_clock: MockClock) -> None:
    row = Row("r", b"f", Phase.DECIDED, 1, Success("x" * (4 * LARGE_ANSWER)))
    async with journal() as (books, _):
        await books.save(row, None)
        assert await books.load("r") == row
        await books.save(replace(row, phase=Phase.ANSWERED), row)
        assert await books.load("r") == replace(row, phase=Phase.ANSWERED, outcome=Success())


async def test_a_row_that_says_only_that_a_request_is_there_is_not_written_unless_it_takes_the_place_of_another(
    autojump_clock: MockClock,
) -> None:
    async with journal() as (books, _):
        await books.save(Row("r", b"f"), None)
        assert await books.load("r") is None
        answered = Row("r", b"f", Phase.ANSWERED, 1, Failure("x" * 1000))
        await books.save(answered, None)
        await books.save(Row("r", b"f"), answered)
        kept = await books.load("r")
        assert kept is not None
        assert kept.outcome == Failure("x" * LONGEST_KEPT)
        await books.save(Row("r", b"g"), answered)
        assert await books.load("r") == Row("r", b"g")


async def test_what_cannot_be_read_counts_as_none_and_stops_nobody(autojump_clock: MockClock) -> None:
    async with journal() as (books, store):
        await books.save(Row("a", b"f", Phase.ASKED, 1), None)
        space = f"ipc/server/{books._rows.rpartition('/')[2]}"
        for key, data in {"b": b"", "c": b"2[]", "d": b"1{", "e": b'1["Zg==","gone",1]'}.items():
            await store.put(space, key, data)
            assert await books.load(key) is None
        assert [each async for each in books.all()] == [(each, Phase.ASKED) for each in "abcde"]


async def test_each_folder_has_a_journal_of_its_own(autojump_clock: MockClock) -> None:
    async with journal() as (books, _):
        other = ServerJournal(books._registry, "/other")
        await books.save(Row("a", b"f", Phase.ASKED, 1), None)
        await books.remember("mode", "chat")
        assert (await other.load("a"), await other.recall("mode")) == (None, None)


async def test_what_an_earlier_version_has_left_is_found(autojump_clock: MockClock) -> None:
    base = "b168638f4efbeef8"  # of FOLDER
    left = {
        "a": b'1["Zg==","asked",2]',
        "b": b'1["Zg==","decided",1,{"type":"success","data":{"n":1}},""]',
        "c": b'1["Zg==","answered",3,{"type":"error","message":"no","permanent":true},""]',
    }
    async with journal() as (books, store):
        for key, data in left.items():
            await store.put(f"ipc/server/{base}", key, data)
        await store.put(f"ipc/desk/{base}", "mode", b"chat")
        assert await books.load("a") == Row("a", b"f", Phase.ASKED, 2)
        assert await books.load("b") == Row("b", b"f", Phase.DECIDED, 1, Success({"n": 1}))
        assert await books.load("c") == Row("c", b"f", Phase.ANSWERED, 3, Failure("no", permanent=True))
        assert [each async for each in books.all()] == list(zip("abc", Phase, strict=True))
        assert await books.recall("mode") == "chat"
