"""What a turn does, from its order to its MessageFinal."""

from collections.abc import Sequence

import pytest
import trio

from actors.agent.answering import HearingLimits
from actors.agent.budget import tokens, tools_weight, weights
from actors.agent.calling import CallLimits
from actors.agent.conversing import TurnLimits
from actors.agent.given import FileRefused
from actors.agent.messages import ContextChanged
from actors.kernel.testing import run_in_virtual_time
from codec.agent.context import Diagnostic, EditorContext, TerminalOutput
from codec.agent.events import (
    ContextCompacted,
    ContextUsage,
    FinalMetadata,
    LogEvent,
    MessageFinal,
    PlanPresented,
    RetrieveStatus,
    ServerError,
    Thinking,
    Token,
    ToolExecute,
    UserMessage,
)
from codec.agent.models import Finished, ModelConfig, ModelTrouble, SaidText, SaidThought, UsedTokens
from tests.agent.turn_kit import STOP, Heard, MemoryTree, Script, call, entries, faults, turn, whole

FILES = {"src/auth.py": "import db\n\n\ndef login(user):\n    '''Lets a user in.'''\n    return db.find(user)\n"}


def results(heard: Heard) -> list[tuple[str, str]]:
    return [(each.status, each.result["text"]) for each in heard.of(ToolExecute) if each.status != "started"]


def test_a_turn_retrieves_calls_and_answers_and_tells_each() -> None:
    async def play() -> None:
        script = Script(
            [
                SaidText("I look."),
                call("read_file", file_path="src/auth.py"),
                UsedTokens(prompt=100, completion=9),
                STOP,
            ],
            [SaidText("It lets"), SaidText(" a user in."), UsedTokens(prompt=200, completion=5), STOP],
        )
        heard = await whole("What does login do?", script, FILES)
        kinds = [event.phase if isinstance(event, Thinking) else type(event).__name__ for event in heard.events]
        assert kinds == [
            "analyzing",
            "retrieving",
            "RetrieveStatus",
            "planning",
            "Token",
            "ContextUsage",
            "executing",
            "ToolExecute",
            "ToolExecute",
            "Token",
            "Token",
            "ContextUsage",
            "MessageFinal",
        ]
        (status,) = heard.of(RetrieveStatus)
        assert (status.stage, status.results_count, status.items[0].source) == ("text_search", 1, "src/auth.py:1-6")
        assert status.items[0].reason == "has login (1 line)"
        assert heard.of(ContextUsage)[-1] == ContextUsage(used=205, window=16_384)
        assert heard.final == MessageFinal(
            message="I look.\n\nIt lets a user in.",
            metadata=FinalMetadata(success=True, tokens_used=314, tools_used=("read_file",), turn_id="t1"),
        )
        assert "def login" in script.requests[1].messages[-1].content

    run_in_virtual_time(play)


def test_thoughts_are_told_line_by_line_before_what_follows_on_them() -> None:
    async def play() -> None:
        pieces = [SaidThought("Hm"), SaidThought(", so\nit is"), SaidThought(" login"), SaidText("Yes."), STOP]
        script = Script([SaidThought("I look"), call("list_files"), STOP], pieces)
        heard = await whole("ok?", script)
        said = [e.message for e in heard.events if isinstance(e, Thinking)]
        assert said[1].startswith("Asking "), "whose answer is waited for"
        thoughts = said[2:]
        assert thoughts == ["I look", "Using list_files", "Hm, so", "it is login"]
        assert [type(e) for e in heard.events[-4:]] == [Thinking, Token, ContextUsage, MessageFinal]

    run_in_virtual_time(play)


@pytest.mark.parametrize("recoverable", [True, False])
def test_a_failing_model_is_a_trouble_and_what_it_said_is_kept(recoverable: bool) -> None:
    async def play() -> None:
        script = Script([SaidText("It"), ModelTrouble("Ollama is gone.", recoverable=recoverable)])
        heard = await whole("Hm?", script)
        (error,) = heard.of(ServerError)
        assert (error.error.code, error.error.message, error.error.recoverable) == (
            "MODEL_ERROR",
            "Ollama is gone.",
            recoverable,
        )
        assert (heard.final.message, heard.final.metadata.success) == ("It", False)

    run_in_virtual_time(play)


