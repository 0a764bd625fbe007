"""The embedded model: it searches the workspace for the words of a question, reads the best places, and tells them.

It needs no model, no network and no state: its answer is a function of the messages so far. Like any model it answers a
request with calls of tools until it knows enough:

    round 0   update_plan, then search_symbols and search_text for the words of the question
    round 1   read_file at the definitions, or at the best hits; list_files if nothing was found
    round 2   the explanation (builtin_answers.py)

With hands it goes on (builtin_hands.py): /fix proposes what ruff can fix, /test and "run the tests" run the tests.

Slash commands change what is searched: /explain and /refactor look for what the editor shows or the message names,
/fix for the names in the diagnostics, /test for the tests of the file. A request without tools is answered from what
is there.
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Any

from msgspec import Struct

from codec.agent import builtin_answers as answers
from codec.agent.builtin_answers import COMMANDS, Findings, ReportedProblem
from codec.agent.builtin_hands import (
    asks_only_to_run,
    calls_for_fixes,
    calls_for_tests,
    told_fixes,
    told_tests,
    wants_tests,
)
from codec.agent.findings import (
    FileExcerpt,
    FoundPlace,
    read_definitions_text,
    read_entries_text,
    read_file_text,
    read_hits_text,
)
from codec.agent.keywords import is_name, keywords, last_part, names_or_words
from codec.agent.likely_tests import is_test
from codec.agent.material import INTERJECTIONS, SEVERAL, STEERED, Material, parted
from codec.agent.models import CalledTool, Delta, Finished, ModelMessage, ModelRequest, SaidText, ToolCall
from codec.agent.symbols import definitions, language_of

MOST_NAMES, MOST_READ, MOST_PROBLEMS = 3, 3, 5
MOST_ROUNDS = 5
_HANDS = frozenset({"execute_command", "propose_diff"})
BEFORE, BEHIND = 8, 32
"""Lines that are read around a definition."""

_PROBLEM = re.compile(r"(?P<path>.+?):(?P<line>\d+):\d+: (?P<severity>\w+): (?P<message>.*)")
_QUOTED = re.compile(r"[`'\"‘“]([A-Za-z_$][\w$.]*)[`'\"’”]")
_LINE = re.compile(r":\d+$")


class BuiltinQuestion(Struct, frozen=True):
    """What is asked now, and what was found out since."""

    words: str
    command: str | None
    materials: tuple[Material, ...]
    rounds: int
    results: tuple[tuple[ToolCall, str], ...]


def deltas(request: ModelRequest) -> Iterator[Delta]:
    asked = _asked(request.messages)
    tools = {tool.name for tool in request.tools}
    calls = [(name, arguments) for name, arguments in _calls(asked, tools) if name in tools]
    if calls:
        for number, (name, arguments) in enumerate(calls, 1):
            yield CalledTool(ToolCall(id=f"{asked.rounds}.{number}", name=name, arguments=arguments))
    else:
        for piece in re.findall(r"\s*\S+", answers.answer(_known(asked))):
            yield SaidText(piece)
    yield Finished()


def _asked(messages: tuple[ModelMessage, ...]) -> BuiltinQuestion:
    said = [index for index, message in enumerate(messages) if message.role == "user"]
    own = [index for index in said if not messages[index].content.startswith(INTERJECTIONS)]
    begin = (own or said or [0])[-1]
    words, materials = parted(messages[begin].content) if said else ("", ())
    since = messages[begin + 1 :]
    results = {message.tool_call_id: message.content for message in since if message.role == "tool"}
    for message in since:
        if message.role == "user" and message.content.startswith(STEERED):
            words += f"\n{parted(message.content)[0].removeprefix(STEERED).strip()}"
    first = words.split(None, 1)[0].lower() if words.split() else ""
    command = first if first in COMMANDS else None
    calls = [call for message in since for call in message.tool_calls]
    return BuiltinQuestion(
        words if command is None else words.strip()[len(command) :].strip(),
        command,
        materials,
        sum(message.role == "assistant" for message in since),
        tuple((call, results.get(call.id, "")) for call in calls),
    )


# -- what to look for


def _calls(asked: BuiltinQuestion, tools: Set[str]) -> list[tuple[str, dict[str, Any]]]:
    acts = _acts(asked) if tools >= _HANDS and asked.rounds < MOST_ROUNDS else []
    if asks_only_to_run(asked.command, asked.words) and tools >= _HANDS:
        return acts
    looks = _first(asked) if asked.rounds == 0 else _second(asked) if asked.rounds == 1 else []
    return [*looks, *(call for call in acts if call not in looks)]


def _acts(asked: BuiltinQuestion) -> list[tuple[str, dict[str, Any]]]:
    if wants_tests(asked.command, asked.words):
        return calls_for_tests(asked.results)
    if asked.command == "/fix":
        paths = _named_files(asked) or [each.path for each in _problems(asked.materials)]
        open_file = _open_file(asked.materials)
        return calls_for_fixes(paths or ([open_file] if open_file else []), asked.results)
    return []


def _first(asked: BuiltinQuestion) -> list[tuple[str, dict[str, Any]]]:
    names, path = sought(asked), _open_file(asked.materials)
    calls: list[tuple[str, dict[str, Any]]] = [("search_symbols", {"name": name}) for name in _looked_up(names)]
    if names:
        calls.append(("search_text", {"query": " ".join(names_or_words(names, asked.words))}))
    if asked.command in ("/test", "/refactor"):
        stem = path.rpartition("/")[2].partition(".")[0] if path else ""
        if len(stem) > 2 and stem not in names:
            calls.append(("search_text", {"query": stem}))
    elif not names and answers.small_talk(asked.words) is None and not asked.materials:
        calls.append(("list_files", {}))
    return [_plan(asked, 1), *calls] if calls else []


def _second(asked: BuiltinQuestion) -> list[tuple[str, dict[str, Any]]]:
    known = _known(asked)
    places = [(each.path, each.line) for each in known.definitions] or [(each.path, each.line) for each in known.hits]
    if asked.command == "/fix":
        places = [(each.path, each.line) for each in known.problems] + places
    elif asked.command == "/test":
        places = []
    chosen: list[tuple[str, int]] = []
    for path, line in places:
        if not any(path == other and -BEFORE < line - begin < BEHIND // 2 for other, begin in chosen):
            chosen.append((path, line))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"file_path": path, "first_line": max(1, line - BEFORE), "last_line": line + BEHIND})
        for path, line in chosen[:MOST_READ]
    ]
    if not calls and known.files is None and asked.command is None:
        calls.append(("list_files", {}))
    return [*calls, _plan(asked, 3)] if calls else []


def _plan(asked: BuiltinQuestion, step: int) -> tuple[str, dict[str, Any]]:
    about = ", ".join(sought(asked)[:MOST_NAMES])
    steps = [
        f"Search the workspace for {about}" if about else "Look what the workspace has",
        "Read the places that were found",
        "Tell what they say",
    ]
    if asked.command == "/fix":
        steps[0] = "Go through the problems that the editor reports"
    elif asked.command == "/test":
        steps[1] = "Find the tests that belong to it"
    return "update_plan", {"steps": [{"description": each} for each in steps], "current_step": step}


def sought(asked: BuiltinQuestion) -> tuple[str, ...]:
    """The names and words to look for, the most telling first. A file that is named is shown, and not looked for."""
    words = list(keywords(asked.words))
    known = {each.lower() for each in (*_named_files(asked), *_of_several(asked.materials))}
    words = [each for each in words if not any(_is_end(each.lower(), path) for path in known)]
    if asked.command == "/fix":
        quoted = [name for each in _problems(asked.materials) for name in _QUOTED.findall(each.message)]
        words = [*dict.fromkeys(quoted), *words]
    elif asked.command in ("/explain", "/refactor") and not words:
        words = [each.name for material in _shown(asked.materials) for each in _defined(material)]
    return tuple(dict.fromkeys(words))[:8]


# -- what is known


def _known(asked: BuiltinQuestion) -> Findings:
    done = asked.results
    excerpts = [
        found for call, text in done if call.name == "read_file" and (found := read_file_text(text)) is not None
    ]
    listed = [read_entries_text(text) for call, text in done if call.name == "list_files"]
    names = tuple(name if _is_file(name) else last_part(name) or name for name in sought(asked))
    path = _open_file(asked.materials)
    stems = (path.rpartition("/")[2].partition(".")[0],) if path else ()
    hits = _once(each for call, text in done if call.name == "search_text" for each in read_hits_text(text))
    return Findings(
        words=asked.words,
        command=asked.command,
        names=names,
        path=path,
        definitions=_sorted_by_likelihood(
            _once(each for call, text in done if call.name == "search_symbols" for each in read_definitions_text(text)),
            names,
        ),
        hits=tuple(
            each for each in hits if _names_one(each.what, (*names, *stems))
        ),  # a search finds parts of names too
        excerpts=tuple(excerpts) + tuple(found for each in asked.materials if (found := _excerpt(each)) is not None),
        files=listed[-1] if listed else None,
        tests=tuple(each.source.rpartition(":")[0] for each in asked.materials if each.why.startswith("likely tests")),
        looked_up=tuple(str(call.arguments.get("name")) for call in _done(asked, "search_symbols")),
        problems=_problems(asked.materials),
        terminal=next((each.text for each in asked.materials if each.source == "terminal"), None),
        shown=tuple(each for each in _shown(asked.materials)),
        several=_of_several(asked.materials),
        done=tuple(_done_with_hands(asked)),
    )


def _done_with_hands(asked: BuiltinQuestion) -> list[str]:
    if wants_tests(asked.command, asked.words):
        return told_tests(asked.results)
    return told_fixes(asked.results) if asked.command == "/fix" else []


def _done(asked: BuiltinQuestion, tool: str) -> list[ToolCall]:
    return [call for call, _ in asked.results if call.name == tool and isinstance(call.arguments, dict)]


def _looked_up(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names whose definitions are looked for: those that look like names, or all of a question that has few. Of the
    words of a longer sentence none is likely a name."""
    symbols = tuple(name for name in names if not _is_file(name))
    likely = tuple(name for name in symbols if is_name(name) or name[:1].isupper())
    return (likely or (symbols if len(names) < MOST_NAMES else ()))[:MOST_NAMES]


