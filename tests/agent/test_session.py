"""A session through the eyes of its clients: what they say, what becomes of it, and what they see."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import trio
from msgspec import convert
from msgspec.json import encode

from actors.agent.attendees import MOST_CLIENTS
from actors.agent.client import AT_ONCE
from actors.agent.index.messages import INDEXER_ACTORS
from actors.agent.messages import (
    SESSION_ACTORS,
    SESSIONS,
    TURNS,
    ChangeSession,
    DeleteSession,
    Deliver,
    LogEntry,
    SessionAsked,
    SessionsAsked,
    TurnSays,
)
from actors.agent.queueing import MOST_MESSAGE_BYTES, MOST_QUEUED
from actors.agent.writing import NotStored
from actors.kernel import Actor, ActorDown, ChildSpec, KernelError, TooSlow
from actors.kernel.testing import run_in_virtual_time
from codec.agent.context import EditorContext
from codec.agent.events import (
    ContextCompacted,
    ContextUsage,
    FinalMetadata,
    MessageFinal,
    PlanPresented,
    PlanStep,
    Thinking,
    Token,
    ToolExecute,
    UserMessage,
)
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionChange
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import THREE, Fall, Pause, Screen, Scripts, Stay, Steers, Tokens, Vanish, stay, until

Test = Callable[[Stay, str, Screen], Awaitable[None]]


def play(test: Test, script: Scripts = THREE, disk: PaperDisk | None = None, *, delta: bool = False) -> None:
    """With a session, and Ann attached to it."""

    async def playing() -> None:
        async with stay(disk, script) as here:
            fact = await here.create()
            ann = Screen("ann", delta)
            await here.connect(ann, fact.id)
            await test(here, fact.id, ann)

    run_in_virtual_time(playing)


async def finals(screen: Screen, count: int) -> list[dict[str, Any]]:
    await until(lambda: len(screen.of("assistant.message_final")) >= count)
    await trio.sleep(0.5)
    return screen.of("assistant.message_final")


def kinds(screen: Screen) -> list[str]:
    return [message["type"] for message in screen.messages if message["type"] != "session.state"]


# -- a turn


def test_a_client_asks_and_sees_the_whole_turn() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("What is this?", "m1")
        await finals(ann, 1)
        tokens = ["assistant.token"] * 3
        assert kinds(ann) == ["server.hello", "user.message", *tokens, "assistant.message_final"]
        assert [message["seq"] for message in ann.events] == [1, 2, 3, 4, 5]
        assert [message["cumulative_text"] for message in ann.of("assistant.token")] == ["0 ", "0 1 ", "0 1 2 "]
        assert not ann.state["running"]
        assert ann.state["title"] == "What is this?"

    play(test)


def test_a_client_that_adds_tokens_up_itself_is_spared_the_text() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await finals(ann, 1)
        assert all("cumulative_text" not in message for message in ann.of("assistant.token"))

    play(test, delta=True)


def test_a_token_is_sent_before_it_is_kept_and_tokens_are_kept_together() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: len(ann.of("assistant.token")) == 1)
        assert [entry.event.__class__ for entry in await here.stored(id)] == [UserMessage]
        before = here.disk.commits
        await until(lambda: len(ann.of("assistant.token")) == 100)
        assert 15 <= here.disk.commits - before <= 25  # a second: one commit for 50 ms

    play(test, [Tokens(120)])


def test_what_comes_in_one_moment_is_sent_in_few_pieces_and_what_comes_alone_at_once() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await trio.sleep(1)
        assert ann.seat is not None
        at_once, together = list[int](), list[int]()

        def send_now(texts: Sequence[str]) -> bool:
            at_once.append(len(texts))
            for text in texts:
                ann.show(text)
            return True

        async def send_all(texts: Sequence[str]) -> None:
            together.append(len(texts))
            for text in texts:
                await ann.send(text)

        ann.send_now, ann.send_all = send_now, send_all  # type: ignore[method-assign]
        first = ann.last + 1
        for moment in range(3):
            at_once.clear()
            together.clear()
            for number in range(50):
                event = Thinking(phase="planning", message="hm")
                await ann.seat._client.send(Deliver((LogEntry(first + 51 * moment + number, event),)))
            await trio.sleep(1)
            assert (sum(at_once) + sum(together), len(at_once) <= AT_ONCE) == (50, True)
            at_once.clear()
            ann.seat._client.tell(Deliver((LogEntry(first + 51 * moment + 50, event),)))
            await trio.sleep(1)
            assert at_once == [1]
        assert [message["seq"] for message in ann.events][-153:] == list(range(first, first + 153))

    play(test)


def test_any_other_event_is_kept_before_it_is_sent() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.made)
        await trio.sleep(0.3)
        assert "assistant.thinking" not in kinds(ann)
        assert not any(isinstance(entry.event, Thinking) for entry in await here.stored(id))
        await until(lambda: "assistant.thinking" in kinds(ann))
        assert any(isinstance(entry.event, Thinking) for entry in await here.stored(id))
        assert kinds(ann)[-1] == "assistant.token"  # it waited for what came before it

    play(
        test,
        [Thinking(phase="planning", message="hm"), Token(token="x"), Pause(5)],
        PaperDisk(seconds=lambda: 0.5),
    )


def test_a_turn_is_given_the_log_before_it_with_its_tokens_joined() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one", context={"active_editor": {"file_path": "a.py"}, "command": "/fix"})
        await ann.ask("two")
        await finals(ann, 2)
        first, second = (turn.order for turn in here.made)
        assert first.transcript == []
        assert [type(entry.event) for entry in second.transcript] == [UserMessage, Token, MessageFinal]
        assert second.transcript[1].event == Token(token="0 1 2 ")
        assert second.message.message == "two"
        assert second.message.context.active_editor is not None, "the editor is where it was"
        assert second.message.context.command is None, "a command belongs to its message"

    play(test)


def test_what_was_compacted_is_not_told_again() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await finals(ann, 1)
        await ann.ask("two")
        await finals(ann, 2)
        assert [type(entry.event) for entry in here.made[1].order.transcript] == [Token, ContextCompacted, MessageFinal]

    play(test, [Token(token="a"), Token(token="b"), ContextCompacted(summary="so", upto=2)])


def test_what_a_turn_plans_and_uses_stands_in_the_state() -> None:
    steps = (PlanStep(step_number=1, description="a"), PlanStep(step_number=2, description="b"))

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await finals(ann, 1)
        state = ann.state
        assert (state["current_step"], state["total_steps"]) == (1, 2)
        assert (state["context_used"], state["context_window"]) == (10, 100)

    play(test, [PlanPresented(steps=steps, current_step=1), ContextUsage(used=10, window=100)])


def test_changes_of_files_are_told_to_the_indexer_that_is_awake_and_odd_paths_to_who_sent_them() -> None:
    told: list[Any] = []

    class Listening(Actor[Any]):
        async def handle(self, message: Any) -> None:
            told.append(message)

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        changes = [{"type": "modified", "file_path": path} for path in ("src/a.py", "../x", "src/b.py")]
        await ann.say({"type": "client.file_changes", "changes": changes})
        await until(lambda: ann.of("server.error"))
        crowd = here.registry.get(INDEXER_ACTORS)
        fact = await here.registry.get(SESSIONS).ask(partial(SessionAsked, id), timeout=10)
        await crowd.start_child(ChildSpec(fact.workspace_id, Listening))
        await ann.say({"type": "client.file_changes", "changes": changes})
        await until(lambda: told and len(ann.of("server.error")) == 2)  # the first while nobody is awake
        assert [change.file_path for change in told[0].changes] == ["src/a.py", "../x", "src/b.py"]
        errors = ann.of("server.error")
        assert errors[0]["error"]["code"] == "INVALID_MESSAGE"
        assert "$.changes[1].file_path" in errors[0]["error"]["message"]

    play(test)


def test_a_context_update_reaches_the_turn_and_the_next_message() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await until(lambda: here.turns())
        update = {"terminal_output": {"command": "npm test", "exit_code": 1}}
        await ann.say({"type": "client.context_update", "updates": update})
        await ann.ask("two")
        await finals(ann, 2)
        (told,) = here.made[0].contexts
        assert told.terminal_output is not None
        assert told.terminal_output.command == "npm test"
        assert here.made[1].order.message.context.terminal_output == told.terminal_output

    play(test)


# -- what cannot be done


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda here: here.workspaces.clear(), "WORKSPACE_NOT_FOUND"),
        (lambda here: setattr(here, "model", ModelConfig(provider="ghost")), "MODEL_ERROR"),  # type: ignore[arg-type]
    ],
)
def test_a_turn_that_cannot_be_made_is_told_and_ends(spoil: Callable[[Stay], None], code: str) -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        spoil(here)
        await ann.ask("go")
        (final,) = await finals(ann, 1)
        assert ann.errors == [code]
        assert not final["metadata"]["success"]
        assert not final["metadata"]["cancelled"]
        assert not ann.state["running"]
        assert not here.made

    play(test)


@pytest.mark.parametrize("last", [Fall(), Vanish()])
def test_a_turn_that_fails_is_ended_with_the_text_so_far(last: Any) -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        (final,) = await finals(ann, 1)
        assert ann.errors == ["INTERNAL"]
        assert final["message"] == "0 1 "
        assert final["metadata"]["interrupted"]
        assert (await here.ask(SessionAsked, id)).status == "error"

    play(test, [Tokens(2), last])


def test_a_turn_that_says_what_is_no_json_is_ended() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        (final,) = await finals(ann, 1)
        assert ann.errors == ["INTERNAL"]
        assert final["metadata"]["interrupted"]
        assert here.session(id) is not None

    odd = ToolExecute(tool_name="t", args=object(), status="started", call_id="c")
    play(test, [Token(token="a"), odd, Token(token="b")])


def test_the_notice_of_a_turns_end_does_not_overtake_its_last_words() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: here.turns())
        session, turn = here.session(id), here.made[0].order.turn_id
        assert session is not None
        for _ in range(500):
            session.tell(TurnSays(turn, Token(token="x")))
        metadata = FinalMetadata(success=True, turn_id=turn)
        session.tell(TurnSays(turn, MessageFinal(message="x" * 500, metadata=metadata)))
        here.turns()[0].kill()
        (final,) = await finals(ann, 1)
        assert final["metadata"]["success"]
        assert ann.errors == []

    play(test, [Pause(1e6)])


# -- cancel


def test_a_cancelled_turn_is_over_in_a_quarter_of_a_second_however_it_clings() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: len(ann.of("assistant.token")) == 3)
        session = here.session(id)
        assert session is not None
        turn = here.made[0]

        async def cling() -> None:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.15)

        turn.run_beside(cling)
        began = trio.current_time()
        await ann.cancel()
        shown = len(ann.of("assistant.token"))
        session.tell(TurnSays(turn.order.turn_id, Token(token="late")))
        await until(lambda: ann.of("assistant.message_final"))
        assert trio.current_time() - began <= 0.25
        (final,) = await finals(ann, 1)
        assert final["message"] == "0 1 2 "
        assert final["metadata"]["cancelled"]
        assert not final["metadata"]["success"]
        assert len(ann.of("assistant.token")) == shown
        assert not here.turns()
        assert ann.errors == []
        assert (await here.ask(SessionAsked, id)).status == "cancelled"

    play(test, [Tokens(1000, 0.02)])


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.01])
def test_a_turn_can_be_cancelled_at_any_moment_of_its_beginning(seconds: float) -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ann.ask, "go")
            await trio.sleep(seconds)
            nursery.start_soon(ann.cancel)
        await trio.sleep(1)
        seen = ann.of("assistant.message_final")
        assert [each["metadata"]["cancelled"] for each in seen] in ([True], [])
        assert ann.state["running"] is not bool(seen), "a cancel before the message cancels nothing"

    play(test, [Tokens(1000, 0.02)])


def test_a_cancel_without_a_turn_does_nothing() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.cancel()
        await trio.sleep(1)
        assert kinds(ann) == ["server.hello"]

    play(test)


def test_a_vanished_client_cancels_only_if_it_asked_for_that() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        bob = Screen("bob", cancels=True)
        await here.connect(bob, id)
        await ann.ask("go")
        await until(lambda: ann.of("assistant.token"))
        await here.drop(ann)
        await trio.sleep(1)
        assert not bob.of("assistant.message_final")
        await here.connect(ann, id, ann.last)
        await here.drop(bob)
        (final,) = await finals(ann, 1)
        assert final["metadata"]["cancelled"]

    play(test, [Tokens(1000, 0.02)])


# -- messages that wait


def test_messages_wait_in_their_order_and_can_be_withdrawn() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        for number in range(4):
            await ann.ask(f"say {number}", f"m{number}")
        await until(lambda: len(ann.state["queued"]) == 3)
        await ann.say({"type": "client.withdraw", "message_id": "m2"})
        await ann.say({"type": "client.withdraw", "message_id": "m0"})
        await until(lambda: [each["message_id"] for each in ann.state["queued"]] == ["m1", "m3"])
        await finals(ann, 3)
        assert [each["message_id"] for each in ann.of("user.message")] == ["m0", "m1", "m3"]
        assert ann.errors == ["INVALID_MESSAGE"]
        assert len({each["turn_id"] for each in ann.of("user.message")}) == 3

    play(test)


def test_a_cancel_ends_the_turn_and_the_next_message_begins() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await ann.ask("two")
        await until(lambda: ann.of("assistant.token"))
        await ann.cancel()
        await until(lambda: len(ann.of("user.message")) == 2)
        await ann.cancel()
        assert len(await finals(ann, 2)) == 2

    play(test, [Tokens(1000, 0.02)])


def test_what_steers_is_read_by_the_turn_that_runs() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go", "m1")
        await until(lambda: ann.of("assistant.token"))
        await ann.ask("left!", "m2", delivery="steer")
        await ann.ask("after", "m3")
        await until(lambda: [each["delivery"] for each in ann.state["queued"]] == ["steer", "queue"])
        first, _ = await finals(ann, 2)
        assert "(left!) " in first["message"]
        said = {each["message_id"]: each for each in ann.of("user.message")}
        assert said["m2"]["steers"]
        assert said["m2"]["turn_id"] == said["m1"]["turn_id"]
        assert not said["m3"]["steers"]

    play(test, [Tokens(20), Steers()])


def test_what_steers_too_late_is_a_message_of_its_own() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go", "m1")
        await until(lambda: ann.of("assistant.token"))
        await ann.ask("left!", "m2", delivery="steer")
        await finals(ann, 2)
        assert [each["steers"] for each in ann.of("user.message")] == [False, False]

    play(test)


def test_a_message_that_is_said_again_is_taken_once() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        for _ in range(3):
            await ann.ask("go", "m1")
        await finals(ann, 1)
        await ann.ask("go", "m1")
        await trio.sleep(2)
        assert len(ann.of("user.message")) == 1
        assert ann.errors == []

    play(test)


def refused(screen: Screen) -> list[str]:
    """The ids of the messages that were not taken, as the refusals name them."""
    details = [each["error"]["details"] for each in screen.of("server.error")]
    return [each["message_id"] for each in details if "message_id" in each]


def test_only_so_many_messages_wait() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        for _ in range(MOST_QUEUED + 1):
            await ann.ask("go")
        assert ann.errors == []
        await ann.ask("one more", "late")
        await trio.sleep(0.1)
        assert ann.errors == ["BUSY"]
        assert refused(ann) == ["late"]
        await ann.cancel()

    play(test, [Pause(1e9)])


@pytest.mark.parametrize("message", ["go", "\N{RUNNER}" * 1000])
def test_a_message_with_too_much_around_it_is_refused(message: str) -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        def context(size: int) -> dict[str, Any]:
            return {"terminal_output": {"stdout": "x" * size}}

        most = MOST_MESSAGE_BYTES - len(message.encode()) - len(encode(convert(context(1), EditorContext))) + 1
        await ann.ask(message, "large", context=context(most + 1))
        await trio.sleep(0.1)
        assert ann.errors == ["INVALID_MESSAGE"]
        assert refused(ann) == ["large"]
        assert not ann.state["running"]
        await ann.ask(message, context=context(most))
        await finals(ann, 1)
        assert ann.errors == ["INVALID_MESSAGE"]

    play(test)


# -- several clients, and what they say wrongly


def test_all_clients_see_the_same() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        bob = Screen("bob")
        await here.connect(bob, id)
        assert bob.state["clients"] == 2
        await ann.ask("go")
        await finals(ann, 1)
        assert ann.events == bob.events
        assert ann.events[0]["by"] == "ann"
        await here.drop(bob)
        await trio.sleep(0.1)
        assert ann.state["clients"] == 1

    play(test)


def test_who_comes_and_goes_is_told_to_all_at_once_also_while_nothing_else_happens() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        there = [ann]
        for name in ("bob", "carol"):
            there.append(Screen(name))
            await here.connect(there[-1], id)
            await trio.sleep(0.1)
            assert [each.state["clients"] for each in there] == [len(there)] * len(there)
        while len(there) > 1:
            await here.drop(there.pop())
            await trio.sleep(0.1)
            assert [each.state["clients"] for each in there] == [len(there)] * len(there)

    play(test)


def test_only_so_many_clients_attach() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        others = [Screen(f"{number}") for number in range(MOST_CLIENTS)]
        for other in others[:-1]:
            await here.connect(other, id)
        await here.connect(others[-1], id)
        await others[-1].ended.wait()
        assert others[-1].errors == ["BUSY"]
        assert others[-1].reasons == [f"This session has {MOST_CLIENTS} clients already. Close one."]
        assert ann.state["clients"] == MOST_CLIENTS

    play(test)


WRONG = [
    ("what?", "INVALID_MESSAGE", None),
    ("[]", "INVALID_MESSAGE", None),
    ('{"type": "client.dance"}', "INVALID_MESSAGE", "$.type"),
    ('{"type": "client.user_message"}', "INVALID_MESSAGE", None),
    ('{"type": "client.user_message", "message": ""}', "INVALID_MESSAGE", "$.message"),
    ('{"type": "client.user_message", "message": 3}', "INVALID_MESSAGE", "$.message"),
    (
        '{"type": "client.user_message", "message": "x", "context": {"open_editors": [{"file_path": 1}]}}',
        "INVALID_MESSAGE",
        "$.context.open_editors[0].file_path",
    ),
    ('{"type": "client.hello"}', "INVALID_MESSAGE", "$.type"),
    ('{"type": "client.approval_response", "request_id": "r", "approved": true}', "INVALID_MESSAGE", "$.request_id"),
    ('{"type": "client.patch_apply_result", "patch_id": "p", "success": true}', "INVALID_MESSAGE", "$.patch_id"),
    ('{"type": "client.command_result", "command_id": "c"}', "INVALID_MESSAGE", "$.command_id"),
    ('{"type": "client.withdraw", "message_id": "nobody"}', "INVALID_MESSAGE", None),
]


@pytest.mark.parametrize(("text", "code", "path"), WRONG)
def test_what_is_said_wrongly_is_answered_with_its_place_and_nobody_else_hears_of_it(
    text: str, code: str, path: str | None
) -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        bob = Screen("bob")
        await here.connect(bob, id)
        await ann.say(text)
        await trio.sleep(0.1)
        (error,) = ann.of("server.error")
        assert error["error"]["code"] == code
        assert error["error"]["details"].get("path") == path
        assert "seq" not in error
        assert bob.errors == []
        await ann.ask("and now?")
        await finals(ann, 1)

    play(test)


def test_a_ping_is_answered_and_file_changes_are_taken() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.say({"type": "client.ping", "timestamp": 17})
        await ann.say({"type": "client.file_changes", "changes": [{"type": "created", "file_path": "a"}]})
        await trio.sleep(0.1)
        assert ann.of("server.pong") == [{"type": "server.pong", "timestamp": 17}]
        assert ann.errors == []

    play(test)


def test_hello_comes_first_and_in_a_version_that_is_spoken() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        bob = Screen("bob")
        here.open(bob, id)
        await until(lambda: bob.seat)
        await bob.ask("go")
        await bob.say({"type": "client.hello", "protocol_version": "2.0.0"})
        await trio.sleep(0.1)
        assert bob.errors == ["INVALID_MESSAGE", "VERSION_MISMATCH"]
        await bob.say({"type": "client.hello", "protocol_version": "1.0.0"})
        await trio.sleep(0.1)
        assert kinds(bob)[2:] == ["server.hello"]
        assert not ann.of("user.message")

    play(test)


def test_a_session_that_is_not_there_is_told_and_the_connection_ends() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        bob = Screen("bob")
        with suppress(KernelError):
            await here.connect(bob, "nowhere")
        await bob.ended.wait()
        assert bob.errors == ["SESSION_NOT_FOUND"]
        assert bob.reasons == ["There is no such session."]

    play(test)


# -- replay


def test_a_client_that_comes_back_is_replayed_what_it_has_missed() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: len(ann.of("assistant.token")) == 7)
        await here.drop(ann)
        await trio.sleep(0.3)
        await here.connect(ann, id, ann.last)
        (final,) = await finals(ann, 1)
        assert ann.of("assistant.token")[-1]["cumulative_text"] == final["message"]
        new = Screen("new", delta=True)
        await here.connect(new, id, 0)
        await trio.sleep(0.1)
        assert [each["seq"] for each in new.events] == [1, 101, 102], "the tokens are one, with the last one's number"
        assert new.rendered() == ann.rendered() == [final["message"]]

    play(test, [Tokens(100)])


@pytest.mark.parametrize("delta", [False, True])
def test_a_replay_may_begin_at_any_number(delta: bool) -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        for _ in range(3):
            await ann.ask("go")
        await finals(ann, 3)
        stored = await here.stored(id)
        for after in range(len(stored) + 3):
            one = Screen("one", delta)
            await here.connect(one, id, after)
            await trio.sleep(0.05)
            missed = [entry for entry in stored if entry.seq > after]
            assert [e["seq"] for e in one.events if e["type"] != "assistant.token"] == [
                entry.seq for entry in missed if not isinstance(entry.event, Token)
            ]
            said = "".join(each["token"] for each in one.of("assistant.token"))
            assert said == "".join(entry.event.token for entry in missed if isinstance(entry.event, Token))
            for token in [] if delta else one.of("assistant.token"):
                assert token["cumulative_text"] == "0 1 2 3 4 "[: len(token["cumulative_text"])]
                assert token["cumulative_text"].endswith(token["token"])
            await here.drop(one)

    play(test, [Tokens(5)])


def test_a_client_that_comes_in_the_middle_of_a_turn_is_told_the_whole_text_with_the_next_token() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: len(ann.of("assistant.token")) == 8)
        bob = Screen("bob")
        await here.connect(bob, id)
        assert bob.events == []
        await until(lambda: bob.events)
        assert bob.events[0]["cumulative_text"] == "".join(f"{number} " for number in range(bob.events[0]["seq"] - 1))

    play(test, [Tokens(20)])


def test_a_client_that_does_not_read_keeps_nobody_waiting_and_catches_up() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        bob = Screen("bob")
        await here.connect(bob, id)
        bob.stall()
        await ann.ask("go")
        await finals(ann, 1)
        assert len(bob.events) <= 1
        await bob.cancel()  # it is heard all the same
        bob.read()
        await finals(bob, 1)
        assert bob.rendered() == ann.rendered()
        assert len(bob.of("assistant.token")) < 100, "what waited together was sent together"

    play(test, [Tokens(8000, 0.0)], delta=True)


# -- the disk


def test_while_the_disk_is_full_nothing_is_acknowledged_and_all_is_well_later() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        here.disk.full = True
        await ann.ask("one", "m1")
        await trio.sleep(3)
        assert not ann.of("user.message")
        assert "the disk is full" in ann.state["trouble"]
        assert not ann.state["running"]
        assert set(ann.errors) == {"INTERNAL", "BUSY"}
        session = here.session(id)
        assert session is not None
        assert session.statistics().trouble is not None
        await ann.ask("two", "m2")
        here.disk.full = False
        await finals(ann, 1)
        assert [each["message_id"] for each in ann.of("user.message")] == ["m1"], "the second was refused"
        assert refused(ann) == ["m2"]
        assert ann.state["trouble"] is None
        assert ann.state["title"] == "one"

    play(test)


def test_a_turn_that_says_much_more_than_can_be_kept_is_ended() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await until(lambda: here.turns())
        here.disk.full = True
        await until(lambda: not here.turns())
        assert here.session(id) is not None
        with pytest.raises(NotStored, match="the disk is full"):
            await here.ask(ChangeSession, id, SessionChange(title="two"))
        here.disk.full = False
        (final,) = await finals(ann, 1)
        assert final["metadata"]["interrupted"]
        assert "INTERNAL" in ann.errors
        assert ann.state["title"] == "two", "it was said that it is tried again"

    said = ToolExecute(tool_name="t", args={}, status="completed", call_id="c", result={"text": "x" * 1_000_000})
    play(test, [Pause(0.1), *[said, Pause(0.01)] * 100])


def test_a_turn_that_meets_a_full_disk_goes_on_when_there_is_room() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await until(lambda: ann.of("assistant.token"))
        here.disk.full = True
        await trio.sleep(2)
        assert not ann.of("assistant.message_final")
        assert ann.state["running"]
        here.disk.full = False
        (final,) = await finals(ann, 1)
        assert final["metadata"]["success"]
        assert [entry.seq for entry in await here.stored(id)] == list(range(1, 53))

    play(test, [Tokens(50)])


def test_a_commit_whose_outcome_is_unknown_is_not_done_twice() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        here.disk.mute = True
        with trio.move_on_after(1):
            await ann.ask("one")
        await trio.sleep(40)
        here.disk.mute = False
        await finals(ann, 1)
        assert [entry.seq for entry in await here.stored(id)] == [1, 2, 3, 4, 5]

    play(test)


# -- the end of the process, and of the actor


def test_after_a_kill_the_turn_is_interrupted_and_no_number_is_given_again() -> None:
    async def test() -> None:
        disk = PaperDisk()
        ann = Screen("ann")
        async with stay(disk, [Tokens(1000)]) as here:
            id = (await here.create()).id  # noqa: A001
            await here.connect(ann, id)
            await ann.ask("one", "m1")
            await ann.ask("two", "m2")
            await until(lambda: len(ann.of("assistant.token")) == 33)
            killed = disk.paper.copy()
            ann.gone = True
        async with stay(PaperDisk(killed), [Tokens(2)]) as here:
            seen = ann.last
            await until(lambda: not here.turns())
            await here.connect(ann, id, seen)
            first, second = await finals(ann, 2)
            assert first["metadata"]["interrupted"]
            assert first["seq"] == 1002, "after the block that was reserved"
            stored = {entry.seq: entry.event for entry in await here.stored(id)}
            tokens = [event.token for seq, event in stored.items() if isinstance(event, Token) and seq < first["seq"]]
            assert first["message"] == "".join(tokens)
            assert 20 <= len(tokens) <= 33
            assert second["message"] == "0 1 "
            assert [each["message_id"] for each in ann.of("user.message")] == ["m1", "m2"]
            await ann.ask("one", "m1")
            await trio.sleep(1)
            assert len(ann.of("user.message")) == 2

    run_in_virtual_time(test)


def test_after_an_orderly_stop_numbers_go_on_without_a_hole() -> None:
    async def test() -> None:
        disk = PaperDisk()
        ann = Screen("ann")
        async with stay(disk, [Tokens(1000)]) as here:
            id = (await here.create()).id  # noqa: A001
            await here.connect(ann, id)
            await ann.ask("one", "m1")
            await until(lambda: len(ann.of("assistant.token")) == 33)
        async with stay(disk, [Tokens(2)]) as here:
            await here.connect(ann, id, ann.last)
            (final,) = await finals(ann, 1)
            assert final["metadata"]["interrupted"]
            assert final["message"] == "".join(f"{number} " for number in range(33))
            assert [entry.seq for entry in await here.stored(id)] == list(range(1, 36))

    run_in_virtual_time(test)


def test_a_session_that_crashes_comes_back_with_its_clients() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await until(lambda: len(ann.of("assistant.token")) == 5)
        session = here.session(id)
        assert session is not None
        session.kill()
        (final,) = await finals(ann, 1)
        assert final["metadata"]["interrupted"]
        assert not here.turns()
        await ann.ask("two")
        await until(lambda: len(ann.of("user.message")) == 2)

    play(test, [Tokens(50)])


def test_a_session_that_nobody_needs_is_only_a_row_and_comes_back_as_it_was() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await finals(ann, 1)
        await here.drop(ann)
        await trio.sleep(50)
        assert here.session(id) is not None
        await trio.sleep(15)
        assert here.session(id) is None
        await here.connect(ann, id, ann.last)
        await ann.ask("two")
        await finals(ann, 2)
        assert [each["seq"] for each in ann.events] == list(range(1, 11))

    play(test)


def test_a_session_with_a_turn_does_not_rest() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("one")
        await here.drop(ann)
        await trio.sleep(300)
        assert here.session(id) is not None
        await trio.sleep(200)
        assert here.session(id) is None
        assert (await here.ask(SessionAsked, id)).status == "completed"

    play(test, [Pause(300)])


# -- all sessions


def test_sessions_are_listed_with_the_last_change_first() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await trio.sleep(1)
        second = (await here.create(title="second")).id
        assert await here.create(workspace_id="nowhere") is None
        assert [fact.id for fact in await here.ask(SessionsAsked, None)] == [second, id]
        assert await here.ask(SessionsAsked, "other") == []
        await ann.ask("go")
        await until(lambda: ann.of("assistant.token"))
        first, _ = await here.ask(SessionsAsked, "w")
        assert (first.id, first.running, first.title) == (id, True, "go")
        await finals(ann, 1)
        first, _ = await here.ask(SessionsAsked, None)
        assert (first.running, first.status) == (False, "completed")
        assert first.updated_at > first.created_at

    play(test)


def test_what_is_changed_over_http_is_seen_by_all() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        fact = await here.ask(ChangeSession, id, SessionChange(title="mine", mode="plan"))
        assert (fact.title, fact.mode) == ("mine", "plan")
        await trio.sleep(0.1)
        assert (ann.state["title"], ann.state["mode"]) == ("mine", "plan")
        await here.ask(ChangeSession, id, SessionChange(model_provider="ollama", model_name="tiny"))
        await trio.sleep(0.1)
        assert ann.state["model"]["model_name"] == "tiny"
        assert len(ann.of("model.changed")) == 1
        await ann.ask("go")
        await finals(ann, 1)
        assert here.made[0].order.model.model_name == "tiny"
        assert await here.ask(ChangeSession, "nowhere", SessionChange()) is None

    play(test)


def test_a_deleted_session_cancels_its_turn_tells_its_clients_and_leaves_nothing() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await ann.ask("x" * 900_000, context={"terminal_output": {"stdout": "y" * 900_000}})
        await until(lambda: ann.of("assistant.token"))
        assert here.disk.paper.blobs
        assert await here.ask(DeleteSession, id)
        await ann.ended.wait()
        assert ann.errors[-1] == "SESSION_NOT_FOUND"
        assert not here.turns()
        assert (here.disk.paper.streams, here.disk.paper.pairs, here.disk.paper.blobs) == ({}, {}, {})
        assert await here.ask(SessionAsked, id) is None
        assert await here.ask(SessionsAsked, None) == []
        assert not await here.ask(DeleteSession, id)

    play(test, [Tokens(1000)])


def test_what_was_being_deleted_at_a_kill_is_removed_at_the_next_start() -> None:
    async def test() -> None:
        disk = PaperDisk()
        async with stay(disk) as here:
            id = (await here.create()).id  # noqa: A001
            ann = Screen("ann")
            await here.connect(ann, id)
            await ann.ask("go")
            await finals(ann, 1)
            halves = []
            with trio.move_on_after(1):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(partial(here.ask, DeleteSession, id))
                    while disk.paper.pairs:
                        halves.append(disk.paper.copy())
                        await trio.sleep(0.001)
        for half in halves:
            async with stay(PaperDisk(half)) as here:
                await trio.sleep(2)
                assert bool(half.pairs) == bool(half.streams), "all of it, or nothing"

    run_in_virtual_time(test)


def test_a_session_is_deleted_when_the_disk_lets_it() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        here.disk.full = True
        await ann.ask("go")
        with pytest.raises(TooSlow):
            await here.ask(DeleteSession, id)
        here.disk.full = False
        await ann.ended.wait()
        await trio.sleep(1)
        assert here.disk.paper.pairs == {}
        assert await here.ask(SessionsAsked, None) == []

    play(test)


def test_a_client_is_told_what_the_server_is_and_where_the_log_ends() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await finals(ann, 1)
        bob = Screen("bob")
        await here.connect(bob, id)
        hello, state = bob.messages
        assert hello["last_seq"] == state["last_seq"] == 5
        assert hello["session_id"] == id
        assert hello["server_info"]["model"]["provider"] == "builtin"
        assert hello["server_info"]["protocol_version"] == "1.0.0"
        assert bob.events == []

    play(test)


def test_a_large_event_is_kept_and_replayed_whole() -> None:
    text = "é" * 3_000_000

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await finals(ann, 1)
        bob = Screen("bob")
        await here.connect(bob, id, 0)
        await until(lambda: bob.of("assistant.message_final"))
        (tool,) = bob.of("tool.execute")
        assert tool["result"]["text"] == text
        assert here.disk.paper.blobs

    event = ToolExecute(tool_name="t", args={}, status="completed", call_id="c", result={"text": text})
    play(test, [event])


def test_a_turn_that_ended_is_not_heard_any_more() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await finals(ann, 1)
        session = here.session(id)
        assert session is not None
        before = len(ann.events)
        for turn in (here.made[0].order.turn_id, "another"):
            session.tell(TurnSays(turn, MessageFinal(message="", metadata=FinalMetadata(success=True))))
            session.tell(TurnSays(turn, Token(token="x")))
        await trio.sleep(1)
        assert len(ann.events) == before

    play(test)


def test_a_deleted_session_takes_nothing() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        session = here.session(id)
        assert session is not None
        await here.ask(DeleteSession, id)
        with pytest.raises(ActorDown):
            await session.ask(lambda reply: SessionAsked(id, reply), timeout=1)  # type: ignore[arg-type]
        assert here.registry.get(SESSION_ACTORS).child(id) is None
        assert here.registry.get(TURNS).children() == []

    play(test)