BAD_CALLS = [
    (call("write_file", file_path="a"), "write_file failed: there is no tool of this name. There are read_file, "),
    (call("read_file"), "Object missing required field `file_path`. read_file takes file_path (string), first_line"),
    (call("read_file", file_path=3), "Expected `str`, got `int`"),
    (call("read_file", file_path="../../etc/passwd"), "is outside of the workspace"),
    (call("read_file", file_path="gone.py"), "There is no file gone.py"),
    (call("read_file", file_path="src/auth.py", first_line=5, last_line=2), "last_line (2) is before first_line (5)"),
    (call("list_files", folder="nowhere"), "There is no folder nowhere"),
    (call("update_plan", steps=[], current_step=1), "Expected `array` of length >= 1"),
    (call("update_plan", steps=[{"description": "a"}], current_step=2), "there are only 1 steps"),
    (call("search_text", query="x" * 30_000), "the arguments are longer than"),
]


@pytest.mark.parametrize(("bad", "told"), BAD_CALLS, ids=[str(number) for number in range(len(BAD_CALLS))])
def test_a_call_that_cannot_work_is_told_to_the_model_and_the_turn_goes_on(bad: object, told: str) -> None:
    async def play() -> None:
        script = Script([bad, STOP], [SaidText("I see."), STOP])
        heard = await whole("Hm?", script, FILES)
        ((status, text),) = results(heard)
        assert status == "failed"
        assert told in text
        assert script.requests[1].messages[-1].content == text
        assert heard.final.metadata.success

    run_in_virtual_time(play)


LENGTHS = [(100, 19_900, "query"), (100, 20_001, "arguments are longer"), (101, 1, "no tool"), (0, 1, "no tool")]


@pytest.mark.parametrize(("name", "size", "told"), LENGTHS)
def test_names_and_arguments_are_kept_up_to_their_greatest_length(name: int, size: int, told: str) -> None:
    async def play() -> None:
        called = "search_text" if name == 100 else "n" * name
        heard = await whole("Hm?", Script([call(called, query="x" * size), STOP], [SaidText("Well."), STOP]))
        begun, ended = heard.of(ToolExecute)
        assert begun.tool_name == (called[:100] or "unnamed")
        assert told in ended.result["text"]
        assert len(str(begun.args)) <= 20_000

    run_in_virtual_time(play)


def test_a_model_that_only_calls_tools_is_asked_once_without_them_and_then_the_turn_says_so() -> None:
    async def play() -> None:
        script = Script(*([call("read_file", file_path="src/auth.py", first_line=n), STOP] for n in range(1, 20)))
        heard = await whole("Hm?", script, FILES, limits=TurnLimits(rounds=4))
        assert [bool(request.tools) for request in script.requests] == [True, True, True, True, False]
        assert script.requests[-1].messages[-1].content == (
            "[No tool can be called any more: it has used its tools 4 times, which is the most for one turn. "
            "Answer now with what you know.]"
        )
        assert faults(script.requests[-1].messages) == []
        assert heard.final.message.startswith("I stopped without an answer: it has used its tools 4 times")
        assert not heard.final.metadata.success

    run_in_virtual_time(play)


def test_a_turn_that_takes_too_long_asks_for_the_answer_at_its_next_round() -> None:
    async def play() -> None:
        async def a_minute() -> None:
            await trio.sleep(60)

        calls = [[a_minute, call("list_files", folder=f"{n}"), STOP] for n in range(9)]
        script = Script(*calls[:2], [SaidText("So far: nothing."), STOP])
        heard = await whole("Hm?", script, limits=TurnLimits(seconds=120))
        assert "the turn took longer than 2 minutes. Answer now" in script.requests[-1].messages[-1].content
        assert (len(script.requests), heard.final.message) == (3, "So far: nothing.")
        assert heard.final.metadata.seconds == 120

    run_in_virtual_time(play)


