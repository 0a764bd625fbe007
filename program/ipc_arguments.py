"""The command line of `troupe ipc`: what its words mean, as values."""

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from codec.decoding import fault
from codec.ipc.desk import EditorOrder
from program import places, values

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
NEEDS = "It needs a running server."
NEEDS_NONE = "It works on the files alone, and needs no running server."
ASKS = "It works on the files alone; a running server is asked for what they do not tell."


class DeskPlace(Struct, frozen=True):
    base: Path | None
    config: Path | None
    state_dir: Path
    url: str | None


class SubmitAtDesk(Struct, frozen=True):
    command: str | None
    """None: the file says what to submit."""
    file: Path | None
    params: dict[str, Any]
    id: str | None
    run: str | None
    submitter: str | None
    reference: str | None
    priority: int
    wait: bool
    timeout: float | None
    json: bool


class ShowStatus(Struct, frozen=True):
    id: str | None
    json: bool


class WatchDesk(Struct, frozen=True):
    until_done: bool


class Chosen(Struct, frozen=True):
    """`what`: requeue, cancel or archive."""

    what: str
    ids: tuple[str, ...]
    all: bool
    match: str
    older_than_days: float | None
    json: bool


class AskEditor(Struct, frozen=True):
    order: EditorOrder | None
    """None: how it is."""
    json: bool


class Evaluate(Struct, frozen=True):
    asked: argparse.Namespace


class MakeReport(Struct, frozen=True):
    asked: argparse.Namespace


class Ipc(Struct, frozen=True):
    place: DeskPlace
    deed: SubmitAtDesk | ShowStatus | WatchDesk | Chosen | AskEditor | Evaluate | MakeReport


def add_deeds(parser: argparse.ArgumentParser, *shared: argparse.ArgumentParser) -> None:
    """`shared`: the options of every deed."""
    from program.commands import ipc_evaluate, ipc_report

    deeds = parser.add_subparsers(dest="deed", metavar="action", required=True, title="actions")
    place = _place(type(parser))

    def deed(name: str, said: str, needs: str) -> argparse.ArgumentParser:
        described = f"{said[0].upper()}{said[1:]}. {needs}"
        added = deeds.add_parser(name, help=said, description=described, parents=[*shared, place], allow_abbrev=False)
        added.set_defaults(parser=added)
        return added

    submit = deed("submit", "submit a request, or all that a file lists; exit code 1 if one fails", NEEDS_NONE)
    submit.add_argument(
        "what", type=_command, metavar="COMMAND|FILE.json",
        help="the command, such as ping; or a file with a list of instructions: objects with id, and with title, "
        "description, requirements and code, of which a submitPrompt is made, and expected_response",
    )  # fmt: skip
    submit.add_argument("--params", type=_params, metavar="JSON", help="the command's params, a JSON object")
    submit.add_argument("--id", help="the request's id; the same id with the same params is the same request")
    submit.add_argument(
        "--run", metavar="NAME", help="of a file: its requests are called NAME-ID (default: as the file is called)"
    )
    submit.add_argument("--submitter", metavar="NAME", help="whose turn it is (default: the run, or this command)")
    submit.add_argument("--reference", metavar="TEXT", help="what a good answer says, for the evaluation")
    submit.add_argument(
        "--priority", type=_priority, default=0, metavar="N", help="from -100 to 100; the higher goes first"
    )
    submit.add_argument("--wait", action="store_true", help="wait until all are over, and show the answers")
    submit.add_argument("--timeout", type=values.seconds, metavar="SECONDS", help="with --wait: the longest wait")
    submit.add_argument("--json", action="store_true", help="print one JSON object a line")

    status = deed("status", "show how many requests stand where, or one with its attempts", ASKS)
    status.add_argument("id", nargs="?", metavar="ID", help="one request")
    status.add_argument("--json", action="store_true", help="print JSON")

    watch = deed("watch", "show how the requests get on, until Ctrl-C, which changes nothing", ASKS)
    watch.add_argument(
        "--until-done", action="store_true", help="end when nothing is under way; exit code 1 if any has failed"
    )

    for name, said in (
        ("requeue", "give requests that failed or were cancelled three fresh attempts"),
        ("cancel", "cancel requests that are not over"),
        ("archive", "put requests that are over away, into archive/ and a folder for today"),
    ):
        chosen = deed(name, said, NEEDS)
        chosen.add_argument("ids", nargs="*", metavar="ID", help="these requests")
        chosen.add_argument("--match", default="", metavar="GLOB", help="those whose id matches, such as 'monday-*'")
        if name == "archive":
            chosen.add_argument(
                "--older-than", type=values.days, metavar="DAYS", help="those that ended before that"
            )
        else:
            chosen.add_argument("--all", action="store_true", help="all of them")
        chosen.add_argument("--json", action="store_true", help="print JSON")

    editor = deed("editor", "show how the editor is, end it, or let it be launched again", NEEDS)
    editor.add_argument(
        "order", nargs="?", choices=("stop", "start"), metavar="stop|start",
        help="stop: end it, with all that it has started, and launch none; start: launch it again (default: show how "
        "it is)",
    )  # fmt: skip
    editor.add_argument("--json", action="store_true", help="print JSON")

    evaluate = deed("evaluate", "compare answers with their references, and write eval/", NEEDS_NONE)
    ipc_evaluate.add_arguments(evaluate)
    report = deed("report", "compare runs of requests side by side", NEEDS_NONE)
    ipc_report.add_arguments(report)


