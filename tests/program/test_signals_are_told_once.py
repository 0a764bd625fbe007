"""What a signal means is one table, in program/ending.py. Each row of it is lived through, in a process of its own."""

import ast
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from program import ending

ROOT = Path(__file__).parents[2]
DEADLINE = 60.0
HEARS = "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)"
"""Whatever those who run the tests have ignored."""

MOMENTS = {
    "nothing is to be tidied up": """
ending.settle()
here()
""",
    "something is to be tidied up": """
try:
    with ending.tidily():
        here()
except ending.EndedBySignal:
    print("ends the block", flush=True)
    stays()
""",
    "a server is being made": """
with leaving.Leaving(600):
    here()
""",
    "a tree or a visit runs": """
signals.ECHO = 0.0
async def run():
    async with trio.open_nursery() as nursery:
        await nursery.start(signals.listen, lambda _: print("asks for an end", flush=True), at_once)
        print("here", flush=True)

def at_once(_):
    print("ends it at once", flush=True)
    stays()

trio.run(run)
""",
    "it is leaving": """
with leaving.Leaving(600) as process:
    process.begin()
    listens()
""",
}
"""A program for each, which says that it is there, and then what becomes of it; it says that a signal is nothing when
it has lived through it. It stays in short sleeps: a signal that comes just before a sleep does not interrupt it, and
Python calls its handler when the sleep is over."""

BEFORE = f"""
import signal, sys, time
import trio
from program import ending, leaving, signals
{HEARS}

def stays():
    for _ in range(60_000):
        time.sleep(0.01)

def here():
    print("here", flush=True)
    stays()

def listens():
    print("here", flush=True)
    for _ in sys.stdin:
        print("is nothing", flush=True)
"""


def table() -> dict[str, tuple[str, str]]:
    """What the first and a later signal mean, by the moment."""
    text = (ast.get_docstring(ast.parse(Path(ending.__file__).read_text("utf-8"))) or "").split("\n\n")[1]
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert rows[0] == ["while", "the first", "a later one", "where"]
    return {moment: (first, later) for moment, first, later, _ in rows[1:]}


def test_each_row_is_lived_through() -> None:
    assert list(MOMENTS) == list(table())


@pytest.mark.slow
@pytest.mark.parametrize("number", ending.ENDING)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_means_what_the_table_says(moment: str, number: signal.Signals) -> None:
    command = [sys.executable, "-c", BEFORE + MOMENTS[moment]]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            assert program.stdout.readline() == "here\n"
            for meaning in table()[moment]:
                if meaning == "-":
                    break
                program.send_signal(number)
                if meaning == "ends the process":
                    assert (*program.communicate(timeout=DEADLINE), program.returncode) == ("", "", -number)
                    return
                if meaning == "is nothing":
                    program.stdin.write("are you there?\n")
                    program.stdin.flush()
                assert program.stdout.readline() == f"{meaning}\n"
        finally:
            program.kill()


def test_nobody_else_tells_it_again() -> None:
    tables = {
        path.name
        for path in (ROOT / "program").rglob("*.py")
        if re.search(r"^ {4}(while|a signal comes) {2,}", path.read_text("utf-8"), re.MULTILINE)
    }
    assert tables == {"ending.py"}