def _is_file(name: str) -> bool:
    """Whether it is one's name: csrf.py is nothing that is called py in something called csrf."""
    return "." in name and language_of(name) is not None


def _names_one(line: str, names: Sequence[str]) -> bool:
    lowered = line.lower()
    return any(name.lower() in lowered for name in names)


def _sorted_by_likelihood(definitions: tuple[FoundPlace, ...], names: Sequence[str]) -> tuple[FoundPlace, ...]:
    """What has the name itself, then what has it in its own; of each the tests last."""
    return tuple(sorted(definitions, key=lambda each: (not answers.is_meant(each, names), is_test(each.path))))


def _once(places: Iterator[Any]) -> tuple[Any, ...]:
    return tuple({(each.path, each.line): each for each in places}.values())


def _problems(materials: tuple[Material, ...]) -> tuple[ReportedProblem, ...]:
    lines = [line for each in materials if each.source == "diagnostics" for line in each.text.splitlines()]
    found = [match for line in lines if (match := _PROBLEM.fullmatch(line)) is not None]
    return tuple(ReportedProblem(each["path"], int(each["line"]), each["severity"], each["message"]) for each in found)[
        :MOST_PROBLEMS
    ]


def _shown(materials: tuple[Material, ...]) -> list[Material]:
    """What the user has named, and looks at."""
    return [each for each in materials if answers.is_shown(each.why) and ":" in each.source]


