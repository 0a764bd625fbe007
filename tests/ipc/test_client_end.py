"""The client end: its real actors over a folder on paper, in virtual time."""

import math
from collections import Counter
from typing import Any

import pytest
import trio
import trio.testing

from actors.ipc import adopting, flights
from actors.ipc.accepting import LARGEST
from actors.ipc.client_steps import OVERDUE, UNREADABLE, State
from actors.ipc.dossier import Dossier, is_of, opened
from actors.ipc.errand import RESTED_SECONDS, ClientTerms, Errand, ErrandMeans
from actors.ipc.given import TOO_LATE, BothFiles, Tray
from actors.ipc.messages import Hold, Noted, Release, TellLedgerNow
from actors.ipc.missing import GONE
from actors.ipc.pinging import PING
from actors.ipc.steps import Identity
from actors.kernel import KernelError
from actors.kernel.testing import run_in_virtual_time
from codec.ipc import Dialect, Failure, Outcome, read_response, write_request, write_response
from tests.ipc.client_kit import (
    BUSY,
    DONE,
    NEVER,
    Desk,
    a_state,
    desk,
    in_turn,
    play,
    put,
    put_with_copy,
    request,
    wall,
)
from tests.ipc.paper import PaperBase


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


@pytest.mark.parametrize("outcome", [DONE, NEVER])
def test_a_dropped_request_that_is_answered_when_we_look_ends_as_any_other_and_a_success_needs_no_errand(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    errands: list[str] = []

    class Counted(Errand):
        def __init__(self, means: ErrandMeans, dossier: Dossier, first: BothFiles | None = None) -> None:
            super().__init__(means, dossier, first)
            errands.append(dossier.id)

    monkeypatch.setattr(flights, "Errand", Counted)

    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(1.0)  # it has looked at what was there before
        names = [f"dropped-{number}" for number in range(20)]
        for name in names:
            put(desk.base, request(name))
            desk.base.foreign_put(Tray.RESPONSES, name, write_response(name, outcome, (Dialect.SPEC,)))
        for dossier in await desk.over(*names):
            assert dossier.source == "dropped"
            assert dossier.is_over
            assert [each.outcome for each in dossier.tried] == [outcome]
            assert dossier.begun == 1
        assert len(errands) == (0 if outcome == DONE else len(names))

    play(test)


def test_what_was_answered_before_we_looked_took_as_long_as_its_files_say() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(1.0)  # it has looked at what was there before
        put(desk.base, request("dropped"))
        await trio.sleep(0.015)
        desk.base.foreign_put(Tray.RESPONSES, "dropped", write_response("dropped", DONE, (Dialect.SPEC,)))
        (dossier,) = await desk.over("dropped")
        (tried,) = dossier.tried
        assert tried.ended is not None
        for seconds in (dossier.seconds, tried.seconds, tried.ended - tried.began, dossier.changed - dossier.created):
            assert seconds == pytest.approx(0.015, abs=0.001)

    play(test)


def test_a_peer_that_never_answers_is_given_up_after_three_attempts_and_our_document_says_so() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        (dossier,) = await desk.over("a")
        assert [each.late for each in dossier.tried] == [True] * 3
        assert copy_of("a", desk) == f"{OVERDUE}; it was asked for 3 times"

    play(test)


def copy_of(id: str, desk: Desk) -> str | None:  # noqa: A002
    """What stands in failed/."""
    there = desk.base.files.get((Tray.FAILED, id))
    if there is None:
        return None
    outcome = read_response(there[1], id).outcome
    assert isinstance(outcome, Failure)
    return outcome.message


def test_the_copy_of_an_answer_that_was_read_is_that_answer_and_else_the_attempts_own_end() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await desk.over("a")
        assert copy_of("a", desk) == "busy"
        assert desk.base.files[Tray.FAILED, "a"][1] == desk.base.files[Tray.RESPONSES, "a"][1]

    play(test, outcomes=in_turn(Failure("busy")))


# -- the same id again


@pytest.mark.parametrize(("first", "state"), [(DONE, "success"), (NEVER, "gave up")])
def test_the_same_content_again_is_the_same_request(first: Outcome, state: str) -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        assert (await desk.submit(request("a"))).ids == ("a",), "while it is open"
        (before,) = await desk.over("a")
        assert (await desk.submit(request("a"))).ids == ("a",)
        put(desk.base, request("a"))
        await trio.sleep(100.0)
        (after,) = await desk.over("a")
        assert after == before
        assert after.shown == state

    play(test, outcomes=in_turn(first))


WISHES: list[dict[str, Any]] = [{}, {"submitter": "script-1"}, {"priority": 3, "reference": "pong"}]


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("first", ["folder", "port"])
@pytest.mark.parametrize("is_over", [True, False])
@pytest.mark.parametrize("wishes", WISHES, ids=["none", "submitter", "others"])
@pytest.mark.parametrize("others", WISHES, ids=["none", "submitter", "others"])
def test_one_id_that_asks_for_the_same_is_one_request_by_whatever_door_it_comes_and_with_whatever_wishes(
    dialect: Dialect, first: str, is_over: bool, wishes: dict[str, Any], others: dict[str, Any]
) -> None:
    base, runs = PaperBase(), Counter[str]()

    def outcome(id: str) -> Outcome | None:  # noqa: A002 - as in the contract
        runs[id] += 1
        return DONE if is_over else None

    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(5.0)
        if first == "folder":
            put_with_copy(base, request("a", **wishes))
        else:
            await desk.submit(request("a", **wishes))
        await trio.sleep(10.0)
        before = await desk.journal.find("a")
        assert before is not None
        assert before.is_over == is_over
        handled = await desk.submit(request("a", **others), request("b", **wishes), request("b", **others))
        assert (set(handled.ids), handled.refused) == ({"a", "b"}, {})
        base.foreign_put(Tray.SUBMITTED, "a", write_request(request("a", **others)))  # another script's; it was taken
        await trio.sleep(10.0)
        after = await desk.journal.find("a")
        assert after is not None
        assert (after.created, after.fingerprint, after.notes) == (before.created, before.fingerprint, before.notes)
        assert runs == {"a": 1, "b": 1} or not is_over
        other = await desk.submit(request("a", params={"n": 2}, **wishes))
        assert ("a" in other.refused) != is_over

    play(test, base=base, outcomes=outcome, dialect=dialect)


def test_what_was_journalled_and_cannot_be_read_is_the_same_only_by_its_fingerprint() -> None:
    one = opened(request("a"), b"[]", 0.0, "submitted")
    assert is_of(one, request("a"))
    assert not is_of(one, request("a", submitter="script-1"))


def test_other_content_is_refused_while_it_is_under_way_and_begins_anew_after() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        other = request("a", params={"n": 2})
        refused = await desk.submit(other, request("b"), request("b", params={"n": 3}))
        assert refused.ids == ("b",)
        assert refused.refused.keys() == {"a", "b"}
        assert "under way" in refused.refused["a"]
        await desk.over("a")
        assert (await desk.submit(other)).ids == ("a",)
        await trio.sleep(10.0)
        (again,) = await desk.over("a")
        assert (again.fingerprint, again.state) == (other.fingerprint, State.SUCCESS)
        assert "began anew" in again.notes[0]
        assert desk.base.archived["a"].startswith("2027-")
        assert desk.base.files[Tray.REQUESTS, "a"][1] == write_request(other)

    play(test, outcomes=in_turn(DONE))


def test_a_script_that_drops_other_content_under_an_old_id_gets_another_answer() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        put(desk.base, request("a"))
        (before,) = await desk.over("a")
        put(desk.base, request("a", params={"n": 2}))
        await trio.sleep(60.0)
        (after,) = await desk.over("a")
        assert (before.state, after.state) == (State.SUCCESS, State.SUCCESS)
        assert after.fingerprint == request("a", params={"n": 2}).fingerprint
        assert after.notes

    play(test, outcomes=in_turn(DONE))


# -- what scripts drop


def test_a_file_that_is_being_written_is_waited_for_and_a_spoiled_one_fails_with_the_reason() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        whole = write_request(request("slow"))
        desk.base.foreign_put(Tray.REQUESTS, "slow", whole[:10])
        desk.base.foreign_put(Tray.REQUESTS, "bad", b"[1, 2]")
        await trio.sleep(0.5)
        desk.base.foreign_put(Tray.REQUESTS, "slow", whole)
        slow, bad = await desk.over("slow", "bad")
        assert slow.state is State.SUCCESS
        assert (bad.state, bad.begun) == (State.GAVE_UP, 1)
        assert "JSON object" in bad.message
        assert (Tray.FAILED, "bad") in desk.base.files
        desk.base.foreign_put(Tray.REQUESTS, "bad", write_request(request("bad")))
        await trio.sleep(20.0)
        assert (await desk.over("bad"))[0].state is State.SUCCESS

    play(test, outcomes=in_turn(DONE))


def test_what_was_answered_before_the_start_is_not_read_and_what_was_not_is_adopted() -> None:
    base = PaperBase()
    for n in range(500):
        base.files[Tray.REQUESTS, f"old-{n}"] = (Identity(n, n), b"never read", 0.0)
        base.files[Tray.RESPONSES, f"old-{n}"] = (Identity(n, n), b"never read", 0.0)
    base.files[Tray.REQUESTS, "left"] = (Identity(9, 9), write_request(request("left")), 0.0)

    async def test(desk: Desk) -> None:
        assert (await desk.over("left"))[0].state is State.SUCCESS
        assert not [call for call in base.calls if call.startswith("look old")]
        assert not (await desk.journal.facts()).facts

    play(test, base=base, outcomes=in_turn(DONE))


def test_what_a_client_of_another_journal_has_given_up_stays_so_until_it_is_requeued() -> None:
    base, before = PaperBase(), PaperBase()
    base.known = True
    ids = ("over", "once", "anew", "newer")

    async def first(desk: Desk) -> None:
        await desk.ready()
        for each in ids:
            put(desk.base, request(each))
        await desk.over(*ids)

    play(first, base=before, outcomes=in_turn(BUSY))
    base.files = {place: there for place, there in before.files.items() if place != (Tray.FAILED, "once")}
    other = write_response("anew", NEVER, (Dialect.SPEC,))
    base.files[Tray.FAILED, "anew"] = (Identity(99, 99), other, 0.0)  # of another request of its id
    base.files[Tray.REQUESTS, "newer"] = (*base.files[Tray.REQUESTS, "newer"][:2], math.inf)  # was dropped once more

    async def second(desk: Desk) -> None:
        over, *others = await desk.over(*ids)
        assert (over.state, over.begun, over.row.failures) == (State.GAVE_UP, 1, (BUSY,))
        assert "given up before" in over.notes[-1]
        assert [(each.state, each.begun) for each in others] == [(State.SUCCESS, 2)] * 3
        assert (await desk.requeue(ids=("over",))).ids == ("over",)
        await trio.sleep(20.0)
        (over,) = await desk.over("over")
        assert (over.state, over.begun, len(over.notes)) == (State.GAVE_UP, 4, 2)

    play(second, base=base, outcomes=lambda name: BUSY if name == "over" else DONE)


def test_a_request_whose_event_was_lost_is_found_by_a_rescan_even_if_it_is_answered_already() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("first"))
        await desk.over("first")
        for place, data in (
            (Tray.REQUESTS, write_request(request("quiet"))),
            (Tray.RESPONSES, write_response("quiet", DONE)),
        ):
            desk.base.files[place, "quiet"] = (Identity(77, 77), data, 0.0)
        await trio.sleep(10.0)
        assert await desk.journal.find("quiet") is None
        desk.base.overflow()
        assert (await desk.over("quiet"))[0].state is State.SUCCESS

    play(test, outcomes=in_turn(DONE))


