"""The tools of a turn: what a model may call, and what each does with the workspace's files.

A tool is a function over a Tree, with a struct for its arguments. The JSON Schema that a model sees is made from that
struct, and so is the check of the model's arguments: the model is told every mistake in a sentence that says what the
tool takes. Nothing here writes or executes: the tools that do have no function here, and stand in hand_tools.py.

update_plan is in the table for its schema and its check only: it tells the turn, not the tree.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from actors.agent.given import FileHit, FileRefused, Tree
from actors.agent.index.indexed import IndexedTree
from codec.agent.events import PlanStep
from codec.agent.findings import definitions_text, entries_text, file_text, hits_text
from codec.agent.keywords import last_part
from codec.agent.likely_tests import is_test
from codec.agent.models import ToolSpec
from codec.agent.symbols import Definition, definitions
from codec.agent.withheld import withheld
from codec.words import kind

LONGEST_RESULT = 20_000
"""Characters that one call tells."""
MOST_HITS, MOST_ENTRIES, MOST_DEFINITIONS = 20, 400, 40
MOST_SCANNED = 30
"""Files that a search for definitions reads."""

NO_VECTORS = "There is no embedding model, so nothing was searched by its meaning."

Path = Annotated[str, Meta(min_length=1, max_length=2000, description="From the workspace's root, such as src/app.py")]
Number = Annotated[int, Meta(ge=1, le=10_000_000)]


class BadCall(Exception):
    """The model called a tool in a way that cannot work; the text tells it how to do better."""


class ReadFile(Struct, frozen=True, forbid_unknown_fields=False):
    file_path: Path
    first_line: Annotated[Number, Meta(description="Counted from 1; the first if it is left out")] = 1
    last_line: Annotated[Number, Meta(description="The file's last if it is left out")] | None = None


class ListFiles(Struct, frozen=True):
    folder: Annotated[str, Meta(max_length=2000, description="Empty: the workspace's root")] = ""
    deep: Annotated[bool, Meta(description="Whether to list what is below its folders too")] = False


class SearchText(Struct, frozen=True):
    query: Annotated[
        str, Meta(min_length=1, max_length=500, description="Words or names; files with most of them come first")
    ]


class SearchSymbols(Struct, frozen=True):
    name: Annotated[str, Meta(min_length=1, max_length=200, description="Of a function, class, type, constant ...")]


class VectorSearch(Struct, frozen=True):
    query: Annotated[str, Meta(min_length=1, max_length=500, description="What the places are about")]


class WantedStep(Struct, frozen=True):
    description: Annotated[str, Meta(min_length=1, max_length=1000)]
    files_involved: Annotated[tuple[Annotated[str, Meta(max_length=2000)], ...], Meta(max_length=50)] = ()


class UpdatePlan(Struct, frozen=True):
    steps: Annotated[tuple[WantedStep, ...], Meta(min_length=1, max_length=50, description="All steps, in order")]
    current_step: Annotated[
        int, Meta(ge=0, le=50, description="The number of the step that is under way, from 1; 0: none yet")
    ] = 0
    rationale: Annotated[str, Meta(max_length=5000)] = ""

    @property
    def as_steps(self) -> tuple[PlanStep, ...]:
        return tuple(
            PlanStep(step_number=number, description=step.description, files_involved=step.files_involved)
            for number, step in enumerate(self.steps, 1)
        )


class Told(Struct, frozen=True):
    """A tool's result: what the model is told, and what else clients may show."""

    text: str
    more: Mapping[str, Any] = field(default_factory=dict)


class Tool(Struct, frozen=True):
    name: str
    description: str
    arguments: type[Struct]
    use: Callable[[Tree, Any], Awaitable[Told]] | None = None
    """None: it does not only read (acting.py)."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=schema(self.arguments))


def schema(arguments: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a struct, without references: not every model's server follows them."""
    (made,), parts = msgspec.json.schema_components((arguments,), ref_template="{name}")
    inlined: dict[str, Any] = _inlined(made, parts)
    return inlined


def _inlined(part: Any, parts: Mapping[str, Any]) -> Any:
    match part:
        case {"$ref": str() as name}:
            return _inlined({key: value for key, value in parts[name].items() if key != "title"}, parts)
        case dict():
            return {key: _inlined(value, parts) for key, value in part.items()}
        case list():
            return [_inlined(each, parts) for each in part]
    return part


# -- what each does


async def _read_file(tree: Tree, wanted: ReadFile) -> Told:
    if wanted.last_line is not None and wanted.last_line < wanted.first_line:
        raise BadCall(f"last_line ({wanted.last_line}) is before first_line ({wanted.first_line})")
    found = await tree.read(wanted.file_path, first=wanted.first_line, last=wanted.last_line, most=LONGEST_RESULT)
    shown = found.text
    if len(shown) >= LONGEST_RESULT and "\n" in shown:  # the last line may be cut, and then comes whole next time
        shown = shown[: shown.rindex("\n") + 1]
    following = found.first_line + shown.removesuffix("\n").count("\n") + 1
    more = bool(shown) and following <= min(found.lines, wanted.last_line or found.lines)
    text = file_text(found.path, withheld(shown, found.path), found.first_line, found.lines)
    if more:
        text += f"\n[There is more: call read_file with first_line {following}.]"
    return Told(text, {"file_path": found.path, "first_line": found.first_line, "lines": found.lines, "cut": more})


