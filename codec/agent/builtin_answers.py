"""The embedded model's answers when it has found what it can: where something is defined, what its comment says, what
mentions it, each with file and line; and, plainly, what only a model could do.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from codec.agent.findings import FileExcerpt, FoundPlace
from codec.agent.likely_tests import is_test, likely_tests
from codec.agent.material import Material
from codec.agent.symbols import around, definitions, language_of
from codec.words import counted, listed

COMMANDS = ("/fix", "/test", "/explain", "/refactor")
MOST_CODE, MOST_PLACES, MOST_OF_A_FILE, MOST_DEFINITIONS = 24, 8, 3, 3
"""Lines of code at once; places in a list, and of one file; definitions that are told in full."""

ONLY_A_MODEL = (
    "I am the assistant that is built in: I search and read, and I do not reason. {what} To have that, choose a model: "
    "Ollama, or any server that speaks OpenAI's protocol."
)
_GREETING = re.compile(
    r"(?i)\W*(hi|hello|hey|hallo|moin|good (morning|evening|day|afternoon)|guten (tag|morgen|abend))\b"
)
_THANKS = re.compile(r"(?i)\W*(thanks?|thank you|danke|cheers|merci)\b")
_WHO = re.compile(r"(?i)\b(who|what) (are|r) you\b|\bwhat can (you|i)\b|^\W*help\W*$|\bwer bist du\b|\bwas kannst du\b")
_CAN = (
    "Ask me about a function, a class or a word, and I look it up in the workspace: where it is defined, what its "
    "comment says, and who mentions it. /explain, /fix, /test and /refactor work on what your editor shows, or on a "
    "file that you name (@src/main.py)."
)


class ReportedProblem(Struct, frozen=True):
    path: str
    line: int
    severity: str
    message: str


class Findings(Struct, frozen=True, kw_only=True):
    """All that was found out for an answer."""

    words: str
    command: str | None
    names: tuple[str, ...]
    path: str | None
    """The file in the editor."""
    definitions: tuple[FoundPlace, ...]
    hits: tuple[FoundPlace, ...]
    excerpts: tuple[FileExcerpt, ...]
    files: tuple[str, ...] | None
    """In the workspace's root, if they were listed."""
    tests: tuple[str, ...]
    """Of the file in the editor, as far as its name tells."""
    looked_up: tuple[str, ...]
    """The names whose definitions were looked for."""
    problems: tuple[ReportedProblem, ...]
    terminal: str | None
    shown: tuple[Material, ...]
    several: Mapping[str, Sequence[str]] = {}
    """Of a file that was named, the paths that end so."""
    done: tuple[str, ...] = ()
    """Paragraphs about what was done with hands."""


def small_talk(words: str) -> str | None:
    """An answer to what is no question about code."""
    if len(words) > 200:
        return None
    if _WHO.search(words):
        return f"I am the assistant that is built into Troupe; I need no model and no network. {_CAN}"
    if _THANKS.match(words) and len(words.split()) < 8:
        return "You are welcome."
    if _GREETING.match(words) and len(words.split()) < 8:
        return f"Hello! {_CAN}"
    return None


def answer(known: Findings) -> str:
    match known.command:
        case "/fix":
            parts = _fix(known)
        case "/test":
            parts = _test(known)
        case "/refactor":
            parts = _refactor(known)
        case "/explain":
            parts = _explain(known)
        case _ if known.done:
            parts = list(known.done)
        case _:
            talk = None if known.names else small_talk(known.words)
            if talk is not None:
                return talk
            parts = _tell(known)
    return "\n\n".join(parts)


def is_shown(why: str) -> bool:
    """Whether material is there for this reason that the user has named it, or looks at it."""
    return is_named(why) or why.endswith("in the editor")


def is_named(why: str) -> bool:
    return why.startswith("mentioned: ") or why.endswith("in the message")


# -- a question


def _tell(known: Findings) -> list[str]:
    parts = [*(_looked_at(known) if any(is_named(each.why) for each in known.shown) else ()), *_told_names(known)]
    if not parts:
        return _nothing(known)
    return [*parts, ONLY_A_MODEL.format(what="I cannot judge this code or write new code.")]


