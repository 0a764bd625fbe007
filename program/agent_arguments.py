"""The command line of `troupe ask` and `troupe sessions`: what their words mean, as values."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from program import places, values

ASK = "ask the agent about the files of a folder, here in the terminal"
SESSIONS = "list the agent's sessions, or show the link to its page"


@dataclass(frozen=True, slots=True)
class AskAgent:
    question: str
    workspace: Path
    session: str | None
    """None: a new one."""
    config: Path | None
    overrides: tuple[str, ...]
    state_dir: Path
    json: bool


@dataclass(frozen=True, slots=True)
class ListSessions:
    workspace: Path | None
    """None: those of all."""
    state_dir: Path
    json: bool
    link: bool


def add_ask(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "With a running server, the session is its own, and its page shows it as it goes on. Without one, the same "
        "parts run here for this one turn, and the session is there when the server is started. The answer goes to "
        "standard output, what the agent does to standard error. Ctrl-C stops the turn. exit codes: 0 it was answered, "
        "1 it failed or could not be asked."
    )
    parser.add_argument(
        "question",
        type=values.question,
        metavar="QUESTION",
        help='such as "where is the configuration read?"; - reads it from standard input',
    )
    parser.add_argument(
        "--workspace", type=values.path, metavar="DIR", help="the folder it is about (default: this one)"
    )
    parser.add_argument("--session", type=values.session, metavar="ID", help="go on with this session")
    parser.add_argument("--json", action="store_true", help="print the session's events, one JSON object a line")


def add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description} It needs a running server."
    parser.add_argument("--workspace", type=values.path, metavar="DIR", help="only those of this folder")
    style = parser.add_mutually_exclusive_group()
    style.add_argument("--json", action="store_true", help="print the server's own JSON")
    style.add_argument("--link", action="store_true", help="print the link that opens the page, with the token in it")


def read_ask(asked: argparse.Namespace) -> AskAgent:
    return AskAgent(
        question=asked.question,
        workspace=asked.workspace or places.here(),
        session=asked.session,
        config=asked.config,
        overrides=tuple(asked.overrides),
        state_dir=asked.state_dir or places.state_dir(),
        json=asked.json,
    )


def read_sessions(asked: argparse.Namespace) -> ListSessions:
    return ListSessions(asked.workspace, asked.state_dir or places.state_dir(), asked.json, asked.link)
