"""`python -m tests.mutants`: draw, try, tell."""

import argparse
import difflib
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutations import Mutant, drawn, mutants
from tests.mutants.rooms import ROOMS, room_of, sources
from tests.mutants.trial import Trial, Unfit

ROOT = Path(__file__).parents[2]
STAGES = "1: the three nearest files; 2: all near; 3: their slow tests; 4: the room's; 5 (default): its slow ones"
EXCUSED = Path(__file__).with_name("excused.toml")


@dataclass(frozen=True, slots=True)
class Excuse:
    """A change that is no fault, and why. Without `becomes`, any change of the line."""

    file: str
    line: str
    why: str
    becomes: str = ""

    def covers(self, mutant: Mutant, source: bytes) -> bool:
        if self.file != mutant.file:
            return False
        was = source.splitlines()[mutant.line - 1].decode().strip()
        return was == self.line and (not self.becomes or mutant.line_of(source) == self.becomes)


def excused(path: Path = EXCUSED) -> list[Excuse]:
    return [Excuse(**entry) for entry in tomllib.loads(path.read_text()).get("excused", [])]


def living(root: Path, files: Sequence[str], excuses: Sequence[Excuse]) -> list[Mutant]:
    """All mutants of these files that have no excuse."""
    found: list[Mutant] = []
    for file in files:
        source = (root / file).read_bytes()
        found += [
            mutant for mutant in mutants(file, source) if not any(excuse.covers(mutant, source) for excuse in excuses)
        ]
    return found


def diff(root: Path, mutant: Mutant) -> str:
    source = (root / mutant.file).read_bytes()
    before, after = (text.decode().splitlines(keepends=True) for text in (source, mutant.made(source)))
    return "".join(difflib.unified_diff(before, after, mutant.file, mutant.file, n=2))


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    excuses = excused()
    if arguments.at:
        file, _, line = arguments.at.partition(":")
        return [mutant for mutant in living(ROOT, [file], excuses) if not line or mutant.line == int(line)]
    rooms = list(ROOMS) if arguments.room == "all" else [arguments.room]
    found = []
    for room in rooms:
        everything = living(ROOT, sources(ROOT, room), excuses)
        found += drawn(everything, arguments.number, f"{room} {arguments.seed}")
    return found


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--room", choices=[*ROOMS, "all"], default="all")
    parser.add_argument("--number", type=int, default=40, help="mutants of each room (40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", metavar="FILE[:LINE]", help="every mutant of a file, or of a line of it")
    parser.add_argument("--stages", type=int, default=5, metavar="N", help=STAGES)
    parser.add_argument("--list", action="store_true", help="say which are drawn, and try none")
    arguments = parser.parse_args(words)
    tried = chosen(arguments)
    if arguments.list:
        for mutant in tried:
            print(diff(ROOT, mutant))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that nothing is left running
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    with tempfile.TemporaryDirectory(prefix="troupe-mutants-") as scratch:
        trial = Trial(ROOT, Path(scratch), stages=arguments.stages)
        for number, mutant in enumerate(tried, 1):
            began = time.monotonic()
            try:
                fate = trial.fate(mutant)
            except Unfit as unfit:
                print(unfit, file=sys.stderr)
                return 2
            counts[room_of(mutant.file)][fate] += 1
            took = time.monotonic() - began
            print(f"{number}/{len(tried)} {fate:9} {took:5.1f} s  {mutant.file}:{mutant.line}", flush=True)
            if fate == "survived":
                survivors.append(mutant)
                print(diff(ROOT, mutant), flush=True)
    print(table(counts))
    return 1 if survivors else 0


def table(counts: defaultdict[str, Counter[str]]) -> str:
    lines = ["", f"{'room':<12}{'mutants':>8}{'killed':>8}{'timed out':>11}{'survived':>10}{'rate':>8}"]
    for room, fates in counts.items():
        total = sum(fates.values())
        rate = (total - fates["survived"]) / total
        row = f"{room:<12}{total:>8}{fates['killed']:>8}{fates['timed out']:>11}{fates['survived']:>10}{rate:>8.0%}"
        lines.append(row)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
