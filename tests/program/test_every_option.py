"""Of each command: what its shortest line means, and what each of its options changes in that. So an option that does
nothing, one that does something else, one that is gone and one that nobody has written down here all fail."""

import argparse
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from program import arguments, places

Meaning = dict[str, Any]

HERE, STATE = places.here(), places.state_dir()
CONFIGURED: dict[str, Meaning] = {
    "--config /c": {"config": Path("/c")},
    "--set a.b=1 --set c.d=2": {"overrides": ("a.b=1", "c.d=2")},
}
STATEFUL: dict[str, Meaning] = {"--state-dir /s": {"state_dir": Path("/s")}}
AT_A_DESK: Meaning = {"base": None, "config": None, "state_dir": STATE, "url": None}
OF_A_DESK: dict[str, Meaning] = {
    **STATEFUL,
    "--base /b": {"base": Path("/b")},
    "--config /c": {"config": Path("/c")},
    "--url http://h:1": {"url": "http://h:1"},
}
AS_JSON: dict[str, Meaning] = {"--json": {"json": True}}
UNSET: Meaning = {"config": None, "overrides": ()}

COMMANDS: dict[str, tuple[Meaning, dict[str, Meaning]]] = {
    "serve": (
        {
            **UNSET,
            "state_dir": STATE,
            "ready_file": None,
            "strict": False,
            "log_format": "auto",
            "log_level": "info",
        },
        {
            **CONFIGURED,
            **STATEFUL,
            "--ready-file /r": {"ready_file": Path("/r")},
            "--strict": {"strict": True},
            **{f"--log-format {form}": {"log_format": form} for form in ("auto", "text", "json")},
            **{f"--log-level {level}": {"log_level": level} for level in ("debug", "info", "warning", "error")},
        },
    ),
    "tree": (
        {"url": None, "state_dir": STATE, "json": False, "watch": False, "words": (), "trouble": False},
        {
            **STATEFUL,
            **AS_JSON,
            "--url http://h:1": {"url": "http://h:1"},
            "--watch": {"watch": True},
            "--trouble": {"trouble": True},
            "one ' other '": {"words": ("one", "other")},
        },
    ),
    "check": (UNSET, CONFIGURED),
    "backup /b": ({"target": Path("/b"), "state_dir": STATE, "force": False}, {**STATEFUL, "--force": {"force": True}}),
    "record demo /r": (
        {"room": "demo", "file": Path("/r"), "url": None, "state_dir": STATE, "force": False, "max_bytes": None},
        {
            **STATEFUL,
            "--url http://h:1": {"url": "http://h:1"},
            "--force": {"force": True},
            "--max-bytes 7": {"max_bytes": 7},
            "--max-bytes 3k": {"max_bytes": 3_000},
            "--max-bytes 3M": {"max_bytes": 3_000_000},
            "--max-bytes 3G": {"max_bytes": 3_000_000_000},
        },
    ),
    "replay /r": (
        {
            "file": Path("/r"),
            "room": None,
            "url": None,
            "state_dir": STATE,
            "speed": 1.0,
            "max_pause": None,
            "loop": False,
        },
        {
            **STATEFUL,
            "--url http://h:1": {"url": "http://h:1"},
            "--room copy": {"room": "copy"},
            "--speed 0.5": {"speed": 0.5},
            "--speed max": {"speed": 0.0},
            "--max-pause 0": {"max_pause": 0.0},
            "--loop": {"loop": True},
        },
    ),
    "judge run": (
        {
            **UNSET,
            "folder": HERE,
            "interpreter": None,
            "jobs": None,
            "timeout_ms": None,
            "compare": None,
            "cases": (),
            "input_file": None,
            "output_file": None,
            "json": False,
        },
        {
            **CONFIGURED,
            **AS_JSON,
            "/f": {"folder": Path("/f")},
            "--interpreter pypy": {"interpreter": "pypy"},
            "--jobs 1": {"jobs": 1},
            "--jobs 256": {"jobs": 256},
            "--timeout 1": {"timeout_ms": 1},
            "--timeout 3600000": {"timeout_ms": 3_600_000},
            "--compare float": {"compare": "float"},
            "--case 3 1 --case 2 3": {"cases": (1, 2, 3)},
            "--case 999999999": {"cases": (999_999_999,)},
            "--input-file i": {"input_file": "i"},
            "--output-file o": {"output_file": "o"},
        },
    ),
    "ask ' Why? '": (
        {**UNSET, "question": "Why?", "workspace": HERE, "session": None, "state_dir": STATE, "json": False},
        {
            **CONFIGURED,
            **STATEFUL,
            **AS_JSON,
            "--workspace /w": {"workspace": Path("/w")},
            "--session ' it '": {"session": "it"},
        },
    ),
    "search read the port": (
        {
            **UNSET,
            "words": "read the port",
            "workspace": HERE,
            "kind": "all",
            "most": 10,
            "now": False,
            "state_dir": STATE,
            "json": False,
        },
        {
            **CONFIGURED,
            **STATEFUL,
            **AS_JSON,
            "--workspace /w": {"workspace": Path("/w")},
            "--kind text": {"kind": "text"},
            "--most 1": {"most": 1},
            "--most 100": {"most": 100},
            "--now": {"now": True},
        },
    ),
    "sessions": (
        {"workspace": None, "state_dir": STATE, "json": False, "link": False},
        {**STATEFUL, **AS_JSON, "--workspace /w": {"workspace": Path("/w")}, "--link": {"link": True}},
    ),
    "ipc submit ping": (
        {
            **AT_A_DESK,
            "command": "ping",
            "file": None,
            "params": {},
            "id": None,
            "run": None,
            "submitter": None,
            "reference": None,
            "priority": 0,
            "wait": False,
            "timeout": None,
            "json": False,
        },
        {
            **OF_A_DESK,
            **AS_JSON,
            """--params '{"a": 1}'""": {"params": {"a": 1}},
            "--id i": {"id": "i"},
            "--submitter me": {"submitter": "me"},
            "--reference right": {"reference": "right"},
            "--priority=-100": {"priority": -100},
            "--priority 100": {"priority": 100},
            "--wait": {"wait": True},
            "--wait --timeout 2": {"wait": True, "timeout": 2.0},
        },
    ),
    "ipc submit /many.json": (
        {
            **AT_A_DESK,
            "command": None,
            "file": Path("/many.json"),
            "params": {},
            "id": None,
            "run": None,
            "submitter": None,
            "reference": None,
            "priority": 0,
            "wait": False,
            "timeout": None,
            "json": False,
        },
        {"--run monday": {"run": "monday"}},
    ),
    "ipc status": ({**AT_A_DESK, "id": None, "json": False}, {**OF_A_DESK, **AS_JSON, "one": {"id": "one"}}),
    "ipc watch": ({**AT_A_DESK, "until_done": False}, {**OF_A_DESK, "--until-done": {"until_done": True}}),
    **{
        f"ipc {what} one two": (
            {
                **AT_A_DESK,
                "what": what,
                "ids": ("one", "two"),
                "all": False,
                "match": "",
                "older_than_days": None,
                "json": False,
            },
            {
                **OF_A_DESK,
                **AS_JSON,
                "--match 'x-*'": {"match": "x-*"},
                **(
                    {"--older-than 2.5": {"older_than_days": 2.5}, "--older-than 0": {"older_than_days": 0.0}}
                    if what == "archive"
                    else {}
                ),
            },
        )
        for what in ("requeue", "cancel", "archive")
    },
    **{
        f"ipc {what} --match x-*": (
            {
                **AT_A_DESK,
                "what": what,
                "ids": (),
                "all": False,
                "match": "x-*",
                "older_than_days": None,
                "json": False,
            },
            {"--all": {"all": True}},
        )
        for what in ("requeue", "cancel")
    },
    "ipc editor": (
        {**AT_A_DESK, "order": None, "json": False},
        {**OF_A_DESK, **AS_JSON, "stop": {"order": "stop"}, "start": {"order": "start"}},
    ),
    "ipc evaluate": (
        {**AT_A_DESK, "match": "*", "again": False, "json": False},
        {**OF_A_DESK, **AS_JSON, "--match 'x-*'": {"match": "x-*"}, "--again": {"again": True}},
    ),
    "ipc report": (
        {**AT_A_DESK, "runs": [], "format": None, "output": None, "seed": 1},
        {
            **OF_A_DESK,
            "--run a=b --run c=d": {"runs": ["a=b", "c=d"]},
            **{f"--format {form}": {"format": form} for form in ("table", "json", "csv", "html")},
            "--output o": {"output": Path("o")},
            "--seed 2": {"seed": 2},
        },
    ),
}