def _told_names(known: Findings) -> list[str]:
    parts = [
        _names(f"Several files are called `{name}`. Name one of them with its folder:", paths)
        for name, paths in known.several.items()
    ]
    defined = [each for each in known.definitions if is_meant(each, known.names)]
    if not defined and known.definitions:
        defined = list(known.definitions)
        names = listed(f"`{name}`" for name in known.looked_up)
        parts.append(f"Nothing is called just {names}. This is closest:")
    for place in defined[:MOST_DEFINITIONS]:
        parts += _definition(place, known.excerpts)
    if len(defined) > MOST_DEFINITIONS:
        parts.append(
            _list(
                "It is also defined here:" if len(known.names) == 1 else "More definitions:", defined[MOST_DEFINITIONS:]
            )
        )
    at = {(each.path, each.line) for each in defined}
    mentions = [each for each in known.hits if (each.path, each.line) not in at]
    if mentions:
        if not defined and known.looked_up:
            names = listed(f"`{name}`" for name in known.looked_up)
            parts.append(f"I found no definition of {names}.")
        parts.append(_list("Mentioned here:", mentions))
        if not defined:
            parts += _code(known.excerpts[:1])
    return parts


def is_meant(place: FoundPlace, names: Sequence[str]) -> bool:
    return place.name.lower() in {name.lower() for name in names}


def _definition(place: FoundPlace, excerpts: Iterable[FileExcerpt]) -> list[str]:
    parts = [f"`{place.name}` is a {place.kind}, defined in `{place}`."]
    for excerpt in excerpts:
        index = place.line - excerpt.first_line
        if excerpt.path != place.path or not 0 <= index < len(excerpt.lines):
            continue
        said = documentation(excerpt.lines, index)
        if said:
            parts.append(f"Its comment says: {said}")
        _, last = around(place.path, "\n".join(excerpt.lines), place.line, excerpt.first_line)
        parts.append(_fenced(place.path, excerpt.lines[index : min(last - excerpt.first_line + 1, index + MOST_CODE)]))
        break
    return parts


def documentation(lines: Sequence[str], index: int) -> str:
    """The docstring behind a definition, or the comment right above it, as one paragraph."""
    behind = "\n".join(lines[index : index + 30])
    found = re.match(r'(?s)[^\n]*?(?:\n[^\n]*?){0,8}?:\s*(?:->[^\n]*)?\n\s*[rRuU]?("""|\'\'\')(.*?)(?:\1|\Z)', behind)
    if found is not None and re.match(r"\s*(?:async\s+)?(?:def|class)\b", lines[index]):
        return " ".join(found[2].split())[:600]
    above: list[str] = []
    for line in reversed(lines[:index]):
        bare = line.strip()
        if bare.startswith(("@", "#[", "[")) and not above:
            continue
        if not re.match(r"(#(?!!)|//|/\*|\*|--|;;|<!--)", bare) and not bare.endswith("*/"):
            break
        above.insert(0, re.sub(r"^(?:#+|/{2,}!?|/\*+|\*+/|\*|--|;;+|<!--)\s?|\s*(?:\*/|-->)$", "", bare))
    return " ".join(" ".join(above).split())[:600]


def _nothing(known: Findings) -> list[str]:
    if known.files is not None and not known.files:
        return ["The workspace has no files that I can read, so there is nothing that I could look up."]
    if known.names:
        parts = [f"I found nothing in the workspace about {', '.join(f'`{name}`' for name in known.names[:5])}."]
    else:
        parts = ["I found no word in your message that I could look up."]
    if known.files:
        parts.append(_names("The workspace has:", known.files))
    return [*parts, _CAN]


# -- the commands


def _explain(known: Findings) -> list[str]:
    parts = _looked_at(known)
    told = _told_names(known)
    if not parts and not told:
        return [
            "There is nothing selected that I could explain. Select some code, or name a function or a file.",
            *_nothing(known)[1:],
        ]
    elsewhere = [each for each in known.hits if each.path != known.path]
    if parts and known.path is not None:
        if elsewhere:
            parts.append(_list("Who else mentions it:", elsewhere))
    else:
        parts += told
    return [*parts, ONLY_A_MODEL.format(what="I cannot say in words what this code does beyond its own comments.")]


def _looked_at(known: Findings) -> list[str]:
    parts = []
    for material in known.shown[:1]:
        path, text = material.source.rpartition(":")[0], [line.partition("\t")[2] for line in material.text.split("\n")]
        first = int(re.sub(r"-.*", "", material.source.rpartition(":")[2]) or 1)
        found = [each for each in definitions(path, "\n".join(text), first) if each.kind != "variable"]
        looked = "You ask about" if is_named(material.why) else "You look at"
        parts.append(f"{looked} `{material.source}` ({counted(len(text), 'line')}).")
        lines = []
        for each in found[:12]:
            said = documentation(text, each.line - first)
            lines.append(f"- `{each.name}` ({each.kind}, line {each.line}){f': {said}' if said else ''}")
        if lines:
            parts.append("It defines:\n" + "\n".join(lines))
    return parts