def test_a_look_at_all_names_holds_up_nothing_that_is_dropped_meanwhile() -> None:
    base = PaperBase()
    base.listing_seconds = 100.0

    async def test(desk: Desk) -> None:
        for name in ("at-the-start", "later"):
            began = trio.current_time()
            base.overflow()
            await trio.sleep(1.0)
            put(base, request(name))
            with trio.fail_after(5.0):
                assert (await desk.over(name))[0].state is State.SUCCESS
            await trio.sleep_until(began + 1000.0)

    play(test, base=base, outcomes=in_turn(DONE))


def test_what_was_left_without_an_answer_does_not_wait_until_all_that_are_old_were_asked_for_their_times() -> None:
    base = PaperBase()
    base.missed_seconds = 100.0
    base.files[Tray.REQUESTS, "left"] = (Identity(9, 9), write_request(request("left")), 0.0)

    async def test(desk: Desk) -> None:
        with trio.fail_after(5.0):
            assert (await desk.over("left"))[0].state is State.SUCCESS
        assert base.calls.count("missed") == 1

    play(test, base=base, outcomes=in_turn(DONE))


def test_a_lone_request_is_adopted_next_however_many_have_been_dropped_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adopting, "CHUNK", 10)
    base = PaperBase()

    async def test(desk: Desk) -> None:
        await desk.ready()
        await trio.sleep(1.0)
        for number in range(60):
            put(base, request(f"many-{number}"))
        put(base, request("lone"))
        await trio.sleep(1.0)
        looked = list(dict.fromkeys(call for call in base.calls if call.startswith("look")))
        assert len(looked) == 61
        assert looked.index("look lone") < 10

    play(test, base=base)


