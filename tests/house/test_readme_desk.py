"""Runs what README says of the Desk: its server, its commands, its script, its file, its plugin, its curls."""

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.house.running import Server
from tests.house.test_readme import LONG, README, Home, block

pytestmark = [pytest.mark.slow, pytest.mark.timeout(LONG)]

THERE = "/tmp/my-desk"
"""README's folder; a test has one of its own."""
SERVE = "troupe --set ipc.base"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def here(home: Home, text: str) -> str:
    return text.replace(THERE, str(home.folder / "desk"))


@contextmanager
def served(home: Home) -> Iterator[Server]:
    with home.serving(here(home, block(README, SERVE).strip())) as house:
        yield house


def answered(home: Home, id: str) -> Any:  # noqa: A002 - as in the contract
    path = home.folder / "desk" / "responses" / f"{id}.json"
    until = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < until, f"{id} is not answered"
        time.sleep(0.02)
    return json.loads(path.read_text())


def test_a_request_is_submitted_by_the_command_and_answered(home: Home) -> None:
    with served(home):
        said = home.run(here(home, block(README, "troupe ipc submit").strip()))
        assert said.returncode == 0, said.stderr
        assert "Say hello" in said.stdout


def test_the_script_gets_its_answers(home: Home) -> None:
    script = home.folder / "script.py"
    script.write_text(here(home, block(README, "from troupe.ipc")))
    with served(home):
        said = home.run(f"{sys.executable} {script}")
    assert said.returncode == 0, said.stderr
    assert len(re.findall("^True ", said.stdout, re.M)) == 2
    assert "Say hello" in said.stdout


def test_a_file_that_knows_nothing_of_troupe_is_answered(home: Home) -> None:
    text = block(README, '{"request_id"')
    with served(home):
        (home.folder / "desk" / "requests" / "my-1.json").write_text(text)
        assert answered(home, "my-1")["data"]["content"] == "Say hello"


def test_a_command_of_an_installed_package_is_one_of_the_servers(home: Home) -> None:
    site = home.folder / "site"
    package, info = site / "mypackage", site / "mypackage-1.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").touch()
    (package / "commands.py").write_text(block(README, "async def count_words"))
    group, line = block(README, "[project.entry-points").splitlines()
    name = re.search(r'"(.+)"', group)
    assert name is not None
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{name[1]}]\n{line.replace(chr(34), '')}\n")
    home.environ["PYTHONPATH"] = str(site)
    document = {"request_id": "w", "command": "countWords", "params": {"text": "one two three"}}
    with served(home):
        (home.folder / "desk" / "requests" / "w.json").write_text(json.dumps(document))
        assert answered(home, "w")["data"] == {"words": 3}


def test_the_port_answers_scripts(home: Home) -> None:
    with served(home) as house:
        (home.folder / "desk" / "requests" / "my-1.json").write_text(block(README, '{"request_id"'))
        answered(home, "my-1")
        url, until = house.url_of("ipc"), time.monotonic() + 30
        while home.run(f"curl -sf {url}/requests/my-1").returncode:
            assert time.monotonic() < until
            time.sleep(0.05)
        for line in block(README, "curl 'http://localhost:5164").splitlines():
            said = home.run(line.replace("http://localhost:5164", url).replace("curl ", "curl -sSf ", 1))
            assert said.returncode == 0, (line, said.stderr)
            assert isinstance(json.loads(said.stdout), dict)
