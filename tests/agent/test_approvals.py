"""A session whose turn asks: who is told of a request and when, who answers it, and what the turn does upon it."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.agent.approving import LONGEST_NAP, MOST_APPLIED, Approvals
from actors.agent.messages import (
    CapabilitiesAsked,
    CreateSession,
    DeleteSession,
    SessionAsked,
    TurnAsks,
    TurnKeeps,
    TurnOrder,
    TurnSays,
)
from actors.kernel import KernelError, Reply
from actors.kernel.testing import run_in_virtual_time
from codec.agent.action_events import ApprovalResolved, CommandFinished, CommandStarted, FileChanged
from codec.agent.approvals import Pending
from codec.agent.events import LogEvent, PlanPresented, PlanStep, Thinking, Token, UserMessage
from codec.agent.kept import SessionRow, read_row
from codec.agent.sessions import SessionMode, SessionWish
from codec.agent.workspaces import Policy
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import (
    EPOCH,
    Acted,
    Asks,
    Fall,
    Pause,
    Screen,
    Scripts,
    Stay,
    Tokens,
    Vanish,
    command,
    patch,
    stay,
    tool,
    until,
    wall,
)

Test = Callable[[Stay, str, Screen, Screen], Awaitable[None]]


def kept_row(disk: PaperDisk, id: str) -> SessionRow:  # noqa: A002
    return read_row(disk.paper.pairs["agent/session", id])


def play(test: Test, script: Scripts, disk: PaperDisk | None = None, **more: Any) -> None:
    """With a session whose turn asks, and with Ann and Bob attached to it."""

    async def playing() -> None:
        async with stay(disk, script, **more) as here:
            fact = await here.create()

            def only_what_is_kept(acted: Acted) -> None:
                (kept,) = [
                    each for each in kept_row(here.disk, fact.id).pending if each.request_id == acted.request.request_id
                ]
                assert kept == replace(acted.request, begun=True)
                assert kept.resolution is not None

            here.acts = only_what_is_kept
            ann, bob = Screen("ann"), Screen("bob")
            await here.connect(ann, fact.id)
            await here.connect(bob, fact.id)
            await test(here, fact.id, ann, bob)

    run_in_virtual_time(playing)


async def asked(screen: Screen, count: int = 1) -> None:
    await until(lambda: screen.of("session.state") and len(screen.state["pending_approvals"]) == count)


async def over(screen: Screen, count: int = 1) -> dict[str, Any]:
    await until(lambda: len(screen.of("assistant.message_final")) >= count)
    await trio.sleep(0.5)
    return screen.of("assistant.message_final")[-1]


def outcomes(here: Stay) -> list[tuple[str, bool]]:
    return [
        (each.request.request_id, each.request.resolution is not None and each.request.resolution.approved)
        for each in here.acted
    ]


TWO = (Tokens(2), Asks((patch("p1"), patch("p2", "b.py"))), Tokens(1))


def test_a_request_is_kept_before_anybody_sees_it_and_every_client_does() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        for screen in (ann, bob):
            await asked(screen, 2)
            assert [each["patch_id"] for each in screen.of("patch.proposed")] == ["p1", "p2"]
            assert screen.state["pending_patches"] == screen.state["pending_approvals"] == ["p1", "p2"]
            shown = screen.state["requests"]
            assert [each["kind"] for each in shown] == ["patch", "patch"]
            assert [each["seq"] for each in shown] == [each["seq"] for each in screen.of("patch.proposed")]
        row = kept_row(here.disk, id)
        assert [each.request_id for each in row.pending] == ["p1", "p2"]
        assert row.fact.pending_approvals == 2
        assert (await here.ask(SessionAsked, id)).pending_approvals == 2
        assert not here.acted

    play(test, TWO)


def test_an_event_that_asks_and_its_request_are_one_commit() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        seen: set[tuple[int, int]] = set()
        while not ann.of("patch.proposed"):
            log = here.disk.paper.streams.get(f"agent/session/{id}", [])
            seen.add((sum(b"patch.proposed" in entry for entry in log), len(kept_row(here.disk, id).pending)))
            await trio.sleep(0.0005)
        assert seen <= {(0, 0), (2, 2)}

    play(test, TWO)


def test_the_first_answer_counts_and_the_others_see_it_resolved() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(bob, 2)
        await bob.answer("p1", scope="file", reason="fine")
        await ann.answer("p1", approved=False, scope="file")
        assert bob.errors == []
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])
        assert "was approved already by bob" in ann.of("server.error")[0]["error"]["message"]
        await asked(ann, 1)
        await ann.answer("p2", approved=False, reason="not this file")
        final = await over(ann)
        assert final["metadata"]["success"]
        assert outcomes(here) == [("p1", True), ("p2", False)]
        refused = here.acted[1].request.resolution
        assert refused is not None
        assert refused.reason == "not this file"
        for screen in (ann, bob):
            assert [(each["request_id"], each["approved"], each["by"]) for each in screen.of("approval.resolved")] == [
                ("p1", True, "bob"),
                ("p2", False, "ann"),
            ]
            assert screen.state["pending_approvals"] == screen.state["pending_patches"] == []
            assert screen.state["applied_patches"] == ["p1"]
        assert (await here.ask(SessionAsked, id)).pending_approvals == 0

    play(test, TWO)


def test_an_answer_is_kept_before_it_is_told_to_anybody_the_turn_included() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        here.disk.seconds = lambda: 1.0
        here.nursery.start_soon(bob.answer, "p1")
        await trio.sleep(0.9)
        assert not here.made[0].settled
        assert not ann.of("approval.resolved")
        await until(lambda: here.made[0].settled)
        assert [each.resolution is not None for each in kept_row(here.disk, id).pending] == [True, True]

    play(test, TWO)


def test_a_disk_in_trouble_takes_no_answer_and_says_so() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        here.disk.full = True
        here.nursery.start_soon(quietly, ann.ask, "next")  # brings the trouble to light
        await until(lambda: ann.state["trouble"])
        await bob.answer("p1")
        await until(lambda: len(bob.errors) == 2)
        assert "The answer was not taken" in bob.of("server.error")[-1]["error"]["message"]
        here.disk.full = False
        await until(lambda: ann.state["trouble"] is None)
        await bob.answer("p1")
        await until(lambda: len(outcomes(here)) == 2)

    play(test, TWO)


async def quietly(act: Callable[..., Awaitable[Any]], *args: Any) -> None:
    with contextlib.suppress(KernelError):
        await act(*args)


def test_what_a_client_did_itself_is_its_consent_and_its_result() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await ann.say({"type": "client.patch_apply_result", "patch_id": "p1", "success": True, "applied_hash": "h"})
        await ann.say({"type": "client.command_result", "command_id": "c1", "exit_code": 3, "stdout": "out"})
        await over(ann)
        first, second = (each.request for each in here.acted)
        assert (first.result and first.result.applied_hash) == "h"
        assert (second.result and (second.result.exit_code, second.result.stdout)) == (3, "out")
        assert outcomes(here) == [("p1", True), ("c1", True)]
        assert [each["request_id"] for each in bob.of("approval.resolved")] == ["p1", "c1"]

    play(test, [Asks((patch("p1"), command("c1")))])


def test_a_result_may_follow_an_approval_and_reaches_the_turn() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await ann.answer("p1", scope="hunk", hunks=[0])
        await until(lambda: "p1" in here.made[0].settled)
        assert ann.state["pending_patches"] == ["p1"], "the client is still to apply it"
        await ann.say({"type": "client.patch_apply_result", "patch_id": "p1", "success": False, "error": "conflict"})
        await until(lambda: here.made[0].settled["p1"].result)
        settled = here.made[0].settled["p1"]
        assert settled.resolution is not None
        assert settled.resolution.approved
        assert settled.result is not None
        assert settled.result.error == "conflict"
        assert len(ann.of("approval.resolved")) == 1
        assert ann.errors == []

    play(test, [Asks((patch("p1"), command("c1")))])


# -- nobody answers


def test_a_request_times_out_by_the_policy_and_the_turn_goes_on() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.policy = Policy(approval_timeout_s=30)
        await ann.ask("go")
        await asked(ann, 2)
        began = trio.current_time()
        await ann.answer("p1", scope="file")
        await over(ann)
        assert 29 < trio.current_time() - began < 31
        assert outcomes(here) == [("p1", True), ("p2", False)]
        last = ann.of("approval.resolved")[-1]
        assert (last["request_id"], last["ended"], last["by"]) == ("p2", "timed_out", "")

    play(test, TWO)


@pytest.mark.parametrize(("set_forward", "over_after"), [(0.0, 10_000.0), (50_000.0, LONGEST_NAP), (5_000.0, 5_000.0)])
def test_the_time_of_a_request_is_that_of_the_wall_also_when_its_clock_is_set(
    set_forward: float, over_after: float
) -> None:
    forward = [0.0]

    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.policy = Policy(approval_timeout_s=10_000)
        await ann.ask("go")
        await asked(ann, 2)
        began = trio.current_time()
        await trio.sleep(1)
        forward[0] = set_forward
        with trio.fail_after(20_000):
            while len(here.acted) < 2:  # noqa: ASYNC110 - what is looked at tells nobody
                await trio.sleep(1)
        assert over_after - 5 < trio.current_time() - began < over_after + 5

    play(test, TWO, clock=lambda: wall() + forward[0])


@pytest.mark.parametrize("said", ["approval", "workspace", "patch"])
def test_an_answer_after_the_time_is_told_as_too_late_though_no_timer_has_said_so_yet(said: str) -> None:
    """A machine that sleeps: the clock of the timer stands still meanwhile, and that of the wall does not."""
    forward = [0.0]

    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.policy = Policy(approval_timeout_s=30)
        await ann.ask("go")
        await asked(ann, 2)
        forward[0] = 40.0
        if said == "patch":
            await ann.say({"type": "client.patch_apply_result", "patch_id": "p1", "success": True})
        else:
            more: dict[str, Any] = {"remember": "workspace"} if said == "workspace" else {}
            await ann.answer("p1", scope="file", **more)
        await over(ann)
        (error,) = ann.of("server.error")
        assert "has timed out: this answer came too late" in error["error"]["message"]
        assert outcomes(here) == [("p1", False), ("p2", False)]
        assert {each["ended"] for each in ann.of("approval.resolved")} == {"timed_out"}

    play(test, TWO, clock=lambda: wall() + forward[0])


MINUTES = st.integers(0, 12)
Story = list[tuple[int, tuple[int, str] | None]]


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(MINUTES, st.none() | st.tuples(MINUTES, st.sampled_from(("answered", "given up")))),
        min_size=1,
        max_size=5,
    ),
    st.none() | MINUTES,
)
@example([(3, (1, "answered")), (5, None)], None)
@example([(0, (2, "answered")), (4, None), (4, None), (8, (5, "given up"))], None)
@example([(4, (2, "given up")), (6, None)], 5)
def test_each_request_ends_at_its_own_time_and_the_session_is_woken_for_that_alone(
    story: Story, cancelled: int | None
) -> None:
    """`story`: of each request the minute in which its time is over (0: never), and what else becomes of it after which
    one. `cancelled`: the minute after which its turn is."""
    woken: list[float] = []
    fates: dict[str, list[tuple[float, str]]] = {}
    for number, (end, other) in enumerate(story):
        fates[f"p{number}"] = [(60.0 * end, "timed_out")] if end else []
        fates[f"p{number}"] += [] if other is None else [(60.0 * other[0] + 30, other[1])]
        fates[f"p{number}"] += [] if cancelled is None else [(60.0 * cancelled + 45, "cancelled")]
    firsts = {request_id: min(fate) for request_id, fate in fates.items() if fate}
    acts = [(at, how, request_id) for request_id, fate in fates.items() for at, how in fate if how != "timed_out"]

    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, len(story))
        for at, how, request_id in sorted(acts):
            await trio.sleep_until(at)
            if (at, how) != firsts[request_id]:
                continue
            if how == "answered":
                await ann.answer(request_id, scope="file")
            elif how == "given up":
                assert await here.made[0]._keep(over=[request_id])
            else:
                await ann.cancel()
        await trio.sleep_until(1000)
        seen = {each["request_id"]: each["ended"] for each in ann.of("approval.resolved")}
        assert seen == {each: "timed_out" if how == "given up" else how for each, (_, how) in firsts.items()}
        assert woken == pytest.approx(sorted({at for at, how in firsts.values() if how == "timed_out"}), abs=0.01)

    def expire(approvals: Approvals) -> None:
        woken.append(trio.current_time())
        plain(approvals)

    plain = Approvals.expire
    ends = {request_id: next((at for at, how in fate if how == "timed_out"), 0) for request_id, fate in fates.items()}
    script = (Asks(tuple(patch(each, each, expires_at=EPOCH + end if end else 0) for each, end in ends.items())),)
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(Approvals, "expire", expire)
        play(test, script)


def test_without_a_time_in_the_policy_a_request_waits_for_ever() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await trio.sleep(20 * 3600)
        assert ann.state["pending_approvals"] == ["p1", "p2"]
        await ann.answer("p1")
        assert (await over(ann))["metadata"]["success"]

    play(test, TWO)


def test_what_a_client_is_only_asked_to_do_is_no_approval_and_ends_with_the_turns_patience() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        here.policy = Policy(approval_timeout_s=5)
        await ann.ask("go")
        await until(lambda: ann.of("session.state")[-1]["state"]["requests"])
        assert ann.state["pending_approvals"] == []
        assert (await here.ask(SessionAsked, id)).pending_approvals == 0
        await trio.sleep(60)
        assert not ann.of("approval.resolved"), "the time of the policy is that of people"
        assert await here.made[0]._keep(over=["c1"])
        await until(lambda: ann.of("approval.resolved"))
        (resolved,) = ann.of("approval.resolved")
        assert (resolved["approved"], resolved["ended"]) == (False, "timed_out")
        await until(lambda: ann.state["requests"] == [])
        await ann.say({"type": "client.command_result", "command_id": "c1", "exit_code": 0})
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])

    play(test, [Asks((command("c1", asks=False),))])


async def waits(requests: object) -> None:
    """In place of a turn's deeds: it waits for what an editor does."""
    await trio.sleep_forever()