# -- trouble


async def are_answered_at_the_first_attempt(desk: Desk, *ids: str) -> None:
    for id in ids:  # noqa: A001 - as in the contract
        desk.base.foreign_put(Tray.RESPONSES, id, write_response(id, DONE))
    assert [each.begun for each in await desk.over(*ids)] == [1] * len(ids)


def test_a_folder_that_is_gone_and_a_full_disk_burn_no_attempt() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("before"))
        await trio.sleep(1.0)
        desk.base.lose("the folder is gone")
        assert (await desk.submit(request("a"))).ids == ("a",)
        await trio.sleep(10_000.0)
        assert desk.house["client/end"].statistics().trouble == "the folder is gone"
        desk.base.mend()
        desk.base.full = True
        await trio.sleep(10_000.0)
        assert desk.house["client/end"].statistics().trouble == "the disk is full"
        assert (await desk.open("before")).attempt == 1
        desk.base.full = False
        await trio.sleep(5.0)
        assert desk.house["client/end"].statistics().trouble is None
        await are_answered_at_the_first_attempt(desk, "before", "a")

    play(test)


def test_while_the_disk_cannot_be_written_to_no_attempt_is_burnt_and_that_is_said() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("before"))
        await trio.sleep(1.0)
        desk.base.unwritable = True
        await desk.submit(request("a"))
        await trio.sleep(10_000.0)
        assert desk.house["client/end"].statistics().trouble == "the disk cannot be written to"
        assert (await desk.open("before")).attempt == 1
        desk.base.unwritable = False
        await trio.sleep(5.0)
        assert desk.house["client/end"].statistics().trouble is None
        await are_answered_at_the_first_attempt(desk, "before", "a")

    play(test)


