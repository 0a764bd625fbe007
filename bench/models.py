"""From a token that leaves a model's server to a delta in our hands, beside what one would write without us.

Sides
  - Ours are the families of models (transports/agent/providers.py): httpx on trio, every limit and deadline, Ollama's
    lines read into deltas.
  - httpx on asyncio is the loop of its documentation: `aiter_lines`, `json.loads`, no limits.
  - Sockets are trio's, without any library for HTTP: what is left is httpx's and h11's share.

Units and goals
  - A source sends 100 tokens a second on each stream, and stamps each when its socket takes it. Source and readers are
    processes of their own; they share the clock. Wall time; so the machine's other work is in all figures.
  - The middle of all delays may be one and a half of httpx's on asyncio (a goal of 2/3), the slowest in a hundred twice
    as long (1/2), and the CPU time of a token one and a half (2/3).
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.harness import MICROSECONDS, Result, Unit, in_turns

NAME = "models"
ABOUT = "a model's tokens, from its socket to our deltas, beside httpx on asyncio and bare sockets"

ROOT = Path(__file__).parent.parent
READERS = {"httpx": "httpx on asyncio", "sockets": "sockets"}
STREAMS = (1, 50)
SECONDS = 2.0
"""Of each reader in each round."""
FIGURES: tuple[tuple[str, str, float], ...] = (
    ("p50", "delay, middle", 2 / 3),
    ("p99", "delay, slowest in 100", 1 / 2),
    ("cpu", "CPU time of a token", 2 / 3),
)
UNIT: Unit = MICROSECONDS

Reading = dict[str, float]


def run(rounds: int) -> Iterator[Result]:
    for streams in STREAMS:
        yield from _compare(streams, rounds, SECONDS)


def _compare(streams: int, rounds: int, seconds: float) -> Iterator[Result]:
    with _source() as port:
        sides = [partial(_read, reader, port, streams, seconds) for reader in ("ours", *READERS)]
        mine, *others = in_turns(sides, rounds)
    many = "1 stream" if streams == 1 else f"{streams} streams"
    for figure, name, goal in FIGURES:
        for (reader, peer), theirs in zip(READERS.items(), others, strict=True):
            pairs = [(one[figure] / 1e3, other[figure] / 1e3) for one, other in zip(mine, theirs, strict=True)]
            wanted = goal if reader == "httpx" else None
            yield Result.between(NAME, f"{many}: {name}", peer, pairs, UNIT, wanted)


@contextmanager
def _source() -> Iterator[int]:
    command = [sys.executable, "-m", "bench.contenders.tokens", "source"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as source:
        assert source.stdout is not None
        try:
            yield int(source.stdout.readline())
        finally:
            source.kill()


def _read(reader: str, port: int, streams: int, seconds: float) -> Reading:
    command = [sys.executable, "-m", "bench.contenders.tokens", reader, str(port), str(streams), str(seconds)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    reading: Reading = json.loads(said)
    return reading
