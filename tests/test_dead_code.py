"""Nothing is kept that nobody uses. vulture reads all Python of the repository, the tests with it (what only they use,
they test), and reports names that are written nowhere else. What it cannot see stands here with the reason, and only
for as long as it is needed. In the pages' JavaScript ESLint looks for it (`.ci/pages`), a file at a time; what is
exported and not imported is found here.
"""

import ast
import re
from pathlib import Path

import pytest
import vulture

ROOT = Path(__file__).parent.parent
READ = ("supervisor.py", "actors", "bench", "codec", "examples", "program", "systems", "tests", "transports", "troupe")

CALLED_BY_DECORATORS = [
    "@*.get",
    "@*.post",
    "@*.route",
    "@*errorhandler",
    "@*request",
    "@*.websocket",
    "@*fixture",
    "@*.click",
    "@rule",
    "@invariant",
]
CALLED_BY_PYTEST = ["test_*", "Test*", "pytest*", "autojump_clock"]

ALLOWED = {
    "Quart, Werkzeug and Hypercorn call, or read, what overrides or sets something of theirs": """
        _check_protocol _send_error_response body_class request_class url_rule_class asgi_http_class handle_messages
        strict_slashes content_length logger_class include_server_header""",
    "the standard library calls it, or reads it": """
        _print_message log_message do_GET do_POST handle_starttag
        signum block_on_close _execute_child _child_created _internal_poll""",
    "trio, or trio-websocket, reads or calls it": """
        _reader_running before_task_step after_task_step autojump_threshold""",
    "asyncio calls it": "connection_made connection_lost exc pause_writing resume_writing data_received",
    "pykka calls it": "on_receive",
    "named in a string": "LongBench",
    "the page of the desk reads it": "editor_order",
    "kept alive by its name": "game",
    "makes a generator of a function": "raise",
}


def in_the_contract() -> set[str]:
    """Every field that the agent's clients may send, or read."""
    return {word for path in (ROOT / "schemas").glob("*.json") for word in re.findall(r'"(\w+)": ', path.read_text())}


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.title() for each in others)


def in_the_pages() -> set[str]:
    """Every word of the pages' own code: a field of a message is used if a page reads it."""
    return {word for path in (ROOT / "web").rglob("*.js") for word in re.findall(r"\w+", path.read_text())}


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_what_nobody_uses_is_deleted() -> None:
    watch = vulture.Vulture(ignore_names=CALLED_BY_PYTEST, ignore_decorators=CALLED_BY_DECORATORS)
    watch.scavenge([ROOT / each for each in READ])
    words, contract = in_the_pages(), in_the_contract()
    found = {
        each.name: f"{each.filename.relative_to(ROOT)}:{each.first_lineno}: unused {each.typ} {each.name!r}"
        for each in watch.get_unused_code(min_confidence=60)
        if not (each.typ == "variable" and "codec" in each.filename.parts and camel(each.name) in words)
        and not (each.filename.is_relative_to(ROOT / "codec" / "agent") and each.name in contract)
    }
    allowed = {name for names in ALLOWED.values() for name in names.split()}
    dead = [line for name, line in found.items() if name not in allowed]
    assert dead == [], "\n".join(dead)
    assert sorted(allowed - set(found)) == [], "allowed, though somebody uses it, or it is gone"


def test_it_is_all_of_the_python_here() -> None:
    ours = {path.relative_to(ROOT).parts[0] for path in ROOT.glob("*/**/*.py") if not path.parts[-2].startswith(".")}
    ours |= {path.name for path in ROOT.glob("*.py")}
    not_code = {each for each in ours if each.startswith(".") or each in ("build", "dist", "package")}
    assert ours - not_code - {"schemas", "web"} == set(READ)
    for folder in ("schemas", "web"):
        assert ast.parse((ROOT / folder / "__init__.py").read_text()).body[1:] == []


COMMENTS = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.S)
EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", re.M)


def test_what_a_page_exports_another_file_imports() -> None:
    texts = {path: COMMENTS.sub("", path.read_text()) for path in (ROOT / "web").rglob("*.js")}
    others = [path.read_text() for path in (ROOT / "transports" / "sidekick").glob("*.py")]  # makes the worker's entry
    unused = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        for name in EXPORTED.findall(text)
        if not any(re.search(rf"\b{name}\b", each) for each in [*(texts[it] for it in texts if it != path), *others])
    ]
    assert unused == [], "unused outside of its file"