def test_a_request_whose_own_file_cannot_be_written_holds_up_no_other_and_begins_when_it_can_be() -> None:
    async def test(desk: Desk) -> None:
        desk.base.entries_stuck = {"b", "b-2"}
        await desk.submit(request("a"), request("b"), request("b-2", deadline=wall() + 100.0), request("c"))
        with trio.fail_after(5.0):
            await desk.over("a", "c")
        for number in range(10):
            await desk.submit(request(f"later-{number}"))
            with trio.fail_after(2.0):
                await desk.over(f"later-{number}")
        assert desk.house["client/end"].statistics().trouble is None
        (late,) = await desk.over("b-2")
        assert late.tried[-1].outcome == Failure(TOO_LATE, permanent=True)
        assert (await desk.open("b")).begun <= 1
        desk.base.entries_stuck = set()
        with trio.fail_after(5.0):
            assert (await desk.over("b"))[0].begun == 1

    play(test, outcomes=in_turn(DONE))


def test_what_was_dropped_while_the_folder_was_away_is_adopted_soon_however_long_a_look_takes() -> None:
    """Else a folder that takes long to look through is looked at seldom, as nothing escapes whoever watches it."""

    async def test(desk: Desk) -> None:
        desk.base.listing_seconds = 10.0
        desk.base.overflow()
        await trio.sleep(60.0)
        desk.base.lose("the folder is gone")
        here = trio.current_time()
        desk.base.files[Tray.REQUESTS, "a"] = (Identity(0, 0), write_request(request("a")), here)  # nobody is told
        desk.base.mend()
        with trio.fail_after(60.0):
            await desk.over("a")

    play(test, outcomes=in_turn(DONE))