@pytest.mark.parametrize("asks", [True, False])
def test_a_command_is_taken_back_from_a_silent_terminal_once_and_that_is_kept_before_its_turn_hears_it(
    asks: bool,
) -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        editor = Screen("editor", can=("terminal_exec",))
        await here.connect(editor, id)
        await ann.ask("go")
        await until(lambda: editor.of("command.request_approval"))
        (turn,) = here.made
        turn._act_upon = waits  # type: ignore[method-assign]
        if asks:
            await ann.answer("c1")
            await until(lambda: editor.of("approval.resolved"))
        back = {"type": "client.take_back_command", "command_id": "c1", "run_here": True}
        await bob.say(back)
        await until(lambda: "c1" in turn.settled and turn.settled["c1"].terminal == "run_here")
        (kept,) = kept_row(here.disk, id).pending
        assert kept == turn.settled["c1"]
        for screen in (ann, bob, editor):
            await until(lambda: screen.of("command.taken_back"))  # noqa: B023
            (told,) = screen.of("command.taken_back")
            assert (told["command_id"], told["run_here"], told["by"]) == ("c1", True, "bob")
            assert [each["by"] for each in screen.of("approval.resolved")] == ["ann" if asks else "bob"]
        await ann.say(back)
        await editor.say({"type": "client.command_result", "command_id": "c1", "exit_code": 0})
        await until(lambda: (ann.errors, editor.errors) == (["INVALID_MESSAGE"], ["INVALID_MESSAGE"]))
        await ann.say({"type": "client.cancel"})
        assert (await over(ann))["metadata"]["cancelled"]

    play(test, [Asks((command("c1", asks=asks, mode="local_terminal"),))])


