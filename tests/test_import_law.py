"""The law of imports. ARCHITECTURE.md explains it, the table here has it in full, and this test enforces it.

    supervisor.py, systems/ -> everything  program/ -> codec/, actors/kernel/
    transports/ -> actors/kernel/, codec/  actors/<system>/ -> actors/kernel/, actors/store/, codec/
    codec/ -> nothing of ours              actors/kernel/ -> nothing of ours
    troupe/ -> codec/, transports/folder/  (scripts import it by the product's name, and get none of the server with it)

Inside transports/, no arrow leads up:

    judge/  sidekick/  console.py          a room for each system, none of which knows another's
    door/                                  above http/ and websocket/
    http/  websocket/  process/  folder/   beside each other; the first two above wire/
    wire/                                  the ground

Only supervisor.py and systems/ can import two systems together, because no other entry allows the import of another
system. The source is read, never run, so imports inside functions and under TYPE_CHECKING count like any other.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

OUTSIDE = frozenset(
    """
    _thread asyncio concurrent ctypes glob http.client http.server importlib io logging mmap multiprocessing os pty
    queue random sched secrets select selectors shutil signal smtplib socket socketserver sqlite3 ssl subprocess
    tempfile termios threading time urllib.request uuid webbrowser
    """.split()  # noqa: SIM905 - thirty names are read as a paragraph
)
"""Standard modules with which one touches the world outside, its clock, its dice, or another thread."""

PURE_PATHS = frozenset({"pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath"})


@dataclass(frozen=True)
class Law:
    folder: str
    """Whose law this is. The longest match counts; `*` is any one system."""
    ours: tuple[str, ...]
    """What of this repository it may import besides itself."""
    theirs: tuple[str, ...]
    """Which libraries."""
    never: frozenset[str] = frozenset({"asyncio"})
    """Which standard modules not."""
    pure: bool = False
    """No pathlib but its pure half, and no open, print or input."""


SHARED = ("wire", "http", "websocket", "door", "process", "folder")
"""The rooms of transports/ that stand below every system."""
QUART = ("quart", "quart_trio", "werkzeug")
LANGUAGES = ("bash", "c", "c_sharp", "cpp", "css", "go", "html", "java", "javascript", "json", "php", "python", "ruby",
             "rust", "typescript")  # fmt: skip
GRAMMARS = ("tree_sitter", *(f"tree_sitter_{language}" for language in LANGUAGES))

LAWS = (
    Law("codec/agent/index", ours=(), theirs=("msgspec", *GRAMMARS), never=OUTSIDE, pure=True),
    Law("codec/agent/policy", ours=(), theirs=("msgspec", "tree_sitter", "tree_sitter_bash"), never=OUTSIDE, pure=True),
    Law("codec", ours=(), theirs=("msgspec",), never=OUTSIDE, pure=True),
    Law("actors/kernel", ours=(), theirs=("trio", "outcome"), never=OUTSIDE - {"random", "logging", "signal"}),
    Law("actors/store", ours=("actors.kernel",), theirs=("trio", "msgspec", "structlog")),
    Law(
        "actors/*",
        ours=("actors.kernel", "actors.store", "codec"),
        theirs=("trio", "msgspec", "structlog", "prometheus_client", "markdown_it", "nh3"),
        never=frozenset({"asyncio", "socket", "socketserver", "ssl", "http.client", "http.server", "urllib.request"}),
    ),
    Law("transports/wire", ours=(), theirs=("trio", "msgspec")),
    Law("transports/http", ours=("transports.wire",), theirs=("trio", "msgspec", "hypercorn", "h11", *QUART)),
    Law(
        "transports/websocket",
        ours=("actors.kernel", "transports.wire"),
        theirs=("trio", "msgspec", "trio_websocket", "wsproto", "h11"),
    ),
    Law(
        "transports/door",
        ours=("actors.kernel", "codec", "transports.wire", "transports.http", "transports.websocket"),
        theirs=("trio", "msgspec", "structlog"),
    ),
    Law("transports/process", ours=("actors.kernel", "codec"), theirs=("trio", "msgspec", "sitecustomize")),
    Law("transports/folder", ours=("actors.kernel", "codec"), theirs=("trio", "msgspec")),
    Law(
        "transports/agent",  # the one that asks other servers
        ours=("actors.kernel", "codec", *(f"transports.{room}" for room in SHARED)),
        theirs=("trio", "trio_websocket", "msgspec", "structlog", "httpx", "cryptography", "numpy", *QUART),
    ),
    Law(
        "transports",  # and a room for each system
        ours=("actors.kernel", "codec", *(f"transports.{room}" for room in SHARED)),
        theirs=("trio", "trio_websocket", "msgspec", "structlog", *QUART),
    ),
    Law("program", ours=("actors.kernel", "codec"), theirs=("trio", "msgspec", "structlog")),
    Law("troupe", ours=("codec", "transports.folder"), theirs=("trio", "msgspec")),  # what scripts import
    Law("web", ours=(), theirs=()),
)

FREE = ("tests", "bench", "examples", "systems", "supervisor.py")
"""Whoever composes, tries or measures the whole may import what it likes."""

GENERIC_NAMES = re.compile(r"(?i)(manager|helpers?|utils?|utilities)$")


def offences(root: Path) -> list[str]:
    """Every breach of the law under `root`, each a sentence that begins with file and line."""
    found = []
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] in FREE or any(part.startswith(".") or part in ("build", "dist") for part in place.parts):
            continue
        tree = ast.parse(path.read_text("utf-8"), str(path))
        law = law_of(place)
        found += [f"{place}:{line}: {what}" for line, what in _breaches(root, place, tree, law)]
    return found


def law_of(place: Path) -> Law | None:
    folder = place.parent.as_posix()
    for law in LAWS:
        if re.fullmatch(law.folder.replace("*", "[^/]+") + "(/.*)?", folder):
            return law
    return None


def _breaches(root: Path, place: Path, tree: ast.Module, law: Law | None) -> Iterator[tuple[int, str]]:
    if GENERIC_NAMES.search(place.stem):
        yield 1, f"{place.name} says nothing about its subject; name it after what it holds"
    if law is None and place.name != "__init__.py":
        yield 1, "this folder has no law; give it one in tests/test_import_law.py"
    for node in ast.walk(tree):
        if law is not None:
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from ((node.lineno, what) for what in _forbidden_imports(root, place, node, law))
            if law.pure and isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("open", "print", "input"):
                yield node.lineno, f"calls {ast.unparse(node.func)}; {law.folder}/ is pure: no input, no output"
        if isinstance(node, ast.stmt | ast.keyword) and _shields(node) and not place.is_relative_to("actors/kernel"):
            yield node.lineno, "shields from cancellation; only actors/kernel/ may"
        if isinstance(node, ast.ClassDef) and GENERIC_NAMES.search(node.name):
            yield node.lineno, f"{node.name} says nothing about its subject; name it after what it is"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("__import__", "importlib.import_module"):
            yield node.lineno, "imports by a computed name, which the law cannot see; import it by its own"


def _forbidden_imports(root: Path, place: Path, node: ast.Import | ast.ImportFrom, law: Law) -> Iterator[str]:
    for module, name in _imported(place, node):
        if name and _is_module(root, f"{module}.{name}"):
            module, name = f"{module}.{name}", ""
        top = module.partition(".")[0]
        if _is_module(root, module):
            if _within(module, _home(place)):
                continue
            if not any(_within(module, allowed) for allowed in law.ours):
                yield f"imports {module}; {law.folder}/ may import of ours {_listed(law.ours)}"
            elif top == "actors" and module.count(".") > 1:
                package = module.rpartition(".")[0]
                yield f"imports {module}, the inside of {package}; what others may use is in its __init__.py"
        elif top in sys.stdlib_module_names:
            if any(_within(f"{module}.{name}", banned) for banned in law.never):
                yield f"imports {module}; {law.folder}/ may not touch it"
            if law.pure and top == "pathlib" and f"{module}.{name}" not in PURE_PATHS:
                yield f"imports {name or module}; {law.folder}/ is pure: of pathlib only {_listed(sorted(PURE_PATHS))}"
        elif top not in law.theirs:
            yield f"imports {module}; {law.folder}/ may import of libraries {_listed(law.theirs)}"


def _imported(place: Path, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a statement imports; relative ones made absolute."""
    match node:
        case ast.Import(names):
            yield from ((alias.name, "") for alias in names)
        case ast.ImportFrom(module, names, level):
            above = ".".join(place.parent.parts[: len(place.parent.parts) - (level or 1) + 1]) if level else ""
            whole = ".".join(part for part in (above, module) if part)
            yield from ((whole, alias.name) for alias in names)


