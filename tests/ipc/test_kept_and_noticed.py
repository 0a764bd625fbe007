"""What of the journal is synced before the desk goes on; what is noticed when a folder can be read again."""

from unittest.mock import patch

import pytest
import trio

from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.given import BaseIsBack, Tray
from actors.ipc.journal import ClientJournal
from actors.store import StoreError
from codec.ipc import Dialect, Outcome, write_response
from tests.ipc.client_kit import BUSY, DONE, NEVER, Desk, in_turn, play, put, request, wall

ENDS = {State.SUCCESS, State.FAILING, State.GAVE_UP}


@pytest.mark.parametrize("outcomes", [(DONE,), (BUSY,), (BUSY, DONE), (NEVER,)])
def test_only_an_end_which_the_files_still_tell_is_kept_without_a_sync(
    outcomes: tuple[Outcome, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = ClientJournal.keep
    soft_of: dict[State, set[bool]] = {}

    async def noted(journal: ClientJournal, *dossiers: Dossier, soft: bool = False) -> list[Dossier]:
        for dossier in dossiers:
            soft_of.setdefault(dossier.state, set()).add(soft)
        return await keep(journal, *dossiers, soft=soft)

    monkeypatch.setattr(ClientJournal, "keep", noted)

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await desk.over("a")

    play(test, outcomes=in_turn(*outcomes))
    assert soft_of.keys() & ENDS
    assert soft_of == {state: {state in ENDS} for state in soft_of}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("again", [set(), {"a"}, {"a", "b"}])
def test_dropped_requests_are_adopted_without_a_sync_exactly_if_the_folder_keeps_all_that_is_known_of_them(
    dialect: Dialect, again: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A peer of HEAD takes its requests away; and only the journal knows the answers to an older request."""
    keep = ClientJournal.keep
    adopted: list[tuple[set[str], bool]] = []

    async def noted(journal: ClientJournal, *dossiers: Dossier, soft: bool = False) -> list[Dossier]:
        adopted.append(({dossier.id for dossier in dossiers}, soft))
        return await keep(journal, *dossiers, soft=soft)

    async def test(desk: Desk) -> None:
        await desk.ready()
        for id in again:  # noqa: A001
            put(desk.base, request(id))
        await desk.over(*again)
        monkeypatch.setattr(ClientJournal, "keep", noted)
        for id in ("a", "b"):  # noqa: A001
            put(desk.base, request(id, params={"n": 2}))
        await trio.sleep(30.0)

    play(test, outcomes=in_turn(DONE), dialect=dialect)
    assert adopted[0] == ({"a", "b"}, dialect is Dialect.SPEC and not again)


def test_what_was_answered_while_the_folder_could_not_be_read_is_noticed_as_soon_as_it_can() -> None:
    """The folder was there all the time, so nothing in it is listed anew; and nobody saw the answer come."""

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(20.0)
        desk.base.lose("the disk does not answer")
        with patch.object(desk.base, "_tell"):
            desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE))
        desk.base.gone = None
        began = trio.current_time()
        desk.base._tell(BaseIsBack())
        await desk.over("a")
        assert trio.current_time() - began <= 0.5

    play(test)


@pytest.mark.parametrize("order", ["submit", "requeue"])
def test_a_request_that_is_kept_though_the_store_seemed_to_fail_is_begun(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its submitter was told that it failed, and may have gone; but it is listed as open."""
    keep, failing = ClientJournal.keep, [False]

    async def kept_and_lost(journal: ClientJournal, *dossiers: Dossier, soft: bool = False) -> list[Dossier]:
        kept = await keep(journal, *dossiers, soft=soft)
        if failing[0]:
            failing[0] = False
            raise StoreError("the store has not answered in time")
        return kept

    monkeypatch.setattr(ClientJournal, "keep", kept_and_lost)

    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(1.0)
        if order == "requeue":
            await desk.submit(request("a"))
            await desk.over("a")
        failing[0] = True
        if order == "requeue":
            assert (await desk.requeue(ids=("a",))).refused["a"]
        else:
            with pytest.raises(StoreError):
                await desk.submit(request("a"))
        (dossier,) = await desk.over("a")
        assert dossier.shown == "success"

    play(test, outcomes=in_turn(*([NEVER, DONE] if order == "requeue" else [DONE])))


@pytest.mark.parametrize("why", ["cancelled", "its deadline"])
def test_after_a_full_disk_attempts_end_again_though_nobody_waits_for_what_had_no_room(why: str) -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(5.0)
        desk.base.full = True
        await desk.submit(request("b", deadline=wall() + 20.0 if why == "its deadline" else None))
        await trio.sleep(10.0)
        if why == "cancelled":
            await desk.cancel(ids=("b",))
        await trio.sleep(1_000.0)
        assert desk.house["client/end"].statistics().trouble == "the disk is full"
        desk.base.full = False
        await trio.sleep(5.0)
        assert desk.house["client/end"].statistics().trouble is None
        (dossier,) = await desk.over("a")
        assert (dossier.shown, dossier.begun) == ("gave up", 3)

    play(test, terms=ClientTerms(attempt_seconds=100.0, immediate=True))
