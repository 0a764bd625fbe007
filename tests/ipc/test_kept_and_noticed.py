"""What of the journal is synced before the desk goes on; what is noticed when a folder can be read again."""

from unittest.mock import patch

import pytest
import trio

from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier
from actors.ipc.given import BaseIsBack, Tray
from actors.ipc.journal import ClientJournal
from codec.ipc import Dialect, Outcome, write_response
from tests.ipc.client_kit import BUSY, DONE, NEVER, Desk, in_turn, play, put, request

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