def test_an_answer_that_reached_its_greatest_length_says_so_in_a_paragraph_of_its_own() -> None:
    async def play() -> None:
        heard = await whole("Hm?", Script([SaidText("Half of"), Finished("length")]))
        note = "[The answer was cut off here: the model has reached its greatest length.]"
        assert heard.final.message == f"Half of\n\n{note}"
        assert heard.final.metadata.success

    run_in_virtual_time(play)


def test_a_model_that_repeats_a_call_is_told_and_then_stopped() -> None:
    async def play() -> None:
        script = Script([call("search_text", query="login"), STOP])
        heard = await whole("Hm?", script, FILES, limits=TurnLimits(calls=CallLimits(same=2)))
        assert [status for status, _ in results(heard)] == ["completed", "completed", "failed", "failed"]
        assert "came 3 times in a row" in results(heard)[2][1]
        assert "the same call was repeated" in heard.final.message

    run_in_virtual_time(play)


def test_a_tool_that_there_is_not_may_be_called_no_more_often_either() -> None:
    async def play() -> None:
        limits = TurnLimits(calls=CallLimits(same=2))
        heard = await whole("Hm?", Script([call("guess", query="login"), STOP]), FILES, limits=limits)
        assert ["there is no tool of this name" in text for _, text in results(heard)] == [True] * len(results(heard))
        assert len(results(heard)) == 4
        assert "the same call was repeated" in heard.final.message
        turns = [[call(name, query="login"), STOP] for name in ("search_text", "guess") * 3]
        heard = await whole("Hm?", Script(*turns, [SaidText("Well."), STOP]), FILES, limits=limits)
        assert [status for status, _ in results(heard)] == ["completed", "failed"] * 3, "none came twice in a row"
        assert heard.final.message == "Well."

    run_in_virtual_time(play)


def test_of_very_many_calls_at_once_the_first_are_taken_and_the_model_is_told() -> None:
    async def play() -> None:
        many = [call("read_file", file_path="src/auth.py", first_line=n) for n in range(1, 6)]
        script = Script([*many, STOP], [SaidText("Well."), STOP])
        limits = TurnLimits(hearing=HearingLimits(calls=2))
        heard = await whole("Hm?", script, FILES, limits=limits)
        assert len(results(heard)) == 2
        assert [each.call_id for each in heard.of(ToolExecute)] == ["t1.1", "t1.1", "t1.2", "t1.2"]
        assert faults(script.requests[1].messages) == []
        assert (
            script.requests[1]
            .messages[-1]
            .content.endswith("[Only 2 calls are taken at once; the others were not executed.]")
        )

    run_in_virtual_time(play)


def test_tools_tell_no_more_in_one_turn_than_they_may() -> None:
    async def play() -> None:
        tree = MemoryTree({"a.py": "x = 1\n" * 1_000})
        script = Script(*([call("read_file", file_path="a.py", first_line=n), STOP] for n in range(1, 9)))
        heard = await whole("Hm?", script, tree, limits=TurnLimits(calls=CallLimits(characters=20_000)))
        assert sum(len(text) for status, text in results(heard) if status == "completed") <= 20_100
        assert "as much as fits into one turn" in heard.final.message

    run_in_virtual_time(play)


def test_an_answer_that_does_not_end_is_ended() -> None:
    async def play() -> None:
        heard = await whole(
            "Hm?",
            Script([SaidText("na ")] * 100 and [*[SaidText("na ")] * 500, STOP]),
            limits=TurnLimits(hearing=HearingLimits(characters=300)),
        )
        assert heard.final.message.endswith("I stopped here: the answer became too long.")
        assert len(heard.final.message) < 400

    run_in_virtual_time(play)


@pytest.mark.parametrize(
    ("said", "message", "success"),
    [
        ([STOP], "The model ended without an answer. Ask again, or choose another model.", False),
        ([SaidText("   "), STOP], "The model ended without an answer.", False),
    ],
)
def test_an_answer_without_words_gets_words(said: list[object], message: str, success: bool) -> None:
    async def play() -> None:
        heard = await whole("Hm?", Script(said))
        assert message in heard.final.message
        assert heard.final.metadata.success is success

    run_in_virtual_time(play)


