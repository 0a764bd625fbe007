"""An answer to a request that was given up is said in its dossier, whoever was there to see it come."""

from unittest.mock import patch

import pytest
import trio

from actors.ipc.errand import ClientTerms
from actors.ipc.fairness import WALL_SECONDS
from actors.ipc.given import TOO_LATE, Tray
from actors.ipc.messages import Hold
from actors.kernel.testing import run_in_virtual_time
from codec.ipc import Outcome, write_response
from tests.ipc.client_kit import BUSY, DONE, EPOCH, Desk, PaperServer, a_state, desk, in_turn, play, request
from tests.ipc.paper import PaperBase

TERMS = ClientTerms(attempt_seconds=100.0, immediate=True)


def answer(base: PaperBase, id: str, outcome: Outcome = DONE) -> None:  # noqa: A002 - as in the contract
    base.foreign_put(Tray.RESPONSES, id, write_response(id, outcome))


@pytest.mark.parametrize("given_up_by", ["silence", "errors"])
@pytest.mark.parametrize("request_stays", [True, False])
@pytest.mark.parametrize("comes", ["before the start", "after the start"])
def test_a_late_answer_is_said_once_though_the_server_was_started_anew_since_the_request_was_given_up(
    given_up_by: str, request_stays: bool, comes: str
) -> None:
    """A HEAD peer takes the request away, and so does a script that tidies up."""

    async def main() -> None:
        base = PaperBase()
        servers = [PaperServer(base, in_turn(BUSY))] if given_up_by == "errors" else []
        with a_state() as directory:
            async with desk(directory, base, TERMS, servers) as it:
                await it.submit(request("a"), request("b"))
                for dossier in await it.over("a", "b"):
                    assert dossier.shown == "gave up"
            base.known = True
            if not request_stays:
                base.foreign_drop(Tray.REQUESTS, "a")
            if comes == "before the start":
                answer(base, "a")
            async with desk(directory, base, TERMS) as it:
                await it.ready()
                await trio.sleep(5.0)
                if comes == "after the start":
                    answer(base, "a")
                    await trio.sleep(5.0)
                a, b = await it.over("a", "b")
                assert ["it is in responses/" in note for note in a.notes] == [True]
                assert not b.notes
            async with desk(directory, base, TERMS) as it:
                await it.ready()
                await trio.sleep(5.0)
                assert (await it.over("a")) == [a]

    run_in_virtual_time(main)


def test_at_a_start_only_late_answers_are_looked_at_and_not_all_that_were_given_up() -> None:
    considered: list[str] = []

    async def main() -> None:
        base, names = PaperBase(), [f"r{number}" for number in range(20)]
        with a_state() as directory:
            async with desk(directory, base, TERMS, [PaperServer(base, in_turn(BUSY))]) as it:
                await it.submit(*map(request, names))
                await it.over(*names)
            async with desk(directory, base, TERMS) as it:  # no client has missed anything
                await it.ready()
                base.calls.clear()
                await trio.sleep(5.0)
                considered.extend(call for call in base.calls if call.startswith("look"))

    run_in_virtual_time(main)
    assert considered == []


def test_a_late_answer_of_which_the_events_were_lost_is_said() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await desk.over("a")
        desk.base.overflow()  # the request has been seen, and had no answer
        await trio.sleep(5.0)
        with patch.object(desk.base, "_tell"):
            answer(desk.base, "a")
        desk.base.overflow()
        await trio.sleep(5.0)
        (dossier,) = await desk.over("a")
        assert "it is in responses/" in dossier.notes[-1]

    play(test, terms=TERMS)


@pytest.mark.parametrize("hours", [1, 24 * 365])
def test_a_deadline_that_passes_on_the_wall_while_the_gate_is_shut_ends_the_request_and_its_late_answer_is_said(
    hours: int,
) -> None:
    """A machine that sleeps: the clock by which one waits stands still, and the deadline does not."""
    ahead = 0.0

    async def main() -> None:
        nonlocal ahead
        base = PaperBase()
        with a_state() as directory:
            async with desk(directory, base, wall=lambda: EPOCH + trio.current_time() + ahead) as it:
                await it.ready()
                it.client.tell(Hold("the editor is starting", seconds=3600.0))
                await it.submit(request("a", deadline=EPOCH + trio.current_time() + 1800.0))
                await trio.sleep(60.0)
                ahead, began = hours * 3600.0, trio.current_time()
                (dossier,) = await it.over("a")
                assert trio.current_time() - began <= WALL_SECONDS + 1.0
                assert (dossier.shown, dossier.message) == ("gave up", TOO_LATE)
                assert (Tray.REQUESTS, "a") not in base.files
                answer(base, "a")
                await trio.sleep(5.0)
                (dossier,) = await it.over("a")
                assert "it is in responses/" in dossier.notes[-1]

    run_in_virtual_time(main)
