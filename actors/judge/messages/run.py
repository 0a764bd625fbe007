"""What a run and its workers are told."""

from dataclasses import dataclass

from codec.judge import RunResult


@dataclass(frozen=True, slots=True)
class Judged:
    """A case of it has its result."""

    result: RunResult
    output: bytes = b""
    """More of what the program wrote, where the result has only the beginning."""


@dataclass(frozen=True, slots=True)
class Go:
    pass
