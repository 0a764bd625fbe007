"""Orders over many requests: requeue, cancel, archive."""

import logging
from collections.abc import Collection, Mapping
from typing import Any
from unittest.mock import Mock

import pytest
import trio

from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.given import EntryStuck, Tray
from actors.ipc.journal import ClientJournal
from actors.ipc.orders import MOST_WAITING, DeskOrder, Orders
from actors.kernel import MailboxFull
from codec.ipc import Dialect, write_request, write_response
from codec.ipc.desk import Handled, Selection
from tests.ipc.client_kit import BUSY, DONE, NEVER, Desk, in_turn, play, request
from tests.ipc.paper import STUCK, PaperBase


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_a_requeue_gives_three_fresh_attempts_and_says_from_where_and_when(dialect: Dialect) -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        (before,) = await desk.over("a")
        assert (before.shown, before.begun) == ("gave up", 3)
        handled = await desk.requeue(ids=("a", "b"))
        assert handled == Handled(ids=("a",), refused={"b": "there is no such request"})
        await trio.sleep(0.05)
        assert (Tray.FAILED, "a") not in desk.base.files
        await trio.sleep(100.0)
        (after,) = await desk.over("a")
        assert (after.shown, after.begun) == ("success", 5)
        assert [each.number for each in after.tried] == [1, 2, 3, 4, 5]
        assert "it was requeued, for three fresh attempts; it had given up at 2027-" in after.notes[0]
        assert "after 3 attempts" in after.notes[0]
        assert (Tray.FAILED, "a") not in desk.base.files
        if dialect is Dialect.SPEC:  # a peer of the other one copies each failed attempt, which goes to the archive
            assert desk.base.archived == {}

    play(test, outcomes=in_turn(BUSY, BUSY, BUSY, BUSY, DONE), dialect=dialect)


def test_a_requeue_without_end_is_three_attempts_each_time() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        for round_ in range(1, 5):
            (dossier,) = await desk.over("a")
            assert (dossier.begun, len(dossier.row.failures)) == (3 * round_, 3)
            await desk.requeue(all=True)

    play(test, outcomes=in_turn(BUSY))


class AnsweringBase(PaperBase):
    """Where each request is answered as soon as it is published: no server has to be woken for days."""

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        stuck = await super().publish(requests, first, by_turns=by_turns)
        for id in requests:  # noqa: A001
            self.foreign_put(Tray.RESPONSES, id, write_response(id, DONE))
        return stuck


SELECTIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"ids": ("a1", "b1", "nobody")}, {"a1", "b1"}),
    ({"all": True}, {"a1", "a2", "b1", "b2"}),
    ({"match": "a*"}, {"a1", "a2"}),
    ({"match": "[ab]2"}, {"a2", "b2"}),
    ({"older_than": 500.0}, {"a1", "a2"}),
    ({"older_than": 500.0, "match": "*1"}, {"a1"}),
]


@pytest.mark.parametrize(("which", "meant"), SELECTIONS, ids=[str(which) for which, _ in SELECTIONS])
@pytest.mark.parametrize("order", ["requeue", "archive"])
def test_a_selection_means_the_requests_that_it_describes(order: str, which: dict[str, Any], meant: set[str]) -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a1"), request("a2"))
        await desk.over("a1", "a2")
        await trio.sleep(1000.0)
        await desk.submit(request("b1"), request("b2"))
        await desk.over("b1", "b2")
        handled = await getattr(desk, order)(**which)
        assert set(handled.ids) == meant
        assert handled.refused.keys() == set(which.get("ids", ())) - meant

    play(test, outcomes=in_turn(NEVER))


def test_what_has_succeeded_is_not_requeued() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await desk.over("a")
        assert (await desk.requeue(all=True)).ids == ()
        assert (await desk.requeue(ids=("a",))).refused == {"a": "it has succeeded"}

    play(test, outcomes=in_turn(DONE))


