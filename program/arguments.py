"""The command line: turns the arguments into a command, which is a value.

`read` turns the arguments into one frozen command and touches nothing else. argparse answers `--help`, `--version` and
wrong usage by itself (`SystemExit` with 0 or 2), as in every command line tool. values.py says what a single word may
be.

`troupe` alone means `troupe serve`, and so do options without a command (`troupe --strict`).
"""

import argparse
import difflib
import re
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from codec.judge import CompareMode
from codec.judge.settings import LONGEST_TIMEOUT
from program import places, streams, values
from program.agent_arguments import (
    ASK,
    SEARCH,
    SESSIONS,
    AskAgent,
    ListSessions,
    SearchFolder,
    add_ask,
    add_search,
    add_sessions,
    read_ask,
    read_search,
    read_sessions,
)
from program.ipc_arguments import Ipc, add_deeds, read_deed
from program.trouble import Trouble
from program.version import version

LogFormat = Literal["auto", "text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


class Serve(Struct, frozen=True):
    config: Path | None
    overrides: tuple[str, ...]
    state_dir: Path
    ready_file: Path | None
    strict: bool
    log_format: LogFormat
    log_level: LogLevel


class Tree(Struct, frozen=True):
    url: str | None
    state_dir: Path
    json: bool
    watch: bool
    words: tuple[str, ...] = ()
    """Empty: the whole tree."""
    trouble: bool = False


class Check(Struct, frozen=True):
    config: Path | None
    overrides: tuple[str, ...]


class Backup(Struct, frozen=True):
    target: Path
    state_dir: Path
    force: bool


class Record(Struct, frozen=True):
    room: str
    file: Path | None
    """None: standard output."""
    url: str | None
    state_dir: Path
    force: bool
    max_bytes: int | None


class Replay(Struct, frozen=True):
    file: Path | None
    """None: standard input."""
    room: str | None
    url: str | None
    state_dir: Path
    speed: float
    """0: as fast as the server accepts it."""
    max_pause: float | None
    loop: bool


class JudgeRun(Struct, frozen=True):
    folder: Path
    config: Path | None
    overrides: tuple[str, ...]
    interpreter: str | None
    """cpython, pypy, or the name or path of a program. None, here and below: as in the settings."""
    jobs: int | None
    timeout_ms: int | None
    compare: CompareMode | None
    cases: tuple[int, ...]
    """Empty: all cases."""
    input_file: str | None
    """The file from which the solution reads its input; None: standard input."""
    output_file: str | None
    json: bool


Command = Serve | Tree | Check | Backup | Record | Replay | JudgeRun | Ipc | AskAgent | SearchFolder | ListSessions

_COMMANDS = {
    "serve": "run the server (this is what `troupe` alone does)",
    "tree": "show the live tree of a running server",
    "check": "check a configuration, and show the resulting settings",
    "backup": "copy the database, whether or not a server is running",
    "record": "record what is drawn in a Sidekick room, until Ctrl-C",
    "replay": "draw a recording again",
    "judge": "run a solution against its tests, here in the terminal",
    "ipc": "submit requests at the desk, and see what becomes of them",
    "ask": ASK,
    "search": SEARCH,
    "sessions": SESSIONS,
}

_EXAMPLES = """\
examples:
  troupe                                    start the server; the console page is at http://127.0.0.1:5160
  troupe --set console.port=8080            the same, with the console on another port
  troupe tree --watch                       watch the tree of the running server
  troupe tree sidekick --trouble            show what needs attention in one branch
  troupe backup ~/troupe-backup.db          copy the database
  troupe record default talk.jsonl          record what is drawn on the board at http://localhost:5163
  troupe replay talk.jsonl --speed 2        draw it again, twice as fast
  troupe judge run                          run main.py of this folder on the tests in tests/
  troupe ipc submit ping --wait             ask whoever answers requests whether anybody is there
  troupe ask "where is the port read?"      ask the agent about the files of this folder
  troupe search read the port               find the places in this folder that go with these words
  troupe sessions --link                    the link that opens the agent's page
"""


def read(arguments: Sequence[str]) -> Command:
    """The command for these `arguments` (without the program's name)."""
    parser = _parser(with_deeds=arguments[:1] == ["ipc"])
    match arguments:
        case ["-h" | "--help" | "--version", *_]:
            pass
        case [first, *_] if not first.startswith("-"):
            if first not in _COMMANDS:
                parser.error(f"there is no command {first!r}; {_nearest(first, _COMMANDS)}")
        case _:
            arguments = ("serve", *arguments)
    asked, unknown = parser.parse_known_args(arguments)
    if unknown:
        if command := next((word for word in unknown if word in _COMMANDS), None):
            parser.error(f"a command comes before its options: write troupe {command}, and then the options")
        options = re.findall(r"--[a-z-]+", asked.parser.format_usage())
        asked.parser.error(f"{unknown[0]!r} is not understood; {_nearest(unknown[0].partition('=')[0], options)}")
    match asked.command:
        case "tree":
            state_dir = asked.state_dir or places.state_dir()
            return Tree(asked.url, state_dir, asked.json, asked.watch, tuple(asked.words), asked.trouble)
        case "check":
            return Check(asked.config, tuple(asked.overrides))
        case "backup":
            return Backup(asked.target, asked.state_dir or places.state_dir(), asked.force)
        case "record":
            state_dir = asked.state_dir or places.state_dir()
            return Record(asked.room, asked.file, asked.url, state_dir, asked.force, asked.max_bytes)
        case "replay":
            if asked.loop and asked.file is None:
                asked.parser.error("--loop needs a file: standard input can be read once only")
            if asked.file is None and asked.room is None:  # or a room could be drawn into itself, endlessly
                asked.parser.error("standard input needs --room, with another room than the one that is being recorded")
            return Replay(
                file=asked.file,
                room=asked.room,
                url=asked.url,
                state_dir=asked.state_dir or places.state_dir(),
                speed=asked.speed,
                max_pause=asked.max_pause,
                loop=asked.loop,
            )
        case "judge":
            return JudgeRun(
                folder=asked.folder,
                config=asked.config,
                overrides=tuple(asked.overrides),
                interpreter=asked.interpreter,
                jobs=asked.jobs,
                timeout_ms=asked.timeout_ms,
                compare=asked.compare,
                cases=tuple(sorted(set(asked.cases))),
                input_file=asked.input_file,
                output_file=asked.output_file,
                json=asked.json,
            )
        case "ipc":
            return read_deed(asked)
        case "ask":
            return read_ask(asked, asked.parser.error)
        case "search":
            return read_search(asked, asked.parser.error)
        case "sessions":
            return read_sessions(asked, asked.parser.error)
        case _:
            return Serve(
                config=asked.config,
                overrides=tuple(asked.overrides),
                state_dir=asked.state_dir or places.state_dir(),
                ready_file=asked.ready_file,
                strict=asked.strict,
                log_format=asked.log_format,
                log_level=asked.log_level,
            )


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: Any = None) -> None:
        """argparse's own method silently drops output that cannot be written (Python 3.11)."""
        if file is sys.stdout:
            streams.show(message, sys.stdout)
        else:
            streams.say(message, sys.stderr)


