"""A workspace's tree whose searches go by its index.

Rules
  - A turn never waits long for the index. If there is none, or it does not answer in time, the files are read, as
    without it; `why_not` says why then.
  - While the index is being made, its own places come first, and reading the files fills them up. But the file or the
    definition that the question names comes before everything else, wherever it was found.
  - An answer of the index is a place to look at. Its lines are read from the disk when they are shown, through the same
    tree: within the policy, without secrets, and true.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.agent.given import FileHit, FileRefused, FileText, Tree, TreeEntry
from actors.agent.index.searching import NO_INDEX, SHOWN_LINES, IndexAsker, NoIndex, live
from codec.agent.file_texts import cut_line
from codec.agent.files import FileLine
from codec.agent.index.asking import IndexFindings, IndexHit, IndexQuery, SearchKind
from codec.agent.index.meant import meant_by
from codec.agent.looking_up import looked_through, sought
from codec.agent.withheld import withheld

MOST_READ = 40
"""Files whose lines one search shows."""
MOST_PLAIN = 500
"""Files that are found by reading, among which what is meant may be."""
LARGEST_READ = 1 << 20


class IndexedTree:
    """The Tree of given.py."""

    def __init__(self, tree: Tree, asker: IndexAsker) -> None:
        self.plain = tree
        """The same without an index."""
        self._asker = asker
        self.why_not = ""
        """Why the last search did not go by the index, if that is worth a word."""

    async def read(self, path: str, *, first: int = 1, last: int | None = None, most: int = 200_000) -> FileText:
        return await self.plain.read(path, first=first, last=last, most=most)

    async def entries(self, folder: str = "", *, most: int = 1000, deep: bool = False) -> Sequence[TreeEntry]:
        return await self.plain.entries(folder, most=most, deep=deep)

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        """Text that the index splits otherwise than it is sought is found by reading."""
        hits, whole = await self._indexed(words, "text", most)
        if whole and hits:
            return hits
        return await self._filled_up(words, hits, most)

    async def defining(self, name: str, most: int) -> Sequence[FileHit]:
        """Files that define the name, or names like it, as far as the index knows; and if it does not know all or knows
        none, files that have it."""
        hits, whole = await self._indexed([name], "symbols", most)
        if whole and hits:
            return hits
        return await self._filled_up([name], hits, most)

    async def _filled_up(self, words: Sequence[str], hits: Sequence[FileHit], most: int) -> Sequence[FileHit]:
        """What is named comes first, wherever it was found: many files of the index that only have the word do not
        push it out."""
        meant = meant_by(" ".join(words))

        further = await self.plain.search(words, most=max(most, MOST_PLAIN))
        every = [(meant.distance(hit.path, [line.text for line in hit.lines]), hit) for hit in _joined(hits, further)]
        every.sort(key=lambda each: each[0])
        best = max((hit.score for _, hit in every), default=0.0)
        return [hit if far > 1 else replace(hit, score=best) for far, hit in every][:most]

    async def alike(self, text: str, most: int) -> Sequence[FileHit] | None:
        """Files that are about it, each with the begin of its best place as it is on the disk now. None: nothing was
        searched by its meaning. `why_not` says why, unless there is no model for it."""
        found = await self.find(IndexQuery(text=text, kind="vectors", most=most, per_file=1))
        if found is None:
            return None
        if not any(each.stage == "vector_search" for each in found.stages):
            self.why_not = found.by_words_only
            return None
        hits = []
        for hit in found.hits:
            place = await live(self.plain, hit, found.words, SHOWN_LINES)
            if place is not None:
                lines = withheld(place.text.text, hit.path).removesuffix("\n").split("\n")
                shown = [FileLine(number, cut_line(line)) for number, line in enumerate(lines, place.first)]
                hits.append(FileHit(hit.path, shown, len(shown), hit.score))
        return hits

    async def find(self, query: IndexQuery) -> IndexFindings | None:
        """None: by now `why_not` says why."""
        self.why_not = ""
        try:
            return await self._asker.find(query)
        except NoIndex as why:
            self.why_not = "" if str(why) == NO_INDEX else str(why)
            return None

    async def _indexed(self, words: Sequence[str], kind: SearchKind, most: int) -> tuple[list[FileHit], bool]:
        found = await self.find(IndexQuery(text=" ".join(words), kind=kind, most=most, per_file=1))
        if found is None:
            return [], False
        paths: dict[str, IndexHit] = {}
        for hit in found.hits:
            paths.setdefault(hit.path, hit)
        hits = [await self._shown(hit, words) for hit in list(paths.values())[: min(most, MOST_READ)]]
        return [hit for hit in hits if hit is not None], found.is_whole

    async def _shown(self, hit: IndexHit, words: Sequence[str]) -> FileHit | None:
        try:
            text = await self.plain.read(hit.path, most=LARGEST_READ)
        except FileRefused:
            return None
        find = looked_through(hit.path, text.text, sought(words), lambda: None)
        return FileHit(hit.path, find.lines if find else (), find.count if find else 0, round(hit.score, 4))


def _joined(first: Sequence[FileHit], others: Sequence[FileHit]) -> list[FileHit]:
    known = {hit.path for hit in first}
    least = min((hit.score for hit in first), default=None)
    further = [
        hit if least is None else replace(hit, score=min(hit.score, least)) for hit in others if hit.path not in known
    ]
    return [*first, *further]
