import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.transports.process.house import Processes, open_launcher
from transports.process.programs import Interpreters, NoSuchProgram, clean_env, find_program

REAL = os.path.realpath(sys.executable)


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_of_the_environment_only_what_is_needed_to_find_ones_way_is_passed_on() -> None:
    base = {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C.UTF-8", "API_TOKEN": "secret", "PYTHONPATH": "/x"}
    assert clean_env({"SEED": "7", "HOME": "/other"}, base) == {
        "PATH": "/bin",
        "HOME": "/other",
        "LC_ALL": "C.UTF-8",
        "SEED": "7",
    }


def test_there_is_always_a_path() -> None:
    assert clean_env(base={}) == {"PATH": os.defpath}


def test_a_program_is_found_as_a_shell_would(tmp_path: Path) -> None:
    first = script(tmp_path / "a" / "tool", "#!/bin/sh\n")
    script(tmp_path / "b" / "tool", "#!/bin/sh\n")
    path = f"{tmp_path / 'a'}:{tmp_path / 'b'}"
    assert find_program("tool", cwd=tmp_path, path=path) == first
    assert find_program("./a/tool", cwd=tmp_path, path=None) == first
    assert find_program(str(first), cwd=Path("/"), path=None) == first


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-tool", "'no-such-tool' was not found on the PATH"),
        ("./missing", "'./missing' does not exist in /"),
        ("/no/missing", "'/no/missing' does not exist"),
        ("/bin", "'/bin' is a folder; expected a program"),
        ("./plain", "'./plain' may not be executed"),
        ("", "'' names no program"),
    ],
)
def test_a_program_that_is_not_there_is_refused_in_words(tmp_path: Path, command: str, words: str) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(NoSuchProgram) as refused:
        find_program(command, cwd=tmp_path, path=str(tmp_path))
    said = str(refused.value)
    assert said.startswith(words) if words.endswith("/") else said == words


async def test_behind_a_shim_the_interpreter_itself_is_found_and_asked_once(processes: Processes) -> None:
    count = processes.folder / "count"
    shim = script(processes.folder / "python9", f'#!/bin/sh\necho >> {count}\nexec {REAL} "$@"\n')
    interpreters = Interpreters(processes.runner)
    env = {"PATH": f"{processes.folder}:/bin:/usr/bin"}
    for _ in range(3):
        assert await interpreters.resolve("python9", cwd=processes.folder, env=env) == Path(REAL)
    assert count.read_text() == "\n"
    os.utime(shim, ns=(1, 1))
    assert await interpreters.resolve("python9", cwd=processes.folder, env=env) == Path(REAL)
    assert count.read_text() == "\n\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho 'pyenv: 3.9 is not installed' >&2\nexit 1\n", ": pyenv: 3.9 is not installed"),
        ("#!/bin/sh\nexit 4\n", "it ended with exit code 4"),
        ("#!/bin/sh\nkill -9 $$\n", "it was ended by signal 9"),
        ("#!/bin/sh\necho hello\n", "asked where it is, it said 'hello'"),
        ("#!/bin/sh\nexec yes\n", "it was stopped (output) when it was asked where it is"),
    ],
)
async def test_what_is_no_interpreter_is_refused_in_words(processes: Processes, text: str, words: str) -> None:
    script(processes.folder / "python9", text)
    env = {"PATH": f"{processes.folder}:/bin:/usr/bin"}
    with pytest.raises(NoSuchProgram) as refused:
        await Interpreters(processes.runner).resolve("python9", cwd=processes.folder, env=env)
    assert str(refused.value).startswith("'python9' (")
    assert "is not a Python interpreter that works" in str(refused.value)
    assert str(refused.value).endswith(words)


async def test_a_name_that_is_too_long_is_refused_in_words(processes: Processes) -> None:
    with pytest.raises(NoSuchProgram) as refused:
        await Interpreters(processes.runner).resolve(f"/{'x' * 5000}", cwd=processes.folder, env={})
    assert str(refused.value) == f"'/{'x' * 199}' cannot be looked at: File name too long"