def _parser(*, with_deeds: bool = False) -> _Parser:
    """`with_deeds`: those of `troupe ipc`, which load what the others need not wait for."""
    parser = _Parser(
        prog="troupe",
        description="One local server for your editor, browser and scripts: every conversation is a supervised actor.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"troupe {version()}")
    commands = parser.add_subparsers(
        dest="command", metavar="command", title="commands", help="`troupe command --help` explains each of them"
    )

    def command(name: str, *options: _Parser) -> _Parser:
        said = _COMMANDS[name]
        described = f"{said[0].upper()}{said[1:]}."
        parser = commands.add_parser(name, help=said, description=described, parents=options, allow_abbrev=False)
        parser.set_defaults(parser=parser)
        return parser

    configured, stateful = _configured(), _stateful()
    serve = command("serve", configured, stateful)
    serve.add_argument(
        "--ready-file",
        type=values.path,
        metavar="FILE",
        help="write the process id and all addresses to this file, as JSON, when the server is ready; removed at stop",
    )
    serve.add_argument(
        "--strict", action="store_true", help="end with exit code 2 if a port is in use, instead of trying again"
    )
    serve.add_argument(
        "--log-format",
        choices=get_args(LogFormat),
        default="auto",
        help="auto (the default) writes text to a terminal, and one JSON object a line otherwise",
    )
    serve.add_argument(
        "--log-level", choices=get_args(LogLevel), default="info", help="log this level and above (default: info)"
    )

    tree = command("tree", stateful)
    tree.add_argument(
        "words",
        type=values.word,
        nargs="*",
        metavar="WORD",
        help="show only actors with this name (a part of a name or path, or a pattern: 'page *'), and all below them",
    )
    tree.add_argument("--trouble", action="store_true", help="show only what needs attention")
    tree.add_argument(
        "--url", type=values.url, help="the console's address, such as http://127.0.0.1:5160 (default: found)"
    )
    style = tree.add_mutually_exclusive_group()
    style.add_argument("--json", action="store_true", help="print the server's own JSON")
    style.add_argument("--watch", action="store_true", help="draw the tree again every second, until Ctrl-C")

    command("check", configured)

    backup = command("backup", stateful)
    backup.add_argument("target", type=values.path, metavar="FILE", help="the copy; it exists only when it is complete")
    backup.add_argument("--force", action="store_true", help="replace FILE if it exists")

    where = "Sidekick's address, such as http://127.0.0.1:5163 (default: found)"
    record = command("record", stateful)
    record.add_argument(
        "room", type=values.room, metavar="ROOM", help="the room's name; the board at / is called default"
    )
    record.add_argument(
        "file", type=values.file, metavar="FILE", help="the file for the JSON lines; - is standard output"
    )
    record.add_argument("--force", action="store_true", help="replace FILE if it exists")
    record.add_argument("--max-bytes", type=values.size, metavar="N", help="end when FILE has this size, such as 500M")
    record.add_argument("--url", type=values.url, help=where)

    replay = command("replay", stateful)
    replay.add_argument("file", type=values.file, metavar="FILE", help="a recording; - is standard input")
    replay.add_argument(
        "--room",
        type=values.room,
        metavar="ROOM",
        help="the room to draw in (default: the recorded one; needed with -)",
    )
    replay.add_argument(
        "--speed", type=values.speed, default=1.0, metavar="N", help="play N times as fast; max: as fast as possible"
    )
    replay.add_argument(
        "--max-pause", type=values.seconds, metavar="SECONDS", help="the longest wait between two messages"
    )
    replay.add_argument("--loop", action="store_true", help="repeat until Ctrl-C")
    replay.add_argument("--url", type=values.url, help=where)

    deeds = command("judge").add_subparsers(dest="deed", metavar="run", required=True, title="actions")
    said = "run main.py against tests/1.in, 1.out and so on; exit code 1 if a case fails, 2 if they could not be run"
    judge_run = deeds.add_parser(
        "run", help=said, description=f"{said[0].upper()}{said[1:]}.", parents=[configured], allow_abbrev=False
    )
    judge_run.set_defaults(parser=judge_run)
    judge_run.add_argument(
        "folder",
        type=values.path,
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="the folder of main.py (default: this one)",
    )
    judge_run.add_argument(
        "--interpreter",
        type=values.program,
        metavar="cpython|pypy|PATH",
        help="the program that runs it (default: judge.interpreter of the settings)",
    )
    judge_run.add_argument(
        "--jobs", type=values.whole(1, 256), metavar="N", help="run N cases at once (default: one for each core)"
    )
    judge_run.add_argument(
        "--timeout",
        type=values.whole(1, LONGEST_TIMEOUT),
        dest="timeout_ms",
        metavar="MS",
        help="milliseconds of CPU time for each case (default: judge.timeout_ms of the settings, or 2400)",
    )
    judge_run.add_argument("--compare", choices=get_args(CompareMode), help="how outputs are compared")
    judge_run.add_argument(
        "--case",
        type=values.whole(1, 999_999_999),
        nargs="+",
        action="extend",
        default=[],
        dest="cases",
        metavar="N",
        help="run only these cases; FOLDER must come before this option",
    )
    judge_run.add_argument(
        "--input-file",
        type=values.file_name,
        metavar="NAME",
        help="give each case's input in a file of this name, such as input.txt, in a folder of its own",
    )
    judge_run.add_argument(
        "--output-file",
        type=values.file_name,
        metavar="NAME",
        help="read each case's output from a file of this name, in that folder",
    )
    judge_run.add_argument("--json", action="store_true", help="print the messages that a page would get, one a line")

    add_ask(command("ask", configured, stateful))
    add_search(command("search", configured, stateful))
    add_sessions(command("sessions", stateful))

    desk = command("ipc")
    if with_deeds:
        add_deeds(desk, stateful)
    return parser


def _configured() -> _Parser:
    options = _Parser(add_help=False)
    options.add_argument(
        "--config",
        type=values.path,
        metavar="FILE",
        help=f"the settings, in TOML (default: {_customary(places.config_file)}, if it exists)",
    )
    options.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="SECTION.KEY=VALUE",
        help="change one setting, such as console.port=0; overrides the file, may be repeated",
    )
    return options


def _stateful() -> _Parser:
    options = _Parser(add_help=False)
    options.add_argument(
        "--state-dir",
        type=values.path,
        metavar="DIR",
        help=f"the folder for the database (default: {_customary(places.state_dir)})",
    )
    return options


def _nearest(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"


def _customary(place: Callable[[], Path]) -> str:
    try:
        return str(place()).replace("%", "%%")
    except Trouble:
        return "none, there being no home directory"