def read_deed(asked: argparse.Namespace) -> Ipc:
    place = DeskPlace(asked.base, asked.config, asked.state_dir or places.state_dir(), asked.url)
    match asked.deed:
        case "submit":
            return Ipc(place, _submit(asked))
        case "status":
            return Ipc(place, ShowStatus(asked.id, asked.json))
        case "watch":
            return Ipc(place, WatchDesk(asked.until_done))
        case "editor":
            return Ipc(place, AskEditor(asked.order, asked.json))
        case "evaluate":
            return Ipc(place, Evaluate(asked))
        case "report":
            return Ipc(place, MakeReport(asked))
    every, days = getattr(asked, "all", False), getattr(asked, "older_than", None)
    if asked.ids and every:
        asked.parser.error("say either which requests, by their ids, or --all")
    if not (asked.ids or asked.match or every or days is not None):
        others = "--older-than DAYS or --match GLOB" if asked.deed == "archive" else "--match GLOB or --all"
        asked.parser.error(f"say which requests: their ids, {others}")
    return Ipc(place, Chosen(asked.deed, tuple(asked.ids), every, asked.match, days, asked.json))


def _submit(asked: argparse.Namespace) -> SubmitAtDesk:
    of_file = asked.what.endswith(".json")
    for name, given, belongs in (
        ("--params", asked.params, not of_file),
        ("--id", asked.id, not of_file),
        ("--reference", asked.reference, not of_file),
        ("--run", asked.run, of_file),
    ):
        if given is not None and not belongs:
            asked.parser.error(f"{name} does not go with {'a file' if of_file else 'a command'}")
    if asked.timeout is not None and not asked.wait:
        asked.parser.error("--timeout needs --wait")
    return SubmitAtDesk(
        command=None if of_file else asked.what,
        file=values.path(asked.what) if of_file else None,
        params=asked.params or {},
        id=asked.id,
        run=asked.run,
        submitter=asked.submitter,
        reference=asked.reference,
        priority=asked.priority,
        wait=asked.wait,
        timeout=asked.timeout,
        json=asked.json,
    )


def _place(make: Callable[..., argparse.ArgumentParser]) -> argparse.ArgumentParser:
    options = make(add_help=False)
    options.add_argument(
        "--base", type=values.path, metavar="DIR",
        help="the folder of the desk (default: $TROUPE_IPC_BASE, or ipc.base of the settings)",
    )  # fmt: skip
    options.add_argument("--config", type=values.path, metavar="FILE", help="the settings, in TOML")
    options.add_argument(
        "--url", type=values.url, help="the desk's address, such as http://127.0.0.1:5164 (default: found)"
    )
    return options


def _command(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a command, such as ping, or a file FILE.json; it is empty")
    if text in (".", "..") or text.endswith("/"):
        raise argparse.ArgumentTypeError(f"expected a command, such as ping, or a file FILE.json; {text} is a folder")
    return text.strip()


def _params(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as wrong:
        why = fault(wrong) if isinstance(wrong, msgspec.DecodeError) else "it is nested too deeply"
        if _SURROGATE.search(text) and _is_json(text):
            why = "half of a pair of surrogates stands there alone, and is no character"
        raise argparse.ArgumentTypeError(f'expected a JSON object such as \'{{"mode": "chat"}}\': {why}') from None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError('expected a JSON object such as \'{"mode": "chat"}\'')
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _priority(text: str) -> int:
    if not (re.fullmatch(r"-?[0-9]{1,3}", text) and -100 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"expected a whole number from -100 to 100, got {text!r}")
    return int(text)
