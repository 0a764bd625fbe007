"""What a command runs that its words do not say: npm's script, the recipe of a target, pytest's addopts.

A card shows it beside the command, as far as the files tell it. It is only shown: no verdict depends on it. But it
decides whether a user has to look: the policy must let the files be read that say what a test command runs, and they
must say what they said when the turn began, or when somebody last approved it (commands.py).
"""

import json
import re
from collections.abc import Iterator, Mapping

from codec.agent.action_events import ScriptLine
from codec.agent.policy.looking_into import as_line, everything
from codec.agent.policy.names import names
from codec.agent.policy.shell import Words
from codec.agent.policy.wrappers import program_of

MOST_LINES = 12
LONGEST = 500
"""Characters of a line."""
_SCRIPT_RUNNERS = names("npm yarn pnpm bun")
_OF_THEIR_OWN = names("test start stop restart")
_ALIASES = {"t": "test", "tst": "test"}
_RUN = names("run run-script rum urn")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_PYTHON_CONFIG = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_TELLS = {
    "make": _MAKEFILES,
    "gmake": _MAKEFILES,
    "just": ("Justfile", "justfile"),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "pytest": (*_PYTHON_CONFIG, "conftest.py"),
    "cargo": ("Cargo.toml", "build.rs", "config.toml"),
    "go": ("go.mod",),
    "mvn": ("pom.xml",),
    "mvnw": ("pom.xml", "mvnw"),
    "gradlew": ("gradlew", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    "mix": ("mix.exs",),
}
TELLING_NAMES = frozenset(name for told in _TELLS.values() for name in told) | {"package.json"}
"""Of all files that say what a command runs."""

FilesTold = Mapping[str, str | None]
"""Files by their paths, each with its digest. None: it cannot be read."""

_ADDOPTS = re.compile(r"(?m)^addopts[ \t]*=[ \t]*(.*(?:\n[ \t]+.*)*)")
_COMMANDS = re.compile(r"(?m)^commands[ \t]*=[ \t]*(.*(?:\n[ \t]+.*)*)")


def files_behind(command: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names of the files that say what it runs, in its folder; there may be none of them."""
    found: dict[str, None] = {}
    for words in everything(as_line(command)):
        found |= dict.fromkeys(_files(words))
    return tuple(found)


def differing(before: FilesTold, now: FilesTold) -> set[str]:
    """The files that do not say any more what they said, or of which that cannot be told."""
    return {path for path in {*before, *now} if before.get(path) is None or before.get(path) != now.get(path)}


def lines_behind(command: str | tuple[str, ...], texts: Mapping[str, str]) -> tuple[ScriptLine, ...]:
    """`texts`: of the files, as far as they are there and may be read."""
    found: dict[ScriptLine, None] = {}
    waiting, depth = [command], 0
    while waiting and depth < 4 and len(found) < MOST_LINES:
        told = [line for each in waiting for words in everything(as_line(each)) for line in _lines(words, texts)]
        waiting = [line.text.lstrip("@-+") for line in told if line not in found]  # signs for make, not of a command
        found |= dict.fromkeys(told)
        depth += 1
    return tuple(found)[:MOST_LINES]


def _tool(words: Words) -> str:
    program = program_of(words[0])
    if program.startswith("python") and words[1:2] == ("-m",) and len(words) > 2:
        return words[2] or ""
    return "pytest" if program == "py.test" else program


def _files(words: Words) -> tuple[str, ...]:
    tool = _tool(words)
    return ("package.json",) if tool in _SCRIPT_RUNNERS else _TELLS.get(tool, ())


def _lines(words: Words, texts: Mapping[str, str]) -> Iterator[ScriptLine]:
    tool = _tool(words)
    if tool in _SCRIPT_RUNNERS:
        yield from _of_package(_script(tool, words), texts.get("package.json", ""))
    elif tool in ("make", "gmake", "just"):
        name = next((each for each in _TELLS[tool] if each in texts), None)
        if name is not None:
            yield from _of_recipes(words, name, texts[name])
    elif tool in ("pytest", "tox"):
        setting, pattern = ("addopts", _ADDOPTS) if tool == "pytest" else ("commands", _COMMANDS)
        for name in _PYTHON_CONFIG:
            for match in pattern.finditer(texts.get(name, "")):
                yield _line(name, setting, " ".join(match[1].split()))


def _script(tool: str, words: Words) -> str:
    """The name of the script that is run; empty: none that is known."""
    first = words[1] if len(words) > 1 else None
    if first in _RUN:
        first = words[2] if len(words) > 2 else None
    elif tool == "npm":
        first = _ALIASES.get(first or "", first)
        first = first if first in _OF_THEIR_OWN else None
    return "" if first is None or first.startswith("-") else first


def _of_package(name: str, text: str) -> Iterator[ScriptLine]:
    try:
        scripts = json.loads(text)["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for each in (f"pre{name}", name, f"post{name}") if name and isinstance(scripts, dict) else ():
        if isinstance(line := scripts.get(each), str):
            yield _line("package.json", each, line)


def _of_recipes(words: Words, file: str, text: str) -> Iterator[ScriptLine]:
    if any(word is None or word.startswith("-") for word in words[1:]):
        return  # -f and -C name another file
    recipes = _recipes(text)
    wanted = [word for word in words[1:] if word and "=" not in word] or [next(iter(recipes), "")]
    known = set[str]()
    while wanted:
        target = wanted.pop(0)
        if target in known or target not in recipes:
            continue
        known.add(target)
        needed, lines = recipes[target]
        wanted = [*needed, *wanted]
        yield from (_line(file, target, line) for line in lines)


def _recipes(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """By the target: what it needs first, and its lines."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        if line[:1] in ("\t", " ") and line.strip():
            if lines is not None:
                lines.append(line.strip())
            continue
        head, colon, rest = line.partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        lines = None
        if colon and not rest.startswith("=") and "=" not in head and not head.startswith("."):
            lines = []
            needed = rest.partition(";")[0].replace(":", " ").split()
            for target in head.split():
                found[target] = (needed, lines)
    return found


def _line(file: str, name: str, text: str) -> ScriptLine:
    return ScriptLine(file=file, name=name, text=text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
