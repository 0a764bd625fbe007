"""The messages to a run and its workers."""

from msgspec import Struct

from codec.judge import RunResult


class Judged(Struct, frozen=True):
    """A case of the run has its result."""

    result: RunResult
    output: bytes = b""
    """More of the program's output, if the result has only its beginning."""
    began: float = 0.0
    ended: float = 0.0
    """The time in which its files were used."""


class Go(Struct, frozen=True):
    pass
