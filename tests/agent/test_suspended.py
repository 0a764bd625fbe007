"""A turn whose requests outlive the server: it waits, and goes on with the answers or is cancelled, but never both."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.agent.messages import SessionAsked
from actors.agent.session import REST_SECONDS
from actors.agent.suspending import can_go_on
from actors.kernel.testing import run_in_virtual_time
from codec.agent.action_events import FileChanged
from codec.agent.approvals import Pending, Resolution
from codec.agent.events import Token, UserMessage
from codec.agent.workspaces import Policy
from tests.agent.paper_store import Paper, PaperDisk
from tests.agent.session_kit import Asks, Pause, Screen, Stay, Tokens, command, patch, stay, tool, until
from tests.agent.test_approvals import asked, kept_row, over

TWO = (Tokens(2), Asks((patch("p1"), command("c1"))), Tokens(5))
IDS = itertools.count(1)


def run(test: Callable[[], Any]) -> None:
    run_in_virtual_time(test)


async def until_asked(paper: list[Paper], script: Any = TWO, policy: Policy | None = None, **answers: bool) -> str:
    """A server that is killed while its turn asks, after some answers. Its paper goes on the list."""
    async with stay(script=script, ids=IDS) as here:
        here.policy = policy or Policy()
        fact = await here.create()
        ann = Screen("ann")
        await here.connect(ann, fact.id)
        await ann.ask("go", "m1")
        await asked(ann, 2)
        for id, approved in answers.items():  # noqa: A001
            await ann.answer(id, approved)
        paper.append(here.disk.paper.copy())
        return fact.id


@asynccontextmanager
async def asked_again(script: Any = TWO) -> AsyncIterator[tuple[Stay, Screen, str]]:
    """The server after such a kill, a client that is asked the same, and the session."""
    papers: list[Paper] = []
    id = await until_asked(papers)  # noqa: A001
    async with stay(PaperDisk(papers[0]), script, ids=IDS) as here:
        ann = Screen("ann")
        await here.connect(ann, id, 0)
        await asked(ann, 2)
        yield here, ann, id


def test_after_a_kill_what_was_asked_still_is_and_the_answers_make_the_turn_go_on() -> None:
    async def test() -> None:
        async with asked_again() as (here, ann, id):  # noqa: A001
            state = ann.state
            assert (state["running"], state["suspended"]) == (True, True)
            assert state["pending_patches"] == ["p1"]
            assert [each["request_id"] for each in state["requests"]] == ["p1", "c1"]
            assert (await here.ask(SessionAsked, id)).pending_approvals == 2
            assert not here.turns()
            await ann.answer("p1", reason="fine")
            await trio.sleep(5)
            assert not here.made, "one is still to be answered"
            await ann.answer("c1", approved=False, reason="no")
            final = await over(ann)
            assert final["metadata"]["success"]
            assert final["message"] == "0 1 (on) "
            assert not ann.state["suspended"]
            (turn,) = here.made
            assert [(each.request_id, each.resolution and each.resolution.reason) for each in turn.order.resumed] == [
                ("p1", "fine"),
                ("c1", "no"),
            ]
            assert turn.order.message.message == "go"
            assert turn.order.message.message_id == "m1"
            said = [entry.event for entry in turn.order.said]
            assert said[0] == Token(token="0 1 ")
            assert [type(event).__name__ for event in said[1:]] == [
                "PatchProposed",
                "RequestCommandApproval",
                "ApprovalResolved",
                "ApprovalResolved",
            ]
            assert [each.request.request_id for each in here.acted] == ["p1", "c1"]
            assert ann.rendered() == ["0 1 (on) "]
            assert len([entry for entry in await here.stored(id) if isinstance(entry.event, UserMessage)]) == 1

    run(test)


def test_answers_that_were_all_kept_before_the_kill_are_acted_upon_at_once() -> None:
    async def test() -> None:
        papers: list[Paper] = []
        script = (Asks((patch("p1"), patch("p2"))), Pause(100))

        async def never(*args: object) -> None:
            await trio.sleep_forever()

        async with stay(script=script, ids=IDS) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await asked(ann, 2)
            here.made[0]._act_upon = never  # type: ignore[method-assign, assignment]
            await ann.answer("p1")
            papers.append(here.disk.paper.copy())
        async with stay(PaperDisk(papers[0]), script, ids=IDS) as here:
            await until(lambda: len(here.acted) == 2)
            bob = Screen("bob")
            await here.connect(bob, fact.id, 0)
            assert (await over(bob))["metadata"]["success"]

    run(test)


@pytest.mark.parametrize("has_terminal", [True, False])
def test_a_command_that_was_approved_for_a_clients_terminal_may_have_begun_there_if_there_is_one(
    has_terminal: bool,
) -> None:
    async def test() -> None:
        papers: list[Paper] = []
        script = (Asks((command("c1", mode="local_terminal"),)), Tokens(2))

        async def never(*args: object) -> None:
            await trio.sleep_forever()

        async with stay(script=script, ids=IDS) as here:
            fact = await here.create()
            ann, editor = Screen("ann"), Screen("editor", can=("terminal_exec",) if has_terminal else ())
            await here.connect(ann, fact.id)
            await here.connect(editor, fact.id)
            await ann.ask("go")
            await asked(ann, 1)
            here.made[0]._act_upon = never  # type: ignore[method-assign, assignment]
            await ann.answer("c1")
            await until(lambda: editor.of("approval.resolved"))
            papers.append(here.disk.paper.copy())
        async with stay(PaperDisk(papers[0]), script, ids=IDS) as here:
            bob = Screen("bob")
            await here.connect(bob, fact.id, 0)
            final = await over(bob)
            assert final["metadata"]["interrupted"] == has_terminal
            assert len(here.acted) == (not has_terminal)

    run(test)


def test_a_command_that_a_clients_terminal_has_without_an_approval_may_have_begun_and_nobody_waits_for_ever() -> None:
    async def test() -> None:
        papers: list[Paper] = []
        script = (Asks((command("c1", asks=False, mode="local_terminal"),)), Tokens(2))
        async with stay(script=script, ids=IDS) as here:
            fact = await here.create()
            editor = Screen("editor", can=("terminal_exec",))
            await here.connect(editor, fact.id)
            await editor.ask("go")
            await until(lambda: editor.of("command.request_approval"))
            papers.append(here.disk.paper.copy())
        async with stay(PaperDisk(papers[0]), script, ids=IDS) as here:
            bob = Screen("bob")
            await here.connect(bob, fact.id, 0)
            with trio.fail_after(30):
                assert (await over(bob))["metadata"]["interrupted"]
            assert not bob.state["running"]
            assert here.acted == []

    run(test)


def test_a_suspended_turn_can_be_cancelled_and_then_does_nothing() -> None:
    async def test() -> None:
        async with asked_again() as (here, ann, _):
            await ann.answer("p1")
            await ann.cancel()
            final = await over(ann)
            assert final["metadata"]["cancelled"]
            assert final["message"] == "0 1 "
            assert [each["ended"] for each in ann.of("approval.resolved")] == ["answered", "cancelled"]
            await ann.answer("c1")
            await until(lambda: ann.errors == ["INVALID_MESSAGE"])
            assert not here.made
            assert (ann.state["running"], ann.state["suspended"]) == (False, False)

    run(test)


def test_what_is_said_meanwhile_waits_for_the_suspended_turn() -> None:
    async def test() -> None:
        async with asked_again(lambda order: (Tokens(1),)) as (here, ann, _):
            await ann.ask("next")
            await trio.sleep(2 * REST_SECONDS)
            assert [each["message"] for each in ann.state["queued"]] == ["next"]
            await ann.answer("p1")
            await ann.answer("c1")
            await over(ann, 2)
            assert [turn.order.message.message for turn in here.made] == ["go", "next"]

    run(test)


def test_a_suspended_session_that_nobody_needs_rests_and_wakes_for_its_answer() -> None:
    async def test() -> None:
        papers: list[Paper] = []
        id = await until_asked(papers)  # noqa: A001
        async with stay(PaperDisk(papers[0]), TWO, ids=IDS) as here:
            await until(lambda: here.session(id) is not None)
            await trio.sleep(REST_SECONDS + 1)
            assert here.session(id) is None
            assert len(kept_row(here.disk, id).pending) == 2
            ann = Screen("ann")
            await here.connect(ann, id, 0)
            await asked(ann, 2)
            await ann.answer("p1")
            await ann.answer("c1")
            assert (await over(ann))["metadata"]["success"]
            numbers = [message["seq"] for message in ann.events]
            assert numbers == sorted(set(numbers))

    run(test)


def test_a_session_that_falls_suspends_its_turn_and_the_one_that_asked_acts_no_more() -> None:
    async def test() -> None:
        async with stay(script=TWO, ids=IDS) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await asked(ann, 2)
            session = here.session(fact.id)
            assert session is not None
            session.kill()
            await until(lambda: not here.turns())
            await until(lambda: ann.state["suspended"])
            await ann.answer("p1")
            await ann.answer("c1")
            await over(ann)
            first, second = here.made
            assert {acted.turn_id for acted in here.acted} == {first.order.turn_id} == {second.order.turn_id}
            assert len(here.acted) == 2

    run(test)


# -- when the time is over meanwhile


@pytest.mark.parametrize("asleep", [5.0, 100.0])
def test_the_time_of_a_request_passes_also_while_no_server_runs(asleep: float) -> None:
    async def test() -> None:
        papers: list[Paper] = []
        await until_asked(papers, policy=Policy(approval_timeout_s=60))
        began = trio.current_time()
        await trio.sleep(asleep)
        async with stay(PaperDisk(papers[0]), TWO, ids=IDS) as here:
            await until(lambda: len(here.acted) == 2)  # nobody had to open it
            assert trio.current_time() - began <= max(asleep, 60) + 1
            resolutions = [each.request.resolution for each in here.acted]
            assert all(each and (each.approved, each.ended) == (False, "timed_out") for each in resolutions)

    run(test)


# -- what cannot go on

YES = Resolution(approved=True)
FATES = [
    ((), False),
    ((patch("p"),), True),
    ((patch("p"), tool("t")), True),
    ((replace(patch("p"), resolution=YES),), True),
    ((replace(patch("p"), resolution=YES, begun=True),), False),
    ((replace(patch("p"), resolution=YES, begun=True), tool("t")), False),
]


@pytest.mark.parametrize(("requests", "goes_on"), FATES)
def test_what_becomes_of_a_turn_depends_on_its_requests(requests: tuple[Pending, ...], goes_on: bool) -> None:
    assert can_go_on(requests) is goes_on


def test_a_turn_that_had_begun_to_act_is_interrupted_and_what_waits_is_cancelled() -> None:
    async def test() -> None:
        async def never(*args: object) -> None:
            await trio.sleep_forever()

        async with stay(script=TWO, ids=IDS) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await asked(ann, 2)
            await ann.answer("p1")
            change = FileChanged(change_id="x", turn_id="t", file_path="a.py", action="modify", status="begun")
            assert await here.made[0]._keep(change, begun=["p1"])
            paper = here.disk.paper.copy()
        async with stay(PaperDisk(paper), TWO, ids=IDS) as here:
            ann = Screen("ann")
            await here.connect(ann, fact.id, 0)
            final = await over(ann)
            assert final["metadata"]["interrupted"]
            assert [(each["request_id"], each["ended"]) for each in ann.of("approval.resolved")] == [
                ("p1", "answered"),
                ("c1", "cancelled"),
            ]
            assert ann.state["pending_approvals"] == []
            assert not here.made

    run(test)


def test_a_turn_whose_workspace_is_gone_ends_with_an_error_when_it_is_to_go_on() -> None:
    async def test() -> None:
        papers: list[Paper] = []
        id = await until_asked(papers)  # noqa: A001
        async with stay(PaperDisk(papers[0]), TWO, ids=IDS) as here:
            here.workspaces.clear()
            ann = Screen("ann")
            await here.connect(ann, id, 0)
            await asked(ann, 2)
            await ann.answer("p1")
            await ann.answer("c1")
            final = await over(ann)
            assert not final["metadata"]["success"]
            assert ann.errors == ["WORKSPACE_NOT_FOUND"]
            assert kept_row(here.disk, id).pending == ()

    run(test)


def test_a_result_that_comes_while_the_turn_is_made_again_reaches_it() -> None:
    async def test() -> None:
        papers: list[Paper] = []
        id = await until_asked(papers)  # noqa: A001
        async with stay(PaperDisk(papers[0]), TWO, ids=IDS) as here:
            here.asking_seconds = 5
            ann = Screen("ann")
            await here.connect(ann, id, 0)
            await asked(ann, 2)
            await ann.answer("p1")
            await ann.answer("c1")
            await trio.sleep(1)
            assert (ann.state["running"], ann.state["suspended"]) == (True, False), "it is told at once"
            assert not here.made
            await ann.say({"type": "client.command_result", "command_id": "c1", "exit_code": 0})
            await over(ann)
            (turn,) = here.made
            assert [each.result is not None for each in turn.order.resumed] == [False, False]
            (late,) = turn.settled.values()
            assert late.result is not None
            assert ann.errors == []

    run(test)


def test_a_turn_goes_on_only_when_every_answer_is_kept() -> None:
    async def test() -> None:
        papers: list[Paper] = []
        id = await until_asked(papers)  # noqa: A001
        disk = PaperDisk(papers[0])
        resolved: list[list[bool]] = []

        def script(order: object) -> tuple[Any, ...]:
            resolved.append([each.resolution is not None for each in kept_row(disk, id).pending])
            return ()

        async with stay(disk, script, ids=IDS) as here:
            ann = Screen("ann")
            await here.connect(ann, id, 0)
            await asked(ann, 2)
            disk.seconds = lambda: 1.0
            here.nursery.start_soon(ann.answer, "p1")
            await trio.sleep(0.5)
            bob = Screen("bob")
            await here.connect(bob, id)
            here.nursery.start_soon(bob.answer, "c1")
            await until(lambda: resolved)
            assert resolved == [[True, True]]

    run(test)


def test_a_cancel_before_the_last_answer_is_kept_is_a_cancel() -> None:
    async def test() -> None:
        async with asked_again() as (here, ann, id):  # noqa: A001
            await ann.answer("p1")
            here.disk.seconds = lambda: 1.0
            here.nursery.start_soon(ann.answer, "c1")
            await trio.sleep(0.5)
            bob = Screen("bob")
            await here.connect(bob, id)
            here.nursery.start_soon(bob.cancel)
            assert (await over(ann))["metadata"]["cancelled"]
            await trio.sleep(10)
            assert not here.made

    run(test)


def test_a_turn_is_suspended_or_ended_when_nothing_is_left_of_its_commands() -> None:
    gone = trio.Event()
    asked_for: list[str] = []

    async def commands_ended(registry: object, turn_id: str) -> None:
        asked_for.append(turn_id)
        await gone.wait()

    async def test() -> None:
        async with stay(script=(Tokens(2), Pause(1000)), ids=IDS, commands_ended=commands_ended) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("go")
            await until(lambda: len(ann.of("assistant.token")) == 2)
            session = here.session(fact.id)
            assert session is not None
            session.kill()
            await trio.sleep(2)
            assert asked_for == [here.made[0].order.turn_id]
            assert not ann.of("assistant.message_final")
            gone.set()
            assert (await over(ann))["metadata"]["interrupted"]

    run(test)
