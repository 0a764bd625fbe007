"""Which places answer a question, from what was found of it: chunks that have its words, definitions of its names.

Rules
  - A file is worth as much as its best chunk, 0.4 of the next, 0.4 of that share of the third, and so on: a file that
    deals with a thing in four places is more likely meant than one that has it in one. Further ones do not count, or
    long files would win by their length.
  - A chunk is worth the sum of its words by BM25 (SQLite's), in which a word of the file's path counts five times.
  - A chunk that has something of the question word for word counts the more, the more of it and the fewer others have
    it: as much as six words that are nowhere else, at most.
  - A chunk with a line that the question names counts as much as two words that are nowhere else.
  - A word of the path counts once more for the file: half of how rare it is among all paths. A word that most files
    use may stand in the path of one.
  - A definition counts like a rare word: by how many others have its name. Eight tenths of that, if the name was
    written as code or is two words of the question joined; a tenth, if it is only one word of it. A name that is all
    there is of a question counts many times; so does a file that is called so.
  - All this is lowered for a file that has few of the question's words, anywhere in it, rare ones counting more.
  - Code counts more than tests, docs and examples, unless the question asks for these.
  - What the editor shows, and what is near to it, counts a little more; so does what many files import.

The figures are round, and were chosen on several projects at once (BENCHMARKS.md): halving or doubling any of them
costs little.
"""

from collections.abc import Mapping, Sequence
from math import log, log1p

from msgspec import Struct
from msgspec.structs import replace

from codec.agent.index.facts import FileKind
from codec.agent.index.question import IndexQuestion
from codec.agent.index.wording import WordForWord


class Weights(Struct, frozen=True, kw_only=True):
    body: float = 1.0
    names: float = 1.0
    path: float = 5.0
    path_of_file: float = 0.5
    """Of a word in the file's path: its share of how rare it is among all paths."""
    decay: float = 0.4
    """What the next best chunk of a file is worth of the one before."""
    chunks: int = 4
    certain: float = 0.8
    """A definition of a name that the question writes as code, or of two of its words in a row."""
    likely: float = 0.1
    """Of any word of it."""
    sole: float = 50.0
    """Of its only word: more than all texts that use it."""
    called: float = 0.8
    """A file that is called so, of what a definition is worth that is called so."""
    deeper: float = 0.98
    """A file that is called so, in a folder, of the same without the folder."""
    other_case: float = 0.8
    beginning: float = 0.3
    """Of a name that only begins with the word."""
    similar: float = 0.2
    coverage: float = 0.2
    """The share of a file's worth that depends on how many of the words it has."""
    aside: float = 0.3
    """What a file of another kind is worth than was asked for."""
    aside_defined: float = 0.6
    """The same, if the question is one name, which is defined there."""
    imported: float = 0.05
    importance: float = 0.0
    active: float = 0.3
    opened: float = 0.15
    near: float = 0.1
    named_path: float = 2.0
    verbatim: float = 6.0
    """A chunk that has the question word for word."""
    line: float = 2.0
    """A chunk with a line that the question names."""


WEIGHTS = Weights()
_NO_SYMBOL: "tuple[float, FoundSymbol | None]" = (0.0, None)


class FoundChunk(Struct, frozen=True, array_like=True):
    id: int
    file: int
    first: int
    last: int
    name: str
    score: float
    """By BM25: more is better."""
    verbatim: str = ""
    """The most words in a row that stand in the question as well."""
    line: int = 0
    """Of it, that the question names."""


class FoundSymbol(Struct, frozen=True, array_like=True):
    file: int
    name: str
    kind: str
    line: int
    last: int
    container: str
    likeness: float
    """1: it has the name that was asked for. Less: it only begins so, or is similar."""
    certain: bool
    others: int
    """How many definitions have that name, itself among them."""

    @property
    def whole_name(self) -> str:
        return f"{self.container}.{self.name}" if self.container else self.name


class FoundFile(Struct, frozen=True, array_like=True):
    id: int
    path: str
    kind: FileKind
    digest: str
    rank: float = 0.0
    importers: int = 0