def test_what_the_user_adds_and_what_the_editor_shows_meanwhile_is_read_behind_the_tools() -> None:
    async def play() -> None:
        reached, go_on = trio.Event(), trio.Event()

        async def wait() -> None:
            reached.set()
            await go_on.wait()

        script = Script([wait, call("list_files"), STOP], [SaidText("Oui."), STOP])
        async with turn("Hm?", script, FILES) as (heard, _):
            assert heard.turn is not None
            await reached.wait()
            heard.steers = [UserMessage(message="In French", message_id="m2", turn_id="t1", steers=True)]
            problem = Diagnostic(file_path="src/auth.py", message="db is unknown", line=5)
            heard.turn.tell(ContextChanged(EditorContext(diagnostics=(problem,))))
            await trio.testing.wait_all_tasks_blocked()
            go_on.set()
            await heard.turn.wait_stopped()
        *_, result, steer, update = script.requests[1].messages
        assert [result.role, steer.role, update.role] == ["tool", "user", "user"]
        assert "In French" in steer.content
        assert "src/auth.py:6:1: error: db is unknown" in update.content
        assert faults(script.requests[1].messages) == []

    run_in_virtual_time(play)


def test_a_plan_is_shown_with_the_step_that_is_under_way() -> None:
    async def play() -> None:
        steps = [{"description": "Look"}, {"description": "Tell", "files_involved": ["a.py"]}]
        script = Script(
            [call("update_plan", steps=steps, current_step=1, rationale="So."), STOP], [SaidText("Ok"), STOP]
        )
        heard = await whole("Hm?", script)
        (plan,) = heard.of(PlanPresented)
        assert [(step.step_number, step.description, step.files_involved) for step in plan.steps] == [
            (1, "Look", ()),
            (2, "Tell", ("a.py",)),
        ]
        assert (plan.current_step, plan.rationale) == (1, "So.")

    run_in_virtual_time(play)


def test_a_workspace_that_cannot_be_searched_is_told_and_the_turn_goes_on() -> None:
    class Gone(MemoryTree):
        async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[object]:  # type: ignore[override]
            raise FileRefused("The folder of the workspace is not there now.")

    async def play() -> None:
        heard = await whole("What does login do?", Script([SaidText("I do not know."), STOP]), Gone({}))
        (error,) = heard.of(ServerError)
        assert (error.error.code, error.error.recoverable) == ("RETRIEVAL_FAILED", True)
        assert heard.final.metadata.success

    run_in_virtual_time(play)


@pytest.mark.parametrize(("window", "has_tools"), [(1024, False), (4096, True), (200_000, True)])
def test_a_model_whose_context_is_small_gets_no_tools_rather_than_no_question(window: int, has_tools: bool) -> None:
    async def play() -> None:
        script = Script([SaidText("Yes."), STOP])
        model = ModelConfig(provider="ollama", model_name="small", context_window=window)
        heard = await whole("What does login do?", script, FILES, model=model)
        (request,) = script.requests
        assert bool(request.tools) is has_tools
        told = weights(request.messages) + tools_weight(request.tools)  # it counts nothing itself
        assert heard.of(ContextUsage) == [ContextUsage(used=told + tokens("Yes."), window=window)]
        assert heard.final.metadata.success

    run_in_virtual_time(play)


def test_a_message_that_fits_no_context_is_refused_in_words_and_no_model_is_asked() -> None:
    async def play() -> None:
        script = Script([SaidText("?"), STOP])
        small = ModelConfig(provider="ollama", model_name="small", context_window=1024)
        heard = await whole("word " * 3_000, script, model=small)
        (error,) = heard.of(ServerError)
        assert error.error.code == "INVALID_MESSAGE"
        assert "Shorten the message, or choose a model with a larger context." in error.error.message
        assert not heard.final.metadata.success
        assert script.requests == []

    run_in_virtual_time(play)


