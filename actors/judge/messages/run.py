"""The messages to a run and its workers."""

from msgspec import Struct

from actors.judge.given import Used
from codec.judge import RunResult


class Judged(Struct, frozen=True):
    """A case of the run has its result."""

    result: RunResult
    output: bytes = b""
    """More of the program's output, if the result has only its beginning."""
    used: Used | None = None
    """By its program; None if none has run."""


class Go(Struct, frozen=True):
    pass
