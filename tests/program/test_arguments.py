import argparse
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import supervisor
from program import arguments, places
from program.arguments import Backup, Check, JudgeRun, Record, Replay, Serve, Tree
from program.trouble import Trouble
from program.version import version

HERE = places.state_dir()

SERVE = Serve(
    config=None,
    overrides=(),
    state_dir=HERE,
    ready_file=None,
    strict=False,
    log_format="auto",
    log_level="info",
)


def replaying(
    file: Path | None,
    room: str | None = None,
    speed: float = 1.0,
    max_pause: float | None = None,
    loop: bool = False,
) -> Replay:
    return Replay(file, room, url=None, state_dir=HERE, speed=speed, max_pause=max_pause, loop=loop)


def judging(folder: Path, cases: tuple[int, ...] = ()) -> JudgeRun:
    return JudgeRun(
        folder,
        config=None,
        overrides=(),
        interpreter=None,
        jobs=None,
        timeout_ms=None,
        compare=None,
        cases=cases,
        input_file=None,
        output_file=None,
        json=False,
    )


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", SERVE),
        ("serve", SERVE),
        ("tree", Tree(url=None, state_dir=HERE, json=False, watch=False)),
        ("tree --json --url http://[::1]:1", Tree(url="http://[::1]:1", state_dir=HERE, json=True, watch=False)),
        ("tree --watch --state-dir /s", Tree(url=None, state_dir=Path("/s"), json=False, watch=True)),
        ("check", Check(config=None, overrides=())),
        ("check --config /c --set a.b=1", Check(config=Path("/c"), overrides=("a.b=1",))),
        ("backup /b", Backup(target=Path("/b"), state_dir=HERE, force=False)),
        ("backup --force --state-dir=/s /b", Backup(target=Path("/b"), state_dir=Path("/s"), force=True)),
        ("record demo /r", Record("demo", Path("/r"), url=None, state_dir=HERE, force=False, max_bytes=None)),
        (
            "record demo - --force --max-bytes 5M --url http://h:1 --state-dir /s",
            Record("demo", None, url="http://h:1", state_dir=Path("/s"), force=True, max_bytes=5_000_000),
        ),
        ("replay /r", replaying(Path("/r"))),
        ("replay - --room copy --speed max", replaying(None, room="copy", speed=0.0)),
        ("replay /r --speed 2.5 --max-pause 1", replaying(Path("/r"), speed=2.5, max_pause=1.0)),
        ("replay /r --room copy --loop", replaying(Path("/r"), room="copy", loop=True)),
        ("judge run /f", judging(Path("/f"))),
        (
            "judge run /f --interpreter pypy --jobs 2 --timeout 500 --compare float --config /c --set a.b=1 --json "
            "--input-file i.txt --output-file o.txt",
            JudgeRun(
                *(Path("/f"), Path("/c"), ("a.b=1",), "pypy", 2, 500, "float"),
                cases=(),
                input_file="i.txt",
                output_file="o.txt",
                json=True,
            ),
        ),
        ("judge run /f --case 3 1 --case 2 3", judging(Path("/f"), cases=(1, 2, 3))),
    ],
)
def test_a_command_line_is_a_value(line: str, command: arguments.Command) -> None:
    assert arguments.read(shlex.split(line)) == command


@pytest.mark.parametrize("prefix", ["", "serve "])
def test_the_options_of_serve_need_no_command(prefix: str) -> None:
    command = arguments.read(
        shlex.split(
            f"{prefix}--config /c --set a.b=1 --set c.d=2 --state-dir /s --ready-file /r --strict --log-format json "
            "--log-level debug"
        )
    )
    assert command == Serve(
        config=Path("/c"),
        overrides=("a.b=1", "c.d=2"),
        state_dir=Path("/s"),
        ready_file=Path("/r"),
        strict=True,
        log_format="json",
        log_level="debug",
    )