def earlier(count: int, length: int) -> list[LogEvent]:
    events: list[LogEvent] = []
    for number in range(count):
        text = f"answer {number} " + "x" * length
        events += [
            UserMessage(message=f"question {number}", message_id=f"m{number}", turn_id=f"old{number}"),
            Token(token=text),
            MessageFinal(message=text, metadata=FinalMetadata(success=True)),
        ]
    return events


@pytest.mark.parametrize("asks_model", [True, False], ids=["by the model", "by a digest"])
def test_a_long_past_is_compacted_once_and_the_next_turn_goes_on_from_the_summary(asks_model: bool) -> None:
    async def play() -> None:
        first = [SaidText("They spoke of x."), STOP] if asks_model else [ModelTrouble("busy")]
        script = Script(first, [call("list_files"), STOP], [SaidText("Yes."), STOP])
        model = ModelConfig(provider="ollama", model_name="m", context_window=8192)
        log = earlier(20, 1_500)
        heard = await whole("And now?", script, FILES, model=model, transcript=entries(log))
        (compacted,) = heard.of(ContextCompacted)
        assert ("They spoke of x." in compacted.summary) is asks_model
        if not asks_model:
            assert "The user said: question 1" in compacted.summary
        assert compacted.upto == 54  # the last two of the earlier turns stay
        assert len(script.requests) == 3
        assert script.requests[0].tools == ()
        asked = script.requests[1].messages
        assert any(compacted.summary in message.content for message in asked)
        assert [m.content for m in asked if m.role == "user"][1:3] == ["question 18", "question 19"]
        assert heard.final.metadata.success

    run_in_virtual_time(play)


def test_a_session_that_ends_takes_its_turn_with_it() -> None:
    async def play() -> None:
        script = Script([trio.sleep_forever])
        async with turn("Hm?", script) as (heard, house):
            assert heard.turn is not None
            await trio.testing.wait_all_tasks_blocked()
            assert script.open == 1
            await house["session"].stop()
            await heard.turn.wait_stopped()
            assert script.open == 0

    run_in_virtual_time(play)


def test_a_session_that_ends_while_its_turn_asks_it_something_is_no_failure_of_the_turn() -> None:
    async def play() -> None:
        script = Script([call("read_file", file_path="a.txt"), STOP], [SaidText("Never."), STOP])
        heard = Heard(is_silent=True)
        async with turn("Hm?", script, {"a.txt": "a"}, heard=heard) as (_, house):
            assert heard.turn is not None
            await trio.testing.wait_all_tasks_blocked()
            await house["session"].stop()
            stop = await heard.turn.wait_stopped()
            assert stop.why.normal
        assert len(script.requests) == 1

    run_in_virtual_time(play)


def test_secrets_reach_neither_the_model_nor_a_client() -> None:
    async def play() -> None:
        key = "sk-abcdefgh12345678abcd"
        files = {".env": "DATABASE=plainvalue\n", "src/keys.py": f"login_key = '{key}'\n"}
        context = EditorContext(terminal_output=TerminalOutput(command="env", stdout=f"OPENAI_API_KEY={key}"))
        script = Script(
            [call("read_file", file_path=".env"), call("read_file", file_path="src/keys.py"), STOP],
            [call("search_text", query=f"plainvalue {key}"), STOP],
            [SaidText("No."), STOP],
        )
        heard = await whole(f"Is {key} in login_key?", script, files, context=context)
        assert key not in repr([request.messages for request in script.requests])
        assert "plainvalue\n" not in repr([m for r in script.requests for m in r.messages if m.role == "tool"])
        assert key not in repr([event for event in heard.events if isinstance(event, ToolExecute)])

    run_in_virtual_time(play)


def test_a_file_that_the_user_names_and_that_is_not_there_is_told_to_both() -> None:
    async def play() -> None:
        script = Script([SaidText("There is none."), STOP])
        heard = await whole("What is in @src/gone.py?", script, FILES)
        (error,) = heard.of(ServerError)
        assert error.error.message.startswith("@src/gone.py is not shown to the model: ")
        assert "named by the user, but it cannot be read" in script.requests[0].messages[-1].content
        assert heard.final.metadata.success

    run_in_virtual_time(play)
