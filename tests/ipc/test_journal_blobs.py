"""Blobs in the journals of both ends: each is named by a row, and what a row names is there and whole.

Two requests with the same content and the same answers stand side by side in two folders, so that whoever drops what
is another's is found out.
"""

import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.json import encode
from msgspec.structs import replace

from actors.ipc.books import reopened
from actors.ipc.client_steps import State
from actors.ipc.dossier import MOST_TRIED, Dossier, another_round, cancelled
from actors.ipc.journal import LARGE_CONTENT, LARGE_OUTCOME, ClientJournal
from actors.ipc.server_journal import LARGE_ANSWER, ServerJournal
from actors.ipc.server_steps import Phase, Row
from actors.kernel import ChildSpec
from actors.kernel.testing import House, run_in_virtual_time, staged
from actors.store import STORE, Inline, StateDirectory, Store, StoreClient
from codec.ipc import Failure, Request, Success, write_request
from tests.ipc.test_journal import again, dossier, failed, succeeded

LARGE, HUGE = "x" * LARGE_OUTCOME, "x" * LARGE_CONTENT
STEPS = ("accept", "accept another", "fail", "fail at length", "give up", "succeed", "cancel", "requeue", "forget")


def in_a_store(test: Callable[[House, Callable[[], set[str]]], Awaitable[None]]) -> None:
    """With a look at the digests of all blobs."""

    async def main() -> None:
        with TemporaryDirectory() as folder, StateDirectory.claim(Path(folder) / "state") as directory:

            def blobs() -> set[str]:
                with sqlite3.connect(Path(folder) / "state" / "troupe.db") as connection:
                    found = {digest for (digest,) in connection.execute("SELECT digest FROM blob")}
                connection.close()
                return found

            async with staged(ChildSpec("store", partial(Store, directory, Inline))) as house:
                await test(house, blobs)

    run_in_virtual_time(main)


def stepped(before: Dossier | None, step: str, id: str) -> Dossier | None:  # noqa: A002 - as in the contract
    """None: that cannot happen to it."""
    if step.startswith("accept"):
        if before is not None and not before.is_over:
            return None
        request = Request(id=id, command="ping", params={"text": HUGE, "other": step == "accept another"})
        return reopened(request, write_request(request), 1.0, "dropped", before)
    if before is None:
        return None
    if before.is_over:
        return another_round(before, 9.0) if step == "requeue" and before.state is State.GAVE_UP else None
    match step:
        case "fail" | "fail at length":
            after = failed(before, Failure("busy" if step == "fail" else LARGE))
            return again(after)
        case "give up":
            return failed(before, Failure(LARGE, permanent=True), State.GAVE_UP)
        case "succeed":
            return succeeded(before, Success(LARGE))
        case "cancel":
            return cancelled(before, 9.0)
    return None


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["/one", "/two"]), st.sampled_from(["a", "b"]), st.sampled_from(STEPS))))
def test_whatever_happens_to_requests_each_blob_is_named_by_a_row_and_is_whole(
    days: list[tuple[str, str, str]],
) -> None:
    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        journals = {base: ClientJournal(house.stage.registry, base) for base in ("/one", "/two")}
        known: dict[tuple[str, str], Dossier] = {}
        for base, id, step in days:  # noqa: A001
            before = known.get((base, id))
            if step == "forget" and before is not None and before.is_over:
                await journals[base].forget([before])
                del known[base, id]
            elif (after := stepped(before, step, id)) is not None:
                (known[base, id],) = await journals[base].keep(after)
            assert blobs() == {digest for each in known.values() for digest in each.blobs}
            for (base, id), each in known.items():  # noqa: A001
                found = await journals[base].find(id)
                assert found is not None
                assert (found.content, found.tried, found.blob) == (each.content, each.tried, each.blob)

    in_a_store(test)


@pytest.mark.parametrize("beyond", [0, 1])
def test_what_is_larger_than_a_row_should_be_is_a_blob_and_what_is_as_large_is_none(beyond: int) -> None:
    def padded(most: int, size_of: Callable[[str], int]) -> str:
        return "x" * (most + beyond - size_of(""))

    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        journal = ClientJournal(house.stage.registry, "/one")
        content = padded(LARGE_CONTENT, lambda text: len(dossier("a", text).content))
        message = padded(LARGE_OUTCOME, lambda text: len(encode(Failure(text))))
        (first,) = await journal.keep(dossier("a", content))
        assert (len(first.content), bool(first.blob), len(blobs())) == (LARGE_CONTENT + beyond, bool(beyond), beyond)
        (second,) = await journal.keep(failed(dossier("b"), Failure(message)))
        assert (len(second.large), len(blobs())) == (beyond, 2 * beyond)

    in_a_store(test)


