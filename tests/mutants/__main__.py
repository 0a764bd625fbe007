"""`python -m tests.mutants`: draw, try, tell."""

import argparse
import difflib
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutations import Mutant, drawn, mutants
from tests.mutants.rooms import ROOMS, room_of, sources
from tests.mutants.trial import STAGES, Trial, Unfit

ROOT = Path(__file__).parents[2]
EXCUSED = Path(__file__).with_name("excused.toml")
OF_A_ROOM = 40


@dataclass(frozen=True, slots=True)
class Excuse:
    """A change that is no fault, and why. Without `becomes`, any change of the line; without `after`, of every such
    line of the file."""

    file: str
    line: str
    why: str
    becomes: str = ""
    after: str = ""

    def covers(self, mutant: Mutant, source: bytes) -> bool:
        if self.file != mutant.file:
            return False
        before, was = (line.decode().strip() for line in [b"", *source.splitlines()][mutant.line - 1 : mutant.line + 1])
        if was != self.line or self.after not in ("", before):
            return False
        return not self.becomes or mutant.line_of(source) == self.becomes


def excused(path: Path = EXCUSED) -> list[Excuse]:
    return [Excuse(**entry) for entry in tomllib.loads(path.read_text()).get("excused", [])]


def sources_of(root: Path, files: Sequence[str]) -> dict[str, bytes]:
    return {file: (root / file).read_bytes() for file in files}


def all_of(sources: Mapping[str, bytes]) -> list[Mutant]:
    return [mutant for file, source in sources.items() for mutant in mutants(file, source)]


def diff(root: Path, mutant: Mutant) -> str:
    source = (root / mutant.file).read_bytes()
    before, after = (text.decode().splitlines(keepends=True) for text in (source, mutant.made(source)))
    return "".join(difflib.unified_diff(before, after, mutant.file, mutant.file, n=2))


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    if arguments.at:
        found = []
        for place in arguments.at:
            file, _, line = place.partition(":")
            every = all_of(sources_of(ROOT, [file]))
            found += [mutant for mutant in every if not line or mutant.line == int(line)]
        if arguments.number is None:
            return found
        known = sources_of(ROOT, sorted({mutant.file for mutant in found}))
        return drawn(found, known, arguments.number, str(arguments.seed))
    found = []
    for room in arguments.room or ROOMS:
        known = sources_of(ROOT, sources(ROOT, room))
        found += drawn(all_of(known), known, arguments.number or OF_A_ROOM, f"{room} {arguments.seed}")
    return found


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--room", choices=ROOMS, action="append", help="may be said more than once (all)")
    parser.add_argument("--number", type=int, help=f"mutants of each room ({OF_A_ROOM}), or of all those places (all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--at", metavar="FILE[:LINE]", action="append", help="the mutants of a file, or of a line of it"
    )
    stages = "; ".join(f"{number}: {asked}" for number, asked in enumerate(STAGES, 1))
    parser.add_argument(
        "--stages", type=int, default=len(STAGES), metavar="N", help=f"how many tests are asked: {stages}"
    )
    parser.add_argument(
        "--nearest", type=int, metavar="N", help="at first sight: of each mutant only so many files of tests are asked"
    )
    parser.add_argument("--list", action="store_true", help="say which are drawn, and try none")
    arguments = parser.parse_args(words)
    found = chosen(arguments)
    excuses = excused()
    sound = {each for each in found if any(excuse.covers(each, (ROOT / each.file).read_bytes()) for excuse in excuses)}
    tried = [mutant for mutant in found if mutant not in sound]
    if arguments.list:
        for mutant in tried:
            print(diff(ROOT, mutant))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that nothing is left running
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mutant in found:
        counts[room_of(mutant.file)]["excused"] += mutant in sound
    survivors = []
    with tempfile.TemporaryDirectory(prefix="troupe-mutants-") as scratch:
        most = 1 if arguments.nearest else arguments.stages
        trial = Trial(ROOT, Path(scratch), tried, stages=most, nearest=arguments.nearest)
        began = time.monotonic()
        try:
            for number, (mutant, fate, by) in enumerate(trial.fates(), 1):
                counts[room_of(mutant.file)][fate] += 1
                took = time.monotonic() - began
                print(f"{number}/{len(tried)} {fate:9} {took:5.1f} s  {mutant.file}:{mutant.line}  {by}", flush=True)
                if fate == "survived":
                    survivors.append(mutant)
                    print(diff(ROOT, mutant), flush=True)
                began = time.monotonic()
        except Unfit as unfit:
            print(unfit, file=sys.stderr)
            return 2
    print(table(counts))
    return 1 if survivors else 0


COLUMNS = ("drawn", "excused", "killed", "timed out", "survived")


def table(counts: Mapping[str, Counter[str]]) -> str:
    """Of each room how many are faults that a test notices; what is excused is no fault, and not in the rate."""
    lines = ["", f"{'room':<12}" + "".join(f"{column:>11}" for column in COLUMNS) + f"{'rate':>8}"]
    for room, fates in counts.items():
        total = sum(fates.values())
        faults = total - fates["excused"]
        rate = f"{1 - fates['survived'] / faults:.0%}" if faults else "none"
        row = [total, *(fates[column] for column in COLUMNS[1:])]
        lines.append(f"{room:<12}" + "".join(f"{number:>11}" for number in row) + f"{rate:>8}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