def test_a_cancelled_request_is_withdrawn_and_can_be_requeued() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(*(request(f"r{n}") for n in range(6)))
        await trio.sleep(1.0)
        assert set((await desk.cancel(match="r[0-4]")).ids) == {f"r{n}" for n in range(5)}
        await trio.sleep(1.0)
        assert {id for place, id in desk.base.files if place is Tray.REQUESTS} == {"r5"}  # noqa: A001
        assert {each.shown for each in await desk.over(*(f"r{n}" for n in range(5)))} == {"cancelled"}
        assert (await desk.cancel(ids=("r0", "r9"))).refused == {"r0": "it has ended", "r9": "there is no such request"}
        assert (await desk.requeue(ids=("r0",))).ids == ("r0",)
        await trio.sleep(1.0)
        assert (Tray.REQUESTS, "r0") in desk.base.files
        last = {fact.id: fact.state for message in desk.ledger.messages for fact in message.facts}
        assert (last["r0"], last["r1"]) == ("polling", "cancelled")

    play(test, terms=ClientTerms(in_flight=3))


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_what_was_cancelled_and_is_asked_for_again_begins_anew(dropped: bool, dialect: Dialect) -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        assert (await desk.cancel(ids=("a",))).ids == ("a",)
        await trio.sleep(1.0)
        if dropped:
            desk.base.foreign_put(Tray.REQUESTS, "a", write_request(request("a")))
        else:
            assert (await desk.submit(request("a"))).ids == ("a",)
        await trio.sleep(1.0)
        assert not (await desk.open("a")).cancelled
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE, (dialect,)))
        if dialect is Dialect.HEAD:
            desk.base.foreign_drop(Tray.REQUESTS, "a")
        (dossier,) = await desk.over("a")
        assert (dossier.shown, dossier.cancelled) == ("success", False)

    play(test, dialect=dialect)


def test_what_was_answered_before_it_could_be_cancelled_is_a_success() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        desk.base.files[Tray.RESPONSES, "a"] = (
            *desk.base.files[Tray.REQUESTS, "a"][:1],
            write_response("a", DONE),
            0.0,
        )
        assert "answered before" in (await desk.cancel(ids=("a",))).refused["a"]
        assert (await desk.over("a"))[0].state is State.SUCCESS

    play(test)


def test_a_request_that_is_just_being_published_is_cancelled_all_the_same() -> None:
    async def test(desk: Desk) -> None:
        desk.base.full = True
        await desk.submit(request("a"), request("b"))
        await trio.sleep(5.0)
        assert (await desk.cancel(ids=("a",))).ids == ("a",)
        desk.base.full = False
        await trio.sleep(5.0)
        assert {id for place, id in desk.base.files if place is Tray.REQUESTS} == {"b"}  # noqa: A001

    play(test)


def test_what_is_archived_leaves_the_folder_and_the_journal_and_the_ledger_hears_it() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(*(request(f"r{n}") for n in range(250)), request("late", not_before=4e9))
        await desk.over(*(f"r{n}" for n in range(250)))
        assert len((await desk.archive(all=True)).ids) == 250
        assert (await desk.archive(ids=("late",))).refused == {"late": "it is still under way"}
        assert {id for _, id in desk.base.files} == set()  # noqa: A001
        assert (await desk.journal.facts("over:")).facts == ()
        await trio.sleep(1.0)
        gone = {id for message in desk.ledger.messages for id in getattr(message, "ids", ())}  # noqa: A001
        assert len(gone) == 250
        assert (await desk.submit(request("r0"))).ids == ("r0",), "and it may be submitted anew"
        assert (await desk.over("r0"))[0].notes == ()

    play(test, outcomes=in_turn(DONE))


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("wishes", [{}, {"not_before": 4e9}], ids=["under way", "waiting"])
def test_what_was_cancelled_and_is_archived_has_its_request_there(dialect: Dialect, wishes: dict[str, Any]) -> None:
    """Its file was taken away when it was cancelled: only the journal has it."""

    async def test(desk: Desk) -> None:
        what = request("a", params={"n": 1}, **wishes)
        await desk.submit(what)
        await trio.sleep(5.0)
        assert (await desk.cancel(ids=("a",))).ids == ("a",)
        assert (await desk.archive(ids=("a",))).ids == ("a",)
        assert await desk.journal.find("a") is None
        assert desk.base.requests_archived == {"a": write_request(what)}

    play(test, outcomes=in_turn(None), dialect=dialect)


def test_retention_archives_what_has_ended_so_many_days_ago_and_nothing_by_itself() -> None:
    for days, left in ((None, {"a", "b"}), (0.5, {"b"})):

        async def test(desk: Desk, left: set[str] = left) -> None:
            await desk.submit(request("a"))
            await desk.over("a")
            await trio.sleep(0.4 * 86400.0)
            await desk.submit(request("b"))
            await desk.over("b")
            await trio.sleep(0.25 * 86400.0)
            assert {id for place, id in desk.base.files if place is Tray.REQUESTS} == left  # noqa: A001

        play(test, terms=ClientTerms(retention_days=days), base=AnsweringBase())


