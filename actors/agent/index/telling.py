"""How far an index is, in the words of the contract. Pure: it needs what is known, and what the indexer is doing.

The status is `indexing` while a whole update that somebody waits for runs or is due, and until the index is complete
for the first time. An update of a file that was just saved is over before anybody could read that it runs, so the
status stays `ready`.
"""

import re

import msgspec

from actors.agent.index.states import TROUBLED, UPDATING, IndexerState
from actors.agent.readable import is_readable
from actors.agent.retelling import timestamp
from codec.agent.index.telling import FOLDER_LEFT_OUT, IndexFacts
from codec.agent.workspaces import IndexState, IndexStatus, Policy, WorkspaceFact
from codec.words import sentences

ALMOST = 0.99
"""No index that is being made is told to be done."""
MOST_ERRORS = 20
_OF_PATH = re.compile(r"(?P<path>.+) (?:was left out|cannot be read): (?P<why>.+)", re.DOTALL)
"""Whatever a path has in it: it ends where this was said last."""
HIDDEN = "There are troubles with files that the policy of this workspace hides."


def status_of(
    known: WorkspaceFact,
    facts: IndexFacts | None,
    state: IndexerState,
    *,
    loud: bool,
    trouble: str = "",
    watching: str = "off",
    said: str = "",
) -> IndexStatus:
    """`known`: how it was kept, for as long as there are no facts. `loud`: somebody waits for an update that runs, or
    is to be run."""
    if facts is None:
        facts = _kept(known)
        last = known.last_indexed_at
    else:
        last = None if facts.completed_at is None else timestamp(facts.completed_at)
    at = _state(facts, state, loud)
    errors = (trouble, *facts.troubles) if trouble else facts.troubles
    return IndexStatus(
        workspace_id=known.id,
        index_status=at,
        index_progress=_progress(facts, at),
        total_files=facts.total_files,
        indexed_files=facts.indexed_files,
        total_chunks=facts.total_chunks,
        last_indexed_at=last,
        generation=facts.generation,
        errors=tuple(dict.fromkeys(errors))[:MOST_ERRORS],
        mode=facts.mode,
        total_symbols=facts.total_symbols,
        watching=watching,  # type: ignore[arg-type]
        message=sentences(said, _meanings(facts)),
    )


def within(policy: Policy, status: IndexStatus) -> IndexStatus:
    """Without the names of files that the policy hides."""
    told = [error for error in status.errors if _may_be_told(policy, error)]
    if len(told) == len(status.errors):
        return status
    return msgspec.structs.replace(status, errors=(*told, HIDDEN))


def _may_be_told(policy: Policy, error: str) -> bool:
    found = _OF_PATH.fullmatch(error)
    if found is None:
        return True
    path, why = found.groups()
    return is_readable(policy, path) and (why != FOLDER_LEFT_OUT or is_readable(policy, f"{path}/x"))


def _meanings(facts: IndexFacts) -> str:
    if not facts.vectors or facts.mode == "full":
        return ""
    return f"{facts.vectors:,} of {facts.total_chunks:,} passages can be found by their meaning"


def _kept(known: WorkspaceFact) -> IndexFacts:
    return IndexFacts(
        total_files=known.total_files,
        indexed_files=known.indexed_files,
        total_chunks=known.total_chunks,
        complete=known.index_status == "ready",
    )


def _state(facts: IndexFacts, state: IndexerState, loud: bool) -> IndexState:
    if state is TROUBLED:
        return "failed"
    if loud or (state is UPDATING and not facts.complete):
        return "indexing"
    return "ready" if facts.complete else "pending"


def _progress(facts: IndexFacts, at: IndexState) -> float:
    if at == "ready":
        return 1.0
    share = facts.indexed_files / facts.total_files if facts.total_files else 0.0
    return round(min(ALMOST, max(0.0, share)), 3)


def noted(fact: WorkspaceFact, status: IndexStatus) -> dict[str, object]:
    """What of a status stands in the workspace's fact."""
    names = ("index_status", "index_progress", "total_files", "indexed_files", "total_chunks", "last_indexed_at")
    return {name: value for name in names if (value := getattr(status, name)) != getattr(fact, name)}