def _named_files(asked: BuiltinQuestion) -> list[str]:
    """Those that the message names, with @ or without, by their ends, as far as they are there."""
    words = {_LINE.sub("", word.lstrip("@`'\"(").rstrip(".,;:!?`'\")").lower()) for word in asked.words.split()}
    paths = dict.fromkeys(each.source.rpartition(":")[0] for each in asked.materials if answers.is_named(each.why))
    return [path for path in paths if any(_is_end(word, path.lower()) for word in words)]


def _of_several(materials: tuple[Material, ...]) -> dict[str, list[str]]:
    return {each.source: each.text.split("\n") for each in materials if each.why == SEVERAL}


def _is_end(word: str, path: str) -> bool:
    return word == path or path.endswith(f"/{word}")


def _open_file(materials: tuple[Material, ...]) -> str | None:
    return next((each.source.rpartition(":")[0] for each in _shown(materials)), None)


def _excerpt(material: Material) -> FileExcerpt | None:
    place = re.fullmatch(r"(.+):(\d+)-(\d+)", material.source)
    if place is None:
        return None
    lines = tuple(line.partition("\t")[2] for line in material.text.split("\n"))
    return FileExcerpt(place[1], int(place[2]), lines, int(place[3]))


def _defined(material: Material) -> list[Any]:
    excerpt = _excerpt(material)
    if excerpt is None:
        return []
    found = definitions(excerpt.path, "\n".join(excerpt.lines), excerpt.first_line)
    return [each for each in found if each.kind not in ("variable", "heading")]