def test_paths_are_absolute_and_know_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    command = arguments.read(["--config=~/c.toml", "--state-dir", "state"])
    assert isinstance(command, Serve)
    assert (command.config, command.state_dir) == (Path("/home/me/c.toml"), tmp_path / "state")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("backpu", "there is no command 'backpu'; did you mean backup?"),
        ("frobnicate", "there is no command 'frobnicate'; expected one of serve, tree, check, backup, record"),
        ("''", "there is no command ''"),
        ("--stric", "'--stric' is not understood; did you mean --strict?"),
        ("--redy-file=x", "'--redy-file=x' is not understood; did you mean --ready-file?"),
        ("serve extra", "'extra' is not understood; expected one of --config,"),
        ("--state-dir /s tree --json", "a command comes before its options: write troupe tree, and then the options"),
        ("--url http://h:1 judge run", "a command comes before its options: write troupe judge, and then the options"),
        ("tree --config x", "'--config' is not understood"),
        ("--log-level loud", "invalid choice: 'loud'"),
        ("--set", "expected one argument"),
        ("--config ''", "expected a path"),
        ("--config ~nobody-of-that-name/c.toml", "there is no home directory for '~nobody-of-that-name'"),
        ("backup", "required: FILE"),
        ("tree --json --watch", "not allowed with argument"),
        ("tree --url localhost:5160", "expected an address such as http://127.0.0.1:5160, got 'localhost:5160'"),
        ("tree --url https://localhost", "expected an address such as"),
        ("tree --url http://", "expected an address such as"),
        ("tree --url http://h:99999", "expected an address such as"),
        ("judge run --input-file ../x", "expected a plain file name such as input.txt, got '../x'"),
        ("judge run --output-file ''", "expected a plain file name such as input.txt, got ''"),
        ("judge run --output-file $'\\xff'", "expected a plain file name such as input.txt"),
        ("record demo", "required: FILE"),
        (
            "record 'my room' /r",
            "expected the name of a room, 1 to 64 letters, digits, hyphens or underscores, got 'my ro",
        ),
        ("record demo /r --max-bytes 0", "expected a number of bytes, such as 500000 or 500M, got '0'"),
        ("record demo /r --max-bytes 5T", "expected a number of bytes, such as 500000 or 500M, got '5T'"),
        ("replay", "required: FILE"),
        *(
            (
                f"replay /r --speed {text}",
                f"expected a number above 0, such as 2 or 0.5, or max for as fast as possible, got '{text}'",
            )
            for text in ("fast", "-1", "nan", "0", "0.0", "-0", "1e-400", "inf")
        ),
        ("replay /r --max-pause inf", "expected a number of seconds, such as 2, got 'inf'"),
        ("replay /r --room ''", "expected the name of a room"),
        ("replay -", "standard input needs --room, with another room than the one that is being recorded"),
        ("replay - --room copy --loop", "--loop needs a file: standard input can be read once only"),
        ("judge", "required: run"),
        ("judge rnu", "invalid choice: 'rnu' (choose from"),
        ("judge run --case 0", "expected a whole number from 1 to 999999999, got '0'"),
        ("judge run --case 1 folder", "expected a whole number from 1 to 999999999, got 'folder'"),
        ("judge run --jobs 257", "expected a whole number from 1 to 256, got '257'"),
        ("judge run --timeout 2s", "expected a whole number from 1 to 3600000, got '2s'"),
        ("judge run --compare loosely", "invalid choice: 'loosely'"),
        ("judge run --interpreter ''", "expected cpython, pypy, or the path of a Python"),
        ("judge run --jsn", "'--jsn' is not understood; did you mean --json?"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_a_sentence(
    line: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments.read(shlex.split(line))
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert expected in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--help", ["serve", "tree", "check", "backup", "record", "replay", "judge", "examples:"]),
        ("serve --help", ["--ready-file FILE", "--strict", "--set SECTION.KEY=VALUE", "--log-format"]),
        ("tree --help", ["--watch", "--json", "--url URL", "--state-dir DIR"]),
        ("check --help", ["--config FILE"]),
        ("backup --help", ["FILE", "--force"]),
        ("record --help", ["ROOM", "FILE", "--force", "--max-bytes N", "--url URL", "--state-dir DIR"]),
        ("replay --help", ["FILE", "--room ROOM", "--speed N", "--max-pause SECONDS", "--loop"]),
        ("judge --help", ["run", "tests/1.in"]),
        (
            "judge run --help",
            [
                "FOLDER",
                "--interpreter cpython|pypy|PATH",
                "--jobs N",
                "--timeout MS",
                "--compare",
                "--case N",
                "--json",
            ],
        ),
        ("--version", [f"troupe {version()}"]),
    ],
)
def test_help_is_printed_and_names_everything(
    line: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments.read(shlex.split(line))
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert [each for each in expected if each not in printed] == []


@pytest.mark.parametrize(
    ("environ", "platform", "state", "config"),
    [
        ({}, "linux", "/home/me/.local/state/troupe", "/home/me/.config/troupe/config.toml"),
        (
            {"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"},
            "linux",
            "/s/troupe",
            "/c/troupe/config.toml",
        ),
        (
            {"XDG_STATE_HOME": "relative", "XDG_CONFIG_HOME": ""},
            "linux",
            "/home/me/.local/state/troupe",
            "/home/me/.config/troupe/config.toml",
        ),
        ({}, "darwin", "/home/me/Library/Application Support/troupe", "/home/me/.config/troupe/config.toml"),
        ({"LOCALAPPDATA": "/l", "APPDATA": "/a"}, "win32", "/l/troupe", "/a/troupe/config.toml"),
        ({}, "win32", "/home/me/AppData/Local/troupe", "/home/me/AppData/Roaming/troupe/config.toml"),
    ],
)
def test_things_are_kept_where_each_system_has_them(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], platform: str, state: str, config: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert places.state_dir(environ, platform) == Path(state)
    assert places.config_file(environ, platform) == Path(config)


@pytest.mark.parametrize("which", ["missing", "forbidden", "unknown"])
def test_a_python_that_cannot_be_started_once_more_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    python = tmp_path / "python"
    if which == "forbidden":
        python.touch(mode=0o600)
    monkeypatch.setattr("sys.executable", "" if which == "unknown" else str(python))
    with pytest.raises(Trouble, match="this account may not execute it") as told:
        places.check_interpreter()
    assert "\n" not in str(told.value)
    python.touch()
    python.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(python))
    places.check_interpreter()


