"""The messages to a run and its workers."""

from dataclasses import dataclass

from codec.judge import RunResult


@dataclass(frozen=True, slots=True)
class Judged:
    """A case of the run has its result."""

    result: RunResult
    output: bytes = b""
    """More of the program's output, if the result has only its beginning."""


@dataclass(frozen=True, slots=True)
class Go:
    pass
