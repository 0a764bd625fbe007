"""What fits into a model's context, and what goes first."""

from hypothesis import given
from hypothesis import strategies as st

from actors.agent.budget import CUT, Talk, cut_to, pruned, room, squeezed, tokens, weight
from actors.agent.compaction import compacted, digest, is_better, is_worthwhile, kept, outgoing, summary_request, upto
from actors.agent.history import Past, PastTurn, result_message
from codec.agent.material import Material, parted, told
from codec.agent.models import ModelConfig, ModelMessage, ToolCall
from tests.agent.turn_kit import faults

SYSTEM = ModelMessage(role="system", content="You help.")


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