class IndexFound(Struct, frozen=True, kw_only=True):
    """What SQL brought of one question. `files` has all files of the others."""

    chunks: Sequence[FoundChunk] = ()
    symbols: Sequence[FoundSymbol] = ()
    files: Mapping[int, FoundFile] = {}
    total: int = 1
    """Chunks of the whole index."""
    covered: Mapping[int, float] = {}
    """Of the question's words, which share a file has: rare ones count more."""
    in_paths: Mapping[int, float] = {}
    """How rare the question's words that stand in a file's path are among all paths, together."""
    named: frozenset[int] = frozenset()
    """Files whose paths the question names."""
    called: frozenset[int] = frozenset()
    """Files whose names, without their ending, or whose paths are all there is of the question."""
    active: int | None = None
    opened: frozenset[int] = frozenset()
    near: frozenset[int] = frozenset()
    """Files that the active one imports, or that import it, or stand beside it."""


class RankedPlace(Struct, frozen=True, kw_only=True):
    """A chunk, a definition, or both in one."""

    file: FoundFile
    first: int
    last: int
    score: float
    chunk: FoundChunk | None = None
    symbol: FoundSymbol | None = None
    worth: float = 0.0
    """Of the definition."""


def ranked(
    question: IndexQuestion, found: IndexFound, most: int, per_file: int, weights: Weights = WEIGHTS
) -> list[RankedPlace]:
    """The best first. In each file its best places; the first of them stands for the file."""
    chunks: dict[int, list[FoundChunk]] = {}
    for chunk in sorted(found.chunks, key=lambda chunk: (-chunk.score, chunk.first)):
        chunks.setdefault(chunk.file, []).append(chunk)
    symbols: dict[int, list[tuple[float, FoundSymbol]]] = {}
    worth = [(worth_of(symbol, question, found.total, weights), symbol) for symbol in found.symbols]
    for each in sorted(worth, key=lambda each: (-each[0], each[1].line)):
        symbols.setdefault(each[1].file, []).append(each)
    scored = []
    for number in {*chunks, *symbols, *found.named, *found.called}:
        file = found.files.get(number)
        if file is not None:
            own, defined = chunks.get(number, []), symbols.get(number, [])
            scored.append((score_of_file(question, found, file, own, defined, weights), file, own, defined))
    scored.sort(key=lambda each: (-each[0], each[1].path))
    places: list[RankedPlace] = []
    for score, file, own, defined in scored[:most]:
        places += _places(file, score, own, defined, per_file)
    places.sort(key=lambda place: (-place.score, place.file.path, place.first))
    return places[:most]


def verbatim_more(
    chunks: Sequence[FoundChunk], verbatim: Mapping[int, WordForWord], total: int, weights: Weights = WEIGHTS
) -> list[FoundChunk]:
    """`verbatim`: by the numbers of the chunks."""
    most = weights.verbatim * log(1 + max(total, 1))
    return [
        replace(chunk, score=chunk.score + most * same.worth, verbatim=same.longest)
        if (same := verbatim.get(chunk.id)) is not None
        else chunk
        for chunk in chunks
    ]


def with_lines(
    chunks: Sequence[FoundChunk], lined: Mapping[int, FoundChunk], total: int, weights: Weights = WEIGHTS
) -> list[FoundChunk]:
    """`lined`: those with a line that the question names, by their numbers. They need not be among the others."""
    more = weights.line * log(1 + max(total, 1))
    known = [
        replace(lined[each.id], score=each.score + more, verbatim=each.verbatim) if each.id in lined else each
        for each in chunks
    ]
    others = lined.keys() - {each.id for each in chunks}
    return [*known, *(replace(lined[number], score=more) for number in sorted(others))]


def worth_of(symbol: FoundSymbol, question: IndexQuestion, total: int, weights: Weights = WEIGHTS) -> float:
    """Of a definition whose name was asked for."""
    share = weights.certain if symbol.certain else weights.likely
    if question.sole:
        share = weights.sole
    return share * symbol.likeness * log(1 + max(total, 1) / max(symbol.others, 1))