def _shields(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg="shield", value=ast.Constant(value=False)):
            return False
        case ast.keyword(arg="shield"):
            return True
        case ast.Assign(targets=targets, value=value):
            return not _is_false(value) and any(getattr(target, "attr", "") == "shield" for target in targets)
        case ast.AnnAssign(target=ast.Attribute(attr="shield"), value=value) | ast.AugAssign(
            target=ast.Attribute(attr="shield"), value=value
        ):
            return not _is_false(value)
    return False


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _is_module(root: Path, module: str) -> bool:
    path = root.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path.is_dir() and any(path.glob("*.py")))


def _home(place: Path) -> str:
    """What a file may import freely: its own system or room, or its own top-level folder."""
    return ".".join(place.parts[:2] if place.parts[0] in ("actors", "transports") else place.parts[:1])


def _within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return f"only {', '.join(names)}" if names else "nothing"


def test_nobody_breaks_the_law() -> None:
    assert not offences(ROOT), "\n" + "\n".join(offences(ROOT))


def test_the_check_reads_the_files_that_there_are() -> None:
    read = {path.relative_to(ROOT).parts[0] for path in ROOT.rglob("*.py")}
    assert {"codec", "actors", "transports", "program"} <= read


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small house in good order, for planting offences in."""
    for package, module in [("kernel", "actor"), ("store", "database"), ("judge", "run"), ("agent", "turn")]:
        _plant(tmp_path, f"actors/{package}/__init__.py", "")
        _plant(tmp_path, f"actors/{package}/{module}.py", "")
    _plant(tmp_path, "codec/scene.py", "")
    _plant(tmp_path, "transports/wire/head.py", "import trio\n")
    _plant(tmp_path, "transports/http/guard.py", "import quart\nfrom transports.wire import head\n")
    _plant(tmp_path, "transports/door/door.py", "import transports.http.guard, transports.wire.head, codec.scene\n")
    _plant(tmp_path, "transports/judge/port.py", "from transports.door import door\nfrom actors.kernel import Actor\n")
    _plant(tmp_path, "transports/agent/port.py", "import quart\nimport transports.http.guard\n")
    _plant(tmp_path, "program/logs.py", "import structlog, os, time\nfrom . import signals\n")
    _plant(tmp_path, "program/signals.py", "import signal\nfrom codec.scene import Scene\n")
    _plant(tmp_path, "supervisor.py", "import actors.judge.run, actors.agent.turn\nimport transports.door.door\n")
    _plant(tmp_path, "systems/judge.py", "import actors.judge.run, transports.judge.port, program.logs\n")
    _plant(tmp_path, "tests/test_all.py", "import asyncio, actors.judge.run\nscope.shield = True\n")
    assert offences(tmp_path) == []
    return tmp_path


def _plant(root: Path, name: str, source: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, "utf-8")


OFFENCES = [
    ("codec/a.py", "import trio", "imports trio; codec/ may import of libraries only msgspec"),
    ("codec/a.py", "import time", "imports time; codec/ may not touch it"),
    ("codec/a.py", "from os import path", "imports os; codec/ may not touch it"),
    ("codec/a.py", "import urllib.request", "imports urllib.request; codec/ may not touch it"),
    ("codec/a.py", "from urllib import request", "imports urllib; codec/ may not touch it"),
    ("codec/a.py", "from pathlib import Path", "imports Path; codec/ is pure"),
    ("codec/a.py", "import pathlib", "imports pathlib; codec/ is pure"),
    ("codec/a.py", "text = open('x').read()", "calls open; codec/ is pure"),
    ("codec/a.py", "from actors.kernel import Actor", "imports actors.kernel; codec/ may import of ours nothing"),
    ("codec/a.py", "import tree_sitter", "imports tree_sitter; codec/ may import of libraries only msgspec"),
    ("codec/agent/policy/a.py", "import trio", "imports trio; codec/agent/policy/ may import of libraries"),
    ("codec/deep/a.py", "import socket", "imports socket; codec/ may not touch it"),
    ("actors/kernel/a.py", "import msgspec", "imports msgspec; actors/kernel/ may import of libraries"),
    ("actors/kernel/a.py", "import time", "imports time; actors/kernel/ may not touch it"),
    ("actors/kernel/a.py", "import codec.scene", "imports codec.scene; actors/kernel/ may import of ours nothing"),
    ("actors/store/a.py", "import actors.judge.run", "imports actors.judge.run; actors/store/"),
    ("actors/judge/a.py", "from actors.agent.turn import Turn", "imports actors.agent.turn; actors/*/"),
    ("actors/judge/a.py", "from actors import agent", "imports actors.agent; actors/*/"),
    ("actors/judge/a.py", "from ..agent import turn", "imports actors.agent.turn; actors/*/"),
    ("actors/judge/a.py", "import transports.door.door", "imports transports.door.door; actors/*/"),
    ("actors/judge/a.py", "import quart", "imports quart; actors/*/"),
    ("actors/judge/a.py", "import trio_websocket", "imports trio_websocket; actors/*/"),
    ("actors/judge/a.py", "def f():\n    import program.logs", "imports program.logs; actors/*/"),
    ("transports/a.py", "from actors.judge import run", "imports actors.judge.run; transports/"),
    ("transports/a.py", "from actors.kernel import actor", "imports actors.kernel.actor, the inside of actors.kernel"),
    ("actors/judge/a.py", "import actors.store.database", "imports actors.store.database, the inside of actors.store"),
    ("transports/a.py", "import program.logs", "imports program.logs; transports/"),
    ("transports/a.py", "import asyncio", "imports asyncio; transports/ may not touch it"),
    ("transports/wire/a.py", "import transports.http.guard", "imports transports.http.guard; transports/wire/"),
    ("transports/wire/a.py", "import quart", "imports quart; transports/wire/"),
    ("transports/http/a.py", "import transports.door.door", "imports transports.door.door; transports/http/"),
    ("transports/door/a.py", "from ..judge import port", "imports transports.judge.port; transports/door/"),
    ("transports/judge/a.py", "import transports.agent.port", "imports transports.agent.port; transports/"),
    ("program/a.py", "from actors.store import database", "imports actors.store.database; program/"),
    ("program/a.py", "import supervisor", "imports supervisor; program/"),
    ("program/a.py", "import systems.judge", "imports systems.judge; program/"),
    ("program/a.py", "import tests.test_all", "imports tests.test_all; program/"),
    ("program/a.py", "import importlib\nimportlib.import_module('actors.judge')", "imports by a computed name"),
    ("program/a.py", "scope = trio.CancelScope(shield=True)", "shields from cancellation"),
    ("program/a.py", "scope = trio.CancelScope(shield=bool(1))", "shields from cancellation"),
    ("program/a.py", "scope.shield = True", "shields from cancellation"),
    ("program/a.py", "class RoomManager: ...", "RoomManager says nothing about its subject"),
    ("program/utils.py", "", "utils.py says nothing about its subject"),
    ("attic/a.py", "", "this folder has no law"),
]


@pytest.mark.parametrize(("place", "source", "expected"), OFFENCES, ids=[f"{each[0]}: {each[1]}" for each in OFFENCES])
def test_a_planted_offence_is_found(house: Path, place: str, source: str, expected: str) -> None:
    _plant(house, place, f"\n{source}\n")
    (offence,) = offences(house)
    last_line = 1 + len(source.splitlines())
    assert offence.startswith(f"{place}:{last_line}: {expected}")


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("codec/a.py", "import json, msgspec\nfrom pathlib import PurePosixPath\nfrom urllib.parse import urlsplit"),
        ("actors/kernel/a.py", "import trio, outcome, random\nscope.shield = True"),
        ("actors/judge/a.py", "from . import run\nfrom actors.store import Append\nfrom codec import scene"),
        ("program/a.py", "scope = trio.CancelScope(shield=False)\nscope.shield = False"),
    ],
)
def test_what_is_lawful_is_left_alone(house: Path, place: str, source: str) -> None:
    _plant(house, place, source)
    assert offences(house) == []