@pytest.mark.parametrize("system", ["judge", "ipc", "agent", "sidekick"])
def test_only_a_server_that_runs_programs_needs_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], system: str
) -> None:
    state = tmp_path / "state"
    state.touch()  # no folder, as the server says when it has come so far
    monkeypatch.setattr("sys.executable", str(tmp_path / "none"))
    monkeypatch.setattr("program.collector.rest", lambda: None)
    switched = [f"{name}.enabled={str(name == system).lower()}" for name in ("judge", "ipc", "agent")]
    given = [f"--set={each}" for each in (*switched, f"ipc.base={tmp_path}")]
    assert supervisor.main(["serve", f"--state-dir={state}", *given]) == 2
    assert ("may not execute it" in capsys.readouterr().err) is (system != "sidekick")


def test_without_a_home_one_has_to_say_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    with pytest.raises(Trouble, match="say where with --state-dir"):
        arguments.read([])
    assert isinstance(arguments.read(["--state-dir", os.curdir]), Serve)


def test_the_version_is_the_project_files() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'version = "{version()}"' in text


@pytest.mark.usefixtures("removed_under_ones_feet")
def test_a_folder_that_was_removed_under_ones_feet_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="The folder you are in has been removed"):
        arguments.read(["judge", "run"])
    assert arguments.read(["judge", "run", str(tmp_path)])


def _all_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in dict.fromkeys(action.choices.values()):
                yield from _all_of(each)


@pytest.mark.parametrize("parser", list(_all_of(arguments._parser(with_deeds=True))), ids=lambda parser: parser.prog)
def test_help_says_what_every_argument_is_for_and_names_its_value(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        assert action.help or isinstance(action, argparse._SubParsersAction), action.dest
        assert action.metavar != "", action.dest  # None: it is called as the argument is
