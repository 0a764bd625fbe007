"""Whether a question finds the files that answer it, beside three rankings of whole files.

    python -m bench retrieval --queries FILE --source DIR

FILE has a line of JSON for each question: `query`, and `files`, those that answer it, as they are called below DIR.

Sides
  - Ours goes the whole way: the files are found and read into an index as for a workspace, and each question is asked
    of it as the search box does. A file's place is that of the best of its hits.
  - "word count" is what a search by ripgrep amounts to: in how many lines of a file any word of the question stands,
    case aside. It is done in Python, so ripgrep need not be here; words of fewer than three letters are left out.
  - "FTS5" has the text of each file, and ranks by bm25 whatever has any word.
  - "FTS5, code only" is the strongest simple one: porter's stems, bodies and beside them the parts of identifiers, the
    words of the path counting five times, and only code outside tests, docs and examples.

Units
  - recall@10: which share of a question's files are among the first ten. MRR: one through the place of the first of
    them. Both are means over all questions. No goal is set against a peer but to be better.
"""

import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from bench.harness import Result, Unit
from codec.agent.index.asking import IndexQuery
from codec.agent.index.telling import IndexWish
from transports.agent.index.folder_indexes import FolderIndexes
from transports.agent.index.worker import IndexWorker
from transports.process.member import MemberLine

NAME = "retrieval"
ABOUT = "which files a question finds, beside a word count and two uses of FTS5 (--queries FILE --source DIR)"

RECALL, MRR = Unit("recall"), Unit("mrr")
FIRST = 10
DEEP = 100
"""Places that are looked at for the first right file."""
LARGEST = 1 << 20
SHORTEST = 3
ASIDE = re.compile(
    r"(?:^|/)(?:_?tests?|testing|docs?|examples?)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$", re.IGNORECASE
)
_RUN = re.compile(r"[^\W_]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Ranking = Callable[[str], Sequence[str]]
"""Paths, the best first."""


class Asked(msgspec.Struct, frozen=True):
    """A question, and the files that answer it."""

    query: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    recall: float
    mrr: float


def run(rounds: int, *, queries: Path | None = None, source: Path | None = None) -> Iterator[Result]:
    """Nothing is drawn, so `rounds` has no use."""
    if queries is None or source is None:
        why = "no questions: add --queries FILE --source DIR"
        yield Result(NAME, f"recall@{FIRST}", "FTS5, code only", None, None, RECALL.name, None, 1.0, why)
        return
    asked = read_questions(queries)
    files = texts_of(source)
    ours = measured(ours_over(source, asked), asked)
    peers = {
        "word count": measured(by_word_count(files), asked),
        "FTS5": measured(by_fts5(files), asked),
        "FTS5, code only": measured(by_fts5_of_code(files), asked),
    }
    for name, theirs in peers.items():
        yield Result.between(NAME, f"recall@{FIRST}", name, [(ours.recall, theirs.recall or 1e-9)], RECALL, 1.0)
    for name, theirs in peers.items():
        yield Result.between(NAME, "MRR", name, [(ours.mrr, theirs.mrr or 1e-9)], MRR, 1.0)


def read_questions(path: Path) -> list[Asked]:
    return [msgspec.json.decode(line, type=Asked) for line in path.read_bytes().splitlines() if line.strip()]


def texts_of(source: Path) -> dict[str, str]:
    found = {}
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            data = path.read_bytes()
            if b"\0" not in data:
                found[path.relative_to(source).as_posix()] = data.decode("utf-8", "replace")
    return found


def measured(ranking: Ranking, asked: Sequence[Asked]) -> Found:
    recall = mrr = 0.0
    for each in asked:
        places = list(ranking(each.query))
        wanted = set(each.files)
        recall += len(wanted.intersection(places[:FIRST])) / len(wanted)
        mrr += next((1 / place for place, path in enumerate(places, 1) if path in wanted), 0.0)
    return Found(recall / len(asked), mrr / len(asked))


# -- ours


class _SelfTaught:
    """Does the orders of an update in this process, one after the other: this bench is not about speed."""

    def __init__(self) -> None:
        self._worker = IndexWorker()

    async def do(
        self, order: bytes, heard: Callable[[bytes], object] = lambda part: None, *, seconds: float = 60.0
    ) -> bytes:
        line = _Line()
        answer = self._worker.do(order, line)
        for part in line.said:
            heard(part)
        return answer


class _Line(MemberLine):
    def __init__(self) -> None:
        self.said: list[bytes] = []

    def say(self, part: bytes) -> None:
        self.said.append(part)

    def lively(self) -> None:
        pass


def ours_over(source: Path, asked: Sequence[Asked]) -> Ranking:
    answers: dict[str, list[str]] = {}
    root = str(source.resolve())

    async def ask() -> None:
        with tempfile.TemporaryDirectory(prefix="troupe-bench-") as folder:
            index = FolderIndexes(_SelfTaught(), Path(folder), at_once=1).index("bench", root)
            await index.update(IndexWish(), lambda facts: None)
            for each in asked:
                query = IndexQuery(text=each.query, most=DEEP, per_file=1)
                findings = await index.find(query, lambda path: True)
                answers[each.query] = list(dict.fromkeys(hit.path for hit in findings.hits))

    trio.run(ask)
    return answers.__getitem__


# -- the others


def by_word_count(files: Mapping[str, str]) -> Ranking:
    lines = {path: text.lower().splitlines() for path, text in files.items()}

    def ranked(question: str) -> list[str]:
        words = {word for word in _RUN.findall(question.lower()) if len(word) >= SHORTEST}
        if not words:
            return []
        any_word = re.compile("|".join(map(re.escape, sorted(words))))
        counts = {path: sum(1 for line in every if any_word.search(line)) for path, every in lines.items()}
        return sorted((path for path, count in counts.items() if count), key=lambda path: (-counts[path], path))

    return ranked


def by_fts5(files: Mapping[str, str]) -> Ranking:
    return _fts5("body", "unicode61", "1.0", {path: (text,) for path, text in files.items()})


def by_fts5_of_code(files: Mapping[str, str]) -> Ranking:
    rows = {
        path: (text, " ".join(_parts(text)), " ".join(_RUN.findall(path)))
        for path, text in files.items()
        if path.endswith(".py") and not ASIDE.search(path)
    }
    return _fts5("body, names, path", "porter unicode61", "1.0, 1.0, 5.0", rows)


def _fts5(columns: str, tokenizer: str, weights: str, rows: Mapping[str, tuple[str, ...]]) -> Ranking:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE file USING fts5({columns}, tokenize = '{tokenizer}')")
    paths = list(rows)
    marks = ", ".join("?" * len(columns.split(",")))
    connection.executemany(
        f"INSERT INTO file (rowid, {columns}) VALUES (?, {marks})",
        [(number, *rows[path]) for number, path in enumerate(paths)],
    )

    def ranked(question: str) -> list[str]:
        words = dict.fromkeys(re.findall(r"\w+", question))
        found = connection.execute(
            f"SELECT rowid FROM file WHERE file MATCH ? ORDER BY bm25(file, {weights}) LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words) or '""', DEEP),
        )
        return [paths[number] for (number,) in found]

    return ranked


def _parts(text: str) -> Iterator[str]:
    for name in Counter(_NAME.findall(text)):
        parts = _PART.findall(name)
        if len(parts) > 1:
            yield from parts