def test_after_the_folder_was_made_anew_a_request_that_is_over_says_that_its_files_are_gone() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("done"), request("failed"), request("kept"), request("cancelled"), request("open"))
        await trio.sleep(1.0)
        for id, outcome in (("done", DONE), ("failed", NEVER), ("kept", DONE)):  # noqa: A001 - as in the contract
            desk.base.foreign_put(Tray.RESPONSES, id, write_response(id, outcome))
        await desk.over("done", "failed", "kept")
        await desk.cancel(ids=("cancelled",))
        desk.base.lose("the folder is gone")
        for place, id in list(desk.base.files):  # noqa: A001
            if id != "kept":
                desk.base.foreign_drop(place, id)
        desk.base.mend()
        await trio.sleep(10.0)
        over = {each.id: each for each in await desk.over("done", "failed", "kept", "cancelled")}
        assert {each.id for each in over.values() if each.message == GONE} == {"done", "failed"}
        assert all("had no file of this request" in over[name].notes[-1] for name in ("done", "failed"))
        noted = [message for message in desk.ledger.messages if isinstance(message, Noted)]
        assert {fact.id for message in noted for fact in message.facts if fact.message == GONE} == {"done", "failed"}
        for _ in range(3):  # it is said once
            desk.base.lose("the folder is gone")
            desk.base.mend()
            await trio.sleep(10.0)
        assert len((await desk.over("done"))[0].notes) == 1
        assert (await desk.open("open")).attempt == 1
        await desk.requeue(ids=("failed",))
        await trio.sleep(1.0)
        assert (Tray.REQUESTS, "failed") in desk.base.files

    play(test, terms=ClientTerms(immediate=True, attempt_seconds=100_000.0))


def test_a_process_that_was_stopped_burns_no_attempt() -> None:
    async def main() -> None:
        base, clock = PaperBase(), trio.lowlevel.current_clock()
        assert isinstance(clock, trio.testing.MockClock)
        with a_state() as directory:
            async with desk(directory, base, ClientTerms(attempt_seconds=100.0)) as it:
                await it.submit(request("a"))
                await trio.sleep(50.0)
                for _ in range(10):
                    clock.jump(5_000.0)  # stopped by a signal, or asleep
                    await trio.sleep(4.0)
                assert (await it.open("a")).attempt == 1
                await trio.sleep(10.0)
                assert (await it.open("a")).attempt == 1
                await trio.sleep(20.0)
                assert (await it.open("a")).attempt == 2

    run_in_virtual_time(main)


def test_while_our_own_server_end_is_a_stopped_process_no_attempt_is_burnt_and_that_is_said() -> None:
    async def main() -> None:
        base = PaperBase()
        with a_state() as directory:
            async with desk(directory, base, ClientTerms(attempt_seconds=10.0)) as it:
                await it.submit(request("a"))
                await trio.sleep(8.5)
                base.stopped = "process 7 is stopped"
                await trio.sleep(500.0)
                assert (await it.open("a")).attempt == 1
                assert it.house["client/end"].statistics().trouble == "process 7 is stopped"
                base.stopped = None
                await trio.sleep(1.1)  # it is looked at each second
                assert it.house["client/end"].statistics().trouble is None
                assert (await it.open("a")).attempt == 1
                await trio.sleep(12.0)
                assert (await it.open("a")).attempt == 2

    run_in_virtual_time(main)


def test_the_time_for_which_our_own_server_end_is_a_stopped_process_is_no_part_of_an_attempt() -> None:
    async def main() -> None:
        base = PaperBase()
        with a_state() as directory:
            async with desk(directory, base, ClientTerms(attempt_seconds=100.0)) as it:
                await it.submit(request("a"))
                for _ in range(3):  # at the end of its 100 seconds it runs
                    await trio.sleep(25.0)
                    base.stopped = "process 7 is stopped"
                    await trio.sleep(35.0)
                    base.stopped = None
                    await trio.sleep(5.0)
                assert (await it.open("a")).attempt == 1
                await trio.sleep(20.0)
                assert (await it.open("a")).attempt == 2

    run_in_virtual_time(main)


