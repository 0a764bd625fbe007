"""A copy of the tree in which a mutant lives, and the tests that are to kill it.

By stages: first the quick tests of the room, then its slow ones, then the quick ones of the whole house, then all. A
stage begins with a measurement: its tests run once, over a source with probes, and then it is known which of them come
where. Of each mutant only those are asked, the nearest and quickest first, until one fails. So a mutant has survived a
stage when all tests have passed that come to its line.

Whatever goes wrong in this counts for the mutant, not against it. A test that failed when it was measured kills
nothing; a slow one has to fail twice; one that takes five times as long as it did has noticed, if it takes more than
ten times as long when it is asked again: the machine may have been busy.
"""

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from tests.mutants.mutations import Mutant
from tests.mutants.nursery import Nursery
from tests.mutants.probes import probed
from tests.mutants.rooms import Imports
from tests.mutants.swift import ASKED, MEASURED, REACHED

Fate = Literal["killed", "timed out", "survived"]
STAGES = ("the room's quick tests", "its slow ones", "the whole house's quick ones", "all but the browsers'")
OPTIONS = ["-o", "addopts=--strict-markers", "-q"]
WITHOUT = [
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-p",
    "no:xdist",
]
SEEDED = ["-p", "tests.mutants.swift", "--hypothesis-seed=0"]
PYTEST = [*OPTIONS, *WITHOUT, *SEEDED]
QUICK = "not slow and not browser"
SLOW = "slow and not browser"
PARTS = (24, 120, 480, 100_000)
"""How many tests are asked before the others: most mutants get no further than the first."""
LEAST_LIMIT, PATIENCE = 10.0, 5.0
"""A test is given so many seconds, or so many times as long as it took when it was measured."""
LONGEST = 3600.0
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", re.MULTILINE)
_OVERDUE = re.compile(r"was not over after|Timeout \(>")


class Unfit(Exception):
    """The tests cannot tell, also without a mutant."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A test, as it was measured."""

    name: str
    slow: bool
    seconds: float
    passed: bool

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]

    @property
    def limit(self) -> float:
        return max(LEAST_LIMIT, PATIENCE * self.seconds)


