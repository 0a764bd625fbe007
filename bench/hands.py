"""What the agent does with a workspace: verdicts of its policy, patches, undo, and commands that are cancelled.

Each part stands in a file of its own, which says what it compares.
"""

from collections.abc import Iterator

from bench import commanding, patching, undoing, verdicts
from bench.harness import Result

NAME = "hands"
ABOUT = "the agent's hands: verdicts, patches of 1,000 hunks, undo of 1,000 files, commands cancelled"


def run(rounds: int) -> Iterator[Result]:
    yield from verdicts.cases(NAME, rounds)
    yield from patching.cases(NAME, max(3, rounds // 3))
    yield from undoing.cases(NAME, max(3, rounds // 3))
    yield from commanding.cases(NAME)
