"""A question to the index, and its answer."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Stage = Literal["symbol_search", "text_search", "vector_search", "reranking"]
SearchKind = Literal["all", "symbols", "text", "vectors"]
LONGEST_QUERY = 2_000
"""Characters, over HTTP. A stack trace may be asked for as it is."""


class IndexQuery(Struct, frozen=True, kw_only=True):
    text: str
    """Words, names, or a sentence."""
    kind: SearchKind = "all"
    most: int = 20
    active_file: str = ""
    """What the editor shows. What is near to it counts more."""
    open_files: tuple[str, ...] = ()
    per_file: int = 3
    """Hits of one file, at most."""

    @property
    def opened(self) -> tuple[str, ...]:
        """What the editor has open, what it shows last."""
        return (*self.open_files, self.active_file) if self.active_file else self.open_files


class Reason(Struct, frozen=True):
    stage: Stage
    said: str
    """Such as: defines Connection.close; has 3 of 4 words; is imported by 12 files."""
    score: float


class IndexHit(Struct, frozen=True, kw_only=True):
    path: str
    first_line: int
    last_line: int
    score: float
    symbol: str = ""
    """With its containers."""
    kind: str = ""
    """Of the symbol."""
    line: int = 0
    """That the question names, if it names one of these."""
    verbatim: str = ""
    """What it has of the question word for word: lowercase words, a blank between them."""
    digest: str = ""
    """Of the file as it was indexed (files.digest_of)."""
    reasons: tuple[Reason, ...] = ()


class StageCount(Struct, frozen=True):
    """A stage that was run, and how many results it had."""

    stage: Stage
    count: int


class IndexFindings(Struct, frozen=True, kw_only=True):
    hits: tuple[IndexHit, ...] = ()
    """The best first."""
    stages: tuple[StageCount, ...] = ()
    generation: int = 0
    complete: bool = True
    """Whether the whole workspace had been indexed."""
    words: tuple[str, ...] = ()
    """What was looked for."""
    by_words_only: str = ""
    """Why nothing was found by its meaning, though there is a model for it: a sentence."""
    behind: str = ""
    """Why what was found may not be as the disk is now: a sentence."""
    other_vectors: bool = False
    """Whether the vectors are those of another model, and have to be made anew."""

    @property
    def is_whole(self) -> bool:
        """Whether the index knew all that is on the disk."""
        return self.complete and not self.behind


# -- over HTTP


class FoundLine(Struct, frozen=True):
    number: int
    text: str


class SearchResult(Struct, frozen=True, kw_only=True):
    """A hit with some of its lines as they are on the disk now, secrets withheld."""

    path: str
    first_line: int
    last_line: int
    score: float
    symbol: str = ""
    kind: str = ""
    reasons: tuple[Reason, ...] = ()
    lines: tuple[FoundLine, ...] = ()


class SearchResults(Struct, frozen=True, kw_only=True):
    """GET /v1/workspaces/{workspace_id}/search?q=...&kind=...&most=..."""

    query: Annotated[str, Meta(max_length=LONGEST_QUERY)]
    results: tuple[SearchResult, ...] = ()
    words: tuple[str, ...] = ()
    """What was looked for: lowercase, also parts of names, and without words that carry nothing."""
    stages: tuple[StageCount, ...] = ()
    generation: int = 0
    complete: bool = True
    """Whether the whole workspace had been indexed when this was looked for, and nothing was known to be behind."""
    milliseconds: float = 0.0
    message: str = ""
    """What is so, in a sentence: that nothing was found, that the index is being made, that there is none."""