def test_of_very_many_attempts_only_the_last_have_blobs() -> None:
    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        journal, each = ClientJournal(house.stage.registry, "/one"), dossier()
        for _ in range(MOST_TRIED + 10):
            (each,) = await journal.keep(failed(each, Failure(LARGE), State.GAVE_UP))
            each = another_round(each, 9.0)
        assert len(blobs()) == MOST_TRIED

    in_a_store(test)


def test_a_blob_of_a_version_before_is_read_and_is_not_dropped_for_it_may_be_anothers() -> None:
    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        journal, old = ClientJournal(house.stage.registry, "/one"), cancelled(dossier(text=HUGE), 2.0)
        digest = await StoreClient(house.stage.registry.get(STORE)).put_blob(old.content)
        for id in ("a", "b"):  # noqa: A001
            await journal.keep(replace(old, id=id, blob=digest))
        found = await journal.find("a")
        assert found is not None
        assert found.content == old.content
        await journal.forget([found])
        other = await journal.find("b")
        assert other is not None
        assert other.content == old.content

    in_a_store(test)


@pytest.mark.parametrize("is_new", [False, True], ids=["the same process", "the next process"])
@pytest.mark.parametrize("end", ["it is written", "its request goes", "it is asked anew"])
def test_a_large_answer_of_the_server_end_goes_when_it_is_not_needed_any_more(end: str, is_new: bool) -> None:
    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        books = ServerJournal(house.stage.registry, "/one")
        answer = Success("x" * LARGE_ANSWER)
        rows = {id: Row(id, b"f", Phase.DECIDED, 1, answer) for id in ("a", "b")}  # noqa: A001
        for row in rows.values():
            await books.save(row, None)
        assert len(blobs()) == 2
        if is_new:
            books = ServerJournal(house.stage.registry, "/one")
            assert {each async for each, _ in books.all()} == {"a", "b"}
        assert await books.load("a") == rows["a"]
        match end:
            case "it is written":
                await books.save(Row("a", b"f", Phase.ANSWERED, 1, answer), rows["a"])
            case "its request goes":
                await books.forget(["a"])
            case _:
                await books.save(Row("a", b"g", Phase.ASKED, 1), rows["a"])
        assert len(blobs()) == 1
        assert await books.load("b") == rows["b"]

    in_a_store(test)


@pytest.mark.parametrize("end", ["it is looked at", "its request goes"])
def test_a_row_of_the_server_end_that_cannot_be_read_lets_go_of_its_blob_and_of_no_other(end: str) -> None:
    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        journal, store = ServerJournal(house.stage.registry, "/one"), StoreClient(house.stage.registry.get(STORE))
        answer = Success("x" * LARGE_ANSWER)
        for id in ("a", "b"):  # noqa: A001
            await journal.save(Row(id, b"f", Phase.DECIDED, 1, answer), None)
        both = blobs()
        named = dict(await store.keys(journal._rows))
        await store.put(journal._rows, "a", b"2" + named["a"] + named["b"])
        journal = ServerJournal(house.stage.registry, "/one")
        assert {each async for each, _ in journal.all()} == {"a", "b"}
        if end == "it is looked at":
            assert await journal.load("a") is None
        else:
            await journal.forget(["a"])
        assert len(blobs()) == 1 < len(both)
        assert await journal.load("b") == Row("b", b"f", Phase.DECIDED, 1, answer)

    in_a_store(test)


def test_a_dossier_that_cannot_be_read_lets_go_of_its_blobs_and_of_no_other() -> None:
    async def test(house: House, blobs: Callable[[], set[str]]) -> None:
        journal, store = ClientJournal(house.stage.registry, "/one"), StoreClient(house.stage.registry.get(STORE))
        for id in ("a", "b"):  # noqa: A001
            request = Request(id=id, command="ping", params={"text": HUGE})
            kept = reopened(request, write_request(request), 1.0, "dropped", None)
            await journal.keep(failed(kept, Failure(LARGE), State.GAVE_UP))
        assert len(blobs()) == 4
        (_, one), (_, other) = await store.keys(journal._over)
        await store.put(journal._over, "a", b"2" + one + other)
        page = await journal.over_page()
        assert [each.id for each in page.dossiers] == ["b"]
        assert len(blobs()) == 2
        found = await journal.find("b")
        assert found is not None
        assert found.content
        assert len(found.blobs) == 2

    in_a_store(test)
