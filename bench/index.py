"""The index of a workspace: how soon it is there, how soon it knows of a change, and how fast it answers.

    python -m bench index [--source DIR]

DIR is a folder of sources, such as an unpacked source distribution of Django; without it, Python's own library. It is
copied first, because files in it are saved.

Sides
  - "parses alone": the same grammars parse the same files over all cores, from memory, and nothing else is done: no
    file is looked for, and nothing is taken out or kept. Loading the grammars is not timed.
  - "universal-ctags" goes through the same tree, all languages that it knows, and writes its tags nowhere. It keeps no
    words.
  - "ripgrep" looks for the same words, any of them, case aside, and names the files.
  - "allowed" stands for the figure that must not be exceeded.
  - Our workers are nice, so that whoever else computes goes before them; the peers are as nice as they are.
  - Ours begins with no process and no file. It ends when all is committed, imports are resolved, and files are ranked.
    Each round is a new index.
"""

import functools
import multiprocessing
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sysconfig
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event, Semaphore
from pathlib import Path
from statistics import median
from time import perf_counter

import trio

from actors.kernel import ChildSpec, Key, Stage, Top
from actors.kernel import run as run_tree
from bench.harness import Result, Unit, in_turns
from codec.agent.index.asking import IndexQuery
from codec.agent.index.languages import GRAMMARS, language_of, parser
from codec.agent.index.telling import IndexFacts, IndexWish
from transports.agent.index.folder_indexes import FolderIndex, FolderIndexes, index_workers
from transports.agent.index.reading import LARGEST
from transports.process.crew import Crew, Foreman, ForemanMessage, crew_spec
from transports.process.member import NICE

NAME = "index"
ABOUT = "a workspace's index: made, restarted, a file saved, asked; its memory and its disk (--source DIR)"

SECONDS = Unit("s", cost=True)
MILLISECONDS = Unit("ms", cost=True)
MEGABYTES = Unit("MB", cost=True)
TIMES = Unit("x text", cost=True)
PARSES_GOAL, CTAGS_GOAL = 1 / 1.5, 1 / 10
FIRST_MS, RESTART_MS, SAVED_MS, QUERY_MS, MEMORY_MB, DISK = 500.0, 700.0, 30.0, 20.0, 400.0, 3.0
SAVES, QUESTIONS = 30, 60
CORES = min(8, len(os.sched_getaffinity(0)))


