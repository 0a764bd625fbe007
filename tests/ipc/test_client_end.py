"""The client end: its real actors over a folder on paper, in virtual time."""

from actors.ipc.client_steps import OVERDUE, State
from actors.ipc.given import Tray
from codec.ipc import Failure, read_response
from tests.ipc.client_kit import BUSY, DONE, NEVER, Desk, in_turn, play, put, request


def test_a_submitted_request_is_published_and_its_answer_journalled() -> None:
    async def test(desk: Desk) -> None:
        handled = await desk.submit(request("a"), request("b"))
        assert handled.ids == ("a", "b")
        for dossier in await desk.over("a", "b"):
            assert dossier.state is State.SUCCESS
            assert [each.outcome for each in dossier.tried] == [DONE]
        assert desk.base.files[Tray.REQUESTS, "a"], "no files are moved or deleted"

    play(test, outcomes=in_turn(DONE))


def test_the_third_failure_is_copied_to_failed() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        (dossier,) = await desk.over("a")
        assert dossier.state is State.GAVE_UP
        assert dossier.row.failures == (BUSY, BUSY, BUSY)
        copy, answer = desk.base.files[Tray.FAILED, "a"][1], desk.base.files[Tray.RESPONSES, "a"][1]
        assert copy == answer

    play(test, outcomes=in_turn(BUSY))


def test_what_is_permanent_is_tried_once() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        (dossier,) = await desk.over("a")
        assert dossier.row.failures == (NEVER,)

    play(test, outcomes=in_turn(NEVER))


def test_a_dropped_request_is_adopted() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        put(desk.base, request("dropped"))
        (dossier,) = await desk.over("dropped")
        assert (dossier.source, dossier.state) == ("dropped", State.SUCCESS)

    play(test, outcomes=in_turn(DONE))


def test_a_peer_that_never_answers_is_given_up_after_three_attempts_and_our_document_says_so() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        (dossier,) = await desk.over("a")
        assert [each.late for each in dossier.tried] == [True] * 3
        outcome = read_response(desk.base.files[Tray.FAILED, "a"][1], "a").outcome
        assert isinstance(outcome, Failure)
        assert OVERDUE in outcome.message

    play(test)
