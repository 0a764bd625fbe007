"""Runs the READMEs as they stand: every fenced block is run or looked up, every command of the tables is given, and a
block that no test here knows fails.

Only the places differ: the settings of the test's home allow any free port, and a script that looks for its server at
the usual address is led to another one.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

import supervisor
from codec.settings import Settings
from program import arguments, ready
from tests.fetched import done, environment, fetched
from tests.house.running import LISTENING, ROOT, Server
from tests.judge.test_in_the_browser import EXTENSION, TASK
from tests.program.commands.test_recording import recorded
from tests.sidekick.guests import guest
from tests.sidekick.test_clients import python_with

README = ROOT / "README.md"
EXAMPLES = ROOT / "examples" / "sidekick" / "README.md"
FIRST_ACTOR = ROOT / "examples" / "kernel" / "README.md"
"""Has its own tests: test_first_actor.py."""
LONG = 300
PORTS = (*LISTENING, "ipc")
"""Of all systems, also of those that are off until they are asked for."""
FREE = "".join(f"[{system}]\nport = 0\n" for system in PORTS)

pytestmark = pytest.mark.timeout(2 * LONG)  # what it tells to install is installed

# --- what is in them


def blocks(path: Path) -> dict[str, str]:
    """The fenced blocks, by their first lines."""
    found = re.findall(r"^```\w*\n(.*?)^```$", path.read_text(), re.M | re.S)
    return {block.splitlines()[0]: block for block in found}


def block(path: Path, beginning: str) -> str:
    (found,) = (text for first, text in blocks(path).items() if first.startswith(beginning))
    return found


def table(path: Path, heading: str) -> list[list[str]]:
    """The cells of the rows below this heading."""
    lines = path.read_text().splitlines()
    at = lines.index(heading) + 2
    rows = []
    while lines[at].startswith("|"):
        rows.append([cell.strip() for cell in lines[at].strip("|").split("|")])
        at += 1
    return rows


KNOWN = {
    README: {
        "python3 -m venv --upgrade-deps .venv && .venv/bin/pip install -c constraints.txt .": "run from a clean copy",
        "python3 -m venv --upgrade-deps .venv && .venv/bin/pip install -c constraints.txt -e": "run by .ci/run",
        "12:00:00 [info     ] listening": "said by a server",
        "troupe                     top": "the living tree",
        "import sidekick": "run with each release",
        "troupe record default": "recorded and replayed",
        "npm pack": "run, and served",
        "abc999/abc999_a/main.py": "made of a post",
        "[console]": "checked",
        "troupe ask": "asked, in a folder",
        "troupe search": "searched, in a folder",
        "troupe --set ipc.base": "served",
        "troupe ipc submit": "submitted; test_readme_desk.py",
        "from troupe.ipc": "run; test_readme_desk.py",
        '{"request_id"': "dropped; test_readme_desk.py",
        "[project.entry-points": "installed; test_readme_desk.py",
        "async def count_words": "run; test_readme_desk.py",
        "curl 'http://localhost:5164": "given; test_readme_desk.py",
    },
    EXAMPLES: {
        "pip install sidekick-py": "run, for the newest release",
        "troupe record lights-out": "recorded and replayed",
    },
}


@pytest.mark.parametrize("path", KNOWN)
def test_no_block_is_left_untried(path: Path) -> None:
    for first in blocks(path):
        assert len([known for known in KNOWN[path] if first.startswith(known)]) == 1, first


def test_there_are_no_other_readmes_with_commands() -> None:
    others = set((ROOT / "examples").rglob("*.md")) - set(KNOWN) - {FIRST_ACTOR}
    assert [path for path in others if "```" in path.read_text()] == []


# --- a home of its own, and a shell in it


class Home:
    def __init__(self, folder: Path, *paths: str) -> None:
        self.folder = folder
        self.state = folder / "state" / "troupe"
        config = folder / "config" / "troupe" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(FREE)
        path = os.pathsep.join([*paths, str(Path(sys.executable).parent), os.environ["PATH"]])
        places = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        self.environ = {"HOME": str(folder), "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **places}

    def run(self, line: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A line for the shell, that ends by itself."""
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line], cwd=cwd or self.folder, capture_output=True, text=True,
            timeout=LONG, env={**os.environ, **self.environ}, check=False,
        )  # fmt: skip

    @contextmanager
    def beginning(self, line: str) -> Iterator[subprocess.Popen[str]]:
        """A line that ends when it is told to."""
        command = ["bash", "-c", f"exec {line}"]
        environ = {**os.environ, **self.environ}
        process = subprocess.Popen(command, cwd=self.folder, env=environ, stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    @contextmanager
    def serving(self, line: str = "troupe", cwd: Path | None = None) -> Iterator[Server]:
        """A server that this line has started. In the end it is told to stop as Ctrl-C does."""
        group = ["setsid", "--wait", "bash", "-euo", "pipefail", "-c", line]
        house = Server(cwd or self.folder, environ=self.environ, command=group)
        house.ready_file = self.state / ready.SERVER_FILE
        try:
            house.patient(LONG).ready()
            yield house
            there = ready.read(house.ready_file)
            assert there is not None
            os.kill(there.pid, signal.SIGINT)
            house.ended()
            assert "Traceback" not in house.said
        finally:
            if house.process.poll() is None:
                if (there := ready.read(house.ready_file)) is not None:
                    os.kill(there.pid, signal.SIGKILL)
                house.process.kill()
                house.ended()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


# --- the blocks


@pytest.mark.slow
def test_the_first_command_brings_a_server_from_a_clean_copy(home: Home, tmp_path: Path) -> None:
    copy = tmp_path / "clone"
    made = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build")
    shutil.copytree(ROOT, copy, ignore=made)
    command = block(README, "python3 -m venv --upgrade-deps .venv && .venv/bin/pip install -c constraints.txt .")
    install, start = command.rsplit(" && ", 1)
    done("bash", "-euo", "pipefail", "-c", install, folder=copy)  # where there is no network, this test is skipped
    with home.serving(start, copy) as house:
        assert house.json("/health")["status"] == "ok"
        for system in LISTENING:
            assert "<house-bar" in httpx.get(house.url_of(system)).text


@pytest.mark.slow
def test_a_server_says_the_lines_that_are_shown(home: Home) -> None:
    def alike(lines: str) -> list[str]:
        return re.sub(r"\b\d\d:\d\d:\d\d\b", "TIME", re.sub(r"(//[^/\s]+):\d+", r"\1:PORT", lines)).splitlines()

    with home.serving("troupe serve --log-format text") as house:
        pass
    shown = alike(block(README, "12:00:00"))
    assert alike(house.said)[: len(shown)] == shown


def test_the_test_command_is_what_the_gate_runs() -> None:
    text = README.read_text()
    assert text.index("<!-- test command -->") < text.index("-e '.[test]' && .venv/bin/pytest")
    assert "<!-- test command -->" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.slow
def test_the_tree_is_the_one_that_lives(home: Home) -> None:
    names, system = {"troupe"}, ""
    for line in block(README, "troupe   ").splitlines()[1:]:
        name = re.findall(r"[a-z]+", line)[0]
        system = system if line.startswith(("│", " ")) else name
        names.add(f"troupe/{system}" if name == system else f"troupe/{system}/{name}")
    with home.serving("troupe --set ipc.enabled=true --set ipc.base=$HOME/desk") as house:
        nodes = {node["path"] for node in house.json("/tree.json")["nodes"]}
    assert names <= nodes
    assert {path for path in nodes if path.count("/") == 1} <= names


CUSTOMARY = """
import runpy, sys, sidekick
script, url = sys.argv[1:]
if config := sys.modules.get("sidekick.config"):
    config.DEFAULT_SERVERS[0].ws_url = url
    del config.DEFAULT_SERVERS[1:]
else:
    sidekick.set_url(url)
runpy.run_path(script, run_name="__main__")
"""
"""A script, where its server is not at the customary port."""


@contextmanager
def scripted(python: str, script: Path, house: Server) -> Iterator[None]:
    url = house.url_of("sidekick").replace("http", "ws").rstrip("/")
    process = subprocess.Popen([python, "-c", CUSTOMARY, str(script), url])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def newest(larder: Path) -> str:
    """An interpreter in which the examples' own first command was given."""

    def install(folder: Path) -> None:
        pip = f'pip() {{ {sys.executable} -m pip --python {environment(folder)} "$@"; }}'
        done("bash", "-euc", f"{pip}; {block(EXAMPLES, 'pip install')}", folder=folder)

    return str(fetched(larder / "sidekick-py-newest", install) / "env/bin/python")


@pytest.mark.drawn(2)
@pytest.mark.slow
@pytest.mark.parametrize("release", ["0.0.2", "0.0.5", "0.0.7", "newest"])
async def test_the_first_script_draws_with_any_release(release: str, home: Home, larder: Path) -> None:
    script = home.folder / "first.py"
    script.write_text(block(README, "import sidekick"))
    find = partial(newest, larder) if release == "newest" else partial(python_with, larder, release)
    python = await trio.to_thread.run_sync(find)
    with home.serving() as house, scripted(python, script, house):
        async with guest(house, "", "sidekick") as page:
            heard = await page.hear(lambda heard: any("tomato" in json.dumps(each) for each in heard))
    (grid,) = (each["payload"] for each in heard if each["type"] == "spawn")
    assert (grid["numColumns"], grid["numRows"]) == (8, 8)
    (painted,) = (each["payload"]["options"] for each in heard if each["type"] == "update")
    assert (painted["x"], painted["y"], painted["color"]) == (3, 4, "tomato")


@pytest.mark.slow
@pytest.mark.parametrize(("path", "room"), [(README, ""), (EXAMPLES, "lights-out")])
async def test_what_is_drawn_is_recorded_and_replayed(path: Path, room: str, home: Home) -> None:
    recording, replaying = block(path, "troupe record").splitlines()
    tape = home.folder / recording.split()[3]
    drawn = {"id": 0, "component": "label", "type": "spawn", "target": "l", "payload": {"text": "kept"}}
    with home.serving() as house:
        with home.beginning(recording) as recorder:
            assert recorder.stderr is not None
            assert "Recording" in recorder.stderr.readline()
            async with guest(house, room, "hero") as hero:
                await hero.say(drawn)
                await recorded(tape, b"kept")
                recorder.send_signal(signal.SIGINT)
                assert recorder.wait(LONG) == 0
        replayed = home.run(replaying)
        assert (replayed.returncode, replayed.stdout) == (0, "")
        assert "Replayed " in replayed.stderr


@pytest.mark.slow
def test_what_the_script_page_needs_is_fetched_and_configured_as_it_says(home: Home, larder: Path) -> None:
    *fetching, start = block(README, "npm pack").splitlines()

    def fetch(folder: Path) -> None:
        for line in fetching:
            done("bash", "-euo", "pipefail", "-c", with_npm(folder, line), folder=folder)

    folder = fetched(larder / "readme-pyodide", fetch)
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    with home.serving(start, folder) as house:
        told = httpx.get(house.url_of("sidekick").rstrip("/") + "/scripts").json()
        assert (told["trouble"], told["warnings"]) == (None, [])
        assert told["wheel"] == "/pyodide/sidekick_py-0.0.7-py3-none-any.whl"
        assert "plot" in told["scripts"]
        assert httpx.get(house.url_of("sidekick").rstrip("/") + "/script/plot").status_code == 200


def with_npm(folder: Path, line: str) -> str:
    from tests.web.pyodide_stage import npm

    return f'PATH="{Path(npm(folder)).parent}:$PATH"; {line}' if line.startswith("npm") else line


@pytest.mark.slow
def test_a_post_makes_the_folder_that_is_drawn(home: Home) -> None:
    main, tests = block(README, "abc999/").splitlines()
    workspace = home.folder / "solutions"
    workspace.mkdir()
    with home.serving(cwd=workspace) as house:
        names = [main.split()[0], *(f"{Path(tests.split()[0]).parent}/{name}" for name in ("1.in", "1.out"))]
        answer = httpx.post(house.url_of("judge"), json=TASK, headers=EXTENSION)
        assert answer.status_code == 200
        until = time.monotonic() + LONG  # what was posted is taken in after the answer
        while not all((workspace / name).is_file() for name in names):
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.mark.slow
def test_the_question_is_answered_in_the_folder_itself(home: Home) -> None:
    (home.folder / "work").mkdir()
    (home.folder / "work" / "settings.py").write_text('def read_configuration():\n    """Reads it from a file."""\n')
    said = home.run(block(README, "troupe ask"), home.folder / "work")
    assert said.returncode == 0, said.stderr
    assert "settings.py:1" in said.stdout
    found = home.run(block(README, "troupe search"), home.folder / "work")
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("settings.py:1"), found.stdout


@pytest.mark.slow
def test_the_configuration_is_one(home: Home) -> None:
    (home.folder / "config.toml").write_text(block(README, "[console]"))
    checked = home.run("troupe check --config config.toml")
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_configuration_has_every_setting() -> None:
    everywhere = {"enabled", "host", "port", "accounts"}  # of [console], whose comment says that each section has them
    sections = re.split(r"^\[(\w+)\]$", block(README, "[console]"), flags=re.M)[1:]
    written = {name: set(re.findall(r"\w+", text)) for name, text in zip(sections[::2], sections[1::2], strict=True)}
    assert everywhere <= written["console"]
    for section in PORTS:
        assert set(getattr(Settings(), section).__struct_fields__) - everywhere <= written[section], section


# --- the tables, and what stands in a line of text

COMMANDS = table(README, "| command | |")


def commands(cell: str) -> list[str]:
    return re.findall(r"`(troupe[^`]*)`", cell)


def parsed(line: str) -> Any:
    return arguments.read([word.strip("[]") for word in line.split()[1:]])


@pytest.mark.parametrize("cells", COMMANDS, ids=lambda cells: cells[0])
def test_a_command_of_the_table_is_one_and_has_these_options(
    cells: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for line in commands(cells[0]):
        parsed(line)
        words = [word for word in line.split()[1:] if word.islower()] or ["serve"]
        with pytest.raises(SystemExit):
            arguments.read([*words, "--help"])
        helped = capsys.readouterr().out
        for option in re.findall(r"--[a-z-]+", cells[1]):
            assert re.search(rf"{option}\b", helped), (line, option)


def test_every_command_of_the_program_is_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments.read(["--help"])
    there = set(re.findall(r"^    (\w+) ", capsys.readouterr().out, re.M)) - {"command"}
    assert there == {line.split()[1] for cells in COMMANDS for line in commands(cells[0]) if " " in line}


@pytest.mark.parametrize("path", [README, EXAMPLES], ids=["README", "examples"])
def test_a_command_in_the_text_is_one(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    for line in commands(text):
        parsed(line)
    for script in re.findall(r"`python ([\w/.]+)`", text):
        assert (ROOT / script).is_file(), script


@pytest.mark.slow
def test_what_ends_by_itself_of_the_table_is_done(home: Home) -> None:
    (home.folder / "tests").mkdir()
    (home.folder / "main.py").write_text("print(int(input()) + 1)\n")
    (home.folder / "tests" / "1.in").write_text("1\n")
    (home.folder / "tests" / "1.out").write_text("2\n")
    ended: dict[str, Callable[[str], str]] = {
        "troupe tree [WORD ...]": lambda line: line.replace("[WORD ...]", "judge"),
        "troupe check": lambda line: line,
        "troupe backup FILE": lambda line: line.replace("FILE", "copy.db"),
        "troupe judge run [FOLDER]": lambda line: line.replace("[FOLDER]", "."),
    }
    written = {line for cells in COMMANDS for line in commands(cells[0])}
    assert ended.keys() <= written
    with home.serving():
        for line, filled in ended.items():
            answer = home.run(filled(line))
            assert answer.returncode == 0, (line, answer.stderr)
    assert (home.folder / "copy.db").is_file()


@pytest.mark.slow
def test_the_console_answers_what_the_table_says(home: Home) -> None:
    with home.serving() as house:
        for (cell, _) in table(README, "| `GET`, at the console's port | |"):
            assert house.get(cell.strip("`")).status_code == 200, cell


def test_every_place_in_the_table_is_there() -> None:
    for cell, _ in table(README, "| | |"):
        for name in re.findall(r"`([\w./]+)`|\]\(([\w.]+)\)", cell):
            assert (ROOT / "".join(name)).exists(), name


def test_the_ports_are_those_of_the_settings() -> None:
    ports = {str(getattr(Settings(), system).port) for system in PORTS}
    for path in (README, EXAMPLES):
        assert set(re.findall(r"localhost:(\d+)", path.read_text())) <= ports
    assert set(re.findall(r"http://localhost:(\d+)", block(README, "troupe   "))) == ports
    assert set(supervisor.SYSTEMS) <= set(re.findall(r"[a-z]+", block(README, "troupe   ")))
