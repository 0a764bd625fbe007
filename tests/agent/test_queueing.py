"""Messages that wait: what is asked of them, and what belongs to each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.agent.queueing import (
    MOST_QUEUED,
    MOST_QUEUED_BYTES,
    MOST_REMEMBERED,
    TITLE,
    carried,
    entitled,
    refusal,
    remembered,
    steering,
    weight,
)
from actors.agent.turning import NotPrepared, model_of
from codec.agent.context import ActiveEditor, Diagnostic, EditorContext, GitContext, Mention, SaidContext
from codec.agent.kept import Waiting
from codec.agent.models import ModelConfig
from codec.agent.sessions import SessionChange, SessionFact, changed_parts, plain_title

BEFORE = EditorContext(
    active_editor=ActiveEditor(file_path="a.py"),
    diagnostics=(Diagnostic(file_path="a.py", message="no"),),
    mentions=(Mention(type="file", path="b.py"),),
    command="/fix",
)


def test_a_message_carries_what_was_said_before_but_for_what_belongs_to_one_message() -> None:
    said = SaidContext(git_context=GitContext(branch="main"), active_editor=ActiveEditor(file_path="c.py"))
    now = carried(BEFORE, said)
    assert now.active_editor == said.active_editor
    assert now.diagnostics == BEFORE.diagnostics
    assert now.git_context == said.git_context
    assert (now.mentions, now.command) == ((), None)
    told = SaidContext(**{name: getattr(BEFORE, name) for name in SaidContext.__struct_fields__})
    assert carried(EditorContext(), told) == BEFORE


def waiting(number: int, delivery: str = "queue", size: int = 1) -> Waiting:
    return Waiting(message_id=f"m{number}", message="x" * size, delivery=delivery)  # type: ignore[arg-type]


def test_a_queue_has_a_bound_in_number_and_in_size() -> None:
    assert refusal([waiting(number) for number in range(MOST_QUEUED - 1)], waiting(99)) is None
    assert "Withdraw one" in (refusal([waiting(number) for number in range(MOST_QUEUED)], waiting(99)) or "")
    one, room = waiting(1, size=5_000_000), MOST_QUEUED_BYTES - weight(waiting(2, size=0))
    assert refusal([one], waiting(2, size=room - weight(one))) is None
    assert "too large" in (refusal([one], waiting(2, size=room - weight(one) + 1)) or "")


def test_the_last_ids_are_remembered() -> None:
    taken: tuple[str, ...] = ()
    for number in range(3 * MOST_REMEMBERED):
        taken = remembered(taken, f"m{number}")
    assert len(taken) == MOST_REMEMBERED
    assert taken[-1] == f"m{3 * MOST_REMEMBERED - 1}"


@given(st.text())
def test_a_title_is_one_line_that_nothing_obeys(text: str) -> None:
    for title in (entitled(text), plain_title(text), changed_parts(SessionChange(title=text))["title"]):
        assert title.isprintable()
        assert title == " ".join(title.split())
    assert plain_title("a\x1b[2J\u202eb\r\nc") == "a [2J b c"


@given(st.lists(st.sampled_from(("queue", "steer"))))
def test_what_steers_and_the_rest_are_the_whole_in_order(deliveries: list[str]) -> None:
    queue = [waiting(number, delivery) for number, delivery in enumerate(deliveries)]
    steers, rest = steering(queue)
    assert [each for each in queue if each in steers] == list(steers)
    assert [each for each in queue if each in rest] == list(rest)
    assert len(steers) + len(rest) == len(queue)
    assert all(each.delivery == "steer" for each in steers)


@given(st.text(min_size=1))
def test_a_title_is_one_line_of_a_bounded_length(message: str) -> None:
    title = entitled(message)
    assert len(title) <= TITLE
    assert "\n" not in title


CURRENT = ModelConfig(provider="ollama", model_name="big", url="http://here", temperature=0.1, display_name="Big")
FACT = SessionFact(id="s", workspace_id="w", created_at="", updated_at="")


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        ({}, CURRENT),
        ({"model_name": "tiny"}, ModelConfig(provider="ollama", model_name="tiny", url="http://here", temperature=0.1)),
        ({"temperature": 0.0}, ModelConfig(
            provider="ollama", model_name="big", url="http://here", temperature=0.0, display_name="Big"
        )),
        ({"model_provider": "builtin"}, ModelConfig(provider="builtin", temperature=0.1)),
        (
            {"model_provider": "openai", "model_name": "m", "model_url": "http://there", "context_window": 1000},
            ModelConfig(provider="openai", model_name="m", url="http://there", context_window=1000, temperature=0.1),
        ),
    ],
)  # fmt: skip
def test_a_sessions_model_is_its_own_and_otherwise_the_current_one(own: dict[str, object], wanted: ModelConfig) -> None:
    fact = SessionFact(id="s", workspace_id="w", created_at="", updated_at="", **own)  # type: ignore[arg-type]
    assert model_of(fact, CURRENT) == wanted


@pytest.mark.parametrize("own", [{"model_provider": "ghost"}, {"model_provider": "openai"}])
def test_a_model_that_cannot_be_is_told(own: dict[str, str]) -> None:
    fact = SessionFact(id="s", workspace_id="w", created_at="", updated_at="", **own)  # type: ignore[arg-type]
    with pytest.raises(NotPrepared, match="Choose another one"):
        model_of(fact, CURRENT)