def run(rounds: int, *, source: Path | None = None) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="bench-index-") as place:
        root = copied(source, Path(place, "work"))
        builds = max(1, rounds // 7)
        made: list[Built] = []
        words = questions_for(root)
        places = sorted(path for path in root.rglob("*.py") if 10_000 < path.stat().st_size < 40_000)

        def ours() -> float:
            state = Path(place, f"state{len(made)}")
            state.mkdir(mode=0o700)
            made.append(trio.run(built, root, state, words, places))
            shutil.rmtree(state)
            return made[-1].seconds

        sides: dict[str, tuple[Callable[[], float], float]] = {"parses alone": (parses(root), PARSES_GOAL)}
        if (ctags := shutil.which("ctags")) is not None:
            sides["universal-ctags"] = (functools.partial(tagged, ctags, root), CTAGS_GOAL)
        mine, *others = in_turns([ours, *(side for side, _ in sides.values())], builds)
        case = f"text and symbols of {made[0].files:,} files"
        for (peer, (_, goal)), theirs in zip(sides.items(), others, strict=True):
            yield Result.between(NAME, case, peer, list(zip(mine, theirs, strict=True)), SECONDS, goal)
        if ctags is None:
            yield absent(case, "universal-ctags", SECONDS, CTAGS_GOAL, "ctags is not installed")
        yield allowed("first hit", [each.first for each in made], FIRST_MS, MILLISECONDS)
        yield allowed("restart, nothing changed", [each.restart for each in made], RESTART_MS, MILLISECONDS)
        yield allowed("saved until found, p50", [median(each.saves) for each in made], SAVED_MS, MILLISECONDS)
        asked = [p95(each.questions) for each in made]
        yield allowed("a question, p95", asked, QUERY_MS, MILLISECONDS)
        if (rg := shutil.which("rg")) is None:
            yield absent("a question, p95", "ripgrep", MILLISECONDS, 1.0, "rg is not installed")
        else:
            theirs = [p95([searched(rg, root, each) for each in words]) for _ in made]
            yield Result.between(
                NAME, "a question, p95", "ripgrep", list(zip(asked, theirs, strict=True)), MILLISECONDS, 1.0
            )
        yield allowed("memory of all processes", [each.megabytes for each in made], MEMORY_MB, MEGABYTES)
        yield allowed("disk", [each.kept / each.text for each in made], DISK, TIMES)


def allowed(case: str, ours: Sequence[float], most: float, unit: Unit) -> Result:
    return Result.between(NAME, case, "allowed", [(each, most) for each in ours], unit, 1.0)


def absent(case: str, peer: str, unit: Unit, goal: float, why: str) -> Result:
    return Result(NAME, case, peer, None, None, unit.name, None, goal, why)


def p95(figures: Sequence[float]) -> float:
    return sorted(figures)[int(0.95 * (len(figures) - 1))]


def copied(source: Path | None, root: Path) -> Path:
    if source is None:
        source = Path(sysconfig.get_path("stdlib"))
    ignore = shutil.ignore_patterns("site-packages", "__pycache__", ".git")
    shutil.copytree(source, root, symlinks=True, ignore=ignore)
    os.sync()
    return root


def questions_for(root: Path) -> list[str]:
    """Names that are defined there, alone and in pairs, always the same ones for the same tree."""
    names = set()
    for path in sorted(root.rglob("*.py"))[:600]:
        names.update(re.findall(r"(?m)^\s*(?:def|class) (\w{5,})", path.read_text(errors="replace")))
    drawn = random.Random(1)
    found = sorted(names) or ["class", "return"]
    return [" ".join(drawn.choice(found) for _ in range(1 + number % 2)) for number in range(QUESTIONS)]


# -- ours


@dataclass(frozen=True, slots=True)
class Built:
    files: int
    seconds: float
    first: float
    """Milliseconds until a commit can be asked."""
    restart: float
    saves: Sequence[float]
    questions: Sequence[float]
    megabytes: float
    kept: int
    text: int


async def built(root: Path, state: Path, words: Sequence[str], places: Sequence[Path]) -> Built:
    async with an_index(root, state) as (index, foreman):
        began = perf_counter()
        first: list[float] = []

        def said(facts: IndexFacts) -> None:
            if not first and facts.total_chunks:
                first.append((perf_counter() - began) * 1_000)

        facts = await index.update(IndexWish(), said)
        seconds = perf_counter() - began
        megabytes = (
            sum(map(_peak, foreman.statistics().pids)) + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        )
        saves = [await _saved(root, index, places[7 * number % len(places)], number) for number in range(SAVES)]
        questions = [await _asked(index, each) for each in words]
    async with an_index(root, state) as (index, _):
        began = perf_counter()
        await index.update(IndexWish(), lambda facts: None)
        restart = (perf_counter() - began) * 1_000
    file = state / "index" / "one.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((text,),) = connection.execute("SELECT sum(size) FROM file WHERE lines > 0")
    return Built(
        facts.total_files, seconds, first[0] if first else seconds * 1_000, restart, saves, questions, megabytes,
        file.stat().st_size, text,
    )  # fmt: skip


@asynccontextmanager
async def an_index(root: Path, state: Path) -> AsyncIterator[tuple[FolderIndex, Foreman]]:
    name = Key[ForemanMessage]("index/crew")
    stages: list[Stage] = []
    foreman = Foreman(name, index_workers())
    spec = ChildSpec("top", lambda: Top([crew_spec(lambda: foreman)]), start_timeout=60, grace=10)
    async with trio.open_nursery() as nursery:
        ref = await nursery.start(functools.partial(run_tree, spec, on_stage=stages.append))
        yield FolderIndexes(Crew(stages[0].registry, name), state).index("one", str(root)), foreman
        await ref.stop()


async def _saved(root: Path, index: FolderIndex, place: Path, number: int) -> float:
    """Milliseconds from the save of a file until its new word is found."""
    word, path = f"zebra{number}zebra", place.relative_to(root).as_posix()
    with _more(place, f"\n\ndef {word}():\n    pass\n"):
        began = perf_counter()
        await index.update(IndexWish(paths=(path,)), lambda facts: None)
        found = await index.find(IndexQuery(text=word), lambda path: True)
        took = (perf_counter() - began) * 1_000
    assert found.hits[0].path == path
    return took


@contextmanager
def _more(place: Path, text: str) -> Iterator[None]:
    before = place.read_bytes()
    place.write_bytes(before + text.encode())
    try:
        yield
    finally:
        place.write_bytes(before)


async def _asked(index: FolderIndex, words: str) -> float:
    began = perf_counter()
    await index.find(IndexQuery(text=words), lambda path: True)
    return (perf_counter() - began) * 1_000


def _peak(pid: int) -> float:
    """Megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1e3
    return 0.0


# -- theirs


def parses(root: Path) -> Callable[[], float]:
    """Each round has new processes, that wait for a sign when they have loaded the grammars."""
    texts = [
        (language, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST
        if (language := language_of(path.name, "")) in GRAMMARS
    ]

    def parsed() -> float:
        context = multiprocessing.get_context("fork")
        ready, go = context.Semaphore(0), context.Event()
        shares = [texts[number::CORES] for number in range(CORES)]
        processes = [context.Process(target=_parse, args=(share, ready, go)) for share in shares]
        for process in processes:
            process.start()
        for _ in processes:
            ready.acquire()
        began = perf_counter()
        go.set()
        for process in processes:
            process.join()
        return perf_counter() - began

    return parsed


def _parse(share: Sequence[tuple[str, bytes]], ready: Semaphore, go: Event) -> None:
    os.nice(NICE)
    for language in {language for language, _ in share}:
        parser(language).parse(b"")
    ready.release()
    go.wait()
    for language, data in share:
        parser(language).parse(data)


def tagged(ctags: str, root: Path) -> float:
    began = perf_counter()
    subprocess.run(
        ["nice", f"-n{NICE}", ctags, "-R", "-f", "-", "."],  # some versions cannot empty /dev/null, and fail
        cwd=root,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return perf_counter() - began


def searched(rg: str, root: Path, words: str) -> float:
    """Milliseconds."""
    patterns = [part for word in words.split() for part in ("-e", word)]
    began = perf_counter()
    subprocess.run([rg, "-l", "-i", "-F", *patterns, "."], cwd=root, stdout=subprocess.DEVNULL)
    return (perf_counter() - began) * 1_000