@dataclass
class Measured:
    tests: dict[str, Seen] = field(default_factory=dict)
    reach: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The number of a mutant, and the tests that come to its place."""
    imported: set[int] = field(default_factory=set)
    """Places that are reached when the file is imported: every test comes there that is near."""
    foreign: set[str] = field(default_factory=set)
    """Modules from outside of the tree that the tests have imported."""

    def add(self, lines: Iterable[str]) -> None:
        files: defaultdict[str, set[str]] = defaultdict(set)
        before: defaultdict[str, set[int]] = defaultdict(set)
        for line in map(json.loads, lines):
            if (imported := line.get("imported")) is not None:
                self.imported |= {*imported}
                continue
            if (foreign := line.get("foreign")) is not None:
                self.foreign |= {*foreign}
                continue
            seen = Seen(line["test"], line["slow"], line["seconds"], line["passed"])
            self.tests[seen.name] = seen
            files[seen.file].add(seen.name)
            before[seen.file] |= {*line["before"]}
            for number in line["reached"]:
                self.reach[number].add(seen.name)
        for file, numbers in before.items():
            for number in numbers:
                self.reach[number] |= files[file]


class Trial:
    def __init__(
        self,
        root: Path,
        scratch: Path,
        tried: Sequence[Mutant],
        *,
        stages: int = len(STAGES),
        nearest: int | None = None,
    ) -> None:
        """`nearest`: of each mutant's files of tests only so many are asked."""
        self.copy = scratch / "tree"
        self._tried = tried
        self._most_stages = stages
        self._nearest = nearest
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            stdout=subprocess.PIPE,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (root / name).is_file():  # not what was deleted, and not yet committed
                (self.copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.copy / name)
        self.imports = Imports(self.copy)
        self._measured = Measured()
        self._ran_already: set[tuple[str, str]] = set()
        self._doubted: set[str] = set()
        """Tests that failed once with a mutant, and then did not."""
        self._asked: defaultdict[int, set[str]] = defaultdict(set)
        self._cached = {number for number, mutant in enumerate(tried) if self._is_cached(mutant)}
        """Places that only the first test of a process reaches, whichever that is, though others need what is there."""

    def fates(self) -> Iterator[tuple[Mutant, Fate, str]]:
        """Each mutant, what became of it, and what killed it or how many tests did not. Survivors come last."""
        living = dict(enumerate(self._tried))
        for stage in range(self._most_stages):
            with closing(Nursery(self.copy, self._measured.foreign)) as self._nursery:
                self._measure(stage, living)
            with closing(Nursery(self.copy, self._measured.foreign)) as self._nursery:  # it knows more of them now
                for number, mutant in list(living.items()):
                    fate, by = self._fate(stage, number, mutant)
                    if fate != "survived":
                        del living[number]
                        yield mutant, fate, by
                    else:
                        print(f"still alive: {mutant.file}:{mutant.line}  {len(self._asked[number])} tests come there")
        for number, mutant in living.items():
            yield mutant, "survived", f"{len(self._asked[number])} tests come there"

    # --- which tests

    def _is_cached(self, mutant: Mutant) -> bool:
        for node in ast.walk(ast.parse((self.copy / mutant.file).read_bytes())):
            match node:
                case ast.FunctionDef(decorator_list=decorators, lineno=begin, end_lineno=int(end)):
                    if begin <= mutant.line <= end and any("cache" in ast.unparse(each) for each in decorators):
                        return True
        return False

    def files(self, stage: int, mutant: Mutant) -> list[str]:
        """Files of tests that are asked at this stage, the nearest first."""
        near, others = self.imports.tests(mutant.file)
        if self._nearest is not None:
            return near[: self._nearest]
        own = [*near, *others]
        return own if stage < 2 else [file for file in self.imports.all_tests() if file not in own]

    def _measure(self, stage: int, living: Mapping[int, Mutant]) -> None:
        marked = SLOW if stage % 2 else QUICK
        wanted = {file for mutant in living.values() for file in self.files(stage, mutant)}
        new = sorted(file for file in wanted if (file, marked) not in self._ran_already)
        if not new:
            return
        print(f"{STAGES[stage]}: which tests come where, of {len(new)} files", flush=True)
        self._ran_already |= {(file, marked) for file in new}
        reached, told = self.copy.parent / "reached", self.copy.parent / "measured"
        reached.mkdir(exist_ok=True)
        reached.chmod(0o777)
        told.write_text("")
        where: defaultdict[str, dict[int, Mutant]] = defaultdict(dict)
        for number, mutant in living.items():
            where[mutant.file][number] = mutant
        changed = {file: probed((self.copy / file).read_bytes(), of, str(reached)) for file, of in where.items()}
        with self._in_place(changed):
            code, said = self._ran(new, LONGEST, "-m", marked, env={MEASURED: str(told), REACHED: str(reached)})
        if code not in (0, 1, 5):
            raise Unfit(said)
        self._measured.add(told.read_text().splitlines())

    def asks(self, stage: int, number: int, mutant: Mutant) -> list[Seen]:
        """Tests of this stage that come there. The quick ones: the nearest first of those that are equally quick. The
        slow ones: first those that take the least time and come to the fewest other places, and what starts a whole
        server last."""
        files = {file: rank for rank, file in enumerate(self.files(stage, mutant))}
        names = self._measured.reach[number]
        if number in self._measured.imported or number in self._cached:
            names = names | {name for name, seen in self._measured.tests.items() if seen.file in files}
        found = [
            seen
            for seen in map(self._measured.tests.__getitem__, names)
            if seen.passed and seen.file in files and seen.slow == bool(stage % 2) and seen.name not in self._doubted
        ]
        if stage % 2:
            places = Counter(name for reached in self._measured.reach.values() for name in reached)
            return sorted(found, key=lambda seen: (seen.seconds * places[seen.name], files[seen.file], seen.name))
        return sorted(found, key=lambda seen: (files[seen.file] // 3, seen.seconds > 0.1, files[seen.file], seen.name))

    # --- what becomes of a mutant

    def _fate(self, stage: int, number: int, mutant: Mutant) -> tuple[Fate, str]:
        asks = self.asks(stage, number, mutant)
        self._asked[number] |= {seen.name for seen in asks}
        for begin, end in pairwise((0, *PARTS)):
            waiting = asks[begin:end]
            while waiting:
                code, said = self._ask(waiting, mutant)
                if code == 0:
                    break
                if code is None:
                    return "timed out", "all of them"
                failed = set(_FAILED.findall(said))
                known = [seen for seen in waiting if seen.name in failed]
                is_late = _OVERDUE.search(said) is not None
                if known and (is_late or any(seen.slow for seen in known)):
                    code, said = self._ask(known, mutant, patience=2.0 if is_late else 1.0)
                    if code == 0:
                        if not is_late:
                            self._doubted |= failed
                            print(f"fails only sometimes, and is asked no more: {', '.join(failed)}", file=sys.stderr)
                        waiting = [seen for seen in waiting if seen.name not in failed]
                        continue
                fate: Fate = "timed out" if code is None or _OVERDUE.search(said) else "killed"
                return fate, ", ".join(sorted(failed)) or "no test can be imported"
        return "survived", ""

    def _ask(self, asks: Sequence[Seen], mutant: Mutant, *, patience: float = 1.0) -> tuple[int | None, str]:
        files = list(dict.fromkeys(seen.file for seen in asks))
        limits = {seen.name: patience * seen.limit for seen in asks}
        told = {"limits": limits, "known": sorted(self._measured.tests)}
        asked = self.copy.parent / "asked"
        asked.write_text(json.dumps(told))
        deadline = 60.0 + patience * PATIENCE * sum(seen.seconds for seen in asks)
        marked = SLOW if asks[0].slow else QUICK
        with self._in_place({mutant.file: mutant.made((self.copy / mutant.file).read_bytes())}):
            return self._ran(files, deadline, "-x", "-m", marked, env={ASKED: str(asked)})

    def _ran(
        self, files: Sequence[str], deadline: float, *options: str, env: Mapping[str, str]
    ) -> tuple[int | None, str]:
        """What pytest returned (None: it took too long), and what it said."""
        said = self.copy.parent / "said"
        scrap = self.copy.parent / "scrap"
        words = [*PYTEST, f"--basetemp={scrap}", *options, *files]
        code = self._nursery.run(words, env, said, deadline)
        text = said.read_text(errors="replace")
        return 0 if code == 5 else code, text if len(text) < 200_000 else text[-200_000:]

    @contextmanager
    def _in_place(self, changed: Mapping[str, bytes]) -> Iterator[None]:
        sources = {file: (self.copy / file).read_bytes() for file in changed}
        for file, source in changed.items():
            self._write(file, source)
        try:
            yield
        finally:
            for file, source in sources.items():
                self._write(file, source)

    def _write(self, file: str, source: bytes) -> None:
        path = self.copy / file
        path.write_bytes(source)
        # What was compiled is known by second and size, which a mutant may share with the source.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
