"""Patches of 1,000 changes to a file of 50,000 lines: read, applied, made and merged, beside what is allowed for it.

Sides
  - Ours alone, in this process and in CPU time; what is allowed is a goal of 1.
  - The file has 50,000 lines, a fifth of them blank, and 1,000 of them are changed. "Drifted" is the same patch onto
    the file with seven more lines at its top, so no hunk stands where it says.
  - git's own `git apply` on the same patch is there to be seen. Its time is wall time and has a process in it.
"""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from gc import collect
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from bench.harness import Result, Unit
from codec.agent.patches import applied, made_diff, merged, parse_diff

MILLISECONDS = Unit("ms", cost=True)
LINES, CHANGES = 50_000, 1_000
TOP = b"# one more\n" * 7


def cases(name: str, rounds: int) -> Iterator[Result]:
    """`name`: of the bench in which they stand."""
    before, after = _files()
    diff = made_diff("file.txt", before, after).diff
    (patch,) = parse_diff(diff)
    ways: list[tuple[str, Callable[[], object], object, float]] = [
        ("patch, 1,000 changes", lambda: applied(before, patch).data, after, 100),
        ("patch, drifted", lambda: applied(TOP + before, patch).data, TOP + after, 200),
        ("diff read", lambda: parse_diff(diff)[0], patch, 100),
        ("diff made", lambda: made_diff("file.txt", before, after).diff, diff, 500),
        ("three-way merge", lambda: merged(before, after, TOP + before), TOP + after, 500),
    ]
    for case, go, expected, allowed in ways:
        ours = [_milliseconds(go, expected) for _ in range(rounds)]
        yield Result.between(name, case, "allowed", [(each, allowed) for each in ours], MILLISECONDS, 1.0)
        if case == "patch, 1,000 changes":
            theirs = [_git_apply(before, after, diff) for _ in range(rounds)]
            yield Result.between(name, case, "git apply", list(zip(ours, theirs, strict=True)), MILLISECONDS)


def _files() -> tuple[bytes, bytes]:
    draw = Random(1)
    lines = [f"line {number} {draw.random()}" if draw.random() < 0.8 else "" for number in range(LINES)]
    changed = list(lines)
    for at in draw.sample(range(7, LINES, 20), CHANGES):
        changed[at] = f"changed {at}"
    return "\n".join(lines).encode() + b"\n", "\n".join(changed).encode() + b"\n"


def _milliseconds(go: Callable[[], object], expected: object) -> float:
    collect()
    begun = process_time()
    found = go()
    took = (process_time() - begun) * 1e3
    if found != expected:
        raise AssertionError("not what it should be")
    return took


def _git_apply(before: bytes, after: bytes, diff: str) -> float:
    with tempfile.TemporaryDirectory(prefix="bench-hands-") as folder:
        path = Path(folder) / "file.txt"
        path.write_bytes(before)
        begun = perf_counter()
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff.encode(), check=True)
        took = (perf_counter() - begun) * 1e3
        if path.read_bytes() != after:
            raise AssertionError("not what it should be")
        return took