def _fix(known: Findings) -> list[str]:
    parts = []
    for problem in known.problems:
        parts.append(f"`{problem.path}:{problem.line}`: {problem.severity}: {problem.message}")
        parts += _code(
            FileExcerpt(each.path, begin, each.lines[begin - each.first_line : end - each.first_line + 1], each.whole)
            for each in known.excerpts
            if each.path == problem.path and each.first_line <= problem.line < each.first_line + len(each.lines)
            for begin, end in [(max(each.first_line, problem.line - 4), problem.line + 4)]
        )[:1]
    for place in known.definitions[:MOST_DEFINITIONS]:
        parts += _definition(place, known.excerpts)[:1]
    if known.terminal is not None:
        tail = known.terminal.splitlines()[-12:]
        parts.append("The terminal said last:\n" + _fenced("", tail))
    if not parts:
        told = _told_names(known)
        parts = ["The editor reports no problem, and there is no output of a command that has failed.", *told]
    what = "I can show where the problem is, but I cannot write the change."
    if known.done:
        what = "I can propose the fixes that ruff knows, but I cannot write others."
    return [*parts, *known.done, ONLY_A_MODEL.format(what=what)]


def _test(known: Findings) -> list[str]:
    sources = (
        [known.path] if known.path else list(dict.fromkeys(each.path for each in known.definitions or known.hits))[:3]
    )
    sources = [each for each in sources if each is not None]
    if not sources:
        if known.done:
            return list(known.done)
        say = "Open the file that is to be tested, or name it (@src/main.py), or a function of it."
        return [say, *_nothing(known)[1:]]
    parts = []
    for source in sources:
        tests = _tests_of(source, known)
        if tests:
            parts.append(_names(f"The tests of `{source}` are likely here:", tests))
        else:
            parts.append(f"I found no file that looks like the tests of `{source}`.")
    mentions = [each for each in known.hits if is_test(each.path)]
    if mentions:
        parts.append(_list("Tests that mention it:", mentions))
    if known.terminal is not None:
        parts.append("The terminal said last:\n" + _fenced("", known.terminal.splitlines()[-8:]))
    what = "I can find tests and run them" if known.done else "I can find tests"
    return [*parts, *known.done, ONLY_A_MODEL.format(what=f"{what}, but I cannot write them.")]


def _tests_of(path: str, known: Findings) -> tuple[str, ...]:
    known_by_name = known.tests if path == known.path else ()
    return tuple(dict.fromkeys((*known_by_name, *likely_tests(path, [each.path for each in known.hits]))))


def _refactor(known: Findings) -> list[str]:
    if known.path is None and not known.definitions and not known.hits:
        say = "Open the file that is to change, or name it (@src/main.py), or a function of it."
        return [say, *_nothing(known)[1:]]
    own = {known.path} if known.path else {each.path for each in known.definitions}
    named = [each for each in known.definitions if each.path in own]
    parts = [f"`{each.name}` ({each.kind}) is defined in `{each}`." for each in named[:6]]
    others = [each for each in known.hits if each.path not in own]
    if others:
        files = list(dict.fromkeys(each.path for each in others))
        parts.append(_list(f"{counted(len(files), 'file')} may depend on it:", others))
    else:
        parts.append("I found no other file that mentions it.")
    tests = [test for path in sorted(each for each in own if each) for test in _tests_of(path, known)]
    if tests:
        parts.append(_names("Run these tests before and after the change:", tests))
    return [*parts, ONLY_A_MODEL.format(what="I can say who depends on this code, but I cannot restructure it.")]


# -- Markdown


def _list(heading: str, places: Sequence[FoundPlace]) -> str:
    """Of each file a few, so that many files are named."""
    chosen: list[FoundPlace] = []
    for each in places:
        if len(chosen) < MOST_PLACES and sum(each.path == other.path for other in chosen) < MOST_OF_A_FILE:
            chosen.append(each)
    lines = [f"- `{each}`: `{' '.join(each.what.replace('`', chr(39)).split())[:160]}`" for each in chosen]
    if len(places) > len(chosen):
        lines.append(f"- and {counted(len(places) - len(chosen), 'more place')}")
    return "\n".join([heading, "", *lines])


def _names(heading: str, names: Sequence[str]) -> str:
    lines = [f"- `{each}`" for each in names[: 2 * MOST_PLACES]]
    if len(names) > 2 * MOST_PLACES:
        lines.append(f"- and {len(names) - 2 * MOST_PLACES} more")
    return "\n".join([heading, "", *lines])


def _code(excerpts: Iterable[FileExcerpt]) -> list[str]:
    return [
        f"`{each.path}:{each.first_line}`:\n{_fenced(each.path, each.lines[:MOST_CODE])}"
        for each in excerpts
        if each.lines
    ]


def _fenced(path: str, lines: Sequence[str]) -> str:
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    language = language_of(path) or PurePosixPath(path).suffix.removeprefix(".")
    return "\n".join([f"{fence}{language}", *lines, fence])
