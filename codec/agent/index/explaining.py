"""Why a place is among the answers, in words: each reason names the stage that found it, and what it was worth."""

from collections.abc import Sequence

from msgspec import Struct

from codec.agent.index.asking import Reason
from codec.agent.index.facts import FileKind
from codec.agent.index.question import IndexQuestion
from codec.agent.index.ranking import IndexFound, RankedPlace

SHOWN = 6
"""Words that a reason lists."""
_KINDS: dict[FileKind, str] = {"test": "tests", "doc": "docs", "example": "examples", "code": "code", "data": "data"}


class PlaceWords(Struct, frozen=True, kw_only=True):
    """What a place has of the question's words."""

    had: Sequence[str] = ()
    in_path: Sequence[str] = ()
    begun: str = ""
    """The last one, if the place has a word that only begins so."""
    begun_in_path: str = ""


def reasons_of(
    place: RankedPlace, question: IndexQuestion, found: IndexFound, words: PlaceWords
) -> tuple[Reason, ...]:
    had, in_path = words.had, words.in_path
    reasons: list[Reason] = []
    symbol, file = place.symbol, place.file
    if symbol is not None:
        if symbol.likeness == 1:
            said = f"defines {symbol.whole_name}"
        elif symbol.name.lower() in {*question.joined, *(each.name.lower() for each in question.names)}:
            said = f"defines {symbol.whole_name}, written in another way"
        else:
            said = f"defines {symbol.whole_name}, which is like {_listed([each.name for each in question.names])}"
        reasons.append(Reason("symbol_search", said, round(place.worth, 3)))
    if place.chunk is not None and had:
        count = len(question.words)
        said = f"has the word {had[0]}" if count == 1 else f"has {len(had)} of {count} words: {_listed(had)}"
        reasons.append(Reason("text_search", said, round(place.chunk.score, 3)))
    if place.chunk is not None and words.begun:
        worth = 0.0 if had else round(place.chunk.score, 3)
        reasons.append(Reason("text_search", f"has a word that begins with {words.begun}", worth))
    if place.chunk is not None and place.chunk.line:
        reasons.append(Reason("reranking", f"the question names line {place.chunk.line}", 0.0))
    if place.chunk is not None and place.chunk.verbatim:
        reasons.append(Reason("text_search", f"has, word for word: {place.chunk.verbatim}", 0.0))
    if in_path:
        reasons.append(Reason("text_search", f"its path has: {_listed(in_path)}", 0.0))
    if words.begun_in_path:
        reasons.append(Reason("text_search", f"its path has a word that begins with {words.begun_in_path}", 0.0))
    if file.id in found.named:
        reasons.append(Reason("reranking", "the question names its path", 0.0))
    elif file.id in found.called:
        reasons.append(Reason("reranking", f"the file is called {question.sole}", 0.0))
    if file.kind in question.kinds:
        reasons.append(Reason("reranking", f"the question asks for {_KINDS[file.kind]}", 0.0))
    if file.id == found.active:
        reasons.append(Reason("reranking", "the editor shows it", 0.0))
    elif file.id in found.opened:
        reasons.append(Reason("reranking", "is open in the editor", 0.0))
    elif file.id in found.near:
        reasons.append(Reason("reranking", "is near to what the editor shows", 0.0))
    if file.importers:
        files = "1 file" if file.importers == 1 else f"{file.importers} files"
        reasons.append(Reason("reranking", f"is imported by {files}", 0.0))
    return tuple(reasons)


def _listed(words: Sequence[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")
