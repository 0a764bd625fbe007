"""Asking a workspace's index, and showing its hits as the disk has them now.

A hit is a place as it was indexed. Its lines are read when they are shown; if the file has changed since, the place is
looked for anew by the hit's name and by the words. So no line is shown that is not there, and secrets are withheld as
in every reading.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.given import FileRefused, FileText, Tree
from actors.agent.index.given import IndexTrouble
from actors.agent.index.indexers import indexer_of
from actors.agent.index.messages import Find
from actors.kernel import ActorDown, KernelError, NobodyThere, Registry
from codec.agent.file_texts import cut_line
from codec.agent.index.asking import FoundLine, IndexFindings, IndexHit, IndexQuery, SearchResult
from codec.agent.index.wording import words_apart
from codec.agent.keywords import last_part
from codec.agent.withheld import withheld
from codec.agent.workspaces import Policy

FIND_SECONDS = 2.0
"""A turn does not wait longer for the index, but reads the files themselves."""
TRIES = 2
SHOWN_LINES = 8
"""Of one result."""
MOST_ABOVE, ABOVE = 20, ("@", "#[", "[", "template")
"""Lines above a definition that belong to it, and how they begin."""
BEFORE, AFTER = 1, 2
"""Lines around one that was asked for."""
LONGEST_FILE = 1 << 20
NO_INDEX = "There is no index here, so the files themselves were searched."
LATE = "The index has not answered in time, so the files themselves were searched."


class NoIndex(Exception):
    """The index cannot be asked now. The text is a sentence for the user."""


class IndexAsker(Struct, frozen=True):
    """One workspace's index, within the limits of a policy."""

    registry: Registry
    workspace_id: str
    policy: Policy

    async def find(self, query: IndexQuery, seconds: float = FIND_SECONDS) -> IndexFindings:
        """Raises NoIndex. It begins the index, if there is none."""
        try:
            with trio.fail_after(seconds):
                return await self._found(query, seconds)
        except IndexTrouble as trouble:
            raise NoIndex(str(trouble)) from None
        except NobodyThere:
            raise NoIndex(NO_INDEX) from None
        except (trio.TooSlowError, KernelError):
            raise NoIndex(LATE) from None

    async def _found(self, query: IndexQuery, seconds: float) -> IndexFindings:
        asked = partial(Find, query, policy=self.policy)
        for _ in range(TRIES):
            indexer = await indexer_of(self.registry, self.workspace_id)
            if indexer is None:
                raise NoIndex(NO_INDEX)
            with suppress(ActorDown):  # it went to sleep just then
                return await indexer.ask(asked, timeout=seconds)
        raise NoIndex(LATE)


class LivePlace(Struct, frozen=True):
    """A hit as it is on the disk now."""

    hit: IndexHit
    first: int
    last: int
    text: FileText


async def live(tree: Tree, hit: IndexHit, words: Sequence[str], most: int) -> LivePlace | None:
    """At most so many lines of it. None: it is not there any more, or may not be read. Raises nothing."""
    begin = max(hit.first_line, hit.line - most // 2) if hit.line else hit.first_line
    try:
        last = min(hit.last_line, begin + most - 1)
        found = await tree.read(hit.path, first=begin, last=last)
        if not hit.digest or found.digest == hit.digest:
            return LivePlace(hit, begin, last, found)
        if hit.line and not hit.kind and hit.line <= found.lines:
            return LivePlace(replace(hit, symbol=""), begin, last, found)
        hit = replace(hit, line=0)
        whole = await tree.read(hit.path, most=LONGEST_FILE)
    except FileRefused:
        return None
    name = last_part(hit.symbol) if hit.symbol else ""
    if name and name.lower() not in whole.text.lower():
        if hit.kind:  # it was a definition
            return None
        hit, name = replace(hit, symbol=""), ""
    lines = whole.text.removesuffix("\n").split("\n")
    best = _best(lines, name, words)
    if best is None:
        return None
    above = min(best - 1, (hit.last_line - hit.first_line) // 4, most // 4) if not hit.symbol else 0
    first = best - above
    last = min(len(lines), first + min(most - 1, hit.last_line - hit.first_line))
    text = "".join(f"{line}\n" for line in lines[first - 1 : last])
    part = FileText(whole.path, text, first, whole.lines, whole.digest, encoding=whole.encoding)
    return LivePlace(hit, first, last, part)


def _best(lines: Sequence[str], name: str, words: Sequence[str]) -> int | None:
    """The line that has most of what is sought; the name counts most."""
    lowered = [word.lower() for word in words]
    best, number = (False, 0), None
    for at, line in enumerate(lines, 1):
        low = line.lower()
        worth = bool(name) and name.lower() in low, sum(word in low for word in lowered)
        if worth > best:
            best, number = worth, at
    return number


def chosen_lines(place: LivePlace, words: Sequence[str], most: int = SHOWN_LINES) -> tuple[FoundLine, ...]:
    """The line that was asked for with some around it. Or those that name a definition, say something word for word,
    and have the words, in this order."""
    shown = withheld(place.text.text, place.hit.path).removesuffix("\n").split("\n")
    asked_for = place.hit.line - place.first
    if 0 <= asked_for < len(shown):
        around = range(max(0, asked_for - BEFORE), min(len(shown), asked_for + AFTER + 1))
        return tuple(FoundLine(place.first + at, cut_line(shown[at])) for at in around)
    lowered = [word.lower() for word in words]
    held = [(sum(word in line.lower() for word in lowered), -at) for at, line in enumerate(shown)]
    chosen = [-at for count, at in sorted(held, reverse=True) if count]
    chosen = [*_saying(shown, place.hit.verbatim), *chosen]
    if place.hit.symbol or not chosen:
        chosen.insert(0, _naming(shown, place.hit.symbol))
    numbers = sorted([*dict.fromkeys(chosen)][:most])  # too many: those with the fewest words are left out
    return tuple(FoundLine(place.first + at, cut_line(shown[at])) for at in numbers)


def _naming(lines: Sequence[str], symbol: str) -> int:
    """The line in which a definition has its name: decorators and attributes may stand above it."""
    if not symbol or not lines[0].lstrip().startswith(ABOVE):
        return 0
    named = re.compile(rf"(?<!\w){re.escape(last_part(symbol))}(?!\w)")
    below = (at for at, line in enumerate(lines[:MOST_ABOVE]) if not line.lstrip().startswith(ABOVE))
    return next((at for at in below if named.search(lines[at])), 0)


def _saying(lines: Sequence[str], words: str) -> range:
    """The lines that say this word for word."""
    wanted = words.split()
    said = [(word, at) for at, line in enumerate(lines) for word in words_apart(line)]
    for begin in range(len(said) - len(wanted) + 1) if wanted else ():
        if all(said[begin + more][0] == word for more, word in enumerate(wanted)):
            return range(said[begin][1], said[begin + len(wanted) - 1][1] + 1)
    return range(0)


async def shown(
    tree: Tree, hits: Sequence[IndexHit], words: Sequence[str], most_lines: int = 200
) -> list[SearchResult]:
    """Each with its lines. What is gone meanwhile is left out."""
    found = []
    for hit in hits:
        place = await live(tree, hit, words, most_lines)
        if place is not None:
            result = SearchResult(
                path=hit.path,
                first_line=place.hit.line or place.first,
                last_line=place.last if place.first != hit.first_line else hit.last_line,
                score=hit.score,
                symbol=hit.symbol,
                kind=hit.kind,
                reasons=hit.reasons,
                lines=chosen_lines(place, words),
            )
            found.append(result)
    return found
