"""The client end's journal, in a real store."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.ipc.client_steps import OVERDUE, State
from actors.ipc.dossier import MOST_TRIED, Dossier, another_round, begun, cancelled, noted, opened, stepped
from actors.ipc.journal import LARGE_CONTENT, LARGE_OUTCOME, ClientJournal
from actors.ipc.steps import Identity
from actors.kernel import ChildSpec
from actors.kernel.testing import House, run_in_virtual_time, staged
from actors.store import STORE, Inline, StateDirectory, Store, StoreClient
from codec.ipc import Failure, Outcome, Request, Success, Wishes, write_request


def dossier(id: str = "a", text: str = "", **wishes: object) -> Dossier:  # noqa: A002
    request = Request(id=id, command="ping", params={"text": text}, wishes=Wishes(**wishes))  # type: ignore[arg-type]
    return opened(request, write_request(request), 1.0, "submitted")


def failed(before: Dossier, outcome: Failure, state: State = State.RETRYING) -> Dossier:
    """With one more failure."""
    row = before.row
    after = type(row)(row.id, state, row.attempt, (*row.failures, outcome), Identity(7, 8))
    return stepped(begun(before, 2.0), after, 3.0, 0.5)


def succeeded(before: Dossier, outcome: Success) -> Dossier:
    row = before.row
    after = type(row)(row.id, State.SUCCESS, row.attempt, row.failures, None, outcome)
    return stepped(begun(before, 4.0), after, 5.0, 0.5)


def again(before: Dossier) -> Dossier:
    row = before.row
    return stepped(before, type(row)(row.id, State.POLLING, row.attempt + 1, row.failures), 3.5)


def in_a_store(tmp_path: Path, test: Callable[[House, ClientJournal], Awaitable[None]]) -> None:
    async def main() -> None:
        with StateDirectory.claim(tmp_path / "state") as directory:
            async with staged(ChildSpec("store", partial(Store, directory, Inline))) as house:
                await test(house, ClientJournal(house.stage.registry, "/base"))

    run_in_virtual_time(main)


LARGE = "x" * max(LARGE_CONTENT, LARGE_OUTCOME)
BUSY = Failure("busy")
CASES = {
    "new": dossier(),
    "with wishes": dossier(submitter="me", priority=3, not_before=5.0, deadline=9.0, reference="good"),
    "large": dossier(text=LARGE),
    "under way": begun(dossier(), 2.0),
    "failed once": failed(dossier(), BUSY),
    "retried": begun(again(failed(dossier(), Failure(OVERDUE))), 4.0),
    "failed at length": failed(dossier(text=LARGE), Failure(LARGE)),
    "success": succeeded(dossier(), Success({"n": [1, 2.5, None, 10**30]})),
    "a large success": succeeded(again(failed(dossier(), Failure(LARGE))), Success(LARGE)),
    "given up": failed(dossier(), Failure("no", permanent=True), State.GAVE_UP),
    "cancelled": cancelled(begun(dossier(), 2.0), 3.0),
    "another round": begun(another_round(failed(dossier(), BUSY, State.GAVE_UP), 6.0), 7.0),
    "noted": noted(dossier(), "it was requeued", "y" * 10_000),
}


@pytest.mark.parametrize("kept", CASES.values(), ids=CASES.keys())
def test_what_was_kept_is_found_again(tmp_path: Path, kept: Dossier) -> None:
    async def test(house: House, journal: ClientJournal) -> None:
        (known,) = await journal.keep(kept)
        found = await journal.find("a")
        assert found == known
        assert (found.row, found.fact, found.content) == (kept.row, kept.fact, kept.content)
        assert (await journal.find_over("a") is not None) is kept.is_over
        pages = [await journal.facts(), await journal.facts("over:")]
        assert [fact for page in pages[kept.is_over :] for fact in page.facts] == [kept.fact]
        detail = await journal.detail("a")
        assert detail is not None
        assert (detail.tried, detail.notes, detail.fact) == (kept.tried, kept.notes, kept.fact)

    in_a_store(tmp_path, test)


def test_a_request_is_in_one_space_at_a_time(tmp_path: Path) -> None:
    async def test(house: House, journal: ClientJournal) -> None:
        for kept in (CASES["new"], CASES["success"], another_round(CASES["given up"], 9.0), CASES["cancelled"]):
            await journal.keep(kept)
            open_ones, over_ones = await journal.open_page(), await journal.over_page()
            assert len(open_ones.dossiers) + len(over_ones.dossiers) == 1
            assert bool(over_ones.dossiers) is kept.is_over
        await journal.forget([kept])
        assert await journal.find("a") is None

    in_a_store(tmp_path, test)


def test_pages_lead_through_all_of_it_and_end(tmp_path: Path) -> None:
    async def test(house: House, journal: ClientJournal) -> None:
        await journal.keep(*(dossier(f"open-{n:04}") for n in range(1500)))
        await journal.keep(*(replace(CASES["success"], id=f"over-{n:04}") for n in range(1200)))
        found, after = [], ""
        while True:
            page = await journal.facts(after)
            found += [fact.id for fact in page.facts]
            if page.after is None:
                break
            after = page.after
        assert found == [f"open-{n:04}" for n in range(1500)] + [f"over-{n:04}" for n in range(1200)]

    in_a_store(tmp_path, test)


def test_successes_with_a_reference_are_found_page_by_page_and_what_cannot_be_read_is_passed_over(
    tmp_path: Path,
) -> None:
    async def test(house: House, journal: ClientJournal) -> None:
        wanted = succeeded(dossier(reference="good"), Success(1))
        await journal.keep(*(replace(wanted, id=f"good-{n:04}") for n in range(1200)))
        await journal.keep(*(replace(CASES["success"], id=f"bare-{n:04}") for n in range(900)))
        await journal.keep(cancelled(dossier("lost", reference="good"), 3.0), dossier("open", reference="good"))
        await StoreClient(house.stage.registry.get(STORE)).put(journal._over, "bad", b"2{}")
        found, after, pages = [], "", 0
        while True:
            ids, then = await journal.referenced(after)
            found += ids
            pages += 1
            if then is None:
                break
            after = then
        assert found == [f"good-{n:04}" for n in range(1200)]
        assert pages == 4

    in_a_store(tmp_path, test)


def test_another_folder_has_another_journal(tmp_path: Path) -> None:
    async def test(house: House, journal: ClientJournal) -> None:
        await journal.keep(CASES["new"])
        assert await ClientJournal(house.stage.registry, "/other").find("a") is None

    in_a_store(tmp_path, test)


def test_a_value_that_cannot_be_read_is_set_aside_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def test(house: House, journal: ClientJournal) -> None:
        await journal.keep(dossier("good"))
        store = StoreClient(house.stage.registry.get(STORE))
        for id, value in (("bad", b"2{}"), ("worse", b"1{"), ("worst", b"")):  # noqa: A001
            await store.put(journal._open, id, value)
        with caplog.at_level(logging.ERROR, "troupe.ipc"):
            page = await journal.open_page()
        assert [each.id for each in page.dossiers] == ["good"]
        assert "bad, worse, worst" in caplog.text
        assert [key for key, _ in await store.keys(journal._open)] == ["good"]
        assert [key for key, _ in await store.keys(journal._aside)] == ["bad", "worse", "worst"]

    in_a_store(tmp_path, test)


def test_attempts_go_on_counting_after_a_requeue_and_only_the_last_are_kept(tmp_path: Path) -> None:
    each: Dossier = dossier()
    outcomes: list[Outcome] = []
    for n in range(40):
        outcomes.append(Failure(str(n)))
        each = failed(each, Failure(str(n)), State.GAVE_UP)
        if n < 39:
            each = another_round(each, 9.0)
    assert each.begun == 40
    assert [tried.number for tried in each.tried] == list(range(41 - MOST_TRIED, 41))
    assert [tried.outcome for tried in each.tried] == outcomes[-MOST_TRIED:]
    assert each.row.failures == (Failure("39"),)


def test_what_an_earlier_version_has_left_is_found(tmp_path: Path) -> None:
    left = (
        b'1{"id":"a","command":"ping","content":"e30=","fingerprint":"Zg==","created":1.0,"changed":5.0,'
        b'"state":"success","attempt":2,"tried":[{"number":1,"began":2.0,"ended":3.0,"seconds":0.5,'
        b'"outcome":{"type":"error","message":"busy","permanent":false}},{"number":2,"began":4.0,"ended":5.0,'
        b'"seconds":0.5,"outcome":{"type":"success","data":"done"}}],"begun":2,"seconds":4.0,"submitter":"me",'
        b'"referenced":true}'
    )

    async def test(house: House, journal: ClientJournal) -> None:
        space = "ipc/client/7cfe339ea4a4befc950017ff/over"  # of /base
        await StoreClient(house.stage.registry.get(STORE)).put(space, "a", left)
        expected = succeeded(again(failed(dossier(reference="good", submitter="me"), BUSY)), Success("done"))
        assert await journal.find_over("a") == replace(expected, content=b"{}", fingerprint=b"f")
        assert (await journal.facts("over:")).facts == (expected.fact,)

    in_a_store(tmp_path, test)
