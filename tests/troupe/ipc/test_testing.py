"""What only the desk for tests can do. What both can is in test_both_desks.py."""

import pytest
import trio

from codec.ipc import Failure
from troupe.ipc import IdTaken
from troupe.ipc.testing import NEVER, FakeDesk, fails


async def test_what_was_submitted_can_be_looked_at() -> None:
    desk = FakeDesk({"ping": {}}, submitter="me")
    await desk.submit("ping", {"a": 1}, id="r1", reference="yes")
    await desk.submit("ping", {"a": 1}, id="r1")
    (request,) = desk.requests
    assert (request.id, request.params, request.reference, request.wishes.submitter) == ("r1", {"a": 1}, "yes", "me")


async def test_every_attempt_is_in_the_result() -> None:
    desk = FakeDesk({"flaky": [fails("busy"), fails("still busy"), {"n": 3}], "bad": fails("no", permanent=True)})
    result = await desk.run("flaky")
    assert [each.number for each in result.attempts] == [1, 2, 3]
    assert result.attempts[1].outcome == Failure("still busy")
    assert len((await desk.run("bad")).attempts) == 1


async def test_what_raises_fails_with_what_it_says_and_what_is_unknown_too() -> None:
    def broken(params: dict[str, object]) -> object:
        raise RuntimeError(f"no {params['what']}")

    desk = FakeDesk({"broken": broken})
    assert (await desk.run("broken", {"what": "luck"})).error == "no luck"
    unheard = await desk.run("unheard")
    assert (unheard.error, len(unheard.attempts)) == ("Unknown command: unheard", 1)


async def test_what_is_never_answered_can_be_answered_by_the_test() -> None:
    desk = FakeDesk()
    desk.set_answer("slow", NEVER)
    async with trio.open_nursery() as nursery:
        ticket = await desk.submit("slow")
        nursery.start_soon(ticket.wait)
        await trio.testing.wait_all_tasks_blocked()
        desk.answer(ticket.id, {"late": True})
        await trio.testing.wait_all_tasks_blocked()
        assert not nursery.child_tasks, "whoever waits hears at once"
    assert (await ticket.wait()).data == {"late": True}
    cancelled = await desk.submit("slow")
    assert await cancelled.cancel()
    assert (await cancelled.wait()).cancelled
    assert not await cancelled.cancel()


def test_a_script_with_plain_calls_is_tested_alike() -> None:
    with FakeDesk.blocking({"echo": lambda params: params}) as desk:
        assert [each.data["n"] for each in desk.map("echo", ({"n": n} for n in range(5)))] == [0, 1, 2, 3, 4]
        assert desk.run("echo", {"n": 7}, priority=3).data == {"n": 7}
        desk.submit("echo", {"n": 1}, id="r1")
        with pytest.raises(IdTaken):
            desk.submit("echo", {"n": 2}, id="r1")
