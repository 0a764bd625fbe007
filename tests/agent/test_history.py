"""The fold of a log to what a model is told."""

from hypothesis import given
from hypothesis import strategies as st

from actors.agent.history import CANCELLED, CUT_OFF, FAILED, INTERRUPTED, READ, history
from actors.agent.messages import LogEntry
from codec.agent.events import (
    ContextCompacted,
    ErrorBody,
    FinalMetadata,
    LogEvent,
    MessageFinal,
    ServerError,
    Thinking,
    Token,
    ToolExecute,
    UserMessage,
)
from codec.agent.models import ModelMessage
from tests.agent.turn_kit import entries, faults


def asked(text: str, turn_id: str = "t1", *, steers: bool = False) -> UserMessage:
    return UserMessage(message=text, message_id=f"m-{text}", turn_id=turn_id, steers=steers)


def tool(call_id: str, status: str, text: str = "found") -> ToolExecute:
    result = None if status == "started" else {"text": text}
    return ToolExecute(tool_name="read_file", args={"file_path": "a"}, status=status, call_id=call_id, result=result)  # type: ignore[arg-type]


def final(text: str, *, success: bool = True, cancelled: bool = False, interrupted: bool = False) -> MessageFinal:
    metadata = FinalMetadata(success=success, cancelled=cancelled, interrupted=interrupted)
    return MessageFinal(message=text, metadata=metadata)


def told(*events: LogEvent) -> list[tuple[str, str]]:
    messages = history(entries(events)).messages
    assert faults(messages) == []
    return [(message.role, message.content) for message in messages]


def test_a_turn_is_told_as_it_was() -> None:
    assert told(
        asked("Why?"),
        Thinking(phase="analyzing", message="hm"),
        Token(token="Let me "),
        Token(token="look."),
        tool("1", "started"),
        tool("1", "completed"),
        Token(token="\n\nBecause."),
        final("Let me look.\n\nBecause."),
        asked("Really?", "t2"),
        Token(token="Yes."),
        final("Yes."),
    ) == [
        ("user", "Why?"),
        ("assistant", "Let me look."),
        ("tool", "found"),
        ("assistant", "\n\nBecause."),
        ("user", "Really?"),
        ("assistant", "Yes."),
    ]


def test_a_call_that_has_no_result_is_closed_by_one_that_says_so() -> None:
    events = (asked("Why?"), tool("1", "started"), tool("1", "completed"), tool("2", "started"))
    end = final("", success=False, interrupted=True)
    assert told(*events, end) == [
        ("user", "Why?"),
        ("assistant", ""),
        ("tool", "found"),
        ("assistant", ""),
        ("tool", CUT_OFF),
        ("assistant", INTERRUPTED),
    ]


def test_a_steering_message_stands_where_it_was_read() -> None:
    assert told(
        asked("Why?"),
        tool("1", "started"),
        tool("1", "failed", "no"),
        asked("In French", steers=True),
        Token(token="Oui"),
    ) == [("user", "Why?"), ("assistant", ""), ("tool", "no"), ("user", "In French"), ("assistant", "Oui")]


def test_calls_that_stand_together_are_of_one_answer_and_what_is_said_behind_them_is_of_the_next() -> None:
    events = (asked("Why?"), Token(token="I look."), tool("1", "started"), tool("2", "started"))
    messages = history(entries([*events, tool("2", "completed", "two"), Token(token="So.")])).messages
    assert [(each.role, each.content, [call.id for call in each.tool_calls]) for each in messages] == [
        ("user", "Why?", []),
        ("assistant", "I look.", ["1", "2"]),
        ("tool", CUT_OFF, []),
        ("tool", "two", []),
        ("assistant", "So.", []),
    ]
    cut = history(entries([*events, Token(token="So."), final("I look.So. There.")])).messages
    assert [(each.content, len(each.tool_calls)) for each in cut if each.role == "assistant"] == [
        ("I look.", 2),
        ("So. There.", 0),
    ]
    unsaid = history(entries([*events, final("I look. And so")])).messages
    assert [each.content for each in unsaid if each.role == "assistant"] == ["I look.", " And so"]


def test_a_turn_is_one_with_what_steers_it_and_with_all_that_it_says() -> None:
    steered = (asked("Why?"), tool("1", "started"), asked("In French", steers=True), Token(token="Oui"))
    trouble = ServerError(error=ErrorBody(code="MODEL_ERROR", message="gone"))
    assert [turn.upto for turn in history(entries([*steered, trouble])).turns] == [5]
    assert [turn.upto for turn in history(entries([*steered, asked("Then", "t2", steers=True)])).turns] == [4, 5]
    over = (*steered, final("Oui"), asked("And?", steers=True))
    assert [turn.upto for turn in history(entries(over)).turns] == [5, 6]