# -- the turn ends


def test_a_cancel_resolves_what_waits_before_the_last_word() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await ann.answer("p1", scope="file")
        await ann.cancel()
        final = await over(ann)
        assert final["metadata"]["cancelled"]
        resolved = ann.of("approval.resolved")
        assert [(each["request_id"], each["ended"]) for each in resolved] == [("p1", "answered"), ("p2", "cancelled")]
        assert resolved[-1]["seq"] < final["seq"]
        assert not here.acted
        assert kept_row(here.disk, id).pending == ()
        assert ann.state["pending_approvals"] == []
        await ann.answer("p2")
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])

    play(test, TWO)


@pytest.mark.parametrize("end", [Fall(), Vanish()])
def test_a_turn_that_fails_leaves_no_request_behind(end: object) -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.made)
        turn = here.made[0]
        await turn.order.session.send(TurnAsks(turn.order.turn_id, (patch("p1"),)))
        final = await over(ann)
        assert final["metadata"]["interrupted"]
        assert [each["ended"] for each in ann.of("approval.resolved")] == ["cancelled"]
        assert ann.state["pending_approvals"] == []

    play(test, [Pause(1), end])


def test_a_turn_that_ends_although_it_has_asked_leaves_no_request_behind() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.made)
        turn = here.made[0]
        await turn.order.session.send(TurnAsks(turn.order.turn_id, (patch("p1"),)))
        final = await over(ann)
        assert final["metadata"]["success"]
        (resolved,) = ann.of("approval.resolved")
        assert resolved["ended"] == "cancelled"
        assert resolved["seq"] < final["seq"]

    play(test, [Pause(1), Tokens(1)])


