"""Compares large outputs in a separate process (comparer.py). Such a comparison takes seconds and mostly holds the
interpreter's lock, so in the server every message would have to wait for it.

    to it     a line of JSON: the mode, and the size of the expected output; then both outputs
    from it   JSON: null if they are the same, or the first difference

The process is bounded in time and memory and ends with its run. If it gives no result, a sentence says why.
"""

import msgspec
from msgspec import Struct

from actors.judge.checkers import Differs, Same, Verdict, compare
from codec.judge import Compare
from codec.programs import MIB, Bounds

APART = 1 << 18
"""Outputs of this size together are compared in a thread, so that nothing waits for it..."""
ELSEWHERE = 8 << 20
"""...and outputs of this size in a separate process, whose start takes some tenths of a second."""
SECONDS = 60.0
"""The limit of CPU time. Half a gigabyte takes less."""
MODULE = "actors.judge.comparer"
MEMORY = 256 * MIB
"""The memory that is allowed besides four times the size of the outputs."""
PROCESSES = 16
"""A library that it loads may look around with a process of its own."""
STEP = 1 << 20


class Undecided(Struct, frozen=True):
    """The outputs could not be compared."""

    why: str


class Request(msgspec.Struct, frozen=True):
    how: Compare
    expected_size: int


_decode_request = msgspec.json.Decoder(Request).decode
_decode_answer = msgspec.json.Decoder(Differs | None).decode


def request(expected: bytes, actual: bytes, how: Compare) -> tuple[bytes, bytes, bytes]:
    return msgspec.json.encode(Request(how, len(expected))) + b"\n", expected, actual


def answered(line: bytes, rest: bytes) -> bytes:
    """The answer of the process."""
    asked = _decode_request(line)
    verdict = compare(rest[: asked.expected_size], rest[asked.expected_size :], asked.how)
    return msgspec.json.encode(verdict if isinstance(verdict, Differs) else None)


def read(answer: bytes) -> Verdict:
    """Reads the answer. Raises a MsgspecError if it is not valid."""
    return _decode_answer(answer) or Same()


def bounds(size: int) -> Bounds:
    return Bounds(
        cpu_seconds=SECONDS,
        wall_seconds=4 * SECONDS,
        memory_bytes=4 * size + MEMORY,
        processes=PROCESSES,
        file_bytes=0,
        output_bytes=MIB,
        flood_bytes=MIB,
    )


def alike(one: bytes, other: bytes) -> bool:
    """Whether they are equal. It compares in steps, so that the interpreter's lock is never held for long."""
    if len(one) != len(other):
        return False
    return all(one[start : start + STEP] == other[start : start + STEP] for start in range(0, len(one), STEP))