def test_while_its_peer_answers_what_scripts_have_dropped_a_request_waits_for_its_turn() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("ours"))
        await trio.sleep(1.0)
        dropped = [f"dropped-{number}" for number in range(5)]
        for each in dropped:
            put(desk.base, request(each))
        for each in dropped:
            await trio.sleep(60.0)
            desk.base.foreign_put(Tray.RESPONSES, each, write_response(each, DONE))
        assert (await desk.open("ours")).attempt == 1
        await trio.sleep(110.0)
        assert (await desk.open("ours")).attempt == 2

    play(test, terms=ClientTerms(in_flight=1, attempt_seconds=100.0))


def test_a_crash_of_the_end_alone_leaves_no_errand_behind() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(*(request(str(n)) for n in range(5)))
        await trio.sleep(1.0)
        desk.client.kill()
        await trio.sleep(5.0)
        crowd = desk.house["client/requests"]
        assert len(crowd.children()) == 5
        for n in range(5):
            desk.base.foreign_put(Tray.RESPONSES, str(n), write_response(str(n), DONE))
        assert {each.shown for each in await desk.over(*map(str, range(5)))} == {"success"}
        await trio.sleep(1.0)
        assert crowd.children() == []

    play(test)


def test_a_second_client_of_a_folder_refuses_in_words_and_takes_over_when_the_first_has_ended() -> None:
    base = PaperBase()
    why: str | None = "process 7 is the client of /paper; our client end stays down until that has ended"

    async def claim() -> str | None:
        await trio.lowlevel.checkpoint()
        return why

    base.claim_client = claim  # type: ignore[method-assign]

    async def test(desk: Desk) -> None:
        nonlocal why
        await trio.sleep(1.0)
        with pytest.raises(KernelError, match="process 7 is the client"):
            await desk.submit(request("a"))
        assert desk.house["client/end"].statistics().trouble == why
        why = None
        await trio.sleep(5.0)
        await desk.submit(request("a"))
        assert (await desk.over("a"))[0].state is State.SUCCESS

    play(test, base=base, outcomes=in_turn(DONE))


# -- turns


def test_no_more_are_in_flight_than_the_setting_says_and_a_lone_request_is_next() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(*(request(f"many{n}", submitter="many") for n in range(50)))
        await trio.sleep(1.0)
        published = [id for place, id in desk.base.files if place is Tray.REQUESTS]  # noqa: A001
        assert len(published) == 3
        await desk.submit(request("lone", submitter="lone"))
        desk.base.foreign_put(Tray.RESPONSES, published[0], write_response(published[0], DONE))
        desk.base.foreign_put(Tray.RESPONSES, published[1], write_response(published[1], DONE))
        await trio.sleep(1.0)
        assert (Tray.REQUESTS, "lone") in desk.base.files

    play(test, terms=ClientTerms(in_flight=3))


def test_a_request_with_a_deadline_begins_at_once_and_has_its_attempts_also_after_that() -> None:
    """The deadline is of its beginning."""

    async def test(desk: Desk) -> None:
        await desk.submit(request("a", deadline=wall() + 20.0))
        await trio.sleep(5.0)
        assert (Tray.REQUESTS, "a") in desk.base.files
        (dossier,) = await desk.over("a")
        assert (dossier.state, dossier.begun) == (State.SUCCESS, 3)
        assert wall() > dossier.created + 20.0

    play(test, outcomes=in_turn(BUSY, BUSY, DONE), terms=ClientTerms(backoff_seconds=30.0))


def test_a_request_begins_when_its_time_has_come_and_fails_when_nobody_began_it_by_its_deadline() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        now = wall()
        desk.client.tell(Hold("the editor is starting", seconds=800.0))
        await desk.submit(request("later", not_before=now + 1000.0), request("late", deadline=now + 500.0))
        await trio.sleep(990.0)
        assert (await desk.open("later")).shown == "waiting"
        later, late = await desk.over("later", "late")
        assert later.tried[0].began >= now + 1000.0
        assert (late.shown, late.message) == ("gave up", TOO_LATE)

    play(test, terms=ClientTerms(in_flight=1), outcomes=in_turn(DONE))


def test_publishing_a_thousand_takes_a_few_groups() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(*(request(str(n)) for n in range(1000)))
        await desk.over(*map(str, range(1000)))
        assert sum(call.startswith("publish") for call in desk.base.calls) < 100

    play(test, outcomes=in_turn(DONE), terms=ClientTerms(in_flight=256))


# -- the cold start


