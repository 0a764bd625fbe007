"""A question to the index: the candidates that SQL finds for it, the best of them, and why they are the best.

    symbol_search   definitions that have a name of the question (symbol_search.py)
    text_search     chunks that have its words (text_search.py)
    reranking       ranking.py

Rules
  - Nothing of a question reaches FTS5's own language: words are letters and digits, in quotes.
  - Every search has a limit, so a question takes about as long in a large workspace as in a small one.
  - `readable` is asked before anything is counted. A file that it denies is in no hit, no count, and no reason.
  - The same index gives the same answer: places with the same score are ordered by path and line.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence, Set
from posixpath import basename, commonprefix, dirname, splitext

from msgspec.structs import replace

from codec.agent.index.asking import IndexFindings, IndexHit, IndexQuery, StageCount
from codec.agent.index.explaining import PlaceWords, reasons_of
from codec.agent.index.identifiers import words_of
from codec.agent.index.question import IndexQuestion, question_of
from codec.agent.index.ranking import (
    WEIGHTS,
    FoundChunk,
    FoundFile,
    FoundSymbol,
    IndexFound,
    RankedPlace,
    Weights,
    ranked,
    verbatim_more,
    with_lines,
)
from codec.agent.index.wording import wording_of, words_apart
from transports.agent.index.known_files import KnownFiles
from transports.agent.index.schema import SPAN
from transports.agent.index.stems import stems_of
from transports.agent.index.symbol_search import SymbolSearch, lowered
from transports.agent.index.text_search import TextSearch, WordsThere

MOST_HITS, MOST_PER_FILE = 200, 20
MOST_PATHS = 20
MOST_CALLED_SO = 1_000
"""Files with one name that are looked at for the one that is meant."""
MOST_NEAR = 500
_CHUNK_OF_LINE = """SELECT id, first, last FROM chunk
    WHERE id BETWEEN ?1 * ?2 AND (?1 + 1) * ?2 - 1 AND first <= ?3 AND last >= ?3 ORDER BY first DESC LIMIT 1"""
_SYMBOL_OF_LINE = """SELECT container, name FROM symbol
    WHERE id BETWEEN ?1 * ?2 AND (?1 + 1) * ?2 - 1 AND line <= ?3 AND last >= ?3 ORDER BY line DESC LIMIT 1"""
"""The innermost. The ids of a file lie together."""
NO_WORDS = WordsThere(frozenset(), False)


def findings(
    connection: sqlite3.Connection,
    query: IndexQuery,
    readable: Callable[[str], bool],
    weights: Weights = WEIGHTS,
) -> IndexFindings:
    """In one transaction, so that it sees one commit."""
    return AskedIndex(connection, query, readable, weights).findings()


class AskedIndex:
    """One question."""

    def __init__(
        self, connection: sqlite3.Connection, query: IndexQuery, readable: Callable[[str], bool], weights: Weights
    ) -> None:
        self._do = connection.execute
        self._connection = connection
        self._query = query
        self._weights = weights
        self._question: IndexQuestion = question_of(query.text)
        self._meta = dict(
            self._do("SELECT key, value FROM meta WHERE key IN ('generation', 'complete', 'chunks', 'files')")
        )
        self._total = max(1, self._meta["chunks"])
        self._files = KnownFiles(connection, readable)

    def findings(self) -> IndexFindings:
        kind, question = self._query.kind, self._question
        stages: list[StageCount] = []
        symbols: list[FoundSymbol] = []
        chunks: list[FoundChunk] = []
        search: TextSearch | None = None
        named: frozenset[int] = frozenset()
        called: frozenset[int] = frozenset()
        paths = self._named() if kind != "vectors" else {}
        files = frozenset().union(*paths.values())
        if files and question.sole:  # package.json is a file, not what is called json in a package
            self._question = question = replace(question, sole="")
        if kind in ("all", "text"):
            named, called = files, self._called() | self._is_path(files)
        if kind in ("all", "symbols"):
            symbols = self._symbols()
            stages.append(StageCount("symbol_search", len(symbols)))
        if kind in ("all", "text"):
            wording = wording_of(self._query.text)
            search = TextSearch(self._connection, question.words, self._total, self._weights, wording.quoted)
            chunks = next(filter(None, map(self._files.known, search.tries())), [])
            chunks = verbatim_more(chunks, search.word_for_word(wording, chunks), self._total, self._weights)
            chunks = with_lines(chunks, self._lined(paths), self._total, self._weights)
            stages.append(StageCount("text_search", len(chunks)))
        places, found = self._ranked(self._found(chunks, symbols, named, called, search))
        hits = self._explained(places, found, search)
        if stages:
            stages.append(StageCount("reranking", len(hits)))
        return IndexFindings(
            hits=tuple(hits),
            stages=tuple(stages),
            generation=self._meta["generation"],
            complete=bool(self._meta["complete"]),
            words=question.words,
        )

    # -- what is found

    def _symbols(self) -> list[FoundSymbol]:
        alone = self._query.kind == "symbols"
        search = SymbolSearch(self._connection, self._question, self._weights, self._files.path, alone=alone)
        return self._files.known(search.symbols())

    def _named(self) -> dict[str, set[int]]:
        """The files that each of the question's paths may be, in any case of letters. Of a path that begins elsewhere,
        as in a stack trace or a diff, the end counts: the longest that is a file here, and no less than its name and
        its folder."""
        found: dict[str, set[int]] = {}
        for path in self._question.paths:
            asked = lowered(path).split("/")
            ends = {
                number: len(commonprefix([asked[::-1], other.split("/")[::-1]]))
                for number, other in self._with_name(asked[-1])
            }
            longest = max(ends.values(), default=0)
            if longest >= min(2, len(asked)):
                meant = [number for number, end in ends.items() if end == longest][:MOST_PATHS]
                found[path] = self._files.learn(meant)
        return found

    def _lined(self, named: Mapping[str, Set[int]]) -> dict[int, FoundChunk]:
        """The chunks with the lines that the question names, by their numbers. Of several lines of one the last."""
        found: dict[int, FoundChunk] = {}
        for path, line in ((each.path, each.line) for each in self._question.lines):
            for file in sorted(named.get(path, ())):
                asked = (file, SPAN, line)
                for number, first, last in self._do(_CHUNK_OF_LINE, asked):
                    around = self._do(_SYMBOL_OF_LINE, asked).fetchone() or ()
                    name = ".".join(filter(None, around))
                    found[number] = FoundChunk(number, file, first, last, name, 0.0, line=line)
        return found

    def _called(self) -> frozenset[int]:
        """Files that the question's only word is the name of, without their ending."""
        sole = lowered(self._question.sole)
        if not sole:
            return frozenset()
        found = [number for number, path in self._with_name(sole, "") if splitext(basename(path))[0] == sole]
        return frozenset(self._files.learn(found[:MOST_PATHS]))

    def _is_path(self, named: Set[int]) -> frozenset[int]:
        """Those of these files whose paths are all there is of the question."""
        asked = lowered(self._query.text.strip().strip("`'\""))
        return frozenset(number for number in named if lowered(self._files[number].path) == asked)

    def _with_name(self, name: str, end: str = "/") -> list[tuple[int, str]]:
        """The files that are called so, lowercase. `end`: "" for those, too, whose names only begin so."""
        return self._do(
            "SELECT id, lower(path) FROM file WHERE instr('/' || lower(path) || ?2, '/' || ?1 || ?2)"
            " ORDER BY length(path), path LIMIT ?3",
            (name, end, MOST_CALLED_SO),
        ).fetchall()

    def _found(
        self,
        chunks: Sequence[FoundChunk],
        symbols: Sequence[FoundSymbol],
        named: frozenset[int],
        called: frozenset[int],
        search: TextSearch | None,
    ) -> IndexFound:
        query, files = self._query, self._files
        active = next(iter(files.numbers_of([query.active_file])), None) if query.active_file else None
        opened = frozenset(files.numbers_of(query.open_files))
        near = self._near(active) if active is not None else frozenset()
        numbers = {*(each.file for each in chunks), *(each.file for each in symbols), *named, *called}
        paths = {number: files[number].path for number in numbers}
        texts = search if chunks else None
        return IndexFound(
            chunks=chunks,
            symbols=symbols,
            files=_imported({number: files[number] for number in numbers}, files.importers_at_most(numbers)),
            total=self._total,
            covered=texts.covered(numbers) if texts is not None else {},
            in_paths=texts.in_paths(paths, self._meta["files"]) if texts is not None else {},
            named=named,
            called=called,
            active=active,
            opened=opened,
            near=near,
        )

    def _near(self, active: int) -> frozenset[int]:
        folder = dirname(self._files[active].path)
        rows = self._do(
            "SELECT resolved FROM import WHERE file = ?1 AND resolved IS NOT NULL"
            " UNION SELECT file FROM import WHERE resolved = ?1 LIMIT ?2",
            (active, MOST_NEAR),
        )
        beside = {file.id for file in self._files.so_far() if dirname(file.path) == folder}
        return frozenset({number for (number,) in rows} | beside)

    # -- reranking

    def _ranked(self, found: IndexFound) -> tuple[list[RankedPlace], IndexFound]:
        """Who imports a file is looked at for the first files only: they stay the first if that is right which was
        supposed of them, since of no other too few importers were supposed."""
        query = self._query
        most, per_file = max(0, min(query.most, MOST_HITS)), max(1, min(query.per_file, MOST_PER_FILE))
        counted: set[int] = set()
        while True:
            places = ranked(self._question, found, most, per_file, self._weights)
            files = {place.file.id: place.file for place in places if place.file.id not in counted}
            counts = self._files.importers(files)
            if all(counts[number] == file.importers for number, file in files.items()):
                return places, found
            counted |= files.keys()
            found = replace(found, files={**found.files, **_imported(files, counts)})

    # -- reasons

    def _explained(self, places: Sequence[RankedPlace], found: IndexFound, search: TextSearch | None) -> list[IndexHit]:
        words = self._question.words
        parts = {place.chunk.id: _lines_of(place, place.chunk) for place in places if place.chunk is not None}
        bodies = search.words_in(parts) if search is not None else {}
        begun = search.begun if search is not None else ""
        paths = {place.file.id: _words_in(place.file.path) for place in places}
        stems = stems_of({*words, *(word for path in paths.values() for word in path)})
        hits = []
        for place in places:
            body = bodies.get(place.chunk.id, NO_WORDS) if place.chunk is not None else NO_WORDS
            path = {stems[word] for word in paths[place.file.id]}
            is_begun_in_path = begun and any(word.startswith(begun) for word in paths[place.file.id])
            said = PlaceWords(
                had=[word for word in words if stems[word] in body.stems],
                in_path=[word for word in words if stems[word] in path],
                begun=begun if body.begun else "",
                begun_in_path=begun if is_begun_in_path else "",
            )
            symbol = place.symbol
            name = symbol.whole_name if symbol is not None else place.chunk.name if place.chunk is not None else ""
            hits.append(
                IndexHit(
                    path=place.file.path,
                    first_line=place.first,
                    last_line=place.last,
                    score=float(f"{place.score:.4g}"),
                    symbol=name,
                    kind=symbol.kind if symbol is not None else "",
                    line=place.chunk.line if place.chunk is not None else 0,
                    verbatim=place.chunk.verbatim if place.chunk is not None else "",
                    digest=place.file.digest,
                    reasons=reasons_of(place, self._question, found, said),
                )
            )
        return hits


def _lines_of(place: RankedPlace, chunk: FoundChunk) -> slice:
    """The lines of the chunk that are shown."""
    return slice(max(0, place.first - chunk.first), max(0, place.last + 1 - chunk.first))


def _imported(files: Mapping[int, FoundFile], counts: Mapping[int, int]) -> dict[int, FoundFile]:
    return {
        number: FoundFile(file.id, file.path, file.kind, file.digest, file.rank, counts.get(number, 0))
        for number, file in files.items()
    }


def _words_in(path: str) -> set[str]:
    return {*words_apart(path), *words_of(path)}
