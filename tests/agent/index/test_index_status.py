"""How far an index is, in the words of the contract: tables."""

from typing import Any

import pytest
from msgspec.structs import replace

from actors.agent.index.states import CURRENT, KEPT, OPENING, TROUBLED, UPDATING, IndexerState
from actors.agent.index.telling import ALMOST, HIDDEN, MOST_ERRORS, noted, status_of, within
from codec.agent.index.telling import FOLDER_LEFT_OUT, IndexFacts
from codec.agent.workspaces import IndexStatus, Policy, WorkspaceFact

FACT = WorkspaceFact(
    id="w",
    path="/w",
    name="w",
    created_at="",
    last_indexed_at="then",
    index_status="ready",
    index_progress=1.0,
    total_files=9,
    indexed_files=8,
    total_chunks=7,
)
FACTS = IndexFacts(total_files=200, indexed_files=50, total_chunks=3000, total_symbols=40, generation=5)


def told(facts: IndexFacts | None, state: IndexerState = CURRENT, *, loud: bool = False, **more: Any) -> IndexStatus:
    return status_of(FACT, facts, state, loud=loud, **more)


@pytest.mark.parametrize(
    ("state", "complete", "loud", "status"),
    [
        (TROUBLED, False, False, "failed"),
        (TROUBLED, True, True, "failed"),
        (OPENING, False, False, "pending"),
        (KEPT, False, False, "pending"),
        (CURRENT, False, False, "pending"),
        (KEPT, True, False, "ready"),
        (UPDATING, True, False, "ready"),
        (UPDATING, False, False, "indexing"),
        (UPDATING, True, True, "indexing"),
        (KEPT, False, True, "indexing"),
        (CURRENT, True, True, "indexing"),
    ],
)
def test_an_index_is_said_to_be_made_while_it_is_or_somebody_waits_for_it(
    state: IndexerState, complete: bool, loud: bool, status: str
) -> None:
    assert told(replace(FACTS, complete=complete), state, loud=loud).index_status == status


@pytest.mark.parametrize(
    ("indexed", "total", "complete", "progress"),
    [
        (0, 0, False, 0.0),
        (50, 200, False, 0.25),
        (1, 3, False, 0.333),
        (198, 200, False, 0.99),
        (200, 200, False, ALMOST),
        (300, 200, False, ALMOST),
        (0, 0, True, 1.0),
        (50, 200, True, 1.0),
    ],
)
def test_progress_is_the_share_of_the_files_and_no_index_is_almost_more_than_almost_done(
    indexed: int, total: int, complete: bool, progress: float
) -> None:
    facts = IndexFacts(indexed_files=indexed, total_files=total, complete=complete)
    assert told(facts).index_progress == progress


def test_without_facts_it_is_as_it_was_kept() -> None:
    kept = told(None, KEPT)
    assert (kept.index_status, kept.index_progress, kept.last_indexed_at) == ("ready", 1.0, "then")
    assert (kept.total_files, kept.indexed_files, kept.total_chunks, kept.generation) == (9, 8, 7, 0)
    pending = status_of(replace(FACT, index_status="indexing"), None, KEPT, loud=False)
    assert (pending.index_status, pending.index_progress) == ("pending", 0.889)


def test_what_the_facts_say_is_told() -> None:
    status = told(replace(FACTS, complete=True, completed_at=0.0, mode="full"), watching="events", said="it is watched")
    assert status == IndexStatus(
        workspace_id="w",
        index_status="ready",
        index_progress=1.0,
        total_files=200,
        indexed_files=50,
        total_chunks=3000,
        last_indexed_at="1970-01-01T00:00:00.000Z",
        generation=5,
        mode="full",
        total_symbols=40,
        watching="events",
        message="it is watched.",
    )
    assert told(FACTS).last_indexed_at is None


@pytest.mark.parametrize(
    ("vectors", "mode", "message"),
    [
        (0, "text_only", ""),
        (1, "text_only", "1 of 3,000 passages can be found by their meaning."),
        (1200, "text_only", "1,200 of 3,000 passages can be found by their meaning."),
        (3000, "full", ""),
    ],
)
def test_how_many_passages_have_vectors_is_told_until_all_have(vectors: int, mode: Any, message: str) -> None:
    assert told(replace(FACTS, vectors=vectors, mode=mode)).message == message


def test_each_trouble_is_told_once_the_newest_first_and_at_most_so_many() -> None:
    many = tuple(map(str, range(MOST_ERRORS)))
    assert told(FACTS).errors == ()
    assert told(replace(FACTS, troubles=("a", "b", "a"))).errors == ("a", "b")
    assert told(replace(FACTS, troubles=("a", "b")), trouble="b").errors == ("b", "a")
    assert told(replace(FACTS, troubles=many)).errors == many
    assert told(replace(FACTS, troubles=many), trouble="now").errors == ("now", *many[:-1])


OPEN = Policy(blocked_globs=())
CLOSED = Policy(allowed_read_globs=("src/**", "docs/**"), blocked_globs=("docs/in/**",))


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        ("The disk is slow.", True),
        ("src/a.py was left out: it is too large.", True),
        ("src/a.py cannot be read: permission denied.", True),
        ("lib/a.py was left out: it is too large.", False),
        ("lib/a.py cannot be read: permission denied,\nsays the disk.", False),
        ("docs/in/a.md was left out: it is too large.", False),
        (f"src/x cannot be read: {FOLDER_LEFT_OUT}", True),
        (f"lib cannot be read: {FOLDER_LEFT_OUT}", False),
        (f"docs/in cannot be read: {FOLDER_LEFT_OUT}", False),
        ("docs, docs/in cannot be read: it is a link.", False),
        ("1,200 more folders cannot be read.", True),
    ],
)
def test_no_error_names_what_the_policy_hides(error: str, is_told: bool) -> None:
    status = told(replace(FACTS, troubles=("First.", error)))
    assert within(OPEN, status) is status
    assert within(CLOSED, status).errors == (("First.", error) if is_told else ("First.", HIDDEN))


def test_a_workspace_notes_what_has_become_another() -> None:
    same = told(None, KEPT)
    assert noted(FACT, same) == {}
    assert noted(FACT, replace(same, errors=("x",), generation=4, message="y")) == {}
    parts: dict[str, Any] = {
        "index_status": "indexing",
        "index_progress": 0.5,
        "total_files": 1,
        "indexed_files": 2,
        "total_chunks": 3,
        "last_indexed_at": None,
    }
    for name, value in parts.items():
        assert noted(FACT, replace(same, **{name: value})) == {name: value}
    assert noted(FACT, replace(same, **parts)) == parts