PARSER = cache(arguments._parser)
BESIDE = {"command", "deed", "parser"}
"""What argparse adds to a command that is passed on as it was read."""


def meaning(command: msgspec.Struct) -> Meaning:
    """All that a command says, flat."""
    found: Meaning = {}
    for name, value in msgspec.structs.asdict(command).items():
        match value:
            case msgspec.Struct():
                found = meaning(value) | found
            case argparse.Namespace():  # as it was read; the desk's place in it has been told already
                found = {each: said for each, said in vars(value).items() if each not in BESIDE} | found
            case _:
                found[name] = value
    return found


@pytest.fixture(autouse=True)
def one_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer to make than to use."""
    monkeypatch.setattr(arguments, "_parser", PARSER)


def read(line: str) -> Meaning:
    return meaning(arguments.read(shlex.split(line)))


@pytest.mark.parametrize("line", COMMANDS)
def test_a_line_has_its_defaults_and_an_option_changes_what_it_says_and_nothing_else(line: str) -> None:
    plain, options = COMMANDS[line]
    assert read(line) == plain
    assert {option: read(f"{line} {option}") for option in options} == {
        option: plain | changed for option, changed in options.items()
    }


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    for action in below:
        for each in action.choices.values():
            yield from leaves(each)
    if not below:
        yield parser


def options_of(leaf: argparse.ArgumentParser) -> set[str]:
    named = {name for action in leaf._actions for name in action.option_strings}
    return named - {"-h", "--help"}


def test_every_option_of_every_command_is_written_down_here() -> None:
    there = {leaf.prog.removeprefix("troupe "): options_of(leaf) for leaf in leaves(arguments._parser(with_deeds=True))}
    written: dict[str, set[str]] = {command: set() for command in there}
    for line, (_, options) in COMMANDS.items():
        command = next(command for command in there if f"{line} ".startswith(f"{command} "))
        words = shlex.split(" ".join(options))
        written[command] |= {word.partition("=")[0] for word in words if word.startswith("--")}
    assert written == there
    assert {command for command in there if any(f"{line} ".startswith(f"{command} ") for line in COMMANDS)} == {*there}
