"""An answer is seen at once, at whatever moment of its adoption it comes.

A client end takes a dropped request in hand in steps: it looks at the files, journals it, lines it up, and starts its
errand. Here the answer comes after any number of turns of the loop between two of those. The clock is virtual, and an
attempt lasts five minutes: what is not seen at once is seen only then.
"""

import pytest
import trio

from actors.ipc.adopting import GATHER_SECONDS
from actors.ipc.errand import ClientTerms
from actors.ipc.flights import Flight, Flights
from actors.ipc.given import Tray
from codec.ipc import write_response
from tests.ipc.client_kit import BUSY, DONE, Desk, play, put, request

AT_ONCE = 1.0
TURNS = 80
"""A request is adopted, and its errand waits for news, within far fewer turns of the loop."""


async def adopted(desk: Desk, id: str, pause: float, turns: int, *, is_submitted: bool) -> None:  # noqa: A002
    """Its answer comes so much later than the request, which may be submitted as well."""
    async with trio.open_nursery() as nursery:
        put(desk.base, request(id))
        if is_submitted:
            nursery.start_soon(desk.submit, request(id))
        if pause:
            await trio.sleep(pause)
        for _ in range(turns):
            await trio.lowlevel.checkpoint()
        desk.base.foreign_put(Tray.RESPONSES, id, write_response(id, DONE))
        answered = trio.current_time()
        (dossier,) = await desk.over(id)
        assert dossier.tried[-1].outcome == DONE
        assert trio.current_time() - answered <= AT_ONCE, (pause, turns)


@pytest.mark.slow
@pytest.mark.parametrize(("pause", "is_submitted"), [(0.0, False), (GATHER_SECONDS, False), (0.0, True)])
def test_an_answer_that_comes_between_two_steps_of_its_adoption_is_seen_at_once(
    pause: float, is_submitted: bool
) -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(1.0)
        for turns in range(TURNS):
            await adopted(desk, f"r{turns}", pause, turns, is_submitted=is_submitted)

    play(test)


def test_an_answer_that_comes_while_its_errand_is_being_started_is_seen_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However long that takes: here, until it has come."""
    come = trio.Event()
    start = Flights._start

    async def slowly(self: Flights, id: str, flight: Flight) -> None:  # noqa: A002
        await come.wait()
        await start(self, id, flight)

    monkeypatch.setattr(Flights, "_start", slowly)

    async def test(desk: Desk) -> None:
        await desk.ready()
        put(desk.base, request("a"))
        await trio.sleep(1.0)
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE))
        answered = trio.current_time()
        await trio.sleep(0.1)
        come.set()
        await desk.over("a")
        assert trio.current_time() - answered <= AT_ONCE

    play(test)


def test_what_was_seen_of_a_request_before_it_had_to_wait_is_looked_at_again_when_its_turn_comes() -> None:
    """Here it was answered by an error, which its peer has tried again since."""

    async def test(desk: Desk) -> None:
        await desk.submit(request("first"))
        await trio.sleep(1.0)
        put(desk.base, request("a"))
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", BUSY))
        await trio.sleep(1.0)
        assert (await desk.open("a")).begun == 0
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE))
        await trio.sleep(1.0)
        desk.base.foreign_put(Tray.RESPONSES, "first", write_response("first", DONE))
        (dossier,) = await desk.over("a")
        assert [each.outcome for each in dossier.tried] == [DONE]

    play(test, terms=ClientTerms(in_flight=1))