def test_the_last_word_waits_until_nothing_is_left_of_the_turns_commands() -> None:
    gone = trio.Event()

    async def commands_ended(registry: object, turn_id: str) -> None:
        await gone.wait()

    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: ann.of("assistant.token"))
        await ann.cancel()
        await trio.sleep(10)
        assert not here.turns()
        assert not ann.of("assistant.message_final")
        await ann.ask("next")
        gone.set()
        final = await over(ann)
        assert final["metadata"]["cancelled"] or len(ann.of("assistant.message_final")) == 2

    play(test, [Tokens(1), Pause(3600)], commands_ended=commands_ended)


def test_a_cancel_resolves_at_once_what_waits_and_not_when_the_commands_have_ended() -> None:
    gone = trio.Event()

    async def commands_ended(registry: object, turn_id: str) -> None:
        await gone.wait()

    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await ann.cancel()
        await until(lambda: len(ann.of("approval.resolved")) == 2)
        assert ann.state["pending_approvals"] == []
        assert not ann.of("assistant.message_final")
        gone.set()
        await over(ann)

    play(test, TWO, commands_ended=commands_ended)


def test_a_command_of_which_no_end_was_told_ends_with_its_turn() -> None:
    started = CommandStarted(command_id="c1", command="npm test", working_directory="/work")
    other = CommandStarted(command_id="c0", command="npm ci", working_directory="/work")
    done = CommandFinished(command_id="c0", exit_code=0)

    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: len(ann.of("command.started")) == 2)
        await ann.cancel()
        final = await over(ann)
        told = [(each["command_id"], each["ended"]) for each in ann.of("command.finished")]
        assert told == [("c0", "exited"), ("c1", "cancelled")]
        assert final["metadata"]["files_modified"] == 1

    change = FileChanged(change_id="x", turn_id="t", file_path="a.py", action="modify", status="done")
    play(test, [other, done, started, change, change, Pause(100)])