def test_nothing_is_published_while_it_is_held_and_no_time_counts() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        desk.client.tell(Hold("the editor is starting", seconds=20.0))
        await desk.submit(request("a"))
        await trio.sleep(19.9)
        assert not [call for call in desk.base.calls if call.startswith("publish")]
        await trio.sleep(0.2)
        assert "publish a" in desk.base.calls

    play(test)


def test_a_hold_that_is_told_again_lets_nothing_through() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        desk.client.tell(Hold("the editor is starting", seconds=20.0))
        await desk.submit(request("a"))
        for _ in range(10):
            await trio.sleep(15.0)
            desk.client.tell(Hold("the editor is starting", seconds=20.0))
        assert "publish a" not in desk.base.calls
        await trio.sleep(20.1)
        assert "publish a" in desk.base.calls

    play(test)


def test_a_ping_of_the_editor_is_nobodys_request() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        put(desk.base, request(f"{PING}1"))
        await trio.sleep(10.0)
        assert await desk.journal.find(f"{PING}1") is None

    play(test)


def test_a_hold_outlives_a_crash_and_is_ended_by_a_release() -> None:
    async def test(desk: Desk) -> None:
        await desk.ready()
        desk.client.tell(Hold("the editor is starting", seconds=1000.0))
        await desk.submit(request("a"))
        desk.client.kill()
        await trio.sleep(100.0)
        assert "publish a" not in desk.base.calls
        desk.client.tell(Release())
        await trio.sleep(1.0)
        assert "publish a" in desk.base.calls

    play(test)


# -- what others are told


def test_the_ledger_hears_of_each_request_and_the_evaluator_of_successes_with_a_reference() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("plain"), request("scored", reference="done"), *(request(str(n)) for n in range(200)))
        await desk.over("plain", "scored", *map(str, range(200)))
        await trio.sleep(2.0)
        last = {fact.id: fact for message in desk.ledger.messages for fact in message.facts}
        assert {fact.state for fact in last.values()} == {"success"}
        assert len(last) == 202
        assert len(desk.ledger.messages) < 60
        assert [message.request.id for message in desk.evaluator.messages] == ["scored"]
        states = [fact.state for message in desk.ledger.messages for fact in message.facts if fact.id == "plain"]
        assert states[0] in ("waiting", "polling")

    play(test, outcomes=in_turn(DONE))


def test_whoever_asks_has_the_ledger_hear_at_once_what_the_journal_knows() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("first"))
        await trio.sleep(10.0)
        for number in range(3):  # the ledger hears a few times a second
            await desk.submit(request(f"r{number}"))
            await desk.client.ask(TellLedgerNow, timeout=1.0)
            await trio.testing.wait_all_tasks_blocked()
            noted = [message for message in desk.ledger.messages if isinstance(message, Noted)]
            assert f"r{number}" in {fact.id for fact in noted[-1].facts}

    play(test)


def test_requests_that_cannot_be_sent_are_refused_in_words_and_the_others_are_not() -> None:
    async def test(desk: Desk) -> None:
        bad = [
            (request("../up"), "begins with a letter or a digit"),
            (request("big", params={"x": "y" * (LARGEST + 1)}), "has at most"),
            (request("odd", params={"x": object()}), "cannot be written as JSON"),
            (request("nameless", command=""), "expected command"),
        ]
        handled = await desk.submit(*(each for each, _ in bad), request("good"))
        assert handled.ids == ("good",)
        for each, why in bad:
            assert why in handled.refused[each.id]
        assert (await desk.over("good"))[0].state is State.SUCCESS

    play(test, outcomes=in_turn(DONE))


# -- against HEAD


def test_failed_copies_of_a_success_are_moved_to_the_archive_and_those_of_a_failure_stay() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        desk.base.foreign_put(Tray.FAILED, "a", b"a copy of HEAD's")
        (dossier,) = await desk.over("a")
        assert dossier.state is State.SUCCESS
        assert (Tray.FAILED, "a") not in desk.base.files
        assert "a" in desk.base.archived

    play(test, outcomes=in_turn(BUSY, DONE), dialect=Dialect.HEAD)


def test_nothing_is_touched_before_a_head_peer_has_removed_its_request() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", BUSY, (Dialect.HEAD,)))
        await trio.sleep(0.9 * RESTED_SECONDS)
        assert not [call for call in desk.base.calls if call.startswith("take away")]
        desk.base.foreign_drop(Tray.REQUESTS, "a")
        await trio.sleep(5.0)
        assert [call for call in desk.base.calls if not call.startswith("look")][-2:] == ["take away a", "publish a"]

    play(test, dialect=Dialect.HEAD)