async def _list_files(tree: Tree, wanted: ListFiles) -> Told:
    folder = wanted.folder.strip().removeprefix("./").strip("/")
    folder = "" if folder == "." else folder
    entries = await tree.entries(folder, most=MOST_ENTRIES, deep=wanted.deep)
    return Told(
        entries_text(folder, [(each.path, each.size) for each in entries], MOST_ENTRIES), {"count": len(entries)}
    )


async def _search_text(tree: Tree, wanted: SearchText) -> Told:
    words = wanted.query.split()[:12]
    if not words:
        raise BadCall("query has no words")
    return _told_hits(words, await tree.search(words, most=MOST_HITS))


def _told_hits(words: Sequence[str], hits: Sequence[FileHit], **more: Any) -> Told:
    shown = [
        (hit.path, hit.count, [(line.number, withheld(line.text, hit.path)) for line in list(hit.lines)[:5]])
        for hit in hits
    ]
    counts = {"results_count": len(hits), "files": [hit.path for hit in hits], **more}
    return Told(hits_text(words, shown, MOST_HITS), counts)


async def _vector_search(tree: Tree, wanted: VectorSearch) -> Told:
    hits = await tree.alike(wanted.query, MOST_HITS) if isinstance(tree, IndexedTree) else None
    if hits is not None:
        return _told_hits([wanted.query], hits, mode="vectors")
    why_not = (tree.why_not if isinstance(tree, IndexedTree) else "") or NO_VECTORS
    found = await _search_text(tree, SearchText(wanted.query))
    return Told(f"{why_not} The words are found here:\n{found.text}", {**found.more, "mode": "text_only"})


async def _search_symbols(tree: Tree, wanted: SearchSymbols) -> Told:
    found = await find_definitions(tree, wanted.name)
    places = [f"{path}:{each.line}" for path, each in found]
    return Told(definitions_text(wanted.name, found), {"results_count": len(found), "places": places})


async def _update_plan(tree: Tree, wanted: UpdatePlan) -> Told:
    total = len(wanted.steps)
    if wanted.current_step > total:
        raise BadCall(f"current_step is {wanted.current_step}, but there are only {total} steps")
    return Told("The plan is shown to the user.", {"current_step": wanted.current_step, "total_steps": total})


async def find_definitions(tree: Tree, name: str) -> list[tuple[str, Definition]]:
    """Those of this name, case aside; if there are none, those that contain it. Tests come last, as do variables."""
    sought = last_part(name.strip()) or name.strip()
    folded, found = sought.lower(), []
    if isinstance(tree, IndexedTree):
        hits = await tree.defining(sought, MOST_SCANNED)
    else:
        hits = await tree.search([sought], most=MOST_SCANNED)
    for hit in hits:
        try:
            text = await tree.read(hit.path)
        except FileRefused:
            continue
        found += [
            (hit.path, msgspec.structs.replace(each, text=withheld(each.text, hit.path)))
            for each in definitions(hit.path, text.text, holding=folded)
            if folded in each.name.lower()
        ]
    exact = [pair for pair in found if pair[1].name.lower() == folded]
    return sorted(exact or found, key=lambda pair: _remoteness(sought, *pair))[:MOST_DEFINITIONS]


def _remoteness(sought: str, path: str, found: Definition) -> tuple[bool, bool, bool]:
    return is_test(path), found.kind in ("variable", "constant", "heading"), found.name != sought


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "read_file",
            "Read a text file of the workspace, or some of its lines. Lines are numbered.",
            ReadFile,
            _read_file,
        ),
        Tool(
            "list_files",
            "List the files and folders of a folder. Ignored and hidden ones are left out.",
            ListFiles,
            _list_files,
        ),
        Tool(
            "search_text",
            "Find files in which words occur, with the lines. Case does not matter.",
            SearchText,
            _search_text,
        ),
        Tool(
            "search_symbols", "Find where a function, class or other name is defined.", SearchSymbols, _search_symbols
        ),
        Tool(
            "vector_search",
            "Find places by what they are about. Without an embedding model it finds words, as search_text does.",
            VectorSearch,
            _vector_search,
        ),
        Tool(
            "update_plan",
            "Show the user your plan for a task of several steps, and which step is under way. Send all steps.",
            UpdatePlan,
            _update_plan,
        ),
    )
}
SPECS = tuple(tool.spec for tool in TOOLS.values())


# -- arguments


def checked(tool: Tool, arguments: Any) -> Struct:
    """The arguments as the tool's struct. Raises BadCall."""
    if isinstance(arguments, str):  # not an object, or no JSON
        try:
            arguments = msgspec.json.decode(arguments or "{}")
        except (msgspec.DecodeError, RecursionError):
            raise BadCall(f"the arguments are no JSON. {_takes(tool)}") from None
    if not isinstance(arguments, Mapping):
        raise BadCall(f"the arguments have to be an object, and were {kind(arguments)}. {_takes(tool)}")
    try:
        return msgspec.convert(dict(arguments), tool.arguments, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        what = str(error).replace(" - at `$", " - at `").replace(" - at `.", " - at `") if str(error) else "too deep"
        raise BadCall(f"{what}. {_takes(tool)}") from None


def _takes(tool: Tool) -> str:
    fields = []
    for each in msgspec.structs.fields(tool.arguments):
        given = "" if each.required else ", optional"
        fields.append(f"{each.encode_name} ({_in_words(tool.spec.parameters['properties'][each.encode_name])}{given})")
    return f"{tool.name} takes {', '.join(fields)}."


def _in_words(part: Mapping[str, Any]) -> str:
    if "anyOf" in part:
        return str(next((each["type"] for each in part["anyOf"] if each.get("type") != "null"), "any"))
    return str(part.get("type", "any"))