def test_the_kept_text_counts_whether_clients_have_seen_more_or_less() -> None:
    assert told(asked("Why?"), Token(token="Because of"), final("Because")) == [
        ("user", "Why?"),
        ("assistant", "Because"),
    ]
    assert told(asked("Why?"), Token(token="Bec"), final("Because")) == [("user", "Why?"), ("assistant", "Because")]
    assert told(asked("Why?"), final("Because")) == [("user", "Why?"), ("assistant", "Because")]


def test_a_model_is_told_why_an_answer_is_not_whole() -> None:
    for end, note in (
        (final("", success=False, cancelled=True), CANCELLED),
        (final("", success=False, interrupted=True), INTERRUPTED),
        (final("", success=False), FAILED),
    ):
        assert told(asked("Why?"), end) == [("user", "Why?"), ("assistant", note)]


def test_a_summary_stands_for_the_turns_up_to_its_number() -> None:
    first = (asked("One", "t1"), Token(token="1"), final("1"))
    second = (asked("Two", "t2"), Token(token="2"), final("2"))
    third = (asked("Three", "t3"), ContextCompacted(summary="They counted.", upto=3), Token(token="3"), final("3"))
    past = history(entries([*first, *second, *third]))
    assert [message.role for message in past.messages] == ["user", "assistant"] * 3
    assert past.summary == "They counted."
    assert [turn.upto for turn in past.turns] == [6, 10]
    assert [message.content for message in past.messages[1:]] == [READ, "Two", "2", "Three", "3"]
    assert "They counted." in past.messages[0].content
    assert history(entries([*second, *third], first=4)).messages == past.messages  # as a session reads its log


ids = st.sampled_from("abc")
turn_ids = st.sampled_from(["t1", "t2"])
short = st.text(max_size=5)
events = st.one_of(
    st.builds(Token, token=short),
    st.builds(tool, ids, st.sampled_from(["started", "completed", "failed"]), short),
    st.builds(asked, short, turn_ids, steers=st.booleans()),
    st.builds(final, short, success=st.booleans(), cancelled=st.booleans(), interrupted=st.booleans()),
    st.builds(Thinking, phase=st.just("planning"), message=short),
    st.builds(ContextCompacted, summary=short, upto=st.integers(0, 20)),
)


@given(st.lists(events, max_size=16))
def test_any_log_at_all_is_folded_to_a_request(log: list[LogEvent]) -> None:
    messages: tuple[ModelMessage, ...] = history(entries(log)).messages
    assert faults(messages) == []


@given(st.lists(events, max_size=16))
def test_joined_tokens_tell_the_same(log: list[LogEvent]) -> None:
    joined: list[LogEntry] = []
    for entry in entries(log):
        last = joined[-1].event if joined else None
        if isinstance(entry.event, Token) and isinstance(last, Token):
            joined[-1] = LogEntry(entry.seq, Token(token=last.token + entry.event.token))
        else:
            joined.append(entry)
    assert history(joined) == history(entries(log))


pieces = st.lists(st.sampled_from(["one ", "two ", "three ", None]), max_size=8)


@given(pieces, st.integers(0, 40), st.sampled_from(["", "more"]))
def test_of_a_turn_exactly_the_kept_text_is_told_whatever_was_sent(said: list[str | None], cut: int, more: str) -> None:
    """None: a call of a tool."""
    log: list[LogEvent] = [asked("Why?")]
    for number, piece in enumerate(said):
        log += [Token(token=piece)] if piece else [tool(f"{number}", "started"), tool(f"{number}", "completed")]
    whole = "".join(piece or "" for piece in said)
    for kept in (whole[:cut], whole + more):
        messages = history(entries([*log, final(kept)])).messages
        assert faults(messages) == []
        assert "".join(message.content for message in messages if message.role == "assistant").strip() == kept.strip()
        assert sum(len(message.tool_calls) for message in messages) == said.count(None)


def test_a_result_that_is_no_text_is_told_as_json() -> None:
    def result(value: object) -> str:
        done = ToolExecute(tool_name="x", args={}, status="completed", call_id="1", result=value)
        return history(entries([asked("Why?"), done])).messages[-1].content

    assert [result(value) for value in ({"text": "a"}, {"n": 1}, ["ä"], None)] == ["a", '{"n":1}', '["ä"]', ""]