def test_a_torn_response_is_an_attempt_and_is_cleared_and_the_request_renamed_anew() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(1.0)
        desk.base.foreign_put(Tray.RESPONSES, "a", b'{"half')
        await trio.sleep(1.2)
        assert (await desk.open("a")).shown == "retrying"
        await trio.sleep(5.0)
        assert [call for call in desk.base.calls if not call.startswith("look")][-2:] == ["set aside a", "publish a"]
        dossier = await desk.open("a")
        assert dossier.attempt == 2
        assert [each.message[: len(UNREADABLE)] for each in dossier.row.failures] == [UNREADABLE]

    play(test, dialect=Dialect.HEAD)


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_a_peer_that_writes_nonsense_is_asked_three_times_and_its_request_is_over(dialect: Dialect) -> None:
    """And nobody else waits for it longer."""

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        asked = 0
        for _ in range(100):
            await trio.sleep(1.0)
            if desk.base.calls.count("publish a") > asked:
                asked += 1
                desk.base.foreign_put(Tray.RESPONSES, "a", b"[]")
                if dialect is Dialect.HEAD:
                    desk.base.foreign_drop(Tray.REQUESTS, "a")
        (dossier,) = await desk.over("a")
        assert (dossier.shown, asked) == ("gave up", 3)
        record = await desk.base.read(Tray.FAILED, "a")
        assert record is not None
        copy = read_response(record, "a").outcome
        assert isinstance(copy, Failure)
        assert copy.message.startswith(UNREADABLE)
        assert desk.base.calls.count("set aside a") == 3

    play(test, dialect=dialect)


# -- late answers


def test_a_late_answer_wins_until_the_next_attempt_was_published_and_says_so() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await trio.sleep(100.2)
        assert (await desk.open("a")).shown == "retrying"
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE))
        (dossier,) = await desk.over("a")
        assert (dossier.state, dossier.begun) == (State.SUCCESS, 1)
        assert "an answer came after the time of attempt 1 was over" in dossier.notes[0]

    play(test, terms=ClientTerms(attempt_seconds=100.0))


def test_an_answer_after_the_end_is_said_and_a_requeue_takes_it() -> None:
    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        await desk.over("a")
        desk.base.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE))
        await trio.sleep(5.0)
        (dossier,) = await desk.over("a")
        assert dossier.shown == "gave up"
        assert "it is in responses/" in dossier.notes[-1]
        assert (await desk.requeue(ids=("a",))).ids == ("a",)
        await trio.sleep(5.0)
        (dossier,) = await desk.over("a")
        assert (dossier.shown, dossier.row.success) == ("success", DONE)

    play(test, terms=ClientTerms(attempt_seconds=100.0))


@pytest.mark.slow
def test_what_is_found_at_once_is_taken_in_hand_in_the_order_in_which_its_ids_count() -> None:
    """As the server end runs it: those that are in flight are not those that it runs last."""
    names = [f"r{number}" for number in range(30)]
    terms = ClientTerms(in_flight=1, attempt_seconds=1.0, immediate=True)

    async def main() -> None:
        base = PaperBase()
        for name in reversed(names):
            put(base, request(name))
        with a_state() as directory:
            async with desk(directory, base, terms) as it:
                over = await it.over(*names)
        assert [each.id for each in sorted(over, key=lambda each: each.changed)] == names

    run_in_virtual_time(main)


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_another_request_over_one_that_is_under_way_is_not_written_over_after_a_restart(dialect: Dialect) -> None:
    async def main() -> None:
        base, terms = PaperBase(), ClientTerms(dialect, attempt_seconds=100.0)
        with a_state() as directory:
            async with desk(directory, base, terms) as it:
                await it.submit(request("a"))
                await trio.sleep(1.0)
            base.foreign_put(Tray.REQUESTS, "a", other := write_request(request("a", "another")))
            async with desk(directory, base, terms) as it:
                await it.ready()
                await trio.sleep(50.0)
                assert base.files[Tray.REQUESTS, "a"][1] == other

    run_in_virtual_time(main)
