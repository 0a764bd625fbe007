"""Reads for a prompt what prompt.py wants read, and looks for what the question is about.

Whatever cannot be read is left out: an editor may show a file that is gone, or that is outside of the workspace. If the
user has named that file, a sentence stands in its place. Only the search for the question is a stage of its own, which
clients are told about.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from actors.agent.budget import tokens
from actors.agent.given import FileHit, FileRefused, Tree
from actors.agent.importing import imported_lines
from actors.agent.index.indexed import IndexedTree
from actors.agent.index.stages import RanStage, places, ran, reason
from actors.agent.prompt import AGENTS_FILE, AROUND, MOST_OF_AGENTS, Command, WantedLines, asides, readings
from codec.agent.context import EditorContext
from codec.agent.events import ContextItem
from codec.agent.findings import numbered
from codec.agent.index.asking import IndexQuery
from codec.agent.index.question import asked_part
from codec.agent.keywords import keywords, names_or_words
from codec.agent.likely_tests import likely_tests
from codec.agent.material import SEVERAL, Material
from codec.agent.symbols import around, language_of
from codec.agent.withheld import withheld
from codec.words import counted, listed, sentences

UNREADABLE = "named by the user, but it cannot be read"
LONGEST_READING = 30_000
"""Characters of one reading."""
MOST_HITS, SHOWN_HITS = 12, 5
EXCERPT = 3
"""Lines before and after a line that was found."""
LONGEST_EXCERPT = 40
"""Lines of one file."""
MOST_FILES = 5_000
"""That are looked at for likely tests."""
MOST_TESTS, MOST_DEPENDENTS = 2, 5
MOST_OPEN = 50
"""Files that the editor has open, in a question to the index."""
NO_CONTEXT = EditorContext()


async def agents_file(tree: Tree) -> tuple[Material, ...]:
    try:
        found = await tree.read(AGENTS_FILE, most=MOST_OF_AGENTS)
    except FileRefused:
        return ()
    text = withheld(found.text, AGENTS_FILE)[:MOST_OF_AGENTS].rstrip()
    if found.cut:
        text += "\n[It is longer than this.]"
    return (
        (Material(source=AGENTS_FILE, why="how this project likes its work done", text=text),) if text.strip() else ()
    )


async def editor_materials(tree: Tree, context: EditorContext, command: Command | None) -> tuple[Material, ...]:
    """What the editor shows, the most important first."""
    looked = [(each.path, await _read(tree, each)) for each in readings(context, command)]
    found = sorted(((path, each) for path, each in looked if each is not None), key=lambda pair: _is_lacking(pair[1]))
    read = [each for _, each in found]
    beside = list(asides(context, command))
    editor = context.active_editor
    first = next((path for path, each in found if not _is_lacking(each)), None)
    file = editor.file_path if editor is not None else first
    if file is not None and command == "/test":
        read[1:1] = await _tests(tree, file)
    if file is not None and command == "/refactor":
        beside += await _dependents(tree, file)
        beside += await _imports(tree, file)
        beside += await _tests(tree, file)
    return (*beside, *read) if command == "/fix" else (*read, *beside)


def _is_lacking(material: Material) -> bool:
    return material.why == UNREADABLE


async def _read(tree: Tree, reading: WantedLines) -> Material | None:
    if reading.text is not None:
        return _lines(reading.path, reading.text, reading.first, reading.why)
    first: int = reading.first
    last: int | None = reading.last
    try:
        if reading.whole_definition:
            whole = await tree.read(reading.path)
            begin, end = around(whole.path, whole.text, reading.first)
            first, last = (begin, end) if begin < end else (max(1, begin - 2 * AROUND), end + 2 * AROUND)
        found = await tree.read(reading.path, first=first, last=last, most=LONGEST_READING)
    except FileRefused as refused:
        elsewhere = await _elsewhere(tree, reading.path) if reading.by_its_end else []
        if len(elsewhere) == 1:
            return await _read(tree, replace(reading, path=elsewhere[0], by_its_end=False))
        if elsewhere:
            return Material(source=reading.path, why=SEVERAL, text="\n".join(elsewhere[:MOST_HITS]))
        return Material(source=reading.path, why=UNREADABLE, text=str(refused)) if reading.asked_for else None
    return _lines(found.path, found.text, found.first_line, reading.why)


async def _elsewhere(tree: Tree, path: str) -> list[str]:
    """The files whose paths end so, as far as they are looked for."""
    if "/" not in path and not language_of(path):
        return []  # a word with a dot in it
    query = IndexQuery(text=path, kind="text", most=MOST_HITS, per_file=1)
    found = await tree.find(query) if isinstance(tree, IndexedTree) else None
    if found is not None and found.is_whole:
        paths = {hit.path for hit in found.hits}
    else:
        try:
            paths = {each.path for each in await tree.entries(most=MOST_FILES, deep=True)}
        except FileRefused:
            return []
    ends = [each for each in paths if each.lower().endswith(f"/{path.lower()}")]
    return sorted(ends, key=lambda each: (each.count("/"), each))


def _lines(path: str, text: str, first_line: int, why: str) -> Material | None:
    text = withheld(text[:LONGEST_READING], path).removesuffix("\n")
    if not text.strip():
        return None
    source = f"{path}:{first_line}-{first_line + text.count(chr(10))}"
    return Material(source=source, why=why, text=numbered(text, first_line))


async def _tests(tree: Tree, path: str) -> list[Material]:
    try:
        entries = await tree.entries(most=MOST_FILES, deep=True)
    except FileRefused:
        return []
    names = likely_tests(path, (each.path for each in entries), MOST_TESTS)
    found = [await _read(tree, WantedLines(name, f"likely tests of {path}")) for name in names if name != path]
    return [each for each in found if each is not None]


async def _dependents(tree: Tree, path: str) -> list[Material]:
    name = path.rpartition("/")[2].partition(".")[0]
    if len(name) < 3:
        return []
    try:
        hits = await tree.search([name], most=MOST_DEPENDENTS + 1)
    except FileRefused:
        return []
    return [_excerpt(hit, f"names {name}, may depend on it") for hit in hits if hit.path != path][:MOST_DEPENDENTS]


async def _imports(tree: Tree, path: str) -> list[Material]:
    found = [await _read(tree, wanted) for wanted in await imported_lines(tree, path)]
    return [each for each in found if each is not None]


def _excerpt(hit: FileHit, why: str) -> Material:
    lines = [(line.number, withheld(line.text, hit.path)) for line in hit.lines]
    text = "\n".join(f"{number}\t{line}" for number, line in lines)
    return Material(source=f"{hit.path}:{lines[0][0]}" if lines else hit.path, why=why, text=text)


# -- retrieval


class Retrieved(Struct, frozen=True):
    words: tuple[str, ...]
    stages: tuple[RanStage, ...]
    """Those that were really run, in this order."""
    items: tuple[ContextItem, ...]
    materials: tuple[Material, ...]


async def retrieve(
    tree: Tree, question: str, most_tokens: int, context: EditorContext = NO_CONTEXT
) -> Retrieved | None:
    """The parts of files that are likely about the question; None if there is nothing to look for. Raises
    FileRefused."""
    words = names_or_words(keywords(question), question)
    if not words:
        return None
    found = await tree.find(_asked(question, context)) if isinstance(tree, IndexedTree) else None
    pairs: list[tuple[ContextItem, Material]] = []
    stages: list[RanStage] = []
    if found is not None:
        stages = ran(found, words)
        for place in await places(tree, found.hits, words, SHOWN_HITS):
            why = reason(place.hit)
            part = _lines(place.text.path, place.text.text, place.first, why)
            if part is not None:
                pairs.append((_item(part, place.hit.score), part))
    if found is None or not found.is_whole or not pairs:
        plain, why_not = (tree.plain, tree.why_not) if isinstance(tree, IndexedTree) else (tree, "")
        hits = await plain.search(words, most=MOST_HITS)
        stages.append(_plain_stage(words, len(hits), why_not))
        known = {each.source.rpartition(":")[0] for _, each in pairs}
        for hit in hits[:SHOWN_HITS]:
            part = None if hit.path in known else await _around_hits(tree, hit, words)
            if part is not None:
                pairs.append((_item(part, hit.score), part))
    items, materials, left = list[ContextItem](), list[Material](), most_tokens
    for item, part in pairs[: 2 * SHOWN_HITS]:
        if item.tokens <= left:
            left -= item.tokens
            items.append(item)
            materials.append(part)
    return Retrieved(words, _once(stages), tuple(items), tuple(materials))


def _asked(question: str, context: EditorContext) -> IndexQuery:
    editor = context.active_editor
    return IndexQuery(
        text=asked_part(question),
        most=MOST_HITS,
        active_file=editor.file_path if editor is not None else "",
        open_files=tuple(each.file_path for each in context.open_editors[:MOST_OPEN]),
        per_file=2,
    )


def _item(part: Material, score: float) -> ContextItem:
    return ContextItem(source=part.source, score=round(score, 4), reason=part.why, tokens=tokens(part.text))


def _plain_stage(words: Sequence[str], count: int, why_not: str) -> RanStage:
    named = listed(words[:4])
    sentence = f"Found {counted(count, 'file')} for {named}" if count else f"Found no file for {named}"
    return RanStage("text_search", count, sentences(sentence, why_not) if why_not else sentence)


def _once(stages: Sequence[RanStage]) -> tuple[RanStage, ...]:
    """Each stage once, as it was run last: the plain search is one of texts, too."""
    return tuple({each.stage: each for each in stages}.values())


async def _around_hits(tree: Tree, hit: FileHit, words: Sequence[str]) -> Material | None:
    """The best of the lines that were found, those near it, and what stands around them, as one piece. A file that has
    only the right name is shown by its beginning."""
    if hit.lines:
        best = max(hit.lines, key=lambda line: (_held(words, line.text), -line.number)).number
        near = [line.number for line in hit.lines if abs(line.number - best) <= LONGEST_EXCERPT // 2]
        first, last = max(1, min(near) - EXCERPT), max(near) + EXCERPT
    else:
        first, last = 1, LONGEST_EXCERPT // 2
    try:
        found = await tree.read(hit.path, first=first, last=last, most=LONGEST_READING)
    except FileRefused:
        return None
    said = found.text.lower()
    has = [word for word in words if word.lower() in said]
    if has:
        why = f"has {listed(has[:4])} ({counted(hit.count, 'line')})"
    else:
        why = f"has parts of {listed(words[:4])}" if hit.lines else f"its name goes with {listed(words[:4])}"
    return _lines(found.path, found.text, found.first_line, why)


def _held(words: Sequence[str], line: str) -> int:
    lowered = line.lower()
    return sum(word.lower() in lowered for word in words)