def score_of_file(
    question: IndexQuestion,
    found: IndexFound,
    file: FoundFile,
    chunks: Sequence[FoundChunk],
    symbols: Sequence[tuple[float, FoundSymbol]],
    weights: Weights = WEIGHTS,
) -> float:
    """`chunks` and `symbols`: of this file, the best first."""
    score, share = 0.0, 1.0
    for chunk in chunks[: weights.chunks]:
        score += chunk.score * share
        share *= weights.decay
    if symbols:
        best: dict[str, float] = {}
        for worth, symbol in symbols:
            name = symbol.name.lower()
            best[name] = max(best.get(name, 0.0), worth)
        score += sum(sorted(best.values(), reverse=True))
    score += weights.path_of_file * found.in_paths.get(file.id, 0.0)
    if file.id in found.named:
        score += weights.named_path * log(1 + max(found.total, 1))
    if file.id in found.called:
        called = weights.called * weights.deeper ** file.path.count("/")
        score += weights.sole * called * log(1 + max(found.total, 1) / len(found.called))
    score *= 1 - weights.coverage + weights.coverage * found.covered.get(file.id, 0.0 if found.covered else 1.0)
    share = share_of_kind(file.kind, question.kinds, weights, named=file.id in found.named | found.called)
    if question.sole and symbols and symbols[0][1].likeness == 1:
        share = max(share, weights.aside_defined)
    return score * share * favour(file, found, weights)


def share_of_kind(
    kind: FileKind, wanted: frozenset[FileKind], weights: Weights = WEIGHTS, *, named: bool = False
) -> float:
    if named or (kind in wanted if wanted else kind == "code"):
        return 1.0
    return weights.aside


def favour(file: FoundFile, found: IndexFound, weights: Weights = WEIGHTS) -> float:
    """What speaks for a file whatever was asked."""
    share = 1 + weights.imported * log1p(file.importers) + weights.importance * log1p(file.rank)
    if file.id == found.active:
        share *= 1 + weights.active
    elif file.id in found.opened:
        share *= 1 + weights.opened
    elif file.id in found.near:
        share *= 1 + weights.near
    return share


def _places(
    file: FoundFile,
    score: float,
    chunks: Sequence[FoundChunk],
    symbols: Sequence[tuple[float, FoundSymbol]],
    per_file: int,
) -> list[RankedPlace]:
    """A definition and the chunk that it stands in are one place. The best has the file's score, the others their part
    of it."""
    symbols = symbols[: 4 * per_file]
    own: dict[int, tuple[float, FoundSymbol]] = {}
    alone = []
    for worth, symbol in symbols:
        inside = [chunk for chunk in chunks if chunk.first <= symbol.line <= chunk.last]
        if inside and inside[0].id not in own:
            own[inside[0].id] = (worth, symbol)
        else:
            alone.append((worth, symbol))
    places: list[tuple[float, RankedPlace]] = []
    for chunk in chunks[: 4 * per_file]:
        value, inner = own.pop(chunk.id) if chunk.id in own else _NO_SYMBOL
        first, last = (inner.line, inner.last) if inner is not None else (chunk.first, chunk.last)
        if chunk.verbatim or chunk.line:  # it may stand beside the definition
            first, last = min(first, chunk.first), max(last, chunk.last)
        place = RankedPlace(file=file, first=first, last=last, score=0.0, chunk=chunk, symbol=inner, worth=value)
        places.append((chunk.score + value, place))
    for worth, symbol in [*own.values(), *alone]:
        place = RankedPlace(file=file, first=symbol.line, last=symbol.last, score=0.0, symbol=symbol, worth=worth)
        places.append((worth, place))
    if not places:  # its path was named, and nothing else of it was found
        places.append((1.0, RankedPlace(file=file, first=1, last=1, score=0.0)))
    places.sort(key=lambda each: (-each[0], each[1].first))
    best = places[0][0] or 1.0
    kept: list[RankedPlace] = []
    for worth, place in places:
        if not any(place.first <= other.last and other.first <= place.last for other in kept):
            kept.append(
                RankedPlace(
                    file=place.file,
                    first=place.first,
                    last=place.last,
                    score=score * (worth / best),
                    chunk=place.chunk,
                    symbol=place.symbol,
                    worth=place.worth,
                )
            )
    return kept[:per_file]
