"""What is allowed, run by real shells: they start no program but those that are listed, and write no file.

Every program that a line could start is a stand-in that notes its words; nothing else is on the PATH.
"""

import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from codec.agent.policy import command_verdict, is_prefix
from codec.agent.workspaces import Policy

LISTED = (("npm", "test"), ("git",), ("note", "a b"))
POLICY = Policy(allowed_commands=("npm test", "git", "note 'a b'"), blocked_commands=("rm",))
PROGRAMS = ("npm", "git", "note", "rm", "id", "tee", "cat")
PARTS = (
    *(["npm test", "git log", "note 'a b'"] * 6),
    *("npm", "test", "git", "rm -rf x", "id", "tee y", "cat", "x", "'", '"', "'a b'", '"a b"', "'c;id'", '"; id"'),
    *(["&&", "||", ";", "|", "\n", "(", ")", "{", "}", "!", "2>&1", ">/dev/null"] * 2),
    *("&", ">", "z", "$(id)", "`id`", "$X", "*", "~", "#", "\\", "\\;", "\\\n", "<<E\n", "E\n", "\t", "if"),
    *("then", "fi", "="),
    *("a=1", "{a,b}", "[", "]", "-c", "x=y", "\r", "é", "time", "!!", "|&", "&>", ";;", "$'a'", "()", "{ id; }"),
)  # fmt: skip
LINES = 8_000
RUN = 60
END = "\x1e"


def lines() -> list[str]:
    """Lines that are allowed, of more than one command each."""
    random, found = Random(13), set()
    for _ in range(LINES):
        line = random.choice([" ", " ", ""]).join(random.choices(PARTS, k=random.randint(3, 8)))
        if len(line) > 12 and command_verdict(POLICY, "ask", (), line).decision == "allow":
            found.add(line)
    return random.sample(sorted(found), min(RUN, len(found)))


@pytest.mark.slow
def test_real_shells_run_nothing_of_an_allowed_line_but_what_is_listed(tmp_path: Path) -> None:
    programs, place, notes = tmp_path / "bin", tmp_path / "work", tmp_path / "notes"
    programs.mkdir()
    place.mkdir()
    for name in PROGRAMS:
        # in one piece: the programs of a pipe write at the same time
        (programs / name).write_text(f"#!/bin/sh\nprintf '%s\\037' {name} \"$@\" '{END}' >> '{notes}'\n")
        (programs / name).chmod(0o755)
    allowed = lines()
    assert len(allowed) == RUN
    ran = 0
    for number, line in enumerate(allowed):
        shell = ("/bin/bash", "/bin/dash", "/bin/sh")[number % 3]
        if not os.path.exists(shell):
            shell = "/bin/sh"
        notes.write_text("")
        subprocess.run([shell, "-c", line], cwd=place, env={"PATH": str(programs)}, capture_output=True, timeout=20)
        for noted in notes.read_text().split(f"{END}\x1f")[:-1]:
            words = noted.split("\x1f")[:-1]
            assert any(is_prefix(each, words) for each in LISTED), (shell, line, words)
            ran += 1
        assert list(place.iterdir()) == [], (shell, line)
    assert ran > RUN
