"""What a turn looks for in the index before it asks its model: the places that its question is likely about, and a
report of each stage that really ran."""

from collections.abc import Sequence

from msgspec import Struct

from actors.agent.given import Tree
from actors.agent.index.searching import LivePlace, live
from codec.agent.events import RetrieveStage
from codec.agent.index.asking import IndexFindings, IndexHit
from codec.words import counted, listed, sentences

LONGEST_PLACE = 40
"""Lines of one place."""
_FOUND: dict[RetrieveStage, tuple[str, str]] = {
    "symbol_search": ("definition", ""),
    "text_search": ("passage", ""),
    "vector_search": ("passage that is about it", "passages that are about it"),
}


class RanStage(Struct, frozen=True):
    stage: RetrieveStage
    count: int
    sentence: str


def ran(findings: IndexFindings, words: Sequence[str]) -> list[RanStage]:
    """A line for each, in the order in which they were run."""
    named = listed(words[:4])
    told = []
    for each in findings.stages:
        if each.stage == "reranking":
            sentence = f"Ordered {counted(each.count, 'place')} by how likely they are meant"
            if findings.by_words_only or findings.behind:
                sentence = sentences(sentence, findings.by_words_only, findings.behind)
        elif each.count:
            one, many = _FOUND[each.stage]
            sentence = f"Found {counted(each.count, one, many)} for {named}"
        else:
            sentence = f"Found no {_FOUND[each.stage][0]} for {named}"
        told.append(RanStage(each.stage, each.count, sentence))
    return told


def reason(hit: IndexHit) -> str:
    said = list(dict.fromkeys(each.said for each in sorted(hit.reasons, key=lambda each: -each.score)))
    return listed(said[:3]) if said else "goes with the question"


async def places(tree: Tree, hits: Sequence[IndexHit], words: Sequence[str], most: int) -> list[LivePlace]:
    """The first of them as they are on the disk now. Those that lie in one another are one."""
    found: list[LivePlace] = []
    for hit in hits:
        if len(found) == most:
            break
        place = await live(tree, hit, words, LONGEST_PLACE)
        if place is not None and not any(_overlap(place, other) for other in found):
            found.append(place)
    return found


def _overlap(one: LivePlace, other: LivePlace) -> bool:
    return one.hit.path == other.hit.path and one.first <= other.last and other.first <= one.last
