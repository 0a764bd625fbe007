"""What fits into a model's context, and what goes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.agent.budget import CUT, Talk, cut_to, pruned, room, squeezed, tokens, weight, weights
from actors.agent.compaction import compacted, digest, is_better, is_worthwhile, kept, outgoing, summary_request, upto
from actors.agent.history import Past, PastTurn, result_message
from codec.agent.material import Material, parted, told
from codec.agent.models import ModelConfig, ModelMessage, ToolCall
from tests.agent.turn_kit import faults

SYSTEM = ModelMessage(role="system", content="You help.")
MODEL = ModelConfig(provider="ollama")


def round_of(number: int, output: str) -> tuple[ModelMessage, ...]:
    call = ToolCall(id=f"c{number}", name="read_file", arguments={"file_path": "a"})
    return ModelMessage(role="assistant", content="I look.", tool_calls=(call,)), result_message(call, output)


def now(words: str, *materials: str) -> ModelMessage:
    return ModelMessage(role="user", content=told(words, [Material(source="a", text=text) for text in materials]))


outputs = st.integers(0, 3_000).map(lambda size: "x" * size)
rounds = st.lists(outputs, max_size=5).map(lambda made: tuple(m for n, o in enumerate(made) for m in round_of(n, o)))
talks = st.builds(
    lambda past, words, materials, since: Talk(SYSTEM, past, now("w" * words, *materials), since),
    rounds.map(lambda made: (ModelMessage(role="user", content="Why?"), *made)),
    st.integers(1, 300),
    st.lists(outputs, max_size=3),
    rounds,
)


@given(talks, st.integers(60, 4_000))
def test_what_is_said_to_fit_fits_is_a_request_and_keeps_the_newest_words(talk: Talk, most: int) -> None:
    fitted = squeezed(talk, most)
    if fitted is None:
        bare = ModelMessage(role="user", content=parted(talk.now.content)[0])
        least = Talk(SYSTEM, pruned(talk, 0).past, bare, talk.since)
        assert least.weight + 60 > most or squeezed(least, most) is None
        return
    assert fitted.weight <= most
    assert faults(fitted.messages) == []
    assert parted(fitted.now.content)[0] == parted(talk.now.content)[0]
    assert fitted.system == SYSTEM
    if talk.weight <= most:
        assert fitted == talk


@given(talks, st.integers(60, 4_000))
def test_pruning_takes_the_oldest_outputs_no_more_than_needed_and_never_the_last_rounds(talk: Talk, most: int) -> None:
    less = pruned(talk, most)
    assert less.weight <= talk.weight
    assert less.since[-2:] == talk.since[-2:]
    before = [m.content for m in (*talk.past, *talk.since) if m.role == "tool"]
    after = [m.content for m in (*less.past, *less.since) if m.role == "tool"]
    gone = [old != new for old, new in zip(before, after, strict=True)]
    long = [len(old) > 300 for old in before]
    taken = [is_gone for is_gone, is_long in zip(gone, long, strict=True) if is_long]
    assert taken == sorted(taken, reverse=True)  # a long one that stays has no older one before it that... is newer
    if talk.weight <= most:
        assert less == talk


@given(st.text(), st.integers(0, 200))
def test_a_text_is_cut_to_what_it_may_have(text: str, most: int) -> None:
    cut = cut_to(text, most)
    assert cut == text if tokens(text) <= most else tokens(cut) <= max(most, tokens(f"\n{CUT}\n"))


@given(st.lists(st.text("ab ", max_size=8), min_size=1, max_size=60), st.integers(40, 200))
def test_a_text_of_short_lines_is_cut_between_them(lines: list[str], most: int) -> None:
    head, cut, tail = cut_to("\n".join(lines), most).partition(CUT)
    if cut:
        told = [*head.removesuffix("\n").split("\n"), *tail.removeprefix("\n").split("\n")]
        assert head.endswith("\n")
        assert tail.startswith("\n")
        assert all(line in lines or not line for line in told)


def test_a_line_that_is_too_long_is_cut_in_the_middle() -> None:
    long = "a" * 3000
    assert cut_to(f"one\n{long}\nlast", 100).startswith(f"one\n{'a' * 100}")
    assert cut_to(long, 100).count(CUT) == 1


def test_an_estimate_is_high_rather_than_low() -> None:
    assert tokens("") == 0
    assert tokens("The quick brown fox jumps over the lazy dog.") >= 10
    assert tokens("日本語") == 3
    assert weight(ModelMessage(role="user", content="abc")) == 7
    assert room(8192) == 6144
    assert room(200_000) == 195_904


# -- compaction


def past_of(*texts: str, summary: str | None = None) -> Past:
    turns = [
        PastTurn(
            (ModelMessage(role="user", content=f"Q{n}"), ModelMessage(role="assistant", content=text)), upto=10 * n
        )
        for n, text in enumerate(texts, 1)
    ]
    return Past(summary, tuple(turns))


pasts = st.builds(
    lambda texts, summary: past_of(*texts, summary=summary),
    st.lists(st.text(min_size=1, max_size=2_000), max_size=6),
    st.none() | st.text(max_size=2_000),
)


@given(pasts, st.integers(50, 1_000), st.integers(50, 1_000))
def test_every_compaction_makes_progress_and_ends(past: Past, share: int, longest: int) -> None:
    seen = 0
    while is_worthwhile(past, share):
        gone = outgoing(past, share)
        assert (*gone.turns, *kept(past, share)) == past.turns
        summary = digest(gone, longest)
        assert tokens(summary) <= longest
        number = upto(past, share)
        assert number == gone.turns[-1].upto
        before, past = past, compacted(past, summary, share)
        assert len(past.turns) < len(before.turns)
        seen += 1
    assert seen <= 1
    assert not is_worthwhile(Past("a summary alone"), share)


@given(pasts, st.integers(300, 4_000))
def test_the_request_for_a_summary_has_no_tools_and_fits(past: Past, most: int) -> None:
    request = summary_request(past, ModelConfig(provider="ollama"), 100, most)
    assert request.tools == ()
    assert faults(request.messages) == []
    assert sum(weight(message) for message in request.messages) <= most + 60


def test_a_digest_tells_what_was_asked_what_was_read_and_what_was_answered() -> None:
    messages = (ModelMessage(role="user", content="Why is login slow?"), *round_of(1, "secret code"))
    answer = ModelMessage(role="assistant", content="It hashes twice.")
    said = digest(Past("Earlier: hello.", (PastTurn((*messages, answer), 9),)), 200)
    assert said.splitlines() == [
        "Earlier: hello.",
        "The user said: Why is login slow?",
        "The assistant answered: I look.",
        "The assistant answered: It hashes twice.",
        "Looked at: read_file a",
    ]


def test_a_summary_that_is_empty_or_longer_than_what_it_stands_for_is_not_taken() -> None:
    past = past_of("A long answer. " * 30)
    assert is_better("Short.", past, 100)
    assert not is_better("  ", past, 100)
    assert not is_better("x" * 400, past, 100)
    assert not is_better("x" * 900, past, 10_000) or tokens("x" * 900) <= sum(map(weight, past.messages))


@pytest.mark.parametrize(("room", "stay"), [(0, 0), (14, 0), (15, 1), (29, 1), (30, 2), (1000, 2)])
def test_the_newest_turns_stay_as_far_as_they_fit(room: int, stay: int) -> None:
    past = past_of(*("abcdef" for _ in range(5)))
    assert weights(past.turns[0].messages) == 15
    assert kept(past, room) == past.turns[5 - stay :]
    assert upto(past, room) == 10 * (5 - stay)
    assert outgoing(past, room) == Past(None, past.turns[: 5 - stay])
    assert compacted(past, "short", room) == Past("short", past.turns[5 - stay :])
    assert is_worthwhile(past, room)
    assert is_worthwhile(compacted(past, "short", room), room) is False
    assert is_better("short", past, 2)
    assert not is_better("short.." * 10, past, 2)


def test_a_summary_may_be_as_long_as_what_it_stands_for_and_as_it_may_be() -> None:
    past = past_of("abc")
    longest = "x" * (3 * weights(past.messages))
    assert is_better(longest, past, tokens(longest))
    assert not is_better(f"{longest}x", past, 10_000)
    assert not is_better(longest, past, tokens(longest) - 1)


def test_what_a_summary_is_asked_of_is_told_with_who_said_it_and_what_was_called() -> None:
    messages = (ModelMessage(role="user", content="Why?"), *round_of(1, "secret  code"), *round_of(2, "x" * 3_000))
    (_, said) = summary_request(Past("Hello.", (PastTurn(messages, 9),)), MODEL, 100, 4_000).messages
    told = [line for line in said.content.splitlines() if line.startswith(("Before", "user:", "assistant", "tool"))]
    assert told == [
        "Before that: Hello.",
        "user: Why?",
        "assistant (calls read_file): I look.",
        "tool: secret code",
        "assistant (calls read_file): I look.",
        f"tool: {'x' * 1_999}…",
    ]


@pytest.mark.parametrize(("most", "words"), [(1, 50), (100, 50), (103, 51), (2_000, 1_000)])
def test_a_summary_is_asked_for_in_half_as_many_words_as_it_may_have_tokens(most: int, words: int) -> None:
    (asked, _) = summary_request(past_of("a"), MODEL, most, 4_000).messages
    assert f"at most {words} words" in asked.content


@pytest.mark.parametrize("room", [0, 100])
def test_where_there_is_no_room_a_summary_is_asked_of_nothing(room: int) -> None:
    (_, said) = summary_request(past_of("abc" * 1_000), MODEL, 100, room).messages
    assert "abcabc" not in said.content


def test_a_digest_keeps_the_newest_lines_as_far_as_they_fit_and_says_that_it_left_some_out() -> None:
    past = past_of(*(f"answer {number}" for number in range(10)))
    lines = [f"The user said: Q{n}\nThe assistant answered: answer {n - 1}" for n in range(1, 11)]
    whole = "\n".join(lines).splitlines()
    all_of_it = sum(tokens(line) + 1 for line in whole) + 10
    assert digest(past, all_of_it).splitlines() == whole
    for most in range(40, all_of_it):
        left_out, *there = digest(past, most).splitlines()
        assert left_out == "(Older parts are left out.)"
        assert there == whole[len(whole) - len(there) :]
        used = sum(tokens(line) + 1 for line in there)
        assert used <= most - 10 < used + tokens(whole[-len(there) - 1]) + 1


def test_a_digest_says_each_thing_shortly() -> None:
    def called(name: str, arguments: object) -> ModelMessage:
        return ModelMessage(role="assistant", tool_calls=(ToolCall(id="1", name=name, arguments=arguments),))

    calls = [called("read", {"path": f"{number}.py"}) for number in range(13)]
    odd = [called("run", "no object"), called("list", {}), called("read", {"path": "0.py"})]
    told = [ModelMessage(role="user", content="u" * 301), ModelMessage(role="assistant", content="a" * 401)]
    blank = ModelMessage(role="assistant", content=" \n")
    turn = PastTurn((*told, blank, *odd, called("read", {"path": "p" * 61}), *calls), 1)
    assert digest(Past(None, (turn,)), 10_000).splitlines() == [
        f"The user said: {'u' * 299}…",
        f"The assistant answered: {'a' * 399}…",
        f"Looked at: run, list, read 0.py, read {'p' * 59}…, " + ", ".join(f"read {n}.py" for n in range(1, 9)),
    ]


def test_of_a_summary_a_third_of_a_digest_may_be() -> None:
    said = digest(Past("s" * 3_000, ()), 300)
    assert 90 <= tokens(said) <= 100
