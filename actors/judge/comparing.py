"""A comparison of large outputs goes to a process of its own (comparer.py), for it takes seconds, and holds the
interpreter's lock for most of them: others would wait for every message.

    to it     a line of JSON: how to compare, and the size of the expected output; then both outputs
    from it   JSON: null if they are the same, or where they differ

What goes there is bounded in time and memory, is ended with its run, and what it does not come to is said in words.
"""

from dataclasses import dataclass

import msgspec

from actors.judge.checkers import Differs, Same, Verdict, compare
from codec.judge import Compare
from codec.programs import MIB, Bounds

APART = 1 << 18
"""Bytes of both from which on they are compared where nobody waits for it..."""
ELSEWHERE = 8 << 20
"""...and in a process of its own, whose start takes some tenths of a second."""
SECONDS = 60.0
"""Of CPU time. Half a gigabyte takes less."""
MODULE = "actors.judge.comparer"
MEMORY = 256 * MIB
"""Beside four times what is compared."""
PROCESSES = 16
"""A library that it loads may look around with a process of its own."""
STEP = 1 << 20


@dataclass(frozen=True, slots=True)
class Undecided:
    """They could not be compared."""

    why: str


class Request(msgspec.Struct, frozen=True):
    how: Compare
    expected_size: int


_decode_request = msgspec.json.Decoder(Request).decode
_decode_answer = msgspec.json.Decoder(Differs | None).decode


def request(expected: bytes, actual: bytes, how: Compare) -> tuple[bytes, bytes, bytes]:
    return msgspec.json.encode(Request(how, len(expected))) + b"\n", expected, actual


def answered(line: bytes, rest: bytes) -> bytes:
    """What the process answers."""
    asked = _decode_request(line)
    verdict = compare(rest[: asked.expected_size], rest[asked.expected_size :], asked.how)
    return msgspec.json.encode(verdict if isinstance(verdict, Differs) else None)


def read(answer: bytes) -> Verdict:
    """Raises a MsgspecError if that is none."""
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
    """Whether they are equal; in steps, so that nobody waits long for the interpreter's lock."""
    if len(one) != len(other):
        return False
    return all(one[start : start + STEP] == other[start : start + STEP] for start in range(0, len(one), STEP))