# -- what a turn keeps


def test_of_applied_patches_the_last_ones_are_shown() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.made)
        ids = [f"p{number}" for number in range(MOST_APPLIED + 50)]
        for id in ids:  # noqa: A001
            assert await here.made[0]._keep(applied=[id])
        await until(lambda: ann.state["applied_patches"] == ids[-MOST_APPLIED:])

    play(test, [Pause(3600)])


async def keep_for(order: TurnOrder, events: Sequence[LogEvent], turn_id: str) -> bool:
    def question(reply: Reply[bool]) -> TurnKeeps:
        return TurnKeeps(turn_id, events, reply=reply)

    return await order.session.ask(question, timeout=60)


def test_a_turn_goes_on_when_its_events_are_kept_and_not_when_it_is_cancelled() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.made)
        order = here.made[0].order
        here.disk.seconds = lambda: 0.5

        async def keep(events: tuple[Any, ...], turn_id: str = order.turn_id) -> bool:
            return await keep_for(order, events, turn_id)

        began = trio.current_time()
        assert await keep((Thinking(phase="executing", message="one"),))
        assert trio.current_time() - began >= 0.5
        assert Thinking(phase="executing", message="one") in [entry.event for entry in await here.stored(id)]
        assert not await keep((), "another turn")
        told: list[bool] = []

        async def late() -> None:
            told.append(await keep((Thinking(phase="executing", message="two"),)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await trio.sleep(0.1)
            await ann.cancel()
        assert told == [False]
        assert not await keep((Thinking(phase="executing", message="three"),))
        await over(ann)
        said = [entry.event.message for entry in await here.stored(id) if isinstance(entry.event, Thinking)]
        assert "three" not in said

    play(test, [Pause(3600)])


@pytest.mark.parametrize("how", ["asks", "keeps", "again"])
def test_a_turn_that_asks_what_cannot_be_kept_is_ended_and_nothing_of_it_stays(how: str) -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.made)
        order = here.made[0].order
        odd = tool("t1")
        odd = replace(odd, asked=replace(odd.asked, args={"x": object()}))
        match how:
            case "asks":
                await order.session.send(TurnAsks(order.turn_id, (patch("p1"), odd)))
            case "again":
                await order.session.send(TurnAsks(order.turn_id, (patch("p1"),)))
                await order.session.send(TurnAsks(order.turn_id, (patch("p1"),)))
            case "keeps":
                assert not await keep_for(order, (Token(token="x"), odd.asked), order.turn_id)
        final = await over(ann)
        assert not final["metadata"]["success"]
        assert "cannot be kept" in ann.of("server.error")[0]["error"]["message"]
        assert len(ann.of("patch.proposed")) == (1 if how == "again" else 0)
        assert not ann.of("assistant.token")
        assert ann.state["pending_approvals"] == []

    play(test, [Pause(3600)])


def test_a_turn_is_told_what_all_clients_together_can_do() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        session = here.session(id)
        assert session is not None
        cid = Screen("cid", delta=True, can=("diff_preview", "terminal_exec"))
        await here.connect(cid, id)
        assert await session.ask(CapabilitiesAsked, timeout=1) == {"diff_preview", "terminal_exec", "token_delta"}
        await here.drop(cid)
        assert await session.ask(CapabilitiesAsked, timeout=1) == frozenset()

    play(test, TWO)


def test_what_is_said_by_a_turn_that_is_over_is_not_taken() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await over(ann)
        order = here.made[0].order
        await order.session.send(TurnAsks(order.turn_id, (patch("p1"),)))
        await order.session.send(TurnSays(order.turn_id, Token(token="late")))
        await trio.sleep(1)
        assert not ann.of("patch.proposed")

    play(test, [Tokens(1)])


def test_a_session_that_is_deleted_while_it_asks_is_gone() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        assert await here.ask(DeleteSession, id)
        assert not here.disk.paper.pairs
        assert not here.disk.paper.streams

    play(test, TWO)


# -- a plan

PLAN = PlanPresented(
    steps=(
        PlanStep(step_number=1, description="Add a test", files_involved=("tests/a.py", "b.py")),
        PlanStep(step_number=2, description="Mend it"),
    )
)


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_a_plan_is_approved_once_sets_the_mode_and_begins_a_turn(mode: SessionMode) -> None:
    async def playing() -> None:
        async with stay(script=[PLAN]) as here:
            fact = await here.ask(CreateSession, SessionWish(workspace_id="w", mode="plan"))
            ann, bob = Screen("ann"), Screen("bob")
            await here.connect(ann, fact.id)
            await here.connect(bob, fact.id)
            await ann.ask("plan it")
            await over(ann)
            seq = ann.of("agent.plan")[0]["seq"]
            approval = {"type": "client.approve_plan", "plan_seq": seq, "mode": mode, "message_id": "m1"}
            here.nursery.start_soon(ann.say, approval)
            here.nursery.start_soon(bob.say, {**approval, "message_id": "m2"})
            await over(ann, 2)
            assert sorted([*ann.errors, *bob.errors]) == ["INVALID_MESSAGE"]
            await ann.say({**approval, "message_id": "m3"})
            await until(lambda: len([*ann.errors, *bob.errors]) == 2)
            (_, order) = (turn.order for turn in here.made)
            assert order.message.message == ("Carry out this plan:\n\n1. Add a test (tests/a.py, b.py)\n2. Mend it")
            assert order.fact.mode == mode
            assert (await here.ask(SessionAsked, fact.id)).mode == mode
            assert ann.state["mode"] == mode
            seconds = [entry for entry in await here.stored(fact.id) if isinstance(entry.event, UserMessage)]
            assert len(seconds) == 2

    run_in_virtual_time(playing)


def test_an_edited_plan_is_carried_out_as_edited_and_what_is_no_plan_is_refused() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("plan it")
        await over(ann)
        seq = ann.of("agent.plan")[0]["seq"]
        for wrong in (seq - 1, seq + 1000):
            await ann.say({"type": "client.approve_plan", "plan_seq": wrong})
        await until(lambda: ann.errors == ["INVALID_MESSAGE"] * 2)
        assert "There is no plan of the number" in ann.of("server.error")[0]["error"]["message"]
        steps = [{"description": "Only this", "files_involved": []}]
        approval = {"type": "client.approve_plan", "plan_seq": seq, "steps": steps, "message_id": "m"}
        await ann.say(approval)
        await ann.say(approval)  # a client that has lost its connection says it again
        await over(ann, 2)
        assert here.made[1].order.message.message == "Carry out this plan:\n\n1. Only this"
        assert len(ann.errors) == 2
        assert len(here.made) == 2

    play(test, [PLAN])


def test_a_plan_that_was_approved_stays_so_over_a_kill() -> None:
    async def playing() -> None:
        async with stay(script=[PLAN]) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("plan it")
            await over(ann)
            seq = ann.of("agent.plan")[0]["seq"]
            await ann.say({"type": "client.approve_plan", "plan_seq": seq})
            await over(ann, 2)
            paper = here.disk.paper.copy()
        async with stay(PaperDisk(paper), [PLAN], ids=here.ids) as here:
            bob = Screen("bob")
            await here.connect(bob, fact.id)
            await bob.say({"type": "client.approve_plan", "plan_seq": seq})
            await until(lambda: bob.errors == ["INVALID_MESSAGE"])

    run_in_virtual_time(playing)


def test_a_plan_whose_message_was_withdrawn_before_its_turn_can_be_approved_again() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("plan it")
        await over(ann)
        seq = ann.of("agent.plan")[0]["seq"]
        await ann.ask("go")
        await asked(ann, 2)
        approval = {"type": "client.approve_plan", "plan_seq": seq}
        await ann.say({**approval, "message_id": "m1"})
        await ann.say({"type": "client.withdraw", "message_id": "m1"})
        await ann.say({**approval, "message_id": "m2"})
        await until(lambda: ann.errors or [each["message_id"] for each in ann.state["queued"]] == ["m2"])
        assert not ann.errors
        await ann.say({**approval, "message_id": "m3"})
        await until(lambda: ann.errors == ["INVALID_MESSAGE"])

    play(test, lambda order: [PLAN] if order.message.message == "plan it" else TWO)


def test_what_is_kept_of_a_resolved_request_is_what_the_log_says() -> None:
    async def test(here: Stay, id: str, ann: Screen, bob: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await asked(ann, 2)
        await ann.answer("p1", scope="hunk", hunks=[1], reason="only this")
        await until(lambda: len(kept_row(here.disk, id).pending) and kept_row(here.disk, id).pending[0].resolution)
        kept: Pending = kept_row(here.disk, id).pending[0]
        (event,) = [entry.event for entry in await here.stored(id) if isinstance(entry.event, ApprovalResolved)]
        resolution = kept.resolution
        assert resolution is not None
        for name in resolution.__struct_fields__:
            assert getattr(event, name) == getattr(resolution, name)
        assert (resolution.hunks, resolution.reason) == ((1,), "only this")

    play(test, TWO)
