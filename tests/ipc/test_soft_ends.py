"""What of the journal is synced before the desk goes on."""

import pytest

from actors.ipc.client_steps import State
from actors.ipc.journal import ClientJournal, Dossier
from codec.ipc import Outcome
from tests.ipc.client_kit import BUSY, DONE, NEVER, Desk, in_turn, play, request

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
