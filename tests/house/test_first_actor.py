"""The page for whoever writes the next actor: what it shows is what runs, and what it says happens."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel.test_unknown import takes_the_rest

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "examples" / "kernel"
PAGE = (PLACE / "README.md").read_text()


def test_every_piece_of_code_on_the_page_stands_in_the_files_beside_it() -> None:
    sources = [path.read_text() for path in sorted(PLACE.glob("*.py"))]
    pieces = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(pieces) >= 8
    for piece in pieces:
        assert any(f"\n{piece}" in source for source in sources), piece


def test_all_that_the_page_links_to_is_there_and_the_readme_links_to_the_page() -> None:
    links = re.findall(r"\]\(([^)\"]+)\)", PAGE)
    assert links
    for link in links:
        assert (PLACE / link).resolve().is_file(), link
    assert "(examples/kernel/README.md)" in (ROOT / "README.md").read_text()


def test_the_actor_of_the_page_keeps_the_law_of_handlers() -> None:
    tree = ast.parse((PLACE / "ballot.py").read_text())
    (handle,) = (node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and node.name == "handle")
    assert takes_the_rest(handle)


@pytest.mark.slow
def test_the_commands_of_the_page_do_what_it_says() -> None:
    (block,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    script, tests = block.splitlines()
    program, _, said = script.partition("#")
    assert run(program.split()) == f"{said.strip()}\n"
    assert "2 passed" in run([*tests.split(), "-p", "no:cacheprovider", "-o", "addopts="])


def run(words: list[str]) -> str:
    """A command of the page, with the Python of this test."""
    program = words[0].removeprefix(".venv/bin/")
    command = [sys.executable, *(["-m", program] if program != "python" else []), *words[1:]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