def test_what_retention_cannot_archive_is_said_in_the_log_for_nobody_else_hears_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"), request("b"))
        await desk.over("a", "b")
        desk.base.lose("the folder is gone")
        assert (await desk.archive(ids=("a",))).refused == {"a": "the folder is gone"}
        assert caplog.messages == []
        await trio.sleep(2 * 3600.0)
        assert caplog.messages == ["2 requests could not be archived: the folder is gone"]
        desk.base.mend()
        await trio.sleep(3600.0)
        assert desk.base.archived.keys() == {"a", "b"}

    with caplog.at_level(logging.WARNING, "troupe.ipc"):
        play(test, terms=ClientTerms(retention_days=3600.0 / 86400.0), base=AnsweringBase())


def test_a_cancel_in_the_moment_of_the_end_leaves_the_id_free(monkeypatch: pytest.MonkeyPatch) -> None:
    keep = ClientJournal.keep

    async def slow_to_say_so(journal: ClientJournal, *dossiers: Dossier, soft: bool = False) -> list[Dossier]:
        kept = await keep(journal, *dossiers, soft=soft)
        if dossiers[0].is_over:
            await trio.sleep(5.0)
        return kept

    monkeypatch.setattr(ClientJournal, "keep", slow_to_say_so)

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await desk.over("a")
        assert (await desk.cancel(ids=("a",))).refused == {"a": "it has ended"}
        assert (await desk.submit(request("a", params={"n": 2}))).ids == ("a",)

    play(test, outcomes=in_turn(DONE))


def test_a_folder_that_is_gone_refuses_an_order_in_its_words_and_the_request_goes_on() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        desk.base.lose("the folder is gone; put it back")
        assert (await desk.cancel(ids=("a",))).refused == {"a": "the folder is gone; put it back"}
        desk.base.mend()
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE))
        assert (await desk.over("a"))[0].state is State.SUCCESS

    play(test)


@pytest.mark.parametrize("which", [{"all": True}, {"ids": ("r0", "r1", "r2", "r3", "r4")}])
@pytest.mark.parametrize("order", ["archive", "cancel"])
def test_a_request_whose_files_are_stuck_is_named_and_the_others_are_done_with(
    order: str, which: dict[str, Any]
) -> None:
    ids = [f"r{n}" for n in range(5)]

    async def test(desk: Desk) -> None:
        await desk.submit(*map(request, ids))
        await trio.sleep(10.0)
        desk.base.entries_stuck = {"r1", "r3"}
        handled = await getattr(desk, order)(**which)
        assert sorted(handled.ids) == ["r0", "r2", "r4"]
        assert handled.refused == {"r1": STUCK, "r3": STUCK}
        await trio.sleep(60.0)
        assert {id for place, id in desk.base.files if place is Tray.REQUESTS} == {"r1", "r3"}  # noqa: A001
        desk.base.entries_stuck = set()
        assert sorted((await getattr(desk, order)(**which)).ids) == ["r1", "r3"]

    play(test, outcomes=in_turn(DONE) if order == "archive" else None)


def test_a_submission_does_not_wait_for_an_order_over_thousands() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(*(request(f"r{n}") for n in range(1000)))
        await desk.over(*(f"r{n}" for n in range(1000)))
        calls = len(desk.base.calls)
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def archive() -> None:
                assert len((await desk.archive(all=True)).ids) == 1000
                archived.set()

            archived = trio.Event()
            while "archive" not in desk.base.calls[calls:]:
                await trio.lowlevel.checkpoint()
            await desk.submit(request("lone"))
            assert not archived.is_set()

    play(test, base=AnsweringBase())


def test_only_so_many_orders_wait_and_whoever_gives_one_more_is_told() -> None:
    nobody: Any = None
    orders = Orders(nobody, nobody, nobody, nobody)
    replies = [Mock(spec_set=["fail"]) for _ in range(MOST_WAITING + 1)]
    for reply in replies:
        orders.add(DeskOrder("cancel", Selection(ids=("a",)), reply))
    assert [reply.fail.called for reply in replies] == [False] * MOST_WAITING + [True]
    (told,) = replies[-1].fail.call_args.args
    assert isinstance(told, MailboxFull)
    assert "too many orders are waiting" in str(told)
    orders.add(DeskOrder("archive", Selection(all=True), None))  # of the retention setting, which gives it again
    assert sum(reply.fail.called for reply in replies) == 1
